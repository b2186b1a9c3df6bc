"""SDP with everything it has, for cross_check.py: layers of kind `post`, the models' missing stages, and what the layers write.

Layers alone and after CACC in any order: lines, surfaces and operands that are not packed, bases at any atom, PReLU and converters in
all engines, look-up tables, the readers enabled before or after SDP, features, operands and output at either port.
"""
import sys
import zlib

class Contexts:
    """Context queue of sdp.md 2.8, a RAM FIFO of 2.1: entry and output register.

    An operand reader's entry is popped with the last word of its request. MRDMA's goes through one register into a FIFO of four for the side
    that writes words and one for the side that reads beats (open_points.md F3), as soon as both have space.
    """

    def __init__(self, row, name):
        self.size = dict(m=80, b=160, n=160, e=80)[name] if row["full"] else row["contexts"]
        self.now, self.pushed, self.freed, self.head, self.since = 0, [], [], False, 0
        self.ahead, self.at, self.command, self.waiting, self.done, self.pairs, self.even = name == "m", 0, False, [0, 0], [0, 0], False, True

    def move_ahead(self):
        """MRDMA: every cycle until now."""
        while self.ahead and self.at < self.now:
            moves = self.command and max(self.waiting) < 4
            if moves:
                self.waiting[0] += 1
                self.waiting[1] += not self.pairs or self.even
                self.even = not self.even
            self.shift()
            loads = (not self.command or moves) and self.head and self.since < self.at
            self.command = loads or self.command and not moves
            if loads:
                self.head = False
                self.shift()
            self.waiting = [w - d for w, d in zip(self.waiting, self.done)]
            self.done = [0, 0]
            self.at += 1

    def shift(self):
        """The next entry moves to the output register: its slot takes another one two cycles later."""
        now = self.at if self.ahead else self.now
        if not self.head and self.pushed and self.pushed[0] + 2 <= now:
            self.pushed.pop(0)
            self.head, self.since = True, now
            self.freed.append(now + 2)

    def ready(self):
        self.move_ahead()
        self.shift()
        self.freed = [t for t in self.freed if t > self.now]
        return len(self.pushed) + len(self.freed) < self.size

    def push(self):
        self.pushed.append(self.now)

    def pop(self, side):
        """The last word (side 0) or beat (side 1) of a request has been used."""
        if self.ahead:
            self.move_ahead()
            self.done[side] += 1
            return
        self.shift()
        self.head = False
        self.shift()


def counted(engine, *sides):
    """A read engine that notifies the context queue of the last word, and the last beat, of its requests."""
    import collections

    class Sizes(collections.deque):
        def popleft(self):
            self.contexts.pop(self.side)
            return super().popleft()

    class Engine(engine):
        def start(self, geometry):
            super().start(geometry)
            self.contexts.pairs, self.contexts.even = bool(geometry.get("m168")) and self.cf["full"], True
            for side, name in enumerate(sides):
                sizes = Sizes(getattr(self, name))
                sizes.contexts, sizes.side = self.contexts, side
                setattr(self, name, sizes)

    return Engine


def extend(models):
    """Parts of sdp.md that the models skip: 2.5, 2.6 and 2.8: BS and BN narrower than a beat, the look-up table, the context queue."""
    operands = sys.modules["sdp_rdma"] = models.operands
    import sdp_rdma_full as full
    stages = operands.__dict__

    def with_table(engine, table):
        class Engine(engine):
            def __init__(self, cfg, *rest):
                super().__init__(cfg, *rest)
                self.o = stages["Chain"](([] if cfg & 64 else table()) + [self.o])
        return Engine

    skid, skid_b, fifo = stages["SkidPipe"], stages["SkidPipeB"], stages["FifoR"]
    operands.YC = with_table(operands.YC, lambda: [skid() for _ in range(4)] + [skid_b(), fifo(2), skid_b()] + [skid() for _ in range(3)])
    operands.MrdmaC, operands.OpC = counted(operands.MrdmaC, "wcmd", "dcmd"), counted(operands.OpC, "wcmd")
    full.Mrdma, full.Op = counted(full.Mrdma, "w", "d"), counted(full.Op, "wc")
    plain = operands.mgeom

    def geometry(row, registers):
        """One pixel of 16 bits for 8: both halves of all its surfaces, sdp.md 1.5."""
        g = plain(row, registers)
        mode, one = registers["D_FEATURE_MODE_CFG"], not registers["D_DATA_CUBE_WIDTH"] and not registers["D_DATA_CUBE_HEIGHT"]
        if row["full"] and one and mode >> 2 & 3 == 1 and not mode >> 4 & 3:
            atoms = 2 * (registers["D_DATA_CUBE_CHANNEL"] // 32 + 1)
            g |= dict(cmds=[(registers["D_SRC_BASE_ADDR_LOW"], atoms)], sizes=[atoms], pix=atoms)
        return g

    operands.mgeom = geometry
    full.Y = with_table(full.Y, lambda: [stages["Hls"](6), stages["Pipe"](), fifo(2), stages["PipeSkid"](), stages["Hls"](13)])


# ---- layers

def engine(rng, m, prec, name):
    """A use of BS, BN or EW; keys as in cross_check_programs.sdp_operand."""
    x = dict(bytes=2 if prec != "int8" else rng.choice([1, 2]), mode=rng.choice(["element", "kernel"]))
    x["alu"], x["mul"] = rng.choice([("mem", None), (None, "mem"), ("mem", "mem"), ("mem", "mem"), ("mem", "reg"), ("reg", "mem"), ("reg", None), (None, "reg"), (None, None)])
    x |= dict(algo=rng.choice([0, 1, 2, 2, 2]), mul_shift=rng.choice([0, 3, rng.randint(0, 20), rng.randint(0, 63)]), alu_val=rng.getrandbits(16), mul_val=rng.getrandbits(16))
    x["prelu"] = int(x["mul"] is not None and rng.random() < 0.3)
    x["gap"], x["surface_gap"] = rng.choice([0, 0, 1, 2, 5]), rng.choice([0, 0, 1, 3])
    if name == "ew":
        x |= dict(relu=0, alu_val=rng.getrandbits(32), mul_val=rng.choice([rng.getrandbits(32), rng.randint(1, 300)]), table=int(rng.random() < 0.4),
                  cvt={t: (rng.randint(-300, 300), rng.randint(-200, 200), rng.choice([0, 2, 7, 40])) if rng.random() < 0.5 else None for t in ("alu", "mul")})
        x["algo"] = x["algo"] if prec == "fp16" else rng.choice([0, 1, 2])
    else:
        x |= dict(alu_shift=rng.choice([0, 0, 1, 5, 20, 40]), relu=int(rng.random() < 0.3))
    return x


def layers(rng, m, draw):
    """One to four layers."""
    size = lambda large: rng.choice([1, 2, rng.randint(1, max(1, large // 4)), rng.randint(1, large), large])
    made = []
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        if rng.random() < 0.6:
            prec = rng.choice(["int8", "int8", "int16", "fp16"]) if m.full else "int8"
            layer = dict(fly=0, prec=prec, w=size(19), h=size(9), c=size(3 * m.atom))
            if rng.random() < 0.15:            # a column: many small requests
                layer |= dict(w=rng.choice([1, 2]), h=rng.randint(20, 90), c=rng.randint(1, m.atom))
            if m.full and prec == "int8" and rng.random() < 0.4:
                layer[rng.choice(["oprec", "iprec"])] = "int16"
            if m.full and prec != "int8" and rng.random() < 0.3:
                layer["oprec"] = "fp16" if prec == "int16" else "int16"
        else:
            layer = {k: v for k, v in draw.dc(2500).items() if k not in ("relu", "shift")} | dict(fly=1)
            prec = layer["prec"]
        for name in ("bs", "bn", "ew"):
            if rng.random() < 0.5 and (name != "ew" or m.ew):
                layer[name] = engine(rng, m, prec, name)
        layer["cvt"] = (rng.randint(-99, 99), rng.choice([1, 3, rng.randint(-500, 500)]), rng.choice([0, 4, rng.randint(0, 30)]))
        layer |= dict(gap=rng.choice([0, 0, 1, 3]), surface_gap=rng.choice([0, 0, 1, 2]), in_gap=rng.choice([0, 0, 1, 4]), in_surface_gap=rng.choice([0, 1, 2]), nan=rng.randint(0, 1))
        made.append(layer)
    return made


def any_order(rng, enables):
    """SDP and its readers may be enabled before, between and after the others, and long apart."""
    own = [x for x in enables if x.startswith("SDP")]
    order = [x for x in enables if not x.startswith("SDP")]
    for x in own:
        order.insert(rng.randint(0, len(order)), x)
    for _ in range(rng.choice([0, 0, 1, 10, 40])):
        order.insert(rng.randint(0, len(order) - 1), ("GLB.S_INTR_MASK", 0x3FFFFC))
    return [x if isinstance(x, tuple) else (x, 1) for x in order]


def any_port(rng, layer):
    layer = layer | {x: rng.randint(0, 1) for x in ("iram", "wram", "oram")} | dict(ports=True)
    return layer | {x: layer[x] | dict(ram=rng.randint(0, 1)) for x in ("bs", "bn", "ew") if x in layer}


def table_writes(rng, precision):
    """Both look-up tables and their registers; small inputs meet them."""
    w = []
    for table, n in ((0, 65), (1, 257)):
        w.append(("SDP.S_LUT_ACCESS_CFG", 1 << 17 | table << 16))
        w += [("SDP.S_LUT_ACCESS_DATA", rng.getrandbits(16)) for _ in range(n)]
    value = lambda: rng.choice([rng.randint(-200, 200), rng.randint(-40000, 40000)]) & 0xFFFFFFFF if precision != "fp16" else rng.getrandbits(32)
    w.append(("SDP.S_LUT_CFG", rng.getrandbits(1) | rng.getrandbits(3) << 4))
    w.append(("SDP.S_LUT_INFO", sum((rng.randint(-2, 12) & 255) << 8 * i for i in range(3))))
    w += [(f"SDP.S_LUT_{t}_{x}", value()) for t in ("LE", "LO") for x in ("START", "END")]
    for t in ("LE", "LO"):
        w += [(f"SDP.S_LUT_{t}_SLOPE_SCALE", rng.getrandbits(32)), (f"SDP.S_LUT_{t}_SLOPE_SHIFT", rng.getrandbits(10))]
    return w


# ---- what they write

def judge_stalls(case, reads, writes, records):
    """D_PERF_WDMA_WRITE_STALL and D_PERF_*RDMA_READ_STALL of the last layers, as the models counted. `reads`: one row a layer of SDP_RDMA, None
    where CDMA, whose requests the model does not have, competes."""
    seen, bad = [list(x) for x in case["expected"].get("reads", [])], []
    users = Registers([x for x in case["program"] if x[0] != "READ"]).readers
    if len(writes) != len(records) or reads is not None and len(reads) != sum(map(bool, users)):
        return None
    rows = iter(reads or [])
    rows = [next(rows) if x and reads else {} for x in users]
    got = [[v for n, v in seen if n == "SDP.D_PERF_WDMA_WRITE_STALL"]] + [[v for n, v in seen if n == f"SDP_RDMA.D_PERF_{x}RDMA_READ_STALL"] for x in "MBNE"]
    if not got[0]:
        return None
    if got[0] != writes[-len(got[0]):]:
        bad.append(f"write {got[0]} instead of {writes[-len(got[0]):]}")
    for values, k in zip(got[1:], "mbne"):
        want = [row.get(k) for row in rows[-len(values):]] if values else []
        if any(w is not None and w != v for w, v in zip(want, values)):
            bad.append(f"read {k} {values} instead of {want}")
    return bad


class Registers:
    """Registers of SDP and SDP_RDMA as the layers of a program find them."""

    def __init__(self, program):
        single, groups, producer = {}, {u: [{}, {}] for u in ("SDP", "SDP_RDMA")}, {"SDP": 0, "SDP_RDMA": 0}
        tables, at, self.layers, readers = [[0] * 65, [0] * 257], (0, 0), [], []
        for name, *value in program:
            unit, _, reg = name.partition(".")
            if unit not in producer:
                continue
            value = value[0]
            if reg == "S_POINTER":
                producer[unit] = value
            elif reg == "S_LUT_ACCESS_CFG":
                at = value >> 16 & 1, value & 0x3FF
            elif reg == "S_LUT_ACCESS_DATA":
                tables[at[0]][at[1]] = value
                at = at[0], at[1] + 1
            elif reg == "D_OP_ENABLE":
                (self.layers if unit == "SDP" else readers).append(dict(groups[unit][producer[unit]]))
            elif reg.startswith("S_"):
                single[reg] = value
            else:
                groups[unit][producer[unit]][reg] = value
        self.single, self.tables = single, tables
        self.readers = [readers.pop(0) if self.reads(x) else {} for x in self.layers]

    @staticmethod
    def reads(r):
        """SDP_RDMA takes part."""
        streams = any(not r.get(f"D_DP_{u}_CFG", 1) & (1 | bypass) and r.get(f"D_DP_{u}_{t}_CFG", 0) & 1
                      for u in ("BS", "BN", "EW") for t, bypass in (("ALU", 2), ("MUL", 16)))
        return streams or not r["D_FEATURE_MODE_CFG"] & 1


class Numbers:
    """The bytes a layer leaves, from its registers, memory and sums; every lane by the numerics models."""

    def __init__(self, machine, memory):
        import numerics_cfg
        import numerics_sdp_c
        import numerics_sdp_x
        import numerics_sdp_y
        self.m, self.memory, self.cfg, self.x, self.c, self.y = machine, memory, numerics_cfg, numerics_sdp_x, numerics_sdp_c, numerics_sdp_y
        self.y.FULL = int(machine.full)

    def byte(self, address):
        for start, data in self.memory:
            if start <= address < start + len(data):
                return data[address - start]
        return 0

    def word(self, address, size):
        v = self.byte(address) if size == 1 else self.byte(address) | self.byte(address + 1) << 8
        return v - (1 << 8 * size) if v >> 8 * size - 1 else v

    def operands(self, unit, r, s, e, h, w):
        """ALU and MUL operand of element e of an atom of elements."""
        cfg = r.get({"BS": "D_BRDMA_CFG", "BN": "D_NRDMA_CFG", "EW": "D_ERDMA_CFG"}[unit], 1)
        if cfg & 1:
            return 0, 0
        elements = self.m.atom // (1 if self.proc == 0 else 2)
        size, both = (cfg >> 3 & 1) + 1 if self.proc == 0 else 2, cfg >> 1 & 3 == 2
        step = size * (2 if both else 1)
        at = r[f"D_{unit}_BASE_ADDR_LOW"]
        if not cfg >> 4 & 1 or self.one:
            at += s * elements * step
        else:
            at += s * r[f"D_{unit}_SURFACE_STRIDE"] + h * r[f"D_{unit}_LINE_STRIDE"] + w * elements * step
        at += e * step
        return self.word(at, size), self.word(at + (size if both else 0), size)

    def lane_x(self, unit, r, x, alu, mul):
        c, ac, mc = (r[f"D_DP_{unit}_{n}CFG"] for n in ("", "ALU_", "MUL_"))
        alu, mul = alu if ac & 1 else r[f"D_DP_{unit}_ALU_SRC_VALUE"], mul if mc & 1 else r[f"D_DP_{unit}_MUL_SRC_VALUE"]
        v = dict(alu_bypass=c >> 1 & 1, alu_algo=c >> 2 & 3, mul_bypass=c >> 4 & 1, prelu=c >> 5 & 1, relu_bypass=c >> 6 & 1, alu_shift=ac >> 8 & 63, mul_shift=mc >> 8 & 63)
        if not self.m.full:
            return self.cfg.x_lane(v | dict(x=f"{x:x}", alu_op=alu & 0xFFFF, mul_op=mul & 0xFFFF))
        return self.x.x_lane(v | dict(prec=self.proc, nan_to_zero=self.nan, alu_src=1, mul_src=1), x, alu & 0xFFFF, mul & 0xFFFF)

    def config_y(self, r, single):
        c = r["D_DP_EW_CFG"]
        v = dict(prec=self.proc, nan_to_zero=self.nan, alu_bypass=c >> 1 & 1, alu_algo=c >> 2 & 3, mul_bypass=c >> 4 & 1, prelu=c >> 5 & 1, lut_bypass=c >> 6 & 1,
                 trunc=r["D_DP_EW_TRUNCATE_VALUE"] & 1023)
        for t in ("ALU", "MUL"):
            k = t.lower()
            v |= {f"{k}_src": r[f"D_DP_EW_{t}_CFG"] & 1, f"{k}_cvt_bypass": r[f"D_DP_EW_{t}_CFG"] >> 1 & 1, f"{k}_op": r[f"D_DP_EW_{t}_SRC_VALUE"],
                  f"{k}_cvt_offset": r[f"D_DP_EW_{t}_CVT_OFFSET_VALUE"], f"{k}_cvt_scale": r[f"D_DP_EW_{t}_CVT_SCALE_VALUE"], f"{k}_cvt_trunc": r[f"D_DP_EW_{t}_CVT_TRUNCATE_VALUE"]}
        if not v["lut_bypass"]:
            cfg, info = single["S_LUT_CFG"], single["S_LUT_INFO"]
            lut = dict(le_func=cfg & 1, upri=cfg >> 4 & 1, opri=cfg >> 5 & 1, hpri=cfg >> 6 & 1, le_off=info & 255, le_sel=info >> 8 & 255, lo_sel=info >> 16 & 255)
            for t in ("le", "lo"):
                scale, shift = (single[f"S_LUT_{t.upper()}_SLOPE_{x}"] for x in ("SCALE", "SHIFT"))
                lut |= {f"{t}_start": single[f"S_LUT_{t.upper()}_START"], f"{t}_end": single[f"S_LUT_{t.upper()}_END"],
                        f"{t}_us": scale & 0xFFFF, f"{t}_os": scale >> 16, f"{t}_ush": shift & 31, f"{t}_osh": shift >> 5 & 31}
            v["lut"] = lut
        return v

    def convert(self, r, x):
        out, cvt = r["D_DATA_FORMAT"] >> 2 & 3, (r["D_CVT_OFFSET"], r["D_CVT_SCALE"] & 0xFFFF, r["D_CVT_SHIFT"])
        if not self.m.full:
            return self.cfg.c_lane(dict(x=f"{x:x}", out_prec=out, eql=0, offset=f"{cvt[0]:x}", scale=f"{cvt[1]:x}", trunc=cvt[2]))[0]
        return self.c.c_lane(self.proc, out, cvt[0], cvt[1], cvt[2], 0, x)[0]

    def image(self, r, reader, registers, region, sums):
        """Bytes of the region after the layer. sums(channel, line, column) where it is after CACC."""
        full, atom = self.m.full, self.m.atom
        self.proc, out = r["D_DATA_FORMAT"] & 3, r["D_DATA_FORMAT"] >> 2 & 3
        self.nan = r["D_FEATURE_MODE_CFG"] >> 3 & 1
        width, height, channels = (r[f"D_DATA_CUBE_{x}"] + 1 for x in ("WIDTH", "HEIGHT", "CHANNEL"))
        self.one = width == height == 1
        elements, out_size = atom // (1 if self.proc == 0 else 2), 2 if full and out else 1
        in_size = 1 if not full or reader.get("D_FEATURE_MODE_CFG", 0) >> 2 & 3 == 0 else 2
        units = [u for u in ("BS", "BN") if not r[f"D_DP_{u}_CFG"] & 1]
        ew = self.config_y(r, registers.single) if self.m.ew and not r["D_DP_EW_CFG"] & 1 else None
        start, data = region
        place = lambda base, line, surface, s, h, w: base + (s * atom if self.one else s * surface + h * line + w * atom)
        for s in range(-(-channels // elements)):
            for h in range(height):
                for w in range(width):
                    for e in range(elements):
                        channel = s * elements + e
                        if sums:
                            x = sums(channel, h, w) & 0xFFFFFFFF
                        else:
                            n = atom // in_size
                            x = self.word(place(reader["D_SRC_BASE_ADDR_LOW"], reader["D_SRC_LINE_STRIDE"], reader["D_SRC_SURFACE_STRIDE"], channel // n, h, w)
                                          + channel % n * in_size, in_size) & 0xFFFFFFFF
                            if self.proc == 2:
                                x = self.x.fp16_to_32(x & 0xFFFF)
                        if self.proc == 2 and self.nan and self.x.F32.isnan(x):
                            x = 0
                        for u in units:
                            x = self.lane_x(u, r, x, *self.operands(u, reader, s, e, h, w))
                        if ew:
                            alu, mul = self.operands("EW", reader, s, e, h, w)
                            x = self.y.y_lane(ew, x, alu & 0xFFFF, mul & 0xFFFF, registers.tables)
                        value, n = self.convert(r, x), atom // out_size
                        at = place(r["D_DST_BASE_ADDR_LOW"], r["D_DST_LINE_STRIDE"], r["D_DST_SURFACE_STRIDE"], channel // n, h, w) + channel % n * out_size - start
                        if 0 <= at < len(data):
                            data[at] = value & 255
                            if out_size == 2:
                                data[at + 1] = value >> 8
        return data


def judge_numbers(case, m, events, memory, sums):
    """Output of every layer; `sums` has one function a layer after CACC, None where its sums are not known."""
    registers, numbers, bad = Registers(case["program"]), Numbers(m, memory), []
    known = False
    for i, (r, reader, region, got) in enumerate(zip(registers.layers, registers.readers, case["expected"]["output"], events["output"])):
        flying = r["D_FEATURE_MODE_CFG"] & 1
        if flying and sums[i] is None:
            continue
        known = True
        image = numbers.image(r, reader, registers, (int(region["addr"], 16), bytearray(region["bytes"])), sums[i] if flying else None)
        if f"{zlib.crc32(bytes(image)):08x}" != got["crc32"]:
            bad.append(f"numbers of layer {i}")
    return bad if known else None
