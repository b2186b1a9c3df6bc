#!/usr/bin/env python3
"""dlasim net --images N: several images of a network in one program.

usage: net_images_test.py DLASIM [Images]
"""
import sys
import unittest
from pathlib import Path

import net_test
from net_memory_test import conv, random_network
from net_test import BLOCK, NETWORKS, Net

HEADER = 128      # bytes of a NumPy file before its values
BEFORE_T0 = 150   # cycles in which the registers of a run's first operation are written: every run alone has them before it counts
DENSE = [{"name": "fa", "op": "fully_connected", "kernel": {"count": 33}, "bias": True, "activation": "relu"},
         {"name": "fb", "op": "fully_connected", "kernel": {"count": 40}, "bias": True},
         {"name": "sm", "op": "softmax"}]


class Images(Net):
    def run_it(self, network, images, *options):
        out = f"out{images}"
        self.net(network, "--quiet", "--hazards", "--images", images, "--out", out, *options)
        result = self.result(out)
        self.assertTrue(result["verified"])
        self.assertEqual(result["hazards"]["found"], 0)
        self.check_times(result)
        return result, (self.folder / out / "output.npy").read_bytes()[HEADER:]

    def check(self, network, images, *options):
        """Cycles for each, over those of an image alone. The first image has the values of one alone, and there are as many as asked for."""
        alone, output = self.run_it(network, 1, *options)
        together, outputs = self.run_it(network, images, *options)
        self.assertEqual(len(outputs), images * len(output))
        self.assertEqual(outputs[:len(output)], output)
        self.assertNotEqual(outputs[-len(output):], output, "inputs differ")
        self.assertEqual(together["images"], {"count": images, "cycles": together["cycles"]})
        self.assertAlmostEqual(together["frames_per_s"], images * 1e6 * together["hardware"]["clock_mhz"] / together["cycles"], delta=0.01)
        self.assertLessEqual(together["cycles"], images * (1.005 * alone["cycles"] + BEFORE_T0))
        self.assertLess(together["memory_use"]["dbb"]["weights"], 1.01 * alone["memory_use"]["dbb"]["weights"] + 4096)
        self.net(network, "--quiet", "--timing-only", "--images", images, "--out", "timed", *options)
        self.assertEqual(self.result("timed")["cycles"], together["cycles"])
        return together["cycles"] / images / alone["cycles"]

    def test_dense_layers_take_the_time_of_their_weights_once(self):
        for machine, share in (("nv_large", 0.7), ("nv_small", 0.7), ("nv_full", 0.8)):
            self.assertLess(self.check(NETWORKS / "lenet5.json", 4, "--hw", machine), share, machine)
        self.assertLess(self.check(NETWORKS / "lenet_caffe.json", 3, "--hw", "nv_large", "--memory", "ddr4-3200"), 0.7)
        tail = {"input": {"width": 14, "height": 14, "channels": 64},
                "layers": [conv("a", ["data"], 64, 3, activation="relu"),
                           {"name": "p", "op": "pool", "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}}] + DENSE}
        for machine, *more in (("nv_large",), ("nv_small",), ("nv_full", "--precision", "fp16")):
            self.check(tail, 4, "--hw", machine, *more)
            names = [step["name"] for step in self.result("out4")["steps"]]
            self.assertIn("fa", names)
            self.assertNotIn("fa@2", names)

    def test_windows_that_stay_in_their_image(self):
        layers = [conv("a", ["data"], 256), conv("b", ["a"], 64, 3, activation="relu"), conv("c", ["b"], 256),
                  {"name": "sum", "op": "add", "inputs": ["a", "c"], "activation": "relu"},
                  conv("d", ["sum"], 512, stride={"x": 2, "y": 2}),
                  {"name": "gap", "op": "pool", "pool": {"function": "average", "kernel_shape": [2, 2]}}] + DENSE
        network = {"input": {"width": 4, "height": 4, "channels": 128}, "layers": layers}
        for machine in ("nv_large", "nv_small", "nv_small_256_full"):
            self.check(network, 3, "--hw", machine)

    def test_random_networks(self):
        for seed in range(20):
            network = random_network(seed)
            if seed % 3:
                network["input"]["height"] = 4 + seed % 5
                network["layers"] += DENSE
            machine = ("nv_large", "nv_small_256_full", "nv_full", "nv_small")[seed % 4]
            options = ("--precision", "fp16") if machine == "nv_full" and seed % 8 == 2 else ("--memory", "ddr4-3200") if seed % 5 == 0 else ()
            with self.subTest(seed=seed, machine=machine):
                self.check(network, 2 + seed % 3, "--hw", machine, *options)

    def test_all_kinds_of_steps(self):
        for machine in net_test.MACHINES:
            self.check(BLOCK, 2, "--hw", machine, "--keep-tensors")

    def test_what_is_refused(self):
        for images in (0, -1, 65, 10**20, "two"):
            self.assertIn("--images", self.net(BLOCK, "--images", images, status=2).stderr)
        self.assertIn("--optimise", self.net(BLOCK, "--images", 2, "--optimise", 1, status=2).stderr)
        layer = {"op": "conv2d", "input": {"width": 8, "height": 8, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 8}}
        self.assertIn("expected a network", self.net(layer, "--images", 2, status=2).stderr)


if __name__ == "__main__":
    net_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
