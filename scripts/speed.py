#!/usr/bin/env python3
"""Measures the simulator's speed with tests/bench/machine_bench and writes the table T2 of scripts/figures/EXPERIMENTS.md.

usage: speed.py [--bench PATH] [--page FILE] [--filter REGEX]

Simulated cycles per second of CPU time inside the run, one core. Python standard library only.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

from page_table import write_table



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/tests/bench/machine_bench")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--filter", default=".")
    options = parser.parse_args()
    run = subprocess.run([options.bench, "--benchmark_format=json", f"--benchmark_filter={options.filter}", "--benchmark_repetitions=3"],
                         capture_output=True, text=True, check=True)
    best = {}
    for row in json.loads(run.stdout)["benchmarks"]:
        if row["run_type"] != "iteration":
            continue
        name = row["name"].split("/")[1]
        best[name] = max(best.get(name, (0, 0)), (row["cycles/s"], row["cycles"]))
    flags = set(next((line.split() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), []))
    processor = "an x86-64 processor with " + ("AVX-512" if "avx512bw" in flags else "AVX2" if "avx2" in flags else "SSE2")
    lines = ["| benchmark | simulated cycles | million cycles a second |", "|---|---:|---:|"]
    lines += [f"| `{name}` | {cycles:,.0f} | {rate / 1e6:.1f} |" for name, (rate, cycles) in best.items()]
    table = "\n".join(lines + ["", f"One core of {processor}; the best of three repetitions."])
    print(table)
    if options.page:
        write_table(options.page, "speed", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
