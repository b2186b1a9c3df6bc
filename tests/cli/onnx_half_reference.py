"""fp16: every step in double precision from what the machine had before it, with a bound of what the documented rounding may add.

    problems = half_problems(Steps(folder), tensors)      tensors: by name, fp16 [images, channels, rows, columns]

Bounds, relative to magnitudes    source
array       2^-13 of the products: 64 lanes, each cut below 2^-19 of the largest     cmac.md 4.4; cacc.md 4.2 keeps 38 bits
SDP         2^-22 of what an operation reads: fp32                                   sdp.md 4.3
averages    2^-10 for each addition and each product: fp17                           pdp.md 3
LRN         2^-7: between the entries of the tables, 11 bits each                    cdp.md 3.4, 5.2
to memory   half a step of fp16; beyond 65504 it is 65504                            sdp.md 4.3
What moves elements, maxima and the host's functions are equal.
"""
import numpy as np

from onnx_reference import Operands, Window, engines, sums
from onnx_steps import HOST_FUNCTIONS, computed

ARRAY, SINGLE, AVERAGE, TABLE = 2.0 ** -13, 2.0 ** -22, 2.0 ** -10, 2.0 ** -7
MOST = 65504.0


def half(x):
    """The nearest fp16, ties to even, no infinity."""
    return np.clip(x, -MOST, MOST).astype(np.float16).astype(np.float64)


def fp16_step(x):
    """The distance of fp16 numbers at x."""
    return 2.0 ** (np.floor(np.log2(np.maximum(np.abs(x), 2.0 ** -14))) - 10)


class Bounded:
    """A number and how far the machine's may be from it."""

    def __init__(self, value, error):
        self.value, self.error = value, error

    def rounded(self, by):
        return Bounded(self.value, self.error + by * (np.abs(self.value) + self.error))


def point_engine(x, engine, name, operands):
    if "alu" in engine:
        operand = np.asarray(operands(engine["alu"], name + "_alu"), np.float64)
        if engine["alu"]["op"] == "sum":
            x = Bounded(x.value + operand, x.error + SINGLE * (np.abs(x.value) + np.abs(operand)))
        else:
            x = Bounded({"max": np.maximum, "min": np.minimum}[engine["alu"]["op"]](x.value, operand), x.error)
    if "mul" in engine:
        operand = np.asarray(operands(engine["mul"], name + "_mul"), np.float64)
        product = Bounded(x.value * operand, x.error * np.abs(operand)).rounded(SINGLE)
        if engine["mul"].get("prelu"):  # near 0 either side may be taken
            x = Bounded(np.where(x.value >= 0, x.value, product.value), np.maximum(x.error, product.error))
        else:
            x = product
    return Bounded(np.maximum(x.value, 0), x.error) if engine.get("relu") else x


def average(x, pool):
    window = Window(pool, x.value.shape)
    size = window.kernel[0] * window.kernel[1]
    mean = lambda v: window.apply(v, lambda seen: seen.sum((2, 3))) / size
    return Bounded(mean(x.value), mean(x.error) + AVERAGE * (sum(window.kernel) + 2) * mean(np.abs(x.value) + x.error))


def pooled(x, pool):
    """Of what stands in memory, or comes from SDP as fp16."""
    if pool["function"] == "average":
        return average(x, pool)
    window = Window(pool, x.value.shape)
    largest = (lambda seen: seen.max((2, 3))) if pool["function"] == "max" else (lambda seen: seen.min((2, 3)))
    return Bounded(window.apply(x.value, largest), window.apply(x.error, lambda seen: seen.max((2, 3))))


def normalised(x, lrn):
    total = np.zeros_like(x)
    for shift in range(-(lrn["size"] // 2), lrn["size"] // 2 + 1):
        channels = np.arange(x.shape[1]) + shift
        there = (channels >= 0) & (channels < x.shape[1])
        total[:, there] += x[:, channels[there]] ** 2
    return Bounded(x * (lrn["bias"] + lrn["alpha"] / lrn["size"] * total) ** -lrn["beta"], np.zeros_like(x)).rounded(TABLE)


def to_half(x):
    step = fp16_step(np.abs(x.value) + x.error)
    return Bounded(np.clip(x.value, -MOST, MOST), x.error + step / 2)


def host(steps, step, inputs):
    x, op = inputs[0], step["op"]
    if op == "function":
        f = step["function"]
        return half(np.vectorize(lambda v: float(HOST_FUNCTIONS[f["name"]](v, f["alpha"], f["beta"])), otypes=[float])(x))
    if op == "softmax":
        powers = np.exp(x - x.max(1, keepdims=True))
        return half(powers / powers.sum(1, keepdims=True))
    if op == "pool" and step["pool"]["function"] == "average":
        window = Window(step["pool"], x.shape)
        whole = window.kernel[0] * window.kernel[1]
        return half(window.apply(x, lambda seen: seen.sum((2, 3)) / (seen[0, 0].size if step["exclusive"] else whole)))
    if op == "compute":
        return half(computed(step["compute"], x, inputs[-1])).reshape(len(x), *steps.tensors[step["output"]]["shape"])
    return steps.moved(step, inputs)


def of_step(steps, step, inputs):
    x = inputs[0]
    layer = steps.layers[step["name"]]
    if layer["op"] == "lrn":
        return to_half(normalised(x, layer["lrn"]))
    if layer["op"] == "pool":
        made = pooled(Bounded(x, np.zeros_like(x)), layer["pool"])
        return made if layer["pool"]["function"] != "average" else to_half(made)
    value = Bounded(x, np.zeros_like(x))
    if layer["op"] != "sdp":
        weights = np.load(steps.folder / layer["data"]["weights"]).astype(np.float64)
        value = Bounded(sums(x, weights, layer), ARRAY * sums(np.abs(x), np.abs(weights), layer))
    operands = Operands(steps.folder, layer["data"], inputs[-1])
    bs, bn, ew = engines(layer)
    for name, engine in (("bs", bs), ("bn", bn), ("ew", ew)):
        value = point_engine(value, engine, name, operands)
    value = to_half(value)
    if "pool" not in layer["post"]:
        return value
    value = pooled(value, layer["post"]["pool"])
    return value if layer["post"]["pool"]["function"] != "average" else to_half(value)


def half_problems(steps, tensors):
    """Steps whose tensor is not what its inputs make, and by how much of the bound."""
    real = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    steps.join(real)
    problems = []
    for step in steps.file["steps"]:
        inputs, out = [real[name] for name in step["inputs"]], real[step["output"]]
        if "layer" not in step:
            if not np.array_equal(host(steps, step, inputs), out):
                problems.append(f"{step['name']}: {np.abs(host(steps, step, inputs) - out).max()} from what the host makes")
            continue
        made = of_step(steps, step, inputs)
        if made.value.shape != out.shape:
            problems.append(f"{step['name']}: {out.shape}, expected {made.value.shape}")
            continue
        beyond = np.abs(made.value - out) - made.error
        if beyond.max() > 0:
            at = np.unravel_index(beyond.argmax(), beyond.shape)
            problems.append(f"{step['name']}: {out[at]} at {at}, expected {made.value[at]} within {made.error[at]}")
    return problems
