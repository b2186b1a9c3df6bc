#!/usr/bin/env python3
"""dlasim loadable and dlasim export from outside, on files of the NVDLA compiler (tests/data, loadables).

usage: loadable_test.py DLASIM [Measured | Verified | Golden | Programs | Sweeps | Files | Traces | Exports]

Measured  every run of measured.json: interrupts, totals of the port and the output as on the reference RTL, and every recorded event
Verified  what every operation of every file writes is what the golden operations make, in all three modes
Golden    the public kernel tests leave what their golden files say, in all three modes
Programs  register program, memory and regions are those of the executable model of the specification, for every file and fixed mode
Sweeps    points of a sweep over files are the runs
Files     what is written, what is refused and how
Traces    what dlasim export writes of layers, networks and loadables is replayed with the events of the run, in every form
Exports   the same of twenty layers and more networks (slow)
"""
import itertools
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

from examples import some

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/hardware/models"))
import loadable as model  # noqa: E402

DLASIM = None
DATA = Path(os.environ.get("DLASIM_TEST_DATA", "test-data")) / "loadables"  # the archive of tests/data, unpacked
MODES = ("serial", "overlap", "driver")
FIXED = MODES[:2]  # whose program depends on nothing that is read


def files():
    return sorted(DATA.rglob("*.nvdla"))


def hardware_of(path):
    """The machine that it was compiled for, by its name."""
    name = path.stem
    return next((hw for hw in ("nv_small", "nv_large") if name.endswith((hw, hw.replace("nv", "", 1)))), "nv_full")


def input_of(path):
    """The bytes of its input; none of the kernel tests."""
    for end in ("_nv_full_int8", "_nv_full", "_nv_large", "_nv_small"):
        if path.stem.endswith(end):
            return path.with_name(path.stem[:-len(end)] + ".input")
    return None


def npy(dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Loadable(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="dlasim_loadable_")
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def dlasim(self, *arguments, status=0):
        done = subprocess.run([DLASIM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def run_file(self, path, *options, status=0):
        """result.json of a run with the input that belongs to it."""
        if input_of(path) and "--input" not in options:
            options = ("--input", input_of(path), *options)
        done = self.dlasim("loadable", path, "--hw", hardware_of(path), "--out", "out", "--quiet", *options, status=status)
        return json.loads((self.folder / "out/result.json").read_text()) if status == 0 else done


class Measured(Loadable):
    def test_runs_are_equal_to_the_reference(self):
        cases = json.loads((DATA / "measured.json").read_text())["cases"]
        ran = 0
        for case in cases:
            path = DATA / case["loadable"]
            if not path.exists():
                continue
            ran += 1
            memory = "ideal:" + ",".join(f"{name}={case['memory'][key]}" for name, key in (
                ("latency", "read_latency"), ("interval", "beat_interval"), ("write_latency", "write_latency")))
            with self.subTest(case["loadable"]):
                result = self.run_file(path, "--mode", case["mode"], "--memory", memory, "--events", "events.json")
                self.assertEqual(result["interrupt_cycles"], case["interrupt_cycles"])
                self.assertEqual(result["cycles"], case["cycles"])
                self.assertEqual(result["dbb"], case["dbb"])
                self.assertEqual([(r["addr"], r["bytes"], r["crc32"]) for r in result["output"]],
                                 [(r["addr"], r["bytes"], r["crc32"]) for r in case["output"]])
                if "elements_crc32" in case:
                    self.assertEqual(result["tensors"][0]["elements_crc32"], case["elements_crc32"])
                expected = json.loads((DATA / "expected" / f"{path.stem}_{case['mode']}.json").read_text())
                events = json.loads((self.folder / "events.json").read_text())
                for key in expected:
                    if key != "probes":
                        self.assertEqual(events[key], expected[key], key)
                for name, probe in expected["probes"].items():
                    self.assertEqual({key: events["probes"][name][key] for key in probe}, probe, name)
        self.assertEqual(ran, 12)

    def test_modes_take_the_published_cycles(self):
        """LeNet-5 on nv_small: docs/hardware/loadable.md 4; of the driver: driver_mode_test.py."""
        cycles = [self.run_file(DATA / "lenet5_nv_small.nvdla", "--mode", mode)["cycles"] for mode in FIXED]
        self.assertEqual(cycles, [139609, 138679])


class Verified(Loadable):
    def test_every_operation_of_every_file_is_compared_with_the_golden_ones(self):
        cases = list(itertools.product(files(), MODES))
        self.assertGreater(len(cases), 150)
        for path, mode in some(cases, 2):
            with self.subTest(path.stem, mode=mode):
                result = self.run_file(path, "--mode", mode)
                verification = result["verification"]
                self.assertEqual((verification["unverified"], verification["mismatches"]), (0, 0))
                self.assertEqual(verification["chains"], len({o["chain"] for o in result["operations"]}))
                self.assertTrue(all(o["verified"] is True and "unverified" not in o for o in result["operations"]))
                ends = {o["chain"]: o.get("output", [0]) for o in reversed(result["operations"])}  # enabled from the last unit on
                self.assertGreaterEqual(verification["compared"], max(1, sum(math.prod(output) for output in ends.values())))

    def test_comparing_changes_no_cycle(self):
        for mode in MODES:
            path, runs = DATA / "resblock_nv_full.nvdla", []
            for options in ((), ("--no-verify",)):
                result = self.run_file(path, "--mode", mode, "--events", "events.json", *options)
                self.assertEqual("verification" in result, options == ())
                runs.append(((self.folder / "events.json").read_text(), result["cycles"], result["operations"][-1]["done"]))
            self.assertEqual(runs[0], runs[1])

    def test_without_values_nothing_is_compared(self):
        self.assertNotIn("verification", self.run_file(DATA / "tiny_nv_full.nvdla", "--timing-only"))


class Golden(Loadable):
    def test_kernel_tests_leave_their_golden_results(self):
        for path in sorted((DATA / "regression").glob("*.nvdla")):
            golden = model.read_golden(path.with_suffix(".dimg"))
            options = []
            if path.stem == "NN_L0_0":  # its golden result is that of an input of zeros
                (self.folder / "zero.npy").write_bytes(npy("<f2", (1, 1, 28, 28), bytes(2 * 28 * 28)))
                options = ["--input", "zero.npy"]
            for mode in MODES:
                with self.subTest(path.stem, mode=mode):
                    self.run_file(path, "--mode", mode, *options)
                    self.assertEqual(model.compare_golden((self.folder / "out/output.surface").read_bytes(), golden), 0)


class Programs(Loadable):
    def test_programs_are_those_of_the_specification_model(self):
        self.assertGreater(len(files()), 40)
        for path in files():
            pixels = input_of(path).read_bytes() if input_of(path) else None
            options = ["--input", input_of(path)] if input_of(path) else []
            for mode in FIXED:
                with self.subTest(path.stem, mode=mode):
                    case, *_ = model.build_case(str(path), hardware_of(path), pixels=pixels, mode=mode)
                    self.dlasim("export", path, "--hw", hardware_of(path), "--mode", mode, "--to", "case.json", "--quiet", *options)
                    exported = json.loads((self.folder / "case.json").read_text())
                    self.assertEqual(exported["program"], [list(entry) for entry in case["program"]])
                    self.assertEqual(sorted((f["addr"], f["hex"]) for f in exported["memory_fill"]),
                                     sorted((f["addr"], f["hex"]) for f in case["memory_fill"]))
                    self.assertEqual([(r["addr"], r["bytes"]) for r in exported["expected"]["output"]],
                                     [(r["addr"], r["bytes"]) for r in case["expected"]["output"]])


class Sweeps(Loadable):
    def sweep(self, base, axes, status=0):
        (self.folder / "sweep.json").write_text(json.dumps({"base": base, "axes": axes}))
        self.dlasim("sweep", "sweep.json", "--out", "swept", "--quiet", "--restart", status=status)
        return json.loads((self.folder / "swept/points.json").read_text())

    def test_points_are_the_runs(self):
        path = DATA / "resblock_nv_full.nvdla"
        base = {"loadable": str(path), "input": str(input_of(path)), "hw": "nv_full"}
        points = self.sweep(base, {"latency": [32, 200], "mode": list(MODES)})
        self.assertEqual(len(points), 6)
        for point in points:
            result = self.run_file(path, "--memory", f"ideal:latency={point['latency']}", "--mode", point["mode"])
            self.assertEqual((point["cycles"], point["dbb_read_bytes"], point["macs"]),
                             (result["cycles"], result["traffic"]["dbb"]["read_bytes"], result["macs"]))
            self.assertEqual((point["verified"], point["mismatches"]), (True, 0))
            self.dlasim(*point["command"].split()[1:], "--out", "alone", "--quiet")
            alone = json.loads((self.folder / "alone/result.json").read_text())
            self.assertEqual((alone["cycles"], alone["mode"]), (point["cycles"], point["mode"]))

    def test_points_that_cannot_be_are_rows(self):
        path = DATA / "tiny_nv_small.nvdla"
        points = self.sweep({"loadable": str(path), "hw": "nv_small"}, {"hw": ["nv_small", "nv_large"], "mode": ["serial", "fast"]}, status=4)
        self.assertEqual([point["cycles"] is None for point in points], [False, True, True, True])
        self.assertIn("expected serial, overlap, driver", points[1]["reason"])
        self.assertIn("compiled for another machine", points[2]["reason"])

    def test_other_axes_are_refused(self):
        (self.folder / "sweep.json").write_text(json.dumps({"base": {"loadable": "a.nvdla"}, "axes": {"kernel.count": [1, 2]}}))
        done = self.dlasim("sweep", "sweep.json", "--out", "swept", status=2)
        self.assertIn("is an axis over layers, and the base is a loadable", done.stderr)


class Files(Loadable):
    TINY = "tiny_nv_small.nvdla"

    def refused(self, *arguments, says):
        done = self.dlasim(*arguments, status=2)
        self.assertIn(says, done.stderr)
        self.assertNotIn("\n\n", done.stderr)

    def test_a_replay_of_the_export_has_identical_events(self):
        for name, mode in ((self.TINY, "overlap"), ("tiny_batch2_nv_full.nvdla", "overlap"), ("lenet5_nv_large.nvdla", "serial")):
            path = DATA / name
            self.dlasim("export", path, "--hw", hardware_of(path), "--mode", mode, "--to", "case.json", "--input", input_of(path))
            self.dlasim("replay", "case.json", "--events", "events.json")
            self.assertEqual(json.loads((self.folder / "events.json").read_text()),
                             json.loads((self.folder / "case.json").read_text())["expected"])

    def test_outputs_are_in_natural_order_and_as_surfaces(self):
        path = DATA / "tiny_nv_small.nvdla"
        result = self.run_file(path)
        (memory, tensor), = model.Loadable.read(path).bound(model.OUTPUT)
        surface = (self.folder / "out/output.surface").read_bytes()
        self.assertEqual(len(surface), memory["size"])
        self.assertEqual(f"{zlib.crc32(surface):08x}", result["final"][0]["crc32"])
        array = (self.folder / "out/output.npy").read_bytes()
        elements = model.unpack_tensor(tensor, surface)
        self.assertIn(b"'shape': (1, 8, 4, 4, )", array)
        self.assertEqual(array[-len(elements):], elements)
        for operation in result["operations"]:
            self.assertLess(operation["start"], operation["done"])
        self.assertEqual(max(o["done"] for o in result["operations"]), result["cycles"])

    def test_inputs_in_every_form_are_the_same(self):
        path = DATA / "tiny_batch2_nv_full.nvdla"
        data = input_of(path).read_bytes()
        first = self.run_file(path)
        (memory, tensor), = model.Loadable.read(path).bound(model.INPUT)
        elements = model.elements_of_pixels(tensor, data)
        (self.folder / "in.npy").write_bytes(npy("<f2", (2, 4, 8, 8), elements))
        three = b"".join(bytes(data[n:] + data[:n]) for n in range(2))
        (self.folder / "three.npy").write_bytes(npy("|u1", (2, 3, 8, 8), three))
        (self.folder / "surface").write_bytes(model.pack_tensor(tensor, elements, memory["size"]))
        (self.folder / "elements").write_bytes(elements)
        for options in (["in.npy"], ["three.npy"], ["surface", "--input-form", "surface"], ["elements", "--input-form", "elements"]):
            with self.subTest(options[0]):
                self.assertEqual(self.run_file(path, "--input", *options)["output"], first["output"])
        self.refused("loadable", path, "--input", "in.npy", "--input", "in.npy", says="is input 2, but")
        (self.folder / "wrong.npy").write_bytes(npy("<f2", (1, 4, 8, 8), elements[:512]))
        self.refused("loadable", path, "--input", "wrong.npy", says="expected (2, 1 to 4, 8, 8)")

    def test_timing_alone_takes_the_same_cycles(self):
        path = DATA / "strided_cnn_nv_large.nvdla"
        whole, timed, stepped = (self.run_file(path, *options) for options in ([], ["--timing-only"], ["--stepping"]))
        self.assertEqual(whole["interrupt_cycles"], timed["interrupt_cycles"])
        self.assertNotIn("output", timed)
        for key in ("interrupt_cycles", "output", "dbb", "units", "operations"):
            self.assertEqual(whole[key], stepped[key], key)
        self.run_file(path, "--timing-only")
        self.assertFalse((self.folder / "out/output.npy").exists())

    def test_what_does_not_fit_the_machine_is_refused_by_name(self):
        self.refused("loadable", DATA / "tiny_nv_small.nvdla", "--hw", "nv_large", says="compiled for another machine than nv_large")
        self.refused("loadable", DATA / "tiny_nv_large.nvdla", "--hw", "nv_small", says="compiled for another machine than nv_small")
        self.refused("loadable", DATA / "tiny_nv_full.nvdla", "--hw", "nv_large", says="computes in fp16, but nv_large supports only int8")
        self.refused("loadable", DATA / "regression/BDMA_L0_0.nvdla", "--hw", "nv_large", says="nv_large has no BDMA")

    def test_files_that_are_no_loadables_are_refused(self):
        whole = (DATA / self.TINY).read_bytes()
        for content, says in ((b"", "too short"), (b"{}" * 40, "is no FlatBuffer of a loadable"), (whole[:3000], "is no FlatBuffer of a loadable"),
                              (whole.replace(b"tb-0", b"tb-?", 1), "expected the name of a blob")):
            (self.folder / "file.nvdla").write_bytes(content)
            self.refused("loadable", "file.nvdla", "--hw", "nv_small", says=says)
        version = bytearray(whole)
        where = [i for i in range(len(whole) - 3) if whole[i:i + 3] == b"\x00\x0c\x03"]
        for i in where:
            version[i + 1] = 13
        (self.folder / "file.nvdla").write_bytes(bytes(version))
        self.refused("loadable", "file.nvdla", "--hw", "nv_small", says="has interface version 0.13.3, expected 0.10, 0.11 or 0.12")

    def test_a_description_has_every_operation_and_register_without_running(self):
        path = DATA / "regression/NN_L0_0.nvdla"
        said = self.dlasim("loadable", path, "--describe").stdout
        case, *_ = model.build_case(str(path), "nv_full", seed=1)
        words = [line.split() for line in said.partition("register program")[2].splitlines()]
        self.assertEqual([[w[2], int(w[3], 16)] for w in words if len(w) > 3 and w[1].startswith("0x")],
                         [entry for entry in case["program"] if "." in entry[0]])
        for text in ("input 0: data [1, 1, 28, 28]", "interface 0.11.0", "softmax of 1 x 1 x 10", "0 CONV   waits for 1", "task 2, CPU fallback"):
            self.assertIn(text, said)
        self.assertFalse((self.folder / "out").exists())

    def test_a_slow_host_takes_its_time(self):
        path = DATA / self.TINY
        fast, same = self.run_file(path), self.run_file(path, "--cpu", "cycles_per_write=0,interrupt_latency=0")
        self.assertEqual(fast["interrupt_cycles"], same["interrupt_cycles"])
        late = self.run_file(path, "--cpu", "interrupt_latency=1000")
        self.assertEqual(late["interrupt_cycles"][0], fast["interrupt_cycles"][0])
        for slow, quick in zip(late["interrupt_cycles"][1:], fast["interrupt_cycles"][1:]):
            self.assertAlmostEqual(slow - quick, 1000 * late["interrupt_cycles"].index(slow), delta=8)
        slow = self.run_file(path, "--cpu", "cycles_per_write=100")
        self.assertGreater(slow["cycles"], fast["cycles"] + 100 * 50)
        self.assertEqual(slow["output"], fast["output"])
        for wrong, says in (("speed=1", "expected cycles_per_write"), ("cycles_per_write=-1", "expected a whole number")):
            self.refused("loadable", path, "--hw", "nv_small", "--cpu", wrong, says=says)

    def test_a_convolution_that_never_ends_is_a_machine_that_hangs(self):
        file = bytearray((DATA / "onelayer_nv_small.nvdla").read_bytes())
        output = file.index(b"\x02\x00\xff\xff\x00\x00\x00\x00")  # of the convolution: on the fly, no address, offset 0
        file[output + 12] += 1  # its width
        wider = self.folder / "wider.nvdla"
        wider.write_bytes(file)
        done = self.dlasim("loadable", wider, "--hw", "nv_small", status=3)
        self.assertIn("the convolution never ends", done.stderr)

    def test_a_run_of_a_few_chains_ends_there(self):
        path = DATA / "lenet5_nv_small.nvdla"
        whole, part = self.run_file(path), self.run_file(path, "--chains", "2")
        self.assertEqual(part["interrupt_cycles"], whole["interrupt_cycles"][:2])
        self.assertEqual(len(part["operations"]), 3)


class Exported(Loadable):
    """What is exported is replayed with the events of the run that it was exported from."""
    RAN = ("interrupt_cycles", "dbb", "cvsram", "ar", "aw", "cvsram_ar", "cvsram_aw", "probes", "reads")

    def check(self, command, path, hardware, *options):
        """`command`: what runs it; its events are those of the replay."""
        name = f"{command} {Path(path).stem} {hardware}"
        run_options = [*options, "--out", "out", "--quiet", "--events", "run.json"]
        self.dlasim(command, path, "--hw", hardware, *run_options)
        ran = json.loads((self.folder / "run.json").read_text())
        for form, to, program in (("case", "case.json", "case.json"), ("txn", "txn", "txn"), ("cfg", "cfg", "cfg")):
            with self.subTest(name, form=form):
                self.dlasim("export", path, "--hw", hardware, "--form", form, "--to", to, "--quiet", *options)
                said = self.dlasim("replay", program, "--hw", hardware, "--events", "replay.json").stdout  # status 0: memory is as it says
                replayed = json.loads((self.folder / "replay.json").read_text())
                for key in self.RAN:
                    if key == "probes":
                        for probe, seen in ran[key].items():
                            self.assertEqual(seen["runs"][:400], replayed[key][probe]["runs"], probe)
                            self.assertEqual({**seen, "runs": 0}, {**replayed[key][probe], "runs": 0}, probe)
                    elif key != "reads" or form != "txn":  # that player only compares
                        self.assertEqual(replayed.get(key), ran.get(key), key)
                if form != "case":
                    self.assertRegex(said, r", ([1-9]\d*) of \1 regions right")
                if form == "txn":
                    self.check_bench(hardware)

    def check_bench(self, hardware):
        """What the public bench takes as it stands: whole lines of 32 bytes, reads that need no second interrupt, and a wait for each one."""
        (self.folder / "plain").mkdir(exist_ok=True)
        lines = [line.split("#")[0].strip() for line in (self.folder / "txn/input.txn").read_text().splitlines()]
        ranges = {"load_mem": [], "dump_mem": []}
        for words in (line.split() for line in lines if line):
            if words[0] in ranges:
                first, size = int(words[1], 0), int(words[2], 0)
                text = (self.folder / "txn" / words[3]).read_text()
                self.assertEqual([len(row.split()) for row in text.splitlines()], [32] * (size // 32), words)
                self.assertEqual(size % 32, 0, words)
                (self.folder / "plain" / words[3]).write_text(text)
                ranges[words[0]].append((first, first + size))
            if words[0] == "read_reg" and words[1] == "0xffff0403":
                self.assertEqual(words[2:], ["0x00000000", "0x00000000"], "waits for interrupts by reads")
        loads = sorted(ranges["load_mem"])
        for (_, end), (begin, _) in zip(loads, loads[1:]):
            self.assertLessEqual(end, begin, "a line is loaded twice")
        (self.folder / "plain/input.txn").write_text("\n".join(lines) + "\n")  # nothing for dlasim alone
        said = self.dlasim("replay", "plain", "--hw", hardware).stdout
        self.assertRegex(said, r", ([1-9]\d*) of \1 regions right")


class Traces(Exported):
    def test_layers(self):
        layer = {"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10},
                 "bias": True, "post": {"output": {"shift": 10}}}
        (self.folder / "layer.json").write_text(json.dumps(layer))
        for hardware in ("nv_small", "nv_full"):
            self.check("run", "layer.json", hardware)

    def test_a_network(self):
        network = {"input": {"width": 12, "height": 10, "channels": 8}, "layers": [
            {"name": "a", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 16}, "bias": True, "activation": "relu"},
            {"name": "b", "op": "pool", "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}},
            {"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}, "bias": True}]}
        (self.folder / "network.json").write_text(json.dumps(network))
        self.check("net", "network.json", "nv_large")

    def test_models(self):
        for name, hardware, options in (("acri_mnist", "nv_small", []), ("mobilenet_small", "nv_full", ["--precision", "fp16"])):
            self.check("net", ROOT / f"models/onnx/{name}.onnx", hardware, *options)
        layer = {"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}}
        (self.folder / "layer.json").write_text(json.dumps(layer))
        for option, kinds in ((["--calibrate", "none.npy"], "an ONNX model"), (["--precision", "int8"], "a network")):
            done = self.dlasim("export", "layer.json", "--hw", "nv_small", "--to", "case.json", *option, status=2)
            self.assertIn(f"{option[0]}: found with a layer, expected {kinds}", done.stderr)

    def test_what_the_host_does_first_is_in_the_memory(self):
        """An upsampling in front of the machine: what is exported computes what the run computes."""
        network = {"input": {"width": 6, "height": 5, "channels": 4}, "layers": [
            {"name": "up", "op": "upsample", "factor": {"x": 2, "y": 2}}, {"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 4}}]}
        (self.folder / "network.json").write_text(json.dumps(network))
        self.dlasim("net", "network.json", "--hw", "nv_small", "--out", "out", "--quiet", "--tensors")
        values = (self.folder / "out/output.npy").read_bytes()[-10 * 12 * 4:]  # channels, rows, columns
        self.dlasim("export", "network.json", "--hw", "nv_small", "--form", "txn", "--to", "txn", "--quiet")
        words = next(line.split() for line in (self.folder / "txn/input.txn").read_text().splitlines() if line.startswith("dump_mem"))
        memory = bytes(int(byte, 0) for byte in (self.folder / "txn" / words[3]).read_text().split())
        places = [memory[8 * i:8 * i + 4] for i in range(10 * 12)]  # an atom of eight channels a place
        self.assertEqual(bytes(place[c] for c in range(4) for place in places), values)

    def test_options_of_loadables_are_of_loadables(self):
        layer = {"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}}
        (self.folder / "layer.json").write_text(json.dumps(layer))
        for option in (["--input", "none.npy"], ["--input-form", "bytes"], ["--mode", "serial"], ["--chains", 1]):
            done = self.dlasim("export", "layer.json", "--hw", "nv_small", "--to", "case.json", *option, status=2)
            self.assertIn(f"{option[0]}: found with a layer, expected", done.stderr)

    def test_a_loadable(self):
        for name in ("tiny_nv_small", "tiny_batch2_nv_full"):
            path = DATA / f"{name}.nvdla"
            self.check("loadable", path, hardware_of(path), "--input", input_of(path))

    def test_what_no_trace_can_hold_is_refused(self):
        network = {"input": {"width": 6, "height": 5, "channels": 4}, "layers": [
            {"name": "up", "op": "upsample", "factor": {"x": 2, "y": 2}}, {"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 4}},
            {"name": "up2", "op": "upsample", "factor": {"x": 2, "y": 2}}, {"name": "b", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 4}}]}
        (self.folder / "network.json").write_text(json.dumps(network))
        done = self.dlasim("export", "network.json", "--hw", "nv_small", "--to", "case.json", status=2)
        self.assertIn("has CPU fallback between steps of the machine", done.stderr)
        self.assertFalse((self.folder / "case.json").exists())


class Exports(Exported):
    def test_twenty_layers(self):
        layers = [path for path in sorted((ROOT / "models").glob("*.json")) if "cvsram" not in path.stem and "bdma" not in path.stem]  # input.txn has CVSRAM at 0x5xxxxxxx
        for path in layers[:20]:
            self.check("run", path, "nv_full")

    def test_networks_and_loadables(self):
        for name, hardware in (("lenet5", "nv_small"), ("squeezenet_v1_1", "nv_large"), ("lenet_caffe", "nv_full")):
            self.check("net", ROOT / f"models/networks/{name}.json", hardware)
        for name in ("resblock_nv_large", "strided_cnn_nv_small", "alexnet_small_nv_full"):
            path = DATA / f"{name}.nvdla"
            self.check("loadable", path, hardware_of(path), "--input", input_of(path))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
