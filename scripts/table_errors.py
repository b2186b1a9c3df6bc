#!/usr/bin/env python3
"""How far the named lookup tables of SDP and the tables of LRN are from their functions: the outputs of the machine against NumPy's doubles, in
steps of the output.

usage: table_errors.py --dlasim PATH [--page PAGE]      prints the table of scripts/figures/EXPERIMENTS.md, or writes it there; status 1 if the page has another
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from page_table import write_table

PAGE = Path(__file__).resolve().parents[1] / "scripts/figures/EXPERIMENTS.md"
FUNCTIONS = {"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh}
DTYPES = {"int8": np.int8, "int16": np.int16, "fp16": np.float16}
# precision, machine, input_scale, output_scale of SDP's table
TABLES = [("int16", "nv_full", 1 / 4096, 1 / 32767), ("int16", "nv_full", 1 / 2048, 1 / 32767), ("int16", "nv_full", 0.001, 1 / 32767), ("int16", "nv_full", 0.0003, 1e-4),
          ("int8", "nv_large", 0.05, 1 / 127), ("int8", "nv_large", 0.1, 1 / 127), ("fp16", "nv_full", 1, 1)]
SIZES, ALPHAS, BETAS = (3, 5, 9), (1e-4, 1e-3, 0.01, 0.05, 0.5, 2), (0.5, 0.75, 1)


def output_of(dlasim, folder, layer, values, hardware):
    np.save(folder / "input.npy", values)
    shape = values.shape
    layer = {**layer, "input": {"width": shape[3], "height": shape[2], "channels": shape[1]}, "data": {"input": "input.npy"}}
    (folder / "layer.json").write_text(json.dumps(layer))
    done = subprocess.run([dlasim, "run", folder / "layer.json", "--hw", hardware, "--quiet", "--no-causes", "--out", folder / "out"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{layer}: {done.stderr}")
    return np.load(folder / "out/output.npy").astype(float)


def all_values(precision):
    if precision == "fp16":
        return np.linspace(-16, 16, 1 << 14).astype(np.float16).reshape(1, 64, 16, 16)
    info = np.iinfo(DTYPES[precision])
    return np.arange(info.min, info.max + 1).astype(DTYPES[precision]).reshape(1, *((16, 4, 4) if precision == "int8" else (64, 32, 32)))


def named_row(dlasim, folder, function, precision, hardware, input_scale, output_scale):
    values = all_values(precision)
    table = {"function": function} | ({} if precision == "fp16" else {"input_scale": input_scale, "output_scale": output_scale})
    output = output_of(dlasim, folder, {"op": "sdp", "precision": precision, "post": {"ew": {"lut": table}}}, values, hardware)
    error = np.abs(output - FUNCTIONS[function](values.astype(float) * input_scale) / output_scale).ravel() * (2 ** 11 if precision == "fp16" else 1)
    scales = "" if precision == "fp16" else f", {input_scale:.4g} to {output_scale:.4g}"
    return f"| {function} | {precision}{scales} | {error.max():.2f} | {error.mean():.2f} | {output.flat[0]:.6g} | {output.flat[-1]:.6g} |"


def lrn_row(dlasim, folder, precision, hardware):
    rng, worst, total, count, at = np.random.default_rng(1), 0, 0, 0, ""
    scale = {"int8": 1, "int16": 1 / 256, "fp16": 1}[precision]
    for size in SIZES:
        for alpha in ALPHAS:
            for beta in BETAS:
                if precision == "fp16":
                    values = rng.normal(0, 20, (1, 32, 4, 8)).astype(np.float16)
                else:
                    info = np.iinfo(DTYPES[precision])
                    spread = rng.integers(2, info.max, (1, 1, 4, 8))  # pixels of small and of large sums
                    values = (rng.uniform(-1, 1, (1, 32, 4, 8)) * spread).astype(DTYPES[precision])
                lrn = {"size": size, "alpha": alpha, "beta": beta, "bias": 1} | ({} if precision == "fp16" else {"input_scale": scale, "output_scale": scale})
                output = output_of(dlasim, folder, {"op": "lrn", "lrn": lrn, "precision": precision}, values, hardware)
                x = values.astype(float) * scale
                sums = sum(np.roll(np.pad(x**2, ((0, 0), (size, size), (0, 0), (0, 0))), k, 1) for k in range(-(size // 2), size // 2 + 1))[:, size:-size]
                right = x / (1 + alpha / size * sums) ** beta
                error = np.abs(output / np.maximum(np.abs(right), 1e-3) - right / np.maximum(np.abs(right), 1e-3)) * 2 ** 11 if precision == "fp16" else np.abs(output - right / scale)
                total, count = total + error.sum(), count + error.size
                if error.max() > worst:
                    worst, at = error.max(), f"size {size}, alpha {alpha:g}, beta {beta:g}"
    return f"| LRN | {precision}, {len(SIZES) * len(ALPHAS) * len(BETAS)} layers | {worst:.2f} at {at} | {total / count:.2f} | | |"


def table(dlasim):
    rows = ["| function | numbers, scale of input to output | largest error | mean | at the lowest input | at the highest |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for function in FUNCTIONS:
            rows += [named_row(dlasim, folder, function, *one) for one in TABLES]
        rows += [lrn_row(dlasim, folder, precision, hardware) for precision, hardware in (("int8", "nv_small"), ("int16", "nv_full"), ("fp16", "nv_full"))]
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dlasim", default="dlasim", type=lambda path: Path(path).resolve() if "/" in path else path)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    made = table(arguments.dlasim)
    if arguments.page:
        write_table(arguments.page, "table_errors", made)
    print(made)
    return 0 if made in PAGE.read_text() else 1


if __name__ == "__main__":
    sys.exit(main())
