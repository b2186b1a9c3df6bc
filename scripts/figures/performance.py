"""Published performance of whole networks, and from which causes ours differs: P1 to P4. Every cause is a difference of two runs."""
from dataclasses import dataclass, replace

from figures import estimator
from figures.common import Net, Run, Table, as_compiled, at_once, host_time, network, percent, published, workload

PIXELS = "T_A8B8G8R8"  # four components: the fourth one is there and has weights
INTERVAL = 6  # cycles between two beats of 64 bytes: 10.67 bytes a cycle, each way
PORT = f"ideal:interval={INTERVAL},write_interval={INTERVAL}"


def ours(gb_per_s):
    """Bandwidth as the sheet counts it: its KB are 1024 bytes at 1000 bytes a KB."""
    return gb_per_s / 1.024


def descriptor(entry, **more):
    """`dlasim run`'s descriptor of a layer of a workload file."""
    shape = {"width": entry["in"]["w"], "height": entry["in"]["h"], "channels": entry["in"]["c"]}
    op = {"conv": "conv2d", "fc": "fully_connected"}[entry["op"]]
    return {"name": entry["name"], "op": op, "input": shape | more.pop("input", {}), "stride": entry["stride"], "groups": entry["groups"],
            "kernel": {"width": entry["kernel"]["w"], "height": entry["kernel"]["h"], "count": entry["out"]["k"]},
            "pad": {side: max(0, columns) for side, columns in entry["pad"].items()},
            "bias": True, "post": {"output": {"shift": 8}}} | ({"activation": "relu"} if entry["activation"] == "relu" else {}) | more


def from_pixels(entry, **more):
    made = descriptor(entry, **more)
    made["input"] = {"width": entry["in"]["w"], "height": entry["in"]["h"], "format": PIXELS}
    return made


def as_winograd(entry):
    """The output grows to a multiple of 4 x 4."""
    right, bottom = -entry["out"]["w"] % 4, -entry["out"]["h"] % 4
    pad = {"left": 1, "top": 1, "right": 1 + right, "bottom": 1 + bottom}
    return descriptor(entry, mode="winograd", pad=pad)


def in_batch(entry, batch):
    return descriptor(entry, input={"batch": batch})


@dataclass
class Share:
    """What a layer takes of one image's cycles in the runs that the causes compare."""
    bound: float = 0  # as estimated: pixels, Winograd, batch of 16
    assumed: float = 0
    direct: float = 0  # without Winograd
    single: float = 0  # and without a batch
    network: float = 0  # as the network runs it


def share(entry, step, memory, batch):
    """Of one convolution or fully connected layer, and what follows on its way."""
    bound = max(step["bounds"].values())
    one = Share(bound, *[step["apart"]] * 4)
    if entry["op"] == "fc":
        run = Run(in_batch(entry, batch), memory=memory)
        one.bound, one.assumed, one.direct = run.bound() / batch, run.cycles / batch, run.cycles / batch
    elif entry["inputs"] == ["data"]:
        run = Run(from_pixels(entry), memory=memory)
        one.bound, one.assumed, one.direct, one.single = run.bound(), run.cycles, run.cycles, run.cycles
    elif entry["kernel"] == {"w": 3, "h": 3}:
        run = Run(as_winograd(entry), memory=memory)
        one.bound, one.assumed = run.bound(), run.cycles
    return one


class Ladder:
    """From the estimate to the network's run, cause by cause."""

    def __init__(self, name):
        model, machine = estimator.NETWORKS[name], estimator.Machine()
        self.published = estimator.sheet()["networks"][name]["totals"]["dram_only"]["cycles"]
        self.rows = estimator.counted(name)
        self.differing = sum(abs(estimator.layer_cycles(name, row, machine)[2] - row["dram_only"]["cycles"]) > 0.51 for row in self.rows)
        port = estimator.Machine(gb_per_s=ours(64 / INTERVAL), both_ways=True)
        self.port = estimator.network_cycles(name, port)
        own = estimator.network_cycles(name, replace(port, fold=False))
        once = estimator.network_cycles(name, replace(port, fold=False, read_again=False, kernel_group=32))
        run = Net(network(model), memory=PORT, apart=True)
        # Convolutions alike of one input are one step.
        entries = [e for e in workload(model)["layers"] if e["op"] in ("conv", "fc") and run.step(e["name"])["layers"][0] == e["name"]]
        shares = at_once([lambda e=e: share(e, run.step(e["name"]), PORT, machine.batch) for e in entries])
        sums = {key: sum(getattr(one, key) for one in shares) for key in Share.__dataclass_fields__}
        array = sum(s["apart"] for s in run.steps if s["unit"] == "array")
        assert array == sums["network"]
        others = sum(s["apart"] for s in run.steps) - array
        first = next(s for s in shares if s.network != s.single)
        self.run = run.cycles
        self.assumed = sums["assumed"]
        self.causes = [
            ("reads and writes have 10.67 bytes a cycle each, not 10.24 together", self.port - self.published),
            ("1 x 1 kernels of stride 2 have their own weights, not four times as many", own - self.port),
            ("every operand is read once, kernels go in groups of 32", once - own),
            ("64 channels at once, grouped kernels computed as one, every branch reads its input", sums["bound"] - once),
            ("fill, drain and waits: array and memory do not overlap to the end", sums["assumed"] - sums["bound"]),
            ("3 x 3 kernels without Winograd", sums["direct"] - sums["assumed"]),
            ("fully connected layers with one image, not 16", sums["single"] - sums["direct"]),
            ("pooling and normalisation that do not follow on the way", others),
            ("first layer from features of 3 channels, not pixels", first.network - first.single),
            ("the registers of a step are written while the one before runs", run.cycles - array - others)]


def cycles(value):
    return f"{value:,.0f}"


def p1():
    ladders = {name: Ladder(name) for name in estimator.NETWORKS}
    table = Table("cycles of one image", *ladders, texts=1)
    table.row("**published** estimate: 2048 MACs, 512 KB, 10 GB/s", *(cycles(one.published) for one in ladders.values()))
    for i, (cause, _) in enumerate(next(iter(ladders.values())).causes):
        table.row(cause, *(f"{one.causes[i][1]:+,.0f}" for one in ladders.values()))
        if i == 4:
            table.row("**as the estimator assumes it**, layer by layer, measured", *(cycles(one.assumed) for one in ladders.values()))
            table.row("of the estimate", *(percent(one.assumed / one.published) for one in ladders.values()))
    table.row("**network**, one program, measured", *(cycles(one.run) for one in ladders.values()))
    for name, one in ladders.items():
        table.expect(one.differing == 0, f"The formulas give the sheet's cycles of all {len(one.rows)} rows of {name}")
    table.expect(all(abs(one.published + sum(c for _, c in one.causes) - one.run) < 1e-6 for one in ladders.values()),
                 "The causes add up to the measured network")
    return table


@dataclass(frozen=True)
class Design:
    hw: str
    sets: tuple
    kernels: int  # of a group
    width: int  # bytes of the port
    interval: int


# The machine of each size, and the interval between beats with which its port is nearest to the published bandwidth.
DESIGNS = {2048: Design("nv_full", (), 32, 64, 3), 1024: Design("nv_medium_1024_full", ("cbuf.bank_depth=256",), 32, 32, 2),
           512: Design("nv_medium_512", ("cbuf.bank_depth=256",), 16, 16, 2), 256: Design("nv_small_256", ("cbuf.bank_depth=256",), 8, 8, 2),
           128: Design("nv_small", ("mac.atomic_c=16",), 8, 8, 4), 64: Design("nv_small", (), 8, 8, 8)}


def p2():
    rows, per_second = published()["primer"]["rows"], 1e9
    table = Table("MACs", "CBUF, KB", "GB/s", "published frames/s", "the estimator's formulas", "machine", "GB/s, each way", "formulas at their best",
                  "frames/s measured", "of the formulas", "from pixels")
    first = next(e for e in workload("resnet50")["layers"] if e["inputs"] == ["data"])

    def measure(row):
        design = DESIGNS.get(row["macs"])
        if design is None:
            return None
        memory = f"ideal:interval={design.interval},write_interval={design.interval}"
        run = Net(network("resnet50"), hw=design.hw, memory=memory, sets=design.sets)
        pixels = Run(from_pixels(first), hw=design.hw, memory=memory, sets=design.sets)
        return run.cycles, run.cycles - run.step(first["name"])["cycles"] + pixels.cycles

    rounded, below = True, True
    for row, measured in zip(rows, at_once([lambda row=row: measure(row) for row in rows])):
        formulas = per_second / estimator.network_cycles("ResNet50", estimator.Machine(row["macs"], row["cbuf_kb"], row["gb_per_s"]))
        rounded &= abs(formulas - row["frames_per_second"]) < (0.5 if row["frames_per_second"] > 10 else 0.05)
        head = [row["macs"], row["cbuf_kb"], row["gb_per_s"], row["frames_per_second"], f"{formulas:.2f}"]
        if measured is None:
            table.row(*head, "none: atoms of 8 channels, 8 kernels at least", *["-"] * 5)
            continue
        design = DESIGNS[row["macs"]]
        width = design.width / design.interval
        same = estimator.Machine(row["macs"], row["cbuf_kb"], ours(width), 1, both_ways=True, winograd=False, fold=False, read_again=False, kernel_group=design.kernels)
        expected, got, pixels = (per_second / c for c in (estimator.network_cycles("ResNet50", same), *measured))
        below &= got < expected
        table.row(*head, " ".join((design.hw, *design.sets)), f"{width:.2f}", f"{expected:.2f}", f"{got:.2f}", percent(got / expected), f"{pixels:.2f}")
    table.expect(rounded, "The formulas give the published frames/s of all seven rows, as rounded there")
    table.expect(below, "No machine is faster than the formulas with its own port, without Winograd, one image, every operand read once")
    return table


def thin_resnet():
    """ResNet for 32 x 32 of He et al., 4.2, n = 3: 16, 32, 64 channels, 0.27 M parameters; projections by 1 x 1."""
    around = dict.fromkeys(("left", "right", "top", "bottom"), 1)
    layers = []

    def convolve(name, source, count, kernel, stride=1, **more):
        pad = {} if kernel == 1 else around if stride == 1 else {"left": 1, "top": 1}
        layers.append({"name": name, "op": "conv2d", "inputs": [source], "kernel": {"width": kernel, "height": kernel, "count": count},
                       "stride": {"x": stride, "y": stride}, "pad": pad, "bias": True} | more)
        return name

    last = convolve("conv1", "data", 16, 3, activation="relu")
    for stage, count in enumerate((16, 32, 64)):
        for block in range(3):
            name, stride = f"stage{stage + 1}_{block + 1}", 2 if stage and not block else 1
            short = convolve(f"{name}_short", last, count, 1, stride) if stride == 2 else last
            convolve(f"{name}_a", last, count, 3, stride, activation="relu")
            convolve(f"{name}_b", f"{name}_a", count, 3)
            layers.append({"name": name, "op": "add", "inputs": [short, f"{name}_b"], "activation": "relu"})
            last = name
    layers.append({"name": "pool", "op": "pool", "inputs": [last],
                   "pool": {"function": "average", "kernel": {"width": 8, "height": 8}, "stride": {"x": 8, "y": 8}}})
    layers.append({"name": "fc", "op": "fully_connected", "inputs": ["pool"], "kernel": {"width": 1, "height": 1, "count": 10}, "bias": True})
    return {"name": "thin_resnet", "source": "He et al., CVPR 2016, 4.2", "input": {"width": 32, "height": 32, "channels": 3}, "layers": layers}


def small_resnet18():
    """ResNet-18 as for 224 x 224, given 32 x 32."""
    made = network("resnet18")
    made["input"] |= {"width": 32, "height": 32}
    del made["macs"]
    for entry in made["layers"]:
        del entry["output"]
        if entry["op"] == "pool" and entry["pool"]["function"] == "average":
            entry["pool"] |= {"kernel": {"width": 1, "height": 1}, "stride": {"x": 1, "y": 1}}
    return made


def additions(run, memory, sets=()):
    """Cycles more when every addition is an operation of SDP after the convolution, not fused."""
    more = 0
    for step in run.steps:
        if step["unit"] != "array" or len(step["inputs"]) < 2:
            continue
        channels, high, wide = step["output"]
        alone = {"op": "sdp", "input": {"width": wide, "height": high, "channels": channels}, "activation": "relu", "post":
                 {"bs": {"alu": {"op": "sum", "per": "element"}, "operand_bytes": 1}}}
        more += Run(alone, hw="nv_small", memory=memory, sets=sets).cycles
    return more


def p3():
    board = published()["boards"]
    slow, late = "ideal:interval=8,write_interval=8", "ideal:latency=100"
    table = Table("cycles of one image on nv_small", "LeNet-5", "ResNet-18, 32 x 32, thin", "ResNet-18, 32 x 32", "ResNet-50", texts=1)
    networks = [as_compiled(one) for one in (network("lenet_caffe"), thin_resnet(), small_resnet18(), network("resnet50"))]
    names = ["LeNet-5", "ResNet-18", "ResNet-18", "ResNet-50"]
    figures = [board["milliseconds"][name] * board["clock_mhz"] * 1000 for name in names]

    def measure(memory):
        return at_once([lambda one=one: Net(one, hw="nv_small", memory=memory) for one in networks])

    quick, delayed, slowed = measure("ideal"), measure(late), measure(slow)
    extra = at_once([lambda run=run: additions(run, slow) for run in slowed])
    sums = [run.cycles + more for run, more in zip(slowed, extra)]
    table.row("**published**: board at 100 MHz", *map(cycles, figures))
    table.row("measured, ideal memory: a beat of 8 bytes a cycle", *(cycles(run.cycles) for run in quick))
    host = host_time("lenet5_nv_small.nvdla", "nv_small", 50, 500)
    table.row("a host that takes 50 cycles for a register write, 500 for an interrupt", f"{host:+,}", "-", "-", "-")
    table.row("memory latency of 100 cycles, not 32", *(f"{b.cycles - a.cycles:+,}" for a, b in zip(quick, delayed)))
    table.row("a beat every 8 cycles", *(f"{b.cycles - a.cycles:+,}" for a, b in zip(quick, slowed)))
    table.row("additions as operations of their own, with this memory", *(f"{more:+,}" for more in extra))
    table.row("**with a beat every 8 cycles and these additions**", *map(cycles, sums))
    table.row("of the published figure", *(percent(a / b) for a, b in zip(sums, figures)))
    table.expect(all(quick[i].cycles < figures[i] for i in (0, 1, 3)), "The machine alone is faster than the board")
    table.expect(all(abs(sums[i] / figures[i] - 1) < 0.15 for i in (0, 3)), "The same slow memory brings LeNet-5 and ResNet-50 within 15 % of the board")
    table.expect(quick[2].cycles > figures[2], "ResNet-18 with all of its channels is too slow with any memory: the board ran a thinner one")
    return table


def p4():
    figure = published()["alexnet_rtl"]
    table = Table("AlexNet, cycles of one image on nv_full", "int8", "of the RTL figure", texts=1)
    first, *_ = entries = [e for e in workload("alexnet")["layers"] if e["op"] in ("conv", "fc")]
    runs = [Net(network("alexnet"), memory=f"ideal:interval={n},write_interval={n}") for n in (1, 2)]
    measured = {}
    for n, run in zip((1, 2), runs):
        pixels = Run(from_pixels(first), memory=f"ideal:interval={n},write_interval={n}").cycles
        measured[n, "features"], measured[n, "pixels"] = run.cycles, run.cycles - run.step(first["name"])["cycles"] + pixels
    connected = sum(step["bounds"]["dbb_read"] for step in runs[0].steps if set(step["layers"]) & {e["name"] for e in entries if e["op"] == "fc"})
    for what, value in (("**published** estimate, 16 images at once in fully connected layers", figure["estimated"]),
                        ("lower bound: the fully connected weights, 64 bytes a cycle", connected),
                        ("measured, first layer from pixels, a beat a cycle", measured[1, "pixels"]),
                        ("**published** RTL simulation of the compiler's program", figure["cycles"]),
                        ("measured, first layer from pixels, a beat every 2 cycles", measured[2, "pixels"]),
                        ("measured, first layer from features, a beat a cycle", measured[1, "features"])):
        table.row(what, cycles(value), percent(value / figure["cycles"]))
    table.expect(connected > figure["estimated"], "One image cannot reach the estimate: its fully connected weights alone take longer")
    table.expect(measured[1, "pixels"] < figure["cycles"] < measured[1, "features"],
                 "The RTL figure lies between our network with its first layer from pixels and with it from features")
    return table


EXPERIMENTS = {"P1": p1, "P2": p2, "P3": p3, "P4": p4}
