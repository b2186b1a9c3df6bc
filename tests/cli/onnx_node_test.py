#!/usr/bin/env python3
"""The node tests of ONNX: every case of python3-onnx whose operators docs/ONNX.md names, through `dlasim net`, against the result that ONNX
itself gives for it. What runs must be right; how many run, and which are refused, is held.

usage: onnx_node_test.py DLASIM [--list]"""
import re
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
for _name, _type in {"float": float, "int": int, "bool": bool, "object": object, "str": str}.items():
    setattr(np, _name, _type)  # the cases of onnx 1.12 say np.float, which NumPy 1.24 has no more

from onnx import TensorProto, helper, save  # noqa: E402
from onnx.backend.test.case.node import collect_testcases  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LEAST_RUN = 300  # of 390
WHOLE = {TensorProto.INT8, TensorProto.UINT8}
# A quantised result may round to the neighbour where dlasim rounds ties away from zero; fp16 has eleven bits of which sums lose some.
TOLERANCE, STEP = 4e-3, 1


def operators():
    """Those that docs/ONNX.md names."""
    page = (ROOT / "docs/ONNX.md").read_text()
    table = page[page.index("## Operators"):page.index("## From the model")]
    return set(re.findall(r"`([A-Z][A-Za-z0-9]+)`", table))


def cases():
    known = operators()
    chosen = [case for case in collect_testcases(None) if {node.op_type for node in case.model.graph.node} <= known]
    return list({case.name: case for case in chosen}.values())


def quantised(model):
    return any(port.type.tensor_type.elem_type in WHOLE for port in [*model.graph.input, *model.graph.output])



def run(dlasim, case, folder):
    """ran, refused or wrong, and why."""
    folder.mkdir()
    model, (inputs, outputs) = case.model, case.data_sets[0]
    save(model, str(folder / "m.onnx"))
    words = [dlasim, "net", str(folder / "m.onnx"), "--out", str(folder / "out"), "--quiet"]
    words += ["--hw", "nv_small"] if quantised(model) else ["--hw", "nv_full", "--precision", "fp16"]
    for port, value in zip(model.graph.input, inputs):
        if not isinstance(value, np.ndarray) and not np.isscalar(value):
            return "refused", "an input that is no tensor"
        value = np.asarray(value)
        if value.dtype.kind in "OUS":
            return "refused", "an input of strings"
        np.save(folder / f"{port.name}.npy", value)
        words += ["--input", f"{port.name}={folder / port.name}.npy"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 2:
        return "refused", done.stderr.strip().replace("\n", " | ")
    if done.returncode != 0:
        return "wrong", f"status {done.returncode}: {done.stderr.strip()}"
    for i, (port, expected) in enumerate(zip(model.graph.output, outputs)):
        found = np.load(folder / "out" / ("output.npy" if i == 0 else f"outputs/{port.name}.npy"))
        expected = np.asarray(expected)
        if found.shape != expected.shape:
            return "wrong", f"{port.name}: shape {found.shape}, expected {expected.shape}"
        if expected.dtype.kind in "iub":
            limit = 0 if expected.dtype.itemsize > 1 or expected.dtype.kind == "b" else STEP
        else:
            limit = TOLERANCE * max(1.0, float(np.abs(expected).max(initial=0)))
        off = np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0)
        if not off <= limit:
            return "wrong", f"{port.name}: off by {off}, at most {limit} expected"
    return "ran", ""


def main():
    dlasim, listed = sys.argv[1], "--list" in sys.argv
    chosen = cases()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda case: run(dlasim, case, Path(folder) / case.name), chosen))
    counts = {end: sum(found == end for found, _ in ends) for end in ("ran", "refused", "wrong")}
    for case, (end, why) in zip(chosen, ends):
        if end == "wrong" or (listed and end == "refused"):
            print(f"{end}: {case.name}: {why}")
    print(f"{len(chosen)} cases: {counts['ran']} ran, {counts['refused']} refused, {counts['wrong']} wrong")
    sys.exit(counts["wrong"] != 0 or counts["ran"] < LEAST_RUN)


if __name__ == "__main__":
    main()
