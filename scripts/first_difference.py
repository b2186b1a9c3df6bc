#!/usr/bin/env python3
"""The first cycle at whose end the machine is in another state in one of two builds of dlasim, and the units that are.

usage: first_difference.py OLD NEW ARGUMENTS...

Both binaries run with ARGUMENTS (run, net, loadable or replay, the file, options) and `--digest`, first with a line every 4,096 cycles, then
with one a cycle around the first line that differs. A unit whose state is declared in another way in NEW differs from the first cycle on:
the others tell when that is seen.

Exit status 1 if they differ, 2 if one of them cannot run. Python standard library only.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

EVERY = 4096


def states(dlasim, arguments, *more):
    """{(cycle, part): state} in the order of the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "states.csv")
        done = subprocess.run([dlasim, *arguments, "--quiet", "--digest", file, "--out", Path(folder, "out"), *more], capture_output=True, text=True)
        if not file.exists():
            print(f"{dlasim}: {done.stderr.strip()}", file=sys.stderr)
            sys.exit(2)
        lines = file.read_text().splitlines()[1:]
    return {(int(cycle), part): state for cycle, part, state in (line.split(",") for line in lines)}


def differences(old, new):
    """By part the first cycle in which it differs, the first ones first. A run that ends earlier differs from there on."""
    first = {}
    for key in sorted({*old, *new}):
        cycle, part = key
        if old.get(key) != new.get(key):
            first.setdefault(part, cycle)
    return dict(sorted(first.items(), key=lambda each: each[1]))


def main(arguments):
    if len(arguments) < 3 or arguments[0].startswith("-"):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    builds, rest = arguments[:2], arguments[2:]
    coarse = [states(build, rest, "--digest-every", str(EVERY)) for build in builds]
    found = differences(*coarse)
    if not found:
        print(f"the same state in {len({cycle for cycle, _ in coarse[0]})} cycles, {EVERY:,} apart and at interrupts")
        return 0
    until = min(found.values())
    before = max((cycle for cycle, _ in coarse[0] if cycle < until), default=0)
    fine = [states(build, rest, "--digest-every", "1", "--window", f"{before}:{until + 1}") for build in builds]
    found = differences(*fine) or found
    parts = {}
    for part, cycle in found.items():
        parts.setdefault(cycle, []).append(part)
    first = min(parts)
    same = "" if first <= before + 1 else f"; all parts are the same until {first - 1:,}"
    print(f"cycle {first:,}: {', '.join(parts.pop(first))}{same}")
    for cycle, names in parts.items():
        print(f"cycle {cycle:,}: {', '.join(names)}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
