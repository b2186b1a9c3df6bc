"""What the experiments share: runs of dlasim, shapes of layers, tables with verdicts, what was published."""
import concurrent.futures
import functools
import json
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MACS = {"int8": 2048, "int16": 1024, "fp16": 1024}  # of nv_full, a cycle
options = None  # of the command: dlasim, jobs


def set_options(given):
    global options
    options = given


@functools.lru_cache(maxsize=None)
def workload(name):
    """A file of tests/data/workloads.tar.xz: a network layer by layer, or published figures."""
    with tarfile.open(ROOT / "tests/data/workloads.tar.xz") as archive:
        return json.load(archive.extractfile(f"workloads/{name}.json"))


@functools.lru_cache(maxsize=None)
def published():
    """Figures that are in no workload file, each with its source."""
    return json.loads(Path(__file__).with_name("published.json").read_text())


def network(name):
    return json.loads((ROOT / "models/networks" / f"{name}.json").read_text())


def as_compiled(made):
    """Tiled as NVIDIA's compiler tiles: as few tiles as possible. The default of dlasim is faster than the programs of boards."""
    return made | {"plan": {"minimise": "parts"}}


@functools.lru_cache(maxsize=None)
def _simulated(command, text, arguments, events):
    """(result.json, probes) of `dlasim COMMAND` on this descriptor; the same run is made once."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "descriptor.json")
        Path(path).write_text(text)
        line = [options.dlasim, command, path, "--quiet", "--out", folder, *arguments]
        line += ["--events", os.path.join(folder, "events.json")] if events else []
        run = subprocess.run(line, capture_output=True, text=True, timeout=900)
        if run.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)} {text[:400]}: {run.stderr.strip()}")
        probes = json.loads(Path(folder, "events.json").read_text())["probes"] if events else {}
        return json.loads(Path(folder, "result.json").read_text()), probes


def host_time(loadable, hw, cycles_per_write, interrupt_latency):
    """Cycles more of a compiler's file, of tests/data/loadables.tar.xz, with a host that takes its time."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(ROOT / "tests/data/loadables.tar.xz") as archive:
            Path(folder, loadable).write_bytes(archive.extractfile(f"loadables/{loadable}").read())
        took = []
        for host in ("cycles_per_write=0,interrupt_latency=0", f"cycles_per_write={cycles_per_write},interrupt_latency={interrupt_latency}"):
            subprocess.run([options.dlasim, "loadable", os.path.join(folder, loadable), "--hw", hw, "--cpu", host, "--quiet", "--timing-only",
                            "--out", folder], check=True, capture_output=True, timeout=900)
            took.append(json.loads(Path(folder, "result.json").read_text())["cycles"])
        return took[1] - took[0]


def machine(hw, memory="ideal", sets=(), values=False):
    """Arguments of a run: preset, memory, what is laid over the hardware."""
    sets = [word for one in sets for word in ("--set", one)]
    return ["--hw", hw, "--memory", memory, *sets, *([] if values else ["--timing-only"])]


class Run:
    """One layer through `dlasim run`."""

    def __init__(self, layer, hw="nv_full", values=False, events=False, memory="ideal", sets=()):
        text = json.dumps({"name": "experiment"} | layer)
        self.result, self.probes = _simulated("run", text, tuple(machine(hw, memory, sets, values)), events)
        self.cycles, self.macs = self.result["cycles"], self.result["macs"]
        self.units = self.result["units"]
        self.csc = self.units["csc"]["counters"]
        self.atoms = self.csc["atoms"]
        self.precision = self.result["layer"].get("precision", "int8")

    def occupancy(self):
        """Useful products of the products that the array could make in its MAC cycles."""
        return self.macs / (self.atoms * MACS[self.precision])

    def window(self):
        probe = self.probes["sc2mac_dat_a"]
        return probe["last"] - probe["first"] + 1

    def steady(self):
        """MAC cycles of the window, without the last stripe on both sides: no part of an interval counts."""
        stripe = self.csc["longest_stripe"]
        return (self.atoms - stripe) / (self.window() - stripe)

    def bound(self):
        return max(cycles for name, cycles in self.result["bounds"].items() if name != "largest")


class Net:
    """A network through `dlasim net`, its tensors in DRAM unless with `cvsram`, its input as features; `apart`: every step by itself too."""

    def __init__(self, network, hw="nv_full", memory="ideal", sets=(), apart=False, more=(), cvsram=False):
        arguments = [*machine(hw, memory, sets), *([] if cvsram else ["--no-cvsram"]), "--no-pixels", *(["--layers", "apart"] if apart else []), *more]
        self.result, _ = _simulated("net", json.dumps(network), tuple(arguments), False)
        self.cycles, self.steps = self.result["cycles"], self.result["steps"]

    def step(self, name):
        """The step that has this layer."""
        return next(s for s in self.steps if name in s["layers"])


def at_once(calls):
    """Results of functions without arguments, --jobs of them at a time."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(lambda call: call(), calls))


def layer(width, height, channels, kernels, kernel=(1, 1), pad=0, precision="int8", **more):
    entry = {"input": {"width": width, "height": height, "channels": channels, "batch": more.pop("batch", 1)},
             "kernel": {"width": kernel[0], "height": kernel[1], "count": kernels}, "precision": precision}
    if pad:
        entry["pad"] = pad if isinstance(pad, dict) else dict.fromkeys(("left", "right", "top", "bottom"), pad)
    return entry | more


def runs(layers, **how):
    return at_once([lambda entry=entry: Run(entry, **how) for entry in layers])


def percent(x):
    return f"{100 * x:.2f} %"


class Table:
    """Rows of text; below them one line a verdict or remark. `missed`: verdicts that do not hold."""

    def __init__(self, *heads, texts=0):
        """`texts`: number of columns from the left that are words."""
        self.heads, self.texts, self.rows, self.missed, self.below = heads, texts, [], [], []

    def row(self, *cells):
        self.rows.append([str(c) for c in cells])

    def expect(self, holds, what):
        self.below.append(f"{what}: {'holds' if holds else '**missed**'}.")
        if not holds:
            self.missed.append(what)

    def say(self, what):
        self.below.append(what)

    def text(self):
        lines = ["| " + " | ".join(self.heads) + " |", "|" + "---|" * self.texts + "---:|" * (len(self.heads) - self.texts)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines + [""] + self.below)
