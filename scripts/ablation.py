#!/usr/bin/env python3
"""Removes what a run's cycles were charged to, and says how many cycles that gains.

usage: ablation.py DLASIM [--page scripts/figures/EXPERIMENTS.md]

Each run is made as it is and with the named thing taken away. `charged` is what the causes that begin with the name had, `gained` what
the run without it takes less, `takes over` the cause that grows most. --page writes the table into the page.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).resolve().parents[1] / "models"
BEGIN, END = "<!-- ablation -->", "<!-- /ablation -->"


def conv(size, channels, kernels, kernel, **more):
    return {"name": f"{size} x {size} x {channels}, {kernels} of {kernel} x {kernel}", "input": {"width": size, "height": size, "channels": channels},
            "kernel": {"width": kernel, "height": kernel, "count": kernels}, "post": {"output": {"shift": 9}}} | more


def model(name):
    return json.loads((MODELS / f"{name}.json").read_text()) | {"name": name}


SMALL, LARGE, FULL = ["--hw", "nv_small"], ["--hw", "nv_large"], ["--hw", "nv_full"]
IDEAL = "ideal:latency=32"
# layer, machine, memory, the name that causes begin with, what takes it away: a memory and settings
RUNS = [
    (conv(8, 64, 512, 3), LARGE, "ideal:latency=400", "memory/latency", "ideal:latency=1", []),
    (conv(14, 32, 64, 1), FULL, "ideal:latency=1000", "memory/latency", "ideal:latency=1", []),
    (conv(16, 64, 64, 3), SMALL, "ideal:latency=500", "memory/latency", "ideal:latency=1", []),
    (model("googlenet_norm2"), FULL, "ideal:latency=600", "memory/latency", "ideal:latency=1", []),
    (conv(8, 256, 512, 3), LARGE, "ideal:interval=4", "memory/bandwidth", "ideal:interval=1", []),
    (conv(28, 256, 64, 1), SMALL, "ideal:interval=4", "memory/bandwidth", "ideal:interval=1", []),
    (model("alexnet_fc7"), LARGE, "ideal:interval=2", "memory/bandwidth", "ideal:interval=1", []),
    (model("resnet50_pool1"), LARGE, "ideal:interval=8", "memory/bandwidth", "ideal:interval=1", []),
    (model("alexnet_fc7"), LARGE, "ddr4-2400", "memory/dram", IDEAL, []),
    (model("alexnet_fc7"), LARGE, "ddr4-3200", "memory/dram", IDEAL, []),
    (model("resnet50_res5a_branch2b"), LARGE, "ddr4-2400", "memory/dram", IDEAL, []),
    (conv(8, 256, 512, 3), FULL, "lpddr4-3200:channels=1", "memory/dram", IDEAL, []),
    (model("alexnet_fc7"), LARGE, "ddr4-3200:timing.tRFC=2000", "memory/dram_refresh", "ddr4-3200:timing.tRFC=2000,refresh.policy=none", []),
    (model("resnet50_res5a_branch2b"), LARGE, "ddr4-3200:timing.tRFC=3000", "memory/dram_refresh", "ddr4-3200:timing.tRFC=3000,refresh.policy=none", []),
    (model("resnet50_res2a_branch2c_add"), LARGE, IDEAL, "array_idle/accumulator_full", IDEAL, ["mac.atomic_k=64"]),
    (model("resnet50_res3a_branch2b"), LARGE, IDEAL, "array/computing", IDEAL, ["mac.atomic_k=64"]),
    (model("vgg16_conv4_1"), SMALL, IDEAL, "array/computing", IDEAL, ["mac.atomic_c=16"]),
    (model("resnet50_pool1"), LARGE, IDEAL, "pdp/pace", IDEAL, ["mac.atomic_k=64", "pdp.throughput=16"]),
    ({"name": "lrn", "op": "lrn", "input": {"width": 16, "height": 16, "channels": 32}, "lrn": {"size": 5}}, SMALL, IDEAL, "cdp/pace", IDEAL, ["cdp.throughput=2"]),
    (conv(2, 8, 8, 1), SMALL, "ideal:write_latency=5000", "end/write_back", "ideal:write_latency=1", []),
]


def leaves(tree, path=""):
    for key, value in tree.items():
        yield from leaves(value, f"{path}{key}/") if isinstance(value, dict) else [(path + key, value)]


class Runner:
    def __init__(self, dlasim, folder):
        self.dlasim, self.folder = dlasim, Path(folder)

    def run(self, layer, machine, memory, settings):
        file = self.folder / "layer.json"
        file.write_text(json.dumps(layer))
        words = [self.dlasim, "run", file, *machine, "--memory", memory, "--timing-only", "--quiet", "--out", self.folder / "out"]
        for setting in settings:
            words += ["--set", setting]
        subprocess.run(words, check=True)
        result = json.loads((self.folder / "out/result.json").read_text())
        return result["cycles"], dict(leaves(result["causes"]))


def row(runner, layer, machine, memory, name, without, settings):
    cycles, causes = runner.run(layer, machine, memory, [])
    after, left = runner.run(layer, machine, without, settings)
    charged = sum(spent for path, spent in causes.items() if path.startswith(name)) - sum(spent for path, spent in left.items() if path.startswith(name))
    gained = cycles - after
    grown = max(((left.get(path, 0) - causes.get(path, 0), path) for path in left if not path.startswith(name)), default=(0, ""))
    over = f"`{grown[1]}` {grown[0]:,}" if grown[0] > charged / 50 else ""
    away = ", ".join([without] * (without != memory) + settings)
    return (layer["name"], machine[1], memory, name, cycles, charged, away, gained, over)


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(sys.argv[1]).resolve(), folder)
        rows = [row(runner, *each) for each in RUNS]
    lines = ["| layer | machine | memory | cause | cycles | charged | taken away by | gained | share | takes over |",
             "|---|---|---|---|---:|---:|---|---:|---:|---|"]
    for name, machine, memory, cause, cycles, charged, away, gained, over in rows:
        share = f"{100 * gained / charged:.0f} %" if charged else "-"
        lines.append(f"| {name} | {machine} | {memory} | `{cause}` | {cycles:,} | {charged:,} | {away} | {gained:,} | {share} | {over} |")
    table = "\n".join(lines)
    print(table)
    if len(sys.argv) > 3 and sys.argv[2] == "--page":
        page = Path(sys.argv[3])
        text = page.read_text()
        head, rest = text.split(BEGIN)
        page.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
