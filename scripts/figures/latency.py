"""Latency hiding as of VTA (TVM, OSDI 2018), through register groups and prefetch: V1 and V2."""
from pathlib import Path

from figures import common
from figures.common import Run, Table, at_once, percent, published, workload
from figures.performance import PIXELS, descriptor

HARDWARE, MACS, PORT = "nv_small_256", 256, 8  # as many multipliers as VTA's 16 x 16; bytes a cycle, each way
BUFFER, ATOM, GROUP = 128 * 1024, 32, 8  # bytes of CBUF, channels of an atom, kernels of a group
WAYS = ("none", "registers", "all")  # of `overlap`
CHART = "roofline_vta_resnet18"


def tilings(entry, room):
    """(rows, kernels) of tiles that fit a number of bytes of the buffer; the largest first."""
    channels, width = max(entry["in"]["c"], ATOM), entry["in"]["w"]
    if entry["in"]["c"] <= 4:  # pixels of four components
        channels = 4
    found = []
    high, count = entry["out"]["h"], entry["out"]["k"]
    for rows in {-(-high // n) for n in range(1, high + 1)}:
        for kernels in {max(GROUP, -(-count // n // GROUP) * GROUP) for n in range(1, count // GROUP + 1)}:
            lines = (rows - 1) * entry["stride"]["y"] + entry["kernel"]["h"]
            taken = lines * width * channels + kernels * entry["kernel"]["w"] * entry["kernel"]["h"] * channels
            if taken <= room and (rows < high or kernels < count):
                found.append((taken, rows, kernels))
    return [(rows, kernels) for _, rows, kernels in sorted(found, reverse=True)]


class Tiled:
    """A layer in tiles, with and without overlap."""

    def __init__(self, entry, room):
        shape = descriptor(entry)
        if entry["in"]["c"] <= 4:
            shape["input"] = {"width": entry["in"]["w"], "height": entry["in"]["h"], "format": PIXELS}
        self.name = entry["name"]
        for self.rows, self.kernels in tilings(entry, room):
            tiles = {"partition": {"rows": self.rows, "kernels": self.kernels}}
            try:
                self.runs = {way: Run(shape | tiles | ({} if way == "all" else {"overlap": way}), hw=HARDWARE) for way in WAYS}
            except SystemExit as refused:
                if "expected" not in str(refused):
                    raise
                continue
            break
        else:
            raise SystemExit(f"{self.name}: no tile of {room} bytes")
        self.parts = len(self.runs["all"].result["plan"]["parts"])

    def busy(self, way):
        run = self.runs[way]
        return run.macs / run.cycles / MACS

    def intensity(self, way):
        """Multiplications for a byte that is read."""
        run = self.runs[way]
        return run.macs / run.result["traffic"]["dbb"]["read_bytes"]


def layers(room=BUFFER // 2):
    """Half of the buffer, so that the next tile fits, too."""
    return at_once([lambda entry=entry: Tiled(entry, room) for entry in workload("vta_resnet18_layers")["layers"]])


def v1():
    figure = published()["latency_hiding"]
    table = Table("layer", "tiles, rows x kernels", "cycles, one group", "two groups", "and prefetch", "array busy, one group", "two groups", "and prefetch", texts=1)
    tiled = layers()
    for one in tiled:
        table.row(one.name, f"{one.parts} of {one.rows} x {one.kernels}", *(f"{one.runs[way].cycles:,}" for way in WAYS), *(percent(one.busy(way)) for way in WAYS))

    def peaks(these):
        return [max(one.busy(way) for one in these) for way in WAYS]

    def peak_row(room, reached):
        table.row(f"**peak**, tiles of {room // 1024} KB", "", "", "", "", *map(percent, reached))

    reached = {BUFFER // 2: peaks(tiled)}
    # Smaller tiles: of layers that come near the peak.
    for room in (BUFFER // 4, BUFFER * 3 // 16):
        reached[room] = peaks(at_once([lambda entry=entry: Tiled(entry, room) for entry in workload("vta_resnet18_layers")["layers"]
                                       if entry["name"] in ("C2", "C4", "C6")]))
    for room, these in reached.items():
        peak_row(room, these)
    table.row("**published** peak, VTA", "", "", "", "", percent(figure["without"]), "", percent(figure["with"]))
    table.expect(all(one.runs["all"].cycles < one.runs["registers"].cycles < one.runs["none"].cycles for one in tiled), "Hiding latency makes every layer faster")
    half, quarter = reached[BUFFER // 2], reached[BUFFER // 4]
    table.expect(quarter[0] < figure["without"] < half[0], "The published peak without hiding lies between tiles of 32 and of 64 KB")
    table.expect(min(half[2], quarter[2]) >= figure["with"], "With hiding the peak of both is at least the published one")
    return table


def draw(tiled, folder):
    """PNG and SVG; needs Debian's python3-matplotlib."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": CHART, "font.size": 10, "svg.fonttype": "none"})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(8, 5.2))
    ridge = MACS / PORT
    axes.plot([4, ridge, 400], [4 * PORT, MACS, MACS], color="black", linewidth=1.5)
    axes.text(140, MACS * 1.08, f"{MACS} multipliers")
    axes.text(5, 5 * PORT * 1.25, f"{PORT} bytes a cycle", rotation=38, rotation_mode="anchor")
    ways = (("none", "one register group", "o", "tab:red"), ("all", "two groups and prefetch", "^", "tab:blue"))
    for one in tiled:
        axes.plot([one.intensity(way) for way, *_ in ways], [one.busy(way) * MACS for way, *_ in ways], color="lightgray", linewidth=1, zorder=1)
        axes.annotate(one.name, (one.intensity("all"), one.busy("all") * MACS), textcoords="offset points", xytext=(5, 4), fontsize=8)
    for way, label, marker, colour in ways:
        axes.scatter([one.intensity(way) for one in tiled], [one.busy(way) * MACS for one in tiled], marker=marker, color=colour, label=label, zorder=2)
    axes.set(xscale="log", yscale="log", xlabel="multiplications for a byte read", ylabel="multiplications a cycle",
             title="ResNet-18's layers in tiles on nv_small_256")
    axes.set_ylim(16, 400)
    axes.set_yticks([16, 32, 64, 128, 256], labels=["16", "32", "64", "128", "256"])
    axes.set_xticks([4, 8, 16, 32, 64, 128, 256], labels=["4", "8", "16", "32", "64", "128", "256"])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    for kind in ("png", "svg"):
        figure.savefig(Path(folder) / f"{CHART}.{kind}", dpi=110, metadata={"Date": None} if kind == "svg" else {"Software": None})


def v2():
    table = Table("layer", "MACs for a byte read", "roof, MACs a cycle", "of the roof, one group", "and prefetch", texts=1)
    tiled = layers()
    below = True
    for one in tiled:
        roof = min(MACS, PORT * one.intensity("all"))
        reached = [one.busy(way) * MACS / roof for way in ("none", "all")]
        below &= max(reached) <= 1
        table.row(one.name, f"{one.intensity('all'):.1f}", f"{roof:.1f}", *map(percent, reached))
    table.expect(below, "No layer is above the roof")
    if common.options.charts:
        draw(tiled, common.options.charts)
    return table


EXPERIMENTS = {"V1": v1, "V2": v2}
