"""Random register programs in the form of measured cases, for cross_check.py: machines, layers, SDP operands, sequences.

A program is what programming.py of the specification writes for layers drawn at random, through both register groups,
with the waits of the measured sequences, a memory of any speed and memory filled by the generator of the cases.
"""
import cross_check_moves
import cross_check_planar
import cross_check_sdp


def ceil_div(a, b):
    return -(-a // b)


class Machine:
    """What the models need to know of a machine, derived by the rules of the specification."""

    def __init__(self, name, c, k, atom, banks, depth, burst, tp, te, latency, cvsram, ew, overlay=None, full=False, burst2=1, bs=None, bn=None, pdp=None, cdp=None):
        self.name, self.c, self.k, self.atom, self.banks, self.depth, self.burst = name, c, k, atom, banks, depth, burst
        self.tp, self.te, self.latency, self.cvsram, self.ew, self.overlay, self.full, self.burst2 = tp, te, latency, cvsram, ew, overlay, full, burst2
        self.entry = 128 if full else c
        self.bs, self.bn = bs or tp, bn or tp
        self.pdp, self.cdp = pdp or max(1, tp // 2), cdp or max(1, tp // 2)

    def row_programming(self):
        kg = dict(int8=32, int16=16, fp16=16) if self.full else dict(int8=self.k)
        return dict(full=int(self.full), A=self.atom, E=self.entry, D=self.depth, B=self.banks, AC=self.c, KG=kg,
                    WA=128 if self.full else self.entry)

    def row_core(self):
        if self.full:
            return 64, 16, 128, 256, self.banks, 10, 16, 32, 256, 16
        image = (4 if self.c // self.k == 4 else 2) * self.k
        return self.c, self.k, self.entry, self.depth, self.banks, self.k, self.k, 2 * self.k, image, self.tp

    def row_fetch(self):
        kg = {0: 32, 1: 16, 2: 16} if self.full else {0: self.k}
        return dict(full=self.full, A=self.atom, R=self.entry // self.atom, B=self.banks, D=self.depth, M=2 if self.full else 1,
                    KG=kg, memb=64 if self.full else self.atom, blk=8 if self.full else self.burst)

    def row_write(self):
        return dict(full=int(self.full), atom=self.atom, tp=self.tp, S=256 if self.full else self.atom * self.burst,
                    lane=2 if self.full else 1, tb=self.bs, tn=self.bn)

    def row_operands(self):
        fifo = lambda t: max(4, ceil_div(self.latency * min(t, self.atom // 4), self.atom))
        cred = dict(m=80, b=160, n=160, e=80) if self.full else dict(
            m=fifo(self.tp), b=fifo(4 * self.bs), n=fifo(4 * self.bn), e=fifo(4 * self.te))
        return self.row_write() | dict(te=self.te, contexts=max(4, ceil_div(self.latency, 4)), cred=cred, bus=64 if self.full else self.atom)


PRESETS = [
    Machine("nv_full", 64, 16, 32, 16, 256, 8, 16, 4, 1024, True, True, full=True),
    Machine("nv_large", 64, 32, 32, 16, 512, 1, 16, 4, 1024, True, True),
    Machine("nv_medium_1024_full", 32, 32, 32, 32, 512, 4, 8, 2, 1024, True, True, burst2=4),
    Machine("nv_medium_512", 32, 16, 16, 32, 512, 4, 4, 4, 256, False, False),
    Machine("nv_small_256_full", 32, 8, 8, 32, 128, 4, 2, 1, 64, True, True, burst2=4),
    Machine("nv_small_256", 32, 8, 8, 32, 128, 1, 1, 1, 64, False, False),
    Machine("nv_small", 8, 8, 8, 32, 512, 1, 1, 1, 64, False, False),
]


def between(rng):
    """A configurable machine between the presets."""
    while True:
        c, k = rng.choice([8, 16, 32, 64]), rng.choice([8, 16, 32])
        banks, depth = rng.choice([4, 8, 12, 16, 20, 24, 28, 32, rng.randint(3, 32)]), rng.choice([64, 128, 256, 512])
        if c % k == 0 and c // k in (1, 2, 4) and banks * depth * c >= 16384:
            break
    rates = [x for x in (1, 2, 4, 8, 16) if x <= k]
    bs = rng.choice(rates)
    bn, te = rng.choice([bs, bs, rng.choice(rates)]), rng.choice([x for x in rates if x <= bs] + rates)
    ew, cvsram, burst = rng.random() < 0.6, rng.random() < 0.4, rng.choice([1, 2, 4])
    tp = max(bs, bn, te if ew else 1)
    latency = rng.choice([16, 64, 256, 1024])
    overlay = {"preset": rng.choice(["nv_small", "nv_large", "nv_medium_512"]), "mac": {"atomic_c": c, "atomic_k": k},
               "cbuf": {"banks": banks, "bank_depth": depth, "entry_bytes": c},
               "memory": {"atom_bytes": k, "primary": {"width_bytes": k, "burst_beats": burst}, "has_secondary": cvsram,
                          "fifo_cover_cycles": latency},
               "sdp": {"bs_throughput": bs, "bn_throughput": bn, "ew_throughput": te, "has_ew": ew, "has_lut": ew}}
    pdp, cdp = (rng.choice([x for x in (1, 2, 4, 8) if 4 * x <= k and x <= most]) for most in (tp, 8))
    overlay["pdp"], overlay["cdp"] = {"throughput": pdp}, {"throughput": cdp}
    overlay["memory"]["secondary"] = {"width_bytes": k, "burst_beats": rng.choice([1, 2, 4]) if cvsram else 1}
    name = f"between_{c}x{k}_{banks}x{depth}"
    return Machine(name, c, k, k, banks, depth, burst, tp, te, latency, cvsram, ew, overlay, burst2=overlay["memory"]["secondary"]["burst_beats"], bs=bs, bn=bn, pdp=pdp, cdp=cdp)


def pick_memory(rng, slow=True):
    latency = rng.choice([1, 2, 3, 5, 8, 13, 16, 24, 32, 50, 64, 100, 150, 200, 333, 500, 777, 1000] + [rng.randint(1, 1000)] * 4)
    return {"read_latency": latency if slow or rng.random() < 0.3 else rng.choice([1, 8, 32, 64]),
            "beat_interval": rng.choice([1, 1, 1, 2, 3, 4, 5, 7, 8, 11, 16]),
            "write_latency": rng.choice([1, 2, 4, 8, 8, 20, 64, 200])}


def size(rng, small, large):
    return rng.choice([small, rng.randint(small, max(small, large // 4)), rng.randint(small, large), large])


class Draw:
    def __init__(self, rng, machine, models):
        self.rng, self.m, self.p = rng, machine, models.programming

    def precision(self):
        return self.rng.choice(["int8", "int8", "int16", "fp16"]) if self.m.full else "int8"

    def cost(self, layer, program):
        """Cycles, roughly: array and beats."""
        info, kg = program.info, self.m.row_programming()["KG"][layer.get("prec", "int8")]
        array = info["OW"] * info["OH"] * layer.get("r", 1) * layer.get("s", 1) * ceil_div(layer["c"], self.m.c) * ceil_div(layer["k"], kg)
        return array * layer.get("batch", 1), (info["in_bytes"] + info["wbytes"] + info["out_bytes"]) // self.m.atom

    def fits(self, layer, limit, base=None):
        try:
            program = self.p.conv_program(self.m.name, layer, base)
        except AssertionError:
            return None
        if program.info["OW"] < 1 or program.info["OH"] < 1 or layer["k"] < 1:
            return None
        array, beats = self.cost(layer, program)
        return program if array <= limit and beats <= limit // 3 else None

    def dc(self, limit=9000, prec=None, banks=True, wild=False):
        r = self.rng
        while True:
            prec_ = prec or self.precision()
            layer = dict(w=size(r, 1, 24), h=size(r, 1, 20), c=size(r, 1, 3 * self.m.c), k=size(r, 1, 5 * self.m.k), prec=prec_)
            if limit > 50000:     # a layer of a network
                w = r.choice([1, 7, 13, 14, 27, 28, 55, 56, 112])
                layer |= dict(w=w, h=w, c=r.choice([16, 32, 48, 64, 96, 128, 192, 256, 512, 1024]), k=r.choice([10, 16, 32, 64, 96, 128, 256, 512, 1000]))
            if r.random() < 0.7:
                layer |= dict(r=r.choice([1, 2, 3, 3, 5, 7]), s=r.choice([1, 2, 3, 3, 5, 7]))
                layer |= {x: r.randint(0, 3) for x in ("pl", "pr", "pt", "pb")}
            if wild:                  # the far ends of the fields
                layer |= dict(r=r.randint(1, 20), s=r.randint(1, 20), sx=r.randint(1, 8), sy=r.randint(1, 8), dx=r.randint(1, 20), dy=r.randint(1, 20))
                layer |= {x: r.randint(0, 31) for x in ("pl", "pr", "pt", "pb")}
                if r.random() < 0.5:
                    w, h = (r.randint(1, 2000), 1) if r.random() < 0.5 else (1, r.randint(1, 2000))
                    layer |= dict(w=w, h=h, c=r.randint(1, 40), k=r.randint(1, 40), r=1 if h == 1 else 3, s=1 if w == 1 else 3, sx=1, sy=1, dx=1, dy=1)
                else:
                    layer["c"] = r.choice([layer["c"], r.randint(1, 3000)])
            elif r.random() < 0.3:
                layer |= dict(sx=r.randint(1, 4), sy=r.randint(1, 4))
            if r.random() < 0.2:
                layer |= dict(dx=r.randint(1, 3), dy=r.randint(1, 3))
            if r.random() < 0.3:
                layer["grain"] = r.randint(1, layer["h"])
            if r.random() < 0.2:
                layer["padv"] = r.randint(-100, 100)
            if r.random() < 0.2 and layer["w"] * layer["h"] > 1:
                layer |= dict(pack=r.choice([0, 0x10000]), grain=1, line=(layer["w"] + r.randint(0, 3)) * self.m.atom)
            elif r.random() < 0.2:
                layer["pack"] = r.choice([0, 1, 0x10000, 0x10001]) if layer["w"] * layer["h"] == 1 else 1
            if r.random() < 0.2 and layer["w"] * layer["h"] > 1:      # cubes with gaps after their lines and surfaces
                layer["surf"] = layer.get("line", layer["w"] * self.m.atom) * layer["h"] + r.randint(0, 9) * self.m.atom
            if r.random() < 0.2 and self.out(layer):
                w, h = self.p.out_size(layer["w"], layer["h"], layer)
                if w * h > 1:           # a single pixel is written packed
                    layer["oline"] = (w + r.randint(0, 5)) * self.m.atom
                    layer["osurf"] = layer["oline"] * h + r.randint(0, 9) * self.m.atom
            if r.random() < 0.1:
                layer["clip"] = r.randint(0, 9)
            if banks and r.random() < 0.5:
                layer |= dict(wb=r.randint(1, self.m.banks - 1))
                if r.random() < 0.5:
                    layer["db"] = r.randint(1, self.m.banks - layer["wb"])
            layer |= dict(shift=r.randint(0, 10), relu=int(r.random() < 0.3))
            if self.out(layer) and self.fits(layer, limit):
                return layer

    def out(self, layer):
        w, h = self.p.out_size(layer["w"], layer["h"], layer)
        return w >= 1 and h >= 1

    def img(self, limit=9000):
        r = self.rng
        while True:
            prec = self.precision()
            formats = [0x0c, 0x0d, 0x10, 0x00, 0x1c, 0x1d]
            if self.m.full:
                formats = formats + [0x01, 0x05, 0x06, 0x14, 0x1e, 0x1f] if prec != "int8" else formats
            fmt = r.choice(formats)
            _, b0, planes, comps, _ = self.p.pixel_format(fmt)
            in_prec = 0 if self.p.code8(fmt) else 2 if fmt in (0x05, 0x08, 0x0b) else 1
            layer = dict(mode="img", w=size(r, 4, 70), h=size(r, 1, 14), c=comps, k=size(r, 1, 3 * self.m.k), prec=prec, fmt=fmt,
                         r=r.choice([1, 2, 3, 3, 5, 7]), s=r.choice([1, 2, 3, 3, 5, 7]))
            if in_prec != self.p.PREC[prec] or r.random() < 0.3:
                layer["cvt"] = (r.randint(-20, 20), r.randint(1, 4), r.randint(0, 2))
                if r.random() < 0.5:
                    layer["mean"] = tuple(r.randint(-20, 20) for _ in range(4))
            if r.random() < 0.5:
                layer |= {x: r.randint(0, 3) for x in ("pl", "pr", "pt", "pb")}
                layer["padv"] = r.randint(-20, 20)
            if r.random() < 0.4:
                layer |= dict(sx=r.randint(1, 4), sy=r.randint(1, 4))
            if r.random() < 0.3:
                layer["xo"] = r.randint(0, max(1, self.m.atom // b0) - 1)
            if r.random() < 0.3:
                layer["line"] = (ceil_div((layer["w"] + layer.get("xo", 0)) * b0, self.m.atom) + r.randint(0, 3)) * self.m.atom
            if planes == 2 and r.random() < 0.3:
                layer["uvline"] = (ceil_div((layer["w"] + layer.get("xo", 0)) * 2 * b0, self.m.atom) + r.randint(0, 3)) * self.m.atom
            if layer.get("cvt") and r.random() < 0.5:
                layer["sign"] = 0
            sc = layer["s"] * comps
            if r.random() < 0.4:
                layer["yext"] = r.choice([1, 2])
                if layer.get("sx", 1) * comps * self.p.ES[prec] << layer["yext"] > self.m.entry:
                    continue            # more bytes a step than an entry has: the window cannot follow
            if sc > 128 and self.m.full or sc > 4 * self.m.c:
                continue
            if not self.m.full and ceil_div(sc, self.m.c) >= 3 and (sc - 1) % self.m.c == 0:
                continue
            if r.random() < 0.5:
                layer["wb"] = r.randint(1, self.m.banks - 1)
            layer["shift"] = r.randint(0, 10)
            if self.out(layer) and self.fits(layer, limit):
                return layer

    def wg(self, limit=9000):
        r = self.rng
        while True:
            sx, sy = (1, 1) if r.random() < 0.7 else (r.randint(1, 2), r.randint(1, 2))
            layer = dict(mode="wg", prec=self.precision(), w=r.randint(4, 22), h=r.randint(4, 22), c=size(r, 1, 100), k=size(r, 1, 70), r=3, s=3,
                         sx=sx, sy=sy, shift=r.randint(0, 8), **{x: r.randint(0, 2) for x in ("pl", "pr", "pt", "pb")})
            if r.random() < 0.3:
                layer["wb"] = r.randint(1, 14)
            w, h = self.p.out_size(layer["w"], layer["h"], layer)
            if w > 0 and h > 0 and self.fits(layer, 4 * limit):
                return layer

    def batch(self, limit=9000):
        r = self.rng
        while True:
            layer = self.dc(limit, banks=False)
            layer |= dict(batch=r.choice([2, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32]))
            layer.pop("surf", None)
            if self.fits(layer, limit):
                return layer

    def compressed(self, limit=9000, base=None):
        r = self.rng
        while True:
            layer = self.dc(limit, banks=False)
            es = self.p.ES[layer["prec"]]
            elements = layer["k"] * layer.get("r", 1) * layer.get("s", 1) * layer["c"]
            density = r.choice([0.0, 0.05, 0.3, 0.6, 0.9, 1.0])
            stream = bytearray()
            for _ in range(elements):
                stream += (r.randint(1, 255) * (r.random() < density)).to_bytes(es, "little")
            w, mask, wgs = self.p.compress_weights(self.m.name, layer["prec"], bytes(stream), layer["k"], elements // layer["k"] * es)
            if not w:
                w = bytes(128)
            layer["areas"] = (w, mask, wgs)
            layer["wcomp"] = dict(weight_bytes=len(w), wmb_bytes=len(mask), wmb_addr=0x94000000, wgs_addr=0x98000000)
            if self.fits(layer, limit):
                return layer


def sdp_operand(rng, m, prec, name):
    """A random use of BS, BN or EW: the descriptor keys of the sdp_ cases."""
    x = dict(bytes=2 if prec != "int8" else rng.choice([1, 2]), mode=rng.choice(["element", "kernel"]))
    use = rng.choice(["alu", "mul", "both", "reg", "mixed"])
    source = dict(alu="mem" if use in ("alu", "both") else None, mul="mem" if use in ("mul", "both") else None)
    if use == "reg":
        source = dict(alu="reg", mul=rng.choice([None, "reg"]))
    if use == "mixed":
        source = rng.choice([dict(alu="mem", mul="reg"), dict(alu="reg", mul="mem")])
    x |= source
    x |= dict(algo=rng.choice([0, 1, 2, 2]), alu_shift=rng.randint(0, 4) if name != "ew" else 0, mul_shift=rng.randint(0, 14), relu=int(rng.random() < 0.3))
    if name == "ew":
        x["cvt"] = int(rng.random() < 0.5)
        x["relu"] = 0
    if name != "ew" and source["mul"] and rng.random() < 0.2:
        x["prelu"] = 1
    return x


def sdp_writes(m, layer, group, operand_group, base, ow, oh, k, fly):
    """Register writes of SDP and SDP_RDMA, as the sdp_ cases have them."""
    out, prec = [], {"int8": 0, "int16": 1, "fp16": 2}
    p = prec[layer.get("prec", "int8")]
    op, ip = prec[layer.get("oprec", layer.get("prec", "int8"))], prec[layer.get("iprec", layer.get("prec", "int8"))]
    a = m.atom
    w = lambda n, v: out.append((n, v & 0xFFFFFFFF))
    lo, hi = (lambda v: v & 0xFFFFFFFF), (lambda v: v >> 32)
    line, oline = (ow + layer.get("in_gap", 0)) * a, (ow + layer.get("gap", 0)) * a
    surf, osurf = line * oh + layer.get("in_surface_gap", 0) * a, oline * oh + layer.get("surface_gap", 0) * a
    w("SDP.S_POINTER", group); w("SDP_RDMA.S_POINTER", operand_group)
    w("SDP.D_DATA_CUBE_WIDTH", ow - 1); w("SDP.D_DATA_CUBE_HEIGHT", oh - 1); w("SDP.D_DATA_CUBE_CHANNEL", k - 1)
    w("SDP.D_DST_BASE_ADDR_LOW", lo(base["o"])); w("SDP.D_DST_BASE_ADDR_HIGH", hi(base["o"]))
    w("SDP.D_DST_LINE_STRIDE", oline); w("SDP.D_DST_SURFACE_STRIDE", osurf)
    enables = {}
    for unit, short in (("BS", "bs"), ("BN", "bn"), ("EW", "ew")):
        x = layer.get(short)
        if not x:
            w(f"SDP.D_DP_{unit}_CFG", 1)
            continue
        cfg = (0 if x.get("alu") else 2) | x.get("algo", 2) << 2 | (0 if x.get("mul") else 16) | x.get("prelu", 0) << 5 | (0 if x.get("relu") or x.get("table") else 64)
        w(f"SDP.D_DP_{unit}_CFG", cfg)
        if short == "ew":
            for t in ("ALU", "MUL"):
                convert = x["cvt"][t.lower()] if isinstance(x["cvt"], dict) else (5, 3, 2) if x["cvt"] else None
                w(f"SDP.D_DP_EW_{t}_CFG", int(x.get(t.lower()) == "mem") | (0 if convert else 2))
                w(f"SDP.D_DP_EW_{t}_SRC_VALUE", x.get(t.lower() + "_val", 3))
                for n, v in zip(("OFFSET", "SCALE", "TRUNCATE"), convert or (0, 1, 0)):
                    w(f"SDP.D_DP_EW_{t}_CVT_{n}_VALUE", v)
            w("SDP.D_DP_EW_TRUNCATE_VALUE", x.get("mul_shift", 0))
        else:
            w(f"SDP.D_DP_{unit}_ALU_CFG", int(x.get("alu") == "mem") | x.get("alu_shift", 0) << 8); w(f"SDP.D_DP_{unit}_ALU_SRC_VALUE", x.get("alu_val", 7))
            w(f"SDP.D_DP_{unit}_MUL_CFG", int(x.get("mul") == "mem") | x.get("mul_shift", 0) << 8); w(f"SDP.D_DP_{unit}_MUL_SRC_VALUE", x.get("mul_val", 5))
    w("SDP.D_FEATURE_MODE_CFG", fly | layer.get("nan", 0) << 3); w("SDP.D_DST_DMA_CFG", layer.get("oram", 1)); w("SDP.D_DST_BATCH_STRIDE", 0)
    cvt = layer.get("cvt", (0, 1, 0))
    w("SDP.D_DATA_FORMAT", p | op << 2); w("SDP.D_CVT_OFFSET", cvt[0]); w("SDP.D_CVT_SCALE", cvt[1]); w("SDP.D_CVT_SHIFT", cvt[2]); w("SDP.D_PERF_ENABLE", 15 * (layer.get("nan") is not None))
    w("SDP_RDMA.D_DATA_CUBE_WIDTH", ow - 1); w("SDP_RDMA.D_DATA_CUBE_HEIGHT", oh - 1); w("SDP_RDMA.D_DATA_CUBE_CHANNEL", k - 1)
    w("SDP_RDMA.D_SRC_BASE_ADDR_LOW", lo(base["i"])); w("SDP_RDMA.D_SRC_BASE_ADDR_HIGH", hi(base["i"]))
    w("SDP_RDMA.D_SRC_LINE_STRIDE", line); w("SDP_RDMA.D_SRC_SURFACE_STRIDE", surf)
    used = not fly
    for unit, short, reg, at in (("BS", "bs", "B", "b"), ("BN", "bn", "N", "n"), ("EW", "ew", "E", "e")):
        x = layer.get(short) or {}
        mem = [t for t in ("mul", "alu") if x.get(t) == "mem"]
        use = 2 if len(mem) == 2 else 1 if mem == ["alu"] else 0
        k_ = len(mem) * (x.get("bytes", 1) if p == 0 else 1)
        w(f"SDP_RDMA.D_{reg}RDMA_CFG", (use << 1 | (x.get("bytes", 1) - 1) << 3 | int(x.get("mode") == "element") << 4 | x.get("ram", layer.get("operand_ram", 1)) << 5) if mem else 1)
        w(f"SDP_RDMA.D_{unit}_BASE_ADDR_LOW", lo(base[at])); w(f"SDP_RDMA.D_{unit}_BASE_ADDR_HIGH", hi(base[at]))
        operand_line = (k_ * ow + x.get("gap", 0)) * a
        w(f"SDP_RDMA.D_{unit}_LINE_STRIDE", operand_line); w(f"SDP_RDMA.D_{unit}_SURFACE_STRIDE", operand_line * oh + x.get("surface_gap", 0) * a)
        used = used or bool(mem)
    w("SDP_RDMA.D_FEATURE_MODE_CFG", fly | ip << 2 | p << 4 | op << 6); w("SDP_RDMA.D_SRC_DMA_CFG", layer.get("iram", 1)); w("SDP_RDMA.D_PERF_ENABLE", 3)
    return out, (["SDP_RDMA.D_OP_ENABLE"] if used else []) + ["SDP.D_OP_ENABLE"], used


def bases(rng, m, index):
    """Addresses of the cubes of a layer; every layer has its own."""
    at = lambda top: top + index * 0x01000000 + rng.choice([0, 0, 0, 1, 3, 7]) * m.atom
    operand = lambda top: top + index * 0x200000 + rng.choice([0, 0, 1, 2, 3, 5]) * m.atom
    odd = rng.choice([0, 0, 0, 1, 2, 3, 5, 7]) * m.atom
    return dict(i=at(0x80000000), w=0x90000000 + index * 0x200000 + odd, o=at(0xA0000000), b=operand(0xB0000000), n=operand(0xB4000000), e=operand(0xB8000000))


def extent(layer, m, ow, oh, channels, size, gap, surface_gap):
    """Bytes from the first to one past the last atom of a cube in memory."""
    surfaces, line = ceil_div(channels * size, m.atom), ow + layer.get(gap, 0)
    return m.atom * (surfaces if ow == oh == 1 else (surfaces - 1) * (line * oh + layer.get(surface_gap, 0)) + (oh - 1) * line + ow)


def convolution_case(rng, m, models, kind):
    d = Draw(rng, m, models)
    number = {"dc": 1, "seq": rng.choice([2, 2, 3, 3, 4]), "long": rng.choice([5, 6]), "mix": rng.choice([2, 3, 4]), "keep": rng.choice([2, 3, 4]), "perf": rng.choice([1, 1, 2, 3]), "net": 1, "soft": rng.choice([1, 1, 2])}.get(kind, rng.choice([1, 1, 2, 3]))
    limit = {"dc": 16000, "long": 3000, "net": 120000, "edge": 30000}.get(kind, 7000)
    layers = []
    if kind == "partial":
        while not layers:
            whole = d.dc(limit, prec=rng.choice(["int8", "int16"]) if m.full else "int8", banks=False)
            for x in ("line", "pack", "grain", "surf", "oline", "osurf"):
                whole.pop(x, None)
            eps = models.programming.entries_per_slice_dc(m.name, whole["w"], whole["c"], whole["prec"], whole["h"])
            banks = rng.choice([1, 1, 2])
            if eps * whole["h"] <= banks * m.depth or whole["h"] < 2:
                continue
            try:
                parts = models.programming.split_by_height(m.name, whole, banks, rng.random() < 0.8)
            except ValueError:
                continue
            if len(parts) > 6 or any(x["h_total"] < 1 or x["h_fetch"] < 1 for x in parts):
                continue            # rows of padding alone are no part
            line = whole["w"] * m.atom
            ow, oh = models.programming.out_size(whole["w"], whole["h"], whole)
            for part in parts:
                layer = whole | {x: part[x] for x in ("h_total", "h_fetch", "rls", "pt", "pb", "data_reuse")}
                layer |= dict(h=part["h_total"], db=banks, wb=m.banks // 2, surf=line * whole["h"], osurf=ow * m.atom * oh)
                layer["whole"] = whole
                layer["moved"] = (part["fetch0"] * line, part["out0"] * ow * m.atom)
                layers.append(layer)
            if any(d.fits(x, limit) is None for x in layers):
                layers = []
    elif kind == "reuse":
        while not layers:
            choice = rng.choice(["dc", "dc", "img"] + ["wg"] * m.full)
            first = {"dc": lambda: d.dc(limit, banks=False), "img": lambda: d.img(limit), "wg": lambda: d.wg(limit)}[choice]()
            first |= dict(db=rng.randint(1, m.banks // 2), wb=m.banks // 2)
            if d.fits(first, limit) is None:
                continue
            info = models.programming.conv_program(m.name, first).info
            whole = info["wbytes"] <= info["wb"] * m.depth * m.entry
            for _ in range(rng.choice([2, 3, 4])):
                layer = dict(first)
                if layers:
                    layer |= dict(data_reuse=layers[-1].get("skip_data", 0) * (rng.random() < 0.8),
                                  weight_reuse=layers[-1].get("skip_weight", 0) * (rng.random() < 0.8))
                layer |= dict(skip_data=int(rng.random() < 0.5), skip_weight=int(whole and rng.random() < 0.5))
                layer = {x: int(v) if isinstance(v, bool) else v for x, v in layer.items()}
                layers.append(layer)
            layers[-1] |= dict(skip_data=0, skip_weight=0)
    else:
        same = None
        for _ in range(number):
            choice = kind if kind in ("img", "wg", "batch", "wcomp") else "dc"
            if kind in ("mix", "keep"):
                choice = rng.choice(["dc", "img"] + (["wg", "batch", "wcomp"] if m.full else []))
            if kind in ("cvsram", "stall", "soft") and rng.random() < 0.3:
                choice = "img"
            if same and rng.random() < 0.3:
                layer = dict(same)
            else:
                layer = {"dc": lambda n: d.dc(n, wild=kind == "edge"), "img": d.img, "wg": d.wg, "batch": d.batch, "wcomp": d.compressed}[choice](limit)
            if kind == "cvsram":
                layer |= dict(iram=rng.randint(0, 1), wram=rng.randint(0, 1), oram=rng.randint(0, 1))
            if kind == "keep":             # kept, then fetched again
                layer = dict(layer, skip_data=int(rng.random() < 0.5))
                info = models.programming.conv_program(m.name, layer).info
                if info["wbytes"] <= info["wb"] * m.depth * m.entry:
                    layer["skip_weight"] = int(rng.random() < 0.5)
            layers.append(layer)
            same = layer
    return layers


def fabric_writes(rng, m, kind):
    """Weights and limits of the memory interface, as the random measured cases set them."""
    if kind not in ("dc", "seq", "long", "net", "stall", "edge", "perf", "keep", "reuse", "mix") or rng.random() < 0.7:
        return []
    limits = [x for x in (0, 1, 2, 3, 7, 15, 31, 63, 127, 255) if m.full or x + 1 >= m.burst]
    return [["MCIF.CFG_OUTSTANDING_CNT", rng.choice(limits) | rng.choice(limits + [255] * 9) << 8],
            ["MCIF.CFG_RD_WEIGHT_1", 0x010101 | rng.choice([1, 2, 3, 5, 16, 255]) << 24],
            ["MCIF.CFG_RD_WEIGHT_2", 0x01010100 | rng.choice([1, 2, 3, 4, 16, 255])]]


def assemble(rng, m, models, kind, layers, memory):
    program, fills, regions, records = [["GLB.S_INTR_MASK", 0x3FFFFC]] + fabric_writes(rng, m, kind), [], [], []
    marked, operand_group = False, 0     # a layer without operands does not use SDP_RDMA's group
    ahead = 1 if len(layers) > 1 and rng.random() < 0.15 else 2     # layers programmed and not awaited
    seed = rng.randint(1, 1000)
    for index, layer in enumerate(layers):
        group = index & 1
        if index >= ahead:
            program.append(["WAIT_INTR", f"SDP_{index - ahead & 1}"])
        base = bases(rng, m, index)
        if layer.get("fly", 1) == 0:
            writes, enables, used = sdp_writes(m, layer, group, operand_group, base, layer["w"], layer["h"], layer["c"], 0)
            operand_group ^= used
            cube = layer["w"], layer["h"], layer["c"]
            info = dict(OW=layer["w"], OH=layer["h"], in_bytes=extent(layer, m, *cube, 1 if layer.get("iprec", layer["prec"]) == "int8" else 2, "in_gap", "in_surface_gap"),
                        out_bytes=extent(layer, m, *cube, 1 if layer.get("oprec", layer["prec"]) == "int8" else 2, "gap", "surface_gap"))
        else:
            if kind in ("partial", "reuse") and index:
                first = records[0]["base"]
                base["i"], base["w"] = first["i"], first["w"]
            if "moved" in layer:
                base["i"] = (records[0]["base"]["i"] if records else base["i"]) + layer["moved"][0]
                base["o"] = (records[0]["base"]["o"] if records else base["o"]) + layer["moved"][1]
            layer = dict(layer, group=group)
            if layer.get("areas"):
                layer["wcomp"] = layer["wcomp"] | dict(wmb_addr=0x94000000 + index * 0x200000, wgs_addr=0x98000000 + index * 0x200000)
            built = models.programming.conv_program(m.name, layer, base)
            writes, enables, info = built.writes, built.enables, built.info
            # The convolution units take their groups in turn, whatever SDP does alone in between.
            turn = sum(r["layer"].get("fly", 1) for r in records) & 1
            writes = [(n, turn if n.endswith("S_POINTER") and not n.startswith("SDP") else v) for n, v in writes]
            if kind == "post" or any(layer.get(x) for x in ("bs", "bn", "ew")):
                writes = [x for x in writes if not x[0].startswith("SDP.")]
                more, on, used = sdp_writes(m, layer, group, operand_group, base, info["OW"], info["OH"], layer["k"], 1)
                operand_group ^= used
                writes, enables = writes + more, on + [x for x in enables if x != "SDP.D_OP_ENABLE"]
                info["out_bytes"] = extent(layer, m, info["OW"], info["OH"], layer["k"], 1 if layer["prec"] == "int8" else 2, "gap", "surface_gap")
            if layer.get("areas"):
                for address, area in zip((base["w"], layer["wcomp"]["wmb_addr"], layer["wcomp"]["wgs_addr"]), layer["areas"]):
                    fills.append({"addr": f"{address:x}", "bytes": len(area), "hex": area.hex()})
            elif not (kind in ("partial", "reuse") and index):
                fills.append({"addr": f"{base['w']:x}", "bytes": info["wbytes"], "seed": seed + 100 + index})
        if kind == "perf":
            writes = [(n, 15 if n == "SDP.D_PERF_ENABLE" else v) for n, v in writes]
        if kind == "post":
            enables = cross_check_sdp.any_order(rng, enables)
            if not index and m.ew:
                program += [list(x) for x in cross_check_sdp.table_writes(rng, layer["prec"])]
        else:
            enables = [(x, 1) for x in enables]
        program += [[n, v] for n, v in writes] + [[n, v] for n, v in enables]
        if not (kind in ("partial", "reuse") and index):
            fills.append({"addr": f"{base['i']:x}", "bytes": info["in_bytes"] if kind != "partial" else
                          layer["surf"] * ceil_div(layer["c"] * (1 if layer["prec"] == "int8" else 2), m.atom), "seed": seed + index})
        for n, (unit, at) in enumerate((("bs", "b"), ("bn", "n"), ("ew", "e"))):
            if "mem" in ((layer.get(unit) or {}).get("alu"), (layer.get(unit) or {}).get("mul")):
                x = layer[unit]
                lines = (4 * info["OW"] + x.get("gap", 0)) * info["OH"] + x.get("surface_gap", 0)
                channels = (layer["c"] if layer.get("fly", 1) == 0 else layer["k"]) * (1 if layer["prec"] == "int8" else 2)
                fills.append({"addr": f"{base[at]:x}", "bytes": lines * ceil_div(channels, m.atom) * m.atom, "seed": seed + 200 + 3 * index + n})
        if not marked:
            program.append(["MARK", "t0"])
            marked = True
        out = records[0]["base"]["o"] if kind == "partial" and records else base["o"]
        reads = next((v for n, v in writes if n == "SDP_RDMA.S_POINTER"), None) if ("SDP_RDMA.D_OP_ENABLE", 1) in enables else None
        regions.append({"addr": f"{base['o']:x}", "bytes": info["out_bytes"]})
        if kind == "partial":
            regions[-1] = {"addr": f"{out:x}", "bytes": layer["osurf"] * ceil_div(layer["k"] * (1 if layer["prec"] == "int8" else 2), m.atom)}
        records.append({"base": base, "reads": reads, "layer": layer, "info": info, "writes": [[n, v] for n, v in writes] + [[n, v] for n, v in enables]})
    for index in range(max(0, len(layers) - ahead), len(layers)):
        program.append(["WAIT_INTR", f"SDP_{index & 1}"])
    if kind == "perf":
        for index in range(max(0, len(layers) - 2), len(layers)):
            program.append(["CDMA.S_POINTER", index & 1])
            program += [["READ", f"CDMA.D_PERF_{x}_READ_{y}"] for x in ("DAT", "WT") for y in ("STALL", "LATENCY")]
    if kind in ("perf", "post"):
        for index in range(max(0, len(layers) - 2), len(layers)):
            program += [["SDP.S_POINTER", index & 1], ["READ", "SDP.D_PERF_WDMA_WRITE_STALL"]]
            if kind == "post" and records[index]["reads"] is not None:
                program += [["SDP_RDMA.S_POINTER", records[index]["reads"]]] + [["READ", f"SDP_RDMA.D_PERF_{x}RDMA_READ_STALL"] for x in "MBNE"]
    case = {"id": "", "config": m.name if not m.overlay else m.overlay["preset"], "memory": memory,
            "layers": [{"descriptor": {k: v for k, v in x.items() if k not in ("areas", "whole")}} for x in layers], "program": program, "finished": True,
            "memory_fill": fills, "expected": {"output": regions}}
    if m.overlay:
        case["hardware"] = m.overlay
    return case, records


def make(rng, m, models, kind):
    """-> (case, records) of a random program of that kind, or None if the machine does not have it."""
    if kind in ("wg", "batch", "wcomp", "bdma", "moves") and not m.full:
        return None
    if kind in ("cvsram", "second") and (not m.cvsram or kind == "second" and m.full):
        return None
    second = kind == "second"          # one layer, everything at the secondary port
    if second:
        kind = rng.choice(["dc", "sa", "fly"])
    memory = pick_memory(rng)
    if kind == "stall":
        memory |= rng.choice([dict(command_interval=rng.randint(2, 16)), dict(write_interval=rng.randint(2, 16)),
                              dict(command_interval=rng.randint(2, 16), write_interval=rng.randint(2, 16))])
    if kind in ("pool", "lrn"):
        return cross_check_planar.make(rng, m, models, kind, memory)
    if kind == "bdma":
        return bdma_case(rng, m, models, memory)
    if kind == "moves":
        return cross_check_moves.moves_case(rng, m, models, memory, bdma_case)
    if kind == "sa":
        layers = []
        for _ in range(1 if second else rng.choice([1, 1, 2, 3, 4])):
            prec = rng.choice(["int8", "int8", "int16", "fp16"]) if m.full else "int8"
            layer = dict(fly=0, prec=prec, w=size(rng, 1, 20), h=size(rng, 1, 10), c=size(rng, 1, 4 * m.atom), cvt=(rng.randint(-5, 5), rng.randint(1, 9), rng.randint(0, 8)))
            if m.full and prec == "int8" and rng.random() < 0.2:
                layer["oprec"] = "int16"
            if m.full and prec == "int8" and rng.random() < 0.15 and layer["w"] * layer["h"] > 1:     # the model has no single pixel of these
                layer["iprec"] = "int16"
            if m.full and prec == "fp16":
                layer["cvt"] = (0, 1, 0)
            layers.append(layer | operands(rng, m, prec))
    elif kind == "post":
        layers = cross_check_sdp.layers(rng, m, Draw(rng, m, models))
        if m.cvsram and rng.random() < 0.3:
            layers = [cross_check_sdp.any_port(rng, x) for x in layers]
        if rng.random() < 0.2:
            memory["write_interval"] = rng.randint(2, 16)
    elif kind == "fly":
        d, layers = Draw(rng, m, models), []
        for _ in range(rng.choice([1, 1, 2, 3, 4])):
            layer = d.dc(4000)
            prec = layer["prec"]
            layer |= dict(cvt=(0, 1, 0) if prec == "fp16" else (rng.randint(-5, 5), rng.randint(1, 9), rng.randint(0, 8)))
            layer = {k: v for k, v in layer.items() if k not in ("relu", "shift")} | operands(rng, m, prec)
            layer.pop("cvt_in", None)
            layers.append(layer)
        layers = layers[:1] if second else layers
    else:
        layers = convolution_case(rng, m, models, kind)
    if second:
        layers = [x | dict(iram=0, wram=0, oram=0, operand_ram=0) for x in layers]
    if kind in ("fly", "post"):      # "cvt" is the output converter here, not the input converter of conv_program
        case, records = assemble_flying(rng, m, models, kind, layers, memory)
    else:
        case, records = assemble(rng, m, models, "second" if second else kind, layers, memory)
    return case, records


def operands(rng, m, prec):
    chosen = rng.choice([("bs",), ("bn",), ("bs", "bn"), ("ew",), ("bs", "ew"), ("bn", "ew"), ("bs", "bn", "ew"), ()])
    return {x: sdp_operand(rng, m, prec, x) for x in chosen if x != "ew" or m.ew}


def assemble_flying(rng, m, models, kind, layers, memory):
    original = models.programming.conv_program

    def without_converter(config, layer, base=None):
        return original(config, {k: v for k, v in layer.items() if k != "cvt"}, base)

    models.programming.conv_program = without_converter
    try:
        return assemble(rng, m, models, kind, layers, memory)
    finally:
        models.programming.conv_program = original


def bdma_case(rng, m, models, memory):
    program, regions, fills, group, launches = [["GLB.S_INTR_MASK", 0x3FFF3F]], [], [], rng.randint(0, 1), rng.choice([1, 1, 2])
    for launch in range(launches):
        descriptors = []
        count = rng.choice([1, 1, 2, 3, 5, 20 // launches])
        for n in range(count):
            atoms, lines, surfs = rng.choice([1, 2, 3, 7, 8, 16, 33, 64, 100] + [513, 8191, 8192] * (count == 1)), rng.randint(1, 5), rng.randint(1, 3)
            d = dict(src=0x80000000 + (launch * 20 + n) * 0x400000 + 32 * rng.randint(0, 9), dst=0x90000000 + (launch * 20 + n) * 0x400000 + 32 * rng.randint(0, 9),
                     atoms=atoms, lines=lines, surfs=surfs, src_mc=rng.randint(0, 1), dst_mc=rng.randint(0, 1))
            d["src_line"] = 32 * (atoms + rng.randint(0, 5)); d["dst_line"] = 32 * (atoms + rng.randint(0, 5))
            d["src_surf"] = d["src_line"] * lines + 32 * rng.randint(0, 5); d["dst_surf"] = d["dst_line"] * lines + 32 * rng.randint(0, 5)
            descriptors.append(d)
            fills.append({"addr": f"{d['src']:x}", "bytes": d["src_surf"] * surfs, "seed": rng.randint(1, 999)})
            regions.append({"addr": f"{d['dst']:x}", "bytes": d["dst_surf"] * surfs, "copy": d})
        program += [list(x) for x in models.programming.bdma_program(descriptors, (group + launch) & 1)]
        if launch == 0:
            program.append(["MARK", "t0"])
    program += [["WAIT_INTR", f"BDMA_{(group + i) & 1}"] for i in range(launches)]
    case = {"id": "", "config": m.name, "memory": memory, "layers": [], "program": program, "finished": True, "memory_fill": fills,
            "expected": {"output": [{k: r[k] for k in ("addr", "bytes")} for r in regions]}}
    return case, [{"copies": regions, "fills": fills}]
