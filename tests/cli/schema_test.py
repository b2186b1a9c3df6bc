#!/usr/bin/env python3
"""`dlasim schema KIND` and `dlasim new KIND`.

usage: schema_test.py DLASIM [Shipped | Wrong | Templates]

Shipped    every file of models and configs validates, and so do the examples of docs/DESCRIPTOR.md
Wrong      unknown keys, wrong types, numbers beyond their range and unknown words, one for every key: the schema refuses them, and dlasim too
Templates  run, validate, and have comments

Where Debian's python3-jsonschema is installed it has to agree with the validator here.
"""
import copy
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from examples import some

try:
    import jsonschema
except ImportError:
    jsonschema = None

DLASIM = None
ROOT = Path(__file__).resolve().parents[2]
KINDS = ("layer", "network", "sweep", "hardware", "memory", "suite")
TYPES = {"integer": lambda v: isinstance(v, int) and not isinstance(v, bool), "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
         "string": lambda v: isinstance(v, str), "boolean": lambda v: isinstance(v, bool), "array": lambda v: isinstance(v, list),
         "object": lambda v: isinstance(v, dict)}


def dlasim(*arguments, cwd=None):
    return subprocess.run([DLASIM, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False)


def plain(text):
    """JSON without comments; no text of ours has two slashes."""
    return json.loads(re.sub(r"//[^\n]*", "", text))


def problems(schema, value, path=""):
    """What is wrong with a value. The keywords that the schemas use, and no other."""
    unknown = set(schema) - {"$schema", "title", "description", "type", "enum", "const", "minimum", "maximum", "properties", "additionalProperties",
                             "required", "items", "minItems", "anyOf", "if", "then", "else"}
    if unknown:
        raise ValueError(f"keywords {unknown}")
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(TYPES[t](value) for t in types):
        return [f"{path}: {value!r} is no {types}"]
    found = []
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        found.append(f"{path}: {value!r} is not allowed")
    if "minimum" in schema and TYPES["number"](value) and value < schema["minimum"] or "maximum" in schema and TYPES["number"](value) and value > schema["maximum"]:
        found.append(f"{path}: {value} is out of range")
    if "anyOf" in schema and all(problems(one, value, path) for one in schema["anyOf"]):
        found.append(f"{path}: {value!r} is none of the alternatives")
    if "if" in schema:
        found += problems(schema["else" if problems(schema["if"], value) else "then"], value, path)
    if isinstance(value, list):
        found += [f"{path}: too short"] * (len(value) < schema.get("minItems", 0))
        for i, one in enumerate(value):
            found += problems(schema.get("items", {}), one, f"{path}/{i}")
    if isinstance(value, dict):
        found += [f"{path}: lacks {key}" for key in schema.get("required", []) if key not in value]
        for key, one in value.items():
            below = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            found += [f"{path}/{key}: unknown"] if below is False else problems(below, one, f"{path}/{key}")
    return found


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = {kind: json.loads(dlasim("schema", kind).stdout) for kind in KINDS}
        if jsonschema:
            for schema in cls.schemas.values():
                jsonschema.Draft202012Validator.check_schema(schema)

    def problems(self, kind, value):
        found = problems(self.schemas[kind], value)
        if jsonschema:
            self.assertEqual(jsonschema.Draft202012Validator(self.schemas[kind]).is_valid(value), not found, (kind, found[:3]))
        return found


class Shipped(Case):
    def test_files(self):
        files = [("layer", path) for path in (ROOT / "models").glob("*.json")] + [("network", path) for path in (ROOT / "models/networks").glob("*.json")]
        files += [("sweep", path) for path in (ROOT / "configs/sweeps").glob("*.json")] + [("memory", path) for path in (ROOT / "configs/dram").glob("*.json")]
        files += [(path.stem, path) for path in (ROOT / "configs/templates").glob("*.json")]
        self.assertGreater(len(files), 60)
        for kind, path in sorted(files):
            with self.subTest(path=path.name):
                self.assertEqual(self.problems(kind, plain(path.read_text())), [])

    def test_examples_of_the_page(self):
        examples = re.findall(r"^```json\n(.*?)^```$", (ROOT / "docs/DESCRIPTOR.md").read_text(), re.M | re.S)
        self.assertGreaterEqual(len(examples), 14)
        for example in examples:
            with self.subTest(example=example[:80]):
                self.assertEqual(self.problems("layer", json.loads(example)), [])

    def test_presets_and_options(self):
        for name in ("nv_small", "nv_large", "nv_full"):
            self.assertEqual(self.problems("hardware", json.loads(dlasim("presets", name).stdout)), [], name)
        for memory in ({"kind": "ideal", "latency": 100}, {"kind": "ddr4-2400", "channels": 2, "timing": {"tRCD": 18}, "refresh": "none"}):
            self.assertEqual(self.problems("memory", memory), [])
        self.assertEqual(self.problems("hardware", {"preset": "nv_large", "cbuf": {"banks": 8}}), [])


def wrong_values(schema):
    """Values that a key refuses: another type, beyond its range, an unknown word."""
    kinds = schema.get("anyOf", [schema])
    if any(set(kind) - {"type", "enum", "minimum", "maximum", "description"} or not isinstance(kind.get("type"), str) for kind in kinds):
        return
    types = {kind["type"] for kind in kinds}
    yield from ([["x"]] if types <= {"integer", "number", "boolean", "string"} else [])
    yield from ([{"x": 1}] if "object" not in types else [])
    if types == {"integer"}:
        yield from ([schema["minimum"] - 1] if "minimum" in schema else []) + ([schema["maximum"] + 1] if "maximum" in schema else [])
        yield 1.5
    if types == {"string"} and "enum" in schema:
        yield "no_such_word"


def wrong_documents(schema, good):
    """Copies of a good document with one fault, at every key that it has, and one unknown key in every object."""
    def walk(schema, value, steps):
        if isinstance(value, dict) and "properties" in schema:
            yield steps + ["no_such_key"], 1
            for key, one in value.items():
                below = schema["properties"].get(key, {})
                for bad in wrong_values(below):
                    yield steps + [key], bad
                yield from walk(below, one, steps + [key])
        if isinstance(value, list):
            for i, one in enumerate(value):
                yield from walk(schema.get("items", {}), one, steps + [i])

    while "if" in schema:
        schema = schema["else" if problems(schema["if"], good) else "then"]
    for steps, bad in walk(schema, good, []):
        document = place = copy.deepcopy(good)
        for step in steps[:-1]:
            place = place[step]
        place[steps[-1]] = bad
        yield "/".join(map(str, steps)), bad, document


class Wrong(Case):
    def refused(self, kind, good, command, least):
        faults = list(wrong_documents(self.schemas[kind], good))
        self.assertGreater(len(faults), least)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "wrong.json"
            for place, bad, document in some(faults, 2):
                with self.subTest(kind=kind, place=place, bad=bad):
                    self.assertNotEqual(self.problems(kind, document), [])
                    file.write_text(json.dumps(document))
                    done = dlasim(*command, file, *(("--plan",) if kind in ("layer", "network") else ("--list",)), "--out", "out", cwd=folder)
                    self.assertEqual(done.returncode, 2, done.stdout[-300:])

    def test_layers(self):
        self.refused("layer", {"name": "all", "op": "conv2d", "input": {"width": 8, "height": 8, "channels": 16, "batch": 1}, "kernel": {"width": 3, "height": 3, "count": 16},
                               "stride": {"x": 1, "y": 1}, "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}, "precision": "int8", "mode": "auto", "bias": True,
                               "activation": "relu", "groups": 1, "overlap": "all", "plan": {"minimise": "cycles"}, "data": {"seed": 1},
                               "post": {"bn": {"alu": {"op": "sum", "per": "kernel", "shift": 1}, "shift": 2}, "output": {"offset": 0, "scale": 1, "shift": 8}}},
                     ("run", "--hw", "nv_full"), 50)

    def test_networks(self):
        self.refused("network", plain(dlasim("new", "network").stdout), ("net", "--hw", "nv_large"), 30)

    def test_sweeps(self):
        good = plain((ROOT / "configs/templates/sweep.json").read_text())
        good["order"] = "deadline"
        self.refused("sweep", good, ("sweep",), 5)

    def test_required_keys(self):
        for kind, document in (("layer", {"input": {"width": 8, "channels": 8}}), ("network", {"layers": [{"name": "a"}]}), ("suite", {"cases": [{"cycles": 1}]}),
                               ("hardware", {"cbuf": {"bank": 8}}), ("memory", {"latency": 8}), ("suite", {"tolerance": "1 %"})):
            with self.subTest(kind=kind, document=document):
                self.assertNotEqual(self.problems(kind, document), [])


class Templates(Case):
    def test_they_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("layer", "network", "sweep", "suite"):
                text = dlasim("new", kind).stdout
                self.assertIn("//", text)
                self.assertEqual(self.problems(kind, plain(text)), [])
                (Path(folder) / f"{kind}.json").write_text(text)
            (Path(folder) / "cases").mkdir()
            (Path(folder) / "layer.json").replace(Path(folder) / "cases/layer.json")
            (Path(folder) / "suite.json").replace(Path(folder) / "cases/suite.json")
            for command in (("run", "cases/layer.json", "--hw", "nv_large"), ("net", "network.json", "--hw", "nv_large", "--memory", "ddr4-3200"),
                            ("sweep", "sweep.json", "--jobs", "1", "--timing-only", "--no-causes", "--out", "points"), ("test", "cases", "--out", "results", "--update")):
                with self.subTest(command=command):
                    done = dlasim(*command, cwd=folder)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_comments(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "layer.json"
            good = '{"input": {"width": 8, "height": 8, /* [[ " */ "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 8}} // the end {'
            file.write_text(good)
            self.assertEqual(dlasim("run", file, "--plan", cwd=folder).returncode, 0)
            for bad in (good.replace("//", "/"), good.replace("*/", ""), good.replace("// the", "the")):
                file.write_text(bad)
                self.assertEqual(dlasim("run", file, "--plan", cwd=folder).returncode, 2, bad)

    def test_usage(self):
        for words in (("schema",), ("schema", "picture"), ("new", "hardware")):
            self.assertEqual(dlasim(*words).returncode, 2, words)


if __name__ == "__main__":
    DLASIM = sys.argv.pop(1)
    unittest.main(verbosity=1)
