"""Bit-exact element arithmetic of the configurable generation (int8): SDP X lane, SDP converter lane, CACC adder,
CDMA converter cell, SDP Y engine. Run to compare with numerics/cfg.json and numerics/cfg_sdp_y.json."""
import json, os, sys
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, HERE)
from numerics_fp import sx, sat, rnd_away, rsh, lsh
from numerics_cacc import int_unit

def rshz(x, n, inw, w):
    """right shift of the configurable generation: a shift >= input width gives 0"""
    return 0 if n >= inw else rsh(x, n, w)

def x_lane(v):
    x = sx(int(v["x"], 16), 32); a = x
    if not v["alu_bypass"]:
        o = lsh(sx(v["alu_op"], 16), v["alu_shift"], 32)
        a = max(x, o) if v["alu_algo"] == 0 else min(x, o) if v["alu_algo"] == 1 else x + o
    keep = 0
    if v["mul_bypass"]: m = a
    elif v["prelu"] and a >= 0: m, keep = a, 1
    else: m = a * sx(v["mul_op"], 16)
    t = sx(m, 32) if keep else rshz(m, v["mul_shift"], 49, 32)
    if not v["relu_bypass"]: t = max(t, 0)
    return t & 0xFFFFFFFF

def c_lane(v):
    x = int(v["x"], 16)
    lane = 0xFFFF if v["out_prec"] == 1 else 0xFF      # int8 output: upper byte of the lane is 0
    if v["eql"]: return x & lane, 0
    m = (sx(x, 32) - sx(int(v["offset"], 16), 32)) * sx(int(v["scale"], 16), 16)
    n = v["trunc"]
    q = 0 if n >= 49 else rnd_away(m, n)
    fl = 0 if n >= 49 else m >> n
    t = sat(q, 17)
    flag = int(fl < -65536 if m < 0 else q > 65535)      # negative: tested before rounding
    return sat(t, 16 if v["out_prec"] == 1 else 8) & lane, flag

def cvt_cell(v):
    p = (sx(int(v["x"], 16), 17) - sx(int(v["alu"], 16), 16)) * sx(int(v["scale"], 16), 16)
    s = rshz(p, v["trunc"], 34, 17)
    return sat(s, 16 if v["proc"] == 1 else 8) & 0xFFFF

def check():
    V = json.load(open(os.path.join(HERE, "../../../build/test-data/numerics/cfg.json") if len(sys.argv) < 2 else sys.argv[1])); per = {}; bad = 0
    for v in V["vectors"]:
        u = v["unit"]; o = int(v["out"], 16)
        if u == "x": r, e = x_lane(v), o
        elif u == "c": r, e = c_lane(v), (o, v["sat"])
        elif u == "cacc": r, e = int_unit(int(v["data"], 16), 22, int(v["op"], 16), v["opv"], v["final"], v["trunc"], 34), (o, v["sat"])
        else: r, e = cvt_cell(v), o
        ok = r == e
        c = per.setdefault(u, [0, 0]); c[0] += ok; c[1] += 1
        if not ok:
            bad += 1
            if c[1]-c[0] <= 5: print("MISMATCH", v, r)
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    b = check()
    p = os.path.join(HERE, "../../../build/test-data/numerics/cfg_sdp_y.json")
    if os.path.exists(p) and len(sys.argv) < 2:
        import numerics_sdp_y
        b += numerics_sdp_y.check(p)
    sys.exit(1 if b else 0)
