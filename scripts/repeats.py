#!/usr/bin/env python3
"""What it saves that time which repeats itself is taken in one step: networks without values.

usage: repeats.py DLASIM [--page FILE]

Every network runs with every cycle simulated, with cycles skipped, and with cycles skipped and no causes, in turn. Reported are the medians
of user and system time of the whole command, how many cycles were skipped, and the peak memory of the first two. Nothing else should run
meanwhile.

--page  write the table between the marks of this page

Exit status 1 if skipping leads to other bytes of result.json. Python standard library only.
"""
import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path

from cpu_time import cpu_time
from page_table import write_table

NETWORKS = Path(__file__).resolve().parents[1] / "models/networks"
RUNS = 3
WAYS = (["--repeats", "simulate"], ["--repeats", "skip"], ["--repeats", "skip", "--no-causes"])


def measure(dlasim, network, hardware, memory, way):
    """CPU seconds, MB, bytes of result.json, cycles skipped of one run."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, megabytes, said = cpu_time([dlasim, "run", NETWORKS / f"{network}.json", "--hw", hardware, "--memory", memory, "--timing-only",
                                             "--reproducible", "--quiet", "--times", "--out", folder, *way])
        skipped = re.search(r"(\d+) cycles were as others before", said)
        return seconds, megabytes, Path(folder, "result.json").read_bytes(), int(skipped[1]) if skipped else 0


def row(dlasim, network, hardware, memory):
    runs = [[measure(dlasim, network, hardware, memory, way) for way in WAYS] for _ in range(RUNS)]
    results = {result for run in runs for _, _, result, _ in run[:2]}
    if len(results) != 1:
        sys.exit(f"{network} on {hardware}, {memory}: other results")
    cycles = int(re.search(rb'"cycles": (\d+)', results.pop())[1])
    simulated, skipped, no_causes = (statistics.median(run[way][0] for run in runs) for way in range(len(WAYS)))
    peak = [max(run[way][1] for run in runs) for way in range(2)]
    return (f"| {network} | {hardware}, {memory} | {cycles:,} | {100 * runs[0][1][3] / cycles:.0f} % | {simulated:.3g} | {skipped:.3g} | "
            f"{100 * (skipped / simulated - 1):+.0f} % | {no_causes:.3g} | {peak[0]:.0f}, {peak[1]:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dlasim", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    lines = ["| network | hardware, memory | cycles | skipped | all simulated, s | skipped, s | | and no causes, s | MB |", "|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    runs = [(network, hardware, "ideal") for hardware in ("nv_large", "nv_small")
            for network in ("resnet50", "mobilenet_v1", "vgg16", "alexnet", "squeezenet_v1_1")]
    for run in runs + [(network, "nv_large", "ddr4-3200") for network in ("resnet50", "mobilenet_v1")]:
        lines.append(row(options.dlasim.resolve(), *run))
        print(lines[-1], file=sys.stderr, flush=True)
    table = "\n".join(lines)
    print(table)
    if options.page:
        write_table(options.page, "repeats", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
