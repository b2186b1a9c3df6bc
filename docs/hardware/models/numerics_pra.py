"""Bit-exact Winograd input transform (nv_full PRA cell), written from csc.md section 4.2. Run to compare with numerics/pra.json."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from numerics_fp import sx, rsh, F16, Fmt

F = Fmt(6, 10)
MAXE = 62

def widen(h):
    s, e, m = F16.split(h)
    if e == 31: return F.pack(s, 63, m) if m else F.pack(s, 62, 1023)
    if e == 0:
        if m == 0: return s << 16
        z = 10 - m.bit_length()
        return F.pack(s, 16 - z, (m << (z + 1)) & 1023)
    return F.pack(s, e + 16, m)

def narrow(x):
    s, e, m = F.split(x)
    if e == 63: return F16.pack(s, 31, m)
    if e >= 47: return F16.pack(s, 30, 1023)
    if e >= 17: return F16.pack(s, e - 16, m)
    if e < 6: return s << 15
    f = 1024 | m; sh = 17 - e
    q = f >> sh; rem = f & ((1 << sh) - 1); half = 1 << (sh - 1)
    if rem > half or (rem == half and q & 1): q += 1
    return (s << 15) | q

def add(a, b):
    sa, ea, ma = F.split(a); sb, eb, mb = F.split(b)
    if ea == 63: return a
    if eb == 63: return b
    xa = ma | 1024 if (ea or ma) else 0
    xb = mb | 1024 if (eb or mb) else 0
    if (eb, mb) > (ea, ma): sa, ea, xa, sb, eb, xb = sb, eb, xb, sa, ea, xa
    big = xa << 12; small = (xb << 12) >> (ea - eb)
    e = ea
    if sa == sb:
        r = big + small
        if r >> 23:
            if e >= 62: return F.pack(sa, 62, 1023)
            r >>= 1; e += 1
    else: r = big - small
    lz = 23 - r.bit_length()
    if r == 0 or e <= lz: return sa << 16
    r <<= lz; e -= lz
    m = r >> 12; rem = r & 0xFFF
    if rem > 0x800 or (rem == 0x800 and m & 1):
        m += 1
        if m >> 11:
            if e >= 62: return F.pack(sa, 62, 1023)
            m >>= 1; e += 1
    return F.pack(sa, e, m & 1023)

def sub(a, b): return add(a, b ^ 0x10000)

def pra(prec, trunc, tile):
    """tile: 16 x 16-bit patterns, row-major; returns 16 x 16-bit"""
    fp = prec == 2
    D = [widen(x) if fp else sx(x, 16) for x in tile]
    A = add if fp else (lambda a, b: a + b)
    S = sub if fp else (lambda a, b: a - b)
    def tr(v): return [S(v[0], v[2]), A(v[1], v[2]), S(v[2], v[1]), S(v[1], v[3])]
    M = [tr([D[4*r+c] for r in range(4)]) for c in range(4)]        # M[c][r]
    O = [x for r in range(4) for x in tr([M[c][r] for c in range(4)])]
    if fp: return [narrow(x) for x in O]
    w = 8 if prec == 0 else 16
    return [rsh(x, trunc, w) & 0xFFFF for x in O]

def check(path):
    V = json.load(open(path)); per = {}; bad = 0
    for v in V["vectors"]:
        i = int(v["in"], 16); o = int(v["out"], 16)
        r = pra(v["prec"], v["trunc"], [(i >> 16*k) & 0xFFFF for k in range(16)])
        e = [(o >> 16*k) & 0xFFFF for k in range(16)]
        ok = r == e
        c = per.setdefault(("int8", "int16", "fp16")[v["prec"]], [0, 0]); c[0] += ok; c[1] += 1
        if not ok:
            bad += 1
            if c[1]-c[0] <= 5: print("MISMATCH", v["prec"], v["trunc"], [(hex(a), hex(b), k) for k, (a, b) in enumerate(zip(r, e)) if a != b][:6], v["in"])
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    p = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/pra.json")
    sys.exit(1 if check(p) else 0)
