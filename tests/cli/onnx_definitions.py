"""The operators of docs/ONNX.md by their definition in ONNX, in double precision: every tensor of a model of python3-onnx.

    values = evaluate(model, {"x": array})        by name; integers of QuantizeLinear as integers

Source  the operator pages of ONNX, all forms of opsets 7 to 18.
"""
import math

import numpy as np
from onnx import helper, numpy_helper

from onnx_reference import Window, sums


def wide(array):
    """Floating point in double precision, integers in 64 bits."""
    array = np.asarray(array)
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


class Node:
    def __init__(self, proto, opset, inputs):
        self.op, self.opset, self.inputs = proto.op_type, opset, inputs
        self.attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def get(self, name, fallback=None):
        value = self.attributes.get(name, fallback)
        return value.decode() if isinstance(value, bytes) else list(value) if isinstance(value, (list, tuple)) or hasattr(value, "extend") else value

    def input(self, i, fallback=None):
        return self.inputs[i] if i < len(self.inputs) and self.inputs[i] is not None else fallback

    def either(self, name, i, fallback=None):
        """An attribute that became an input."""
        given = self.input(i)
        return self.get(name, fallback) if given is None else given


def sides(node, sizes, spans, strides):
    """Padding in front and behind of each direction."""
    rank, how = len(sizes), node.get("auto_pad", "NOTSET")
    if how == "NOTSET":
        pads = node.get("pads", [0] * 2 * rank)
        return list(zip(pads[:rank], pads[rank:]))
    if how == "VALID":
        return [(0, 0)] * rank
    missing = [max((-(-size // stride) - 1) * stride + span - size, 0) for size, span, stride in zip(sizes, spans, strides)]
    return [(m // 2, m - m // 2) if how == "SAME_UPPER" else (m - m // 2, m // 2) for m in missing]


def geometry(node, x, kernel, pads, op="conv2d"):
    """A descriptor as onnx_reference has it; one direction: columns."""
    two = lambda values, fill: ([fill] if len(values) == 1 else []) + list(values)
    kernel, pads = two(kernel, 1), two(pads, (0, 0))
    strides, dilations = (two(node.get(name, [1] * (x.ndim - 2)), 1) for name in ("strides", "dilations"))
    return {"op": op, "kernel": {"height": kernel[0], "width": kernel[1]}, "stride": {"y": strides[0], "x": strides[1]},
            "dilation": {"y": dilations[0], "x": dilations[1]}, "groups": node.get("group", 1),
            "pad": {"top": pads[0][0], "bottom": pads[0][1], "left": pads[1][0], "right": pads[1][1], "value": 0},
            "ceil_mode": node.get("ceil_mode", 0)}


def plane(x):
    return x[:, :, None] if x.ndim == 3 else x


def convolution(node, x, w, bias):
    strides, dilations = (node.get(name, [1] * (x.ndim - 2)) for name in ("strides", "dilations"))
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(w.shape[2:], dilations)]
    layer = geometry(node, x, w.shape[2:], sides(node, x.shape[2:], spans, strides))
    out = sums(plane(x), plane(w), layer)
    out = out if bias is None else out + bias[None, :, None, None]
    return out[:, :, 0] if x.ndim == 3 else out


def transposed_convolution(node, x, w, bias):
    rank, groups = x.ndim - 2, node.get("group", 1)
    strides, dilations, more = (node.get(name, [fill] * rank) for name, fill in (("strides", 1), ("dilations", 1), ("output_padding", 0)))
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(w.shape[2:], dilations)]
    whole = [(size - 1) * stride + span + m for size, stride, span, m in zip(x.shape[2:], strides, spans, more)]
    how = node.get("auto_pad", "NOTSET")
    wanted = node.get("output_shape") or ([size * stride for size, stride in zip(x.shape[2:], strides)] if how.startswith("SAME") else None)
    if wanted:
        cut = [w - o for w, o in zip(whole, wanted)]
        pads = [(c // 2, c - c // 2) if how == "SAME_UPPER" else (c - c // 2, c // 2) for c in cut]
    else:
        pads = sides(node, x.shape[2:], spans, strides)
    layer = geometry(node, x, w.shape[2:], [(0, 0)] * rank, "deconv2d")
    kernels = np.moveaxis(w.reshape(groups, -1, *w.shape[1:]), 1, 2).reshape(-1, w.shape[0] // groups, *w.shape[2:])
    out = sums(plane(x), plane(kernels), layer)
    out = np.pad(out, ((0, 0), (0, 0), *((0, m) for m in ([0] + more if rank == 1 else more))))
    pads = [(0, 0)] + pads if rank == 1 else pads
    out = out[:, :, pads[0][0]:out.shape[2] - pads[0][1], pads[1][0]:out.shape[3] - pads[1][1]]
    out = out if bias is None else out + bias[None, :, None, None]
    return out[:, :, 0] if x.ndim == 3 else out


def pool(node, x):
    if node.op.startswith("Global"):
        return (x.max if node.op == "GlobalMaxPool" else x.mean)(tuple(range(2, x.ndim)), keepdims=True)
    kernel, strides = node.get("kernel_shape"), node.get("strides", [1] * (x.ndim - 2))
    pads = sides(node, x.shape[2:], kernel, strides)
    window = Window(geometry(node, x, kernel, pads), plane(x).shape)
    counted = math.prod(kernel) if node.get("count_include_pad", 0) else None
    if node.op == "MaxPool":
        out = window.apply(plane(x), lambda seen: seen.max((2, 3)))
    else:
        out = window.apply(plane(x), lambda seen: seen.sum((2, 3)) / (counted or seen[0, 0].size))
    return out[:, :, 0] if x.ndim == 3 else out


def normalisation(node, x):
    size = node.get("size")
    total = np.zeros_like(x)
    for c in range(x.shape[1]):
        total[:, c] = (x[:, max(0, c - (size - 1) // 2):c + size // 2 + 1] ** 2).sum(1)
    return x / (node.get("bias", 1.0) + node.get("alpha", 1e-4) / size * total) ** node.get("beta", 0.75)


def softmax(node, x):
    if node.opset < 13:
        axis = node.get("axis", 1) % x.ndim
        return softmax_of(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(x.shape)
    return softmax_of(x, node.get("axis", -1))


def softmax_of(x, axis):
    power = np.exp(x - x.max(axis, keepdims=True))
    return power / power.sum(axis, keepdims=True)


def resized(node, x):
    """Nearest, by whole numbers: every element as often."""
    scales = node.either("scales", 1 if node.op == "Upsample" or len(node.inputs) == 2 else 2)
    if scales is None or len(scales) == 0:
        scales = [out // size for out, size in zip(node.input(3), x.shape)]
    for axis, times in enumerate(scales):
        x = x.repeat(int(times), axis)
    return x


def reshaped(node, x):
    shape = [x.shape[i] if size == 0 and not node.get("allowzero", 0) else int(size) for i, size in enumerate(node.input(1))]
    return x.reshape(shape)


def axes_of(node, rank):
    axes = node.either("axes", 1)
    return None if axes is None else tuple(int(a) % rank for a in axes)


def along(values, rank, axis):
    """Of a scale or a zero point: one, or one a place of the axis."""
    values = np.asarray(values)
    return values if values.size == 1 else values.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def quantise(node, x, scale, zero, axis=1):
    """Division of floats, as the definition has it."""
    low, high = (-128, 127) if zero is not None and zero.dtype == np.int8 else (0, 255)
    steps = x.astype(np.float32) / along(scale, x.ndim, axis).astype(np.float32)
    return np.clip(np.rint(steps) + along(0 if zero is None else wide(zero), x.ndim, axis), low, high).astype(np.int64)


def dequantise(x, scale, zero, axis=1):
    return (wide(x) - along(0 if zero is None else wide(zero), x.ndim, axis)) * along(wide(scale), x.ndim, axis)


def product_of_integers(node):
    x, sx, zx, w, sw, zw, sy, zy = node.inputs[:8]
    convolves = node.op == "QLinearConv"
    axis = 0 if convolves else 1
    a, b = dequantise(x, sx, zx), dequantise(w, sw, zw, axis)
    if not convolves:
        return quantise(node, a @ b, sy, zy)
    bias = node.input(8)
    return quantise(node, convolution(node, a, b, None if bias is None else wide(bias) * wide(sx) * wide(sw)), sy, zy)


def gemm(node, a, b, c=0.0):
    a, b = (a.T if node.get("transA", 0) else a), (b.T if node.get("transB", 0) else b)
    return node.get("alpha", 1.0) * (a @ b) + node.get("beta", 1.0) * c


def batch_normalisation(node, x, scale, bias, mean, variance):
    at = lambda v: along(v, x.ndim, 1)
    return (x - at(mean)) / np.sqrt(at(variance) + node.get("epsilon", 1e-5)) * at(scale) + at(bias)


def sliced(node, x):
    starts, ends = node.either("starts", 1), node.either("ends", 2)
    axes, steps = node.either("axes", 3, list(range(len(starts)))), node.input(4, [1] * len(starts))
    for start, end, axis, step in zip(starts, ends, axes, steps):
        x = x[tuple(slice(int(start), int(end), int(step)) if i == axis % x.ndim else slice(None) for i in range(x.ndim))]
    return x


def elu(x, alpha):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def flatten_axis(node, rank):
    axis = node.get("axis", 1)
    return axis + rank if axis < 0 else axis


def unsqueezed(node, x):
    axes = node.either("axes", 1)
    return np.expand_dims(x, tuple(int(a) for a in axes))


def clipped(node, x):
    return np.minimum(np.maximum(x, node.either("min", 1, -np.inf)), node.either("max", 2, np.inf))


OPERATORS = {
    "Conv": lambda n, x, w, b=None: convolution(n, x, w, b), "ConvTranspose": lambda n, x, w, b=None: transposed_convolution(n, x, w, b),
    "Gemm": gemm, "MatMul": lambda n, a, b: a @ b, "BatchNormalization": batch_normalisation,
    "Add": lambda n, a, b: a + b, "Sub": lambda n, a, b: a - b, "Mul": lambda n, a, b: a * b, "Div": lambda n, a, b: a / b,
    "Sum": lambda n, *terms: sum(terms), "Neg": lambda n, x: -x, "Relu": lambda n, x: np.maximum(x, 0), "Clip": lambda n, x, *limits: clipped(n, x),
    "LeakyRelu": lambda n, x: np.where(x < 0, n.get("alpha", 0.01) * x, x), "PRelu": lambda n, x, s: np.where(x < 0, s * x, x),
    "Sigmoid": lambda n, x: 1 / (1 + np.exp(-x)), "Tanh": lambda n, x: np.tanh(x), "Elu": lambda n, x: elu(x, n.get("alpha", 1.0)),
    "Selu": lambda n, x: n.get("gamma", 1.05070102214813232421875) * elu(x, n.get("alpha", 1.67326319217681884765625)),
    "Softplus": lambda n, x: np.log1p(np.exp(x)), "Softsign": lambda n, x: x / (1 + abs(x)),
    "HardSigmoid": lambda n, x: np.clip(n.get("alpha", 0.2) * x + n.get("beta", 0.5), 0, 1), "HardSwish": lambda n, x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Exp": lambda n, x: np.exp(x), "Log": lambda n, x: np.log(x), "Sqrt": lambda n, x: np.sqrt(x), "Abs": lambda n, x: abs(x),
    "Reciprocal": lambda n, x: 1 / x, "Erf": lambda n, x: np.vectorize(math.erf)(x),
    "MaxPool": pool, "AveragePool": pool, "GlobalMaxPool": pool, "GlobalAveragePool": pool, "LRN": normalisation,
    "ReduceMean": lambda n, x, axes=None: x.mean(axes_of(n, x.ndim), keepdims=bool(n.get("keepdims", 1))),
    "Transpose": lambda n, x: x.transpose(n.get("perm")), "Concat": lambda n, *parts: np.concatenate(parts, n.get("axis")),
    "Resize": lambda n, x, *rest: resized(n, x), "Upsample": lambda n, x, *rest: resized(n, x),
    "Softmax": softmax, "LogSoftmax": lambda n, x: np.log(softmax(n, x)),
    "Identity": lambda n, x: x, "Dropout": lambda n, x, *rest: x, "Cast": lambda n, x: x,
    "Flatten": lambda n, x: x.reshape(math.prod(x.shape[:flatten_axis(n, x.ndim)]), -1), "Reshape": lambda n, x, s: reshaped(n, x),
    "Expand": lambda n, x, s: x * np.ones([int(i) for i in s]),
    "Squeeze": lambda n, x, axes=None: x.squeeze(axes_of(n, x.ndim)), "Unsqueeze": lambda n, x, axes=None: unsqueezed(n, x),
    "QuantizeLinear": lambda n, x, s, z=None: quantise(n, x, s, z, n.get("axis", 1)),
    "DequantizeLinear": lambda n, x, s, z=None: dequantise(x, s, z, n.get("axis", 1)),
    "Shape": lambda n, x: np.array(x.shape), "Gather": lambda n, x, i: np.take(x, i, n.get("axis", 0)), "Slice": lambda n, x, *rest: sliced(n, x),
    "ConstantOfShape": lambda n, s: np.full([int(i) for i in s], 0.0 if n.get("value") is None else numpy_helper.to_array(n.attributes["value"])[0]),
}
KEEP = ("QuantizeLinear", "QLinearConv", "QLinearMatMul")  # the type of the zero point decides


def evaluate(model, inputs):
    opset = model.opset_import[0].version
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer} | dict(inputs)
    for proto in model.graph.node:
        if proto.op_type == "Constant":
            values[proto.output[0]] = numpy_helper.to_array(helper.get_attribute_value(proto.attribute[0]))
            continue
        given = [values[name] if name else None for name in proto.input]
        if proto.op_type not in KEEP:
            given = [None if value is None else wide(value) for value in given]
        node = Node(proto, opset, given)
        made = product_of_integers(node) if proto.op_type.startswith("QLinear") else OPERATORS[proto.op_type](node, *given)
        values[proto.output[0]] = made
    return values
