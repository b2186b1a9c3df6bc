#!/usr/bin/env python3
"""Whole models of python3-onnx with seeded weights: LeNet-5, ResNet-18, MobileNet-v1.

usage: onnx_networks_test.py DLASIM [Small | Alone | Whole]

Small  LeNet-5 as it is, ResNet-18 and MobileNet-v1 of all layers on 32 x 32 pixels with an eighth of the channels: int8 on three machines,
       every tensor bit for bit against the documented arithmetic; fp16 within its rounding
Alone  the steps that --steps wrote, one after the other by dlasim run: the same tensors
Whole  ResNet-18 and MobileNet-v1 on 224 x 224 pixels with all channels
"""
import json
import subprocess
import sys

import numpy as np

import onnx_matrix
from onnx_matrix import F, MACHINES, Matrix, node


class Builder:
    """Nodes one behind the other, weights by seed."""

    def __init__(self, seed, channels):
        self.rng, self.nodes, self.constants, self.last, self.channels = np.random.default_rng(seed), [], {}, "x", channels

    def constant(self, name, array):
        self.constants[name] = np.asarray(array)
        return name

    def add(self, op, *constants, read=None, **attributes):
        made = f"{op.lower()}{len(self.nodes)}"
        read = [read or self.last] if not isinstance(read, list) else read
        self.nodes.append(node(op, [*read, *constants], [made], **attributes))
        self.last = made
        return made

    def convolution(self, kernels, size, stride=1, pad=0, group=1, bias=False, read=None):
        name, channels = f"w{len(self.nodes)}", self.channels // group
        w = self.rng.standard_normal((kernels, channels, size, size)) * (2 / (channels * size * size)) ** 0.5
        extra = [self.constant("b" + name, (self.rng.standard_normal(kernels) * 0.1).astype(F))] if bias else []
        self.channels = kernels
        return self.add("Conv", self.constant(name, w.astype(F)), *extra, read=read, strides=[stride] * 2, pads=[pad] * 4, group=group)

    def normalised(self):
        n, k = len(self.nodes), self.channels
        values = {"g": 1 + 0.1 * self.rng.standard_normal(k), "be": 0.1 * self.rng.standard_normal(k), "m": 0.1 * self.rng.standard_normal(k),
                  "v": 1 + 0.2 * self.rng.random(k)}
        return self.add("BatchNormalization", *(self.constant(f"{name}{n}", value.astype(F)) for name, value in values.items()))

    def connected(self, inputs, outputs):
        n = len(self.nodes)
        w = self.rng.standard_normal((outputs, inputs)) * (1 / inputs) ** 0.5
        return self.add("Gemm", self.constant(f"w{n}", w.astype(F)), self.constant(f"bw{n}", (self.rng.standard_normal(outputs) * 0.1).astype(F)), transB=1)

    def finished(self):
        self.nodes[-1].output[0] = "y"
        return self.nodes, self.constants


def lenet5():
    b = Builder(1, 1)
    for kernels, pad in ((6, 2), (16, 0)):
        b.convolution(kernels, 5, pad=pad, bias=True)
        b.add("Relu")
        b.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    b.add("Flatten")
    for inputs, outputs in ((400, 120), (120, 84)):
        b.connected(inputs, outputs)
        b.add("Relu")
    b.connected(84, 10)
    return b.finished()


def resnet18(part, classes):
    b = Builder(2, 3)
    b.convolution(64 // part, 7, 2, 3)
    b.normalised()
    b.add("Relu")
    b.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage in range(4):
        for block in range(2):
            kernels, stride, skip, channels = 64 * 2 ** stage // part, 2 if stage and not block else 1, b.last, b.channels
            b.convolution(kernels, 3, stride, 1)
            b.normalised()
            b.add("Relu")
            b.convolution(kernels, 3, 1, 1)
            made = b.normalised()
            if stride == 2:
                b.channels = channels
                b.convolution(kernels, 1, 2, read=skip)
                skip = b.normalised()
            b.add("Add", read=[made, skip])
            b.add("Relu")
    b.add("GlobalAveragePool")
    b.add("Flatten")
    b.connected(512 // part, classes)
    return b.finished()


def mobilenet(part, classes):
    b = Builder(3, 3)

    def follow():
        b.normalised()
        n = len(b.nodes)
        b.add("Clip", b.constant(f"lo{n}", F(0)), b.constant(f"hi{n}", F(6)))

    b.convolution(32 // part, 3, 2, 1)
    follow()
    for kernels, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1)):
        b.convolution(b.channels, 3, stride, 1, b.channels)
        follow()
        b.convolution(kernels // part, 1)
        follow()
    b.add("GlobalAveragePool")
    b.add("Flatten")
    b.connected(1024 // part, classes)
    return b.finished()


class Networks(Matrix):
    def check(self, model, shape, machines, halves=True, ratio=22):
        nodes, constants = model
        inputs = {"x": self.rng.random(shape, F) * 2 - 1}
        values, _ = self.write(nodes, constants, inputs)
        for machine in machines:
            out, result = self.check_integers(inputs, constants, "--hw", machine)
            want = values["y"]
            self.assertGreater(10 * np.log10((want ** 2).sum() / ((out - want) ** 2).sum()), ratio)
            self.assertEqual(sum(step["mismatches"] for step in result["steps"]), 0)
        if halves:
            self.run_halves(inputs, 2e-2, nodes, constants)


class Small(Networks):
    def test_lenet5(self):
        self.check(lenet5(), (3, 1, 28, 28), MACHINES)

    def test_resnet18(self):
        self.check(resnet18(8, 10), (1, 3, 32, 32), MACHINES)

    def test_mobilenet(self):
        self.check(mobilenet(8, 10), (1, 3, 32, 32), MACHINES)


class Alone(Networks):
    def test_steps_by_themselves(self):
        for machine, model, shape in (("nv_small", lenet5(), (1, 1, 28, 28)), ("nv_full", resnet18(16, 10), (1, 3, 32, 32))):
            self.check(model, shape, [machine], halves=False, ratio=15)
            layers = sorted((self.folder / "out/steps").glob("*.json"))
            self.assertGreater(len(layers), 5)
            for file in layers:
                if file.name == "steps.json":
                    continue
                done = subprocess.run([onnx_matrix.DLASIM, "run", file, "--hw", machine, "--out", "alone", "--quiet"], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                result = json.loads((self.folder / "alone/result.json").read_text())
                self.assertTrue(result["verified"])
                if "pool" not in result["layer"].get("post", {}) and result["layer"]["op"] != "pool":
                    self.assertTrue(result["expected"]["equal"], result["expected"])


class Whole(Networks):
    memory = None  # too large for it

    def test_resnet18(self):
        self.check(resnet18(1, 1000), (1, 3, 224, 224), ["nv_full"])

    def test_mobilenet(self):
        self.check(mobilenet(1, 1000), (1, 3, 224, 224), ["nv_large"])


if __name__ == "__main__":
    onnx_matrix.main(sys.argv)
