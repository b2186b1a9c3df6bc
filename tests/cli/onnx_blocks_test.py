#!/usr/bin/env python3
"""dlasim net with blocks of several operators as exporters write them, against NumPy.

usage: onnx_blocks_test.py DLASIM [Excitation]

Excitation  squeeze and excitation: a factor for every channel of a tensor, made of the tensor's averages
"""
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


if __name__ == "__main__":
    onnx_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
