#!/usr/bin/env python3
"""dlasim net with blocks of several operators as exporters write them, against NumPy.

usage: onnx_blocks_test.py DLASIM [Excitation | Tables]

Excitation  squeeze and excitation: a factor for every channel of a tensor, made of the tensor's averages
Tables      functions in SDP's lookup tables, where a machine has them
"""
import json
import shutil
import sys
import unittest
from pathlib import Path

import numpy as np

import onnx_test
from onnx_test import MACHINES, Onnx, convolve
from onnx_writer import node

F = np.float32


class Excitation(Onnx):
    def setUp(self):
        super().setUp()
        self.w = {"w": self.reals(16, 3, 3, 3, scale=0.4), "w1": self.reals(4, 16, 1, 1, scale=0.7), "b1": self.reals(4), "w2": self.reals(16, 4, 1, 1), "b2": self.reals(16),
                  "w3": self.reals(5, 16, 1, 1, scale=0.3)}
        self.x = self.reals(3, 3, 9, 7)

    def reference(self, x, gate):
        w = self.w
        t = np.maximum(convolve(x, w["w"], None, 1, 1), 0)
        s = np.maximum(convolve(t.mean((2, 3), keepdims=True).astype(F), w["w1"], w["b1"]), 0)
        e = gate(convolve(s.astype(F), w["w2"], w["b2"]))
        return convolve((t * e).astype(F), w["w3"])

    def check(self, nodes, gate, constants=None):
        self.save(nodes, {**self.w, **(constants or {})}, {"x": [None, 3, 9, 7]}, {"y": None})
        expected = self.reference(self.x, gate)
        for machine, more, ratio in (*((machine, [], 28) for machine in MACHINES), ("nv_full", ["--precision", "fp16"], 50)):
            out, _ = self.run_images(self.x, *more, machine=machine)
            noise = 10 * np.log10((expected ** 2).sum() / ((out - expected) ** 2).sum())
            self.assertGreater(noise, ratio, machine)

    def test_gates_of_one_element_a_channel(self):
        trunk = [node("Conv", ["x", "w"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["t"]), node("GlobalAveragePool", ["t"], ["g"])]
        small = [node("Conv", ["g", "w1", "b1"], ["r"]), node("Relu", ["r"], ["s"]), node("Conv", ["s", "w2", "b2"], ["h"])]
        end = [node("Mul", ["t", "e"], ["m"]), node("Conv", ["m", "w3"], ["y"])]
        self.check([*trunk, *small, node("Sigmoid", ["h"], ["e"]), *end], lambda v: 1 / (1 + np.exp(-v)))
        self.check([*trunk, *small, node("HardSigmoid", ["h"], ["e"], alpha=1 / 6), *end], lambda v: np.clip(v / 6 + 0.5, 0, 1))

    def test_gates_of_fully_connected_layers(self):
        """As PyTorch writes them: rows, an Expand to the shape of the tensor, the gate on the left."""
        nodes = [node("Conv", ["x", "w"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["t"]), node("ReduceMean", ["t"], ["g"], axes=[2, 3], keepdims=0),
                 node("Gemm", ["g", "m1", "b1"], ["r"], transB=1), node("Relu", ["r"], ["s"]), node("Gemm", ["s", "m2", "b2"], ["h"], transB=1),
                 node("Sigmoid", ["h"], ["e"]), node("Reshape", ["e", "one"], ["e1"]), node("Shape", ["t"], ["size"]), node("Expand", ["e1", "size"], ["e2"]),
                 node("Mul", ["e2", "t"], ["m"]), node("Conv", ["m", "w3"], ["y"])]
        self.check(nodes, lambda v: 1 / (1 + np.exp(-v)), {"m1": self.w["w1"][:, :, 0, 0], "m2": self.w["w2"][:, :, 0, 0], "one": np.array([0, 16, 1, 1])})

    def test_gates_in_the_steps_of_the_model(self):
        """uint8 with zero points, as quantisers write it."""
        steps = {"t": (0.03, 0), "g": (0.01, 0), "h": (0.05, 131), "e": (1 / 256, 0), "m": (0.025, 3)}
        table = {**{f"s{n}": F(step) for n, (step, _) in steps.items()}, **{f"z{n}": np.uint8(zero) for n, (_, zero) in steps.items()}}
        nodes = [node("DequantizeLinear", ["q", "st", "zt"], ["t"]), node("GlobalAveragePool", ["t"], ["g"])]

        def through(name, made):
            nodes.append(node("QuantizeLinear", [made, f"s{name}", f"z{name}"], [f"{made}.q"]))
            nodes.append(node("DequantizeLinear", [f"{made}.q", f"s{name}", f"z{name}"], [f"{made}.d"]))
            return f"{made}.d"
        mean = through("g", "g")
        nodes.append(node("Conv", [mean, "w2"], ["h"]))
        gate = through("h", "h")
        nodes.append(node("Sigmoid", [gate], ["e"]))
        factor = through("e", "e")
        nodes += [node("Mul", [factor, "t"], ["m"]), node("QuantizeLinear", ["m", "sm", "zm"], ["y"])]
        w = self.reals(16, 16, 1, 1, scale=0.5)
        self.save(nodes, {**table, "w2": w}, {"q": ([None, 16, 6, 5], "uint8")}, {"y": (None, "uint8")})
        q = self.rng.integers(0, 256, (2, 16, 6, 5)).astype(np.uint8)

        def rounded(v, name):
            step, zero = float(F(steps[name][0])), steps[name][1]
            return (np.clip(np.rint(v / step) + zero, 0, 255) - zero) * step
        t = q * float(F(0.03))
        e = rounded(1 / (1 + np.exp(-rounded(convolve(rounded(t.mean((2, 3), keepdims=True), "g").astype(F), w), "h"))), "e")
        step, zero = float(F(0.025)), 3
        expected = np.clip(np.rint(t * e / step) + zero, 0, 255)
        for machine in MACHINES:
            out, _ = self.run_images(q, machine=machine)
            # t is put into symmetric steps, 255 / 127 of its own: half of one times a gate of at most 1; a gate may be one step off.
            allowed = 1.5 + 0.03 * 255 / 127 / 2 / step + t.max() / 256 / step
            self.assertLessEqual(np.abs(out.astype(int) - expected).max(), allowed)


class Tables(Onnx):
    def model(self):
        """Functions between convolutions, one of them twice in the same steps, pooling behind another."""
        w = {"a": self.reals(16, 3, 3, 3, scale=0.5), "b": self.reals(8, 16, 1, 1, scale=0.5), "c": self.reals(4, 8, 1, 1)}
        self.save([node("Conv", ["x", "a"], ["p"], pads=[1] * 4), node("Sigmoid", ["p"], ["q"]), node("Mul", ["p", "q"], ["r"]), node("Sigmoid", ["p"], ["q2"]),
                   node("Add", ["r", "q2"], ["s"]), node("Conv", ["s", "b"], ["t"]), node("HardSwish", ["t"], ["u"]), node("MaxPool", ["u"], ["v"], kernel_shape=[2, 2], strides=[2, 2]),
                   node("Tanh", ["v"], ["e"]), node("Conv", ["e", "c"], ["y"])], w, {"x": [None, 3, 10, 8]}, {"y": None}, opset=14)
        self.x = self.reals(3, 3, 10, 8)

    def run_on(self, machine, *more):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        out, result = self.run_images(self.x, "--tensors", *more, machine=machine)
        tensors = {file.name: np.load(file) for file in sorted((self.folder / "out/tensors").iterdir())}
        return out, tensors, {step["name"]: step for step in result["steps"]}

    def test_every_integer_is_that_of_the_host(self):
        self.model()
        out, host, steps = self.run_on("nv_small")
        self.assertEqual([steps[name]["unit"] for name in ("q", "q2", "u", "e")], ["host"] * 4)
        self.assertIn("no lookup table", steps["q"]["why"])
        for more in ([], ["--hazards"], ["--layers", "apart"]):
            again, machine, steps = self.run_on("nv_full", *more)
            self.assertEqual([steps[name]["unit"] for name in ("q", "q2", "e")], ["sdp"] * 3)
            self.assertEqual(steps["v"]["layers"], ["u", "v"])  # PDP behind the table
            np.testing.assert_array_equal(again, out)
            self.assertEqual(set(host) - set(machine), {"u.npy"})
            for name, values in machine.items():
                np.testing.assert_array_equal(values, host[name], name)

    def test_integers_are_those_of_the_definition(self):
        """Of int8 with a zero point: every integer, the ends too."""
        q = np.arange(-128, 128, dtype=np.int8).reshape(1, 4, 8, 8)
        for op, function in (("Sigmoid", lambda v: 1 / (1 + np.exp(-v))), ("Tanh", np.tanh), ("Exp", np.exp), ("Softsign", lambda v: v / (1 + abs(v)))):
            sx, zx, sy, zy = F(0.04), np.int8(-9), F(0.011), np.int8(17)
            self.save([node("DequantizeLinear", ["q", "sx", "zx"], ["d"]), node(op, ["d"], ["f"]), node("QuantizeLinear", ["f", "sy", "zy"], ["y"])],
                      {"sx": sx, "zx": zx, "sy": sy, "zy": zy}, {"q": ([None, 4, 8, 8], "int8")}, {"y": (None, "int8")})
            out, result = self.run_images(q, machine="nv_full")
            self.assertEqual([step["unit"] for step in result["steps"]], ["sdp", "sdp"])  # a copy of the input in front
            expected = np.clip(np.rint(function((q.astype(int) + 9) * float(sx)) / float(sy)) + 17, -128, 127)
            np.testing.assert_array_equal(out, expected)

    def test_functions_of_fp16_are_the_host_s(self):
        self.model()
        self.run_images(self.x, "--precision", "fp16", machine="nv_full")
        steps = json.loads((self.folder / "out/result.json").read_text())["steps"]
        self.assertEqual([step["unit"] for step in steps if step["name"] in ("q", "q2", "u", "e")], ["host"] * 4)


if __name__ == "__main__":
    onnx_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
