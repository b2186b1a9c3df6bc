"""What a run gave."""

import html
import json
import shutil
import weakref
from pathlib import Path

import numpy

from . import command

PHASES = ("issuing", "starved", "blocked", "draining", "gated")


def table(rows):
    """A pandas.DataFrame of dicts; without pandas the list of them."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def leaves(tree, path=""):
    """(path, value) of every leaf of a tree of dicts."""
    for name, below in tree.items():
        if isinstance(below, dict):
            yield from leaves(below, f"{path}{name}/")
        else:
            yield path + name, below


class _Tensors:
    """Tensors by name, read when they are asked for."""

    def __init__(self, folder):
        self._files = {file.stem: file for file in sorted(folder.glob("*.npy"))} if folder.is_dir() else {}

    def __getitem__(self, name):
        return numpy.load(self._files[name])

    def __iter__(self):
        return iter(self._files)

    def __len__(self):
        return len(self._files)

    def keys(self):
        """Their names."""
        return self._files.keys()


class Result:
    """A run of a layer or a network. ``json`` has everything (docs/REFERENCE.md says what each key means); the properties are the parts
    that are asked for most."""

    def __init__(self, folder, text="", temporary=None):
        self.folder = Path(folder)
        self.text = text
        self.json = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        self._events = Path(temporary) / "events.json" if temporary else None
        if temporary:
            self._finalizer = weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)

    @property
    def name(self):
        """Of the layer, the network or the model."""
        return self.json.get("name") or self.json["network"]["name"]

    @property
    def cycles(self):
        """From the first op-enable to the last interrupt."""
        return self.json["cycles"]

    @property
    def seconds(self):
        """The same, at the machine's clock."""
        return self.cycles / (self.json["hardware"]["clock_mhz"] * 1e6)

    @property
    def verified(self):
        """All values are what they must be, those of an ``expected`` file too; None if none was compared."""
        verified = self.json.get("verified")
        return verified and not self.json.get("expected", {}).get("differing")

    @property
    def output(self):
        """The output tensor of a layer, [batch, channels, height, width]; None if there is none."""
        file = self.folder / "output.npy"
        return numpy.load(file) if file.exists() else None

    @property
    def tensors(self):
        """Every tensor of a network by name, and what outputs of a model there are; only with tensors=True."""
        return _Tensors(self.folder / "tensors")

    @property
    def units(self):
        """A row a unit: its cycles by phase, which add up to the run's."""
        return table([{"unit": unit, **{phase: row[phase] for phase in PHASES}} for unit, row in self.json["units"].items()])

    @property
    def counters(self):
        """A row a counter of a unit."""
        return table([{"unit": unit, "counter": name, "value": value}
                      for unit, row in self.json["units"].items() for name, value in row.get("counters", {}).items()])

    @property
    def traffic(self):
        """A row a client of a memory port: bytes read and written."""
        rows = []
        for port, totals in self.json.get("traffic", {}).items():
            if isinstance(totals, dict) and "read_bytes_by_client" in totals:
                reads, writes = totals["read_bytes_by_client"], totals["write_bytes_by_client"]
                rows += [{"port": port, "client": client, "read_bytes": reads.get(client, 0), "write_bytes": writes.get(client, 0)}
                         for client in dict.fromkeys([*reads, *writes])]
        return table(rows)

    @property
    def bounds(self):
        """A row a lower bound: no machine of these sizes needs fewer cycles."""
        bounds = {name: value for name, value in self.json.get("bounds", {}).items() if isinstance(value, (int, float)) and name != "largest"}
        return table([{"bound": name, "cycles": value, "share": value / max(self.cycles, 1)} for name, value in bounds.items()])

    @property
    def steps(self):
        """A row a step of a network: its own cycles, its share of the network's, its largest bound."""
        return table([{key: value for key, value in step.items() if not isinstance(value, (dict, list))} for step in self.json.get("steps", [])])

    @property
    def causes(self):
        """A row a cause: what the cycles went to. They add up to the run's (docs/CAUSES.md)."""
        return table([{"cause": path, "cycles": cycles, "share": cycles / max(self.cycles, 1)}
                      for path, cycles in leaves(self.json.get("causes", {}))])

    @property
    def events(self):
        """Bus logs and probes as a dict (docs/REFERENCE.md, Events); only with events=True."""
        if self._events is None or not self._events.exists():
            raise KeyError("no events were kept: run it with events=True")
        return json.loads(self._events.read_text(encoding="utf-8"))

    def explain(self, *words):
        """Where the cycles went, in words: what ``dlasim explain`` says of this run."""
        return command.call("explain", self.folder, *words)[0]

    def compare(self, other):
        """This run beside another: what ``dlasim compare`` says."""
        return command.call("compare", self.folder, other.folder)[0]

    def plot(self, axes=None):
        """Cycles of every unit by phase, or of a network's steps with their bounds, as a matplotlib figure."""
        from matplotlib.figure import Figure

        figure = axes.figure if axes is not None else Figure(figsize=(8, 1.2 + 0.3 * self._bars()), layout="constrained")
        axes = axes if axes is not None else figure.subplots()
        if self.json.get("steps"):
            names = [step["name"] for step in self.json["steps"]]
            axes.barh(names, [step["share"] for step in self.json["steps"]], label="share of the cycles", color="#4477aa")
            axes.plot([step.get("bound_cycles", 0) for step in self.json["steps"]], names, "|", color="#222222", markersize=9,
                      label="largest bound")
        else:
            left = numpy.zeros(len(self.json["units"]))
            for phase, colour in zip(PHASES, ("#4477aa", "#ccbb44", "#ee6677", "#66ccee", "#e4e4e4")):
                cycles = numpy.array([row[phase] for row in self.json["units"].values()])
                axes.barh(list(self.json["units"]), cycles, left=left, label=phase, color=colour)
                left += cycles
        axes.invert_yaxis()
        axes.set_xlabel("cycles")
        axes.set_title(f"{self.name}: {self.cycles:,} cycles")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=5, frameon=False, fontsize="small")
        return figure

    def _bars(self):
        return len(self.json.get("steps") or self.json["units"])

    def __repr__(self):
        verified = {True: ", verified", False: ", values differ", None: ""}[self.verified]
        return f"<{self.name}: {self.cycles:,} cycles on {self.json['hardware'].get('preset', 'a machine')}{verified}>"

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"
