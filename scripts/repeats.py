#!/usr/bin/env python3
"""What it saves that time which repeats itself is taken in one step: networks without values, an ideal memory.

usage: repeats.py DLASIM [--page FILE]

Every network runs with --repeats simulate and skip in turn, five times each. Reported are the medians of user and system time of the whole
command, causes included, and how many cycles were skipped. Nothing else should run meanwhile.

--page  write the table between the marks of this page

Exit status 1 if the results are not the same bytes. Python standard library only.
"""
import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from page_table import write_table

NETWORKS = Path(__file__).resolve().parents[1] / "models/networks"
RUNS = 5


def measure(dlasim, network, hardware, repeats):
    """CPU seconds, bytes of result.json, cycles skipped of one run."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([dlasim, "run", NETWORKS / f"{network}.json", "--hw", hardware, "--timing-only", "--reproducible", "--quiet",
                               "--times", "--repeats", repeats, "--out", folder], check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        skipped = re.search(r"(\d+) cycles were as others before", done.stderr)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, Path(folder, "result.json").read_bytes(), int(skipped[1]) if skipped else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dlasim", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    lines = ["| network | hardware | cycles | skipped | every cycle simulated, s | skipped, s | |", "|---|---|---:|---:|---:|---:|---:|"]
    for hardware in ("nv_large", "nv_small"):
        for network in ("resnet50", "mobilenet_v1", "vgg16", "squeezenet_v1_1"):
            seconds, results = {"simulate": [], "skip": []}, set()
            for _ in range(RUNS):
                for repeats, taken in seconds.items():
                    second, result, skipped = measure(options.dlasim.resolve(), network, hardware, repeats)
                    taken.append(second)
                    results.add(result)
            if len(results) != 1:
                sys.exit(f"{network} on {hardware}: other results")
            cycles = int(re.search(rb'"cycles": (\d+)', results.pop())[1])
            simulated, fast = (statistics.median(taken) for taken in seconds.values())
            lines.append(f"| {network} | {hardware} | {cycles:,} | {100 * skipped / cycles:.0f} % | {simulated:.3g} | {fast:.3g} | "
                         f"{100 * (fast / simulated - 1):+.0f} % |")
            print(lines[-1], file=sys.stderr, flush=True)
    table = "\n".join(lines)
    print(table)
    if options.page:
        write_table(options.page, "repeats", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
