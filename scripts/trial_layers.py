#!/usr/bin/env python3
"""Does every layer of some networks run on some machines? Plans all of them, runs none, and counts.

usage: trial_layers.py NETWORK.json.. [--dlasim PATH] [--hw PRESET..] [--all] [--csv FILE]

A network is a list of layers {name, op, in, kernel, stride, pad, dilation, groups, out}; those that convolve (conv, fc, deconv) are
planned with `dlasim run --plan`. Printed are, by machine, how many fit, how many are tiled into how many parts, and every layer that is
refused with its reason; --all prints every layer that is cut. Python standard library only.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

OPS = {"conv": "conv2d", "fc": "conv2d", "deconv": "deconv2d"}
BINS = ((2, 10), (11, 100), (101, 1000), (1001, 10 ** 9))


def descriptor(layer):
    """A layer of a network as dlasim reads it, int8, without values that matter to a plan."""
    # A negative padding: columns and rows that no window touches.
    pad, size = dict(layer.get("pad", {})), dict(layer["in"])
    for side, along in (("right", "w"), ("bottom", "h")):
        size[along] += min(0, pad.get(side, 0))
        pad[side] = max(0, pad.get(side, 0))
    result = {"op": OPS[layer["op"]],
              "input": {"width": size["w"], "height": size["h"], "channels": size["c"]},
              "kernel": {"width": layer["kernel"]["w"], "height": layer["kernel"]["h"], "count": layer["out"]["k"]},
              "stride": layer.get("stride", {"x": 1, "y": 1}), "pad": pad}
    if layer["op"] == "conv":
        result |= {"dilation": layer.get("dilation", {"x": 1, "y": 1}), "groups": layer.get("groups", 1)}
    return result


def plan(dlasim, hardware, layer, folder):
    """(parts, how, bytes moved for each compulsory one, least cycles), or the reason why not."""
    (folder / "layer.json").write_text(json.dumps(descriptor(layer)))
    done = subprocess.run([dlasim, "run", folder / "layer.json", "--hw", hardware, "--plan", "--quiet", "--out", folder / "out"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip().removeprefix(f"dlasim: {folder / 'layer.json'}: ")
    result = json.loads((folder / "out" / "plan.json").read_text())
    p = result["plan"]
    return p["passes"], p.get("cut", "whole"), p["traffic"]["moved"] / p["traffic"]["compulsory"], result["bound_cycles"]


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("networks", nargs="+", type=Path)
    arguments.add_argument("--dlasim", default="build/dlasim")
    arguments.add_argument("--hw", nargs="+", default=["nv_small", "nv_large", "nv_full"])
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--csv", type=Path)
    options = arguments.parse_args()
    layers = [(network.stem, layer) for network in options.networks
              for layer in json.loads(network.read_text()).get("layers", []) if layer.get("op") in OPS and "in" in layer]
    rows, refused_any = [], False
    with tempfile.TemporaryDirectory() as folder:
        for hardware in options.hw:
            counts = Counter()
            for network, layer in layers:
                found = plan(options.dlasim, hardware, layer, Path(folder))
                name = f"{network}/{layer['name']}"
                if isinstance(found, str):
                    counts["refused"] += 1
                    print(f"{hardware}  {name}: refused, {found}")
                    rows.append([hardware, name, "", "refused", "", "", found])
                    continue
                parts, how, times, cycles = found
                label = "whole" if how == "whole" else next((f"{a}..{b} parts" for a, b in BINS if a <= parts <= b), "1 part")
                counts[label] += 1
                rows.append([hardware, name, parts, how, f"{times:.3f}", cycles, ""])
                if options.all and how != "whole":
                    print(f"{hardware}  {name}: {how}, {times:.2f} times the compulsory traffic")
            print(f"{hardware}  {len(layers)} layers: " + ", ".join(f"{n} {label}" for label, n in sorted(counts.items())))
            refused_any |= counts["refused"] != 0
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows([["hardware", "layer", "passes", "cut", "times_compulsory", "least_cycles", "refused"], *rows])
    return 1 if refused_any else 0


if __name__ == "__main__":
    sys.exit(main())
