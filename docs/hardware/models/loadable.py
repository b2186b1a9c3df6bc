#!/usr/bin/env python3
"""Loader, scheduler and register-program generator for NVDLA loadables (executable form of ../loadable.md).

Written from loadable.md only; pure Python, no packages. Register addresses and fields come from configs/registers.

    loadable.py FILE                                   list of everything in the file, as JSON
    loadable.py FILE --case OUT.json [--config NAME]   register program of the (first) DLA task as a replayable case
        --task N            which task (default: the first DLA task)
        --input FILE        content of the input memory, raw bytes in surface layout (--nchw: raw elements in n, c, h, w order)
        --pixels FILE       input as unsigned bytes in c, h, w order of the network's own channels (the *.input files of loadables/)
        --seed N            pseudo random input instead (small positive and negative values, 0..127 for pixels)
        --mode serial|overlap|driver   overlap (default): the next chain is programmed while one runs; driver: the driver's order
        --no-clear          omit the writes that clear every unwritten register of a group (see loadable.md 6.9)
        --dump              ask for the whole output memory as hex regions (`expected.output` in pieces)
        --chains N          only the first N sets of operations that run together; the output is what the last of them writes
        --check CRC         put this crc32 of the output memory into the case
    loadable.py FILE --golden GOLDEN.dimg --events EVENTS.json
                                                       compare the regions of an events file with a golden image file

Other programs use the classes: Loadable, Machine (memory image and address binding), Network (descriptors of a task), Driver (scheduler), Programmer.
"""
import argparse, json, math, os, struct, sys, zlib

HERE = os.path.dirname(os.path.abspath(__file__))

# ----------------------------------------------------------------------------------------------- container (flatbuffer)

class Table:
    """One flatbuffer table: fields by position, absent ones give the default."""
    def __init__(self, buf, pos):
        self.buf, self.pos = buf, pos
        vtable = pos - struct.unpack_from('<i', buf, pos)[0]
        count = (struct.unpack_from('<H', buf, vtable)[0] - 4) // 2
        self.slots = struct.unpack_from('<%dH' % count, buf, vtable + 4)

    def where(self, field):
        return self.pos + self.slots[field] if field < len(self.slots) and self.slots[field] else None

    def number(self, field, code, default=0):
        at = self.where(field)
        return default if at is None else struct.unpack_from('<' + code, self.buf, at)[0]

    def _vector(self, field):
        at = self.where(field)
        if at is None: return 0, 0
        at += struct.unpack_from('<I', self.buf, at)[0]
        return at + 4, struct.unpack_from('<I', self.buf, at)[0]

    def numbers(self, field, code):
        at, n = self._vector(field)
        return list(struct.unpack_from('<%d%s' % (n, code), self.buf, at)) if n else []

    def raw(self, field):
        at, n = self._vector(field)
        return bytes(self.buf[at:at + n])

    def string(self, field): return self.raw(field).decode('utf-8')

    def _indirect(self, field):
        at, n = self._vector(field)
        return [at + 4 * i + struct.unpack_from('<I', self.buf, at + 4 * i)[0] for i in range(n)]

    def tables(self, field): return [Table(self.buf, p) for p in self._indirect(field)]

    def strings(self, field):
        return [bytes(self.buf[p + 4:p + 4 + struct.unpack_from('<I', self.buf, p)[0]]).decode('utf-8') for p in self._indirect(field)]

    def triple(self, field):
        at = self.where(field)
        return None if at is None else tuple(self.buf[at:at + 3])

NONE, DLA, EMU = 0, 1, 2
ALLOC, SET, INPUT, OUTPUT = 1, 2, 4, 8
DATA_TYPE = {0: 'unknown', 1: 'float32', 2: 'fp16', 3: 'int16', 4: 'int8'}
ELEMENT_BYTES = {1: 4, 2: 2, 3: 2, 4: 1}

class Loadable:
    """The container, decoded into plain dictionaries."""
    def __init__(self, data):
        self.data = data
        root = Table(data, struct.unpack_from('<I', data, 0)[0])
        self.version = root.triple(0)
        self.tasks = [dict(id=t.number(0, 'H'), interface=t.number(1, 'I'), instance=t.number(2, 'h'), addresses=t.numbers(3, 'H'),
                           before=t.numbers(4, 'H'), after=t.numbers(5, 'H')) for t in root.tables(1)]
        self.memories = [dict(id=t.number(0, 'H'), domain=t.number(1, 'B'), flags=t.number(2, 'H'), size=t.number(3, 'Q'),
                              alignment=t.number(4, 'I'), contents=t.strings(5), offsets=t.numbers(6, 'Q'), bind=t.number(7, 'H'),
                              tensor=t.number(8, 'H')) for t in root.tables(2)]
        self.addresses = [dict(id=t.number(0, 'H'), memory=t.number(1, 'H'), offset=t.number(2, 'Q'), size=t.number(3, 'Q'))
                          for t in root.tables(3)]
        self.events = [dict(id=t.number(0, 'H'), type=t.number(1, 'B'), target=t.number(2, 'H'), value=t.number(3, 'I'),
                            op=t.number(4, 'B')) for t in root.tables(4)]
        self.blobs = {}
        for t in root.tables(5):
            self.blobs[t.string(0)] = dict(size=t.number(1, 'Q'), interface=t.number(2, 'I'), sub=t.number(3, 'I'),
                                           version=t.triple(4) or (0, 0, 0), data=t.raw(5))
        self.tensors = [dict(name=t.string(0), id=t.number(1, 'H'), memory=t.number(2, 'H'), size=t.number(3, 'Q'), offset=t.number(4, 'Q'),
                             data_format=t.number(5, 'B'), data_type=t.number(6, 'B'), category=t.number(7, 'B'),
                             pixel_format=t.number(8, 'B'), pixel_mapping=t.number(9, 'B'), n=t.number(10, 'i'), c=t.number(11, 'i'),
                             h=t.number(12, 'i'), w=t.number(13, 'i'), strides=[t.number(14 + k, 'I') for k in range(8)])
                        for t in root.tables(6)]
        self.relocations = [dict(address=t.number(0, 'H'), write=t.number(1, 'H'), offset=t.number(2, 'Q'), interface=t.number(3, 'I'),
                                 sub=t.number(4, 'I'), kind=t.number(5, 'B')) for t in root.tables(7)]
        self.submits = [dict(id=t.number(0, 'H'), tasks=t.numbers(1, 'H')) for t in root.tables(8)]

    @staticmethod
    def read(path):
        with open(path, 'rb') as f: return Loadable(f.read())

    def bound(self, flag):
        """Memories bound to the user's inputs or outputs, in the order of their bind numbers, with their tensor."""
        found = sorted((m for m in self.memories if m['flags'] & flag), key=lambda m: m['bind'])
        return [(m, self.tensors[m['tensor']]) for m in found if m['tensor'] < len(self.tensors)]

# --------------------------------------------------------------------------------------------------- descriptor layouts
# (name, struct code) in file order; 'pad' skips bytes; a name with a layout instead of a code is nested.

CONVERTER = [('scale', 'h'), ('truncate', 'B'), ('enable', 'B'), ('offset', 'i')]
CUBE = [('type', 'H'), ('address', 'h'), ('offset', 'I'), ('size', 'I'), ('width', 'H'), ('height', 'H'), ('channel', 'H'), ('pad', 2),
        ('line_stride', 'I'), ('surf_stride', 'I'), ('plane_stride', 'I')]
NETWORK = [('operations', 'h'), ('surfaces', 'h'), ('dependencies', 'h'), ('luts', 'h'), ('roi_array', 'h'), ('roi_surface', 'h'),
           ('statistics', 'h'), ('pad', 2), ('heads', '6h'), ('num_rois', 'H'), ('num_operations', 'H'), ('num_luts', 'H'),
           ('num_addresses', 'H'), ('input_layer', 'h'), ('dynamic_roi', 'B'), ('pad', 1)]
CONSUMER = [('index', 'h'), ('event', 'B'), ('pad', 1)]
COMMON = [('index', 'h'), ('roi', 'b'), ('type', 'B'), ('dependency_count', 'B'), ('pad', 3)] + \
         [('consumer%d' % i, CONSUMER) for i in range(6)] + [('fused_parent', CONSUMER)]
TRANSFER = [('source', 'h'), ('destination', 'h'), ('line_size', 'I'), ('line_repeat', 'I'), ('source_line', 'I'), ('destination_line', 'I'),
            ('surface_repeat', 'I'), ('source_surface', 'I'), ('destination_surface', 'I')]
BDMA_SURFACE = [('source_type', 'B'), ('destination_type', 'B'), ('num_transfers', 'H')] + [('transfer%d' % i, TRANSFER) for i in range(20)]
BDMA_OP = [('num_transfers', 'H'), ('pad', 2)]
CONV_SURFACE = [('weight', CUBE), ('mask', CUBE), ('groups', CUBE), ('src', CUBE), ('dst', CUBE), ('offset_u', 'q'), ('line_uv_stride', 'I')]
CONV_OP = [('conv_mode', 'B'), ('data_reuse', 'B'), ('weight_reuse', 'B'), ('skip_data_rls', 'B'), ('skip_weight_rls', 'B'), ('pad', 1),
           ('entry_per_slice', 'H'), ('data_format', 'B'), ('pixel_mapping', 'B'), ('fetch_grain', 'H'), ('pad', 8), ('batch', 'B'),
           ('weight_format', 'B'), ('data_bank', 'B'), ('weight_bank', 'B'), ('batch_stride', 'I'), ('post_extension', 'B'),
           ('pixel_override', 'B'), ('release', 'H'), ('csc_width', 'H'), ('csc_height', 'H'), ('csc_channel', 'H'), ('kernel_width', 'H'),
           ('kernel_height', 'H'), ('kernel_channel', 'H'), ('cmac_width', 'H'), ('cmac_height', 'H'), ('bytes_per_kernel', 'I'),
           ('mean_ry', 'h'), ('mean_gu', 'h'), ('mean_bv', 'h'), ('mean_ax', 'h'), ('mean_format', 'B'), ('stride_x', 'B'), ('stride_y', 'B'),
           ('pad_left', 'B'), ('pad_right', 'B'), ('pad_top', 'B'), ('pad_bottom', 'B'), ('dilation_x', 'B'), ('dilation_y', 'B'), ('pad', 2),
           ('pra_truncate', 'B'), ('in_precision', 'B'), ('out_precision', 'B'), ('pad_value', 'h'), ('in_cvt', CONVERTER), ('out_cvt', CONVERTER)]
SDP_SURFACE = [('src', CUBE), ('x1', CUBE), ('x2', CUBE), ('y', CUBE), ('dst', CUBE)]
SDP_UNIT = [('enable', 'B'), ('alu', 'B'), ('type', 'B'), ('mode', 'B'), ('act', 'B'), ('shift', 'B'), ('truncate', 'B'), ('precision', 'B'),
            ('alu_operand', 'i'), ('mul_operand', 'i'), ('alu_cvt', CONVERTER), ('mul_cvt', CONVERTER)]
SDP_OP = [('src_precision', 'B'), ('dst_precision', 'B'), ('lut', 'h'), ('out_cvt', CONVERTER), ('conv_mode', 'B'), ('batch', 'B'), ('pad', 2),
          ('batch_stride', 'I'), ('x1', SDP_UNIT), ('x2', SDP_UNIT), ('y', SDP_UNIT)]
PDP_SURFACE = CDP_SURFACE = RUBIK_SURFACE = [('src', CUBE), ('dst', CUBE)]
PDP_OP = [('in_first', 'H'), ('in_mid', 'H'), ('in_last', 'H'), ('out_first', 'H'), ('out_mid', 'H'), ('out_last', 'H'), ('splits', 'B'),
          ('mode', 'B'), ('kernel_width', 'B'), ('kernel_height', 'B'), ('stride_x', 'B'), ('stride_y', 'B'), ('pad_left', 'B'),
          ('pad_right', 'B'), ('pad_top', 'B'), ('pad_bottom', 'B'), ('precision', 'B'), ('pad', 1), ('pad_values', '7i')]
CDP_OP = [('in_precision', 'B'), ('out_precision', 'B'), ('lut', 'h'), ('in_cvt', CONVERTER), ('out_cvt', CONVERTER), ('local_size', 'B'),
          ('bypass_sqsum', 'B'), ('bypass_mul', 'B'), ('pad', 1)]
RUBIK_OP = [('mode', 'B'), ('precision', 'B'), ('stride_x', 'B'), ('stride_y', 'B')]
LUT = [('le', '65h'), ('lo', '257h'), ('le_offset', 'b'), ('pad', 1), ('lo_offset', 'b'), ('pad', 1), ('le_start', 'Q'), ('le_end', 'Q'),
       ('lo_start', 'Q'), ('lo_end', 'Q')] + \
      [(p + s, c) for p in ('le_uflow', 'le_oflow', 'lo_uflow', 'lo_oflow') for s, c in (('_scale', 'h'), ('_shift', 'b'), ('pad', None))] + \
      [('hybrid_priority', 'B'), ('uflow_priority', 'B'), ('oflow_priority', 'B'), ('method', 'B')]
LUT = [('pad', 1) if c is None else (n, c) for n, c in LUT]

TYPES = ['BDMA', 'CONV', 'SDP', 'PDP', 'CDP', 'RUBIK']
OP_LAYOUT = [BDMA_OP, CONV_OP, SDP_OP, PDP_OP, CDP_OP, RUBIK_OP]
SURFACE_LAYOUT = [BDMA_SURFACE, CONV_SURFACE, SDP_SURFACE, PDP_SURFACE, CDP_SURFACE, RUBIK_SURFACE]
OP_BYTES, SURFACE_BYTES, COMMON_BYTES, LUT_BYTES = 116, 644, 36, 700

def decode(layout, data, at=0):
    out, at = _decode(layout, data, at)
    return out

def _decode(layout, data, at):
    out = {}
    for name, code in layout:
        if name == 'pad': at += code
        elif isinstance(code, list): out[name], at = _decode(code, data, at)
        else:
            values = struct.unpack_from('<' + code, data, at)
            out[name] = values[0] if len(values) == 1 else list(values)
            at += struct.calcsize('<' + code)
    return out, at

def older(layout):
    """The same layout as interface versions before 0.12 write it: cubes have no offset field."""
    if layout is CUBE: return [x for x in CUBE if x[0] != 'offset']
    return [(n, older(c) if isinstance(c, list) else c) for n, c in layout]

def size_of(layout):
    return sum(c if n == 'pad' else size_of(c) if isinstance(c, list) else struct.calcsize('<' + c) for n, c in layout)

assert size_of(NETWORK) == 40 and size_of(COMMON) == COMMON_BYTES and size_of(CUBE) == 32 and size_of(CONV_OP) == 92 \
    and size_of(SDP_OP) == OP_BYTES and size_of(PDP_OP) == 52 and size_of(CDP_OP) == 24 and size_of(LUT) == LUT_BYTES \
    and size_of(BDMA_SURFACE) == SURFACE_BYTES and size_of(CONV_SURFACE) == 172

# ------------------------------------------------------------------------------------------------------ memory, binding

class Machine:
    """Places the memories of a loadable in the simulated address space and holds their content."""
    def __init__(self, loadable, dram=0x80000000, sram=0x50000000):
        self.loadable, self.base, self.data = loadable, {}, {}
        next_free = {0: dram, 1: sram}
        for m in loadable.memories:
            step = max(m['alignment'], 4096)
            self.base[m['id']] = next_free[m['domain']]
            next_free[m['domain']] += -(-max(m['size'], 1) // step) * step
            content = bytearray(m['size'])
            if m['flags'] & SET:
                for name, offset in zip(m['contents'], m['offsets']):
                    blob = loadable.blobs[name]
                    content[offset:offset + blob['size']] = blob['data'][:blob['size']]
            self.data[m['id']] = content
        self.end = next_free[0]

    def address_of(self, task, index):
        """Physical base of entry `index` of a task's address list."""
        entry = self.loadable.addresses[task['addresses'][index]]
        return self.base[entry['memory']] + entry['offset']

    def version_of(self, task, index):
        """Interface version of the blob of an entry of the address list."""
        wanted = self.loadable.addresses[task['addresses'][index]]['memory']
        for m in self.loadable.memories:
            if m['id'] == wanted and m['contents']: return self.loadable.blobs[m['contents'][0]]['version']
        return (0, 12, 0)

    def view(self, task, index):
        entry = self.loadable.addresses[task['addresses'][index]]
        return memoryview(self.data[entry['memory']])[entry['offset']:]

def element_offset(tensor, c, h, w, n=0):
    """Byte offset of one element of an input or output tensor inside its memory; the elements of a batch follow each other."""
    start = n * (tensor['size'] // tensor['n'])
    eb, line, surf, pf = ELEMENT_BYTES[tensor['data_type']], tensor['strides'][1], tensor['strides'][2], tensor['pixel_format']
    if pf >= 36:
        atom = 8 if pf == 37 else 32
        per = atom // eb
        return start + c // per * surf + h * line + w * atom + c % per * eb
    components = 1 if pf <= 5 else 4
    return start + h * line + w * components * eb + c * eb

def places(tensor):
    return ((n, c, h, w) for n in range(tensor['n']) for c in range(tensor['c']) for h in range(tensor['h']) for w in range(tensor['w']))

def pack_tensor(tensor, elements, size):
    """elements: raw bytes in n, c, h, w order -> memory image."""
    eb, out, at = ELEMENT_BYTES[tensor['data_type']], bytearray(size), 0
    for n, c, h, w in places(tensor):
        o = element_offset(tensor, c, h, w, n)
        out[o:o + eb] = elements[at:at + eb]
        at += eb
    return out

def unpack_tensor(tensor, memory):
    eb, out = ELEMENT_BYTES[tensor['data_type']], bytearray()
    for n, c, h, w in places(tensor):
        o = element_offset(tensor, c, h, w, n)
        out += memory[o:o + eb]
    return bytes(out)

def elements_of_pixels(tensor, pixels):
    """Unsigned bytes in c, h, w order -> elements of the tensor's type; components the network does not have are 0.

    A batch gets the same picture several times, each shifted by one more element.
    """
    values, count = [], tensor['c'] * tensor['h'] * tensor['w']
    for n in range(tensor['n']): values += list(pixels[n:]) + list(pixels[:n]) + [0] * (count - len(pixels))
    code = {2: 'e', 3: 'h', 4: 'b'}[tensor['data_type']]
    return struct.pack('<%d%s' % (len(values), code), *values)

def random_elements(tensor, seed):
    """The byte generator of rtl_timing/README.md, reduced to small values of the tensor's type, in c, h, w order."""
    x, out = (seed * 2654435761 + 12345) & 0xffffffff, bytearray()
    for _ in range(tensor['n'] * tensor['c'] * tensor['h'] * tensor['w']):
        x ^= (x << 13) & 0xffffffff; x ^= x >> 17; x ^= (x << 5) & 0xffffffff
        byte = (x >> 11) & 255
        if tensor['data_type'] == 2: out += struct.pack('<e', (byte - 128) / 64)
        elif tensor['data_type'] == 3: out += struct.pack('<h', byte - 128)
        elif tensor['pixel_format'] < 36: out.append(byte >> 1)
        else: out.append((byte - 128) // 2 & 255)
    return bytes(out)

# ------------------------------------------------------------------------------------------------------------ scheduler

class Network:
    """One DLA task: its network descriptor, operations and tables."""
    def __init__(self, machine, task):
        self.task, view = task, lambda index: bytes(machine.view(task, index))
        self.descriptor = decode(NETWORK, view(0))
        self.version = machine.version_of(task, 0)
        layouts = SURFACE_LAYOUT if self.version >= (0, 12, 0) else [older(x) for x in SURFACE_LAYOUT]
        n = self.descriptor['num_operations']
        ops, surfaces, graph = (view(self.descriptor[k]) if n else b'' for k in ('operations', 'surfaces', 'dependencies'))
        self.operations = []
        for i in range(n):
            common = decode(COMMON, graph, i * COMMON_BYTES)
            kind = common['type']
            self.operations.append(dict(
                index=i, kind=TYPES[kind], type=kind, dependency_count=common['dependency_count'],
                consumers=[(common['consumer%d' % k]['index'], common['consumer%d' % k]['event']) for k in range(6)],
                fused_parent=(common['fused_parent']['index'], common['fused_parent']['event']),
                op=decode(OP_LAYOUT[kind], ops, i * OP_BYTES), surface=decode(layouts[kind], surfaces, i * SURFACE_BYTES)))
        if self.version < (0, 12, 0):
            for o in self.operations:
                for cube in o['surface'].values():
                    if isinstance(cube, dict) and 'type' in cube: cube['offset'] = 0
        self.luts = []
        if self.descriptor['num_luts'] > 0:
            table = view(self.descriptor['luts'])
            self.luts = [decode(LUT, table, i * LUT_BYTES) for i in range(self.descriptor['num_luts'])]

    def chains(self):
        """Operations grouped into sets that run together (linked by a fused parent), in an order the driver could run them.

        Inside a chain the first operation is the one farthest downstream: that is also the order of enabling.
        """
        ops = self.operations
        head_of = {}                                                   # operation -> operation at the end of its chain
        child = {o['fused_parent'][0]: o['index'] for o in ops if o['fused_parent'][0] >= 0}
        for o in ops:
            i = o['index']
            while i in child: i = child[i]
            head_of[o['index']] = i
        members = {}
        for o in ops: members.setdefault(head_of[o['index']], []).append(o['index'])
        def downstream_first(chain):
            order, i = [], chain
            while i >= 0:
                order.append(i)
                i = ops[i]['fused_parent'][0]
            return order
        waits = {o['index']: set() for o in ops}                       # who must have completed before
        for o in ops:
            for index, event in o['consumers'] + [o['fused_parent']]:
                if index >= 0 and head_of[index] != head_of[o['index']] and event in (1, 4, 5): waits[index].add(o['index'])
        queue = {}                                                     # per unit type: operations in their fixed order
        for kind in range(6):
            queue[kind], i = [], self.descriptor['heads'][kind]
            while i >= 0:
                queue[kind].append(i)
                i = ops[i]['consumers'][kind][0]
        done, order = set(), []
        while len(done) < len(ops):
            ready = [c for c, m in members.items() if c not in done and all(
                queue[ops[i]['type']] and queue[ops[i]['type']][0] == i and waits[i] <= done for i in m)]
            if not ready: raise ValueError('the dependency graph cannot make progress after operations %s' % sorted(done))
            chain = min(ready, key=lambda c: min(members[c]))
            for i in members[chain]: queue[ops[i]['type']].pop(0)
            done.update(members[chain])
            order.append(downstream_first(chain))
        return order

class Driver:
    """The dynamic scheduler of loadable.md 4: two groups per type, events, completion in any order.

    program(op, group, rdma_group) and enable(op, ...) are called back; complete(type, group) reports an interrupt.
    """
    def __init__(self, network, program, enable):
        self.ops = [dict(o, count=o['dependency_count']) for o in network.operations]
        self.program, self.enable = program, enable
        self.group = {t: [None, None] for t in range(6)}               # operation in each register group
        self.state = {}                                                # operation -> pending, programmed, active, done
        self.slot, self.tail, self.next_group, self.tables = {}, {}, dict.fromkeys(range(6), 0), {}
        self.completed = 0
        self.programming = None
        for t in range(6):
            head = network.descriptor['heads'][t]
            if head >= 0:
                self.submit(head)
                self.dequeue(t)

    def ready(self, i):
        o = self.ops[i]
        other = self.group[o['type']][1 - self.slot[i]]
        if o['kind'] == 'BDMA': return other is None or self.state[other] == 'active'
        if o['kind'] not in ('SDP', 'CDP') or o['op']['lut'] < 0 or other is None or self.state[other] == 'pending': return True
        return self.ops[other]['op']['lut'] == o['op']['lut'] or (self.ops[other]['op']['lut'] < 0 and self.state[other] != 'active')

    def submit(self, i):
        t = self.ops[i]['type']
        groups = self.group[t]
        if None not in groups: return False
        g = self.next_group[t] if groups == [None, None] else groups.index(None)
        groups[g], self.slot[i], self.state[i], self.tail[t] = i, g, 'pending', i
        if self.ready(i): self.start(i)
        return True

    def start(self, i):
        self.programming = i
        self.program(self.ops[i], self.slot[i])
        self.state[i] = 'programmed'
        self.event(i, 2)
        self.programming = None
        self.try_enable(i)

    def try_enable(self, i):
        if self.ops[i]['count'] == 0 and self.state.get(i) == 'programmed' and self.programming != i:
            self.state[i] = 'active'
            self.enable(self.ops[i], self.slot[i])
            self.event(i, 3)

    def event(self, i, kind):
        for index, wanted in self.ops[i]['consumers'] + [self.ops[i]['fused_parent']]:
            if index < 0 or wanted != kind: continue
            o = self.ops[index]
            if o['count'] == 0: raise ValueError('operation %d is counted below zero' % index)
            o['count'] -= 1
            if o['count'] == 0: self.try_enable(index)

    def dequeue(self, t):
        following = self.ops[self.tail[t]]['consumers'][t][0]
        if following >= 0 and following not in self.state: self.submit(following)

    def complete(self, t, g):
        i = self.group[t][g]
        if i is None or self.state[i] != 'active': raise ValueError('completion of an idle group')
        self.group[t][g], self.state[i] = None, 'done'
        self.next_group[t] = 1 - g
        self.completed += 1
        self.event(i, 1)
        other = self.group[t][1 - g]
        if other is not None and self.state[other] == 'pending' and self.ready(other): self.start(other)
        self.dequeue(t)

    def running(self):
        """Active operations in the order the hardware can finish them: oldest of each type."""
        out = []
        for t in range(6):
            for g in (self.next_group[t], 1 - self.next_group[t]):
                i = self.group[t][g]
                if i is not None and self.state[i] == 'active':
                    out.append((t, g, i))
                    break
        return out

# ----------------------------------------------------------------------------------------------------- register programs

CONFIGS = {'nv_full': ('registers_nv_full.json', 32), 'nv_small': ('registers_configurable.json', 8),
           'nv_small_256': ('registers_configurable.json', 8), 'nv_medium_512': ('registers_configurable.json', 16),
           'nv_small_256_full': ('registers_configurable.json', 8),
           'nv_medium_1024_full': ('registers_configurable.json', 32), 'nv_large': ('registers_configurable.json', 32)}
MC, CV, HW = 0, 1, 2                                    # memory type of a cube
INTERRUPT_BIT = {'SDP': 0, 'CDP': 2, 'PDP': 4, 'BDMA': 6, 'RUBIK': 8, 'CACC': 20}
ALL_SOURCES = 0x003f03ff
UNIT_OF = {'BDMA': 'BDMA', 'SDP': 'SDP', 'PDP': 'PDP', 'CDP': 'CDP', 'RUBIK': 'RBK'}

class Programmer:
    """Turns operations into register writes, keeping the state that software keeps: groups, loaded tables, masks."""
    def __init__(self, config, machine, network, clear=True):
        name, self.atom = CONFIGS[config]
        with open(os.path.join(HERE, '..', '..', '..', 'configs', 'registers', name)) as f: units = json.load(f)['units']
        self.fields = {}
        for unit, content in units.items():
            for register in content['registers']:
                self.fields[unit + '.' + register['name']] = {x['name']: (x['lsb'], x['msb'] - x['lsb'] + 1) for x in register['fields']}
        if 'CMAC_B.D_MISC_CFG' not in self.fields:
            for r in ('S_POINTER', 'D_OP_ENABLE', 'D_MISC_CFG'): self.fields['CMAC_B.' + r] = self.fields['CMAC_A.' + r]
        self.config, self.machine, self.network, self.clear = config, machine, network, clear
        self.program, self.marked = [], False
        self.group = dict.fromkeys(['CONV', 'SDP', 'SDP_RDMA', 'PDP', 'PDP_RDMA', 'CDP', 'BDMA', 'RUBIK'], 0)
        self.mask = None

    # -- helpers
    def write(self, register, value):
        if register not in self.fields: raise ValueError('%s has no register %s' % (self.config, register))
        self.program.append([register, value & 0xffffffff])

    def put(self, register, **values):
        word = 0
        for name, value in values.items():
            lsb, width = self.fields[register][name]
            word |= (int(value) & ((1 << width) - 1)) << lsb
        self.write(register, word)

    def address(self, cube): return self.machine.address_of(self.network.task, cube['address']) + cube['offset']

    def wide(self, register_high, register_low, address):
        self.write(register_high, address >> 32)
        self.write(register_low, address)

    def take(self, unit):
        """The group the next operation of this unit uses; the hardware alternates."""
        g = self.group[unit]
        self.group[unit] ^= 1
        return g

    # -- one operation: returns what enabling it needs
    def prepare(self, o):
        kind = o['kind']
        unit = dict(o, group=self.take(kind))
        if kind == 'SDP': unit['rdma'] = self.sdp_needs_rdma(o)
        if kind == 'PDP': unit['rdma'] = o['surface']['src']['type'] != HW
        if unit.get('rdma'): unit['rdma_group'] = self.take(kind + '_RDMA')
        elif kind in ('SDP', 'PDP'): unit['rdma_group'] = self.group[kind + '_RDMA']
        self.select(unit)
        getattr(self, 'program_' + kind.lower())(unit, o['op'], o['surface'])
        return unit

    def select(self, u):
        g = u['group']
        if u['kind'] == 'CONV':
            for unit in ('CACC', 'CMAC_A', 'CMAC_B', 'CSC', 'CDMA'): self.write(unit + '.S_POINTER', g)
        elif u['kind'] in ('SDP', 'PDP'):
            self.write(u['kind'] + '.S_POINTER', g)
            self.write(u['kind'] + '_RDMA.S_POINTER', u['rdma_group'])
        elif u['kind'] == 'CDP':
            self.write('CDP.S_POINTER', g)
            self.write('CDP_RDMA.S_POINTER', g)
        elif u['kind'] == 'RUBIK': self.write('RBK.S_POINTER', g)

    def enable(self, u):
        self.select(u)
        if u['kind'] == 'CONV': units = ['CACC', 'CMAC_A', 'CMAC_B', 'CSC', 'CDMA']
        elif u['kind'] == 'BDMA':
            self.write('BDMA.CFG_LAUNCH%d' % u['group'], 1)
            return
        elif u['kind'] == 'RUBIK': units = ['RBK']
        elif u['kind'] == 'CDP': units = ['CDP_RDMA', 'CDP']
        else: units = ([u['kind'] + '_RDMA'] if u['rdma'] else []) + [u['kind']]
        for unit in units: self.write(unit + '.D_OP_ENABLE', 1)

    @staticmethod
    def sdp_needs_rdma(o):
        return o['surface']['src']['type'] != HW or any(o['op'][x]['enable'] and o['op'][x]['mode'] != 0 for x in ('x1', 'x2', 'y'))

    # -- convolution
    def program_conv(self, u, op, s):
        w, put, src, dst = self.write, self.put, s['src'], s['dst']
        K, ow, oh = dst['channel'], dst['width'], dst['height']
        feature = op['data_format'] == 36
        in_format = 0 if feature else 1
        base = self.address(src) if src['type'] != HW else 0
        weights = self.address(s['weight']) if s['weight']['address'] >= 0 else 0
        out = self.address(dst) if dst['address'] >= 0 else 0

        put('CACC.D_MISC_CFG', CONV_MODE=op['conv_mode'], PROC_PRECISION=op['out_precision'])
        put('CACC.D_DATAOUT_SIZE_0', DATAOUT_WIDTH=ow - 1, DATAOUT_HEIGHT=oh - 1)
        put('CACC.D_DATAOUT_SIZE_1', DATAOUT_CHANNEL=K - 1)
        w('CACC.D_DATAOUT_ADDR', out)
        w('CACC.D_BATCH_NUMBER', op['batch'] - 1)
        w('CACC.D_LINE_STRIDE', dst['line_stride'])
        w('CACC.D_SURF_STRIDE', dst['surf_stride'])
        single = ow == 1 and oh == 1
        put('CACC.D_DATAOUT_MAP', LINE_PACKED=single, SURF_PACKED=single)
        w('CACC.D_CLIP_CFG', op['out_cvt']['truncate'])
        for unit in ('CMAC_A', 'CMAC_B'): put(unit + '.D_MISC_CFG', CONV_MODE=op['conv_mode'], PROC_PRECISION=op['out_precision'])

        keep = dict(DATA_REUSE=op['data_reuse'], WEIGHT_REUSE=op['weight_reuse'], SKIP_DATA_RLS=op['skip_data_rls'],
                    SKIP_WEIGHT_RLS=op['skip_weight_rls'])
        put('CSC.D_MISC_CFG', CONV_MODE=op['conv_mode'], IN_PRECISION=op['out_precision'], PROC_PRECISION=op['out_precision'], **keep)
        put('CSC.D_DATAIN_FORMAT', DATAIN_FORMAT=in_format)
        put('CSC.D_DATAIN_SIZE_EXT_0', DATAIN_WIDTH_EXT=op['csc_width'] - 1, DATAIN_HEIGHT_EXT=op['csc_height'] - 1)
        put('CSC.D_DATAIN_SIZE_EXT_1', DATAIN_CHANNEL_EXT=op['csc_channel'] - 1)
        put('CSC.D_BATCH_NUMBER', BATCHES=op['batch'] - 1)
        put('CSC.D_POST_Y_EXTENSION', Y_EXTENSION=op['post_extension'])
        put('CSC.D_ENTRY_PER_SLICE', ENTRIES=op['entry_per_slice'] - 1)
        put('CSC.D_WEIGHT_FORMAT', WEIGHT_FORMAT=op['weight_format'])
        put('CSC.D_WEIGHT_SIZE_EXT_0', WEIGHT_WIDTH_EXT=op['kernel_width'] - 1, WEIGHT_HEIGHT_EXT=op['kernel_height'] - 1)
        put('CSC.D_WEIGHT_SIZE_EXT_1', WEIGHT_CHANNEL_EXT=op['kernel_channel'] - 1, WEIGHT_KERNEL=K - 1)
        w('CSC.D_WEIGHT_BYTES', s['weight']['size'])
        w('CSC.D_WMB_BYTES', s['mask']['size'])
        put('CSC.D_DATAOUT_SIZE_0', DATAOUT_WIDTH=op['cmac_width'] - 1, DATAOUT_HEIGHT=op['cmac_height'] - 1)
        put('CSC.D_DATAOUT_SIZE_1', DATAOUT_CHANNEL=K - 1)
        put('CSC.D_ATOMICS', ATOMICS=ow * oh - 1)
        put('CSC.D_RELEASE', RLS_SLICES=op['release'] - 1)
        direct = op['conv_mode'] == 0
        put('CSC.D_CONV_STRIDE_EXT', CONV_X_STRIDE_EXT=op['stride_x'] - 1 if direct else 0, CONV_Y_STRIDE_EXT=op['stride_y'] - 1 if direct else 0)
        put('CSC.D_DILATION_EXT', X_DILATION_EXT=op['dilation_x'] - 1, Y_DILATION_EXT=op['dilation_y'] - 1)
        put('CSC.D_ZERO_PADDING', PAD_LEFT=op['pad_left'] if direct else 0, PAD_TOP=op['pad_top'] if direct else 0)
        put('CSC.D_ZERO_PADDING_VALUE', PAD_VALUE=op['pad_value'])
        put('CSC.D_BANK', DATA_BANK=op['data_bank'] - 1, WEIGHT_BANK=op['weight_bank'] - 1)
        w('CSC.D_PRA_CFG', op['pra_truncate'])

        put('CDMA.D_MISC_CFG', CONV_MODE=op['conv_mode'], IN_PRECISION=op['in_precision'], PROC_PRECISION=op['out_precision'], **keep)
        put('CDMA.D_DATAIN_FORMAT', DATAIN_FORMAT=in_format, PIXEL_FORMAT=0 if feature else op['data_format'],
            PIXEL_MAPPING=op['pixel_mapping'], PIXEL_SIGN_OVERRIDE=op['pixel_override'])
        put('CDMA.D_DATAIN_SIZE_0', DATAIN_WIDTH=src['width'] - 1, DATAIN_HEIGHT=src['height'] - 1)
        put('CDMA.D_DATAIN_SIZE_1', DATAIN_CHANNEL=src['channel'] - 1)
        put('CDMA.D_DATAIN_SIZE_EXT_0', DATAIN_WIDTH_EXT=op['csc_width'] - 1, DATAIN_HEIGHT_EXT=op['csc_height'] - 1)
        if self.clear: w('CDMA.D_PIXEL_OFFSET', 0)
        put('CDMA.D_DAIN_RAM_TYPE', DATAIN_RAM_TYPE=src['type'] == MC)
        self.wide('CDMA.D_DAIN_ADDR_HIGH_0', 'CDMA.D_DAIN_ADDR_LOW_0', base)
        self.wide('CDMA.D_DAIN_ADDR_HIGH_1', 'CDMA.D_DAIN_ADDR_LOW_1', base + s['offset_u'])
        w('CDMA.D_LINE_STRIDE', src['line_stride'])
        w('CDMA.D_SURF_STRIDE', src['surf_stride'])
        w('CDMA.D_LINE_UV_STRIDE', s['line_uv_stride'])
        put('CDMA.D_DAIN_MAP', LINE_PACKED=src['line_stride'] == src['width'] * self.atom,
            SURF_PACKED=src['surf_stride'] == src['width'] * src['height'] * self.atom)
        if self.clear:
            w('CDMA.D_RESERVED_X_CFG', 0)
            w('CDMA.D_RESERVED_Y_CFG', 0)
        put('CDMA.D_BATCH_NUMBER', BATCHES=op['batch'] - 1)
        w('CDMA.D_BATCH_STRIDE', op['batch_stride'])
        put('CDMA.D_ENTRY_PER_SLICE', ENTRIES=op['entry_per_slice'] - 1)
        put('CDMA.D_FETCH_GRAIN', GRAINS=op['fetch_grain'] - 1)
        put('CDMA.D_WEIGHT_FORMAT', WEIGHT_FORMAT=op['weight_format'])
        put('CDMA.D_WEIGHT_SIZE_0', BYTE_PER_KERNEL=op['bytes_per_kernel'] - 1)
        put('CDMA.D_WEIGHT_SIZE_1', WEIGHT_KERNEL=K - 1)
        put('CDMA.D_WEIGHT_RAM_TYPE', WEIGHT_RAM_TYPE=s['weight']['type'] == MC)
        self.wide('CDMA.D_WEIGHT_ADDR_HIGH', 'CDMA.D_WEIGHT_ADDR_LOW', weights)
        w('CDMA.D_WEIGHT_BYTES', s['weight']['size'])
        if op['weight_format'] == 1:
            self.wide('CDMA.D_WGS_ADDR_HIGH', 'CDMA.D_WGS_ADDR_LOW', self.address(s['groups']))
            self.wide('CDMA.D_WMB_ADDR_HIGH', 'CDMA.D_WMB_ADDR_LOW', self.address(s['mask']))
            w('CDMA.D_WMB_BYTES', s['mask']['size'])
        put('CDMA.D_MEAN_FORMAT', MEAN_FORMAT=op['mean_format'])
        if op['mean_format']:
            put('CDMA.D_MEAN_GLOBAL_0', MEAN_RY=op['mean_ry'], MEAN_GU=op['mean_gu'])
            put('CDMA.D_MEAN_GLOBAL_1', MEAN_BV=op['mean_bv'], MEAN_AX=op['mean_ax'])
        if op['in_cvt']['enable']:
            put('CDMA.D_CVT_CFG', CVT_EN=1, CVT_TRUNCATE=op['in_cvt']['truncate'])
            w('CDMA.D_CVT_OFFSET', op['in_cvt']['offset'])
            w('CDMA.D_CVT_SCALE', op['in_cvt']['scale'])
        else: put('CDMA.D_CVT_CFG', CVT_EN=0)
        put('CDMA.D_CONV_STRIDE', CONV_X_STRIDE=op['stride_x'] - 1, CONV_Y_STRIDE=op['stride_y'] - 1)
        put('CDMA.D_ZERO_PADDING', PAD_LEFT=op['pad_left'], PAD_RIGHT=op['pad_right'], PAD_TOP=op['pad_top'], PAD_BOTTOM=op['pad_bottom'])
        put('CDMA.D_ZERO_PADDING_VALUE', PAD_VALUE=op['pad_value'])
        put('CDMA.D_BANK', DATA_BANK=op['data_bank'] - 1, WEIGHT_BANK=op['weight_bank'] - 1)

    # -- SDP
    def program_sdp(self, u, op, s):
        w, put = self.write, self.put
        src, dst = s['src'], s['dst']
        flying, to_memory = src['type'] == HW, dst['type'] != HW
        wants = {x: op[x]['enable'] and op[x]['type'] != 0 and op[x]['mode'] != 0 for x in ('x1', 'x2', 'y')}
        proc = 0 if (op['src_precision'], op['dst_precision']) == (1, 0) else op['src_precision']

        put('SDP_RDMA.D_FEATURE_MODE_CFG', FLYING_MODE=0)
        for letter in 'BNE': put('SDP_RDMA.D_%sRDMA_CFG' % letter, **{letter + 'RDMA_DISABLE': 0})
        put('SDP_RDMA.D_FEATURE_MODE_CFG', FLYING_MODE=flying, WINOGRAD=op['conv_mode'], IN_PRECISION=op['src_precision'],
            OUT_PRECISION=op['dst_precision'], PROC_PRECISION=proc, BATCH_NUMBER=op['batch'] - 1)
        if u['rdma']:
            w('SDP_RDMA.D_DATA_CUBE_WIDTH', src['width'] - 1)
            w('SDP_RDMA.D_DATA_CUBE_HEIGHT', src['height'] - 1)
            w('SDP_RDMA.D_DATA_CUBE_CHANNEL', src['channel'] - 1)
            if not flying:
                self.wide('SDP_RDMA.D_SRC_BASE_ADDR_HIGH', 'SDP_RDMA.D_SRC_BASE_ADDR_LOW', self.address(src))
                w('SDP_RDMA.D_SRC_LINE_STRIDE', src['line_stride'])
                w('SDP_RDMA.D_SRC_SURFACE_STRIDE', src['surf_stride'])
                w('SDP_RDMA.D_SRC_DMA_CFG', src['type'] == MC)
            for x, letter, name in (('x1', 'B', 'BS'), ('x2', 'N', 'BN'), ('y', 'E', 'EW')):
                cube = s[x]
                use = {0: 0, 1: 0, 2: 1, 3: 2}[op[x]['type']]
                put('SDP_RDMA.D_%sRDMA_CFG' % letter, **{letter + 'RDMA_DISABLE': not wants[x], letter + 'RDMA_DATA_USE': use,
                    letter + 'RDMA_DATA_SIZE': op[x]['precision'] != 0, letter + 'RDMA_DATA_MODE': op[x]['mode'] != 1,
                    letter + 'RDMA_RAM_TYPE': cube['type'] == MC})
                if wants[x]:
                    self.wide('SDP_RDMA.D_%s_BASE_ADDR_HIGH' % name, 'SDP_RDMA.D_%s_BASE_ADDR_LOW' % name, self.address(cube))
                    w('SDP_RDMA.D_%s_LINE_STRIDE' % name, cube['line_stride'])
                    w('SDP_RDMA.D_%s_SURFACE_STRIDE' % name, cube['surf_stride'])
        if op['lut'] >= 0: self.load_lut('SDP', op['lut'], op['src_precision'])
        w('SDP.D_DATA_CUBE_WIDTH', src['width'] - 1)
        w('SDP.D_DATA_CUBE_HEIGHT', src['height'] - 1)
        w('SDP.D_DATA_CUBE_CHANNEL', src['channel'] - 1)
        if to_memory:
            self.wide('SDP.D_DST_BASE_ADDR_HIGH', 'SDP.D_DST_BASE_ADDR_LOW', self.address(dst))
            w('SDP.D_DST_LINE_STRIDE', dst['line_stride'])
            w('SDP.D_DST_SURFACE_STRIDE', dst['surf_stride'])
        for x, name in (('x1', 'BS'), ('x2', 'BN')):
            o = op[x]
            layer = o['mode'] == 0
            put('SDP.D_DP_%s_CFG' % name, **{name + '_BYPASS': not o['enable'], name + '_ALU_BYPASS': o['type'] in (0, 1),
                name + '_ALU_ALGO': o['alu'], name + '_MUL_BYPASS': o['type'] in (0, 2), name + '_MUL_PRELU': o['act'] == 3,
                name + '_RELU_BYPASS': o['act'] != 1})
            if o['enable']:
                if o['type'] in (2, 3):
                    put('SDP.D_DP_%s_ALU_CFG' % name, **{name + '_ALU_SRC': not layer, name + '_ALU_SHIFT_VALUE': o['shift']})
                if layer:
                    w('SDP.D_DP_%s_ALU_SRC_VALUE' % name, o['alu_operand'])
                    w('SDP.D_DP_%s_MUL_SRC_VALUE' % name, o['mul_operand'])
                put('SDP.D_DP_%s_MUL_CFG' % name, **{name + '_MUL_SRC': not layer, name + '_MUL_SHIFT_VALUE': o['truncate']})
        o = op['y']
        layer = o['mode'] == 0
        put('SDP.D_DP_EW_CFG', EW_BYPASS=not o['enable'], EW_ALU_BYPASS=o['type'] in (0, 1), EW_ALU_ALGO=o['alu'],
            EW_MUL_BYPASS=o['type'] in (0, 2), EW_MUL_PRELU=o['act'] == 3, EW_LUT_BYPASS=o['act'] != 2)
        if o['enable']:
            for part, members in (('ALU', (2, 3)), ('MUL', (1, 3))):
                if o['type'] not in members: continue
                cvt = o['alu_cvt' if part == 'ALU' else 'mul_cvt']
                put('SDP.D_DP_EW_%s_CFG' % part, **{'EW_%s_SRC' % part: not layer, 'EW_%s_CVT_BYPASS' % part: not cvt['enable']})
                if layer: w('SDP.D_DP_EW_%s_SRC_VALUE' % part, o['alu_operand' if part == 'ALU' else 'mul_operand'])
                else:
                    w('SDP.D_DP_EW_%s_CVT_OFFSET_VALUE' % part, cvt['offset'])
                    w('SDP.D_DP_EW_%s_CVT_SCALE_VALUE' % part, cvt['scale'])
                    w('SDP.D_DP_EW_%s_CVT_TRUNCATE_VALUE' % part, cvt['truncate'])
            w('SDP.D_DP_EW_TRUNCATE_VALUE', o['truncate'])
        put('SDP.D_FEATURE_MODE_CFG', FLYING_MODE=flying, OUTPUT_DST=not to_memory, WINOGRAD=op['conv_mode'], BATCH_NUMBER=op['batch'] - 1)
        w('SDP.D_DST_DMA_CFG', dst['type'] == MC)
        if op['batch'] > 1: w('SDP.D_DST_BATCH_STRIDE', op['batch_stride'])
        put('SDP.D_DATA_FORMAT', PROC_PRECISION=proc, OUT_PRECISION=op['dst_precision'])
        w('SDP.D_CVT_OFFSET', op['out_cvt']['offset'])
        w('SDP.D_CVT_SCALE', op['out_cvt']['scale'])
        w('SDP.D_CVT_SHIFT', op['out_cvt']['truncate'])

    # -- PDP
    def program_pdp(self, u, op, s):
        w, put, src, dst = self.write, self.put, s['src'], s['dst']
        less = lambda v: max(v, 1) - 1
        partial_in = dict(PARTIAL_WIDTH_IN_FIRST=less(op['in_first']), PARTIAL_WIDTH_IN_MID=less(op['in_mid']), PARTIAL_WIDTH_IN_LAST=less(op['in_last']))
        if u['rdma']:
            w('PDP_RDMA.D_DATA_CUBE_IN_WIDTH', src['width'] - 1)
            w('PDP_RDMA.D_DATA_CUBE_IN_HEIGHT', src['height'] - 1)
            w('PDP_RDMA.D_DATA_CUBE_IN_CHANNEL', src['channel'] - 1)
            if self.clear: w('PDP_RDMA.D_FLYING_MODE', 1)
            self.wide('PDP_RDMA.D_SRC_BASE_ADDR_HIGH', 'PDP_RDMA.D_SRC_BASE_ADDR_LOW', self.address(src))
            w('PDP_RDMA.D_SRC_LINE_STRIDE', src['line_stride'])
            w('PDP_RDMA.D_SRC_SURFACE_STRIDE', src['surf_stride'])
            put('PDP_RDMA.D_DATA_FORMAT', INPUT_DATA=op['precision'])
            put('PDP_RDMA.D_SRC_RAM_CFG', SRC_RAM_TYPE=src['type'] == MC)
            put('PDP_RDMA.D_OPERATION_MODE_CFG', SPLIT_NUM=op['splits'] - 1)
            put('PDP_RDMA.D_POOLING_KERNEL_CFG', KERNEL_WIDTH=op['kernel_width'], KERNEL_STRIDE_WIDTH=op['stride_x'] - 1)
            put('PDP_RDMA.D_POOLING_PADDING_CFG', PAD_WIDTH=op['pad_left'])
            put('PDP_RDMA.D_PARTIAL_WIDTH_IN', **partial_in)
        elif op['splits'] != 1: raise ValueError('a pooling fed by SDP cannot be split')
        w('PDP.D_DATA_CUBE_IN_WIDTH', src['width'] - 1)
        w('PDP.D_DATA_CUBE_IN_HEIGHT', src['height'] - 1)
        w('PDP.D_DATA_CUBE_IN_CHANNEL', src['channel'] - 1)
        w('PDP.D_DATA_CUBE_OUT_WIDTH', dst['width'] - 1)
        w('PDP.D_DATA_CUBE_OUT_HEIGHT', dst['height'] - 1)
        w('PDP.D_DATA_CUBE_OUT_CHANNEL', dst['channel'] - 1)
        put('PDP.D_OPERATION_MODE_CFG', POOLING_METHOD=op['mode'], FLYING_MODE=src['type'] != HW, SPLIT_NUM=op['splits'] - 1)
        put('PDP.D_PARTIAL_WIDTH_IN', **partial_in)
        put('PDP.D_PARTIAL_WIDTH_OUT', PARTIAL_WIDTH_OUT_FIRST=less(op['out_first']), PARTIAL_WIDTH_OUT_MID=less(op['out_mid']),
            PARTIAL_WIDTH_OUT_LAST=less(op['out_last']))
        put('PDP.D_POOLING_KERNEL_CFG', KERNEL_WIDTH=op['kernel_width'], KERNEL_HEIGHT=op['kernel_height'],
            KERNEL_STRIDE_WIDTH=op['stride_x'] - 1, KERNEL_STRIDE_HEIGHT=op['stride_y'] - 1)
        for side in ('WIDTH', 'HEIGHT'):
            size = op['kernel_' + side.lower()] + 1
            # 1/size: 16 fraction bits, cut off; fp16: 17-bit float with one more exponent bit offset, cut off
            w('PDP.D_RECIP_KERNEL_' + side, fp17_reciprocal(size) if op['precision'] == 2 else 0x10000 // size)
        put('PDP.D_POOLING_PADDING_CFG', PAD_LEFT=op['pad_left'], PAD_RIGHT=op['pad_right'], PAD_TOP=op['pad_top'], PAD_BOTTOM=op['pad_bottom'])
        for i, value in enumerate(op['pad_values']): w('PDP.D_POOLING_PADDING_VALUE_%d_CFG' % (i + 1), value)
        if u['rdma']:
            w('PDP.D_SRC_LINE_STRIDE', src['line_stride'])
            w('PDP.D_SRC_SURFACE_STRIDE', src['surf_stride'])
        out = self.address(dst) if dst['address'] >= 0 else 0
        self.wide('PDP.D_DST_BASE_ADDR_HIGH', 'PDP.D_DST_BASE_ADDR_LOW', out)
        w('PDP.D_DST_LINE_STRIDE', dst['line_stride'])
        w('PDP.D_DST_SURFACE_STRIDE', dst['surf_stride'])
        put('PDP.D_DST_RAM_CFG', DST_RAM_TYPE=dst['type'] == MC)
        put('PDP.D_DATA_FORMAT', INPUT_DATA=op['precision'])

    # -- CDP
    def program_cdp(self, u, op, s):
        w, put, src, dst = self.write, self.put, s['src'], s['dst']
        w('CDP_RDMA.D_DATA_CUBE_WIDTH', src['width'] - 1)
        w('CDP_RDMA.D_DATA_CUBE_HEIGHT', src['height'] - 1)
        w('CDP_RDMA.D_DATA_CUBE_CHANNEL', src['channel'] - 1)
        self.wide('CDP_RDMA.D_SRC_BASE_ADDR_HIGH', 'CDP_RDMA.D_SRC_BASE_ADDR_LOW', self.address(src))
        w('CDP_RDMA.D_SRC_LINE_STRIDE', src['line_stride'])
        w('CDP_RDMA.D_SRC_SURFACE_STRIDE', src['surf_stride'])
        put('CDP_RDMA.D_SRC_DMA_CFG', SRC_RAM_TYPE=src['type'] == MC)
        put('CDP_RDMA.D_DATA_FORMAT', INPUT_DATA=op['in_precision'])
        if op['lut'] >= 0: self.load_lut('CDP', op['lut'], op['in_precision'])
        self.wide('CDP.D_DST_BASE_ADDR_HIGH', 'CDP.D_DST_BASE_ADDR_LOW', self.address(dst))
        w('CDP.D_DST_LINE_STRIDE', dst['line_stride'])
        w('CDP.D_DST_SURFACE_STRIDE', dst['surf_stride'])
        put('CDP.D_DST_DMA_CFG', DST_RAM_TYPE=dst['type'] == MC)
        put('CDP.D_DATA_FORMAT', INPUT_DATA_TYPE=op['in_precision'])
        put('CDP.D_LRN_CFG', NORMALZ_LEN=(op['local_size'] - 1) // 2 - 1)
        for name, cvt in (('DATIN', op['in_cvt']), ('DATOUT', op['out_cvt'])):
            put('CDP.D_%s_OFFSET' % name, **{name + '_OFFSET': cvt['offset']})
            put('CDP.D_%s_SCALE' % name, **{name + '_SCALE': cvt['scale']})
            put('CDP.D_%s_SHIFTER' % name, **{name + '_SHIFTER': cvt['truncate']})
        put('CDP.D_FUNC_BYPASS', SQSUM_BYPASS=bool(op['bypass_sqsum']), MUL_BYPASS=bool(op['bypass_mul']))

    # -- tables of SDP and CDP
    def load_lut(self, unit, index, precision):
        w, put, t = self.write, self.put, self.network.luts[index]
        for table, name in ((0, 'le'), (1, 'lo')):
            put(unit + '.S_LUT_ACCESS_CFG', LUT_TABLE_ID=table, LUT_ACCESS_TYPE=1)
            for value in t[name]: put(unit + '.S_LUT_ACCESS_DATA', LUT_DATA=value)
        put(unit + '.S_LUT_CFG', LUT_LE_FUNCTION=t['method'], LUT_HYBRID_PRIORITY=t['hybrid_priority'],
            LUT_UFLOW_PRIORITY=t['uflow_priority'], LUT_OFLOW_PRIORITY=t['oflow_priority'])
        first = 'LUT_LE_INDEX_OFFSET' if t['method'] == 0 else 'LUT_LE_INDEX_SELECT'
        put(unit + '.S_LUT_INFO', **{first: t['le_offset'], 'LUT_LO_INDEX_SELECT': t['lo_offset']})
        for name in ('LE_START', 'LE_END', 'LO_START', 'LO_END'):
            value = t[name.lower()]
            if unit == 'SDP': w('SDP.S_LUT_' + name, value)
            else:
                w('CDP.S_LUT_%s_LOW' % name, value)
                put('CDP.S_LUT_%s_HIGH' % name, **{'LUT_%s_HIGH' % name: value >> 32})
        for name in ('LE', 'LO'):
            k = name.lower()
            put('%s.S_LUT_%s_SLOPE_SCALE' % (unit, name), **{'LUT_%s_SLOPE_UFLOW_SCALE' % name: t[k + '_uflow_scale'],
                'LUT_%s_SLOPE_OFLOW_SCALE' % name: t[k + '_oflow_scale']})
            if precision != 2:
                put('%s.S_LUT_%s_SLOPE_SHIFT' % (unit, name), **{'LUT_%s_SLOPE_UFLOW_SHIFT' % name: t[k + '_uflow_shift'],
                    'LUT_%s_SLOPE_OFLOW_SHIFT' % name: t[k + '_oflow_shift']})

    # -- BDMA, Rubik
    def program_bdma(self, u, op, s):
        w, put, task = self.write, self.put, self.network.task
        for i in range(s['num_transfers']):
            t = s['transfer%d' % i]
            self.wide('BDMA.CFG_SRC_ADDR_HIGH', 'BDMA.CFG_SRC_ADDR_LOW', self.machine.address_of(task, t['source']))
            self.wide('BDMA.CFG_DST_ADDR_HIGH', 'BDMA.CFG_DST_ADDR_LOW', self.machine.address_of(task, t['destination']))
            w('BDMA.CFG_LINE', t['line_size'] // 32 - 1)
            put('BDMA.CFG_CMD', SRC_RAM_TYPE=s['source_type'] == MC, DST_RAM_TYPE=s['destination_type'] == MC)
            w('BDMA.CFG_LINE_REPEAT', t['line_repeat'] - 1)
            w('BDMA.CFG_SRC_LINE', t['source_line'])
            w('BDMA.CFG_DST_LINE', t['destination_line'])
            w('BDMA.CFG_SURF_REPEAT', t['surface_repeat'] - 1)
            w('BDMA.CFG_SRC_SURF', t['source_surface'])
            w('BDMA.CFG_DST_SURF', t['destination_surface'])
            w('BDMA.CFG_OP', 1)

    def program_rubik(self, u, op, s):
        w, put, src, dst = self.write, self.put, s['src'], s['dst']
        contract, split, merge = (op['mode'] == m for m in range(3))
        put('RBK.D_MISC_CFG', RUBIK_MODE=op['mode'], IN_PRECISION=op['precision'])
        put('RBK.D_DAIN_RAM_TYPE', DATAIN_RAM_TYPE=src['type'] == MC)
        put('RBK.D_DATAIN_SIZE_0', DATAIN_WIDTH=src['width'] - 1, DATAIN_HEIGHT=src['height'] - 1)
        put('RBK.D_DATAIN_SIZE_1', DATAIN_CHANNEL=src['channel'] - 1)
        self.wide('RBK.D_DAIN_ADDR_HIGH', 'RBK.D_DAIN_ADDR_LOW', self.address(src))
        if merge: w('RBK.D_DAIN_PLANAR_STRIDE', src['plane_stride'])
        else: w('RBK.D_DAIN_SURF_STRIDE', src['surf_stride'])
        w('RBK.D_DAIN_LINE_STRIDE', src['line_stride'])
        put('RBK.D_DAOUT_RAM_TYPE', DATAOUT_RAM_TYPE=dst['type'] == MC)
        put('RBK.D_DATAOUT_SIZE_1', DATAOUT_CHANNEL=dst['channel'] - 1)
        self.wide('RBK.D_DAOUT_ADDR_HIGH', 'RBK.D_DAOUT_ADDR_LOW', self.address(dst))
        w('RBK.D_DAOUT_LINE_STRIDE', dst['line_stride'])
        if split: w('RBK.D_DAOUT_PLANAR_STRIDE', dst['plane_stride'])
        else: w('RBK.D_DAOUT_SURF_STRIDE', dst['surf_stride'])
        if contract:
            eb = 1 if op['precision'] == 0 else 2
            w('RBK.D_CONTRACT_STRIDE_0', -(-dst['channel'] * eb // 32) * src['surf_stride'])
            w('RBK.D_CONTRACT_STRIDE_1', op['stride_y'] * dst['line_stride'])
            put('RBK.D_DECONV_STRIDE', DECONV_X_STRIDE=op['stride_x'] - 1, DECONV_Y_STRIDE=op['stride_y'] - 1)

    # -- the whole task
    def emit(self, mode='overlap', limit=None):
        """Writes and waits of all chains, one chain running at a time."""
        ops, chains = self.network.operations, self.network.chains()[:limit]
        def set_mask(last):
            mask = ALL_SOURCES & ~(3 << INTERRUPT_BIT[last])
            if mask != self.mask:
                self.write('GLB.S_INTR_MASK', mask)
                self.mask = mask
        def needs_idle(o, running):
            """Shared tables may only be written while no operation of that unit runs."""
            return o['kind'] in ('SDP', 'CDP') and o['op']['lut'] >= 0 and any(ops[i]['kind'] == o['kind'] for i in running)
        prepared, bounds = [], []
        for k, chain in enumerate(chains):
            upstream_first = sorted(chain, key=lambda i: ops[i]['type'])
            prepared += [self.prepare(ops[i]) for i in upstream_first if i not in [p['index'] for p in prepared]]
            units = {p['index']: p for p in prepared}
            set_mask(ops[chain[0]]['kind'])
            for i in chain: self.enable(units[i])
            if not self.marked:
                self.program.append(['MARK', 't0'])
                self.marked = True
            prepared = []
            if mode == 'overlap' and k + 1 < len(chains):
                for i in sorted(chains[k + 1], key=lambda i: ops[i]['type']):
                    if needs_idle(ops[i], chain): break
                    prepared.append(self.prepare(ops[i]))
            last = units[chain[0]]
            self.program.append(['WAIT_INTR', '%s_%d' % (last['kind'], last['group'])])
            bounds.append(chain)
        return self.program

    def emit_driver(self, limit=None):
        """Writes in the order of the dynamic driver, where chains that can run at once end in the same unit.

        Differs from overlap: up to two operations of each type are programmed ahead, and an SDP is enabled as soon as its own
        count allows, before its convolution.
        """
        ops, units = self.network.operations, {}
        def program(o, group):
            self.group[o['kind']] = group
            units[o['index']] = self.prepare(ops[o['index']])
        order = self.network.chains()
        self.mask = ALL_SOURCES & ~(3 << INTERRUPT_BIT[ops[order[0][0]]['kind']])
        self.write('GLB.S_INTR_MASK', self.mask)          # before anything can finish
        driver = Driver(self.network, program, lambda o, group: self.enable(units[o['index']]))
        chains, done = {c[0]: c for c in order}, 0
        self.program.append(['MARK', 't0'])
        while driver.completed < len(ops) and done != limit:
            running = [c for head, c in chains.items() if all(driver.state.get(i) == 'active' for i in c)]
            if len(running) > 1:                          # of one kind they finish in the hardware's order, else the order is undefined
                kinds = {ops[c[0]]['type'] for c in running}
                if len(kinds) > 1: raise ValueError('%d chains could run at once: the order of completion is not known' % len(running))
                running.sort(key=lambda c: driver.slot[c[0]] != driver.next_group[ops[c[0]]['type']])
            last = ops[running[0][0]]
            mask = ALL_SOURCES & ~(3 << INTERRUPT_BIT[last['kind']])
            if mask != self.mask:
                self.write('GLB.S_INTR_MASK', mask)
                self.mask = mask
            self.program.append(['WAIT_INTR', '%s_%d' % (last['kind'], driver.slot[last['index']])])
            for i in sorted(running[0], key=lambda i: ops[i]['type']): driver.complete(ops[i]['type'], driver.slot[i])
            done += 1
        return self.program

def fp17_reciprocal(n):
    """1/n as the pooling unit's 17-bit float (sign, 6 exponent bits with bias 31, 10 fraction bits), cut off."""
    exponent, value = 31, 1.0 / n
    while value < 1.0: value *= 2; exponent -= 1
    return exponent << 10 | int((value - 1.0) * 1024)

# ----------------------------------------------------------------------------------------------------------- EMU tasks

def half(x): return struct.unpack('<e', struct.pack('<e', x))[0]

def f32(x): return struct.unpack('<f', struct.pack('<f', x))[0]

def saturate8(x): return max(-128, min(127, int(x)))

def run_emu_task(machine, task):
    """Executes a host task (power, softmax) on the memory image."""
    view = lambda index: machine.view(task, index)
    ops_index, buffers_index, count = struct.unpack_from('<hhH', view(0))
    ops, buffers = view(ops_index), view(buffers_index)
    old = len(ops) < 24 * count                                        # first edition of the host interface: 16 bytes an operation
    for i in range(count):
        at = i * (16 if old else 24)
        kind, scale_in, scale_out = ops[at], 1.0, 1.0
        if not old: scale_in, scale_out = struct.unpack_from('<ff', ops, at + 4)
        parameters = at + (1 if old else 12)
        cubes = []
        for b in (0, 256):
            if old:
                index, size, fmt, w, h, c, line, surf = struct.unpack_from('<hIHHHHII', buffers, i * 512 + b)
                fmt, offset = {0: 0, 1: 2, 2: 3}[fmt], 0
            else: index, offset, size, fmt, w, h, c, line, surf = struct.unpack_from('<hIIHHHHII', buffers, i * 512 + b)
            cubes.append((view(index)[offset:], fmt, w, h, c, line, surf))
        (src, fmt, w, h, c, line, surf), (dst, _, _, _, _, dst_line, dst_surf) = cubes
        if fmt not in (0, 1, 3): raise ValueError('host operation on element format %d' % fmt)
        atom, eb = (8 if fmt == 1 else 32), (2 if fmt == 3 else 1)     # 0 int8, 1 int8 in 8-byte atoms, 3 fp16
        per = atom // eb
        def get(o): return struct.unpack_from('<e', src, o)[0] if eb == 2 else f32(struct.unpack_from('<b', src, o)[0] * scale_in)
        def put(o, v):
            if eb == 2: struct.pack_into('<e', dst, o, v)
            else: struct.pack_into('<b', dst, o, saturate8(f32(v / scale_out)))
        if kind == 0:
            power, scale, shift = struct.unpack_from('<fff', ops, parameters)
            for k in range(c):
                for y in range(h):
                    for x in range(w):
                        place = lambda a, b: k // per * b + y * a + x * atom + k % per * eb
                        put(place(dst_line, dst_surf), f32(f32(shift + f32(scale * get(place(line, surf)))) ** power))
        elif kind == 1:                                                # along the channels, which lie side by side
            values = [half(get(k * eb)) for k in range(c)]
            top = max(values)
            e = [f32(math.exp(f32(v - top))) for v in values]
            total = 0.0
            for x in e: total = f32(total + x)
            for k in range(c): put(k * eb, half(f32(e[k] / total)))
        else: raise ValueError('unknown host operation %d' % kind)

# ------------------------------------------------------------------------------------------------------- case, comparison

def build_case(path, config, task_number=None, elements=None, raw=None, seed=None, mode='overlap', clear=True, dump=False, crc=None,
               memory=None, chains=None, pixels=None):
    loadable = Loadable.read(path)
    machine = Machine(loadable)
    for memory_entry, tensor in loadable.bound(INPUT):
        size = memory_entry['size']
        if raw is not None: machine.data[memory_entry['id']][:len(raw)] = raw[:size]
        else:
            data = elements_of_pixels(tensor, pixels) if pixels is not None else elements if elements is not None else random_elements(tensor, 1 if seed is None else seed)
            machine.data[memory_entry['id']][:] = pack_tensor(tensor, data, size)
    dla = [t for t in loadable.tasks if t['interface'] == DLA]
    task = loadable.tasks[task_number] if task_number is not None else dla[0]
    for t in loadable.tasks:                                        # host tasks that come before
        if t['id'] >= task['id']: break
        if t['interface'] == EMU: run_emu_task(machine, t)
    network = Network(machine, task)
    programmer = Programmer(config, machine, network, clear)
    program = programmer.emit_driver(chains) if mode == 'driver' else programmer.emit(mode, chains)
    fills = []
    for m in loadable.memories:
        content = bytes(machine.data[m['id']])
        used = content.rstrip(b'\0')
        if used: fills.append(dict(addr='%x' % machine.base[m['id']], bytes=len(used), hex=used.hex()))
    targets = output_regions(loadable, machine, task, chains)
    regions = []
    for m in targets:
        base, size = machine.base[m['id']], m['size']
        step = 512 if dump else size
        for at in range(0, size, step):
            region = dict(addr='%x' % (base + at), bytes=min(step, size - at))
            if crc is not None and not dump: region['crc32'] = crc
            regions.append(region)
    case = dict(id='%s.%s' % (config, os.path.splitext(os.path.basename(path))[0]), config=config,
                memory=memory or dict(read_latency=32, beat_interval=1, write_latency=8),
                layers=[dict(operations=chain, kinds=[network.operations[i]['kind'] for i in chain]) for chain in network.chains()],
                memory_fill=fills, program=program, finished=True, expected=dict(output=regions))
    return case, loadable, machine, network

def output_regions(loadable, machine, task, chains=None):
    """Output memories a DLA task writes; where the task's result goes on to a host task, the memory that task reads."""
    bound = [m for m, _ in loadable.bound(OUTPUT)]
    network = Network(machine, task)
    written = set()
    for o in network.operations:
        cubes = [o['surface'].get('dst')] if o['kind'] != 'BDMA' else []
        for cube in cubes:
            if cube and cube['type'] != HW and cube['address'] >= 0:
                written.add(loadable.addresses[task['addresses'][cube['address']]]['memory'])
        if o['kind'] == 'BDMA':
            for i in range(o['surface']['num_transfers']):
                written.add(loadable.addresses[task['addresses'][o['surface']['transfer%d' % i]['destination']]]['memory'])
    direct = [m for m in bound if m['id'] in written]
    if direct and chains is None: return direct
    last = network.operations[network.chains()[:chains][-1][0]]['surface']['dst']
    return [m for m in loadable.memories if m['id'] == loadable.addresses[task['addresses'][last['address']]]['memory']]

def read_golden(path):
    """A golden image file: header, then all elements in c, h, w order, read with the element layout the header names."""
    with open(path, 'rb') as f: data = f.read()
    magic, version, fmt, w, h, c, line, surf, size = struct.unpack_from('<4s8I', data, 0)
    if magic != b'DIMG': raise ValueError(path + ': not an image file')
    eb = (len(data) - 36) // (w * h * c)
    return dict(w=w, h=h, c=c, line=line, surf=surf, size=size, eb=eb, format=fmt, data=data[36:])

def compare_golden(memory, golden):
    """Number of different elements. The files always use 32-byte atoms, also those of the 8-byte configuration."""
    eb, per, at, wrong = golden['eb'], 32 // golden['eb'], 0, 0
    for c in range(golden['c']):
        for h in range(golden['h']):
            for w in range(golden['w']):
                o = c // per * golden['surf'] + h * golden['line'] + w * 32 + c % per * eb
                wrong += memory[o:o + eb] != golden['data'][at:at + eb]
                at += eb
    return wrong

def memory_from_events(events):
    """Contiguous dump of the regions of an events file, from the first address on."""
    regions = sorted((int(r['addr'], 16), bytes.fromhex(r['hex'])) for r in events['output'])
    out = bytearray(regions[-1][0] + len(regions[-1][1]) - regions[0][0])
    for a, b in regions: out[a - regions[0][0]:a - regions[0][0] + len(b)] = b
    return bytes(out)

def describe(loadable):
    out = dict(version=loadable.version, tasks=loadable.tasks, submits=loadable.submits, events=loadable.events, memories=loadable.memories,
               addresses=loadable.addresses, tensors=loadable.tensors, relocations=loadable.relocations,
               blobs={k: {a: b for a, b in v.items() if a != 'data'} for k, v in loadable.blobs.items()}, networks=[])
    machine = Machine(loadable)
    for t in loadable.tasks:
        if t['interface'] != DLA: continue
        n = Network(machine, t)
        for o in n.operations:
            if o['kind'] == 'BDMA':
                for i in range(o['surface']['num_transfers'], 20): o['surface'].pop('transfer%d' % i)
        out['networks'].append(dict(task=t['id'], descriptor=n.descriptor, operations=n.operations, chains=n.chains(), luts=len(n.luts)))
    return out

def main():
    p = argparse.ArgumentParser(description='NVDLA loadables: list, and turn into register programs')
    p.add_argument('file')
    p.add_argument('--config', default='nv_full', choices=sorted(CONFIGS))
    p.add_argument('--case'); p.add_argument('--task', type=int); p.add_argument('--input'); p.add_argument('--nchw', action='store_true'); p.add_argument('--pixels')
    p.add_argument('--seed', type=int); p.add_argument('--mode', default='overlap', choices=('serial', 'overlap', 'driver'))
    p.add_argument('--no-clear', action='store_true'); p.add_argument('--dump', action='store_true'); p.add_argument('--check')
    p.add_argument('--chains', type=int); p.add_argument('--golden'); p.add_argument('--events')
    a = p.parse_args()
    if a.golden:
        with open(a.events) as f: memory = memory_from_events(json.load(f))
        golden = read_golden(a.golden)
        wrong, total = compare_golden(memory, golden), golden['w'] * golden['h'] * golden['c']
        print('%d of %d elements differ' % (wrong, total))
        return 1 if wrong else 0
    if not a.case:
        json.dump(describe(Loadable.read(a.file)), sys.stdout, indent=1)
        print()
        return 0
    raw = elements = pixels = None
    if a.pixels:
        with open(a.pixels, 'rb') as f: pixels = f.read()
    if a.input:
        with open(a.input, 'rb') as f: content = f.read()
        if a.nchw: elements = content
        else: raw = content
    case, *_ = build_case(a.file, a.config, a.task, elements, raw, a.seed, a.mode, not a.no_clear, a.dump, a.check, None, a.chains, pixels)
    with open(a.case, 'w') as f: json.dump(case, f)
    return 0

if __name__ == '__main__': sys.exit(main())
