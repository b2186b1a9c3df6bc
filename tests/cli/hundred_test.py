#!/usr/bin/env python3
"""A hundred machines - ten MAC sizes, ten sizes of CBUF - on a layer of ResNet-50 behind a DRAM: docs/SWEEPS.md.

usage: hundred_test.py DLASIM [Kills | Slurm]

Kills  killed three times at random moments and resumed, and left alone: the same tables
Slurm  the same points as a job array, with slurm_test.py's daemons: the same tables
"""
import os
import random
import signal
import sys
import time
import unittest
from pathlib import Path

import cli_test
import slurm_test
from sweep_test import SweepCase

LAYER = Path(__file__).resolve().parents[2] / "models/resnet50_res3a_branch2b.json"
POINTS = 100


class Hundred(SweepCase):
    SWEEP = {"base": {"layer": str(LAYER), "hw": "nv_large", "memory": "ddr4-2400"},
             "axes": {"mac.atomic_c": [8, 16, 32, 64, 128], "mac.atomic_k": [8, 16, 32, 64],
                      "cbuf.banks": [8, 12, 16, 24, 32], "cbuf.bank_depth": [256, 512]},
             "exclude": ["mac.atomic_c < mac.atomic_k || mac.atomic_c > 4 * mac.atomic_k", {"mac.atomic_c": 128, "mac.atomic_k": 64}]}
    TABLES = ("points.csv", "points.json", "sweep.html")

    def undisturbed(self):
        begun = time.monotonic()
        done = self.sweep(self.SWEEP, "--jobs", 2, "--quiet", out="local")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows("local")
        self.assertEqual([row["verified"] for row in rows], [True] * POINTS)
        self.assertEqual(len({(row["mac.atomic_c"], row["mac.atomic_k"]) for row in rows}), 10)
        return time.monotonic() - begun

    def same_tables(self):
        for name in self.TABLES:
            self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "local" / name).read_bytes(), name)


class Kills(Hundred):
    def test_killed_three_times_the_tables_are_the_same(self):
        seconds, seed = self.undisturbed(), random.randrange(2 ** 32)
        pick = random.Random(seed)
        killed, left = 0, []
        for how in ([], ["--resume"], ["--resume"]):
            run = self.start(self.SWEEP, "--jobs", "2", "--quiet", *how)
            time.sleep(pick.uniform(0.05, 0.3) * seconds)
            run.send_signal(signal.SIGKILL)
            run.communicate(timeout=60)
            killed += run.returncode == -signal.SIGKILL
            left.append(len(list(self.folder.glob("out/points/*/result.json"))))
        self.assertEqual(killed, 3, f"seed {seed}")  # it ran each time
        done = self.sweep(self.SWEEP, "--jobs", 2, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        before = int(done.stdout.split()[0])
        self.assertGreater(before, 0, f"seed {seed}")
        self.assertLess(before, POINTS, f"seed {seed}")
        self.same_tables()
        print(f"alone {seconds:.2f} s; killed with {', '.join(map(str, left))} results, {before} of {POINTS} points kept")


class Slurm(Hundred):
    @classmethod
    def setUpClass(cls):
        cls.cluster = slurm_test.Cluster()
        os.environ["SLURM_CONF"] = cls.cluster.environment["SLURM_CONF"]

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def test_the_tables_are_those_of_this_machine(self):
        seconds, begun = self.undisturbed(), time.monotonic()
        done = self.sweep(self.SWEEP, "--slurm", 4)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.same_tables()
        print(f"alone {seconds:.2f} s, as four tasks {time.monotonic() - begun:.2f} s")


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
