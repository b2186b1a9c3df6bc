#!/usr/bin/env python3
"""Files of other simulators in, and tables with their names out: docs/SIMULATORS.md.

usage: neighbours_test.py DLASIM [TestCase...]
"""
import csv
import json
import shutil
import sys
import unittest

import cli_test
from cli_test import SMALL, Case

CONVOLUTIONS = """Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1, 19, 23, 3, 5, 8, 16, 2,
Conv2, 9, 10, 1, 1, 16, 32, 1,
"""
PRODUCTS = "Layer, M, N, K,\nqk, 64, 32, 48,\nwide, 16384, 8, 16,\n"
PROBLEM = """problem:
  shape: cnn-layer
  instance: {C: 16, K: 24, R: 5, S: 3, N: 1, P: 10, Q: 9, Wstride: 2, Hstride: 2}
"""
GROUPED = """problem:
  version: 0.4
  shape:
    name: depthwise
    dimensions: [ C, R, S, P, Q ]
    coefficients:
    - {name: D, default: 2}
    data_spaces:
    - {name: Weights, projection: [ [[C]], [[R]], [[S]] ]}
    - {name: Inputs, projection: [ [[C]], [[R, D], [P]], [[S, D], [Q]] ]}
    - {name: Outputs, projection: [ [[C]], [[P]], [[Q]] ], read_write: True}
  instance: {C: 32, R: 3, S: 3, P: 8, Q: 6}
"""
MATRICES = """problem:
  shape:
    name: product
    dimensions: [ M, N, K ]
    data-spaces:
    - {name: A, projection: [ [[M]], [[K]] ]}
    - {name: B, projection: [ [[K]], [[N]] ]}
    - {name: Z, projection: [ [[M]], [[N]] ], read-write: true}
  instance: {M: 128, N: 64, K: 32}
"""


class Inputs(Case):
    def result(self, *arguments):
        done = self.dlasim(*arguments, "--quiet", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads((self.folder / "out/result.json").read_text())

    def test_a_topology_of_convolutions(self):
        file = self.write(CONVOLUTIONS, "t.csv")
        for command in ("run", "net"):
            result = self.result(command, file, "--hw", "nv_small")
            self.assertIs(result["verified"], True)
            self.assertEqual([step["name"] for step in result["steps"]], ["Conv1", "Conv2"])
            self.assertEqual([step["macs"] for step in result["steps"]], [9 * 10 * 16 * 8 * 15, 90 * 16 * 32])
            self.assertEqual(result["network"]["name"], "t")
        # A layer alone takes as long: the network waits for each before the next begins.
        layer = {"input": {"width": 23, "height": 19, "channels": 8}, "kernel": {"width": 5, "height": 3, "count": 16}, "stride": {"x": 2, "y": 2}}
        steps = self.result("net", file, "--hw", "nv_small", "--timing-only", "--layers", "apart")["steps"]
        alone = self.result("run", self.write(layer), "--hw", "nv_small", "--timing-only")
        self.assertEqual(steps[0]["apart"], alone["cycles"])

    def test_a_topology_of_products(self):
        result = self.result("run", self.write(PRODUCTS, "t.csv"), "--hw", "nv_small")
        self.assertEqual([step["macs"] for step in result["steps"]], [64 * 32 * 48, 16384 * 8 * 16])

    def test_every_command_takes_it(self):
        file = self.write(CONVOLUTIONS, "t.csv")
        problem = self.write(PROBLEM, "p.yaml")
        self.assertEqual(self.dlasim("bound", file, "--chip", 64).returncode, 0)
        self.assertEqual(self.dlasim("bound", problem, "--chip", 64).returncode, 0)
        self.assertEqual(self.dlasim("bound", self.write("Layer,M,N,K,\nL,32,30522,16,\n", "tiles.csv"), "--chip", 64).returncode, 0)
        for what in (file, problem):
            self.assertEqual(self.dlasim("export", what, "--hw", "nv_small", "--form", "case", "--to", "case.json").returncode, 0)
            self.assertEqual(self.dlasim("run", what, "--plan", "--hw", "nv_small").returncode, 0)
        for key, name in (("network", "t.csv"), ("layer", "p.yaml")):
            sweep = self.write({"base": {key: name, "hw": "nv_small"}, "axes": {"latency": [10, 90]}}, "s.json")
            self.assertEqual(self.dlasim("sweep", sweep, "--out", key).returncode, 0)
        (self.folder / "suite").mkdir()
        self.write(PROBLEM, "suite/p.yaml")
        self.write({"cases": [{"file": "p.yaml"}]}, "suite/suite.json")
        self.assertEqual(self.dlasim("test", "suite", "--hw", "nv_small", "--out", "tested").returncode, 0)

    def test_a_problem_in_the_shape_of_a_layer(self):
        layer = self.result("run", self.write(PROBLEM, "p.yaml"), "--hw", "nv_small")["layer"]
        self.assertEqual(layer["input"] | {}, {"width": 23, "height": 19, "channels": 16, "batch": 1, "format": "feature"})
        self.assertEqual((layer["kernel"], layer["stride"]), ({"width": 5, "height": 3, "count": 24}, {"x": 2, "y": 2}))

    def test_a_shape_in_full(self):
        layer = self.result("run", self.write(GROUPED, "p.yml"), "--hw", "nv_small")["layer"]
        self.assertEqual((layer["groups"], layer["kernel"], layer["dilation"]), (32, {"width": 3, "height": 3, "count": 32}, {"x": 2, "y": 2}))
        self.assertEqual((layer["input"]["width"], layer["input"]["height"], layer["input"]["channels"]), (12, 10, 32))

    def test_a_product_of_matrices(self):
        result = self.result("run", self.write(MATRICES, "p.yaml"), "--hw", "nv_small")
        self.assertEqual(result["macs"], 128 * 64 * 32)
        self.assertEqual((result["layer"]["input"]["channels"], result["layer"]["kernel"]["count"]), (32, 64))

    def steps(self, text, hw="nv_large", *arguments, warns=""):
        done = self.dlasim("net", self.write(text, "t.csv"), "--hw", hw, "--quiet", "--out", "out", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.assertIn if warns else self.assertEqual)(warns, done.stderr)
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertEqual(result["verified"], None if "--timing-only" in arguments else True)
        return result["steps"]

    def test_cells_are_read_by_position(self):
        row = "c1,8,8,3,3,8,8,1,\n"
        names = "IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides"
        for header in (f"Layer name, {names},", f"Layer, {names}", f"layer name, {names.lower()},", f"Layer name, {names.replace('Num Filter', 'Num Filters')},",
                       f"Layer name, {names.replace('IFMAP Height', 'IFMAP Width')},", f"Layer name, {names.replace(' IFMAP', chr(160) + 'IFMAP')},",
                       f"\ufeffLayer, {names},,,", f"Layer name, {names}, Batch Size,", f"a,b,c,d,e,f,g,h"):
            steps = self.steps(f"{header}\n{row}")
            self.assertEqual([(step["name"], step["macs"]) for step in steps], [("c1", 6 * 6 * 8 * 8 * 9)])
        extra = f"Layer name, {names},,,Eh,Ew,e2\nc1,8,8,3,3,8,8,1,,,6,6,36\n"
        self.assertEqual(len(self.steps(extra, warns='t.csv:1: columns "Eh", "Ew", "e2" are not read')), 1)
        # Titles, remarks, blanks, names that come again, a second stride, depthwise layers.
        text = f"Layer name, {names}, Stride Width\n\nFirst part,\n,,,,,,,,\na,8,8,3,3,8,8,1,#dw\n\ta,8,8,3,3,8,8,1\nb,9,9,3,3,8,8,2,1,\nDPc,8,8,3,3,8,2,1,,\n"
        steps = self.steps(text)
        self.assertEqual([(step["name"], step["macs"]) for step in steps],
                         [("a", 6 * 6 * 64 * 9), ("a_2", 6 * 6 * 64 * 9), ("b", 4 * 7 * 64 * 9), ("DPc", 6 * 6 * 16 * 9)])
        self.assertEqual([step["macs"] for step in self.steps("x, y, z, w, Sparsity\nq,64,32,48,1:1\n")], [64 * 32 * 48])

    def test_a_filter_as_large_as_the_input(self):
        head = CONVOLUTIONS.splitlines()[0] + "\n"
        for row, macs in (("1,1024,1,1024,1,4,1", 4096), ("8,40,1,40,3,4,1", 8 * 40 * 3 * 4), ("6,6,6,6,16,8,99", 6 * 6 * 16 * 8), ("40,50,40,50,1,8,1", 2000 * 8)):
            for step in self.steps(f"{head}fc,{row},\n"):
                self.assertEqual(step["macs"], macs)

    def test_sizes_beyond_a_layer(self):
        for text, macs, count in (("Layer,M,N,K,\nL,32,30522,16,\n", 32 * 30522 * 16, 4), ("Layer,M,N,K,\nL,8209,8,16,\n", 8209 * 8 * 16, 2),
                                  ("Layer,M,N,K,\nL,3,8,25088,\n", 3 * 8 * 25088, 1), (f"{CONVOLUTIONS.splitlines()[0]}\nL,9000,3,3,3,8,8,1,\n", 8998 * 8 * 8 * 9, 2),
                                  (f"{CONVOLUTIONS.splitlines()[0]}\nL,3,8195,1,1,8,9000,2,\n", 2 * 4098 * 8 * 9000, 4)):
            steps = self.steps(text, "nv_large", *(() if macs < 30e6 else ("--timing-only",)))
            self.assertEqual((sum(step["macs"] for step in steps), len(steps)), (macs, count))
        (step,) = self.steps("Layer,M,N,K,\nL,2,8,9137,\n", warns="t.csv:2, K: 9137 channels are computed as 2 x 4569, 1 more")
        self.assertEqual(step["macs"], 2 * 8 * 9138)
        names = self.steps("Layer,M,N,K,\nL,32,30522,16,\n", "nv_large", "--timing-only")
        self.assertEqual([step["name"] for step in names], ["L.1", "L.2", "L.3", "L.4"])
        problem = self.write(PROBLEM.replace("K: 24", "K: 9000"), "p.yaml")
        self.assertEqual(sum(step["macs"] for step in self.result("run", problem, "--hw", "nv_large", "--timing-only")["steps"]), 9000 * 16 * 15 * 90)
        connected = self.write("problem:\n  shape: cnn-layer\n  instance: {C: 8, K: 16, R: 50, S: 40, N: 1, P: 1, Q: 1}\n", "p.yaml")
        self.assertEqual(self.result("run", connected, "--hw", "nv_large")["macs"], 8 * 16 * 50 * 40)

    def test_other_sizes_of_a_problem(self):
        for more, warns in (("densities: {Weights: 0.5}", '"densities" is for sparse machines'), ("H: 10, W: 10, Hpad: 0", 'p.yaml:3: "H", "W", "Hpad" of the instance'),
                            ("WStride: 2", 'did you mean "Wstride"')):
            done = self.dlasim("run", self.write(PROBLEM.replace("N: 1,", f"N: 1, {more},"), "p.yaml"), "--hw", "nv_small")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(warns, done.stderr)
            self.assertIn("23 x 19 x 16", done.stdout)
        shutil.rmtree(self.folder / "out")
        for text, says in (("{{include_text('base.yaml')}}\n" + PROBLEM, "p.yaml:1: is a template of Jinja"), (PROBLEM + "{% if x %}\n", "p.yaml:4: is a template of Jinja"),
                           ("problem:\n  <<<: *base\n", 'p.yaml:2: is a template: "<<<" merges maps'), ("architecture:\n  version: 0.4\n", 'has the "architecture" of Timeloop')):
            self.refused(self.dlasim("run", self.write(text, "p.yaml")), says)

    def test_files_of_other_programs_are_named(self):
        layer = self.write(SMALL)
        for name, text, says in (("d.ini", "[dram_structure]\nprotocol = DDR4\n", "is a DRAM of DRAMsim3"), ("r.yaml", "MemorySystem:\n  DRAM:\n    impl: DDR4\n", "is a memory system of Ramulator 2"),
                                 ("r.cfg", "# old\nstandard = DDR4\n", "is a memory of Ramulator"), ("s.json", '{"memspec": {"memoryType": "DDR4"}}', "is a device of DRAMSys"),
                                 ("m.json", '{"mcconfig": {}}', "is a controller of DRAMSys"), ("notes.txt", "hello", "is no JSON, expected a memory of dlasim")):
            self.write(text, name)
            self.refused(self.dlasim("run", layer, "--memory", name), f"{name}: {says}")
            self.refused(self.dlasim("dram", "--preset", name), f"{name}: {says}")
        for name, text, says in (("m.prototxt", 'name: "LeNet"\nlayer {\n}\n', "is a network of Caffe"), ("m.caffemodel", "\x0a\x05", "is the weights of a Caffe network"),
                                 ("yolo.cfg", "[net]\nbatch=1\n", "is a network of Darknet"), ("yolo.weights", "\x00\x01", "is the weights of a Darknet network"),
                                 ("m.tflite", "\x1c\x00\x00\x00TFL3" + "\x00" * 40, "is a model of TensorFlow Lite"), ("m", "\x1c\x00\x00\x00TFL3" + "\x00" * 40, "is a model of TensorFlow Lite"),
                                 ("m.pt", "PK\x03\x04", "is a model of PyTorch"), ("a.cfg", "[architecture_presets]\n", "is a configuration of SCALE-Sim"), ("n.txt", "hello", "is no JSON")):
            self.write(text, name)
            for command in ("run", "net"):
                self.refused(self.dlasim(command, name), f"{name}: {says}")
        self.refused(self.dlasim("run", layer, "--hw", "a.cfg"), "a.cfg: is a configuration of SCALE-Sim, expected a machine of dlasim")
        self.refused(self.dlasim("run", layer, "--hw", "n.txt"), "n.txt: is no JSON, expected a machine of dlasim")

    def test_all_problems_at_once(self):
        text = f"{CONVOLUTIONS.splitlines()[0]}\nc1,8,8,3,3,8,8,1,\nc2,7,7,3,3,8,8,9,\nc3,9,9,3,3,9000,8,1,\nc4,9,9,x,3,8,8,1,\nc5,9,9,3,11,8,8,1,\n"
        done = self.dlasim("net", self.write(text, "t.csv"), "--hw", "nv_large")
        self.refused(done, "t.csv: 4 problems")
        for says in ("t.csv:3, Strides: found 9, expected a whole number in 1..8", "t.csv:4, Channels: found 9000", 't.csv:5, Filter Height: found "x"', "t.csv:6, Filter Width: found 11"):
            self.assertIn(says, done.stderr)
        self.assertNotIn("/layers", done.stderr)

    def test_what_is_wrong_is_said_with_its_line(self):
        for text, says in ((CONVOLUTIONS.replace("16, 2,", "16, x,"), 't.csv:2, Strides: found "x", expected a whole number in 1..'),
                           (CONVOLUTIONS.replace("16, 2,", "16,"), "t.csv:2: found 7 cells, expected 8"),
                           (CONVOLUTIONS.replace("16, 2,", "16, 9,"), "t.csv:2, Strides: found 9, expected a whole number in 1..8"),
                           ("a,b\n", "t.csv:1: found 2 columns"), ("", "has no layer"), ("c1,8,8,3,3,8,8,1,\n", "t.csv:1: is a row of numbers, expected a header"),
                           ("LayerID, Total Cycles, Stall Cycles, a,\n0, 1, 2, 3,\n", "t.csv:1: is a report of SCALE-Sim"),
                           (CONVOLUTIONS.replace("Strides,", "Strides, Batch Size,").replace("16, 2,", "16, 2, 4,"), 't.csv:2, Batch Size: found "4", expected 1'),
                           (CONVOLUTIONS.replace("16, 2,", "16, 2, 4,"), "t.csv:2: found a ninth number, 4"),
                           (PRODUCTS.replace("16384", "67108859"), "t.csv:3: has an input of 1073610752 elements"),
                           (CONVOLUTIONS.replace("Strides,", "Strides, Sparsity").replace("16, 2,", "16, 2, 2:4"), 'Sparsity: found "2:4"')):
            self.refused(self.dlasim("run", self.write(text, "t.csv")), says)
        for text, says in (("problem: 3\n", 'has no "shape"'), ("a: [\n", "p.yaml:"), (PROBLEM.replace("K: 24", "X: 24"), 'has no "K"'),
                           (PROBLEM.replace("K: 24, ", ""), 'has no "K"'), (PROBLEM.replace("K: 24", "K: -1"), 'found "-1"'),
                           (PROBLEM.replace("cnn-layer", "gemm"), 'found "gemm", expected cnn-layer'), (GROUPED.replace("[[R, D], [P]]", "[[R, D, 3], [P]]"), "expected [DIMENSION]"),
                           (GROUPED.replace("read_write: True", "read_write: False"), "expected one tensor that is read_write"),
                           (PROBLEM.replace("R: 5", "R: 33"), "p.yaml:3, R: found 33, expected a whole number in 1..32 (kernel width)")):
            self.refused(self.dlasim("run", self.write(text, "p.yaml")), says)


class Outputs(Case):
    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return [{key.strip(): value.strip() for key, value in row.items() if key.strip()} for row in csv.DictReader(file)]

    def test_reports_with_the_columns_of_scale_sim(self):
        file = self.write(CONVOLUTIONS, "t.csv")
        self.assertEqual(self.dlasim("net", file, "--hw", "nv_small", "--scale-sim", "--quiet").returncode, 0)
        result = json.loads((self.folder / "out/result.json").read_text())
        compute, bandwidth = self.rows("out/COMPUTE_REPORT.csv"), self.rows("out/BANDWIDTH_REPORT.csv")
        self.assertEqual(list(compute[0]), ["LayerID", "Total Cycles", "Stall Cycles", "Overall Util %", "Mapping Efficiency %", "Compute Util %"])
        self.assertEqual(list(bandwidth[0]), ["LayerID"] + [f"Avg {what} {where} BW" for where in ("SRAM", "DRAM") for what in ("IFMAP", "FILTER", "OFMAP")])
        self.assertEqual(len(compute), 2)
        for i, step in enumerate(result["steps"]):
            self.assertEqual((int(compute[i]["LayerID"]), int(compute[i]["Total Cycles"])), (i, step["cycles"]))
            self.assertEqual(int(compute[i]["Stall Cycles"]), step["cycles"] - step["bounds"]["mac_array"])
            self.assertAlmostEqual(float(compute[i]["Overall Util %"]), 100 * step["utilization"], places=3)
            computing = 1 - int(compute[i]["Stall Cycles"]) / step["cycles"]
            self.assertAlmostEqual(float(compute[i]["Compute Util %"]) * computing, float(compute[i]["Overall Util %"]), places=3)
            for what, tensor in (("IFMAP", "input"), ("FILTER", "weights"), ("OFMAP", "output")):
                self.assertAlmostEqual(float(bandwidth[i][f"Avg {what} DRAM BW"]), step["tensors"][tensor]["moved"] / step["cycles"], places=3)
        self.assertEqual(self.dlasim("run", self.write(SMALL), "--hw", "nv_small", "--scale-sim", "--quiet", "--out", "layer").returncode, 0)
        layer = json.loads((self.folder / "layer/result.json").read_text())
        (row,) = self.rows("layer/COMPUTE_REPORT.csv")
        self.assertEqual(int(row["Total Cycles"]), layer["cycles"])
        (row,) = self.rows("layer/BANDWIDTH_REPORT.csv")
        self.assertGreater(float(row["Avg FILTER DRAM BW"]), 0)

    def test_a_trace_has_every_burst(self):
        layer = self.write({"input": {"width": 40, "height": 30, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 32}})
        self.assertEqual(self.dlasim("run", layer, "--hw", "nv_small", "--trace", "all.csv", "--timing-only", "--quiet").returncode, 0)
        result = json.loads((self.folder / "out/result.json").read_text())
        rows = self.rows("all.csv")
        self.assertGreater(len(rows), 1000)
        self.assertEqual(list(rows[0]), ["cycle", "port", "access", "client", "address", "bytes"])
        for access, total in (("read", "read_bytes_by_client"), ("write", "write_bytes_by_client")):
            sums = {}
            for row in rows:
                if row["access"] == access:
                    sums[row["client"]] = sums.get(row["client"], 0) + int(row["bytes"])
            self.assertEqual(sums, result["traffic"]["dbb"][total])
        cycles = [int(row["cycle"]) for row in rows]
        self.assertEqual(cycles, sorted(cycles))
        self.assertLessEqual(cycles[-1], result["cycles"])
        self.assertEqual(self.dlasim("run", layer, "--hw", "nv_small", "--trace", "one.csv", "--trace-client", "CDMA_WT", "--timing-only", "--quiet").returncode, 0)
        self.assertEqual(self.rows("one.csv"), [row for row in rows if row["client"] == "CDMA_WT"])


if __name__ == "__main__":
    cli_test.DLASIM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
