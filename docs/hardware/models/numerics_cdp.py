"""Bit-exact CDP data path, written from cdp.md section 3. Run to compare with numerics/cdp.json."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from numerics_fp import *

def sxt(x, w): return sx(x, w)
def cvt(x, off, scale, shift, w, inw):
    """(x - off) * scale >> shift, half away from zero, saturated to w bits; a shift of inw or more gives 0"""
    if shift >= inw: return 0
    return rsh((x - off) * scale, shift, w)

# ---------------------------------------------------------------- configurable generation (int8)
def icvt8(c, x): return cvt(sx(x, 8), sx(c["ioff"], 8), sx(c["iscale"], 16), c["ishift"] & 31, 9, 25)
def index_cfg(x, start, sel, n, exp, off):
    """x: value looked up. returns (flow 'u'/'o'/'h', index, 16-bit fraction)"""
    S = sx(start, 22)
    if x <= S: return "u", 0, 0
    d = (x - S) & 0x3FFFFF
    if exp:
        g = d.bit_length() - 1
        f = ((d - (1 << g)) << (21 - g)) >> 5
        if not off & 128 and g < (off & 127): return "u", 0, 0
        i = g - sx(off, 8)
        return ("o", 64, 0) if i >= 64 else ("h", i, f)
    le = n == 65; fb = 23 if le else 22                      # fraction bits kept after the point
    neg = (sel >> 5) & 1
    if neg:
        k = 32 - (sel & 31)                                  # 1..32
        if not le: k &= 31
        v = d << k
        return ("o", n - 1, 0) if v >= n - 1 else ("h", v, 0)
    v = (d << fb) >> (sel & 31)
    i = v >> fb
    if i >= n - 1: return "o", n - 1, 0
    return "h", i, (v & ((1 << fb) - 1)) >> (fb - 16)
def choose(L, a, b):
    if a == "u" and b == "u": return L["upri"]
    if a == "o" and b == "o": return L["opri"]
    if (a == "h") == (b == "h"): return L["hpri"]
    return 0 if a == "h" else 1
def slope_cfg(L, use, flow):
    p = "lo" if use else "le"
    if flow == "u":
        ofs = sx(L[p + "_start"], 38)
        if not use and not L["le_func"] and not L["le_off"] & 128: ofs = sx(ofs + (1 << (L["le_off"] & 127)), 39)
        return ofs, sx(L[p + "_us"], 16), sx(L[p + "_ush"], 5)
    return sx(L[p + "_end"], 38), sx(L[p + "_os"], 16), sx(L[p + "_osh"], 5)
def rnd_shift(m, s): return rnd_away(m, s) if s >= 0 else m << -s
def lut8(L, x, T, stat=None):
    le = index_cfg(x, L["le_start"], L["le_sel"] & 255, 65, not L["le_func"], L["le_off"] & 255)
    lo = index_cfg(x, L["lo_start"], L["lo_sel"] & 255, 257, 0, 0)
    use = choose(L, le[0], lo[0])
    if stat is not None: count(stat, le[0], lo[0])
    flow, i, f = lo if use else le
    y0 = sx(T[use][i], 16)
    if flow == "h": return sat(y0 + rnd_away((sx(T[use][i + 1], 16) - y0) * f, 16), 16)
    ofs, sc, sh = slope_cfg(L, use, flow)
    return sat(y0 + rnd_shift((x - ofs) * sc, sh), 16)
def count(st, a, b):
    if a == "u" and b == "u": st["uflow"] += 1
    elif a == "o" and b == "o": st["oflow"] += 1
    elif (a == "h") == (b == "h"): st["hybrid"] += 1
    elif a == "h": st["le_hit"] += 1
    else: st["lo_hit"] += 1
def newstat(): return dict(uflow=0, oflow=0, hybrid=0, le_hit=0, lo_hit=0)
def column8(c, xs, T, pad_to, stat=None):
    """xs: the C bytes of one pixel in channel order; returns pad_to output bytes (whole atoms)"""
    v = [icvt8(c, x) for x in xs] + [0] * (pad_to - len(xs))
    k = c["n"] // 2; L = c["lut"]; out = []; cache = {}
    for i, x in enumerate(v):
        s = x if c["sqb"] else sum(y * y for y in v[max(0, i - k): i + k + 1])
        if stat is None:
            r = cache.get(s)
            if r is None: r = cache[s] = lut8(L, s, T)
        else: r = lut8(L, s, T, stat)
        m = r if c["mulb"] else r * x
        out.append(cvt(m, sx(c["ooff"], 25), sx(c["oscale"], 16), c["oshift"] & 63, 8, 42) & 255)
    return out
# ---------------------------------------------------------------- nv_full (int8, int16, fp16)
def frac16_to_17(f):
    """16-bit fraction (f / 65536) to fp17, nearest even"""
    if f == 0: return 0
    k = f.bit_length() - 1
    if k > 10:
        sh = k - 10; q = f >> sh; rem = f & ((1 << sh) - 1); half = 1 << (sh - 1)
        if rem > half or (rem == half and q & 1): q += 1
        if q >> 11: q >>= 1; k += 1
    else: q = f << (10 - k)
    return F17.pack(0, k - 16 + 31, q & 1023)
def fp16_to_17(h):
    s, e, m = F16.split(h)
    if e == 31: return F17.pack(s, 63, m) if m else F17.maxf(s)
    if e == 0:
        if m == 0: return s << 16
        k = m.bit_length() - 1
        return F17.pack(s, k + 7, (m << (10 - k)) & 1023)
    return F17.pack(s, e + 16, m)
def fp17_to_32(x):
    s, e, m = F17.split(x)
    if e == 63: return F32.pack(s, 255, m)
    if e == 0 and m == 0: return s << 31
    return F32.pack(s, e + 96, m << 13)
def fp32_to_17(x):
    s, e, m = F32.split(x)
    if F32.isnan(x): return F17.pack(s, 63, m & 1023)
    if e >= 159: return F17.maxf(s)
    if e < 97: return F17.pack(s, 1, 0) if e == 96 and m >= 0x7FE000 else s << 16
    q = m >> 13; rem = m & 0x1FFF; E = e - 96
    if rem > 0x1000 or (rem == 0x1000 and q & 1):
        q += 1
        if q >> 10: q = 0; E += 1
    if E >= 63: return F17.maxf(s)
    return F17.pack(s, E, q)
def fp17_to_16(x):
    s, e, m = F17.split(x)
    if e == 63: return F16.pack(s, 31, m) if m else F16.maxf(s)
    if e >= 47: return F16.maxf(s)
    if e > 16: return F16.pack(s, e - 16, m)
    f = m | 1024 if (e or m) else 0
    sh = 17 - e
    if sh > 12: return s << 15
    q = f >> sh; rem = f & ((1 << sh) - 1); half = 1 << (sh - 1)
    if rem > half or (rem == half and q & 1): q += 1
    return (s << 15) | q
def icvt(c, x):
    p = c["prec"]
    if p == 2:
        if c.get("nan") and F16.isnan(x): return 0
        return fp16_to_17(x)
    if p == 1: return sat(rnd_away((sx(x, 16) - sx(c["ioff"], 16)) * sx(c["iscale"], 16), c["ishift"] & 31), 17)
    return sat(rnd_away((sx(x, 8) - sx(c["ioff"], 8)) * sx(c["iscale"], 16), c["ishift"] & 31), 9)
def index_full(x, start, sel, n, exp, off, prec, odd):
    """integer index of nv_full; int8 odd channels use the 22-bit unit of the configurable generation"""
    if prec == 0 and odd: return index_cfg(x, start, sel, n, exp, off)
    S = sx(start, 38)
    if x <= S: return "u", 0, 0
    d = (x - S) & ((1 << 38) - 1)
    if exp:
        g = d.bit_length() - 1; f = ((d - (1 << g)) << (37 - g)) >> 21
        if not off & 128 and g < (off & 127): return "u", 0, 0
        i = g - sx(off, 8)
        return ("o", 64, 0) if i >= 64 else ("h", i, f)
    le = n == 65
    if prec == 0: w, fb, sb = (23, 23, 5) if le else (22, 22, 5)
    else: w, fb, sb = (39, 39, 6) if le else (38, 38, 6)
    d &= (1 << w) - 1; msk = (1 << sb) - 1
    if sel >> sb & 1:
        k = (1 << sb) - (sel & msk)
        if not le: k &= msk
        v = d << k
        return ("o", n - 1, 0) if v >= n - 1 else ("h", v, 0)
    v = (d << fb) >> (sel & msk); i = v >> fb
    if i >= n - 1: return "o", n - 1, 0
    return "h", i, (v & ((1 << fb) - 1)) >> (fb - 16)
def fidx(x, S, sel, n, exp, off):
    d = fp_add(F32, x, S ^ 0x80000000)
    if F32.isnan(d) or d >> 31 or d == 0: return "u", 0, 0
    e = (d >> 23) & 255
    if exp:
        g = e - 127 - sx(off, 8)
        if g < 0: return "u", 0, 0
        return ("o", 64, 0) if g >= 64 else ("h", g, (d & 0x7FFFFF) >> 7)
    q = sx(sel, 8); m = (1 << 23) | (d & 0x7FFFFF); sh = e - 127 - q          # value = m * 2^(sh-23)
    v = (m << 16 << sh) >> 23 if sh >= 0 else (m << 16) >> (23 - sh)
    i = v >> 16
    return ("o", n - 1, 0) if i >= n - 1 else ("h", i, v & 0xFFFF)
def lutx(c, x, T, odd, stat=None):
    L = c["lut"]; p = c["prec"]
    if p == 2:
        le = fidx(x, L["le_start"] & 0xFFFFFFFF, L["le_sel"] & 255, 65, not L["le_func"], L["le_off"] & 255)
        lo = fidx(x, L["lo_start"] & 0xFFFFFFFF, L["lo_sel"] & 255, 257, 0, 0)
    else:
        le = index_full(x, L["le_start"], L["le_sel"] & 255, 65, not L["le_func"], L["le_off"] & 255, p, odd)
        lo = index_full(x, L["lo_start"], L["lo_sel"] & 255, 257, 0, 0, p, odd)
    use = choose(L, le[0], lo[0])
    if stat is not None: count(stat, le[0], lo[0])
    flow, i, f = lo if use else le
    y0 = T[use][i] & 0xFFFF
    if p != 2:
        y0 = sx(y0, 16)
        if flow == "h": return sat(y0 + rnd_away((sx(T[use][i + 1], 16) - y0) * f, 16), 16)
        ofs, sc, sh = slope_cfg(L, use, flow)
        return sat(y0 + rnd_shift((x - ofs) * sc, sh), 16)
    if flow == "h":
        dlt = fp_add(F32, fp16_to_32(T[use][i + 1] & 0xFFFF), fp16_to_32(y0) ^ 0x80000000); sc = frac16_to_17(f)
    else:
        t = "lo" if use else "le"
        if flow == "u":
            ofs = L[t + "_start"] & 0xFFFFFFFF
            if not use:
                o = L["le_off"] & 255
                b = F32.pack(0, (o + 127) & 255, 0) if not L["le_func"] and o not in (0x80, 0x81) else 0
                ofs = fp_add(F32, b, ofs)
            sc = L[t + "_us"]
        else: ofs = L[t + "_end"] & 0xFFFFFFFF; sc = L[t + "_os"]
        dlt = fp_add(F32, x, ofs ^ 0x80000000); sc = fp16_to_17(sc & 0xFFFF)
    return fp_add(F17, fp_mul(F17, fp32_to_17(dlt), sc), fp16_to_17(y0))
def column_full(c, xs, T, pad_to, stat=None):
    """xs: channel values (raw bit patterns) of one pixel; returns pad_to output bit patterns"""
    p = c["prec"]; v = [icvt(c, x) for x in xs] + [0] * (pad_to - len(xs)); k = c["n"] // 2; out = []
    sq = [fp_mul(F32, fp17_to_32(y), fp17_to_32(y)) for y in v] if p == 2 else [y * y for y in v]
    g = lambda i: sq[i] if 0 <= i < len(v) else 0
    for i, x in enumerate(v):
        if c["sqb"]: s = fp17_to_32(x) if p == 2 else x
        elif p == 2:
            A = lambda a, b: fp_add(F32, a, b)
            s = A(A(g(i - 1), g(i + 1)), g(i))
            for j in range(2, k + 1): s = A(s, A(g(i - j), g(i + j)))
        else: s = sum(g(j) for j in range(i - k, i + k + 1))
        r = lutx(c, s, T, i & 1, stat)
        if p == 2:
            m = (x if F17.isnan(x) else r) if c["mulb"] else fp_mul(F17, x, r)
            out.append(fp17_to_16(m))
        elif p == 1: out.append(sat(rnd_away(((r if c["mulb"] else r * x) - sx(c["ooff"], 32)) * sx(c["oscale"], 16), c["oshift"] & 63), 16) & 0xFFFF)
        else: out.append(sat(rnd_away(((r if c["mulb"] else r * x) - sx(c["ooff"], 25)) * sx(c["oscale"], 16), c["oshift"] & 63), 8) & 255)
    return out
def column(c, xs, T, pad_to, full, stat=None): return column_full(c, xs, T, pad_to, stat) if full else column8(c, xs, T, pad_to, stat)
# ---------------------------------------------------------------- checks
def check(path, verbose=4):
    V = json.load(open(path)); per = {}; bad = 0
    T = [[[int(v, 16) for v in t] for t in p] for p in V["tables"]]
    for g in V["vectors"]:
        c = g["cfg"]; full = g["config"] == "nv_full"
        r = column(c, [int(x, 16) for x in g["x"]], T[g["table"]], len(g["out"]), full)
        w = [int(x, 16) for x in g["out"]]; n = per.setdefault("%s prec %d" % (g["config"], c["prec"]), [0, 0, 0]); n[0] += r == w; n[1] += 1; n[2] += len(w)
        if r != w:
            bad += 1
            if bad <= verbose: print("MISMATCH", g["config"], c, [(i, g["x"][i] if i < len(g["x"]) else None, hex(a), hex(b)) for i, (a, b) in enumerate(zip(r, w)) if a != b][:4])
    print("vectors equal / all / lanes:", per, "bad", bad)
    return bad
def fill(f):
    if "hex" in f: return bytes.fromhex(f["hex"])
    x = (f["seed"] * 2654435761 + 12345) & 0xFFFFFFFF; o = bytearray()
    for _ in range(f["bytes"]):
        x ^= (x << 13) & 0xFFFFFFFF; x ^= x >> 17; x ^= (x << 5) & 0xFFFFFFFF; o.append((x >> 11) & 255)
    return bytes(o)
def run_program(case):
    """register program -> list of layers (RDMA group, CDP group, singles, tables) in enable order"""
    S = {}; D = {"CDP": [{}, {}], "CDP_RDMA": [{}, {}]}; P = {"CDP": 0, "CDP_RDMA": 0}; T = [[0] * 65, [0] * 257]; acc = [0, 0, 0]; out = []; pend = {}
    for e in case["program"]:
        if "." not in e[0]: continue
        u, n = e[0].split(".")
        if u not in D: continue
        v = e[1]
        if n == "S_POINTER": P[u] = v & 1
        elif n == "S_LUT_ACCESS_CFG": acc = [v & 1023, (v >> 16) & 1, (v >> 17) & 1]
        elif n == "S_LUT_ACCESS_DATA":
            if acc[0] < len(T[acc[1]]): T[acc[1]][acc[0]] = v & 0xFFFF
            if acc[0] != (256 if acc[1] else 64): acc[0] += 1
        elif n.startswith("S_"): S[n] = v
        elif n == "D_OP_ENABLE":
            pend.setdefault(u, []).append(dict(D[u][P[u]]))
            if all(pend.get(k) for k in D): out.append((pend["CDP_RDMA"].pop(0), pend["CDP"].pop(0), dict(S), [list(t) for t in T]))
        else: D[u][P[u]][n] = v
    return out
def layer_cfg(R, C, S):
    L = dict(le_func=S["S_LUT_CFG"] & 1, upri=S["S_LUT_CFG"] >> 4 & 1, opri=S["S_LUT_CFG"] >> 5 & 1, hpri=S["S_LUT_CFG"] >> 6 & 1, le_off=S["S_LUT_INFO"] & 255, le_sel=S["S_LUT_INFO"] >> 8 & 255, lo_sel=S["S_LUT_INFO"] >> 16 & 255)
    for k in ("LE_START", "LE_END", "LO_START", "LO_END"): L[k.lower()] = S["S_LUT_%s_LOW" % k] | (S["S_LUT_%s_HIGH" % k] & 63) << 32
    for t in ("LE", "LO"):
        a, b = S["S_LUT_%s_SLOPE_SCALE" % t], S["S_LUT_%s_SLOPE_SHIFT" % t]; t = t.lower()
        L[t + "_us"], L[t + "_os"], L[t + "_ush"], L[t + "_osh"] = a & 0xFFFF, a >> 16, b & 31, b >> 5 & 31
    f = C["D_FUNC_BYPASS"]
    return dict(prec=C["D_DATA_FORMAT"], n=3 + 2 * C["D_LRN_CFG"], sqb=f & 1, mulb=f >> 1 & 1, nan=C["D_NAN_FLUSH_TO_ZERO"] & 1, ioff=C["D_DATIN_OFFSET"], iscale=C["D_DATIN_SCALE"], ishift=C["D_DATIN_SHIFTER"],
                ooff=C["D_DATOUT_OFFSET"], oscale=C["D_DATOUT_SCALE"], oshift=C["D_DATOUT_SHIFTER"], lut=L)
ATOM = dict(nv_small=8, nv_small_256=8, nv_medium_512=16, nv_medium_1024_full=32, nv_large=32, nv_full=32)
def case_image(case):
    """memory after the case: dict address -> byte (inputs and outputs)"""
    M = {}; full = case["config"] == "nv_full"; A = ATOM[case["config"]]
    for f in case["memory_fill"]:
        for i, b in enumerate(fill(f)): M[int(f["addr"], 16) + i] = b
    for R, C, S, T in run_program(case):
        c = layer_cfg(R, C, S); es = 2 if full and c["prec"] else 1; E = A // es
        W, H, N = R["D_DATA_CUBE_WIDTH"] + 1, R["D_DATA_CUBE_HEIGHT"] + 1, R["D_DATA_CUBE_CHANNEL"] + 1; s = (N + E - 1) // E
        sb, db = R["D_SRC_BASE_ADDR_LOW"] | R["D_SRC_BASE_ADDR_HIGH"] << 32, C["D_DST_BASE_ADDR_LOW"] | C["D_DST_BASE_ADDR_HIGH"] << 32
        for h in range(H):
            for x in range(W):
                at = lambda b, ls, ss, k: b + (k // E) * ss + h * ls + x * A + (k % E) * es
                xs = [sum(M.get(at(sb, R["D_SRC_LINE_STRIDE"], R["D_SRC_SURFACE_STRIDE"], k) + j, 0) << 8 * j for j in range(es)) for k in range(N)]
                for k, v in enumerate(column(c, xs, T, s * E, full)):
                    for j in range(es): M[at(db, C["D_DST_LINE_STRIDE"], C["D_DST_SURFACE_STRIDE"], k) + j] = v >> 8 * j & 255
    return M
def check_case(path):
    import zlib
    case = json.load(open(path)); M = case_image(case)
    return all("%08x" % (zlib.crc32(bytes(M.get(int(r["addr"], 16) + i, 0) for i in range(r["bytes"]))) & 0xFFFFFFFF) == r["crc32"] for r in case["expected"]["output"])
if __name__ == "__main__":
    a = sys.argv[1:] or [os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/cdp.json")]; bad = 0; ok = 0
    for p in a:
        if "rtl_timing" in os.path.abspath(p):
            r = check_case(p); ok += r; bad += not r
            if not r: print("DIFFERENT", p)
        else: bad += check(p)
    if ok: print("cases with equal output:", ok)
    sys.exit(1 if bad else 0)
