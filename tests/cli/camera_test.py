#!/usr/bin/env python3
"""Several workloads at their rates on one machine: load, power of the system and latencies, recomputed from the rows of the points.

usage: camera_test.py DLASIM [TestCase...]
"""
import csv
import json
import math
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DLASIM = None


def number(text):
    return float(text) if text else None


def latencies(works, order):
    """Worst latencies in microseconds. works: rate, priority, deadline in us, times of the steps in us. Step by step, in exact fractions."""
    common = math.gcd(*(int(work["rate"] * 1000) for work in works))
    end = Fraction(10**9, common)
    frames = [{"work": w, "release": Fraction(10**6, 1) * k / Fraction(work["rate"]), "left": [Fraction(t) for t in work["steps"]]}
              for w, work in enumerate(works) for k in range(int(end * Fraction(work["rate"]) / 10**6))]
    worst, now = [Fraction(0)] * len(works), Fraction(0)
    while frames:
        ready = [frame for frame in frames if frame["release"] <= now]
        if not ready:
            now = min(frame["release"] for frame in frames)
            continue
        rank = {"first_come": lambda f: f["release"], "priority": lambda f: -works[f["work"]]["priority"],
                "deadline": lambda f: f["release"] + Fraction(works[f["work"]]["deadline"])}[order]
        frame = min(ready, key=lambda f: (rank(f), f["release"], f["work"]))
        now += frame["left"].pop(0)
        if not frame["left"]:
            worst[frame["work"]] = max(worst[frame["work"]], now - frame["release"])
            frames.remove(frame)
    return [float(w) for w in worst]


class Camera(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def sweep(self, content, *options, status=(0,)):
        (self.folder / "s.json").write_text(json.dumps(content))
        done = subprocess.run([DLASIM, "sweep", "s.json", "--out", "out", "--timing-only", "--no-causes", "--jobs", "2", *options], cwd=self.folder,
                              capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def rows(self, table):
        with open(self.folder / "out" / table, newline="") as file:
            return list(csv.DictReader(file))

    def network(self, name, size, *kernels):
        width, height, channels = size
        return {"name": name, "input": {"width": width, "height": height, "channels": channels},
                "layers": [{"name": f"l{i}", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": count}}
                           for i, count in enumerate(kernels)]}

    def question(self, order="first_come", **more):
        small = self.network("small", (24, 24, 16), 32, 48)
        large = self.network("large", (32, 32, 32), 32, 64, 32)
        return {"base": {"hw": "nv_small", "memory": "lpddr4-3200"}, "axes": {"mac.atomic_c": [8, 16], "cbuf.banks": [16, 32]}, "order": order,
                "workloads": [{"network": small, "rate": 600, "priority": 1, **more}, {"network": large, "rate": 400}]}

    def test_figures_follow_from_the_points(self):
        for order in ("first_come", "priority", "deadline"):
            content = self.question(order, deadline_ms=0.5)
            self.sweep(content, *(("--restart",) if order != "first_come" else ()))
            points, machines = self.rows("points.csv"), self.rows("machines.csv")
            self.assertEqual(len(machines), 4)
            for machine in machines:
                own = [p for p in points if all(p[axis] == machine[axis] for axis in ("mac.atomic_c", "cbuf.banks"))]
                rates = (600, 400)
                self.assertEqual(machine["measured"], "true" if (machine["mac.atomic_c"], machine["cbuf.banks"]) == ("8", "32") else "false")
                load = sum(rate * float(p["time_us"]) * 1e-6 for rate, p in zip(rates, own))
                self.assertAlmostEqual(float(machine["load"]), load, delta=1e-5 * load)
                for p in own:
                    self.assertEqual(sum(map(int, p["step_cycles"].split())), int(p["cycles"]))
                if load > 1:
                    self.assertFalse(machine["meets"] == "true")
                    continue
                idle = float(own[0]["idle_mw"]) + min(float(p["memory_idle_mw"]) for p in own)
                power = sum(rate * float(p["total_uj"]) * 1e-3 for rate, p in zip(rates, own)) + (1 - load) * idle
                self.assertAlmostEqual(float(machine["system_mw"]), power, delta=1e-4 * power)
                self.assertAlmostEqual(float(machine["uj_per_frame"]), power, delta=1e-4 * power)
                works = [{"rate": rate, "priority": 1 - w, "deadline": (500, 2500)[w], "steps": [int(s) / 1000 for s in p["step_cycles"].split()]}
                         for w, (rate, p) in enumerate(zip(rates, own))]
                for name, worst in zip(("small", "large"), latencies(works, order)):
                    self.assertAlmostEqual(float(machine[f"{name}.latency_ms"]), worst / 1000, delta=1e-5 * worst)
                self.assertEqual(machine["meets"] == "true", float(machine["small.latency_ms"]) <= 0.5)

    def test_the_busy_machine_is_not_the_answer(self):
        content = self.question()
        alone = {**content, "workloads": [{**w, "rate": 0} for w in content["workloads"]]}
        self.sweep(alone)
        times = {(m["mac.atomic_c"], m["cbuf.banks"]): [float(m[f"{n}.time_us"]) for n in ("small", "large")] for m in self.rows("machines.csv")}
        # A rate at which the narrow array is overloaded by both together, but by neither alone.
        rate = int(1.04e6 / sum(times[("8", "16")]))
        self.assertLess(rate * max(times[("8", "16")]), 1e6)
        for workload in content["workloads"]:
            workload.pop("rate"), workload.pop("priority", 0)
            workload["require"] = f"fps >= {rate}"
        said = self.sweep(content, "--restart", "--best", "area_mm2", status=(0, 4))
        self.assertRegex(said, r"mac.atomic_c 16, cbuf.banks 16 has the least area_mm2")
        self.assertIn(f"With small at {rate} frames/s, large at {rate} frames/s together: load", said)
        self.assertRegex(" ".join(m["fails"] for m in self.rows("machines.csv")), "load")

    def answer(self):
        page = (self.folder / "out" / "sweep.html").read_text()
        return json.JSONDecoder().raw_decode(page[page.index('"answer": ') + len('"answer": '):])[0]

    def test_the_page_answers_as_the_command(self):
        said = self.sweep({**self.question(), "require": "load < 0.99"}, "--best", "area_mm2", status=(0, 4))
        answer, machines = self.answer(), {m["machine"]: m for m in self.rows("machines.csv")}
        self.assertTrue(said.count(answer["verdict"] + ";"), said)
        self.assertIn(answer["shared"].strip(), said)
        self.assertIn(answer["command"], said)
        chosen = machines[str(answer["machine"])]
        self.assertEqual(answer["meets"], chosen["meets"] == "true")
        unmeasured = "This machine was not measured on the RTL"
        self.assertEqual((unmeasured in said, unmeasured in answer["shared"]), (chosen["measured"] == "false",) * 2)
        meeting = [m for m in machines.values() if m["meets"] == "true"]
        self.assertEqual(float(chosen["area_mm2"]), min(float(m["area_mm2"]) for m in meeting))
        for limit in answer["limits"]:
            self.assertEqual(limit["value"], float(chosen[limit["column"]]))
        for step in answer["steps"]:
            other = machines[str(step["machine"])]
            self.assertEqual((other[step["axis"]], other["fails"]), (str(step["to"]), step["fails"]))
            for column in ("area_mm2", "load", "system_mw"):
                self.assertAlmostEqual(step["changes"][column], float(other[column]) / float(chosen[column]) - 1, delta=1e-4)
        # The drawing has every frame of a second, frames do not overlap, and together they take the load.
        frames, end = answer["frames"], answer["frames_us"]
        self.assertEqual(end, 1e6)
        for w, rate in enumerate((600, 400)):
            self.assertEqual(len({f[1] for f in frames if f[0] == w and f[2] < end}), rate)
        for one, next_one in zip(frames, frames[1:]):
            self.assertLessEqual(one[3], next_one[2] + 1e-3)
        self.assertAlmostEqual(sum(min(f[3], end) - f[2] for f in frames) / end, float(chosen["load"]), delta=0.005)

    def test_the_page_names_the_nearest(self):
        said = self.sweep({**self.question(), "require": "system_mw < 0.001"}, "--best", "area_mm2", status=(0, 4))
        answer = self.answer()
        self.assertFalse(answer["meets"])
        self.assertIn(answer["verdict"].strip(), said)
        self.assertEqual([limit["met"] for limit in answer["limits"] if limit["column"] == "system_mw"], [False])

    def test_requirements_of_the_machine(self):
        self.sweep({**self.question(), "require": "system_mw < 1e6 && load < 0.99 && small.latency_ms < 1000"}, "--best", "system_mw", status=(0, 4))
        # The power of a machine that workloads share is that of the system, in an expression as well.
        whole = self.sweep({**self.question(), "require": "power_mw < 0.001"}, "--restart", "--best", "area_mm2", status=(0, 4))
        half = self.sweep({**self.question(), "require": "power_mw / 2 < 0.0005"}, "--restart", "--best", "area_mm2", status=(0, 4))
        self.assertIn("system_mw", whole)
        self.assertIn("system_mw / 2", half)
        self.assertIn("figure of each workload", self.sweep({**self.question(), "require": "power_mw * cycles < 3"}, "--restart", status=(2,)))
        for content, said in (({"require": "lod < 1"}, 'did you mean "load"'), ({"require": "small.latency < 1"}, "latency"),
                              ({"order": "fair"}, "expected first_come, priority or deadline")):
            self.assertIn(said, self.sweep({**self.question(), **content}, "--restart", status=(2,)))
        self.sweep({**self.question(), "require": "system_mw < 0.001 || load < 0.99"}, "--restart", "--best", "area_mm2", status=(0, 4))
        self.assertIn("load > 5 || load > 6 does not hold", self.sweep({**self.question(), "require": "load > 5 || load > 6"}, "--restart", "--best", "area_mm2", status=(0, 4)))
        missing = self.question()
        missing["workloads"][1]["network"] = "none.json"
        missing["workloads"][1]["name"] = "large"
        self.assertIn('/workloads/1/network: found "none.json", expected a readable file', self.sweep(missing, "--restart", status=(2,)))
        for key, value in (("rate", -1), ("rate", 0.0001), ("deadline_ms", 0), ("priority", 0.5)):
            self.assertIn(f"/workloads/0/{key}", self.sweep(self.question(**{key: value}), "--restart", status=(2,)))



class Question(Camera):
    """configs/sweeps/camera.json: the answer of the spreadsheet, and its figures from the cycles of steps."""
    def test_answer(self):
        done = subprocess.run([DLASIM, "sweep", str(ROOT / "configs/sweeps/camera.json"), "--out", "out", "--timing-only", "--no-causes", "--jobs", "2",
                               "--best", "area_mm2", "--prove"], cwd=self.folder, capture_output=True, text=True, timeout=3000)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("mac.atomic_c 16, mac.atomic_k 8, cbuf.banks 16 has the least area_mm2", done.stdout)
        chosen = next(m for m in self.rows("machines.csv") if m["meets"] == "true")
        own = [p for p in self.rows("points.csv") if all(p[a] == chosen[a] for a in ("mac.atomic_c", "mac.atomic_k", "cbuf.banks"))]
        rates, steps = (30, 15), [[int(s) for s in p["step_cycles"].split()] for p in own]
        load = sum(rate * sum(cycles) * 1e-9 for rate, cycles in zip(rates, steps))  # at 1 GHz
        self.assertAlmostEqual(float(chosen["load"]), load, delta=1e-4)
        idle = float(own[0]["idle_mw"]) + min(float(p["memory_idle_mw"]) for p in own)
        power = sum(rate * float(p["total_uj"]) * 1e-3 for rate, p in zip(rates, own)) + (1 - load) * idle
        self.assertAlmostEqual(float(chosen["system_mw"]), power, delta=0.01)
        works = [{"rate": rate, "priority": 0, "deadline": 1e6 / rate, "steps": [Fraction(c, 1000) for c in cycles]} for rate, cycles in zip(rates, steps)]
        for name, worst in zip(("mobilenet_v1", "yolov3_tiny"), latencies(works, "first_come")):
            self.assertAlmostEqual(float(chosen[f"{name}.latency_ms"]), worst / 1000, delta=1e-3)
        # That of the spreadsheet, which has cycles and energies of its own.
        self.assertAlmostEqual(float(chosen["area_mm2"]), 0.61, delta=0.01)
        self.assertAlmostEqual(load, 0.78, delta=0.15)
        self.assertAlmostEqual(power, 175, delta=20)
        self.assertLessEqual(sum(bool(p["cycles"]) for p in self.rows("points.csv")), 13)  # of 64


if __name__ == "__main__":
    DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
