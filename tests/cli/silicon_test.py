#!/usr/bin/env python3
"""dlasim silicon: area and energy of machines and runs, docs/SILICON.md.

usage: silicon_test.py DLASIM [TestCase...]
"""
import json
import os
import sys
import unittest

import cli_test
from cli_test import SMALL, Case


class Silicon(Case):
    def machine(self, *arguments):
        done = self.dlasim("silicon", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def run_of(self, out, *arguments):
        done = self.dlasim("run", self.write(SMALL), "--quiet", "--out", out, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / out / "result.json").read_text())


class Machines(Silicon):
    def test_units_add_up(self):
        for hardware in ("nv_small", "nv_full"):
            machine = self.machine("--hw", hardware)
            self.assertAlmostEqual(sum(unit["area_mm2"] for unit in machine["units"].values()), machine["area_mm2"])
            self.assertGreater(machine["peak_mw"], machine["full_mw"] + machine["still_mw"])

    def test_cvsram_counts_by_its_size(self):
        small, large = (self.machine("--hw", "nv_large", "--set", f"memory.secondary.bytes={mib << 20}")["units"] for mib in (1, 4))
        self.assertAlmostEqual(large["cvsram"]["area_mm2"], 4 * small["cvsram"]["area_mm2"])
        self.assertGreater(small["cvsram"]["area_mm2"], 0)

    def test_a_smaller_process_is_smaller(self):
        areas = [self.machine("--hw", "nv_small", "--technology", name)["area_mm2"] for name in ("45nm", "28nm", "16nm")]
        self.assertEqual(areas, sorted(areas, reverse=True))

    def test_the_table_says_the_same(self):
        done = self.dlasim("silicon", "--hw", "nv_small")
        self.assertIn(f"{self.machine('--hw', 'nv_small')['area_mm2']:.3f} mm2 in 16nm", done.stdout)

    def test_what_cannot_be_is_refused(self):
        self.refused(self.dlasim("silicon", "--technology", "17nm"), 'unknown technology "17nm"', "16nm")
        self.refused(self.dlasim("silicon", "--hw", "nv_smal"), 'unknown preset "nv_smal"')
        self.refused(self.dlasim("silicon", "--of", self.write({"schema": "dlasim.result/1"}, "empty.json")), "has no hardware with units that ran")
        self.refused(self.dlasim("silicon", "--of", self.write([1], "list.json")), "expected the result.json of a run")


class Runs(Silicon):
    def energy(self, out, *arguments):
        return self.machine("--of", f"{out}/result.json", *arguments)

    def test_power_is_energy_over_time(self):
        for clock in (400, 1000):
            result = self.run_of("out", "--hw", "nv_small", "--set", f"clock_mhz={clock}", "--memory", "ddr4-2400")
            energy = self.energy("out")
            seconds = result["cycles"] / (clock * 1e6)
            self.assertAlmostEqual(energy["power_mw"] * 1e-3 * seconds, energy["energy_uj"] * 1e-6)
            self.assertAlmostEqual(energy["memory_uj"], result["memory_report"]["dbb"]["energy"]["total_pj"] * 1e-6)
            self.assertAlmostEqual(energy["total_uj"], energy["energy_uj"] + energy["memory_uj"])
            units = energy["energy"]["units"].values()
            self.assertAlmostEqual(sum(unit["energy_uj"] for unit in units), energy["energy_uj"])
            for unit in units:
                self.assertAlmostEqual(unit["energy_uj"], unit["events_uj"] + unit["clock_uj"] + unit["leakage_uj"])

    def test_values_are_no_part_of_it(self):
        for hardware in ("nv_small", "nv_full"):
            self.run_of("full", "--hw", hardware)
            self.run_of("timed", "--hw", hardware, "--timing-only")
            self.assertEqual(self.energy("full"), self.energy("timed"))

    def test_the_clock_of_a_run_that_waits_is_gated(self):
        self.run_of("fast", "--hw", "nv_small")
        self.run_of("slow", "--hw", "nv_small", "--memory", "ideal:latency=2000")
        fast, slow = (self.energy(out)["energy"]["units"] for out in ("fast", "slow"))
        self.assertEqual(fast["cmac_a"]["events_uj"], slow["cmac_a"]["events_uj"])
        self.assertGreater(slow["control"]["energy_uj"], fast["control"]["energy_uj"])


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
