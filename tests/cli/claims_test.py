#!/usr/bin/env python3
"""No output stands on an input: every output of every command is put on every input of it, by each kind of name, and refused before
anything runs. The tables of `dlasim reference --json` say what there is to try.

usage: claims_test.py DLASIM [TestCase...]
"""
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from functools import lru_cache
from pathlib import Path

import numpy as np

import cli_test
from cli_test import DATA, SMALL, Case
from examples import some
from onnx_writer import node, save

ROOT = Path(__file__).resolve().parents[2]
REFUSED = "is an input of this command"
FOREIGN = "exists and was not written by a sweep"  # a link deep in a folder of points makes that somebody else's
PER_KERNEL = {"op": "add", "per": "kernel"}
OPERANDS = {"bs": {"alu": {"per": "kernel"}, "mul": {"per": "kernel"}}, "bn": {"alu": {"per": "kernel"}, "mul": {"per": "kernel"}},
            "ew": {"alu": {"per": "element"}, "mul": {"per": "element"}}}
CASE = {"id": "case", "config": "nv_small", "memory": {}, "program": [["CSC.S_POINTER", 0], ["MARK", "t0"], ["READ", "CSC.S_POINTER"]]}
# What a command needs for a file of a folder to be written.
WANTED = {"plan.json": ["--plan"], "optimise.db": ["--optimise", "1"], "tensors/": ["--tensors"], "steps/": ["--steps"], "input.txn": ["--form", "txn"], "test.cfg": ["--form", "cfg"],
          "memory_0.dat": ["--form", "txn"], "output_0.dat": ["--form", "txn"], "shards/": ["--slurm", "1"],
          "COMPUTE_REPORT.csv": ["--scale-sim"], "BANDWIDTH_REPORT.csv": ["--scale-sim"]}
# Options with a text that names no file.
OTHERS = {"--best", "--require", "--sort", "--set", "--shape", "--precision", "--layers", "--input-form", "--mode", "--calibration", "--preprocess", "--cpu", "--form", "--shard", "--window", "--tracks", "--pattern", "--decode", "--trace-client", "DIR", "FORM", "KIND"}


@lru_cache
def reference():
    return json.loads(subprocess.run([cli_test.DLASIM, "reference", "--json"], capture_output=True, text=True, check=True).stdout)


@lru_cache
def options():
    """(command, option or argument): its use."""
    return {tuple(row["name"].split(" ")): row["type"] for row in reference()["file_options"]}


@lru_cache
def folder_files():
    """(command, option): names below the folder."""
    files = {}
    for row in reference()["folder_files"]:
        command, rest = row["name"].split(" ")
        option, name = rest.split("/", 1)
        files.setdefault((command, option), []).append(name)
    return files


class Claims(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "sub").mkdir()
        rng = np.random.default_rng(1)
        arrays = {"input": rng.integers(-9, 9, (1, 12, 7, 9), np.int8), "weights": rng.integers(-9, 9, (10, 12, 3, 3), np.int8),
                  "bias": np.zeros(10, np.int16), "expected": np.zeros((1, 10, 7, 9), np.int8), "images": rng.random((2, 3, 8, 8), np.float32),
                  "labels": np.zeros(2, np.int64)}
        arrays |= {name: np.zeros(10, np.int16) for name in ("bs_alu", "bs_mul", "bn_alu", "bn_mul")}
        arrays |= {name: np.zeros((1, 10, 7, 9), np.int16) for name in ("ew_alu", "ew_mul")}
        for name, array in arrays.items():
            np.save(self.folder / f"{name}.npy", array)
        self.write(SMALL, "layer.json")
        self.write({"name": "n", "input": {"width": 4, "height": 4, "channels": 8},
                    "layers": [{"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}, "network.json")
        w = rng.random((4, 3, 3, 3), np.float32)
        save(self.folder / "model.onnx", [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["y"]), node("GlobalAveragePool", ["y"], ["z"])], {"w": w},
             {"x": [None, 3, 8, 8]}, {"y": None, "z": None})
        self.write(CASE, "case.json")
        self.write({"layers": []}, "decided.json")
        self.write({"format": "dlasim.nvdla.manifest", "tensors": []}, "manifest.json")
        (self.folder / "suite").mkdir()
        self.write(SMALL, "suite/layer.json")
        self.write(self.dlasim("presets", "nv_small").stdout, "machine.json")
        for name, shipped in (("device.json", "dram/ddr4-2400.json"), ("table.json", "dram/standards/ddr4.json"), ("energy.json", "technology/45nm.json")):
            shutil.copy(ROOT / "configs" / shipped, self.folder / name)
        shutil.copy(DATA / "loadables/tiny_nv_small.nvdla", self.folder / "tiny.nvdla")
        shutil.copy(DATA / "loadables/tiny.input", self.folder / "values.bin")
        self.write({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"latency": [10, 20]}}, "sweep.json")

    # What stands for an option, and what its command needs beside it.
    NEEDED = {"run": ["LAYER"], "net": ["NETWORK"], "loadable": ["LOADABLE"], "export": ["FILE", "--to"], "replay": ["PROGRAM"], "sweep": ["SWEEP"],
              "test": ["DIR"], "dram": [], "bound": ["LAYERS"], "silicon": [], "compare": ["RUN"], "explain": ["RUN"]}
    FILES = {"LAYER": "layer.json", "NETWORK": "network.json", "LOADABLE": "tiny.nvdla", "FILE": "layer.json", "PROGRAM": "case.json", "SWEEP": "sweep.json",
             "LAYERS": "layer.json", "RUN": "layer.json", "DIR": "suite", "--hw": "machine.json", "--memory": "device.json", "--input": "images.npy", "--labels": "labels.npy",
             "--calibrate": "images.npy", "--technology": "energy.json", "--collect": "shard", "--manifest": "manifest.json", "--from-plan": "decided.json", "--preset": "device.json", "--set": "table.json", "--to": "to"}
    MODELS = {"--input", "--labels", "--calibrate"}  # of `net`
    COMPILED = {"--input"}                           # of `export` and `loadable`

    def command(self, command, given, more=()):
        """The command line with these files in their places."""
        words, files = [command], dict(given)
        for needed in self.NEEDED[command]:
            file = self.FILES[needed]
            if command == "net" and (self.MODELS & set(given) or {"--steps"} & set(more)) or "outputs/" in given.get("why", ""):
                file = "model.onnx" if needed == "NETWORK" else file
            if command == "export" and self.COMPILED & set(given) and needed == "FILE":
                file = "tiny.nvdla"
            files.setdefault(needed, file)
        if "--labels" in given:
            files.setdefault("--input", "images.npy")
        files.pop("why", None)
        if command in ("run", "net", "loadable", "export") and "--hw" not in files:
            files["--hw"] = "nv_small"
        for option, file in files.items():
            text = f"standard={file}" if option == "--set" else str(file)
            words += [option, text] if option.startswith("-") else [text]
        return words + list(more)

    def memory_files(self):
        return self.dlasim("run", "layer.json", "--plan", "--memory", "device.json").returncode == 0

    def file_for(self, command, option):
        return "values.bin" if command in ("loadable", "export") and option == "--input" else self.FILES[option]

    def attempt(self, words, *kept, or_says=REFUSED):
        before = {path: (path.read_bytes(), path.stat().st_ino) for path in kept}
        done = self.dlasim(*words)
        line = " ".join(map(str, words))
        self.assertEqual(done.returncode, 2, f"{line}\n{done.stdout}{done.stderr}")
        self.assertTrue(REFUSED in done.stderr or or_says in done.stderr, f"{line}\n{done.stderr}")
        for path, (text, inode) in before.items():
            self.assertEqual((path.read_bytes(), path.stat().st_ino), (text, inode), line)
        self.tries = getattr(self, "tries", 0) + 1

    def names_of(self, file):
        """The same file by another name each: as it is, a way around, a link, another link, a hard link."""
        (self.folder / "link").unlink(missing_ok=True)
        (self.folder / "link").symlink_to(self.folder / "sub" / ".." / "again")
        (self.folder / "again").unlink(missing_ok=True)
        (self.folder / "again").symlink_to(file)
        (self.folder / "sub" / "hard").unlink(missing_ok=True)
        os.link(self.folder / file, self.folder / "sub" / "hard")
        return [file, f"sub/../{file}", str(self.folder / file), "link", "sub/hard"]


class Options(Claims):
    def test_every_option_that_names_a_file_is_in_the_table(self):
        help_text = self.dlasim("--help").stdout
        commands = re.findall(r"^  (\w+) ", help_text[help_text.index("Subcommands:"):], re.M)
        named = set()
        for command in commands:
            for words in re.findall(r"^  (\S.*?)(?: REQUIRED)?(?: |$)", self.dlasim(command, "--help").stdout, re.M):
                named.add((command, words))
        for command, option in options():
            self.assertIn((command, option), {(c, w) for c, w in named}, "the table has an option that the command has not")
        for command in commands:
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+|[A-Z]+) TEXT", self.dlasim(command, "--help").stdout, re.M):
                if (command, option) not in options() and command not in ("presets", "reference"):
                    self.assertIn(option, OTHERS, f"{command} {option} takes a text and is in no table")

    def test_no_output_is_an_input(self):
        pairs = [(command, option, output) for (command, option), use in options().items() if "input" in use and use != "input folder"
                 for (other, output), kind in options().items() if other == command and kind == "output"]
        for (command, option, output), how in some(itertools.product(pairs, range(5)), 4):
            file = self.file_for(command, option)
            name = self.names_of(file)[how]
            with self.subTest(command, input=option, output=output, name=name):
                self.attempt(self.command(command, {option: file, output: name}), self.folder / file)
                self.attempt(self.command(command, {option: name, output: file}), self.folder / file)
        self.assertGreater(self.tries, 300)
        self.assertGreater(len(pairs), 150)

    def test_no_file_of_a_folder_is_an_input(self):
        cases = [(command, option, output, name) for (command, option), use in options().items() if "input" in use and use != "input folder"
                 for (other, output), names in folder_files().items() if other == command for name in names]
        self.assertGreater(len(cases), 150)
        for (command, option, output, name), how in some(itertools.product(cases, ("there", "link", "hard link")), 2):
            with self.subTest(command, input=option, name=name, how=how):
                self.in_folder(command, option, output, name, how)
        self.assertGreater(self.tries, 90)

    def in_folder(self, command, option, output, name, how):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        file = self.folder / self.file_for(command, option)
        if name == "plan.json" and option in self.MODELS or option == "--memory" and not self.memory_files():
            return  # no plan of a model is written; no file is a memory
        more = WANTED.get(name, [])
        if name == "steps/" and option == "NETWORK" or name == "outputs/":
            file = self.folder / "model.onnx" if option == "NETWORK" else file
        inside = {"outputs/": "outputs/z.npy", "points/": "points/0000/result.json"}.get(name, name + "a.npy" if name.endswith("/") else name)
        place = out / inside
        place.parent.mkdir(parents=True)
        given = {option: file, output: "out", "why": name}
        if how == "there":
            # Some readers go by the ending.
            by_ending = ("LAYER", "NETWORK", "FILE", "PROGRAM", "SWEEP", "--hw", "--preset", "LOADABLE")
            if place.suffix != file.suffix and (option in by_ending or file.suffix == ".bin" and place.suffix == ".npy"):
                return
            shutil.copy(file, place)
            file = given[option] = place
        elif how == "link":
            place.symlink_to(file)
        else:
            os.link(file, place)
        self.attempt(self.command(command, given, more), file, or_says=FOREIGN if name in ("points/", "shards/") and how != "there" else REFUSED)

    def test_folders_that_are_put_together_are_inputs(self):
        (self.folder / "out" / "shards").mkdir(parents=True)
        self.assertEqual(self.dlasim("sweep", "sweep.json", "--shard", "1/1", "--out", "out/shards/1").returncode, 0)
        before = {path: path.read_bytes() for path in (self.folder / "out").rglob("*") if path.is_file()}
        done = self.dlasim("sweep", "sweep.json", "--collect", "out/shards/1", "--out", "out", "--restart")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(REFUSED, done.stderr)
        self.assertEqual({path: path.read_bytes() for path in before}, before)


class Keys(Claims):
    """Files that are named inside of JSON."""

    def keys(self, section):
        return [row["name"] for row in reference()[section] if row["type"].startswith("file")]

    def layers(self):
        """Layers in which each key of `data` can stand."""
        keys = {key.split("/")[1] for key in self.keys("layer")}
        plain = {"input", "weights", "bias", "expected"}
        self.assertEqual(keys, plain | {"bs_alu", "bs_mul", "bn_alu", "bn_mul", "ew_alu", "ew_mul"}, "a key that this test does not know")
        yield SMALL, sorted(plain)
        yield {**{key: value for key, value in SMALL.items() if key not in ("bias", "activation")}, "post": OPERANDS}, sorted(keys - plain)

    def outputs(self, key):
        """Names for the file of a key: each is an output of the command beside it."""
        for name, more in (("out/result.json", []), ("out/output.npy", []), ("out/plan.json", ["--plan"]), ("events.npy", ["--events", "events.npy"]),
                           ("events.npy", ["--events", "events.npy", "--timing-only"]), ("out/result.json", ["--timing-only"])):
            yield "run", name, ["--hw", "nv_full", "--out", "out", *more]
        for form, name in (("case", "to"), ("c", "to"), ("txn", "to/input.txn"), ("cfg", "to/memory_0.dat")):
            yield "export", name, ["--hw", "nv_full", "--form", form, "--to", "to"]

    def test_data_of_a_layer(self):
        cases = [(layer, key, output) for layer, keys in self.layers() for key in keys for output in self.outputs(key)]
        for (layer, key, (command, name, more)), how in some(itertools.product(cases, ("there", "link", "hard link")), 4):
            with self.subTest(key=key, command=command, name=name, more=more, how=how):
                self.try_key(layer, key, command, name, more, how)

    def try_key(self, layer, key, command, name, more, how):
        for folder in ("out", "to"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
            (self.folder / folder).unlink(missing_ok=True) if (self.folder / folder).is_file() else None
        (self.folder / "events.npy").unlink(missing_ok=True)
        file, place = self.folder / f"{key}.npy", self.folder / name
        place.parent.mkdir(exist_ok=True)
        if how == "there":
            shutil.copy(file, place)
            file = place
        elif how == "link":
            place.symlink_to(file)
        else:
            os.link(file, place)
        named = str(file if how == "there" else file.name)
        self.attempt([command, self.write(dict(layer, data={key: named}), "keyed.json"), *more], file)

    def test_data_of_a_cube(self):
        self.assertEqual({tuple(self.keys(section)) for section in ("rubik", "lrn")}, {("data/input", "data/expected")})
        layer = json.loads((ROOT / "models/lrn_alexnet_norm1.json").read_text()) if (ROOT / "models/lrn_alexnet_norm1.json").exists() else None
        layer = layer or {"op": "lrn", "input": {"width": 9, "height": 7, "channels": 12}, "lrn": {"size": 5}}
        for key in ("input", "expected"):
            for name, more in (("out/plan.json", ["--plan"]), ("out/result.json", ["--timing-only"])):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                (self.folder / "out").mkdir()
                shutil.copy(self.folder / "input.npy", self.folder / name)
                with self.subTest(key=key, name=name):
                    self.attempt(["run", self.write(dict(layer, data={key: name}), "keyed.json"), "--hw", "nv_full", "--out", "out", *more], self.folder / name)

    def test_files_of_a_sweep(self):
        bases = {"base/layer": {"layer": "F"}, "base/network": {"network": "F"}, "base/loadable": {"loadable": "F"},
                 "base/input": {"network": "model.onnx", "input": "F"}, "base/calibrate": {"network": "model.onnx", "calibrate": ["x=F"]},
                 "base/labels": {"network": "model.onnx", "input": "images.npy", "labels": "F"}, "base/hw": {"layer": SMALL, "hw": "F"},
                 "base/memory": {"layer": SMALL, "memory": "F"},
                 "technology": {"layer": SMALL, "technology": "F"}, "workloads/[]/network": {"workloads": [{"network": "F"}]},
                 "workloads/[]/layer": {"workloads": [{"layer": "F"}]}, "data": {"layer": dict(SMALL, data={"expected": "F"})}, "named": {"layer": "keyed.json"},
                 "axis": {"layer": "sub/keyed.json", "axis": "F"}}
        files = {"base/layer": "layer.json", "base/network": "network.json", "base/loadable": "tiny.nvdla", "base/input": "images.npy", "base/hw": "machine.json", "base/memory": "device.json",
                 "base/calibrate": "images.npy", "base/labels": "labels.npy", "technology": "energy.json", "workloads/[]/network": "network.json", "workloads/[]/layer": "layer.json"}
        self.assertLessEqual(set(self.keys("sweep")), set(bases), "a key that this test does not know")
        for (key, base), name, how in some(itertools.product(bases.items(), folder_files()["sweep", "--out"], ("there", "link")), 3):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            file, place = self.folder / files.get(key, "expected.npy"), self.folder / "out" / (name + "0000/result.json" if name.endswith("/") else name)
            place.parent.mkdir(parents=True)
            if how == "there" and key in ("base/network", "workloads/[]/network", "workloads/[]/layer", "base/loadable", "base/hw", "base/memory") and place.suffix != file.suffix:
                continue
            if how == "there":
                shutil.copy(file, place)
                file = place
            else:
                place.symlink_to(file)
            text = json.dumps(base).replace('"F"', json.dumps(str(file))).replace('"x=F"', json.dumps(f"x={file}"))
            base_now = json.loads(text)
            technology, axis, workloads = (base_now.pop(name, None) for name in ("technology", "axis", "workloads"))
            self.write(dict(SMALL, data={"expected": str(file)}), "keyed.json")
            self.write(SMALL, "sub/keyed.json")
            if axis:  # relative to the layer that it is laid over
                axis = os.path.relpath(axis, self.folder / "sub")
            sweep = {"base": {"hw": "nv_small"} | base_now, "axes": {"latency": [10, 20]} | ({"data.expected": [axis]} if axis else {})}
            sweep |= ({"technology": technology} if technology else {}) | ({"workloads": workloads} if workloads else {})
            with self.subTest(key=key, name=name, how=how):
                self.attempt(["sweep", self.write(sweep, "made.json"), "--out", "out", *WANTED.get(name, [])], file,
                             or_says=FOREIGN if name.endswith("/") and how == "link" else REFUSED)


class Found(Case):
    """As they were found: golden files that turned a test green, inputs that were lost."""

    def test_a_golden_file_is_not_overwritten(self):
        np.save(self.folder / "golden.npy", np.ones((1, 10, 7, 9), np.int8))
        (self.folder / "out").mkdir()
        shutil.copy(self.folder / "golden.npy", self.folder / "out" / "output.npy")
        layer = self.write(dict(SMALL, data={"expected": "output.npy"}), "out/layer.json")
        for _ in range(2):
            for more in ([], ["--no-tensors"], ["--timing-only"]):
                done = self.dlasim("run", layer, "--hw", "nv_small", "--out", "out", *more)
                if more:
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                else:
                    self.refused(done, "out/output.npy", REFUSED)
                self.assertEqual((self.folder / "out" / "output.npy").read_bytes(), (self.folder / "golden.npy").read_bytes())
                (self.folder / "out" / "result.json").unlink(missing_ok=True)

    def test_an_exported_file_does_not_take_the_place_of_its_source(self):
        text = self.write(SMALL, "e.json").read_text()
        self.refused(self.dlasim("export", "e.json", "--to", "e.json"), REFUSED)
        self.assertEqual((self.folder / "e.json").read_text(), text)

    def test_an_output_that_is_not_there_yet_is_no_input_that_is_not_there_yet(self):
        (self.folder / "way").symlink_to(self.folder)
        layer = self.write(dict(SMALL, data={"expected": "new/plan.json"}))
        done = self.dlasim("run", layer, "--hw", "nv_small", "--plan", "--out", "way/new")
        self.refused(done, "way/new/plan.json", REFUSED)

    def test_a_device_is_both(self):
        layer = self.write(SMALL)
        done = self.dlasim("run", "/dev/stdin", "--hw", "nv_small", "--events", "/dev/stdout", "--quiet", stdin=layer.open())
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.dlasim("run", "/dev/stdin", "--hw", "nv_small", "--events", "layer.json", "--quiet", stdin=layer.open())
        self.assertEqual(done.returncode, 2)
        self.assertIn(REFUSED, done.stderr)

    def test_a_trace_of_somebody_else_stays(self):
        layer = self.write(SMALL)
        (self.folder / "to").mkdir()
        (self.folder / "to" / "test.cfg").write_text("// mine\n")
        done = self.dlasim("export", layer, "--hw", "nv_small", "--form", "txn", "--to", "to")
        self.assertEqual(done.returncode, 2)
        self.assertIn("to/test.cfg: is a trace that dlasim did not write", done.stderr)
        self.assertEqual({path.name: path.read_text() for path in (self.folder / "to").iterdir()}, {"test.cfg": "// mine\n"})


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
