#!/usr/bin/env python3
"""Random convolutions with a pooling on the way, in parts: every value right, no hazard, no danger that lint knows.

usage: pooled_parts.py DLASIM FIRST COUNT

Each layer is cut by hand into rows, columns and kernels, and by the planner for parts, cycles and both, on buffers that are too small for
most of them. The cut that the planner names takes the same cycles when it is given back. Exits 1 if one does not hold, or if a kind of
cut did not occur.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MACHINES = (("nv_small", "cbuf.bank_depth=64"), ("nv_small", "cbuf.bank_depth=128"), ("nv_large", "cbuf.bank_depth=32"), ("nv_full", "cbuf.bank_depth=16"))


def window(r, kernel, stride):
    pad = {side: r.randint(0, (kernel - 1) // 2) for side in ("left", "right", "top", "bottom")}
    return {"kernel": {"width": kernel, "height": kernel}, "stride": {"x": stride, "y": stride}, "pad": pad}


def layer_of(r):
    kernel, stride = r.choice((1, 3, 3, 5)), r.choice((1, 1, 2))
    layer = {"input": {"width": r.randint(12, 60), "height": r.randint(12, 40), "channels": r.choice((3, 8, 16, 24, 32))},
             "kernel": {"width": kernel, "height": kernel, "count": r.choice((8, 16, 24, 40, 64))}, "stride": {"x": stride, "y": stride},
             "pad": {side: kernel // 2 for side in ("left", "right", "top", "bottom")},
             "bias": True, "activation": "relu", "data": {"seed": r.randint(1, 1000)},
             "post": {"output": {"shift": 10}, "pool": {"function": r.choice(("max", "max", "min", "average")),
                                                        **window(r, *r.choice(((2, 2), (2, 2), (3, 2), (3, 2), (3, 1), (2, 1), (5, 3))))}}}
    if r.random() < 0.2:
        layer["input"].update(channels=4, format="T_A8B8G8R8")
    return layer


class Runner:
    def __init__(self, dlasim, folder):
        self.dlasim, self.folder, self.bad = dlasim, folder, 0

    def run(self, layer, machine):
        """The result; None if it is refused."""
        (self.folder / "layer.json").write_text(json.dumps(layer))
        done = subprocess.run([self.dlasim, "run", str(self.folder / "layer.json"), "--hw", machine[0], "--set", machine[1], "--quiet", "--no-tensors",
                               "--hazards", "--out", str(self.folder / "out")], capture_output=True, text=True)
        if done.returncode == 2:
            return None
        result = json.loads((self.folder / "out" / "result.json").read_text()) if done.returncode == 0 else {}
        if not result.get("verified") or result.get("hazards", {}).get("found", 0) != 0:
            self.bad += 1
            print(f"{machine}: {json.dumps(layer)}: status {done.returncode}, {done.stdout}{done.stderr}", flush=True)
        return result


def main():
    dlasim, first, count = str(Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3])
    seen = {"rows": 0, "columns": 0, "kernels": 0, "refused": 0, "whole": 0}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(dlasim, Path(folder))
        for seed in range(first, first + count):
            r = random.Random(seed)
            machine, layer = r.choice(MACHINES), layer_of(r)
            group = 8 if machine[0] == "nv_small" else 32
            by_hand = {"rows": r.randint(1, 8), "reuse_data": r.random() < 0.7, "reuse_weights": r.random() < 0.5}
            if r.random() < 0.5:
                by_hand["columns"] = r.randint(2, 12)
            if r.random() < 0.4:
                by_hand["kernels"] = group
            for cut in ({"partition": by_hand}, {"partition": "auto"}, {"plan": {"minimise": "cycles"}}, {"plan": {"minimise": "balanced"}}):
                result = runner.run({**layer, **cut}, machine)
                if result is None:
                    seen["refused"] += 1
                    continue
                partition = result.get("plan", {}).get("partition")
                if partition is None:
                    seen["whole"] += 1
                    continue
                for way in ("rows", "columns", "kernels"):
                    seen[way] += way in partition
                again = runner.run({**layer, "partition": partition}, machine)
                if again is None or again.get("cycles") != result["cycles"]:
                    runner.bad += 1
                    print(f"{machine}: {json.dumps(layer)}: {partition} given back takes other cycles", flush=True)
    print(f"{count} layers: {seen}, {runner.bad} wrong")
    return 1 if runner.bad or not all(seen[way] for way in ("rows", "columns", "kernels", "whole")) else 0


if __name__ == "__main__":
    sys.exit(main())
