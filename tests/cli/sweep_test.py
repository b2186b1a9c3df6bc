#!/usr/bin/env python3
"""Sweeps as an architect meets them: docs/SWEEPS.md.

usage: sweep_test.py DLASIM [TestCase...]
"""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy as np

import cli_test
from cli_test import SMALL


class SweepCase(cli_test.Case):
    LONG = {"input": {"width": 28, "height": 28, "channels": 128}, "kernel": {"width": 3, "height": 3, "count": 512}}

    def sweep(self, sweep, *arguments, out="out"):
        return self.dlasim("sweep", self.write(sweep, "sweep.json"), "--out", out, *arguments)

    def rows(self, out="out"):
        return json.loads((self.folder / out / "points.json").read_text())

    def start(self, sweep, *arguments):
        return subprocess.Popen([cli_test.DLASIM, "sweep", str(self.write(sweep, "sweep.json")), "--out", "out", *arguments], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Sweeps(SweepCase):
    SWEEP = {"base": {"layer": SMALL, "hw": "nv_large"},
             "axes": {"mac.atomic_c": [32, 64], "mac.atomic_k": [16, 32], "cbuf.banks": [2, 4, 16, 24]}}

    def test_rows_are_the_same_for_any_number_of_jobs(self):
        sweep = self.write(self.SWEEP, "sweep.json")
        tables = []
        for jobs in (1, 2):
            done = self.dlasim("sweep", sweep, "--jobs", jobs, "--out", f"out{jobs}")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            tables.append((self.folder / f"out{jobs}" / "points.csv").read_text())
        self.assertEqual(*tables)
        lines = tables[0].splitlines()
        self.assertEqual(len(lines), 17)
        header = lines[0].split(",")
        for column in ("mac.atomic_c", "mac.atomic_k", "cbuf.banks", "cycles", "utilization", "verified", "reason"):
            self.assertIn(column, header)
        rows = json.loads((self.folder / "out1" / "points.json").read_text())
        self.assertTrue(all(row["verified"] is True for row in rows))
        self.assertEqual([row["mac.atomic_c"] for row in rows], [32] * 8 + [64] * 8)

    def test_points_that_cannot_exist_are_rows_with_a_reason(self):
        sweep = self.write({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"mac.atomic_c": [8, 12], "input.width": [9, -9]}}, "sweep.json")
        done = self.dlasim("sweep", sweep, "--out", "out")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertTrue(done.stdout.splitlines()[-1].startswith("4 points: 1 with a result, 3 rejected"), done.stdout)
        rows = self.rows()
        self.assertEqual([row["verified"] for row in rows], [True, None, None, None])
        self.assertIn("-9", rows[1]["reason"])
        self.assertIn("power of two", rows[2]["reason"])

    def test_listed_points_run_not_and_say_which_rule_they_break(self):
        axes = {"mac.atomic_c": [8, 12, 16], "cbuf.banks": [2, 32], "kernel.width": [3, 12]}
        done = self.sweep({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": axes, "exclude": ["mac.atomic_c == 16 && cbuf.banks == 2"]}, "--list")
        self.assertEqual(done.returncode, 4, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 11)
        self.assertIn("mac.atomic_c=8  cbuf.banks=2  kernel.width=3", lines[0])
        self.assertNotIn("rejected", lines[0])
        self.assertIn("rejected: ", lines[1])
        self.assertIn("power of two", lines[4])
        self.assertEqual(lines[-1], "10 points: 3 can run, 7 rejected")
        self.assertFalse((self.folder / "out").exists())

    def test_derived_values_are_columns(self):
        axes = {"mac.atomic_c": [16, 32], "mac.atomic_k": "= mac.atomic_c / 2"}
        self.assertEqual(self.sweep({"base": {"layer": SMALL, "hw": "nv_large"}, "axes": axes}).returncode, 0)
        self.assertEqual([(row["mac.atomic_c"], row["mac.atomic_k"]) for row in self.rows()], [(16, 8), (32, 16)])
        lines = (self.folder / "out" / "points.csv").read_text().splitlines()
        self.assertTrue(lines[0].startswith("point,mac.atomic_c,mac.atomic_k,cycles,"))
        self.assertTrue(lines[2].startswith("1,32,16,"))

    def test_the_database_has_the_same_rows(self):
        self.assertEqual(self.sweep(self.SWEEP).returncode, 0)
        database = sqlite3.connect(self.folder / "out" / "points.db")
        database.row_factory = sqlite3.Row
        for row, kept in zip(self.rows(), database.execute('SELECT * FROM points ORDER BY point'), strict=True):
            self.assertEqual({key: value for key, value in row.items()}, dict(kept) | {"verified": bool(kept["verified"])})
        database.close()

    def test_points_of_one_layer_are_verified_each(self):
        axes = {"precision": ["int8", "int16", "fp16"], "mode": ["direct", "winograd"], "latency": [10, 20, 30], "data.seed": [1, 2],
                "post.output.shift": "= 6 * (precision != 'fp16')"}
        layer = {"input": {"width": 10, "height": 6, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 16}}
        done = self.sweep({"base": {"layer": layer, "hw": "nv_full"}, "axes": axes}, "--jobs", 2)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual({(row["verified"], row["mismatches"]) for row in self.rows()}, {(True, 0)})
        # Seeds make other tensors: what is known of one point is not taken for another.
        compared = [json.loads((self.folder / "out" / "points" / f"{row['point']:04}" / "result.json").read_text())["compared"] for row in self.rows()]
        self.assertEqual(set(compared), {8 * 4 * 16})

    def test_networks_are_swept(self):
        network = {"name": "n", "input": {"width": 8, "height": 8, "channels": 8},
                   "layers": [{"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}, "activation": "relu"}]}
        self.write(network, "n.json")
        sweep = {"base": {"network": "n.json", "hw": "nv_small"}, "axes": {"network": ["n.json", network, "none.json"], "cbuf.banks": [16, 32]}}
        done = self.sweep(sweep)
        self.assertEqual(done.returncode, 4, done.stderr)
        rows = self.rows()
        self.assertEqual([row["verified"] for row in rows], [True] * 4 + [None] * 2)
        self.assertEqual(rows[0]["cycles"], rows[2]["cycles"])
        self.assertIn("none.json", rows[4]["reason"])

    def test_a_log_is_written_line_by_line(self):
        run = self.start({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"layer": [SMALL, self.LONG]}})
        self.assertIn("1 of 2  point 0", run.stdout.readline())  # while the second one runs
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)


class Plans(SweepCase):
    """Plans, partitions and modes as axes; the bases that are no layers."""
    LAYER = {"input": {"width": 16, "height": 16, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 64}}
    SMALL_HARDWARE = {"preset": "nv_small", "cbuf": {"bank_depth": 64}}

    def test_plans_are_axes(self):
        done = self.sweep({"base": {"layer": self.LAYER, "hw": self.SMALL_HARDWARE}, "axes": {"plan.minimise": ["cycles", "traffic"], "cbuf.banks": [16, 32]}})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = {(row["plan.minimise"], row["cbuf.banks"]): row for row in self.rows()}
        for banks in (16, 32):
            self.assertLessEqual(rows["cycles", banks]["cycles"], rows["traffic", banks]["cycles"])
            moved = [rows[aim, banks]["dbb_read_bytes"] + rows[aim, banks]["dbb_write_bytes"] for aim in ("cycles", "traffic")]
            self.assertGreaterEqual(*moved)
        self.assertEqual({row["verified"] for row in rows.values()}, {True})

    def test_partitions_are_axes(self):
        cuts = ["auto", {"rows": 4}, {"kernels": 16, "reuse_data": True}, {"rows": 0}]
        done = self.sweep({"base": {"layer": self.LAYER, "hw": "nv_small"}, "axes": {"partition": cuts}})
        self.assertEqual(done.returncode, 4, done.stdout)
        rows = self.rows()
        self.assertEqual([row["verified"] for row in rows], [True, True, True, None])
        self.assertIn("the first of 4 rows, 14 columns, 64 kernels", rows[1]["plan"])
        self.assertIn(" 16 kernels", rows[2]["plan"])
        self.assertIn("rows", rows[3]["reason"])
        done = self.sweep({"base": {"layer": self.LAYER, "hw": "nv_small"}, "axes": {"partition.rows": [4, 8]}}, out="rows")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual([" 4 rows" in row["plan"] for row in self.rows("rows")], [True, False])

    def test_modes_are_axes(self):
        layer = self.LAYER | {"pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}}
        done = self.sweep({"base": {"layer": layer, "hw": "nv_full"}, "axes": {"mode": ["direct", "winograd"], "mac.atomic_c": [32, 64]}})
        self.assertEqual(done.returncode, 4, done.stdout)
        rows = {(row["mode"], row["mac.atomic_c"]): row for row in self.rows()}
        self.assertLess(rows["winograd", 64]["cycles"], rows["direct", 64]["cycles"])
        self.assertEqual([rows[key]["measured"] for key in (("direct", 32), ("direct", 64))], [False, True])
        self.assertIn("inograd", rows["winograd", 32]["reason"])  # a tile takes 64 lanes

    def test_networks_have_plans(self):
        network = {"name": "n", "input": {"width": 16, "height": 16, "channels": 64}, "plan": {"minimise": "cycles"}, "layers": [
            {"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 64}}]}
        other = json.loads(json.dumps(network).replace("cycles", "traffic"))
        done = self.sweep({"base": {"network": network, "hw": self.SMALL_HARDWARE}, "axes": {"network": [network, other]}})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertLessEqual(*[row["cycles"] for row in self.rows()])

    def test_models_are_bases(self):
        models = Path(__file__).resolve().parents[2] / "models/onnx"
        base = {"network": str(models / "resnet_small.onnx"), "hw": "nv_small"}
        done = self.sweep({"base": base, "axes": {"cbuf.banks": [16, 32], "latency": [32, 128]}}, "--jobs", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = self.rows()
        self.assertEqual([row["verified"] for row in rows], [True] * 4)
        self.assertLess(rows[0]["cycles"], rows[1]["cycles"])
        alone = self.dlasim("net", base["network"], "--hw", "nv_small", "--memory", "ideal:latency=128", "--out", "alone")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual(json.loads((self.folder / "alone" / "result.json").read_text())["cycles"], rows[3]["cycles"])
        words = rows[1]["command"].split()
        self.assertEqual(words[1], "net")
        self.assertEqual(self.dlasim(*words[1:], "--out", "point", "--steps").returncode, 0)
        self.assertEqual(json.loads((self.folder / "point" / "result.json").read_text())["cycles"], rows[1]["cycles"])
        self.assertTrue(list((self.folder / "point" / "steps").iterdir()))
        done = self.dlasim(*words[1:], "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("resnet_small", done.stdout)

    def test_figures_are_of_an_image(self):
        models = Path(__file__).resolve().parents[2] / "models/onnx"
        images = np.load(models / "images.npy")
        rows = []
        for count in (1, 3):
            np.save(self.folder / "images.npy", images[:count])
            base = {"network": str(models / "acri_mnist.onnx"), "hw": "nv_large", "memory": "ddr4-2400", "input": "images.npy"}
            done = self.sweep({"base": base, "axes": {"cbuf.banks": [16]}}, "--restart")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows += self.rows()
        one, three = rows
        self.assertEqual(one["cycles"], three["cycles"])
        for figure in one:
            if "_bytes" in figure:
                self.assertEqual(one[figure], three[figure], figure)
            elif figure.endswith(("_uj", "_per_s", ".issuing", "gops")) and one[figure]:
                self.assertAlmostEqual(three[figure] / one[figure], 1, delta=0.1, msg=figure)
        shares = [three[figure] for figure in three if figure.endswith((".issuing", ".starved", ".blocked"))]
        self.assertLessEqual(max(shares), 1)
        self.assertLessEqual(three["bound_cycles"], three["cycles"])
        self.assertEqual(three["bound_share"], three["bound_cycles"] / three["cycles"])

    def test_what_is_no_model_s_is_refused(self):
        base = {"network": "models/none.onnx", "hw": "nv_small"}
        axes = {"latency": [32]}
        self.refused(self.sweep({"base": base | {"precision": "int7"}, "axes": axes}), "/base/precision", "int7")
        self.refused(self.sweep({"base": base | {"labels": 3}, "axes": axes}), "/base/labels")
        self.refused(self.sweep({"base": base | {"input": [3]}, "axes": axes}), "/base/input")
        self.refused(self.sweep({"base": {"layer": SMALL, "labels": "l.npy"}, "axes": axes}), "/base/labels")
        done = self.sweep({"base": base, "axes": axes})
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.onnx", self.rows()[0]["reason"])
        self.assertIn("the others have no bounds", self.sweep({"base": base, "axes": axes}, "--search", 4, "--restart").stderr)


class Laws(SweepCase):
    """More of anything never costs more than 2 % of the cycles, where the layer is not cut otherwise."""
    AXES = {"mac.atomic_c": [8, 16, 32, 64, 128], "mac.atomic_k": [8, 16, 32], "cbuf.banks": [8, 16, 32], "interval": [4, 2, 1]}

    def test_more_is_never_slower(self):
        layer = {"input": {"width": 12, "height": 12, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 32}}
        sweep = {"base": {"layer": layer, "hw": "nv_large"}, "axes": self.AXES,
                 "exclude": ["mac.atomic_c < mac.atomic_k || mac.atomic_c > 4 * mac.atomic_k"]}
        done = self.sweep(sweep, "--jobs", 2)
        self.assertEqual(done.returncode, 0, done.stdout)
        rows = {tuple(row[axis] for axis in self.AXES): row for row in self.rows()}
        self.assertEqual({key[1:3] for key, row in rows.items() if key[0] == 128 and row["measured"]}, {(32, 16)})
        plans = {key: json.loads((self.folder / "out/points" / f"{row['point']:04}" / "result.json").read_text())["plan"].get("partition")
                 for key, row in rows.items()}
        pairs = 0
        for key, row in rows.items():
            for place, values in enumerate(self.AXES.values()):
                for value in values[values.index(key[place]) + 1:][:1]:
                    more = key[:place] + (value,) + key[place + 1:]
                    if more in rows and rows[more]["cycles"] > 1.02 * row["cycles"]:
                        self.assertIn(f"({list(self.AXES)[place]} ", rows[more]["slower"] or "", (key, more))
                    if more in rows and plans[more] == plans[key]:
                        pairs += 1
                        self.assertLessEqual(rows[more]["cycles"], 1.02 * row["cycles"], (key, more))
        self.assertGreater(pairs, 100)

    def test_a_row_says_why_it_is_slower(self):
        """More banks change nothing; the plan that is given to the second point does."""
        layer = {"input": {"width": 16, "height": 16, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 64}}
        axes = {"cbuf.banks": [16, 32], "partition.kernels": "= 80 - 2 * cbuf.banks", "interval": [16, 24], "clock_mhz": [500, 1000]}
        done = self.sweep({"base": {"layer": layer, "hw": "nv_small"}, "axes": axes})
        self.assertEqual(done.returncode, 0, done.stdout)
        for row in self.rows():
            if row["cbuf.banks"] == 16:  # nobody has less
                self.assertIsNone(row["slower"])
                continue
            there = next(r for r in self.rows() if r["cbuf.banks"] == 16 and (r["interval"], r["clock_mhz"]) == (row["interval"], row["clock_mhz"]))
            self.assertRegex(row["slower"], rf"^[0-9.]+ % slower than point {there['point']} \(cbuf.banks 16\): planned otherwise, .* 16 kernels; there .* 48 kernels$")
        database = sqlite3.connect(self.folder / "out" / "points.db")
        self.assertEqual([row[0] for row in database.execute("SELECT slower FROM points ORDER BY point")], [row["slower"] for row in self.rows()])
        database.close()


class Figures(SweepCase):
    """What follows from a result, calculated by hand from its counters."""
    SWEEP = {"base": {"layer": SMALL, "hw": "nv_small", "memory": "ddr4-2400"},
             "axes": {"clock_mhz": [500, 1000], "cbuf.banks": [16, 32], "memory": ["ddr4-2400", "ideal"]}}

    def result(self, point):
        return json.loads((self.folder / "out" / "points" / f"{point:04}" / "result.json").read_text())

    def close(self, found, expected):
        self.assertAlmostEqual(found / expected, 1, delta=2e-5)  # six digits

    def test_time_and_rates(self):
        self.assertEqual(self.sweep(self.SWEEP).returncode, 0)
        for row in self.rows():
            result = self.result(row["point"])
            seconds = result["cycles"] / (row["clock_mhz"] * 1e6)
            traffic = result["traffic"]["dbb"]
            self.close(row["time_us"], seconds * 1e6)
            self.close(row["frames_per_s"], 1 / seconds)
            self.close(row["gops"], 2 * 9 * 7 * 10 * 12 * 3 * 3 / seconds / 1e9)
            self.close(row["dbb_gb_per_s"], (traffic["read_bytes"] + traffic["write_bytes"]) / seconds / 1e9)
            self.close(row["csc.starved"], result["units"]["csc"]["starved"] / result["cycles"])
            self.assertEqual(row["dbb_read_bytes.CDMA_WT"], traffic["read_bytes_by_client"]["CDMA_WT"])
            self.assertEqual(row["bound"], result["bound"])
            self.assertEqual(row["measured"], row["cbuf.banks"] == 32)  # nv_small has 32 banks; the clock is no matter of cycles
            self.assertEqual(row["dram_efficiency"] is None, row["memory"] == "ideal")

    def test_energy_and_area(self):
        numbers = {"multiply_int8_pj": 0.5, "add_int32_pj": 0.1, "event_share": 1, "register_fj": 0, "control_pj": 0, "leakage_mw_per_mm2": 0, "control_um2": 0, "nominal_mhz": 0,
                   "sram_8kib_pj": 10, "sram_32kib_pj": 20, "sram_bit_um2": 1, "ram_bit_um2": 0.346}
        technology = {"table": "16nm"} | {name: {"value": value, "source": "a test"} for name, value in numbers.items()}
        technology["event_share"] = {"value": 1, "assumption": "a test"}
        self.assertEqual(self.sweep(self.SWEEP | {"technology": technology}).returncode, 0)
        areas = {}
        for row in self.rows():
            result = self.result(row["point"])
            units, traffic = result["units"], result["traffic"]["dbb"]
            products = sum(units[half]["counters"]["products"] for half in ("cmac_a", "cmac_b"))
            self.assertEqual(row["assumed"], "multiply_int16_pj, event_share")
            self.close(row["array_uj"], products * (0.5 + 0.1) / 1e6)
            # nv_small: banks of 512 entries of 8 bytes are 4 KiB: half of 8 KiB, at 10 pJ that quadruple in size double.
            read = 8 * (units["csc"]["counters"]["data_reads"] + units["csc"]["counters"]["weight_reads"])
            filled = sum(traffic["read_bytes_by_client"][client] for client in ("CDMA_DAT", "CDMA_WT"))
            self.close(row["cbuf_uj"], (read + filled) / 8 * 10 / 2 ** 0.5 / 1e6)
            if row["memory"] == "ideal":
                self.close(row["memory_uj"], (traffic["read_bytes"] + traffic["write_bytes"]) / 8 * 1300 / 1e6)
            else:
                self.close(row["memory_uj"], result["memory_report"]["dbb"]["energy"]["total_pj"] / 1e6)
            self.close(row["total_uj"], row["energy_uj"] + row["memory_uj"])
            self.close(row["power_mw"], 1e3 * row["energy_uj"] / row["time_us"])
            self.assertIsNone(row["cvsram_uj"])
            areas[row["cbuf.banks"]] = row["area_mm2"]
        fewer, more = sorted(areas)
        self.assertAlmostEqual(areas[more] - areas[fewer], (more - fewer) * 512 * 8 * 8 * 0.346 / 1e6, places=5)

    def test_phy_and_controller_count_where_they_are_stated(self):
        self.assertEqual(self.sweep(self.SWEEP, "--timing-only").returncode, 0)
        without = self.rows()
        numbers = {"phy_read_pj": 2, "phy_write_pj": 5, "phy_mw": 3}
        technology = {"table": "16nm"} | {name: {"value": value, "source": "a test"} for name, value in numbers.items()}
        self.assertEqual(self.sweep(self.SWEEP | {"technology": technology}, "--timing-only", "--restart").returncode, 0)
        for row, before in zip(self.rows(), without, strict=True):
            traffic = self.result(row["point"])["traffic"]["dbb"]
            width = traffic["read_bytes"] / traffic["read_beats"]
            phy = 8e-6 * width * (2 * traffic["read_beats"] + 5 * traffic["write_beats"]) + 3e-3 * row["time_us"]
            dram = row["memory"] != "ideal"
            self.assertAlmostEqual(row["memory_uj"], before["memory_uj"] + dram * phy, delta=2e-5 * row["memory_uj"])
            self.assertAlmostEqual(row["total_uj"], row["energy_uj"] + row["memory_uj"], delta=2e-5 * row["total_uj"])
            self.assertAlmostEqual(row["memory_idle_mw"], before["memory_idle_mw"] + 3 * dram, delta=2e-5 * max(1, row["memory_idle_mw"]))
            self.assertEqual((row["cycles"], row["energy_uj"]), (before["cycles"], before["energy_uj"]))

    def test_the_voltage_follows_the_clock(self):
        self.assertEqual(self.sweep(self.SWEEP, "--timing-only").returncode, 0)
        following, results = self.rows(), [self.result(point)["energy"] for point in range(8)]
        technology = {"table": "16nm", "nominal_mhz": {"value": 0, "source": "a test"}}
        self.assertEqual(self.sweep(self.SWEEP | {"technology": technology}, "--timing-only", "--restart").returncode, 0)
        for row, fixed in zip(following, self.rows(), strict=True):
            if row["clock_mhz"] == 1000:
                self.assertEqual(row, fixed)
                continue
            here, there = results[row["point"]], self.result(row["point"])["energy"]
            volts = here["voltage"]
            self.assertAlmostEqual(((volts - 0.5) / 0.5) ** 1.3 / volts, 0.5, delta=1e-6)  # half of the clock of 1 GHz
            self.assertEqual(there["voltage"], 1)
            for part, power in (("events_uj", 2), ("clock_uj", 2), ("leakage_uj", 1)):
                self.assertAlmostEqual(here["units"]["cacc"][part] / there["units"]["cacc"][part], volts ** power, delta=1e-9, msg=part)
            self.assertEqual((row["cycles"], row["memory_uj"], row["area_mm2"]), (fixed["cycles"], fixed["memory_uj"], fixed["area_mm2"]))
            self.assertLess(row["idle_mw"], fixed["idle_mw"])

    def test_timing_only_has_the_same_energy(self):
        self.assertEqual(self.sweep(self.SWEEP).returncode, 0)
        rows = self.rows()
        self.assertEqual(self.sweep(self.SWEEP, "--timing-only", "--restart").returncode, 0)
        for full, timed in zip(rows, self.rows(), strict=True):
            for key in ("cycles", "energy_uj", "array_uj", "cbuf_uj", "memory_uj", "total_uj", "power_mw", "area_mm2"):
                self.assertEqual(full[key], timed[key], key)
            self.assertGreater(timed["array_uj"], 0)

    def test_causes_are_of_points_not_of_rows(self):
        self.assertEqual(self.sweep(self.SWEEP, "--timing-only").returncode, 0)
        rows = self.rows()
        self.assertIsNotNone(self.result(0)["causes"])
        self.assertEqual(self.sweep(self.SWEEP, "--timing-only", "--no-causes", "--restart").returncode, 0)
        self.assertEqual(self.rows(), rows)
        self.assertIsNone(self.result(0).get("causes"))

    def test_a_number_without_a_source_is_refused(self):
        for technology, says in (({"table": "45nm", "dram_pj": {"value": 1}}, "/dram_pj/source"), ({"dram_pj": {"value": 1, "source": "x"}}, "is missing"),
                             ({"table": "45nm", "dram_pj": {"value": 1, "source": "x", "assumption": "y"}}, "/dram_pj"), ({"table": "45nm", "dram_pj": 3}, "/dram_pj"), ({"table": "44nm"}, "44nm"), ("none.json", "unknown technology"),
                             ({"table": "45nm", "dram_pj": {"value": -1, "source": "x"}}, "/dram_pj/value"), (3, "/technology")):
            self.refused(self.sweep(self.SWEEP | {"technology": technology}), says)
            if isinstance(technology, dict):
                self.write(technology, "technology.json")
                self.refused(self.sweep(self.SWEEP, "--technology", "technology.json"), says)

    def test_the_command_runs_the_point_alone(self):
        self.assertEqual(self.sweep(self.SWEEP).returncode, 0)
        row = self.rows()[5]
        words = row["command"].split()
        self.assertEqual(words[:2] + words[3:], ["dlasim", "run", "--point", "5"])
        self.assertEqual(self.dlasim(*words[1:], "--out", "alone").returncode, 0)
        self.assertEqual(json.loads((self.folder / "alone" / "result.json").read_text())["cycles"], row["cycles"])
        self.assertEqual(self.dlasim("net", words[2], "--point", 5, "--out", "by_net").returncode, 0)
        self.assertEqual(json.loads((self.folder / "by_net" / "result.json").read_text())["cycles"], row["cycles"])
        done = self.dlasim("run", words[2], "--point", 8, "--out", "none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a point of 8", done.stderr)
        layers = [{"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]
        network = {"base": {"network": {"name": "net", "input": {"width": 4, "height": 4, "channels": 8}, "layers": layers}, "hw": "nv_small"}, "axes": {"latency": [10, 20]}}
        self.write(network, "networks.json")
        done = self.dlasim("net", "networks.json", "--point", 1, "--out", "plan", "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((self.folder / "plan" / "plan.json").read_text())["layers"][0]["name"], "a")
        self.assertFalse((self.folder / "plan" / "result.json").exists())
        done = self.dlasim("net", "networks.json", "--point", 1, "--out", "none", "--steps")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--steps: found with a network, expected an ONNX model", done.stderr)
        for option, value in (("--hw", "nv_small"), ("--memory", "ideal"), ("--set", "cbuf.banks=16")):  # of the point, no other
            for command in ("run", "net", "loadable"):
                done = self.dlasim(command, words[2], "--point", 5, "--out", "none", option, value)
                self.assertEqual(done.returncode, 2)
                self.assertIn(option, done.stderr)


class Resuming(SweepCase):
    SWEEP = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"layer": [SMALL, SweepCase.LONG], "latency": [10, 20]}}

    def interrupt(self, how=signal.SIGINT):
        """Two points have ended, the long ones run."""
        run = self.start(self.SWEEP, "--jobs", "2", "--timing-only")
        for _ in range(2):
            run.stdout.readline()
        run.send_signal(how)
        _, err = run.communicate(timeout=60)
        return run.returncode, err

    def times(self):
        return {path.parent.name: path.stat().st_mtime_ns for path in self.folder.glob("out/points/*/result.json")}

    def test_an_interrupted_sweep_says_what_has_ended_and_goes_on(self):
        status, err = self.interrupt()
        self.assertEqual(status, 130, err)
        self.assertIn("interrupted after 2 of 4 points", err)
        self.assertIn("--resume", err)
        self.assertFalse((self.folder / "out" / "points.csv").exists())
        self.assertEqual(len((self.folder / "out" / "points.partial.csv").read_text().splitlines()), 3)
        before = self.times()
        self.assertEqual(set(before), {"0000", "0001"})
        done = self.sweep(self.SWEEP, "--jobs", 2, "--timing-only", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 of 4 points completed earlier", done.stdout)
        self.assertEqual({name: self.times()[name] for name in before}, before)
        self.assertFalse((self.folder / "out" / "points.partial.csv").exists())
        self.assertEqual(self.sweep(self.SWEEP, "--timing-only", out="whole").returncode, 0)
        for name in ("points.csv", "points.json"):
            self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "whole" / name).read_bytes())

    def test_a_table_that_somebody_changed_is_refused(self):
        """No point that the sweep does not have, no rows without an end."""
        sweep = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10, 20]}}
        self.assertEqual(self.sweep(sweep, out="good").returncode, 0)
        endless = "SELECT 0 AS point, 0 AS status, '{}' AS row UNION ALL SELECT point + 1, 0, '{}' FROM r"
        for change, says in (("INSERT INTO kept VALUES (99999, 0, '{}', '')", "point 99999 of 2"), ("INSERT INTO kept VALUES (-5, 0, '{}', '')", "point -5 of 2"),
                             ("UPDATE identity SET value = '9000000' WHERE key = 'points'", "is damaged"),
                             (f"DROP TABLE kept; CREATE VIEW kept AS WITH RECURSIVE r AS ({endless}) SELECT * FROM r", "")):
            shutil.rmtree(self.folder / "bad", ignore_errors=True)
            shutil.copytree(self.folder / "good", self.folder / "bad")
            database = sqlite3.connect(self.folder / "bad" / "points.db")
            database.executescript(change)
            database.close()
            for arguments, out in ((["--resume"], "bad"), (["--collect", "bad"], "collected")):
                done = self.sweep(sweep, *arguments, out=out)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(says, done.stderr)
            self.assertFalse(list(self.folder.glob("collected/points/*/*")))

    def test_a_killed_sweep_goes_on(self):
        self.assertEqual(self.interrupt(signal.SIGKILL)[0], -signal.SIGKILL)
        done = self.sweep(self.SWEEP, "--timing-only", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 of 4 points completed earlier", done.stdout)
        self.assertEqual(len(self.rows()), 4)

    def test_a_folder_of_another_sweep_is_refused(self):
        self.interrupt()
        for sweep, arguments, says in (
                (self.SWEEP, ["--timing-only"], ("2 of 4 points of an unfinished sweep", "--resume")),
                (self.SWEEP, ["--resume"], ("another sweep", "its options differ")),
                (self.SWEEP | {"axes": {"layer": [SMALL], "latency": [10, 21]}}, ["--timing-only", "--resume"], ("another sweep", "sweep file")),
                (self.SWEEP, ["--timing-only", "--resume", "--restart"], ("--re",))):
            done = self.sweep(sweep, *arguments)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            for text in says:
                self.assertIn(text, done.stderr)
        self.write(SMALL, "layer.json")
        named = {"base": {"layer": "layer.json", "hw": "nv_small"}, "axes": {"latency": [10, 20]}}
        self.assertEqual(self.sweep(named, "--restart").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.folder / "out" / "points")), [".lock", "0000", "0001"])
        self.write(SMALL | {"name": "other"}, "layer.json")
        done = self.sweep(named, "--resume")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a file that it names differ", done.stderr)

    def test_stale_points_do_not_mix_in(self):
        axes = {"latency": [10, 20, 30]}
        self.assertEqual(self.sweep({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": axes}).returncode, 0)
        (self.folder / "out" / "points" / "0002" / "mine.txt").write_text("of the user")
        self.assertEqual(self.sweep({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10]}}).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.folder / "out" / "points")), [".lock", "0000", "0002"])
        self.assertEqual(os.listdir(self.folder / "out" / "points" / "0002"), ["mine.txt"])
        self.assertEqual(len(self.rows()), 1)

    def test_shards_make_the_tables_of_the_whole(self):
        sweep = Sweeps.SWEEP
        self.assertEqual(self.sweep(sweep, out="whole").returncode, 0)
        for shard in (1, 2, 3):
            done = self.sweep(sweep, "--shard", f"{shard}/3", out=f"part{shard}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("points.partial.csv", done.stdout.splitlines()[-1])
            self.assertFalse((self.folder / f"part{shard}" / "points.csv").exists())
        done = self.sweep(sweep, "--shard", "2/3", "--resume", out="part1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds points of shard 1/3", done.stderr)
        done = self.sweep(sweep, "--collect", "part1", "part3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has 11 of 16 points now", done.stderr)
        done = self.sweep(sweep, "--resume", "--collect", "part2", "part1")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("points.csv", "points.json", "sweep.html"):
            self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "whole" / name).read_bytes(), name)
        self.assertTrue((self.folder / "out" / "points" / "0007" / "report.txt").exists())
        self.assertEqual(self.sweep(sweep, "--collect", "part3", out="rest").returncode, 2)
        done = self.sweep(sweep, "--resume", out="rest")  # what a node that was lost has not run
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("5 of 16 points completed earlier", done.stdout)
        self.assertEqual((self.folder / "rest" / "points.csv").read_bytes(), (self.folder / "whole" / "points.csv").read_bytes())

    def test_shards_that_cannot_be_are_refused(self):
        for shard in ("0/3", "4/3", "3", "1/0", "1/", "/2", "-1/2", "1/2/3"):
            self.refused(self.sweep(Sweeps.SWEEP, f"--shard={shard}"), "--shard")
        self.refused(self.sweep(Sweeps.SWEEP, "--collect", "none"), "none", "points.db")
        self.refused(self.sweep(Sweeps.SWEEP, "--collect", "none", "--shard", "1/2"), "--shard")

    def test_a_collection_that_is_refused_clears_nothing(self):
        sweep, other = ({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [latency, 20]}} for latency in (10, 11))
        self.assertEqual(self.sweep(sweep, "--shard", "1/2", out="part").returncode, 0)
        self.assertEqual(self.sweep(sweep, out="whole").returncode, 0)
        self.assertEqual(self.sweep(other, out="other").returncode, 0)
        for out, folders, says in (("part", ["part"], "part: is the folder of --out"), ("whole", ["whole/../whole", "part"], "is the folder of --out"),
                                   ("whole", ["none"], "none: has no points.db"), ("whole", ["part", "other"], "other: holds points of another sweep")):
            done = self.sweep(sweep, "--collect", *folders, out=out)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
        self.assertEqual(len((self.folder / "whole" / "points.csv").read_text().splitlines()), 3)
        done = self.sweep(sweep, "--resume", "--shard", "1/2", out="part")
        self.assertIn("1 of 1 points completed earlier", done.stdout)

    def test_tables_of_somebody_else_are_not_removed(self):
        (self.folder / "out").mkdir()
        file = self.folder / "out" / "points.db"
        with contextlib.closing(sqlite3.connect(file)) as mine:
            mine.execute("CREATE TABLE precious (a)")
            mine.commit()
        for option in ([], ["--resume"]):
            self.refused(self.sweep(Sweeps.SWEEP, *option), "points.db: is no table of a sweep")
        with contextlib.closing(sqlite3.connect(file)) as mine:
            self.assertEqual(mine.execute("SELECT name FROM sqlite_master").fetchall(), [("precious",)])
        self.refused(self.sweep(Sweeps.SWEEP, "--restart"), "points.db: is no table of a sweep")

    def test_a_damaged_table_is_refused(self):
        self.assertEqual(self.sweep(Sweeps.SWEEP).returncode, 0)
        (self.folder / "out" / "points.db").write_bytes(b"no table at all" * 1000)
        done = self.sweep(Sweeps.SWEEP, "--resume")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("points.db", done.stderr)
        self.assertEqual(self.sweep(Sweeps.SWEEP, "--restart").returncode, 0)

    def test_a_point_whose_process_was_killed_runs_again(self):
        run = self.start(self.SWEEP, "--timing-only")
        for _ in range(2):
            run.stdout.readline()
        while run.poll() is None:  # the third point
            children = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split()
            if children:
                os.kill(int(children[0]), signal.SIGKILL)
                break
            time.sleep(0.01)
        out, err = run.communicate(timeout=100)
        self.assertEqual(run.returncode, 3, err)
        self.assertIn("killed from outside", self.rows()[2]["reason"])
        done = self.sweep(self.SWEEP, "--timing-only", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 of 4 points completed earlier", done.stdout)

    def test_a_point_that_does_not_end_is_ended(self):
        endless = {"input": {"width": 224, "height": 224, "channels": 512}, "kernel": {"width": 3, "height": 3, "count": 512}}
        sweep = {"base": {"layer": SMALL, "hw": "nv_small", "memory": "ddr4-3200"}, "axes": {"layer": [SMALL, endless]}}
        done = self.sweep(sweep, "--timing-only", "--limit", 1)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual([row["cycles"] is None for row in self.rows()], [False, True])
        self.assertIn("after 1 s of CPU time (--limit)", self.rows()[1]["reason"])
        self.assertEqual(self.sweep(sweep, "--timing-only", "--limit", 1, "--resume").stdout.splitlines()[0], "1 of 2 points completed earlier")

    def test_a_point_that_cannot_be_written_is_not_refused(self):
        sweep = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10, 20, 30]}}
        self.assertEqual(self.sweep(sweep).returncode, 0)
        (self.folder / "out" / "points" / "0001" / "result.json").unlink()
        (self.folder / "out" / "points" / "0001" / "result.json").mkdir()
        done = self.sweep(sweep)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("0001/result.json: cannot be written", done.stderr)
        (self.folder / "out" / "points" / "0001" / "result.json").rmdir()
        self.assertEqual(self.sweep(sweep, "--resume").returncode, 0)
        self.assertEqual([row["verified"] for row in self.rows()], [True] * 3)

    def test_a_point_without_its_files_runs_again(self):
        sweep = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10, 20, 30]}}
        self.assertEqual(self.sweep(sweep).returncode, 0)
        tables = [(self.folder / "out" / name).read_bytes() for name in ("points.csv", "points.json", "sweep.html")]
        results = [self.folder / "out" / "points" / f"{point:04}" / "result.json" for point in range(3)]
        whole = [result.read_text() for result in results]
        results[0].write_text("")  # as a power cut may leave it
        results[2].unlink()
        done = self.sweep(sweep, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 3 points completed earlier", done.stdout)
        self.assertEqual([json.loads(r.read_text())["cycles"] for r in results], [json.loads(w)["cycles"] for w in whole])
        self.assertEqual([(self.folder / "out" / name).read_bytes() for name in ("points.csv", "points.json", "sweep.html")], tables)


class Watching(SweepCase):
    """Who looks on while a sweep runs."""
    SWEEP = {"base": {"layer": SweepCase.LONG, "hw": "nv_small"}, "axes": {"latency": list(range(30, 630))}}

    def test_points_can_be_read_while_the_sweep_runs(self):
        process = self.start(self.SWEEP, "--jobs", "2", "--timing-only")
        counts, pages = [], set()
        try:
            while process.poll() is None and len(set(counts)) < 3:
                time.sleep(0.2)
                page = self.folder / "out/sweep.html"
                if not page.exists():
                    continue
                pages.add('"running": true' in page.read_text())
                with contextlib.closing(sqlite3.connect(f"file:{self.folder}/out/points.db?mode=ro", uri=True)) as database:
                    counts.append(database.execute("SELECT count(*), min(cycles) FROM points").fetchone()[0])
                self.assertTrue((self.folder / "out/points.partial.csv").read_text().startswith("point,"))
        finally:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(counts[-1], counts[0])
        self.assertEqual(pages, {True})
        self.assertNotIn('"running": true', (self.folder / "out/sweep.html").read_text(), "what has stopped looks for no more")

    def test_a_reader_that_stays_does_not_hinder_the_sweep(self):
        sweep = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10, 20]}}
        self.assertEqual(self.sweep(sweep).returncode, 0)
        with contextlib.closing(sqlite3.connect(self.folder / "out/points.db")) as database:
            database.execute("BEGIN")
            self.assertEqual(database.execute("SELECT count(*) FROM points").fetchone(), (2,))
            done = self.sweep(sweep, out="other")
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
