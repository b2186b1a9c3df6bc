#!/usr/bin/env python3
"""dlasim test: docs/REGRESSION.md.

usage: suite_test.py DLASIM [TestCase...]
"""
import json
import shutil
import sys
import unittest
import xml.etree.ElementTree as xml

import numpy as np

import cli_test
from cli_test import SMALL, Case

NETWORK = {"name": "tiny", "input": {"width": 6, "height": 5, "channels": 8},
           "layers": [{"name": "a", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}}]}


class Suite(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "suite/deep").mkdir(parents=True)
        self.write(SMALL, "suite/layer.json")
        self.write(NETWORK, "suite/deep/net.json")
        self.write({"preset": "nv_small"}, "suite/machine.json")  # no case

    def suite(self, *arguments):
        return self.dlasim("test", "suite", "--hw", "nv_small", *arguments)

    def golden(self):
        return json.loads((self.folder / "suite/suite.json").read_text())

    def junit(self, name="junit.xml"):
        return xml.parse(self.folder / name).getroot()

    def test_what_is_found_runs_and_update_writes_golden_cycles(self):
        done = self.suite("--junit", "junit.xml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 cases: 2 passed, 0 failed, 0 with an error", done.stdout)
        self.assertIn("no golden cycles: --update writes them", done.stdout)
        root = self.junit()
        self.assertEqual((root.tag, root.get("tests"), root.get("failures"), root.get("errors")), ("testsuites", "2", "0", "0"))
        self.assertEqual([case.get("name") for case in root.iter("testcase")], ["deep/net", "layer"])
        self.assertFalse((self.folder / "suite/suite.json").exists())

        self.assertEqual(self.suite("--update").returncode, 0)
        golden = self.golden()
        self.assertEqual((golden["hw"], golden["memory"], [case["file"] for case in golden["cases"]]), ("nv_small", "ideal", ["deep/net.json", "layer.json"]))
        alone = self.dlasim("run", "suite/layer.json", "--hw", "nv_small", "--out", "alone", "--quiet")
        self.assertEqual(alone.returncode, 0)
        self.assertEqual(golden["cases"][1]["cycles"], json.loads((self.folder / "alone/result.json").read_text())["cycles"])
        # The machine stands in the file now.
        done = self.dlasim("test", "suite", "--out", "again")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("no golden", done.stdout)
        self.assertTrue((self.folder / "again/deep/net/result.json").exists())

    def test_cycles_beyond_the_tolerance_fail(self):
        self.suite("--update")
        golden = self.golden()
        right = golden["cases"][1]["cycles"]
        golden["cases"][1]["cycles"] = right * 100 // 98
        self.write(golden, "suite/suite.json")
        done = self.suite("--junit", "junit.xml")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"FAILED +layer .* cycles, golden .*: -[\d.]+ %, expected at most 0 %")
        (failure,) = self.junit().iter("failure")
        self.assertEqual(failure.get("type"), "Cycles")
        self.assertEqual(self.suite("--tolerance", "3").returncode, 0)
        golden["tolerance"] = 0.5
        self.write(golden, "suite/suite.json")
        self.assertEqual(self.suite("--tolerance", "3").returncode, 1, "the suite has the say")
        golden["cases"][1]["tolerance"] = 3
        self.write(golden, "suite/suite.json")
        self.assertEqual(self.suite().returncode, 0)
        done = self.suite("--update")
        self.assertIn("golden cycles were", done.stdout)
        self.assertEqual(self.golden()["cases"][1]["cycles"], right)
        self.assertEqual(self.golden()["cases"][1]["tolerance"], 3, "all else stays")

    def test_expected_tensors(self):
        self.dlasim("run", "suite/deep/net.json", "--hw", "nv_small", "--out", "gold", "--quiet")
        output = np.load(self.folder / "gold/output.npy")
        np.save(self.folder / "suite/gold.npy", output)
        cases = [{"file": "deep/net.json", "expected": "gold.npy"}]
        self.write({"cases": cases}, "suite/suite.json")
        self.assertEqual(self.suite().returncode, 0)
        output[0, 3, 1, 2] ^= 1
        np.save(self.folder / "suite/gold.npy", output)
        done = self.suite("--junit", "junit.xml", "--update")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, rf"FAILED +deep/net .* 1 of {output.size} outputs differ from suite/gold.npy, .* batch 0 channel 3 row 1 column 2: found")
        self.assertEqual([f.get("type") for f in self.junit().iter("failure")], ["Values"])
        self.assertNotIn("cycles", self.golden()["cases"][0], "wrong values make no golden cycles")
        # A layer may name its tensor itself.
        np.save(self.folder / "suite/wrong.npy", np.zeros((1, 10, 7, 9), np.int8))
        self.write({**SMALL, "data": {"expected": "wrong.npy"}}, "suite/layer.json")
        self.write({"cases": []}, "suite/suite.json")
        self.assertEqual(self.suite().returncode, 1)

    def test_a_model_with_its_images(self):
        for name in ("acri_mnist.onnx", "images.npy", "labels.npy"):
            shutil.copy(cli_test.MODELS / "onnx" / name, self.folder / "suite" / name)
        np.save(self.folder / "suite/images.npy", np.load(self.folder / "suite/images.npy")[:3])
        labels = np.load(self.folder / "suite/labels.npy")[:3]
        np.save(self.folder / "suite/labels.npy", labels)
        alone = self.dlasim("net", "suite/acri_mnist.onnx", "--input", "suite/images.npy", "--labels", "suite/labels.npy", "--hw", "nv_small", "--out", "alone",
                            "--quiet")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        shutil.copy(self.folder / "alone/output.npy", self.folder / "suite/gold.npy")
        result = json.loads((self.folder / "alone/result.json").read_text())
        self.assertGreater(result["accuracy"], 0.6)
        model = {"file": "acri_mnist.onnx", "input": "images.npy", "labels": "labels.npy", "calibrate": ["images.npy"], "accuracy": result["accuracy"],
                 "cycles": result["cycles"]}
        self.write({"hw": "nv_small", "cases": [{**model, "expected": "gold.npy"}]}, "suite/suite.json")
        done = self.suite()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"ok +acri_mnist ")
        np.save(self.folder / "suite/labels.npy", (labels + 1) % 10)
        done = self.suite("--junit", "junit.xml")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"FAILED +acri_mnist .* accuracy \S+, expected at least 0.666")
        self.assertEqual([f.get("type") for f in self.junit().iter("failure")], ["Accuracy"])
        # Golden cycles are no pardon for a bad accuracy.
        done = self.dlasim("test", "suite", "--update", "--out", "updated")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"FAILED +acri_mnist .* accuracy")
        self.write({"hw": "nv_small", "cases": [{key: value for key, value in model.items() if key != "cycles"}]}, "suite/suite.json")
        self.assertEqual(self.suite("--update").returncode, 1)
        self.assertNotIn("cycles", self.golden()["cases"][0])
        # A model that nobody lists gets an image by seed.
        self.write({"hw": "nv_small", "cases": []}, "suite/suite.json")
        done = self.suite()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"ok +acri_mnist ")
        for folder in ("alone", "out", "updated"):
            shutil.rmtree(self.folder / folder)
        for change, says in (({"accuracy": 2}, "/cases/0/accuracy: found 2"), ({"labels": ""}, "/cases/0/accuracy: found without labels"),
                             ({"precision": "int4"}, '/cases/0/precision: found "int4"'), ({"input": []}, "/cases/0/input: found []"),
                             ({"file": "layer.json"}, "/cases/0/input: is of an ONNX model, and layer.json is none")):
            self.write({"cases": [{**model, **change}]}, "suite/suite.json")
            self.refused(self.suite(), says)

    def test_what_cannot_run_is_an_error_and_the_others_run(self):
        self.write({**SMALL, "stride": {"x": 9}}, "suite/bad.json")
        self.write("{", "suite/broken.json")
        done = self.suite("--junit", "junit.xml", "--jobs", "1")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"ERROR +bad .*/stride/x: found 9, expected")
        self.assertIn("4 cases: 2 passed, 0 failed, 2 with an error", done.stdout)
        root = self.junit()
        self.assertEqual(root.get("errors"), "2")
        for case in root.iter("testcase"):
            self.assertEqual(case.get("classname"), "suite")
            self.assertGreaterEqual(float(case.get("time")), 0)
            self.assertIn([child.tag for child in case], ([], ["error"]))

    def test_sides_do_not_matter(self):
        one, two = self.suite("--jobs", "1", "--out", "one"), self.suite("--jobs", "2", "--out", "two")
        self.assertEqual((one.returncode, two.returncode), (0, 0))
        for case in ("layer", "deep/net"):
            self.assertEqual((self.folder / "one" / case / "result.json").read_bytes(), (self.folder / "two" / case / "result.json").read_bytes())

    def test_bad_suites_are_refused(self):
        for content, says in (({"case": []}, 'unknown key (did you mean "cases"?)'), ({"tolerance": -1}, "/tolerance: found -1"),
                              ({"cases": [{"file": "layer.json"}, {"file": "layer.json"}]}, 'has two cases "layer"'),
                              ({"cases": [{"file": "layer.json", "name": "../x"}]}, "/cases/0/name"), ({"cases": [{}]}, "/cases/0/file: is missing"),
                              ({"cases": [{"file": "layer.json", "cycles": -1}]}, "/cases/0/cycles"), ({"cases": {}}, "/cases: found"),
                              ({"timing_only": True, "cases": [{"file": "layer.json", "expected": "gold.npy"}]}, "/cases/0/expected"),
                              ({"set": "x"}, "/set: found"), ({"hw": 3}, "/hw: found 3"),
                              ({"hw": "nv_larg"}, 'suite.json: /hw: unknown preset "nv_larg" (did you mean "nv_large"?)'),
                              ({"cases": [{"file": "layer.json", "memory": "ddr"}]}, "suite.json: /cases/0/memory: ")):
            self.write(content, "suite/suite.json")
            self.refused(self.suite(), says)
        self.refused(self.dlasim("test", "nowhere"), "is no folder")
        (self.folder / "empty").mkdir()
        self.refused(self.dlasim("test", "empty"), "has nothing to run")

    def test_no_output_on_an_input(self):
        before = (self.folder / "suite/layer.json").read_bytes()
        self.refused(self.suite("--junit", "suite/layer.json"), "is an input of this command")
        self.refused(self.suite("--out", "."), "is an input of this command")
        self.suite("--update")
        self.assertEqual(self.suite("--junit", "suite/suite.json").returncode, 2)
        self.assertEqual((self.folder / "suite/layer.json").read_bytes(), before)
        # That of the last run may stand beside the cases.
        for _ in range(2):
            self.assertEqual(self.suite("--junit", "suite/junit.xml").returncode, 0)

    def test_names_with_marks_of_xml(self):
        self.write(SMALL, "suite/a.json")
        self.write({"cases": [{"file": "a.json", "set": ["<&\">=1"]}]}, "suite/suite.json")
        self.assertEqual(self.suite("--junit", "junit.xml").returncode, 1)
        (error,) = self.junit().iter("error")
        self.assertIn('<&\\">' if '<&\\">' in error.get("message") else '<&">', error.get("message"))


if __name__ == "__main__":
    cli_test.DLASIM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
