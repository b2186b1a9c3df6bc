#!/usr/bin/env python3
"""Random register programs through dlasim, judged by laws and by the executable models of the specification.

usage: cross_check.py [--dlasim PATH] [--kinds K,..] [--configs C,..] [--seed N] [--count N] [--every N] [--seconds S] [--keep DIR]

A program is drawn like a measured case: a kind (below), a preset or a machine between the presets, one to six hardware layers
through both register groups, a memory with any latency and interval. Its own events are then the stimulus of the models:
  laws     exit status 0, every wait completed; events are the same bytes when every unit is evaluated in every cycle;
           the bytes in memory do not depend on the speed of memory nor on the layers before; plain layers equal a convolution in integers
  core     conv_core: CSC, CMAC, CACC from the updates of CDMA and the readiness of SDP (all modes)
  fetch    cdma_fabric: feature and weight fetch with the read path of the primary port, from the releases of CSC
  pixels   cdma_img, cdma_wg: update messages of the image and Winograd fetchers from the response beats
  counters the stall and latency counters of CDMA that a program reads, from cdma_fabric
  write    sdp_out: SDP without operands, write path, interrupts
  operands sdp_rdma: SDP with operands, stand-alone or after CACC, with the stages of cross_check_sdp
  stalls   the stall counters of SDP that a program reads, from the models that read and wrote
  numbers  what SDP leaves, from the numerics models
  software cross_check_software: reads, masks and interrupts while layers run
  planar   cross_check_planar: PDP and CDP from memory, from pdp and cdp
  moves    what Rubik leaves, beside BDMA, moved by cross_check_moves
Kinds: net, perf, dc, seq, long, img, wg, batch, wcomp, reuse, partial, stall, cvsram, mix, fly, sa, post, bdma, moves, second, keep, edge, soft, pool, lrn.
A deviation is printed with its seed and, with --keep, its case is stored. Exit status 1 if there was one. Standard library only.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import cross_check_moves
import cross_check_planar
import cross_check_sdp
from cross_check_models import Models
from cross_check_programs import PRESETS, Machine, between, ceil_div, make
from cross_check_software import judge_software

HERE = Path(__file__).resolve().parent
NEVER = 1 << 60


def generate_bytes(seed, n):
    x, out = (seed * 2654435761 + 12345) & 0xFFFFFFFF, bytearray()
    for _ in range(n):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        out.append(x >> 11 & 0xFF)
    return bytes(out)


def judge_values(case, records, events, m, models):
    """The output of every layer that is a small int8 direct convolution of its own input."""
    if len({r["base"]["o"] for r in records}) != len(records) or any("moved" in r["layer"] for r in records):
        return None
    want = [plain_convolution(case, r, m, models) for r in records]
    if not any(want):
        return None
    return [f"output of layer {i} is not the convolution" for i, (w, o) in enumerate(zip(want, events["output"])) if w and w != o["crc32"]]


def judge_alone(dlasim, case, records, events, m, folder):
    """Every layer of a sequence leaves what it leaves alone, with all its data fetched."""
    if len(records) < 2 or any("moved" in r["layer"] for r in records):
        return None
    bad = []
    for i, r in enumerate(records):
        if r["layer"].get("mode") == "img" and m.c == 8:
            continue            # csc.md 6, point 3: such a machine misreads a line across the end of the ring
        keep = lambda n, v: v & 0xFFFF if n in ("CDMA.D_MISC_CFG", "CSC.D_MISC_CFG") else 0 if n.endswith("S_POINTER") else v
        tables = [x for x in case["program"] if x[0].startswith("SDP.S_LUT")]
        program = [["GLB.S_INTR_MASK", 0x3FFFFC]] + tables + [[n, keep(n, v)] for n, v in r["writes"]] + [["MARK", "t0"], ["WAIT_INTR", "SDP_0"]]
        region = case["expected"]["output"][i]
        alone = json.loads(replay(dlasim, dict(case, program=program, memory={"read_latency": 8, "beat_interval": 1, "write_latency": 4},
                                               expected=dict(case["expected"], output=[region])), folder))
        if alone["output"][0]["crc32"] != events["output"][i]["crc32"]:
            bad.append(f"layer {i} leaves other data than alone")
    return bad


def judge_whole(dlasim, case, records, events, m, models, folder):
    """A layer cut by height leaves what it leaves in one piece, where that fits."""
    layer, base = records[0]["layer"], records[0]["base"]
    if "whole" not in layer or any(r["info"]["OW"] * r["info"]["OH"] == 1 for r in records):
        return None             # parts of one pixel are written packed: not where the cube has them
    try:
        built = models.programming.conv_program(m.name, layer["whole"], base)
    except AssertionError:
        return None
    program = [["GLB.S_INTR_MASK", 0x3FFFFC]] + [list(x) for x in built.writes] + [[n, 1] for n in built.enables] + [["MARK", "t0"], ["WAIT_INTR", "SDP_0"]]
    whole = json.loads(replay(dlasim, dict(case, program=program), folder))
    same = whole["output"][0]["crc32"] == events["output"][0]["crc32"]
    return [] if same else ["the parts leave other data than the whole"]


def plain_convolution(case, record, m, models):
    """CRC of an int8 direct convolution in integers; None if the layer is not one or too large."""
    layer, info, base = record["layer"], record["info"], record["base"]
    g = layer.get
    if g("mode", "dc") != "dc" or g("prec") != "int8" or g("areas") or g("clip") or g("batch", 1) > 1 or any(g(x) for x in ("bs", "bn", "ew", "fly")) or info["macs"] > 60000:
        return None
    a, out = m.atom, bytearray(info["out_bytes"])
    for (y, x), total in convolution_sums(case, record, m, models).items():
        for k, t in enumerate(total):
            if g("relu"):
                t = max(0, t)
            if g("shift", 0):
                half = 1 << layer["shift"] - 1
                t = (t + half) >> layer["shift"] if t >= 0 else -((-t + half) >> layer["shift"])
            t = max(-128, min(127, t))
            out[k // a * info["osurf"] + y * info["oline"] + x * a + k % a] = t & 255
    return f"{zlib.crc32(bytes(out)):08x}"


def convolution_sums(case, record, m, models):
    """Sums of an int8 direct convolution: a list over the kernels for every line and column."""
    layer, info, base = record["layer"], record["info"], record["base"]
    g = layer.get
    fills = {int(f["addr"], 16): f for f in case["memory_fill"]}
    s8 = [i - 256 if i > 127 else i for i in range(256)]
    data = generate_bytes(fills[base["i"]]["seed"], info["in_bytes"])
    weights = generate_bytes(fills[base["w"]]["seed"], info["wbytes"])
    a, r_, s_, c_, k_ = m.atom, g("r", 1), g("s", 1), layer["c"], layer["k"]
    kernel = {key: s8[weights[n]] for n, key in enumerate(models.programming.weight_order(m.name, "int8", k_, r_, s_, c_))}
    pad, sums = g("padv", 0), {}
    for y in range(info["OH"]):
        for x in range(info["OW"]):
            total = sums[y, x] = [0] * k_
            for r in range(r_):
                for s in range(s_):
                    iy, ix = y * g("sy", 1) - g("pt", 0) + r * g("dy", 1), x * g("sx", 1) - g("pl", 0) + s * g("dx", 1)
                    inside = 0 <= iy < layer["h"] and 0 <= ix < layer["w"]
                    for c in range(c_):
                        v = s8[data[c // a * info["surf"] + iy * info["line"] + ix * a + c % a]] if inside else s8[pad & 255]
                        if v:
                            for k in range(k_):
                                total[k] += v * kernel[k, r, s, c]
    return sums


def signed(word):
    return (word & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def judge_numbers(case, records, events, m, models):
    """What SDP leaves of what it reads, and of what is convolved where that is int8 and small."""
    sums = []
    for r in records:
        if r["layer"].get("fly", 1) and r["layer"]["prec"] == "int8" and r["info"]["macs"] <= 60000:
            all_sums, clip = convolution_sums(case, r, m, models), r["layer"].get("clip", 0)
            sums.append(lambda k, y, x, of=all_sums, t=clip: signed(models.accumulator.int_final(of[y, x][k], t)[0]) if k < len(of[y, x]) else 0)
        else:
            sums.append(None)
    memory = [(int(f["addr"], 16), generate_bytes(f["seed"], f["bytes"])) for f in case["memory_fill"] if "seed" in f]
    return cross_check_sdp.judge_numbers(case, m, events, memory, sums)


def end_of(events):
    return max(p["active"] for n, p in events["probes"].items() if n.endswith("_ready"))


def truncated(events, *names):
    return any(len(events["probes"].get(n, {}).get("runs", [])) == 400 for n in names)


def complement(runs, end):
    low, at = [], 1
    for s, n in runs:
        if s > at:
            low.append([at, s - at])
        at = s + n
    if at <= end:
        low.append([at, end + 1 - at])
    return low


def judge_core(case, models, records):
    e = case["expected"]
    if truncated(e, "cacc2sdp_ready", "cdma2sc_dat_updt", "cdma2sc_wt_updt"):
        return None
    low = complement(e["probes"]["cacc2sdp_ready"]["runs"], end_of(e))
    masks = [[x >> i & 1 for x in r["layer"]["areas"][1] for i in range(8)] if r["layer"].get("areas") else None for r in records]
    original = models.core.WL.layer_start

    def layer_start(loader, layer):            # every layer has its own mask
        original(loader, layer)
        loader.mask = masks.pop(0)

    models.core.WL.layer_start = layer_start
    try:
        bad, error = models.core.compare(case, low)
    finally:
        models.core.WL.layer_start = original
    return ([f"{error}"] if error else []) + [f"{k}: {v}" for k, v in bad.items()]


def released(probes, m, records):
    """Entries of every release pulse of CSC, csc.md 1.11: what the layer before kept, then lines at the end and kernel groups."""
    data, weights, kept, kept_weights = [], [], 0, 0
    for r in records:
        layer, info = r["layer"], r["info"]
        line, height = info["eps"] * layer.get("batch", 1), layer.get("h_total", layer["h"])
        if kept and not layer.get("data_reuse"):
            data.append(kept)
        if kept_weights and not layer.get("weight_reuse"):
            weights.append(kept_weights)
        lines = 0 if layer.get("skip_data") else layer.get("rls", height)
        data += [line * lines] * (lines > 0)
        kept = line * (height - lines)
        kept_weights = info["wbytes"] // m.entry if layer.get("skip_weight") else 0
        if not kept_weights:
            group = m.row_programming()["KG"][layer["prec"]]
            ends = [0] + [ceil_div(min(layer["k"], n + group) * info["bpk"], m.entry) for n in range(0, layer["k"], group)]
            weights += [b - a for a, b in zip(ends, ends[1:])]
    pulses = lambda n: [t for s, k in probes[n]["runs"] for t in range(s, s + k)]
    return dict(zip(pulses("sc2cdma_dat_updt"), data)), dict(zip(pulses("sc2cdma_wt_updt"), weights))


def judge_fetch(case, m, models, records):
    e, mem = case["expected"], case["memory"]
    if any(r["layer"].get("mode", "dc") != "dc" or r["layer"].get("areas") for r in records):
        return None
    if any(r["layer"].get(x) for r in records for x in ("fly", "bs", "bn", "ew")):
        return None
    if any(r["layer"].get(x, 1) == 0 for r in records for x in ("iram", "wram", "fly")):
        return None
    if truncated(e, "sc2cdma_dat_updt", "sc2cdma_wt_updt"):
        return None
    ports = models.core.bus_times(case)
    enables = [t for (n, *_), t in zip(case["program"], ports) if n == "CDMA.D_OP_ENABLE"]
    original = models.fetch.releases

    def releases(c):
        got = original(dict(c, program=[x for x in c["program"] if x[0] != "WAIT_INTR"]))
        got["rel_dat"], got["rel_wt"] = released(e["probes"], m, records)
        got["t_en"] = {i: t + 5 - got["csb"] for i, t in enumerate(enables)}
        return got

    simulate = models.fetch.simulate

    def remember(*arguments):
        result = simulate(*arguments)
        models.last_starts = result["op"]
        return result

    models.fetch.releases, models.fetch.simulate = releases, remember
    models.fetch.MARKS.clear()
    try:
        return [str(x) for x in models.fetch.compare(case)]
    finally:
        models.fetch.releases, models.fetch.simulate = original, simulate


def judge_write(case, m, models, records):
    mem, e = case["memory"], case["expected"]
    models.write.INTERVALS[:] = [mem.get("command_interval", 1), mem.get("write_interval", 1)]
    if truncated(e, "cacc2sdp_valid", "cacc2sdp_ready", "sdp2mcif_wr_req_valid"):
        return None
    if any(r["layer"].get(x) for r in records for x in ("bs", "bn", "ew")) or any(r["layer"].get(x, 1) == 0 for r in records for x in ("oram", "fly")):
        return None
    if len(e["aw"]) == 400 or end_of(e) > 390000:     # the model's own end
        return None
    models.write.STALLS.clear(), models.operands.READS.clear()
    result, got = models.write.compare(case)
    return [f"{k}: {got['interrupt_cycles']} {e['interrupt_cycles']}" for k, v in result.items() if not v]


def with_responses(events, memory):
    """The read responses of SDP in the configurable generation, from the read commands of all clients."""
    letter = {1: "", 5: "_b", 6: "_n", 7: "_e"}
    beats, after = collections.defaultdict(list), -NEVER
    for cycle, _, count, client in events["ar"]:
        for _ in range(count):
            after = max(cycle + memory["read_latency"], after + memory["beat_interval"])
            if client in letter:
                beats[letter[client]].append([after + 3, 1])
    return dict(events, probes=events["probes"] | {f"mcif2sdp{x}_rd_rsp_valid": {"runs": runs} for x, runs in beats.items()})


def judge_operands(case, m, models, records):
    mem, e = case["memory"], case["expected"]
    if "command_interval" in mem or any("ports" in r["layer"] for r in records) or truncated(e, "sdp2mcif_wr_req_valid", "cacc2sdp_valid") or len(e["aw"]) == 400 or len(e["ar"]) == 400:
        return None
    models.write.INTERVALS[:] = [1, mem.get("write_interval", 1)]
    models.write.STALLS.clear(), models.operands.READS.clear()
    flying = any(r["layer"].get("fly", 1) for r in records)
    if flying:
        for n in ("mcif2cdma_dat_rd_rsp_ready", "mcif2cdma_wt_rd_rsp_ready"):
            if e["probes"][n]["active"] != end_of(e):
                return None         # a held beat of CDMA delays those of SDP: not visible in the commands alone
        names = [x[0] for x in case["program"]]
        if "SDP_RDMA.D_OP_ENABLE" in names and names.index("MARK") - names.index("SDP_RDMA.D_OP_ENABLE") > 7:
            return None             # operands come before the recording, which is what the model hears
        if not m.full:
            case = dict(case, expected=with_responses(e, mem))
    try:
        got = models.operands.simulate(case)
    except IndexError:
        if m.full and flying:
            return None             # its arbiter has not seen CDMA's requests: another reader's turn
        raise
    if flying and any(x[0] <= 0 for x in got["ar"]):
        return None
    requests = [[max(a, 1), n - max(0, 1 - a)] for a, n in got["wr"] if a + n > 1]
    after = lambda commands: [x for x in commands if x[0] > 0]      # the model has no t0 before that
    result = dict(irq=got["interrupt_cycles"] == e["interrupt_cycles"], aw=after(got["aw"]) == after(e["aw"]),
                  wr=requests == e["probes"]["sdp2mcif_wr_req_valid"]["runs"], ar=flying or after(got["ar"]) == after(e["ar"]))
    return [f"{k}: {got['interrupt_cycles']} {e['interrupt_cycles']}" for k, v in result.items() if not v]


def judge_counters(case, m, models, records):
    """Stall and latency counters of CDMA that the program read, from the events of the last run of cdma_fabric."""
    reads = [x for x in case["expected"].get("reads", []) if x[0].startswith("CDMA.D_PERF")]
    if not reads:
        return None
    bad, marks, ports = [], models.fetch.MARKS, models.core.bus_times(case)
    starts = models.last_starts + [NEVER]
    for index, layer in enumerate(range(max(0, len(records) - 2), len(records))):
        inside = [x for x in marks if starts[layer] <= x[0] < starts[layer + 1]]
        want = {}
        for name, request, done in (("DAT", "d", "D"), ("WT", "w", "W")):
            want[f"CDMA.D_PERF_{name}_READ_STALL"] = sum(x[2] for x in inside if x[1] == request)
            change = collections.Counter()
            for x in inside:
                change[x[0]] += (x[1] == request and x[3]) - (x[1] == done)
            open_, total, before = 0, 0, None
            for t in sorted(change):
                total += (t - before) * (open_ > 0) if before is not None else 0
                open_, before = open_ + change[t], t
            want[f"CDMA.D_PERF_{name}_READ_LATENCY"] = total if name == "DAT" or m.full else 0
        got = dict(map(tuple, reads[4 * index:4 * index + 4]))
        bad += [f"layer {layer} {k} {got[k]} instead of {v}" for k, v in want.items() if got[k] != v]
    return bad


def judge_pixels(case, m, models, records):
    """Update messages of the image and Winograd fetchers from the response beats, layer by layer."""
    e, layers = case["expected"], [r["layer"] for r in records]
    ports = [f"{x}_{y}" for x in ("cdma_dat2mcif_rd_req", "mcif2cdma_dat_rd_rsp") for y in ("valid", "ready")]
    if any(x.get("mode", "dc") == "dc" or x.get("iram", x.get("ram", 1)) == 0 or x.get("data_reuse") for x in layers) or truncated(e, *ports):
        return None
    expand = lambda n: [t for a, k in e["probes"][n]["runs"] for t in range(a, a + k)]
    (asked, valid), (takes, ready) = map(expand, ports[::2]), (set(expand(n)) for n in ports[1::2])
    want, seen = expand("cdma2sc_dat_updt"), [(int(x[1], 16), x[2]) for x in e["ar"] if x[3] == 8]
    row, order, bad = models.fetch.CFG[m.name], [], []
    for record in records:
        image = record["layer"]["mode"] == "img"
        registers = {n[5:]: v for n, v in record["writes"] if n.startswith("CDMA.")}
        made = models.image.requests(m.name, registers) if image else models.winograd.requests(registers)
        real = [x for x in made if x["addr"] is not None]
        order += [b[:2] for x in real for chunk in models.fetch.split_beats(x["addr"], x["n"], m.atom, m.full, row["blk"]) for b in chunk]
        atoms = [min(2 if m.full else 1, x["n"] - i) for x in real for i in range(0, x["n"], 2 if m.full else 1)]
        # what of the ports belongs to this layer
        first = asked[0] + 2
        requests, beats = [t for t in asked if t in takes][:len(real)], [t for t in valid if t in ready][:len(atoms)]
        if len(requests) != len(real) or len(beats) != len(atoms):
            return [f"{len(requests)} requests and {len(beats)} response beats instead of {len(real)} and {len(atoms)}"]
        inside = [t for t in valid if t <= beats[-1]]
        if not m.full:
            got, _, took = models.image.updates_cfg(m.name, registers, set(inside), first)
            wrong = [t for t in range(first, beats[-1]) if (t in took) != (t in ready)]
            bad += [f"ready differs at {wrong[0]}"] if wrong else []
        elif image:
            got = models.image.updates(m.name, registers, list(zip(beats, atoms)), first)[0]
        else:
            got = models.winograd.updates(registers, list(zip(beats, atoms)))
        bad += [] if got == want[:len(got)] else [f"updates {got[:6]} {want[:6]}"]
        asked, valid, want = [t for t in asked if t > requests[-1]], [t for t in valid if t > beats[-1]], want[len(got):]
    return bad + (["order of the read commands"] if seen != order[:len(seen)] else []) + (["more updates"] if want else [])


def judge_second(case, m, models, records):
    """One layer with everything at the secondary port: the machine of the models has that port's bursts, and no other port."""
    e = case["expected"]
    if len(e["cvsram_ar"]) == 400 or len(e["cvsram_aw"]) == 400 or truncated(e, "cacc2sdp_valid"):
        return None
    burst, m.burst = m.burst, m.burst2
    models.enter(m)
    try:
        probes = {k: v for k, v in e["probes"].items() if "mcif" not in k}
        blank = {"active": 0, "first": -1, "last": -1, "runs": []}
        for port in ("cdma_dat2mcif_rd_req", "mcif2cdma_dat_rd_rsp", "cdma_wt2mcif_rd_req", "mcif2cdma_wt_rd_rsp"):
            probes[port + "_ready"] = blank | {"active": end_of(e)}      # defines the recorded cycles
        seen = dict(e, probes=probes, ar=e["cvsram_ar"], aw=e["cvsram_aw"], dbb=e["cvsram"])
        here = dict(case, expected=dict(seen, probes=probes | {
            "cdma_wt2mcif_rd_req_valid": blank, "sdp2mcif_wr_req_valid": blank}))
        rows = [{"layer": {k: v for k, v in r["layer"].items() if not k.endswith("ram")}} for r in records]
        models.write.INTERVALS[:] = [1, 1]
        if rows[0]["layer"].get("fly", 1) == 0:
            result, _ = models.operands.compare(here)
            return [k for k, v in result.items() if not v and k != "wr"]
        if any(rows[0]["layer"].get(x) for x in ("bs", "bn", "ew")):
            result, _ = models.operands.compare(dict(here, expected=with_responses(here["expected"], case["memory"])))
            return [k for k, v in result.items() if not v and k != "wr"]
        result, _ = models.write.compare(here)
        bad = [k for k, v in result.items() if not v and k != "wr"]
        return bad + [str(x) for x in models.fetch.compare(here) if "notready exp" not in x and x[0] != "cdma_wt2mcif_rd_req_valid"]
    finally:
        m.burst = burst
        models.enter(m)


def judge_copy(case, records, events):
    """BDMA: every region must hold what the descriptors say."""
    memory = {}
    for f in case["memory_fill"]:
        memory[int(f["addr"], 16)] = generate_bytes(f["seed"], f["bytes"])
    bad = []
    for r, got in zip(records[0]["copies"], events["output"]):
        d, want = r["copy"], bytearray(r["bytes"])
        for s in range(d["surfs"]):
            for n in range(d["lines"]):
                a, b, k = s * d["src_surf"] + n * d["src_line"], s * d["dst_surf"] + n * d["dst_line"], d["atoms"] * 32
                want[b:b + k] = memory[d["src"]][a:a + k]
        if f"{zlib.crc32(bytes(want)):08x}" != got["crc32"]:
            bad.append(f"copy to {r['addr']}")
    return bad


class Crash(Exception):
    pass


def replay(dlasim, case, folder, *flags):
    path, events = os.path.join(folder, "case.json"), os.path.join(folder, "events.json")
    Path(path).write_text(json.dumps(case))
    try:
        run = subprocess.run([dlasim, "replay", path, "--quiet", "--events", events, *flags], capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        raise Crash("no end in 300 s")
    if run.returncode != 0:
        raise Crash(f"exit {run.returncode}: {(run.stderr or run.stdout).strip()[:900]}")
    return Path(events).read_bytes()


def check(options, models, kind, m, seed, folder):
    """-> (outcome per oracle, case) or None"""
    rng = random.Random(f"{kind}/{m.name}/{seed}")
    if m.overlay:
        m = between(rng)
    models.enter(m)
    made = make(rng, m, models, kind)
    if made is None:
        return None
    case, records = made
    case["id"] = f"{kind}/{m.name}/{seed}"
    outcome = {}
    try:
        if kind == "soft":
            found = judge_software(rng, case, records, m, lambda c: json.loads(replay(options.dlasim, c, folder)))
            return None if found is None else ({"software": found}, case)
        text = replay(options.dlasim, case, folder)
        events = json.loads(text)
        waits = sum(1 for x in case["program"] if x[0] == "WAIT_INTR")
        outcome["finish"] = [] if len(events["interrupt_cycles"]) >= (1 if waits else 0) else ["no interrupt"]
        if options.stepping:
            outcome["stepping"] = [] if replay(options.dlasim, case, folder, "--stepping") == text else ["stepping and skipping differ"]
        fast = dict(case, memory={"read_latency": 1, "beat_interval": 1, "write_latency": 1} if case["memory"]["read_latency"] > 20 else
                    {"read_latency": 300, "beat_interval": 7, "write_latency": 33})
        if options.other_memory:
            other = json.loads(replay(options.dlasim, fast, folder))
            crc = lambda x: [o["crc32"] for o in x["output"]]
            outcome["data"] = [] if crc(other) == crc(events) else ["output depends on the speed of memory"]
        if kind not in ("bdma", "moves", "pool", "lrn") and options.other_memory:
            alone = judge_alone(options.dlasim, case, records, events, m, folder)
            if alone is not None:
                outcome["alone"] = alone
            if kind == "partial":
                whole = judge_whole(options.dlasim, case, records, events, m, models, folder)
                if whole is not None:
                    outcome["whole"] = whole
    except Crash as error:
        text = str(error)
        if "software waits for interrupt" in text and all(f"{u:10}idle" in text for u in ("CACC", "CSC", "SDP") + ("RBK",) * m.full):
            return {"merged interrupts": []}, case     # two layers ended before one write cleared both: the program cannot know
        return {"finish": [text]}, case
    judged = dict(case, config=m.name, expected=events)
    if kind in ("dc", "edge", "stall", "cvsram", "seq", "long", "mix", "keep", "reuse", "perf"):
        values = judge_values(case, records, events, m, models)
        if values is not None:
            outcome["values"] = values
    if kind in ("sa", "post"):
        numbers = judge_numbers(case, records, events, m, models)
        if numbers is not None:
            outcome["numbers"] = numbers
    oracles = {"core": lambda: judge_core(judged, models, records), "fetch": lambda: judge_fetch(judged, m, models, records),
               "pixels": lambda: judge_pixels(judged, m, models, records), "counters": lambda: judge_counters(judged, m, models, records) if "fetch" in outcome else None,
               "write": lambda: judge_write(judged, m, models, records), "operands": lambda: judge_operands(judged, m, models, records),
               "stalls": lambda: cross_check_sdp.judge_stalls(judged, None if any(r["layer"].get("fly", 1) for r in records) else models.operands.READS, models.write.STALLS, records) if {"operands", "write"} & set(outcome) else None}
    if kind == "bdma":
        outcome["copy"], oracles = judge_copy(case, records, events), {}
    elif kind == "moves":
        outcome["moves"], oracles = cross_check_moves.judge_moves(case, records, events, generate_bytes), {}
    elif kind in ("pool", "lrn"):
        oracles = {"planar": lambda: cross_check_planar.judge(judged, kind, m, models, events)}
    elif kind == "second":
        core = oracles["core"]
        oracles = {"second": lambda: judge_second(judged, m, models, records)}
        if records[0]["layer"].get("fly", 1):
            oracles["core"] = core
    elif kind in ("sa", "post"):
        oracles = {x: oracles[x] for x in ("operands", "stalls")}
    elif kind != "fly":
        oracles.pop("operands")
    for name, oracle in oracles.items():
        try:
            result = oracle()
        except Exception as error:
            result = [f"model failed: {error!r}"]
        if result is not None:
            outcome[name] = result
    return outcome, dict(judged, config=case["config"])


KINDS = "net,perf,dc,seq,long,img,wg,batch,wcomp,reuse,partial,stall,cvsram,mix,fly,sa,post,bdma,moves,second,keep,edge,soft,pool,lrn"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", default="build/dlasim")
    parser.add_argument("--kinds", default=KINDS)
    parser.add_argument("--configs", default="", help="preset names, or between")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="programs a kind and machine")
    parser.add_argument("--every", type=int, default=1, help="one of this number of them is played: with 3 each kind on others of the machines")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--no-stepping", dest="stepping", action="store_false")
    parser.add_argument("--no-other-memory", dest="other_memory", action="store_false")
    options = parser.parse_args()
    models = Models(HERE.parent / "docs" / "hardware" / "models")
    machines = PRESETS + [Machine("between", 8, 8, 8, 32, 512, 1, 1, 1, 64, False, False, overlay={})]
    machines[-1].overlay = {"preset": "nv_small"}
    machines = [x for x in machines if not options.configs or x.name in options.configs.split(",")]
    table, started, failures, turn = collections.defaultdict(collections.Counter), time.time(), 0, -1
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            for kind in options.kinds.split(","):
                for m in machines:
                    turn += 1
                    if turn % options.every != 0:
                        continue
                    if time.time() - started > options.seconds:
                        break
                    result = check(options, models, kind, m, seed, folder)
                    if result is None:
                        continue
                    outcome, case = result
                    table[kind]["programs"] += 1
                    wrong = {k: v for k, v in outcome.items() if v}
                    for k, v in outcome.items():
                        table[kind][k] += 1
                        table[kind][k + "!"] += bool(v)
                    if wrong:
                        failures += 1
                        print(f"{kind}/{m.name}/{seed} {case['memory']}")
                        for k, v in wrong.items():
                            print(f"    {k}: {'; '.join(v)[:500]}", flush=True)
                        if options.keep:
                            options.keep.mkdir(parents=True, exist_ok=True)
                            (options.keep / f"{kind}_{m.name}_{seed}.json").write_text(json.dumps(case))
    for kind, row in table.items():
        print(f"{kind:8} {row['programs']:5} programs  " + "  ".join(
            f"{k} {row[k] - row[k + '!']}/{row[k]}" for k in sorted(row) if not k.endswith("!") and k != "programs"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
