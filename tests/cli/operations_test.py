#!/usr/bin/env python3
"""The operations of a replayed program: a line each on the terminal, in result.json and on the page, whatever the form of the program; and
--describe.

usage: operations_test.py DLASIM [TestCase...]
"""
import json
import os
import sys
import unittest

import cli_test

LAYER = {"name": "first", "input": {"width": 12, "height": 10, "channels": 16}, "kernel": {"width": 3, "height": 3, "count": 24},
         "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}, "bias": True, "post": {"output": {"shift": 8}}}
NETWORK = {"name": "three", "input": {"width": 12, "height": 12, "channels": 16},
           "layers": [{"name": "c1", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 24}, "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}},
                      {"name": "p1", "op": "pool", "pool": {"function": "max", "kernel": {"width": 2, "height": 2}, "stride": {"x": 2, "y": 2}}},
                      {"name": "c2", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}


class Operations(cli_test.Case):
    def json(self, folder):
        return json.loads((self.folder / folder / "result.json").read_text())

    def replayed(self, program, *arguments):
        done = self.dlasim("replay", program, "--out", "replayed", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.json("replayed"), done.stdout

    def exported(self, what, form="case", hardware="nv_small"):
        file = self.write(json.dumps(what), "what.json")
        to = "case.json" if form == "case" else form
        done = self.dlasim("export", file, "--hw", hardware, "--form", form, "--to", to)
        self.assertEqual(done.returncode, 0, done.stderr)
        return to

    def test_a_layer_is_one_operation_with_its_cycles_and_macs(self):
        run = self.dlasim("run", self.write(json.dumps(LAYER), "layer.json"), "--hw", "nv_small", "--out", "run")
        self.assertEqual(run.returncode, 0, run.stderr)
        wanted = self.json("run")
        result, table = self.replayed(self.exported(LAYER))
        operation, = result["operations"]
        self.assertEqual(operation["units"], "convolution, SDP_RDMA, SDP")
        self.assertEqual(operation["name"], "1 CONV SDP")
        self.assertEqual(set(operation["launches"]), {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP", "SDP_RDMA"})
        self.assertEqual((operation["input"], operation["output"]), ([12, 10, 16], [12, 10, 24]))
        self.assertEqual((operation["start"], operation["done"], operation["cycles"]), (0, wanted["cycles"], wanted["cycles"]))
        self.assertEqual(operation["macs"], 12 * 10 * 24 * 3 * 3 * 16)
        self.assertEqual(operation["causes"], result["causes"])
        leaves = lambda tree: tree if isinstance(tree, int) else sum(map(leaves, tree.values()))
        self.assertEqual(leaves(operation["causes"]), wanted["cycles"])
        line = next(line for line in table.splitlines() if "CONV SDP" in line)
        for word in (str(wanted["cycles"]), f"{100 * operation['utilization']:.1f}%"):
            self.assertIn(word, line)

    def test_every_form_of_a_program_has_the_same_operations_within_80_columns(self):
        for hardware in ("nv_small", "nv_full"):
            case, text = self.replayed(self.exported(NETWORK, hardware=hardware))
            self.assertTrue(case["operations"][0]["name"].startswith("1 CONV SDP"))
            self.assertEqual([operation["done"] for operation in case["operations"]][-1], case["cycles"])
            self.assertLessEqual(max(len(line) for line in text.splitlines()[1:]), 80, text)
            for operation in case["operations"]:
                self.assertLess(operation["start"], operation["done"])
                self.assertIn(f" {operation['done']} ", text)
            for form in ("txn", "cfg"):
                trace, _ = self.replayed(self.exported(NETWORK, form, hardware), "--hw", hardware)
                strip = lambda of: [{key: o[key] for key in ("units", "input", "output", "start", "done", "macs")} for o in of["operations"]]
                self.assertEqual(strip(trace), strip(case), f"{hardware} {form}")

    def test_a_trace_takes_the_same_cycles_without_its_comments(self):
        network = dict(NETWORK, layers=[layer for layer in NETWORK["layers"] if layer["op"] == "conv2d"])
        folder = self.exported(network, "txn", "nv_full")
        with_comments, _ = self.replayed(folder, "--hw", "nv_full")
        trace = self.folder / folder / "input.txn"
        trace.write_text("".join(line.split("#")[0].rstrip() + "\n" for line in trace.read_text().splitlines()))
        without, _ = self.replayed(folder, "--hw", "nv_full")
        times = lambda of: [(operation["start"], operation["done"]) for operation in of["operations"]]
        self.assertEqual(times(without), times(with_comments))  # masking the other interrupts is part of a wait

    def test_the_array_multiplies_no_more_than_it_can(self):
        layer = {"name": "w", "mode": "winograd", "input": {"width": 18, "height": 18, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 32},
                 "post": {"output": {"shift": 10}}}
        result, _ = self.replayed(self.exported(layer, hardware="nv_full"))
        operation, = result["operations"]
        self.assertEqual(operation["macs"], 16 * 16 // 4 * 16 * 64 * 32)
        self.assertLessEqual(operation["utilization"], 1)

    def test_an_operation_that_nothing_waits_for_is_there_too(self):
        case = json.loads((self.folder / self.exported(LAYER)).read_text())
        del case["expected"]
        case["program"] = [entry for entry in case["program"] if not entry[0].startswith("WAIT") and entry[0] not in ("CMAC_B.D_OP_ENABLE",)]
        result, table = self.replayed(self.write(json.dumps(case), "half.json"))
        self.assertIsNone(result["operations"][0]["done"])
        self.assertIn("never", table)

    def test_the_page_has_them_as_steps(self):
        done = self.dlasim("replay", self.exported(NETWORK), "--html", "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "page.html").read_text()
        data = json.loads(page.split('<script type="application/json" id="run">')[1].split("</script>")[0])
        names = [operation["name"] for operation in data["result"]["operations"]]
        self.assertEqual([step[0] for step in data["steps"]], names)
        self.assertGreater(len(names), 1)

    def test_describe_decodes_operations_and_fields_without_running(self):
        for form in ("case", "txn", "cfg"):
            done = self.dlasim("replay", self.exported(LAYER, form), "--describe", "--hw", "nv_small")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("   1 convolution, SDP_RDMA, SDP: ", done.stdout)
            self.assertIn("CONV   12 x 10 x 16 at ", done.stdout)
            self.assertIn("to 12 x 10 x 24 on the fly", done.stdout)
            self.assertIn("kernels of 3 x 3 x 16 as CSC has them, stride 1 x 1, dilation 1 x 1, padding 1 1 1 1 of 0", done.stdout)
            self.assertIn("BS sum with memory by kernel", done.stdout)
            self.assertIn("DATAIN_WIDTH 11, DATAIN_HEIGHT 9", done.stdout)
            self.assertIn("BATCHES 0", done.stdout)
        self.refused(self.dlasim("replay", "case.json", "--describe", "--events", "e.json"), "--events excludes --describe")


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
