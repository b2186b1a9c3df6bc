"""Times of networks on an FPGA board by others, beside ours: P5."""
from figures.common import Net, Run, Table, as_compiled, at_once, network, percent, published
from figures.performance import additions, cycles, small_resnet18, thin_resnet

AT_100 = ("clock_mhz=100",)


class Layers:
    """Writes a network layer by layer; each gives the name of its tensor, and knows how many channels that has."""

    def __init__(self, name, source, side, channels):
        self.made = {"name": name, "source": source, "input": {"width": side, "height": side, "channels": channels}, "layers": []}
        self.channels = {"data": channels}

    def layer(self, op, inputs, channels, **more):
        name = f"{op}{len(self.made['layers'])}"
        self.made["layers"].append({"name": name, "op": op, "inputs": inputs} | more)
        self.channels[name] = channels
        return name

    def conv(self, source, count, size=1, stride=1, groups=1, activation="relu"):
        pad = {"pad": dict.fromkeys(("left", "right", "top", "bottom"), size // 2)} if size > 1 else {}
        more = {"activation": activation} if activation else {}
        return self.layer("conv2d", [source], count, kernel={"width": size, "height": size, "count": count}, stride={"x": stride, "y": stride},
                          groups=groups, bias=True, **pad, **more)

    def separable(self, source, count, stride=1):
        """Each channel by itself with 3 x 3, then 1 x 1."""
        channels = self.channels[source]
        return self.conv(self.conv(source, channels, 3, stride, groups=channels), count)

    def concat(self, *sources):
        return self.layer("concat", list(sources), sum(self.channels[source] for source in sources))

    def pool(self, source, size):
        return self.layer("pool", [source], self.channels[source], pool={"function": "max", "kernel": {"width": size, "height": size},
                          "stride": {"x": 1, "y": 1}, "pad": dict.fromkeys(("left", "right", "top", "bottom"), size // 2)})

    def upsample(self, source):
        return self.layer("upsample", [source], self.channels[source], factor={"x": 2, "y": 2})

    def partial(self, source, count, blocks, shortcut=True):
        """Half of the channels through blocks, half past them."""
        inner, past = self.conv(source, count // 2), self.conv(source, count // 2)
        for _ in range(blocks):
            last = self.separable(self.conv(inner, count // 2), count // 2)
            inner = self.layer("add", [inner, last], count // 2) if shortcut else last
        return self.conv(self.concat(inner, past), count)


def yolox_nano():
    """YOLOX with a depth of 0.33, a width of 0.25 and separable convolutions, ReLU, 416 x 416. The image comes with its 2 x 2 blocks as channels."""
    net = Layers("yolox_nano", "Ge et al., YOLOX, arXiv:2107.08430: CSPDarknet, PAFPN, decoupled head", 208, 12)
    stem = net.conv("data", 16, 3)
    dark2 = net.partial(net.separable(stem, 32, 2), 32, 1)
    dark3 = net.partial(net.separable(dark2, 64, 2), 64, 3)
    dark4 = net.partial(net.separable(dark3, 128, 2), 128, 3)
    pooled = [net.conv(net.separable(dark4, 256, 2), 128)]
    for _ in range(3):  # maxima of 5 x 5 in series are those of 9 x 9 and 13 x 13
        pooled.append(net.pool(pooled[-1], 5))
    dark5 = net.partial(net.conv(net.concat(*pooled), 256), 256, 1, shortcut=False)
    lateral = net.conv(dark5, 128)
    middle = net.partial(net.concat(net.upsample(lateral), dark4), 128, 1, shortcut=False)
    reduced = net.conv(middle, 64)
    fine = net.partial(net.concat(net.upsample(reduced), dark3), 64, 1, shortcut=False)
    half = net.partial(net.concat(net.separable(fine, 64, 2), reduced), 128, 1, shortcut=False)
    coarse = net.partial(net.concat(net.separable(half, 128, 2), lateral), 256, 1, shortcut=False)
    for level in (fine, half, coarse):
        stem = net.conv(level, 64)
        classes, boxes = (net.separable(net.separable(stem, 64), 64) for _ in range(2))
        for source, count in ((classes, 80), (boxes, 4), (boxes, 1)):
            net.conv(source, count, activation=None)
    return net.made


def pools(run, memory, sets):
    """Cycles more when every pooling is an operation of PDP after the convolution, not fused."""
    more = 0
    by_name = {layer["name"]: layer for layer in run.result["network"]["layers"]}
    for step in run.steps:
        pooled = [by_name[name] for name in step["layers"][1:] if by_name[name]["op"] == "pool"]
        if step["unit"] != "array" or not pooled:
            continue
        channels, high, wide = step["output"]
        pool = pooled[0]["pool"]
        stride, kernel = pool["stride"], pool["kernel"]
        pad = pool.get("pad", {})
        size = {"width": (wide - 1) * stride["x"] + kernel["width"] - pad.get("left", 0) - pad.get("right", 0),
                "height": (high - 1) * stride["y"] + kernel["height"] - pad.get("top", 0) - pad.get("bottom", 0), "channels": channels}
        more += Run({"op": "pool", "input": size, "pool": {"function": pool["function"], "kernel": kernel, "stride": stride, "pad": pad}}, hw="nv_small",
                    memory=memory, sets=sets).cycles
    return more


def whole(made):
    """Grouped convolutions as whole ones, whose other weights are zeros."""
    return made | {"layers": [layer | ({"groups": 1} if layer["op"] == "conv2d" else {}) for layer in made["layers"]]}


def p5():
    board = published()["tengine"]
    nano = yolox_nano()
    networks = [as_compiled(one) for one in (thin_resnet(), small_resnet18(), network("yolov3_tiny"), nano)]
    names = ["ResNet-18", "ResNet-18", "YOLOv3-tiny", "YOLOX-Nano"]
    times = [board["milliseconds"][name] for name in names]
    dram, slow = "ddr4-2400", "ideal:interval=8,write_interval=8"
    runs = at_once([lambda one=one, memory=memory: Net(one, hw="nv_small", memory=memory, sets=AT_100) for memory in (dram, slow) for one in networks])
    ours, slowed = runs[:len(networks)], runs[len(networks):]
    dense = Net(as_compiled(whole(nano)), hw="nv_small", memory=dram, sets=AT_100).cycles - ours[3].cycles
    more = at_once([lambda run=run: additions(run, dram, AT_100) + pools(run, dram, AT_100) for run in ours])
    table = Table("one image on nv_small", "ResNet-18, 32 x 32, thin", "ResNet-18, 32 x 32", "YOLOv3-tiny", "YOLOX-Nano", texts=1)
    table.row("**published**, ms", *times)
    table.row("multiplications", *(f"{run.result['macs']:,}" for run in ours))
    table.row("measured, DDR4-2400 at 100 MHz, cycles", *(cycles(run.cycles) for run in ours))
    table.row("additions and pooling as operations of their own", *(f"{one:+,}" for one in more))
    table.row("3 x 3 of single channels as whole convolutions with zeros", "-", "-", "-", f"{dense:+,}")
    more[3] += dense
    table.row("**ms at 100 MHz, all these included**", *(f"{(run.cycles + one) / 1e5:.1f}" for run, one in zip(ours, more)))
    table.row("of the published time", *(percent((run.cycles + one) / 1e5 / ms) for run, one, ms in zip(ours, more, times)))
    table.row("a beat every 8 cycles, the memory of P3, of the published time", *(percent((run.cycles + one) / 1e5 / ms) for run, one, ms in zip(slowed, more, times)))
    table.row("clock at which both are equal, MHz", *(f"{(run.cycles + one) / 1e3 / ms:.1f}" for run, one, ms in zip(ours, more, times)))
    hosts = [run.result["host"]["elements"] for run in ours]
    table.row("elements that the host makes", *(f"{one:,}" for one in hosts))
    table.expect(all((ours[i].cycles + more[i]) / 1e5 < times[i] for i in (0, 2, 3)), "The machine alone, at 100 MHz, is faster than the board with its software")
    table.expect(ours[1].cycles / 1e5 > times[1], "ResNet-18 with all of its channels is too slow at 100 MHz: the board ran a thinner one, or a faster clock")
    table.expect(all(abs((slowed[i].cycles + more[i]) / 1e5 / times[i] - 1) < 0.15 for i in (0, 2)),
                 "The memory that explains P3's board brings ResNet-18 and YOLOv3-tiny within 15 % of this one")
    table.say(f"Of ResNet-18's {board['milliseconds']['ResNet-18']} ms the accelerator and its driver took {board['accelerator_ms']} ms: "
              f"the framework adds {board['milliseconds']['ResNet-18'] - board['accelerator_ms']:.1f} ms.")
    return table


EXPERIMENTS = {"P5": p5}
