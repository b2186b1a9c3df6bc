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

    def ends(self, status, done, says):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(says, done.stderr)

    def machines(self, sweep, *arguments, out="out", status=0):
        done = self.sweep(sweep, "--timing-only", "--quiet", *arguments, out=out)
        if status is not None:
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
        machines = self.machines(sweep, out="asked", status=None)
        meets = [machine for machine in machines if machine["meets"]]
        self.assertIn(len(meets), range(1, 5))
        for machine in machines:
            if machine["wide.frames_per_s"] is not None:  # those that cannot be fast enough did not run
                self.assertEqual(machine["meets"], machine["wide.frames_per_s"] >= rates[3])
            self.assertEqual("wide: frames_per_s" in machine["fails"], not machine["meets"])
        best = min(meets, key=lambda machine: machine["area_mm2"])
        said = self.sweep(sweep, "--timing-only", "--best", "area_mm2", out="said").stdout
        self.assertIn(f"mac.atomic_c {best['mac.atomic_c']}, cbuf.banks {best['cbuf.banks']} has the least area_mm2 of {len(meets)} of 6 machines", said)
        self.assertIn(f"--machine {best['machine']}", said)
        fastest = max(meets, key=lambda machine: machine["mean.frames_per_s"])
        said = self.sweep(sweep, "--timing-only", "--best", "fps", "--resume", out="said").stdout
        self.assertIn(f"mac.atomic_c {fastest['mac.atomic_c']}, cbuf.banks {fastest['cbuf.banks']} has the most frames_per_s", said)
        sweep["workloads"][1]["require"] = f"fps > {2 * rates[-1]}"
        self.assertIn("None of 6 machines ", self.sweep(sweep, "--timing-only", "--best", "area_mm2", out="none").stdout)

    def test_machines_are_listed_by_any_figure(self):
        sweep = json.loads(json.dumps(self.SWEEP))
        sweep["require"] = f"area_mm2 > {1.1 * min(m['area_mm2'] for m in self.machines(self.SWEEP))}"
        machines = self.machines(sweep, out="sorted", status=None)
        for figure, value, more in (("area_mm2", lambda m: m["area_mm2"], False), ("fps", lambda m: m["mean.frames_per_s"], True),
                                    ("area_mm2 * wide.time_us", lambda m: m["area_mm2"] * m["wide.time_us"], False)):
            lines = self.sweep(sweep, "--timing-only", "--quiet", "--resume", "--sort", figure, out="sorted").stdout.splitlines()
            known = [m for m in machines if figure == "area_mm2" or m["wide.cycles"] is not None]  # the smallest did not run
            self.assertRegex(lines[0], rf"^{len(known)} of 6 machines by ")
            rows = [line for line in lines[1:] if "mac.atomic_c" in line]
            expected = sorted(known, key=value, reverse=more)
            self.assertEqual([line.split()[0] for line in rows], [f"{value(machine):.4g}" for machine in expected])
            self.assertLessEqual(max(map(len, lines)), 80)
        self.ends(2, self.sweep(sweep, "--sort", "nothing", out="none"), "--sort")

    def test_a_machine_that_is_too_large_does_not_run(self):
        areas = sorted(machine["area_mm2"] for machine in self.machines(self.SWEEP))
        machines = self.machines(self.SWEEP | {"require": [f"area_mm2 < {areas[2]}"]}, out="small", status=4)
        self.assertEqual(sum(machine["meets"] is True for machine in machines), 2)
        for row in self.rows("small"):
            self.assertEqual("it need not run" in row["reason"], row["cycles"] is None)

    def test_the_nearest_is_named(self):
        powers = sorted(machine["worst.power_mw"] for machine in self.machines(self.SWEEP))
        said = self.sweep(self.SWEEP | {"require": f"power_mw < {0.9 * powers[0]}"}, "--timing-only", "--best", "area_mm2", out="none").stdout
        self.assertIn("None of 6 machines meets everything; the nearest is", said)

    def test_a_machine_that_cannot_be_fast_enough_does_not_run(self):
        machines = self.machines(self.SWEEP)
        rates = sorted(machine["wide.frames_per_s"] for machine in machines)
        sweep = json.loads(json.dumps(self.SWEEP))
        sweep["workloads"][1]["require"] = f"fps >= {10 * rates[-1]}"
        done = self.sweep(sweep, "--timing-only", "--quiet", "--best", "area_mm2", out="none")
        self.assertEqual(done.returncode, 2)  # no point has a result
        self.assertIn("it need not run", done.stdout)
        for row in self.rows("none"):  # of both workloads: the machine fails by one of them
            self.assertRegex(row["reason"], r"wide: frames_per_s \S+ at most, expected frames_per_s >= \S+: it need not run$")
            self.assertIsNone(row["cycles"])
            self.assertIn(row["area_mm2"], [machine["area_mm2"] for machine in machines])
        for machine in json.loads((self.folder / "none/machines.json").read_text()):
            self.assertIsNone(machine["meets"])
            self.assertIn("it need not run", machine["fails"])
        # No bound excludes a machine that would have met it: all that do are there.
        for rate in rates:
            sweep["workloads"][1]["require"] = f"fps >= {rate}"
            found = self.machines(sweep, out="some", status=0 if rate == rates[0] else None)
            self.assertEqual([m["machine"] for m in found if m["meets"]], [m["machine"] for m in machines if m["wide.frames_per_s"] >= rate])

    def test_areas_exclude(self):
        machines = self.machines(self.SWEEP)
        middle = sorted(machine["area_mm2"] for machine in machines)[3]
        sweep = self.SWEEP | {"exclude": [f"area_mm2 > {middle} && 1.5 < 2"]}
        small = self.machines(sweep, out="small")
        self.assertEqual([m["area_mm2"] for m in small], [m["area_mm2"] for m in machines if m["area_mm2"] <= middle])
        done = self.dlasim("net", self.write(sweep, "sweep.json"), "--point", 1, "--timing-only", "--quiet", "--out", "point")  # the same points
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.folder / "point/result.json").read_text())
        self.close(result["area_mm2"], small[0]["area_mm2"])
        for change, says in (({"exclude": ["area_mm2"]}, "is not a condition"), ({"exclude": ["power_mw > 3"]}, '"power_mw" is no axis'),
                             ({"exclude": sweep["exclude"], "technology": "45nm"}, "every point is excluded")):
            self.ends(2, self.sweep(self.SWEEP | change, out="bad"), says)

    def test_a_machine_is_verified_by_one_command(self):
        machines = self.machines(self.SWEEP)
        chosen = machines[4]
        done = self.sweep(self.SWEEP, "--machine", chosen["machine"], out="verified")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows("verified")
        self.assertEqual([row["point"] for row in rows], [chosen["machine"], chosen["machine"] + 1])
        self.assertTrue(all(row["verified"] for row in rows))
        self.assertIn("It meets everything", done.stdout)
        self.assertEqual([row["cycles"] for row in rows], [chosen["narrow.cycles"], chosen["wide.cycles"]])
        self.ends(2, self.sweep(self.SWEEP, "--machine", 99, out="bad"), "--machine: found 99, expected a point of 12")
        again = self.sweep(self.SWEEP, "--machine", chosen["machine"], "--resume", out="verified")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.ends(2, self.sweep(self.SWEEP, "--resume", out="verified"), "its options differ")

    def test_errors_of_the_model_are_said(self):
        machines = self.machines(self.SWEEP)
        area = machines[0]["area_mm2"]
        sweep = self.SWEEP | {"require": f"area_mm2 < {1.01 * area}"}
        said = self.sweep(sweep, "--timing-only", "--best", "area_mm2", out="near").stdout
        self.assertRegex(said, rf"tightest: area_mm2 {area:.4g}, \S+ % below \S+, inside the model's error of 6 %")
        self.assertIn("No smaller value was tried of mac.atomic_c, cbuf.banks", said)
        self.assertIn("mac.atomic_c 16: area_mm2 +", said)  # it does not run, and its area is known
        self.assertIn(f"--machine {machines[0]['machine']}", said)

    def test_steps_of_the_host_are_in_the_rate_or_said_not_to_be(self):
        network = json.loads(json.dumps(LARGE))
        network["layers"] += [{"name": "up", "op": "upsample", "factor": {"x": 2, "y": 2}},
                              {"name": "d", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]
        sweep = self.SWEEP | {"workloads": [{"network": SMALL, "weight": 3}, {"network": network}]}
        plain = self.machines(sweep)
        for row in self.rows():
            self.assertEqual((row["host_elements"], row["host_us"]), (0, 0) if row["network"] == SMALL else (28 * 28 * 32, None))
        self.assertIn("The frame rate of wide excludes CPU fallback", self.sweep(sweep, "--timing-only", "--resume", "--best", "fps").stdout)
        timed = self.machines(sweep | {"base": {"hw": "nv_small", "host_ns": 2.5}}, out="timed")
        for a, b in zip(plain, timed):
            self.assertEqual((a["narrow.frames_per_s"], a["wide.cycles"]), (b["narrow.frames_per_s"], b["wide.cycles"]))
            self.close(1e6 / b["wide.frames_per_s"], 1e6 / a["wide.frames_per_s"] + 28 * 28 * 32 * 2.5e-3)
            self.assertEqual(b["wide.host_us"], 62.72)
        done = self.dlasim("net", self.write(network, "n.json"), "--hw", "nv_small", "--timing-only", "--out", "n")
        self.assertRegex(done.stdout, r"frames/s without 1 step of CPU fallback, 25,088 elements \(--host\)\n")
        done = self.dlasim("net", "n.json", "--hw", "nv_small", "--timing-only", "--out", "n", "--host", 2.5)
        self.assertRegex(done.stdout, r"frames/s with 0.063 ms of CPU fallback\n")
        result = json.loads((self.folder / "n/result.json").read_text())
        self.assertEqual(result["host"], {"steps": 1, "elements": 25088, "seconds": 62.72e-6})
        self.assertAlmostEqual(1 / result["frames_per_s"], result["latency_seconds"] + 62.72e-6)

    def test_expressions_of_figures(self):
        """Energy times delay of a frame, and the share of one workload's time in that of another."""
        machines = self.machines(self.SWEEP)
        product = {m["machine"]: m["wide.energy_uj"] * m["wide.time_us"] for m in machines}
        middle = sorted(product.values())[3]
        first = next(name for name in machines[0] if name.endswith(".cycles") and name.split(".")[0] not in ("wide", "mean", "worst"))
        ratios = {m["machine"]: m[first] / m["wide.cycles"] for m in machines}
        ratio = sorted(ratios.values())[2]
        for require, meets in ((f"wide.energy_uj * wide.time_us <= {middle * 1.0001}", lambda m: product[m["machine"]] <= middle * 1.0001),
                               (f"{first} / wide.cycles < {ratio * 1.0001}", lambda m: ratios[m["machine"]] < ratio * 1.0001),
                               (f"{first} < {ratio * 1.0001} * wide.cycles", lambda m: ratios[m["machine"]] < ratio * 1.0001),
                               (f"max(area_mm2, 0.001) * 2 < {3 * machines[0]['area_mm2']}", lambda m: 2 * m["area_mm2"] < 3 * machines[0]["area_mm2"])):
            with self.subTest(require=require):
                asked = self.machines(self.SWEEP | {"require": require}, out="asked", status=None)
                self.assertEqual([m["meets"] for m in asked], [meets(m) for m in machines])
        best = min(product, key=product.get)
        said = self.sweep(self.SWEEP, "--timing-only", "--best", "wide.energy_uj * wide.time_us", out="best").stdout
        chosen = next(m for m in machines if m["machine"] == best)
        self.assertIn(f"mac.atomic_c {chosen['mac.atomic_c']}, cbuf.banks {chosen['cbuf.banks']} has the least wide.energy_uj * wide.time_us", said)
        mean = {m["machine"]: m["mean.energy_uj"] * m["area_mm2"] for m in machines}
        chosen = next(m for m in machines if m["machine"] == min(mean, key=mean.get))
        said = self.sweep(self.SWEEP, "--timing-only", "--best", "energy_uj * area_mm2", out="mean").stdout
        self.assertIn(f"mac.atomic_c {chosen['mac.atomic_c']}, cbuf.banks {chosen['cbuf.banks']} has the least energy_uj * area_mm2", said)

    def test_expressions_that_cannot_be_are_refused(self):
        for require, says in (("wide.energy_uj * speed < 3", '"speed" is no figure'), ("area_mm2 * < 3", "column"), ("wide.cycles * cycles < 3", "narrow.cycles"),
                              ("area_mm2 < 'x'", "a number"), ("area_mm2 < -3", "a number from 0 on")):
            self.refused(self.sweep(self.SWEEP | {"require": require}), says)

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
