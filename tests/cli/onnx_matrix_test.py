#!/usr/bin/env python3
"""Every combination of attributes that docs/ONNX.md has, of the operators of the array and of what stands behind it.

usage: onnx_matrix_test.py DLASIM [Convolutions | Deconvolutions | Products | Elements | Arithmetic]

What a case is held to: onnx_matrix.py.
"""
import itertools
import sys

import numpy as np

import onnx_matrix
from onnx_matrix import F, Matrix, node

KERNELS = ((1, 1), (3, 3), (2, 2), (1, 3), (3, 1), (5, 4), (2, 5), (7, 7))
STRIDES = ((1, 1), (2, 2), (2, 1), (1, 3), (4, 3), (5, 8))
DILATIONS = ((1, 1), (2, 1), (1, 3), (2, 2))
PADS = ((0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 2, 3), (0, 2, 1, 0), (3, 3, 0, 1))
GROUPS = ((1, 7), (6, 6), (6, 12), (2, 8), (3, 9))  # and kernels


class Convolutions(Matrix):
    def setUp(self):
        super().setUp()
        self.x = self.on_steps(2, 6, 13, 12)

    def convolve(self, kernels, groups=1, bias=True, x=None, **attributes):
        x = self.x if x is None else x
        size = attributes.pop("kernel")
        w = self.reals(kernels, x.shape[1] // groups, *size, scale=0.3)
        self.one("Conv", {"w": w, **({"b": self.reals(kernels)} if bias else {})}, x=x, steps=4, group=groups, **attributes)

    def test_kernels_and_strides(self):
        for i, (kernel, stride) in enumerate(itertools.product(KERNELS, STRIDES)):
            dilation = DILATIONS[i % 4] if max(kernel) < 5 else (1, 1)
            groups, kernels = GROUPS[i % 5]
            self.convolve(kernels, groups, i % 3 != 0, kernel=kernel, strides=list(stride), dilations=list(dilation), pads=list(PADS[i * 3 % 5]))

    def test_all_strides(self):
        x = self.on_steps(1, 3, 20, 21)
        for stride in range(1, 9):
            self.convolve(4, kernel=(3, 3), strides=[stride, 9 - stride], x=x)

    def test_padding_by_itself(self):
        for how, stride, kernel in itertools.product(("SAME_UPPER", "SAME_LOWER", "VALID"), ((1, 1), (2, 2), (3, 2)), ((3, 3), (2, 4))):
            self.convolve(5, kernel=kernel, strides=list(stride), auto_pad=how)
        self.convolve(5, kernel=(3, 3), dilations=[2, 2], auto_pad="SAME_UPPER")

    def test_one_direction(self):
        for (stride, dilation), pads in itertools.product(((1, 1), (2, 1), (3, 2), (8, 1)), ([0, 0], [2, 1])):
            self.convolve(4, kernel=(3,), strides=[stride], dilations=[dilation], pads=pads, x=self.on_steps(2, 5, 30))
        self.convolve(10, 5, kernel=(4,), auto_pad="SAME_LOWER", x=self.on_steps(2, 5, 30))

    def test_sizes_of_hardware(self):
        self.convolve(40, kernel=(1, 1), x=self.on_steps(1, 70, 5, 4))
        self.convolve(3, kernel=(32, 32), pads=[31, 31, 31, 31], x=self.on_steps(1, 2, 4, 5))
        self.convolve(2, kernel=(2, 2), dilations=[32, 32], x=self.on_steps(1, 2, 34, 35))
        for channels in (1, 3, 4):  # pixels
            self.convolve(8, kernel=(5, 5), strides=[2, 2], pads=[2, 2, 2, 2], x=self.on_steps(2, channels, 16, 15))

    def test_weights_of_any_size(self):
        w = self.reals(8, 6, 3, 3)
        w[2] = 0
        w[5] *= 1e-4
        for scale in (1e-3, 1.0, 1e3):
            self.one("Conv", {"w": w * F(scale), "b": self.reals(8) * F(10 * scale)}, steps=4, halves=scale <= 1)
        self.one("Conv", {"w": np.zeros_like(w), "b": self.reals(8)}, steps=2)

    def test_what_the_hardware_has_not_is_refused(self):
        conv = lambda **attributes: [node("Conv", ["x", "w"], **attributes)]
        for words, w, attributes in (("dilation", (4, 6, 2, 2), {"dilations": [33, 1], "pads": [40] * 4}),
                                     ("kernel", (4, 6, 1, 33), {"pads": [0, 31, 0, 31]})):
            self.refused((), conv(**attributes), constants={"w": self.reals(*w)})
        self.refused("dimensions", conv(), {"x": self.on_steps(1, 2, 5, 5, 5)}, {"w": self.reals(4, 2, 3, 3, 3)})
        self.refused("weights", [node("Conv", ["x", "w"])], {"x": self.x, "w": self.reals(4, 6, 3, 3)})


class Deconvolutions(Matrix):
    def transposed(self, kernel, kernels=4, groups=1, bias=False, x=None, **attributes):
        x = self.x if x is None else x
        w = self.reals(x.shape[1], kernels // groups, *kernel, scale=0.3)
        self.one("ConvTranspose", {"w": w, **({"b": self.reals(kernels)} if bias else {})}, x=x, steps=4, group=groups, **attributes)

    def test_kernels_and_strides(self):
        for i, (kernel, stride) in enumerate(itertools.product(((1, 1), (2, 2), (3, 3), (2, 3), (4, 4)), ((1, 1), (2, 2), (3, 1), (2, 4)))):
            self.transposed(kernel, bias=i % 2 == 0, strides=list(stride))

    def test_padding(self):
        for pads, more in (([1, 1, 1, 1], [0, 0]), ([1, 0, 1, 1], [0, 0]), ([1, 1, 1, 1], [1, 1]), ([0, 1, 1, 1], [1, 0]), ([2, 1, 0, 1], [0, 0])):
            self.transposed((3, 3), strides=[2, 2], pads=pads, output_padding=more)
        for how in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            self.transposed((3, 3), strides=[2, 2], auto_pad=how)
        self.transposed((3, 3), strides=[2, 2], output_shape=[18, 16])
        self.transposed((4, 4), strides=[2, 2], output_shape=[18, 17])

    def test_groups_dilations_and_one_direction(self):
        self.transposed((3, 3), 10, 5, True, pads=[1, 1, 1, 1])
        self.transposed((2, 2), 6, 2, True, x=self.on_steps(1, 4, 5, 6), strides=[2, 2])
        self.transposed((2, 3), dilations=[2, 3])
        self.transposed((3,), x=self.on_steps(2, 5, 12), strides=[2], pads=[1, 1])
        self.transposed((4,), x=self.on_steps(2, 5, 12), strides=[3])


class Products(Matrix):
    def test_gemm(self):
        row, m = self.on_steps(3, 40), self.reals(40, 9)
        for b in (None, (9,), (1, 9), (1,), (1, 1), ()):
            for trans, alpha, beta in ((0, 1.0, 1.0), (1, 0.5, 2.0)):
                constants = {"w": m.T.copy() if trans else m, **({} if b is None else {"b": self.reals(*b)})}
                self.one("Gemm", constants, x=row, steps=3, transB=trans, alpha=alpha, beta=beta)
        self.one("Gemm", {"w": m}, x=row, steps=3, alpha=-0.3)
        self.one("Gemm", {"w": m, "b": self.reals(9)}, x=row, steps=3, beta=0.0)
        self.refused("transA", [node("Gemm", ["x", "w"], transA=1)], {"x": self.on_steps(40, 3)}, {"w": m}, checked=False)

    def test_matmul(self):
        for shape in ((3, 40), (2, 1, 24), (2, 3, 8), (2, 7, 40), (1, 2, 3, 16)):
            self.one("MatMul", {"w": self.reals(shape[-1], 9)}, x=self.on_steps(*shape), steps=3)
        self.run_case([node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"])], {"x": self.on_steps(3, 40)},
                      {"w": self.reals(40, 9), "b": self.reals(9)}, steps=3)

    def test_rows_of_planes(self):
        for shape, flat in (((2, 5, 6, 7), 210), ((2, 3, 40, 2), 240)):
            self.run_case([node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w"])], {"x": self.on_steps(*shape)}, {"w": self.reals(flat, 6, scale=0.2)}, steps=4)

    def test_normalised(self):
        w, p = self.reals(6, 5, 3, 3, scale=0.3), {name: self.reals(6) for name in "gbm"}
        p["v"] = abs(self.reals(6)) + F(0.2)
        for opset, keys in ((7, {}), (9, {"epsilon": 1e-3}), (14, {}), (15, {"epsilon": 0.1, "momentum": 0.5})):
            self.run_case([node("Conv", ["x", "w"], ["c"]), node("BatchNormalization", ["c", *p], **keys)], None, {"w": w, **p}, opset, steps=4)
            five = {name: value[:5] for name, value in p.items()}
            self.one("BatchNormalization", five, opset=opset, **keys)

    def test_what_follows_a_convolution_joins_it(self):
        constants = {"w": self.reals(6, 5, 3, 3, scale=0.3), "b": self.reals(6), "k": abs(self.reals(6, 1, 1)) + F(0.5), "lo": F(-1.25), "hi": F(3),
                     "s": self.reals(6, 1, 1)}
        conv = node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1])
        for follow in ([node("Relu", ["c"])], [node("LeakyRelu", ["c"], alpha=0.1)], [node("LeakyRelu", ["c"], alpha=-0.5)], [node("PRelu", ["c", "s"])],
                       [node("Clip", ["c", "lo", "hi"])], [node("Clip", ["c", "", "hi"])], [node("Clip", ["c", "lo"])], [node("Mul", ["c", "k"])],
                       [node("Mul", ["c", "k"], ["m"]), node("Relu", ["m"])], [node("Div", ["c", "k"], ["m"]), node("Clip", ["m", "lo", "hi"])],
                       [node("Sub", ["c", "k"], ["m"]), node("PRelu", ["m", "s"])], [node("Neg", ["c"])]):
            with self.subTest([f.op_type for f in follow]):
                used = {name for f in (conv, *follow) for name in f.input}
                self.run_case([conv, *follow], None, {name: value for name, value in constants.items() if name in used}, steps=8)


class Elements(Matrix):
    def test_activations(self):
        self.one("Relu")
        for alpha in (0.01, 0.3, 1.0, -0.25, -1.5, 0.0):
            self.one("LeakyRelu", alpha=alpha)
        for shape in ((5, 1, 1), (1, 1, 1), (1, 5, 1, 1), (1,)):
            self.one("PRelu", {"s": self.reals(*shape)})

    def test_limits(self):
        for low, high in ((0, 6), (-1, 2), (1.5, 99), (-99, -1), (-0.3, 0.3), (0, 1), (-6, 0)):
            self.one("Clip", {"lo": F(low), "hi": F(high)})
            self.one("Clip", opset=9, min=float(low), max=float(high))
            self.run_case([node("Clip", ["x", "lo"])], None, {"lo": F(low)}, 11)
            self.run_case([node("Clip", ["x", "", "hi"])], None, {"hi": F(high)}, 12)
        self.one("Clip", opset=6 + 1, min=-1.0)

    def test_functions(self):
        positive = np.maximum(abs(self.x), F(0.05))
        for op, keys in (("Sigmoid", {}), ("Tanh", {}), ("Elu", {}), ("Elu", {"alpha": 0.4}), ("Selu", {}), ("Selu", {"alpha": 2.0, "gamma": 0.5}), ("Softplus", {}),
                         ("Softsign", {}), ("HardSigmoid", {}), ("HardSigmoid", {"alpha": 0.5, "beta": 0.1}), ("Exp", {}), ("Abs", {}), ("Erf", {})):
            self.one(op, steps=1.1, **keys)
        self.one("HardSwish", opset=14, steps=1.1)
        for op in ("Log", "Sqrt", "Reciprocal"):
            self.one(op, x=positive, steps=1.1, half_near=2e-2)

    def test_functions_in_front_of_others(self):
        w = self.reals(4, 5, 1, 1)
        for op in ("Sigmoid", "Tanh", "Elu", "Softplus", "HardSigmoid", "Exp", "Abs", "Erf"):
            with self.subTest(op):
                self.run_case([node(op, ["x"], ["a"]), node("Conv", ["a", "w"])], {"x": self.x / 2}, {"w": w}, steps=6)

    def test_softmax(self):
        for opset, axis in ((11, 1), (13, 1), (13, -3)):
            self.one("Softmax", opset=opset, axis=axis, x=self.x if opset > 11 else self.on_steps(2, 12), **({"steps": 1.1}))
        self.one("LogSoftmax", axis=1, x=self.on_steps(2, 12), steps=1.5)
        self.one("Softmax", x=self.on_steps(2, 12), steps=1.1)
        self.run_case([node("Softmax", ["x"], ["a"], axis=1), node("Conv", ["a", "w"])], None, {"w": self.reals(4, 5, 1, 1)}, steps=5)
        self.one("Softmax", axis=2, steps=1.1)


class Arithmetic(Matrix):
    def test_constants(self):
        for op, shape in itertools.product(("Add", "Sub", "Mul", "Div"), ((), (1,), (5, 1, 1), (1, 5, 1, 1), (1, 1, 1, 1))):
            k = self.reals(*shape) if shape else F(0.7)
            self.one(op, {"k": np.sign(k) * (abs(k) + F(0.1))})
        k = self.reals(5, 1, 1)
        for op in ("Add", "Sub", "Mul"):
            with self.subTest(op, left=True):
                self.run_case([node(op, ["k", "x"])], None, {"k": k})
        self.one("Neg")

    def test_constants_of_other_shapes(self):
        for op, shape in itertools.product(("Add", "Sub", "Mul", "Div"), ((9, 8), (1, 9, 8), (5, 9, 1), (5, 1, 8), (1, 1, 8), (8,), (9, 1))):
            k = self.on_steps(*shape, scale=0.03)
            self.one(op, {"k": np.where(abs(k) < 0.3, F(0.3), k) if op == "Div" else k}, steps=2.1)

    def test_constants_of_every_element(self):
        each = self.on_steps(1, 5, 9, 8, scale=0.03)
        for op, shape in itertools.product(("Add", "Sub", "Mul"), ((1, 5, 9, 8), (5, 9, 8))):
            self.one(op, {"k": each.reshape(shape)})
            with self.subTest(op, left=True):
                self.run_case([node(op, ["k", "x"])], None, {"k": each.reshape(shape)})

    def test_tensors(self):
        z = self.on_steps(2, 5, 9, 8, scale=0.013)
        two = {"x": self.x, "z": z}
        for op in ("Add", "Sub", "Mul"):
            for shape in ((5, 9, 8), (5, 9, 1), (5, 1, 8), (5, 1, 1), (1, 9, 8), (1, 1, 8), (1, 1, 1)):
                with self.subTest(op, shape=shape):
                    self.run_case([node(op, ["x", "z"])], {"x": self.x, "z": self.on_steps(2, *shape, scale=0.013)})
                    self.run_case([node(op, ["z", "x"])], {"z": self.on_steps(2, *shape, scale=0.2), "x": self.x})
            for follow in (node("Relu", ["s"]), node("LeakyRelu", ["s"], alpha=0.2), node("Clip", ["s", "lo", "hi"])):
                with self.subTest(op, follow=follow.op_type):
                    limits = {"lo": F(-0.5), "hi": F(1.5)} if follow.op_type == "Clip" else {}
                    # fp16: two tensors and two limits are more than SDP has engines.
                    self.run_case([node(op, ["x", "z"], ["s"]), follow], two, limits, steps=1.6, halves=not limits)
        for terms in (["x"], ["x", "z"], ["x", "z", "x"], ["z", "x", "z", "x"]):
            with self.subTest("Sum", terms=terms):
                self.run_case([node("Sum", terms)], {name: two[name] for name in dict.fromkeys(terms)}, steps=0.6 * len(terms) + 0.5)

    def test_a_sum_joins_the_convolution_in_front(self):
        w = self.reals(5, 5, 3, 3, scale=0.1)
        conv = node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1])
        for op, follow in itertools.product(("Add", "Sub", "Mul"), ([], [node("Relu", ["s"])], [node("Clip", ["s", "lo", "hi"])])):
            with self.subTest(op, follow=[f.op_type for f in follow]):
                self.run_case([conv, node(op, ["c", "x"], ["s"] if follow else ["y"]), *follow], None,
                              {"w": w, **({"lo": F(0), "hi": F(2)} if follow and follow[0].op_type == "Clip" else {})}, steps=10)

    def test_quotients(self):
        z = np.sign(self.on_steps(2, 5, 9, 8)) + F(2)
        self.run_case([node("Div", ["x", "z"])], {"x": self.x, "z": z})
        self.run_case([node("Div", ["k", "x"])], {"x": z}, {"k": F(2)})


if __name__ == "__main__":
    onnx_matrix.main(sys.argv)
