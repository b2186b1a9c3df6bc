#!/usr/bin/env python3
"""What people type: slips of the pen, the wrong command for a file, sizes with units, several settings behind one --set.

usage: usage_test.py DLASIM [TestCase...]
"""
import json
import os
import sys
import unittest

import cli_test
from cli_test import DATA, MODELS, SMALL, Case

NETWORK = {"name": "tiny", "input": {"width": 6, "height": 5, "channels": 8},
           "layers": [{"name": "a", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}}]}


class Words(Case):
    def says(self, *arguments):
        """The one line, and where help is."""
        done = self.dlasim(*arguments)
        self.refused(done)
        return done.stderr.splitlines()[0]

    def test_no_command_or_one_that_is_none(self):
        self.assertRegex(self.says(), "^dlasim: found no command, expected one of: run, net, ")
        self.assertRegex(self.says("conquer"), '^dlasim: found "conquer", which is no command, expected one of: run, net, ')
        for slip, meant in (("Run", "run"), ("rnu", "run"), ("swep", "sweep"), ("LOADABLE", "loadable")):
            self.assertIn(f'found "{slip}", which is no command (did you mean "{meant}"?)', self.says(slip))

    def test_options_that_are_none(self):
        layer = self.write(SMALL)
        self.assertIn('found --memroy, which is no option of run (did you mean "--memory"?)', self.says("run", layer, "--memroy", "ideal"))
        self.assertIn('found --quite=1, which is no option of net (did you mean "--quiet"?)', self.says("net", layer, "--quite=1"))
        self.assertIn("found --zzzzzzzz, which is no option of sweep", self.says("sweep", layer, "--zzzzzzzz"))

    def test_words_of_options(self):
        said = self.says("export", self.write(SMALL), "--to", "x", "--form", "CASE")
        self.assertIn('--form: found "CASE", expected case, txn, cfg, c, nvdla (did you mean "case"?)', said)

    def test_presets_in_capitals(self):
        layer = self.write(SMALL)
        self.assertIn('unknown preset "NV_LARGE" (did you mean "nv_large"?)', self.says("run", layer, "--hw", "NV_LARGE"))
        self.assertIn('(did you mean "hbm2"?)', self.says("run", layer, "--memory", "HBM2"))
        self.assertIn('(did you mean "nv_small"?)', self.says("presets", "NV_SMALL"))
        self.assertIn('(did you mean "ddr4-2400"?)', self.says("dram", "--preset", "DDR4-2400"))
        self.assertIn('(did you mean "channels"?)', self.says("dram", "--set", "chanels=2"))

    def test_settings_one_behind_the_other(self):
        for settings in (["--set", "cbuf.banks=8", "clock_mhz=800"], ["--set=cbuf.banks=8", "clock_mhz=800"],
                         ["--set", "cbuf.banks=8", "--set", "clock_mhz=800"]):
            for place in (settings + ["layer.json"], ["layer.json"] + settings):
                self.write(SMALL)
                done = self.dlasim("run", "--hw", "nv_large", "--quiet", *place)
                self.assertEqual(done.returncode, 0, done.stderr)
                hardware = json.loads((self.folder / "out/result.json").read_text())["hardware"]
                self.assertEqual((hardware["cbuf"]["banks"], hardware["clock_mhz"]), (8, 800))

    def test_empty_names_of_files_are_refused(self):
        layer = self.write(SMALL)
        for option in ("--html", "--waves", "--timeline", "--events", "--out", "--hw", "--memory", "--technology", "--diff"):
            for words in ((option, ""), (option + "=",)):
                done = self.dlasim("run", layer, "--quiet", *words)
                self.assertEqual(done.returncode, 2, words)
        for words in (("run", ""), ("net", ""), ("replay", ""), ("test", self.folder, "--junit", ""), ("export", layer, "--to", "")):
            done = self.dlasim(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("empty name", done.stderr, words)

    def test_results_name_the_program_and_the_command(self):
        layer = self.write(SMALL)
        results = []
        for more in ([], [], ["--reproducible"]):
            self.assertEqual(self.dlasim("run", layer, "--quiet", "--out", "out", "--html", "page.html", *more).returncode, 0)
            results.append(json.loads((self.folder / "out/result.json").read_text())["made_by"])
        self.assertEqual(results[0], results[1])
        self.assertRegex(results[0]["version"], r"^\d+\.\d+\.\d+( \([0-9a-f]{10}\))?$")
        self.assertEqual(results[0]["command"], f"dlasim run {layer} --quiet --out out --html page.html")
        self.assertEqual(results[2], {"version": results[0]["version"]})
        self.assertEqual("dlasim " + results[0]["version"] + "\n", self.dlasim("--version").stdout)

    def test_json_that_is_none_is_told_in_plain_words(self):
        for text, problem in (('{"a":1,}', 'line 1, column 8: found "}", expected a key in double quotes'), ('{"a" 1}', 'found "1", expected a colon'),
                              ('{"a":1', "found the end of the file, expected a comma or }"), ('[1 2]', 'found "2", expected a comma or ]'),
                              ('{"a":tru}', "found a word that JSON does not have"), ('{"a":"b', "found a text that does not end"),
                              ('{"a":1e999}', "has a number out of range"), ('{"a":1} x', "a word that JSON does not have"),
                              ("", "found the end of the file, expected a value")):
            (self.folder / "x.json").write_text(text)
            done = self.dlasim("run", "x.json")
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(problem, done.stderr, text)
            self.assertNotIn("json.exception", done.stderr, text)

    def test_unknown_keys_name_those_of_today(self):
        done = self.dlasim("run", self.write(SMALL | {"post": {"xyzzy": 1}}))
        self.assertIn("/post/xyzzy: unknown key (known: bs, bn, ew, nan_to_zero, output, pool)", done.stderr)

    def test_a_name_with_a_zero_byte(self):
        (self.folder / "suite").mkdir()
        (self.folder / "suite/n.json").write_text(json.dumps(SMALL))
        (self.folder / "suite/suite.json").write_text('{"cases":[{"name":"\\u0000abc","file":"n.json"}]}')
        self.assertIn('gives the case the name "\\x00abc", expected a name of letters', self.dlasim("test", "suite").stderr)

    def test_the_reference_knows_units_causes_and_terms(self):
        for name, part in (("csc", "credit_gap_cycles"), ("CDMA", "fetches data and weights from memory into CBUF"), ("atomic C", "the two dimensions"),
                           ("weight_load", "weights of the next stripe"), ("memory/latency", "the memory latency of a command"), ("memory", "arbitration"),
                           ("credit_gap_cycles", "units/csc")):
            done = self.dlasim("reference", name)
            self.assertEqual(done.returncode, 0, name)
            self.assertIn(part, done.stdout, name)
        self.assertIn('did you mean', self.dlasim("reference", "wieght_load").stderr)

    def test_waves_of_a_window(self):
        layer = self.write(SMALL)
        for words in ((), ("--window", "100:200")):
            self.assertEqual(self.dlasim("run", layer, "--quiet", "--waves", "w.vcd", *words).returncode, 0)
            times = [int(line[1:]) for line in (self.folder / "w.vcd").read_text().splitlines() if line.startswith("#")]
            self.assertEqual((min(times) >= 100 and max(times) < 200) if words else (min(times) == 0 and max(times) > 200), True)

    def test_reproducible_results_are_equal_bytes(self):
        layer = self.write(SMALL)
        for out in ("a", "b"):
            self.assertEqual(self.dlasim("run", layer, "--reproducible", "--quiet", "--out", out).returncode, 0)
        a, b = ((self.folder / out / "result.json").read_bytes() for out in ("a", "b"))
        self.assertEqual(a, b)
        self.assertNotIn(b"wall_seconds", a)
        self.assertNotIn(b"simulated_cycles_per_second", a)

    def test_chips_with_a_unit(self):
        layer = MODELS / "resnet50_res3a_branch2b.json"
        plain = self.dlasim("bound", layer, "--chip", 512, "--json").stdout
        for chip in ("512KB", "512KiB", "512k", "0.5MiB", "0.5mb", "524288B"):
            self.assertEqual(self.dlasim("bound", layer, "--chip", chip, "--json").stdout, plain, chip)
        self.refused(self.dlasim("bound", layer, "--chip", "512XB"), '--chip: found "512XB", expected KiB in 0.0625..1048576, or a size with its unit')
        self.refused(self.dlasim("bound", layer, "--chip", "2TB"), "--chip")


class Files(Case):
    """A file says itself what it is."""

    def test_a_layer_runs_by_net_and_a_network_by_run(self):
        layer, network = self.write(SMALL), self.write(NETWORK, "network.json")
        for command, out in (("run", "a"), ("net", "b")):
            self.assertEqual(self.dlasim(command, layer, "--hw", "nv_small", "--seed", 5, "--out", out, "--quiet").returncode, 0)
        self.assertEqual((self.folder / "a/output.npy").read_bytes(), (self.folder / "b/output.npy").read_bytes())
        for command, out in (("net", "c"), ("run", "d")):
            self.assertEqual(self.dlasim(command, network, "--hw", "nv_small", "--seed", 5, "--out", out, "--quiet").returncode, 0)
        self.assertEqual((self.folder / "c/output.npy").read_bytes(), (self.folder / "d/output.npy").read_bytes())
        self.assertEqual((self.folder / "c/layers.csv").read_bytes(), (self.folder / "d/layers.csv").read_bytes())
        self.assertIn("small", self.dlasim("net", layer, "--hw", "nv_small", "--plan").stdout)
        self.assertIn("tiny", self.dlasim("run", network, "--hw", "nv_small", "--plan").stdout)
        for option in ("--no-pixels", "--keep-tensors", "--tensors"):
            done = self.dlasim("net", layer, "--hw", "nv_small", "--out", "e", option)
            self.assertIn(f"{option}: found with a layer, expected a network", done.stderr)
        done = self.dlasim("run", network, "--memory", "ddr4-2400", "--check-dram", "--out", "e")
        self.assertIn("--check-dram: found with a network, expected a layer", done.stderr)

    def test_files_of_the_compiler_run_with_run_and_net(self):
        file = DATA / "loadables/tiny_nv_small.nvdla"
        for command in ("run", "net", "loadable"):
            done = self.dlasim(command, file, "--hw", "nv_small", "--reproducible", "--out", command, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("result.json", "output.npy"):
                self.assertEqual((self.folder / command / name).read_bytes(), (self.folder / "run" / name).read_bytes())
        self.assertEqual(self.dlasim("run", file, "--hw", "nv_small", "--plan").stdout, self.dlasim("loadable", file, "--hw", "nv_small", "--describe").stdout)
        for command, option in (("net", "--keep-tensors"), ("net", "--steps")):
            self.assertEqual(self.dlasim(command, file, "--hw", "nv_small", option, "--out", "no").returncode, 2)

    def test_one_dialect_of_layers_and_networks(self):
        """`bias` and `activation` stand in the layer; in `post` they are read, and told once."""
        cycles = {}
        old = {**SMALL, "post": {"bias": True, "activation": "relu", "output": {"shift": 10}}}
        old = {key: value for key, value in old.items() if key not in ("bias", "activation")}
        for name, layer, told in (("new", SMALL, 0), ("old", old, 1)):
            done = self.dlasim("run", self.write(layer), "--hw", "nv_small", "--quiet", "--out", name)
            self.assertEqual((done.returncode, done.stderr.count("dlasim: warning:")), (0, told), done.stderr)
            result = json.loads((self.folder / name / "result.json").read_text())
            cycles[name] = (result["cycles"], result["layer"])
            self.assertEqual((result["layer"]["bias"], result["layer"]["activation"]), (True, "relu"))
        self.assertEqual(cycles["new"], cycles["old"])
        first = NETWORK["layers"][0]
        short = {**NETWORK, "layers": [{**first, "bias": True, "activation": "leaky"}]}
        long = {**NETWORK, "layers": [{**first, "post": {"bias": True, "activation": "leaky"}}, {**first, "name": "b", "post": {"bias": True}}]}
        self.assertEqual(self.dlasim("net", self.write(short), "--hw", "nv_small", "--quiet").stderr, "")
        self.assertEqual(self.dlasim("net", self.write(long), "--hw", "nv_small", "--quiet").stderr.count("dlasim: warning:"), 1)
        both = {**SMALL, "post": {"bias": True}}
        self.assertIn('/post/bias: duplicates the layer\'s own "bias"', self.dlasim("run", self.write(both), "--out", "no").stderr)

    def test_activations_of_a_layer(self):
        for precision, hw in (("int8", "nv_small"), ("fp16", "nv_full")):
            for activation in ("none", "relu", "relu6", "leaky"):
                for engines in ({}, {"bn": {"alu": {"per": "kernel"}}}):
                    layer = {**SMALL, "precision": precision, "activation": activation, "pad": {"left": 1}, "post": engines}
                    done = self.dlasim("run", self.write(layer), "--hw", hw, "--quiet", "--out", "a")
                    self.assertEqual((done.returncode, done.stderr), (0, ""), (precision, activation))
                    result = json.loads((self.folder / "a/result.json").read_text())
                    self.assertIs(result["verified"], True)
                    again = self.dlasim("run", self.write(result["layer"]), "--hw", hw, "--quiet", "--out", "b")
                    self.assertEqual((again.returncode, again.stderr), (0, ""))
                    self.assertEqual((self.folder / "a/output.npy").read_bytes(), (self.folder / "b/output.npy").read_bytes())
        for word, says in (("tanh", "expected none, relu, relu6 or leaky"), ("rlu", "expected one of: none, relu, relu6, leaky\n")):
            done = self.dlasim("run", self.write({**SMALL, "activation": word}), "--out", "no")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f'/activation: found "{word}", {says}')

    def test_what_takes_a_file_is_named(self):
        files = {"a layer": SMALL, "a network": NETWORK, "a sweep": {"base": {"layer": SMALL}, "axes": {"latency": [1]}},
                 "a measured case": {"id": "x", "config": "nv_small", "memory": {}, "program": []}, "a machine": {"preset": "nv_small"},
                 "a memory": {"kind": "ideal"}, "a result": {"schema": "dlasim.run/1"}}
        runs = ("a layer", "a network", "a measured case")
        takes = {"run": runs, "net": runs, "sweep": ("a sweep",), "replay": ("a measured case", "a layer", "a network"),
                 "bound": ("a layer", "a network"), "export": runs, "hw": ("a machine",), "memory": ("a memory",)}
        commands = {command: [command, "file.json"] for command in ("run", "net", "sweep", "replay")}
        commands["bound"] = ["bound", "file.json", "--chip", 16]
        commands["export"] = ["export", "file.json", "--hw", "nv_small", "--form", "c", "--to", "x.h"]
        for option in ("hw", "memory"):
            self.write(SMALL, "layer.json")
            commands[option] = ["run", "layer.json", f"--{option}", "file.json", "--plan"]
        for kind, content in files.items():
            self.write(content, "file.json")
            for command, arguments in commands.items():
                if kind in takes[command]:
                    continue
                done = self.dlasim(*arguments)
                self.refused(done, f"file.json: is {kind}, expected {takes[command][0 if command != 'net' else 1]}: ")

    def test_a_memory_of_ones_own(self):
        layer = self.write(SMALL)
        device = self.write(self.dlasim("presets", "ddr4-2400").stdout, "mine.json")
        preset = self.dlasim("run", layer, "--hw", "nv_small", "--memory", "ddr4-2400", "--out", "a", "--quiet", "--check-dram")
        own = self.dlasim("run", layer, "--hw", "nv_small", "--memory", device, "--out", "b", "--quiet", "--check-dram")
        self.assertEqual((preset.returncode, own.returncode), (0, 0), own.stderr)
        a, b = (json.loads((self.folder / out / "result.json").read_text()) for out in "ab")
        self.assertEqual(b["memory"]["kind"], str(device))
        for key in ("cycles", "verified", "bounds", "memory_report"):
            self.assertEqual(a[key], b[key], key)
        slow = json.loads(device.read_text())
        slow["timing"]["tRCD"] = slow["timing"]["tRP"] = 40
        slow["timing"]["tRC"] = 80
        done = self.dlasim("run", layer, "--hw", "nv_small", "--memory", self.write(slow, "slow.json"), "--out", "c", "--quiet", "--check-dram")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads((self.folder / "c/result.json").read_text())["cycles"], a["cycles"])
        done = self.dlasim("run", layer, "--hw", "nv_small", "--memory", self.write({"kind": "mine.json", "timing": {"tRCD": 40, "tRP": 40, "tRC": 80}}, "over.json"),
                           "--out", "d", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        c, d = (json.loads((self.folder / out / "result.json").read_text()) for out in "cd")
        self.assertEqual(c["cycles"], d["cycles"])
        # what a result says of its memory is a memory
        again = self.write(d["memory"], "again.json")
        self.assertEqual(self.dlasim("run", layer, "--hw", "nv_small", "--memory", again, "--out", "e", "--quiet").returncode, 0)
        self.assertEqual(json.loads((self.folder / "e/result.json").read_text())["cycles"], d["cycles"])

    def test_every_memory_that_is_listed_runs(self):
        layer = self.write(SMALL)
        lines = self.dlasim("presets").stdout.split("memory (--memory)\n")[1].splitlines()
        self.assertGreaterEqual(len(lines), 6)
        for name in (line.split()[0] for line in lines):
            done = self.dlasim("run", layer, "--hw", "nv_small", "--memory", name, "--quiet")
            self.assertEqual(done.returncode, 0, name + done.stderr)
            file = self.write(self.dlasim("presets", name).stdout, "memory.json")
            self.assertEqual(self.dlasim("run", layer, "--hw", "nv_small", "--memory", file, "--quiet").returncode, 0, name)

    def test_memories_of_a_sweep_stand_beside_it(self):
        (self.folder / "below").mkdir()
        self.write(self.dlasim("presets", "ddr4-2400").stdout, "below/mine.json")
        sweep = {"base": {"layer": SMALL, "hw": "nv_small", "memory": "mine.json"}, "axes": {"memory": ["mine.json:channels=2", {"kind": "mine.json"}, "ddr4-2400"]}}
        done = self.dlasim("sweep", self.write(sweep, "below/sweep.json"), "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.folder / "out/points.json").read_text())
        rows = rows["points"] if isinstance(rows, dict) else rows
        self.assertEqual(rows[1]["cycles"], rows[2]["cycles"])

    def test_another_device_is_another_sweep(self):
        self.write(self.dlasim("presets", "ddr4-2400").stdout, "mine.json")
        sweep = self.write({"base": {"layer": SMALL, "hw": "nv_small"}, "axes": {"memory": ["mine.json:channels=2", "mine.json:channels=1"]}}, "sweep.json")
        self.assertEqual(self.dlasim("sweep", sweep, "--shard", "1/2", "--quiet").returncode, 0)
        self.assertEqual(self.dlasim("sweep", sweep, "--shard", "1/2", "--resume", "--quiet").returncode, 0)
        self.write(dict(json.loads((self.folder / "mine.json").read_text()), about="another"), "mine.json")
        done = self.dlasim("sweep", sweep, "--shard", "1/2", "--resume", "--quiet")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
