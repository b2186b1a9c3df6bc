#!/usr/bin/env python3
"""The experiments of scripts/figures/EXPERIMENTS.md: what was published, measured on the simulated machine.

usage: experiments.py [--dlasim PATH] [--jobs N] [--page FILE] [--charts FOLDER] NAME [NAME ...] | all

Prints a table per experiment, the published figure beside the measured one.
--page FILE   also rewrites the tables between the markers of that page
--charts FOLDER   also draws the charts there, PNG and SVG; needs python3-matplotlib
Exit status 1 when a measured figure misses the published one. Python standard library only but for charts. The experiments are in
scripts/figures, a file for each source of published figures.
"""
import argparse
import os
import sys
from pathlib import Path

from figures import array, boards, bound, common, latency, performance, pipeline, yolo

EXPERIMENTS = array.EXPERIMENTS | performance.EXPERIMENTS | boards.EXPERIMENTS | bound.EXPERIMENTS | yolo.EXPERIMENTS | latency.EXPERIMENTS | pipeline.EXPERIMENTS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar=f"{' '.join(EXPERIMENTS)} | all", choices=[*EXPERIMENTS, "all"])
    parser.add_argument("--dlasim", default="build/dlasim")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--page", type=Path)
    parser.add_argument("--charts", type=Path)
    options = parser.parse_args()
    common.set_options(options)
    missed = 0
    for name in EXPERIMENTS if "all" in options.names else options.names:
        table = EXPERIMENTS[name]()
        missed += len(table.missed)
        print(f"{name}\n\n{table.text()}\n", flush=True)
        if options.page:
            begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
            head, rest = options.page.read_text().split(begin, 1)
            options.page.write_text(f"{head}{begin}\n{table.text()}\n{end}{rest.split(end, 1)[1]}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
