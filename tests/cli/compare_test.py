#!/usr/bin/env python3
"""dlasim compare: two results side by side.

usage: compare_test.py DLASIM [TestCase...]
"""
import json
import os
import re
import shutil
import sys
import unittest

import cli_test
from cli_test import MODELS, SMALL, Case

NETWORK = {"name": "tiny", "input": {"width": 14, "height": 14, "channels": 32},
           "layers": [{"name": "first", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 32}, "bias": True},
                      {"name": "second", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 64}},
                      {"name": "pooled", "op": "pool", "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}}]}


class Results(Case):
    def layer(self, out, *arguments, layer=SMALL):
        done = self.dlasim("run", self.write(layer), "--quiet", "--timing-only", "--out", out, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / out / "result.json").read_text())

    def network(self, out, *arguments, network=NETWORK):
        done = self.dlasim("net", self.write(network, "net.json"), "--quiet", "--timing-only", "--out", out, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / out / "result.json").read_text())

    def compared(self, *arguments):
        done = self.dlasim("compare", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def told(self, *arguments):
        done = self.dlasim("compare", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        return done.stdout


class Runs(Results):
    def test_the_same_run_twice(self):
        for out in "ab":
            self.layer(out, "--hw", "nv_small")
        told = self.told("a", "b/result.json")
        self.assertTrue(told.startswith("A and B take the same cycles: "), told)
        self.assertIn("Hardware, memory and plan are the same.", told)
        c = self.compared("a", "b")
        self.assertEqual((c["cycles"]["change"], c["same_work"]), (0, True))
        for key in ("work", "hardware", "memory", "plan", "traffic"):
            self.assertEqual(c[key], [], key)

    def test_another_memory(self):
        a, b = self.layer("a", "--hw", "nv_small"), self.layer("b", "--hw", "nv_small", "--memory", "ideal:latency=200")
        c = self.compared("a", "b")
        self.assertEqual(c["cycles"], {"a": a["cycles"], "b": b["cycles"], "change": b["cycles"] - a["cycles"],
                                       "percent": 100 * (b["cycles"] - a["cycles"]) / a["cycles"]})
        self.assertEqual(c["memory"], [{"path": "latency", "a": 32, "b": 200}])
        self.assertEqual((c["hardware"], c["work"]), ([], []))
        parts = c["causes"] if "causes" in c else c["phases"]
        self.assertEqual((sum(p["a"] for p in parts), sum(p["b"] for p in parts)), (a["cycles"], b["cycles"]))
        self.assertEqual([abs(p["change"]) for p in parts], sorted((abs(p["change"]) for p in parts), reverse=True))
        share = 100 * (b["cycles"] / a["cycles"] - 1)
        self.assertTrue(self.told("a", "b").startswith(f"B takes {share:.1f} % more cycles: {b['cycles']:,} in place of {a['cycles']:,}, "))
        self.assertIn("fewer cycles", self.told("b", "a"))

    def test_another_machine_and_another_cut(self):
        self.layer("a", "--hw", "nv_small")
        self.layer("b", "--hw", "nv_small", "--set", "cbuf.banks=16", "clock_mhz=500")
        c = self.compared("a", "b")
        self.assertIn({"path": "cbuf.banks", "a": 32, "b": 16}, c["hardware"])
        self.assertIn("Their clocks differ: ", c["verdict"])
        self.layer("c", "--hw", "nv_small", layer=dict(SMALL, partition={"rows": 3}))
        c = self.compared("a", "c")
        self.assertTrue(c["same_work"])
        self.assertIn({"path": "partition.rows", "a": None, "b": 3}, c["plan"])
        self.assertIn({"path": "lowered.passes", "a": 1, "b": 3}, c["plan"])
        self.assertTrue(any(t["name"] == "dbb.read_bytes_by_client.CDMA_DAT" and t["change"] > 0 for t in c["traffic"]), c["traffic"])

    def test_different_work_is_told(self):
        self.layer("a", "--hw", "nv_small")
        self.layer("b", "--hw", "nv_small", layer=dict(SMALL, kernel={"width": 3, "height": 3, "count": 12}, name="other"))
        told = self.told("a", "b")
        self.assertIn("different work", told.split("\n\n")[0])
        self.assertRegex(told, r"kernel\.count +10 +12")
        self.assertEqual(self.compared("a", "b")["work"], [{"path": "kernel.count", "a": 10, "b": 12}])
        done = self.dlasim("compare", "a", "b", "--tolerance", 50)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("found kernel.count 12, expected 10", done.stderr)

    def test_steps_of_networks(self):
        a = self.network("a", "--hw", "nv_small")
        b = self.network("b", "--hw", "nv_small", "--memory", "ideal:latency=300", network=dict(NETWORK, overlap="none"))
        c = self.compared("a", "b")
        self.assertTrue(c["same_work"])
        self.assertIn({"path": "overlap", "a": None, "b": "none"}, c["plan"])
        self.assertEqual([(s["name"], s["a"], s["b"]) for s in c["steps"]],
                         [(x["name"], x["share"], y["share"]) for x, y in zip(a["steps"], b["steps"])])
        self.assertEqual((sum(s["a"] for s in c["steps"]), sum(s["b"] for s in c["steps"])), (a["cycles"], b["cycles"]))
        told = self.told("a", "b")
        for step in c["steps"]:
            self.assertIn(f"  {step['name']} ", told)
        shorter = dict(NETWORK, layers=NETWORK["layers"][:2])
        self.network("c", "--hw", "nv_small", network=shorter)
        c = self.compared("a", "c")
        self.assertFalse(c["same_work"])
        self.assertEqual([s["name"] for s in c["only_a"]], [a["steps"][-1]["name"]] if len(a["steps"]) == 3 else ["pooled"])

    def test_causes_of_any_result(self):
        """What the tables make of a tree of causes, with numbers of our own."""
        tree = {"array": {"computing": 600, "idle": {"data": 150, "weights": 50}}, "memory": {"latency": 200}}
        a = {"schema": "dlasim.network/1", "name": "n", "cycles": 1000, "causes": tree,
             "steps": [{"name": "s", "share": 1000, "causes": tree}, {"name": "host"}]}
        less = {"array": {"computing": 600, "idle": {"data": 20, "weights": 60}}, "memory": {"latency": 200}}
        b = dict(a, cycles=880, causes=less, steps=[{"name": "s", "share": 880, "causes": less}])
        for name, result in (("a.json", a), ("b.json", b)):
            self.write(result, name)
        c = self.compared("a.json", "b.json")
        self.assertEqual(c["verdict"], "B takes 12.0 % fewer cycles: 880 in place of 1,000, mostly array: idle: data (-130).")
        self.assertEqual(c["causes"][0], {"name": "array: idle: data", "a": 150, "b": 20, "change": -130})
        self.assertEqual(c["steps"][0]["causes"][1], {"name": "array: idle: weights", "a": 50, "b": 60, "change": 10})
        told = self.told("a.json", "b.json")
        self.assertRegex(told, r"\n  s +1,000 +880 +-120 +-12\.0 %\n    mostly array: idle: data \(-130\)\n")

    def test_replays_and_loadables(self):
        done = self.dlasim("run", MODELS / "sdp_sigmoid.json", "--hw", "nv_large", "--timing-only", "--quiet", "--out", "a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.dlasim("export", MODELS / "lenet5_fc1.json", "--hw", "nv_small", "--form", "case", "--to", "case.json").returncode, 0)
        for out, memory in (("r", "ideal"), ("s", "ideal:latency=100")):
            done = self.dlasim("replay", "case.json", "--memory", memory, "--quiet", "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
        c = self.compared("r", "s")
        self.assertTrue(c["same_work"])
        self.assertGreater(c["cycles"]["change"], 0)
        self.assertFalse(self.compared("a", "r")["same_work"])


class Many(Results):
    """More than two runs, the page, and a folder of earlier ones."""
    def test_the_page_says_how_exact_each_run_is(self):
        a = self.layer("a", "--hw", "nv_small")
        b = self.layer("b", "--hw", "nv_small", "--set", "cbuf.banks=16")
        self.assertEqual((a["measured"], b["measured"]), (True, False))
        for result in (a, b):
            near = result["nearest"][0]
            self.assertEqual((near["machine"], near["same_machine"], near["differing"]), ("nv_small", result["measured"], 0))
            self.assertGreater(near["events"], 100)
            self.assertGreaterEqual(near["size_ratio"], 1)
        self.assertEqual(self.dlasim("compare", "a", "b", "--html", "page.html").returncode, 0)
        page = (self.folder / "page.html").read_text()
        self.assertEqual(page.count('class="badge">measured machine'), 1)            # A in the table
        self.assertEqual(page.count('class="badge rules">unmeasured machine'), 2)    # B in its sentence and in the table
        exact = page[page.index("<h2>How exact"):]
        for result in (a, b):
            near = result["nearest"][0]
            self.assertIn(f"{near['program']} on {near['machine']}", exact)
            self.assertIn(f"all {near['events']:,} events", exact)

    def test_no_page_on_an_input(self):
        for out in "ab":
            self.layer(out, "--hw", "nv_small")
        before = (self.folder / "a" / "result.json").read_bytes()
        (self.folder / "base").mkdir()
        shutil.copytree(self.folder / "a", self.folder / "base" / "b")
        for words in (["a", "b", "--html", "a/page.html"], ["a", "b", "--html", "b/result.json"], ["a/result.json", "b", "--html", "a/result.json"],
                      ["b", "--baseline", "base", "--html", "base/page.html"], ["b", "--baseline", "base", "--html", "base/b/page.html"]):
            done = self.dlasim("compare", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("is an input of this command", done.stderr)
        self.assertEqual((self.folder / "a" / "result.json").read_bytes(), before)
        self.assertEqual(sorted(path.name for path in self.folder.rglob("*.html")), [])

    def bars(self, page, title):
        """Of a section: widths of the segments of each bar, in percent."""
        part = page[page.index(f"<h2>{title}"):]
        part = part[:part.index("</section>")]
        return [[float(width) for width in re.findall(r"<i style=\"width:([\d.]+)%", bar)] for bar in re.findall(r'<div class="stack">(.*?)</div>', part)]

    def test_page_of_three(self):
        results = [self.network("a", "--hw", "nv_small"), self.network("b", "--hw", "nv_small", "--memory", "ideal:latency=300"),
                   self.network("c", "--hw", "nv_large")]
        done = self.dlasim("compare", "a", "b", "c", "--html", "page.html", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        both = json.loads(done.stdout)
        self.assertEqual([c["cycles"]["b"] for c in both], [r["cycles"] for r in results[1:]])
        self.assertEqual({c["cycles"]["a"] for c in both}, {results[0]["cycles"]})
        page = (self.folder / "page.html").read_text()
        longest = max(r["cycles"] for r in results)
        for title in ("Cycles by cause", "Steps in time"):  # each bar is as long as its run, on one axis
            for bar, result in zip(self.bars(page, title), results, strict=True):
                self.assertAlmostEqual(sum(bar), 100 * result["cycles"] / longest, delta=0.1)
        for step in results[0]["steps"]:
            self.assertIn(f'<td class="words">{step["name"]}</td>', page)
        self.assertIn("hardware: mac.atomic_c", page)
        self.assertIn(both[0]["verdict"].replace("<", "&lt;"), page)
        self.assertNotRegex(page, r"https?://(?!www.w3.org)")

    def test_names_are_text(self):
        spiked = {**NETWORK, "name": "<b>&\"x", "layers": [{**NETWORK["layers"][0], "name": "<i>one"}]}
        for out in "ab":
            self.network(out, "--hw", "nv_small", network=spiked)
        self.assertEqual(self.dlasim("compare", "a", "b", "--html", "page.html").returncode, 0)
        page = (self.folder / "page.html").read_text()
        self.assertIn("&lt;i>one", page)
        self.assertNotIn("<i>one", page)

    def test_baseline(self):
        for out in ("base/small", "base/large"):
            (self.folder / out).parent.mkdir(exist_ok=True)
        self.network("base/small", "--hw", "nv_small")
        self.network("base/large", "--hw", "nv_large")
        self.network("small", "--hw", "nv_small")
        self.network("large", "--hw", "nv_large", "--memory", "ideal:latency=300")
        same = self.dlasim("compare", "small", "--baseline", "base", "--tolerance", "0")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        moved = self.dlasim("compare", "small", "large/result.json", "--baseline", "base", "--tolerance", "1")
        self.assertEqual(moved.returncode, 1, moved.stdout + moved.stderr)
        self.assertIn("Within the tolerance", moved.stdout)
        self.assertIn("Beyond the tolerance", moved.stdout)
        self.assertRegex(moved.stdout, r"mostly memory: latency|above all memory: latency|memory: ")  # what moved
        self.network("other", "--hw", "nv_small")
        for words, said in ((("other", "--baseline", "base"), "base/other"), (("small",), "expected two or more")):
            done = self.dlasim("compare", *words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)


class Tolerance(Results):
    def test_status_is_the_answer(self):
        a, b = self.layer("a", "--hw", "nv_small"), self.layer("b", "--hw", "nv_small", "--memory", "ideal:latency=40")
        percent = 100 * (b["cycles"] / a["cycles"] - 1)
        self.assertGreater(percent, 0)
        for first, second in (("a", "b"), ("b", "a")):
            of = a if first == "a" else b
            off = 100 * abs(b["cycles"] - a["cycles"]) / of["cycles"]
            for tolerance, status in ((off * 1.001, 0), (off * 0.999, 1), (0, 1), (100, 0)):
                done = self.dlasim("compare", first, second, "--tolerance", tolerance)
                self.assertEqual(done.returncode, status, done.stdout)
                self.assertIn("Within the tolerance" if status == 0 else "Beyond the tolerance", done.stdout)
                told = self.dlasim("compare", first, second, "--tolerance", tolerance, "--json")
                self.assertEqual((told.returncode, json.loads(told.stdout)["within"]), (status, status == 0))
        self.assertEqual(self.dlasim("compare", "a", "a", "--tolerance", 0).returncode, 0)

    def test_what_is_no_result(self):
        self.layer("a", "--hw", "nv_small")
        good = json.loads((self.folder / "a/result.json").read_text())
        for content, says in ((SMALL, "is a layer, expected a result"), ({"schema": "dlasim.plan/1"}, "expected the result.json of a run"),
                              ({"schema": 7, "cycles": 1}, "expected the result.json of a run"), ("[1]", "expected the result.json of a run"),
                              (dict(good, cycles=-1), "/cycles: found -1, expected a whole number"),
                              (dict(good, cycles="many"), "/cycles"), (dict(good, causes=[1]), "/causes"),
                              (dict(good, causes={"x": {"y": 1.5}}), "/causes/x/y"), ("{", "bad.json")):
            self.write(content, "bad.json")
            for pair in (("a", "bad.json"), ("bad.json", "a")):
                done = self.dlasim("compare", *pair)
                self.assertEqual((done.returncode, done.stdout), (2, ""), content)
                self.assertIn(says, done.stderr)
        done = self.dlasim("compare", "a", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere", done.stderr)
        for tolerance in ("-1", "nan", "inf", "1x"):
            self.assertEqual(self.dlasim("compare", "a", "a", f"--tolerance={tolerance}").returncode, 2)


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
