#!/usr/bin/env python3
"""The reference page: it is what the binary prints, and the binary writes and reads what it says.

usage: reference_test.py DLASIM [Page | Keys]
       reference_test.py DLASIM --write        brings docs/REFERENCE.md up to date

Page  docs/REFERENCE.md is the output of `dlasim reference`
Keys  every key and counter in the outputs of runs, replays and sweeps of all kinds is declared and of the declared type, and every
      declared one occurs, unless its row says when
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import onnx_writer

DLASIM = None
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/REFERENCE.md"
DATA = Path(os.environ.get("DLASIM_TEST_DATA", "test-data"))  # the archives of tests/data, unpacked
TYPES = {"integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
         "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
         "text": lambda v: isinstance(v, str), "file": lambda v: isinstance(v, str), "expression": lambda v: isinstance(v, str), "flag": lambda v: isinstance(v, bool),
         "list": lambda v: isinstance(v, list), "object": lambda v: isinstance(v, dict), "null": lambda v: v is None,
         "any": lambda v: True}


def printed(*arguments):
    return subprocess.run([DLASIM, "reference", *arguments], capture_output=True, text=True, check=True).stdout


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_what_the_binary_prints(self):
        self.assertEqual(PAGE.read_text(), printed(), "tests/cli/reference_test.py DLASIM --write")

    def test_a_name_has_its_rows_and_a_slip_of_the_pen_a_suggestion(self):
        self.assertIn("csc.md 1.6.1", printed("credit_gap_cycles"))
        wrong = subprocess.run([DLASIM, "reference", "credit_gap_cycle"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('did you mean "credit_gap_cycles"', wrong.stderr)


class Section:
    """Declared rows, and which of them were seen."""

    def __init__(self, name, rows):
        self.name, self.rows, self.seen, self.problems = name, rows, set(), set()
        self.patterns = [(row, re.compile(re.escape(row["name"]).replace(r"\*", "[^/]+").replace(r"\#", "[0-9]+") + "$")) for row in rows]

    def row(self, path):
        exact = [row for row, _ in self.patterns if row["name"] == path]
        return exact[0] if exact else next((row for row, pattern in self.patterns if pattern.match(path)), None)

    def may_be_missing(self, path):
        """Its row, or one above it, says when it is there, what holds without it, or that it may be something else."""
        parts = path.split("/")
        above = [row for row in (self.row("/".join(parts[:n])) for n in range(1, len(parts) + 1)) if row]
        return any("when" in row or "default" in row for row in above) or any(" or " in row["type"] for row in above[:-1])

    def leads_on(self, path):
        """A row stands below this place."""
        parts = path.split("/")
        below = [row["name"].split("/") for row in self.rows]
        return any(len(b) > len(parts) and all(p == q or q in ("*", "[]") for p, q in zip(parts, b)) for b in below)

    def check(self, value, path=""):
        row = self.row(path) if path else None
        if row:
            self.seen.add(row["name"])
            if not any(TYPES[kind](value) for kind in row["type"].split(" or ")):
                self.problems.add(f"{self.name}: {path} is {value!r}, declared as {row['type']}")
        deeper = not path or self.leads_on(path)
        if not row and not deeper:
            self.problems.add(f"{self.name}: {path} is not declared")
        if not deeper:
            return
        if isinstance(value, dict):
            for key, each in value.items():
                self.check(each, f"{path}/{key}" if path else key)
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, dict):
                    self.check(each, path + "/[]")


def nested(hardware, prefix=""):
    """{"cbuf": {"banks": 2}} as {"cbuf.banks": 2}."""
    flat = {}
    for key, value in hardware.items():
        flat.update(nested(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return flat


CONVOLUTION = {"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10},
               "bias": True, "post": {"output": {"shift": 10}}}
POOL = {"op": "pool", "input": {"width": 8, "height": 6, "channels": 32}, "pool": {"function": "average", "kernel_shape": [2, 2], "strides": [2, 2]}}
LUT = {"op": "sdp", "input": {"width": 9, "height": 4, "channels": 32},
       "post": {"ew": {"lut": {"function": "sigmoid", "input_scale": 0.05, "output_scale": 0.0078125}}, "output": {"offset": 64}}}
EQUAL = {"op": "sdp", "input": {"width": 8, "height": 3, "channels": 32}, "post": {"ew": {"alu": {"op": "equal", "per": "element"}}}}
PARTS = {"input": {"width": 16, "height": 16, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 32},
         "partition": {"rows": 7, "reuse_data": True, "reuse_weights": True}}
LRN = {"op": "lrn", "input": {"width": 6, "height": 5, "channels": 40}, "lrn": {"size": 5}}
FEW_CHANNELS = {"input": {"width": 32, "height": 32, "channels": 3}, "kernel": {"width": 3, "height": 3, "count": 32}}


def model(name):
    return ROOT / "models" / f"{name}.json"


# What is run: descriptor, hardware, further options.
RUNS = [
    (CONVOLUTION, "nv_small", []),
    (CONVOLUTION, "nv_large", ["--timing-only"]),
    (CONVOLUTION, "nv_full", ["--memory", "ddr4-2400"]),
    (CONVOLUTION, "nv_large", ["--memory", "hbm2", "--events", "events.json"]),
    ({**CONVOLUTION, "precision": "fp16", "post": {}}, "nv_full", []),
    (PARTS, "nv_full", []), (POOL, "nv_full", []), (POOL, "nv_small", []), (LUT, "nv_full", []), (LUT, "nv_large", []), (EQUAL, "nv_full", []),
    (LRN, "nv_full", []), (dict(LRN, precision="fp16"), "nv_full", []), (LRN, "nv_small", []), (FEW_CHANNELS, "nv_full", []),
    (model("lenet5_conv2_cvsram"), "nv_full", ["--events", "events.json"]), (model("lenet5_c1_image"), "nv_large", []),
    (model("bdma_spill_and_reload"), "nv_full", []), (model("rubik_contract"), "nv_full", []), (model("rubik_split"), "nv_full", []),
    (model("rubik_merge"), "nv_full", []),
]


class Keys(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        rows = json.loads(printed("--json"))
        for kind in ("layer_result", "network", "loadable", "replay"):
            rows[kind] = rows["result"] + rows[kind]
        del rows["result"]
        cls.sections = {name: Section(name, rows) for name, rows in rows.items()}
        cls.temporary = tempfile.TemporaryDirectory(prefix="dlasim_reference_")
        cls.folder = Path(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def dlasim(self, *arguments, status=0):
        done = subprocess.run([DLASIM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def units(self, units):
        for name, unit in units.items():
            for group in ("counters", "clock_on"):
                if group not in unit:
                    continue
                section = self.sections.get(f"units/{name}/{group}")
                self.assertIsNotNone(section, f"{group} of {name}")
                section.check(unit[group])

    def load(self, name):
        return json.loads((self.folder / name).read_text())

    def look_at_runs(self):
        for i, (layer, hardware, options) in enumerate(RUNS):
            if isinstance(layer, dict):
                (self.folder / "layer.json").write_text(json.dumps(layer))
                layer = "layer.json"
            self.dlasim("run", layer, "--hw", hardware, "--out", f"run{i}", "--quiet", *options)
            result = self.load(f"run{i}/result.json")
            self.units(result["units"])
            self.sections["hardware"].check(nested(result["hardware"]))
            self.sections["layer_result"].check(result)
            if result["memory"]["kind"] == "ideal":
                self.sections["memory"].check(result["memory"])
            for report in result.get("memory_report", {}).values():
                self.sections["dram"].check(report)
            if "--events" in options:
                self.sections["events"].check(self.load("events.json"))

    def look_at_networks(self):
        layers = [{"name": "conv", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}, "bias": True, "activation": "relu"},
                  {"name": "probabilities", "op": "softmax"}]
        (self.folder / "network.json").write_text(json.dumps({"input": {"width": 6, "height": 5, "channels": 4}, "layers": layers}))
        for hardware, options in (("nv_full", ["--memory", "ddr4-2400"]), ("nv_small", []), ("nv_large", ["--timing-only"])):
            self.dlasim("net", "network.json", "--hw", hardware, "--out", "net", "--quiet", *options)
            result = self.load("net/result.json")
            self.sections["network"].check(result)
            self.units(result["units"])
        self.dlasim("net", "network.json", "--plan", "--out", "planned_net", "--quiet")
        self.sections["network_file"].check(self.load("planned_net/plan.json"))
        for file in (ROOT / "models/networks").glob("*.json"):
            self.sections["network_file"].check(json.loads(file.read_text()))
        weights = np.ones((8, 4, 1, 1), np.float32)
        onnx_writer.save(self.folder / "m.onnx", [onnx_writer.node("Conv", ["x", "w"], ["a"]), onnx_writer.node("Conv", ["x", "w"], ["b"]),
                                                  onnx_writer.node("Concat", ["a", "b"], ["c"], axis=1), onnx_writer.node("Relu", ["c"], ["y"])],
                         {"w": weights}, {"x": [None, 4, 6, 5]}, {"y": None})
        self.dlasim("net", "m.onnx", "--hw", "nv_small", "--out", "steps", "--quiet", "--steps")
        self.sections["network_steps"].check(self.load("steps/steps/steps.json"))
        page = (ROOT / "docs/NETWORK.md").read_text() + (ROOT / "docs/DESCRIPTOR.md").read_text()
        for key in {row["name"].split("/")[-1] for row in self.sections["network_file"].rows}:
            self.assertRegex(page, rf'[`"]{key}[`"]', f"{key} is not explained")

    def look_at_loadables(self):
        files = DATA / "loadables"
        for name, hardware, options in (("regression/NN_L0_0", "nv_full", ["--memory", "ddr4-2400"]), ("tiny_nv_small", "nv_small", []),
                                        ("tiny_nv_large", "nv_large", ["--timing-only"])):
            self.dlasim("loadable", files / f"{name}.nvdla", "--hw", hardware, "--out", "loadable", "--quiet", *options)
            result = self.load("loadable/result.json")
            self.sections["loadable"].check(result)
            self.units(result["units"])

    def look_at_plans(self):
        (self.folder / "layer.json").write_text(json.dumps(CONVOLUTION))
        self.dlasim("run", "layer.json", "--plan", "--out", "planned")
        plan = self.load("planned/plan.json")
        self.sections["layer_result"].check({"bounds": plan["bounds"]})   # whose rows they are
        plan["bounds"] = {"largest": plan["bounds"]["largest"]}
        self.sections["plan"].check(plan)

    def look_at_bounds(self):
        for chip in json.loads(self.dlasim("bound", model("vgg16_conv3_2"), "--chip", "64", "--json")):
            self.sections["bound"].check(chip)

    def look_at_comparisons(self):
        tree = {"array": {"computing": 8}, "memory": 2}
        results = {"a": {"cycles": 10, "causes": tree, "steps": [{"name": "s", "share": 10, "causes": tree}, {"name": "t", "share": 0}]},
                   "b": {"cycles": 9, "causes": {"array": 9}, "steps": [{"name": "s", "share": 9, "causes": {"array": 9}}, {"name": "u", "share": 0}]},
                   "c": {"cycles": 9, "hardware": {"preset": "nv_large"}, "memory": {"kind": "ideal"}, "units": {"cmac_a": {"issuing": 9}},
                         "network": {"input": {"width": 3}, "overlap": "none"}, "traffic": {"dbb": {"read_bytes": 64}}}}
        for name, result in results.items():
            (self.folder / f"{name}.json").write_text(json.dumps({"schema": "dlasim.network/1"} | result))
        (self.folder / "d.json").write_text(json.dumps({"schema": "dlasim.network/1", "cycles": 8, "units": {"cmac_a": {"issuing": 8}}}))
        for words in (["a.json", "b.json", "--tolerance", "20"], ["c.json", "d.json"]):
            self.sections["comparison"].check(json.loads(self.dlasim("compare", *words, "--json")))

    def look_at_explanations(self):
        conv = {"op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 32}}
        network = {"name": "n", "input": {"width": 16, "height": 16, "channels": 32}, "layers": [dict(conv, name="a"), dict(conv, name="b")]}
        (self.folder / "n.json").write_text(json.dumps(network))
        for words in (["net", "n.json"], ["run", model("vgg16_conv3_2")]):
            self.dlasim(*words, "--hw", "nv_large", "--timing-only", "--quiet", "--out", "why")
            more = ["--remedies", "20", "--sensitivity", "--slack", "5"] if words[0] == "net" else []
            self.sections["explanation"].check(json.loads(self.dlasim("explain", "why", *more, "--json")))

    def look_at_replays(self):
        cases = [sorted((DATA / "rtl" / config).glob(pattern))[0]
                 for config, pattern in [("nv_full", "*.json"), ("nv_small", "dc_*.json"), ("nv_full", "bdma_*.json")]]
        self.dlasim("replay", DATA / "rtl" / "nv_small" / "cacc_end_tag_ghost_hang.json", "--events", "events.json", "--quiet", status=3)
        self.sections["events"].check(self.load("events.json"))
        wrong = json.loads(cases[1].read_text())
        wrong["expected"]["interrupt_cycles"][0] += 1
        (self.folder / "wrong.json").write_text(json.dumps(wrong))
        for case, status in [(case, 0) for case in cases] + [("wrong.json", 1)]:
            self.dlasim("replay", case, "--events", "events.json", "--out", "replay", "--quiet", status=status)
            self.sections["events"].check(self.load("events.json"))
            result = self.load("replay/result.json")
            self.sections["replay"].check(result)
            self.units(result["units"])

    def look_at_sweeps(self):
        sweep = {"name": "two axes", "base": {"layer": CONVOLUTION, "hw": "nv_full", "memory": "ideal"},
                 "axes": {"kernel.count": [8, 16], "cbuf.banks": [16, 1]}, "exclude": [{"kernel.count": 16, "cbuf.banks": 1}]}
        (self.folder / "sweep.json").write_text(json.dumps(sweep))
        self.dlasim("sweep", "sweep.json", "--out", "sweep", "--quiet", status=4)  # one point is refused
        self.sections["sweep"].check(sweep)
        points = self.load("sweep/points.json")
        for point in points:
            self.sections["points"].check(point)
        header = (self.folder / "sweep/points.csv").read_text().splitlines()[0]
        self.assertEqual(header.split(","), list(points[0]))
        self.assertTrue(any(point["reason"] for point in points) and any(point["cycles"] for point in points))
        asked = {"base": {"hw": "nv_small"}, "axes": {"cbuf.banks": [16, 32]}, "require": "area_mm2 < 9", "workloads": [
            {"layer": CONVOLUTION, "name": "first", "weight": 2, "require": "power_mw < 0.001"}, {"layer": CONVOLUTION, "name": "second"}]}
        (self.folder / "asked.json").write_text(json.dumps(asked))
        self.dlasim("sweep", "asked.json", "--out", "asked", "--quiet", "--timing-only")
        self.sections["sweep"].check({**asked, "workloads": [*asked["workloads"], {"network": {}}]})
        for machine in self.load("asked/machines.json"):
            self.sections["machines"].check(machine)
        for file in (ROOT / "configs/sweeps").glob("*.json"):
            self.sections["sweep"].check(json.loads(file.read_text()))
        for file in (ROOT / "configs/technology").glob("*.json"):
            self.sections["technology"].check(json.loads(file.read_text()))
        (self.folder / "laid.json").write_text(json.dumps({"table": "28nm", "note": "a test"}))
        self.sections["technology"].check(self.load("laid.json"))
        self.sections["silicon"].check(json.loads(self.dlasim("silicon", "--json", "--technology", "laid.json")))
        self.sections["energy"].check(json.loads(self.dlasim("silicon", "--json", "--of", "run0/result.json")))

    def look_at_files(self):
        for file in (ROOT / "configs/dram").glob("*.json"):
            self.sections["device"].check(json.loads(file.read_text()))
        for file in (ROOT / "configs/dram/standards").glob("*.json"):
            self.sections["table"].check(json.loads(file.read_text()))
        run = json.loads(self.dlasim("dram", "--cycles", "5000", "--json", "--check-dram"))
        self.sections["dram_run"].check(run)
        self.sections["dram"].check(run["statistics"])

    def look_at_descriptors(self):
        page = (ROOT / "docs/DESCRIPTOR.md").read_text()
        examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.S)]
        examples += [json.loads(file.read_text()) for file in (ROOT / "models").glob("*.json")]
        examples += [layer for layer, _, _ in RUNS if isinstance(layer, dict)]
        examples += [self.load(f"run{i}/result.json")["layer"] for i in range(len(RUNS))]
        for example in examples:
            self.sections[example.get("op") if example.get("op") in ("bdma", "rubik", "lrn") else "layer"].check(example)
        for name in ("layer", "bdma", "rubik", "lrn"):
            for key in {row["name"].split("/")[-1] for row in self.sections[name].rows}:
                self.assertRegex(page, rf'[`"]{key}[`"]', f"{key} is not explained")

    def test_what_is_written_and_read_is_declared_and_what_is_declared_occurs(self):
        self.look_at_runs()
        self.look_at_networks()
        self.look_at_loadables()
        self.look_at_plans()
        self.look_at_bounds()
        self.look_at_comparisons()
        self.look_at_explanations()
        self.look_at_replays()
        self.look_at_sweeps()
        self.look_at_files()
        self.look_at_descriptors()
        problems = sorted(problem for section in self.sections.values() for problem in section.problems)
        for section in self.sections.values():
            if section.name in ("file_options", "folder_files"):  # claims_test.py tries each of them
                continue
            problems += [f"{section.name}: {row['name']} never occurs" for row in section.rows
                         if row["name"] not in section.seen and not section.may_be_missing(row["name"])]
        self.assertEqual(problems, [])


if __name__ == "__main__":
    DLASIM = os.path.abspath(sys.argv.pop(1))
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(printed())
        sys.exit(0)
    unittest.main()
