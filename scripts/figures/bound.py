"""The communication bound of Chen, Han, Wang, HPCA 2020, without a machine and beside one: B1 to B3."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

from figures import common
from figures.common import Run, Table, at_once, layer, workload

WORD, BATCH, CHIP = 2, 3, 173.5  # bytes, images, KB of the published chip
PLANES = {"conv1": 224, "conv2": 112, "conv3": 56, "conv4": 28, "conv5": 14}
KERNELS = {"conv1": 64, "conv2": 128, "conv3": 256, "conv4": 512, "conv5": 512}
CACC = 256 * 64  # bytes of nv_full's sums: 256 entries of 16 results, of 4 bytes at most


def vgg16():
    """The 13 convolutions, one image, as `dlasim run` takes them."""
    made, channels = [], 3
    for row in workload("hpca_vgg16")["results"][0]["layers"]:
        stage = row["layer"].split("_")[0]
        made.append(layer(PLANES[stage], PLANES[stage], channels, KERNELS[stage], (3, 3), 1, "int16", name=row["layer"],
                          post={"output": {"shift": 8}}, plan={"minimise": "traffic"}))
        channels = KERNELS[stage]
        assert BATCH * 9 * channels * made[-1]["input"]["channels"] * PLANES[stage] ** 2 == row["macs"]
    return made


def bounds(layers, chips):
    """`dlasim bound`, batch 3: an entry for each size in KB."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layers.json")
        Path(path).write_text(json.dumps({"layers": layers}))
        run = subprocess.run([common.options.dlasim, "bound", path, "--batch", str(BATCH), "--word", str(WORD), "--json", "--chip",
                              *map(str, chips)], capture_output=True, text=True, timeout=900)
        if run.returncode != 0:
            raise SystemExit(run.stderr.strip())
        return json.loads(run.stdout)


def mib(count):
    return count / 2 ** 20


def b1():
    table = Table("chip, KB", "lower bound, published", "ours", "best tiling, published", "ours", "all kernels stay", "all places stay", "inputs stay",
                  "weights stay")
    figures = workload("hpca_vgg16")["results"]
    worst = 0
    for figure, chip in zip(figures, bounds(vgg16(), [one["kb"] for one in figures])):
        total = {key: mib(value) for key, value in chip["total"].items()}
        table.row(figure["kb"], f"{figure['lower_bound']:.2f}", f"{total['lower_bound']:.2f}", f"{figure['proposed']:.2f}", f"{total['best']:.2f}",
                  *(f"{total[key]:.2f}" for key in ("all_kernels", "all_places", "inputs_stay", "weights_stay")))
        pairs = {"lower_bound": "lower_bound", "proposed": "best", "out_kernels": "all_kernels", "out_plane": "all_places", "in_reuse": "inputs_stay",
                 "wt_reuse": "weights_stay"}
        worst = max(worst, *(abs(figure[theirs] - total[mine]) for theirs, mine in pairs.items()))
    table.expect(worst < 0.0051, f"Bound, best tiling and the four simpler dataflows of all nine sizes are the published ones; largest difference {worst:.4f} MiB")
    return table


def b2():
    octaves, near = ["0.125", "0.25", "0.5", "1", "2", "4", "8"], ["0.25", "0.5", "1", "2"]
    chip, = bounds(vgg16(), [CHIP])
    table = Table("MiB at a balance of", *octaves, texts=1)
    least = {}
    for entry in chip["layers"]:
        balances = entry["balances"]
        if entry["name"] in ("conv3_2", "conv4_1", "conv4_2"):
            table.row(entry["name"], *(f"{mib(balances[o]):.1f}" if o in balances else "-" for o in octaves))
        if entry["name"].startswith(("conv3", "conv4")):
            for octave in near:
                least[octave] = least.get(octave, 0) + balances[octave] if octave in balances else float("inf")
    # Planes and kernels are divided into equal parts, so an octave may have no good block.
    whole = [one for one in near if least[one] < float("inf")]
    table.row("conv3_1 to conv4_3", *(f"{mib(least[o]):.1f}" if o in whole else "-" for o in octaves))
    table.expect(min(whole, key=least.get) == "1", "The layers with more kernels than a block move least at a balance of 1")
    return table


def b3():
    sizes = (32, 64, 128, 256, 512)
    layers = vgg16()
    table = Table("MiB measured / bound", *(f"CBUF {size} KB" for size in sizes), texts=1)
    asked = bounds(layers, [size + CACC / 1024 for size in sizes])

    def measure(entry, size):
        """(measured, bound that no order of loops can undercut) of the batch, or None if the layer does not fit."""
        try:
            run = Run(entry, sets=(f"cbuf.bank_depth={size // 2}",))
        except SystemExit as refused:
            if "does not fit the CBUF" not in str(refused):
                raise
            return None
        traffic, plan = run.result["traffic"]["dbb"], run.result["plan"]["traffic"]
        return BATCH * (traffic["read_bytes"] + traffic["write_bytes"]), BATCH * max(plan["compulsory"], plan["communication"])

    never, below, sums = True, set(), [[0, 0, 0] for _ in sizes]
    for i, entry in enumerate(layers):
        cells = []
        for j, got in enumerate(at_once([lambda size=size: measure(entry, size) for size in sizes])):
            if got is None:
                cells.append("does not fit")
                continue
            moved, strict = got
            formula = asked[j]["layers"][i]["lower_bound"]
            never &= moved >= strict
            if moved < formula:
                below.add(entry["name"])
            sums[j] = [a + b for a, b in zip(sums[j], (moved, strict, formula))]
            cells.append(f"{mib(moved):.1f} / {mib(strict):.1f}")
        table.row(entry["name"], *cells)
    table.row("those that fit, together", *(f"{mib(moved):.1f} / {mib(strict):.1f}" for moved, strict, _ in sums))
    table.row("times the bound", *(f"{moved / strict:.2f}" for moved, strict, _ in sums))
    table.row("the published formula for them", *(f"{mib(formula):.1f}" for _, _, formula in sums))
    table.expect(never, "No layer moves less than the bound on any size")
    nearer = [moved / strict for moved, strict, _ in sums[2:]]
    table.expect(nearer == sorted(nearer, reverse=True), "From 128 KB on, where all layers fit, a larger buffer is nearer to the bound")
    table.say(f"Below the published formula on some size: {', '.join(sorted(below)) or 'none'}.")
    return table


EXPERIMENTS = {"B1": b1, "B2": b2, "B3": b3}
