#!/usr/bin/env python3
"""Places of files: two in one place, links, modes, disks that are full when much has been written.

usage: places_test.py DLASIM [TestCase...]
"""
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
import onnx_writer

import cli_test
from cli_test import SMALL, Case

NETWORK = {"name": "network", "input": {"width": 64, "height": 64, "channels": 16}, "layers": [
    {"name": f"layer{i}", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 16}} for i in range(10)]}


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Places(Case):
    def test_two_files_in_one_place_are_refused(self):
        """One of them would be lost."""
        layer, network = self.write(SMALL), self.write(NETWORK, "network.json")
        (self.folder / "link").symlink_to("out")
        run = ["run", layer, "--hw", "nv_small", "--out", "out"]
        for arguments, place in ((run, "out/result.json"), (run, "link/../out/output.npy"), (run, "link/output.npy"),
                                 (["net", network, "--hw", "nv_small", "--out", "out"], "out/layers.csv"),
                                 (["replay", self.write({"id": "case", "config": "nv_small", "memory": {}, "program": [["READ", "CSC.S_POINTER"]]}, "case.json"),
                                   "--out", "out"], "out/result.json")):
            done = self.dlasim(*arguments, "--events", place)
            self.refused(done, place, "is already written by this command")
            self.assertEqual(files_below(self.folder / "out"), {})
        for first, second in (("--log", "--out"), ("--log", "--timeline"), ("--timeline", "--out")):
            self.refused(self.dlasim("dram", "--cycles", 10**12, first, "x", second, "./x"), "x: is already written by this command")
            self.assertFalse((self.folder / "x").exists())
        self.assertEqual(self.dlasim("dram", "--cycles", 1000, "--log", "/dev/null", "--out", "/dev/null").returncode, 0)

    def test_what_a_run_wrote_is_not_what_an_earlier_one_left(self):
        done = self.dlasim("run", self.write(SMALL), "--hw", "nv_small", "--out", "out", "--timing-only", "--events", "out/output.npy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("probes", json.loads((self.folder / "out/output.npy").read_text()))

    def test_a_link_to_nothing_stays_a_link(self):
        (self.folder / "below").mkdir()
        for link, target in (("first", "below/second"), ("below/second", "../target"), ("round", "trip"), ("trip", "round")):
            (self.folder / link).symlink_to(target)
        run = ["run", self.write(SMALL), "--hw", "nv_small", "--out", "out", "--quiet", "--events"]
        self.assertEqual(self.dlasim(*run, "first").returncode, 0)
        self.assertTrue((self.folder / "first").is_symlink() and (self.folder / "below/second").is_symlink())
        self.assertIn("probes", json.loads((self.folder / "target").read_text()))
        (self.folder / "out/result.json").unlink()
        self.refused(self.dlasim(*run, "round"), "round", "expected a file that can be written")
        (self.folder / "out/result.json").symlink_to("../result")
        for _ in range(2):
            self.assertEqual(self.dlasim(*run, "target").returncode, 0)
            self.assertTrue((self.folder / "out/result.json").is_symlink())
            self.assertEqual(json.loads((self.folder / "result").read_text())["name"], "small")

    def test_a_reader_that_goes_away_ends_nothing(self):
        """What it does not take is lost without a word; what goes elsewhere is there."""
        layer = self.write(SMALL)
        self.write({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": list(range(10, 16))}}, "sweep.json")
        for command, file in (("run layer.json --hw nv_small", "out/result.json"), ("sweep sweep.json --out swept", "swept/points.csv")):
            said = subprocess.run(["bash", "-c", f"{cli_test.DLASIM} {command} | true; echo ${{PIPESTATUS[0]}}"], cwd=self.folder, capture_output=True, text=True,
                                  timeout=100)
            self.assertEqual(said.stdout, "2\n")
            self.assertEqual(said.stderr, "")
            self.assertTrue((self.folder / file).exists())
        os.mkfifo(self.folder / "fifo")
        reader = threading.Thread(target=lambda: os.close(os.open(self.folder / "fifo", os.O_RDONLY)))
        reader.start()
        done = self.dlasim("run", layer, "--hw", "nv_small", "--events", "fifo")
        reader.join()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("fifo: cannot be written (Broken pipe)", done.stderr)

    def test_a_folder_that_cannot_be_made_says_why(self):
        (self.folder / "link").symlink_to("nowhere/at/all")
        self.refused(self.dlasim("run", self.write(SMALL), "--out", "layer.json/below"), "Not a directory")
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", disk], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            self.refused(self.dlasim("run", self.write(SMALL), "--out", "disk/new"), "disk/new", "Read-only file system")
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_a_file_keeps_its_mode(self):
        events = self.folder / "events"
        for mode, mask in ((0o664, 0o022), (0o666, 0o077), (0o600, 0), (0o640, 0o022)):
            events.write_text("old")
            events.chmod(mode)
            done = self.dlasim("run", self.write(SMALL), "--hw", "nv_small", "--events", "events", umask=mask)
            self.assertEqual((done.returncode, events.stat().st_mode & 0o777), (0, mode), done.stderr)
        for mask in (0o022, 0o077):
            events.unlink()
            self.dlasim("run", self.write(SMALL), "--hw", "nv_small", "--events", "events", umask=mask)
            self.assertEqual(events.stat().st_mode & 0o777, 0o644 & ~mask)


class Idle(Case):
    """What would be ignored is refused."""

    def test_options_without_a_run(self):
        layer, network = self.write(SMALL), self.write(NETWORK, "network.json")
        for arguments, says in ((["run", layer, "--plan", "--events", "x"], "--events"), (["run", layer, "--plan", "--check-dram"], "--check-dram"),
                                (["run", layer, "--check-dram"], "ideal memory"), (["net", network, "--plan", "--tensors"], "--tensors"),
                                (["net", network, "--timing-only", "--tensors"], "--tensors"), (["net", network, "--plan", "--events", "x"], "--events"),
                                (["dram", "--list", "--out", "x"], "--out"), (["dram", "--describe", "--log", "x"], "--log"),
                                (["dram", "--decode", "0", "--timeline", "x"], "--timeline"), (["dram", "--stride", "64"], "--stride")):
            self.refused(self.dlasim(*arguments), says)
        onnx_writer.save(self.folder / "model.onnx", [onnx_writer.node("Relu", ["x"], ["y"])], {}, {"x": [1, 8, 4, 4]}, {"y": None})
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"layer.json", "network.json", "model.onnx"})
        self.assertEqual(self.dlasim("net", "model.onnx", "--hw", "nv_small", "--plan").returncode, 0)


class Whole(Case):
    """All files of a run are complete before the first one takes the place of an old one."""

    def test_a_disk_without_room_for_tensors_keeps_the_old_run(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=900k", "none", disk], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            run = ["net", self.write(NETWORK, "network.json"), "--hw", "nv_small", "--out", "disk", "--quiet"]
            self.assertEqual(self.dlasim(*run).returncode, 0)
            old = files_below(disk)
            done = self.dlasim(*run, "--tensors", "--seed", 2)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("No space left", done.stderr)
            self.assertEqual(files_below(disk), old)
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_who_waits_for_a_turn_can_be_interrupted(self):
        (self.folder / "out").mkdir()
        folder = os.open(self.folder / "out", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        run = subprocess.Popen([cli_test.DLASIM, "run", self.write(SMALL), "--hw", "nv_small", "--out", "out", "--events", "out/events"], cwd=self.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=10)
        os.close(folder)
        self.assertEqual((run.returncode, out), (130, ""), err)
        self.assertIn("another run writes into this folder", err)
        self.assertEqual(os.listdir(self.folder / "out"), [])

    def test_who_waits_for_a_reader_can_be_interrupted(self):
        os.mkfifo(self.folder / "fifo")
        run = subprocess.Popen([cli_test.DLASIM, "run", self.write(SMALL), "--hw", "nv_small", "--events", "fifo"], cwd=self.folder, stderr=subprocess.PIPE)
        time.sleep(1)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=10)
        self.assertEqual(run.returncode, 130)

    def test_many_files_are_open_at_once(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (16, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        network = dict(NETWORK, input={"width": 4, "height": 4, "channels": 16}, layers=[dict(NETWORK["layers"][0], name=f"layer{i}") for i in range(60)])
        done = self.dlasim("net", self.write(network), "--hw", "nv_small", "--out", "out", "--tensors", preexec_fn=few)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(os.listdir(self.folder / "out/tensors")), 61)

    def test_steps_of_any_name_have_files(self):
        weights = np.ones((8, 8, 1, 1), np.float32)
        for name in ("n" * 300, "../../" * 60, "\u00e4" * 200):
            onnx_writer.save(self.folder / "model.onnx", [onnx_writer.node("Conv", ["x", "w"], [name])], {"w": weights}, {"x": [1, 8, 4, 4]}, {name: None})
            done = self.dlasim("net", "model.onnx", "--hw", "nv_small", "--out", "out", "--steps", "--tensors")
            self.assertEqual(done.returncode, 0, done.stderr)
            layer = json.loads((self.folder / "out/steps/steps.json").read_text())["steps"][0]["layer"]
            self.assertEqual(self.dlasim("run", self.folder / "out/steps" / layer, "--hw", "nv_small", "--out", "again").returncode, 0)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"model.onnx", "out", "again"})

    def test_a_folder_has_one_trace(self):
        """Both forms have their memory in files of the same names."""
        layer, larger = self.write(SMALL), self.write(dict(SMALL, kernel=dict(SMALL["kernel"], count=20)), "larger.json")
        for form, trace, file in (("txn", "input.txn", layer), ("cfg", "test.cfg", larger), ("txn", "input.txn", larger)):
            done = self.dlasim("export", file, "--hw", "nv_small", "--form", form, "--to", "trace")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({"input.txn", "test.cfg"} & set(os.listdir(self.folder / "trace")), {trace})
            done = self.dlasim("replay", "trace", "--hw", "nv_small")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("1 of 1 regions right", done.stdout)


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
