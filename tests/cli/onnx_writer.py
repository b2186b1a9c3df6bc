"""Writes ONNX files without a library: the few messages of onnx.proto that tests need.

    save(path, [node("Conv", ["x", "w"], ["y"], strides=[2, 2])], {"w": array}, {"x": [None, 3, 8, 8]}, {"y": None})
"""
import struct

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float16": 10, "float64": 11}


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def whole(number, value):
    return varint(number << 3) + varint(value)


def data(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, array):
    array = np.asarray(array)
    out = b"".join(whole(1, size) for size in array.shape) + whole(2, TYPES[array.dtype.name])
    return out + data(8, name) + data(9, np.ascontiguousarray(array).tobytes())


def attribute(name, value):
    out = data(1, name)
    if isinstance(value, np.ndarray):
        return out + data(5, tensor("", value)) + whole(20, 4)
    if isinstance(value, str):
        return out + data(4, value) + whole(20, 3)
    if isinstance(value, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", value) + whole(20, 1)
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], float):
            return out + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + whole(20, 6)
        return out + b"".join(whole(8, v) for v in value) + whole(20, 7)
    return out + whole(3, value) + whole(20, 2)


def node(op, inputs, outputs, name=None, domain="", **attributes):
    out = b"".join(data(1, i) for i in inputs) + b"".join(data(2, o) for o in outputs)
    out += data(3, name if name is not None else outputs[0]) + data(4, op)
    out += b"".join(data(5, attribute(key, value)) for key, value in attributes.items())
    return out + (data(7, domain) if domain else b"")


def port(name, shape, kind):
    dimensions = b"" if shape is None else data(2, b"".join(data(1, data(2, "N") if size is None else whole(1, size)) for size in shape))
    return data(1, name) + data(2, data(1, whole(1, TYPES[kind]) + dimensions))


def model(nodes, constants, inputs, outputs, opset=13):
    """inputs, outputs: name to shape, or to (shape, dtype name). None in a shape: no number."""
    def ports(number, table):
        for name, shape in table.items():
            shape, kind = shape if isinstance(shape, tuple) else (shape, "float32")
            yield data(number, port(name, shape, kind))

    graph = b"".join(data(1, n) for n in nodes) + data(2, "test")
    graph += b"".join(data(5, tensor(name, array)) for name, array in constants.items())
    graph += b"".join(ports(11, inputs)) + b"".join(ports(12, outputs))
    return whole(1, 7) + data(7, graph) + data(8, data(1, "") + whole(2, opset))


def save(path, *arguments, **keys):
    with open(path, "wb") as file:
        file.write(model(*arguments, **keys))
