"""The Python package: what it gives is what the command line gives. package_test.py DLASIM [CASE]"""

import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import dlasim  # noqa: E402

LAYER = dlasim.Layer.conv2d(width=12, height=10, channels=16, kernel=(3, 5), count=24, pad=(1, 2), stride=(2, 1), bias=True, relu=True, shift=6)


def command(*words):
    return subprocess.run([dlasim.program(), *map(str, words)], capture_output=True, text=True, check=False)


class Layers(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())

    def test_a_layer_is_what_the_command_line_runs(self):
        file = LAYER.save(self.folder / "layer.json")
        done = command("run", file, "--hw", "nv_large", "--memory", "ddr4-3200", "--set", "cbuf.banks=12", "--out", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads((self.folder / "out/result.json").read_text())
        result = dlasim.run(LAYER, "nv_large", "ddr4-3200", {"cbuf.banks": 12})
        self.assertEqual((result.cycles, result.verified, result.json["units"], result.json["layer"]["kernel"]),
                         (told["cycles"], True, told["units"], {"width": 5, "height": 3, "count": 24}))
        self.assertEqual(result.json["hardware"]["cbuf"]["banks"], 12)
        numpy.testing.assert_array_equal(result.output, numpy.load(self.folder / "out/output.npy"))
        self.assertEqual(result.output.shape, (1, 24, 5, 12))

    def test_arrays_in_and_out(self):
        rng = numpy.random.default_rng(5)
        values = rng.integers(-9, 9, (1, 8, 5, 6), dtype=numpy.int8)
        weights = rng.integers(-9, 9, (4, 8, 1, 1), dtype=numpy.int8)
        layer = dlasim.Layer.conv2d(width=6, height=5, channels=8, kernel=1, count=4, shift=4)
        result = dlasim.run(layer, "nv_small", input=values, weights=weights)
        sums = numpy.einsum("nchw,kc->nkhw", values.astype(int), weights[:, :, 0, 0].astype(int))
        numpy.testing.assert_array_less(numpy.abs(result.output - sums / 16), 0.51)
        with self.assertRaises(dlasim.Mismatch) as wrong:
            dlasim.run(layer, "nv_small", input=values, weights=weights, expected=result.output + numpy.int8(1))
        self.assertEqual(wrong.exception.result.cycles, result.cycles)
        self.assertFalse(wrong.exception.result.verified)
        with self.assertRaises(dlasim.Refused) as refused:
            dlasim.run(layer, "nv_small", input=values[:, :4], weights=weights)
        self.assertIn("expected", str(refused.exception))

    def test_what_is_refused_has_the_words_of_the_program(self):
        wrong = dlasim.Layer({**LAYER.description, "kernle": 3})
        file = wrong.save(self.folder / "layer.json")
        done = command("run", file, "--hw", "nv_small")
        with self.assertRaises(dlasim.Refused) as refused:
            dlasim.run(file, "nv_small")
        self.assertEqual("dlasim: " + str(refused.exception) + "\n", done.stderr)
        self.assertEqual(refused.exception.status, 2)
        with self.assertRaises(ValueError):
            wrong.check("nv_small")
        with self.assertRaises(TypeError):
            dlasim.Layer.conv2d(width=4, height=4, channels=8, kernel=1)
        with self.assertRaises(dlasim.Refused):
            dlasim.run(LAYER, "nv_smal")
        self.assertIn("passes", json.dumps(LAYER.check("nv_small")))

    def test_numbers_of_numpy_are_numbers(self):
        n = numpy.int64
        numpy_layer = dlasim.Layer.conv2d(width=n(12), height=numpy.uint8(10), channels=n(16), kernel=numpy.array([3, 5]), count=numpy.int16(24), pad=(n(1), n(2)),
                                          stride=numpy.array([2, 1]), groups=n(1), bias=numpy.bool_(True), relu=True, shift=n(6))
        self.assertEqual(json.loads(numpy_layer.save(self.folder / "n.json").read_text()), json.loads(LAYER.save(self.folder / "l.json").read_text()))
        self.assertEqual(repr(numpy_layer), repr(LAYER))
        result = dlasim.run(numpy_layer, "nv_small", set={"cbuf.banks": n(16), "winograd": numpy.bool_(False)}, seed=n(2), timing_only=True)
        self.assertEqual(result.json["hardware"]["cbuf"]["banks"], 16)
        for layer in (dlasim.Layer.pool(width=n(8), height=n(8), channels=n(8), window=n(2), pad=n(0)), dlasim.Layer({"input": {"width": n(4), "height": 4, "channels": 8},
                      "kernel": {"width": 1, "height": 1, "count": n(8)}})):
            self.assertGreater(dlasim.run(layer, "nv_small").cycles, 0)
        net = dlasim.Network(width=n(8), height=n(8), channels=n(8))
        net.conv2d(kernel=n(3), count=n(8), pad=n(1))
        net.pool(window=(n(2), n(2)), stride=n(2))
        net.upsample(n(2))
        self.assertGreater(dlasim.net(net, "nv_small", timing_only=True).cycles, 0)

    def test_figures_of_a_result(self):
        result = dlasim.run(LAYER, "nv_small", timing_only=True)
        self.assertEqual((result.area_mm2, result.energy_uj, result.power_mw), tuple(result.json[key] for key in ("area_mm2", "energy_uj", "power_mw")))
        self.assertAlmostEqual(result.power_mw * result.seconds * 1e3, result.energy_uj, delta=1e-6 * result.energy_uj)
        self.assertAlmostEqual(result.frames_per_s * result.seconds, 1)
        batch = dlasim.run(dlasim.Layer.fully_connected(channels=64, count=64, batch=4), "nv_full", timing_only=True)
        self.assertAlmostEqual(batch.frames_per_s * batch.seconds, 4)

    def test_what_needs_no_run(self):
        area = dlasim.silicon("nv_small", {"cbuf.banks": 16}, technology="28nm")
        self.assertLess(area["area_mm2"], dlasim.silicon("nv_small", technology="28nm")["area_mm2"])
        result = dlasim.run(LAYER, "nv_small")
        self.assertAlmostEqual(dlasim.silicon(of=result)["area_mm2"], result.area_mm2)
        (one,) = dlasim.bound(LAYER, 64, word=1)
        two = dlasim.bound(LAYER, [numpy.int64(64), "1MiB"])
        self.assertEqual([len(two), one["total"]["best"] * 2 - two[0]["total"]["best"]], [2, 0])
        free, slow = (dlasim.dram("ddr4-2400", cycles=2000, interval=interval) for interval in (0, 64))
        self.assertEqual(free["memory"]["name"], "ddr4-2400")
        self.assertNotEqual(free, slow)
        LAYER.save(self.folder / "right.json")
        suite = dlasim.test(self.folder, "nv_small")
        self.assertTrue(suite.passed, suite)
        self.assertEqual([case["passed"] for case in suite.cases], [True])
        numpy.save(self.folder / "wrong.npy", result.output + numpy.int8(1))
        wrong = dlasim.Layer({**LAYER.description, "data": {"expected": "wrong.npy"}})
        wrong.save(self.folder / "wrong.json")
        suite = dlasim.test(self.folder, "nv_small", jobs=1)
        self.assertFalse(suite.passed)
        self.assertEqual([case["passed"] for case in suite.cases], [True, False])
        self.assertIn("1 of 2", repr(suite))
        with self.assertRaises(dlasim.Refused):
            dlasim.test(self.folder / "none")

    def test_without_numpy_it_says_so(self):
        done = subprocess.run([sys.executable, "-c", f"import sys; sys.modules['numpy'] = None; sys.path.insert(0, {str(ROOT / 'python')!r}); import dlasim"],
                              capture_output=True, text=True, check=False)
        self.assertIn("ImportError: dlasim needs NumPy, which is not installed: install it", done.stderr)

    def test_the_program_is_found_or_missed(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "DLASIM": str(self.folder / "none")}
        code = "import dlasim\ntry:\n dlasim.reference()\nexcept dlasim.Broken as e:\n print('missed', e)"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
        self.assertIn("missed", done.stdout, done.stderr)
        self.assertIn("no such program", done.stdout)
        named = environment | {"DLASIM": dlasim.program().name, "PATH": f"{dlasim.program().resolve().parent}:{os.environ['PATH']}"}
        done = subprocess.run([sys.executable, "-c", code], env=named, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_tables_add_up(self):
        result = dlasim.run(dlasim.Layer.pool(width=16, height=16, channels=32, window=2), "nv_full", "ideal:latency=50", events=True)
        units = result.units.set_index("unit")
        self.assertTrue((units.sum(axis=1) == result.cycles).all())
        self.assertEqual(result.traffic.read_bytes.sum(), result.json["traffic"]["dbb"]["read_bytes"])
        self.assertLess(result.bounds.cycles.max(), result.cycles)
        self.assertIn("write", {name.split(".")[-1] for name in result.counters.counter} | {"write"})
        self.assertTrue(result.events["probes"])
        self.assertIn("cycles", result._repr_html_())
        if "causes" in result.json:
            self.assertEqual(result.causes.cycles.sum(), result.cycles)
        result.plot().savefig(self.folder / "units.png")
        self.assertGreater((self.folder / "units.png").stat().st_size, 10000)

    def test_why_and_when(self):
        layer = dlasim.Layer.load(ROOT / "models/lenet5_conv2.json")
        result = dlasim.run(layer, "nv_small", "ideal:latency=100", {"cbuf.banks": 16})
        self.assertIn("Where the cycles went", result.explain())
        self.assertEqual(repr(result.explain()), str(result.explain()))
        self.assertLessEqual(max(result.slack(1)["cycles"]), 1.01 * result.cycles)
        tried = result.remedies(2)
        self.assertEqual(list(result.cycles - tried.cycles), list(tried.gain))
        page = result.timeline()
        self.assertTrue(page.text.startswith("<!doctype html>") and f'"cycles":{result.cycles}' in page.text.replace(" ", ""))
        self.assertTrue(page._repr_html_().startswith("<iframe srcdoc="))
        self.assertEqual(page.save(self.folder / "page.html").read_text(), page.text)
        self.assertIn("$enddefinitions", result.timeline(self.folder / "layer.vcd").read_text())
        self.assertGreater(result.timeline(self.folder / "layer.pftrace").stat().st_size, 1000)
        with self.assertRaises(ValueError):
            result.timeline(self.folder / "layer.txt")
        shown = result._repr_html_()
        for words in (f"{result.cycles:,}", "equal to the golden values", "array/computing", "<details>", f"{result.json['area_mm2']:.4g} mm2</td>", " mW</td>"):
            self.assertIn(words, shown)

    def test_a_file_that_changes_is_no_timeline_of_the_run(self):
        file = LAYER.save(self.folder / "layer.json")
        result = dlasim.run(file, "nv_small")
        dlasim.Layer.pool(width=4, height=4, channels=8, window=2).save(file)
        with self.assertRaises(dlasim.Broken) as broken:
            result.timeline()
        self.assertIn("has changed", str(broken.exception))

    def test_other_layers(self):
        for layer in (dlasim.Layer.lrn(width=6, height=5, channels=16), dlasim.Layer.deconv2d(width=5, height=4, channels=8, kernel=2, count=8, stride=2),
                      dlasim.Layer.fully_connected(channels=32, count=10),
                      dlasim.Layer.sdp(width=4, height=4, channels=8, post={"bs": {"alu": {"op": "max", "per": "layer", "value": 3}}})):
            self.assertTrue(dlasim.run(layer, "nv_full").verified, layer)

    def test_a_file_of_the_compiler(self):
        data = Path(os.environ["DLASIM_TEST_DATA"]) / "loadables"
        result = dlasim.loadable(data / "tiny_nv_small.nvdla", "nv_small", input=data / "tiny.input", mode="serial")
        self.assertTrue(result.verified)
        self.assertGreater(result.cycles, 0)
        with self.assertRaises(dlasim.Refused):
            dlasim.loadable(data / "tiny_nv_small.nvdla", "nv_large")

    def test_presets(self):
        names = dlasim.presets()
        self.assertIn("nv_large", names["hardware"])
        self.assertIn("ddr4-3200", names["memory"])
        self.assertEqual(dlasim.presets("nv_large")["mac"]["atomic_c"], 64)

    def test_everything_is_explained_where_it_is_written(self):
        for name in dlasim.__all__:
            thing = getattr(dlasim, name)
            self.assertTrue(thing.__doc__, name)
            members = {key: value for key, value in vars(thing).items() if not key.startswith("_")} if isinstance(thing, type) else {}
            for key, value in {name: thing, **members}.items():
                value = getattr(value, "__func__", value)
                if inspect.isfunction(value) or isinstance(value, property):
                    self.assertTrue(value.__doc__, f"{name}.{key}")
        explained = " ".join(dlasim.Layer.conv2d.__doc__.split())
        for parameter in set(inspect.signature(dlasim.Layer.conv2d).parameters) - {"name", "op"}:
            self.assertIn(parameter, explained)
        for call in (dlasim.run, dlasim.net, dlasim.sweep, dlasim.loadable):
            for parameter in inspect.signature(call).parameters:
                self.assertIn(parameter, call.__doc__ + dlasim.run.__doc__ + dlasim.net.__doc__, f"{call.__name__}: {parameter}")

    def test_folders_go_with_their_results(self):
        result = dlasim.run(LAYER, "nv_small")
        folder = result.folder.parent
        self.assertTrue(folder.is_dir())
        del result
        self.assertFalse(folder.exists())
        kept = dlasim.run(LAYER, "nv_small", out=self.folder / "kept")
        del kept
        self.assertTrue((self.folder / "kept/result.json").exists())


class Networks(unittest.TestCase):
    def test_a_network_is_built_step_by_step(self):
        net = dlasim.Network(width=16, height=16, channels=16, name="small")
        a = net.conv2d(kernel=3, count=16, pad=1, relu=True)
        b = net.conv2d(kernel=3, count=16, pad=1, inputs=a)
        c = net.add(a, b, relu=True)
        net.pool(window=2, inputs=c)
        net.fully_connected(count=10)
        result = dlasim.net(net, "nv_large", tensors=True)
        self.assertTrue(result.verified)
        self.assertEqual(result.steps.share.sum(), result.cycles)
        self.assertIn(result.steps.name.iloc[-1], result.tensors.keys())
        self.assertEqual(result.tensors[result.steps.name.iloc[-1]].size, 10)
        result.plot().savefig(os.devnull, format="png")
        self.assertLess(dlasim.net(net, "nv_large", timing_only=True).cycles, result.cycles + 1)
        for wrong in (lambda: net.add(a, "nothing"), lambda: net.conv2d(kernel=1, count=8, name=a)):
            layers = len(net.description["layers"])
            with self.assertRaises(dlasim.Refused):
                wrong()
            self.assertEqual(len(net.description["layers"]), layers)

    def test_every_kind_of_layer(self):
        net = dlasim.Network(width=8, height=8, channels=16)
        a = net.deconv2d(kernel=2, count=16, stride=2)
        net.lrn(size=3, inputs=a)
        b = net.upsample((1, 2))
        net.concat(b, net.conv2d(kernel=1, count=8, inputs=b))
        net.fully_connected(count=10)
        net.softmax()
        result = dlasim.net(net, "nv_small")
        self.assertTrue(result.verified)
        self.assertEqual(result.output.shape, (1, 10, 1, 1))

    def test_exports(self):
        with tempfile.TemporaryDirectory() as folder:
            dlasim.export(LAYER, Path(folder) / "case.json", hw="nv_small")
            self.assertIn("program", json.loads((Path(folder) / "case.json").read_text()))


class Sweeps(unittest.TestCase):
    def test_points_end_one_by_one(self):
        sweep = dlasim.sweep({"base": {"layer": LAYER, "hw": "nv_large"}, "axes": {"cbuf.banks": [2, 12, 16], "latency": [10, 500]}}, jobs=2)
        ended = list(sweep)
        table = sweep.table
        self.assertEqual([progress.done for progress in ended], list(range(1, len(ended) + 1)))
        self.assertEqual(len(table), 6)
        one = table[(table["cbuf.banks"] == 12) & (table["latency"] == 500)].iloc[0]
        self.assertEqual(one.cycles, dlasim.run(LAYER, "nv_large", "ideal:latency=500", {"cbuf.banks": 12}).cycles)

    def test_the_best_machine(self):
        sweep = dlasim.sweep({"base": {"hw": "nv_large"}, "axes": {"cbuf.banks": [2, 12]}, "workloads": [{"layer": LAYER}]}, best="area_mm2")
        self.assertEqual([ended.done for ended in sweep], [1, 2])
        self.assertIn("cbuf.banks 2 has the least area_mm2 of 2 of 2 machines", sweep.answer)
        self.assertEqual(list(sweep.machines["cbuf.banks"]), [2, 12])
        self.assertIn("<table", sweep._repr_html_())

    def test_a_sweep_that_is_dropped_ends_its_process(self):
        what = {"base": {"layer": str(ROOT / "models/resnet50_res3a_branch2b.json"), "hw": "nv_small"}, "axes": {"cbuf.banks": list(range(4, 33))}}
        for kept in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                sweep = dlasim.sweep(what, out=Path(folder) / "kept" if kept else None)
                process, files = sweep._process, sweep.folder
                if kept:
                    iterator = iter(sweep)
                    next(iterator)
                    del iterator
                self.assertIsNone(process.poll())
                del sweep
                self.assertIsNotNone(process.poll())  # at once: without the collector's help
                self.assertEqual(files.exists(), kept)
        # An iterator alone keeps its sweep.
        self.assertEqual(len([ended for ended in dlasim.sweep({"base": {"layer": LAYER, "hw": "nv_small"}, "axes": {"cbuf.banks": [8, 16]}})]), 2)

    def test_a_process_that_ends_takes_its_sweeps_with_it(self):
        program = f"""import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import dlasim; dlasim.program({str(dlasim.program())!r})
s = dlasim.sweep({{"base": {{"layer": {str(ROOT / 'models/resnet50_res3a_branch2b.json')!r}, "hw": "nv_small"}}, "axes": {{"cbuf.banks": list(range(4, 33))}}}})
print(s._process.pid, s.folder)"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
        pid, folder = done.stdout.split()
        self.assertFalse(Path(f"/proc/{pid}").exists())
        self.assertFalse(Path(folder).exists())

    def test_points_are_told_from_the_first_one_each_time(self):
        sweep = dlasim.sweep({"base": {"layer": LAYER, "hw": "nv_small"}, "axes": {"cbuf.banks": [8, 16]}}, timing_only=True)
        self.assertEqual(next(iter(sweep)).done, 1)
        self.assertEqual([len(list(sweep)), len(list(sweep)), len(sweep.rows)], [2, 2, 2])

    def test_numbers_of_numpy(self):
        sweep = dlasim.sweep({"base": {"layer": LAYER, "hw": "nv_small"}, "axes": {"cbuf.banks": numpy.arange(8, 10)}}, jobs=numpy.int32(2),
                             timing_only=numpy.bool_(True))
        self.assertEqual(sorted(row["cbuf.banks"] for row in sweep.rows), [8, 9])
        with self.assertRaises(TypeError):
            dlasim.sweep({"base": {"layer": object()}, "axes": {}})

    def test_a_sweep_that_cannot_be(self):
        with self.assertRaises(dlasim.Refused) as refused:
            dlasim.sweep({"base": {"layer": LAYER}, "axes": {"cbuf.bansk": [1]}}).finish()
        self.assertIn("cbuf.bansk", str(refused.exception))


class Installed(unittest.TestCase):
    """pip install ./python, somewhere else."""

    def test_it_installs(self):
        """Into an environment of its own, as docs/PYTHON.md says: Debian's pip installs nowhere else."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cp", "-r", ROOT / "python", folder + "/source"], check=True)
            subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", folder + "/venv"], check=True)
            done = subprocess.run([folder + "/venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", folder + "/source"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            environment = {**os.environ, "DLASIM": str(dlasim.program())}
            environment.pop("PYTHONPATH", None)
            code = "import dlasim; print(dlasim.__file__, dlasim.run(dlasim.Layer.pool(width=4, height=4, channels=8, window=2)).verified)"
            done = subprocess.run([folder + "/venv/bin/python", "-c", code], env=environment, cwd=folder, capture_output=True, text=True, check=True)
            self.assertTrue(done.stdout.startswith(folder + "/venv/lib") and done.stdout.endswith("True\n"), done.stdout)


def cells_of(file):
    """(cell, value of its last line or None) of every cell of a notebook, run in order."""
    names, notebook = {}, json.loads(file.read_text())
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, str(file), "exec"), names)  # pylint: disable=exec-used
            yield cell, last and eval(compile(ast.Expression(last.value), str(file), "eval"), names)  # pylint: disable=eval-used


def text_of(value):
    return [] if value is None or type(value).__module__.startswith("matplotlib") else repr(value).splitlines(keepends=True)


def write_notebook(file):
    """Puts under every cell what it says now."""
    cells = {"".join(cell["source"]): text_of(value) for cell, value in cells_of(file)}
    notebook = json.loads(file.read_text())
    for number, cell in enumerate(cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        text = cells["".join(cell["source"])]
        cell["outputs"] = [{"output_type": "execute_result", "execution_count": number + 1, "metadata": {}, "data": {"text/plain": text}}] if text else []
        cell["execution_count"] = number + 1
    file.write_text(json.dumps(notebook, indent=1) + "\n")


class Notebooks(unittest.TestCase):
    """Every cell runs, in order, and says what stands below it."""

    def test_cells(self):
        for file in sorted((ROOT / "python").glob("*.ipynb")):
            for cell, value in cells_of(file):
                self.assertEqual([line for output in cell["outputs"] for line in output["data"]["text/plain"]], text_of(value), cell["source"])


if __name__ == "__main__":
    dlasim.program(Path(sys.argv.pop(1)).resolve())
    if sys.argv[1:] == ["--write"]:
        for notebook in sorted((ROOT / "python").glob("*.ipynb")):
            write_notebook(notebook)
    else:
        unittest.main()
