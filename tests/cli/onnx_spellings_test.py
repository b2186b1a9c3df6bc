#!/usr/bin/env python3
"""dlasim net with other spellings of what runs, and with what the host does: in fp16 and int8, against NumPy.

usage: onnx_spellings_test.py DLASIM [Spellings | Frames]

Spellings  operators that are another one, or moves and computations of whole tensors
Frames     batches, free sizes, constants, data in other files, operator sets
"""
import json
import os
import subprocess
import sys
import unittest

import numpy as np

import onnx_test
from onnx_test import Onnx, convolve
from onnx_writer import data, node, save

F = np.float32
I = np.int64


def softmax(x, axis):
    power = np.exp(x - x.max(axis, keepdims=True))
    return power / power.sum(axis, keepdims=True)


class Spellings(Onnx):
    def both(self, nodes, expected, constants=None, x=None, near=0.05, opset=13, output="y"):
        """fp16 near the definition; int8 within a part of the largest magnitude."""
        x = self.x if x is None else x
        self.save(nodes, constants or {}, {"x": list(x.shape)}, {output: None}, opset=opset)
        for machine, options, part in (("nv_full", ["--precision", "fp16"], 0.004), ("nv_small", [], near)):
            with self.subTest(machine=machine):
                out, _ = self.run_images(x, *options, machine=machine)
                self.assertEqual(out.shape, expected.shape)
                self.assertLessEqual(np.abs(out - expected).max(), part * max(1, np.abs(expected).max()))

    def setUp(self):
        super().setUp()
        self.x = self.reals(1, 8, 6, 6)
        self.d = self.x.astype(float)
        self.w = self.reals(4, 8, 3, 3, scale=0.2)

    def test_parts_of_tensors(self):
        x, d = self.x, self.d
        self.both([node("Split", ["x"], ["a", "b", "c", "e"], axis=1), node("Relu", ["b"], ["r"]), node("Concat", ["a", "r", "e", "c"], ["y"], axis=1)],
                  np.concatenate([d[:, :2], np.maximum(d[:, 2:4], 0), d[:, 6:], d[:, 4:6]], 1))
        self.both([node("Split", ["x", "s"], ["a", "b"], axis=2), node("Conv", ["b", "w"], ["y"])], convolve(d[:, :, 2:], self.w), {"s": np.array([2, 4]), "w": self.w})
        self.both([node("Slice", ["x", "s", "e", "a"], ["t"]), node("Conv", ["t", "w"], ["y"])], convolve(d[:, 2:6], self.w[:, :4]),
                  {"s": np.array([2]), "e": np.array([6]), "a": np.array([1]), "w": self.w[:, :4].copy()})
        self.both([node("Slice", ["x", "s", "e", "a", "t"], ["y"])], d[:, :, ::2, 4:0:-2], {"s": np.array([0, 4]), "e": np.array([99, 0]), "a": np.array([2, 3]), "t": np.array([2, -2])})
        self.both([node("Slice", ["x"], ["y"], starts=[1], ends=[-1], axes=[2])], d[:, :, 1:-1], opset=9)
        self.both([node("Gather", ["x", "i"], ["t"], axis=1), node("Conv", ["t", "w"], ["y"])], convolve(d[:, [7, 0, 3, 3]], self.w[:, :4]), {"i": np.array([7, 0, 3, -5]), "w": self.w[:, :4].copy()})
        self.both([node("Gather", ["x", "i"], ["y"], axis=3)], d[:, :, :, 2], {"i": np.array(2)})
        self.both([node("Tile", ["x", "r"], ["y"])], np.tile(d, (1, 2, 1, 3)), {"r": np.array([1, 2, 1, 3])})
        self.both([node("Concat", ["x", "x"], ["y"], axis=3)], np.concatenate([d, d], 3))
        self.both([node("Concat", ["k", "x"], ["y"], axis=2)], np.concatenate([x[:, :, :1] * 0.5, d], 2), {"k": (x[:, :, :1] * F(0.5)).copy()})

    def test_padding(self):
        d, w = self.d, self.w
        pads = np.array([0, 0, 1, 0, 0, 0, 2, 1])
        wide = np.pad(d, ((0, 0), (0, 0), (1, 2), (0, 1)))
        self.both([node("Pad", ["x", "p"], ["q"]), node("Conv", ["q", "w"], ["y"], pads=[0, 1, 0, 0])], convolve(np.pad(wide, ((0, 0), (0, 0), (0, 0), (1, 0))), w), {"p": pads, "w": w})
        self.both([node("Pad", ["x", "p"], ["q"]), node("AveragePool", ["q"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], d.reshape(1, 8, 3, 2, 3, 2).mean((3, 5)), {"p": np.zeros(8, I)})
        self.both([node("Pad", ["x"], ["q"], pads=[0, 0, 1, 1, 0, 0, 1, 1], value=0.0), node("AveragePool", ["q"], ["y"], kernel_shape=[2, 2], strides=[2, 2])],
                  np.pad(d, ((0, 0), (0, 0), (1, 1), (1, 1))).reshape(1, 8, 4, 2, 4, 2).mean((3, 5)), opset=9)
        low = np.pad(d, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf).reshape(1, 8, 4, 2, 4, 2).max((3, 5))
        self.both([node("Pad", ["x", "p", "v"], ["q"]), node("MaxPool", ["q"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], low, {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "v": F(-np.inf)})
        zero = np.maximum(low, 0) * (np.pad(np.ones((1, 8, 2, 2)), ((0, 0), (0, 0), (1, 1), (1, 1))) == 0) + low * np.pad(np.ones((1, 8, 2, 2)), ((0, 0), (0, 0), (1, 1), (1, 1)))
        self.both([node("Pad", ["x", "p"], ["q"]), node("MaxPool", ["q"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], zero, {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1])})
        for mode, of_numpy in (("reflect", "reflect"), ("edge", "edge"), ("wrap", "wrap")):
            self.both([node("Pad", ["x", "p"], ["y"], mode=mode)], np.pad(d, ((0, 0), (0, 0), (1, 2), (0, 1)), of_numpy), {"p": pads}, opset=19)
        self.both([node("Pad", ["x", "p", "v", "a"], ["y"])], np.pad(d, ((0, 0), (0, 0), (0, 0), (2, 1)), constant_values=1.5), {"p": np.array([2, 1]), "v": F(1.5), "a": np.array([-1])}, opset=18)

    def test_depth_and_space(self):
        x = self.reals(1, 8, 4, 6)
        d = x.astype(float)
        self.both([node("DepthToSpace", ["x"], ["y"], blocksize=2, mode="CRD")], d.reshape(1, 2, 2, 2, 4, 6).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 8, 12), x=x)
        self.both([node("DepthToSpace", ["x"], ["y"], blocksize=2)], d.reshape(1, 2, 2, 2, 4, 6).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 8, 12), x=x, opset=1)
        self.both([node("SpaceToDepth", ["x"], ["y"], blocksize=2)], d.reshape(1, 8, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 32, 2, 3), x=x)

    def test_elements(self):
        d, k = self.d, {"k": F(0), "s": F(1.5)}
        self.both([node("Max", ["x", "k"], ["a"]), node("Min", ["s", "a"], ["y"])], np.clip(d, 0, 1.5), k)
        self.both([node("Relu", ["x"], ["r"]), node("Min", ["r", "x", "s"], ["y"])], np.minimum(d, 1.5), k)
        self.both([node("Max", ["x", "c"], ["y"])], np.maximum(d, np.arange(8).reshape(8, 1, 1) / 8), {"c": (np.arange(8).reshape(8, 1, 1) / 8).astype(F)})
        self.both([node("Pow", ["x", "e"], ["y"])], d ** 2, {"e": F(2)})
        self.both([node("Abs", ["x"], ["a"]), node("Pow", ["a", "e"], ["y"])], np.abs(d) ** 1.5, {"e": F(1.5)}, near=0.06)
        self.both([node("Exp", ["x"], ["a"]), node("Div", ["s", "a"], ["y"])], 1.5 / np.exp(d), k, near=0.12)
        self.both([node("Exp", ["x"], ["a"]), node("Add", ["a", "s"], ["b"]), node("Div", ["x", "b"], ["y"])], d / (np.exp(d) + 1.5), k, near=0.06)
        erf = np.vectorize(__import__("math").erf)
        self.both([node("Gelu", ["x"], ["y"])], d * 0.5 * (1 + erf(d / 2 ** 0.5)), opset=20)
        self.both([node("Gelu", ["x"], ["y"], approximate="tanh")], d * 0.5 * (1 + np.tanh((2 / np.pi) ** 0.5 * (d + 0.044715 * d ** 3))), opset=20)
        slope = np.abs(self.reals(6, 1))
        self.both([node("PRelu", ["x", "p"], ["y"])], np.where(d < 0, d * slope, d), {"p": slope})

    def test_means_and_normalisations(self):
        d, k, b = self.d, self.reals(8), self.reals(8)
        mean, std = d.mean((2, 3), keepdims=True), np.sqrt(d.var((2, 3), keepdims=True) + 1e-3)
        self.both([node("InstanceNormalization", ["x", "k", "b"], ["y"], epsilon=1e-3)], (d - mean) / std * k[:, None, None] + b[:, None, None], {"k": k, "b": b})
        x = self.reals(1, 7, 8)
        e = x.astype(float)
        normal = (e - e.mean(2, keepdims=True)) / np.sqrt(e.var(2, keepdims=True) + 1e-5)
        self.both([node("LayerNormalization", ["x", "k", "b"], ["y"])], normal * k + b, {"k": k, "b": b}, x=x, opset=17, near=0.08)
        parts = [node("ReduceMean", ["x"], ["m"], axes=[-1]), node("Sub", ["x", "m"], ["s"]), node("Pow", ["s", "two"], ["q"]), node("ReduceMean", ["q"], ["v"], axes=[-1]),
                 node("Add", ["v", "e"], ["f"]), node("Sqrt", ["f"], ["r"]), node("Div", ["s", "r"], ["n"]), node("Mul", ["n", "k"], ["o"]), node("Add", ["o", "b"], ["y"])]
        self.both(parts, normal * k + b, {"two": F(2), "e": F(1e-5), "k": k, "b": b}, x=x, near=0.1)
        self.both([node("ReduceMean", ["x"], ["y"], axes=[1], keepdims=0)], d.mean(1), near=0.08)
        self.both([node("ReduceMean", ["x", "a"], ["y"])], d.mean((1, 3), keepdims=True), {"a": np.array([1, 3])}, opset=18, near=0.08)
        for axis in (1, 2, 3):
            self.both([node("Softmax", ["x"], ["y"], axis=axis)], softmax(d, axis))
        self.both([node("Softmax", ["x"], ["y"], axis=2)], softmax(d.reshape(8, 36), 1).reshape(d.shape), opset=11)

    def test_products_of_tensors(self):
        x, q, k, v = self.reals(1, 8, 16), *(self.reals(16, 16, scale=0.25) for _ in range(3))
        d = x.astype(float)
        head = lambda name: [node("MatMul", ["x", name], [name + "m"]), node("Reshape", [name + "m", "sh"], [name + "r"]), node("Transpose", [name + "r"], [name + "t"], perm=[0, 2, 1, 3])]
        nodes = [*head("q"), *head("k"), *head("v"), node("Transpose", ["kt"], ["kk"], perm=[0, 1, 3, 2]), node("MatMul", ["qt", "kk"], ["s"]), node("Div", ["s", "root"], ["p"]),
                 node("Softmax", ["p"], ["a"], axis=-1), node("MatMul", ["a", "vt"], ["c"]), node("Transpose", ["c"], ["ct"], perm=[0, 2, 1, 3]), node("Reshape", ["ct", "back"], ["y"])]
        split = lambda w: (d @ w).reshape(1, 8, 4, 4).transpose(0, 2, 1, 3)
        attention = softmax(split(q) @ split(k).swapaxes(2, 3) / 2, -1) @ split(v)
        self.both(nodes, attention.transpose(0, 2, 1, 3).reshape(1, 8, 16), {"q": q, "k": k, "v": v, "root": F(2), "sh": np.array([0, 8, 4, 4]), "back": np.array([0, 8, 16])}, x=x, near=0.08)
        self.both([node("MatMul", ["k", "x"], ["y"])], np.einsum("ij,njk->nik", q[:5, :8].astype(float), d), {"k": q[:5, :8].copy()}, x=x)

    def test_interpolation(self):
        d = self.d
        places = np.clip((np.arange(12) + 0.5) / 2 - 0.5, 0, 5)
        low = np.floor(places).astype(int)
        matrix = np.zeros((12, 6))
        for i, (a, t) in enumerate(zip(low, places - low)):
            matrix[i, a] += 1 - t
            matrix[i, min(a + 1, 5)] += t
        self.both([node("Resize", ["x", "", "s"], ["y"], mode="linear")], np.einsum("ih,nchw,jw->ncij", matrix, d, matrix), {"s": np.array([1, 1, 2, 2], F)})
        self.both([node("Resize", ["x", "", "s"], ["r"], mode="linear"), node("Conv", ["r", "w"], ["y"])], convolve(np.einsum("ih,nchw,jw->ncij", matrix, d, matrix), self.w),
                  {"s": np.array([1, 1, 2, 2], F), "w": self.w})
        self.both([node("Resize", ["x", "", "", "s"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")], d[:, :, [0, 1, 3, 4]][:, :, :, [0, 2, 4]],
                  {"s": np.array([1, 8, 4, 3])})

    def test_patches(self):
        for size, stride, pad, channels, groups in ((16, 16, 0, 3, 1), (11, 9, 2, 4, 2), (3, 10, 0, 2, 1)):
            x, w = self.reals(1, channels, 40, 45), self.reals(6, channels // groups, size, size, scale=0.1)
            self.both([node("Conv", ["x", "w"], ["y"], strides=[stride] * 2, pads=[pad] * 4, group=groups)], convolve(x, w, None, stride, pad, groups), {"w": w}, x=x)

    def test_index_of_the_largest(self):
        self.save([node("Conv", ["x", "w"], ["c"]), node("ArgMax", ["c"], ["y"], axis=1, keepdims=0)], {"w": self.w}, {"x": [1, 8, 6, 6]}, {"y": None})
        out, _ = self.run_images(self.x, "--precision", "fp16", machine="nv_full")
        values = convolve(self.d, self.w)
        self.assertEqual((out.dtype, out.shape), (I, (1, 4, 4)))
        chosen = np.take_along_axis(values, out[:, None], 1)[:, 0]
        self.assertLess((values.max(1) - chosen).max(), 0.01)
        self.save([node("ArgMax", ["x"], ["a"], axis=1), node("Relu", ["a"], ["y"])], {}, {"x": [1, 8, 6, 6]}, {"y": None})
        self.assertIn("ArgMax", self.net(status=2).stderr)


class Frames(Onnx):
    def one(self, nodes, x, shape, expected, constants=None, *options, opset=13, outputs=("y",)):
        self.save(nodes, constants or {}, {"x": shape}, {name: None for name in outputs}, opset=opset)
        out, _ = self.run_images(x, "--precision", "fp16", *options, machine="nv_full")
        self.assertEqual(out.shape, expected.shape)
        self.assertLessEqual(np.abs(out - expected).max(), 0.004 * max(1, np.abs(expected).max()))

    def test_shapes_where_dimension_0_is_no_batch(self):
        x = self.reals(2, 3, 4)
        for shape in ([2, 3, 4], [None, 3, 4]):
            for made, op, attributes in ((x.reshape(1, 24), "Flatten", {"axis": 0}), (x.reshape(6, 4), "Flatten", {"axis": 2}), (x.reshape(24, 1), "Flatten", {"axis": 3}),
                                         (x.reshape(6, 4), "Flatten", {"axis": -1}), (x.transpose(2, 0, 1), "Transpose", {"perm": [2, 0, 1]}),
                                         (x[None], "Unsqueeze", {"axes": [0]}), (x[..., None], "Unsqueeze", {"axes": [-1]}), (x[1:], "Slice", {"starts": [1], "ends": [2]}),
                                         (x.mean(0, keepdims=True), "ReduceMean", {"axes": [0]}), (softmax(x, 0), "Softmax", {"axis": 0})):
                with self.subTest(op=op, shape=shape, **attributes):
                    opset = 9 if op == "Slice" else 11 if op in ("Unsqueeze", "Flatten", "ReduceMean") else 13
                    self.one([node(op, ["x"], ["y"], **attributes)], x, shape, made, opset=opset)
            for target in ([1, 24], [4, 6], [24], [-1], [2, -1], [0, -1], [3, -1, 2], [1, 2, 3, 4]):
                with self.subTest(target=target, shape=shape):
                    numpy = [2 if size == 0 else size for size in target]
                    self.one([node("Reshape", ["x", "s"], ["y"])], x, shape, x.reshape(numpy), {"s": np.array(target)})
            self.one([node("Squeeze", ["x"], ["y"])], x[:1], [1, 3, 4], x[0])
            self.one([node("Squeeze", ["x"], ["y"])], x[:1], [None, 3, 4], x[0])
            self.one([node("Add", ["x", "k"], ["y"])], x, shape, x + x * 2, {"k": x * 2})
            self.one([node("Concat", ["x", "x"], ["y"], axis=0)], x, shape, np.concatenate([x, x]))

    def test_an_image_without_batch(self):
        x, w = self.reals(8, 6, 6), self.reals(4, 8, 3, 3, scale=0.3)
        self.one([node("Unsqueeze", ["x", "a"], ["u"]), node("Conv", ["u", "w"], ["c"]), node("Squeeze", ["c", "a"], ["y"])], x, [8, 6, 6], convolve(x[None], w)[0], {"a": np.array([0]), "w": w})

    def test_many_images_where_one_is_a_call(self):
        """Squeeze takes the batch of 1 away: every image is a call of its own."""
        x, w = self.reals(3, 2, 5, 5), self.reals(4, 2, 3, 3, scale=0.3)
        self.one([node("Conv", ["x", "w"], ["c"]), node("Squeeze", ["c", "a"], ["y"])], x, [1, 2, 5, 5], convolve(x, w), {"a": np.array([0]), "w": w})

    def test_batches_stay_batches(self):
        x, w = self.reals(3, 2, 5, 5), self.reals(4, 2, 3, 3, scale=0.3)
        self.one([node("Conv", ["x", "w"], ["c"]), node("Flatten", ["c"], ["y"])], x, [None, 2, 5, 5], convolve(x, w).reshape(3, -1), {"w": w})
        self.save([node("Conv", ["x", "w"], ["c"]), node("Transpose", ["c"], ["y"], perm=[1, 0, 2, 3])], {"w": w}, {"x": [3, 2, 5, 5]}, {"y": None})
        self.assertIn("batch", self.net("--input", self.array("x.npy", x), status=2).stderr)

    def test_free_sizes(self):
        x, w = self.reals(1, 8, 6, 7), self.reals(4, 8, 3, 3, scale=0.2)
        free, nodes = [None, 8, None, None], [node("Conv", ["x", "w"], ["y"])]
        self.one(nodes, x, free, convolve(x, w), {"w": w})
        said = self.net(status=2).stderr
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("--shape", said)
        self.net("--shape", "x=1,8,6,7", "--precision", "fp16", machine="nv_full")
        self.assertEqual(np.load(self.folder / "out/output.npy").shape, (1, 4, 4, 5))
        self.net("--shape", "1x8x9x9", "--precision", "fp16", machine="nv_full")
        for option, words in (("y=1,8,6,7", "name of one"), ("1,8,,7", "SIZES"), ("1,7,6,7", "sizes that the model gives"), ("x=", "SIZES"), ("1,8,6,-7", "SIZES")):
            self.assertIn(words, self.net("--shape", option, status=2).stderr)
        self.assertIn("one of both", self.net("--shape", "1,8,6,7", "--input", "x.npy", status=2).stderr)

    def test_inputs_that_are_constants(self):
        x, w = self.reals(2, 3, 6, 6), self.reals(4, 3, 3, 3)
        self.save([node("Conv", ["x", "w"], ["c"]), node("Reshape", ["c", "s"], ["y"])], {}, {"x": [None, 3, 6, 6], "w": [4, 3, 3, 3], "s": ([3], "int64")}, {"y": None})
        words = [option for name, array in (("x", x), ("w", w), ("s", np.array([0, 4, -1]))) for option in ("--input", f"{name}={self.array(name + '.npy', array)}")]
        self.net(*words, "--precision", "fp16", machine="nv_full")
        self.assertLess(np.abs(np.load(self.folder / "out/output.npy") - convolve(x, w).reshape(2, 4, 16)).max(), 0.05)
        said = self.net(status=2).stderr
        self.assertIn("--input s=FILE", said)

    def test_what_ran_runs_again(self):
        """The fixes of explain: the file, its options and its images are in result.json."""
        x, w = self.reals(3, 8, 20, 20), self.reals(16, 8, 3, 3, scale=0.2)
        self.save([node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["r"]), node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2])], {"w": w}, {"x": [None, 8, None, None]}, {"y": None})
        _, result = self.run_images(x)
        self.assertEqual(result["model"], {"file": "m.onnx", "input": ["x.npy"], "calibrate": [], "bias_correction": False, "preprocess": [], "calibration": "max", "shape": [], "precision": "int8"})
        done = subprocess.run([onnx_test.DLASIM, "explain", "out", "--remedies", "3", "--json"], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["remedies"])

    def test_constant_outputs(self):
        k = np.arange(6).reshape(2, 3)
        save(self.folder / "m.onnx", [node("Relu", ["x"], ["y"]), node("Transpose", ["k"], ["k2"], perm=[1, 0]), node("Dropout", ["y"], ["z", "mask"])], {"k": k},
             {"x": [1, 8, 6, 6]}, {"y": None, "k2": None, "mask": None})
        x = self.reals(1, 8, 6, 6)
        out, result = self.run_images(x, "--precision", "fp16", machine="nv_full")
        self.assertLess(np.abs(out - np.maximum(x, 0)).max(), 0.01)
        files = {output["name"]: np.load(self.folder / "out" / output["file"]) for output in result["outputs"]}
        np.testing.assert_array_equal(files["k2"], k.T)
        self.assertEqual((files["k2"].dtype, files["mask"].dtype, files["mask"].shape, files["mask"].all()), (I, bool, (1, 8, 6, 6), True))

    def test_operator_sets(self):
        x = self.reals(1, 4, 5, 5)
        d = x.astype(float)
        for opset in (1, 6, 13, 22):
            self.one([node("Elu", ["x"], ["y"], alpha=1.0)], x, [1, 4, 5, 5], np.where(d < 0, np.expm1(d), d), opset=opset)
        k = self.reals(4)
        self.one([node("Add", ["x", "k"], ["y"], broadcast=1, axis=1)], x, [1, 4, 5, 5], d + k[:, None, None], {"k": k}, opset=6)
        self.one([node("PRelu", ["x", "k"], ["y"])], x, [1, 4, 5, 5], np.where(d < 0, d * k[:, None, None], d), {"k": k}, opset=6)
        self.one([node("Reshape", ["x"], ["y"], shape=[0, -1])], x, [1, 4, 5, 5], d.reshape(1, -1), opset=1)
        self.one([node("Dropout", ["x"], ["y"], is_test=1, ratio=0.5)], x, [1, 4, 5, 5], d, opset=6)
        self.one([node("Upsample", ["x"], ["y"], height_scale=2.0, width_scale=3.0)], x, [1, 4, 5, 5], d.repeat(2, 2).repeat(3, 3), opset=1)
        self.one([node("Relu", ["x"], ["y"], consumed_inputs=[0])], x, [1, 4, 5, 5], np.maximum(d, 0), opset=1)
        for opset in (0, 23):
            self.save([node("Relu", ["x"], ["y"])], {}, {"x": [1, 4, 5, 5]}, {"y": None}, opset=opset)
            self.assertIn("expected 1 to 22", self.net(status=2).stderr)
        self.save([node("Dropout", ["x"], ["y"])], {}, {"x": [1, 4, 5, 5]}, {"y": None}, opset=6)
        self.assertIn("is_test", self.net(status=2).stderr)

    def external(self, location, more=()):
        """A model whose weights are in another file."""
        entry = lambda key, value: data(13, data(1, key) + data(2, value))
        shape = b"".join(b"\x08" + bytes([n]) for n in (4, 8, 3, 3))
        tensor = shape + b"\x10\x01" + data(8, "w") + b"\x70\x01" + entry("location", location) + b"".join(entry(*pair) for pair in more)
        save(self.folder / "m.onnx", [node("Conv", ["x", "w"], ["y"])], {}, {"x": [1, 8, 6, 6]}, {"y": None})
        # The graph is field 7 of the model: the initializer goes into one that is merged with it.
        with open(self.folder / "m.onnx", "ab") as file:
            file.write(data(7, data(5, tensor)))

    def test_data_in_other_files(self):
        x, w = self.reals(1, 8, 6, 6), self.reals(4, 8, 3, 3, scale=0.2)
        (self.folder / "sub").mkdir()
        for where in ("w.bin", "sub/w.bin"):
            (self.folder / where).write_bytes(b"12345678" + w.tobytes() + b"end")
        for where in ("w.bin", "sub/w.bin", "./w.bin"):
            for more in ([("offset", "8"), ("length", str(w.nbytes))], [("offset", "8")]):
                self.external(where, more)
                out, _ = self.run_images(x, "--precision", "fp16", machine="nv_full")
                self.assertLess(np.abs(out - convolve(x, w)).max(), 0.05)
        outside = self.folder.parent / (self.folder.name + ".bin")
        outside.write_bytes(w.tobytes())
        self.addCleanup(outside.unlink)
        os.symlink(outside, self.folder / "link.bin")
        os.symlink("/dev/zero", self.folder / "zero.bin")
        os.mkfifo(self.folder / "fifo.bin")
        for where, more, words in (("../" + outside.name, [], "folder of the model"), (str(outside), [], "folder of the model"), ("link.bin", [], "leads out"), ("", [], "folder of the model"),
                                   ("sub", [], "no regular file"), ("zero.bin", [], "leads out"), ("fifo.bin", [], "no regular file"), ("missing.bin", [], "not there"),
                                   ("w.bin", [("offset", "99")], "bytes"), ("w.bin", [("length", "4")], "expected 1152"), ("w.bin", [("offset", "18446744073709551615")], "bytes"),
                                   ("w.bin", [("offset", "-1")], "whole number"), ("w.bin", [("offset", "8"), ("offset", "9")], "twice"), ("sub/../w.bin", [("offset", "8")], "folder of the model")):
            with self.subTest(where=where, more=more):
                self.external(where, more)
                self.assertIn(words, self.net(status=2).stderr)

    def test_weights_beyond_int8(self):
        """uint8 weights whose zero point is not in the middle: parts of every weight, summed in the array."""
        for zero, kernels, groups, kind in ((140, 4, 1, "conv"), (0, 6, 2, "conv"), (255, 3, 1, "conv"), (140, 5, 1, "matmul")):
            x = self.rng.integers(0, 256, (2, 4, 6, 6) if kind == "conv" else (2, 24)).astype(np.uint8)
            w = self.rng.integers(0, 256, (kernels, 4 // groups, 3, 3) if kind == "conv" else (24, kernels)).astype(np.uint8)
            w.flat[:2] = 0, 255
            constants = {"xs": F(0.02), "xz": np.uint8(120), "w": w, "ws": F(0.01), "wz": np.uint8(zero), "ys": F(0.5), "yz": np.uint8(100)}
            self.save([node("QLinearConv" if kind == "conv" else "QLinearMatMul", ["x", *constants], ["y"], **({"group": groups} if kind == "conv" else {}))], constants,
                      {"x": ([None, *x.shape[1:]], "uint8")}, {"y": (None, "uint8")})
            d, v = x.astype(I) - 120, w.astype(I) - zero
            sums = convolve(d, v, groups=groups) if kind == "conv" else d @ v
            expected = np.clip(np.rint(sums * 0.02 * 0.01 / 0.5) + 100, 0, 255)
            for machine in onnx_test.MACHINES:
                with self.subTest(zero=zero, kind=kind, machine=machine):
                    out, _ = self.run_images(x, machine=machine)
                    self.assertLessEqual(np.abs(out - expected).max(), 1)


if __name__ == "__main__":
    onnx_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
