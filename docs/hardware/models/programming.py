"""Register-program generator and memory-layout reference for the NVDLA convolution pipeline.

Written from the specifications only (programming.md, cdma.md, csc.md, cacc.md, sdp.md, bdma.md).
Everything here is pure Python (numpy is only needed by the optional golden models at the end).

    prog = conv_program('nv_small', dict(w=8, h=8, c=32, k=16, r=3, s=3, pl=1, pr=1, pt=1, pb=1))
    prog.writes   list of (register name, value)      in programming order
    prog.enables  list of D_OP_ENABLE register names  in enabling order
    prog.info     derived quantities (output size, entries, banks, byte counts, ...)

Layer dictionary (defaults in brackets)
  mode  'dc' | 'img' | 'wg' ['dc']     prec 'int8' | 'int16' | 'fp16' ['int8']
  w h c k                input width, height, channels (img: components per pixel 1, 3, 4), kernels
  r s                    kernel height, width          sx sy  stride     dx dy  dilation (dc only)
  pl pr pt pb padv       padding left, right, top, bottom, value
  batch                  number of batches (nv_full, dc)
  db wb grain pack       data banks, weight banks, lines per fetch unit, DAIN_MAP value
  iram wram oram         1 main memory port, 0 secondary memory port; 'ram' sets all three
  fmt xo sign            img: pixel format code, x offset in pixels, pixel_sign_override
  mean  (ry,gu,bv,ax)    img: per component mean (switches MEAN_FORMAT on)
  cvt   (offset,scale,truncate)         input converter (switches CVT_EN on)
  yext  0|1|2            img: channel post extension: 1, 2 or 4 kernel rows per operation
  skip_data skip_weight  keep data / weights in the buffer at the end of this layer
  data_reuse weight_reuse               use what the previous layer kept
  h_fetch h_total rls    partial height: lines fetched by CDMA, lines CSC works on, lines released
  wcomp                  dict(weight_bytes, wmb_bytes, wmb_addr, wgs_addr): compressed weights
  group shift relu       register group, output shift, ReLU
"""
import json, os

def cd(a, b): return -(-a // b)
def rup(a, b): return cd(a, b) * b

# A memory atom bytes, E buffer entry bytes, D entries per bank, B banks, AC channels per operation (elements, see es),
# KG kernels per group per precision, es element bytes, WA alignment of WEIGHT_BYTES (must be exactly the entry size, see programming.md)
CONFIG = {
 'nv_full':       dict(full=1, A=32, E=128, D=256, B=16, AC=64, KG=dict(int8=32, int16=16, fp16=16), WA=128),
 'nv_small':      dict(full=0, A=8,  E=8,   D=512, B=32, AC=8,  KG=dict(int8=8),  WA=8),
 'nv_small_256':  dict(full=0, A=8,  E=32,  D=128, B=32, AC=32, KG=dict(int8=8),  WA=32),
 'nv_medium_512': dict(full=0, A=16, E=32,  D=512, B=32, AC=32, KG=dict(int8=16), WA=32),
 'nv_large':      dict(full=0, A=32, E=64,  D=512, B=16, AC=64, KG=dict(int8=32), WA=64),
 'nv_medium_1024_full': dict(full=0, A=32, E=32, D=512, B=32, AC=32, KG=dict(int8=32), WA=32),
}
PREC = dict(int8=0, int16=1, fp16=2)
ES = dict(int8=1, int16=2, fp16=2)

# pixel format code -> (components in plane 0, bytes per pixel in plane 0, planes, components after assembly, buffer bytes per component)
def pixel_format(code):
    if code == 0x00: return (1, 1, 1, 1, 1)
    if 0x01 <= code <= 0x05: return (1, 2, 1, 1, 2)
    if 0x06 <= code <= 0x0b: return (4, 8, 1, 4, 2)
    if code in (0x14, 0x15, 0x16, 0x17, 0x18, 0x19): return (4, 4, 1, 4, 2)
    if code in (0x1c, 0x1d): return (1, 1, 2, 3, 1)
    if 0x1e <= code <= 0x23: return (1, 2, 2, 3, 2)
    return (4, 4, 1, 4, 1)

def entries_per_slice_dc(cfg, w, c, prec, h=2, surf_packed=1):
    """Buffer entries of one input line (feature data)."""
    p = CONFIG[cfg]; R = p['E'] // p['A']
    S = cd(c * ES[prec], p['A'])
    if w == 1 and h == 1 and surf_packed: return cd(S, R)
    n = (S // R) * w; left = S % R
    if left: n += w if (R == 4 and left == 3) else cd(left * w, R)
    return n

def entries_per_slice_img(cfg, w, pl, pr, bytes_per_pixel):
    return cd((pl + w + pr) * bytes_per_pixel, CONFIG[cfg]['E'])

def out_size(w, h, L):
    dx, dy = L.get('dx', 1), L.get('dy', 1)
    ow = (w + L.get('pl', 0) + L.get('pr', 0) - ((L.get('s', 1) - 1) * dx + 1)) // L.get('sx', 1) + 1
    oh = (h + L.get('pt', 0) + L.get('pb', 0) - ((L.get('r', 1) - 1) * dy + 1)) // L.get('sy', 1) + 1
    return ow, oh

class Program:
    def __init__(self, cfg): self.cfg = cfg; self.writes = []; self.enables = []; self.info = {}
    def w(self, n, v): self.writes.append((n, v & 0xffffffff))

def conv_program(cfg, L, base=None):
    base = base or dict(i=0x80000000, w=0x90000000, o=0xa0000000)
    P = CONFIG[cfg]; full = P['full']; g = L.get
    mode = g('mode', 'dc'); prec = g('prec', 'int8'); p = PREC[prec]; es = ES[prec]; A, E, D = P['A'], P['E'], P['D']
    W, H, C, K = L['w'], L['h'], L['c'], L['k']; R, S = g('r', 1), g('s', 1)
    sx, sy, dx, dy = g('sx', 1), g('sy', 1), g('dx', 1), g('dy', 1)
    pl, pr, pt, pb = (g(x, 0) for x in ('pl', 'pr', 'pt', 'pb')); B = g('batch', 1)
    ram = g('ram', 1); iram, wram, oram = g('iram', ram), g('wram', ram), g('oram', ram)
    Hf = g('h_fetch', H); Ht = g('h_total', H)           # lines fetched / lines seen by CSC
    LL = dict(L, h=Ht); OW, OH = out_size(W, Ht, LL)
    pl_hw, pr_hw = pl, pr; wext, hext = W, Ht
    fmt = g('fmt', 0x0c); pix = mode == 'img'
    surf_atoms = cd(C * es, A)
    line = W * A; cext = C; kw, kh, kc = S, R, C; sxe, sye = sx, sy; yext = g('yext', 0)
    uv_line = 0; b1 = 0; in_prec = p
    if mode == 'dc':
        eps = entries_per_slice_dc(cfg, W, C, prec, Hf, (g('pack', 0x10001) >> 16) & 1)
        line = g('line', W * A); surf = g('surf', line * H); bpk = R * S * C * es
        in_bytes = surf * surf_atoms * B; batch_stride = surf * surf_atoms
        lines_ent = eps * Ht * B
    elif mode == 'img':
        c0, b0, planes, comps, bb = pixel_format(fmt)
        assert C == comps, ('components', C, comps)
        xo = g('xo', 0)
        bb2 = es if prec == 'int8' else 2                # bytes per component in the buffer
        eps = entries_per_slice_img(cfg, W, pl, pr, comps * bb2)
        line = g('line', rup((W + xo) * b0, A)); surf = 0
        if planes == 2: uv_line = g('uvline', rup((W + xo) * b0 * 2, A)); b1 = base.get('i1', base['i'] + rup(line * H, 256))
        bpk = R * S * C * es; kw, kc = 1, S * C
        in_bytes = line * H + (rup(line * H, 256) - line * H + uv_line * H if planes == 2 else 0); batch_stride = 0
        in_prec = 0 if b0 // c0 == 1 and code8(fmt) else (2 if fmt in (0x05, 0x08, 0x0b) else 1)
        lines_ent = eps * Ht
        assert yext == 0 or S * C <= P['AC'] >> yext
    else:                                                # Winograd, 3x3 kernels only
        assert full and (R, S) == (3, 3) and B == 1
        OW, OH = out_size(W, H, L)
        # the kernel seen by the array is 3x3 on the phase-extended input
        cext = rup(C * es, 32) // es * sx * sy
        if sx > 1 or sy > 1: OW, OH = (W + pl + pr) // sx - 2, (H + pt + pb) // sy - 2
        assert OW % 4 == 0 and OH % 4 == 0, ('winograd output must be a multiple of 4', OW, OH)
        wext, hext = OW + 4, OH + 4
        pr_hw = wext * sx - pl - W; assert 0 <= pr_hw < 64
        m4 = wext // 4
        eps = surf_atoms * sx * sy * m4                  # per line: a block of four lines takes 4*eps entries
        surf = g('surf', line * H); bpk = 16 * cext * es; kw, kh, kc = 4, 4, cext
        in_bytes = surf * surf_atoms; batch_stride = 0; lines_ent = eps * hext; sxe = sye = 1
        Hf = H
    comp = g('wcomp'); wbytes = rup(bpk * K, 128 if full else P['WA'])
    if comp: wbytes = comp['weight_bytes']
    banks = P['B'] - (1 if comp else 0)
    bankb = D * E
    db = g('db') or cd(lines_ent, D)
    need_fetch = (4 * eps if mode == 'wg' else eps * (g('grain', 1) if mode == 'dc' else 1) * B)
    assert lines_ent <= db * D, ('data does not fit', lines_ent, db * D)
    assert need_fetch <= db * D
    grp = cd(min(K, P['KG'][prec]) * bpk, bankb)
    wb = g('wb') or min(banks - db, max(1, cd(wbytes, bankb)))
    assert wb >= (1 if comp else grp) and db + wb <= banks, ('banks', db, wb, grp)
    ols = g('oline', OW * A); oss = ols * OH; osurf = cd(K * es, A)
    if g('osurf'): oss = L['osurf']
    rls = g('rls', Ht if mode != 'wg' else hext)
    misc = (in_prec << 8) | (p << 12) | (1 if mode == 'wg' else 0) | g('data_reuse', 0) << 16 | g('weight_reuse', 0) << 20 | g('skip_data', 0) << 24 | g('skip_weight', 0) << 28
    cmisc = (p << 12) | (1 if mode == 'wg' else 0)
    cvt = g('cvt'); mean = g('mean')
    pr_ = Program(cfg); w = pr_.w; grpid = g('group', 0)
    lo = lambda a: a & 0xffffffff
    hi = lambda a: a >> 32
    for u in ('CDMA', 'CSC', 'CMAC_A', 'CMAC_B', 'CACC', 'SDP'): w(f'{u}.S_POINTER', grpid)
    w('CDMA.S_ARBITER', g('arb', 0x3000f)); w('CDMA.D_MISC_CFG', misc)
    w('CDMA.D_DATAIN_FORMAT', (1 | fmt << 8 | g('sign', 1) << 20) if pix else 0)
    w('CDMA.D_DATAIN_SIZE_0', (Hf - 1) << 16 | (W - 1)); w('CDMA.D_DATAIN_SIZE_1', C - 1)
    w('CDMA.D_DATAIN_SIZE_EXT_0', ((hext if mode == 'wg' else Hf) - 1) << 16 | (wext - 1))
    w('CDMA.D_PIXEL_OFFSET', g('xo', 0)); w('CDMA.D_DAIN_RAM_TYPE', iram)
    w('CDMA.D_DAIN_ADDR_HIGH_0', hi(base['i'])); w('CDMA.D_DAIN_ADDR_LOW_0', lo(base['i']))
    w('CDMA.D_DAIN_ADDR_HIGH_1', hi(b1)); w('CDMA.D_DAIN_ADDR_LOW_1', lo(b1))
    w('CDMA.D_LINE_STRIDE', line); w('CDMA.D_LINE_UV_STRIDE', uv_line); w('CDMA.D_SURF_STRIDE', surf)
    w('CDMA.D_DAIN_MAP', g('pack', 0x10001 if mode == 'dc' else 0))
    w('CDMA.D_RESERVED_X_CFG', 0); w('CDMA.D_RESERVED_Y_CFG', 0); w('CDMA.D_BATCH_NUMBER', B - 1); w('CDMA.D_BATCH_STRIDE', batch_stride)
    w('CDMA.D_ENTRY_PER_SLICE', eps - 1); w('CDMA.D_FETCH_GRAIN', g('grain', 1) - 1)
    w('CDMA.D_WEIGHT_FORMAT', 1 if comp else 0); w('CDMA.D_WEIGHT_SIZE_0', bpk - 1); w('CDMA.D_WEIGHT_SIZE_1', K - 1); w('CDMA.D_WEIGHT_RAM_TYPE', wram)
    w('CDMA.D_WEIGHT_ADDR_HIGH', hi(base['w'])); w('CDMA.D_WEIGHT_ADDR_LOW', lo(base['w'])); w('CDMA.D_WEIGHT_BYTES', wbytes)
    if comp:
        w('CDMA.D_WGS_ADDR_HIGH', hi(comp['wgs_addr'])); w('CDMA.D_WGS_ADDR_LOW', lo(comp['wgs_addr']))
        w('CDMA.D_WMB_ADDR_HIGH', hi(comp['wmb_addr'])); w('CDMA.D_WMB_ADDR_LOW', lo(comp['wmb_addr'])); w('CDMA.D_WMB_BYTES', comp['wmb_bytes'])
    w('CDMA.D_MEAN_FORMAT', 1 if mean else 0)
    if mean: w('CDMA.D_MEAN_GLOBAL_0', (mean[1] & 0xffff) << 16 | (mean[0] & 0xffff)); w('CDMA.D_MEAN_GLOBAL_1', (mean[3] & 0xffff) << 16 | (mean[2] & 0xffff))
    w('CDMA.D_CVT_CFG', (1 | cvt[2] << 4) if cvt else 0); w('CDMA.D_CVT_OFFSET', (cvt[0] & 0xffff) if cvt else 0); w('CDMA.D_CVT_SCALE', (cvt[1] & 0xffff) if cvt else 1)
    w('CDMA.D_CONV_STRIDE', (sy - 1) << 16 | (sx - 1)); w('CDMA.D_ZERO_PADDING', pb << 24 | pt << 16 | pr_hw << 8 | pl_hw); w('CDMA.D_ZERO_PADDING_VALUE', g('padv', 0) & 0xffff)
    w('CDMA.D_BANK', (wb - 1) << 16 | (db - 1)); w('CDMA.D_NAN_FLUSH_TO_ZERO', 0); w('CDMA.D_PERF_ENABLE', 1)
    # CSC
    w('CSC.D_MISC_CFG', misc & ~0x300 | (p << 8)); w('CSC.D_DATAIN_FORMAT', 1 if pix else 0)
    w('CSC.D_DATAIN_SIZE_EXT_0', ((hext if mode == 'wg' else Ht) - 1) << 16 | (wext - 1)); w('CSC.D_DATAIN_SIZE_EXT_1', cext - 1)
    w('CSC.D_BATCH_NUMBER', B - 1); w('CSC.D_POST_Y_EXTENSION', yext); w('CSC.D_ENTRY_PER_SLICE', eps - 1); w('CSC.D_WEIGHT_FORMAT', 1 if comp else 0)
    w('CSC.D_WEIGHT_SIZE_EXT_0', (kh - 1) << 16 | (kw - 1)); w('CSC.D_WEIGHT_SIZE_EXT_1', (K - 1) << 16 | (kc - 1)); w('CSC.D_WEIGHT_BYTES', wbytes); w('CSC.D_WMB_BYTES', comp['wmb_bytes'] if comp else 0)
    w('CSC.D_DATAOUT_SIZE_0', (OH - 1) << 16 | (OW - 1)); w('CSC.D_DATAOUT_SIZE_1', K - 1); w('CSC.D_ATOMICS', OW * OH - 1); w('CSC.D_RELEASE', rls - 1)
    w('CSC.D_CONV_STRIDE_EXT', (sye - 1) << 16 | (sxe - 1)); w('CSC.D_DILATION_EXT', (dy - 1) << 16 | (dx - 1)); w('CSC.D_ZERO_PADDING', (pt << 16 | pl) if mode != 'wg' else 0); w('CSC.D_ZERO_PADDING_VALUE', g('padv', 0) & 0xffff)
    w('CSC.D_BANK', (wb - 1) << 16 | (db - 1)); w('CSC.D_PRA_CFG', g('pra', 0))
    w('CMAC_A.D_MISC_CFG', cmisc); w('CMAC_B.D_MISC_CFG', cmisc)
    w('CACC.D_MISC_CFG', cmisc); w('CACC.D_DATAOUT_SIZE_0', (OH - 1) << 16 | (OW - 1)); w('CACC.D_DATAOUT_SIZE_1', K - 1); w('CACC.D_DATAOUT_ADDR', lo(base['o']))
    w('CACC.D_BATCH_NUMBER', B - 1); w('CACC.D_LINE_STRIDE', ols); w('CACC.D_SURF_STRIDE', oss); w('CACC.D_DATAOUT_MAP', 0); w('CACC.D_CLIP_CFG', g('clip', 0))
    w('SDP.D_DATA_CUBE_WIDTH', OW - 1); w('SDP.D_DATA_CUBE_HEIGHT', OH - 1); w('SDP.D_DATA_CUBE_CHANNEL', K - 1)
    w('SDP.D_DST_BASE_ADDR_HIGH', hi(base['o'])); w('SDP.D_DST_BASE_ADDR_LOW', lo(base['o'])); w('SDP.D_DST_LINE_STRIDE', ols); w('SDP.D_DST_SURFACE_STRIDE', oss)
    w('SDP.D_DP_BS_CFG', 0x12 if g('relu') else 0x1); w('SDP.D_DP_BN_CFG', 1); w('SDP.D_DP_EW_CFG', 1)
    w('SDP.D_FEATURE_MODE_CFG', 1 | (4 if mode == 'wg' else 0) | (B - 1) << 8); w('SDP.D_DST_DMA_CFG', oram); w('SDP.D_DST_BATCH_STRIDE', oss * osurf)
    w('SDP.D_DATA_FORMAT', p | p << 2); w('SDP.D_CVT_OFFSET', 0); w('SDP.D_CVT_SCALE', 1); w('SDP.D_CVT_SHIFT', g('shift', 0)); w('SDP.D_PERF_ENABLE', 0)
    pr_.enables = [f'{u}.D_OP_ENABLE' for u in ('SDP', 'CACC', 'CMAC_A', 'CMAC_B', 'CSC', 'CDMA')]
    pr_.info = dict(OW=OW, OH=OH, eps=eps, db=db, wb=wb, wbytes=wbytes, bpk=bpk, in_bytes=in_bytes, out_bytes=oss * osurf * B, line=line, surf=surf, uv_line=uv_line, uv_base=b1,
                    oline=ols, osurf=oss, kc=kc, macs=OW * OH * K * R * S * C * B)
    return pr_

def code8(fmt): return fmt in (0x00, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x1a, 0x1b, 0x1c, 0x1d)

def bdma_program(descs, group=0):
    """descs: list of dict(src,dst,src_mc,dst_mc,atoms,lines,src_line,dst_line,surfs,src_surf,dst_surf) - byte quantities, 32-byte aligned."""
    o = []
    for d in descs:
        o += [('BDMA.CFG_SRC_ADDR_LOW', d['src'] & 0xffffffff), ('BDMA.CFG_SRC_ADDR_HIGH', d['src'] >> 32), ('BDMA.CFG_DST_ADDR_LOW', d['dst'] & 0xffffffff), ('BDMA.CFG_DST_ADDR_HIGH', d['dst'] >> 32),
              ('BDMA.CFG_LINE', d['atoms'] - 1), ('BDMA.CFG_CMD', d.get('src_mc', 1) | d.get('dst_mc', 1) << 1),
              ('BDMA.CFG_LINE_REPEAT', d.get('lines', 1) - 1), ('BDMA.CFG_SRC_LINE', d.get('src_line', 0)), ('BDMA.CFG_DST_LINE', d.get('dst_line', 0)),
              ('BDMA.CFG_SURF_REPEAT', d.get('surfs', 1) - 1), ('BDMA.CFG_SRC_SURF', d.get('src_surf', 0)), ('BDMA.CFG_DST_SURF', d.get('dst_surf', 0)),
              ('BDMA.CFG_OP', 1)]
    return o + [(f'BDMA.CFG_LAUNCH{group}', 1)]

# ----------------------------------------------------------------------------------------------------------------------
# memory layouts
def feature_offset(cfg, x, y, ch, line, surf, es=1):
    """byte offset of element (x, y, ch) of a feature cube"""
    A = CONFIG[cfg]['A']; epa = A // es
    return (ch // epa) * surf + y * line + x * A + (ch % epa) * es

def weight_order(cfg, prec, K, R, S, C, mode='dc', yext=0):
    """Yields (k, r, s, c) of every weight element in memory order (uncompressed; no padding inside the stream).
    img: (k, r, s, component). wg: (k, row, col, c) of the 4x4 transformed kernel."""
    P = CONFIG[cfg]; KG = P['KG'][prec]; AC = P['AC']
    for g0 in range(0, K, KG):
        ks = range(g0, min(K, g0 + KG))
        if mode == 'dc':
            for c0 in range(0, C, AC):
                for r in range(R):
                    for s in range(S):
                        for k in ks:
                            for c in range(c0, min(C, c0 + AC)): yield (k, r, s, c)
        elif mode == 'img':
            SC = S * C; step = 1 << yext
            for e0 in range(0, SC, AC):
                for r0 in range(0, R, step):
                    for k in ks:
                        for r in range(r0, min(R, r0 + step)):
                            for e in range(e0, min(SC, e0 + AC)): yield (k, r, e // C, e % C)
        else:
            for c0 in range(0, C, 4):
                for k in ks:
                    for r in range(4):
                        for s in range(4):
                            for c in range(c0, c0 + 4): yield (k, r, s, c)

def compress_weights(cfg, prec, stream, K, bpk):
    """stream: uncompressed weight bytes (exactly K*bpk).  Returns (weight bytes, mask bytes, group size bytes).
    One mask bit per element, LSB first, 1 = element kept. Group size = 32-bit number of kept bytes of each kernel group.
    Kept elements of all groups follow each other without padding; the three areas are padded to 128, 128 and 32 bytes."""
    es = ES[prec]; KG = CONFIG[cfg]['KG'][prec]
    n = K * bpk // es; out = bytearray(); mask = bytearray(cd(n, 8)); wgs = bytearray()
    per = KG * bpk // es; last = 0
    for i in range(n):
        e = stream[i * es:(i + 1) * es]
        if any(e): out += e; mask[i >> 3] |= 1 << (i & 7)
        if (i + 1) % per == 0 or i + 1 == n: wgs += (len(out) - last).to_bytes(4, 'little'); last = len(out)
    out += bytes(-len(out) % 128); mask += bytes(-len(mask) % 128); wgs += bytes(-len(wgs) % 32)
    return bytes(out), bytes(mask), bytes(wgs)

# ----------------------------------------------------------------------------------------------------------------------
# splitting
def split_by_kernels(cfg, L):
    """Whole kernel groups per part so that the weights of a part fit the free banks (optional: the hardware streams weights group by group)."""
    P = CONFIG[cfg]; KG = P['KG'][L.get('prec', 'int8')]; pr = conv_program(cfg, L); free = pr.info['wb'] * P['D'] * P['E']
    n = max(1, free // (pr.info['bpk'] * KG)) * KG
    return [(k0, min(n, L['k'] - k0)) for k0 in range(0, L['k'], n)]

def split_by_height(cfg, L, banks, overlap_reuse=True):
    """Partial-height parts for a feature layer whose lines do not fit `banks` data banks.
    Returns a list of dict(out0, outs, in0, h_total, h_fetch, fetch0, rls, pt, pb, data_reuse)."""
    P = CONFIG[cfg]; eps = entries_per_slice_dc(cfg, L['w'], L['c'], L.get('prec', 'int8'), L['h'])
    cap = banks * P['D'] // eps; R, sy, dy = L.get('r', 1), L.get('sy', 1), L.get('dy', 1); pt = L.get('pt', 0); H = L['h']
    kh = (R - 1) * dy + 1; _, OH = out_size(L['w'], H, L); parts = []; o = 0; have_end = 0
    while o < OH:
        first = o * sy - pt; in0 = max(0, first); n = 0
        while o + n < OH:
            last = min(H, (o + n) * sy - pt + kh)
            if last - in0 > cap: break
            n += 1
        if n == 0: raise ValueError('a kernel height of lines does not fit')
        end = min(H, (o + n - 1) * sy - pt + kh)
        f0 = max(in0, have_end) if overlap_reuse and parts else in0
        parts.append(dict(out0=o, outs=n, in0=in0, h_total=end - in0, fetch0=f0, h_fetch=end - f0, pt=max(0, -first), pb=max(0, (o + n - 1) * sy - pt + kh - H), data_reuse=1 if parts and f0 > in0 else 0))
        have_end = end; o += n
    for a, b in zip(parts, parts[1:] + [None]):
        a['rls'] = a['h_total'] if b is None or not b['data_reuse'] else b['in0'] - a['in0']
    return parts

# ----------------------------------------------------------------------------------------------------------------------
# address map
_REG = {}
def register_address(cfg, name, spec_dir=None):
    fn = 'registers_nv_full.json' if cfg == 'nv_full' else 'registers_configurable.json'
    if fn not in _REG:
        d = spec_dir or os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'configs', 'registers')
        j = json.load(open(os.path.join(d, fn)))
        _REG[fn] = {f'{u}.{r["name"]}': (v['base'] if not isinstance(v['base'], dict) else 0) + r['offset'] for u, v in j['units'].items() for r in v['registers']}
    return _REG[fn][name]
