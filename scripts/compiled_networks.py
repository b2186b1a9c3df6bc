#!/usr/bin/env python3
"""Networks of which NVIDIA's compiler has made files, planned by dlasim for the same machine and memory: whose program is faster?

usage: compiled_networks.py --dlasim DLASIM [--only NAME[,NAME]] FOLDER

FOLDER has NAME.prototxt and NAME_MACHINE.nvdla (nv_small, nv_large: int8; nv_full: fp16; nv_full_int8). The network is made as an ONNX
model with random weights, batch normalisations as part of the convolution; in int8 its weights have one scale per tensor as those of the
compiler, or one per kernel where NAME ends with _perfilter. The file runs in `--mode overlap`. Both with ideal memory, the network without
CVSRAM, which the files do not use. A row a file; exit status 1 if a file is faster.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from board_networks import Network

MACHINES = {"nv_small": ("nv_small", []), "nv_large": ("nv_large", []), "nv_full": ("nv_full", ["--precision", "fp16"]), "nv_full_int8": ("nv_full", [])}


class Quantised(Network):
    """As the compiler has it: weights are integers with one scale per tensor, and what layers read has a scale."""

    def __init__(self, *shape):
        super().__init__(*shape)
        self.grids = {}

    def add(self, op, inputs, shape, **attributes):
        if op in ("Conv", "Gemm", "Add", "MaxPool", "AveragePool", "Flatten"):
            inputs = [self.rounded(x) if x in self.shapes else x for x in inputs]
        return super().add(op, inputs, shape, **attributes)

    def rounded(self, x):
        sums = x.startswith(("conv", "gemm"))  # that another step may take on
        if x not in self.grids and self.shapes[x] and not sums:
            grid = [super().constant(4 / 127), super().constant(0, "i1")]
            self.grids[x] = super().add("DequantizeLinear", [super().add("QuantizeLinear", [x, *grid], self.shapes[x]), *grid], self.shapes[x])
            self.grids[self.grids[x]] = self.grids[x]
        return self.grids.get(x, x)

    def constant(self, array, kind="f4"):
        array = np.asarray(array)
        if kind != "f4" or array.ndim < 2:
            return super().constant(array, kind)
        scale = np.abs(array).max() / 127
        grid = [super().constant(scale), super().constant(0, "i1")]
        return self.add("DequantizeLinear", [super().constant(np.rint(array / scale), "i1"), *grid], None)


def layers(text):
    """Name, type, sources and all numbers of each layer."""
    for line in re.findall(r"^layer \{(.*)\}\s*$", text, re.M):
        words = dict(re.findall(r"(\w+): \"?([\w.-]+)\"?", line))
        yield {**words, "bottoms": re.findall(r'bottom: "(\w+)"', line), "dims": [int(d) for d in re.findall(r"dim: (\d+)", line)]}


def normalised(layer):
    """A batch normalisation and its scale are weights and bias of the convolution in front."""
    return layer["type"] in ("BatchNorm", "Scale")


def network(made, name, text):
    n, at = None, {}
    for layer in layers(text):
        kind, bottoms = layer["type"], [at[b] for b in layer["bottoms"]]
        number = lambda key, default=0: int(layer.get(key, default))  # noqa: E731
        if kind == "Input":
            n = made(name, *layer["dims"][1:])
            at[layer["name"]] = "data"
            continue
        x = bottoms[0]
        if normalised(layer):
            y = x
        elif kind == "Convolution":
            y = n.conv(x, number("num_output"), number("kernel_size"), number("stride", 1), number("pad"), number("group", 1), None, number("dilation", 1))
        elif kind == "InnerProduct":
            y = n.dense(x, number("num_output"), None)
        elif kind == "Pooling":
            average = layer["pool"] == "AVE"
            y = n.pool(x, number("kernel_size"), number("stride", 1), number("pad"), "AveragePool" if average else "MaxPool", 1)
        elif kind == "Eltwise":
            y = n.sum(*bottoms, None)
        elif kind == "LRN":
            y = n.add("LRN", [x], n.shapes[x], size=number("local_size"), alpha=float(layer["alpha"]), beta=float(layer["beta"]), bias=float(layer["k"]))
        elif kind in ("ReLU", "Sigmoid", "TanH"):
            y = n.act(x, {"ReLU": "Relu", "TanH": "Tanh"}.get(kind, kind))
        elif kind == "Split":
            y = x
        elif kind == "Softmax":
            y = n.add("Softmax", [x], n.shapes[x], axis=1)
        else:
            raise SystemExit(f"{name}: layer {layer['name']} of type {kind}")
        at[layer["top"]] = y
    n.outputs = [y]
    return n


def cycles(dlasim, folder, *arguments):
    out = folder / "out"
    done = subprocess.run([dlasim, *map(str, arguments), "--timing-only", "--no-causes", "--quiet", "--out", out], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads((out / "result.json").read_text())["cycles"], ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("folder")
    options = parser.parse_args()
    dlasim, slower, rows = str(Path(options.dlasim).resolve()), 0, 0
    print("| network | machine | file of the compiler, cycles | dlasim, cycles | |\n|---|---|---:|---:|---:|")
    for prototxt in sorted(Path(options.folder).glob("*.prototxt")):
        if options.only and prototxt.stem not in options.only.split(","):
            continue
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            for suffix, (machine, more) in MACHINES.items():
                file = prototxt.parent / f"{prototxt.stem}_{suffix}.nvdla"
                if not file.exists():
                    continue
                made = Network if "fp16" in more or prototxt.stem.endswith("_perfilter") else Quantised
                network(made, prototxt.stem, prototxt.read_text()).save(place / "n.onnx")
                theirs, why = cycles(dlasim, place, "loadable", file, "--hw", machine)
                ours, problem = cycles(dlasim, place, "net", place / "n.onnx", "--input", place / "n.npy", "--hw", machine, "--no-cvsram", *more)
                if theirs is None or ours is None:
                    print(f"| {prototxt.stem} | {suffix} | {theirs or why} | {ours or problem} | |", flush=True)
                    continue
                rows += 1
                slower += ours > theirs
                print(f"| {prototxt.stem} | {suffix} | {theirs:,} | {ours:,} | {100 * (ours / theirs - 1):+.1f} % |", flush=True)
    print(f"\n{rows} files, {slower} faster than dlasim's program")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
