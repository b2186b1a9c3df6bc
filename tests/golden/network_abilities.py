#!/usr/bin/env python3
"""Random networks of what the planner can do beyond single layers: every value right, no hazard, no rule broken.

usage: network_abilities.py DLASIM FIRST COUNT

  pooled   convolutions in tiles with a pooling on the way, 2 x 2 and 3 x 3, rows and columns left over
  joined   a concatenation that is pooled part by part
  depth    depthwise convolutions of three rows, strides 1 and 2, with and without padding below
  pixels   a first layer of pixels with rows that do not fill what the array takes at once, pooled, in tiles
  beside   a pooling of its own beside the convolutions of an inception module
  rows     a normalisation and a pooling from memory that follow the convolution before them row by row
  banks    blocks of a residual network: steps with banks in common, of two convolutions that are added the older input first
  siblings convolutions alike of one input, joined to one step or not, read by others
  kernels  fully connected layers whose groups of kernels do not fit: tiles of nearly equal parts of an atom, put together

One kind after the other, on buffers that are too small for most layers. Exits 1 if one does not hold.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = ("pooled", "joined", "depth", "pixels", "beside", "rows", "banks", "kernels", "siblings")
MACHINES = (("nv_small", 64), ("nv_small", 512), ("nv_large", 32), ("nv_large", 512), ("nv_full", 16), ("nv_full", 256))


class Maker:
    def __init__(self, seed, kind):
        self.r, self.layers, self.kind = random.Random(seed), [], kind

    def add(self, op, source=None, **keys):
        name = f"l{len(self.layers)}"
        self.layers.append({"name": name, "op": op, **({"inputs": source if isinstance(source, list) else [source]} if source else {}), **keys})
        return name

    def conv(self, count, kernel=None, source=None, **keys):
        kernel = kernel or self.r.choice((1, 3, 3, 5))
        keys = {"stride": {"x": 1, "y": 1}, "pad": {side: kernel // 2 for side in ("left", "right", "top", "bottom")}, **keys}
        return self.add("conv2d", source, kernel={"width": kernel, "height": kernel, "count": count}, bias=True, activation="relu", **keys)

    def pool(self, source=None, kernel=None, stride=2):
        kernel = kernel or self.r.choice((2, 3))
        pads = [self.r.randint(0, kernel // 2) for _ in range(4)] if stride == 2 else [kernel // 2] * 4
        return self.add("pool", source, pool={"function": self.r.choice(("max", "max", "average")), "kernel_shape": [kernel] * 2,
                                              "strides": [stride] * 2, "pads": pads, "count_include_pad": 1})

    def depthwise(self, channels):
        stride = self.r.choice((1, 1, 2))
        pad = {"left": 1, "right": 1, "top": self.r.randint(0, 1), "bottom": self.r.randint(0, 1)}
        return self.add("conv2d", kernel={"width": 3, "height": 3, "count": channels}, groups=channels, stride={"x": stride, "y": stride}, pad=pad,
                        bias=True, activation="relu")

    def network(self):
        r, channels = self.r, self.r.choice((8, 16, 32))
        shape = {"width": r.randint(14, 40), "height": r.randint(14, 40), "channels": channels}
        if self.kind == "pooled":
            for _ in range(r.randint(1, 2)):
                self.conv(r.choice((16, 32, 48)))
                self.pool()
            self.conv(16, 1)
        elif self.kind == "joined":
            stem = self.conv(r.choice((8, 16)), 1)
            parts = [self.conv(r.choice((16, 32, 64)), kernel, stem) for kernel in (1, 3)]
            whole = self.add("concat", parts)
            self.pool(whole)
            self.conv(16, 1)
        elif self.kind == "depth":
            for _ in range(r.randint(1, 3)):
                channels = r.choice((16, 32, 64, 72))
                self.conv(channels, 1)
                self.depthwise(channels)
            self.conv(16, 1)
        elif self.kind == "pixels":
            shape = {"width": r.randint(30, 70), "height": r.randint(30, 70), "channels": r.choice((1, 3, 4))}
            self.conv(r.choice((16, 32)), r.choice((3, 5, 7)), stride={"x": 2, "y": 2} if r.random() < 0.6 else {"x": 1, "y": 1})
            if r.random() < 0.7:
                self.pool()
            self.conv(16, 1)
        elif self.kind == "rows":
            shape = {"width": r.randint(24, 40), "height": r.randint(24, 40), "channels": channels}
            for _ in range(r.randint(1, 2)):
                made = self.conv(r.choice((64, 96)))
                made = self.add("lrn", made, lrn={"size": r.choice((3, 5, 7, 9)), "alpha": 0.0001, "beta": 0.75})
                if r.random() < 0.7:
                    made = self.pool(made)
            self.conv(16, r.choice((1, 3)))
        elif self.kind == "banks":
            made = self.conv(channels, 1)
            for _ in range(r.randint(1, 3)):
                inner = self.conv(channels, 3, self.conv(channels, 1, made))
                beside = self.conv(channels, 1, made) if r.random() < 0.5 else made
                made = self.add("add", [inner, beside], activation="relu")
            self.conv(16, 1)
        elif self.kind == "siblings":
            stem, kernel = self.conv(channels), r.choice((1, 1, 3))
            parts = [self.conv(r.choice((16, 32, 64, 96)), kernel, stem) for _ in range(r.randint(1, 3))] + [self.conv(r.randint(3, 40), kernel, stem)]
            read = [self.conv(24, r.choice((1, 3)), part) if r.random() < 0.7 else part for part in parts]
            self.add("concat", read)
            self.conv(16, 1)
        elif self.kind == "kernels":
            shape = {"width": r.randint(5, 8), "height": r.randint(5, 8), "channels": r.choice((64, 160, 256))}
            if r.random() < 0.5:
                self.conv(shape["channels"], 1)
            self.add("fully_connected", kernel={"count": r.randint(20, 100)}, bias=True, activation="relu")
            self.add("fully_connected", kernel={"count": r.randint(5, 20)}, bias=True)
        else:
            stem = self.conv(32, 1)
            parts = [self.conv(16, 1, stem), self.conv(16, 3, stem), self.conv(16, 1, self.pool(stem, 3, 1))]
            self.add("concat", parts)
            self.conv(16, 3)
        return {"name": self.kind, "input": shape, "layers": self.layers}


def main():
    dlasim, first, count = str(Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3])
    bad = ran = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(first, first + count):
            network = Maker(seed, KINDS[seed % len(KINDS)]).network()
            machine, depth = random.Random(seed).choice(MACHINES)
            (folder / "network.json").write_text(json.dumps(network))
            done = subprocess.run([dlasim, "net", str(folder / "network.json"), "--hw", machine, "--set", f"cbuf.bank_depth={depth}", "--quiet", "--hazards",
                                   "--out", str(folder / "out")], capture_output=True, text=True)
            ran += done.returncode != 2
            if done.returncode == 2 and "does not fit" in done.stderr:
                continue
            result = json.loads((folder / "out" / "result.json").read_text()) if done.returncode == 0 else {}
            steps = result.get("steps", [])
            lrn = [i for i, step in enumerate(steps) if step["unit"] == "cdp"]
            if result and network["name"] == "rows" and not (lrn[0] > 0 and steps[lrn[0]]["operations"] > 1):
                bad += 1
                print(f"{seed} {machine} {depth}: a normalisation is one operation: {json.dumps(network)}", flush=True)
            if not result.get("verified") or result.get("hazards", {}).get("found", 1) != 0 or result["hazards"]["rules"]["broken"] != 0:
                bad += 1
                print(f"{seed} {machine} {depth}: status {done.returncode}: {done.stderr}{done.stdout}: {json.dumps(network)}", flush=True)
    print(f"{count} networks, {ran} ran, {bad} wrong")
    return 1 if bad or ran < count * 2 // 3 else 0


if __name__ == "__main__":
    sys.exit(main())
