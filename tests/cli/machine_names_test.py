#!/usr/bin/env python3
"""What a machine is called, what commands take without being told, and requirements of a sweep that change.

usage: machine_names_test.py DLASIM [TestCase...]
"""
import json
import sys
import unittest
from pathlib import Path

import cli_test
from cli_test import SMALL, Case

ROOT = Path(__file__).resolve().parents[2]


class Names(Case):
    """A machine of other sizes than its preset is told as such, wherever a reader looks; one default machine for all."""

    NAME = "nv_small with cbuf.banks=16"

    def test_preset_and_changes_and_whether_it_was_measured(self):
        layer = self.write(SMALL)
        for settings, name, measured in ((["--set", "cbuf.banks=16"], self.NAME, False), ([], "nv_small", True), (["--set", "cbuf.banks=32"], "nv_small", True),
                                         (["--set", "cbuf.banks=16", "--set", "cbuf.bank_depth=128"], "nv_small with cbuf.banks=16, cbuf.bank_depth=128", True)):
            done = self.dlasim("run", layer, "--hw", "nv_small", *settings, "--out", "out", "--html", "page.html")
            result = json.loads((self.folder / "out/result.json").read_text())
            self.assertEqual((result["machine"], result["measured"]), (name, measured))
            self.assertIn(f"on           {name}{'' if measured else ', unmeasured (DEVIATIONS D8)'}, ideal", done.stdout)
            self.assertIn(json.dumps(name)[1:-1], (self.folder / "page.html").read_text())
            explained = self.dlasim("explain", "out").stdout.replace("\n", " ")
            self.assertIn(f"on {name}{'' if measured else ' (unmeasured)'}", explained)
        self.assertIn(f"on {self.NAME}", self.dlasim("net", ROOT / "models/networks/lenet5.json", "--hw", "nv_small", "--set", "cbuf.banks=16", "--plan").stdout)
        net = self.dlasim("net", ROOT / "models/networks/lenet5.json", "--hw", "nv_small", "--set", "cbuf.banks=16", "--timing-only", "--out", "net")
        self.assertIn(f"on           {self.NAME}, unmeasured", net.stdout)
        sweep = self.write({"base": {"layer": str(layer), "hw": "nv_small"}, "axes": {"cbuf.banks": [16, 32]}}, "s.json")
        self.assertEqual(self.dlasim("sweep", sweep, "--timing-only", "--out", "swept").returncode, 0)
        self.assertEqual([(row["machine"], row["measured"]) for row in json.loads((self.folder / "swept/points.json").read_text())], [(self.NAME, False), ("nv_small", True)])

    def test_one_default_machine(self):
        header = (ROOT / "include/dlasim/accelerator.h").read_text()
        self.assertIn('std::string hardware = "nv_full";', header)
        for command in ("run", "net", "loadable", "export", "silicon", "test"):
            self.assertIn("--hw TEXT=nv_full", self.dlasim(command, "--help").stdout, command)
        sweep = self.write({"base": {"layer": str(self.write(SMALL))}, "axes": {"cbuf.banks": [16]}}, "s.json")
        self.assertEqual(self.dlasim("sweep", sweep, "--timing-only", "--out", "swept").returncode, 0)
        self.assertEqual(json.loads((self.folder / "swept/points.json").read_text())[0]["machine"], "nv_full")

    def test_one_default_of_jobs(self):
        for command in ("sweep", "test", "explain"):
            told = " ".join(self.dlasim(command, "--help").stdout.split())
            self.assertRegex(told, r"--jobs UINT[^-]*number of parallel [a-z]+; default: the number of processors", command)


class Requirements(Case):
    """Requirements are judged anew over the points that are there."""

    def swept(self, require, *arguments):
        sweep = self.write({"base": {"layer": str(self.write(SMALL)), "hw": "nv_small"}, "axes": {"cbuf.banks": [8, 16, 32]}, "require": require}, "s.json")
        done = self.dlasim("sweep", sweep, "--timing-only", "--out", "swept", "--best", "area_mm2", *arguments)
        return done, json.loads((self.folder / "swept/points.json").read_text())

    def test_results_stay(self):
        first, rows = self.swept("area_mm2 < 0.5")
        self.assertEqual(first.returncode, 4, first.stderr)
        self.assertEqual([row["cycles"] is not None for row in rows], [True, True, False])
        stamps = [(self.folder / f"swept/points/000{i}/result.json").stat().st_mtime_ns for i in (0, 1)]
        for require, options, ran in (("area_mm2 < 0.6", [], 3), (["area_mm2 < 0.4"], ["--resume"], 3), ("area_mm2 < 0.6 && cycles < 10000000", [], 3)):
            done, rows = self.swept(require, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("points completed earlier", done.stdout)
            self.assertEqual(sum(row["cycles"] is not None for row in rows), ran)
            self.assertEqual([(self.folder / f"swept/points/000{i}/result.json").stat().st_mtime_ns for i in (0, 1)], stamps)
        done, rows = self.swept("area_mm2 < 0.4")
        self.assertIn("1 of 3 machines that meet everything", done.stdout)
        other = self.write({"base": {"layer": str(self.write(SMALL)), "hw": "nv_small"}, "axes": {"cbuf.banks": [8, 16]}}, "s.json")
        self.refused_here(self.dlasim("sweep", other, "--timing-only", "--out", "swept", "--resume"), "holds points of another sweep")

    def refused_here(self, done, says):
        self.assertEqual(done.returncode, 2)
        self.assertIn(says, done.stderr)


if __name__ == "__main__":
    cli_test.DLASIM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
