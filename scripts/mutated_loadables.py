#!/usr/bin/env python3
"""Runs mutated files of the NVDLA compiler: each is refused or runs, with other values
if it breaks the rules of software, or the machine says why it hangs - within time and memory.

usage: mutated_loadables.py --dlasim PATH [--count N] [--seed K] [--jobs N] [--seconds S] [--megabytes M] [--keep DIR] FOLDER

A mutation changes bytes: single bits, bytes, 16- and 32-bit words to values that mean something, pieces moved, the end cut off. Files that
fail - a signal, an unknown status, a defect of the simulator, too much time or memory - are kept. Exit status 1 if there is one.
"""
import argparse
import collections
import concurrent.futures
import random
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TELLING = [0, 1, 2, 3, 7, 8, 16, 31, 32, 36, 37, 64, 127, 128, 255, 256, 4095, 4096, 8191, 8192, 32767, 32768, 65535, 1 << 16, 1 << 20, 1 << 30,
           (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
LARGEST = 100_000  # bytes of a file that mutations start from


def hardware_of(path):
    return next((hw for hw in ("nv_small", "nv_large") if path.stem.endswith((hw, hw.replace("nv", "", 1)))), "nv_full")


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data) - 4)
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            at &= ~1
            data[at:at + 2] = (rng.choice(TELLING) & 0xffff).to_bytes(2, "little")
        elif kind == 3:
            at &= ~3
            data[at:at + 4] = rng.choice(TELLING).to_bytes(4, "little")
        elif kind == 4:
            length, to = rng.randrange(1, 64), rng.randrange(len(data) - 4)
            piece = data[at:at + length]
            data[to:to + len(piece)] = piece
        elif rng.randrange(8) == 0:
            del data[at:]
    return bytes(data)


def run(dlasim, path, hardware, seconds, megabytes, folder):
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    command = [dlasim, "loadable", str(path), "--hw", hardware, "--out", str(folder), "--quiet"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds, preexec_fn=limits, errors="replace")
    except subprocess.TimeoutExpired:
        return "too slow", ""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "too slow", ""
    said = (done.stderr.strip().splitlines() or [""])[0]
    if done.returncode not in (0, 1, 2, 3) or (done.returncode > 1 and not said):
        return f"status {done.returncode}", done.stderr[-300:]
    if "expectation" in done.stderr or "bad_alloc" in done.stderr:
        return "defect", done.stderr[-300:]
    return ("ran", "differs", "refused", "machine")[done.returncode], said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dlasim", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="of the processor")
    parser.add_argument("--megabytes", type=int, default=3000)
    parser.add_argument("--keep", type=Path, default=Path("."))
    options = parser.parse_args()
    good = [path for path in sorted(options.folder.rglob("*.nvdla")) if path.stat().st_size <= LARGEST]
    if not good:
        sys.exit(f"{options.folder}: no loadables")
    counts, failed = collections.Counter(), []

    def one(number):
        rng = random.Random(options.seed * 1_000_003 + number)
        start = rng.choice(good)
        with tempfile.TemporaryDirectory(prefix="dlasim_mutated_") as folder:
            path = Path(folder) / start.name
            path.write_bytes(mutated(start.read_bytes(), rng))
            outcome, said = run(options.dlasim, path, hardware_of(start), options.seconds, options.megabytes, Path(folder) / "out")
            if outcome not in ("ran", "differs", "refused", "machine"):
                options.keep.mkdir(parents=True, exist_ok=True)
                kept = options.keep / f"mutated_{options.seed}_{number}_{start.name}"
                kept.write_bytes(path.read_bytes())
                return outcome, f"{kept}: {outcome}: {said}"
            return outcome, said

    reasons = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome, said in pool.map(one, range(options.count)):
            counts[outcome] += 1
            if outcome == "machine":
                reasons[said.partition(": ")[2][-60:]] += 1
            if outcome not in ("ran", "differs", "refused", "machine"):
                failed.append(said)
                print(said, flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
