#!/usr/bin/env python3
"""All convolution layers of ResNet-50 through `dlasim run`, verified, and what that costs.

usage: resnet50.py [--dlasim PATH] [--hw PRESET] [--memory MEMORY] [--list FOLDER] [--page FILE] [--most RATIO]

Each layer is a process of its own, one after the other. Reported are the CPU time of all processes (user and system),
the CPU time inside the simulation (`--times`), and their ratio: reading, tensors, lowering, the
golden convolution, the comparison and the files cost the rest.

--list    only write the descriptors to this folder
--page    write the table between the marks of this page
--most    exit 1 if the ratio is larger

The layers: He et al., Deep Residual Learning for Image Recognition, CVPR 2016, table 1, 50 layers; the stride of a stage
is in its first 1 x 1 convolution and in its projection. 53 layers, 3,855,925,248 multiplications. int8, tensors by
seed, sums shifted to the range of the output. Python standard library only.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cpu_time import cpu_time
from page_table import write_table

MULTIPLICATIONS = 3_855_925_248
STAGES = ((2, 64, 3), (3, 128, 4), (4, 256, 6), (5, 512, 3))  # number, channels of the 3 x 3 convolutions, blocks


def layer(name, size, channels, kernel, stride, kernels, relu):
    """A convolution of [channels][size][size] that leaves size / stride places each way."""
    before = (kernel - 1) // 2
    behind = kernel - stride - before if kernel > stride else 0
    return {
        "name": f"resnet50_{name}",
        "input": {"width": size, "height": size, "channels": channels},
        "kernel": {"width": kernel, "height": kernel, "count": kernels},
        "stride": {"x": stride, "y": stride},
        "pad": {"left": before, "top": before, "right": behind, "bottom": behind},
        "bias": {"shift": 4}, **({"activation": "relu"} if relu else {}),
        # Products of two random bytes have a deviation of 74 * 74: the shift leaves some 42 of it.
        "post": {"output": {"shift": round(math.log2(74 * 74 * math.sqrt(channels * kernel * kernel) / 42))}},
        "partition": "auto",
        "data": {"seed": 1},
    }


def layers():
    """The 53 convolutions in the order of the network."""
    first = layer("conv1", 224, 3, 7, 2, 64, True)
    first["input"] = {"width": 224, "height": 224, "format": "T_A8B8G8R8"}  # the fourth component is there and has weights
    yield first
    size, channels = 56, 64
    for number, narrow, blocks in STAGES:
        for block in range(blocks):
            stride = 2 if block == 0 and number > 2 else 1
            name = f"res{number}{chr(ord('a') + block)}_branch"
            if block == 0:
                yield layer(name + "1", size, channels, 1, stride, 4 * narrow, False)
            yield layer(name + "2a", size, channels, 1, stride, narrow, True)
            size //= stride
            yield layer(name + "2b", size, narrow, 3, 1, narrow, True)
            yield layer(name + "2c", size, narrow, 1, 1, 4 * narrow, False)
            channels = 4 * narrow


def run(descriptor, folder, options):
    path = folder / (descriptor["name"] + ".json")
    path.write_text(json.dumps(descriptor, indent=2) + "\n")
    try:
        seconds, _, said = cpu_time([options.dlasim, "run", path, "--hw", options.hw, "--memory", options.memory, "--out", folder / "out",
                                     "--quiet", "--times"])
    except subprocess.CalledProcessError as failed:
        sys.exit(f"{descriptor['name']}: exit status {failed.returncode}\n{failed.stderr}")
    result = json.loads((folder / "out" / "result.json").read_text())
    if result["verified"] is not True:
        sys.exit(f"{descriptor['name']}: not verified")
    return {"name": descriptor["name"], "cycles": result["cycles"], "macs": result["macs"], "inside": float(said.split("all, ")[1].split()[0]), "all": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", default="build/dlasim")
    parser.add_argument("--hw", default="nv_large")
    parser.add_argument("--memory", default="ddr4-3200")
    parser.add_argument("--list", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--most", type=float)
    options = parser.parse_args()
    network = list(layers())
    if options.list:
        options.list.mkdir(parents=True, exist_ok=True)
        for descriptor in network:
            (options.list / (descriptor["name"] + ".json")).write_text(json.dumps(descriptor, indent=2) + "\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="resnet50_") as folder:
        rows = [run(descriptor, Path(folder), options) for descriptor in network]
    total = {key: sum(row[key] for row in rows) for key in ("cycles", "macs", "inside", "all")}
    ratio = total["all"] / total["inside"]
    for row in rows:
        print(f"{row['name']:28} {row['cycles']:>12,} cycles  {row['all']:6.3f} s, {row['inside']:6.3f} s simulating")
    table = "\n".join([
        "| layers | multiplications | simulated cycles | CPU seconds in all | inside the simulation | ratio |", "|---:|---:|---:|---:|---:|---:|",
        f"| {len(rows)} | {total['macs']:,} | {total['cycles']:,} | {total['all']:.2f} | {total['inside']:.2f} | {ratio:.2f} |",
        "", f"{options.hw}, {options.memory}, int8; every output equal to the golden convolution."])
    print(table)
    if options.page:
        write_table(options.page, "resnet50", table)
    return 1 if options.most and ratio > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
