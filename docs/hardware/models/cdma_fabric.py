#!/usr/bin/env python3
"""Executable timing model of the CDMA (direct-convolution feature fetch + weight fetch) and of the MCIF read path.

Written from cdma.md, fabric.md, csb.md (and the PEND handshake of csc.md).  Input: a case file (register program + memory
parameters).  Output: AXI AR log, the request/response probes, CBUF write strobes (nv_full) and the update messages.
Usage:  cdma_fabric.py [-v] case.json [case.json ...]      compares the prediction with case['expected'] and prints mismatches.
All cycle numbers are relative to the cycle in which the last CSB write of the first layer was accepted.
"""
import json, sys
from collections import deque

CFG = {
 'nv_full':       dict(full=True,  A=32, R=4, B=16, D=256, M=2, KG={0: 32, 1: 16, 2: 16}, memb=64, blk=8),
 'nv_small':      dict(full=False, A=8,  R=1, B=32, D=512, M=1, KG={0: 8},  memb=8,  blk=1),
 'nv_small_256':  dict(full=False, A=8,  R=4, B=32, D=128, M=1, KG={0: 8},  memb=8,  blk=1),
 'nv_medium_512': dict(full=False, A=16, R=2, B=32, D=512, M=1, KG={0: 16}, memb=16, blk=4),
 'nv_large':      dict(full=False, A=32, R=2, B=16, D=512, M=1, KG={0: 32}, memb=32, blk=1),
}
CSB_TO_OP = 13      # CSB write accepted -> op (T0), csb.md 2.1
NEVER = 1 << 60


# ------------------------------------------------------------------------------------------------ building blocks
class Pipe2:
    """2-entry FIFO, flop ready (= count < 2 at the start of the cycle).  Consumer must be stepped before the producer."""
    __slots__ = ('q', 'rdy')

    def __init__(self):
        self.q = deque(); self.rdy = True

    def commit(self):
        self.rdy = len(self.q) < 2


class StallPipe:
    """2-entry stage of the configurable generation: ready drops one cycle after every stalled cycle with a full output register."""
    __slots__ = ('p', 's', 'rdy')

    def __init__(self):
        self.p = None; self.s = None; self.rdy = True

    def step(self, inp, ds_ready):
        """inp: item or None offered in this cycle (it is taken iff self.rdy was true). Returns nothing; the item leaves if ds_ready."""
        rdy_n = ds_ready or self.p is None
        src = inp if self.rdy else self.s
        if self.rdy:
            self.s = inp
        if rdy_n:
            self.p = src
        self.rdy = rdy_n


class InfoFifo:
    """Request bookkeeping FIFO (cdma.md 3.2): input register, 128-word RAM, one-cycle delayed read credit, RAM output, output register.
    Written in w -> visible at the output in w+4."""
    __slots__ = ('dat', 'busy_in', 'req_in', 'busy', 'count', 'wpop', 'rpush', 'rcount', 'rreq', 'out', 'wr', 'rd', 'rdy', 'wv')

    def __init__(self):
        self.dat = deque(); self.busy_in = self.req_in = self.busy = False
        self.count = 0; self.wpop = self.rpush = False; self.rcount = 0; self.rreq = False; self.out = False
        self.wr = False; self.rd = False; self.rdy = True

    def head(self):
        return self.dat[0] if self.out else None

    def pop(self):
        self.dat.popleft(); self.rd = True

    def offer(self, wr):
        """wr: a write is attempted in this cycle (it is taken iff rdy)"""
        self.wr = wr

    def push(self, v):
        self.dat.append(v)

    def commit(self):
        res = self.req_in and not self.busy
        cn = self.count + res
        full = (not self.wpop) and cn == 128
        bi = full if self.wr else (self.req_in and full and not res)
        if not (self.req_in and self.busy):
            self.req_in = self.wr and not self.busy_in
        rpop = self.rreq and not (self.out and not self.rd)
        self.out = self.rreq or (self.out and not self.rd)
        self.rcount += self.rpush - rpop
        self.rreq = self.rcount > 0
        self.count = cn - self.wpop
        self.wpop = rpop; self.rpush = res
        self.busy_in = bi; self.busy = full
        self.rdy = not bi; self.wr = self.rd = False


class FifoR:
    """RAM FIFO with registered output (fabric.md section 0): write in w -> visible w+3; the write side sees a pop one cycle late."""
    def __init__(self, depth):
        self.depth = depth; self.busy = False; self.count = 0; self.wpop = self.rpush = False; self.rcount = 0; self.rreq = self.out = False

    def step(self, wr, rd):
        """wr: write offered (taken iff not busy); rd: output consumed in this cycle"""
        res = wr and not self.busy
        cn = self.count + res
        full = (not self.wpop) and cn == self.depth
        rpop = self.rreq and not (self.out and not rd)
        self.out = self.rreq or (self.out and not rd)
        self.rcount += self.rpush - rpop
        self.rreq = self.rcount > 0
        self.count = cn - self.wpop
        self.wpop = rpop; self.rpush = res; self.busy = full


class LaneFifo:
    """nv_full read-return lane FIFO (FIFO-B(4), fabric.md section 0): 4-entry RAM with write-through, output register and a shadow register
    steered by the registered read ready."""
    __slots__ = ('q', 'busy', 'count', 'o', 'v', 'vd', 'rd_d', 'wr')

    def __init__(self):
        self.q = deque(); self.busy = False; self.count = 0; self.o = self.v = self.vd = False; self.rd_d = True; self.wr = None

    def step(self, wr, has, prdy):
        """wr: item written (has=True) ; prdy: read ready of this cycle"""
        res = has and not self.busy
        hold = self.o and self.vd and not self.rd_d
        pp = self.count > 0 or res
        pop = pp and not (self.o and hold)
        c = self.count + res
        if self.v and prdy:
            self.q.popleft()
        if res:
            self.q.append(wr)
        nv = (self.o if hold else pp) if (not self.v or prdy) else self.v
        self.vd = self.v; self.v = nv
        self.o = pp or (self.o and hold)
        self.busy = (not pop) and c == 4
        self.count = c - pop; self.rd_d = prdy


class CtxQueue:
    """nv_full read context queue (fabric.md 1.7): shared RAM, per thread a 3-entry prefetch buffer with write bypass, one RAM read per cycle
    (round robin over the threads), followed per client by one context register."""
    def __init__(self, n):
        self.n = n
        self.s = [0] * n                 # prefetch entries held
        self.cred = [0] * n              # entries in RAM
        self.pulse = [False] * n         # credit of a write of the previous cycle
        self.dly = [False] * n           # RAM read of the previous cycle (data arrives now)
        self.prdy_d = [True] * n
        self.ctx = [False] * n           # context register valid
        self.last = n - 1
        self.cnt = 0; self.busy = False   # entries in RAM as seen by the write side (256 = full)

    def step(self, wr, used):
        """wr: thread written in this cycle or None; used[i]: the context register of i is consumed in this cycle"""
        n = self.n; take = None
        el = []
        for i in range(n):
            el.append((self.prdy_d[i] or self.s[i] < 2 or (self.s[i] < 3 and not self.dly[i])) and (self.pulse[i] or self.cred[i] > 0))
        for k in range(1, n + 1):
            i = (self.last + k) % n
            if el[i]:
                take = i; break
        np = [False] * n; nd = [False] * n
        for i in range(n):
            s = self.s[i]; dly = self.dly[i]
            prdy = used[i] or not self.ctx[i]
            pre = wr == i and self.cred[i] == 0 and not self.pulse[i] and (not dly or s > 0)
            byp = pre and not dly and (s < 3 or self.prdy_d[i])
            pv = s > 0 or pre
            if prdy:
                self.ctx[i] = pv
            add = 1 if (byp or dly) else 0
            if pv and prdy:
                self.s[i] = s + add - 1
            else:
                self.s[i] = s + add
            assert 0 <= self.s[i] <= 3
            np[i] = wr == i and not byp
            nd[i] = take == i
            self.cred[i] += (1 if self.pulse[i] else 0) - (1 if take == i else 0)
            self.prdy_d[i] = prdy
        pop = any(self.dly); c = self.cnt + any(np)
        self.busy = (not pop) and c == 256
        self.cnt = c - pop
        self.pulse = np; self.dly = nd
        if take is not None:
            self.last = take


class Wrr:
    """Round robin over n requesters with equal weights w (1 for the read ingress, 255 for the nv_full read egress)."""
    def __init__(self, n, w):
        self.n = n; self.w = w if isinstance(w, list) else [w] * n; self.last = None; self.left = 0

    def pick(self, req):
        if not any(req):
            return None
        if self.left == 0 or self.last is None or not req[self.last]:
            base = -1 if self.last is None else self.last
            for k in range(1, self.n + 1):
                i = (base + k) % self.n
                if req[i]:
                    return i
        return self.last

    def update(self, i):
        if self.left == 0 or self.last is None or i != self.last:
            self.left = self.w[i] - 1
        else:
            self.left -= 1
        self.last = i


# ------------------------------------------------------------------------------------------------ register program
def layers_of(case):
    """Split the program into layers: dict(group, regs, t_en) with t_en the issue position of CDMA.D_OP_ENABLE relative to t0."""
    prog = case['program']; out = []; regs = [{}, {}]; grp = 0; pos = 0; t0 = None
    for name, val in prog:
        if name == 'MARK':
            continue
        if name == 'WAIT_INTR':
            out.append(('wait', val)); continue
        pos += 1
        if name == 'CDMA.S_POINTER':
            grp = val & 1
        elif name == 'CDMA.D_OP_ENABLE':
            if t0 is None:
                t0 = pos
            out.append(('layer', dict(group=grp, regs=dict(regs[grp]), pos=pos - t0)))
        elif name.startswith('CDMA.'):
            regs[grp][name[5:]] = val
    return out


class LayerCfg:
    def __init__(self, c, r):
        A, R = c['A'], c['R']
        g = lambda n: r.get(n, 0)
        s0 = g('D_DATAIN_SIZE_0'); self.W = (s0 & 0x1fff) + 1; self.H = ((s0 >> 16) & 0x1fff) + 1
        self.C = (g('D_DATAIN_SIZE_1') & 0x1fff) + 1
        misc = g('D_MISC_CFG'); self.prec = (misc >> 12) & 3
        if c['full']:
            self.S = -(-self.C // (32 if self.prec == 0 else 16))
        else:
            self.S = -(-self.C // A); self.prec = 0
        m = g('D_DAIN_MAP'); line_packed = m & 1; surf_packed = (m >> 16) & 1
        self.packed = self.W == 1 and self.H == 1 and surf_packed
        self.Sx = 1 if self.packed else self.S
        self.Wx = self.S if self.packed else self.W
        self.grain = (g('D_FETCH_GRAIN') & 0xfff) + 1 if line_packed else 1
        self.base = ((g('D_DAIN_ADDR_HIGH_0') << 32) | g('D_DAIN_ADDR_LOW_0')) // A * A
        self.ls = g('D_LINE_STRIDE'); self.ss = g('D_SURF_STRIDE')
        self.batches = (g('D_BATCH_NUMBER') & 31) + 1; self.bs = g('D_BATCH_STRIDE')
        self.entries = g('D_ENTRY_PER_SLICE') + 1
        b = g('D_BANK'); self.db = (b & 0x1f) + 1; self.wb = ((b >> 16) & 0x1f) + 1
        self.chm = 1 if (self.packed or not c['full']) else 2
        self.bpk = (g('D_WEIGHT_SIZE_0') & 0x3ffff) + 1; self.K = (g('D_WEIGHT_SIZE_1') & 0x1fff) + 1
        self.waddr = ((g('D_WEIGHT_ADDR_HIGH') << 32) | g('D_WEIGHT_ADDR_LOW')) // A * A
        self.wbytes = g('D_WEIGHT_BYTES')
        self.KG = c['KG'][self.prec]


# ------------------------------------------------------------------------------------------------ CDMA data fetcher
class DC:
    """Feature fetch: request engine, response side, read side."""
    def __init__(self, c):
        self.c = c; self.A = c['A']; self.M = c['M']; self.full = c['full']
        self.cap = 0; self.valid = 0           # status unit
        self.onfly = 0
        self.free = 0
        self.info = InfoFifo()
        self.st = 'IDLE'; self.L = None
        self.onfly_add = 0; self.blk_n = False; self.got = 0
        self.upd_pipe = deque()                # (cycle, entries)   update at the status unit
        self.sc_upd = []                       # cycles of cdma2sc_dat_updt
        self.buf_wr = []                       # cycles of CBUF data writes
        self.req = None                        # request output register
        self.f = [0, 0, 0, 0]; self.blk = False
        self.done_at = None

    def start(self, L):
        self.L = L; self.st = 'WAIT'
        ng, left = [], L.H
        while left > 0:
            ng.append(min(L.grain, left)); left -= ng[-1]
        self.ngs = ng
        self.need = [n * L.entries * L.batches for n in ng]
        self.gi = 0; self.b = 0; self.cg = 0
        self.rdone = False

    def busy(self, t):
        """state machine enters BUSY in cycle t"""
        self.st = 'BUSY'; self.tb = t
        self.space_ok = False
        self.slot_t = t + 3                     # first slot valid
        self.k = min(self.L.chm, self.L.Sx)
        self._group()
        # read side
        self.rg = 0; self.rb = 0; self.rc = 0; self.rh = 0; self.rw = 0; self.rk = min(self.L.chm, self.L.Sx)
        self.all_done_t = None; self.blk = False
        self.cur = None; self.got = 0

    def _group(self):
        L = self.L
        self.k = min(L.chm, L.Sx - self.cg)
        self.N = self.ngs[self.gi] * L.Wx
        self.cnt = [0] * self.k; self.s = 0; self.eog = False

    # -- request side. ready0 = output register empty or accepted in this cycle
    def request(self, t, ready0):
        """one cycle of the request engine; returns a new request (visible in the output register at t+1) or None"""
        L = self.L; new = None; eograin = False
        if self.rdone:
            return None
        slot_valid = t >= self.slot_t + 0
        if self.space_ok and slot_valid:
            if self.eog:                       # end-of-group dead cycle
                self.cg += self.k
                if self.cg >= L.Sx:
                    self.cg = 0; self.b += 1
                    if self.b == L.batches:
                        self.b = 0; eograin = True
                if not eograin:
                    self._group()
            elif ready0 or self.cnt[self.s] == self.N:  # a finished surface gives up its turn while the request waits, too
                s = self.s
                if self.cnt[s] != self.N:
                    a = self.base_addr(s)
                    n = self.N - self.cnt[s]
                    lim = 8 - (a // self.A) % 8 if self.cnt[s] == 0 else 8
                    n = min(n, lim)
                    new = (a, n, s)
                    self.cnt[s] += n
                self.s = (s + 1) % self.k
                if all(x == self.N for x in self.cnt):
                    self.eog = True
        # space check register
        nxt = False
        if not self.rdone and slot_valid and not eograin:
            nxt = self.onfly + self.need[self.gi] <= self.free
        if eograin:
            self.onfly_add = self.need[self.gi]
            self.gi += 1
            if self.gi == len(self.ngs):
                self.rdone = True
            else:
                self._group()
        self.space_ok = nxt
        return new

    def base_addr(self, s):
        L = self.L
        return L.base + self.gi * L.grain * L.ls + self.b * L.bs + (self.cg + s) * L.ss + self.cnt[s] * self.A

    # -- response side: one beat (number of atoms) accepted?  f counters update at the end of the cycle
    def rsp_ready(self):
        return self.st == 'BUSY' and not self.blk

    def read(self, t):
        """read decision of cycle t from the start-of-cycle counters; returns atoms taken per surface"""
        take = [0, 0, 0, 0]; self.blk_n = False
        if self.st != 'BUSY' or self.all_done_t is not None:
            return take
        L = self.L; k = self.rk; c = self.rc; Wx = L.Wx
        last_w = self.rw == Wx - 1
        if self.full:
            one = k != 1 or last_w or (c & 2)
            step = 1 if one else 2
            go = self.f[0] >= step if k == 1 else (self.f[0] > 0 and self.f[1] > 0)
        else:
            one = last_w or (c & 2)
            step = 1
            go = self.f[0] > 0
        if not go:
            return take
        take[0] = step
        if k == 2:
            take[1] = 1
        self.blk_n = (not self.blk) and bool(one)
        self.buf_wr.append(t + 6)
        self.rw += step
        if self.rw >= Wx:
            self.rw = 0; self.rh += 1
            if self.rh == self.ngs[self.rg]:
                self.rh = 0; self.rc += k
                if self.rc >= L.Sx:
                    self.rc = 0; self.rb += 1
                    if self.rb == L.batches:
                        self.rb = 0
                        self.upd_pipe.append((t + 4, self.need[self.rg]))
                        self.sc_upd.append(t + 13)
                        self.rg += 1
                        if self.rg == len(self.ngs):
                            self.all_done_t = t + 1
                            self.done_at = t + 11
                self.rk = min(L.chm, L.Sx - self.rc)
        return take


# ------------------------------------------------------------------------------------------------ CDMA weight fetcher
class WT:
    def __init__(self, c):
        self.c = c; self.full = c['full']; self.A = c['A']; self.R = c['R']
        self.unit = 64 if self.full else self.A
        self.upe = 2 if self.full else self.R
        self.info = InfoFifo()
        self.onfly = self.stored = self.avail = 0
        self.st = 'IDLE'
        self.d1 = self.d2 = self.d3 = None
        self.sc_upd = []; self.buf_wr = []
        self.wr_done = 0; self.rel_entries = 0; self.got = 0; self.fetch_cnt = 0; self.L = None
        self.done_at = None

    def start(self, L):
        self.L = L; self.st = 'WAIT'
        self.left = L.wbytes // self.A; self.addr = L.waddr
        self.limit = L.wb * self.c['D'] * self.R + (0 if self.full else {1: 8, 2: 4, 4: 2}[self.R])
        self.groups = -(-L.K // L.KG); self.g = 0
        self.fetched = 0; self.fetched_prev = 0; self.need = 0; self.fetch_cnt = 0; self.got = 0
        self.req_valid = False
        self.d1 = self._next(True)
        self.first = True

    def _next(self, first):
        if self.left == 0:
            return None
        n = min(8 - (self.addr // self.A) % 8 if first else 8, self.left)
        r = (self.addr, n); self.addr += n * self.A; self.left -= n
        return r

    def busy(self, t):
        self.st = 'BUSY'; self.tb = t

    def overflow(self):
        return self.onfly + self.stored + self.avail > self.limit

    def advance(self, taken):
        """d1/d2/d3 pipeline (end of cycle)"""
        if self.st == 'BUSY' and (self.d3 is None or taken):
            self.d3 = self.d2
            if self.d3 is not None:
                self.onfly += self.d3[1]
            self.d2 = self.d1
            self.d1 = self._next(False)

    def status(self, t):
        """group completion check; returns entries announced (applied at the end of the cycle)"""
        L = self.L; ent = 0
        if self.st != 'BUSY':
            return 0
        upd = False
        if self.req_valid:
            if self.fetched * self.unit >= self.need and self.fetched % self.upe == 0:
                upd = True
                ent = (self.fetched - self.fetched_prev) // self.upe
                self.fetched_prev = self.fetched
                self.sc_upd.append(t + 4)
                self.g += 1
                if self.g == self.groups:
                    self.done_at = t + 10
        nv = self.g < self.groups and not upd
        if nv and not self.req_valid:
            self.need = L.wbytes if self.g == self.groups - 1 else self.need + L.bpk * L.KG
        self.req_valid = nv
        return ent


# ------------------------------------------------------------------------------------------------ simulation
class Probe:
    """collects cycles in which a signal is 1"""
    def __init__(self):
        self.active = 0; self.first = -1; self.last = -1; self.runs = []

    def on(self, t):
        if t < 0:
            return
        if self.active == 0:
            self.first = t
        self.active += 1
        if self.runs and self.last == t - 1:
            self.runs[-1][1] += 1
        else:
            self.runs.append([t, 1])
        self.last = t


def split_beats(addr, n, A, full, blk):
    """AXI reads of one DMA request -> list of chunks; chunk = list of (araddr, arlen+1, id-less); nv_full also lane use per 64 B beat"""
    chunks = []
    if full:
        idx = 0; a = addr // A
        end = a + n
        while a < end:
            ce = min(end, (a // blk + 1) * blk)
            beats = []
            while a < ce:
                w = a // 2; lanes = []
                while a < ce and a // 2 == w:
                    lanes.append((idx % 2, (n % 2 == 1) and idx == n - 1)); idx += 1; a += 1
                beats.append((w * 64, 1, lanes))
            chunks.append(beats)
    else:
        a = addr // A; end = a + n
        while a < end:
            ce = min(end, (a // blk + 1) * blk)
            chunks.append([(a * A, ce - a, None)])
            a = ce
    return chunks


def simulate(case, meas, tmax=10**9):
    c = CFG[case['config']]; full = c['full']; A = c['A']; blk = c['blk']
    mem = case['memory']; LAT = mem['read_latency']; GAP = mem['beat_interval']
    prog = [x for x in layers_of(case)]
    lay = [x[1] for x in prog if x[0] == 'layer']
    cfgs = [LayerCfg(c, x['regs']) for x in lay]
    rel_dat = meas['rel_dat']; rel_wt = meas['rel_wt']
    dc = DC(c); wt = WT(c)
    SP = Pipe2 if full else StallPipe
    P = {k: Probe() for k in ('cdma_dat2mcif_rd_req_valid', 'mcif2cdma_dat_rd_rsp_valid', 'cdma_wt2mcif_rd_req_valid', 'mcif2cdma_wt_rd_rsp_valid',
                              'cdma2buf_dat_wr', 'cdma2buf_wt_wr', 'cdma2sc_dat_updt', 'cdma2sc_wt_updt')}
    NR = dict.fromkeys(('cdma_dat2mcif_rd_req_ready', 'mcif2cdma_dat_rd_rsp_ready', 'cdma_wt2mcif_rd_req_ready', 'mcif2cdma_wt_rd_rsp_ready'), 0)
    ar = []
    # request pipes per client (0 data, 1 weight): CDMA stages, then the two MCIF ingress stages
    if full:
        rq = [[Pipe2(), Pipe2(), Pipe2(), Pipe2()], [Pipe2(), Pipe2(), Pipe2()]]
    else:
        rq = [[StallPipe(), StallPipe(), StallPipe(), StallPipe()], [StallPipe(), StallPipe(), StallPipe()]]
    NPORT = [1, 0]                                          # index of the stage whose output is the CDMA port
    cur = [None, None]                                      # chunk list of the request at the splitter head
    ai = [SP(), SP()]; ao = SP(); arp = SP()
    spl = None                                              # nv_full: PIPE1 of the serialiser (list of beats, client)
    mc = dict((n, v) for n, v in case['program'] if str(n).startswith('MCIF.'))
    arb = Wrr(2, [(mc.get('MCIF.CFG_RD_WEIGHT_1', 1 << 24) >> 24) & 255, mc.get('MCIF.CFG_RD_WEIGHT_2', 1) & 255]); egarb = Wrr(2, 255)
    OSLIM = (mc.get('MCIF.CFG_OUTSTANDING_CNT', 255) & 255) + 1
    os = 0; dec = False; eg = False
    rp = SP(); wf = [deque(), deque()]; wfr = [True, True]
    od = [None, None]
    lanes = [[LaneFifo(), LaneFifo()], [LaneFifo(), LaneFifo()]]        # nv_full lanes
    cq = CtxQueue(2)
    op_ = [Pipe2(), Pipe2()]                                # nv_full output PIPE2 per client
    rs = [[SP(), SP()] if full else [SP(), SP(), SP()], [SP()] if full else [SP(), SP()]]
    wtf = FifoR(8)                                          # CFG weight response FIFO
    # memory
    memq = deque(); nextbeat = 0; beatn = 0; rv = None
    # layer sequencing
    li = 0; T0 = None; op_on = False; L = None
    st_banks = 0; st_valid = 0
    last_db = None; last_wb = None
    wt_arb1 = Pipe2(); wt_arb2 = Pipe2()
    wthold = 0
    ev_updt_d = {}                                          # cycle -> entries (status unit add)
    pend_dat = pend_wt = False; Tbd = Tbw = None
    switch_at = -1
    t = -1; idle = 0
    nl = len(lay)
    op_cycle = [None] * nl
    sc_rel_w = deque()
    while t < tmax:
        t += 1
        # ------------------------------------------------------------------ layer control
        if L is None and li < nl:
            if T0 is None:
                t_en = (meas['t_en'][li] if li in meas['t_en'] else lay[li]['pos']) + meas['csb']
                T0 = max(t_en, switch_at + 4 if switch_at >= 0 else 0)
            if t == T0:
                L = cfgs[li]; op_cycle[li] = T0
                dc.start(L); wt.start(L); dc.done_at = wt.done_at = None
                dpend = L.db != last_db; wpend = L.db != last_db or L.wb != last_wb
                if dpend or wpend:
                    tb = meas['pend'](li, T0)
                Tbd = tb if dpend else T0 + 1
                Tbw = tb if wpend else T0 + 1
        if L is not None:
            if t == T0 + 1:
                dc.cap = L.db * c['D']
            if Tbd == t:
                if dpend:
                    dc.valid = 0
                dc.busy(t)
            if Tbw == t:
                if wpend:
                    wt.avail = 0
                wt.busy(t)
            if dc.done_at is not None and wt.done_at is not None and t == max(dc.done_at, wt.done_at) + 1:
                switch_at = t; last_db, last_wb = L.db, L.wb
                L = None; T0 = None; li += 1
                dc.st = wt.st = 'IDLE'
        # ------------------------------------------------------------------ memory R channel (value of this cycle)
        rv = None
        if memq and memq[0][0] <= t and nextbeat <= t:
            rv = memq[0]
        r_acc = rv is not None and rp.rdy
        # ------------------------------------------------------------------ response side, downstream first
        # --- data fetcher
        take = dc.read(t)
        arrive = None
        if full:
            d_last, d_mux = rs[0][1], rs[0][0]
            rdy_d = dc.rsp_ready()
            h = d_last.q[0] if d_last.q else None
            if h is not None and rdy_d:
                d_last.q.popleft(); arrive = h
            mr = d_last.rdy
            if mr and d_mux.q:
                d_last.q.append(d_mux.q.popleft())
            port_rdy = [d_mux.rdy, rs[1][0].rdy]
        else:
            chain = rs[0]; dsr = dc.rsp_ready(); h = chain[-1].p
            if h is not None and dsr:
                arrive = h
            up = od[0]
            for k in (2, 1, 0):
                r = chain[k].rdy
                chain[k].step(chain[k - 1].p if k else up, dsr); dsr = r
            prd = dsr
            # weights
            chain = rs[1]
            dsr = not wtf.busy
            wt_wr = chain[-1].p is not None
            for k in (1, 0):
                r = chain[k].rdy
                chain[k].step(chain[k - 1].p if k else od[1], dsr); dsr = r
            port_rdy = [prd, dsr]
        # info fifo bookkeeping for data
        f = dc.f
        if arrive is not None:
            h = dc.info.head()
            if h is None:
                raise RuntimeError('data response before info visible @%d' % t)
            s, n = h[0], h[1]
            na = arrive
            f[s] += na; dc.got += na
            if dc.got == n:
                dc.info.pop(); dc.got = 0
        for k in range(4):
            f[k] -= take[k]
        dc.blk = dc.blk_n
        # --- weight fetcher acceptance
        wr_atoms = 0
        if full:
            s0 = rs[1][0]
            if s0.q:
                n = s0.q.popleft()
                wr_atoms = n
        else:
            if wtf.out and (wt.wr_done // wt.R - wt.rel_entries) < wt.L.wb * c['D']:
                wr_atoms = 1
            wtf.step(wt_wr, wr_atoms == 1)
        ent = wt.status(t) if wt.L is not None else 0
        if wr_atoms:
            h = wt.info.head()
            if h is None:
                raise RuntimeError('weight response before info visible @%d' % t)
            wt.got += wr_atoms
            if wt.got == h:
                wt.info.pop(); wt.got = 0
            P['cdma2buf_wt_wr'].on(t + 1)
            # counters visible next cycle
        # --- MCIF read egress
        pv = [False, False]
        if full:
            lrdy = [not (x[0].busy or x[1].busy) for x in lanes]; lrd = [None, None]; lw = {}
            for i in (0, 1):
                o = op_[i]
                if o.q:
                    pv[i] = True
                    if port_rdy[i]:
                        n = o.q.popleft()
                        rs[i][0].q.append(n)
                l0, l1 = lanes[i]
                odd = l0.v and l0.q[0]
                rd0 = o.rdy and (odd or l1.v); rd1 = o.rdy and l0.v and not odd
                lrd[i] = (rd0, rd1)
                if l0.v and rd0:
                    o.q.append(1 if odd else 2)
            # egress arbiter: lane space from the start of the cycle
            req = [bool(wf[i]) and cq.ctx[i] and lrdy[i] for i in (0, 1)]
            g = egarb.pick(req)
            if g is not None:
                egarb.update(g)
                lw = dict(wf[g].popleft())
            for i in (0, 1):
                for k in (0, 1):
                    w = lw.get(k) if g == i else None
                    lanes[i][k].step(w, w is not None, lrd[i][k])
            h = ao.q[0] if ao.q else None
            wr_ctx = None
            cqr = not cq.busy
            if h is not None and os + h[1] - (1 if dec else 0) <= OSLIM and arp.rdy and cqr:
                wr_ctx = h[2]
            cq.step(wr_ctx, [g == 0, g == 1])
        else:
            for i in (0, 1):
                if od[i] is not None:
                    pv[i] = True
                    if port_rdy[i]:
                        od[i] = None
                if od[i] is None and wf[i]:
                    od[i] = wf[i].popleft()
        if pv[0]: P['mcif2cdma_dat_rd_rsp_valid'].on(t)
        if pv[1]: P['mcif2cdma_wt_rd_rsp_valid'].on(t)
        if not port_rdy[0]: NR['mcif2cdma_dat_rd_rsp_ready'] += 1
        if not port_rdy[1]: NR['mcif2cdma_wt_rd_rsp_ready'] += 1
        # R pipe -> word fifo
        eg_n = False
        if full:
            if rp.q and wfr[rp.q[0][0]]:
                i, ln = rp.q.popleft(); wf[i].append(ln); eg_n = True
            if r_acc:
                rp.q.append((rv[3], rv[4]))
        else:
            h = rp.p; dsr = h is not None and wfr[h[0]]
            if dsr:
                wf[h[0]].append(1); eg_n = True
            rp.step((rv[3], None) if rv is not None else None, dsr)
        if r_acc:
            beatn += 1
            if beatn == rv[2]:
                memq.popleft(); beatn = 0
            nextbeat = t + GAP
        # ------------------------------------------------------------------ request side, downstream first
        arh = (arp.q[0] if arp.q else None) if full else arp.p
        if arh is not None:
            ar.append([t, arh[0], arh[1], 8 + arh[2]])
            memq.append((t + LAT, arh[0], arh[1], arh[2], arh[3]))
        if full:
            if arh is not None:
                arp.q.popleft()
            h = ao.q[0] if ao.q else None
            ln = h[1] if h else 0
            fullos = os + ln - (1 if dec else 0) > OSLIM
            iss = h is not None and not fullos and arp.rdy and cqr
            if iss:
                ao.q.popleft(); arp.q.append(h)
            # serialiser
            done = False
            if spl is not None and ao.rdy:
                b = spl[0].pop(0); ao.q.append((b[0], b[1], spl[1], b[2]))
                done = not spl[0]
            sp_rdy = spl is None or done
            if done:
                spl = None
            req = [bool(ai[0].q), bool(ai[1].q)]
            if sp_rdy:
                g = arb.pick(req)
                if g is not None:
                    arb.update(g)
                    spl = (list(ai[g].q.popleft()), g)
            for i in (0, 1):
                ch = rq[i]
                if cur[i] is None and ch[-1].q:
                    a, n = ch[-1].q[0]; cur[i] = split_beats(a, n, A, True, blk)
                if cur[i] is not None and ai[i].rdy:
                    ai[i].q.append(cur[i].pop(0))
                    if not cur[i]:
                        ch[-1].q.popleft(); cur[i] = None
                for k in range(len(ch) - 1, 0, -1):
                    if k == NPORT[i] + 1:
                        pvv = bool(ch[k - 1].q); prr = ch[k].rdy
                    if ch[k].rdy and ch[k - 1].q:
                        ch[k].q.append(ch[k - 1].q.popleft())
                _port(P, NR, i, t, pvv, prr)
        else:
            h = ao.p; ln = h[1] if h else 0
            fullos = os + ln - (1 if dec else 0) > OSLIM
            iss = h is not None and not fullos and arp.rdy
            dsr = arp.rdy and not fullos
            arp.step(h if not fullos else None, True)
            g = None; busy = not ao.rdy
            req = [ai[0].p is not None, ai[1].p is not None]
            if not busy:
                g = arb.pick(req)
                if g is not None:
                    arb.update(g)
            ao.step(ai[g].p if g is not None else None, dsr)
            for i in (0, 1):
                ch = rq[i]
                hd = ch[-1].p
                if hd is not None and cur[i] is None:
                    cur[i] = split_beats(hd[0], hd[1], A, False, blk)
                off = None; lastc = False
                if cur[i] is not None:
                    b = cur[i][0][0]; off = (b[0], b[1], i, None)
                acc = ai[i].rdy and off is not None
                ai[i].step(off, g == i)
                dsr = False
                if acc:
                    cur[i].pop(0)
                    if not cur[i]:
                        cur[i] = None; dsr = True
                for k in range(len(ch) - 1, 0, -1):
                    if k == NPORT[i] + 1:
                        pvv = ch[k - 1].p is not None; prr = ch[k].rdy
                    r = ch[k].rdy
                    ch[k].step(ch[k - 1].p, dsr); dsr = r
                _port(P, NR, i, t, pvv, prr)
                # first stage stepped below with the fetcher request
                if i == 0: dsr0 = dsr
                else: dsr1 = dsr
        if iss:
            os += ln
        if dec:
            os -= 1
        dec = eg; eg = False
        dec, eg = eg_n, False
        # ------------------------------------------------------------------ fetcher requests
        # data
        first = rq[0][0]; irdy = dc.info.rdy
        r = dc.req
        dc.info.offer(r is not None and first.rdy)
        acc = r is not None and irdy and first.rdy
        if full:
            if acc: first.q.append((r[0], r[1]))
        else:
            first.step((r[0], r[1]) if (r is not None and irdy) else None, dsr0)
        if acc:
            dc.info.push((r[2], r[1])); dc.req = None
        if dc.st == 'BUSY':
            new = dc.request(t, r is None or acc)
            if new is not None:
                dc.req = new
        # weights
        irdy = wt.info.rdy; first = rq[1][0]; taken = False
        if wt.L is not None:
            cand = wt.d3 if (wt.d3 is not None and not wt.overflow() and wt.st == 'BUSY') else None
            if full:
                h = wt_arb2.q[0] if wt_arb2.q else None
                wt.info.offer(h is not None and first.rdy)
                if h is not None and irdy and first.rdy:
                    wt_arb2.q.popleft(); first.q.append(h); wt.info.push(h[1])
                if wt_arb1.q and wt_arb2.rdy:
                    wt_arb2.q.append(wt_arb1.q.popleft())
                if cand is not None and wt_arb1.rdy:
                    wt_arb1.q.append(cand); taken = True
            else:
                wt.info.offer(cand is not None and first.rdy)
                taken = cand is not None and irdy and first.rdy
                first.step(cand if irdy else None, dsr1)
                if taken:
                    wt.info.push(cand[1])
            wt.advance(taken)
        elif not full:
            first.step(None, dsr1)
        if taken and wt.d3 is cand:
            wt.d3 = None
        # ------------------------------------------------------------------ counters (end of cycle)
        if wr_atoms:
            wt.onfly -= wr_atoms; wt.stored += wr_atoms; wt.wr_done += wr_atoms
            wt.fetch_cnt += wr_atoms
            if full:
                wt.fetched = wt.fetch_cnt // 2
            else:
                wt.fetched = wt.fetch_cnt
        if ent:
            wt.stored -= ent * wt.R; wt.avail += ent * wt.R
        while sc_rel_w and sc_rel_w[0][0] <= t:
            e = sc_rel_w.popleft()[1]; wt.avail -= e * wt.R; wt.rel_entries += e
        if t in rel_wt:
            sc_rel_w.append((t + 1, rel_wt[t]))
        # status unit (data)
        add = 0
        while dc.upd_pipe and dc.upd_pipe[0][0] <= t:
            add += dc.upd_pipe.popleft()[1]
        sub = rel_dat.get(t, 0)
        dc.valid += add - sub
        dc.onfly += dc.onfly_add - add; dc.onfly_add = 0
        dc.free = dc.cap - dc.valid
        # ------------------------------------------------------------------ commit flop-ready elements
        if full:
            for i in (0, 1):
                for x in rq[i]: x.commit()
                ai[i].commit(); op_[i].commit()
                for x in rs[i]: x.commit()
            ao.commit(); arp.commit(); rp.commit(); wt_arb1.commit(); wt_arb2.commit()
        wfr = [len(wf[0]) < 4, len(wf[1]) < 4]
        dc.info.commit(); wt.info.commit()
        # ------------------------------------------------------------------ end of simulation
        if L is None and li >= nl:
            idle += 1
            if idle > 20: break
        else:
            idle = 0
        if t > meas.get('tmax', 400000): break
    for x in sorted(dc.buf_wr): P['cdma2buf_dat_wr'].on(x)
    for x in dc.sc_upd: P['cdma2sc_dat_updt'].on(x)
    for x in wt.sc_upd: P['cdma2sc_wt_updt'].on(x)
    return dict(ar=ar, probes=P, notready=NR, op=op_cycle)


def _port(P, NR, i, t, v, r):
    n = 'cdma_dat2mcif_rd_req' if i == 0 else 'cdma_wt2mcif_rd_req'
    if v: P[n + '_valid'].on(t)
    if not r: NR[n + '_ready'] += 1


# ------------------------------------------------------------------------------------------------ comparison
def csb_queue(n):
    """CSB request FIFO (csb.md 2.3), n writes offered back to back: (accept cycles, push cycles); op of a unit = push + 12 (+3 for retimed units)"""
    r = busy = full_q = False; cnt = 0; pops = set(); acc = []; push = []; c = 0
    while len(push) < n:
        valid = len(acc) < n
        res = r and not full_q
        if res:
            push.append(c); pops.add(c + 8)
        p = c in pops; cn = cnt + res; full = (not p) and cn == 4
        a = valid and not busy
        nb = full if valid else (r and full and not res)
        if not (r and full_q):
            r = a
            if a:
                acc.append(c)
        cnt = cn - p; busy = nb; full_q = full; c += 1
    return acc, push


def expand(runs):
    return [t for s, n in runs for t in range(s, s + n)]


def releases(case):
    """Measured inputs of the CDMA model: releases and pending handshake of the CSC, accept cycles of later D_OP_ENABLE writes.
    If the case carries value logs ('vlog') these are used.  Otherwise the number of entries of every measured release pulse is computed:
    data: one pulse per layer, entries_per_slice * batches * (D_RELEASE+1); weights: one pulse per kernel group,
    ceil(bytes up to the end of the group / E) - the same for the previous group (padding after the last group is never released)."""
    c = CFG[case['config']]; E = c['A'] * c['R']
    lay = [x[1] for x in layers_of(case) if x[0] == 'layer']; cf = [LayerCfg(c, x['regs']) for x in lay]
    e = case['expected']; rd = {}; rw = {}
    v = e.get('vlog')
    if v:
        for t, n in v['rel_dat']: rd[t] = n
        for t, n in v['rel_wt']: rw[t] = n
    else:
        for t, L in zip(expand(e['probes']['sc2cdma_dat_updt']['runs']), cf):
            rd[t] = L.entries * L.batches * L.H
        ent = []
        for L in cf:
            prev = 0
            for g in range(-(-L.K // L.KG)):
                x = -(-min(L.K, (g + 1) * L.KG) * L.bpk // E)
                ent.append(x - prev); prev = x
        for t, n in zip(expand(e['probes']['sc2cdma_wt_updt']['runs']), ent):
            rw[t] = n
    t_en = {}
    if 'op_enable_accept' in e:
        # exact CSB model: an accepted write waits in the input register while the 4-entry FIFO is full (csb.md 2.3)
        push = []
        for k, t in enumerate(e['csb_write_accept']):
            push.append(max(t + 1, push[k - 1] + 1 if k else t + 1, push[k - 4] + 9 if k >= 4 else t + 1))
        m = dict(zip(e['csb_write_accept'], push))
        for i, t in enumerate(e['op_enable_accept']): t_en[i] = m[t] - 1
    elif case.get('csb_to_op', CSB_TO_OP) == 13:
        n = sum(1 for x in case['program'][:next((i for i, x in enumerate(case['program']) if x[0] == 'WAIT_INTR'), None)] if x[0] != 'MARK')
        acc, push = csb_queue(n)
        k0 = [i for i, x in enumerate([y for y in case['program'] if y[0] != 'MARK']) if x[0] == 'CDMA.D_OP_ENABLE']
        for i, k in enumerate(k0[:2]):
            t_en[i] = push[k] - 1 - acc[k0[0]]
    else:
        for i in range(2, len(lay)):
            k = i - 2
            if k < len(e['interrupt_cycles']):
                t_en[i] = e['interrupt_cycles'][k] + 12 + lay[i]['pos'] - lay[i - 1]['pos'] - 1
    def pend(li, T0):
        if v:
            q = sorted(t for t, _ in v['pend_req_wt'])
            for t in q:
                if t >= T0 + 1 and (t + 1) not in q:
                    return t + 3                                    # last cycle with request, +1 = falls, +2 registered, +3 BUSY
        if li == 0:
            return T0 + 7
        st = [s for s, n in e['probes']['cdma_wt2mcif_rd_req_valid']['runs'] if s >= T0 + 5]
        return st[0] - (5 if c['full'] else 3) if st else T0 + 7
    return dict(rel_dat=rd, rel_wt=rw, t_en=t_en, pend=pend, csb=case.get('csb_to_op', CSB_TO_OP))


def compare(case):
    e = case['expected']; out = []
    meas = releases(case)
    meas['tmax'] = max(q.get('last', 0) for q in e['probes'].values()) + 100
    r = simulate(case, meas)
    exp_ar = [[x[0], int(x[1], 16), x[2], x[3]] for x in e['ar']]
    n = len(exp_ar)
    if r['ar'][:n] != exp_ar:
        k = next((i for i in range(n) if i >= len(r['ar']) or r['ar'][i] != exp_ar[i]), -1)
        out.append(('ar', k, exp_ar[k], r['ar'][k] if k < len(r['ar']) else None))
    if len(r['ar']) != e['dbb']['ar']:
        out.append(('ar_count', e['dbb']['ar'], len(r['ar'])))
    for k, p in r['probes'].items():
        if k not in e['probes']:
            continue
        q = e['probes'][k]
        if (q['active'], q['first'], q['last']) != (p.active, p.first, p.last) or p.runs[:len(q['runs'])] != q['runs']:
            j = next((i for i in range(len(q['runs'])) if i >= len(p.runs) or p.runs[i] != q['runs'][i]), -1)
            out.append((k, 'exp', q['active'], q['first'], q['last'], 'got', p.active, p.first, p.last, 'run', j, q['runs'][max(0,j-1):j + 3], p.runs[max(0,j-1):j + 3]))
    allr = max([v['active'] for kk, v in e['probes'].items() if kk.endswith('_ready')])
    for k, v in r['notready'].items():
        x = allr - e['probes'][k]['active']
        if x != v:
            out.append((k, 'notready exp', x, 'got', v))
    return out


if __name__ == '__main__':
    ok = tot = 0; per = {}
    verbose = '-v' in sys.argv
    files = [json.load(open(a)) for a in sys.argv[1:] if not a.startswith('-')]
    for case in [y for x in files for y in (x if isinstance(x, list) else [x])]:          # a file holds one case or a list of cases
        try:
            o = compare(case)
        except Exception as ex:
            if verbose: raise
            o = [('exception', repr(ex))]
        tot += 1; c = case['config']; per.setdefault(c, [0, 0]); per[c][1] += 1
        if not o:
            ok += 1; per[c][0] += 1
        else:
            print(case['id'], 'MISMATCH', len(o))
            for x in o[:8 if verbose else 2]:
                print('    ', *x)
    print('equal', ok, 'of', tot, per)
