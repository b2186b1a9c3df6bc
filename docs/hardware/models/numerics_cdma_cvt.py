"""Bit-exact CDMA converter (nv_full), written from cdma.md section 9. Run to compare with numerics/cdma_cvt.json.

cvt_beats(cfg, beats) -> list of (valid, addr, half_enable, 128 bytes) ; one entry per input beat."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from numerics_fp import sx, sat, rnd_away, int_to_fp16

def convert(x, y, scale, trunc, in_prec, proc, raw16):
    """one element; returns 16-bit (int8: low byte) pattern"""
    if in_prec == 2: return raw16
    s = sat(rnd_away((x - y) * scale, trunc), 17)
    if proc == 0: return sat(s, 8) & 0xFF
    if proc == 1: return sat(s, 16) & 0xFFFF
    return int_to_fp16(s)

def cvt_beats(cfg, beats):
    ip, pp, en = cfg["in_prec"], cfg["proc"], cfg["cvt_en"]
    off, scale, trunc, pad = sx(cfg["offset"], 16), sx(cfg["scale"], 16), cfg["trunc"], cfg["pad"]
    in8, out8 = ip == 0, pp == 0
    normal = in8 == out8; expand = in8 and not out8; shrink = out8 and not in8
    held = {}; outs = []
    for b in beats:
        d = list(b["data"]); m = [(b["mask"] >> k) & 1 for k in range(4)]
        hs = b["half"]; sub = b["sub"]
        padm = [(b["padmask"] >> k) & 1 for k in range(128)]
        if ip == 2 and cfg["nan_to_zero"]:
            for k in range(32):
                h = d[2*k] | d[2*k+1] << 8
                if (h >> 10) & 31 == 31 and h & 1023: d[2*k] = d[2*k+1] = 0
        half_mode = shrink and not (m[2] or m[3]) and not b["interleave"]
        hold = half_mode and sub not in held and not (b["ext64"] or b["ext128"])
        rls = half_mode and sub in held
        # element conversion
        n = 64
        esz = 1 if in8 else 2
        el = []
        for k in range(n):
            if in8:
                r = d[k]; x = r if b["uint"] else sx(r, 8)
            else:
                r = d[2*k] | d[2*k+1] << 8; x = r if b["uint"] else sx(r, 16)
            y = sx(b["mean_data"][k], 16) if b["mean"] else off
            el.append(convert(x, y, scale, trunc, ip, pp, r))
        osz = 1 if out8 else 2
        res = []
        for e in el: res += [e & 255] if osz == 1 else [e & 255, e >> 8]
        # granule mask in output space, 8 granules of 16 B
        if hold: g = [0]*8
        elif rls: g = [1, 1, m[0], m[1], 0, 0, 0, 0]
        elif b["interleave"]: g = [0, 1, 0, 1, 0, 0, 0, 0]
        elif shrink: g = m + [0]*4
        elif expand: g = [m[0]]*4 + [m[1]]*4
        else: g = [m[k//2] for k in range(8)]
        # pad mask in output byte space
        if normal: pm = padm
        elif expand: pm = [padm[k//2] for k in range(128)]
        else: pm = [padm[2*k] for k in range(64)] + [0]*64
        if not en:
            out = d[:128]
        elif normal or expand:
            out = (res + [0]*128)[:128]
        else:
            out = (res + [0]*128)[:128]
        def padded(o, p): return [((pad & 255) if osz == 1 or k % 2 == 0 else (pad >> 8)) if p[k] else v for k, v in enumerate(o)]
        addr = b["addr"]
        if hold:
            held[sub] = (addr, hs, padded(out[:32], pm[:32]))
            outs.append((0, 0, 0, None)); continue
        if rls:
            ha, hh, hd = held.pop(sub)
            addr, hs = ha, hh
            out = hd + out[:32] + [0]*64
            pm = [0]*32 + pm[:32] + [0]*64
        if hs:
            g = [0]*4 + g[:4]
            out = [0]*64 + out[:64]
            pm = [0]*64 + pm[:64]
        out = padded(out, pm)
        out = [v if g[k//16] else 0 for k, v in enumerate(out)]     # granule mask wins over padding
        lo = 0 if hs else 1
        hi = 1 if hs or (normal and m[2]) or (expand and m[1]) or b["ext128"] else 0
        outs.append((1, addr, lo | hi << 1, out))
    return outs

def nan_inf(cfg, b):
    """counter increments of one beat: fp16 input only, valid atoms of the low 64 bytes"""
    n = f = 0
    if cfg["in_prec"] == 2:
        for k in range(32):
            h = b["data"][2*k] | b["data"][2*k+1] << 8
            if (b["mask"] >> (k//16)) & 1 and (h >> 10) & 31 == 31:
                if h & 1023: n += 1
                else: f += 1
    return n, f

def check(path):
    V = json.load(open(path)); per = {}; bad = 0
    for grp in V["vectors"]:
        cfg = grp["cfg"]; beats = []
        for b in grp["beats"]:
            c = dict(b)
            c["data"] = list(bytes.fromhex(b["data"]))[::-1]
            c["mean_data"] = [int(b["mean_data"][4*k:4*k+4], 16) for k in range(64)][::-1]
            c["padmask"] = int(b["padmask"], 16); c["addr"] = int(b["addr"], 16)
            beats.append(c)
        outs = cvt_beats(cfg, beats)
        for b, o in zip(grp["beats"], outs):
            v, a, h, d = o
            if b["out"] is None: ok = not v
            else:
                e = list(bytes.fromhex(b["out"]))[::-1]
                ok = bool(v) and a == int(b["out_addr"], 16) and h == b["out_half"] and all(e[k] == d[k] for k in range(128) if (h >> (k//64)) & 1)
            if b["data"] is not None:
                bb = dict(b); bb["data"] = list(bytes.fromhex(b["data"]))[::-1]
                ok = ok and nan_inf(cfg, bb) == (b["nan"], b["inf"])
            k = "%d->%d en%d" % (cfg["in_prec"], cfg["proc"], cfg["cvt_en"])
            c = per.setdefault(k, [0, 0]); c[0] += ok; c[1] += 1
            if not ok:
                bad += 1
                if c[1]-c[0] <= 2:
                    print("MISMATCH", cfg, {x: y for x, y in b.items() if x not in ("mean_data",)})
                    if d: print("   model", v, hex(a), h, bytes(d[::-1]).hex())
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    p = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/cdma_cvt.json")
    sys.exit(1 if check(p) else 0)
