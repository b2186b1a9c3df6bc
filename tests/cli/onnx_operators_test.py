#!/usr/bin/env python3
"""Every operator of docs/ONNX.md through the machine, against NumPy.

usage: onnx_operators_test.py DLASIM [Reals | Steps]

Reals  models in real numbers: within a step of the output or two (convolutions: of the weights' rounding) of the definition
Steps  models with QuantizeLinear and DequantizeLinear, int8 and uint8 with zero points: integers within one step of the definition's

All on three machines, by turns; every tensor verified.
"""
import json
import math
import sys
import unittest
from pathlib import Path

import numpy as np

import onnx_test
from onnx_test import MACHINES, Onnx, convolve
from onnx_writer import node

F = np.float32


def pooled(v, kernel, stride, pads, function, ceil=False, whole=True):
    """[n, c, h, w]; pads as ONNX has them; `whole`: averages divide by the whole kernel."""
    def count(size, i):
        way = size + pads[i] + pads[i + 2] - kernel[i]
        n = (math.ceil(way / stride[i]) if ceil else way // stride[i]) + 1
        return n - 1 if ceil and (n - 1) * stride[i] >= size + pads[i] else n

    n, c, h, w = v.shape
    out = np.zeros((n, c, count(h, 0), count(w, 1)))
    for y in range(out.shape[2]):
        for x in range(out.shape[3]):
            top, left = y * stride[0] - pads[0], x * stride[1] - pads[1]
            seen = v[:, :, max(top, 0):min(top + kernel[0], h), max(left, 0):min(left + kernel[1], w)]
            if function == "max":
                out[:, :, y, x] = seen.max((2, 3))
            else:
                out[:, :, y, x] = seen.sum((2, 3)) / (kernel[0] * kernel[1] if whole else seen.shape[2] * seen.shape[3])
    return out


def transposed(v, w, stride, pad, more=0, groups=1):
    n, channels, h, wide = v.shape
    per, r, s = w.shape[1:]
    out = np.zeros((n, per * groups, (h - 1) * stride + r + more, (wide - 1) * stride + s + more))
    for c in range(channels):
        for k in range(per):
            for i in range(r):
                for j in range(s):
                    target = out[:, c // (channels // groups) * per + k]
                    target[:, i:i + (h - 1) * stride + 1:stride, j:j + (wide - 1) * stride + 1:stride] += v[:, c].astype(float) * float(w[c, k, i, j])
    return out[:, :, pad:out.shape[2] - pad, pad:out.shape[3] - pad]


class Operators(Onnx):
    turn = 0

    def machine(self):
        """Another one each time."""
        Operators.turn += 1
        return MACHINES[Operators.turn % len(MACHINES)]

    def outcome(self, nodes, constants, inputs, kind="float32", **keys):
        """output.npy and result.json of a model whose output is y."""
        self.save(nodes, constants, {name: ([None, *x.shape[1:]], x.dtype.name) for name, x in inputs.items()}, {"y": (None, kind)}, **keys)
        options = [option for name, x in inputs.items() for option in ("--input", f"{name}={self.array(name + '.npy', x)}")]
        self.net(*options, machine=self.machine())
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertTrue(result["verified"])
        return np.load(self.folder / "out/output.npy"), result


class Reals(Operators):
    def on_steps(self, *shape, scale=0.05):
        """Numbers that the input's steps hold exactly."""
        q = self.rng.integers(-127, 128, shape)
        q.flat[0] = 127
        return (q * scale).astype(F)

    def near(self, nodes, constants, inputs, expected, steps=1.01, **keys):
        inputs = inputs if isinstance(inputs, dict) else {"x": inputs}
        out, result = self.outcome(nodes, constants, inputs, **keys)
        self.assertEqual(out.shape, expected.shape)
        # What runs behind the machine has no steps, but for what only moves elements.
        computed = [label for label in result["host_nodes"] if not label.endswith(("(Transpose)", "(MatMul)"))]
        step = 0.02 if computed else result["tensors"][-1]["scale"]
        self.assertLessEqual(np.abs(out - expected).max() / step, steps)

    def one(self, op, expected, constants=None, x=None, steps=1.01, opset=13, **attributes):
        constants = constants or {}
        with self.subTest(op=op, **attributes):
            self.near([node(op, ["x", *constants], ["y"], **attributes)], constants, self.x if x is None else x, expected, steps, opset=opset)

    def setUp(self):
        super().setUp()
        self.x = self.on_steps(2, 5, 9, 8)
        self.d = self.x.astype(float)

    def test_elements(self):
        d = self.d
        for op, expected, attributes in (
                ("Relu", np.maximum(d, 0), {}), ("LeakyRelu", np.where(d < 0, 0.1 * d, d), {"alpha": 0.1}), ("Neg", -d, {}), ("Abs", abs(d), {}),
                ("LeakyRelu", np.where(d < 0, -1.5 * d, d), {"alpha": -1.5}), ("Sigmoid", 1 / (1 + np.exp(-d)), {}), ("Tanh", np.tanh(d), {}),
                ("Elu", np.where(d < 0, np.expm1(d), d), {}), ("HardSigmoid", np.clip(0.2 * d + 0.5, 0, 1), {}), ("Exp", np.exp(d), {}),
                ("Softplus", np.log1p(np.exp(d)), {}), ("Identity", d, {}), ("Dropout", d, {}), ("Softmax", np.exp(d) / np.exp(d).sum(1, keepdims=True), {"axis": 1})):
            self.one(op, expected, **attributes)
        self.one("HardSwish", d * np.clip(d / 6 + 0.5, 0, 1), opset=14)
        self.one("Clip", np.clip(d, -0.5, 0.5), opset=9, min=-0.5, max=0.5)
        for low, high in ((0, 6), (-1, 2), (1.5, 99), (-99, -1)):
            self.one("Clip", np.clip(d, low, high), {"lo": F(low), "hi": F(high)})
        slope = self.reals(5, 1, 1)
        self.one("PRelu", np.where(d < 0, d * slope, d), {"s": slope})
        self.one("PRelu", np.where(d < 0, d * slope[0], d), {"s": slope[0]})

    def test_elements_in_front_of_others(self):
        w = self.reals(4, 5, 1, 1)
        for op, function in (("Sigmoid", lambda v: 1 / (1 + np.exp(-v))), ("Tanh", np.tanh)):
            self.near([node(op, ["x"], ["a"]), node("Conv", ["a", "w"], ["y"])], {"w": w}, self.x, convolve(function(self.d), w), steps=3)

    def test_arithmetic(self):
        d = self.d
        for k in (self.reals(5, 1, 1), self.reals(1)):
            for op, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)):
                self.one(op, function(d, k), {"k": k})
        each = self.on_steps(1, 5, 9, 8, scale=0.03)
        for op, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
            self.one(op, function(d, each.astype(float)), {"k": each})
        for shape in ((1, 1, 9, 8), (8,), (9, 1), (1, 5, 1, 8), (1, 9, 1)):
            k = self.on_steps(*shape, scale=0.03)
            k[k == 0] = F(0.03)
            for op, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)):
                self.one(op, function(d, k.astype(float)), {"k": k}, steps=1.6 if op == "Div" else 1.01)
        flat = self.x[:, :1].copy()
        for k in (self.on_steps(5, 1, 1, scale=0.03), self.on_steps(1, 5, 9, 1, scale=0.03)):
            self.near([node("Add", ["x", "k"], ["y"])], {"k": k}, flat, flat + k.astype(float), steps=1.6)
        k = self.reals(5, 1, 1)
        self.near([node("Sub", ["k", "x"], ["y"])], {"k": k}, self.x, k - d)
        p = {name: self.reals(5) for name in "gbm"}
        p["v"] = abs(self.reals(5)) + F(0.1)
        at = {name: value[None, :, None, None].astype(float) for name, value in p.items()}
        self.one("BatchNormalization", (d - at["m"]) / np.sqrt(at["v"] + 1e-5) * at["g"] + at["b"], p)
        z = self.on_steps(2, 5, 9, 8, scale=0.013)
        two, e = {"x": self.x, "z": z}, z.astype(float)
        self.near([node("Add", ["x", "z"], ["y"])], {}, two, d + e)
        self.near([node("Add", ["x", "z"], ["s"]), node("Relu", ["s"], ["y"])], {}, two, np.maximum(d + e, 0))
        self.near([node("Sub", ["x", "z"], ["y"])], {}, two, d - e)
        self.near([node("Mul", ["x", "z"], ["y"])], {}, two, d * e)
        self.near([node("Sum", ["x", "z", "x"], ["y"])], {}, two, 2 * d + e, steps=1.6)

    def test_what_is_there_once_is_repeated(self):
        d, one = self.d, self.d.mean((2, 3), keepdims=True)
        pool = node("GlobalAveragePool", ["x"], ["g"])
        self.near([pool, node("Sigmoid", ["g"], ["s"]), node("Mul", ["x", "s"], ["y"])], {}, self.x, d / (1 + np.exp(-one)), steps=2.1)
        self.near([pool, node("Add", ["g", "x"], ["y"])], {}, self.x, d + one, steps=1.6)
        for op, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
            for shape in ((5, 9, 1), (5, 1, 8), (5, 1, 1)):
                z = self.on_steps(2, *shape, scale=0.013)
                self.near([node(op, ["x", "z"], ["y"])], {}, {"x": self.x, "z": z}, function(d, z.astype(float)))
        for shape in ((1, 9, 8), (1, 9, 1), (1, 1, 1)):
            z = self.on_steps(2, *shape, scale=0.013)
            self.near([node("Add", ["x", "z"], ["y"])], {}, {"x": self.x, "z": z}, d + z)
            self.near([node("Mul", ["z", "x"], ["y"])], {}, {"x": self.x, "z": z}, d * z.astype(float))
        flat, channels = self.on_steps(2, 1, 9, 8), self.on_steps(2, 5, 1, 1, scale=0.013)
        self.near([node("Sub", ["x", "z"], ["y"])], {}, {"x": flat, "z": channels}, flat.astype(float) - channels)
        few, many = self.on_steps(2, 1), self.on_steps(2, 24, scale=0.013)
        self.near([node("Mul", ["x", "z"], ["y"])], {}, {"x": few, "z": many}, few.astype(float) * many)
        rows, lines = self.on_steps(2, 6, 8), self.on_steps(2, 1, 8, scale=0.013)
        self.near([node("Add", ["x", "z"], ["y"])], {}, {"x": rows, "z": lines}, rows.astype(float) + lines)
        self.near([node("Expand", ["x", "s"], ["y"])], {"s": np.array([1, 5, 9, 8])}, flat, np.broadcast_to(flat, (2, 5, 9, 8)))
        self.near([node("GlobalAveragePool", ["x"], ["g"]), node("Shape", ["x"], ["s"]), node("Expand", ["g", "s"], ["e"]), node("Mul", ["x", "e"], ["y"])], {}, self.x, d * one,
                  steps=2.1)
        column, row = self.on_steps(2, 5, 9, 1), self.on_steps(2, 5, 1, 8, scale=0.013)
        self.near([node("Add", ["x", "z"], ["y"])], {}, {"x": column, "z": row}, column.astype(float) + row)

    def test_transpositions(self):
        d = self.d
        for order in ((0, 2, 3, 1), (0, 3, 2, 1), (0, 1, 3, 2), (0, 2, 1, 3)):
            self.one("Transpose", d.transpose(order), perm=list(order))
        w = self.reals(4, 9, 3, 3, scale=0.2)
        self.near([node("Relu", ["x"], ["a"]), node("Transpose", ["a"], ["t"], perm=[0, 2, 3, 1]), node("Conv", ["t", "w"], ["c"], pads=[1] * 4),
                   node("Transpose", ["c"], ["y"], perm=[0, 3, 1, 2])], {"w": w}, self.x,
                  convolve(np.maximum(d, 0).transpose(0, 2, 3, 1).astype(F), w, None, 1, 1).transpose(0, 3, 1, 2), steps=4)
        pool = node("GlobalAveragePool", ["x"], ["g"])
        self.near([pool, node("Transpose", ["g"], ["y"], perm=[0, 2, 3, 1])], {}, self.x, d.mean((2, 3))[:, None, None])

    def test_products_of_rows(self):
        for shape in ((2, 3, 8), (2, 7, 40), (1, 2, 3, 16), (2, 5, 1, 24)):
            x, m = self.on_steps(*shape), self.reals(shape[-1], 9)
            self.one("MatMul", x.astype(float) @ m.astype(float), {"w": m}, x=x, steps=3)

    def test_shapes(self):
        d = self.d
        self.one("Flatten", d.reshape(2, -1))
        self.one("Reshape", d.reshape(2, 9, 40), {"s": np.array([0, 9, -1])})
        self.one("Unsqueeze", d[:, None], {"a": np.array([1])})
        self.near([node("GlobalAveragePool", ["x"], ["g"]), node("Squeeze", ["g", "a"], ["y"])], {"a": np.array([2, 3])}, self.x, d.mean((2, 3)))
        self.near([node("Relu", ["x"], ["a"]), node("Concat", ["a", "x"], ["y"], axis=1)], {}, self.x, np.concatenate([np.maximum(d, 0), d], 1))
        w = self.reals(3, 4, 1, 1)
        self.near([node("Reshape", ["x", "s"], ["r"]), node("Conv", ["r", "w"], ["y"])], {"s": np.array([0, 4, 10, 9]), "w": w}, self.x,
                  convolve(self.x.reshape(2, 4, 10, 9), w), steps=4)
        twice = d.repeat(2, 2).repeat(2, 3)
        for inputs, constants, keys in ((["x", "", "s"], {"s": np.array([1, 1, 2, 2], F)}, {}), (["x", "", "", "s"], {"s": np.array([2, 5, 18, 16])}, {}),
                                        (["x", "", "s"], {"s": np.array([1, 1, 2, 2], F)}, {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})):
            self.near([node("Resize", inputs, ["y"], mode="nearest", **keys)], constants, self.x, twice)
        self.near([node("Upsample", ["x", "s"], ["y"], mode="nearest")], {"s": np.array([1, 1, 2, 2], F)}, self.x, twice, opset=9)

    def test_windows(self):
        d = self.d
        for kernel, stride, pads, ceil in (((2, 2), (2, 2), (0, 0, 0, 0), 0), ((3, 3), (2, 2), (1, 1, 1, 1), 0), ((3, 2), (1, 2), (1, 0, 1, 1), 0),
                                           ((3, 3), (2, 2), (0, 0, 0, 0), 1), ((7, 7), (1, 1), (3, 3, 3, 3), 0), ((9, 8), (1, 1), (0, 0, 0, 0), 0)):
            keys = {"kernel_shape": list(kernel), "strides": list(stride), "pads": list(pads), "ceil_mode": ceil}
            self.one("MaxPool", pooled(d, kernel, stride, pads, "max", ceil), **keys)
            self.one("AveragePool", pooled(d, kernel, stride, pads, "mean", ceil, False), **keys)
            if not ceil:
                self.one("AveragePool", pooled(d, kernel, stride, pads, "mean"), count_include_pad=1, **keys)
        self.one("GlobalAveragePool", d.mean((2, 3), keepdims=True))
        self.one("GlobalMaxPool", d.max((2, 3), keepdims=True))
        self.one("ReduceMean", d.mean((2, 3)), axes=[2, 3], keepdims=0)
        x = self.on_steps(1, 12, 4, 4)
        for size in (3, 5, 9):
            squares = np.stack([(x[:, max(0, c - size // 2):c + size // 2 + 1].astype(float) ** 2).sum(1) for c in range(12)], 1)
            self.one("LRN", x / (1 + 0.01 / size * squares) ** 0.75, x=x, steps=2.2, size=size, alpha=0.01, beta=0.75, bias=1.0)

    def test_products(self):
        x = self.x
        for k, size, stride, pad, groups, dilation in ((8, 3, 1, 1, 1, 1), (6, 1, 1, 0, 1, 1), (10, 3, 2, 1, 5, 1), (5, 3, 1, 2, 5, 2), (7, 5, 3, 2, 1, 1), (4, 2, 1, 0, 1, 3)):
            w, b = self.reals(k, 5 // groups, size, size, scale=0.3), self.reals(k)
            span = (size - 1) * dilation + 1
            spread = np.zeros((k, 5 // groups, span, span), F)
            spread[:, :, ::dilation, ::dilation] = w
            self.one("Conv", convolve(x, spread, b, stride, pad, groups), {"w": w, "b": b}, steps=4, strides=[stride] * 2, pads=[pad] * 4, group=groups,
                     dilations=[dilation] * 2)
        w = self.reals(6, 5, 3, 3, scale=0.3)
        self.one("Conv", convolve(np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 1))), w, None, 2), {"w": w}, steps=4, strides=[2, 2], auto_pad="SAME_UPPER")
        self.one("Conv", convolve(x, w), {"w": w}, steps=4, auto_pad="VALID")
        line, narrow = self.on_steps(2, 5, 20), self.reals(6, 5, 3)
        self.one("Conv", convolve(np.pad(line[:, :, None], ((0, 0), (0, 0), (0, 0), (1, 1))), narrow[:, :, None])[:, :, 0], {"w": narrow}, x=line, steps=4, pads=[1, 1])
        for k, size, stride, pad, more, groups in ((6, 3, 1, 1, 0, 1), (6, 2, 2, 0, 0, 1), (4, 4, 2, 1, 0, 1), (4, 3, 2, 1, 1, 1), (2, 3, 1, 1, 0, 5)):
            w = self.reals(5, k, size, size, scale=0.3)
            self.one("ConvTranspose", transposed(x, w, stride, pad, more, groups), {"w": w}, steps=4, strides=[stride] * 2, pads=[pad] * 4,
                     output_padding=[more] * 2, group=groups)
        row, m, b = self.on_steps(3, 40), self.reals(40, 9), self.reals(9)
        self.one("Gemm", 0.5 * (row @ m.astype(float)) + 2 * b, {"w": m, "b": b}, x=row, steps=3, alpha=0.5, beta=2.0)
        self.one("Gemm", row @ m.astype(float), {"w": m.T.copy()}, x=row, steps=3, transB=1)
        self.near([node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["y"])], {"w": m, "b": b}, row, row @ m.astype(float) + b, steps=3)


class Steps(Operators):
    def quantised(self, v, step, zero):
        low, high = np.iinfo(self.kind).min, np.iinfo(self.kind).max
        return np.clip(np.rint(v / np.float64(step)) + int(zero), low, high).astype(self.kind)

    def real(self, q, step, zero):
        return (q.astype(np.int64) - int(zero)) * np.float64(step)

    def check(self, name, nodes, inputs, expected, step=None, **constants):
        """`nodes` make r, or y where there is no `expected` in real numbers to quantise."""
        all_of_them = {"sx": self.sx, "zx": self.zx, "sy": step or self.sy, "zy": self.zy, "s2": self.s2, **constants}
        if step != 0:
            nodes = [*nodes, node("QuantizeLinear", ["r", "sy", "zy"], ["y"])]
            expected = self.quantised(expected, step or self.sy, self.zy)
        with self.subTest(name, kind=self.kind, zx=self.zx, zy=self.zy):
            out, _ = self.outcome(nodes, {key: value for key, value in all_of_them.items() if value is not None}, inputs, kind=self.kind)
            self.assertEqual(out.dtype, np.dtype(self.kind))
            self.assertEqual(out.shape, expected.shape)
            self.assertLessEqual(np.abs(out.astype(int) - expected).max(), 1)

    def product(self, *factors):
        """If both have a zero point, one of them goes to symmetric steps first: the one whose integers go less far from it."""
        reals = [self.real(*factor) for factor in factors]
        middle = np.iinfo(self.kind).min + 128
        if all(int(zero) != middle for _, _, zero in factors):
            reach = [max(127 - int(zero) + middle, int(zero) - middle + 128) for _, _, zero in factors]
            n = int(reach[1] <= reach[0])
            step = float(factors[n][1]) * reach[n] / 127
            reals[n] = np.rint(reals[n] / step) * step
        return reals[0] * reals[1]

    def run_all(self, kind, zx, zy):
        self.kind, self.zx, self.zy = kind, np.dtype(kind).type(zx), np.dtype(kind).type(zy)
        self.sx, self.sy, self.s2, wide, fine = F(0.031), F(0.047), F(0.013), F(0.31), F(0.01)
        low, high = np.iinfo(kind).min, np.iinfo(kind).max + 1
        q, q2 = (self.rng.integers(low, high, (2, 6, 9, 8)).astype(kind) for _ in range(2))
        x, x2 = self.real(q, self.sx, self.zx), self.real(q2, self.s2, self.zy)
        one, two = {"x": q}, {"x": q, "x2": q2}
        dx, dx2 = node("DequantizeLinear", ["x", "sx", "zx"], ["d"]), node("DequantizeLinear", ["x2", "s2", "zy"], ["d2"])
        sw, w, b = F(0.003), self.rng.integers(-127, 128, (6, 6, 3, 3)).astype(np.int8), self.rng.integers(-3000, 3000, 6).astype(np.int32)
        weights = {"w": w, "sw": sw, "zw": np.int8(0), "b": b, "sb": F(self.sx * sw), "zb": np.int32(0)}
        dw = [node("DequantizeLinear", ["w", "sw", "zw"], ["wd"]), node("DequantizeLinear", ["b", "sb", "zb"], ["bd"])]
        conv = [dx, *dw, node("Conv", ["d", "wd", "bd"], ["c"], pads=[1, 1, 1, 1])]
        sums, factor = q.astype(np.int64) - int(self.zx), np.float64(self.sx) * np.float64(sw)
        c = convolve(sums, w, b, 1, 1) * factor

        self.check("Conv", [*conv, node("Identity", ["c"], ["r"])], one, c, wide, **weights)
        self.check("Relu", [*conv, node("Relu", ["c"], ["r"])], one, np.maximum(c, 0), wide, **weights)
        self.check("Clip", [*conv, node("Clip", ["c", "lo", "hi"], ["r"])], one, np.clip(c, 0, 6), wide, lo=F(0), hi=F(6), **weights)
        self.check("LeakyRelu", [*conv, node("LeakyRelu", ["c"], ["r"], alpha=0.1)], one, np.where(c < 0, F(0.1) * c, c), wide, **weights)
        self.check("Add", [*conv, node("Add", ["c", "d"], ["s"]), node("Relu", ["s"], ["r"])], one, np.maximum(c + x, 0), wide, **weights)
        between = self.real(self.quantised(c, wide, self.zy), wide, self.zy)
        self.check("steps between", [*conv, node("QuantizeLinear", ["c", "sy", "zy"], ["cq"]), node("DequantizeLinear", ["cq", "sy", "zy"], ["cd"]),
                                     node("Add", ["cd", "d"], ["s"]), node("Relu", ["s"], ["r"])], one, np.maximum(between + x, 0), wide, **weights)
        deep = self.rng.integers(-127, 128, (6, 1, 3, 3)).astype(np.int8)
        self.check("depthwise", [dx, *dw, node("Conv", ["d", "wd", "bd"], ["r"], pads=[1, 1, 1, 1], group=6)], one, convolve(sums, deep, b, 1, 1, 6) * factor,
                   **{**weights, "w": deep})
        each = (self.rng.random(6) * 0.004 + 0.0005).astype(F)
        linear = node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"], ["y"], pads=[1, 1, 1, 1])
        real = convolve(sums, w, b, 1, 1) * (np.float64(self.sx) * each.astype(float))[None, :, None, None]
        self.sy, kept = wide, self.sy
        self.check("QLinearConv", [linear], one, self.quantised(real, wide, self.zy), 0, **{**weights, "sw": each, "zw": np.zeros(6, np.int8), "sy": wide})
        self.sy = kept
        rows, m = self.rng.integers(low, high, (3, 40)).astype(kind), self.rng.integers(-127, 128, (40, 9)).astype(np.int8)
        product = (rows.astype(np.int64) - int(self.zx)) @ m.astype(np.int64) * factor
        self.check("QLinearMatMul", [node("QLinearMatMul", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"], ["y"])], {"x": rows},
                   self.quantised(product, self.sy, self.zy), 0, w=m, sw=sw, zw=np.int8(0), sy=self.sy)

        self.check("other steps", [dx, node("Identity", ["d"], ["r"])], one, x)
        self.check("Relu alone", [dx, node("Relu", ["d"], ["r"])], one, np.maximum(x, 0))
        self.check("Sigmoid", [dx, node("Sigmoid", ["d"], ["r"])], one, 1 / (1 + np.exp(-x)), F(1 / 200))
        self.check("GlobalAveragePool", [dx, node("GlobalAveragePool", ["d"], ["r"])], one, x.mean((2, 3), keepdims=True), fine)
        self.check("AveragePool", [dx, node("AveragePool", ["d"], ["r"], kernel_shape=[2, 2], strides=[2, 2])], one, pooled(x, (2, 2), (2, 2), (0,) * 4, "mean"))
        self.check("MaxPool", [dx, node("MaxPool", ["d"], ["r"], kernel_shape=[3, 3], pads=[1] * 4)], one, pooled(x, (3, 3), (1, 1), (1,) * 4, "max"))
        self.check("sum", [dx, dx2, node("Add", ["d", "d2"], ["r"])], two, x + x2)
        self.check("sum and Relu", [dx, dx2, node("Add", ["d", "d2"], ["s"]), node("Relu", ["s"], ["r"])], two, np.maximum(x + x2, 0))
        self.check("difference", [dx, dx2, node("Sub", ["d", "d2"], ["r"])], two, x - x2)
        self.check("Concat", [dx, dx2, node("Concat", ["d", "d2"], ["r"], axis=1)], two, np.concatenate([x, x2], 1))
        self.check("product", [dx, dx2, node("Mul", ["d", "d2"], ["r"])], two, self.product((q, self.sx, self.zx), (q2, self.s2, self.zy)))
        self.check("square", [dx, node("Mul", ["d", "d"], ["r"])], {"x": q}, self.product(*[(q, self.sx, self.zx)] * 2))

    def test_int8(self):
        self.run_all("int8", 0, 0)

    def test_int8_with_zero_points(self):
        self.run_all("int8", -5, 9)

    def test_uint8(self):
        self.run_all("uint8", 128, 128)

    def test_uint8_from_0(self):
        self.run_all("uint8", 0, 0)

    def test_uint8_with_zero_points(self):
        self.run_all("uint8", 37, 200)


if __name__ == "__main__":
    onnx_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
