"""Bit-exact CACC adder model, written from cacc.md section 4. Run to compare with numerics/cacc.json."""
import json, os, sys

def sx(x, w): x &= (1 << w) - 1; return x - (1 << w) if x >> (w-1) else x
def clip(x, w):
    lo, hi = -(1 << (w-1)), (1 << (w-1)) - 1
    return lo if x < lo else hi if x > hi else x

def int_add(new, old, width):
    return clip(new + old, width)

def int_final(v, t):
    q = v >> t
    g = (v >> (t-1)) & 1 if t else 0
    st = 0
    for k in range(t-2, max(t-17, -1), -1): st |= (v >> k) & 1
    up = g & int(v >= 0 or st)
    if v < 0: sat = q < -(1 << 31)
    else: sat = q > 0x7FFFFFFF or (q == 0x7FFFFFFF and up)
    if sat: return (0x80000000 if v < 0 else 0x7FFFFFFF), 1
    return (q + up) & 0xFFFFFFFF, 0

def int_unit(data, dw, op, opv, sel, trunc, aw):
    """returns (word, sat); sel=1 final"""
    v = int_add(sx(data, dw), sx(op, aw) if opv else 0, aw)
    if sel: return int_final(v, trunc)
    return v & ((1 << aw) - 1), 0

def rs(x, w):
    x &= (1 << w) - 1
    s = x >> (w-1)
    n = 0
    for k in range(w-2, -1, -1):
        if (x >> k) & 1 != s: break
        n += 1
    return n

def shift80(m, s):
    """m signed 40 bit; returns (aligned signed 40, lost 40 bits unsigned)"""
    v = (m << 40) >> s
    return v >> 40, v & ((1 << 40) - 1)

def cut3(l): return ((l >> 39) & 1) << 2 | ((l >> 38) & 1) << 1 | int((l & ((1 << 38) - 1)) != 0)

def fp_unit(data, op, opv, sel):
    """data 44 bit {e6,m38}, op 48 bit {e8,m40}; returns 48-bit partial (sel=0) or 32-bit final (sel=1)"""
    if not opv: op = 0
    e6 = (data >> 38) & 63; m38 = data & ((1 << 38) - 1)
    e8 = (op >> 40) & 255; p40 = op & ((1 << 40) - 1)
    nan = 0
    if e8 == 255:
        E, m = 255, (p40 >> 29) << 29; nan = 1
    elif e6 == 63:
        E, m = 255, ((m38 >> 27) & 0x7FF) << 29; nan = 1
    else:
        l = rs(m38, 36)
        mx = sx((m38 << l), 36) << 4
        ex = 0 if m38 == 0 else (e6 + 47 - l)
        ep = 0 if p40 == 0 else e8
        mp = sx(p40, 40)
        Em = max(ex, ep)
        ax, lx = shift80(mx, Em - ex)
        ap, lp = shift80(mp, Em - ep)
        cut = cut3(lp) if ex > ep else cut3(lx) if ex < ep else 0
        S = ax + ap
        Z = ((S << 3) | cut) & ((1 << 44) - 1)
        z = rs(Z, 44)
        e = (Em + 1 - z) & 255
        V = (Z << z) & ((1 << 44) - 1)
        m = V >> 4; g = (V >> 3) & 1; s = int(V & 7 != 0)
        sign = m >> 39
        up = g & int((not sign) or s)
        if not sign and (m & ((1 << 39) - 1)) == (1 << 39) - 1 and up:
            m = 1 << 38; e = (e + 1) & 255
        elif sign and not (m >> 38) & 1 and (m & ((1 << 38) - 1)) == (1 << 38) - 1 and up:
            m = 1 << 39; e = (e - 1) & 255
        else:
            m = (m + up) & ((1 << 40) - 1)
        E = e
        if m == 0: E = 0
    if not sel: return (E << 40) | m
    sg = m >> 39
    low = m & ((1 << 39) - 1)
    if m == 0: return 0
    if nan: return (sg << 31) | (255 << 23) | ((m >> 29) & 0x3FF)
    mag = ((1 << 39) - low) & ((1 << 39) - 1) if sg else low
    neg2 = int(sg and low == 0)
    f = mag >> 15; rnd = (mag >> 14) & 1
    carry = int(f == 0xFFFFFF and rnd)
    frac = 0 if carry else (f + rnd) & 0x7FFFFF
    exp8 = (E + 64 + (carry | neg2)) & 255
    return (sg << 31) | (exp8 << 23) | frac

def check(path):
    V = json.load(open(path)); per = {}; bad = 0
    for v in V["vectors"]:
        h = lambda k: int(v[k], 16)
        u = v["unit"]
        if u == "fp": r = (fp_unit(h("data"), h("op"), v["opv"], v["final"]), 0)
        elif u == "wide": r = int_unit(h("data"), 38, h("op"), v["opv"], v["final"], v["trunc"], 48)
        else: r = int_unit(h("data"), 22, h("op"), v["opv"], v["final"], v["trunc"], 34)
        ok = r == (h("out"), v["sat"])
        k = (u, "final" if v["final"] else "partial")
        c = per.setdefault(k, [0, 0]); c[0] += ok; c[1] += 1
        if not ok:
            bad += 1
            if c[1]-c[0] <= 4: print("MISMATCH", v, hex(r[0]), r[1])
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    p = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/cacc.json")
    sys.exit(1 if check(p) else 0)
