"""Bit-exact CMAC cell model (nv_full), written from cmac.md section 4.

cell(prec, wg, dat, wt, dmask, wmask) -> 176-bit result word (int)
  prec   0 int8, 1 int16, 2 fp16 ; wg 1 = Winograd
  dat,wt lists of 128 bytes ; dmask, wmask 128-bit integers (bit i: byte i is non-zero)
In direct mode only bits [43:0] are defined.
Run the file to compare it with numerics/cmac.json.
"""
import json, os, sys

Q = 0x55550000
M38 = (1 << 38) - 1
M22 = (1 << 22) - 1

def s8(x):  return x - 256 if x & 0x80 else x
def s16(x): return x - 65536 if x & 0x8000 else x

def csa_tree(v, width):
    m = (1 << width) - 1
    v = [x & m for x in v]
    while len(v) > 2:
        n = len(v); t = []
        for i in range(n // 3):
            x, y, z = v[3*i:3*i+3]
            t.append(x ^ y ^ z)
            t.append((((x & y) | (y & z) | (x & z)) << 1) & m)
        t += v[3*(n//3):]
        v = t
    return v[0], v[1]

def booth_pair(A, B, sg):
    """redundant product (a,b), a+b = (+-A*B) + Q ; A weight magnitude, B data magnitude"""
    rows = []; corr = []
    B15 = (B >> 15) & 1
    Ax = A << 1
    for j in range(8):
        code = (Ax >> (2*j)) & 7
        if sg: code ^= 7
        if code in (0, 7):   r, v = 0x10000, 0
        elif code in (1, 2): r, v = ((B15 ^ 1) << 16) | B, 0
        elif code == 3:      r, v = ((B15 ^ 1) << 16) | ((B & 0x7FFF) << 1), 0
        elif code == 4:      r, v = (B15 << 16) | ((~B & 0x7FFF) << 1) | 1, 1
        else:                r, v = (B15 << 16) | (~B & 0xFFFF), 1
        rows.append(r); corr.append(v)
    out = []
    for h in (0, 4):
        r = rows[h:h+4]; v = corr[h:h+4]
        out.append(csa_tree([r[0], (r[1] << 2) | v[0], (r[2] << 4) | (v[1] << 2),
                             (r[3] << 6) | (v[2] << 4), v[3] << 6], 24))
    (ls, lc), (us, uc) = out
    return csa_tree([ls, lc, us << 8, uc << 8], 32)

def poa(G):
    X0 = [G[4*r] + G[4*r+1] + G[4*r+2] for r in range(4)]
    X1 = [G[4*r+1] - G[4*r+2] - G[4*r+3] for r in range(4)]
    return [X0[0]+X0[1]+X0[2], X1[0]+X1[1]+X1[2], X0[1]-X0[2]-X0[3], X1[1]-X1[2]-X1[3]]

def fp_unpack(h):
    s = h >> 15; e = (h >> 10) & 31; m = h & 1023
    M12 = 1024 + m if e else 2*m
    return s, M12 << (e & 3), e >> 2, (e == 31 and m != 0)

def cell(prec, wg, dat, wt, dmask, wmask):
    if prec == 0:
        P = [s8(dat[i])*s8(wt[i]) if (dmask >> i) & (wmask >> i) & 1 else 0 for i in range(128)]
        lo, hi = P[:64], P[64:]
        def pack(l, h): return (l & M22) | ((h & M22) << 22)
        if not wg: return pack(sum(lo), sum(hi))
        gl = poa([sum(lo[4*g:4*g+4]) for g in range(16)])
        gh = poa([sum(hi[4*g:4*g+4]) for g in range(16)])
        return sum(pack(gl[k], gh[k]) << (44*k) for k in range(4))
    d = [dat[2*i] | dat[2*i+1] << 8 for i in range(64)]
    w = [wt[2*i] | wt[2*i+1] << 8 for i in range(64)]
    dn = [(dmask >> 2*i) & 1 for i in range(64)]
    wn = [(wmask >> 2*i) & 1 for i in range(64)]
    if prec == 1:
        P = [s16(d[i])*s16(w[i]) if dn[i] & wn[i] else 0 for i in range(64)]
        ex = 0
    else:
        U = [fp_unpack(x) for x in d]; W = [fp_unpack(x) for x in w]
        for f, n, src in ((W, wn, w), (U, dn, d)):
            for i in range(64):
                if f[i][3] and n[i]:
                    x = src[i]
                    word = (0x3F << 38) | ((x >> 15) << 37) | ((x & 1023) << 27)
                    return sum(word << (44*k) for k in range(4)) if wg else word
        p = [dn[i] & wn[i] for i in range(64)]
        S = [U[i][2] + W[i][2] if p[i] else 0 for i in range(64)]
        em = max(S)
        P = []
        for i in range(64):
            sh = em - S[i]
            if not p[i] or sh >= 8: P.append(0); continue
            a, b = booth_pair(W[i][1], U[i][1], U[i][0] ^ W[i][0])
            P.append((a >> 4*sh) + (b >> 4*sh) - (Q >> 4*sh))
        ex = em << 2
    if not wg: return (sum(P) & M38) | (ex << 38)
    G = poa([sum(P[4*g:4*g+4]) for g in range(16)])
    return sum(((G[k] & M38) | (ex << 38)) << (44*k) for k in range(4))

def check(path):
    V = json.load(open(path)); bad = 0; per = {}
    for v in V["vectors"]:
        prec, wg = v["prec"], v["wg"]
        b = lambda s: list(bytes.fromhex(s))[::-1]
        r = cell(prec, wg, b(v["dat"]), b(v["wt"]), int(v["dmask"], 16), int(v["wmask"], 16))
        m = (1 << 176) - 1 if wg else (1 << 44) - 1
        ok = (r & m) == (int(v["out"], 16) & m)
        k = (["int8", "int16", "fp16"][prec], "wg" if wg else "direct")
        c = per.setdefault(k, [0, 0]); c[0] += ok; c[1] += 1
        if not ok:
            bad += 1
            if bad <= 5: print("MISMATCH", k, v.get("note"), hex(r & m), v["out"])
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    p = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/cmac.json")
    sys.exit(1 if check(p) else 0)
