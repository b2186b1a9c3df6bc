#!/usr/bin/env python3
"""Random layers against a reference of its own: integers of NumPy, written from the definitions of the operations.

usage: random_reference.py [--dlasim PATH] [--kind KIND..] [--first SEED] [--count N] [--jobs N] [--show N]

A layer is made from its seed, with tensors of its own in NumPy files, and run on one of four machines with --hazards; what nv_full alone can, there. Right is what

  image     a convolution of converted pixels: all formats of 8 and 16 bits, paddings with values, strides, offsets in an atom, widths
  direct    a convolution of features: strides, dilation, groups, batches, paddings, int8 and int16
  deconv    its transpose
  pool      maximum, minimum, average with the reciprocals of the unit
  sdp       ALU, multiplier and ReLU of BS, per layer, kernel and element, in front of the output converter
  tenbits   pixels of 10 and 12 bits, packed in words or in two planes
  post      BS, BN and EW one after the other: left shifts, PReLU, converted operands, full lookup tables of both kinds; int8 and int16
  winograd  3 x 3 in the documented transforms, int8 and int16, on the phases of strides too
  fp16      convolutions of whole numbers, whose sums fp16 holds exactly, with bias, residual and ReLU
  fp16post  BS, BN and EW in fp16 and fp32, rounded to the nearest even
  rubik     split, merge and contract of every element size
  bdma      copies of blocks: what `dlasim export` records in memory after the run, byte by byte

  lrn       the formula in double precision: at most 1.2 steps of int8 away

give in exact integers (or as the line says); then the output must be equal, no access out of order, and no programming rule of the hardware broken (docs/PROGRAMS.md).
A layer that is refused counts as such; of each kind half must run. Needs NumPy. Exit status 0 if all that ran is right.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

from reference_kinds import LIMITS, TYPES, MoreKinds, clipped, convolution, padded, shifted

ATOMS = {"nv_small": 8, "nv_small_256": 8, "nv_large": 32, "nv_full": 32}
MACHINES = tuple(ATOMS)
FULL_ONLY = ("tenbits", "winograd", "fp16", "fp16post", "rubik", "bdma")
WITH_EW = {"nv_small_256": "nv_small_256_full"}  # for post
TEN = ("T_A2B10G10R10", "T_A2R10G10B10", "T_B10G10R10A2", "T_R10G10B10A2", "T_A2Y10U10V10", "T_V10U10Y10A2")
WORDS_10 = ("T_R10", "T_R12", "T_Y10___U10V10_N444", "T_Y10___V10U10_N444", "T_Y12___U12V12_N444", "T_Y12___V12U12_N444")
BYTES = ("T_R8", "T_A8B8G8R8", "T_A8R8G8B8", "T_B8G8R8A8", "T_R8G8B8A8", "T_X8B8G8R8", "T_X8R8G8B8", "T_B8G8R8X8", "T_R8G8B8X8", "T_A8Y8U8V8",
         "T_V8U8Y8A8", "T_Y8___U8V8_N444", "T_Y8___V8U8_N444")
WORDS = ("T_R16", "T_A16B16G16R16", "T_X16B16G16R16", "T_A16Y16U16V16", "T_V16U16Y16A16", "T_Y16___U16V16_N444", "T_Y16___V16U16_N444")


def components(name):
    return 1 if name in ("T_R8", "T_R10", "T_R12", "T_R16") else 3 if "___" in name else 4


class Maker(MoreKinds):
    def __init__(self, kind, seed):
        self.rng = np.random.default_rng([seed, sum(map(ord, kind))])
        self.kind, self.machine = kind, "nv_full" if kind in FULL_ONLY else MACHINES[seed % len(MACHINES)]
        if kind == "post":
            self.machine = WITH_EW.get(self.machine, self.machine)
        self.blocks, self.atol = None, 0
        self.full = self.machine == "nv_full"
        self.files = {}

    def one_in(self, n):
        return self.rng.integers(n) == 0

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def pick(self, *choices):
        return choices[self.between(0, len(choices) - 1)]

    def values(self, shape, precision):
        low, high = LIMITS[precision]
        if self.one_in(2):
            low, high = low // 8, high // 8
        return self.rng.integers(low, high + 1, shape, dtype=np.int64)

    def save(self, name, tensor, kind):
        self.files[name] = tensor.astype(kind)
        return f"{name}.npy"

    def make(self):
        """The layer, and its output."""
        layer, out = getattr(self, self.kind)()
        return layer, out

    def scale_of(self, sums, precision):
        """A shift that leaves most of the sums inside."""
        most = int(np.abs(sums).max(initial=1))
        return max(0, most.bit_length() - self.between(*((5, 8) if precision == "int8" else (12, 16))))

    def behind(self, layer, sums, precision):
        """What the accumulator hands on has 32 bits; bias, ReLU and output converter."""
        post, k, sums = {}, sums.shape[1], np.clip(sums, -(1 << 31), (1 << 31) - 1)
        if self.one_in(3):
            bias = self.rng.integers(-3000, 3000, k)
            layer["bias"] = True
            layer["data"]["bias"] = self.save("bias", bias, np.int16)
            sums = np.clip(sums + bias[None, :, None, None], -(1 << 31), (1 << 31) - 1)
        if self.one_in(3):
            layer["activation"] = "relu"
            sums = np.maximum(sums, 0)
        shift = self.scale_of(sums, precision)
        post["output"] = {"shift": shift}
        if self.one_in(3):
            post["output"] |= {"offset": self.between(-100, 100), "scale": self.between(1, 5)}
            sums = (sums - post["output"]["offset"]) * post["output"]["scale"]
        layer["post"] = post
        return clipped(shifted(sums, shift), precision)

    def padding(self, layer, most_right):
        if self.one_in(2):
            return (0, 0, 0, 0, 0)
        big = self.one_in(3)
        pad = (self.between(0, 31 if big else 3), self.between(0, most_right if big else 3), self.between(0, 3), self.between(0, 3),
               self.between(-100, 100))
        layer["pad"] = dict(zip(("left", "right", "top", "bottom", "value"), pad))
        return pad

    def tenbits(self):
        return self.image(TEN + WORDS_10)

    def image(self, formats=None):
        words = formats is not None or self.full and self.one_in(3)
        name = self.pick(*(formats or (WORDS if words else BYTES)))
        precision = self.pick("int8", "int16") if self.full else "int8"
        c, w, h = components(name), self.between(1, self.pick(20, 70, 150)), self.between(1, 12)
        layer = {"precision": precision, "input": {"width": w, "height": h, "format": name}, "data": {}}
        unsigned = self.one_in(3)
        x = self.rng.integers(0, 1 << (16 if words else 8), (1, c, h, w))
        if name in TEN:  # left aligned; the alpha has two bits
            x[:, :3] &= 0xffc0
            x[:, 3] &= 0xc000
        if not unsigned:
            x = x.astype(np.uint16 if words else np.uint8).view(np.int16 if words else np.int8).astype(np.int64)
        converted = x
        if unsigned or words != (precision == "int16") or self.one_in(3):
            how = {"offset": self.between(-100, 100), "scale": self.between(1, 100), "shift": self.between(0, 12) if not words else self.between(8, 16)}
            minus = how["offset"]
            if self.one_in(3):
                del how["offset"]
                layer["input"]["mean"] = [self.between(-100, 100) for _ in range(c)]
                minus = np.array(layer["input"]["mean"])[None, :, None, None]
            layer["input"]["conversion"] = how
            converted = clipped(np.clip(shifted((x - minus) * how["scale"], how["shift"]), -65536, 65535), precision)
        if unsigned:
            layer["input"]["signed"] = False
        if self.one_in(3):
            size = 4 if name in TEN else (1 if c != 4 else 4) * (2 if words else 1)
            layer["input"]["x_offset"] = self.between(0, ATOMS[self.machine] // size - 1)
        pad = self.padding(layer, 63)
        r, s, k = self.between(1, min(h + pad[2] + pad[3], 7)), self.between(1, min(w + pad[0] + pad[1], self.pick(3, 11, 32))), self.between(1, 40)
        stride = (self.between(1, self.pick(2, 8)), self.between(1, 4))
        layer |= {"kernel": {"width": s, "height": r, "count": k}, "stride": {"x": stride[0], "y": stride[1]}}
        weights = self.values((k, c, r, s), precision)
        sums = convolution(padded(converted, pad), weights, stride, (1, 1), 1)
        kind = (np.uint16 if words else np.uint8) if unsigned else (np.int16 if words else np.int8)
        layer["data"] |= {"input": self.save("x", x, kind), "weights": self.save("w", weights, TYPES[precision])}
        return layer, self.behind(layer, sums, precision)

    def direct(self):
        precision = self.pick("int8", "int16") if self.full else "int8"
        w, h, groups = self.between(1, self.pick(8, 40)), self.between(1, 12), self.pick(1, 1, 1, 2, 3, 8)
        c, k = groups * self.between(1, self.pick(4, 20, 100) // min(groups, 4)), groups * self.between(1, self.pick(4, 20, 80) // min(groups, 4))
        batch = self.between(2, 5) if self.full and groups == 1 and self.one_in(4) else 1
        layer = {"precision": precision, "input": {"width": w, "height": h, "channels": c, "batch": batch}, "groups": groups, "data": {}}
        pad = self.padding(layer, 40)
        dilation = (self.between(1, 3), self.between(1, 3)) if self.one_in(3) else (1, 1)
        r = self.between(1, min(5, (h + pad[2] + pad[3] - 1) // dilation[1] + 1))
        s = self.between(1, min(5, (w + pad[0] + pad[1] - 1) // dilation[0] + 1))
        stride = (self.between(1, self.pick(2, 8)), self.between(1, 3))
        layer |= {"kernel": {"width": s, "height": r, "count": k}, "stride": {"x": stride[0], "y": stride[1]}, "dilation": {"x": dilation[0], "y": dilation[1]}}
        x, weights = self.values((batch, c, h, w), precision), self.values((k, c // groups, r, s), precision)
        layer["data"] |= {"input": self.save("x", x, TYPES[precision]), "weights": self.save("w", weights, TYPES[precision])}
        sums = convolution(padded(x, pad), weights, stride, dilation, groups)
        return layer, self.behind(layer, sums, precision)

    def deconv(self):
        precision = self.pick("int8", "int16") if self.full else "int8"
        w, h, c, k = self.between(1, 10), self.between(1, 8), self.between(1, 40), self.between(1, 40)
        stride = (self.between(1, 3), self.between(1, 3))
        r, s = self.between(stride[1], stride[1] + 3), self.between(stride[0], stride[0] + 3)
        layer = {"op": "deconv2d", "precision": precision, "input": {"width": w, "height": h, "channels": c},
                 "kernel": {"width": s, "height": r, "count": k}, "stride": {"x": stride[0], "y": stride[1]}, "data": {}}
        left, right, top, bottom = self.between(0, s // 2), self.between(0, s // 2), self.between(0, r // 2), self.between(0, r // 2)
        layer["pad"] = {"left": left, "right": right, "top": top, "bottom": bottom}
        x, weights = self.values((1, c, h, w), precision), self.values((k, c, r, s), precision)
        full = np.zeros((1, k, (h - 1) * stride[1] + r, (w - 1) * stride[0] + s), np.int64)
        for i in range(h):
            for j in range(w):
                full[0, :, i * stride[1]:i * stride[1] + r, j * stride[0]:j * stride[0] + s] += np.einsum("c,kcrs->krs", x[0, :, i, j], weights)
        sums = full[:, :, top:full.shape[2] - bottom, left:full.shape[3] - right]
        if 0 in sums.shape:
            return self.deconv()
        layer["data"] |= {"input": self.save("x", x, TYPES[precision]), "weights": self.save("w", weights, TYPES[precision])}
        return layer, self.behind(layer, sums, precision)

    def pool(self):
        precision = self.pick("int8", "int16") if self.full else "int8"
        w, h, c = self.between(1, self.pick(8, 60)), self.between(1, 16), self.between(1, 70)
        s, r = self.between(1, min(8, w)), self.between(1, min(8, h))
        function, stride = self.pick("max", "min", "average"), (self.between(1, 4), self.between(1, 4))
        left, top = self.between(0, min(s - 1, 7)), self.between(0, min(r - 1, 7))
        ow, oh = (w + left - s) // stride[0] + 1, (h + top - r) // stride[1] + 1
        layer = {"op": "pool", "precision": precision, "input": {"width": w, "height": h, "channels": c},
                 "pool": {"function": function, "kernel": {"width": s, "height": r}, "stride": {"x": stride[0], "y": stride[1]},
                          "pad": {"left": left, "top": top}}, "data": {}}
        x = self.values((1, c, h, w), precision)
        layer["data"]["input"] = self.save("x", x, TYPES[precision])
        low, high = LIMITS[precision]
        fill = {"max": low, "min": high, "average": 0}[function]
        wide = padded(x, (left, 0, top, 0, fill))
        windows = np.lib.stride_tricks.sliding_window_view(wide, (r, s), (2, 3))[:, :, ::stride[1], ::stride[0]][:, :, :oh, :ow]
        if function == "average" and left + top:
            layer["pool"]["count_include_pad"] = 1
        if function != "average":
            return layer, (windows.max((4, 5)) if function == "max" else windows.min((4, 5)))
        by_width = shifted(windows.sum((4, 5)) * (65536 // s), 16)
        return layer, clipped(shifted(by_width * (65536 // r), 16), precision)

    def sdp(self):
        precision = self.pick("int8", "int16") if self.full else "int8"
        w, h, c = self.between(1, 30), self.between(1, 12), self.between(1, 90)
        layer = {"op": "sdp", "precision": precision, "input": {"width": w, "height": h, "channels": c}, "data": {}}
        x = self.values((1, c, h, w), precision)
        layer["data"]["input"] = self.save("x", x, TYPES[precision])
        value, bs = x, {}
        wide, streamed = precision == "int16" or self.one_in(2), self.pick("kernel", "element")

        def operand(name, stage):
            kind = "int16" if wide else "int8"
            per = self.pick("layer", streamed)
            stage["per"] = per
            if per == "layer":
                stage["value"] = self.between(-120, 120)
                return stage["value"]
            made = self.values((1, c, h, w) if per == "element" else (c,), kind)
            layer["data"][f"bs_{name}"] = self.save(name, made, TYPES[kind])
            return made if per == "element" else made[None, :, None, None]

        both = self.between(0, 2)
        if both != 1:
            alu = bs["alu"] = {"op": self.pick("sum", "max", "min")}
            other = operand("alu", alu)
            value = {"sum": np.add, "max": np.maximum, "min": np.minimum}[alu["op"]](value, other)
        if both != 0:
            mul = bs["mul"] = {}
            value = value * operand("mul", mul)
            bs["shift"] = self.between(0, 6)
            value = np.clip(shifted(value, bs["shift"]), -(1 << 31), (1 << 31) - 1)
        if self.one_in(3):
            bs["relu"] = True
            value = np.maximum(value, 0)
        if any(stage.get("per") in ("kernel", "element") for stage in (bs.get("alu", {}), bs.get("mul", {}))) and precision == "int8":
            bs["operand_bytes"] = 2 if wide else 1
        shift = self.scale_of(value, precision)
        layer["post"] = {"bs": bs, "output": {"shift": shift}}
        return layer, clipped(shifted(value, shift), precision)


KINDS = ("image", "direct", "deconv", "pool", "sdp", "tenbits", "post", "winograd", "fp16", "fp16post", "lrn", "rubik", "bdma")


def copies(dlasim, maker, folder):
    """What a case of the copies has in memory afterwards."""
    run = subprocess.run([dlasim, "export", "layer.json", "--hw", maker.machine, "--form", "case", "--to", "case.json", "--quiet"], cwd=folder,
                         capture_output=True, text=True, timeout=300)
    if run.returncode:
        return f"refused: {run.stderr.strip()}" if run.returncode == 2 else f"exit {run.returncode}: {run.stderr.strip()}"
    case = json.loads(Path(folder, "case.json").read_text())
    memory = {}
    for fill in case["memory_fill"]:
        memory.update(enumerate(bytes.fromhex(fill["hex"]), int(fill["addr"], 16)))
    for source, destination, count in maker.blocks:
        memory.update({destination + i: memory.get(source + i, 0) for i in range(count)})
    regions = [(int(region["addr"], 16), region["bytes"]) for region in case["expected"]["output"]]
    if not all(any(at <= destination and destination + count <= at + size for at, size in regions) for _, destination, count in maker.blocks):
        return "a copy outside of the regions that the case compares"
    for region in case["expected"]["output"]:
        begin = int(region["addr"], 16)
        found = zlib.crc32(bytes(memory.get(begin + i, 0) for i in range(region["bytes"])))
        if found != int(region["crc32"], 16):
            return f"{region['bytes']} bytes at {begin:#x} have CRC {region['crc32']}, expected {found:08x}"
    again = subprocess.run([dlasim, "replay", "case.json", "--hazards", "--quiet"], cwd=folder, capture_output=True, text=True, timeout=300)
    return "right" if again.returncode == 0 else f"exit {again.returncode}: {again.stderr.strip()}"


def judge(dlasim, kind, seed):
    """"right", "refused: ..", or what is wrong."""
    maker = Maker(kind, seed)
    layer, want = maker.make()
    with tempfile.TemporaryDirectory() as folder:
        for name, tensor in maker.files.items():
            np.save(Path(folder, f"{name}.npy"), tensor)
        Path(folder, "layer.json").write_text(json.dumps(layer))
        if maker.blocks:
            return copies(dlasim, maker, folder), layer, maker.machine
        run = subprocess.run([dlasim, "run", "layer.json", "--hw", maker.machine, "--hazards", "--out", "out", "--quiet"], cwd=folder,
                             capture_output=True, text=True, timeout=300)
        message = (run.stderr.strip().splitlines() or [""])[0]
        if run.returncode == 2:
            return f"refused: {message}", layer, maker.machine
        if run.returncode != 0:
            result = Path(folder, "out", "result.json")
            rules = json.loads(result.read_text())["hazards"]["rules"]["list"][:1] if result.exists() else ""
            return f"exit {run.returncode}: {message} {rules}", layer, maker.machine
        got = np.load(Path(folder, "out", "output.npy"))
    if got.shape != want.shape:
        return f"an output of {got.shape}, expected {want.shape}", layer, maker.machine
    if maker.atol:
        differs = np.abs(got - want) > maker.atol
    else:  # of reshapes every bit; elsewhere both zeros are zero
        differs = got.view(np.int16) != want.view(np.int16) if kind == "rubik" and got.itemsize == 2 else got != want
    wrong = np.argwhere(differs)
    if len(wrong):
        at = tuple(wrong[0])
        return f"{len(wrong)} of {want.size} outputs differ, the first at {tuple(map(int, at))}: {got[at]}, expected {want[at]}", layer, maker.machine
    return "right", layer, maker.machine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", default="build/dlasim")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", type=int, default=5)
    options = parser.parse_args()
    dlasim = str(Path(options.dlasim).resolve())
    good = True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kind in options.kind:
            seeds = range(options.first, options.first + options.count)
            counts, shown, reasons = Counter(), 0, Counter()
            for seed, (message, layer, machine) in zip(seeds, pool.map(lambda s: judge(dlasim, kind, s), seeds)):
                counts[message if message == "right" else "refused" if message.startswith("refused") else "wrong"] += 1
                if message.startswith("refused"):
                    reasons["".join("N" if c.isdigit() else c for c in message).replace("NN", "N").replace("NN", "N")] += 1
                elif message != "right" and shown < options.show:
                    shown += 1
                    print(f"{kind} {seed} on {machine}: {message}\n  {json.dumps(layer)}")
            print(f"{kind}: {options.count} layers, {counts['right']} right, {counts['refused']} refused, {counts['wrong']} wrong", flush=True)
            for reason, number in reasons.most_common(3):
                print(f"  {number} {reason}")
            good &= counts["wrong"] == 0 and counts["right"] * 2 >= options.count
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
