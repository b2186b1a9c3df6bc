#!/usr/bin/env python3
"""Networks of fp16 on nv_full.

usage: net_half_test.py DLASIM [Halves | Models]

Halves  networks of models/networks and of all operations: verified, stepping as skipping, numbers that neither vanish nor overflow
Models  ONNX models: the documented arithmetic against NumPy, within the rounding of fp16; refusals
"""
import json
import sys
import unittest
from pathlib import Path

import numpy as np

import net_test
import onnx_test
from net_test import BLOCK, NETWORKS, Net
from onnx_test import Onnx, convolve, pool2
from onnx_writer import node

FULL = ("--hw", "nv_full", "--precision", "fp16")


class Halves(Net):
    def check(self, network):
        self.net(network, *FULL, "--quiet", "--tensors", "--events", "skipping.json")
        result = self.result()
        self.assertTrue(result["verified"])
        self.net(network, *FULL, "--quiet", "--stepping", "--out", "stepped", "--events", "stepping.json")
        self.assertEqual((self.folder / "skipping.json").read_bytes(), (self.folder / "stepping.json").read_bytes())
        self.net(network, *FULL, "--quiet", "--timing-only", "--out", "timed")
        self.assertEqual(self.result("timed")["cycles"], result["cycles"])
        tensors = {file.stem: np.load(file) for file in (self.folder / "out/tensors").glob("*.npy")}
        for name, tensor in tensors.items():
            self.assertEqual(tensor.dtype, np.float16, name)
            self.assertTrue(np.isfinite(tensor).all(), name)
            self.assertGreater(float(np.abs(tensor.astype(np.float64)).max()), 0.05, name)
            self.assertLess(float(np.abs(tensor.astype(np.float64)).max()), 1000, name)
        return result, tensors

    def test_small_networks(self):
        for name in ("lenet5", "acri_mnist", "lenet_caffe"):
            self.check(NETWORKS / f"{name}.json")

    def test_all_operations(self):
        layers = [dict(layer) for layer in BLOCK["layers"]]
        layers[-3:-3] = [{"name": "wide", "op": "pool", "pool": {"function": "average", "kernel_shape": [1, 9], "strides": [1, 1]}},
                         {"name": "norm", "op": "lrn", "lrn": {"size": 5}},
                         {"name": "six", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 24}, "bias": True, "activation": "relu6"},
                         {"name": "big", "op": "deconv2d", "kernel": {"width": 2, "height": 2, "count": 20}, "stride": {"x": 2, "y": 2},
                          "bias": True}]
        result, tensors = self.check({"input": BLOCK["input"], "layers": layers})
        self.assertEqual([step["mismatches"] for step in result["steps"]], [0] * len(result["steps"]))
        # What can be told from tensors alone, in double precision.
        real = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
        self.assertLessEqual(real["six"].max(), 6)
        self.assertGreaterEqual(real["six"].min(), 0)
        np.testing.assert_array_equal(real["all"], np.concatenate([real["side"], real["sum"]], axis=1))
        np.testing.assert_array_equal(real["up"], np.repeat(real["dw"], 2, axis=3))
        np.testing.assert_allclose(real["sum2"], np.maximum(2 * real["up"], 0), rtol=1e-3)
        np.testing.assert_allclose(real["prob"].sum(), 1, atol=0.01)
        windows = np.stack([real["sum2"][..., i:i + real["wide"].shape[-1]] for i in range(9)])
        np.testing.assert_allclose(real["wide"], windows.mean(0), rtol=2e-3, atol=1e-3)

    def test_precision_of_the_file_and_machines_without_fp16(self):
        network = json.loads((NETWORKS / "lenet5.json").read_text()) | {"precision": "fp16"}
        self.net(network, "--hw", "nv_full", "--quiet")
        self.assertEqual(self.result()["network"]["precision"], "fp16")
        self.assertIn("nv_small computes nothing else", self.net(network, "--hw", "nv_small", status=2).stderr)
        self.assertIn("/precision", self.net(network | {"precision": "int16"}, status=2).stderr)


class Models(Onnx):
    def run_halves(self, images, *options):
        return self.run_images(images, "--precision", "fp16", *options, machine="nv_full")

    def check(self, nodes, constants, inputs, expected, tolerance=2e-3, output="y"):
        """`expected`: of an image, in double precision, by the definition of ONNX."""
        shape = expected(np.zeros([1, *inputs[1:]])).shape
        self.save(nodes, constants, {"x": inputs}, {output: [None, *shape[1:]]})
        x = self.reals(3, *inputs[1:])
        out, result = self.run_halves(x)
        self.assertEqual(out.dtype, np.float32)
        want = expected(x.astype(np.float16).astype(np.float64))
        self.assertLess(np.abs(out - want).max(), tolerance * (1 + np.abs(want).max()))
        for tensor in result["tensors"]:
            self.assertNotIn("scale", tensor)
        return result

    def test_convolutions_and_what_stands_behind(self):
        w, b = self.reals(20, 12, 3, 3, scale=0.1), self.reals(20)
        conv = node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1])
        made = lambda x: convolve(x, w.astype(np.float16), b, pad=1)
        constants = {"w": w, "b": b}
        self.check([conv, node("Relu", ["c"], ["y"])], constants, [None, 12, 6, 7], lambda x: np.maximum(made(x), 0))
        self.check([conv, node("LeakyRelu", ["c"], ["y"], alpha=0.2)], constants, [None, 12, 6, 7], lambda x: np.where(made(x) < 0, 0.2, 1) * made(x))
        slopes = self.reals(20, 1, 1)
        self.check([conv, node("PRelu", ["c", "s"], ["y"])], constants | {"s": slopes}, [None, 12, 6, 7],
                   lambda x: np.where(made(x) < 0, slopes, 1) * made(x))
        clip = {"low": np.float32(-0.5), "high": np.float32(0.75)}
        self.check([conv, node("Clip", ["c", "low", "high"], ["y"])], constants | clip, [None, 12, 6, 7], lambda x: np.clip(made(x), -0.5, 0.75))

    def test_sums_products_and_differences(self):
        w = self.reals(9, 9, 1, 1, scale=0.3)
        conv = node("Conv", ["x", "w"], ["c"])
        made = lambda x: convolve(x, w.astype(np.float16)).astype(np.float16).astype(np.float64)
        for operator, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
            result = self.check([conv, node(operator, ["c", "x"], ["s"]), node("Relu", ["s"], ["y"])], {"w": w}, [None, 9, 5, 5],
                                lambda x: np.maximum(function(made(x), x), 0))
            self.assertEqual(len(result["steps"]), 1 if operator == "Add" else 2)
        scale, shift = self.reals(9, 1, 1), self.reals(9, 1, 1)
        self.check([node("Mul", ["x", "k"], ["m"]), node("Add", ["m", "s"], ["a"]), node("Clip", ["a", "low"], ["y"])],
                   {"k": scale, "s": shift, "low": np.float32(0.1)}, [None, 9, 4, 5], lambda x: np.maximum(x * scale + shift, 0.1))

    def test_a_network_to_its_end(self):
        w1, b1, w2, b2 = self.reals(6, 2, 3, 3), self.reals(6), self.reals(5, 6 * 16, scale=0.2), self.reals(5)
        self.check([node("Conv", ["x", "w1", "b1"], ["c"], pads=[1, 1, 1, 1]), node("Sigmoid", ["c"], ["r"]),
                    node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", ["p"], ["f"]),
                    node("Gemm", ["f", "w2", "b2"], ["y"], transB=1)],
                   {"w1": w1, "b1": b1, "w2": w2, "b2": b2}, [None, 2, 8, 8],
                   lambda x: pool2(1 / (1 + np.exp(-convolve(x, w1, b1, pad=1)))).reshape(len(x), -1) @ w2.T.astype(np.float64) + b2)

    def test_trained_models_find_the_digits(self):
        models = Path(__file__).resolve().parents[2] / "models/onnx"
        images, labels = np.load(models / "images.npy"), np.load(models / "labels.npy")
        for name in ("acri_mnist", "mobilenet_small", "resnet_small"):
            (self.folder / "m.onnx").write_bytes((models / f"{name}.onnx").read_bytes())
            _, result = self.run_halves(images, "--labels", self.array("l.npy", labels))
            self.assertEqual(result["agreement"], 1, name)
            self.assertEqual(result["accuracy"], result["reference_accuracy"], name)
            self.assertGreater(min(tensor["signal_to_noise"] for tensor in result["tensors"]), 55, name)

    def test_what_cannot_be_is_refused(self):
        models = Path(__file__).resolve().parents[2] / "models/onnx"
        (self.folder / "m.onnx").write_bytes((models / "acri_mnist_qdq.onnx").read_bytes())
        self.assertIn("has steps of the model's", self.net("--precision", "fp16", machine="nv_full", status=2).stderr)
        (self.folder / "m.onnx").write_bytes((models / "acri_mnist.onnx").read_bytes())
        self.assertIn("computes nothing else", self.net("--precision", "fp16", machine="nv_large", status=2).stderr)
        self.save([node("Conv", ["x", "w"], ["y"])], {"w": np.full((4, 4, 1, 1), 1e6, np.float32)}, {"x": [None, 4, 3, 3]}, {"y": [None, 4, 3, 3]})
        self.assertIn("beyond 65504", self.net("--precision", "fp16", machine="nv_full", status=2).stderr)


if __name__ == "__main__":
    net_test.DLASIM = onnx_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
