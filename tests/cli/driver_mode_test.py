#!/usr/bin/env python3
"""dlasim loadable --mode driver against NVIDIA's kernel driver: firmware 0.12.5, a processor that takes no time, ideal memory
(tests/data, real_driver).

usage: driver_mode_test.py DLASIM [Accesses | Cycles | Rules]

Accesses  every register access of two whole runs: order, cycle, value, and every edge of the interrupt pin; the cycles of small files; stepping
Cycles    the cycles, reads and interrupts handled of all files
Rules     events 4 and 5, a processor that takes its time, --chains, what is refused, what NVIDIA's software would not run
"""
import json
import struct
import sys
import unittest
from pathlib import Path

import loadable_test
from loadable_test import Loadable, hardware_of, input_of, model

SMALL = ("onelayer", "tiny", "mobilenet_small", "sigtanh")
# Of nv_full the units stand elsewhere.
T0, MASK, STATUS = "03010", "01004", "0100c"  # CDMA.D_OP_ENABLE, GLB.S_INTR_MASK, GLB.S_INTR_STATUS
FULL = {T0: "05010", STATUS: "0000c"}


def real(name):
    return loadable_test.DATA.parent / "real_driver" / name


def compiled(name):
    """A file of the compiler. Those with large weights are with the driver's cycles, their weights 0: they change no cycle."""
    path = loadable_test.DATA / f"{name}.nvdla"
    return path if path.exists() else real(f"{name}.nvdla")


def lines(path):
    return [line.split() for line in path.read_text().splitlines()]


def total(causes):
    return sum(map(total, causes.values())) if isinstance(causes, dict) else causes


class Driven(Loadable):
    def drive(self, path, *options):
        """result.json, and the accesses."""
        result = self.run_file(path, "--mode", "driver", "--accesses", "accesses", *options)
        return result, lines(self.folder / "accesses")

    def expect_cycles(self, chosen):
        ran = 0
        for case in json.loads(real("cycles.json").read_text())["cases"]:
            path = compiled(case["file"])
            if not chosen(path):
                continue
            ran += 1
            with self.subTest(path.stem):
                result, accesses = self.drive(path, "--input", input_of(loadable_test.DATA / path.name))
                t0, status = (FULL[a] if hardware_of(path) == "nv_full" else a for a in (T0, STATUS))
                start = next(int(a[1]) for a in accesses if a[0] == "w" and a[2] == t0)
                reads = [a for a in accesses if a[0] == "r" and int(a[1]) > start]
                handled = [a for a in accesses if a[0] == "w" and a[2] == status]
                self.assertEqual((result["cycles"], len(reads), len(handled)), (case["real"], case["reads"], case["isrs"]))
                self.assertTrue(result["verified"])
                self.assertEqual(total(result["causes"]), result["cycles"])
                self.assertEqual(max(o["done"] for o in result["operations"]), result["cycles"])
                self.assertEqual(sorted(o["start"] for o in result["operations"]), [o["start"] for o in result["operations"]])
        return ran


class Accesses(Driven):
    def test_every_access_is_the_drivers(self):
        for log in sorted(real(".").glob("*.accesses")):
            with self.subTest(log.stem):
                _, accesses = self.drive(loadable_test.DATA / f"{log.stem}.nvdla")
                expected = lines(log)
                self.assertEqual([a for a in accesses if a[0] in "rw"], [a for a in expected if a[0] in "rw"])
                for edge in "Ii":
                    self.assertEqual([a for a in accesses if a[0] == edge], sorted((a for a in expected if a[0] == edge), key=lambda a: int(a[1])))

    def test_small_files_take_its_cycles(self):
        self.assertGreater(self.expect_cycles(lambda path: path.stem.startswith(SMALL)), 15)

    def test_waiting_for_a_unit_is_that_units(self):
        """The handler reads in the cycle in which the pin rises: what came before is the time of who raised it."""
        causes = self.drive(loadable_test.DATA / "lenet5_nv_small.nvdla")[0]["causes"]
        self.assertGreater(total(causes["array"]), 100_000)
        self.assertGreater(total(causes["pdp"]), 15_000)
        self.assertLess(total(causes["software"]), 4_000)

    def test_stepping_gives_the_same(self):
        path = loadable_test.DATA / "tiny_batch2_nv_small.nvdla"
        skipped, stepped = (self.drive(path, "--events", "events", "--reproducible", *how) for how in ((), ("--stepping",)))
        self.assertEqual(skipped[1], stepped[1])
        for result in (skipped[0], stepped[0]):
            result.pop("made_by")
        self.assertEqual(skipped[0], stepped[0])


class Cycles(Driven):
    def test_all_files_take_its_cycles(self):
        self.assertEqual(self.expect_cycles(lambda path: True), 53)


class Rules(Driven):
    def test_an_operation_that_waits_for_fetched_weights_runs(self):
        """A pooling of the same input waits for event 4 of the convolution, which is still running when that comes."""
        path = real("event4_nv_small.nvdla")
        options = ("--input", path.with_suffix(".in0"), "--input-form", "surface")
        result, accesses = self.drive(path, *options)
        self.assertTrue(result["verified"])
        self.assertEqual([o["kind"] for o in result["operations"]], ["SDP", "CONV", "PDP", "PDP"])
        convolution, pooling = result["operations"][1:3]
        weights = next(int(a[1]) for a in accesses if a[0] == "w" and a[2] == STATUS and int(a[3], 16) & 0x40000)
        start = next(int(a[1]) for a in accesses if a[0] == "w" and a[2] == T0)
        self.assertLess(pooling["start"], convolution["done"])
        self.assertLess(pooling["start"] - (weights - start), 50)

    def test_a_convolution_that_never_ends_is_a_machine_that_hangs(self):
        path = real("wider_output_nv_small.nvdla")
        for mode in loadable_test.MODES:
            done = self.dlasim("loadable", path, "--hw", "nv_small", "--mode", mode, "--input", real("onelayer_nv_small.in0"), "--input-form", "surface",
                               status=3)
            self.assertIn("hangs", done.stderr)

    def test_dependencies_that_never_come_are_refused(self):
        path = loadable_test.DATA / "onelayer_nv_small.nvdla"
        file = bytearray(path.read_bytes())
        graph = next(bytes(blob["data"]) for name, blob in self.blobs(path) if "dep_graph" in name)
        at = file.index(graph)
        file[at + 4] += 1  # operation 0 waits for one event more
        (self.folder / "waits.nvdla").write_bytes(file)
        done = self.dlasim("loadable", "waits.nvdla", "--hw", "nv_small", "--mode", "driver", status=2)
        self.assertIn("makes no progress in mode driver after 0 of 2 operations", done.stderr)

    def blobs(self, path):
        loadable = model.Loadable.read(path)
        return loadable.blobs.items() if isinstance(loadable.blobs, dict) else [(b["name"], b) for b in loadable.blobs]

    def test_a_processor_takes_its_time(self):
        path = loadable_test.DATA / "tiny_nv_small.nvdla"
        fast, _ = self.drive(path)
        same, _ = self.drive(path, "--cpu", "cycles_per_write=0,interrupt_latency=0")
        self.assertEqual(fast["cycles"], same["cycles"])
        late, accesses = self.drive(path, "--cpu", "interrupt_latency=500")
        self.assertGreater(late["cycles"], fast["cycles"] + 500)
        rise = next(int(a[1]) for a in accesses if a[0] == "I")
        first = next(int(a[1]) for a in accesses if a[0] == "r" and a[2] == MASK and int(a[1]) > rise)
        self.assertEqual(first - rise, 518)
        slow, accesses = self.drive(path, "--cpu", "cycles_per_write=30")
        self.assertGreater(slow["cycles"], fast["cycles"] + 30)
        writes = [int(a[1]) for a in accesses if a[0] == "w"]
        self.assertGreaterEqual(min(b - a for a, b in zip(writes, writes[1:])), 31)

    def test_a_run_of_a_few_chains_ends_there(self):
        path = loadable_test.DATA / "lenet5_nv_small.nvdla"
        whole, part = self.run_file(path, "--mode", "driver"), self.run_file(path, "--mode", "driver", "--chains", "2")
        self.assertEqual(part["verification"]["chains"], 2)
        starts = [[(o["operation"], o["start"]) for o in result["operations"]] for result in (part, whole)]
        self.assertEqual(starts[0], starts[1][:len(starts[0])])
        self.assertLess(len(starts[0]), len(starts[1]))

    def test_no_trace_can_hold_it(self):
        path = loadable_test.DATA / "tiny_nv_small.nvdla"
        done = self.dlasim("export", path, "--hw", "nv_small", "--mode", "driver", "--to", "case.json", status=2)
        self.assertIn("expected mode serial or overlap", done.stderr)

    def test_files_that_nvidias_software_would_not_run_are_told(self):
        for name, says in (("list_offset_nv_small.nvdla", "has its operation list at an address with offset 64"),
                           ("statistics_nv_small.nvdla", "has a statistics list, 8, expected -1")):
            done = self.dlasim("loadable", real(name), "--hw", "nv_small", "--quiet")
            self.assertIn(says, done.stderr)
            self.assertIn("NVIDIA's software would not run this file", done.stderr)
        done = self.dlasim("loadable", loadable_test.DATA / "tiny_nv_small.nvdla", "--hw", "nv_small", "--quiet")
        self.assertEqual(done.stderr, "")
        done = self.dlasim("loadable", loadable_test.DATA / "regression/CONV_D_L0_0.nvdla", "--quiet")
        self.assertIn("has interface version 0.10.0: the driver reads every file as 0.12", done.stderr)

    def test_softmax_of_unequal_channels(self):
        """The sum is over the channels of the source, those of the destination are written."""
        path = loadable_test.DATA / "regression/NN_L0_0.nvdla"
        buffers = next(bytes(blob["data"]) for name, blob in self.blobs(path) if name == "task-2-op_buf_list")

        (self.folder / "zero.npy").write_bytes(loadable_test.npy("<f2", (1, 1, 28, 28), bytes(2 * 28 * 28)))

        def output(source, destination):
            file = bytearray(path.read_bytes())
            at = file.index(buffers)
            struct.pack_into("<H", file, at + 12, source)
            struct.pack_into("<H", file, at + 256 + 12, destination)
            (self.folder / "file.nvdla").write_bytes(file)
            self.dlasim("loadable", "file.nvdla", "--hw", "nv_full", "--input", "zero.npy", "--out", "out", "--quiet")
            return struct.unpack("<10e", (self.folder / "out/output.surface").read_bytes()[:20])

        whole = output(10, 10)
        self.assertAlmostEqual(sum(whole), 1, delta=0.01)
        self.assertEqual(output(10, 4), whole[:4] + (0,) * 6)
        half = output(5, 10)
        self.assertAlmostEqual(sum(half[:5]), 1, delta=0.01)
        for a, b in zip(half, whole):
            self.assertAlmostEqual(a * sum(whole[:5]), b, delta=0.002 + b / 100)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    loadable_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
