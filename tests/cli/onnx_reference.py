"""The documented int8 arithmetic in NumPy: what the steps that `dlasim net FILE.onnx --steps` writes make of integers.

    sdp, pooled, normalised, ..       one unit each; x: [images, channels, rows, columns]
    layer                             a descriptor as its JSON says it

Source  docs/ONNX.md, docs/DESCRIPTOR.md; docs/hardware: sdp.md 4, pdp.md 1.2 and 3, cdp.md 3 and 5.2. Nothing of the simulator's.
"""
import math

import numpy as np


def away(x, n):
    """x / 2^n to the nearest, ties away from zero."""
    return x if n == 0 else np.sign(x) * (np.abs(x) + (1 << n - 1) >> n)


def saturated(x, bits):
    return np.clip(x, -1 << bits - 1, (1 << bits - 1) - 1)


def wrapped(x, bits):
    return (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def quantised(values, scale, zero):
    """QuantizeLinear: ties to even; what is no number is the lowest one."""
    q = np.rint(values / scale) + zero
    return np.where(np.isnan(q), -128, np.clip(q, -128, 127)).astype(np.int64)


# ------------------------------------------------------------------------------------------------ the array

def taps(x, layer, kind=np.float64):
    """For each tap of the kernel (r, s): the places of the padded input that it sees, [n, c, rows, columns]."""
    k, stride, dilation, pad = (layer[name] for name in ("kernel", "stride", "dilation", "pad"))
    padded = np.pad(x.astype(kind), ((0, 0), (0, 0), (pad["top"], pad["bottom"]), (pad["left"], pad["right"])), constant_values=pad["value"])
    rows = (padded.shape[2] - (k["height"] - 1) * dilation["y"] - 1) // stride["y"] + 1
    columns = (padded.shape[3] - (k["width"] - 1) * dilation["x"] - 1) // stride["x"] + 1
    for r in range(k["height"]):
        for s in range(k["width"]):
            y, z = r * dilation["y"], s * dilation["x"]
            yield r, s, padded[:, :, y:y + (rows - 1) * stride["y"] + 1:stride["y"], z:z + (columns - 1) * stride["x"] + 1:stride["x"]]


def products(weights, part, groups):
    """[kernels, channels / groups] times [n, channels, rows, columns], group by group."""
    n, c, h, w = part.shape
    grouped = part.reshape(n, groups, c // groups, h * w)
    kernels = weights.astype(part.dtype).reshape(groups, -1, c // groups)
    return np.matmul(kernels[None], grouped).reshape(n, -1, h, w)


def convolved(x, weights, layer):
    """Sums below 2^53 are exact in double precision."""
    return sum(products(weights[:, :, r, s], part, layer["groups"]) for r, s, part in taps(x, layer))


def deconvolved(x, weights, layer):
    stride, dilation, pad = layer["stride"], layer["dilation"], layer["pad"]
    n, _, h, w = x.shape
    k, _, rows, columns = weights.shape
    full = np.zeros((n, k, (h - 1) * stride["y"] + (rows - 1) * dilation["y"] + 1, (w - 1) * stride["x"] + (columns - 1) * dilation["x"] + 1))
    for r in range(rows):
        for s in range(columns):
            y, z = r * dilation["y"], s * dilation["x"]
            full[:, :, y:y + (h - 1) * stride["y"] + 1:stride["y"], z:z + (w - 1) * stride["x"] + 1:stride["x"]] += \
                products(weights[:, :, r, s], x.astype(np.float64), layer["groups"])
    return full[:, :, pad["top"]:full.shape[2] - pad["bottom"], pad["left"]:full.shape[3] - pad["right"]]


def sums(x, weights, layer):
    if layer["op"] == "deconv2d":
        return deconvolved(x, weights, layer)
    if layer["op"] == "fully_connected":
        return (x.reshape(len(x), -1).astype(np.float64) @ weights.reshape(len(weights), -1).T.astype(np.float64))[:, :, None, None]
    return convolved(x, weights, layer)


# ------------------------------------------------------------------------------------------------ SDP

def engines(layer):
    """BS, BN and EW as objects, `bias` and `activation` written out."""
    post = layer["post"]
    bs, bn, ew = (dict(post.get(name, {})) for name in ("bs", "bn", "ew"))
    if layer.get("bias"):
        bs["alu"] = {"op": "sum", "per": "kernel", "shift": layer["bias"].get("shift", 0) if isinstance(layer["bias"], dict) else 0}
    if layer.get("activation", "none") == "relu":
        (bn if "bn" in post else bs)["relu"] = True
    return bs, bn, ew


class Operands:
    """Of a layer: `element` is what SDP reads beside."""

    def __init__(self, folder, data, element):
        self.folder, self.data, self.element = folder, data, element

    def __call__(self, operand, key):
        if operand["per"] == "layer":
            return operand["value"]
        if operand["per"] == "element":
            return self.element
        values = np.load(self.folder / self.data[key])
        return values.astype(np.float64 if values.dtype.kind == "f" else np.int64)[None, :, None, None]


FUNCTIONS = {"sum": np.add, "max": np.maximum, "min": np.minimum}


def point_engine(x, engine, name, operands):
    """sdp.md 4.1."""
    kept = np.zeros(x.shape, bool)
    if "alu" in engine:
        alu = engine["alu"]
        operand = saturated(np.asarray(operands(alu, name + "_alu"), np.int64) << alu["shift"], 32)
        x = FUNCTIONS[alu["op"]](x, operand)
    if "mul" in engine:
        kept = (x >= 0) & engine["mul"].get("prelu", False)
        x = np.where(kept, x, x * operands(engine["mul"], name + "_mul"))
    x = np.where(kept, wrapped(x, 32), saturated(away(x, engine.get("shift", 0)), 32))
    return np.maximum(x, 0) if engine.get("relu") else x


def converted(x, output):
    """sdp.md 4.2, to int8."""
    return saturated(saturated(away((x - output["offset"]) * output["scale"], output["shift"]), 17), 8)


def place_in_table(x, table, last):
    """sdp.md 4.5: underflow, overflow, entry and what is behind it in 2^-35."""
    under = x <= table["start"]
    d = np.where(under, 1, x - table["start"])
    octave = np.floor(np.log2(d)).astype(np.int64)
    if table.get("function") == "exponential":
        place, fraction = octave - table["index_offset"], (d - (1 << octave)) << (35 - octave)
        under = under | (place < 0)
    else:
        q = table["index_select"]
        place = d >> q if q >= 0 else d << -q
        fraction = (d % (1 << q)) << (35 - q) if q > 0 else np.zeros_like(d)
    over = ~under & (place >= last)
    return under, over, np.where(under, 0, np.where(over, last, place)), np.where(under | over, 0, fraction)


def looked_up(x, lut):
    made = {}
    for name, last in (("le", 64), ("lo", 256)):
        table = lut[name]
        under, over, place, fraction = place_in_table(x, table, last)
        entries = np.array(table["entries"], np.int64)
        first, second = entries[place], entries[np.minimum(place + 1, last)]
        value = away(first * ((1 << 35) - fraction) + second * fraction, 35)
        for flow, end, key in ((under, "start", "underflow"), (over, "end", "overflow")):
            assert table[key]["scale"] == 0 or not flow.any(), "slopes"
            value = np.where(flow, first, value)
        made[name] = under, over, saturated(value, 32)
    (le_under, le_over, le), (lo_under, lo_over, lo) = made["le"], made["lo"]
    le_hits, lo_hits = ~(le_under | le_over), ~(lo_under | lo_over)
    priority = {key: name == "lo" for key, name in lut["priority"].items()}
    by_priority = np.where(le_under & lo_under, priority["underflow"], np.where(le_over & lo_over, priority["overflow"], priority["hybrid"]))
    return np.where(np.where(le_hits == lo_hits, by_priority, lo_hits), lo, le)


def element_engine(x, engine):
    """sdp.md 4.4; models have a table there, nothing else."""
    assert "alu" not in engine and "mul" not in engine, engine
    return looked_up(x, engine["lut"]) if "lut" in engine else x


def sdp(x, layer, operands):
    bs, bn, ew = engines(layer)
    for name, engine in (("bs", bs), ("bn", bn)):
        x = point_engine(x, engine, name, operands)
    return converted(element_engine(x, ew), layer["post"]["output"])


# ------------------------------------------------------------------------------------------------ PDP

class Window:
    """Of a layer's `pool`: where it begins and ends, in rows and columns."""

    def __init__(self, pool, shape):
        self.kernel = pool["kernel"]["height"], pool["kernel"]["width"]
        self.stride = pool["stride"]["y"], pool["stride"]["x"]
        self.before = pool["pad"]["top"], pool["pad"]["left"]
        self.size = shape[2:]
        self.counts = [self.count(i, (pool["pad"]["bottom"], pool["pad"]["right"])[i], pool.get("ceil_mode", 0)) for i in (0, 1)]

    def count(self, i, after, ceil):
        way = self.size[i] + self.before[i] + after - self.kernel[i]
        count = (-(-way // self.stride[i]) if ceil else way // self.stride[i]) + 1
        return count - 1 if ceil and (count - 1) * self.stride[i] >= self.size[i] + self.before[i] else count

    def seen(self, i, place):
        begin = place * self.stride[i] - self.before[i]
        return slice(max(begin, 0), min(begin + self.kernel[i], self.size[i]))

    def apply(self, x, function):
        """`function` of what each window sees: [n, c, rows, columns] and how many of both."""
        out = [[function(x[:, :, self.seen(0, y), self.seen(1, z)]) for z in range(self.counts[1])] for y in range(self.counts[0])]
        return np.moveaxis(np.array(out), (0, 1), (2, 3))


def pooled(x, pool):
    """pdp.md 3. Averages: the missing elements count with the pad value, then two reciprocals of 16 bits."""
    window = Window(pool, x.shape)
    if pool["function"] != "average":
        return window.apply(x, lambda seen: (seen.max if pool["function"] == "max" else seen.min)((2, 3)))
    height, width = window.kernel
    value = pool["pad"].get("value", 0)

    def total(seen):
        rows, columns = seen.shape[2:]
        of_rows = wrapped(seen.sum(3) + (width - columns) * value, 11)
        return wrapped(of_rows.sum(2) + (height - rows) * value * width, 15)

    def reciprocal(size):
        return 65536 // size

    of_columns = wrapped(away(window.apply(x, total) * reciprocal(width), 16), 11)
    return wrapped(away(of_columns * reciprocal(height), 16), 8)


# ------------------------------------------------------------------------------------------------ CDP

def normalised(x, lrn):
    """cdp.md 3, with the tables of 5.2."""
    size, step = lrn["size"], lrn["alpha"] / lrn["size"] * lrn["input_scale"] ** 2
    fraction = 15

    def function(total):
        return (lrn["bias"] + step * total) ** -lrn["beta"]

    def entry(total):
        return min(math.floor(function(total) * 2.0 ** fraction + 0.5), 32767)

    while lrn["bias"] < 1 and function(0) * 2.0 ** fraction >= 32767.5:
        fraction -= 1
    select = math.ceil(math.log2(size * 128 ** 2 / 256))
    lo = np.array([entry(i * 2.0 ** select) for i in range(257)])
    le = np.array([entry(2.0 ** i) for i in range(65)])
    total = np.zeros_like(x)
    for shift in range(-(size // 2), size // 2 + 1):
        channels = np.arange(x.shape[1]) + shift
        there = (channels >= 0) & (channels < x.shape[1])
        total[:, there] += x[:, channels[there]] ** 2
    octave = np.floor(np.log2(np.maximum(total, 1))).astype(np.int64)
    in_octave = (total - (1 << octave) << 16) >> octave
    place, in_place = total >> select, (total & (1 << select) - 1) << 16 >> select
    far = place >= 256
    first = np.where(far, le[octave], lo[np.minimum(place, 256)])
    second = np.where(far, le[octave + 1], lo[np.minimum(place + 1, 256)])
    found = saturated(first + away((second - first) * np.where(far, in_octave, in_place), 16), 16)
    ratio = lrn["input_scale"] / (lrn["output_scale"] * 2.0 ** fraction)
    shift = math.floor(math.log2(32767 / ratio))
    return saturated(away(found * x * round(ratio * 2.0 ** shift), shift), 8)
