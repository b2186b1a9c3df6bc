"""Many machines or layers: a sweep."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import NamedTuple

from . import command
from .describe import _Described
from .results import Text, table

_ENDED = re.compile(r"\s*(\d+) of (\d+)\s+point (\d+)\s+(.*)")
_SOME_REFUSED = 4  # they are rows with the reason


class Progress(NamedTuple):
    """A point that has ended: how many are done, of how many; its number; its message."""

    done: int
    of: int
    point: int
    text: str


def _end(process, errors, folder):
    """Of a sweep that nobody has any more: its process and those of its points, then its files."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    process.stdout.close()
    errors.close()
    shutil.rmtree(folder, ignore_errors=True)


def _described(value):
    if isinstance(value, _Described):
        return value.description
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} of a sweep is no number, text, list, dict, Layer, Network or path")


class Sweep:
    """A sweep under way: go through it to see points end; ``table`` has all of them at the end.

        sweep = dlasim.sweep({"base": {"layer": layer, "hw": "nv_large"}, "axes": {"cbuf.banks": [8, 16, 32]}})
        for ended in sweep:
            print(ended.done, "of", ended.of)
        sweep.table.sort_values("cycles")
    """

    def __init__(self, words, folder, out):
        self.folder = out
        self.mismatch = None  # the message if a value of a point was wrong
        self._said, self._told = [], []
        errors = tempfile.TemporaryFile(mode="w+", errors="replace")
        self._process = subprocess.Popen([command.program(), *map(str, words)], stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace")
        self._errors = errors
        self._over = False
        self._error = None
        # It refers to nothing that refers to the sweep, so that a sweep that nobody has any more ends its process, wherever it was
        self._finalizer = weakref.finalize(self, _end, self._process, errors, folder)

    def _more(self):
        """Reads up to the next point that ended; False at the end."""
        if self._over:
            if self._error is not None:
                raise self._error
            return False
        for line in self._process.stdout:
            ended = _ENDED.match(line)
            if ended:
                self._told.append(Progress(int(ended[1]), int(ended[2]), int(ended[3]), ended[4].strip()))
                return True
            self._said.append(line)
        self._over = True
        status = self._process.wait()
        self._errors.seek(0)
        error = None if status == _SOME_REFUSED else command.raised(status, self._errors.read())
        if isinstance(error, command.Mismatch):
            self.mismatch = error
        elif error is not None:
            self._error = error
            raise error
        return False

    def __iter__(self):
        """The points in the order in which they ended, from the first one each time."""
        at = 0
        while at < len(self._told) or self._more():
            yield self._told[at]
            at += 1

    def finish(self):
        """Waits for all points. Returns the sweep."""
        while self._more():
            pass
        return self

    @property
    def answer(self):
        """The last lines of the output: how many points ended how, and with ``best`` which machine is the best and why."""
        self.finish()
        return Text("".join(self._said))

    @property
    def machines(self):
        """Of a sweep with workloads a row a machine: figures of every workload, of the mix, whether it meets what is required."""
        self.finish()
        return table(json.loads((self.folder / "machines.json").read_text(encoding="utf-8")))

    def _repr_html_(self):
        rows = self.table
        return self.answer._repr_html_() + (rows._repr_html_() if hasattr(rows, "_repr_html_") else "")

    @property
    def rows(self):
        """A dict a point, docs/SWEEPS.md says of what."""
        self.finish()
        return json.loads((self.folder / "points.json").read_text(encoding="utf-8"))

    @property
    def table(self):
        """A row a point: its values of the axes, cycles, traffic, energy, area; ``reason`` where it was refused."""
        return table(self.rows)


def sweep(what, *, jobs=None, timing_only=False, best=None, search=None, seed=None, out=None):
    """Runs every point of a sweep, each in a process of its own.

    what    a file, or a dict of docs/SWEEPS.md; its base and axes may have Layers and Networks
    jobs    points side by side; default: the number of processors
    timing_only  time without values
    best    the figure of which the best machine is looked for, for example "area_mm2": Sweep.answer, Sweep.machines
    search  search the Pareto front of cycles, energy and area with at most this many runs; seed: of the search
    out     folder that keeps the points; else they are removed with the Sweep
    """
    folder = Path(tempfile.mkdtemp(prefix="dlasim-"))
    try:
        file = what
        if isinstance(what, dict):
            file = folder / "sweep.json"
            file.write_text(command.text_of(what, _described), encoding="utf-8")
        target = Path(out) if out is not None else folder / "out"
        words = ["sweep", file, "--out", target]
        words += ["--jobs", jobs] if jobs is not None else []
        words += ["--timing-only"] if timing_only else []
        words += ["--best", best] if best is not None else []
        words += ["--search", search] if search is not None else []
        words += ["--seed", seed] if seed is not None else []
        return Sweep(words, folder, target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
