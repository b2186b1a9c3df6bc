#!/usr/bin/env python3
"""Sweeps killed at random moments and run again: the tables are the same to the byte, nobody is left alive.

usage: killed_sweeps.py DLASIM KILLS [SEED]

Half of the killed sweeps are another one in the same folder, so that a row of it that survives is seen.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAYER = {"input": {"width": 24, "height": 24, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 32}}
WANTED = {"base": {"layer": LAYER, "hw": "nv_small"}, "axes": {"latency": [10, 40, 160], "kernel.count": [16, 32, 33], "interval": [1, 4]}}
FOREIGN = {"base": {"layer": LAYER, "hw": "nv_small"}, "axes": {"latency": [11, 41, 161], "kernel.count": [24, 48, 64], "interval": [2, 3]}}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def alive_in(folder):
    """Processes that work in the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "cwd") == str(folder) and "State:\tZ" not in (entry / "status").read_text():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def start(dlasim, folder, sweep):
    return subprocess.Popen([dlasim, "sweep", sweep, "--jobs", "3", "--out", "out", "--quiet"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    _, said = process.communicate(timeout=200)
    return process.returncode, said


def expect(condition, what):
    if not condition:
        sys.exit(f"killed_sweeps: {what}")


def main():
    dlasim, kills, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder = Path(tempfile.mkdtemp(prefix="dlasim_kill_")).resolve()
    pick = random.Random(seed)
    try:
        (folder / "wanted.json").write_text(json.dumps(WANTED))
        (folder / "foreign.json").write_text(json.dumps(FOREIGN))
        begun = time.monotonic()
        expect(finish(start(dlasim, folder, "wanted.json")) == (0, ""), "the undisturbed sweep fails")
        length = time.monotonic() - begun
        tables = {name: (folder / "out" / name).read_bytes() for name in ("points.csv", "points.json")}
        expect(tables["points.csv"].count(b"\n") == 19, "the undisturbed sweep has not 18 rows")
        running = 0
        for kill in range(kills):
            for name in tables:
                (folder / "out" / name).unlink(missing_ok=True)
            process, how = start(dlasim, folder, pick.choice(["foreign.json", "wanted.json"])), SIGNALS[kill % len(SIGNALS)]
            time.sleep(pick.uniform(0, 1.05 * length))
            running += process.poll() is None
            process.send_signal(how)
            if how != signal.SIGKILL:
                process.wait()      # it ends its children; the kernel ends those of a killed one while the next sweep starts
            again = start(dlasim, folder, "wanted.json")
            status, said = finish(process)
            expect(status in (0, 130, -how), f"a sweep ended by {how.name} ends with {status}: {said}")
            status, said = finish(again)
            expect((status, said) == (0, ""), f"the sweep after kill {kill} by {how.name} ends with {status}: {said}")
            for name, text in tables.items():
                expect((folder / "out" / name).read_bytes() == text, f"{name} differs after kill {kill} by {how.name}")
            expect(not alive_in(folder), f"processes are alive after kill {kill}: {alive_in(folder)}")
            left = [str(p) for p in (folder / "out").rglob(".*") if p.is_file() and p.name != ".lock"]
            expect(not left, f"temporary files are left after kill {kill}: {left}")
        expect(running * 2 > kills, f"only {running} of {kills} sweeps were running when they were killed")
        print(f"{kills} kills ({running} of a sweep that was running), {kills} tables of 18 rows equal to the byte, nobody alive")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
