#!/usr/bin/env python3
"""Sweeps killed at random moments and resumed: the tables are the same to the byte, no point runs twice, nobody is left alive.

usage: killed_sweeps.py DLASIM SWEEPS [SEED]

Every sweep is killed three times and then left alone. A point that has ended before a kill is not touched again. A kill waits until a
number of points, drawn at random, has ended and then a part of the time that a point takes: how fast the system is does not matter.
"""
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAYER = {"input": {"width": 24, "height": 24, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 32}}
WANTED = {"base": {"layer": LAYER, "hw": "nv_small"}, "axes": {"latency": [10, 40, 160], "kernel.count": [16, 32, 33], "interval": [1, 4]}}
FOREIGN = {"base": {"layer": LAYER, "hw": "nv_small"}, "axes": {"latency": [11, 41, 161], "kernel.count": [24, 48, 64], "interval": [2, 3]}}
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
POINTS = 18  # the rows of either table
TABLES = ("points.csv", "points.json")


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


def start(dlasim, folder, sweep, *how):
    return subprocess.Popen([dlasim, "sweep", sweep, "--jobs", "3", "--out", "out", "--quiet", *how], cwd=folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def finish(process):
    _, said = process.communicate(timeout=200)
    return process.returncode, said


def expect(condition, what):
    if not condition:
        sys.exit(f"killed_sweeps: {what}")


def select(folder, sql):
    if not (folder / "out/points.db").exists():
        return []
    database = sqlite3.connect(folder / "out/points.db")
    try:
        return database.execute(sql).fetchall()
    except sqlite3.OperationalError:  # killed before it had begun
        return []
    finally:
        database.close()


def modified(path):
    """When, in seconds; 0 when the file is gone: a sweep that begins anew removes what was there."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0


def wait_for(folder, process, points, pause):
    """Until the process has written the results of so many points, or ended; then the pause, in seconds."""
    begun = time.time()
    while process.poll() is None and sum(modified(path) > begun for path in folder.glob("out/points/*/result.json")) < points:
        time.sleep(0.001)
    if process.poll() is None:
        time.sleep(pause)


def identity(folder):
    """Of the sweep whose points the folder has."""
    rows = select(folder, "SELECT value FROM identity WHERE key = 'sweep'")
    return rows[0][0] if rows else None


def ended_points(folder):
    """Points that are kept, and when their results were written."""
    points = [row[0] for row in select(folder, "SELECT point FROM kept")]
    return {point: (folder / f"out/points/{point:04}/result.json").stat().st_mtime_ns for point in points}


def main():
    dlasim, sweeps, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder = Path(tempfile.mkdtemp(prefix="dlasim_kill_")).resolve()
    pick = random.Random(seed)
    try:
        (folder / "wanted.json").write_text(json.dumps(WANTED))
        (folder / "foreign.json").write_text(json.dumps(FOREIGN))
        begun = time.monotonic()
        expect(finish(start(dlasim, folder, "wanted.json")) == (0, ""), "the undisturbed sweep fails")
        point = (time.monotonic() - begun) / POINTS
        tables = {name: (folder / "out" / name).read_bytes() for name in TABLES}
        expect(tables["points.csv"].count(b"\n") == POINTS + 1, f"the undisturbed sweep has not {POINTS} rows")
        wanted = identity(folder)
        kills = running = kept = 0
        for number in range(sweeps):
            # Every second one begins in a folder with rows of another sweep, so that one that survives is seen.
            if number % 2 != 0:
                expect(finish(start(dlasim, folder, "foreign.json", "--restart"))[0] == 0, "the other sweep fails")
            how = "--restart"
            for _ in range(3):
                to_run = POINTS - (len(ended_points(folder)) if how == "--resume" else 0)
                process, by = start(dlasim, folder, "wanted.json", how), SIGNALS[kills % len(SIGNALS)]
                wait_for(folder, process, pick.randrange(max(1, to_run - 3)), pick.uniform(0, point))
                running += process.poll() is None
                kills += 1
                process.send_signal(by)
                status, said = finish(process)
                expect(status in (0, 130, -by), f"a sweep ended by {by.name} ends with {status}: {said}")
                how = "--resume" if identity(folder) in (None, wanted) else "--restart"  # killed before the folder was its own
                if how == "--restart":
                    continue
                before = ended_points(folder)
                kept = max(kept, len(before))
                again = start(dlasim, folder, "wanted.json", "--resume") if pick.random() < 0.3 else None
                if again:
                    time.sleep(pick.uniform(0, 2 * point))
                    again.send_signal(signal.SIGKILL)
                    finish(again)
                    expect(before.items() <= ended_points(folder).items(), "a point that had ended is lost or ran twice")
            before = ended_points(folder) if how == "--resume" else {}
            status, said = finish(start(dlasim, folder, "wanted.json", how))
            expect((status, said) == (0, ""), f"sweep {number} after its kills ends with {status}: {said}")
            expect(before.items() <= ended_points(folder).items(), f"points of sweep {number} ran twice")
            for name, text in tables.items():
                expect((folder / "out" / name).read_bytes() == text, f"{name} of sweep {number} differs")
            expect(not alive_in(folder), f"processes are alive after sweep {number}: {alive_in(folder)}")
            left = [str(p) for p in (folder / "out").rglob(".*") if p.is_file() and p.name != ".lock"]
            expect(not left, f"temporary files are left after sweep {number}: {left}")
        expect(running * 2 > kills, f"only {running} of {kills} sweeps were running when they were killed")
        expect(kept > 0, "no sweep had kept a point when it was killed")
        print(f"{sweeps} sweeps, {kills} kills ({running} of a sweep that was running), {sweeps} tables of {POINTS} rows equal to the byte")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
