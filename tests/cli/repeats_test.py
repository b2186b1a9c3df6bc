#!/usr/bin/env python3
"""Time that repeats itself is skipped without values, and nothing but the time of the host is another for it.

usage: repeats_test.py DLASIM [Few | Everything]

Few         some layers and networks: skipped, simulated, and simulated and checked against what the skip would have led to
Everything  all layers and networks of models/ on three machines, with and without causes
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DLASIM = None
MODELS = Path(__file__).resolve().parents[2] / "models"


def run(file, machine, repeats, *more):
    """Exit status, result.json, cycles skipped, what was said."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([DLASIM, "run", MODELS / file, "--hw", machine, "--timing-only", "--reproducible", "--times", "--quiet",
                               "--repeats", repeats, "--out", folder, *more], capture_output=True, text=True)
        result = Path(folder, "result.json")
        skipped = re.search(r"(\d+) cycles were as others before", done.stderr)
        return done.returncode, result.read_bytes() if result.exists() else None, int(skipped[1]) if skipped else 0, done.stderr


def cycles_of(file, machine):
    return json.loads(run(file, machine, "skip")[1])["cycles"]


def compare(file, machine, *more):
    """What is wrong, and the cycles skipped."""
    simulated, skipped = run(file, machine, "simulate", *more), run(file, machine, "skip", *more)
    if simulated[0] != 0:
        return ("" if simulated[0] == skipped[0] else f"{file} {machine}: {skipped[3]}"), 0
    if simulated[:2] != skipped[:2]:
        return f"{file} {machine}: other results {skipped[3]}", skipped[2]
    checked = run(file, machine, "check", *more)
    return ("" if checked[:2] == simulated[:2] else f"{file} {machine}: {checked[3]}"), skipped[2]


class Few(unittest.TestCase):
    RUNS = [("networks/resnet18.json", "nv_small"), ("networks/resnet18.json", "nv_large"), ("networks/mobilenet_v1.json", "nv_full"),
            ("vgg16_conv3_2.json", "nv_small"), ("dcgan_deconv1.json", "nv_small"), ("resnet50_res2a_branch2c_add.json", "nv_large"),
            ("mobilenet_v1_conv1_image.json", "nv_small")]

    def test_results_are_the_same_bytes(self):
        for file, machine in self.RUNS:
            wrong, skipped = compare(file, machine)
            self.assertEqual(wrong, "")
            self.assertGreater(skipped, 0, f"{file} {machine}: nothing repeats itself")

    def test_without_causes_too(self):
        wrong, skipped = compare("networks/resnet18.json", "nv_small", "--no-causes")
        self.assertEqual(wrong, "")
        self.assertGreater(skipped, 0)

    def test_causes_do_not_hinder_it(self):
        for file in ("vgg16_conv4_1.json", "alexnet_fc7.json", "networks/resnet18.json"):
            skipped = {causes: run(file, "nv_small", "skip", *causes)[2] for causes in ((), ("--no-causes",))}
            self.assertGreater(skipped[()], 0.95 * skipped[("--no-causes",)], file)

    def test_operations_that_come_again(self):
        """Passes of a layer that does not fit, and blocks of a network that come again later: inside of operations 28 and 46 % are skipped.
        A block of three convolutions leaves the groups of registers in the other order: 14 % without it."""
        for file, machine, causes, part in (("networks/mobilenet_v1.json", "nv_small", (), 0.64), ("networks/mobilenet_v1.json", "nv_large", (), 0.48),
                                            ("networks/mobilenet_v1.json", "nv_large", ("--no-causes",), 0.48),
                                            ("networks/resnet50.json", "nv_large", (), 0.2)):
            wrong, skipped = compare(file, machine, *causes)
            self.assertEqual(wrong, "")
            self.assertGreater(skipped, part * cycles_of(file, machine), f"{file} {machine} {causes}")

    def test_what_is_counted_between_operations_too(self):
        """Where software waits for each pass, CSC has nothing to do at an interrupt."""
        with tempfile.TemporaryDirectory() as folder:
            layer = json.loads((MODELS / "vgg16_conv3_2.json").read_text())
            layer |= {"overlap": "none", "input": {"width": 77, "height": 162, "channels": 128}, "kernel": {"width": 1, "height": 1, "count": 16},
                      "stride": {"x": 1, "y": 2}, "pad": {side: 0 for side in ("left", "right", "top", "bottom")}}
            file = Path(folder, "layer.json")
            file.write_text(json.dumps(layer))
            wrong, skipped = compare(file, "nv_small")
            self.assertEqual(wrong, "")
            self.assertGreater(skipped, 0)

    def test_what_asks_for_every_event_is_simulated(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertGreater(run("dcgan_deconv1.json", "nv_small", "skip")[2], 0)
            for more in (["--timeline", Path(folder, "timeline.json")], ["--memory", "ddr4-3200"], ["--stepping"]):
                self.assertEqual(run("dcgan_deconv1.json", "nv_small", "skip", *more)[2], 0, more)

    def test_a_trace_has_all_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            traces = [Path(folder, repeats) for repeats in ("simulate", "skip")]
            for trace in traces:
                self.assertEqual(run("resnet50_res3a_branch2b.json", "nv_small", trace.name, "--trace", trace)[0], 0)
            self.assertEqual(traces[0].read_bytes(), traces[1].read_bytes())


class Everything(unittest.TestCase):
    def test_results_are_the_same_bytes(self):
        files = [file.relative_to(MODELS) for pattern in ("*.json", "networks/*.json") for file in sorted(MODELS.glob(pattern))]
        runs = [(file, machine, *more) for file in files for machine in ("nv_small", "nv_large", "nv_full") for more in ((), ("--no-causes",))]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda each: compare(*each), runs))
        print(f"{len(runs)} runs, {sum(skipped != 0 for _, skipped in found)} with cycles that were skipped")
        self.assertEqual([wrong for wrong, _ in found if wrong], [])
        self.assertGreater(sum(skipped != 0 for _, skipped in found), len(runs) // 10)


if __name__ == "__main__":
    DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
