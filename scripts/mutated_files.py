#!/usr/bin/env python3
"""Runs mutated loadables and ONNX models: each is refused or runs, a loadable with other values if it breaks
the rules of software, or the machine says why it hangs - within time and memory.

usage: mutated_files.py --dlasim PATH [--count N] [--seed K] [--jobs N] [--seconds S] [--megabytes M] [--keep DIR] FOLDER

A mutation changes bytes: single bits, bytes, 16- and 32-bit words to values that mean something, pieces moved, the end cut off. Models are
changed as messages, mostly: numbers, names, nodes and attributes become others, vanish or are repeated. Files that fail - a signal, an unknown
status, a defect of the simulator, too much time or memory - are kept. Exit status 1 if there is one.
"""
import argparse
import collections
import concurrent.futures
import copy
import random
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TELLING = [0, 1, 2, 3, 7, 8, 16, 31, 32, 36, 37, 64, 127, 128, 255, 256, 4095, 4096, 8191, 8192, 32767, 32768, 65535, 1 << 16, 1 << 20, 1 << 30,
           (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
LARGEST = 100_000  # bytes of a file that mutations start from
MACHINES = ("nv_small", "nv_large", "nv_full")
FINE = ("ran", "differs", "refused", "machine")


def changed_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if len(data) < 8:
            break
        at = rng.randrange(len(data) - 4)
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            at &= ~1
            data[at:at + 2] = (rng.choice(TELLING) & 0xffff).to_bytes(2, "little")
        elif kind == 3:
            at &= ~3
            data[at:at + 4] = rng.choice(TELLING).to_bytes(4, "little")
        elif kind == 4:
            length, to = rng.randrange(1, 64), rng.randrange(len(data) - 4)
            piece = data[at:at + length]
            data[to:to + len(piece)] = piece
        elif rng.randrange(8) == 0:
            del data[at:]
    return bytes(data)


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 128:
            return value, at


class Message:
    """A message as protobuf writes it, of any schema: its fields are [number, wire type, value], a value that is a message is one of these."""

    def __init__(self, data):
        self.fields = []
        at = 0
        while at < len(data):
            key, at = read_varint(data, at)
            wire = key & 7
            if key >> 3 == 0 or key >> 3 > 64:
                raise ValueError
            if wire == 0:
                value, at = read_varint(data, at)
            elif wire == 2:
                length, at = read_varint(data, at)
                value, at = data[at:at + length], at + length
            elif wire in (1, 5):
                length = 8 if wire == 1 else 4
                value, at = data[at:at + length], at + length
            else:
                raise ValueError
            if at > len(data):
                raise IndexError
            self.fields.append([key >> 3, wire, value])
        for field in self.fields:
            if field[1] == 2 and 1 < len(field[2]) and not field[2].isascii() or field[1] == 2 and field[2][:1] in (b"\n", b"\x08", b"\x12"):
                try:
                    field[2] = Message(field[2])
                except (ValueError, IndexError):
                    pass

    def bytes(self):
        out = b""
        for number, wire, value in self.fields:
            value = value.bytes() if isinstance(value, Message) else value
            out += varint(number << 3 | wire) + (varint(value) if wire == 0 else varint(len(value)) + value if wire == 2 else value)
        return out

    def places(self):
        """(message, index) of every field below."""
        for index, (_, _, value) in enumerate(self.fields):
            yield self, index
            if isinstance(value, Message):
                yield from value.places()


def changed_message(data, rng):
    message = Message(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(message.places())
        holder, index = rng.choice(places)
        number, wire, value = field = holder.fields[index]
        kind = rng.randrange(8)
        others = [m.fields[i] for m, i in places if m.fields[i][:2] == [number, wire]]
        if kind == 0:
            del holder.fields[index]
        elif kind == 1:
            holder.fields.insert(rng.randrange(len(holder.fields) + 1), copy.deepcopy(field))
        elif kind == 2:
            rng.shuffle(holder.fields)
        elif wire == 0 and kind < 6:
            field[2] = rng.choice((value + 1, max(value - 1, 0), rng.choice(TELLING), rng.randrange(16), (1 << 64) - 1, value * 2))
        elif wire == 5 and kind < 6:
            field[2] = rng.choice((b"\0\0\0\0", b"\0\0\x80\x7f", b"\0\0\xc0\x7f", b"\0\0\0\x80", rng.randbytes(4)))
        elif isinstance(value, bytes) and wire == 2 and kind == 3:
            field[2] = changed_bytes(value, rng)
        else:
            field[2] = copy.deepcopy(rng.choice(others)[2])
    return message.bytes()


def mutated(path, rng):
    data = path.read_bytes()
    return changed_message(data, rng) if path.suffix == ".onnx" and rng.randrange(8) else changed_bytes(data, rng)


def command_of(dlasim, start, path, rng):
    if path.suffix == ".onnx":
        hardware = rng.choice(MACHINES)
        half = hardware == "nv_full" and rng.randrange(3) == 0
        return [dlasim, "net", path, "--hw", hardware, *(("--precision", "fp16") if half else ())]
    return [dlasim, "loadable", path, "--hw", next((hw for hw in MACHINES if start.stem.endswith((hw, hw.replace("nv", "", 1)))), "nv_full")]


def run(command, seconds, megabytes):
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds, preexec_fn=limits, errors="replace")
    except subprocess.TimeoutExpired:
        return "too slow", ""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "too slow", ""
    message = (done.stderr.strip().splitlines() or [""])[0]
    if done.returncode not in (0, 1, 2, 3) or (done.returncode > 1 and not message):
        return f"status {done.returncode}", done.stderr[-300:]
    if "expectation" in done.stderr or "bad_alloc" in done.stderr:
        return "defect", done.stderr[-300:]
    if done.returncode in (1, 3) and command[1] == "net":  # the program is dlasim's own
        return "defect", done.stdout[-300:] + done.stderr[-300:]
    return FINE[done.returncode] if done.returncode < 2 else ("refused", "machine")[done.returncode - 2], message


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dlasim", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="of the processor")
    parser.add_argument("--megabytes", type=int, default=3000)
    parser.add_argument("--keep", type=Path, default=Path("."))
    options = parser.parse_args()
    good = [path for path in sorted(options.folder.rglob("*")) if path.suffix in (".nvdla", ".onnx") and path.stat().st_size <= LARGEST]
    if not good:
        sys.exit(f"{options.folder}: no loadables and no models")
    counts, reasons, failed = collections.Counter(), collections.Counter(), []

    def one(number):
        rng = random.Random(options.seed * 1_000_003 + number)
        start = rng.choice(good)
        with tempfile.TemporaryDirectory(prefix="dlasim_mutated_") as folder:
            path = Path(folder) / start.name
            path.write_bytes(mutated(start, rng))
            command = [*command_of(options.dlasim, start, path, rng), "--out", str(Path(folder) / "out"), "--quiet"]
            outcome, message = run(command, options.seconds, options.megabytes)
            if outcome not in FINE:
                options.keep.mkdir(parents=True, exist_ok=True)
                kept = options.keep / f"mutated_{options.seed}_{number}_{start.name}"
                kept.write_bytes(path.read_bytes())
                return outcome, f"{kept}: {' '.join(map(str, command[3:-3]))}: {outcome}: {message}"
            return outcome, message

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome, message in pool.map(one, range(options.count)):
            counts[outcome] += 1
            if outcome == "machine":
                reasons[message.partition(": ")[2][-60:]] += 1
            if outcome not in FINE:
                failed.append(message)
                print(message, flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    for reason, count in reasons.most_common():
        print(f"{count:6} {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
