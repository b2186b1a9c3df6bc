#!/usr/bin/env python3
"""Layers behind every memory: values are verified, cycles grow as bandwidth falls, stepping and skipping agree.

usage: dram_layers.py DLASIM MODELS
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

DLASIM, MODELS = sys.argv[1], Path(sys.argv[2])
# Falling bandwidth; equal ones are not compared with each other. Where a layer does not need the
# bandwidth, latency decides, which has another order: a fifth of a percent is allowed.
MEMORIES = [["ideal:latency=32"], ["hbm2"], ["lpddr5-6400"], ["ddr4-3200", "lpddr4-3200"], ["ddr4-2400"],
            ["lpddr4-3200:channels=2"], ["lpddr4-3200:channels=1"]]


def cycles(layer, hardware, memory, *more):
    with tempfile.TemporaryDirectory() as folder:
        command = [DLASIM, "run", str(MODELS / layer), "--hw", hardware, "--memory", memory, "--out", folder, "--quiet", *more]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        result = json.loads((Path(folder) / "result.json").read_text())
    if result["verified"] is not True:
        sys.exit(f"{layer} behind {memory}: not verified")
    return result["cycles"]


failed = False
for layer, hardware in [("lenet5_fc1.json", "nv_full"), ("googlenet_3a_3x3.json", "nv_full"), ("lenet5_conv2.json", "nv_small")]:
    slowest = 0
    for group in MEMORIES:
        taken = [cycles(layer, hardware, memory) for memory in group]
        for memory, each in zip(group, taken):
            good = each >= slowest * 0.998
            failed = failed or not good
            print(f"{layer} {hardware} {memory}: {each}{'' if good else ', fewer than with more bandwidth'}")
        slowest = max(slowest, min(taken))
for memory in ("ddr4-2400", "hbm2"):
    skipped, stepped = (cycles("lenet5_conv2.json", "nv_full", memory, *more) for more in ([], ["--stepping"]))
    print(f"lenet5_conv2.json nv_full {memory}: {skipped} skipping, {stepped} stepping")
    failed = failed or skipped != stepped
sys.exit(1 if failed else 0)
