#!/usr/bin/env python3
"""Time that repeats itself is skipped without values, and nothing but the time of the host is another for it.

usage: repeats_test.py DLASIM [Few | Everything]

Few         some layers and networks, random ones too: skipped, simulated, and simulated and checked against what the skip would have led to
Everything  all layers and networks of models/ on three machines, with and without causes, and 500 random networks
"""
import json
import os
import random
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


def network(draw):
    """Blocks of convolutions, pools and sums, each several times: what comes again in them does so behind different layers."""
    side = draw.choice([14, 20, 28, 40])
    width, height, channels = side, draw.choice([side, 2 * side]), draw.choice([16, 32, 64])
    layers, last = [], "data"

    def add(**layer):
        layers.append(layer | {"name": f"l{len(layers)}", "output": {"width": width, "height": height, "channels": channels}})
        return layers[-1]["name"]

    first = channels
    for _ in range(draw.randint(1, 3)):
        body = [draw.choice([1, 3, "depthwise", 1, 3, "pool"]) for _ in range(draw.randint(1, 4))]
        inner, outer, sums, relu = draw.choice([16, 32, 64]), draw.choice([16, 32, 64, 96]), draw.random() < 0.5, draw.random() < 0.7
        for _ in range(draw.randint(1, 5)):
            begin, begin_channels = last, channels
            for i, kind in enumerate(body):
                size = kind if kind in (1, 3) else 3
                around = {edge: size // 2 for edge in ("left", "right", "top", "bottom")}
                if kind == "pool":
                    last = add(op="pool", inputs=[last], pool={"function": "max", "kernel": {"width": 3, "height": 3},
                                                               "stride": {"x": 1, "y": 1}, "pad": around})
                    continue
                grouped = {"groups": channels} if kind == "depthwise" else {}
                if not grouped:
                    channels = outer if i + 1 == len(body) else inner
                last = add(op="conv2d", inputs=[last], kernel={"width": size, "height": size, "count": channels}, pad=around, bias=True,
                           **grouped, **({"activation": "relu"} if relu and not sums else {}))
            if sums and begin != "data" and begin_channels == channels:
                last = add(op="add", inputs=[last, begin], activation="relu")
    return {"name": "blocks", "input": {"width": width, "height": height, "channels": first}, "layers": layers,
            "overlap": draw.choice(["all", "all", "registers", "none"])}


def compare_networks(first, count, memories):
    """What is wrong in random networks, and how many have had cycles that were skipped."""
    def one(seed):
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"network_{seed}.json")
            file.write_text(json.dumps(network(draw)))
            machine = draw.choice(["nv_small", "nv_small", "nv_large", "nv_full"])
            memory = draw.choice(memories)
            found = [compare(file, machine, "--memory", memory, *causes) for causes in ((), ("--no-causes",))]
        return [wrong for wrong, _ in found if wrong], any(skipped for _, skipped in found)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(one, range(first, first + count)))
    return [wrong for wrongs, _ in found for wrong in wrongs], sum(skipped for _, skipped in found)


class Few(unittest.TestCase):
    RUNS = [("networks/resnet18.json", "nv_small"), ("networks/resnet18.json", "nv_large"), ("networks/mobilenet_v1.json", "nv_full"),
            ("vgg16_conv3_2.json", "nv_small"), ("dcgan_deconv1.json", "nv_small"), ("resnet50_res2a_branch2c_add.json", "nv_large"),
            ("mobilenet_v1_conv1_image.json", "nv_small")]
    # A DRAM has a state that is not said: what repeats itself while it is asked for nothing is skipped.
    WITH_DRAM = [("networks/mobilenet_v1.json", "nv_large", "ddr4-3200", 0.2), ("networks/resnet18.json", "nv_full", "lpddr4-3200", 0.1)]

    def test_results_are_the_same_bytes(self):
        for file, machine in self.RUNS:
            wrong, skipped = compare(file, machine)
            self.assertEqual(wrong, "")
            self.assertGreater(skipped, 0, f"{file} {machine}: nothing repeats itself")

    def test_without_causes_too(self):
        wrong, skipped = compare("networks/resnet18.json", "nv_small", "--no-causes")
        self.assertEqual(wrong, "")
        self.assertGreater(skipped, 0)

    def test_groups_of_kernels_that_wait_for_their_weights(self):
        """Operands of SDP that wait become fewer, and weights of a group more, from stripe to stripe."""
        wrong, skipped = compare("alexnet_fc7.json", "nv_large")
        self.assertEqual(wrong, "")
        self.assertGreater(skipped, 0.6 * cycles_of("alexnet_fc7.json", "nv_large"))

    def test_with_a_dram(self):
        for file, machine, memory, part in self.WITH_DRAM:
            wrong, skipped = compare(file, machine, "--memory", memory)
            self.assertEqual(wrong, "")
            self.assertGreater(skipped, part * cycles_of(file, machine), f"{file} {machine} {memory}")

    def test_causes_do_not_hinder_it(self):
        for file in ("vgg16_conv4_1.json", "alexnet_fc7.json", "networks/resnet18.json", "networks/alexnet.json"):
            skipped = {causes: run(file, "nv_small", "skip", *causes)[2] for causes in ((), ("--no-causes",))}
            self.assertGreater(skipped[()], 0.95 * skipped[("--no-causes",)], file)

    def test_operations_that_come_again(self):
        """Passes of a layer that does not fit, and blocks of a network, later ones and in the other group of registers too: inside of
        operations less repeats itself."""
        for file, machine, causes, part in (("networks/mobilenet_v1.json", "nv_small", (), 0.64), ("networks/mobilenet_v1.json", "nv_large", (), 0.48),
                                            ("networks/mobilenet_v1.json", "nv_large", ("--no-causes",), 0.48),
                                            ("networks/resnet50.json", "nv_large", (), 0.2)):
            wrong, skipped = compare(file, machine, *causes)
            self.assertEqual(wrong, "")
            self.assertGreater(skipped, part * cycles_of(file, machine), f"{file} {machine} {causes}")

    def test_random_networks(self):
        wrong, skipped = compare_networks(0, 16, ["ideal"])
        self.assertEqual(wrong, [])
        self.assertGreater(skipped, 8)

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
            for more in (["--timeline", Path(folder, "timeline.json")], ["--stepping"]):
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

    def test_random_networks(self):
        wrong, skipped = compare_networks(100, 500, ["ideal", "ideal", "ideal", "ddr4-3200"])
        self.assertEqual(wrong, [])
        self.assertGreater(skipped, 250)


if __name__ == "__main__":
    DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
