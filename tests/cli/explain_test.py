#!/usr/bin/env python3
"""dlasim explain: why a run took its cycles, and what changes gain.

usage: explain_test.py DLASIM [TestCase...]
"""
import json
import os
import re
import sys
import unittest
from pathlib import Path

import cli_test
from cli_test import DATA, MODELS, SMALL, Case

ROOT = Path(__file__).resolve().parents[2]

NETWORK = {"name": "tiny", "input": {"width": 20, "height": 20, "channels": 64},
           "layers": [{"name": "first", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 64}, "bias": True},
                      {"name": "second", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 128}},
                      {"name": "pooled", "op": "pool", "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}}]}


class Explained(Case):
    def run_into(self, command, work, out, *arguments):
        done = self.dlasim(command, work, "--quiet", "--timing-only", "--out", out, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / out / "result.json").read_text())

    def refused(self, done, says):
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(says, done.stderr)

    def told(self, *arguments):
        done = self.dlasim("explain", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        return done.stdout

    def explained(self, *arguments):
        done = self.dlasim("explain", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Runs(Explained):
    def test_a_layer(self):
        result = self.run_into("run", self.write(SMALL), "a", "--hw", "nv_small")
        e = self.explained("a")
        self.assertEqual(sum(cause["cycles"] for cause in e["causes"]), result["cycles"])
        self.assertEqual((e["cycles"], e["bound"]), (result["cycles"], result["bound"]))
        self.assertEqual(e["causes"], sorted(e["causes"], key=lambda cause: -cause["cycles"]))
        for cause in e["causes"]:
            group, name = cause["cause"].split(": ")
            here = result["causes"][group][name]
            self.assertEqual(cause["cycles"], sum(here.values()) if isinstance(here, dict) else here)
        told = self.told("a/result.json")
        self.assertIn("Where the cycles went", told)
        self.assertIn(f"{e['causes'][0]['cycles']:,}", told)

    def test_a_network_loses_cycles_in_steps(self):
        result = self.run_into("net", self.write(NETWORK, "net.json"), "a", "--hw", "nv_small")
        e = self.explained("a")
        shares = {step["name"]: (step["share"], step["bound_cycles"]) for step in result["steps"]}
        self.assertEqual({loss["step"]: (loss["cycles"], loss["bound_cycles"]) for loss in e["losses"]}, shares)
        self.assertEqual([loss["lost"] for loss in e["losses"]], sorted((share - bound for share, bound in shares.values()), reverse=True))
        self.assertEqual([e["parts"][0]["from"], e["parts"][-1]["to"]], [0, result["cycles"]])
        for before, after in zip(e["parts"], e["parts"][1:]):
            self.assertEqual(before["to"], after["from"])
        for part in e["parts"]:
            self.assertEqual(sum(cause["cycles"] for cause in part["causes"]), part["to"] - part["from"])
        told = self.told("a")
        self.assertIn("Steps that lose most", told)
        self.assertIn("Over the run", told)

    def test_a_step_that_is_cut_says_what_does_not_fit(self):
        wide = {"name": "wide", "input": {"width": 64, "height": 64, "channels": 128},
                "layers": [{"name": "cut", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 16}}, {"name": "last", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}}]}
        self.run_into("net", self.write(wide, "net.json"), "a", "--hw", "nv_small")
        why = next(loss["why"] for loss in self.explained("a")["losses"] if loss["step"] == "cut")
        self.assertRegex(why, r"It is tiled into \d+ operations: input of 524,288 bytes and weights of 18,432 do not fit CBUF's 131,072 bytes")

    def test_loadables_and_recorded_programs(self):
        loadable = self.run_into("loadable", DATA / "loadables/tiny_nv_full.nvdla", "a", "--hw", "nv_full")
        self.assertEqual(sum(cause["cycles"] for cause in self.explained("a")["causes"]), loadable["cycles"])
        self.assertEqual(self.dlasim("compare", "a", "a").returncode, 0)
        self.assertEqual(self.dlasim("export", self.write(SMALL), "--hw", "nv_small", "--to", "case.json").returncode, 0)
        self.assertEqual(self.dlasim("replay", "case.json", "--quiet", "--out", "b").returncode, 0)
        self.assertIn("Where the cycles went", self.told("b"))
        self.refused(self.dlasim("explain", "b", "--remedies", 3), "a recorded program cannot be changed")

    def test_what_is_no_result_is_refused(self):
        self.refused(self.dlasim("explain", "nothing"), "nothing")
        self.refused(self.dlasim("explain", self.write(SMALL)), "is a layer, expected a result")
        self.run_into("run", self.write(SMALL), "a", "--hw", "nv_small", "--no-causes")
        self.refused(self.dlasim("explain", "a"), "without --no-causes")
        result = self.run_into("run", self.write(SMALL), "a", "--hw", "nv_small")
        result["causes"]["array"]["computing"] += 1
        self.refused(self.dlasim("explain", self.write(result, "changed.json")), "the file was changed")


class Trials(Explained):
    def again(self, command, work, option, *arguments):
        """Cycles of the run with the option that a trial names."""
        words = option.split()
        if words[0] in ("--set", "--memory"):
            if words[0] == "--memory":
                arguments = [word for i, word in enumerate(arguments) if word != "--memory" and (i == 0 or arguments[i - 1] != "--memory")]
            return self.run_into(command, self.write(work, "again.json"), "again", *arguments, *words)["cycles"]
        change = json.loads("{" + option[:option.rindex(" in the ")] + "}")
        return self.run_into(command, self.write({**work, **change}, "again.json"), "again", *arguments)["cycles"]

    def test_each_remedy_gains_what_its_option_gains(self):
        layer = {"name": "pointwise", "input": {"width": 56, "height": 56, "channels": 256}, "kernel": {"width": 1, "height": 1, "count": 64}, "post": {"output": {"shift": 9}}}
        for command, work, machine in (("run", layer, ["--hw", "nv_large", "--set", "cbuf.banks=8"]), ("net", NETWORK, ["--hw", "nv_small", "--memory", "ddr4-2400"])):
            before = self.run_into(command, self.write(work, "work.json"), "a", *machine)["cycles"]
            e = self.explained("a", "--remedies", 20)
            ran = [remedy for remedy in e["remedies"] if "cycles" in remedy]
            self.assertGreaterEqual(len(ran), 2)
            for remedy in ran:
                self.assertEqual(remedy["gain"], before - remedy["cycles"])
                self.assertEqual(remedy["cycles"], self.again(command, work, remedy["option"], *machine), remedy)
            self.assertEqual([r["gain"] for r in ran], sorted((r["gain"] for r in ran), reverse=True))
            self.assertIn(f"without any: {before:,} cycles", self.told("a", "--remedies", 3))

    def test_the_page_has_what_was_tried(self):
        spiked = {**NETWORK, "name": "<b>net"}
        before = self.run_into("net", self.write(spiked, "work.json"), "a", "--hw", "nv_small", "--memory", "ddr4-2400")["cycles"]
        asked = ("a", "--remedies", 5, "--slack", 3, "--jobs", 2, "--html", "page.html")
        e, page = self.explained(*asked), (self.folder / "page.html").read_text()
        self.assertIn("&lt;b>net", page)
        self.assertNotIn("<b>net", page)
        self.assertNotIn("<script", page)
        escaped = lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        rows = dict(re.findall(r'<tr><td class="words"><code>(.*?)</code></td>(.*?)</tr>', page))
        self.assertGreaterEqual(len(e["remedies"]), 2)
        self.assertGreaterEqual(len(e["slack"]), 2)
        for tried in e["remedies"] + e["slack"]:
            row = rows[escaped(tried["option"])]
            if "refused" in tried:
                self.assertIn("refused: " + escaped(tried["refused"]), row)
                continue
            change = 100 * ((tried["time_us"] * 1000 if "time_us" in tried else tried["cycles"]) - before) / before  # at 1 GHz
            self.assertTrue(row.startswith("<td>same" if abs(change) < 0.05 else f'<td class="{"less" if change < 0 else "more"}">{change:+.1f} %'), (row, tried))
        together = [slack for slack in e["slack"] if "together_cycles" in slack]
        self.assertIn(f"{together[-1]['together_cycles']:,} cycles: <code>" + escaped(" ".join(slack["option"] for slack in together)) + "</code>", page)
        small = [cause["cycles"] for cause in e["causes"] if cause["cycles"] * 200 < before]
        for cause in e["causes"]:
            (self.assertNotIn if cause["cycles"] in small else self.assertIn)(f"<td>{cause['cycles']:,}</td><td>{100 * cause['cycles'] / before:.1f} %</td>", page)
        self.assertIn(f"{len(small)} others</td><td>{sum(small):,}</td>", page)
        self.assertIn(f'<p id="verdict">{before:,} cycles', page)
        self.explained("a", "--html", "page.html")  # nothing tried: the causes alone
        self.assertNotIn("What would help", (self.folder / "page.html").read_text())

    def test_no_page_on_what_runs_again(self):
        device = self.write((ROOT / "configs/dram/ddr4-2400.json").read_text(), "device.json")
        self.run_into("net", self.write(NETWORK, "work.json"), "a", "--hw", "nv_small", "--memory", device)
        (self.folder / "link.html").symlink_to("device.json")
        os.link(self.folder / "device.json", self.folder / "hard.html")
        kept = [(path, path.read_bytes()) for path in (self.folder / "device.json", self.folder / "a/result.json")]
        for page in ("device.json", "link.html", "hard.html", "a/result.json", "a/../a/result.json"):
            for tried in ("--remedies", "--slack"):
                self.refused(self.dlasim("explain", "a", tried, 2, "--html", page), "is an input of this command")
        for path, content in kept:
            self.assertEqual(path.read_bytes(), content)

    def test_the_page_of_a_run_has_what_explain_tries(self):
        work, machine = self.write(NETWORK, "work.json"), ["--hw", "nv_small", "--memory", "ddr4-2400"]
        boxes = lambda text: text[text.index("<h2>What would help"):text.index("</section>", text.index("<h2>What can shrink"))]
        plain = self.run_into("net", work, "a", *machine)
        self.explained("a", "--remedies", 4, "--slack", 2, "--html", "explained.html")
        shown = self.run_into("net", work, "b", *machine, "--html", "run.html", "--remedies", 4, "--slack", 2)
        self.assertEqual(shown["cycles"], plain["cycles"])
        page = (self.folder / "run.html").read_text()
        self.assertEqual(boxes(page), boxes((self.folder / "explained.html").read_text()))
        self.run_into("net", work, "b", *machine, "--html", "plain.html")  # unless it is asked for
        self.assertNotIn("What can shrink", (self.folder / "plain.html").read_text())
        layer = self.run_into("run", self.write(SMALL), "c", "--hw", "nv_small", "--html", "layer.html", "--slack", 5)
        self.assertIn("What can shrink", (self.folder / "layer.html").read_text())
        self.assertEqual(layer["cycles"], self.run_into("run", self.write(SMALL), "d", "--hw", "nv_small")["cycles"])
        for option in ("--remedies", "--slack"):
            self.refused(self.dlasim("run", self.write(SMALL), option, 3), "--html")

    def test_sizes_one_step_down_and_up(self):
        self.run_into("run", self.write(SMALL), "a", "--hw", "nv_small", "--memory", "ideal:latency=64")
        e = self.explained("a", "--sensitivity", "--jobs", 2)
        options = {size["option"]: size for size in e["sizes"]}
        for option in ("--memory ideal:latency=32", "--memory ideal:latency=128", "--set cbuf.banks=16", "--set mac.atomic_c=16"):
            self.assertEqual(options[option]["cycles"], self.again("run", SMALL, option, "--hw", "nv_small", "--memory", "ideal:latency=64"), option)
        self.assertGreater(options["--set mac.atomic_c=16"]["area_mm2"], options["--set cbuf.banks=16"]["area_mm2"])
        told = self.told("a", "--sensitivity")
        self.assertIn("cbuf.banks", told)
        self.assertIn("Sizes, one step smaller and larger", told)

    def test_slack_is_what_smaller_machines_take(self):
        machine = ["--hw", "nv_large", "--memory", "ddr4-3200"]
        before = self.run_into("run", self.write(SMALL), "a", *machine)
        slack = self.explained("a", "--slack", 2)["slack"]
        self.assertGreater(len(slack), 5)
        self.assertIn("--set sdp.has_lut=false", [one["option"] for one in slack])
        together = []
        for one in slack:
            alone = self.run_into("run", self.write(SMALL), "again", *machine, *one["option"].split())
            self.assertEqual(one["cycles"], alone["cycles"], one)
            self.assertLessEqual(one["cycles"], 1.02 * before["cycles"])
            self.assertEqual(one["time_us"], one["cycles"] / 1000)
            self.assertLess(one["area_mm2"], before["area_mm2"])
            if "together_cycles" in one:
                together += one["option"].split()
                last = one
        all_of_them = self.run_into("run", self.write(SMALL), "again", *machine, *together)
        self.assertEqual((last["together_cycles"], last["together_area_mm2"]), (all_of_them["cycles"], all_of_them["area_mm2"]))
        self.assertLessEqual(last["together_cycles"], 1.02 * before["cycles"])
        lines = self.told("a", "--slack", 2).splitlines()
        self.assertIn("Together", lines)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_a_memory_that_is_slow_allows_a_slower_clock(self):
        layer = {"name": "fc", "input": {"width": 1, "height": 1, "channels": 2048}, "kernel": {"width": 1, "height": 1, "count": 256}}
        machine = ["--hw", "nv_large", "--memory", "ddr4-2400"]
        before = self.run_into("run", self.write(layer), "a", *machine)
        clocks = {p: [one for one in self.explained("a", "--slack", p)["slack"] if "clock_mhz" in one["option"]] for p in (0, 2, 60)}
        self.assertEqual(clocks[0], [])
        for percent in (2, 60):
            (clock,) = clocks[percent]
            mhz = int(clock["option"].split("=")[1])
            again = self.run_into("run", self.write(layer), "again", *machine, *clock["option"].split())
            self.assertEqual((clock["cycles"], clock["energy_uj"]), (again["cycles"], again["energy_uj"]))
            self.assertAlmostEqual(clock["time_us"], again["cycles"] / mhz)
            self.assertLessEqual(clock["time_us"], (1 + percent / 100) * before["cycles"] / 1000)
            self.assertLess(clock["energy_uj"], before["energy_uj"])
        self.assertLess(clocks[60][0]["time_us"] / before["cycles"] * 1000 * int(clocks[60][0]["option"].split("=")[1]), 1000)  # fewer cycles
        self.assertIn(f"{clocks[2][0]['option']}", self.told("a", "--slack", 2))

    def test_slack_of_none_allows_no_cycle_and_that_of_a_loadable_is_its_memory(self):
        self.run_into("run", self.write(SMALL), "a", "--hw", "nv_small")
        e = self.explained("a", "--slack", 0)
        self.assertTrue(all(one["cycles"] <= e["cycles"] for one in e["slack"]))
        self.run_into("loadable", DATA / "loadables/tiny_nv_full.nvdla", "a", "--hw", "nv_full", "--memory", "ddr4-2400")
        self.assertEqual([one for one in self.explained("a", "--slack", 5)["slack"] if "--set" in one["option"]], [])
        self.refused(self.dlasim("explain", "a", "--slack", -1), "--slack")

    def test_a_run_that_comes_out_otherwise_is_refused(self):
        self.run_into("net", MODELS / "networks/lenet5.json", "a", "--hw", "nv_large", "--memory", "ddr4-2400", "--no-cvsram")
        self.refused(self.dlasim("explain", "a", "--remedies", 2), "when repeated")
        self.assertEqual(os.listdir(self.folder / "a").count("result.json"), 1)

    def test_loadables_get_another_memory_and_no_other_machine(self):
        self.run_into("loadable", DATA / "loadables/tiny_nv_full.nvdla", "a", "--hw", "nv_full", "--memory", "ddr4-2400")
        remedies = self.explained("a", "--remedies", 10)["remedies"]
        self.assertEqual({remedy["of"] for remedy in remedies}, {"memory"})


class Long(Explained):
    def test_causes_of_a_network_of_sixteen_million_cycles_add_up(self):
        self.run_into("net", MODELS / "networks/vgg16.json", "a", "--hw", "nv_large", "--memory", "ddr4-3200")
        e = self.explained("a")
        self.assertEqual(sum(cause["cycles"] for cause in e["causes"]), e["cycles"])


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
