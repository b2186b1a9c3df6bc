#!/usr/bin/env python3
"""Every cycle of a run has one cause, and the right one.

usage: causes_test.py DLASIM [Known | Sums | Compaction | Everything]

Known       programs of which one thing is known to hold them up: it has most of the cycles
Sums        causes of a network add up to its cycles, in each step to its share; --no-causes leaves them out and changes nothing
Compaction  causes of a tall layer are the same whenever notes are compacted, and stepped
Everything  so do those of all layers and networks of models/, on three machines, behind an ideal memory and two DRAMs
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DLASIM = None


def conv(size, channels, kernels, kernel, pad=0, **more):
    return {"name": "layer", "op": "conv2d", "input": {"width": size, "height": size, "channels": channels},
            "kernel": {"width": kernel, "height": kernel, "count": kernels}, "pad": dict.fromkeys(("left", "right", "top", "bottom"), pad)} | more


def pool(size, channels, kernel, stride):
    return {"name": "pool", "op": "pool", "input": {"width": size, "height": size, "channels": channels},
            "pool": {"function": "max", "kernel": {"width": kernel, "height": kernel}, "stride": {"x": stride, "y": stride}}}


LRN = {"name": "lrn", "op": "lrn", "input": {"width": 16, "height": 16, "channels": 32}, "lrn": {"size": 5}}
SMALL, LARGE, FULL = ["--hw", "nv_small"], ["--hw", "nv_large"], ["--hw", "nv_full"]


MODELS = Path(__file__).resolve().parents[2] / "models"


def model(name):
    return json.loads((MODELS / f"{name}.json").read_text())


def memory(spec):
    return ["--memory", spec]


# What holds it up, at least this share of the cycles, the program, the machine.
KNOWN = [
    ("array/computing", 0.90, conv(32, 32, 32, 3, 1), SMALL),
    ("array/computing", 0.80, conv(56, 64, 64, 3, 1), LARGE),
    ("array/computing", 0.70, conv(14, 64, 64, 3, 1, groups=64), LARGE),
    ("array/weight_load", 0.75, conv(1, 1024, 256, 1), SMALL),
    ("array_idle/accumulator_full", 0.70, conv(56, 64, 256, 1), LARGE),
    ("array_idle/accumulator_full", 0.60, conv(64, 32, 8, 1), SMALL),
    ("memory/latency/CDMA_WT", 0.80, conv(4, 64, 64, 3, 1), SMALL + memory("ideal:latency=1000")),
    ("memory/latency/CDMA_WT", 0.80, conv(1, 2048, 64, 1), SMALL + memory("ideal:latency=400")),
    ("memory/latency/CDMA_WT", 0.90, conv(1, 8, 8, 1), SMALL + memory("ideal:latency=2000")),
    ("memory/latency/CDMA_DAT", 0.80, conv(64, 64, 8, 1), LARGE + memory("ideal:latency=4000")),
    ("memory/bandwidth/CDMA_WT", 0.80, conv(1, 512, 128, 1), SMALL + memory("ideal:interval=8")),
    ("memory/bandwidth/CDMA_DAT", 0.50, conv(16, 64, 16, 1), SMALL + memory("ideal:interval=8")),
    ("end/write_back/SDP", 0.90, conv(2, 8, 8, 1), SMALL + memory("ideal:write_latency=5000")),
    ("pdp/pace", 0.95, pool(32, 32, 3, 1), SMALL),
    ("memory/latency/PDP", 0.95, pool(8, 8, 2, 2), SMALL + memory("ideal:latency=3000")),
    ("cdp/pace", 0.95, LRN, SMALL),
    ("array/computing", 0.90, conv(20, 32, 32, 3, 2, dilation={"x": 2, "y": 2}), SMALL),
    ("memory/dram_bandwidth/CDMA_WT", 0.60, conv(1, 4096, 1024, 1), LARGE + memory("ddr4-2400:tCK_ns=8")),
    ("memory/latency/BDMA", 0.95, model("bdma_spill_and_reload"), FULL + memory("ideal:latency=5000")),
    ("memory/bandwidth/BDMA", 0.95, model("bdma_spill_and_reload"), FULL + memory("ideal:interval=8")),
    ("memory/latency/RBK", 0.95, model("rubik_split"), FULL + memory("ideal:latency=5000")),
    ("memory/latency/CDP", 0.95, LRN, SMALL + memory("ideal:latency=9000")),
    ("memory/bandwidth/CDP", 0.95, LRN, SMALL + memory("ideal:interval=64")),
    ("end/write_back/CDP", 0.95, LRN, SMALL + memory("ideal:write_latency=20000")),
    ("memory/latency/SDP", 0.95, model("sdp_sigmoid"), FULL + memory("ideal:latency=9000")),
    ("memory/bandwidth/SDP", 0.95, model("sdp_sigmoid"), FULL + memory("ideal:interval=64")),
    ("memory/bandwidth/SDP_BN", 0.70, model("resnet50_res2a_branch2c_add"), LARGE + memory("ideal:interval=32")),
    ("memory/latency/SDP_BN", 0.60, model("resnet50_res2a_branch2c_add"), LARGE + memory("ideal:latency=40000")),
    ("memory/bandwidth/PDP", 0.95, pool(32, 32, 3, 3), SMALL + memory("ideal:interval=32")),
    ("end/write_back/PDP", 0.90, pool(8, 8, 2, 2), SMALL + memory("ideal:write_latency=9000")),
]


def leaves(tree, path=""):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, path + name + "/")
        else:
            yield path + name, value


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_file(self, command, content, *arguments):
        path = os.path.join(self.folder, "program.json")
        with open(path, "w") as file:
            json.dump(content, file)
        out = os.path.join(self.folder, "out")
        run = subprocess.run([DLASIM, command, path, "--timing-only", "--out", out, *arguments], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(os.path.join(out, "result.json")) as file:
            return json.load(file), run.stdout


class Known(Folder):
    def test_what_holds_a_program_up_has_most_of_its_cycles(self):
        for cause, share, layer, machine in KNOWN:
            with self.subTest(cause=cause, layer=layer.get("name"), machine=machine):
                result, _ = self.run_file("run", layer, *machine)
                causes = dict(leaves(result["causes"]))
                self.assertEqual(sum(causes.values()), result["cycles"])
                self.assertEqual(max(causes, key=causes.get), cause, causes)
                self.assertGreaterEqual(causes[cause] / result["cycles"], share, causes)


class Sums(Folder):
    NETWORK = {"name": "net", "input": {"width": 14, "height": 14, "channels": 32}, "layers": [
        {"name": "first", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 32}, "bias": True},
        {"name": "second", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 64}, "bias": True},
        {"name": "pool", "op": "pool", "pool": {"function": "max", "kernel": {"width": 2, "height": 2}, "stride": {"x": 2, "y": 2}}}]}

    def test_steps_and_network(self):
        for machine in (SMALL, LARGE, SMALL + memory("ddr4-3200"), LARGE + memory("lpddr5-6400")):
            result, text = self.run_file("net", self.NETWORK, *machine)
            self.assertEqual(sum(cycles for _, cycles in leaves(result["causes"])), result["cycles"])
            for step in result["steps"]:
                self.assertEqual(sum(cycles for _, cycles in leaves(step["causes"])), step["share"], step["name"])
            self.assertIn("  causes  ", text)
            without, text = self.run_file("net", self.NETWORK, *machine, "--no-causes")
            self.assertNotIn("causes", without)
            self.assertNotIn("  causes  ", text)
            self.assertEqual(without["cycles"], result["cycles"])


    def test_an_operand_that_is_read_for_the_first_time(self):
        """Its engine of SDP_RDMA has nothing to do in the layers before: their cycles are not its start."""
        network = model("networks/resnet50")
        network["layers"] = network["layers"][:7]
        del network["macs"]
        result, _ = self.run_file("net", network, *LARGE)
        self.assertLess(dict(leaves(result["causes"])).get("start_up/begin", 0), 0.01 * result["cycles"])


class Compaction(Folder):
    def test_a_tall_layer(self):
        """11 % of its cycles had other causes when every unit was stepped."""
        layer = conv(1, 1, 1, 1, dilation={"x": 2, "y": 1}) | {
            "input": {"width": 1, "height": 8192, "channels": 1}, "stride": {"x": 2, "y": 3}, "pad": {"left": 2, "bottom": 63, "value": -1}}
        machine = LARGE + memory("lpddr4-3200:channels=8")
        usual, _ = self.run_file("run", layer, *machine)
        for how in (("--sum-up-every", "300"), ("--sum-up-every", str(2**62)), ("--stepping",)):
            result, _ = self.run_file("run", layer, *machine, *how)
            self.assertEqual((result["cycles"], result["causes"]), (usual["cycles"], usual["causes"]), how)


class Everything(Folder):
    def check(self, command, file, machine, spec):
        """What is wrong with its sums; "" if nothing, None if the machine refuses it."""
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([DLASIM, command, file, "--hw", machine, "--memory", spec, "--timing-only", "--quiet", "--out", folder],
                                 capture_output=True, text=True)
            if run.returncode == 2:
                return None
            if run.returncode != 0:
                return run.stderr
            result = json.loads(Path(folder, "result.json").read_text())
        wrong = "" if sum(cycles for _, cycles in leaves(result["causes"])) == result["cycles"] else "the run"
        if command == "net":
            steps = [step for step in result["steps"] if "share" in step]  # those of the host have none
            if sum(step["share"] for step in steps) != result["cycles"]:
                wrong += " the shares"
            wrong += "".join(f' step {step["name"]}' for step in steps
                             if sum(cycles for _, cycles in leaves(step.get("causes", {}))) != step["share"])
        return wrong

    def test_causes_are_the_cycles(self):
        runs = [(command, file, machine, spec) for command, files in (("run", MODELS.glob("*.json")), ("net", (MODELS / "networks").glob("*.json")))
                for file in sorted(files) for machine in ("nv_small", "nv_large", "nv_full") for spec in ("ideal", "ddr4-3200", "lpddr4-3200")]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda run: self.check(*run), runs))
        ran = [said for said in found if said is not None]
        print(f"{len(ran)} runs, {len(runs) - len(ran)} refused")
        self.assertEqual([(run, said) for run, said in zip(runs, found) if said], [])
        self.assertGreater(len(ran), 3 * len(runs) // 4)


if __name__ == "__main__":
    DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
