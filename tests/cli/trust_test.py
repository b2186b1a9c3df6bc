#!/usr/bin/env python3
"""The command line in a world that goes wrong: full disks, closed streams, devices for files, two sweeps in one folder.

usage: trust_test.py DLASIM [TestCase...]
"""
import csv
import fcntl
import itertools
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import unicodedata
import unittest
from pathlib import Path

import cli_test
from cli_test import SMALL, Case
from examples import some

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [["CSC.S_POINTER", 0], ["MARK", "t0"], ["READ", "CSC.S_POINTER"]]
CASE = {"id": "case", "config": "nv_small", "memory": {}, "program": PROGRAM}


class Numbers(Case):
    """An option takes digits in a range; no sign wraps, no tail is dropped."""

    def test_seeds(self):
        layer = self.write(SMALL)
        for seed in ("-1", "1.5", " 1", "0x10", "1e3", str(2**63), str(2**64), "9" * 40):
            self.refused(self.dlasim("run", layer, "--quiet", f"--seed={seed}"), "--seed")
        done, result = self.run_layer(SMALL, "--seed", 2**63 - 1, "--hw", "nv_small", "--timing-only")
        self.assertEqual((done.returncode, result["layer"]["data"]["seed"]), (0, 2**63 - 1), done.stderr)

    def test_numbers_of_dram(self):
        for option in ("--stride", "--interval", "--cycles", "--decode"):
            for number in ("-1", "1.5", "9" * 30, "7x"):
                self.refused(self.dlasim("dram", f"{option}={number}"), option)
        done = self.dlasim("dram", "--decode", "0x80000040", "--decode", "64")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "^0x80000040: .*\n0x40: .*\n$")

    def test_jobs(self):
        for number in ("-1", "0", "1025", "2.0"):
            self.refused(self.dlasim("sweep", self.write({}, "s.json"), f"--jobs={number}"), "--jobs")

    def test_numbers_of_a_bound(self):
        large = {"input": {"width": 8192, "height": 8192, "channels": 8192}, "kernel": {"width": 32, "height": 32, "count": 8192}}
        for chip in ("nan", "-nan", "inf", "-1", "0", "1e30", "x", ""):
            self.refused(self.dlasim("bound", self.write(SMALL), f"--chip={chip}"), "--chip")
        for option in ("--batch", "--word"):
            for number in ("-1", "0", "1.5", "9" * 30):
                self.refused(self.dlasim("bound", self.write(SMALL), "--chip", 16, f"{option}={number}"), option)
        self.refused(self.dlasim("bound", self.write(large), "--chip", 16, "--batch", 4096), "multiplications")  # 2^74 of them
        self.refused(self.dlasim("bound", self.write({"layers": []}), "--chip", 16), "empty list")
        large["kernel"] = {"width": 1, "height": 1, "count": 8192}
        done = self.dlasim("bound", self.write(large), "--chip", 0.0625, "--word", 8, "--batch", 16, "--json")  # 2^56
        row = json.loads(done.stdout)[0]["layers"][0]
        self.assertEqual(row["macs"], 2**56)
        self.assertGreater(row["best"], row["lower_bound"])

    def test_no_run_is_faster_than_its_bounds(self):
        """Whatever the pace of the memory: behind the last beat nothing waits."""
        pool = {"op": "pool", "input": {"width": 2, "height": 2, "channels": 3}, "pool": {"function": "max", "kernel": {"width": 1, "height": 1}}}
        copy = {"op": "bdma", "blocks": [{"source": 0, "destination": {"memory": "cvsram", "address": 0}, "line_bytes": 64}]}
        for layer, hardware in ((SMALL, "nv_small"), (SMALL, "nv_full"), (pool, "nv_small"), (copy, "nv_full")):
            for pace in ("interval=1", "interval=20000", "write_interval=20000", "interval=500,write_interval=31"):
                done, result = self.run_layer(layer, "--hw", hardware, "--memory", "ideal:" + pace)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertLessEqual(result["bounds"]["largest"], result["cycles"], (layer, hardware, pace))
                self.assertLessEqual(result["bound_share"], 1)

    def test_the_data_bus_of_a_dram_in_cycles_of_the_core(self):
        """Of 1.25 ns each: 12 are 15 of 1 ns."""
        for height in range(1, 13):
            layer = {"input": {"width": 8, "height": height, "channels": 32}, "kernel": {"width": 1, "height": 1, "count": 16}}
            _, result = self.run_layer(layer, "--hw", "nv_large", "--memory", "ddr4-2400:tCK_ns=1.25,channels=1")
            bus = result["memory_report"]["dbb"]["data_bus"]
            held = bus["busy"] + sum(cycles for owner, cycles in bus["lost"].items() if owner not in ("no_request", "unfinished"))
            self.assertEqual(result["estimates"]["dram_bus"], held * 5 // 4, height)

    def test_commands_of_a_dram_cost_energy(self):
        device = json.loads((ROOT / "configs/dram/ddr4-2400.json").read_text())
        for current, key in (("IDD0", "IDD0"), ("IDD4R", "IDD4R"), ("IDD5AB", "IDD5AB"), ("IDD2N", "IDD0")):
            supply = dict(device["energy"]["supplies"][0], **{current: 9999 if current == "IDD2N" else 0})
            file = self.write(dict(device, energy=dict(device["energy"], supplies=[supply])), "device.json")
            self.refused(self.dlasim("dram", "--preset", file, "--cycles", 100), "/energy/supplies/0/" + key, "of standby")
        done = self.dlasim("dram", "--pattern", "random", "--cycles", 5000, "--set", "timing.tRAS=500", "--json")
        self.assertGreater(json.loads(done.stdout)["statistics"]["energy"]["activate_pj"], 0)

    def test_a_dram_never_gives_more_than_its_peak(self):
        for preset in ("ddr4-2400", "hbm2", "lpddr5-6400"):
            for pattern, cycles in some(itertools.product(("sequential", "sequential_write", "mixed", "random"), (10, 100, 1000, 20000)), 1):
                done = self.dlasim("dram", "--preset", preset, "--pattern", pattern, "--cycles", cycles, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                statistics = json.loads(done.stdout)["statistics"]
                one = statistics["peak_gb_per_s"] / len(statistics["channels"])
                self.assertLessEqual(statistics["bandwidth_gb_per_s"], statistics["peak_gb_per_s"] * 1.000001)
                self.assertTrue(all(c["bandwidth_gb_per_s"] <= one * 1.000001 for c in statistics["channels"]))
        self.assertGreater(statistics["bandwidth_gb_per_s"], 0.1 * statistics["peak_gb_per_s"])


class Outputs(Case):
    """A regular file appears whole or not at all; a device or a FIFO is written through."""

    def runs(self):
        """Every command that writes a file, with the option that names it."""
        layer, case = self.write(SMALL), self.write(CASE, "case.json")
        return [(["run", layer, "--hw", "nv_small", "--timing-only", "--out", "ok", "--quiet"], "--events"), (["replay", case, "--quiet"], "--events")] + \
               [(["dram", "--cycles", 5000], option) for option in ("--log", "--timeline", "--out")]

    def no_temporary_file(self):
        self.assertFalse([p for p in self.folder.rglob(".*") if p.is_file()], "a temporary file was left behind")

    def test_a_device_is_written_through(self):
        for arguments, option in self.runs():
            done = self.dlasim(*arguments, option, "/dev/null")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
            done = self.dlasim(*arguments, option, "/dev/full")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("/dev/full", done.stderr)
            self.assertIn("No space left", done.stderr)

    def test_a_fifo_is_written_through(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for arguments, option in self.runs():
            texts = []
            reader = threading.Thread(target=lambda: texts.append(fifo.read_text()))
            reader.start()
            done = self.dlasim(*arguments, option, "fifo")
            reader.join(20)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
            self.dlasim(*arguments, option, "file")
            self.assertEqual(texts[0], (self.folder / "file").read_text(), option)
            if option != "--log":
                json.loads(texts[0])

    def test_a_link_stays_a_link(self):
        (self.folder / "link").symlink_to("target")
        for arguments, option in self.runs():
            (self.folder / "target").write_text("old")
            self.assertEqual(self.dlasim(*arguments, option, "link").returncode, 0)
            self.assertTrue((self.folder / "link").is_symlink())
            self.assertGreater(len((self.folder / "target").read_text()), 100)

    def test_a_place_that_cannot_be_written_is_refused_before_the_run(self):
        (self.folder / "sub").mkdir()
        for arguments, option in self.runs():
            if arguments[0] == "dram":
                arguments = arguments[:-1] + [10**12]       # would run for hours
            for place in ("nodir/x", "sub", "sub/", "layer.json/x"):
                self.refused(self.dlasim(*arguments, option, place), place)
        self.no_temporary_file()

    def test_every_tensor_has_a_file_of_its_own(self):
        """Names of which the same file would be made."""
        names = ["a/b", "a_b", "../a", "a_b.2", "a b", "a b.3"]
        network = {"input": {"width": 4, "height": 4, "channels": 8}, "layers": [
            {"name": name, "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8 + i}} for i, name in enumerate(names)]}
        done = self.dlasim("net", self.write(network), "--hw", "nv_small", "--out", "out", "--tensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = {path.name: path.read_bytes() for path in (self.folder / "out" / "tensors").iterdir()}
        self.assertEqual(sorted(files), sorted(["data.npy", "a_b.npy", "a_b.2.npy", ".._a.npy", "a_b.2.2.npy", "a_b.3.npy", "a_b.3.2.npy"]))
        for name, channels in (("a_b.npy", 8), ("a_b.2.npy", 9), (".._a.npy", 10), ("a_b.2.2.npy", 11), ("a_b.3.npy", 12), ("a_b.3.2.npy", 13)):
            self.assertIn(f"'shape': (1, {channels}, 4, 4, )".encode(), files[name], name)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"layer.json", "out"})

    def test_folders_of_tensors_are_tried_before_the_run(self):
        network = {"input": {"width": 4, "height": 4, "channels": 8}, "layers": [{"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}
        (self.folder / "out").mkdir()
        (self.folder / "out" / "tensors").write_text("a file")
        self.refused(self.dlasim("net", self.write(network), "--hw", "nv_small", "--out", "out", "--tensors"), "out/tensors")
        self.assertEqual(os.listdir(self.folder / "out"), ["tensors"])

    def start(self, *arguments):
        return subprocess.Popen([cli_test.DLASIM, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def test_a_run_that_is_killed_leaves_nothing(self):
        layer = self.write(Sweeping.LONG)
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_WRONLY))
            nameless = True
        except OSError:     # this file system gives every file a name
            nameless = False
        (self.folder / "sub").mkdir()
        for arguments in (["run", layer, "--hw", "nv_small", "--quiet", "--out", "sub", "--events", "sub/file"], ["dram", "--cycles", str(10**12), "--log", "sub/file"],
                          ["dram", "--cycles", str(10**12), "--out", "sub/file"]):
            run = self.start(*arguments)
            time.sleep(0.5)
            run.kill()
            run.communicate(timeout=60)
            self.assertEqual(run.returncode, -signal.SIGKILL)
            if nameless:
                self.assertEqual(os.listdir(self.folder / "sub"), [])
            else:
                self.assertTrue(all(name.startswith(".") for name in os.listdir(self.folder / "sub")))

    def test_what_a_folder_holds_is_of_one_run(self):
        """A run waits while another one changes the folder; killed then, it has changed nothing."""
        larger = dict(SMALL, name="larger", kernel=dict(SMALL["kernel"], count=20))
        network = {"name": "network", "input": {"width": 4, "height": 4, "channels": 8}, "layers": [{"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}
        small = ["run", self.write(SMALL), "--hw", "nv_small", "--out", "out"]
        self.assertEqual(self.dlasim(*small).returncode, 0)
        out = self.folder / "out"
        contents = lambda: {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
        old = contents()
        self.assertEqual(set(old), {"result.json", "output.npy"})
        folder = os.open(out, os.O_RDONLY)
        for command in (["run", self.write(larger, "larger.json"), "--hw", "nv_small"], ["net", self.write(network, "network.json"), "--hw", "nv_small", "--tensors"],
                        ["replay", self.write(CASE, "case.json")]):
            fcntl.flock(folder, fcntl.LOCK_EX)
            for killed in (True, False):
                run = self.start(*command, "--out", "out", "--quiet")
                time.sleep(1)
                self.assertIsNone(run.poll())
                self.assertEqual(contents(), old)
                if killed:
                    run.kill()
                    run.communicate(timeout=60)
                    self.assertEqual(contents(), old)
            fcntl.flock(folder, fcntl.LOCK_UN)
            self.assertEqual((run.communicate(timeout=60), run.returncode), ((None, b""), 0))
            new = contents()
            self.assertEqual("output.npy" in new, command[0] != "replay")
            self.assertFalse([name for name in new if new[name] == old.get(name)])
            old = new
        os.close(folder)

    def test_a_disk_that_fills_up_leaves_the_old_file_and_no_partial_one(self):
        def small_files():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        many = self.write(dict(CASE, program=PROGRAM + [["READ", "CSC.S_POINTER"]] * 400), "many.json")
        for arguments, option in ((["replay", many, "--quiet"], "--events"), (["dram", "--cycles", 5000], "--log"), (["dram", "--cycles", 5000], "--timeline")):
            (self.folder / "old").write_text("old")
            done = self.dlasim(*arguments, option, "old", preexec_fn=small_files)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("old", done.stderr)
            self.assertIn("File too large", done.stderr)
            self.assertEqual((self.folder / "old").read_text(), "old")
        self.no_temporary_file()

    def test_a_small_disk(self):
        """The same on a real one, where it can be mounted."""
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            for arguments in (["--log"], ["--timeline"], ["--preset", "hbm2", "--out"]):
                done = self.dlasim("dram", "--cycles", 20000, *arguments, "disk/file")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn("disk/file", done.stderr)
                self.assertEqual(os.listdir(disk), [])
            self.refused(self.dlasim("run", self.write(SMALL), "--out", "disk"), "no free space")
        finally:
            subprocess.run(["umount", disk], check=True)


class Streams(Case):
    """Standard output that is lost is an error; standard error that is lost is lost."""

    def shell(self, command):
        return subprocess.run(["sh", "-c", command.replace("DLASIM", cli_test.DLASIM)], cwd=self.folder, capture_output=True, text=True, timeout=100)

    def test_a_full_or_closed_standard_output_is_an_error(self):
        self.write(SMALL)
        self.write(CASE, "case.json")
        self.write({"base": {"layer": SMALL}, "axes": {"latency": [10]}}, "sweep.json")
        for command in ("presets", "presets nv_small", "run layer.json --hw nv_small", "replay case.json", "dram --cycles 1000", "dram --list",
                        "dram --json", "--help", "--version", "sweep sweep.json"):
            for sink in ("/dev/full", "&-"):
                done = self.shell(f"DLASIM {command} >{sink}")
                self.assertEqual(done.returncode, 2, command + sink + done.stderr)
                self.assertIn("standard output", done.stderr)

    def test_a_closed_or_full_standard_error_ends_no_run(self):
        self.write(SMALL)
        for sink in ("/dev/full", "&-"):
            self.assertEqual(self.shell(f"DLASIM run none.json 2>{sink}").returncode, 2)
            self.assertEqual(self.shell(f"DLASIM rum 2>{sink}").returncode, 2)
            done = self.shell(f"DLASIM run layer.json --hw nv_small 2>{sink}")
            self.assertEqual(done.returncode, 0)
            self.assertIn("verified     yes", done.stdout)

    def test_a_closed_standard_output_is_no_place_for_a_file(self):
        self.write(SMALL)
        self.write(CASE, "case.json")
        for command in ("run layer.json --hw nv_small --quiet --events", "replay case.json --quiet --events",
                        "export layer.json --hw nv_small --quiet --form c --to", "dram --cycles 1000 --out"):
            done = self.shell(f"DLASIM {command} /dev/stdout >&-")
            self.assertEqual(done.returncode, 2, command + done.stderr)
            self.assertIn("/dev/stdout", done.stderr)

    def test_closed_streams_write_into_no_file(self):
        self.write(SMALL)
        done = self.shell("DLASIM run layer.json --hw nv_small --quiet --events events.json <&- >&- 2>&-")
        self.assertEqual(done.returncode, 0)
        json.loads((self.folder / "events.json").read_text())
        json.loads((self.folder / "out" / "result.json").read_text())

    def test_names_reach_no_terminal_raw(self):
        evil = "a\x1b[2Jb\nc\u009bd\x7f\u202ee\u2066"
        device = json.loads((ROOT / "configs/dram/ddr4-2400.json").read_text())
        device = self.write(dict(device, name=evil, about=evil), "device.json")
        network = {"name": evil, "input": {"width": 4, "height": 4, "channels": 8}, "layers": [{"name": evil, "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}
        plain = self.write(SMALL, "l.json")
        for command in (["run", self.write(dict(SMALL, name=evil)), "--hw", "nv_small"], ["run", self.write({evil: 1}, "k.json")],
                        ["run", evil], ["run", plain, "--hw", evil], ["run", plain, "--set", evil], ["run", plain, "--set", evil + "=1"],
                        ["run", plain, "--memory", evil], ["run", plain, "--memory", "ideal:" + evil + "=1"], ["presets", evil],
                        ["dram", "--preset", evil], ["dram", "--pattern", evil], ["dram", "--set", evil], ["dram", "--set", evil + "=1"],
                        ["dram", "--cycles", 1000, "--preset", device], ["dram", "--cycles", 1000, "--preset", device, "--check-dram"],
                        ["net", self.write(network, "network.json"), "--hw", "nv_small"], ["net", "network.json", "--plan"], ["bound", plain, "--chip", evil],
                        ["bound", self.write(dict(SMALL, name=evil), "bound.json"), "--chip", 16],
                        ["replay", self.write(dict(CASE, id=evil), "case.json")], ["replay", self.write(dict(CASE, program=[[evil, 1]]), "register.json")]):
            done = self.dlasim(*command)
            text = done.stdout + done.stderr
            self.assertIn("\\x1b", text, command)
            self.assertFalse([c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")], repr(text))
            self.assertNotIn("b\nc", text, command)
        rows = (self.folder / "out" / "layers.csv").read_text()
        self.assertIn("\\x1b", rows)
        self.assertFalse([c for c in rows if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")], repr(rows))

    def test_messages_and_results_do_not_grow_with_names(self):
        """A name of 5 MB, of 50 in Cli.LongNames, wherever one stands: refused in a few lines, and nothing of it in a result."""
        long = "x" * int(os.environ.get("DLASIM_LONGEST_NAME", 5_000_000))
        network = {"name": "n", "input": {"width": 4, "height": 4, "channels": 8},
                   "layers": [{"name": "l", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}
        base = {"layer": SMALL, "hw": "nv_small"}
        device = json.loads((ROOT / "configs/dram/ddr4-2400.json").read_text())
        files = [("run", dict(SMALL, name=long)), ("run", {long: 1}), ("run", dict(SMALL, op=long)), ("run", dict(SMALL, input={long: 1})),
                 ("run", dict(SMALL, data={"input": long})), ("run", long), ("net", dict(network, name=long)), ("net", dict(network, source=long)),
                 ("net", dict(network, layers=[dict(network["layers"][0], name=long)])), ("net", dict(network, layers=[dict(network["layers"][0], inputs=[long])])),
                 ("replay", dict(CASE, id=long)), ("replay", dict(CASE, config=long)), ("replay", dict(CASE, program=[[long, 1]])),
                 ("sweep", {"base": base, "axes": {long: [1]}}), ("sweep", {"name": long, "base": base, "axes": {"latency": [1]}}),
                 ("sweep", {"base": dict(base, memory=long), "axes": {"latency": [1]}}), ("sweep", {"base": base, "axes": {"hw": [long, "nv_small"]}}),
                 ("sweep", {"base": base, "axes": {"layer": [dict(SMALL, name=long), SMALL]}}), ("sweep", {"base": base, "axes": {"latency": "= " + long}}),
                 ("sweep", {"base": dict(base, layer=dict(SMALL, name=long)), "axes": {"latency": [1]}}),
                 ("bound", dict(SMALL, name=long), "--chip", 16), ("export", dict(SMALL, name=long), "--form", "c", "--to", "c"),
                 ("dram", dict(device, name=long), "--cycles", 100), ("dram", dict(device, about=long), "--cycles", 100)]
        for command, content, *arguments in some(files, 1):
            file = self.write(content, "long.json")
            begin = time.monotonic()
            done = self.dlasim(command, *(["--preset"] if command == "dram" else []), file, *arguments)
            self.assertEqual(done.returncode, 2, (command, done.stdout[:300], done.stderr[:300]))
            self.assertLess(len(done.stdout + done.stderr), 100_000, command)
            self.assertLess(time.monotonic() - begin, 60, command)
            for left in self.folder.rglob("out/**/*"):
                self.assertLess(left.stat().st_size, 5_000_000, left)
            shutil.rmtree(self.folder / "out", ignore_errors=True)

    def test_json_on_standard_output_is_json(self):
        """Controls in it are \\u, not \\x."""
        evil = "a\x1b[2Jb\nc\u009bd\x7f"
        done = self.dlasim("bound", self.write(dict(SMALL, name=evil)), "--chip", 16, "--json")
        self.assertEqual(json.loads(done.stdout)[0]["layers"][0]["name"], evil)
        device = json.loads((ROOT / "configs/dram/ddr4-2400.json").read_text())
        for command in (["--cycles", 1000, "--json"], ["--describe"]):
            done = self.dlasim("dram", "--preset", self.write(dict(device, name=evil), "device.json"), *command)
            self.assertIn("c\\u009bd\\u007f", done.stdout)
        self.assertEqual(json.loads(self.dlasim("dram", "--describe", "--json").stdout)["name"], "ddr4-2400")

    def test_names_end_no_comment_of_what_is_exported(self):
        evil = "x*/ int evil; /*\nmem_load(pri_mem, 0x0, \"/etc/passwd\");"
        self.write(dict(SMALL, name=evil))
        for form, file in (("c", "c"), ("cfg", "cfg/test.cfg"), ("txn", "txn/input.txn")):
            done = self.dlasim("export", "layer.json", "--hw", "nv_small", "--form", form, "--to", form)
            self.assertEqual(done.returncode, 0, done.stderr)
            first = (self.folder / file).read_text().splitlines()[0]
            self.assertIn("\\nmem_load", first)
            self.assertTrue(first.endswith("written by dlasim") or first.endswith("first. */") and first.count("*/") == 1, first)


class Inputs(Case):
    """Whatever a file holds: a refusal with its place, in bounded time and memory."""

    def bounded(self, *arguments, megabytes=700):
        def limits():
            import resource
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        return self.dlasim(*arguments, preexec_fn=None if "asan" in cli_test.DLASIM else limits)

    def readers(self, file):
        """Every way a file comes in."""
        layer = self.write(SMALL, "good.json")
        return [("run", file), ("run", layer, "--hw", file), ("replay", file), ("sweep", file), ("dram", "--preset", file),
                ("run", self.write(dict(SMALL, data={"input": str(file)}), "tensor.json"))]

    def test_endless_files(self):
        (self.folder / "zero.json").symlink_to("/dev/zero")
        for arguments in self.readers(self.folder / "zero.json")[:-1]:
            self.refused(self.bounded(*arguments), "zero.json", "longer than")
        self.refused(self.bounded(*self.readers(self.folder / "zero.json")[-1]), "zero.json", "is no .npy file")
        for name in ("zero.onnx", "zero.nvdla", "zero.npy"):
            (self.folder / name).symlink_to("/dev/zero")
        model = ROOT / "models/onnx/acri_mnist.onnx"
        for arguments in (["net", "zero.json"], ["net", "zero.onnx"], ["loadable", "zero.nvdla"], ["export", "zero.json", "--to", "x"],
                          ["export", "zero.nvdla", "--to", "x"], ["bound", "zero.json", "--chip", 3], ["sweep", "zero.json"],
                          *(["net", model, option, "zero.npy"] for option in ("--input", "--labels", "--calibrate"))):
            self.refused(self.bounded(*arguments), "zero.")
        for name in ("zero.cfg", "zero.txn"):
            (self.folder / name).symlink_to("/dev/zero")
            self.refused(self.bounded("replay", name), name, "1 MiB")
        self.write('mem_load(pri_mem, 0x0, "zero.cfg")\n', "data.cfg")
        self.refused(self.bounded("replay", "data.cfg"), "zero.cfg", "1 MiB")
        self.write("load_mem 0x0 16 zero.txn\n", "input.txn")
        self.refused(self.bounded("replay", "input.txn"), "zero.txn", "1 MiB")

    def test_a_large_tensor_of_a_sweep(self):
        with open(self.folder / "large.npy", "wb") as file:
            file.truncate(3 << 30)
        self.write({"base": {"layer": dict(SMALL, data={"input": "large.npy"}), "hw": "nv_small"}, "axes": {"latency": [1]}}, "sweep.json")
        done = self.bounded("sweep", "sweep.json")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stdout, "large.npy: is longer than")

    def test_deep_nesting(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            file = self.write(opening * 70000 + "1" + closing * 70000, "deep.json")
            for arguments in self.readers(file)[:-1]:
                self.refused(self.dlasim(*arguments), "deep.json", "nests deeper than 100")
        self.write("[" * 3000000 + "]" * 3000000, "deep.json")
        self.write({"base": {"layer": "deep.json", "hw": "nv_small"}, "axes": {"latency": [1]}}, "sweep.json")
        done = self.dlasim("sweep", "sweep.json")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("nests deeper than 100", done.stdout)
        plain = self.write(SMALL)
        for arguments in (("run", plain, "--set", "cbuf.banks=" + "[" * 70000), ("run", plain, "--memory", "ideal:latency=" + "[" * 3000),
                          ("dram", "--set", "organisation.banks=" + "[" * 70000)):
            self.refused(self.dlasim(*arguments), "nests deeper than 100")

    def test_types_of_a_case(self):
        for key, value in (("id", 7), ("memory_fill", 7), ("memory_fill", {"addr": "0"}), ("expected", 7), ("expected", {"output": 7}),
                           ("memory_fill", [7]), ("program", [7]), ("program", [["MARK", 7]]), ("config", []), ("memory", [])):
            self.refused(self.dlasim("replay", self.write(dict(CASE, **{key: value}), "case.json")), "case.json: /" + key)
        text = json.dumps(CASE)[:-1] + ', "memory": {}}'
        self.refused(self.dlasim("replay", self.write(text, "case.json")), '"memory" is given twice')
        self.refused(self.dlasim("replay", self.write([1], "case.json")), "case.json")

    def test_ranges_of_a_case(self):
        gibibyte = 1 << 30
        last, all_of_it = {"addr": "f" * 16, "bytes": 2}, {"addr": "0", "bytes": gibibyte}
        for change, says in (({"memory_fill": [dict(last, hex="0102")]}, ("/memory_fill/0/bytes", "last address")),
                             ({"memory_fill": [dict(all_of_it, bytes=gibibyte // 2 + 1, hex="")] * 2}, ("/memory_fill/1/bytes", "1 GiB")),
                             ({"expected": {"output": [last]}}, ("/expected/output/0/bytes", "last address")),
                             ({"expected": {"output": [all_of_it] * 2}}, ("/expected/output/1/bytes", "1 GiB"))):
            self.refused(self.bounded("replay", self.write(dict(CASE, **change), "case.json")), *says)

    def test_ranges_of_a_trace(self):
        self.write("0x01 0x02\n", "data")
        for name, lines, line in (("a.cfg", [f"check_crc(0, pri_mem, 0x0, {1 << 30}, 0x0)"] * 2, 2),
                                  ("b.cfg", ["check_crc(0, pri_mem, 0xffffffffffffffff, 2, 0x0)"], 1),
                                  ("c.cfg", ["mem_init(pri_mem, 0xffffffffffffffff, 2, ALL_ZERO)"], 1),
                                  ("d.cfg", ["mem_init(pri_mem, 0, 600000000, ALL_ZERO)"] * 2, 2),
                                  ("e.txn", ["load_mem 0xffffffffffffffff 2 data"], 1)):
            self.refused(self.bounded("replay", self.write("\n".join(lines), name), megabytes=1500), f"{name}:{line}: ")

    def test_names_no_file_system_takes(self):
        long = "x" * 5000
        for arguments in self.readers(long):
            self.refused(self.dlasim(*arguments))
        self.refused(self.dlasim("run", self.write(SMALL), "--out", long), "too long")
        self.refused(self.dlasim("run", self.write(SMALL), "--events", long), "too long")

    def test_bytes_that_are_no_text(self):
        plain = self.write(SMALL)
        for arguments in (["dram", "--set", b"organisation.banks=\xff\xfe"], ["run", plain, "--set", b"cbuf.banks=\xff\xfe"]):
            done = subprocess.run([cli_test.DLASIM, *arguments], cwd=self.folder, capture_output=True, timeout=100)
            self.assertEqual(done.returncode, 2, done.stderr)
        odd = os.fsencode(self.folder) + b"/\xff\xfe"
        os.mkdir(odd)
        with open(odd + b"/layer.json", "w") as file:
            json.dump(SMALL, file)
        with open(odd + b"/sweep.json", "w") as file:
            json.dump({"base": {"layer": "layer.json", "hw": "nv_small"}, "axes": {"latency": [10, 20]}}, file)
        for arguments in (["run", odd + b"/layer.json", "--hw", "nv_small"], ["sweep", odd + b"/sweep.json"]):
            done = subprocess.run([cli_test.DLASIM, *arguments, "--out", odd], cwd=self.folder, capture_output=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in (b"/result.json", b"/points.json"):
            with open(odd + name, encoding="utf-8") as file:
                self.assertTrue(json.load(file))

    def test_options_of_loadables_are_of_loadables(self):
        self.write(SMALL)
        for option in (["--chains", 1], ["--mode", "serial"], ["--input", "x.npy"], ["--input-form", "bytes"]):
            done = self.dlasim("export", "layer.json", "--hw", "nv_small", "--form", "c", "--to", "program.h", *option)
            self.assertEqual(done.returncode, 2, option)
            self.assertFalse((self.folder / "program.h").exists())
            self.assertNotIn("run with --help", done.stderr.lower(), option)


class Sweeping(Case):
    SWEEP = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10, 20], "kernel.count": [8, 16]}}
    LONG = {"input": {"width": 28, "height": 28, "channels": 128}, "kernel": {"width": 3, "height": 3, "count": 4096}}

    def sweep(self, sweep, *arguments):
        return self.dlasim("sweep", self.write(sweep, "sweep.json"), "--out", "out", *arguments)

    def start(self, sweep, *arguments):
        return subprocess.Popen([cli_test.DLASIM, "sweep", self.write(sweep, "started.json"), "--out", "out", *arguments], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_the_status_is_the_worst_of_the_points(self):
        self.assertEqual(self.sweep(self.SWEEP).returncode, 0)
        for widths, status in (([9, -9], 4), ([-8, -9], 2)):
            done = self.sweep({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"input.width": widths}})
            self.assertEqual(done.returncode, status)
            self.assertEqual(len((self.folder / "out" / "points.csv").read_text().splitlines()), 3)
        self.assertIn("2 points: 0 with a result, 2 rejected", done.stdout.splitlines()[-1])

    def test_two_sweeps_in_one_folder(self):
        first = self.start({"base": {"layer": self.LONG, "hw": "nv_small"}, "axes": {"latency": [10, 20]}})
        while not list(self.folder.glob("out/points/*")) and first.poll() is None:
            time.sleep(0.01)
        done = self.sweep(self.SWEEP)
        self.assertEqual(done.returncode, 2)
        self.assertIn("another sweep", done.stderr)
        self.assertFalse((self.folder / "out" / "points.csv").exists())
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 130)
        self.assertEqual(self.sweep(self.SWEEP).returncode, 0)

    def test_a_full_disk_ends_a_sweep_and_resume_goes_on(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        sweep = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": list(range(10, 50))}}
        try:
            self.write(sweep, "sweep.json")
            done = self.dlasim("sweep", "sweep.json", "--out", "disk")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("disk/", done.stderr)
            self.assertFalse((disk / "points.csv").exists())
            results = [json.loads(result.read_text())["cycles"] for result in disk.glob("points/*/result.json")]  # whole ones
            self.assertGreater(len(results), 0)
            self.assertLess(len(results), 40)
            subprocess.run(["mount", "-o", "remount,size=40m", disk], check=True)
            done = self.dlasim("sweep", "sweep.json", "--out", "disk", "--resume")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, "^[1-9][0-9]* of 40 points completed earlier")
            self.assertEqual(self.dlasim("sweep", "sweep.json", "--out", "whole").returncode, 0)
            for name in ("points.csv", "points.json", "sweep.html"):
                self.assertEqual((disk / name).read_bytes(), (self.folder / "whole" / name).read_bytes(), name)
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_cells(self):
        evil = ["=1+1", "+1", "-1", "@x", 'a,"b"', "a\rb\nc"]
        done = self.sweep({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"name": evil, "pad.value": [-3]}})
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / "out" / "points.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["name"] for row in rows], ["'=1+1", "'+1", "'-1", "'@x", 'a,"b"', "a b c"])
        self.assertEqual({row["pad.value"] for row in rows}, {"-3"})

    def test_a_point_costs_the_same_in_a_large_sweep(self):
        """No point reads or expands the sweep again: the file is gone while the points run."""
        axes = {"latency": list(range(1, 1001)), "interval": list(range(1, 1001))}
        run = self.start({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": axes, "exclude": [{"latency": n} for n in range(2, 101)]}, "--timing-only")
        while not (self.folder / "out" / "points" / "0000" / "result.json").exists() and run.poll() is None:
            time.sleep(0.01)
        (self.folder / "started.json").unlink()
        seen = len(list(self.folder.glob("out/points/*/result.json")))
        time.sleep(2)
        more = len(list(self.folder.glob("out/points/*/result.json"))) - seen
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertGreater(more, 5)

    def test_sweeps_that_would_never_end_are_refused(self):
        axes = {"latency": list(range(1, 1001)), "interval": list(range(1, 1001))}
        self.refused(self.sweep({"base": {"layer": SMALL}, "axes": axes, "exclude": [{"latency": n} for n in range(1, 9001)]}), "/exclude")
        axes["write_latency"] = [1, 2]
        self.refused(self.sweep({"base": {"layer": SMALL}, "axes": axes}), "1000000 points")


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
