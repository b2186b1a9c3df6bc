"""The MNIST pipeline of a course on high-level synthesis (acri_mnist.json): what stays on the chip, consecutive images: H1 and H2."""
import copy
import json
import subprocess
import tempfile
from pathlib import Path

from figures import common
from figures.common import Net, ROOT, Table, at_once, network, workload

SLOW = "ideal:latency=300"


def line_by_line(**kept):
    """Every convolution in parts of one output row."""
    made = network("acri_mnist")
    for entry in made["layers"]:
        if entry["op"] == "conv2d":
            entry["partition"] = {"rows": 1} | kept
    return made


def right(model):
    """The result of a trained model on the images of models/onnx."""
    with tempfile.TemporaryDirectory() as folder:
        models = ROOT / "models/onnx"
        run = subprocess.run([common.options.dlasim, "net", models / model, "--hw", "nv_small", "--input", models / "images.npy", "--labels",
                              models / "labels.npy", "--quiet", "--out", folder], capture_output=True, text=True, timeout=900)
        if run.returncode != 0:
            raise SystemExit(run.stderr.strip())
        result = json.loads(Path(folder, "result.json").read_text())
    return result


def h1():
    figure = workload("acri_mnist")["published"]["hls"]["ms_per_image"]
    table = Table("step of the article", "published, ms", "of the first", "here", "cycles on nv_small", "of the first", "memory latency 300", "of the first", texts=1)
    steps = (("baseline", "a line at a time; weights and lines fetched for each; nothing overlaps", line_by_line() | {"overlap": "none"}, "nv_small"),
             ("task_parallel", "the next line is fetched while the array works", line_by_line(), "nv_small"),
             ("local_buffer", "weights and common lines stay in the buffer", line_by_line(reuse_weights=True, reuse_data=True), "nv_small"),
             (None, "whole layers, pooling on the way", network("acri_mnist"), "nv_small"),
             ("loop_parallel_conv", "the same on 2048 multipliers (nv_large)", network("acri_mnist"), "nv_large"))
    runs = at_once([lambda hw=hw, made=made, memory=memory: Net(made, hw=hw, memory=memory).cycles
                    for *_, made, hw in steps for memory in ("ideal", SLOW)])
    quick, slow = runs[::2], runs[1::2]
    for (name, what, *_), a, b in zip(steps, quick, slow):
        cells = [f"{figure[name]:.2f}", f"{figure[name] / figure['baseline']:.3f}"] if name else ["-", "-"]
        table.row(name or "-", *cells, what, f"{a:,}", f"{a / quick[0]:.3f}", f"{b:,}", f"{b / slow[0]:.3f}")
    table.expect(all(a > b for a, b in zip(quick, quick[1:])) and all(a > b for a, b in zip(slow, slow[1:])), "Every step is faster, as published")
    return table


def images(count):
    """`count` images through the network: layer j of image i beside layer j + 1 of image i - 1, so that no layer waits for the one in front of it."""
    one, layers = network("acri_mnist"), []
    for moment in range(count + len(one["layers"]) - 1):
        for i in range(count):
            if not 0 <= moment - i < len(one["layers"]):
                continue
            entry = copy.deepcopy(one["layers"][moment - i])
            entry["name"] = f"{entry['name']}_{i}"
            if entry["inputs"] == ["data"]:
                del entry["inputs"]
                entry["input"] = one["input"]
            else:
                entry["inputs"] = [f"{name}_{i}" for name in entry["inputs"]]
            layers.append(entry)
    return {"name": "acri_mnist_images", "source": one["source"], "layers": layers}


def h2():
    figure = workload("acri_mnist")["published"]["hls"]
    total, slowest = figure["total_interval"]["shift_register_II1"], figure["conv2_cycles"]["shift_register_II1"]
    table = Table("machine", "latency of an image", *(f"interval of {n}" for n in (2, 4, 8)), "saved at 8", "array busy at 8", texts=1)
    shorter = True
    for hw in ("nv_small", "nv_large"):
        one = Net(network("acri_mnist"), hw=hw).cycles
        several = {n: Net(images(n), hw=hw) for n in (2, 4, 8)}
        intervals = [several[n].cycles / n for n in several]
        array = several[8].result["units"]["csc"]["issuing"] / several[8].cycles
        shorter &= all(interval < one for interval in intervals)
        table.row(hw, f"{one:,}", *(f"{interval:,.0f}" for interval in intervals), f"{100 * (1 - intervals[-1] / one):.1f} %", f"{100 * array:.1f} %")
    table.say(f"Published: interval {total:,} cycles, slowest convolution {slowest:,}.")
    table.expect(shorter, "The interval of consecutive images is shorter than the latency of one")
    end = right("acri_mnist.onnx")
    table.expect(end["verified"] and end["accuracy"] >= end["reference_accuracy"] - 0.01,
                 f"The trained network, end to end on nv_small: {end['images']['count']} images in {end['images']['cycles']:,} cycles, "
                 f"{100 * end['accuracy']:.0f} % right, {100 * end['reference_accuracy']:.0f} % in real numbers")
    return table


EXPERIMENTS = {"H1": h1, "H2": h2}
