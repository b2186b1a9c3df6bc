"""PDP and CDP in sequences, for cross_check.py: layers from memory through both register groups, judged by pdp.py and cdp.py.

Every read and write command, interrupt and probe that the models predict must be that of dlasim. PDP's windows fit exactly (pdp.md 1.10).
"""
import copy
import sys
import unittest.mock

METHODS = ("avg", "max", "min")
CDP_ONLY, PDP_ONLY = 0x3FFFF3, 0x3FFFCF     # of the interrupts
SOURCE, TARGET = 0x80000000, 0xA0000000


def row(m, client):
    """The machine as the models want it. nv_full's figures are theirs."""
    throughput = m.pdp if client == "pdp" else m.cdp
    return dict(full=0, atom=m.atom, tp=throughput, stp=m.tp, S=m.atom * m.burst, lane=1,
                cred=dict(m=max(4, -(-m.latency * min(throughput, m.atom // 4) // m.atom))))


def enter(m, models):
    """Sets the machine of both models."""
    if not m.full:
        models.pdp.CFG[m.name], models.cdp.CFG[m.name] = row(m, "pdp"), row(m, "cdp")


def kernel(rng):
    size = rng.choice([1, 2, 2, 3, 3, rng.randint(1, 8)])
    return size, min(8, rng.choice([1, 1, 2, 2, 3, size, rng.randint(1, 8)]))


def draw_pool(rng, m, program, index):
    """A layer of PDP whose windows fit exactly and whose lines fit its buffer, cut by width where they must be or might."""
    while True:
        (kw, sx), (kh, sy) = kernel(rng), kernel(rng)
        d = dict(kw=kw, kh=kh, sx=sx, sy=sy, method=rng.choice(METHODS), prec=rng.choice(["int8", "int8", "int16", "fp16"]) if m.full else "int8",
                 pad_value=rng.choice([0, 3, -5]), perf=rng.randint(0, 1), group=index % 2, nan_to_zero=rng.randint(0, 1))
        for side, most in (("pl", kw), ("pr", kw), ("pt", kh), ("pb", kh)):
            d[side] = rng.choice([0, 0, rng.randrange(most)])
        ow, oh = rng.choice([1, 2, 3, rng.randint(1, 12), rng.randint(1, 40), rng.randint(1, 80)]), rng.choice([1, 2, rng.randint(1, 6), rng.randint(1, 14)])
        d["W"], d["H"] = (ow - 1) * sx + kw - d["pl"] - d["pr"], (oh - 1) * sy + kh - d["pt"] - d["pb"]
        size = 1 if d["prec"] == "int8" else 2
        lanes = m.atom // size
        d["C"] = rng.choice([1, lanes, rng.randint(1, lanes), rng.randint(1, 3 * lanes)])
        limit = program.line_limit(kh, sy)[1]
        if d["W"] < 1 or d["H"] < 1 or d["W"] < kw - d["pl"] or d["H"] < kh - d["pt"]:
            continue
        if ow > limit or (ow > 2 and rng.random() < 0.25):
            d["split"] = cut(rng, ow, min(limit, ow))
            first, middle, last = program.split_widths(d)
            if min(first, middle, last) < 1 or len(d["split"]) < 2 or last + kw - sx < kw - d["pr"]:
                continue
        surfaces = -(-d["C"] * size // m.atom)
        if surfaces * d["W"] * d["H"] <= 1500 and surfaces * ow * oh <= 800:
            break
    gap = lambda: m.atom * rng.choice([0, 0, rng.randint(0, 5)])
    d["src"], d["dst"] = SOURCE + index * 0x1000000 + gap(), TARGET + index * 0x1000000 + gap()
    d["sls"], d["dls"] = d["W"] * m.atom + gap(), ow * m.atom + gap()
    d["sss"], d["dss"] = d["sls"] * d["H"] + gap(), d["dls"] * oh + gap()
    return d, surfaces * d["sss"], surfaces * d["dss"]


def cut(rng, width, limit):
    """Output columns of the passes: a first, equal ones, a last."""
    for _ in range(50):
        first, middle = rng.randint(1, limit), rng.randint(1, limit)
        rest = width - first
        widths = [first]
        while rest > limit or (rest > middle and rng.random() < 0.7):
            widths.append(middle)
            rest -= middle
        if 1 <= rest <= limit and len(widths) <= 8:
            return widths + [rest]
    return [width]


def pool_program(d, m, models):
    return models.pdp_program.program(copy.deepcopy(d), "nv_full" if m.full else {8: "nv_small", 16: "nv_medium_512", 32: "nv_large"}[m.atom])


def draw_norm(rng, m, index):
    """A layer of CDP."""
    while True:
        d = dict(n=rng.choice([3, 5, 7, 9]), prec=rng.choice([0, 0, 1, 2]) if m.full else 0, sqb=rng.random() < 0.2, mulb=rng.random() < 0.2,
                 w=rng.choice([1, 7, 8, 9, 16, rng.randint(1, 40)]), h=rng.randint(1, 6), perf=rng.randint(0, 1), group=index % 2, rdma_first=rng.random() < 0.5)
        size = 2 if d["prec"] else 1
        lanes = m.atom // size
        d["c"] = rng.choice([1, lanes, rng.randint(1, lanes), rng.randint(1, 4 * lanes)])
        surfaces = -(-d["c"] * size // m.atom)
        if surfaces * d["w"] * d["h"] <= 700:
            break
    gap = lambda: m.atom * rng.choice([0, 0, rng.randint(0, 5)])
    d["src"], d["dst"] = SOURCE + index * 0x1000000 + gap(), TARGET + index * 0x1000000 + gap()
    d["sls"], d["dls"] = d["w"] * m.atom + gap(), d["w"] * m.atom + gap()
    d["sss"], d["dss"] = d["sls"] * d["h"] + gap(), d["dls"] * d["h"] + gap()
    return d, surfaces * d["sss"], surfaces * d["dss"]


def norm_program(d, first):
    """The registers of a layer; before the first the tables' scales, so that every element is looked up."""
    singles = [("S_LUT_CFG", 0x60), ("S_LUT_INFO", 7 << 16 | 6 << 8 | 4), ("S_LUT_LE_END_LOW", 1 << 20), ("S_LUT_LO_END_LOW", 1 << 15)] if first else []
    w = [["CDP." + n, v] for n, v in singles]
    w += [["CDP.S_POINTER", d["group"]], ["CDP_RDMA.S_POINTER", d["group"]]]
    w += [["CDP_RDMA." + n, v] for n, v in (
        ("D_DATA_CUBE_WIDTH", d["w"] - 1), ("D_DATA_CUBE_HEIGHT", d["h"] - 1), ("D_DATA_CUBE_CHANNEL", d["c"] - 1), ("D_SRC_BASE_ADDR_LOW", d["src"]),
        ("D_SRC_BASE_ADDR_HIGH", 0), ("D_SRC_LINE_STRIDE", d["sls"]), ("D_SRC_SURFACE_STRIDE", d["sss"]), ("D_SRC_DMA_CFG", 1), ("D_DATA_FORMAT", d["prec"]), ("D_PERF_ENABLE", d["perf"]))]
    w += [["CDP." + n, v] for n, v in (
        ("D_FUNC_BYPASS", d["sqb"] | d["mulb"] << 1), ("D_DST_BASE_ADDR_LOW", d["dst"]), ("D_DST_BASE_ADDR_HIGH", 0), ("D_DST_LINE_STRIDE", d["dls"]), ("D_DST_SURFACE_STRIDE", d["dss"]),
        ("D_DST_DMA_CFG", 1), ("D_DATA_FORMAT", d["prec"]), ("D_NAN_FLUSH_TO_ZERO", 0), ("D_LRN_CFG", (d["n"] - 3) // 2), ("D_DATIN_OFFSET", 0), ("D_DATIN_SCALE", 1), ("D_DATIN_SHIFTER", 0),
        ("D_DATOUT_OFFSET", 0), ("D_DATOUT_SCALE", 1), ("D_DATOUT_SHIFTER", 4), ("D_PERF_ENABLE", d["perf"]))]
    enables = [["CDP.D_OP_ENABLE", 1], ["CDP_RDMA.D_OP_ENABLE", 1]]
    return w + (enables[::-1] if d["rdma_first"] else enables)


def make(rng, m, models, kind, memory):
    """-> (case, records): one to four layers, two in flight, a wait before a register group is used again."""
    enter(m, models)
    pool, unit = kind == "pool", "PDP" if kind == "pool" else "CDP"
    layers = [draw_pool(rng, m, models.pdp_program, i) if pool else draw_norm(rng, m, i) for i in range(rng.choice([1, 1, 1, 2, 2, 3, 4]))]
    program = [["GLB.S_INTR_MASK", PDP_ONLY if pool else CDP_ONLY]]
    for i, (d, _, _) in enumerate(layers):
        if i >= 2:
            program.append(["WAIT_INTR", f"{unit}_{i % 2}"])
        program += pool_program(d, m, models) if pool else norm_program(d, i == 0)
        if i == 0:
            program.append(["MARK", "t0"])
    program += [["WAIT_INTR", f"{unit}_{i % 2}"] for i in range(max(0, len(layers) - 2), len(layers))]
    if rng.random() < 0.3:
        memory["command_interval"], memory["write_interval"] = rng.randint(1, 4), rng.randint(1, 6)
    case = {"config": (m.overlay or {"preset": m.name})["preset"], "memory": memory, "program": program, "finished": True,
            "memory_fill": [{"addr": f"{d['src']:x}", "bytes": size, "seed": 1000 + i} for i, (d, size, _) in enumerate(layers)],
            "expected": {"output": [{"addr": f"{d['dst']:x}", "bytes": size} for d, _, size in layers]}}
    if m.overlay:
        case["hardware"] = m.overlay
    return case, [{"layer": d} for d, _, _ in layers]


def judge(case, kind, m, models, events):
    """Differences between dlasim's events and the model's prediction, by name."""
    model = models.pdp if kind == "pool" else models.cdp
    if any(len(p.get("runs", [])) >= 400 for p in events["probes"].values()) or len(events["ar"]) >= 400 or len(events["aw"]) >= 400:
        return None             # recordings end there
    with unittest.mock.patch.dict(sys.modules, models.plain):       # nv_full's are loaded when they are used
        result, got = model.compare(dict(case, config=m.name))
    return [f"{k}: {got['interrupt_cycles']} {events['interrupt_cycles']}" for k, v in result.items() if not v]
