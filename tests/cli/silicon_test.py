#!/usr/bin/env python3
"""dlasim silicon: area and energy of machines and runs, docs/howto/CHOOSE.md.

usage: silicon_test.py DLASIM [TestCase...]
"""
import json
import os
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path

import cli_test
from cli_test import SMALL, Case

MODELS = Path(__file__).resolve().parents[2] / "models"
NETWORK = {"name": "tiny", "input": {"width": 14, "height": 14, "channels": 16},
           "layers": [{"name": "first", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 16}, "bias": True},
                      {"name": "second", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 32}},
                      {"name": "pooled", "op": "pool", "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}}]}


def numbers(value):
    """The sum of all in it."""
    return sum(map(numbers, value.values())) if isinstance(value, dict) else value


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
        areas = [self.machine("--hw", "nv_small", "--technology", name)["area_mm2"] for name in ("45nm", "28nm", "16nm", "12nm", "7nm", "5nm")]
        self.assertEqual(areas, sorted(areas, reverse=True))

    def test_the_table_says_the_same(self):
        done = self.dlasim("silicon", "--hw", "nv_small")
        self.assertIn(f"{self.machine('--hw', 'nv_small')['area_mm2']:.3f} mm2 in 16nm", done.stdout)

    def test_what_cannot_be_is_refused(self):
        self.refused(self.dlasim("silicon", "--technology", "16mm"), 'unknown technology "16mm"', "16nm")
        self.refused(self.dlasim("silicon", "--hw", "nv_smal"), 'unknown preset "nv_smal"')
        narrow = self.dlasim("silicon", "--set", "mac.atomic_c=48")  # as published machines that dlasim does not simulate
        self.assertEqual(narrow.returncode, 0)
        self.assertIn("found mac.atomic_c = 48, expected a power of two in 32..64; dlasim cannot simulate it", narrow.stderr)
        self.assertEqual(self.dlasim("silicon", "--set", "mac.atomic_c=32").stderr, "")
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

    def test_a_result_has_it_at_its_top(self):
        result = self.run_of("out", "--hw", "nv_large", "--memory", "ddr4-2400", "--technology", "28nm")
        energy = self.energy("out", "--technology", "28nm")
        for key in ("area_mm2", "energy_uj", "power_mw", "memory_uj", "memory_mw", "total_uj"):
            self.assertEqual(result[key], energy[key], key)
        self.assertEqual(result["energy"], energy["energy"])
        self.assertNotEqual(self.energy("out")["energy_uj"], energy["energy_uj"])  # in 16 nm
        for words in (["--technology", "17nm"], ["--power-window", "255"]):
            self.assertEqual(self.dlasim("run", "layer.json", "--out", "none", *words).returncode, 2)
            self.assertFalse((self.folder / "none").exists())

    def test_windows_hold_all_energy(self):
        for memory in ("ideal", "ddr4-2400"):
            result = self.run_of("out", "--hw", "nv_small", "--memory", memory, "--power-window", "256")
            power, cycles = result["power"], result["cycles"]
            self.assertEqual(len(power["windows_mw"]), -(-cycles // 256))
            for windows, whole in (("windows_mw", "energy_uj"), ("windows_memory_mw", "memory_uj")):
                lengths = [min(256, cycles - i * 256) for i in range(len(power[windows]))]
                self.assertAlmostEqual(sum(mw * n for mw, n in zip(power[windows], lengths)) * 1e-6, result[whole], places=9)
            self.assertEqual(power["peak_mw"], max(power["windows_mw"][:cycles // 256]))
            self.assertEqual(power["peak_mw"], power["windows_mw"][power["peak_cycle"] // 256])
            self.assertGreater(power["peak_mw"], result["power_mw"])
            self.assertEqual(self.run_of("plain", "--hw", "nv_small", "--memory", memory)["cycles"], cycles)
        whole = self.run_of("out", "--hw", "nv_small", "--power-window", "1000000000")
        self.assertAlmostEqual(whole["power"]["peak_mw"], whole["power_mw"])

    def test_steps_hold_all_energy(self):
        for name, arguments in (("ideal", []), ("timed", ["--timing-only"]), ("dram", ["--memory", "ddr4-2400"])):
            done = self.dlasim("net", self.write(NETWORK, "net.json"), "--hw", "nv_small", "--quiet", "--out", name, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads((self.folder / name / "result.json").read_text())
            for key in ("energy_uj", "memory_uj"):
                self.assertAlmostEqual(sum(step[key] for step in result["steps"]), result[key], places=9)
            for step in result["steps"]:
                self.assertGreater(step["power_mw"], 0)
        full, timed = (json.loads((self.folder / name / "result.json").read_text()) for name in ("ideal", "timed"))
        self.assertEqual([step["energy_uj"] for step in full["steps"]], [step["energy_uj"] for step in timed["steps"]])
        self.assertEqual(full["energy"], timed["energy"])

    def test_what_is_not_known_is_null(self):
        result = self.run_of("out", "--hw", "nv_full")
        del result["layer"]  # which names the precision
        self.write(result, "unnamed.json")
        done = self.dlasim("silicon", "--of", "unnamed.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("at a known precision", done.stderr)

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


class Invariants(Silicon):
    """What holds for every unit of every result."""

    # counters of which one above 0 means that the unit did something that costs energy
    WORK = {"mcif": ("read_beats", "write_beats"), "cvif": ("read_beats", "write_beats"), "cmac_a": ("products",), "cmac_b": ("products",),
            "cacc": ("atoms", "beats"), "sdp": ("beats",), "pdp": ("beats",), "cdp": ("beats",), "bdma": ("beats",), "rubik": ("beats_in", "beats_out")}
    RUNS = [("nv_full", "ideal", "rubik_contract"), ("nv_full", "ddr4-3200", "rubik_split"), ("nv_full", "ideal", "rubik_merge"),
            ("nv_full", "ideal", "bdma_spill_and_reload"), ("nv_full", "ideal", "lenet5_conv2_cvsram"), ("nv_full", "ideal", "resnet50_res5a_branch2b"),
            ("nv_large", "lpddr4-3200", "mobilenet_v1_conv1_image"), ("nv_large", "ideal", "alexnet_norm1"), ("nv_full", "ideal", "sdp_sigmoid"),
            ("nv_full", "ideal", "googlenet_3a_3x3_winograd"), ("nv_small", "ideal", "lenet5_conv2_pool2"), ("nv_medium_512", "ideal", "resnet50_pool1"),
            ("nv_full", "ideal", "networks/lenet5"), ("nv_large", "ddr4-3200", "networks/acri_mnist"), ("nv_small_256", "ideal", "networks/lenet5")]

    def check(self, result):
        energy, units, cycles = result["energy"], result["units"], result["cycles"]
        self.assertEqual({name for name in energy["units"] if name not in ("cbuf", "cvsram", "control")}, set(units) - {"glb"})
        for name, unit in units.items():
            phases = [unit[phase] for phase in ("issuing", "starved", "blocked", "draining", "gated")]
            self.assertEqual(sum(phases), cycles, name)
            if name == "glb":
                continue
            spent = energy["units"][name]
            worked = any(unit["counters"][counter] > 0 for counter in self.WORK.get(name, ()))
            self.assertEqual(spent["events_uj"] > 0, worked, name)
            if any(on > 0 for on in unit.get("clock_on", {}).values()):
                self.assertGreater(spent["clock_uj"], 0, name)
            for domain, on in unit.get("clock_on", {}).items():
                self.assertLessEqual(on, cycles, (name, domain))
        read = units["csc"]["counters"]["data_reads"] + units["cdma"]["counters"]["data_atoms_read"]
        self.assertEqual(energy["units"]["cbuf"]["events_uj"] > 0, read > 0)
        for name, spent in energy["units"].items():
            self.assertAlmostEqual(spent["events_uj"] + spent["clock_uj"] + spent["leakage_uj"], spent["energy_uj"], msg=name)
        self.assertAlmostEqual(sum(spent["energy_uj"] for spent in energy["units"].values()) / result["energy_uj"], 1, places=9)
        seconds = cycles / (result["hardware"]["clock_mhz"] * 1e6)
        self.assertAlmostEqual(result["power_mw"] * 1e-3 * seconds / (result["energy_uj"] * 1e-6), 1, places=9)
        self.assertAlmostEqual((result["energy_uj"] + result["memory_uj"]) / result["total_uj"], 1, places=9)
        self.assertEqual(numbers(result["causes"]), cycles)

    def check_windows(self, result, window):
        cycles, power = result["cycles"], result["power"]
        self.assertEqual(len(power["windows_mw"]), -(-cycles // window))
        for windows, whole in (("windows_mw", "energy_uj"), ("windows_memory_mw", "memory_uj")):
            lengths = [min(window, cycles - i * window) for i in range(len(power[windows]))]
            sum_uj = sum(mw * n for mw, n in zip(power[windows], lengths)) / result["hardware"]["clock_mhz"]
            self.assertAlmostEqual(sum_uj * 1e-3 / result[whole], 1, places=6)

    def test_every_unit_of_every_result(self):
        for hardware, memory, name in self.RUNS:
            with self.subTest(name, hardware=hardware):
                figures = []
                for words in (["--power-window", "1000"], []):
                    done = self.dlasim("run", MODELS / f"{name}.json", "--hw", hardware, "--memory", memory, "--timing-only", "--quiet", "--out", "out", *words)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    figures.append(json.loads((self.folder / "out/result.json").read_text()))
                    self.check(figures[-1])
                self.check_windows(figures[0], 1000)
                self.assertEqual(*[{key: figure[key] for key in ("cycles", "units", "energy", "causes")} for figure in figures])


class Everything(Silicon):
    """Every layer, network and compiler file that is here, on every preset that takes it."""
    ROOT = Path(__file__).resolve().parents[2]
    PRESETS = ("nv_small", "nv_small_256", "nv_small_256_full", "nv_medium_512", "nv_medium_1024_full", "nv_large", "nv_full")
    KEYS = ("cycles", "area_mm2", "energy_uj", "power_mw", "memory_uj", "memory_mw", "total_uj", "energy")

    def result(self, out, command, *arguments):
        """None where the machine cannot do it."""
        done = subprocess.run([cli_test.DLASIM, command, *map(str, arguments), "--no-causes", "--quiet", "--out", out], cwd=self.folder,
                              capture_output=True, text=True, timeout=3600)
        if done.returncode == 2:
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / out / "result.json").read_text())

    def same_with_and_without_values(self, command, *arguments):
        full, timed = self.result("full", command, *arguments), self.result("timed", command, *arguments, "--timing-only")
        self.assertEqual(full is None, timed is None, "taken with values or without, not both")
        if full is None:
            return 0
        for key in self.KEYS:
            self.assertIsNotNone(full[key], key)
            self.assertEqual(full[key], timed[key], key)
        microseconds = full["cycles"] / full["hardware"]["clock_mhz"]
        self.assertAlmostEqual(full["power_mw"] * 1e-3 * microseconds / full["energy_uj"], 1)
        self.assertAlmostEqual(full["memory_mw"] * 1e-3 * microseconds, full["memory_uj"])
        units = full["energy"]["units"].values()
        self.assertAlmostEqual(sum(unit["energy_uj"] for unit in units) / full["energy_uj"], 1)
        self.assertAlmostEqual(sum(unit["area_mm2"] for unit in units), full["area_mm2"])
        for steps in ("steps", "operations"):
            if full.get(steps):
                energies = [[(step.get("energy_uj"), step.get("memory_uj")) for step in run[steps]] for run in (full, timed)]
                self.assertEqual(*energies)
                # A step of the host has none, an operation of a chain that ends together has that of its last one.
                sums = [sum(filter(None, column)) for column in zip(*energies[0])]
                self.assertAlmostEqual(sums[0] / full["energy_uj"], 1)
                self.assertAlmostEqual(sums[1], full["memory_uj"])
        return 1

    def on_every_preset(self, command, files):
        for file in files:
            ran = 0
            for hardware in self.PRESETS:
                with self.subTest(file=file.name, hardware=hardware):
                    ran += self.same_with_and_without_values(command, file, "--hw", hardware)
            self.assertGreater(ran, 0, file)

    def test_layers(self):
        self.on_every_preset("run", sorted((self.ROOT / "models").glob("*.json")))

    def test_networks(self):
        self.on_every_preset("net", sorted((self.ROOT / "models/networks").glob("*.json")))

    def test_loadables(self):
        with tarfile.open(self.ROOT / "tests/data/loadables.tar.xz") as archive:
            for member in archive.getmembers():
                if member.name.endswith(".nvdla"):
                    (self.folder / Path(member.name).name).write_bytes(archive.extractfile(member).read())
        for file in sorted(self.folder.glob("*.nvdla")):
            hardware = next((f"nv_{name}" for name in ("large", "full") if name in file.name), "nv_small")
            with self.subTest(file=file.name):
                self.same_with_and_without_values("loadable", file, "--hw", hardware)


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
