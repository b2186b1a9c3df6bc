"""What software sees of running layers, for cross_check.py: reads in the middle of a run, writes to a busy group, unmasked interrupts.

The cycles in which units end a layer are taken from the events of a run without any of that. A model of the register bus, the
register groups, GLB and the interrupt pin, written from csb.md and interfaces.md 3, derives from them what every read returns and
when the pin rises; data and timing of the layers must not change.
"""
from cross_check_models import Bus

UNITS = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP")
RETIMED = ("CMAC_A", "CMAC_B", "CACC")
# A register of a group and the bits it keeps.
SCRATCH = {"CSC.D_ATOMICS": 0x1FFFFF, "CACC.D_CLIP_CFG": 0x1F, "CMAC_B.D_MISC_CFG": 0x3001, "SDP.D_CVT_OFFSET": 0xFFFFFFFF,
           "CDMA.D_WEIGHT_SIZE_1": 0x1FFF}
COUNTERS = tuple(f"CDMA.D_PERF_{x}_READ_{y}" for x in ("DAT", "WT") for y in ("STALL", "LATENCY"))
HORIZON = 2_000_000


def cycles(probe):
    return [t for start, length in probe["runs"] for t in range(start, start + length)]


class Sight:
    """Cycles, relative to t0, that software can see: done pulses of units and rises of GLB status bits."""

    def __init__(self, events, m, records):
        probes = events["probes"]
        self.done, self.rises = {}, []
        clock_end = lambda name: probes[name]["last"] - 3
        if len(records) == 1:
            self.done = {"CDMA": clock_end("clock_on_cdma"), "CSC": clock_end("clock_on_csc"), "CMAC_A": clock_end("clock_on_cmac_a"),
                         "CMAC_B": clock_end("clock_on_cmac_a") - m.full, "CACC": clock_end("clock_on_cacc")}
            if probes["sdp2mcif_wr_req_ready"]["active"] == max(p["active"] for n, p in probes.items() if n.endswith("_ready")):
                self.done["SDP"] = probes["sdp2mcif_wr_req_valid"]["last"] - m.full     # L + 1, sdp.md 2.3
        updates, messages = cycles(probes["cdma2sc_dat_updt"]), cycles(probes["cdma2sc_wt_updt"])
        taken = sorted(set(cycles(probes["cacc2sdp_valid"])) & set(cycles(probes["cacc2sdp_ready"])))
        for index, r in enumerate(records):
            layer, info = r["layer"], r["info"]
            image = layer.get("mode") == "img"
            grain = 1 if image or not layer.get("pack", 0x10001) & 1 else layer.get("grain", 1)
            lines, groups = -(-layer["h"] // grain), -(-layer["k"] // m.row_programming()["KG"][layer["prec"]])
            per = m.k // m.tp if not m.full else 2 if layer["prec"] == "int8" else 1
            beats = info["OW"] * info["OH"] * groups * per
            last = lambda source, count: (source[count - 1], source.__delitem__(slice(0, count)))[0]
            self.rises.append((last(updates, lines) + (4 if image else 1), 1 << 16 + index))      # cdma.md 4.8, 5.6
            self.rises.append((last(messages, groups) + 9, 1 << 18 + index))                       # cdma.md 7.5
            self.rises.append((last(taken, beats) + (5 if m.full else 3), 1 << 20 + index))        # cacc.md 3.7
        assert not updates and not messages and not taken
        self.rises += [(t - 4, 1 << index) for index, t in enumerate(events["interrupt_cycles"])]


def entries(rng, records, sight):
    """What software does while the layers run."""
    masks = [0x3FFFFC, 0x3FFFFC, 0, 0x0FFFFC, 0x30FFFC, 0x33FFFC, 0x3CFFFC]
    out = []
    for _ in range(rng.randint(1, 14)):
        choice = rng.random()
        if choice < 0.25:
            out.append(["READ", "GLB.S_INTR_STATUS"])
        elif choice < 0.55 and sight.done:
            unit = rng.choice(list(sight.done))
            out.append(["READ", f"{unit}.{rng.choice(['S_STATUS', 'S_POINTER', 'D_OP_ENABLE'])}"])
        elif choice < 0.65 and sight.done:
            out.append(["READ", rng.choice(COUNTERS)])
        elif choice < 0.85 and sight.done:
            name = rng.choice([x for x in SCRATCH if x.split(".")[0] in sight.done])
            out += [[name, rng.randint(0, 0xFFFFFFFF)], ["READ", name]]
        elif choice < 0.92:
            out.append(["GLB.S_INTR_SET", rng.choice([4, 8, 16, 32])])
        elif choice < 0.97:
            out.append(["GLB.S_INTR_MASK", rng.choice(masks)])
        else:
            out.append(["GLB.S_INTR_STATUS", rng.choice([0xFFFFFFFF, 0x3C])])
    out.insert(rng.randint(0, len(out)), ["GLB.S_INTR_MASK", rng.choice(masks)])
    return out


def predict(program, sight, counters):
    """-> cycles of the rising pin, reads, whether the program ends."""
    bus, port, now, position, phase, t0, accepted_at = Bus(), [], 0, 0, None, None, None
    status, mask, sets, clears, masks = 0, 0, {}, {}, {}
    seen, pins, rising, reads, response = {}, [], [], [], None
    enabled, registers, producer = {}, {}, dict.fromkeys(UNITS, 0)
    settled = 0
    while position < len(program) and now < HORIZON:
        # GLB: events of this cycle are visible in it
        mask = masks.pop(now, mask)
        relative = None if t0 is None else now - t0
        rise = 0 if relative is None else sum(b for t, b in sight.rises if t == relative)
        cleared, setting = clears.pop(now, 0), sets.pop(now, 0) | rise
        status = status & ~cleared | setting
        settled = 0 if cleared or setting or masks or sets or clears else settled + 1
        pins.append(bool(status & ~mask & 0x3F03FF))
        pin = len(pins) > 4 and pins[-5]
        if pin and not (len(pins) > 5 and pins[-6]) and relative is not None:
            rising.append(relative)
        # the next request
        while position < len(program) and program[position][0] == "MARK":
            t0 = accepted_at
            position += 1
        if position == len(program):
            break
        name, value = program[position][0], program[position][1]
        request = None
        if name == "WAIT_INTR":
            if phase is None and pin:
                phase = "clear"
            if phase == "clear":
                request = ("GLB.S_INTR_STATUS", 0xFFFFFFFF)
            elif phase == "low" and not pin:
                phase, position = None, position + 1
                pins.pop()          # the entry after it is offered in this very cycle
                continue
        elif name == "READ":
            request = ("READ", value) if phase is None else None
            if phase == "answer" and response is not None and response[0] == now:
                reads.append([value, response[1]])
                phase, response, position = None, None, position + 1
        else:
            request = (name, value)
        if bus.clk(now, request):
            if name == "WAIT_INTR":
                phase, accepted_at = "low", now
            elif name == "READ":
                phase = "answer"
            else:
                accepted_at, position = now, position + 1
        # requests at the units
        while bus.out and bus.out[0][0] == now:
            word = bus.out.pop(0)[1]
            target = word[1] if word[0] == "READ" else word[0]
            port.append((now + (3 if target.split(".")[0] in RETIMED and sight.full else 0) + 1, word))
        for decode, word in [x for x in port if x[0] == now]:
            port.remove((decode, word))
            target = word[1] if word[0] == "READ" else word[0]
            unit, register = target.split(".")

            def busy(group):
                since = enabled.get((unit, group))
                done = sight.done.get(unit, 1 << 60) + (t0 if t0 is not None else accepted_at or 0) if group == 0 else 1 << 60
                return since is not None and since <= now and not since <= done < now

            if word[0] == "READ":
                over = unit in sight.done and t0 is not None and now > sight.done[unit] + t0
                got = {"S_STATUS": lambda: int(busy(0)) | busy(1) << 17, "S_POINTER": lambda: producer[unit] | over << 16,
                       "D_OP_ENABLE": lambda: int(busy(producer[unit])), "S_INTR_STATUS": lambda: status}.get(register)
                answer = got() if got else (counters[target] if over else 0) if target in COUNTERS else registers.get((target, producer[unit]), 0)
                response = (now + 9 + (3 if unit in RETIMED and sight.full else 0), answer)
            elif unit == "GLB":
                if register == "S_INTR_MASK":
                    masks[now + 1] = word[1] & 0x3F03FF
                elif register == "S_INTR_SET":
                    sets[now + 1] = sets.get(now + 1, 0) | word[1] & 0x3F03FF
                elif register == "S_INTR_STATUS":
                    clears[now + 1] = word[1]
            elif register == "S_POINTER" and unit in producer:
                producer[unit] = word[1] & 1
            elif unit in producer and not busy(producer[unit]):
                if register == "D_OP_ENABLE":
                    enabled[unit, producer[unit]] = now + 1
                else:
                    registers[target, producer[unit]] = word[1] & SCRATCH.get(target, 0xFFFFFFFF)
        now += 1
        if name == "WAIT_INTR" and phase != "clear" and t0 is not None and settled > 40 and now - t0 > max(t for t, _ in sight.rises) + 40:
            return rising, reads, False         # nothing will move the pin any more
    # the recording goes on for 64 cycles
    for t in range(now, now + 64):
        status = status & ~clears.pop(t, 0) | sets.pop(t, 0) | (0 if t0 is None else sum(b for at, b in sight.rises if at == t - t0))
        mask = masks.pop(t, mask)
        pins.append(bool(status & ~mask & 0x3F03FF))
        if pins[-5] and not pins[-6]:
            rising.append(t - t0)
    return rising, reads, now < HORIZON


def judge_software(rng, case, records, m, replay):
    """-> deviations; None if the program has no end."""
    waits = [x for x in case["program"] if x[0] == "WAIT_INTR"]
    plain = [x for x in case["program"] if x[0] != "WAIT_INTR"]
    reads = [["READ", x] for x in COUNTERS] if len(records) == 1 else []
    quiet = replay(dict(case, program=plain + waits + reads))
    if len(quiet["interrupt_cycles"]) != len(records) or any(len(quiet["probes"][n]["runs"]) == 400 for n in (
            "cdma2sc_dat_updt", "cdma2sc_wt_updt", "cacc2sdp_valid", "cacc2sdp_ready")):
        return None
    sight = Sight(quiet, m, records)
    sight.full = m.full
    counters = dict(map(tuple, quiet["reads"]))
    busy = entries(rng, records, sight)
    for count in range(6):
        program = plain + busy + [["GLB.S_INTR_MASK", 0x3FFFFC]] * (count > 3) + [["WAIT_INTR", "SDP_0"]] * count
        rising, want, ends = predict(program, sight, counters)
        if count and not ends:
            count -= 1
            program = program[:-1]
            rising, want, ends = predict(program, sight, counters)
            break
    if not ends:
        return None
    loud = replay(dict(case, program=program))
    bad = []
    if loud["interrupt_cycles"] != rising:
        bad.append(f"pin rises {loud['interrupt_cycles']} instead of {rising}")
    if loud.get("reads", []) != want:
        bad.append(f"reads {[(a, b) for a, b in zip(loud.get('reads', []), want) if a != b]}")
    end = min(max(p["active"] for n, p in e["probes"].items() if n.endswith("_ready")) for e in (quiet, loud))
    for name, probe in quiet["probes"].items():
        inside = lambda p: [t for t in cycles(p) if t <= end]
        if not name.endswith("_gap") and len(probe["runs"]) < 400 and inside(probe) != inside(loud["probes"][name]):
            bad.append(f"{name} is another")
    return bad
