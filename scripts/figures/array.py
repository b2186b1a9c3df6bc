"""What NVIDIA's unit description says of the convolution pipeline, measured: N1 to N11.

MAC cycles: cycles in which the array takes an atom (CSC's counter `atoms`).
Window: from the first to the last of them, at the port between CSC and CMAC.
"""
from figures.common import MACS, Table, layer, percent, runs


def n1():
    table = Table("C", "published C / (64 ceil(C / 64))", "int8", "int16")
    channels = range(1, 129)
    by_precision = {p: runs([layer(16, 16, c, MACS[p] // 64, precision=p) for c in channels]) for p in ("int8", "int16")}
    worst = 0
    for i, c in enumerate(channels):
        published = c / (64 * -(-c // 64))
        measured = [by_precision[p][i].occupancy() for p in ("int8", "int16")]
        worst = max(worst, *(abs(m - published) for m in measured))
        if c in (1, 3, 8, 16, 24, 32, 48, 63, 64, 65, 80, 96, 112, 127, 128):
            table.row(c, percent(published), *map(percent, measured))
    table.expect(worst < 1e-12, f"All 128 values of C in both precisions equal the formula; largest difference {worst:.1g}")
    return table


def n2():
    table = Table("layer", "MAC cycles int16", "int8", "ratio", "cycles int16", "int8", "ratio")
    shapes = {"28x28x128, 3x3, 128": layer(28, 28, 128, 128, (3, 3), 1), "14x14x512, 1x1, 256": layer(14, 14, 512, 256),
              "13x13x192, 3x3, 384": layer(13, 13, 192, 384, (3, 3), 1)}
    equal = True
    for name, shape in shapes.items():
        wide, narrow = runs([shape | {"precision": p} for p in ("int16", "int8")])
        equal &= wide.atoms == 2 * narrow.atoms
        table.row(name, f"{wide.atoms:,}", f"{narrow.atoms:,}", f"{wide.atoms / narrow.atoms:.3f}",
                  f"{wide.cycles:,}", f"{narrow.cycles:,}", f"{wide.cycles / narrow.cycles:.3f}")
    table.expect(equal, "int8 takes exactly half the MAC cycles of int16 (published: twice the rate)")
    return table


def n3():
    table = Table("atoms in a stripe", "published min(1, n / 16)", "int16", "int8")
    lengths = range(1, 33)
    wide = runs([layer(n, 1, 2048, 16, precision="int16") for n in lengths], events=True)
    narrow = runs([layer(n, 1, 2048, 32) for n in lengths], events=True)
    worst = 0
    for n, a, b in zip(lengths, wide, narrow):
        published = min(1, n / 16)
        worst = max(worst, abs(a.steady() - published), abs(b.steady() - published))
        if n in (1, 2, 3, 4, 6, 8, 10, 12, 14, 15, 16, 17, 24, 32):
            table.row(n, percent(published), percent(a.steady()), percent(b.steady()))
    table.expect(worst < 1e-12, "All stripes of 1 to 32 equal the formula: below 16 atoms the weights of the next stripe are late")
    return table


def n4():
    table = Table("batch", "published min(1, b / 16)", "array, weights in the CBUF", "array, weights streaming", "whole layer")
    batches = (1, 2, 3, 4, 6, 8, 12, 15, 16, 24, 32)
    def connected(kernels):
        return [layer(1, 1, 2048, kernels, precision="int16", op="fully_connected", batch=b) for b in batches]
    group, whole = runs(connected(16), events=True), runs(connected(256), events=True)
    measured = {}
    for b, one, all_groups in zip(batches, group, whole):
        measured[b] = one.steady()
        table.row(b, percent(min(1, b / 16)), percent(one.steady()), percent(all_groups.atoms / all_groups.window()),
                  percent(all_groups.result["utilization"]))
    table.expect(abs(measured[1] - 0.0625) < 1e-12, "6.25 % at batch 1")
    table.expect(measured[16] > 0.95, "Above 95 % at batch 16")
    table.expect(all(measured[b] <= measured[c] for b, c in zip(batches, batches[1:])), "It never falls with the batch")
    return table


def stripe_limits(batch):
    for most, limits in ((1, (16, 32)), (3, (8, 16)), (7, (4, 8)), (15, (2, 4))):
        if batch <= most:
            return limits
    return 1, 1


def n5():
    table = Table("batch", "positions, published", "atoms, published", "atoms, measured", "last stripe, published", "measured")
    batches = range(1, 33)
    equal = True
    for b, run in zip(batches, runs([layer(8, 8, 64, 16, precision="int16", batch=b) for b in batches])):
        low, high = stripe_limits(b)
        short, long = run.csc["shortest_stripe"], run.csc["longest_stripe"]
        equal &= (short, long) == (low * b, high * b) and run.csc["packages"] == (64 - high) // low + 1
        table.row(b, low, low * b, short, high * b, long)
    table.expect(equal, "All 32 batch sizes, and the number of stripes of a plane of 64 positions")
    return table


def winograd(shape, pad):
    return shape | {"mode": "winograd", "pad": pad}


def n6():
    table = Table("layer", "MAC cycles direct", "Winograd", "ratio", "cycles direct", "Winograd", "ratio")

    def both(name, shapes):
        direct = runs([s | {"mode": "direct"} for s in shapes])
        tiles = runs([s | {"mode": "winograd"} for s in shapes])
        sums = [sum(r.atoms for r in direct), sum(r.atoms for r in tiles), sum(r.cycles for r in direct), sum(r.cycles for r in tiles)]
        table.row(name, f"{sums[0]:,}", f"{sums[1]:,}", f"{sums[0] / sums[1]:.3f}", f"{sums[2]:,}", f"{sums[3]:,}", f"{sums[2] / sums[3]:.3f}")
        return sums[0] / sums[1]

    exact = [both(f"16x16x64, 3x3, 64, {p}", [layer(16, 16, 64, 64, (3, 3), 1, p)]) for p in ("int8", "int16", "fp16")]
    exact.append(both("28x28x128, 3x3, 128, int8", [layer(28, 28, 128, 128, (3, 3), 1)]))
    sides = {"left": 1, "right": 1}
    parts = [layer(56, 21, 256, 256, (3, 3), sides | {"top": 1}), layer(56, 22, 256, 256, (3, 3), sides),
             layer(56, 17, 256, 256, (3, 3), sides | {"bottom": 1})]
    vgg = both("VGG-16 conv3_2, 56x56x256, 256, int8, in 20 + 20 + 16 rows", parts)
    table.expect(all(ratio == 2.25 for ratio in exact), "2.25 times fewer MAC cycles where the output is a multiple of 4 x 4")
    table.expect(vgg >= 2.2, "At least 2.2 times fewer on VGG-16 conv3_2")
    return table


def n7():
    table = Table("precision", "MAC cycles direct", "Winograd", "published", "ratio")
    ratios = []
    for precision in ("int8", "int16"):
        direct, = runs([layer(13, 13, 64, 64, (3, 3), 1, precision)])
        tiles, = runs([winograd(layer(13, 13, 64, 64, (3, 3), 0, precision), {"left": 1, "right": 4, "top": 1, "bottom": 4})])
        ratios.append(direct.atoms / tiles.atoms)
        table.row(precision, f"{direct.atoms:,}", f"{tiles.atoms:,}", "1.49", f"{ratios[-1]:.3f}")
    table.expect(all(round(r, 2) == 1.49 for r in ratios), "1.49 times fewer MAC cycles for an output of 13 x 13")
    return table


def n8():
    table = Table("kernel rows at once", "MAC cycles", "published", "measured", "data verified")
    measured = []
    image = {"input": {"width": 67, "height": 19, "format": "T_A8B8G8R8"}, "kernel": {"width": 4, "height": 4, "count": 32}}
    for rows, published in ((1, 0.25), (2, 0.5), (4, 1.0)):
        run, = runs([image | {"image": {"rows_at_once": rows}}], values=True)
        measured.append(abs(run.occupancy() - published))
        table.row(rows, f"{run.atoms:,}", percent(published), percent(run.occupancy()), "yes" if run.result["verified"] else "no")
    table.expect(max(measured) < 1e-12, "25, 50 and 100 % for a kernel of 4 x 4 x 4")
    return table


def n9():
    table = Table("layer", "input read", "weights read", "SDP written", "Rubik read", "Rubik written", "sum", "published", "data verified")
    sides = dict.fromkeys(("left", "right", "top", "bottom"), 1)
    equal = True
    for name, side, channels, kernels, stride in (("deconv1", 1, 100, 512, 1), ("deconv2", 4, 512, 256, 2), ("deconv3", 8, 256, 128, 2),
                                                  ("deconv4", 16, 128, 64, 2), ("deconv5", 32, 64, 3, 2)):
        shape = layer(side, side, channels, kernels, (4, 4), 0 if stride == 1 else sides, op="deconv2d", stride={"x": stride, "y": stride})
        run, = runs([shape], values=True)
        read, written = (run.result["traffic"]["dbb"][f"{way}_bytes_by_client"] for way in ("read", "write"))
        moved = [read["CDMA_DAT"], read["CDMA_WT"], written["SDP"], read.get("RBK", 0), written.get("RBK", 0)]
        # Every phase reads the input, its part of the weights, and writes its part of the output; Rubik moves the output once more.
        phases, cube = stride * stride, side * side * -(-channels // 32) * 32
        out = (4 if stride == 1 else 2 * side) ** 2 * -(-kernels // 32) * 32
        published = [phases * cube, -(-16 * channels * kernels // 128) * 128, out] + [out if phases > 1 else 0] * 2
        equal &= moved == published and run.result["verified"]
        table.row(name, *(f"{b:,}" for b in moved), f"{sum(moved):,}", f"{sum(published):,}", "yes" if run.result["verified"] else "no")
    table.expect(equal, "Every column equals its formula")
    return table


def n10():
    table = Table("dilation", "input", "MAC cycles", "cycles")
    atoms = []
    for d in (1, 2, 3, 4, 6):
        side = 20 + 2 * d
        run, = runs([layer(side, side, 128, 64, (3, 3), dilation={"x": d, "y": d})])
        atoms.append(run.atoms)
        table.row(d, f"{side} x {side}", f"{run.atoms:,}", f"{run.cycles:,}")
    table.expect(len(set(atoms)) == 1, "The MAC cycles of a dilated kernel equal those of the undilated one")
    return table


def n11():
    table = Table("K", "cells with a kernel in the last group", "published K / (16 ceil(K / 16))", "int16", "int8, 2 K kernels")
    kernels = range(1, 49)

    def working(run):
        cells = [v for half in ("cmac_a", "cmac_b") for k, v in run.units[half]["counters"].items() if k.startswith("cell_")]
        return sum(cells) / (len(cells) * run.atoms)

    wide = runs([layer(8, 8, 64, k, precision="int16") for k in kernels], values=True)
    narrow = runs([layer(8, 8, 64, 2 * k) for k in kernels], values=True)
    worst = 0
    for k, a, b in zip(kernels, wide, narrow):
        published = k / (16 * -(-k // 16))
        worst = max(worst, abs(working(a) - published), abs(working(b) - published))
        if k in (1, 2, 4, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48):
            table.row(k, (k - 1) % 16 + 1, percent(published), percent(working(a)), percent(working(b)))
    table.expect(worst < 1e-12, "Cells without a kernel do not toggle, for all K from 1 to 48")
    return table


EXPERIMENTS = {"N1": n1, "N2": n2, "N3": n3, "N4": n4, "N5": n5, "N6": n6, "N7": n7, "N8": n8, "N9": n9, "N10": n10, "N11": n11}
