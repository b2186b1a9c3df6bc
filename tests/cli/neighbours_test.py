#!/usr/bin/env python3
"""Files of other simulators in, and tables with their names out: docs/NEIGHBOURS.md.

usage: neighbours_test.py DLASIM [TestCase...]
"""
import csv
import json
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

    def test_what_is_wrong_is_said_with_its_line(self):
        for text, says in ((CONVOLUTIONS.replace("16, 2,", "16, x,"), 't.csv:2, Strides: found "x", expected a whole number in 1..8192'),
                           (CONVOLUTIONS.replace("16, 2,", "16,"), "t.csv:2: found 7 cells, expected 8"),
                           (CONVOLUTIONS.replace("Filter Width", "Width"), 't.csv:1: found a column "Width", expected the header of a topology'),
                           (CONVOLUTIONS.replace("16, 2,", "16, 9,"), "t.csv: /layers/0/stride/x: found 9, expected"),
                           ("a,b\n", "t.csv:1: found 2 columns"), ("", "has no layer"), (CONVOLUTIONS.replace("Conv2", "Conv1"), 'two tensors "Conv1.input"'),
                           (PRODUCTS.replace("16384", "67108859"), "expected a number with two factors"),
                           (CONVOLUTIONS.replace("Strides,", "Strides, Sparsity").replace("16, 2,", "16, 2, 2:4"), 'Sparsity: found "2:4"')):
            self.refused(self.dlasim("run", self.write(text, "t.csv")), says)
        for text, says in (("problem: 3\n", 'has no "shape"'), ("a: [\n", "p.yaml:"), (PROBLEM.replace("K: 24", "X: 24"), '"X" is no dimension and no coefficient'),
                           (PROBLEM.replace("K: 24, ", ""), 'has no "K"'), (PROBLEM.replace("K: 24", "K: -1"), 'found "-1"'),
                           (PROBLEM.replace("cnn-layer", "gemm"), 'found "gemm", expected cnn-layer'), (GROUPED.replace("[[R, D], [P]]", "[[R, D, 3], [P]]"), "expected [DIMENSION]"),
                           (GROUPED.replace("read_write: True", "read_write: False"), "expected one tensor that is read_write"),
                           (PROBLEM.replace("R: 5", "R: 33"), "p.yaml: /kernel/width: found 33")):
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
