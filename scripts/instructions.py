#!/usr/bin/env python3
"""Counts what builds of dlasim execute inside Machine::run.

usage: instructions.py OLD NEW [--name TEXT] [--only TEXT]
       instructions.py DLASIM --recorded FILE [--update] [--only TEXT]

All are binaries of dlasim; callgrind (valgrind) counts the instructions of the layers below with values, and of the networks below without.

Two binaries: prints a table of both. Work that a binary rejects has no figure. Both must take the same number of cycles: a difference
is an error.

One binary and recorded figures: nothing may take 3 % more instructions than recorded. Whoever makes it slower on purpose, or faster,
records it.

--name      what OLD is called in the table: its commit
--recorded  the figures to compare with: tests/data/instructions.json
--update    write them
--only      the work with this text in its name

Exit status 1 if cycles differ, NEW cannot run something, or something takes more than is recorded. Python standard library only.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path


MODELS = Path(__file__).resolve().parents[1] / "models"
MOST = 1.03  # times what is recorded
# name of the layer, hardware, memory; then networks
LAYERS = [
    ("resnet50_res3a_branch2b", "nv_full", "ideal"),
    ("resnet50_res3a_branch2b", "nv_large", "ideal"),
    ("resnet50_res3a_branch2b", "nv_full", "ddr4-3200"),
    ("resnet50_res2a_branch2c_add", "nv_full", "ideal"),
    ("mobilenet_v1_pw_14x14", "nv_full", "ideal"),
    ("squeezenet_fire2_expand3x3", "nv_small", "ideal"),
    ("alexnet_norm1", "nv_large", "ideal"),
    ("vgg16_pool1_112x112", "nv_large", "ideal"),
]
NETWORKS = [
    ("squeezenet_v1_1", "nv_large", "ideal"),
    ("mobilenet_v1", "nv_large", "ddr4-3200"),
    ("lenet5", "nv_small", "ideal"),
]


def descriptor(name, folder):
    """The layer's file: one of models/, or, with a size in its name, one of them with that size."""
    sized = re.fullmatch(r"(.*)_(\d+)x(\d+)", name)
    if (MODELS / f"{name}.json").exists() or not sized:
        return MODELS / f"{name}.json"
    layer = json.loads((MODELS / f"{sized[1]}.json").read_text())
    layer["input"] |= {"width": int(sized[2]), "height": int(sized[3])}
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps(layer))
    return path


def count(dlasim, name, hardware, memory):
    """Instructions and cycles of a run; None for both if the binary refuses the layer."""
    with tempfile.TemporaryDirectory() as folder:
        network = MODELS / "networks" / f"{name}.json"
        work = ["net", network, "--timing-only"] if network.exists() else ["run", descriptor(name, folder), "--no-tensors"]
        run = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=dlasim::Machine::run*",
                              f"--callgrind-out-file={folder}/callgrind", dlasim, *work, "--hw", hardware, "--memory", memory,
                              "--out", f"{folder}/out"], capture_output=True, text=True)
        if run.returncode != 0:
            return None, None
        collected = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
        if not collected or int(collected[1]) == 0:
            sys.exit(f"{dlasim}: callgrind has counted nothing in Machine::run; is the binary stripped?")
        result = next(Path(folder, "out").rglob("result.json"))
        return int(collected[1]), json.loads(result.read_text())["cycles"]


def compare_recorded(dlasim, path, update, only):
    """With what is recorded in a file; or writes it."""
    recorded = json.loads(path.read_text()) if path.exists() else {}
    failed = False
    for name, hardware, memory in LAYERS + NETWORKS:
        key = f"{name}, {hardware}, {memory}"
        if only not in key:
            continue
        instructions, cycles = count(dlasim.resolve(), name, hardware, memory)
        if instructions is None:
            sys.exit(f"{key}: {dlasim} refuses it")
        before = recorded.get(key, {"instructions": instructions, "cycles": cycles})
        change = 100 * (instructions / before["instructions"] - 1)
        print(f"{key}: {instructions:,} instructions, {change:+.1f} %, {cycles:,} cycles", flush=True)
        if update:
            recorded[key] = {"instructions": instructions, "cycles": cycles}
            continue
        if key not in recorded or cycles != before["cycles"] or instructions > MOST * before["instructions"]:
            print(f"  recorded: {recorded.get(key)}", file=sys.stderr)
            failed = True
    if update:
        path.write_text(json.dumps(recorded, indent=1) + "\n")
    if failed:
        print(f"if this is on purpose: scripts/instructions.py DLASIM --recorded {path} --update", file=sys.stderr)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?")
    parser.add_argument("--name", default="old")
    parser.add_argument("--recorded", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if (options.new is None) != (options.recorded is not None):
        parser.error("two binaries, or one and --recorded")
    if options.recorded:
        return compare_recorded(options.old, options.recorded, options.update, options.only)
    failed = False
    lines = [f"| layer, network | hardware, memory | {options.name}, millions | now, millions | |", "|---|---|---:|---:|---:|"]
    for name, hardware, memory in LAYERS + NETWORKS:
        if options.only not in name:
            continue
        (old, before), (new, after) = (count(dlasim.resolve(), name, hardware, memory) for dlasim in (options.old, options.new))
        if new is None or (old is not None and before != after):
            print(f"{name} on {hardware}: " + ("NEW refuses it" if new is None else f"{before} cycles, now {after}"), file=sys.stderr)
            failed = True
            continue
        figures = f"{old / 1e6:,.1f} | {new / 1e6:,.1f} | {100 * (new / old - 1):+.0f} %" if old else f"- | {new / 1e6:,.1f} | "
        lines.append(f"| `{name}` | {hardware}, {memory} | {figures} |")
        print(lines[-1], file=sys.stderr, flush=True)
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
