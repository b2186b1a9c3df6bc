#!/usr/bin/env python3
"""Networks of the field as files for NVIDIA's driver: made, written, checked, run, compared.

usage: board_networks.py --dlasim DLASIM [--only NAME[,NAME]] [--machine NAME[,NAME]] [--page PAGE] [--keep DIR] [--results FILE]
       board_networks.py --dlasim DLASIM --trained DIR [--images N] [--only ..] [--machine ..] [--page PAGE] [--results FILE]

Every network is made with onnx.helper, with its own structure and random weights of sensible size; the biggest have smaller images than
usual. For nv_small and nv_large in int8 and nv_full in fp16:

  export   dlasim export --form nvdla --golden
  check    the specification's checker and dlasim loadable --check find nothing
  run      dlasim loadable --mode driver of every file, from the golden inputs: every output is the golden one, byte for byte
  net      dlasim net leaves the same outputs, byte for byte

A row per network and machine: files, operations, size, cycles in the driver's schedule, frames per second. --page replaces the rows
between "<!-- networks -->" and "<!-- end -->" in that page. Exit status 1 if anything differs.

--trained takes the models of a folder with images and labels: every image goes through the written file alone, and the outputs are those of
dlasim net; a row has the accuracy of the file and that of the model in real numbers ("<!-- trained -->").
"""
import argparse
import ast
import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs/hardware/models"))
import check_loadable  # noqa: E402

MACHINES = ("nv_small", "nv_large", "nv_full")
HINTS = ("nvdla_runtime",)  # what NVIDIA's test application does not show, though the runtime takes it


class Network:
    """A graph in the making. A tensor is its name, with its shape (c, h, w)."""

    def __init__(self, name, channels, height, width):
        self.random = np.random.default_rng(sum(name.encode()))
        self.name, self.nodes, self.constants, self.shapes, self.outputs = name, [], [], {}, []
        self.shapes["data"] = (channels, height, width)

    def constant(self, array, kind="f4"):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array).astype(kind), name))
        return name

    def add(self, op, inputs, shape, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.shapes[name] = shape
        return name

    def conv(self, x, count, kernel=3, stride=1, pad=None, group=1, act="Relu", dilation=1):
        c, h, w = self.shapes[x]
        pad = (kernel - 1) * dilation // 2 if pad is None else pad
        weights = self.random.normal(0, np.sqrt(2 / (c // group * kernel * kernel)), (count, c // group, kernel, kernel))
        size = [(n + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1 for n in (h, w)]
        y = self.add("Conv", [x, self.constant(weights), self.constant(self.random.normal(0, 0.05, count))], (count, *size), kernel_shape=[kernel] * 2,
                     strides=[stride] * 2, pads=[pad] * 4, group=group, dilations=[dilation] * 2)
        return self.act(y, act)

    def act(self, x, act):
        if not act:
            return x
        shape = self.shapes[x]
        if act == "silu":
            return self.add("Mul", [x, self.add("Sigmoid", [x], shape)], shape)
        if act == "leaky":
            return self.add("LeakyRelu", [x], shape, alpha=0.1)
        if act == "relu6":
            return self.add("Clip", [x, self.constant(0.0), self.constant(6.0)], shape)
        return self.add(act, [x], shape)

    def pool(self, x, kernel, stride, pad=0, op="MaxPool", ceil=0):
        c, h, w = self.shapes[x]
        size = [-(-(n + 2 * pad - kernel) // stride) + 1 if ceil else (n + 2 * pad - kernel) // stride + 1 for n in (h, w)]
        return self.add(op, [x], (c, *size), kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, ceil_mode=ceil)

    def mean(self, x):
        return self.add("GlobalAveragePool", [x], (self.shapes[x][0], 1, 1))

    def sum(self, a, b, act="Relu"):
        return self.act(self.add("Add", [a, b], self.shapes[a]), act)

    def concat(self, parts):
        shapes = [self.shapes[p] for p in parts]
        return self.add("Concat", parts, (sum(s[0] for s in shapes), *shapes[0][1:]), axis=1)

    def dense(self, x, count, act="Relu"):
        size = int(np.prod(self.shapes[x]))
        flat = self.add("Flatten", [x], (size, 1, 1), axis=1)
        weights = self.random.normal(0, np.sqrt(2 / size), (count, size))
        return self.act(self.add("Gemm", [flat, self.constant(weights), self.constant(self.random.normal(0, 0.05, count))], (count, 1, 1), transB=1), act)

    def up(self, x):
        c, h, w = self.shapes[x]
        return self.add("Resize", [x, "", self.constant([1, 1, 2, 2])], (c, 2 * h, 2 * w), mode="nearest", nearest_mode="floor",
                        coordinate_transformation_mode="asymmetric")

    def save(self, path):
        graph = helper.make_graph(self.nodes, self.name, [helper.make_tensor_value_info("data", TensorProto.FLOAT, [1, *self.shapes["data"]])],
                                  [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in self.outputs], self.constants)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), str(path))
        np.save(path.with_suffix(".npy"), self.random.normal(0, 1, (1, *self.shapes["data"])).astype("f4"))


def lenet5(n):
    x = n.pool(n.conv("data", 6, 5, pad=2), 2, 2)
    x = n.pool(n.conv(x, 16, 5, pad=0), 2, 2)
    return [n.dense(n.dense(n.dense(x, 120), 84), 10, None)]


def mnist(n):
    x = n.pool(n.conv("data", 8, 5), 2, 2)
    return [n.dense(n.pool(n.conv(x, 16, 5), 3, 3), 10, None)]


def residual(n, blocks, bottleneck):
    x = n.pool(n.conv("data", 64, 7, 2), 3, 2, 1)
    for stage, count in enumerate(blocks):
        width = 64 << stage
        out = 4 * width if bottleneck else width
        for block in range(count):
            stride = 2 if block == 0 and stage else 1
            if bottleneck:
                y = n.conv(n.conv(n.conv(x, width, 1), width, 3, stride), out, 1, act=None)
            else:
                y = n.conv(n.conv(x, width, 3, stride), out, 3, act=None)
            x = n.sum(y, n.conv(x, out, 1, stride, act=None) if block == 0 and (stage or bottleneck) else x)
    return [n.dense(n.mean(x), 1000, None)]


def resnet18(n):
    return residual(n, (2, 2, 2, 2), False)


def resnet50(n):
    return residual(n, (3, 4, 6, 3), True)


def separable(n, x, count, stride=1, act="Relu"):
    c = n.shapes[x][0]
    return n.conv(n.conv(x, c, 3, stride, group=c, act=act), count, 1, act=act)


def mobilenet_trunk(n):
    x = n.conv("data", 32, 3, 2)
    taps = []
    for count, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        if stride == 2:
            taps.append(x)
        x = separable(n, x, count, stride)
    return x, taps[-1]


def mobilenet_v1(n):
    return [n.dense(n.mean(mobilenet_trunk(n)[0]), 1000, None)]


def mobilenet_v2(n):
    x = n.conv("data", 32, 3, 2, act="relu6")
    for expand, count, repeat, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(repeat):
            c = n.shapes[x][0]
            y = n.conv(x, c * expand, 1, act="relu6") if expand > 1 else x
            y = n.conv(n.conv(y, c * expand, 3, stride if i == 0 else 1, group=c * expand, act="relu6"), count, 1, act=None)
            x = n.sum(x, y, None) if i else y
    return [n.dense(n.mean(n.conv(x, 1280, 1, act="relu6")), 1000, None)]


def squeezenet(n):
    def fire(x, squeeze, expand):
        s = n.conv(x, squeeze, 1)
        return n.concat([n.conv(s, expand, 1), n.conv(s, expand, 3)])
    x = n.pool(n.conv("data", 64, 3, 2, 0), 3, 2)
    x = n.pool(fire(fire(x, 16, 64), 16, 64), 3, 2)
    x = n.pool(fire(fire(x, 32, 128), 32, 128), 3, 2)
    x = fire(fire(fire(fire(x, 48, 192), 48, 192), 64, 256), 64, 256)
    return [n.mean(n.conv(x, 1000, 1))]


def alexnet(n):
    def norm(x):
        return n.add("LRN", [x], n.shapes[x], size=5, alpha=1e-4, beta=0.75, bias=1.0)
    x = n.pool(norm(n.conv("data", 96, 11, 4, 0)), 3, 2)
    x = n.pool(norm(n.conv(x, 256, 5, group=2)), 3, 2)
    x = n.conv(n.conv(n.conv(x, 384), 384, group=2), 256, group=2)
    return [n.dense(n.dense(n.dense(n.pool(x, 3, 2), 4096), 4096), 1000, None)]


def googlenet(n):
    def block(x, a, b0, b, c0, c, d):
        return n.concat([n.conv(x, a, 1), n.conv(n.conv(x, b0, 1), b, 3), n.conv(n.conv(x, c0, 1), c, 5), n.conv(n.pool(x, 3, 1, 1), d, 1)])
    x = n.pool(n.conv("data", 64, 7, 2), 3, 2, 1)
    x = n.pool(n.conv(n.conv(x, 64, 1), 192, 3), 3, 2, 1)
    x = n.pool(block(block(x, 64, 96, 128, 16, 32, 32), 128, 128, 192, 32, 96, 64), 3, 2, 1)
    for sizes in ((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128)):
        x = block(x, *sizes)
    x = n.pool(x, 3, 2, 1)
    x = block(block(x, 256, 160, 320, 32, 128, 128), 384, 192, 384, 48, 128, 128)
    return [n.dense(n.mean(x), 1000, None)]


def vgg16(n):
    x = "data"
    for count, repeat in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeat):
            x = n.conv(x, count)
        x = n.pool(x, 2, 2)
    return [n.dense(n.dense(n.dense(x, 4096), 4096), 1000, None)]


def yolov3_tiny(n):
    x, route = "data", None
    for count in (16, 32, 64, 128, 256):
        route = n.conv(x, count, act="leaky")
        x = n.pool(route, 2, 2)
    x = n.conv(n.conv(n.conv(x, 512, act="leaky"), 1024, act="leaky"), 256, 1, act="leaky")
    far = n.conv(n.conv(x, 512, act="leaky"), 255, 1, act=None)
    near = n.concat([n.up(n.conv(x, 128, 1, act="leaky")), route])
    return [far, n.conv(n.conv(near, 256, act="leaky"), 255, 1, act=None)]


def yolox_nano(n):
    def light(x, count, stride=1):
        return separable(n, x, count, stride, "silu")

    def stage(x, count, repeat, add=True):
        a, b = n.conv(x, count // 2, 1, act="silu"), n.conv(x, count // 2, 1, act="silu")
        for _ in range(repeat):
            y = light(n.conv(a, count // 2, 1, act="silu"), count // 2)
            a = n.sum(a, y, None) if add else y
        return n.conv(n.concat([a, b]), count, 1, act="silu")
    c, h, w = n.shapes["data"]
    parts = [n.add("Slice", ["data", n.constant([y, x], "i8"), n.constant([h, w], "i8"), n.constant([2, 3], "i8"), n.constant([2, 2], "i8")], (c, h // 2, w // 2))
             for x in (0, 1) for y in (0, 1)]
    x = n.conv(n.concat(parts), 16, act="silu")
    c3 = stage(light(stage(light(x, 32, 2), 32, 1), 64, 2), 64, 3)
    c4 = stage(light(c3, 128, 2), 128, 3)
    x = n.conv(light(c4, 256, 2), 128, 1, act="silu")
    x = n.conv(n.concat([x, *[n.pool(x, k, 1, k // 2) for k in (5, 7)]]), 256, 1, act="silu")
    c5 = stage(x, 256, 1, False)
    t5 = n.conv(c5, 128, 1, act="silu")
    p4 = stage(n.concat([n.up(t5), c4]), 128, 1, False)
    t4 = n.conv(p4, 64, 1, act="silu")
    p3 = stage(n.concat([n.up(t4), c3]), 64, 1, False)
    q4 = stage(n.concat([light(p3, 64, 2), t4]), 128, 1, False)
    q5 = stage(n.concat([light(q4, 128, 2), t5]), 256, 1, False)
    outputs = []
    for p in (p3, q4, q5):
        stem = n.conv(p, 64, 1, act="silu")
        box = light(stem, 64)
        outputs += [n.conv(box, 4, 1, act=None), n.conv(light(stem, 64), 80, 1, act="Sigmoid")]
    return outputs


def ssd_mobilenet(n):
    x, mid = mobilenet_trunk(n)
    taps = [mid, x]
    for count in (512, 256):
        taps.append(n.conv(n.conv(taps[-1], count // 2, 1), count, 3, 2))
    outputs = []
    for tap in taps:
        outputs += [n.conv(tap, 6 * 4, 1, act=None), n.conv(tap, 6 * 21, 1, act=None)]
    return outputs


def unet(n):
    def double(x, count):
        return n.conv(n.conv(x, count), count)

    def grow(x, count):
        c, h, w = n.shapes[x]
        weights = n.random.normal(0, np.sqrt(2 / c), (c, count, 2, 2))
        return n.add("ConvTranspose", [x, n.constant(weights), n.constant(n.random.normal(0, 0.05, count))], (count, 2 * h, 2 * w), kernel_shape=[2, 2], strides=[2, 2])
    downs, x = [], "data"
    for count in (16, 32, 64, 128):
        downs.append(double(x, count))
        x = n.pool(downs[-1], 2, 2)
    x = double(x, 256)
    for down in reversed(downs):
        count = n.shapes[down][0]
        x = double(n.concat([grow(x, count), down]), count)
    return [n.conv(x, 2, 1, act=None)]


def super_resolution(n):
    x = n.conv(n.conv(n.conv("data", 64, 5), 64, 3), 32, 3)
    x = n.conv(x, 9, 3, act=None)
    c, h, w = n.shapes[x]
    return [n.add("DepthToSpace", [x], (1, 3 * h, 3 * w), blocksize=3)]


# Name, structure, channels, height and width of the image; what the page calls it.
NETWORKS = [("lenet5", lenet5, (1, 28, 28), "LeNet-5"), ("mnist", mnist, (1, 28, 28), "MNIST"), ("super_resolution", super_resolution, (1, 48, 48), "super resolution (ESPCN)"),
            ("squeezenet", squeezenet, (3, 112, 112), "SqueezeNet 1.1"), ("mobilenet_v1", mobilenet_v1, (3, 96, 96), "MobileNet-v1"),
            ("mobilenet_v2", mobilenet_v2, (3, 96, 96), "MobileNet-v2"), ("yolox_nano", yolox_nano, (3, 96, 96), "YOLOX-nano"), ("unet", unet, (3, 64, 64), "U-Net"),
            ("resnet18", resnet18, (3, 112, 112), "ResNet-18"), ("ssd_mobilenet", ssd_mobilenet, (3, 128, 128), "SSD-MobileNet"),
            ("yolov3_tiny", yolov3_tiny, (3, 128, 128), "YOLOv3-tiny"), ("googlenet", googlenet, (3, 112, 112), "GoogLeNet"), ("resnet50", resnet50, (3, 64, 64), "ResNet-50"),
            ("alexnet", alexnet, (3, 227, 227), "AlexNet, groups and LRN"), ("vgg16", vgg16, (3, 64, 64), "VGG-16")]


def npy(path):
    """Type, shape and bytes."""
    data = Path(path).read_bytes()
    size, at = struct.unpack_from("<H", data, 8)[0], 10
    header = ast.literal_eval(data[at:at + size].decode())
    return header["descr"], header["shape"], data[at + size:]


def file_name(tensor):
    return "".join("_" if c in "/\\:" else c for c in tensor) + ".npy"


class Different(Exception):
    pass


class Trial:
    def __init__(self, dlasim, folder, name, machine):
        self.dlasim, self.at, self.name, self.machine = dlasim, Path(folder), name, machine
        self.model, self.images = self.at / f"{name}.onnx", self.at / f"{name}.npy"
        self.precision = ["--precision", "fp16"] if machine == "nv_full" else []

    def run(self, *arguments):
        done = subprocess.run([self.dlasim, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Different(f"{arguments[0]}: status {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
        return done

    def export(self):
        self.run("export", self.model, "--hw", self.machine, "--form", "nvdla", "--to", self.at / "m.nvdla", "--golden", self.at / "golden", "--input", self.images,
                 "--quiet", *self.precision)
        return json.loads((self.at / "m.json").read_text())

    def check(self, file):
        found = check_loadable.Check((self.at / file).read_bytes(), self.machine).run()
        if found := [f for f in found if f[1] not in HINTS]:
            raise Different(f"{file}: check_loadable.py: {found[0]}")
        done = self.run("loadable", self.at / file, "--hw", self.machine, "--check")
        if lines := [line for line in done.stdout.splitlines()[:-1] if not line.split()[1] in HINTS]:
            raise Different(f"{file}: --check: {lines[0]}")

    def drive(self, step):
        inputs = [part for name in step["inputs"] for part in ("--input", self.at / "golden" / file_name(name))]
        out = self.at / "out"
        self.run("loadable", self.at / step["file"], "--hw", self.machine, "--manifest", self.at / "m.json", "--mode", "driver", "--no-verify", "--no-causes",
                 "--quiet", "--out", out, *inputs)
        for i, tensor in enumerate(step["outputs"]):
            if npy(out / ("output.npy" if i == 0 else f"output_{i}.npy"))[1:] != npy(self.at / "golden" / file_name(tensor))[1:]:
                raise Different(f"{step['file']}: {tensor} differs from the golden tensor")
        return json.loads((out / "result.json").read_text())

    def net(self, manifest):
        """The outputs of `dlasim net` are those of the files."""
        out = self.at / "net"
        self.run("net", self.model, "--hw", self.machine, "--input", self.images, "--tensors", "--no-causes", "--quiet", "--out", out, *self.precision)
        for step in (s for s in manifest["order"] if "file" in s):
            for tensor in step["outputs"]:
                path = out / "tensors" / file_name(tensor)
                if not path.exists():
                    raise Different(f"dlasim net does not write {tensor}")
                if npy(path)[2] != npy(self.at / "golden" / file_name(tensor))[2]:
                    raise Different(f"{tensor} differs from that of dlasim net")

    def prove(self):
        manifest = self.export()
        files = [step for step in manifest["order"] if "file" in step]
        row = {"network": self.name, "machine": self.machine, "files": len(files), "cpu_steps": len(manifest["order"]) - len(files), "bytes": 0, "operations": 0,
               "cycles": 0}
        for step in files:
            self.check(step["file"])
            result = self.drive(step)
            row["bytes"] += (self.at / step["file"]).stat().st_size
            row["operations"] += len(result["operations"])
            row["cycles"] += result["cycles"]
        self.net(manifest)
        row["frames_per_s"] = 1e9 / row["cycles"]
        return row


class Trained(Trial):
    """A model with images and labels: each image through the written file."""

    def __init__(self, dlasim, folder, model, machine, images, labels):
        super().__init__(dlasim, folder, model.stem, machine)
        self.model, self.data, self.labels = model, images, labels
        self.images = self.at / "images.npy"
        np.save(self.images, images)
        self.calibrate = [] if self.precision or "qdq" in model.stem else ["--calibrate", self.images]

    def accuracy(self):
        first = self.at / "first.npy"
        np.save(first, self.data[:1])
        self.run("export", self.model, "--hw", self.machine, "--form", "nvdla", "--to", self.at / "m.nvdla", "--input", first, "--quiet", *self.precision, *self.calibrate)
        manifest = json.loads((self.at / "m.json").read_text())
        steps, tensors = manifest["order"], {t["name"]: t for t in manifest["tensors"]}
        if len(steps) != 1:
            raise Different("the caller computes steps of it")
        self.check(steps[0]["file"])
        source, result = tensors[steps[0]["inputs"][0]], tensors[steps[0]["outputs"][0]]
        outputs, cycles = [], 0
        for image in self.data:
            array = image[None].astype("f2") if self.precision else np.clip(
                np.rint(image[None].astype("f4") / np.float32(source["scale"])) + source["zero_point"], -128, 127).astype("i1")
            np.save(self.at / "image.npy", array)
            self.run("loadable", self.at / steps[0]["file"], "--hw", self.machine, "--mode", "driver", "--no-verify", "--no-causes", "--quiet", "--input", self.at / "image.npy",
                     "--out", self.at / "out")
            found = np.load(self.at / "out/output.npy").reshape(-1)
            outputs.append(found.astype("f8") if self.precision else (found.astype("f8") - result["zero_point"]) * result["scale"])
            cycles = cycles or json.loads((self.at / "out/result.json").read_text())["cycles"]
        self.run("net", self.model, "--hw", self.machine, "--input", self.images, "--labels", self.labels, "--no-causes", "--quiet", "--out", self.at / "net", *self.precision)
        net = json.loads((self.at / "net/result.json").read_text())
        expected = np.load(self.at / "net/output.npy").reshape(len(outputs), -1)
        found = np.array(outputs)[:, :expected.shape[1]]
        if expected.dtype.kind != "f":
            found = np.rint(found / result["scale"] + result["zero_point"])
        if not np.allclose(found, expected, rtol=1e-6, atol=1e-6):
            raise Different(f"outputs differ from those of dlasim net by up to {np.abs(found - expected).max()}")
        right = float((found.argmax(1) == np.load(self.labels).reshape(-1)[:len(found)]).mean())
        return {"network": self.name, "machine": self.machine, "images": len(found), "accuracy": right, "reference_accuracy": net["reference_accuracy"],
                "bytes": (self.at / "m.nvdla").stat().st_size, "cycles": cycles}


def trained_table(rows):
    lines = ["| model | machine | images | accuracy of the file | of the model in real numbers | KB | cycles | frames/s |", "|---|---|---:|---:|---:|---:|---:|---:|"]
    for r in rows:
        kind = "fp16" if r["machine"] == "nv_full" else "int8"
        lines.append(f"| {r['network']} | {r['machine']}, {kind} | {r['images']} | {100 * r['accuracy']:.2f} % | {100 * r['reference_accuracy']:.2f} % | {r['bytes'] / 1e3:.0f} | "
                     f"{r['cycles']:,} | {1e9 / r['cycles']:,.0f} |")
    return "\n".join(lines)


def run_trained(options, dlasim):
    """Rows, and how many went wrong."""
    folder, rows, bad = Path(options.trained), [], 0
    images = next(np.load(p) for p in (folder / "images_f32.npy", folder / "images.npy") if p.exists())
    labels = np.load(folder / "labels.npy")
    count = min(options.images, len(images))
    for model in sorted(folder.glob("*.onnx")):
        if options.only and model.stem not in options.only.split(","):
            continue
        for machine in options.machine.split(","):
            if machine == "nv_full" and "qdq" in model.stem:
                continue
            with tempfile.TemporaryDirectory() as place:
                np.save(Path(place) / "labels.npy", labels[:count])
                try:
                    rows.append(Trained(dlasim, place, model, machine, images[:count].astype("f4"), Path(place) / "labels.npy").accuracy())
                    print(f"{model.stem} {machine}: {100 * rows[-1]['accuracy']:.2f} %, model {100 * rows[-1]['reference_accuracy']:.2f} %", flush=True)
                    if rows[-1]["accuracy"] < rows[-1]["reference_accuracy"] - 0.01:
                        raise Different("loses more than one per cent")
                except Different as problem:
                    bad += 1
                    print(f"{model.stem} {machine}: {problem}", flush=True)
    return rows, bad


def put(page, mark, text):
    page = Path(page)
    new, count = re.subn(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", lambda m: m[1] + text + "\n" + m[2], page.read_text(), count=1, flags=re.S)
    if count != 1:
        sys.exit(f"{page}: has no place for the table")
    page.write_text(new)


def table(rows):
    """The rows of the page: a network a line."""
    words = {name: (word, size) for name, _, size, word in NETWORKS}
    lines = ["| network | image | machine | files, CPU steps | operations | MB | cycles | frames/s |", "|---|---|---|---|---:|---:|---:|---:|"]
    for r in rows:
        word, size = words[r["network"]]
        kind = "fp16" if r["machine"] == "nv_full" else "int8"
        lines.append(f"| {word} | {size[1]} x {size[2]} | {r['machine']}, {kind} | {r['files']}, {r['cpu_steps']} | {r['operations']} | {r['bytes'] / 1e6:.2f} | "
                     f"{r['cycles']:,} | {r['frames_per_s']:,.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--machine", default=",".join(MACHINES))
    parser.add_argument("--page")
    parser.add_argument("--keep")
    parser.add_argument("--trained", help="a folder of models with images.npy or images_f32.npy and labels.npy")
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--results", help="JSON: rows of earlier runs are kept, those of this run are laid over them")
    options = parser.parse_args()
    dlasim, wanted, rows, bad = str(Path(options.dlasim).resolve()), options.only.split(",") if options.only else [], [], 0
    if options.trained:
        rows, bad = run_trained(options, dlasim)
        if options.results:
            Path(options.results).write_text(json.dumps(rows, indent=1) + "\n")
        if options.page:
            put(options.page, "trained", trained_table(rows))
        return 1 if bad else 0
    if options.results and Path(options.results).exists():
        rows = json.loads(Path(options.results).read_text())
    for name, make, size, _ in NETWORKS:
        if wanted and name not in wanted:
            continue
        for machine in options.machine.split(","):
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(options.keep or folder)
                folder.mkdir(parents=True, exist_ok=True)
                network = Network(name, *size)
                network.outputs = make(network)
                network.save(folder / f"{name}.onnx")
                try:
                    row = Trial(dlasim, folder, name, machine).prove()
                except Different as problem:
                    bad += 1
                    print(f"{name} {machine}: {problem}", flush=True)
                    continue
                print(f"{name} {machine}: {row['cycles']:,} cycles, {row['operations']} operations, {row['files']} files", flush=True)
                rows = [r for r in rows if (r["network"], r["machine"]) != (name, machine)] + [row]
                if options.results:
                    Path(options.results).write_text(json.dumps(rows, indent=1) + "\n")
    order = [(n[0], m) for n in NETWORKS for m in MACHINES]
    rows.sort(key=lambda r: order.index((r["network"], r["machine"])))
    if options.page:
        put(options.page, "networks", table(rows))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
