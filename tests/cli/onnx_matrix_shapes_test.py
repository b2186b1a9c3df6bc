#!/usr/bin/env python3
"""Every combination of attributes that docs/ONNX.md has, of pooling, of normalisation and of what moves elements or folds constants.

usage: onnx_matrix_shapes_test.py DLASIM [Windows | Shapes | Resizing | Folding]

What a case is held to: onnx_matrix.py.
"""
import itertools
import sys

import numpy as np

import onnx_matrix
from onnx_matrix import F, Matrix, node
from onnx import numpy_helper


class Windows(Matrix):
    def windows(self, **attributes):
        self.one("MaxPool", **attributes)
        self.one("AveragePool", **attributes)
        if not attributes.get("ceil_mode"):
            self.one("AveragePool", count_include_pad=1, **attributes)

    def test_kernels_strides_and_padding(self):
        for i, (kernel, stride) in enumerate(itertools.product(((2, 2), (3, 3), (1, 3), (3, 2), (5, 4)), ((1, 1), (2, 2), (1, 2), (3, 4)))):
            pads = ([0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 1, 0, 1])[i % 4]
            if kernel[1] == 1:
                pads = [0] * 4
            self.windows(kernel_shape=list(kernel), strides=list(stride), pads=pads, ceil_mode=i % 2)

    def test_all_sides(self):
        for pads in ([1, 1, 1, 1], [2, 0, 1, 2], [0, 2, 2, 0]):
            self.windows(kernel_shape=[3, 3], strides=[2, 2], pads=pads)
            self.one("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=pads, ceil_mode=1)
            self.one("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=pads, ceil_mode=1)

    def test_padding_by_itself(self):
        for how, stride in itertools.product(("SAME_UPPER", "SAME_LOWER", "VALID"), ((1, 1), (2, 2), (3, 2))):
            self.windows(kernel_shape=[3, 2], strides=list(stride), auto_pad=how)

    def test_one_direction_and_large_windows(self):
        self.windows(kernel_shape=[3], strides=[2], pads=[1, 1], x=self.on_steps(2, 5, 20))
        self.windows(kernel_shape=[8, 8], pads=[4, 4, 4, 4])
        self.windows(kernel_shape=[9, 8])
        self.windows(kernel_shape=[2, 2], strides=[9, 1], x=self.on_steps(1, 4, 20, 6))

    def test_whole_planes(self):
        for op in ("GlobalMaxPool", "GlobalAveragePool"):
            for shape in ((2, 5, 9, 8), (2, 12, 7, 7), (1, 9, 1, 1), (2, 5, 20), (1, 4, 40, 3)):
                self.one(op, x=self.on_steps(*shape))
        for keep, axes in itertools.product((0, 1), ([2, 3], [3, 2], [-1, -2])):
            self.one("ReduceMean", axes=axes, keepdims=keep)
            self.one("ReduceMean", {"axes": np.array(axes)}, opset=18, keepdims=keep)
        self.one("ReduceMean", x=self.on_steps(2, 5, 20), axes=[2])

    def test_behind_a_convolution(self):
        w = self.reals(8, 5, 3, 3, scale=0.2)
        for follow in (node("MaxPool", ["r"], kernel_shape=[2, 2], strides=[2, 2]), node("AveragePool", ["r"], kernel_shape=[2, 2], strides=[2, 2]),
                       node("MaxPool", ["r"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), node("GlobalAveragePool", ["r"])):
            with self.subTest(follow.op_type):
                self.run_case([node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]), follow], None, {"w": w}, steps=4)

    def test_normalisation_across_channels(self):
        x = self.on_steps(1, 12, 4, 4)
        for size in (3, 5, 7, 9):
            self.one("LRN", x=x, steps=2.2, size=size, half_near=2e-2)
        for alpha, beta, bias in ((0.01, 0.75, 1.0), (1.0, 0.5, 2.0), (0.1, 1.0, 0.5), (1e-4, 0.75, 2.0)):
            self.one("LRN", x=x, steps=2.5, size=5, alpha=alpha, beta=beta, bias=bias, half_near=2e-2)
        self.refused("4", [node("LRN", ["x"], size=4)], {"x": x})

    def test_what_the_hardware_has_not_is_refused(self):
        self.refused("dilation", [node("MaxPool", ["x"], kernel_shape=[2, 2], dilations=[2, 2])])
        self.refused("storage_order", [node("MaxPool", ["x"], kernel_shape=[2, 2], storage_order=1)])
        self.refused("64", [node("MaxPool", ["x"], kernel_shape=[65, 1])], {"x": self.on_steps(1, 1, 70, 2)})
        self.refused("beyond the padding", [node("AveragePool", ["x"], kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1, count_include_pad=1, pads=[0, 1, 0, 0])])


class Shapes(Matrix):
    def test_flatten(self):
        for axis in (1, -3):
            self.one("Flatten", axis=axis)
        self.one("Flatten", x=self.on_steps(2, 40), axis=1)

    def test_reshape(self):
        for shape in ([0, -1], [0, 9, 40], [0, 0, -1], [0, 8, 9, 5], [0, 5, 72], [0, 1, 5, 9, 8]):
            self.one("Reshape", {"s": np.array(shape)})

    def test_reshape_in_front_of_others(self):
        self.run_case([node("Reshape", ["x", "s"], ["r"]), node("Conv", ["r", "w"])], None, {"s": np.array([0, 4, 10, 9]), "w": self.reals(3, 4, 1, 1)}, steps=4)
        self.run_case([node("Relu", ["x"], ["a"]), node("Reshape", ["a", "s"], ["r"]), node("MaxPool", ["r"], kernel_shape=[2, 2])], None,
                      {"s": np.array([0, 10, 6, 6])})

    def test_axes_of_one(self):
        pool = node("GlobalAveragePool", ["x"], ["g"])
        for axes in ([2, 3], [3], [-1, -2], [2]):
            self.run_case([pool, node("Squeeze", ["g"], axes=axes)], opset=11)
            self.run_case([pool, node("Squeeze", ["g", "a"])], None, {"a": np.array(axes)})
        for axes in ([1], [4], [-1], [1, 3]):
            self.one("Unsqueeze", opset=11, axes=axes)
            self.one("Unsqueeze", {"a": np.array(axes)})

    def test_repetitions(self):
        for shape, wanted in (((2, 5, 1, 8), (1, 5, 9, 8)), ((2, 1, 9, 8), (1, 5, 1, 1)), ((2, 5, 1, 1), (1, 1, 3, 4)), ((2, 1, 1, 1), (1, 6, 2, 3))):
            self.one("Expand", {"s": np.array(wanted)}, x=self.on_steps(*shape))

    def test_what_changes_nothing(self):
        for opset in (7, 10):
            self.one("Dropout", opset=opset, ratio=0.3)
        self.one("Dropout", opset=12)
        self.one("Dropout", {"ratio": F(0.3), "training": np.array(False)}, opset=13)
        self.one("Identity")
        self.one("Cast", to=1)
        self.run_case([node("Relu", ["x"], ["a"]), node("Identity", ["a"], ["b"]), node("Dropout", ["b"], ["d"]), node("Conv", ["d", "w"])], None,
                      {"w": self.reals(4, 5, 1, 1)}, steps=4)

    def test_transpositions(self):
        for rest in itertools.permutations((1, 2, 3)):
            self.one("Transpose", perm=[0, *rest])
        self.one("Transpose", x=self.on_steps(2, 6, 15), perm=[0, 2, 1])
        w = self.reals(4, 9, 3, 3, scale=0.2)
        self.run_case([node("Relu", ["x"], ["a"]), node("Transpose", ["a"], ["t"], perm=[0, 2, 3, 1]), node("Conv", ["t", "w"], ["c"], pads=[1] * 4),
                       node("Transpose", ["c"], perm=[0, 3, 1, 2])], None, {"w": w}, steps=4)

    def test_concatenations(self):
        z, w = self.on_steps(2, 3, 9, 8, scale=0.02), self.reals(4, 8, 1, 1)
        both = {"x": self.x, "z": z}
        for nodes in ([node("Concat", ["x", "z"], axis=1)], [node("Concat", ["z", "x"], axis=-3)], [node("Concat", ["x"], axis=1)],
                      [node("Concat", ["x", "z"], ["c"], axis=1), node("Conv", ["c", "w"])],
                      [node("Relu", ["x"], ["a"]), node("Neg", ["z"], ["b"]), node("Concat", ["a", "b"], ["c"], axis=1), node("Conv", ["c", "w"])],
                      [node("Relu", ["x"], ["a"]), node("Concat", ["a", "x", "a"], axis=1)]):
            with self.subTest([n.op_type for n in nodes]):
                used = {name for n in nodes for name in n.input}
                self.run_case(nodes, {name: value for name, value in both.items() if name in used}, {"w": w} if "w" in used else {}, steps=4)
        self.run_case([node("Concat", ["x", "z"], axis=2)], {"x": self.x, "z": self.on_steps(2, 5, 3, 8)}, steps=4)


class Resizing(Matrix):
    WHOLE = ({"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, {})

    def test_scales_and_sizes(self):
        for times, keys in itertools.product(((2, 2), (1, 3), (8, 1), (4, 5)), self.WHOLE):
            scales, sizes = np.array([1, 1, *times], F), np.array([2, 5, 9 * times[0], 8 * times[1]])
            with self.subTest(times=times, keys=keys):
                self.run_case([node("Resize", ["x", "", "s"], mode="nearest", **keys)], None, {"s": scales})
                self.run_case([node("Resize", ["x", "", "", "s"], mode="nearest", **keys)], None, {"s": sizes})
                self.run_case([node("Resize", ["x", "r", "s"], mode="nearest", **keys)], None, {"r": np.array([], F), "s": scales}, 11)

    def test_older_forms(self):
        scales = np.array([1, 1, 2, 3], F)
        self.one("Resize", {"s": scales}, opset=10, mode="nearest")
        self.one("Upsample", {"s": scales}, opset=9, mode="nearest")
        self.one("Upsample", opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])

    def test_coordinates(self):
        scales = np.array([1, 1, 2, 2], F)
        for how, nearest in itertools.product(("half_pixel", "pytorch_half_pixel", "asymmetric"), ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")):
            repeats = (how != "asymmetric" and nearest.startswith("round")) or (how == "asymmetric" and nearest in ("floor", "round_prefer_floor"))
            nodes = [node("Resize", ["x", "", "s"], mode="nearest", coordinate_transformation_mode=how, nearest_mode=nearest)]
            with self.subTest(how=how, nearest=nearest):
                if repeats:
                    self.run_case(nodes, None, {"s": scales})

    def test_between_convolutions(self):
        constants = {"w": self.reals(6, 5, 3, 3, scale=0.2), "v": self.reals(3, 6, 1, 1), "s": np.array([1, 1, 2, 2], F)}
        self.run_case([node("Conv", ["x", "w"], ["c"], pads=[1] * 4), node("Resize", ["c", "", "s"], ["r"], mode="nearest"), node("Conv", ["r", "v"])], None, constants,
                      steps=6)

    def test_what_no_unit_does_is_refused(self):
        self.refused("area", [node("Resize", ["x", "", "s"], mode="area")], None, {"s": np.array([1, 1, 2, 2], F)})
        for scales in ([1, 1, 0.01, 1], [1, 1, 9000, 1]):
            self.refused("makes a dimension", [node("Resize", ["x", "", "s"], mode="nearest")], None, {"s": np.array(scales, F)})


class Folding(Matrix):
    """Operators on constants are computed when the file is read."""

    def test_shapes_of_exported_models(self):
        one, two = np.array([0]), np.array([-1])
        keep = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "first"], ["batch"], axis=0), node("Concat", ["batch", "rest"], ["to"], axis=0),
                node("Reshape", ["x", "to"])]
        self.run_case(keep, None, {"first": one, "rest": two}, halves=False)
        last = [node("Shape", ["x"], ["shape"]), node("Slice", ["shape", "from", "until"], ["rest"]), node("Concat", ["zero", "rest"], ["to"], axis=0),
                node("Reshape", ["x", "to"])]
        self.run_case(last, None, {"from": np.array([1]), "until": np.array([4]), "zero": one})
        grown = [node("Shape", ["x"], ["shape"]), node("Cast", ["shape"], ["real"], to=1), node("Slice", ["real", "from", "until"], ["sides"]),
                 node("Mul", ["sides", "two"], ["twice"]), node("Cast", ["twice"], ["whole"], to=7), node("Slice", ["shape", "begin", "from"], ["front"]),
                 node("Concat", ["front", "whole"], ["sizes"], axis=0), node("Resize", ["x", "", "", "sizes"], mode="nearest")]
        self.run_case(grown, None, {"from": np.array([2]), "until": np.array([4]), "begin": one, "two": F(2)}, halves=False)

    def test_weights_are_computed(self):
        w = self.reals(3, 3, 4, 5)
        value = numpy_helper.from_array(np.array([0.5], F))
        nodes = [node("Transpose", ["w"], ["t"], perm=[2, 3, 0, 1]), node("Add", ["t", "k"], ["a"]), node("ConstantOfShape", ["shape"], ["half"], value=value),
                 node("Mul", ["a", "half"], ["m"]), node("Reshape", ["m", "to"], ["r"]), node("Constant", [], ["b"], value=numpy_helper.from_array(self.reals(4))),
                 node("Conv", ["x", "r", "b"])]
        self.run_case(nodes, None, {"w": w, "k": F(0.1), "shape": np.array([1, 5, 1, 1]), "to": np.array([4, 5, 3, 3])}, steps=4)

    def test_arithmetic_of_constants(self):
        for op in ("Add", "Sub", "Mul", "Div"):
            with self.subTest(op):
                self.run_case([node(op, ["a", "b"], ["k"]), node("Add", ["x", "k"])], None, {"a": self.reals(5, 1, 1), "b": abs(self.reals(5, 1, 1)) + F(0.5)})


if __name__ == "__main__":
    onnx_matrix.main(sys.argv)
