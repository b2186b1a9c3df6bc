#!/usr/bin/env python3
"""Models that are quantised already: int8 and uint8, one scale and one for each kernel, zero points. Every tensor bit for bit against the
documented arithmetic, the output within one step of ONNX's definition.

usage: onnx_matrix_integers_test.py DLASIM [Integers | Scales]
"""
import sys

import numpy as np

import onnx_matrix
from onnx_matrix import F, Matrix, node

# Type, zero point of what is read, of what is made.
KINDS = (("int8", 0, 0), ("int8", -5, 9), ("uint8", 128, 128), ("uint8", 0, 0), ("uint8", 37, 200))


class Quantised(Matrix):
    def integers(self, *shape, kind=None, most=None):
        info = np.iinfo(kind or self.kind)
        low, high = (info.min, info.max) if most is None else (-most, most)
        return self.rng.integers(low, high + 1, shape).astype(kind or self.kind)

    def numbers(self, **more):
        number = np.dtype(self.kind).type
        return {"sx": F(0.031), "zx": number(self.zx), "s2": F(0.013), "sy": F(0.047), "zy": number(self.zy), **more}

    def check(self, nodes, inputs=None, steps=1, **more):
        """`nodes` make r, of d = real x and d2 = real x2; or y itself."""
        inputs = inputs or {"x": self.q}
        reads = [node("DequantizeLinear", ["x", "sx", "zx"], ["d"])] if any("d" in n.input for n in nodes) else []
        if "x2" in inputs:
            reads.append(node("DequantizeLinear", ["x2", "s2", "zy"], ["d2"]))
        ends = [] if nodes[-1].output[0] == "y" else [node("QuantizeLinear", ["r", "sy", "zy"])]
        nodes = [*reads, *nodes, *ends]
        used = {name for n in nodes for name in n.input}
        constants = {name: value for name, value in self.numbers(**more).items() if name in used}
        with self.subTest([n.op_type for n in nodes[len(reads):]], kind=self.kind, zx=self.zx, zy=self.zy):
            self.run_integers(nodes, inputs, constants, self.kind, steps)

    def all_kinds(self):
        for self.kind, self.zx, self.zy in KINDS:
            self.q, self.q2 = self.integers(2, 6, 9, 8), self.integers(2, 6, 9, 8)
            yield self.kind


class Integers(Quantised):
    def convolution(self, each=False, **attributes):
        """conv: r of d, with weights and a bias of integers."""
        groups, kernels = attributes.get("group", 1), 6
        sw = (self.rng.random(kernels) * 0.004 + 0.0005).astype(F) if each else F(0.003)
        zeros = (np.zeros(kernels, np.int8), np.zeros(kernels, np.int32)) if each else (np.int8(0), np.int32(0))
        more = {"w": self.integers(kernels, 6 // groups, 3, 3, kind="int8", most=127), "sw": sw, "zw": zeros[0], "sy": F(0.31),
                "b": self.rng.integers(-3000, 3000, kernels).astype(np.int32), "sb": (F(0.031) * sw).astype(F), "zb": zeros[1]}
        return [node("DequantizeLinear", ["w", "sw", "zw"], ["wd"], axis=0), node("DequantizeLinear", ["b", "sb", "zb"], ["bd"], axis=0),
                node("Conv", ["d", "wd", "bd"], ["c"], pads=[1, 1, 1, 1], **attributes)], more

    def test_convolutions(self):
        for _ in self.all_kinds():
            for attributes in ({}, {"each": True}, {"group": 6}, {"group": 2, "each": True}, {"strides": [2, 1]}, {"dilations": [2, 2]}):
                conv, more = self.convolution(**attributes)
                self.check([*conv, node("Identity", ["c"], ["r"])], **more)
                self.check([*conv, node("Relu", ["c"], ["r"])], **more)

    def test_what_follows_a_convolution(self):
        for _ in self.all_kinds():
            conv, more = self.convolution()
            limits = {"lo": F(0), "hi": F(6)}
            self.check([*conv, node("Clip", ["c", "lo", "hi"], ["r"])], **more, **limits)
            self.check([*conv, node("LeakyRelu", ["c"], ["r"], alpha=0.1)], **more)
            self.check([*conv, node("Add", ["c", "d"], ["s"]), node("Relu", ["s"], ["r"])], **more)
            self.check([*conv, node("QuantizeLinear", ["c", "sy", "zy"], ["cq"]), node("DequantizeLinear", ["cq", "sy", "zy"], ["cd"]),
                        node("Add", ["cd", "d"], ["s"]), node("Relu", ["s"], ["r"])], **more)

    def test_operators_with_scales_as_inputs(self):
        for _ in self.all_kinds():
            for each in (False, True):
                _, more = self.convolution(each)
                linear = ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"]
                for attributes in ({"pads": [1, 1, 1, 1]}, {"strides": [2, 2]}, {"auto_pad": "SAME_UPPER"}):
                    self.check([node("QLinearConv", [*linear, "b"], **attributes)], **more)
                self.check([node("QLinearConv", linear)], **more)
                scale = (self.rng.random(9) * 0.004 + 0.0005).astype(F) if each else F(0.003)
                self.check([node("QLinearMatMul", linear)], {"x": self.integers(3, 40)}, w=self.integers(40, 9, kind="int8", most=127), sw=scale,
                           zw=np.zeros(9, np.int8) if each else np.int8(0))

    def test_single_elements(self):
        for _ in self.all_kinds():
            limits = {"lo": F(-1.5), "hi": F(2)}
            for op, keys in (("Identity", {}), ("Relu", {}), ("LeakyRelu", {"alpha": 0.3}), ("Neg", {}), ("Sigmoid", {}), ("Tanh", {}), ("HardSigmoid", {}), ("Abs", {})):
                self.check([node(op, ["d"], ["r"], **keys)], sy=F(1 / 200) if op in ("Sigmoid", "Tanh", "HardSigmoid") else F(0.047))
            self.check([node("Clip", ["d", "lo", "hi"], ["r"])], **limits)
            for op in ("Add", "Sub", "Mul", "Div"):
                self.check([node(op, ["d", "k"], ["r"])], k=abs(self.reals(6, 1, 1)) + F(0.4), sy=F(0.07))

    def test_two_tensors(self):
        for _ in self.all_kinds():
            two = {"x": self.q, "x2": self.q2}
            for op in ("Add", "Sub"):
                self.check([node(op, ["d", "d2"], ["r"])], two)
                self.check([node(op, ["d", "d2"], ["s"]), node("Relu", ["s"], ["r"])], two)
            self.check([node("Concat", ["d", "d2"], ["r"], axis=1)], two)
            # Where both have a zero point, half of a step of one times the largest of the other may be lost.
            centred = self.kind == "int8" and self.zx == 0 or self.kind == "uint8" and self.zx == 128
            self.check([node("Mul", ["d", "d2"], ["r"])], two, 1 if centred else 4)

    def test_windows(self):
        for _ in self.all_kinds():
            for op in ("MaxPool", "AveragePool"):
                self.check([node(op, ["d"], ["r"], kernel_shape=[2, 2], strides=[2, 2])])
                self.check([node(op, ["d"], ["r"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])])
            self.check([node("AveragePool", ["d"], ["r"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)])
            self.check([node("GlobalAveragePool", ["d"], ["r"])], sy=F(0.01))
            self.check([node("ReduceMean", ["d"], ["r"], axes=[2, 3])], sy=F(0.01))
            self.check([node("GlobalMaxPool", ["d"], ["r"])])


class Scales(Quantised):
    def test_shapes_keep_their_steps(self):
        for _ in self.all_kinds():
            same = {"sy": F(0.031), "zy": np.dtype(self.kind).type(self.zx)}
            self.check([node("Flatten", ["d"], ["r"])], **same)
            self.check([node("Transpose", ["d"], ["r"], perm=[0, 2, 3, 1])], **same)
            self.check([node("Resize", ["d", "", "by"], ["r"], mode="nearest")], by=np.array([1, 1, 2, 2], F), **same)

    def test_scales_far_from_each_other(self):
        self.kind, self.zx, self.zy = "int8", 3, -4
        self.q = self.integers(2, 6, 9, 8)
        for sx, sy in ((1e-6, 2e-6), (1e-3, 1e3), (100.0, 0.5), (0.1, 0.1), (0.1, 0.0999)):
            self.check([node("Identity", ["d"], ["r"])], sx=F(sx), sy=F(sy))

    def test_scales_of_kernels_far_from_each_other(self):
        self.kind, self.zx, self.zy = "int8", 0, 0
        self.q = self.integers(2, 6, 9, 8)
        each = np.array([1e-4, 1e-3, 3e-3, 2e-3, 4e-4, 1e-5], F)
        more = {"w": self.integers(6, 6, 3, 3, kind="int8", most=127), "sw": each, "zw": np.zeros(6, np.int8), "sy": F(0.3)}
        self.check([node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"])], **more)

    def test_uint8_weights_and_weights_with_zero_points(self):
        for self.kind, self.zx, self.zy in KINDS:
            self.q = self.integers(2, 6, 9, 8)
            for weights in (self.rng.integers(28, 229, (6, 6, 3, 3)).astype(np.uint8), self.integers(6, 6, 3, 3, kind="int8", most=100)):
                zero = np.uint8(128) if weights.dtype == np.uint8 else np.int8(20)
                self.check([node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"])], w=weights, sw=F(0.003), zw=zero, sy=F(0.3))

    def test_weights_that_the_model_quantises(self):
        self.kind, self.zx, self.zy = "int8", 0, 0
        self.q = self.integers(2, 6, 9, 8)
        for scale, zero in ((F(0.01), np.int8(0)), ((self.rng.random(6) * 0.01 + 0.005).astype(F), np.zeros(6, np.int8))):
            self.check([node("QuantizeLinear", ["w", "sw", "zw"], ["wq"], axis=0), node("DequantizeLinear", ["wq", "sw", "zw"], ["wd"], axis=0),
                        node("Conv", ["d", "wd"], ["r"])], w=self.reals(6, 6, 3, 3, scale=0.3), sw=scale, zw=zero, sy=F(0.3))


if __name__ == "__main__":
    onnx_matrix.main(sys.argv)
