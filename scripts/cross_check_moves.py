"""Rubik in sequences, for cross_check.py: layers of any mode through both register groups, beside BDMA, between both memories.

Every region must hold what rubik.md 1.4 says, moved here one element at a time. Their cycles have no model: of them the laws are judged.
"""
import zlib

MODES = ("contract", "split", "merge")
RUBIK_ONLY = 0x3FFCFF       # of the interrupts
ATOM = 32


def gap(rng, most=4):
    return ATOM * rng.choice([0, 0, rng.randint(0, most)])


def draw(rng, index):
    """A layer: registers in bytes and atoms as rubik.md 1.1 names them, and the size of both cubes."""
    while True:
        size = rng.choice([1, 2])
        d = dict(mode=rng.choice(MODES), size=size, k=ATOM // size, w=rng.choice([1, 2, 7, 8, 9, rng.randint(1, 40), rng.randint(40, 140)]),
                 h=rng.randint(1, 5), c=rng.choice([1, 16, 32, 33, rng.randint(1, 100)]), xs=1, ys=1, source=rng.randint(0, 1), target=rng.randint(0, 1))
        if d["mode"] == "contract":
            d |= dict(xs=rng.choice([1, 2, 3, 7, 8, 9, 12, 16, 17, 25, 32]), ys=rng.randint(1, 3))
        d["groups"] = -(-d["c"] // d["k"])
        row = -(-d["w"] * size // ATOM) * ATOM
        if d["w"] * d["h"] * d["xs"] * d["ys"] * d["groups"] <= 2500:
            break
    planar, d["row"] = d["mode"], row
    d["in_line"] = (row if planar == "merge" else d["w"] * ATOM) + gap(rng)
    d["in_part"] = d["in_line"] * d["h"] + gap(rng)             # a surface, or a plane
    d["cube"] = d["in_part"] * d["groups"] + gap(rng)
    d["out_line"] = (row if planar == "split" else d["w"] * d["xs"] * ATOM) + gap(rng)
    d["out_part"] = d["out_line"] * d["h"] * d["ys"] + gap(rng)
    parts = lambda side: d["k"] * d["groups"] if planar == side else d["groups"]
    d["in_bytes"] = d["cube"] * d["xs"] * d["ys"] if planar == "contract" else d["in_part"] * parts("merge")
    d["out_bytes"] = d["out_part"] * parts("split")
    d["src"], d["dst"] = 0x80000000 + index * 0x1000000 + gap(rng, 9), 0xA0000000 + index * 0x1000000 + gap(rng, 9)
    return d


def writes(d, group):
    split, merge = d["mode"] == "split", d["mode"] == "merge"
    return [["RBK." + n, v] for n, v in (
        ("S_POINTER", group), ("D_MISC_CFG", MODES.index(d["mode"]) | (d["size"] - 1) << 8), ("D_DAIN_RAM_TYPE", d["source"]),
        ("D_DATAIN_SIZE_0", d["h"] - 1 << 16 | d["w"] - 1), ("D_DATAIN_SIZE_1", d["c"] - 1), ("D_DAIN_ADDR_HIGH", 0), ("D_DAIN_ADDR_LOW", d["src"]),
        ("D_DAIN_LINE_STRIDE", d["in_line"]), ("D_DAIN_SURF_STRIDE", 0 if merge else d["in_part"]), ("D_DAIN_PLANAR_STRIDE", d["in_part"] if merge else 0),
        ("D_DAOUT_RAM_TYPE", d["target"]), ("D_DATAOUT_SIZE_1", d["c"] - 1), ("D_DAOUT_ADDR_HIGH", 0), ("D_DAOUT_ADDR_LOW", d["dst"]),
        ("D_DAOUT_LINE_STRIDE", d["out_line"]), ("D_CONTRACT_STRIDE_0", d["cube"]), ("D_CONTRACT_STRIDE_1", d["cube"] * d["xs"]),
        ("D_DAOUT_SURF_STRIDE", 0 if split else d["out_part"]), ("D_DAOUT_PLANAR_STRIDE", d["out_part"] if split else 0),
        ("D_DECONV_STRIDE", d["ys"] - 1 << 16 | d["xs"] - 1), ("D_PERF_ENABLE", 1), ("D_OP_ENABLE", 1))]


def moved(d, source):
    """The bytes of the target cube."""
    target, size, k = bytearray(d["out_bytes"]), d["size"], d["k"]

    def copy(to, at, count):
        target[to:to + count] = source[at:at + count]

    for g in range(d["groups"]):
        planes = min(k, d["c"] - g * k)
        for h in range(d["h"]):
            for w in range(d["w"]):
                feature = lambda line, part: g * part + h * line + w * ATOM
                if d["mode"] == "contract":
                    for dy in range(d["ys"]):
                        for dx in range(d["xs"]):
                            copy(g * d["out_part"] + (h * d["ys"] + dy) * d["out_line"] + (w * d["xs"] + dx) * ATOM,
                                 feature(d["in_line"], d["in_part"]) + (dy * d["xs"] + dx) * d["cube"], ATOM)
                    continue
                for p in range(planes):
                    if d["mode"] == "split":
                        copy((g * k + p) * d["out_part"] + h * d["out_line"] + w * size, feature(d["in_line"], d["in_part"]) + p * size, size)
                    else:
                        copy(feature(d["out_line"], d["out_part"]) + p * size, (g * k + p) * d["in_part"] + h * d["in_line"] + w * size, size)
    return bytes(target)


def moves_case(rng, m, models, memory, bdma_case):
    """One to four Rubik layers, half of the time with BDMA beside them."""
    layers = [draw(rng, i) for i in range(rng.choice([1, 2, 2, 3, 4]))]
    if rng.random() < 0.6:
        memory |= rng.choice([dict(write_interval=rng.randint(2, 16)), dict(command_interval=rng.randint(2, 16)),
                              dict(command_interval=rng.randint(2, 8), write_interval=rng.randint(2, 16))])
    program, fills = [["GLB.S_INTR_MASK", RUBIK_ONLY]], []
    if rng.random() < 0.5:
        beside, _ = bdma_case(rng, m, models, memory)
        launched = [i for i, x in enumerate(beside["program"]) if x[0].startswith("BDMA.CFG_LAUNCH")][0]
        program += [x for x in beside["program"][:launched + 1] if x[0].startswith("BDMA.")]
        fills += [dict(f, addr=f"{int(f['addr'], 16) + 0x40000000:x}") for f in beside["memory_fill"]]
        program = [[n, v + 0x40000000] if n in ("BDMA.CFG_SRC_ADDR_LOW", "BDMA.CFG_DST_ADDR_LOW") else [n, v] for n, v in program]
    for i, d in enumerate(layers):
        if i >= 2:
            program.append(["WAIT_INTR", f"RBK_{i & 1}"])
        program += writes(d, i & 1)
        if i == 0:
            program.append(["MARK", "t0"])
        fills.append({"addr": f"{d['src']:x}", "bytes": d["in_bytes"], "seed": rng.randint(1, 999)})
    program += [["WAIT_INTR", f"RBK_{i & 1}"] for i in range(max(0, len(layers) - 2), len(layers))]
    for i in range(max(0, len(layers) - 2), len(layers)):
        program += [["RBK.S_POINTER", i & 1], ["READ", "RBK.D_PERF_READ_STALL"], ["READ", "RBK.D_PERF_WRITE_STALL"]]
    case = {"id": "", "config": m.name, "memory": memory, "layers": [], "program": program, "finished": True, "memory_fill": fills,
            "expected": {"output": [{"addr": f"{d['dst']:x}", "bytes": d["out_bytes"]} for d in layers]}}
    return case, [{"moves": layers}]


def judge_moves(case, records, events, generate):
    memory = {int(f["addr"], 16): f for f in case["memory_fill"]}
    bad = []
    for i, (d, got) in enumerate(zip(records[0]["moves"], events["output"])):
        fill = memory[d["src"]]
        if f"{zlib.crc32(moved(d, generate(fill['seed'], fill['bytes']))):08x}" != got["crc32"]:
            bad.append(f"{d['mode']} of layer {i}")
    return bad
