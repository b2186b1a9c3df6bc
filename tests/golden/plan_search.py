#!/usr/bin/env python3
"""The planner's cuts against all cuts: small layers on buffers that are too small for them, every partition simulated.

usage: plan_search.py DLASIM FIRST COUNT [--verbose]

The plan for cycles takes at most 2 % more of them than the best partition, the plan for traffic moves at most 2 % more bytes; both are
verified, given back as they were written they take the same cycles, and no partition is below a bound. Exits 1 if one does not hold.
"""
import itertools
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WITHIN = 1.02


class Machine:
    def __init__(self, dlasim, folder, settings):
        self.command = [dlasim, "run", str(folder / "layer.json"), "--quiet", "--no-tensors", "--out", str(folder / "out")]
        for setting in settings[1:]:
            self.command += ["--set", setting]
        self.command += ["--hw", settings[0]]
        self.folder = folder

    def run(self, layer, *options):
        """The result, or None if the machine cannot."""
        (self.folder / "layer.json").write_text(json.dumps(layer))
        done = subprocess.run([*self.command, *options], capture_output=True, text=True)
        if done.returncode == 2:
            return None
        if done.returncode != 0:
            raise SystemExit(f"{layer}: {done.stdout}{done.stderr}")
        return json.loads((self.folder / "out" / "result.json").read_text())


def layer_of(r):
    kernel, stride = r.choice((1, 3, 3, 5)), r.choice((1, 1, 2))
    size = r.randint(8, 20)
    return {"input": {"width": size, "height": r.randint(8, 20), "channels": r.choice((16, 24, 32, 48, 64))},
            "kernel": {"width": kernel, "height": kernel, "count": r.choice((16, 24, 32, 64))}, "stride": {"x": stride, "y": stride},
            "pad": {side: kernel // 2 for side in ("left", "right", "top", "bottom")},
            "post": {"bias": True, "activation": "relu", "output": {"shift": 10}}, "data": {"seed": r.randint(1, 1000)}}


def sizes(whole, least):
    """All sizes of parts that make another number of them."""
    return sorted({min(whole, -(-(-(-whole // n)) // least) * least) for n in range(1, -(-whole // least) + 1)})


def partitions(layer, group):
    shape, kernel, stride = layer["input"], layer["kernel"], layer["stride"]["x"]
    columns, rows = ((shape[side] + 2 * (kernel["width"] // 2) - kernel["width"]) // stride + 1 for side in ("width", "height"))
    for r, k, c, keep in itertools.product(sizes(rows, 1), sizes(kernel["count"], group), sizes(columns, 1)[-3:], (False, True)):
        partition = {"rows": r, "kernels": k, "reuse_data": True, "reuse_weights": keep}
        if c < columns:
            partition["columns"] = c
        yield partition


def check(machine, layer, group, name, verbose):
    found = {}
    for partition in partitions(layer, group):
        result = machine.run({**layer, "partition": partition}, "--timing-only")
        if result is None:
            continue
        assert result["cycles"] >= result["bounds"]["largest"], (layer, partition)
        traffic = result["plan"]["traffic"]
        assert traffic["moved"] >= max(traffic["compulsory"], traffic["communication"]), (layer, partition)
        found[json.dumps(partition)] = result["cycles"], traffic["moved"]
    if not found:
        return None  # it takes more strips than are tried here
    good, said = True, []
    for place, what in enumerate(("cycles", "traffic")):
        planned = machine.run({**layer, "plan": {"minimise": what}})
        if planned is None or not planned["verified"]:
            print(f"{name}: the plan for {what} does not run: {layer}")
            return False
        got = planned["cycles"], planned["plan"]["traffic"]["moved"]
        if "partition" in planned["plan"]:
            again = machine.run({**layer, "partition": planned["plan"]["partition"]}, "--timing-only")
            if again is None or again["cycles"] != got[0]:
                print(f"{name}: the plan given back takes other cycles: {planned['plan']['partition']} of {layer}")
                good = False
        elif planned["plan"].get("cut"):
            print(f"{name}: the plan is not told: {layer}")
            good = False
        best = min(found, key=lambda p: found[p][place])
        over = got[place] / found[best][place]
        said.append(f"{what} {got[place]} of {found[best][place]}, {over:.3f}")
        if over > WITHIN:
            print(f"{name}: {what} {got[place]} with {planned['plan'].get('partition')}, {found[best][place]} with {best}: {layer}")
            good = False
    if verbose or not good:
        print(f"{name}: {len(found)} partitions, {'; '.join(said)}", flush=True)
    return good


def main():
    dlasim, first, count = str(Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3])
    bad = done = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in itertools.count(first * 1000):
            if done == count:
                break
            r = random.Random(seed)
            preset, group, depth = r.choice((("nv_small", 8, 128), ("nv_small", 8, 64), ("nv_large", 32, 16), ("nv_full", 32, 8)))
            settings = (preset, f"cbuf.banks={r.randint(6, 14)}", f"cbuf.bank_depth={depth}")
            machine, layer = Machine(dlasim, Path(folder), settings), layer_of(r)
            planned = machine.run(layer, "--timing-only")
            if planned is None or "cut" not in planned["plan"] or "packing" in planned["plan"]:
                continue  # it fits, or no partition by whole groups does
            good = check(machine, layer, group, f"{seed} {' '.join(settings)}", "--verbose" in sys.argv)
            done += good is not None
            bad += good is False
    print(f"{count} layers, {bad} beyond {WITHIN}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
