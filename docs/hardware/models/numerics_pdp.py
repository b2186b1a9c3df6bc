"""PDP numerics: bit-exact pooling of one channel plane (nv_full int8 / int16 / fp16, configurable generation int8).
Written from pdp.md section 3.  Pure Python.
pool(plane, layer, gen, prec) -> list of output rows of raw bit patterns (8 or 16 bit).
plane: list of rows of raw input bit patterns.  layer: dict kw kh sx sy pl pr pt pb (sizes, not register values), method ('avg' 'max' 'min'),
ow oh, pad: list of the seven PAD_VALUE registers (19-bit patterns), recip_w, recip_h (17-bit patterns), nan_to_zero (off-line fp16 only).
Self test: python3 numerics_pdp.py ../../../build/test-data/numerics/pdp.json"""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from numerics_fp import F16, F17, fp_add, fp_mul, sx

def wrap(v, n): return sx(v, n)

# ------------------------------------------------------------------ rounding of a product with a reciprocal
def recip_round(x, r, keep):
    """x * r / 2^16, nearest, ties away from zero, then cut (not saturated) to `keep` bits.
    A positive result keeps keep-1 integer bits before the rounding carry is added (the carry may set the sign bit)."""
    p = x * r
    if p < 0:
        q = p >> 16; f = p & 0xFFFF
        return wrap(q + 1 if f > 0x8000 else q, keep)
    return wrap(((p >> 16) & ((1 << (keep-1)) - 1)) + ((p >> 15) & 1), keep)

# ------------------------------------------------------------------ fp16 <-> fp17 (bias 15 -> 31)
def fp16_to_17(h):
    s, e, m = F16.split(h)
    if e == 31: return F17.pack(s, 63, m) if m else F17.maxf(s) if INF_TO_MAX else F17.pack(s, 46, m)
    if e == 0:
        if m == 0: return s << 16
        k = m.bit_length() - 1
        return F17.pack(s, k - 24 + 31, (m << (10-k)) & 1023)
    return F17.pack(s, e + 16, m)
INF_TO_MAX = True

def fp17_to_16(x):
    s, e, m = F17.split(x)
    if e == 63 and m: return F16.pack(s, 31, m)
    if e > 46: return F16.maxf(s)
    if e >= 17: return F16.pack(s, e - 16, m)
    # denormal result: value = 1.m * 2^(e-31), unit of the result 2^-24
    sh = 17 - e                       # e=16 -> 1
    f = 1024 | m if e else m
    if e == 0: return s << 15
    if sh > 12: return s << 15
    q = f >> sh; rem = f & ((1 << sh) - 1); half = 1 << (sh-1)
    if rem > half or (rem == half and q & 1): q += 1
    return (s << 15) | q

KW17 = [0x7c00, 0x8000, 0x8200, 0x8400, 0x8500, 0x8600, 0x8700, 0x8800]       # 1.0 .. 8.0

# ------------------------------------------------------------------ max / min
def pick(a, b, method, prec, w):
    """a: accumulated or, in the vertical stage, the NEW line; result for fp16: a NaN wins, first operand first"""
    if prec != 'fp16':
        x, y = sx(a, w), sx(b, w)
        return (a if x > y else b) if method == 'max' else (a if y > x else b)
    if F16.isnan(a): return a
    if F16.isnan(b): return b
    sa, sb, ma, mb = a >> 15, b >> 15, a & 0x7FFF, b & 0x7FFF
    if sa != sb: return (b if sa else a) if method == 'max' else (a if sa else b)
    bigger_is_a = not (ma > mb) if sa else ma > mb        # equal magnitudes are identical anyway
    if method == 'max': return a if bigger_is_a else b
    return b if bigger_is_a else a

def windows(n, k, s, p, out):
    """for each output: (first real index, number of real elements)"""
    r = []
    for o in range(out):
        lo = o*s - p; hi = min(lo + k, n); lo0 = max(lo, 0)
        r.append((lo0, hi - lo0))
    return r

def pool(plane, L, gen='cfg', prec='int8'):
    w = 8 if prec == 'int8' else 16
    H, W = len(plane), len(plane[0])
    kw, kh, m = L['kw'], L['kh'], L['method']
    pad = [0] + [sx(v, 19) for v in L['pad']]
    rawpad = [0] + [v & 0x1FFFF for v in L['pad']]
    if prec == 'fp16' and L.get('nan_to_zero') and not L.get('fly'):
        plane = [[0 if F16.isnan(v) else v for v in r] for r in plane]
    acc1, acc2 = (11, 14) if w == 8 else (22, 22)
    hw = windows(W, kw, L['sx'], L['pl'], L['ow']); vw = windows(H, kh, L['sy'], L['pt'], L['oh'])
    rows = []
    need = sorted({y for y0, n in vw for y in range(y0, y0+n)})
    lines = {}
    for y in need:
        src = plane[y]; line = []
        for x0, n in hw:
            v = src[x0:x0+n]
            if m != 'avg':
                a = v[0]
                for b in v[1:]: a = pick(a, b, m, prec, w)
            elif prec == 'fp16':
                v = [fp16_to_17(t) for t in v]
                a = v[0]
                for b in v[1:]: a = fp_add(F17, a, b)
                a = fp_add(F17, a, rawpad[kw-n])              # always added, +0 when nothing is padded
            else:
                a = sum(sx(t, w) for t in v)
                if n != kw: a += wrap(pad[kw-n], 11) if w == 8 else pad[kw-n]
                a = wrap(a, acc1)
            line.append(a)
        lines[y] = line
    for y0, n in vw:
        out = []
        for x in range(len(hw)):
            a = lines[y0][x]
            for y in range(y0+1, y0+n):
                b = lines[y][x]
                if m != 'avg': a = pick(b, a, m, prec, w)     # operands: new line first
                elif prec == 'fp16': a = fp_add(F17, b, a)    # new line is the first operand
                else: a = wrap(a + b, acc2 if w == 8 else 28)
            if m != 'avg': out.append(a & ((1 << w) - 1)); continue
            if prec == 'fp16':
                a = fp_add(F17, a, fp_mul(F17, rawpad[kh-n], KW17[kw-1]))
                a = fp_mul(F17, a, L['recip_w'] & 0x1FFFF); a = fp_mul(F17, a, L['recip_h'] & 0x1FFFF)
                out.append(fp17_to_16(a)); continue
            if w == 8:
                if n != kh: a = a + wrap(wrap(pad[kh-n]*kw, 22), 14)
                a = wrap(a, 15 if gen == 'cfg' else 14)
                a = recip_round(a, L['recip_w'] & 0x1FFFF, 11); a = recip_round(a, L['recip_h'] & 0x1FFFF, 8)
            else:
                a = wrap(a, 22)
                if n != kh: a = wrap(a + wrap(pad[kh-n]*kw, 22), 22)
                a = recip_round(a, L['recip_w'] & 0x1FFFF, 19); a = recip_round(a, L['recip_h'] & 0x1FFFF, 16)
            out.append(a & ((1 << w) - 1))
        rows.append(out)
    return rows

if __name__ == '__main__':
    import json
    d = json.load(open(sys.argv[1])); bad = 0; n = 0
    for v in d['vectors']:
        got = pool(v['in'], v['layer'], v['gen'], v['prec']); n += 1
        if got != v['out']: bad += 1; print('mismatch', v['name'])
    print(n - bad, '/', n, 'planes equal')
