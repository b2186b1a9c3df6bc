#!/usr/bin/env python3
"""What runs and sweeps leave in their folders, what they take away, and what they do with files that somebody has changed.

usage: folders_test.py DLASIM [TestCase...]
"""
import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import unittest
from pathlib import Path

import cli_test
from cli_test import SMALL, Case
from examples import some

NETWORK = {"name": "network", "input": {"width": 4, "height": 4, "channels": 8},
           "layers": [{"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}},
                      {"name": "b", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 16}}]}
CASE = {"id": "case", "config": "nv_small", "memory": {}, "program": [["CSC.S_POINTER", 0], ["MARK", "t0"], ["READ", "CSC.S_POINTER"]]}
ROOT = Path(__file__).resolve().parents[2]


class Folders(Case):
    def names(self, folder="out"):
        top = self.folder / folder
        return sorted(str(path.relative_to(top)) for path in top.rglob("*") if not path.is_dir())

    def good(self, *arguments, **options):
        done = self.dlasim(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done


class Runs(Folders):
    """A folder has the files of one run, and those that no run has written."""

    def commands(self):
        """What may run into a folder, and what it leaves there."""
        layer, network, case = self.write(SMALL), self.write(NETWORK, "network.json"), self.write(CASE, "case.json")
        model = ROOT / "models/onnx/acri_mnist.onnx"
        return [(["run", layer, "--hw", "nv_small"], ["output.npy", "result.json"]),
                (["run", layer, "--hw", "nv_small", "--timing-only"], ["result.json"]),
                (["net", network, "--hw", "nv_small"], ["layers.csv", "output.npy", "result.json"]),
                (["net", network, "--hw", "nv_small", "--tensors"],
                 ["layers.csv", "output.npy", "result.json", "tensors/a.npy", "tensors/b.npy", "tensors/data.npy"]),
                (["net", network, "--hw", "nv_small", "--timing-only"], ["layers.csv", "result.json"]),
                (["net", model, "--hw", "nv_small", "--steps"], None),
                (["loadable", cli_test.DATA / "loadables/tiny_nv_small.nvdla", "--hw", "nv_small"], ["output.npy", "output.surface", "result.json"]),
                (["replay", case], ["result.json"])]

    def test_whatever_runs_after_whatever(self):
        alone = []
        for words, left in self.commands():
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.good(*words, "--out", "out", "--quiet")
            if left is not None:
                self.assertEqual(self.names(), left)
            alone.append((words, self.names()))
            result = json.loads((self.folder / "out/result.json").read_text())
            self.assertEqual(result["files"], [name for name in self.names() if name != "result.json"])
        self.assertGreater(len(alone[5][1]), 8)
        shutil.rmtree(self.folder / "out")
        for first, _ in alone:
            for second, left in alone:
                with self.subTest(first=first[:2] + first[4:], second=second[:2] + second[4:]):
                    self.good(*first, "--out", "out", "--quiet")
                    self.good(*second, "--out", "out", "--quiet")
                    self.assertEqual(self.names(), left)

    def test_files_of_the_user_stay(self):
        mine = ["layers.csv", "report.txt", "output.surface", "plan.json", "tensors/mine.npy", "steps/a/b", "outputs/x.npy"]
        for name in mine:
            (self.folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "out" / name).write_text("of the user")
        for words in (["run", self.write(SMALL), "--timing-only"], ["run", self.write(SMALL)], ["replay", self.write(CASE, "case.json")]):
            self.good(*words, "--hw", "nv_small", "--out", "out", "--quiet")
            for name in mine:
                self.assertEqual((self.folder / "out" / name).read_text(), "of the user")
        network = self.write(NETWORK, "network.json")
        for more in (["--tensors"], ["--timing-only"]):
            self.good("net", network, "--hw", "nv_small", "--out", "out", *more)
            self.assertEqual((self.folder / "out/tensors/mine.npy").read_text(), "of the user")
        self.assertEqual(os.listdir(self.folder / "out/tensors"), ["mine.npy"])

    def test_nothing_is_removed_behind_a_link(self):
        network = self.write(NETWORK, "network.json")
        self.good("net", network, "--hw", "nv_small", "--out", "out", "--tensors")
        (self.folder / "out/tensors").rename(self.folder / "elsewhere")
        (self.folder / "out/tensors").symlink_to(self.folder / "elsewhere")
        (self.folder / "out/output.npy").rename(self.folder / "kept.npy")
        (self.folder / "out/output.npy").symlink_to(self.folder / "kept.npy")
        before = {path: path.read_bytes() for path in (self.folder / "elsewhere").iterdir()}
        self.good("net", network, "--hw", "nv_small", "--out", "out", "--timing-only")
        self.assertEqual({path: path.read_bytes() for path in before}, before)
        self.assertTrue((self.folder / "kept.npy").exists())

    def test_a_result_of_somebody_else_names_nothing(self):
        (self.folder / "out").mkdir()
        for text in ('{"files": ["mine"]}', '{"schema": "other/1", "files": ["mine"]}', '{"schema": "dlasim.result/1", "files": ["../mine", "/etc/none", 7, {}, ""]}',
                     '{"schema": "dlasim.result/1", "files": "mine"}', "[" * 5000, "nothing"):
            for name in ("out/mine", "mine"):
                (self.folder / name).write_text("of the user")
            (self.folder / "out/result.json").write_text(text)
            self.good("run", self.write(SMALL), "--hw", "nv_small", "--out", "out")
            self.assertEqual([(self.folder / name).read_text() for name in ("out/mine", "mine")], ["of the user"] * 2)

    def test_a_run_that_was_killed_in_its_turn_leaves_a_list(self):
        self.good("net", self.write(NETWORK, "network.json"), "--hw", "nv_small", "--out", "out", "--tensors")
        out = self.folder / "out"
        files = json.loads((out / "result.json").read_text())["files"]
        (out / "result.json").unlink()
        (out / ".result.files").write_text(json.dumps({"schema": "dlasim.files/1", "files": files}))
        self.good("replay", self.write(CASE, "case.json"), "--out", "out")
        self.assertEqual(self.names(), ["result.json"])
        self.assertEqual(os.listdir(out), ["result.json"])

    def test_files_that_would_go_are_no_inputs(self):
        model = ROOT / "models/onnx/acri_mnist.onnx"
        self.good("net", model, "--hw", "nv_small", "--out", "out", "--steps")
        step = next(path for path in sorted((self.folder / "out/steps").glob("*.json")) if path.name != "steps.json")
        before = {path: path.read_bytes() for path in (self.folder / "out").rglob("*") if path.is_file()}
        done = self.dlasim("run", step, "--hw", "nv_small", "--out", "out")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is an input of this command", done.stderr)
        self.assertEqual({path: path.read_bytes() for path in before}, before)
        self.good("run", step, "--hw", "nv_small", "--out", "other")


class SweepFolders(Folders):
    ONE = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10, 20, 30]}}
    OTHER = {"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [11]}}

    def sweep(self, sweep, *arguments, file="sweep.json", out="out"):
        return self.dlasim("sweep", self.write(sweep, file), "--out", out, "--quiet", *arguments)

    def put(self, *names):
        for name in names:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text("of the user")

    def contents(self, folder):
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in (self.folder / folder).rglob("*") if path.is_file()}

    def refused_and_kept(self, done, says, folder="out"):
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(says, done.stderr)
        self.assertEqual(self.contents(folder), self.before)


class Sweeps(SweepFolders):
    """A sweep takes away what sweeps have made."""

    def test_a_folder_of_points_that_was_there_before(self):
        for names in (["out/points/0000/result.json"], ["out/points/0001/messages.txt", "out/points/0002/report.txt"], ["out/points/notes"]):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.put(*names)
            self.before = self.contents("out")
            for option in ([], ["--restart"], ["--resume"], ["--slurm", "1"], ["--search", "2"]):
                self.refused_and_kept(self.sweep(self.ONE, *option), "out/points: exists and was not written by a sweep")

    def test_a_folder_of_points_behind_a_link(self):
        self.put("elsewhere/0000/result.json", "elsewhere/0001/messages.txt")
        (self.folder / "out").mkdir()
        (self.folder / "out/points").symlink_to(self.folder / "elsewhere")
        self.before = self.contents("elsewhere")
        for option in ([], ["--restart"], ["--resume"]):
            self.refused_and_kept(self.sweep(self.ONE, *option), "out/points: exists", "elsewhere")
        # Where a sweep had its points before.
        (self.folder / "out/points").unlink()
        self.assertEqual(self.sweep(self.ONE).returncode, 0)
        shutil.rmtree(self.folder / "elsewhere")
        (self.folder / "out/points").rename(self.folder / "elsewhere")
        (self.folder / "out/points").symlink_to(self.folder / "elsewhere")
        self.before = self.contents("elsewhere")
        self.refused_and_kept(self.sweep(self.ONE, "--restart"), "out/points: exists", "elsewhere")

    def test_a_point_behind_a_link(self):
        self.assertEqual(self.sweep(self.ONE).returncode, 0)
        shutil.rmtree(self.folder / "out/points/0001")
        self.put("elsewhere/result.json", "elsewhere/messages.txt")
        (self.folder / "out/points/0001").symlink_to(self.folder / "elsewhere")
        self.before = self.contents("elsewhere")
        self.refused_and_kept(self.sweep(self.ONE, "--restart"), "0001: exists", "elsewhere")

    def test_tables_that_were_there_before(self):
        for name in ("points.csv", "points.json", "points.partial.csv", "sweep.html"):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.put(f"out/{name}")
            self.before = self.contents("out")
            for option in ([], ["--restart"], ["--resume"]):
                self.refused_and_kept(self.sweep(self.ONE, *option), f"out/{name}: exists")

    def test_a_folder_of_shards_that_was_there_before(self):
        self.put("out/shards/job.txt", "out/shards/1/result.json", "out/shards/task-1.txt")
        before = self.contents("out/shards")
        for option in ([], ["--restart"], ["--resume"]):
            self.assertEqual(self.sweep(self.ONE, *option).returncode, 0)
            self.assertEqual(self.contents("out/shards"), before)
        done = self.sweep(self.ONE, "--slurm", "2", "--restart")
        self.assertEqual(done.returncode, 2)
        self.assertIn("out/shards: exists and was not written by a sweep", done.stderr)
        self.assertEqual(self.contents("out/shards"), before)

    def test_a_sweep_that_has_ended_goes_with_restart_only(self):
        self.assertEqual(self.sweep(self.ONE).returncode, 0)
        before = self.contents("out")
        for option in ([], ["--resume"], ["--shard", "1/1"]):
            done = self.sweep(self.OTHER, *option, file="other.json")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("--restart", done.stderr)
            for name in ("out/points.csv", "out/points.json", "out/points/0000/result.json"):
                self.assertEqual(self.contents("out")[name], before[name])
        self.assertIn("sweep.json", self.sweep(self.OTHER, file="other.json").stderr)
        self.assertEqual(self.sweep(self.OTHER, "--restart", file="other.json").returncode, 0)
        self.assertEqual(len(json.loads((self.folder / "out/points.json").read_text())), 1)
        self.assertEqual(sorted(os.listdir(self.folder / "out/points")), [".lock", "0000"])

    def test_a_shard_that_has_ended_is_not_lost_to_another_one(self):
        self.assertEqual(self.sweep(self.ONE, "--shard", "1/2").returncode, 0)
        self.before = self.contents("out")
        done = self.sweep(self.ONE, "--shard", "2/2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds points of shard 1/2", done.stderr)
        self.assertEqual(self.contents("out")["out/points.partial.csv"], self.before["out/points.partial.csv"])

    def test_what_a_user_puts_between_stays(self):
        self.assertEqual(self.sweep(self.ONE).returncode, 0)
        self.put("out/points/0000/notes", "out/points/0001.txt", "out/points/0099/result.json", "out/notes", "out/points/backup/result.json")
        mine = {name: text for name, text in self.contents("out").items() if text == b"of the user"}
        for sweep, option in ((self.ONE, "--restart"), (self.OTHER, "--restart"), (self.OTHER, "--resume")):
            self.assertEqual(self.sweep(sweep, option).returncode, 0)
            self.assertEqual({name: self.contents("out").get(name) for name in mine}, mine)


class Damaged(SweepFolders):
    def dlasim(self, *arguments, **options):
        return super().dlasim(*arguments, errors="replace", **options)  # SQLite repeats names as they are

    def resume(self, out):
        return self.sweep(self.ONE, "--resume", out=out)

    def test_a_flipped_bit_changes_no_table(self):
        """Refused, or not in what counts: a row that is read is the row that was written."""
        self.assertEqual(self.sweep(self.ONE).returncode, 0)
        tables = {name: (self.folder / "out" / name).read_bytes() for name in ("points.csv", "points.json", "sweep.html")}
        good = (self.folder / "out/points.db").read_bytes()
        pick, refused = random.Random(7), 0
        text = [at + i for at in (good.find(b'"verified"'), good.find(b"CREATE TABLE kept"), good.find(b"own_points"), good.find(b'"cycles"')) for i in range(10)]
        places = some(text + [pick.randrange(len(good)) for _ in range(160)], 3)
        for place in places:
            data = bytearray(good)
            data[place] ^= 1 << pick.randrange(8)
            (self.folder / "out/points.db").write_bytes(data)
            done = self.resume("out")
            with self.subTest(place=place):
                self.assertIn(done.returncode, (0, 2), done.stderr)
                if done.returncode == 2:
                    refused += 1
                    self.assertIn("points.db", done.stderr)
                    self.assertEqual(self.sweep(self.ONE, "--collect", "out", out="collected").returncode, 2)
                else:
                    self.assertEqual({name: (self.folder / "out" / name).read_bytes() for name in tables}, tables)
        self.assertGreater(refused, len(places) // 7)
        (self.folder / "out/points.db").write_bytes(good[:100] + b"x" * 5000)
        self.assertEqual(self.resume("out").returncode, 2)
        self.assertEqual(self.sweep(self.ONE, "--restart").returncode, 0)  # points/.lock knows what is to go

    def test_a_changed_row_is_refused(self):
        self.assertEqual(self.sweep(self.ONE).returncode, 0)
        for change in ("UPDATE kept SET row = replace(row, 'verified', 'vurified')", "UPDATE kept SET status = 2 WHERE point = 1",
                       "UPDATE kept SET point = 7 WHERE point = 2", "UPDATE identity SET value = '4' WHERE key = 'points'", "CREATE TABLE more (a)",
                       "ALTER TABLE kept ADD COLUMN more"):
            shutil.rmtree(self.folder / "bad", ignore_errors=True)
            shutil.copytree(self.folder / "out", self.folder / "bad")
            database = sqlite3.connect(self.folder / "bad/points.db")
            database.executescript(change)
            database.close()
            for arguments, out in ((["--resume"], "bad"), (["--collect", "bad"], "collected")):
                done = self.sweep(self.ONE, *arguments, out=out)
                self.assertEqual(done.returncode, 2, change)
                self.assertIn("points.db: is damaged", done.stderr, change)


class Jobs(SweepFolders):
    """--slurm with programs that stand for those of Slurm: sbatch says a number, scancel and squeue write down what they are told."""

    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        for name, text in (("sbatch", 'printf "%s\\n" "$@" > "$LOG/sbatch"; echo 4711'), ("squeue", 'echo "$@" >> "$LOG/squeue"; echo RUNNING'),
                           ("scancel", 'echo "$@" >> "$LOG/scancel"')):
            file = self.folder / "bin" / name
            file.write_text(f"#!/bin/sh\n{text}\n")
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        self.environment = dict(os.environ, PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", LOG=str(self.folder))

    def submit(self, out="out"):
        """A sweep that has submitted its job and was killed."""
        run = subprocess.Popen([cli_test.DLASIM, "sweep", self.write(self.ONE, "sweep.json"), "--out", out, "--slurm", "2"], cwd=self.folder, env=self.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("job 4711", run.stdout.readline())
        while not (self.folder / "squeue").exists():
            pass
        run.kill()
        run.communicate()

    def said(self, name):
        file = self.folder / name
        text = file.read_text() if file.exists() else ""
        file.unlink(missing_ok=True)
        return text

    def test_a_job_is_ended_if_it_is_the_one(self):
        self.submit()
        job = self.folder / "out/shards/job.txt"
        self.assertEqual(job.read_text(), "4711\n")
        for text in ("4713\n", "4711", "4711 4712\n", "-u root\n", "\n", "6711\n"):
            job.write_text(text)
            for option in (["--restart"], ["--resume", "--slurm", "2"], ["--restart", "--slurm", "2"]):
                self.said("squeue")
                done = self.sweep(self.ONE, *option, env=self.environment)
                self.assertEqual(done.returncode, 2, text)
                self.assertIn("job.txt", done.stderr)
                self.assertEqual(self.said("scancel") + self.said("squeue"), "")
        job.write_text("4711\n")
        self.assertEqual(self.sweep(self.ONE, "--restart", env=self.environment).returncode, 0)
        self.assertEqual(self.said("scancel"), "4711\n")
        self.assertFalse((self.folder / "out/shards").exists())

    def sweep(self, sweep, *arguments, env=None, **more):
        if env is None:
            return super().sweep(sweep, *arguments, **more)
        return self.dlasim("sweep", self.write(sweep, "sweep.json"), "--out", "out", "--quiet", *arguments, env=env)

    def test_shards_are_removed_one_by_one(self):
        self.submit()
        shard = self.folder / "out/shards/1"
        self.assertEqual(self.dlasim("sweep", "sweep.json", "--shard", "1/2", "--out", shard, "--quiet").returncode, 0)
        self.put("out/shards/1/notes", "out/shards/3/result.json", "out/shards/task-9.txt")
        (self.folder / "out/shards/task-1.txt").write_text("what a task says")
        self.assertEqual(self.sweep(self.ONE, "--restart", env=self.environment).returncode, 0)
        self.assertEqual(self.names("out/shards"), ["1/notes", "3/result.json", "task-9.txt"])

    def test_a_per_cent_sign_is_no_pattern(self):
        self.submit("out %a%j%%")
        lines = (self.folder / "sbatch").read_text().splitlines()
        self.assertIn("--output=out %%a%%j%%%%/shards/task-%a.txt", lines)
        (self.folder / "sbatch").unlink()
        done = self.dlasim("sweep", "sweep.json", "--out", "out\\n", "--slurm", "2", env=self.environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("backslash", done.stderr)
        self.assertFalse((self.folder / "sbatch").exists())


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
