"""The executable models of the specification as cross_check.py uses them: loaded, corrected where a measured case says so,
and with the rows of the machine at hand in their tables.
"""
import sys
import types

import cross_check_sdp


class Models:
    """The executable models, with the rows of the machine at hand entered in their tables."""

    def __init__(self, folder):
        self.folder = folder
        sys.path.insert(0, str(self.folder))
        import cdp                      # these two with the other models as they are
        import pdp
        import pdp_program
        import sdp_rdma_full  # noqa: F401
        self.pdp, self.cdp, self.pdp_program = pdp, cdp, pdp_program
        self.plain = {name: sys.modules.pop(name) for name in ("sdp_out", "sdp_rdma", "sdp_rdma_full")}
        import cdma_fabric
        import conv_core
        import programming
        import cdma_img
        import cdma_wg
        import numerics_cacc
        self.accumulator = numerics_cacc
        self.image, self.winograd = cdma_img, cdma_wg
        self.core, self.fetch, self.programming = conv_core, cdma_fabric, programming
        patched = (self.folder / "cdma_fabric.py").read_text()
        # A port that takes a read command at a fixed interval.
        for before, after in (("        arh = (arp.q[0] if arp.q else None) if full else arp.p\n",
                               "        arh = (arp.q[0] if arp.q else None) if full else arp.p\n        arok = t >= cmdnext\n"
                               "        if not arok: arh = None\n        elif arh is not None: cmdnext = t + mem.get('command_interval', 1)\n"),
                              ("            arp.step(h if not fullos else None, True)\n", "            arp.step(h if not fullos else None, arok)\n"),
                              ("    os = 0; dec = False; eg = False\n", "    os = 0; dec = False; eg = False; cmdnext = 0\n")):
            assert before in patched, before
            patched = patched.replace(before, after)
        # Its requests and completions, for the counters of cdma.md 11.
        for before, event in (("        if acc:\n            dc.info.push", "        MARKS.append((t, 'd', r is not None and not acc, acc))\n"),
                              ("                wt.info.offer(h is not None and first.rdy)\n", ""),
                              ("                first.step(cand if irdy else None, dsr1)\n", "                MARKS.append((t, 'w', cand is not None and not taken, taken))\n")):
            patched = patched.replace(before, event + before)
        patched = patched.replace("                wt.info.offer(h is not None and first.rdy)\n",
                                  "                wt.info.offer(h is not None and first.rdy)\n"
                                  "                MARKS.append((t, 'w', h is not None and not (irdy and first.rdy), h is not None and irdy and first.rdy))\n")
        # Layers that use what the one before kept, cdma.md 2.2.
        for before, after in (("misc = g('D_MISC_CFG'); self.prec", "misc = self.misc = g('D_MISC_CFG'); self.prec"),
                              ("                Tbw = tb if wpend else T0 + 1\n", "                Tbw = tb if wpend else T0 + 1\n"
                               "                kept = cfgs[li - 1].misc if li else 0\n"
                               "                if not dpend and L.misc >> 16 & 1 and kept >> 24 & 1: Tbd, dc.done_at = -1, T0 + 1\n"
                               "                if not wpend and L.misc >> 20 & 1 and kept >> 28 & 1: Tbw, wt.done_at = -1, T0 + 1\n")):
            assert before in patched, before
            patched = patched.replace(before, after)
        # Atoms of an odd start pair up before they are written, cdma.md 7.4.
        single = "            P['cdma2buf_wt_wr'].on(t + 1)\n"
        assert single in patched
        patched = patched.replace(single, "            if wr_atoms + (wt.fetch_cnt & 1 if full else 1) >= 2: P['cdma2buf_wt_wr'].on(t + 1)\n")
        patched = patched.replace("dc.info.pop(); dc.got = 0", "dc.info.pop(); dc.got = 0; MARKS.append((t, 'D'))")
        patched = patched.replace("wt.info.pop(); wt.got = 0", "wt.info.pop(); wt.got = 0; MARKS.append((t, 'W'))")
        exec(compile(patched, "cdma_fabric.py", "exec"), cdma_fabric.__dict__)
        cdma_fabric.MARKS = []
        # These two were written for a register bus that accepts a write every cycle: give them the real one (csb.md 2.3).
        self.write = self.load("sdp_out")
        sys.modules["sdp_out"] = self.write
        self.operands = self.load("sdp_rdma")
        self.write.Csb = self.operands.Csb = Bus
        cross_check_sdp.extend(self)
        plain = self.write.geom

        def geom(row, registers):
            """With the commands of Winograd layers, sdp.md 1.7: two pixels of four lines in turn."""
            layer = plain(row, registers)
            if registers["D_FEATURE_MODE_CFG"] & 4 and layer["mode"] != "8to16":
                per = 2 if layer["mode"] == "int8" else 1
                surfaces = registers["D_DATA_CUBE_CHANNEL"] // (32 if layer["mode"] == "int8" else 16) + 1
                commands = [[registers["D_DST_BASE_ADDR_LOW"] + s * registers["D_DST_SURFACE_STRIDE"] + (h + row) * registers["D_DST_LINE_STRIDE"]
                             + x * 32, 2, 0, 0, 2 * per] for s in range(surfaces) for h in range(0, registers["D_DATA_CUBE_HEIGHT"] + 1, 4)
                            for x in range(0, registers["D_DATA_CUBE_WIDTH"] + 1, 2) for row in range(4)]
                commands[-1][2:4] = 1, 1
                layer["cmds"] = [tuple(x) for x in commands]
            return layer

        self.write.geom = geom
        self.plain_stage = self.write.Fifo2

        class Stalling(self.write.SkidPipeB):
            """Two-entry stage of the configurable generation, fabric.md 0, in the form these models use."""
            q = property(lambda s: ([s.D] if s.V else []) + ([s.SD] if not s.RF else []))

        self.stalling_stage = Stalling

    def load(self, name):
        text = (self.folder / f"{name}.py").read_text()
        text = text.replace("nrd=(cfg=='nv_full')", "nrd=True").replace("maxc=60000", "maxc=400000")
        # Ports that take a write command or a data beat at a fixed interval.
        for before, after in (("        aw=s.aw.q[0] if s.aw.q else None; w=s.wp.q[0] if s.wp.q else None\n",
                               "        aw=s.aw.q[0] if s.aw.q else None; w=s.wp.q[0] if s.wp.q else None\n        s.now+=1; a_ok=s.now>=s.a_next; w_ok=s.now>=s.w_next\n"
                               "        if not a_ok: aw=None\n        elif aw is not None: s.a_next=s.now+INTERVALS[0]\n"
                               "        if not w_ok: w=None\n        elif w is not None: s.w_next=s.now+INTERVALS[1]\n"),
                              ("s.aw.fwd(mv and cmd_first,s.cc.D); s.aw.bwd(True)", "s.aw.fwd(mv and cmd_first,s.cc.D); s.aw.bwd(a_ok)"),
                              ("s.wp.fwd(mv,wd); s.wp.bwd(True)", "s.wp.fwd(mv,wd); s.wp.bwd(w_ok)"),
                              ("        if w is not None and w[1]: bq.append([c+m['write_latency'],awo.popleft()])\n",
                               "        if w is not None and w[1]: m_.ended+=1\n        while m_.ended and awo: m_.ended-=1; bq.append([c+m['write_latency'],awo.popleft()])\n"),
                              ("s.lane=0; s.curch=None\n", "s.lane=0; s.curch=None; s.ended=0; s.now=0; s.a_next=s.w_next=0; s.os=0; s.limit=256; s.back=[]\n"),
                              # The limit on outstanding beats of fabric.md 1.6: a response taken in b is credited in b + 2.
                              ("        if s.cd.V:\n            if cmd_first: mv=s.cc.V and ", "        dec=sum(n for t,n in s.back if t==s.now-1); s.back=[x for x in s.back if x[0]>s.now-1]\n"
                               "        if s.cd.V:\n            if cmd_first: mv=s.cc.V and s.os+s.beats_of(s.cc.D)-dec<=s.limit and "),
                              ("        s.aw.fwd(mv and cmd_first", "        s.os+=(s.beats_of(s.cc.D) if mv and cmd_first else 0)-dec\n        s.aw.fwd(mv and cmd_first"),
                              ("    def ready(s): return len(s.p1.q)<2\n", "    def ready(s): return len(s.p1.q)<2\n    def beats_of(s,d): return 1 if s.full else d[1]\n"),
                              ("csb=Csb(); ping=Ping(); sdp=Sdp(cf); mc=McifWr(cf)\n", "csb=Csb(); ping=Ping(); sdp=Sdp(cf); mc=McifWr(cf)\n"
                               "    mc.limit=(dict((x[0],x[1]) for x in prog).get('MCIF.CFG_OUTSTANDING_CNT',0xffff)>>8&255)+1\n"),
                              ("awo.append(aw[2])", "awo.append((aw[2],m_.beats_of(aw)))"),
                              ("            t,ack=bq.pop(0)\n", "            t,(ack,beats)=bq.pop(0); m_.back.append((c+2,beats))\n")):
            assert before in text or name != "sdp_out", before
            text = text.replace(before, after.replace("m_.", "mc." if name == "sdp_out" else "mw."))
        # Both lanes see the readiness from the start of the cycle.
        text = text.replace("for i in (0,1): s.dat[i].clk1(h is not None and v2 and h[0]=='D' and h[1]>i and s.dat[1-i].ready(), i in pops)",
                            "rr=[x.ready() for x in s.dat]; [s.dat[i].clk1(h is not None and v2 and h[0]=='D' and h[1]>i and rr[1-i],i in pops) for i in (0,1)]")
        if name == "sdp_rdma":      # BS and BN may be narrower than a beat
            text = text.replace("s.inp=Pipe(); s.a1", "s.inp=Pack(r); s.a1").replace("SkidPipe(),SkidPipe(),Pipe()])", "SkidPipe(),SkidPipe(),Unpack(r)])")
            text = text.replace("class XC:               # BS / BN, configurable generation\n    def __init__(s,cfg,alu_src,mul_src):",
                                "class XC:\n    def __init__(s,cfg,alu_src,mul_src,r):")
            text = text.replace("XC(c,a,m) if k!='e'", "XC(c,a,m,s.cf['tp']//s.cf['t'+k]) if k!='e'").replace("(cf['te'] if k=='e' else cf['tx'])", "cf['t'+k]")
            # The context queue, and the cycles in which a read request is refused.
            for before, after in (("        pv,pd=s.ifc.fwd(v,d); s.ifc.bwd(rdy); s.ifc.clk()\n", "        s.stall+=v and not r; pv,pd=s.ifc.fwd(v,d); s.ifc.bwd(rdy); s.ifc.clk()\n"),
                                  ("        v=bool(s.gen); d=", "        v=bool(s.gen) and s.contexts.ready(); d="), ("s.gen.pop(0)\n        return", "s.gen.pop(0); s.contexts.push()\n        s.contexts.now+=1; return"),
                                  ("s.done_p=False; s.on=False", "s.done_p=False; s.on=False; s.stall=0; s.contexts=Contexts(cf,name)"), ("s.gen=list(cmds); s.on=True", "s.gen=list(cmds); s.on=True; s.stall=0"),
                                  ("        if gdone: need=set()", "        if gdone: READS.append({k:ENG[k].stall for k in need}); need=set()")):
                assert before in text, before
                text = text.replace(before, after)
        if name == "sdp_out":
            for before, after in (("def xeng(cf,cfg):", "def xeng(cf,cfg,t):"), ("st=[Pipe()]", "st=[Pack(cf['tp']//t)]"), ("SkidPipe(),SkidPipe(),Pipe()])", "SkidPipe(),SkidPipe(),Unpack(cf['tp']//t)])"),
                                  ("regs.get('D_DP_BS_CFG',1))", "regs.get('D_DP_BS_CFG',1),s.cf['tb'])"), ("regs.get('D_DP_BN_CFG',1))", "regs.get('D_DP_BN_CFG',1),s.cf['tn'])")):
                assert before in text, before
                text = text.replace(before, after)
        # One pixel of all channels is no pair.
        text = text.replace("if last_in and s.mode=='8to16' and not s.sodd:", "if last_in and s.mode=='8to16' and not s.sodd and not s.one:")
        # Cycles in which the interface of WDMA refuses.
        text = text.replace("s.L=None; s.twin=0;", "s.L=None; s.stall=0; s.twin=0;")
        text = text.replace("        pv,pd=s.ifc.fwd(out is not None,out)\n", "        s.stall+=out is not None and not rdy_if\n        pv,pd=s.ifc.fwd(out is not None,out)\n")
        text = text.replace("s.gen=list(cmds); s.pend=True", "s.gen=list(cmds); s.pend=True; s.stall=0")
        text = text.replace("s.phase=0; ldc=True; done=s.cr[3]\n", "s.phase=0; ldc=True; done=s.cr[3]; s.cr[3] and STALLS.append(s.stall)\n")
        module = types.ModuleType(name)
        module.STALLS, module.READS, module.Contexts = [], [], cross_check_sdp.Contexts
        module.INTERVALS = [1, 1]
        module.__file__ = str(self.folder / f"{name}.py")
        exec(compile(text, module.__file__, "exec"), module.__dict__)
        return module

    def enter(self, machine):
        """The rows of a machine into the tables of all models."""
        self.programming.CONFIG[machine.name] = machine.row_programming()
        self.core.CFG[machine.name] = machine.row_core()
        self.fetch.CFG[machine.name] = machine.row_fetch()
        self.write.CFG[machine.name] = machine.row_write()
        self.operands.CFG[machine.name] = machine.row_operands()
        self.write.Fifo2 = self.operands.Fifo2 = self.plain_stage if machine.full else self.stalling_stage


class Bus:
    """Register bus of csb.md 2.3: a registered ready, four words, four requests per nine cycles, at the unit eight cycles later."""

    def __init__(self):
        self.out, self.word, self.full, self.busy, self.count, self.pushes = [], None, False, False, 0, set()

    def clk(self, cycle, request):
        push = self.word is not None and not self.full
        release = cycle - 8 in self.pushes
        following = False if release else self.count + push == 4
        accepted = request is not None and not self.busy
        if push:
            self.pushes.add(cycle)
            self.out.append((cycle + 7, self.word))
        self.count += push - release
        self.busy = following if request is not None else (self.word is not None and following and not push)
        if accepted:
            self.word = request
        elif push:
            self.word = None
        self.full = following
        return accepted
