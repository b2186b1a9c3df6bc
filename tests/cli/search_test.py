#!/usr/bin/env python3
"""dlasim sweep --search against the whole space: docs/SWEEPS.md.

usage: search_test.py DLASIM [TestCase...]
"""
import json
import math
import os
import signal
import sys
import unittest
from pathlib import Path

import cli_test
from cli_test import SMALL
from sweep_test import SweepCase

TABLES = ("points.csv", "points.json", "sweep.html")


def objectives(row):
    return (row["cycles"], row["total_uj"], row["area_mm2"])


def front(points):
    return {p for p in points if not any(q != p and all(a <= b for a, b in zip(q, p)) for q in points)}


def hypervolume(points, reference):
    """What lies behind the points and in front of the reference, slice by slice of the third objective."""
    points, total = front(points), 0
    heights = sorted({p[2] for p in points}) + [reference[2]]
    for low, high in zip(heights, heights[1:]):
        least, area = reference[1], 0
        for x, y in sorted((p[0], p[1]) for p in points if p[2] <= low):
            if y < least:
                area += (reference[0] - x) * (least - y)
                least = y
        total += area * (high - low)
    return total


class Searched(SweepCase):
    def refused(self, done, *says):  # points of other sweeps may be there
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)

    LAYER = {"input": {"width": 12, "height": 12, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 32}}
    SWEEP = {"base": {"layer": LAYER, "hw": "nv_large", "memory": "ddr4-2400"},
             "axes": {"mac.atomic_c": [8, 16, 32, 48, 64], "mac.atomic_k": [8, 16, 32], "cbuf.banks": [4, 8, 16], "cbuf.bank_depth": [64, 128, 512],
                      "clock_mhz": [500, 1000]}, "exclude": ["mac.atomic_c < mac.atomic_k"]}

    def ran(self, out):
        return {row["point"]: objectives(row) for row in self.rows(out) if row["cycles"] is not None}

    def share(self, whole, found):
        """Of the hypervolume in ratios, as far as the worst of all points."""
        logs = [[tuple(map(math.log, p)) for p in points.values()] for points in (whole, found)]
        reference = [max(column) for column in zip(*logs[0])]
        return hypervolume(logs[1], reference) / hypervolume(logs[0], reference)


class Fronts(Searched):
    def test_a_fifth_of_the_points_finds_the_front(self):
        self.assertIn(self.sweep(self.SWEEP, "--jobs", 2, "--quiet", out="whole").returncode, (0, 4))
        whole, points = self.ran("whole"), len(self.rows("whole"))
        done = self.sweep(self.SWEEP, "--search", points // 5, "--jobs", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.ran("out")
        self.assertLessEqual(len(found), points // 5)
        self.assertEqual({point: whole[point] for point in found}, found)
        self.assertGreaterEqual(self.share(whole, found), 0.95)
        # Without a limit it ends when no other point can be better: then the front is that of the whole space.
        done = self.sweep(self.SWEEP, "--search", points, "--jobs", 2, out="all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no other point can be on the front", done.stdout.splitlines()[-1])
        self.assertEqual(front(self.ran("all").values()), front(whole.values()))
        self.assertLess(len(self.rows("all")), len(whole))  # bounds have spared some


class Workloads(Searched):
    """Three workloads and a requirement: machines, never points of one workload."""
    SWEEP = {"base": {"hw": "nv_large", "memory": "ddr4-2400"},
             "axes": {"mac.atomic_c": [8, 16, 32, 64], "mac.atomic_k": [8, 16, 32], "cbuf.banks": [4, 8, 16, 32], "cbuf.bank_depth": [64, 128, 512]},
             "exclude": ["mac.atomic_c < mac.atomic_k", "mac.atomic_c > 4 * mac.atomic_k"],
             "workloads": [{"network": {"name": name, "plan": {"minimise": "parts"}, "input": {"width": side, "height": side, "channels": channels},
                                        "layers": [{"name": "c", "op": "conv2d", "kernel": {"width": size, "height": size, "count": count}}]}, "weight": weight}
                           for name, side, channels, size, count, weight in (("deep", 6, 64, 3, 64, 1), ("wide", 20, 8, 3, 16, 2), ("flat", 14, 32, 1, 32, 1))]}

    def machines(self, out):
        rows = json.loads((self.folder / out / "machines.json").read_text())
        return {row["machine"]: (row["mean.cycles"], row["mean.total_uj"], row["area_mm2"]) for row in rows if row["meets"]}

    def test_a_fifth_of_the_machines_finds_the_front(self):
        self.assertIn(self.sweep(self.SWEEP, "--timing-only", "--jobs", 2, "--quiet", out="whole").returncode, (0, 4))
        whole = self.machines("whole")
        rows = json.loads((self.folder / "whole/machines.json").read_text())
        cycles, area, power = (sorted(row[column] for row in rows if row["meets"])[2 * len(whole) // 3] for column in ("worst.cycles", "area_mm2", "worst.power_mw"))
        fifth = len(whole) // 5
        for require in ("", f"cycles < {cycles} && area_mm2 < {area} && power_mw < {power}"):
            sweep = self.SWEEP | ({"require": require} if require else {})
            if require:
                self.assertIn(self.sweep(sweep, "--timing-only", "--jobs", 2, "--quiet", "--resume", out="whole").returncode, (0, 4))  # no point runs again
                whole = self.machines("whole")
            for seed in (1, 2, 3):
                done = self.sweep(sweep, "--timing-only", "--search", fifth, "--seed", seed, "--jobs", 2, "--restart")
                self.assertEqual(done.returncode, 0, done.stderr)
                found = self.machines("out")
                self.assertLessEqual(len(json.loads((self.folder / "out/machines.json").read_text())), fifth)
                self.assertEqual({machine: whole[machine] for machine in found}, found)
                share = self.share(whole, found)
                print(f"seed {seed}{', ' if require else ''}{require}: {len(found)} of {fifth} that ran, {len(whole)} machines meet everything, {100 * share:.2f} % of the hypervolume")
                self.assertGreaterEqual(share, 0.95)


class Searches(Searched):
    def test_the_same_seed_goes_the_same_way_whatever_happens(self):
        whole = [self.sweep(self.SWEEP, "--search", 24, "--jobs", jobs, "--quiet", out=f"jobs{jobs}") for jobs in (1, 3)]
        self.assertEqual([done.returncode for done in whole], [0, 0], whole[0].stderr)
        run = self.start(self.SWEEP, "--search", "24")
        for _ in range(11):
            run.stdout.readline()
        run.send_signal(signal.SIGKILL)
        run.communicate(timeout=60)
        self.refused(self.sweep(self.SWEEP, "--search", 24), "unfinished sweep", "--resume")
        self.refused(self.sweep(self.SWEEP, "--search", 24, "--seed", 2, "--resume"), "its options differ")
        done = self.sweep(self.SWEEP, "--search", 24, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[0], r"^1[1-3] points completed earlier$")
        again = self.sweep(self.SWEEP, "--search", 24, "--resume")  # nothing is left to run
        self.assertEqual(again.stdout.splitlines(), ["24 points completed earlier", done.stdout.splitlines()[-1]])
        for name in TABLES:
            texts = {(self.folder / out / name).read_bytes() for out in ("jobs1", "jobs3", "out")}
            self.assertEqual(len(texts), 1, name)
        self.assertEqual(self.sweep(self.SWEEP, "--search", 24, "--seed", 2, "--quiet").returncode, 0)  # a search that has ended is cleared
        self.assertNotEqual((self.folder / "out" / "points.csv").read_bytes(), (self.folder / "jobs1" / "points.csv").read_bytes())

    def test_spaces_of_one_point_of_none_and_of_networks(self):
        one = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10], "cbuf.banks": [32]}}
        self.assertEqual(self.sweep(one, "--search", 9).returncode, 0)
        self.assertEqual(len(self.rows()), 1)
        none = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"mac.atomic_c": [12, 13]}}
        self.refused(self.sweep(none, "--search", 9, out="none"), "none of its points can run")
        network = {"name": "n", "input": {"width": 8, "height": 8, "channels": 8},
                   "layers": [{"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}, "activation": "relu"}]}
        sweep = {"base": {"network": network, "hw": "nv_small"}, "axes": {"latency": [10, 40, 160], "cbuf.banks": [2, 4, 8, 16]}}
        self.assertEqual(self.sweep(sweep, "--search", 100, out="n").returncode, 0)
        self.assertEqual(self.sweep(sweep, out="whole").returncode, 0)
        self.assertEqual(front(self.ran("n").values()), front(self.ran("whole").values()))
        for arguments in (["--search", "0"], ["--search", "9", "--list"], ["--search", "9", "--shard", "1/2"], ["--seed", "2"]):
            self.refused(self.sweep(sweep, *arguments, out="n"), arguments[0])


class Thousand(Fronts, Searches):
    """A layer of ResNet-50 behind a DRAM: 95 % of the hypervolume with a fifth of 1,000 points."""
    SWEEP = {"base": {"layer": str(Path(__file__).resolve().parents[2] / "models/resnet50_res3a_branch2b.json"), "hw": "nv_large", "memory": "ddr4-2400"},
             "axes": {"mac.atomic_c": [8, 16, 32, 64], "mac.atomic_k": [8, 16, 32], "cbuf.banks": [8, 12, 16, 24, 32],
                      "cbuf.bank_depth": [128, 256, 512, 1024, 2048], "timing.tRCD": [12, 14, 16, 18, 20]},
             "exclude": ["mac.atomic_c < mac.atomic_k", "mac.atomic_c > 4 * mac.atomic_k"]}


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
