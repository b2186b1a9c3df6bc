#!/usr/bin/env python3
"""Accuracy by step: the step that loses most is named, with why and what helps; ranges of the calibration.

usage: onnx_accuracy_test.py DLASIM [Spoilt | Sound | Calibration | Bias]

Spoilt       one step of a network is spoilt in ten ways: the report names it, ten of ten
Sound        figures of the report are those of the tensors that the run writes; without the option nothing is said
Calibration  max, percentile, mse, entropy: a network with a few far numbers
Bias         --bias-correction takes back the mean shift of every kernel, by the definition in NumPy
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import onnx_writer
from onnx_writer import node

DLASIM = None
SCALE_TOO_LARGE, SCALE_TOO_SMALL, WEIGHTS = "its steps reach", "saturate", "the largest weight of a kernel"
# Step, what is spoilt, by how much, what the report says of it.
SPOILT = [(1, "scale", 40, SCALE_TOO_LARGE), (2, "scale", 25, SCALE_TOO_LARGE), (3, "scale", 60, SCALE_TOO_LARGE), (4, "scale", 30, SCALE_TOO_LARGE),
          (1, "scale", 1 / 10, SCALE_TOO_SMALL), (2, "scale", 1 / 12, SCALE_TOO_SMALL), (4, "scale", 1 / 8, SCALE_TOO_SMALL),
          (2, "weights", 150, WEIGHTS), (3, "weights", 200, WEIGHTS), (4, "weights", 120, WEIGHTS)]
STEPS = 6


def network(path, step=None, kind="", factor=1.0, seed=5):
    """Six convolutions; of the one that is spoilt a scale of the model's, or a weight of every kernel that nearly nothing reads."""
    random = np.random.default_rng(seed)
    nodes, constants, x, channels, largest = [], {}, "data", 4, 4.0
    for i in range(STEPS):
        count = 12
        weights = random.normal(0, np.sqrt(2 / (9 * channels)), (count, channels, 3, 3)).astype("float32")
        if step == i and kind == "weights":
            weights[:, 0, 1, 1] = weights.std() * factor
        constants[f"w{i}"] = weights
        nodes += [node("Conv", [x, f"w{i}"], [f"conv{i}"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]), node("Relu", [f"conv{i}"], [f"relu{i}"])]
        x = f"relu{i}"
        if step is not None and i == step - 1 and kind == "weights":  # the channel with that weight is nearly silent
            constants[f"w{i}"][0] *= 0.002
        if step == i and kind == "scale":
            constants["scale"], constants["zero"] = np.float32(largest / 127 * factor), np.int8(0)
            nodes += [node("QuantizeLinear", [x, "scale", "zero"], ["q"]), node("DequantizeLinear", ["q", "scale", "zero"], ["dq"])]
            x = "dq"
        channels = count
    onnx_writer.save(path, nodes, constants, {"data": [None, 4, 10, 10]}, {x: None})


class Accuracy(unittest.TestCase):
    machine = "nv_small"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)
        images = np.random.default_rng(1).normal(0, 1, (3, 4, 10, 10)).astype("float32")
        np.save(self.at / "images.npy", images)

    def run_net(self, *more, status=0):
        done = subprocess.run([DLASIM, "net", str(self.at / "m.onnx"), "--hw", self.machine, "--input", str(self.at / "images.npy"), "--no-causes", "--out",
                               str(self.at / "out"), *map(str, more)], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, done.stderr)
        if status == 0:
            self.text = done.stdout
            return json.loads((self.at / "out/result.json").read_text())
        return done.stderr


class Spoilt(Accuracy):
    def test_ten_of_ten(self):
        for step, kind, factor, says in SPOILT:
            with self.subTest(step=step, kind=kind, factor=factor):
                network(self.at / "m.onnx", step, kind, factor)
                result = self.run_net("--accuracy-by-step")
                worst = result["worst_step"]
                self.assertIn(worst["name"], {"scale": ("dq", "q", f"relu{step}", f"conv{step}"), "weights": (f"relu{step}", f"conv{step}")}[kind], result["tensors"])
                self.assertIn(says, worst["why"])
                self.assertIn(f"Most is lost in {worst['name']}", self.text)
                self.assertIn(worst["helps"], " ".join(self.text.split()))
                table = self.text.partition("signal to noise of")[2]
                self.assertLessEqual(max(map(len, table.splitlines()[1:])), 80)


class Sound(Accuracy):
    def test_figures_are_those_of_the_tensors(self):
        network(self.at / "m.onnx")
        result = self.run_net("--accuracy-by-step", "--tensors")
        for tensor in result["tensors"]:
            self.assertLessEqual(0, tensor["saturated"])
            self.assertLess(tensor["saturated"], 0.001)
            self.assertGreater(tensor["cosine"], 0.999)
            self.assertGreaterEqual(tensor["own_signal_to_noise"], 28)
        first, last = result["tensors"][1], result["tensors"][-1]
        self.assertGreater(last["own_signal_to_noise"], last["signal_to_noise"])  # it inherits what others lost
        # The first convolution by itself: of the integers of its input.
        data = result["tensors"][0]
        q = np.load(self.at / "out/tensors" / (data["name"] + ".npy")).astype(float) * data["scale"]
        random = np.random.default_rng(5)
        weights = random.normal(0, np.sqrt(2 / 36), (12, 4, 3, 3)).astype("float32").astype(float)
        padded = np.pad(q, ((0, 0), (0, 0), (1, 1), (1, 1)))
        real = np.zeros((3, 12, 10, 10))
        for dy in range(3):
            for dx in range(3):
                real += np.einsum("kc,nchw->nkhw", weights[:, :, dy, dx], padded[:, :, dy:dy + 10, dx:dx + 10])
        real = np.maximum(real, 0)
        found = np.load(self.at / "out/tensors" / (first["name"] + ".npy")).astype(float) * first["scale"]
        noise = 10 * np.log10((real ** 2).sum() / ((found - real) ** 2).sum())
        self.assertAlmostEqual(first["own_signal_to_noise"], noise, delta=0.01)

    def test_without_the_option_nothing_is_said(self):
        network(self.at / "m.onnx")
        result = self.run_net()
        self.assertNotIn("worst_step", result)
        self.assertNotIn("cosine", result["tensors"][0])


class Calibration(Accuracy):
    def test_a_few_far_numbers(self):
        """One number in 16,000 is a hundred times as large as the others."""
        images = np.random.default_rng(2).normal(0, 1, (40, 4, 10, 10)).astype("float32")
        images[0, 0, 0, 0] = 100
        np.save(self.at / "far.npy", images)
        network(self.at / "m.onnx")
        ratio, scale = {}, {}
        for how in ("max", "percentile", "mse", "entropy"):
            result = self.run_net("--calibrate", self.at / "far.npy", "--calibration", how)
            self.assertEqual(result["model"]["calibration"], how)
            scale[how] = result["tensors"][0]["scale"]
            ratio[how] = result["outputs"][0]["signal_to_noise"]
        self.assertAlmostEqual(scale["max"], 100 / 127, delta=1e-4)
        for how in ("percentile", "entropy"):
            self.assertLess(scale[how], 8 / 127, how)
            self.assertGreater(ratio[how], ratio["max"] + 4, how)
        self.assertLessEqual(scale["mse"], scale["max"])

    def test_one_frequent_value(self):
        """Most numbers are equal, as a background is: entropy saturates no more than 1 % for it."""
        images = np.random.default_rng(3).uniform(0, 4, (40, 4, 10, 10)).astype("float32")
        images[:, :, :, 2:] = 0.5
        np.save(self.at / "background.npy", images)
        network(self.at / "m.onnx")
        scale = self.run_net("--calibrate", self.at / "background.npy", "--calibration", "entropy")["tensors"][0]["scale"]
        self.assertGreater(scale, 3.8 / 127)

    def test_refused(self):
        network(self.at / "m.onnx")
        self.machine = "nv_full"
        self.assertIn("found with --precision fp16", self.run_net("--precision", "fp16", "--calibration", "mse", status=2))


class Bias(Accuracy):
    def shifts(self, *more):
        """Of a 1 x 1 convolution with coarse weights: the mean difference of each kernel from the model, in steps of the output."""
        result = self.run_net("--tensors", "--calibrate", self.at / "images.npy", *more)
        scale = next(t for t in result["tensors"] if t["name"] == "c")["scale"]
        found = np.load(self.at / "out/tensors/c.npy").astype("f8") * scale
        return (found - self.model).mean((0, 2, 3)) / scale, result

    def test_the_mean_of_every_kernel(self):
        random = np.random.default_rng(7)
        weights = random.normal(0, 1, (10, 32, 1, 1)).astype("float32")
        weights[:, 0] = 90  # coarse steps for all the others; its channel is silent
        images = random.uniform(0, 2, (6, 32, 9, 9)).astype("float32")
        images[:, 0] *= 1e-3
        np.save(self.at / "images.npy", images)
        onnx_writer.save(self.at / "m.onnx", [node("Conv", ["data", "w"], ["c"], kernel_shape=[1, 1])], {"w": weights}, {"data": [None, 32, 9, 9]}, {"c": None})
        self.model = np.einsum("kc,nchw->nkhw", weights[:, :, 0, 0].astype("f8"), images)
        before, plain = self.shifts()
        after, result = self.shifts("--bias-correction")
        self.assertGreater(np.abs(before).max(), 3)
        self.assertLess(np.abs(after).max(), 0.1)
        self.assertTrue(result["model"]["bias_correction"] and not plain["model"]["bias_correction"])

    def test_a_network(self):
        network(self.at / "m.onnx", 2, "weights", 20)
        def last():
            return self.run_net()["tensors"][-1]["signal_to_noise"], self.run_net("--bias-correction")["tensors"][-1]["signal_to_noise"]
        before, after = last()
        self.assertGreater(after, before + 1.5)

    def test_refused(self):
        network(self.at / "m.onnx")
        self.machine = "nv_full"
        self.assertIn("--bias-correction: found with --precision fp16", self.run_net("--bias-correction", "--precision", "fp16", status=2))


if __name__ == "__main__":
    DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
