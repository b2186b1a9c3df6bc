#!/usr/bin/env python3
"""What the pages and the data of the repository promise.

usage: pages.py [data]     no argument: all. Names file and place, exits 1.

data       the table of tests/data/README.md is true: every archive, its number of files, its checksum
"""
import hashlib
import re
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def check_data():
    folder = ROOT / "tests/data"
    rows = re.findall(r"^\| (\S+\.tar\.xz) \| (\d+) \| ([0-9a-f]{64}) \|", (folder / "README.md").read_text(), re.M)
    told, there = {row[0] for row in rows}, {p.name for p in folder.glob("*.tar.xz")}
    for name in sorted(told ^ there):
        yield f"tests/data/{name}: " + ("no row in README.md" if name in there else "a row in README.md, but no file")
    for name, files, checksum in rows:
        if name not in there:
            continue
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != checksum:
            yield f"tests/data/{name}: not the checksum of README.md"
        with tarfile.open(folder / name) as archive:
            found = sum(member.isfile() for member in archive)
        if found != int(files):
            yield f"tests/data/{name}: {found} files, README.md says {files}"


CHECKS = {"data": check_data}


def main():
    problems = [p for name in (sys.argv[1:] or CHECKS) for p in CHECKS[name]()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
