#!/usr/bin/env python3
"""Networks given as tables of layers, as files under models/networks (docs/NETWORK.md).

usage: import_networks.py FOLDER [OUT]       FOLDER has one JSON file a network: layers with in, kernel, stride, pad, out
"""
import json
import sys
from pathlib import Path

OPS = {"conv": "conv2d", "deconv": "deconv2d", "fc": "fully_connected", "pool": "pool", "eltwise": "add", "lrn": "lrn",
       "concat": "concat", "upsample": "upsample"}
SIDES = ("left", "right", "top", "bottom")


def shape(s):
    return {"width": s["w"], "height": s["h"], "channels": s.get("c", s.get("k"))}


def macs(layer):
    if layer["op"] not in ("conv", "deconv", "fc"):
        return 0
    size, place = layer["kernel"], layer["in" if layer["op"] == "deconv" else "out"]
    return size["w"] * size["h"] * layer["in"]["c"] // layer["groups"] * layer["out"]["k"] * place["w"] * place["h"]


def padding(layer):
    """Columns and rows that no window reaches (-1) need no word: shapes are rounded down."""
    return {side: layer["pad"][side] for side in SIDES if layer["pad"][side] > 0}


def window(layer):
    pool = {"function": {"max": "max", "avg": "average"}[layer["pool"]], "kernel": {"width": layer["kernel"]["w"], "height": layer["kernel"]["h"]},
            "stride": layer["stride"]}
    pad = padding(layer)
    if pad:
        pool["pad"] = pad
    if layer.get("count_include_pad"):
        pool["count_include_pad"] = 1
    return pool


def one(layer):
    op = OPS[layer["op"]]
    out = {"name": layer["name"], "op": op}
    if layer.get("standalone"):
        out["input"] = shape(layer["in"])
    else:
        out["inputs"] = layer["inputs"]
    if op == "pool":
        out["pool"] = window(layer)
    elif op == "lrn":
        out["lrn"] = {"size": layer["local_size"], "alpha": layer["alpha"], "beta": layer["beta"]}
    elif op == "upsample":
        out["factor"] = layer["stride"]
    elif op in ("conv2d", "deconv2d", "fully_connected"):
        out["kernel"] = {"width": layer["kernel"]["w"], "height": layer["kernel"]["h"], "count": layer["out"]["k"]}
        for key, plain in (("stride", {"x": 1, "y": 1}), ("dilation", {"x": 1, "y": 1})):
            if layer[key] != plain:
                out[key] = layer[key]
        pad = padding(layer)
        if pad:
            out["pad"] = pad
        if layer["groups"] != 1:
            out["groups"] = layer["groups"]
        out["bias"] = bool(layer["bias"])
        if layer.get("bn"):
            out["bias"] = out["normalised"] = True
    if layer["activation"] != "none":
        out["activation"] = layer["activation"]
    out["output"] = shape(layer["out"])
    return out


def text(network):
    """A layer a line."""
    head = {key: network[key] for key in network if key != "layers"}
    lines = [json.dumps(layer) for layer in network["layers"]]
    return json.dumps(head, indent=2, ensure_ascii=False)[:-2] + ',\n  "layers": [\n    ' + ",\n    ".join(lines) + "\n  ]\n}\n"


def main():
    source, out = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parents[1] / "models/networks")
    for file in sorted(source.glob("*.json")):
        facts = json.loads(file.read_text())
        if not isinstance(facts.get("layers"), list) or "op" not in facts["layers"][0] or "input" not in facts:
            continue  # no network
        network = {key: facts[key] for key in ("name", "source", "note") if key in facts}
        network["macs"] = sum(macs(layer) for layer in facts["layers"])
        if not all(layer.get("standalone") for layer in facts["layers"]):
            network["input"] = shape(facts["input"])
        network["layers"] = [one(layer) for layer in facts["layers"]]
        (out / file.name).write_text(text(network))


if __name__ == "__main__":
    main()
