#!/usr/bin/env python3
"""Processor time of whole networks with two builds of dlasim, run in turn.

usage: seconds.py OLD NEW [--name TEXT] [--only TEXT]

Both are binaries of dlasim; they must take the same number of cycles. Reported are the medians of user and system time of the whole command,
causes included. Nothing else should run meanwhile.

--name  what OLD is called in the table: its commit
--only  the work with this text in its row

Exit status 1 if cycles differ. Python standard library only.
"""
import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from cpu_time import cpu_time

NETWORKS = Path(__file__).resolve().parents[1] / "models/networks"
# network, hardware, memory, values, runs of each
WORK = [
    ("resnet50", "nv_large", "ideal", False, 5),
    ("resnet50", "nv_large", "ddr4-3200", False, 5),
    ("resnet50", "nv_large", "ddr4-3200", True, 5),
    ("resnet50", "nv_small", "ideal", False, 3),
    ("resnet50", "nv_small", "ddr4-3200", False, 3),
    ("vgg16", "nv_small", "ddr4-3200", True, 1),
]


def measure(dlasim, network, hardware, memory, values, folder):
    """CPU seconds and cycles of one run."""
    seconds, _, _ = cpu_time([dlasim, "net", NETWORKS / f"{network}.json", "--hw", hardware, "--memory", memory, "--quiet", "--out", folder,
                              *([] if values else ["--timing-only"])])
    return seconds, json.loads(Path(folder, "result.json").read_text())["cycles"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--name", default="old")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    lines = [f"| network | hardware, memory | values | cycles | {options.name}, s | now, s | | runs of each |", "|---|---|---|---:|---:|---:|---:|---:|"]
    for network, hardware, memory, values, runs in WORK:
        row = f"| {network} | {hardware}, {memory} | {'yes' if values else 'no'} |"
        if options.only not in row:
            continue
        seconds, cycles = ([], []), set()
        for _ in range(runs):
            for dlasim, taken in zip((options.old, options.new), seconds):
                with tempfile.TemporaryDirectory() as folder:
                    second, cycle = measure(dlasim.resolve(), network, hardware, memory, values, folder)
                taken.append(second)
                cycles.add(cycle)
        if len(cycles) != 1:
            sys.exit(f"{network} on {hardware}, {memory}: {sorted(cycles)} cycles")
        old, new = map(statistics.median, seconds)
        lines.append(f"{row} {cycles.pop():,} | {old:.3g} | {new:.3g} | {100 * (new / old - 1):+.0f} % | {runs} |")
        print(lines[-1], file=sys.stderr, flush=True)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
