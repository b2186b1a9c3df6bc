#!/usr/bin/env python3
"""Outputs beside the tensor that a user expects: tolerances, what a difference looks like, --diff, and what a suite says of it.

usage: expected_test.py DLASIM [Kinds | Tolerances | Suites]
"""
import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np

DLASIM = None


def quantised(sums, how="away"):
    """A shift by 6 bits: the machine's rounding, and those of others."""
    rounded = {"away": lambda s: np.sign(s) * ((np.abs(s) + 32) >> 6), "even": lambda s: np.rint(s / 64), "truncated": lambda s: np.trunc(s / 64),
               "down": lambda s: np.floor(s / 64), "up": lambda s: np.floor(s / 64 + 0.5)}[how](sums)
    return np.clip(rounded, -128, 127).astype(np.int8)


class Expected(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="dlasim_expected_")
        self.folder = Path(self.temporary.name)
        rng = np.random.default_rng(7)
        self.x = rng.integers(-20, 20, (1, 16, 8, 8), dtype=np.int8)
        self.w = rng.integers(-20, 20, (8, 16, 1, 1), dtype=np.int8)
        self.b = rng.integers(-900, 900, 8, dtype=np.int16)
        products = np.einsum("nchw,kc->nkhw", self.x.astype(np.int64), self.w[:, :, 0, 0].astype(np.int64))
        self.sums = products + self.b.reshape(1, -1, 1, 1)
        self.y = quantised(self.sums)
        for name in "xwb":
            np.save(self.folder / f"{name}.npy", getattr(self, name))

    def tearDown(self):
        self.temporary.cleanup()

    def dlasim(self, *words):
        return subprocess.run([DLASIM, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300)

    def layer(self, expected, name="layer", **more):
        np.save(self.folder / f"{name}.npy", expected)
        layer = {"name": name, "input": {"width": 8, "height": 8, "channels": 16}, "kernel": {"width": 1, "height": 1, "count": 8}, "bias": True,
                 "post": {"output": {"shift": 6}},
                 "data": {"input": "x.npy", "weights": "w.npy", "bias": "b.npy", "expected": f"{name}.npy", **more}}
        (self.folder / f"{name}.json").write_text(json.dumps(layer))
        return f"{name}.json"

    def compared(self, layer, status, *words):
        done = self.dlasim("run", layer, "--hw", "nv_small", "--quiet", "--out", "out", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads((self.folder / "out/result.json").read_text()), done.stderr


class Kinds(Expected):
    def kind(self, expected):
        result, said = self.compared(self.layer(np.ascontiguousarray(expected).astype(np.int8)), 1)
        self.assertIn("dlasim's own reference agrees with the machine", said)
        self.assertTrue(result["verified"])
        kind = result["expected"].get("kind", "")
        self.assertIn(kind, said)
        self.assertEqual(sum(result["expected"]["by_channel"]), result["expected"]["differing"])
        return kind

    def test_a_right_one(self):
        result, said = self.compared(self.layer(self.y), 0)
        self.assertTrue(result["expected"]["equal"])
        self.assertEqual(said, "")

    def test_rounding(self):
        self.assertIn("truncated", self.kind(quantised(self.sums, "truncated")))
        self.assertIn("rounded down", self.kind(quantised(self.sums, "down")))
        self.assertIn("ties are rounded to even", self.kind(quantised(self.sums, "even")))
        self.assertIn("ties are rounded up", self.kind(quantised(self.sums, "up")))

    def test_shifts_by_a_channel_a_row_a_column(self):
        for axis, name in ((1, "channel"), (2, "row"), (3, "column")):
            self.assertEqual(self.kind(np.roll(self.y, 1, axis)), f"the expected values are 1 {name} further on")
            self.assertEqual(self.kind(np.roll(self.y, -2, axis)), f"the expected values are 2 {name}s further back")

    def test_layouts(self):
        self.assertIn("NHWC", self.kind(self.y.transpose(0, 2, 3, 1).reshape(self.y.shape)))
        self.assertIn("column, row", self.kind(self.y.transpose(0, 1, 3, 2)))

    def test_signs_bias_scale(self):
        self.assertEqual(self.kind(-self.y), "the signs are opposite")
        self.assertIn("a bias that is missing", self.kind(quantised(self.sums - self.b.reshape(1, -1, 1, 1))))
        self.assertIn("a shift by 1 bit", self.kind(quantised(self.sums // 2)))

    def test_ends_of_the_range(self):
        self.assertIn("a ReLU that the layer does not have", self.kind(np.maximum(self.y, 0)))
        self.assertIn("clipped at 20", self.kind(np.minimum(self.y, 20)))
        wide = np.sign(self.sums) * ((np.abs(self.sums) + 2) >> 2)
        np.save(self.folder / "s.npy", wide.astype(np.int8))  # what wraps around
        layer = json.loads((self.folder / self.layer(wide.astype(np.int8))).read_text())
        layer["post"]["output"]["shift"] = 2
        (self.folder / "wrap.json").write_text(json.dumps(layer))
        result, _ = self.compared("wrap.json", 1)
        self.assertIn("where the output saturates", result["expected"]["kind"])

    def test_a_single_value_looks_like_nothing(self):
        one = self.y.copy()
        one[0, 5, 3, 2] += 1
        result, said = self.compared(self.layer(one), 1, "--diff", "diff.npy")
        self.assertNotIn("kind", result["expected"])
        self.assertEqual(result["expected"]["by_channel"], [0, 0, 0, 0, 0, 1, 0, 0])
        self.assertIn("1 of 512 outputs differ from layer.npy, the largest by 1; the first at batch 0 channel 5 row 3 column 2", said)
        difference = np.load(self.folder / "diff.npy")
        np.testing.assert_array_equal(difference, self.y.astype(np.float32) - one)

    def test_diff_needs_an_expected_tensor(self):
        layer = json.loads((self.folder / self.layer(self.y)).read_text())
        del layer["data"]["expected"]
        (self.folder / "none.json").write_text(json.dumps(layer))
        done = self.dlasim("run", "none.json", "--hw", "nv_small", "--diff", "diff.npy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--diff: found with a layer without an expected tensor", done.stderr)
        self.assertFalse((self.folder / "diff.npy").exists())


class Tolerances(Expected):
    def test_steps_and_distances(self):
        near = quantised(self.sums, "truncated")
        differing = int((near != self.y).sum())
        for allowed in ({"ulp": 1}, {"atol": 1}, {"rtol": 1.0, "atol": 1}):
            result, _ = self.compared(self.layer(near, **allowed), 0)
            self.assertEqual((result["expected"]["equal"], result["expected"]["tolerated"]), (True, differing))
            self.assertEqual({key: result["layer"]["data"][key] for key in allowed}, allowed)
        far = self.y.copy()
        far[0, 1, 2, 3] += 3
        result, _ = self.compared(self.layer(far, ulp=2), 1)
        self.assertEqual(result["expected"]["differing"], 1)
        self.compared(self.layer(far, ulp=3), 0)

    def test_fp16(self):
        rng = np.random.default_rng(3)
        x = rng.standard_normal((1, 32, 9, 7)).astype(np.float16)
        w = (rng.standard_normal((16, 32, 1, 1)) / 10).astype(np.float16)
        y = np.einsum("nchw,kc->nkhw", x.astype(np.float64), w[:, :, 0, 0].astype(np.float64)).astype(np.float16)
        for name, tensor in (("hx", x), ("hw", w), ("hy", y)):
            np.save(self.folder / f"{name}.npy", tensor)
        layer = {"name": "f16", "precision": "fp16", "input": {"width": 7, "height": 9, "channels": 32}, "kernel": {"width": 1, "height": 1, "count": 16},
                 "data": {"input": "hx.npy", "weights": "hw.npy", "expected": "hy.npy"}}

        def run(status):
            (self.folder / "f16.json").write_text(json.dumps(layer))
            done = self.dlasim("run", "f16.json", "--quiet", "--out", "out")
            self.assertEqual(done.returncode, status, done.stderr)
            output = np.load(self.folder / "out/output.npy")
            return json.loads((self.folder / "out/result.json").read_text())["expected"], output
        found, output = run(1)
        self.assertIn("rounded in another order", found["kind"])
        ranks = [np.where(t.view(np.int16) < 0, -(t.view(np.int16).astype(np.int64) & 0x7fff), t.view(np.int16).astype(np.int64)) for t in (output, y)]
        steps = int(np.abs(ranks[0] - ranks[1]).max())
        layer["data"]["ulp"] = steps
        run(0)
        if steps > 1:
            layer["data"]["ulp"] = steps - 1
            run(1)
        layer["data"]["ulp"] = 0
        layer["data"]["atol"] = float(np.abs(output.astype(np.float64) - y.astype(np.float64)).max())
        run(0)

    def test_a_network(self):
        network = {"name": "net", "input": {"width": 8, "height": 8, "channels": 16},
                   "layers": [{"name": "c", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}
        (self.folder / "net.json").write_text(json.dumps(network))
        self.assertEqual(self.dlasim("net", "net.json", "--hw", "nv_small", "--quiet", "--out", "out").returncode, 0)
        output = np.load(self.folder / "out/output.npy")
        np.save(self.folder / "e.npy", np.clip(output.astype(int) + 1, -128, 127).astype(np.int8))
        for allowed, status in (({}, 1), ({"ulp": 1}, 0)):
            (self.folder / "net.json").write_text(json.dumps({**network, "expected": "e.npy", **allowed}))
            done = self.dlasim("net", "net.json", "--hw", "nv_small", "--quiet", "--out", "out", "--diff", "diff.npy")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(json.loads((self.folder / "out/result.json").read_text())["expected"]["equal"], status == 0)
            self.assertEqual("outputs differ from e.npy" in done.stderr, status == 1)

    def test_a_tolerance_of_nothing_and_below_zero(self):
        for data, problem in (({"ulp": -1}, "/data/ulp"), ({"atol": -0.5}, "/data/atol: found -0.5, expected a number of 0 or more"),
                              ({"rtol": "x"}, "/data/rtol")):
            self.layer(self.y, **data)
            done = self.dlasim("run", "layer.json", "--hw", "nv_small")
            self.assertEqual(done.returncode, 2)
            self.assertIn(problem, done.stderr)
        layer = json.loads((self.folder / self.layer(self.y, ulp=1)).read_text())
        del layer["data"]["expected"]
        (self.folder / "layer.json").write_text(json.dumps(layer))
        self.assertIn('found without "expected"', self.dlasim("run", "layer.json").stderr)


class Suites(Expected):
    def test_a_failure_says_where_and_how_much(self):
        (self.folder / "suite").mkdir()
        one = self.y.copy()
        one[0, 5, 3, 2] += 1
        layer = json.loads((self.folder / self.layer(one)).read_text())
        layer["post"]["bias"] = layer.pop("bias")  # read with a warning, which is not the reason
        for name in ("x", "w", "b", "layer"):
            (self.folder / f"{name}.npy").rename(self.folder / f"suite/{name}.npy")
        (self.folder / "suite/layer.json").write_text(json.dumps(layer))
        reports = []
        for _ in range(2):
            done = self.dlasim("test", "suite", "--hw", "nv_small", "--junit", "junit.xml", "--out", "out")
            self.assertEqual(done.returncode, 1)
            reports.append((self.folder / "out/layer/report.txt").read_bytes())
        (failure,) = ElementTree.parse(self.folder / "junit.xml").getroot().iter("failure")
        for text in (failure.get("message"), failure.text, done.stdout):
            for part in ("1 of 512 outputs differ", "layer.npy", "channel 5 row 3 column 2", "the largest by 1", "own reference agrees"):
                self.assertIn(part, text)
        self.assertEqual(*reports)
        self.assertNotIn(b"simulation", reports[0])
        (self.folder / "suite/suite.json").write_text('{"ulp": 1}')
        self.assertEqual(self.dlasim("test", "suite", "--hw", "nv_small", "--out", "out").returncode, 0)

    def test_an_expected_tensor_of_the_suite(self):
        (self.folder / "suite").mkdir()
        layer = json.loads((self.folder / self.layer(self.y)).read_text())
        del layer["data"]
        (self.folder / "suite/layer.json").write_text(json.dumps(layer))
        self.assertEqual(self.dlasim("run", "suite/layer.json", "--hw", "nv_small", "--quiet").returncode, 0)
        output = np.load(self.folder / "out/output.npy")
        np.save(self.folder / "suite/e.npy", np.clip(output.astype(int) - 1, -128, 127).astype(np.int8))
        for allowed, status in (({}, 1), ({"atol": 1}, 0)):
            (self.folder / "suite/suite.json").write_text(json.dumps({"cases": [{"file": "layer.json", "expected": "e.npy", **allowed}]}))
            done = self.dlasim("test", "suite", "--hw", "nv_small", "--junit", "junit.xml", "--out", "results")
            self.assertEqual(done.returncode, status, done.stdout)
        (self.folder / "suite/suite.json").write_text(json.dumps({"cases": [{"file": "layer.json", "expected": "e.npy"}]}))
        self.dlasim("test", "suite", "--hw", "nv_small", "--junit", "junit.xml", "--out", "results")
        (failure,) = ElementTree.parse(self.folder / "junit.xml").getroot().iter("failure")
        self.assertIn("outputs differ from suite/e.npy", failure.text)

    def test_characters_that_xml_does_not_have(self):
        (self.folder / "suite").mkdir()
        for i, letter in enumerate(("\ufffe", "\uffff", "\x00", "\x01", "\x1b", "\x7f", "\u2028", "]]>", "<&>", "\U0001ffff")):
            (self.folder / f"suite/k{i}.json").write_text(json.dumps({"op": "conv2d", "x" + letter: 1}))
        done = self.dlasim("test", "suite", "--hw", "nv_small", "--junit", "junit.xml", "--out", "out")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(list(ElementTree.parse(self.folder / "junit.xml").getroot().iter("error"))), 10)
        self.assertNotRegex((self.folder / "junit.xml").read_text(), "[\ufffe\uffff\x00-\x08]")


if __name__ == "__main__":
    DLASIM = str(Path(sys.argv[1]).resolve())
    chosen = [name for name in ("Kinds", "Tolerances", "Suites") if sys.argv[2:] == [name]]
    unittest.main(argv=[sys.argv[0], *chosen])
