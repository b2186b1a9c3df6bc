"""What needs no run of a layer: area, bounds of traffic, a DRAM by itself; and suites of runs."""

import json
import os
import subprocess
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from . import command
from .results import Result, Text, table
from .runs import _file_of
from .describe import Layer


def silicon(hw="nv_full", set=None, *, technology=None, of=None):
    """Area and power of a machine, unit by unit: a dict as docs/howto/CHOOSE.md has it.

    technology  45nm, 28nm, 16nm or a file
    of          a Result, or its result.json: its machine, and the energy of what it did; hw and set are not looked at then
    """
    words = command.words_of(hw, None, set) if of is None else ["--of", of.folder / "result.json" if isinstance(of, Result) else of]
    words += ["--technology", technology] if technology is not None else []
    return json.loads(command.call("silicon", *words, "--json")[0])


def bound(layers, chip, *, batch=None, word=2):
    """The least traffic of convolutions on a chip that holds ``chip`` KiB (or "1.5MiB", or a list of sizes): a dict for each size.

    layers  a Layer, a dict of its keys or of {"layers": [..]}, or a file
    batch   images, in place of the layers'; word: bytes of an element
    """
    chips = command.plain(chip)
    with tempfile.TemporaryDirectory(prefix="dlasim-") as folder:
        words = ["--batch", batch] if batch is not None else []
        for size in chips if isinstance(chips, (list, tuple)) else [chips]:
            words += ["--chip", size]
        return json.loads(command.call("bound", _file_of(layers, folder, Layer), *words, "--word", word, "--json")[0])


def dram(preset="ddr4-2400", pattern="sequential", *, cycles=100_000, stride=None, interval=0, set=None):
    """A DRAM by itself under a stream of requests: a dict of configuration and statistics (docs/DRAM.md).

    pattern   sequential, sequential_write, random, random_write, mixed, strided or latency
    stride    bytes between the requests of a strided pattern; interval: least cycles between two requests
    set       laid over the device: {"channels": 2, "timing.tRCD": 18}
    """
    words = ["--preset", preset, "--pattern", pattern, "--cycles", cycles, "--interval", interval]
    words += ["--stride", stride] if stride is not None else []
    return json.loads(command.call("dram", *words, *command.words_of(set=set), "--json")[0])


class Suite:
    """A folder of runs that were compared. ``passed`` is whether all were right; ``table`` has a row for each case."""

    def __init__(self, text, status, cases):
        self.text = Text(text)
        self.status = status  # the exit status of the command: 0 if all passed
        self.cases = cases

    @property
    def passed(self):
        """Every case passed."""
        return self.status == 0

    @property
    def table(self):
        """A row a case: ``case``, ``passed``, ``message`` (empty if it passed), ``seconds``."""
        return table(self.cases)

    def __repr__(self):
        return f"<suite: {sum(case['passed'] for case in self.cases)} of {len(self.cases)} cases passed>"


def test(folder, hw=None, memory=None, set=None, *, tolerance=None, timing_only=False, update=False, jobs=None, out=None):
    """Runs a folder of layers, networks and models against golden values and cycles (docs/REGRESSION.md). Returns a Suite.

    hw, memory, set  of cases that name none
    tolerance        percent that cycles may differ by
    update           write the cycles of this run as golden ones
    jobs             cases side by side; default: the number of processors
    out              folder that keeps the results
    """
    with tempfile.TemporaryDirectory(prefix="dlasim-") as temporary:
        junit = Path(temporary) / "junit.xml"
        words = ["test", folder, "--junit", junit, "--out", out if out is not None else Path(temporary) / "out"]
        words += command.words_of(hw, memory, set, timing_only=timing_only)
        for option, value in (("--tolerance", tolerance), ("--jobs", jobs)):
            words += [option, value] if value is not None else []
        words += ["--update"] if update else []
        done = subprocess.run([command.program(), *map(os.fspath, map(str, words))], capture_output=True, text=True, errors="replace", check=False)
        if not junit.exists():
            raise command.raised(done.returncode, done.stderr) or command.Broken("dlasim test wrote no results", done.returncode)
        cases = []
        for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
            problem = next((found for found in case if found.tag in ("failure", "error")), None)
            message = "" if problem is None else (problem.get("message") or problem.text or problem.tag)
            cases.append({"case": case.get("name"), "passed": problem is None, "message": message, "seconds": float(case.get("time", 0))})
        return Suite(done.stdout, done.returncode, cases)
