"""Bit-exact SDP Y engine (EW incl. operand converters and LUT), nv_full, written from sdp.md sections 4.3-4.5.
Run to compare with numerics/sdp_y.json."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from numerics_fp import *

FULL = 1        # 0 for the configurable generation (the vector file's header decides)

def operand(c, which, h):
    """streamed 16-bit operand -> 32-bit engine operand"""
    if c["prec"] == 2:
        if c["nan_to_zero"] and F16.isnan(h): return 0
        return fp16_to_32(h)
    if c[which + "_cvt_bypass"]: return sx(h, 16)
    p = (sx(h, 16) - sx(c[which + "_cvt_offset"], 32)) * sx(c[which + "_cvt_scale"], 16)
    return rsh(p, c[which + "_cvt_trunc"] & 63, 32)

def core(c, x, ah, mh):
    fp = c["prec"] == 2
    if not c["mul_bypass"]: mo = operand(c, "mul", mh) if c["mul_src"] else c["mul_op"]
    if not c["alu_bypass"]: ao = operand(c, "alu", ah) if c["alu_src"] else c["alu_op"]
    if fp:
        m = x
        if not c["mul_bypass"] and not (c["prelu"] and not x >> 31): m = fp_mul(F32, x, mo)
        if c["alu_bypass"]: return m
        g = c["alu_algo"]
        return fp_maxmin(m, ao, 1) if g == 0 else fp_maxmin(m, ao, 0) if g == 1 else fp_add(F32, m, ao) if g == 2 else int(m != ao)
    x = sx(x, 32); m = x
    if not c["mul_bypass"] and not (c["prelu"] and x >= 0):
        m = rsh(x * sx(mo, 32), c["trunc"] & 1023, 32)
    if c["alu_bypass"]: return m & 0xFFFFFFFF
    ao = sx(ao, 32); g = c["alu_algo"]
    a = max(m, ao) if g == 0 else min(m, ao) if g == 1 else m + ao if g == 2 else int(m != ao)
    return sat(a, 32) & 0xFFFFFFFF

# ---- LUT index -------------------------------------------------------------------------------------------------
def idx_linear(x, S, q, N, le=1):
    if x <= S: return "u", 0, 0
    d = x - S
    i = (d >> q) if q >= 0 else (d << -q)
    if i >= N - 1: return "o", N - 1, 0
    if q > 0:
        if le and FULL and q > 32: d = sx(d, 32) & ((1 << 35) - 1)      # nv_full LE quirk: sign-extended distance
        f = d & ((1 << q) - 1)
        f = (f << (35 - q)) if q <= 35 else (f >> (q - 35))
    else: f = 0
    return "h", i, f

def idx_exp(x, S, o):
    if x <= S: return "u", 0, 0
    d = x - S; g = d.bit_length() - 1
    if g < o: return "u", 0, 0
    i = g - o
    if i >= 64: return "o", 64, 0
    return "h", i, (d - (1 << g)) << (35 - g)

def fidx_linear(x, S, q, N):
    d = fp_add(F32, x, S ^ 0x80000000)
    if F32.isnan(x) or F32.isnan(S) or F32.isnan(d) or d >> 31 or d & 0x7FFFFFFF == 0: return "u", 0, 0
    e = ((d >> 23) & 255) - 127 - q
    m = (1 << 23) | (d & 0x7FFFFF)
    v = m << 12                                  # 35 fraction bits
    if e >= 10: return "o", N - 1, 0
    v = v << e if e >= 0 else v >> -e
    i, f = v >> 35, v & ((1 << 35) - 1)
    if i >= N - 1: return "o", N - 1, 0
    return "h", i, f

def fidx_exp(x, S, o):
    d = fp_add(F32, x, S ^ 0x80000000)
    if F32.isnan(d) or d >> 31 or d & 0x7FFFFFFF == 0: return "u", 0, 0
    i = ((d >> 23) & 255) - 127 - o
    if i < 0: return "u", 0, 0
    if i >= 64: return "o", 64, 0
    return "h", i, (d & 0x7FFFFF) << 12

# ---- fp17 helpers ----------------------------------------------------------------------------------------------
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
    if e < 97:                              # below the smallest normal: zero, except what rounds up to it
        return F17.pack(s, 1, 0) if e == 96 and m >= 0x7FE000 else s << 16
    q = m >> 13; rem = m & 0x1FFF; E = e - 96
    if rem > 0x1000 or (rem == 0x1000 and q & 1):
        q += 1
        if q >> 10: q = 0; E += 1
    if E >= 63: return F17.maxf(s)
    return F17.pack(s, E, q)
def frac_to_17(f):
    """f in [0, 2^35]: value f / 2^35 as fp17, RNE"""
    if f == 0: return 0
    k = f.bit_length() - 1
    if k > 10:
        sh = k - 10; q = f >> sh; rem = f & ((1 << sh) - 1); half = 1 << (sh - 1)
        if rem > half or (rem == half and q & 1): q += 1
        if q >> 11: q >>= 1; k += 1
    else: q = f << (10 - k)
    e = k - 35 + 31
    if e <= 0: return 0
    return F17.pack(0, e, q & 1023)

def lut(c, x, T):
    """x 32-bit pattern; T = (LE table 65, LO table 257)"""
    L = c["lut"]; fp = c["prec"] == 2
    o = sx(L["le_off"], 8); sle = sx(L["le_sel"], 8); slo = sx(L["lo_sel"], 8)
    if fp:
        xe = x
        le = fidx_linear(x, L["le_start"], sle, 65) if L["le_func"] else fidx_exp(x, L["le_start"], o)
        lo = fidx_linear(x, L["lo_start"], slo, 257)
    else:
        xe = sx(x, 32)
        le = idx_linear(xe, sx(L["le_start"], 32), sle, 65) if L["le_func"] else idx_exp(xe, sx(L["le_start"], 32), o)
        lo = idx_linear(xe, sx(L["lo_start"], 32), slo, 257, 0)
    a, b = le[0], lo[0]
    if a == "u" and b == "u": use = L["upri"]
    elif a == "o" and b == "o": use = L["opri"]
    elif (a == "h") == (b == "h"): use = L["hpri"]
    else: use = 0 if a == "h" else 1
    flow, i, f = lo if use else le
    tab = T[use]
    p = "lo" if use else "le"
    y0 = tab[i]
    if flow == "h":
        y1 = tab[i + 1]
        if not fp: return rsh(sx(y0, 16) * ((1 << 35) - f) + sx(y1, 16) * f, 35, 32) & 0xFFFFFFFF
        a1, a0 = frac_to_17(f), frac_to_17((1 << 35) - f)
        r = fp_add(F17, fp_mul(F17, a0, fp16_to_17(y0)), fp_mul(F17, a1, fp16_to_17(y1)))
        return fp17_to_32(r)
    if flow == "u":
        ofs, scale, sh = L[p + "_start"], L[p + "_us"], L[p + "_ush"]
        isexp = not use and not L["le_func"]
    else:
        ofs, scale, sh = L[p + "_end"], L[p + "_os"], L[p + "_osh"]
        isexp = 0
    if not fp:
        bias = (1 << o) if isexp and 0 <= o < 32 else 0
        v = (xe - (bias + sx(ofs, 32))) * sx(scale, 16); s = sx(sh, 5)
        v = rsh(v, s, 32) if s >= 0 else lsh(v, -s, 32)
        return sat(sx(y0, 16) + v, 32) & 0xFFFFFFFF
    off = ofs
    if isexp: off = fp_add(F32, ofs, F32.pack(0, (o + 127) & 255, 0))
    d = fp_add(F32, x, off ^ 0x80000000)
    r = fp_add(F17, fp16_to_17(y0), fp_mul(F17, fp32_to_17(d), fp16_to_17(scale)))   # y0 is the first operand
    return fp17_to_32(r)

def y_lane(c, x, ah, mh, T):
    r = core(c, x, ah, mh)
    return r if c["lut_bypass"] else lut(c, r, T)

def check(path, verbose=6):
    global FULL
    V = json.load(open(path)); per = {}; bad = 0
    FULL = int("nv_full" in V["unit"])
    tabs = [[[int(v, 16) for v in t] for t in p] for p in V["tables"]]
    for g in V["vectors"]:
        c = g["cfg"]
        for x, a, m, o in zip(g["x"], g["aop"], g["mop"], g["out"]):
            r = y_lane(c, int(x, 16), int(a, 16), int(m, 16), tabs[g["table"]])
            ok = r == int(o, 16)
            k = ("fp" if c["prec"] == 2 else "int") + (" core" if c["lut_bypass"] else " lut %s" % ("lin" if c["lut"]["le_func"] else "exp"))
            n = per.setdefault(k, [0, 0]); n[0] += ok; n[1] += 1
            if not ok:
                bad += 1
                if n[1]-n[0] <= verbose: print("MISMATCH", k, x, a, m, "rtl", o, "model", hex(r), {q: w for q, w in c.items()} if n[1]-n[0] <= 2 else "")
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    p = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/sdp_y.json")
    sys.exit(1 if check(p) else 0)
