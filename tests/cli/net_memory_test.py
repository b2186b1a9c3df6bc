#!/usr/bin/env python3
"""Where `dlasim net` keeps tensors, and for how long.

usage: net_memory_test.py DLASIM [Memory]
"""
import random
import sys
import unittest
from pathlib import Path

import net_test
from net_test import BLOCK, Net


def conv(name, inputs, kernels, size=1, **more):
    pad = size // 2
    return {"name": name, "op": "conv2d", "inputs": inputs, "kernel": {"width": size, "height": size, "count": kernels}, "bias": True,
            "pads": [pad] * 4} | more


def random_network(seed):
    """Convolutions, sums, concatenations, deconvolutions and softmax over tensors that were made before, near or far."""
    rand = random.Random(seed)
    channels = {"data": rand.choice((8, 24, 40))}
    layers = []
    for i in range(rand.randint(6, 14)):
        name = f"l{i}"
        some = lambda n: rand.choices(list(channels)[-4:], k=n)
        kind = rand.choice(("conv", "conv", "conv", "sum", "concat", "softmax", "pool", "lrn"))
        source = some(1)[0]
        alike = [other for other, c in channels.items() if c == channels[source]]
        if kind == "sum":
            layers.append({"name": name, "op": "add", "inputs": [source, rand.choice(alike)], "activation": rand.choice(("none", "relu"))})
            channels[name] = channels[source]
        elif kind == "concat" and len(channels) > 2:
            parts = rand.sample(list(channels)[1:], rand.randint(2, min(3, len(channels) - 1)))
            layers.append({"name": name, "op": "concat", "inputs": parts})
            channels[name] = sum(channels[part] for part in parts)
        elif kind == "softmax" and rand.random() < 0.5:
            layers.append({"name": name, "op": "softmax", "inputs": [source]})
            channels[name] = channels[source]
        elif kind == "pool":
            layers.append({"name": name, "op": "pool", "inputs": [source],
                           "pool": {"function": "max", "kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}})
            channels[name] = channels[source]
        elif kind == "lrn" and source == "data":
            layers.append({"name": name, "op": "lrn", "inputs": [source], "lrn": {"size": 3}})
            channels[name] = channels[source]
        else:
            channels[name] = rand.choice((8, 16, 24, 32, 64))
            layers.append(conv(name, [source], channels[name], rand.choice((1, 3)), activation=rand.choice(("none", "relu"))))
    return {"input": {"width": rand.randint(4, 12), "height": rand.randint(4, 12), "channels": channels["data"]}, "layers": layers}


class Memory(Net):
    def run_it(self, network, *options, out="out"):
        self.net(network, "--quiet", "--out", out, *options)
        result = self.result(out)
        self.assertTrue(result["verified"])
        return result

    def test_random_networks_are_verified_and_no_step_waits_for_memory(self):
        kept = reused = 0
        for seed in range(28):
            network = random_network(seed)
            machine = ("nv_large", "nv_small_256_full", "nv_full", "nv_small")[seed % 4]
            room = ("--set", f"memory.secondary.bytes={random.Random(seed).choice((1, 4, 16, 64)) * 1024}") if machine != "nv_small" else ()
            with self.subTest(seed=seed, machine=machine):
                apart = self.run_it(network, "--hw", machine, "--keep-tensors", "--no-cvsram", out="apart")
                shared = self.run_it(network, "--hw", machine, "--no-cvsram", out="shared")
                # Equal addresses are not written again.
                self.assertLessEqual(shared["cycles"], apart["cycles"])
                self.assertLessEqual(shared["memory_use"]["dbb"]["tensors"], apart["memory_use"]["dbb"]["tensors"])
                reused += shared["memory_use"]["dbb"]["tensors"] < apart["memory_use"]["dbb"]["tensors"]
                near = self.run_it(network, "--hw", machine, *room, out="near")
                kept += self.check_ports(near, shared)
        self.assertGreater(kept, 8, "tensors stood in CVSRAM")
        self.assertGreater(reused, 12, "memory was used again")

    def check_ports(self, near, far):
        """What CVSRAM keeps from DBB is missing there, byte for byte, but for what beats hold beside."""
        use = near["memory_use"]
        self.assertLessEqual(use["cvsram"]["tensors"], use["cvsram"]["capacity"])
        memory = {place["name"]: place["memory"] for place in near["places"]}
        self.assertEqual({memory["data"], memory[near["network"]["layers"][-1]["name"]]}, {"dbb"})
        moved = lambda port: port["read_bytes"] + port["write_bytes"]
        self.assertEqual(moved(far["traffic"].get("cvsram", {"read_bytes": 0, "write_bytes": 0})), 0)
        if "cvsram" not in near["traffic"]:
            return False
        self.assertAlmostEqual(moved(near["traffic"]["cvsram"]), use["cvsram"]["kept"], delta=0.1 * use["cvsram"]["kept"])
        self.assertAlmostEqual(moved(far["traffic"]["dbb"]) - moved(near["traffic"]["dbb"]), use["cvsram"]["kept"],
                               delta=0.1 * use["cvsram"]["kept"])
        self.assertEqual(use["cvsram"]["kept"] > 0, any(place["memory"] == "cvsram" for place in near["places"]))
        return use["cvsram"]["kept"] > 0

    def test_tensors_that_meet_are_not_there_at_the_same_time(self):
        for machine in ("nv_small", "nv_large"):
            result = self.run_it(BLOCK, "--hw", machine)
            steps = len(result["steps"])
            places = result["places"]
            joined = {"side", "sum", "all"}
            for a in places:
                for b in places:
                    if a["name"] >= b["name"] or {a["name"], b["name"]} <= joined or a["memory"] != b["memory"]:
                        continue
                    apart = a["address"] + a["bytes"] <= b["address"] or b["address"] + b["bytes"] <= a["address"]
                    over = lambda t: steps if t["over"] is None else t["over"]
                    self.assertTrue(apart or over(a) <= b["first_step"] or over(b) <= a["first_step"], (machine, a, b))

    def test_phases_are_put_together_in_a_part_of_a_concatenation(self):
        layers = [conv("a", ["data"], 40, 3),
                  {"name": "up", "op": "deconv2d", "inputs": ["data"], "kernel": {"width": 2, "height": 2, "count": 32}, "stride": {"x": 2, "y": 2},
                   "bias": True},
                  {"name": "skip", "op": "deconv2d", "inputs": ["a"], "kernel": {"width": 4, "height": 4, "count": 64}, "stride": {"x": 2, "y": 2},
                   "pads": [1, 1, 1, 1], "bias": True},
                  {"name": "all", "op": "concat", "inputs": ["skip", "up"]},
                  conv("end", ["all"], 16)]
        network = {"input": {"width": 6, "height": 5, "channels": 24}, "layers": layers}
        for machine in ("nv_small", "nv_large", "nv_full"):
            result = self.run_it(network, "--hw", machine)
            self.assertNotIn("host", {step["unit"] for step in result["steps"]}, machine)

    def test_a_picture_stands_as_pixels_where_that_takes_fewer_cycles(self):
        for channels, size, machine in ((3, 7, "nv_large"), (3, 5, "nv_small"), (1, 3, "nv_full"), (4, 3, "nv_small_256_full"), (2, 3, "nv_large")):
            layers = [conv("first", ["data"], 24, size, stride={"x": 2, "y": 2}, activation="relu"), conv("second", ["first"], 16)]
            network = {"input": {"width": 41, "height": 30, "channels": channels}, "layers": layers}
            pixels = self.run_it(network, "--hw", machine, "--tensors", out="pixels")
            features = self.run_it(network, "--hw", machine, "--no-pixels", "--tensors", out="features")
            self.assertEqual([step["mode"] for step in pixels["steps"]], ["direct" if channels == 2 else "image", "direct"], machine)
            self.assertEqual([step["mode"] for step in features["steps"]], ["direct", "direct"])
            if channels != 2:
                self.assertLess(pixels["cycles"], features["cycles"], machine)
            for name in ("data", "first", "second"):
                self.assertEqual((self.folder / f"pixels/tensors/{name}.npy").read_bytes(), (self.folder / f"features/tensors/{name}.npy").read_bytes())
        for more in ({"groups": 3}, {"dilation": {"x": 2, "y": 2}}):
            layers = [conv("first", ["data"], 24, 3) | more]
            self.run_it({"input": {"width": 20, "height": 20, "channels": 3}, "layers": layers}, "--hw", "nv_large")
            self.assertEqual(self.result()["steps"][0]["mode"], "direct")

    def test_tensors_are_written_as_they_were(self):
        for out, options in (("apart", ("--keep-tensors",)), ("shared", ())):
            self.run_it(BLOCK, "--hw", "nv_large", "--tensors", *options, out=out)
        files = sorted((self.folder / "apart/tensors").glob("*.npy"))
        self.assertGreater(len(files), 8)
        for file in files:
            self.assertEqual(file.read_bytes(), (self.folder / "shared/tensors" / file.name).read_bytes(), file.name)

    def test_room_is_that_of_the_hardware(self):
        none = self.run_it(BLOCK, "--hw", "nv_large", "--set", "memory.secondary.bytes=0")
        self.assertEqual(none["memory_use"]["cvsram"], {"tensors": 0, "capacity": 0, "kept": 0})
        told = self.net(BLOCK, "--hw", "nv_small", "--set", "memory.secondary.bytes=4096", status=2).stderr
        self.assertIn("there is no secondary port", told)


if __name__ == "__main__":
    net_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
