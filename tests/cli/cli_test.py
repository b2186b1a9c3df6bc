#!/usr/bin/env python3
"""The command line as users and tools meet it: interfaces.md 1, 2 and 7.

usage: cli_test.py DLASIM [TestCase...]
"""
import copy
import itertools
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

DLASIM = None
MODELS = Path(__file__).resolve().parents[2] / "models"
DATA = Path(os.environ.get("DLASIM_TEST_DATA", "test-data"))  # the archives of tests/data, unpacked
PHASES = ("issuing", "starved", "blocked", "draining", "gated")
SMALL = {
    "name": "small",
    "input": {"width": 9, "height": 7, "channels": 12},
    "kernel": {"width": 3, "height": 3, "count": 10},
    "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1, "value": -3},
    "bias": True, "activation": "relu", "post": {"output": {"shift": 10}},
}


def processor_seconds():
    """Of all that has been run; other work on this machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def caught(process, number):
    """The process has a handler for the signal."""
    mask = re.search(r"SigCgt:\s*([0-9a-f]+)", Path(f"/proc/{process}/status").read_text()).group(1)
    return int(mask, 16) >> (number - 1) & 1 != 0


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dlasim_cli_"))

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def dlasim(self, *arguments, **options):
        return subprocess.run([DLASIM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=200, **options)

    def write(self, content, name="layer.json"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def run_layer(self, layer, *arguments):
        done = self.dlasim("run", self.write(layer), "--out", "out", *arguments)
        result = self.folder / "out" / "result.json"
        return done, json.loads(result.read_text()) if result.exists() else None

    def refused(self, done, *says):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertTrue(done.stderr.startswith("dlasim: "), done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        self.assertFalse([p for p in self.folder.rglob("*") if "result.json" in p.name], "a file was left behind")


class Basics(Case):
    def test_help_and_version_need_nothing(self):
        for command in ((), ("run",), ("replay",), ("sweep",), ("presets",)):
            done = self.dlasim(*command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Usage", done.stdout)
        done = self.dlasim("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^dlasim \d+\.\d+\.\d+( \([0-9a-f]{10}\))?\n$")

    def test_wrong_usage_ends_with_status_2(self):
        for arguments in ((), ("rum",), ("run",), ("run", "x.json", "--fast"), ("sweep", "s.json", "--jobs", "0")):
            self.assertEqual(self.dlasim(*arguments).returncode, 2, arguments)

    def test_every_preset_prints_as_a_hardware_file_that_runs(self):
        names = [line.split()[0] for line in self.dlasim("presets").stdout.splitlines() if line.startswith("  nv_")]
        self.assertEqual(len(names), 7)
        for name in names:
            file = self.write(self.dlasim("presets", name).stdout, name + ".json")
            done, result = self.run_layer(SMALL, "--hw", file, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIs(result["verified"], True)
        self.assertEqual(self.dlasim("presets", "nv_tiny").returncode, 2)


class Runs(Case):
    def test_a_result_has_its_keys_and_every_cycle_an_owner(self):
        done, result = self.run_layer(SMALL, "--hw", "nv_small")
        self.assertEqual(done.returncode, 0, done.stderr)
        for key in ("schema", "name", "hardware", "memory", "cycles", "macs", "utilization", "verified", "mismatches", "units", "traffic",
                    "bounds", "wall_seconds", "simulated_cycles_per_second"):
            self.assertIn(key, result)
        self.assertEqual(result["macs"], 9 * 7 * 10 * 12 * 9)
        self.assertEqual(result["hardware"]["preset"], "nv_small")
        for name, unit in result["units"].items():
            self.assertEqual(sum(unit[phase] for phase in PHASES), result["cycles"], name)
        self.assertLessEqual(result["bounds"]["largest"], result["cycles"])
        self.assertIn("verified     yes", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["output.npy", "result.json"])

    def test_quiet_prints_nothing(self):
        done, _ = self.run_layer(SMALL, "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_every_command_says_how_long_the_simulation_took(self):
        layer = self.write(SMALL)
        self.assertEqual(self.dlasim("export", layer, "--hw", "nv_small", "--to", "case.json").returncode, 0)
        commands = {"run": ["run", layer], "net": ["net", MODELS / "networks/acri_mnist.json"], "replay": ["replay", "case.json"],
                    "loadable": ["loadable", DATA / "loadables/tiny_nv_full.nvdla", "--hw", "nv_full"]}
        for name, command in commands.items():
            done = self.dlasim(*command, "--out", name, "--times")
            self.assertEqual(done.returncode, 0, done.stderr)
            spent = re.search(r"CPU seconds: (\S+) in all, (\S+) in the simulation", done.stderr)
            self.assertLessEqual(float(spent[2]), float(spent[1]), name)
            result = json.loads((self.folder / name / "result.json").read_text())
            self.assertGreater(result["wall_seconds"], 0, name)
            self.assertGreater(result["simulated_cycles_per_second"], 0, name)

    def test_a_plan_for_cycles_is_simulated_and_the_same_in_every_command(self):
        machine = ("--hw", "nv_large", "--set", "cbuf.banks=6", "--set", "cbuf.bank_depth=16")
        layer = {"input": {"width": 19, "height": 18, "channels": 48}, "kernel": {"width": 1, "height": 1, "count": 64}, "bias": True, "post": {"output": {"shift": 10}}}
        best = self.write(layer | {"plan": {"minimise": "cycles"}}, "best.json")
        done, result = self.run_layer(layer | {"plan": {"minimise": "cycles"}}, *machine)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(result["verified"])
        self.assertEqual(self.dlasim("run", best, *machine, "--plan", "--out", "plan").returncode, 0)
        partition = json.loads((self.folder / "plan/plan.json").read_text())["plan"]["partition"]
        self.assertEqual(partition, result["plan"]["partition"])
        self.assertEqual(self.dlasim("export", best, *machine, "--to", "case.json").returncode, 0)
        self.assertEqual(self.dlasim("replay", "case.json", "--out", "replayed").returncode, 0)
        self.assertEqual(json.loads((self.folder / "replayed/result.json").read_text())["cycles"], result["cycles"])
        for rows in (1, 2, 3, 4, 6, 9):  # no tiling by rows is faster
            for keep in (False, True):
                other = layer | {"partition": {"rows": rows, "reuse_data": True, "reuse_weights": keep}}
                done = self.dlasim("run", self.write(other, "other.json"), *machine, "--timing-only", "--out", "other")
                if done.returncode == 0:
                    self.assertGreaterEqual(json.loads((self.folder / "other/result.json").read_text())["cycles"], result["cycles"], other)

    def test_timing_only_verifies_nothing_and_takes_the_same_cycles(self):
        _, with_values = self.run_layer(SMALL)
        done, result = self.run_layer(SMALL, "--timing-only")
        self.assertEqual(done.returncode, 0)
        self.assertIsNone(result["verified"])
        self.assertEqual(result["cycles"], with_values["cycles"])

    def test_counters_follow_from_the_geometry_without_values_too(self):
        of_values = {"saturated", "out_saturation", "nan_output_num"}
        post = {"output": {"shift": 9}}
        fp16 = dict(SMALL, precision="fp16", pad={"left": 1, "right": 1, "top": 1, "bottom": 1}, post={})
        winograd = {"mode": "winograd", "input": {"width": 10, "height": 10, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 40}, "post": post}
        pixels = {"input": {"format": "T_A8R8G8B8", "width": 17, "height": 9, "channels": 4}, "kernel": {"width": 3, "height": 3, "count": 20}, "post": post}
        for descriptor, preset in ((SMALL, "nv_full"), (SMALL, "nv_small"), (SMALL, "nv_large"), (fp16, "nv_full"), (winograd, "nv_full"), (pixels, "nv_full"), (pixels, "nv_small_256")):
            counted = []
            for more in ([], ["--timing-only"]):
                done, result = self.run_layer(descriptor, "--hw", preset, *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                counted.append({unit: {k: v for k, v in says.get("counters", {}).items() if k not in of_values} for unit, says in result["units"].items()})
            self.assertGreater(counted[0]["cmac_a"]["products"], 0)
            self.assertEqual(counted[0], counted[1], (descriptor, preset))

    def test_stepping_every_cycle_gives_the_same_result(self):
        for preset in ("nv_full", "nv_small", "nv_large"):
            _, skipping = self.run_layer(SMALL, "--hw", preset)
            _, stepping = self.run_layer(SMALL, "--hw", preset, "--stepping")
            for result in (skipping, stepping):
                for key in ("wall_seconds", "simulated_cycles_per_second", "made_by"):
                    del result[key]
            self.assertEqual(skipping, stepping)

    def test_stepping_every_cycle_gives_the_same_result_while_a_dram_keeps_requests_waiting(self):
        layer = json.loads((MODELS / "mobilenet_v1_pw_14x14.json").read_text())
        for memory in ("ddr4-2400", "lpddr4-3200"):
            results = [self.run_layer(layer, "--memory", memory, *stepping)[1] for stepping in ((), ("--stepping",))]
            for result in results:
                for key in ("wall_seconds", "simulated_cycles_per_second", "made_by"):
                    del result[key]
            self.assertEqual(*results)

    def test_a_dram_may_think_for_millions_of_cycles(self):
        done, result = self.run_layer(SMALL, "--memory", "ddr4-3200:refresh.policy=none,tCK_ns=6.25,timing.tRCD=1000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(result["cycles"], 64 * 65536)

    def test_seed_hardware_and_memory_come_from_the_command_line(self):
        _, a = self.run_layer(SMALL, "--seed", 5, "--set", "cbuf.banks=8", "--hw", "nv_large", "--memory", "ideal:latency=200,interval=3")
        self.assertEqual(a["layer"]["data"]["seed"], 5)
        self.assertEqual(a["hardware"]["cbuf"]["banks"], 8)
        self.assertEqual(a["memory"]["latency"], 200)
        _, b = self.run_layer(SMALL, "--hw", "nv_large")
        self.assertGreater(a["cycles"], b["cycles"])

    def test_a_layer_that_does_not_fit_runs_in_parts(self):
        layer = {"input": {"width": 40, "height": 60, "channels": 64}, "kernel": {"width": 1, "height": 3, "count": 8}}
        done, result = self.run_layer(layer, "--hw", "nv_small")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIs(result["verified"], True)
        self.assertIn("2 tiles by rows of the output", done.stdout)
        self.assertEqual(self.run_layer({**layer, "partition": "auto"}, "--hw", "nv_small")[1]["cycles"], result["cycles"])
        first, second = result["plan"]["parts"]
        self.assertEqual([first["rows"][1] + second["rows"][1], first["fetched_lines"] + second["fetched_lines"], second["kept_lines"]], [58, 60, 2])
        self.assertTrue(first["keep_weights"] and second["reuse_weights"] and second["reuse_data"])

    def test_a_plan_says_what_would_run_and_runs_nothing(self):
        layer = {"input": {"width": 40, "height": 60, "channels": 64}, "kernel": {"width": 1, "height": 3, "count": 8}}
        done = self.dlasim("run", self.write(layer), "--hw", "nv_small", "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("2 tiles by rows of the output", "31 of 32 banks for data, 1 for weights, in each of 2 passes", "at least 55,680 cycles"):
            self.assertIn(text, done.stdout)
        self.assertFalse((self.folder / "out").exists())
        done, result = self.run_layer(layer, "--hw", "nv_small", "--plan")
        self.assertIsNone(result)
        plan = json.loads((self.folder / "out" / "plan.json").read_text())
        self.assertEqual(plan["plan"]["tensors"]["input"], {"bytes": 60 * 40 * 64, "moved": 60 * 40 * 64, "times": 1.0})
        self.assertEqual((plan["bound"], plan["bound_cycles"]), ("mac", 40 * 58 * 3 * 64 * 8 // 64))
        _, result = self.run_layer(layer, "--hw", "nv_small")
        self.assertEqual((plan["plan"], plan["bounds"]), (result["plan"], result["bounds"]))
        done = self.dlasim("run", self.write({**layer, "partition": {"rows": 58}}), "--hw", "nv_small", "--plan")
        self.assertEqual(done.returncode, 2)
        self.assertIn("does not fit the CBUF", done.stderr)

    def test_a_bound_needs_no_machine(self):
        layers = {"layers": [{"name": "conv3_2", "input": {"width": 56, "height": 56, "channels": 256}, "kernel": {"width": 3, "height": 3, "count": 256},
                              "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}}]}
        done = self.dlasim("bound", self.write(layers), "--chip", 16, 173.5, "--batch", 3, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = json.loads(done.stdout)[1]
        bound = 2 * 3 * 56 * 56 * 256 * 9 * 256 / (9 * 173.5 * 512) ** 0.5 + 3 * 56 * 56 * 256
        self.assertAlmostEqual(row["layers"][0]["lower_bound"] / (2 * bound), 1)
        self.assertGreater(row["total"]["best"], row["total"]["lower_bound"])
        self.assertIn("conv3_2", self.dlasim("bound", self.write(layers), "--chip", 16).stdout)
        self.assertEqual(self.dlasim("bound", self.write(layers), "--chip", 0).returncode, 2)

    def test_tensors_come_from_numpy_files(self):
        self.npy("x.npy", "|i1", (1, 2, 2, 2), "8b", 1, 2, 3, 4, 5, 6, 7, 8)
        self.npy("w.npy", "|i1", (1, 2, 1, 1), "2b", 3, -1)
        self.npy("b.npy", "<i2", (1,), "<h", 100)
        layer = {"input": {"width": 2, "height": 2, "channels": 2}, "kernel": {"width": 1, "height": 1, "count": 1}, "bias": True,
                 "data": {"input": "x.npy", "weights": "w.npy", "bias": "b.npy"}}
        done, result = self.run_layer(layer, "--hw", "nv_small")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIs(result["verified"], True)

    def npy(self, name, dtype, shape, code, *values):
        header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (dtype, shape)
        header = header + " " * (117 - len(header)) + "\n"
        (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(code, *values))

    def test_a_program_that_never_finishes_says_which_unit_waits(self):
        case = {"id": "hang", "config": "nv_small", "memory": {"read_latency": 32, "beat_interval": 1, "write_latency": 8}, "layers": [],
                "program": [["CDMA.D_OP_ENABLE", 1], ["MARK", "t0"], ["WAIT_INTR", "SDP_0"]], "finished": False, "expected": {}}
        done = self.dlasim("replay", self.write(case, "hang.json"))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("cdma", done.stderr.lower())

    def events(self, program, **more):
        case = {"id": "program", "config": "nv_full", "memory": {"read_latency": 32, "beat_interval": 1, "write_latency": 8}, "layers": [],
                "program": program, "finished": True, "expected": {}} | more
        events = self.folder / "events.json"
        done = self.dlasim("replay", self.write(case, "case.json"), "--events", events)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(events.read_text())

    def test_a_read_takes_what_the_way_to_its_unit_takes(self):
        # csb.md 2.2: T + 18, CMAC_A and CACC of nv_full T + 24, GEC T + 17 and always 0
        for register, value, latency in (("CSC.S_POINTER", 0, 18), ("CMAC_A.S_POINTER", 0, 24), ("CACC.S_STATUS", 0, 24), ("GEC.FEATURE", 0, 17)):
            events = self.events([["GLB.S_INTR_MASK", 0], ["MARK", "t0"], ["READ", register]])
            self.assertEqual(events["reads"], [[register, value]])
            recorded = events["probes"]["mcif2cdma_dat_rd_rsp_ready"]["active"]     # to 64 cycles after the read, issued in t0 + 1
            self.assertEqual(recorded - 64 - 1, latency, register)

    def test_clocks_that_still_run_at_the_end_are_recorded(self):
        for unit, domain, first in (("CSC", "csc", 13), ("CMAC_A", "cmac_a", 16), ("CACC", "cacc", 16), ("CACC", "cacc_cell", 19), ("CDMA", "cdma", 13)):
            events = self.events([[f"{unit}.D_OP_ENABLE", 1], ["MARK", "t0"], ["READ", f"{unit}.S_STATUS"]])
            self.assertEqual(events["reads"], [[f"{unit}.S_STATUS", 1]])
            probe, end = events["probes"][f"clock_on_{domain}"], events["probes"]["mcif2cdma_dat_rd_rsp_ready"]["active"]
            self.assertEqual((probe["first"], probe["last"], probe["active"]), (first, end, end - first + 1), domain)

    def test_the_machine_of_a_case_is_laid_over_its_label_if_it_names_no_preset(self):
        program = [["CDMA.S_POINTER", 1], ["MARK", "t0"]]
        for label, hardware in (("nv_small", {"cbuf": {"banks": 16}}), ("anything", {"preset": "nv_small", "cbuf": {"banks": 16}})):
            self.events(program, config=label, hardware=hardware)
        case = {"config": "anything", "hardware": {"cbuf": {"banks": 16}}, "memory": {}, "program": program}
        self.refused(self.dlasim("replay", self.write(case, "case.json")), "/hardware/preset")


def npy(dtype, shape, values):
    """A NumPy file of version 1."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"|i1": "b", "<i2": "h", "<f2": "e"}[dtype]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


def read_npy(path):
    """dtype, shape and values of a NumPy file of version 1."""
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    header = eval(data[10:10 + length])
    code = {"|i1": "b", "<i2": "h", "<f2": "e"}[header["descr"]]
    body = data[10 + length:]
    return header["descr"], header["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


NUMPY_EXAMPLE = r"""
import json, subprocess, numpy as np

rng = np.random.default_rng(1)
x, w = rng.integers(-128, 128, (1, 32, 8, 8), np.int8), rng.integers(-128, 128, (16, 32, 1, 1), np.int8)
sums = np.einsum("nchw,kc->nkhw", x.astype(int), w[:, :, 0, 0].astype(int))
golden = np.clip(np.sign(sums) * ((abs(sums) + 2**10) >> 11), -128, 127).astype(np.int8)
for name, tensor in {"x": x, "w": w, "golden": golden}.items(): np.save(name, tensor)
json.dump({"input": {"width": 8, "height": 8, "channels": 32}, "kernel": {"width": 1, "height": 1, "count": 16}, "post": {"output": {"shift": 11}},
           "data": {"input": "x.npy", "weights": "w.npy", "expected": "golden.npy"}}, open("layer.json", "w"))
assert subprocess.run(["dlasim", "run", "layer.json", "--hw", "nv_large"]).returncode == 0
"""


class Tensors(Case):
    """The output tensor: output.npy, and data.expected."""
    PLAIN = {"input": {"width": 3, "height": 2, "channels": 2}, "kernel": {"width": 1, "height": 1, "count": 3},
             "data": {"input": "x.npy", "weights": "w.npy"}}
    X, W = [1, -2, 3, 4, -5, 6, 10, 20, -30, 40, 50, -60], [1, 0, 0, 1, 2, -1]
    OUT = X + [2 * a - b for a, b in zip(X[:6], X[6:])]  # the kernels are (1, 0), (0, 1) and (2, -1)

    def setUp(self):
        super().setUp()
        (self.folder / "x.npy").write_bytes(npy("|i1", (1, 2, 2, 3), self.X))
        (self.folder / "w.npy").write_bytes(npy("|i1", (3, 2, 1, 1), self.W))

    def expecting(self, values, dtype="|i1", shape=(1, 3, 2, 3)):
        (self.folder / "golden.npy").write_bytes(npy(dtype, shape, values))
        return dict(self.PLAIN, data=dict(self.PLAIN["data"], expected="golden.npy"))

    def test_the_output_is_written_in_the_shape_and_order_of_the_inputs(self):
        for hardware in ("nv_small", "nv_large", "nv_full"):
            done, result = self.run_layer(self.PLAIN, "--hw", hardware)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(read_npy(self.folder / "out" / "output.npy"), ("|i1", (1, 3, 2, 3), self.OUT))
            self.assertEqual(result["output"], "output.npy")

    def test_a_named_table_follows_its_function_to_its_ends_and_beyond(self):
        values = list(range(-128, 128))
        (self.folder / "all.npy").write_bytes(npy("|i1", (1, 1, 16, 16), values))
        for function, f, scale, offset in (("sigmoid", lambda x: 1 / (1 + math.exp(-x)), 1 / 128, 64), ("tanh", math.tanh, 1 / 127, 0)):
            layer = {"op": "sdp", "input": {"width": 16, "height": 16, "channels": 1}, "data": {"input": "all.npy"},
                     "post": {"bs": {"mul": {"per": "layer", "value": 4}}, "output": {"offset": offset},
                              "ew": {"lut": {"function": function, "input_scale": 0.05, "output_scale": scale}}}}
            done, _ = self.run_layer(layer, "--hw", "nv_large")
            self.assertEqual(done.returncode, 0, done.stderr)
            for value, found in zip(values, read_npy(self.folder / "out" / "output.npy")[2]):
                self.assertAlmostEqual(found, f(4 * value * 0.05) / scale - offset, delta=1.01, msg=f"{function} of {value}")

    def test_an_expected_tensor_that_is_there_is_said_so(self):
        done, result = self.run_layer(self.expecting(self.OUT))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("expected     yes, all 18 outputs equal", done.stdout)
        self.assertEqual((result["expected"]["equal"], result["expected"]["compared"], result["expected"]["differing"]), (True, 18, 0))

    def test_the_first_the_number_and_the_largest_of_the_differences_are_named(self):
        wrong = list(self.OUT)
        wrong[8] += 3     # kernel 1, row 0, column 2
        wrong[17] -= 100  # kernel 2, row 1, column 2
        done, result = self.run_layer(self.expecting(wrong))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIs(result["verified"], True)
        self.assertEqual(result["expected"]["differing"], 2)
        self.assertEqual(result["expected"]["first"], {"batch": 0, "channel": 1, "row": 0, "column": 2, "found": -30, "expected": -27})
        self.assertEqual(result["expected"]["largest_difference"], 100)
        self.assertIn("NO: 2 of 18 outputs differ", done.stdout)
        self.assertIn("the largest by 100", done.stdout)
        self.assertIn("batch 0 channel 1 row 0 column 2: found -30, expected -27", done.stdout)
        self.assertEqual(read_npy(self.folder / "out" / "output.npy")[2], self.OUT)

    def winograd(self, weights, truncate, shift, most=127):
        """What the direct convolution gives, and what the run says of it. Sums of the transforms are 2 ** (2 - truncate) times as large."""
        x = [random.randint(-most, most) for _ in range(3 * 8 * 8)]
        (self.folder / "x.npy").write_bytes(npy("|i1", (1, 3, 8, 8), x))
        (self.folder / "w.npy").write_bytes(npy("|i1", (5, 3, 3, 3), weights))
        done, result = self.run_layer({"input": {"width": 8, "height": 8, "channels": 3}, "kernel": {"width": 3, "height": 3, "count": 5}, "mode": "winograd",
                                       "pads": [1, 1, 1, 1], "winograd": {"truncate": truncate}, "post": {"output": {"shift": shift}},
                                       "data": {"input": "x.npy", "weights": "w.npy"}}, "--hw", "nv_full")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIs(result["verified"], True)
        direct = []
        for k, row, column in itertools.product(range(5), range(8), range(8)):
            taps = itertools.product(range(3), range(3), range(3))
            total = sum(x[(c * 8 + row + r - 1) * 8 + column + s - 1] * weights[((k * 3 + c) * 3 + r) * 3 + s] for c, r, s in taps
                        if 0 <= row + r - 1 < 8 and 0 <= column + s - 1 < 8) << (2 - truncate)
            rounded = (abs(total) + (1 << shift >> 1)) >> shift
            direct.append(max(-128, min(127, rounded if total >= 0 else -rounded)))
        distances = [abs(a - b) for a, b in zip(read_npy(self.folder / "out" / "output.npy")[2], direct) if a != b]
        self.assertEqual(result["direct"], {"compared": 320, "differing": len(distances), "largest_difference": max(distances, default=0)})
        return len(distances), max(distances, default=0), done.stdout

    def test_winograd_says_how_far_from_the_direct_convolution_it_is(self):
        random.seed(3)
        for truncate, shift in ((0, 9), (1, 7), (2, 6)):
            differing, largest, said = self.winograd([random.randint(-128, 127) for _ in range(135)], truncate, shift)
            self.assertGreater(largest, 10)  # large kernels saturate in their transforms
            self.assertIn(f"direct       {differing} of 320 outputs differ from the direct convolution, the largest by {largest}:", said)
        _, _, said = self.winograd([random.randrange(-4, 5, 4) for _ in range(135)], 0, 6, 31)  # nothing saturates, nothing is cut off
        self.assertIn("direct       all 320 outputs equal the direct convolution", said)

    def test_what_cannot_be_the_output_is_refused_before_the_run(self):
        equal = {"op": "sdp", "input": {"width": 2, "height": 2, "channels": 32}, "data": {"expected": "golden.npy"},
                 "post": {"ew": {"alu": {"op": "equal", "per": "element"}}}}
        for layer, says in ((lambda: self.expecting(self.OUT, "<i2"), ('found dtype "<i2"', 'expected "|i1"')),
                            (lambda: self.expecting(self.OUT, shape=(1, 3, 3, 2)), ("found shape (1, 3, 3, 2)", "expected (1, 3, 2, 3)")),
                            (lambda: self.expecting(self.OUT[:-1]), ("found 17 bytes", "expected 18")),
                            (lambda: dict(self.PLAIN, data={"expected": "missing.npy"}), ("missing.npy",)),
                            (lambda: equal, ("/data/expected", "writes nothing"))):
            self.refused(self.run_layer(layer(), "--hw", "nv_full")[0], *says)

    def test_no_tensors_and_timing_only_write_none(self):
        for flag in ("--no-tensors", "--timing-only"):
            done, result = self.run_layer(self.PLAIN, flag)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(self.folder / "out"), ["result.json"])
            self.assertIsNone(result["output"])

    def test_an_output_of_an_earlier_run_does_not_stand_beside_a_result_that_has_none(self):
        # --no-tensors and --timing-only write none, a comparison has none.
        equal = {"op": "sdp", "input": {"width": 2, "height": 2, "channels": 32}, "post": {"ew": {"alu": {"op": "equal", "per": "element"}}}}
        for layer, flags in ((self.PLAIN, ["--no-tensors"]), (self.PLAIN, ["--timing-only"]), (equal, ["--hw", "nv_full"])):
            self.run_layer(self.PLAIN)
            self.assertTrue((self.folder / "out" / "output.npy").exists())
            done, result = self.run_layer(layer, *flags)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertEqual((os.listdir(self.folder / "out"), result["output"]), (["result.json"], None))

    def test_a_replay_into_the_folder_removes_it_too(self):
        self.run_layer(self.PLAIN)
        case = {"id": "program", "config": "nv_full", "memory": {"read_latency": 32, "beat_interval": 1, "write_latency": 8}, "layers": [],
                "program": [["MARK", "t0"]], "finished": True, "expected": {}}
        done = self.dlasim("replay", self.write(case, "case.json"), "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.folder / "out"), ["result.json"])

    def test_a_run_that_is_refused_leaves_the_result_and_the_output_of_the_earlier_one(self):
        self.run_layer(self.PLAIN)
        self.assertEqual(self.run_layer(self.PLAIN, "--timing-only", "--set", "cbuf.banks=0")[0].returncode, 2)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["output.npy", "result.json"])

    def test_a_folder_with_the_name_of_the_output_stays(self):
        (self.folder / "out" / "output.npy").mkdir(parents=True)
        done, _ = self.run_layer(self.PLAIN, "--timing-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "out" / "output.npy").is_dir())

    def test_precisions_have_their_dtypes(self):
        for precision, output, dtype in (("int16", "int16", "<i2"), ("fp16", "fp16", "<f2"), ("int8", "int16", "<i2")):
            layer = {"input": {"width": 3, "height": 2, "channels": 32}, "kernel": {"width": 1, "height": 1, "count": 32}, "precision": precision,
                     "post": {"output": {"precision": output}}}
            done, _ = self.run_layer(layer)
            self.assertEqual(done.returncode, 0, done.stderr)
            first = (self.folder / "out" / "output.npy").read_bytes()
            self.assertEqual(read_npy(self.folder / "out" / "output.npy")[:2], (dtype, (1, 32, 2, 3)))
            (self.folder / "golden.npy").write_bytes(first)
            done, result = self.run_layer(dict(layer, data={"expected": "golden.npy"}))
            self.assertEqual((done.returncode, result["expected"]["equal"]), (0, True), done.stderr)

    def test_reshapes_have_an_output_and_copies_have_none(self):
        values = list(range(-60, 60))
        (self.folder / "x.npy").write_bytes(npy("|i1", (1, 20, 2, 3), values))
        for mode, shape in (({"mode": "split"}, (1, 20, 2, 3)), ({"mode": "merge"}, (1, 20, 2, 3))):
            layer = {"op": "rubik", "rubik": mode, "input": {"width": 3, "height": 2, "channels": 20}, "data": {"input": "x.npy", "expected": "x.npy"}}
            done, result = self.run_layer(layer)
            self.assertEqual((done.returncode, result["expected"]["equal"]), (0, True), done.stderr)
            self.assertEqual(read_npy(self.folder / "out" / "output.npy"), ("|i1", shape, values))
        (self.folder / "golden.npy").write_bytes(npy("|i1", (1, 20, 2, 3), values[:-1] + [0]))
        layer["data"]["expected"] = "golden.npy"
        done, result = self.run_layer(layer)
        self.assertEqual((done.returncode, result["expected"]["differing"], result["expected"]["largest_difference"]), (1, 1, 59))
        _, result = self.run_layer(Transfers.COPY)
        self.assertIsNone(result["output"])

    def test_a_comparison_says_plainly_that_something_is_unequal(self):
        layer = {"op": "sdp", "input": {"width": 2, "height": 2, "channels": 32}, "post": {"ew": {"alu": {"op": "equal", "per": "element"}}},
                 "data": {"input": "x.npy", "ew_alu": "y.npy"}}
        values = [i % 100 for i in range(128)]
        (self.folder / "x.npy").write_bytes(npy("|i1", (1, 32, 2, 2), values))
        (self.folder / "y.npy").write_bytes(npy("<i2", (1, 32, 2, 2), values))
        done, result = self.run_layer(layer)
        self.assertEqual((done.returncode, result["unequal"]), (0, False), done.stderr)
        self.assertIn("equal, all 128 elements", done.stdout)
        values[7] += 1  # kernel 1, row 1, column 1
        (self.folder / "y.npy").write_bytes(npy("<i2", (1, 32, 2, 2), values))
        done, result = self.run_layer(layer)
        self.assertEqual((done.returncode, result["unequal"]), (0, True), done.stderr)
        self.assertIn("UNEQUAL, 1 of 128 elements differ, the first at batch 0 kernel 1 row 1 column 1", done.stdout)

    def test_tensors_of_numpy_make_a_regression_test(self):
        example = NUMPY_EXAMPLE
        environment = dict(os.environ, PATH=f"{Path(DLASIM).resolve().parent}:{os.environ['PATH']}")

        def run():
            # Debian's interpreter: the one that has Debian's NumPy.
            return subprocess.run(["/usr/bin/python3", "-c", example], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=100)
        done = run()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("expected     yes, all 1,024 outputs equal", done.stdout)
        broken = example.replace(">> 11)", ">> 10)")
        self.assertNotEqual(broken, example)
        example = broken
        self.assertNotEqual(run().returncode, 0)


class Page(Case):
    """docs/DESCRIPTOR.md: every example runs and is verified, every key of a layer has its place."""

    PAGE = Path(__file__).resolve().parents[2] / "docs" / "DESCRIPTOR.md"

    def test_examples(self):
        examples = re.findall(r"```json\n(.*?)```", self.PAGE.read_text(), re.S)
        self.assertGreater(len(examples), 8)
        for example in examples:
            with self.subTest(example=example):
                done, result = self.run_layer(json.loads(example), "--hw", "nv_full")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIs(result["verified"], True)

    def test_every_key_of_a_result_is_on_the_page(self):
        def keys(value):
            for key, inner in value.items():
                yield key
                if isinstance(inner, dict):
                    yield from keys(inner)

        page = self.PAGE.read_text()
        for example in re.findall(r"```json\n(.*?)```", page, re.S):
            _, result = self.run_layer(json.loads(example), "--hw", "nv_full", "--timing-only")
            for key in keys(result["layer"]):
                self.assertTrue(f"`{key}`" in page or f'"{key}"' in page, key)


class Transfers(Case):
    """Operations of BDMA and Rubik: descriptors without a convolution."""
    COPY = {"name": "spill", "op": "bdma", "blocks": [
        {"source": {"memory": "dbb", "address": 4096, "line_stride": 96}, "destination": {"memory": "cvsram", "address": 0}, "line_bytes": 64, "lines": 5, "surfaces": 2},
        {"group": 1, "wait": True, "source": {"memory": "cvsram", "address": 0}, "destination": 65536, "line_bytes": 640}]}
    SPLIT = {"op": "rubik", "rubik": {"mode": "split"}, "input": {"width": 4, "height": 1, "channels": 2}}
    PACE = "ideal:latency=20,write_latency=8"

    def finished(self, descriptor, *arguments):
        done, result = self.run_layer(descriptor, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIs(result["verified"], True)
        self.assertEqual(result["mismatches"], 0)
        for key in ("wall_seconds", "simulated_cycles_per_second", "made_by"):
            del result[key]
        return result

    def test_a_result_has_the_keys_of_every_result(self):
        done, result = self.run_layer(self.COPY)
        self.assertEqual(done.returncode, 0, done.stderr)
        for key in ("schema", "name", "hardware", "memory", "cycles", "macs", "utilization", "verified", "mismatches", "units", "traffic",
                    "bounds", "wall_seconds", "simulated_cycles_per_second"):
            self.assertIn(key, result)
        self.assertEqual((result["name"], result["macs"], result["utilization"]), ("spill", 0, 0))
        for name, unit in result["units"].items():
            self.assertEqual(sum(unit[phase] for phase in PHASES), result["cycles"], name)
        self.assertLessEqual(result["bounds"]["largest"], result["cycles"])
        launches = result["plan"]["launches"]
        self.assertEqual([launch["group"] for launch in launches], [0, 1])
        self.assertEqual(launches[1]["done"], result["cycles"])
        self.assertEqual(result["traffic"]["cvsram"]["write_bytes_by_client"], {"BDMA": 640})
        self.assertEqual(result["traffic"]["dbb"]["write_bytes"], 640)
        self.assertIn("verified     yes", done.stdout)

    def test_copies_take_the_cycles_that_were_measured(self):
        cases = [json.loads(case.read_text()) for case in sorted((DATA / "rtl" / "nv_full").glob("bdma_*.json"))]
        alone = {"read_latency", "beat_interval", "write_latency"}  # nothing beside BDMA, ports that never pause
        cases = [case for case in cases if "origin" not in case and set(case["memory"]) == alone]
        self.assertEqual(len(cases), 13)
        for case in cases:
            memory = case["memory"]
            result = self.finished(self.measured(case["program"]), "--events", "events.json", "--memory",
                                   "ideal:latency={read_latency},interval={beat_interval},write_latency={write_latency}".format(**memory))
            self.assertEqual([result["cycles"]], case["expected"]["interrupt_cycles"], case["id"])
            events = json.loads((self.folder / "events.json").read_text())
            for log in ("ar", "aw"):
                self.assertEqual(events[log], case["expected"][log], case["id"])

    def measured(self, program):
        """The descriptor of a measured register program."""
        value, blocks, group = {}, [], 0
        for name, data in program:
            if name == "BDMA.CFG_OP":
                def end(side, bit):
                    return {"memory": ("cvsram", "dbb")[value["BDMA.CFG_CMD"] >> bit & 1], "address": value[f"BDMA.CFG_{side}_ADDR_LOW"],
                            "line_stride": value[f"BDMA.CFG_{side}_LINE"], "surface_stride": value[f"BDMA.CFG_{side}_SURF"]}
                blocks.append({"source": end("SRC", 0), "destination": end("DST", 1), "line_bytes": 32 * value["BDMA.CFG_LINE"] + 32,
                               "lines": value["BDMA.CFG_LINE_REPEAT"] + 1, "surfaces": value["BDMA.CFG_SURF_REPEAT"] + 1})
            group = int(name[-1]) if name.startswith("BDMA.CFG_LAUNCH") else group
            value[name] = data
        return {"op": "bdma", "blocks": [dict(block, group=group) for block in blocks]}

    def test_reshapes_take_the_cycles_that_were_measured(self):
        # rubik.md 6, from the start of the operation; it is 13 cycles behind the acceptance of its enable.
        for mode, width, channels, cycles in (({"mode": "split"}, 4, 2, 76), ({"mode": "split"}, 64, 32, 196), ({"mode": "merge"}, 4, 2, 75),
                                              ({"mode": "contract", "stride": {"x": 2}}, 8, 64, 90)):
            result = self.finished({"op": "rubik", "rubik": mode, "input": {"width": width, "height": 1, "channels": channels}}, "--memory", self.PACE)
            self.assertEqual(result["cycles"], 13 + cycles, mode)

    def test_timing_only_and_stepping_take_the_same_cycles(self):
        for descriptor in (self.COPY, self.SPLIT):
            result = self.finished(descriptor)
            self.assertEqual(self.finished(descriptor, "--stepping"), result)
            done, without = self.run_layer(descriptor, "--timing-only")
            self.assertEqual(done.returncode, 0)
            self.assertIsNone(without["verified"])
            self.assertEqual(without["cycles"], result["cycles"])
            self.assertEqual(self.finished(descriptor, "--seed", 9)["layer"]["data"]["seed"], 9)

    def test_the_models_run(self):
        models = [path for path in sorted(MODELS.glob("*.json")) if json.loads(path.read_text()).get("op") in ("bdma", "rubik")]
        self.assertEqual(len(models), 4)
        for model in models:
            self.finished(json.loads(model.read_text()))

    def test_cubes_come_from_numpy_files(self):
        header = "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2, 1, 4), }"
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header + " " * (117 - len(header)) + "\n").encode() + bytes(range(8)))
        self.finished(dict(self.SPLIT, data={"input": "x.npy"}))
        done = self.dlasim("run", self.write(dict(self.SPLIT, data={"input": "x.npy"}, precision="int16")), "--out", "other")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/data/input", done.stderr)

    def test_what_cannot_be_is_refused_with_its_place(self):
        copies, reshape = copy.deepcopy(self.COPY), copy.deepcopy(self.SPLIT)
        copies["blocks"][1].pop("wait")
        self.refused(self.run_layer(copies)[0], "layer.json: /blocks/1/source: reads address 0 of cvsram, which is written at the same time")
        reshape["rubik"]["mode"] = "fold"
        self.refused(self.run_layer(reshape)[0], "/rubik/mode", "contract, split, merge")
        self.refused(self.run_layer({"op": "bdmb"})[0], "/op", 'did you mean "bdma"?')
        self.refused(self.run_layer(dict(self.COPY, blocks=[]))[0], "/blocks")
        for preset in ("nv_large", "nv_medium_1024_full", "nv_medium_512", "nv_small_256_full", "nv_small_256", "nv_small"):
            self.refused(self.run_layer(self.COPY, "--hw", preset)[0], "/op", "without BDMA", preset)
            self.refused(self.run_layer(self.SPLIT, "--hw", preset)[0], "/op", "without Rubik", preset)

    def test_sweeps_take_them(self):
        sweep = {"base": {"layer": self.COPY}, "axes": {"blocks.0.lines": [5, 9], "latency": [10, 100], "blocks.1.line_bytes": [640, 33]}}
        self.assertEqual(self.dlasim("sweep", self.write(sweep, "sweep.json"), "--out", "out").returncode, 4)
        rows = json.loads((self.folder / "out" / "points.json").read_text())
        self.assertEqual([row["verified"] for row in rows], [True, None] * 4)
        self.assertLess(rows[0]["cycles"], rows[2]["cycles"])
        self.assertLess(rows[0]["cycles"], rows[4]["cycles"])
        self.assertIn("/base/layer/blocks/1/line_bytes", rows[1]["reason"])
        sweep = {"base": {"layer": self.SPLIT}, "axes": {"rubik.mode": ["split", "merge"], "placement.output": [{"memory": "cvsram", "address": 0}, 0]}}
        self.assertEqual(self.dlasim("sweep", self.write(sweep, "sweep.json"), "--out", "out").returncode, 0)
        self.assertTrue(all(row["verified"] for row in json.loads((self.folder / "out" / "points.json").read_text())))
        sweep = {"base": {"layer": self.COPY}, "axes": {"blocks.2.lines": [5]}}
        self.assertEqual(self.dlasim("sweep", self.write(sweep, "sweep.json"), "--out", "out").returncode, 2)
        self.assertIn("list of 2", json.loads((self.folder / "out" / "points.json").read_text())[0]["reason"])


class BadInput(Case):
    def test_descriptors(self):
        def change(path, value):
            layer = copy.deepcopy(SMALL)
            place = layer
            for key in path[:-1]:
                place = place.setdefault(key, {})
            place[path[-1]] = value
            return layer
        for path, value in ((("input", "width"), -1), (("input", "width"), 0), (("input", "width"), 1.5), (("input", "width"), 1 << 70),
                            (("input", "widht"), 3), (("kernel", "width"), 20), (("kernel", "count"), "8"), (("data", "input"), "missing.npy"),
                            (("precision",), "int7"), (("post", "output", "shift"), 64), (("stride", "x"), 9)):
            done, result = self.run_layer(change(path, value), "--hw", "nv_small")
            self.refused(done, "layer.json", "/" + path[0])
            self.assertIsNone(result)

    def test_layers_that_do_not_fit_are_refused_with_the_numbers(self):
        layer = {"input": {"width": 8, "height": 8, "channels": 4096}, "kernel": {"width": 8, "height": 8, "count": 8}}
        self.refused(self.run_layer(layer, "--hw", "nv_small")[0], "does not fit the CBUF", "32768 entries = 64 banks", "32 banks of 4096 bytes")
        pooled = {"input": {"width": 200, "height": 200, "channels": 64}, "kernel": {"width": 1, "height": 1, "count": 8},
                  "post": {"pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}}}
        done, result = self.run_layer(pooled, "--hw", "nv_small")  # is cut with its pooling
        self.assertEqual((done.returncode, result["verified"]), (0, True), done.stderr)

    def test_layers_too_large_for_memory_are_refused_before_their_tensors_are_made(self):
        huge = {"width": 8192, "height": 8192, "channels": 8192}
        kernel = {"width": 1, "height": 1, "count": 8}
        for layer in ({"op": "sdp", "input": huge}, {"input": huge, "kernel": kernel}, {"input": huge, "kernel": kernel, "partition": "auto"},
                      {"op": "sdp", "input": {"width": 2048, "height": 1024, "channels": 96}, "post": {"ew": {"alu": {"per": "element"}}}}):
            started = processor_seconds()
            self.refused(self.dlasim("run", self.write(layer), "--hw", "nv_full", "--out", "out"), "layer.json", "expected")
            # Half a terabyte takes minutes; a search for a cut three seconds, with sanitizers three to nine times that.
            self.assertLess(processor_seconds() - started, 60)

    def test_what_lies_outside_of_the_dram_is_refused_before_anything_runs(self):
        memory = "ddr4-3200:wrap=false,base=0xa0000000"
        self.refused(self.dlasim("run", self.write(SMALL), "--memory", memory, "--out", "out"), "placement", "8192 MiB from 0xa0000000", "wrap=true")
        copy_of_a_line = {"op": "bdma", "blocks": [{"source": {"address": 0x80000000}, "destination": {"address": 0x90000000}, "line_bytes": 64}]}
        done = self.dlasim("run", self.write(copy_of_a_line), "--hw", "nv_full", "--memory", memory, "--out", "out")
        self.refused(done, "source", "8192 MiB from 0xa0000000")
        case = {"program": [["GLB.S_INTR_MASK", 0]], "memory_fill": [{"addr": "80000000", "bytes": 64, "seed": 1}], "config": "nv_small",
                "memory": {"read_latency": 32, "beat_interval": 1, "write_latency": 8}}
        self.refused(self.dlasim("replay", self.write(case, "case.json"), "--memory", memory), "case.json", "8192 MiB from 0xa0000000")

    def test_missing_and_broken_files(self):
        self.refused(self.dlasim("run", "none.json"), "none.json")
        self.refused(self.dlasim("run", self.write('{"input": ')), "not JSON")
        self.refused(self.dlasim("run", self.folder), "folder")
        self.refused(self.dlasim("run", self.write(SMALL), "--hw", "nv_smal"), "did you mean")
        self.refused(self.dlasim("run", self.write(SMALL), "--memory", "ideal:latency=x"), "--memory")
        self.refused(self.dlasim("run", self.write(SMALL), "--set", "cbuf.banks=0"), "--set")
        self.refused(self.dlasim("replay", "none.json"), "none.json")
        self.refused(self.dlasim("sweep", "none.json"), "none.json")

    def test_numpy_files_of_the_wrong_shape_type_and_length(self):
        layer = dict(SMALL, data={"weights": "w.npy"})
        good = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
        for header, body, says in (("{'descr': '<f4', 'fortran_order': False, 'shape': (10, 12, 3, 3), }", b"", "dtype"),
                                   ("{'descr': '|i1', 'fortran_order': False, 'shape': (12, 10, 3, 3), }", b"", "shape"),
                                   ("{'descr': '|i1', 'fortran_order': True, 'shape': (10, 12, 3, 3), }", b"", "Fortran"),
                                   ("{'descr': '|i1', 'fortran_order': False, 'shape': (10, 12, 3, 3), }", b"\0" * 1000, "truncated")):
            (self.folder / "w.npy").write_bytes(good + (header + " " * (117 - len(header)) + "\n").encode() + body)
            done, _ = self.run_layer(layer, "--hw", "nv_small")
            self.refused(done, "w.npy", says)


class Folders(Case):
    def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(self):
        self.write("x", "file")
        layer = self.write(SMALL)
        self.refused(self.dlasim("run", layer, "--out", "file"), "file")
        self.refused(self.dlasim("run", layer, "--out", "file/below"), "file/below")
        self.refused(self.dlasim("run", layer, "--out", "/proc/none"), "/proc/none")
        if os.geteuid() != 0:
            (self.folder / "shut").mkdir(mode=0o500)
            self.refused(self.dlasim("run", layer, "--out", "shut"), "shut")

    def test_a_full_disk_is_refused_before_anything_runs(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.refused(self.dlasim("run", self.write(SMALL), "--out", "out", preexec_fn=small_files), "no free space")

    def test_an_old_result_survives_a_run_that_fails(self):
        _, before = self.run_layer(SMALL)
        done, after = self.run_layer(dict(SMALL, precision="int9"))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(before, after)


class Interrupts(Case):
    LONG = {"input": {"width": 28, "height": 28, "channels": 128}, "kernel": {"width": 3, "height": 3, "count": 4096}}

    def test_ctrl_c_ends_with_130_and_leaves_no_file(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.ends(number, ["run", str(self.write(self.LONG))])

    def test_so_does_a_network(self):
        network = {"input": self.LONG["input"], "layers": [{"name": "a", "op": "conv2d", "kernel": self.LONG["kernel"]}]}
        self.ends(signal.SIGHUP, ["net", str(self.write(network))])

    def ends(self, number, command):
        run = subprocess.Popen([DLASIM, *command, "--hw", "nv_small", "--out", "out"], cwd=self.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        while not (self.folder / "out").exists() and run.poll() is None:
            time.sleep(0.01)
        while run.poll() is None and not caught(run.pid, number):  # it has begun to simulate
            time.sleep(0.01)
        time.sleep(0.3)
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        self.assertEqual(os.listdir(self.folder / "out"), [])

if __name__ == "__main__":
    DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
