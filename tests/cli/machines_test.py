#!/usr/bin/env python3
"""dlasim sweep with workloads, requirements and --best: docs/SWEEPS.md.

usage: machines_test.py DLASIM [TestCase...]
"""
import csv
import json
import os
import sys
import unittest

import cli_test
from sweep_test import SweepCase

SMALL = {"name": "narrow", "input": {"width": 12, "height": 12, "channels": 8},
         "layers": [{"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 16}}]}
LARGE = {"name": "wide", "input": {"width": 16, "height": 16, "channels": 32},
         "layers": [{"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 32}}]}


class Machines(SweepCase):
    SWEEP = {"base": {"hw": "nv_small"}, "axes": {"mac.atomic_c": [8, 16, 32], "cbuf.banks": [8, 32]},
             "workloads": [{"network": SMALL, "weight": 3}, {"network": LARGE}]}

    def close(self, found, expected):
        self.assertLess(abs(found / expected - 1), 1e-5, (found, expected))

    def machines(self, sweep, *arguments, out="out", status=0):
        done = self.sweep(sweep, "--timing-only", "--quiet", *arguments, out=out)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads((self.folder / out / "machines.json").read_text())

    def test_a_row_has_the_figures_of_all_workloads(self):
        machines = self.machines(self.SWEEP)
        rows = self.rows()
        self.assertEqual((len(machines), len(rows)), (6, 12))
        for i, machine in enumerate(machines):
            narrow, wide = rows[2 * i:2 * i + 2]
            self.assertEqual(machine["machine"], narrow["point"])
            self.assertEqual(machine["area_mm2"], wide["area_mm2"])
            self.assertEqual((machine["narrow.cycles"], machine["wide.cycles"]), (narrow["cycles"], wide["cycles"]))
            time = 3 * narrow["time_us"] + wide["time_us"]
            self.close(machine["mean.time_us"], time / 4)
            self.close(machine["mean.frames_per_s"], 4e6 / time)
            self.close(machine["mean.energy_uj"], (3 * narrow["energy_uj"] + wide["energy_uj"]) / 4)
            self.close(machine["mean.power_mw"], 1e3 * (3 * narrow["energy_uj"] + wide["energy_uj"]) / time)
            self.assertEqual(machine["worst.frames_per_s"], min(narrow["frames_per_s"], wide["frames_per_s"]))
            self.assertEqual(machine["worst.power_mw"], max(narrow["power_mw"], wide["power_mw"]))
            self.assertIs(machine["meets"], True)
        with (self.folder / "out/machines.csv").open() as file:
            self.assertEqual(next(csv.reader(file)), list(machines[0]))

    def test_requirements_choose(self):
        rates = sorted(machine["wide.frames_per_s"] for machine in self.machines(self.SWEEP))
        sweep = json.loads(json.dumps(self.SWEEP))
        sweep["workloads"][1]["require"] = f"fps >= {rates[3]}"
        machines = self.machines(sweep, out="asked")
        meets = [machine for machine in machines if machine["meets"]]
        self.assertIn(len(meets), range(1, 5))
        for machine in machines:
            self.assertEqual(machine["meets"], machine["wide.frames_per_s"] >= rates[3])
            self.assertEqual("wide: frames_per_s" in machine["fails"], not machine["meets"])
        best = min(meets, key=lambda machine: machine["area_mm2"])
        said = self.sweep(sweep, "--timing-only", "--best", "area_mm2", out="said").stdout
        self.assertIn(f"mac.atomic_c {best['mac.atomic_c']}, cbuf.banks {best['cbuf.banks']} has the least area_mm2 of {len(meets)} of 6 machines", said)
        self.assertIn(f"--point {best['machine']}", said)
        fastest = max(meets, key=lambda machine: machine["mean.frames_per_s"])
        said = self.sweep(sweep, "--timing-only", "--best", "fps", "--resume", out="said").stdout
        self.assertIn(f"mac.atomic_c {fastest['mac.atomic_c']}, cbuf.banks {fastest['cbuf.banks']} has the most frames_per_s", said)
        sweep["workloads"][1]["require"] = f"fps > {2 * rates[-1]}"
        self.assertIn("None of 6 machines meets everything; nearest comes", self.sweep(sweep, "--timing-only", "--best", "area_mm2", out="none").stdout)

    def test_a_machine_that_is_too_large_does_not_run(self):
        areas = sorted(machine["area_mm2"] for machine in self.machines(self.SWEEP))
        machines = self.machines(self.SWEEP | {"require": [f"area_mm2 < {areas[2]}"]}, out="small", status=4)
        self.assertEqual(sum(machine["meets"] is True for machine in machines), 2)
        for row in self.rows("small"):
            self.assertEqual("it need not run" in row["reason"], row["cycles"] is None)

    def test_a_search_looks_for_machines(self):
        def front(machines):
            points = {(m["mean.cycles"], m["mean.total_uj"], m["area_mm2"]) for m in machines if m["mean.cycles"] is not None}
            return {p for p in points if not any(q != p and all(a <= b for a, b in zip(q, p)) for q in points)}
        whole, found = self.machines(self.SWEEP), self.machines(self.SWEEP, "--search", 6, out="found")
        self.assertEqual(front(found), front(whole))
        self.assertLessEqual(len(self.machines(self.SWEEP, "--search", 3, out="three")), 3)

    def test_what_cannot_be_is_refused(self):
        for change, says in (({"require": "speed > 3"}, '"speed" is no figure'), ({"require": "area_mm2 = 3"}, "/require"), ({"require": "area_mm2 < x"}, "a number"),
                             ({"require": 3}, "/require"), ({"workloads": []}, "/workloads"), ({"workloads": [{"weight": 1}]}, "/workloads/0/network"),
                             ({"workloads": [{"network": SMALL}, {"network": SMALL}]}, "two workloads"), ({"workloads": [{"network": SMALL, "weight": 0}]}, "weight"),
                             ({"workloads": [{"network": SMALL}, {"layer": {}, "name": "x"}]}, "one kind"),
                             ({"base": {"network": SMALL}}, "/workloads"), ({"axes": {"network": [SMALL]}}, "/workloads")):
            with self.subTest(change=change):
                self.refused(self.sweep(self.SWEEP | change), says)
        self.refused(self.sweep(self.SWEEP, "--best", "speed"), '"speed" is no figure')


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
