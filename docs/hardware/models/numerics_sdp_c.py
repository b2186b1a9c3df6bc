"""Bit-exact SDP output converter (nv_full), written from sdp.md sections 4.2 and 4.3. Run to compare with numerics/sdp_c.json."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from numerics_fp import *

def c_lane(proc, outp, offset, scale, trunc, eql, x):
    """-> (16-bit lane, saturation flag)"""
    if proc == 2:
        if eql: return x & 0xFFFF, 0
        h = fp32_to_16(x)
        return fp16_to_int16(h) if outp == 1 else (h, 0)
    m = (sx(x, 32) - sx(offset, 32)) * sx(scale, 16)
    q = rnd_away(m, trunc & 63)
    t = sat(q, 17)
    fl = int(abs((m >> (trunc & 63)) - t) > 1)
    if eql: return x & 0xFFFF, fl
    if outp == 2: return int_to_fp16(t), fl
    return sat(t, 16 if outp == 1 else 8) & 0xFFFF, fl

def fp16_to_int16(h):
    s, e, m = F16.split(h)
    if e == 31: return (0x8000, 0)
    f = m | 1024 if e else m; e = e or 1
    v = f << (e - 25) if e >= 25 else (f + (1 << (24 - e))) >> (25 - e)
    v = -v if s else v
    return sat(v, 16) & 0xFFFF, 0

def check(path):
    V = json.load(open(path)); per = {}; bad = 0
    for v in V["vectors"]:
        r = c_lane(v["proc"], v["out_prec"], int(v["offset"], 16), int(v["scale"], 16), v["trunc"], v["eql"], int(v["x"], 16))
        ok = r == (int(v["out"], 16), v["sat"])
        k = "eql" if v["eql"] else "%d->%d" % (v["proc"], v["out_prec"])
        c = per.setdefault(k, [0, 0]); c[0] += ok; c[1] += 1
        if not ok:
            bad += 1
            if c[1]-c[0] <= 6: print("MISMATCH", v, hex(r[0]), r[1])
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    p = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/sdp_c.json")
    sys.exit(1 if check(p) else 0)
