#!/usr/bin/env python3
"""Descriptors of loadables drawn at random: dlasim's register program is that of the specification's model, docs/hardware/models/loadable.py.

usage: cross_check_loadables.py --dlasim PATH [--count N] [--seed K] [--jobs N] FOLDER

A file of the folder gets other numbers in some fields of an operation, its surfaces or a lookup table; files of one operation also become
files of BDMA and Rubik. What dlasim refuses is counted by its reason, and printed with --reasons; what it takes is compared with the
model's program, entry by entry. Exit status 1 if a program differs, or if dlasim takes what the model refuses.
"""
import argparse
import collections
import concurrent.futures
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs/hardware/models"))
import loadable as model  # noqa: E402

MODES = ("serial", "overlap")  # what driver does depends on what it reads: tests/cli/driver_mode_test.py
SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 32, 33, 36, 63, 64, 96, 128, 255, 256, 1024)
LARGEST = 60_000  # bytes of a file that is drawn from


def hardware_of(path):
    return next((hw for hw in ("nv_small", "nv_large") if path.stem.endswith((hw, hw.replace("nv", "", 1)))), "nv_full")


def fields(layout, at=0):
    """(path, struct code, offset) of every number of a layout."""
    found = []
    for name, code in layout:
        if name == "pad":
            at += code
        elif isinstance(code, list):
            inner = fields(code, at)
            found += [(f"{name}.{path}", c, o) for path, c, o in inner]
            at += model.size_of(code)
        else:
            found.append((name, code, at))
            at += struct.calcsize("<" + code)
    return found


class File:
    """A loadable whose descriptors can be written to."""

    def __init__(self, path):
        self.data = bytearray(path.read_bytes())
        self.read = model.Loadable(bytes(self.data))
        task = next(t for t in self.read.tasks if t["interface"] == model.DLA)
        self.task, self.machine = task, model.Machine(self.read)
        self.network = model.Network(self.machine, task)
        self.version = self.machine.version_of(task, 0)

    def blob_at(self, index):
        """Position in the file of the bytes of an entry of the address list."""
        entry = self.read.addresses[self.task["addresses"][index]]
        memory = next(m for m in self.read.memories if m["id"] == entry["memory"])
        for name, offset in zip(memory["contents"], memory["offsets"]):
            if offset <= entry["offset"] < offset + self.read.blobs[name]["size"]:
                content = self.read.blobs[name]["data"]
                at = bytes(self.data).find(content)
                if at < 0 or not content:
                    raise ValueError(name)
                return at + entry["offset"] - offset
        raise ValueError("no blob")

    def put(self, at, code, value):
        size = struct.calcsize("<" + code)
        self.data[at:at + size] = (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def places_of(self, operation):
        """Fields of an operation: name, code, place in the file, value."""
        kind, i, d = operation["type"], operation["index"], self.network.descriptor
        surface = model.SURFACE_LAYOUT[kind] if self.version >= (0, 12, 0) else model.older(model.SURFACE_LAYOUT[kind])
        parts = [(model.OP_LAYOUT[kind], self.blob_at(d["operations"]) + i * model.OP_BYTES),
                 (surface, self.blob_at(d["surfaces"]) + i * model.SURFACE_BYTES)]
        if d["num_luts"] > 0:
            parts.append((model.LUT, self.blob_at(d["luts"]) + (i % d["num_luts"]) * model.LUT_BYTES))
        places = []
        for layout, base in parts:
            for name, code, at in fields(layout):
                if len(code) > 1:
                    count, code = int(code[:-1]), code[-1]
                    at += struct.calcsize("<" + code) * random.Random(name).randrange(count)
                places.append((name, code, base + at))
        return places

    def become(self, kind, rng):
        """The only operation becomes one of BDMA (0) or Rubik (5)."""
        d, operation = self.network.descriptor, self.network.operations[0]
        dst = operation["surface"]["dst"]
        graph = self.blob_at(d["dependencies"])
        self.put(graph + 3, "B", kind)
        heads = self.blob_at(0) + next(at for name, _, at in fields(model.NETWORK) if name == "heads")
        for k in range(6):
            self.put(heads + 2 * k, "h", 0 if k == kind else -1)
        ops, surfaces = self.blob_at(d["operations"]), self.blob_at(d["surfaces"])
        for at in range(ops, ops + model.OP_BYTES):
            self.data[at] = 0
        for at in range(surfaces, surfaces + model.SURFACE_BYTES):
            self.data[at] = 0
        names = {name: (surfaces + at, code) for name, code, at in fields(model.SURFACE_LAYOUT[kind])}

        def set_surface(**values):
            for name, value in values.items():
                at, code = names[name.replace("__", ".")]
                self.put(at, code, value)
        memories = [operation["surface"]["src"]["address"], dst["address"]]
        if kind == 0:
            transfers = rng.randrange(1, 4)
            self.put(ops, "H", transfers)
            set_surface(num_transfers=transfers, source_type=rng.randrange(2), destination_type=0)
            for t in range(transfers):
                lines, surf = rng.randrange(1, 4), rng.randrange(1, 3)
                size = 32 * rng.randrange(1, 4)
                set_surface(**{f"transfer{t}__{k}": v for k, v in dict(
                    source=memories[0], destination=memories[1], line_size=size, line_repeat=lines, source_line=size, destination_line=size,
                    surface_repeat=surf, source_surface=size * lines, destination_surface=size * lines).items()})
        else:
            w, h, mode, stride = rng.randrange(1, 4), rng.randrange(1, 3), rng.randrange(3), rng.randrange(1, 3)
            for at, value in enumerate((mode, rng.randrange(3), stride, stride)):
                self.put(ops + at, "B", value)
            out = 32
            inside = out * stride * stride if mode == 0 else out
            for cube, address, cw, ch, cc in (("src", memories[0], w, h, inside), ("dst", memories[1], w * stride if mode == 0 else w,
                                                                                 h * stride if mode == 0 else h, out)):
                line = 32 * cw
                set_surface(**{f"{cube}__{k}": v for k, v in dict(type=0, address=address, offset=0, size=line * ch * 4, width=cw, height=ch,
                                                                 channel=cc, line_stride=line, surf_stride=line * ch,
                                                                 plane_stride=line * ch).items()})


def described(text):
    """Entries of the register program that --describe prints."""
    lines = text.partition("register program\n")[2].splitlines()
    entries = [line.split()[1:] for line in lines if line.strip()]  # without their numbers
    return [tuple(e[1:3]) if e[0].startswith("0x") else ("MARK", "t0") if e == ["t0"] else ("WAIT_INTR", e[2].rstrip(",")) for e in entries]


def drawn(path, rng):
    file = File(path)
    moved = None
    if len(file.network.operations) == 1 and file.version >= (0, 12, 0) and rng.random() < 0.3:
        moved = rng.choice((0, 5))
        file.become(moved, rng)
        operation = dict(file.network.operations[0], type=moved)
    else:
        operation = rng.choice(file.network.operations)
    changed = []
    places = file.places_of(operation)
    for _ in range(rng.choice((0, 1, 1, 2)) if moved is not None else rng.choice((1, 1, 2, 3))):
        name, code, at = rng.choice(places)
        now = struct.unpack_from("<" + code, file.data, at)[0]
        value = rng.choice((now + 1, now - 1, now * 2, now // 2, 1 - now if now in (0, 1) else now ^ 1, rng.choice(SMALL), rng.choice(SMALL),
                            rng.randrange(1 << 8 * struct.calcsize(code))))
        file.put(at, code, value)
        changed.append(f"{name}: {now} -> {value}")
    return bytes(file.data), f"{'BDMA' if moved == 0 else 'RUBIK' if moved == 5 else operation['kind']} {', '.join(changed)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dlasim", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--reasons", action="store_true")
    options = parser.parse_args()
    good = [path for path in sorted(options.folder.rglob("*.nvdla")) if path.stat().st_size <= LARGEST]
    if not good:
        sys.exit(f"{options.folder}: no loadables")

    def one(number):
        rng = random.Random(options.seed * 1_000_003 + number)
        start, mode = rng.choice(good), rng.choice(MODES)
        data, what = drawn(start, rng)
        with tempfile.TemporaryDirectory(prefix="dlasim_drawn_") as folder:
            path = Path(folder) / start.name
            path.write_bytes(data)
            done = subprocess.run([options.dlasim, "loadable", str(path), "--hw", hardware_of(start), "--mode", mode, "--describe"],
                                  capture_output=True, text=True, timeout=120)
            label = f"{number} {start.name} {mode} {what}"
            try:
                wanted, *_ = model.build_case(str(path), hardware_of(start), mode=mode, seed=1)
            except (ValueError, IndexError, struct.error, KeyError, OverflowError, ZeroDivisionError, TypeError) as error:
                return ("refused by both", label) if done.returncode == 2 else ("differs", f"{label}: the model refuses: {error!r}; {done.stderr}")
            if done.returncode == 2:
                return "refused", f"{label}: {done.stderr.strip()}"
            if done.returncode != 0:
                return "differs", f"{label}: status {done.returncode}: {done.stderr.strip()}"
            have = described(done.stdout)
            want = [(name, str(value) if isinstance(value, str) else f"0x{value:08x}") for name, value in wanted["program"]]
            if have == want:
                return "equal", label
            at = next((i for i, (a, b) in enumerate(zip(have, want)) if a != b), min(len(have), len(want)))
            return "differs", f"{label}: entry {at}: {have[at:at + 1]}, the model: {want[at:at + 1]}"

    counts, reasons, failed = collections.Counter(), collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome, said in pool.map(one, range(options.count)):
            counts[outcome] += 1
            if outcome == "refused":
                reasons[re.sub(r"0x[0-9a-f]+|-?\d+", "N", said.partition("dlasim: ")[2].partition(": ")[2])] += 1
            if outcome == "differs":
                failed += 1
                print(said, flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    if options.reasons:
        for reason, count in reasons.most_common():
            print(f"{count:6} {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
