"""Bit-exact SDP X engine (BS / BN), nv_full, written from sdp.md sections 4.1 and 4.3. Run to compare with numerics/sdp_x.json."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from numerics_fp import *

def x_lane(c, x, aop, mop):
    """c: config dict; x 32-bit; aop, mop 16-bit streamed operands -> 32 bit"""
    ao = aop if c["alu_src"] else c["alu_op"]
    mo = mop if c["mul_src"] else c["mul_op"]
    if c["prec"] == 2:
        nz = c["nan_to_zero"]
        def opnd(h):
            if nz and F16.isnan(h): return 0
            return fp16_to_32(h)
        a = x
        if not c["alu_bypass"]:
            o = opnd(ao)
            if c["alu_algo"] == 0: a = fp_maxmin(x, o, 1)
            elif c["alu_algo"] == 1: a = fp_maxmin(x, o, 0)
            elif c["alu_algo"] == 3: a = int(x != o)
            else: a = fp_add(F32, x, o)
        m = a
        if not c["mul_bypass"] and not (c["prelu"] and not a >> 31):
            m = fp_mul(F32, a, opnd(mo))
        if not c["relu_bypass"]:
            if m >> 31 and not F32.isnan(m): m = 0
        return m
    x = sx(x, 32)
    a = x
    if not c["alu_bypass"]:
        o = lsh(sx(ao, 16), c["alu_shift"] & 63, 32)
        a = max(x, o) if c["alu_algo"] == 0 else min(x, o) if c["alu_algo"] == 1 else x + o
    keep = 0
    if c["mul_bypass"]: m = a
    elif c["prelu"] and a >= 0: m, keep = a, 1
    else: m = a * sx(mo, 16)
    t = sx(m, 32) if keep else rsh(m, c["mul_shift"] & 63, 32)
    if not c["relu_bypass"]: t = max(t, 0)
    return t & 0xFFFFFFFF

def check(path):
    V = json.load(open(path)); per = {}; bad = 0
    for v in V["vectors"]:
        r = x_lane(v, int(v["x"], 16), int(v["aop"], 16), int(v["mop"], 16))
        ok = r == int(v["out"], 16)
        k = ("int", "int", "fp")[v["prec"]]
        c = per.setdefault(k, [0, 0]); c[0] += ok; c[1] += 1
        if not ok:
            bad += 1
            if c[1]-c[0] <= 8: print("MISMATCH", {a: (hex(b) if isinstance(b, int) and b > 9 else b) for a, b in v.items()}, hex(r))
    print(per, "bad", bad)
    return bad

if __name__ == "__main__":
    p = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/test-data/numerics/sdp_x.json")
    sys.exit(1 if check(p) else 0)
