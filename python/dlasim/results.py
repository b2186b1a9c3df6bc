"""What a run gave."""

import html
import json
import shutil
import tempfile
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


class Text(str):
    """Output of the program, shown unchanged in a terminal and in a notebook."""

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return f"<pre>{html.escape(self)}</pre>"


class Page:
    """A page of a run: it opens in any browser without a network, and can be shown in a notebook."""

    def __init__(self, text):
        self.text = text

    def save(self, path):
        """Writes it as one HTML file. Returns the path."""
        Path(path).write_text(self.text, encoding="utf-8")
        return Path(path)

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.text)}" style="width: 100%; height: 720px; border: 0"></iframe>'


class Result:
    """A run of a layer or a network. ``json`` has everything (docs/REFERENCE.md says what each key means); the properties are the parts
    that are asked for most."""

    def __init__(self, folder, text="", temporary=None, words=()):
        self.folder = Path(folder)
        self.text = Text(text)
        self._words = words
        self.json = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        self._events = Path(temporary) / "events.json" if temporary else None
        if temporary:
            self._finalizer = weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)

    @property
    def name(self):
        """Of the layer, the network or the model."""
        return self.json.get("name") or self.json["network"]["name"]

    @property
    def machine(self):
        """The preset, and what differs from it."""
        return self.json.get("machine") or self.json["hardware"].get("preset", "a machine")

    @property
    def cycles(self):
        """From t0, the last op-enable of the first operation, to the last interrupt."""
        return self.json["cycles"]

    @property
    def seconds(self):
        """The same, at the machine's clock."""
        return self.cycles / (self.json["hardware"]["clock_mhz"] * 1e6)

    @property
    def area_mm2(self):
        """Of the machine with its CVSRAM, by docs/howto/CHOOSE.md."""
        return self.json.get("area_mm2")

    @property
    def energy_uj(self):
        """That the machine took; the DRAM's is ``json["memory_uj"]``."""
        return self.json.get("energy_uj")

    @property
    def power_mw(self):
        """The same over the time of the run."""
        return self.json.get("power_mw")

    @property
    def frames_per_s(self):
        """Images a second, one run after the other."""
        given = self.json.get("frames_per_s")
        batch = self.json.get("layer", {}).get("input", {}).get("batch", 1)
        return given if given is not None else batch / self.seconds

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

    def explain(self, remedies=0, sensitivity=False):
        """Where the cycles went, in words: what ``dlasim explain`` says of this run.

        remedies     simulate up to this many fixes that follow from the causes, without values
        sensitivity  try every size one step smaller and larger
        """
        said = command.call("explain", self.folder, *_trials(remedies, sensitivity))[0]
        return Text(said.partition("\nTo simulate fixes")[0])

    def remedies(self, count=10):
        """A row a change that was tried: what it gains, area and energy after it, and the option that makes it."""
        return table(json.loads(command.call("explain", self.folder, "--json", *_trials(count, False))[0])["remedies"])

    def slack(self, percent=1):
        """A row a size that can shrink or a part that can go for at most this percentage more cycles: cycles, area and energy of the change
        alone, and together with those before it."""
        return table(json.loads(command.call("explain", self.folder, "--json", "--slack", percent)[0])["slack"])

    def timeline(self, file=None):
        """What ran when: the page of the run, with its causes, timeline and roofline. It is made by running once more, to the same cycle.

        file  writes it there instead and returns the path: .html the page, .pftrace for ui.perfetto.dev, .vcd every signal
        """
        with tempfile.TemporaryDirectory(prefix="dlasim-") as folder:
            target = Path(file) if file is not None else Path(folder) / "run.html"
            option = {".html": "--html", ".pftrace": "--timeline", ".vcd": "--waves"}.get(target.suffix)
            if option is None:
                raise ValueError(f"{target}: expected a name that ends with .html, .pftrace or .vcd")
            command.call(*self._words, option, target, "--out", Path(folder) / "out", "--quiet")
            again = json.loads((Path(folder) / "out/result.json").read_text(encoding="utf-8"))["cycles"]
            if again != self.cycles:
                raise command.Broken(f"took {again} cycles when it ran again, expected {self.cycles}: a file that it reads has changed", None)
            return Page(target.read_text(encoding="utf-8")) if file is None else target

    def compare(self, other):
        """This run beside another: what ``dlasim compare`` says."""
        return Text(command.call("compare", self.folder, other.folder)[0])

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
        unmeasured = ", unmeasured" if self.json.get("measured") is False else ""
        return f"<{self.name}: {self.cycles:,} cycles on {self.machine}{unmeasured}{verified}>"

    def _repr_html_(self):
        verified = {True: "equal to the golden values", False: "differ", None: "not compared"}[self.verified]
        facts = [("cycles", f"{self.cycles:,}"), ("time", f"{self.seconds * 1e3:.4g} ms"), ("values", verified)]
        facts += [("largest bound", f"{self.json['bound']}, {self.json['bound_cycles']:,}")] if self.json.get("bound") else []
        facts += [(name, f"{self.json[key]:.4g} {unit}") for name, key, unit in (("area", "area_mm2", "mm2"), ("energy", "energy_uj", "uJ"), ("power", "power_mw", "mW"))
                  if self.json.get(key) is not None]
        causes = sorted(leaves(self.json.get("causes", {})), key=lambda row: -row[1])[:6]
        bars = "".join(f"<tr><td>{html.escape(path)}</td><td>{cycles:,}</td><td style='text-align: left'>"
                       f"<div style='background: #4477aa; height: .8em; width: {12 * cycles / max(self.cycles, 1):.2f}em'></div></td></tr>"
                       for path, cycles in causes)
        return (f"<b>{html.escape(repr(self)[1:-1])}</b><table>" + "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in facts)
                + f"</table><table>{bars}</table><details><summary>all of it</summary>{self.text._repr_html_()}</details>")


def _trials(remedies, sensitivity):
    return (["--remedies", remedies] if remedies else []) + (["--sensitivity"] if sensitivity else [])
