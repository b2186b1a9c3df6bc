#!/usr/bin/env python3
"""Writes the table of measured programs that dlasim has inside: src/results/report/measured_programs.csv.

usage: measured_programs.py --dlasim PATH [--jobs N] FOLDER...     (to standard output)

Each case of the folders is replayed. A row is an operation of a case: name of the case, machine, events that were compared, signals that
differ, units with their modes, sizes of these units. Rows whose machine, modes and sizes an earlier one has are omitted, and so are cases in
which the reference hangs. Python standard library only.
"""
import argparse
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def rows_of(dlasim, case):
    """The operations of a case, as cells."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([dlasim, "replay", str(case), "--quiet", "--no-causes", "--out", folder], capture_output=True, text=True, timeout=600)
        if run.returncode not in (0, 1):
            raise RuntimeError(f"{case}: exit status {run.returncode}: {run.stderr.strip()[:200]}")
        result = json.loads((Path(folder) / "result.json").read_text())
    name = result["name"].split(".", 1)[-1]
    events = sum(result.get("compared", {}).values())
    return [(name, result["machine"], str(events), str(result["mismatches"]), one["modes"], one["sizes"])
            for one in result["operations"] if "modes" in one]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    cases = sorted((path for folder in options.folders for path in folder.rglob("*.json")), key=lambda path: (path.parent.name, path.name))
    cases = [case for case in cases if json.loads(case.read_text()).get("finished", True)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda case: rows_of(options.dlasim, case), cases))
    known = set()
    for row in (row for rows in results for row in rows):
        if (row[1], row[4], row[5]) not in known:
            known.add((row[1], row[4], row[5]))
            print(";".join(row))


if __name__ == "__main__":
    sys.exit(main())
