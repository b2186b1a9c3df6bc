#!/usr/bin/env python3
"""Commands with too little memory: status 0 or 2 and nothing else, whatever fails - the machine, SystemC, a library, a stack. With enough of
it, memory comes in large pages.

usage: no_memory_test.py DLASIM [TestCase...]
"""
import json
import os
import resource
import shutil
import sys
import unittest
from pathlib import Path

import cli_test
from cli_test import DATA, SMALL, Case
from examples import some

ROOT = Path(__file__).resolve().parents[2]
LARGE = {"input": {"width": 40, "height": 40, "channels": 128}, "kernel": {"width": 3, "height": 3, "count": 256}, "bias": True, "post": {"output": {"shift": 10}}}
HUGE = {"input": {"width": 32, "height": 32, "channels": 512}, "kernel": {"width": 3, "height": 3, "count": 512}}
NETWORK = {"input": {"width": 32, "height": 32, "channels": 64}, "layers": [
    {"name": name, "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 64}, "pads": [1, 1, 1, 1]} for name in "abc"]}


class NoMemory(Case):
    def setUp(self):
        """Megabytes from where the dynamic loader can map the libraries; below it ends the process, with 127."""
        super().setUp()
        least = next(megabytes for megabytes in range(8, 60) if self.limited(megabytes, "--version").returncode in (0, 2))
        self.limits = [*range(max(20, least), 40), *range(40, 100, 5), *range(100, 401, 50)]

    def limited(self, megabytes, *words):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        return self.dlasim(*words, preexec_fn=limit)

    def test_runs(self):
        self.write(SMALL, "small.json")
        self.write(LARGE, "large.json")
        self.write(NETWORK, "network.json")
        self.good = {}
        for words in (["run", "small.json", "--hw", "nv_small"], ["run", "large.json", "--hw", "nv_large", "--memory", "ddr4-2400"],
                      ["net", "network.json", "--hw", "nv_large", "--layers", "apart", "--tensors"],
                      ["net", ROOT / "models/onnx/acri_mnist.onnx", "--hw", "nv_small"],
                      ["loadable", DATA / "loadables/tiny_nv_small.nvdla", "--hw", "nv_small"], ["export", "small.json", "--hw", "nv_small", "--to", "case"],
                      ["dram", "--cycles", 3000, "--json"], ["bound", "small.json", "--chip", 16], ["reference"]):
            seen = []
            for megabytes in [*some(self.limits[:-1], 4), self.limits[-1]]:
                out = [] if words[0] in ("export", "dram", "bound", "reference") else ["--out", "out"]
                done = self.limited(megabytes, *words, *out)
                with self.subTest(words[:2], megabytes=megabytes):
                    self.assertIn(done.returncode, (0, 2), done.stderr[-500:])
                    if done.returncode == 2:
                        self.assertRegex(done.stderr, "memory|room|MiB")
                    seen.append(done.returncode)
            self.assertEqual(seen[-1], 0, words)

    def test_sweeps_go_on(self):
        self.write(HUGE, "huge.json")
        sweep = self.write({"base": {"layer": SMALL, "hw": "nv_large"}, "axes": {"layer": [SMALL, "huge.json"], "latency": [10, 20]}}, "sweep.json")
        self.assertEqual(self.dlasim("sweep", sweep, "--out", "whole").returncode, 0)
        cut = 0
        for megabytes in some(self.limits[::2], 3):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            done = self.limited(megabytes, "sweep", sweep, "--out", "out", "--jobs", 2)
            with self.subTest(megabytes=megabytes):
                self.assertIn(done.returncode, (0, 2), done.stdout + done.stderr)
                cut += "without memory" in done.stdout
                done = self.dlasim("sweep", sweep, "--out", "out", "--resume")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                for name in ("points.csv", "points.json", "sweep.html"):
                    self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "whole" / name).read_bytes())
        self.assertGreater(cut, 0, "no sweep had points without memory")

    def test_pages_are_large(self):
        """20,000 pages of 4 KiB are touched."""
        offered = Path("/sys/kernel/mm/transparent_hugepage/enabled")
        if not offered.exists() or "[never]" in offered.read_text():
            self.skipTest("no large pages")
        self.write(HUGE, "huge.json")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        self.assertEqual(self.dlasim("run", "huge.json", "--hw", "nv_large", "--out", "out").returncode, 0)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before, 5000)


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    if "asan" in cli_test.DLASIM:
        sys.exit("no_memory_test: a sanitizer has a heap of its own")
    unittest.main()
