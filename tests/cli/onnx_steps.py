"""The graph of steps that `dlasim net FILE.onnx --steps` writes, computed in NumPy with onnx_reference.py.

    steps = Steps("out/steps")
    tensors = steps.run({"x": integers})          by name, [images, channels, rows, columns]; uint8 with 128 less
    steps.check(tensors, folder, parameters)      the numbers that were chosen are those that docs/ONNX.md says
"""
import json
import math
from pathlib import Path

import numpy as np

from onnx_reference import Operands, Window, engines, normalised, pooled, quantised, sdp, sums


def exponential(x, alpha):
    return x if x >= 0 else alpha * math.expm1(x)


# The definitions of ONNX; a, b: the parameters of the step.
HOST_FUNCTIONS = {
    "Sigmoid": lambda x, a, b: 1 / (1 + math.exp(-x)), "Tanh": lambda x, a, b: math.tanh(x), "Elu": lambda x, a, b: exponential(x, a),
    "Selu": lambda x, a, b: b * exponential(x, a), "Softplus": lambda x, a, b: math.log1p(math.exp(-abs(x))) + max(x, 0),
    "Softsign": lambda x, a, b: x / (1 + abs(x)), "HardSigmoid": lambda x, a, b: min(max(a * x + b, 0), 1),
    "HardSwish": lambda x, a, b: x * min(max(x / 6 + 0.5, 0), 1), "Exp": lambda x, a, b: math.exp(x),
    "Log": lambda x, a, b: math.log(x) if x > 0 else -math.inf if x == 0 else math.nan,
    "Sqrt": lambda x, a, b: math.sqrt(x) if x >= 0 else math.nan, "Abs": lambda x, a, b: abs(x),
    "Reciprocal": lambda x, a, b: 1 / x if x != 0 else math.inf, "Erf": lambda x, a, b: math.erf(x)}


def computed(how, a, b):
    """What the host computes of whole tensors, in real numbers: docs/ONNX.md."""
    outer, rows, count, inner, columns = how["sizes"]
    name, images = how["name"], len(a)
    if name == "matmul":
        return a.reshape(images, outer, rows, count) @ b.reshape(images, outer, count, columns)
    if name in ("divide", "maximum", "minimum"):
        return {"divide": np.divide, "maximum": np.maximum, "minimum": np.minimum}[name](a, b)
    lines = a.reshape(images, outer, count, inner)
    if name == "mean":
        return lines.mean(2)
    assert name == "normalise", name
    return (lines - lines.mean(2, keepdims=True)) / np.sqrt(lines.var(2, keepdims=True) + how["epsilon"])


class Steps:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.file = json.loads((self.folder / "steps.json").read_text())
        self.tensors = {tensor["name"]: tensor for tensor in self.file["tensors"]}
        self.layers = {step["name"]: json.loads((self.folder / step["layer"]).read_text()) for step in self.file["steps"] if "layer" in step}

    def grid(self, name):
        return self.tensors[name]["scale"], self.tensors[name]["zero_point"]

    def run(self, inputs):
        made = {name: np.asarray(x, np.int64) for name, x in inputs.items()}
        for step in self.file["steps"]:
            self.join(made)
            made[step["output"]] = self.step(step, [made[name] for name in step["inputs"]])
        self.join(made)
        return made

    def join(self, made):
        for whole in self.file["concatenations"]:
            if whole["output"] not in made and all(part in made for part in whole["inputs"]):
                made[whole["output"]] = np.concatenate([made[part] for part in whole["inputs"]], 1)

    def step(self, step, inputs):
        x = inputs[0]
        if "layer" not in step:
            return self.host(step, inputs)
        layer = self.layers[step["name"]]
        if layer["op"] == "lrn":
            return normalised(x, layer["lrn"])
        if layer["op"] == "pool":
            return pooled(x, layer["pool"])
        if layer["op"] != "sdp":
            x = sums(x, np.load(self.folder / layer["data"]["weights"]), layer).astype(np.int64)
        x = sdp(x, layer, Operands(self.folder, layer["data"], inputs[-1]))
        return pooled(x, layer["post"]["pool"]) if "pool" in layer["post"] else x

    # What the host does: from one grid into another.

    def host(self, step, inputs):
        x, (scale, zero), (to, to_zero) = inputs[0], self.grid(step["inputs"][0]), self.grid(step["output"])
        real = (x - zero) * scale
        op = step["op"]
        if op == "function":
            f = step["function"]
            table = np.array([HOST_FUNCTIONS[f["name"]]((q - zero) * scale, f["alpha"], f["beta"]) for q in range(-128, 128)])
            return quantised(table, to, to_zero)[x + 128]
        if op == "softmax":
            powers = np.exp(real - real.max(1, keepdims=True))
            return quantised(powers / powers.sum(1, keepdims=True), to, to_zero)
        if op == "compute":
            second = inputs[-1] - self.grid(step["inputs"][-1])[1]
            made = computed(step["compute"], real, second * self.grid(step["inputs"][-1])[0])
            return quantised(made, to, to_zero).reshape(len(x), *self.tensors[step["output"]]["shape"])
        if op != "pool" or step["pool"]["function"] != "average":
            return self.moved(step, inputs)
        window = Window(step["pool"], x.shape)
        whole = window.kernel[0] * window.kernel[1]
        return quantised(window.apply(real, lambda seen: seen.sum((2, 3)) / (seen[0, 0].size if step["exclusive"] else whole)), to, to_zero)

    def moved(self, step, inputs):
        """Nothing is computed: elements are moved, or the largest is taken."""
        x, op = inputs[0], step["op"]
        if op == "concat":
            return np.concatenate(inputs, 1)
        if op == "upsample":
            channels, rows, columns = step["factor"]
            return x.repeat(channels, 1).repeat(rows, 2).repeat(columns, 3)
        if op == "reshape":
            flat, places = x.reshape(len(x), -1), np.array(step["from"], int)
            fill = quantised(np.array(step["fill"]), *self.grid(step["output"])) if "scale" in self.tensors[step["output"]] else step["fill"]
            moved = np.where(places < 0, fill, flat[:, places]) if places.size else x
            return moved.reshape(len(x), *self.tensors[step["output"]]["shape"])
        assert op == "pool" and step["pool"]["function"] == "max", step
        return Window(step["pool"], x.shape).apply(x, lambda seen: seen.max((2, 3)))

    # What was chosen.

    def problems(self):
        """Where the numbers of steps are further from the scales than docs/ONNX.md says."""
        return [problem for step in self.file["steps"] if "layer" in step for problem in self.problems_of(step)]

    def problems_of(self, step):
        layer = self.layers[step["name"]]
        if layer["op"] in ("lrn", "pool") or "ew" in layer["post"]:
            return
        bs, bn, _ = engines(layer)
        operands = Operands(self.folder, layer["data"], None)
        output = layer["post"]["output"]
        scale = [self.grid(name)[0] for name in step["inputs"]]
        made = self.grid(step["output"])[0]
        element = [e for e in (bs, bn) for kind in ("alu", "mul") if e.get(kind, {}).get("per") == "element"]
        ratio = output["scale"] * 2.0 ** -output["shift"] * made  # real number of a step in front of the converter
        if not 1 <= output["scale"] <= 32767:
            yield f"{step['name']}: output scale {output['scale']}"
        if element and "alu" in element[0] and element[0]["alu"]["per"] == "element":
            added = scale[-1] * 2.0 ** -element[0]["alu"]["shift"]
            if abs(ratio / added - 1) > 2.0 ** -14:
                yield f"{step['name']}: adds steps of {added} to steps of {ratio}"
        if layer["op"] == "sdp":
            return
        weight = np.array(step["weight_scale"]) * scale[0]
        multiplied = [(e, name) for e, name in ((bs, "bs"), (bn, "bn")) if "mul" in e and not e["mul"].get("prelu")]
        factor = np.ones(1)
        for engine, name in multiplied:
            factor = np.asarray(operands(engine["mul"], name + "_mul"), float).ravel() * 2.0 ** -engine.get("shift", 0)
        # One scale: nearer than 1e-9; else multipliers of 15 bits, and the converter's scale of 15 bits.
        largest = np.abs(weight).max() if np.abs(weight).max() > 0 else 1
        exact = weight.size == 1 and not element and bool(multiplied)
        error = np.abs(factor * ratio - weight) / (weight if exact else largest)
        if np.max(error) > (1e-8 if exact else 2.0 ** -13):
            yield f"{step['name']}: multiplies by {factor * ratio}, the scales by {weight}: {np.max(error)}"
