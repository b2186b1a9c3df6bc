#!/usr/bin/env python3
"""dlasim loadable --check from outside: the rules of loadable_writing.md, held against check_loadable.py, which has the same rules.

usage: loadable_check_test.py DLASIM [Files | Broken | Drawn | Written] [--count N]

Files    compiled files, the public kernel tests, files of the driver's edges: the same findings by rule
Broken   every rule, broken on purpose in a file: it is found, and the place is named
Drawn    files with a byte changed at random
Written  a file of the compiler written again is read back as it was, and leaves the same outputs
"""
import collections
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from examples import some

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/hardware/models"))
import check_loadable  # noqa: E402
from check_loadable import Table  # noqa: E402

DLASIM = None
COUNT = 40
DATA = Path(os.environ.get("DLASIM_TEST_DATA", ROOT / "build/test-data"))
LINE = re.compile(r"^([EW]) (.+?) \(([\d.]+)\) (.+?): (.+)$")
TASKS, MEMORIES, ADDRESSES, BLOBS, TENSORS, SUBMITS = 1, 2, 3, 5, 6, 8  # slots of the root
OPERATIONS, SURFACES, GRAPH, TABLES = range(4)  # lists of a network descriptor
LISTS = {"operations": (OPERATIONS, 116), "surfaces": (SURFACES, 644), "graph": (GRAPH, 36)}
CUBE = {"type": (0, "H"), "address": (2, "h"), "offset": (4, "I"), "size": (8, "I"), "width": (12, "H"), "channels": (16, "H"), "line": (20, "I"), "plane": (28, "I")}
KINDS = check_loadable.KIND


def machine_of(path):
    found = re.search(r"nv_(small|large|full)", path.name)
    if found:
        return found[0]
    found = re.search(r"_(small|large)\.", path.name)
    return f"nv_{found[1]}" if found else "nv_full"


class File:
    """A loadable whose fields can be changed in place."""

    def __init__(self, path):
        self.bytes = bytearray(Path(path).read_bytes())

    def root(self):
        return Table(self.bytes, struct.unpack_from("<I", self.bytes, 0)[0])

    def entry(self, slot, i):
        return self.root().tables(slot)[i]

    def put(self, table, slot, code, value):
        assert table.has(slot), "the field is not in the file"
        struct.pack_into("<" + code, self.bytes, table.at + table.slots[slot], value)

    def drop(self, table, slot):
        layout = table.at - struct.unpack_from("<i", self.bytes, table.at)[0]
        struct.pack_into("<H", self.bytes, layout + 4 + 2 * slot, 0)

    def list_at(self, task, entry):
        """Where the bytes are that an entry of a task's list names."""
        address = self.entry(ADDRESSES, self.entry(TASKS, task).nums(3, "H")[entry])
        content = self.entry(MEMORIES, address.num(1, "H")).texts(5)[0]
        blob = next(b for b in self.root().tables(BLOBS) if b.has(0) and b.text(0) == content)
        return blob._vec(5)[0]

    def network_at(self, task=0):
        return self.list_at(task, 0)

    def at(self, what, i, offset, task=0):
        which, size = LISTS[what]
        return self.list_at(task, struct.unpack_from("<4h", self.bytes, self.network_at(task))[which]) + size * i + offset

    def operation(self, kind, number=0):
        """The position of an operation of a type."""
        count = struct.unpack_from("<H", self.bytes, self.network_at() + 30)[0]
        return [i for i in range(count) if self.bytes[self.at("graph", i, 3)] == KINDS.index(kind)][number]

    def set(self, what, i, offset, code, value):
        struct.pack_into("<" + code, self.bytes, self.at(what, i, offset), value)

    def cube(self, kind, cube, field, value, number=0):
        offset, code = CUBE[field]
        self.set("surfaces", self.operation(kind, number), 32 * cube + offset, code, value)

    def network(self, offset, code, value, task=0):
        struct.pack_into("<" + code, self.bytes, self.network_at(task) + offset, value)


def kind_field(kind, offset, code, value, number=0):
    return lambda f: f.set("operations", f.operation(kind, number), offset, code, value)


def cube_field(kind, cube, field, value, number=0):
    return lambda f: f.cube(kind, cube, field, value, number)


def network_field(offset, code, value):
    return lambda f: f.network(offset, code, value)


def entry_field(slot, i, field, code, value):
    return lambda f: f.put(f.entry(slot, i), field, code, value)


def graph_field(kind, offset, code, value, number=0):
    return lambda f: f.set("graph", f.operation(kind, number), offset, code, value)


def memory_with(flags):
    def find(f):
        return next(i for i, m in enumerate(f.root().tables(MEMORIES)) if m.num(2, "H") == flags)
    return find


def in_memory(flags, field, code, value):
    return lambda f: f.put(f.entry(MEMORIES, memory_with(flags)(f)), field, code, value)


def renamed(f):
    f.bytes[:] = bytes(f.bytes).replace(b"dep_graph", b"dep_grapX")


def one_letter(f):
    at = f.bytes.index(b"NVDA")
    f.bytes[at] = 0x58


def waits_for_itself(f):
    """The first SDP's end is what its convolution waits for."""
    conv, sdp = f.operation("CONV"), f.operation("SDP")
    struct.pack_into("<hB", f.bytes, f.at("graph", sdp, 8 + 4 * 1), conv, 1)
    struct.pack_into("<hB", f.bytes, f.at("graph", sdp, 8 + 4 * 2), -1, 0)
    f.bytes[f.at("graph", conv, 4)] += 1


def host_lists(f, task):
    """Where operations and buffers of a task of the host are, and their memories."""
    entries = f.entry(TASKS, task).nums(3, "H")
    lists = struct.unpack_from("<2h", f.bytes, f.list_at(task, 0))
    return [(f.list_at(task, i), f.entry(ADDRESSES, entries[i]).num(1, "H")) for i in lists]


def modern_hosts(f):
    """The tasks of the host of an old file as the runtime of today reads them: a softmax of ten channels in fp16."""
    for task in (i for i, t in enumerate(f.root().tables(TASKS)) if t.num(1, "I") == 2):
        (operations, memory), (buffers, _) = host_lists(f, task)
        f.put(f.entry(MEMORIES, memory), 3, "Q", 64)
        struct.pack_into("<B3xff", f.bytes, operations, 1, 1.0, 1.0)
        for half in (0, 256):
            entry, = struct.unpack_from("<h", f.bytes, buffers + half)
            struct.pack_into("<hIIHHHHII", f.bytes, buffers + half, entry, 0, 320, 3, 1, 1, 10, 32, 32)


def host_field(offset, code, value, buffers=False):
    def change(f):
        task = max(i for i, t in enumerate(f.root().tables(TASKS)) if t.num(1, "I") == 2)
        struct.pack_into("<" + code, f.bytes, host_lists(f, task)[1 if buffers else 0][0] + offset, value)
    return change


def both(*changes):
    def change(f):
        for one in changes:
            one(f)
    return change


def network_blob_version(f):
    address = f.entry(ADDRESSES, f.entry(TASKS, 0).nums(3, "H")[0])
    content = f.entry(MEMORIES, address.num(1, "H")).texts(5)[0]
    blob = next(b for b in f.root().tables(BLOBS) if b.text(0) == content)
    f.bytes[blob.at + blob.slots[4] + 1] = 11


LENET, TINY, ALEX = "lenet5_nv_small", "tiny_batch2_nv_full", "alexnet_small_nv_full"
# E or W, rule, file, what is changed, a piece of the place or of the problem
BROKEN = [
    ("E", "container", LENET, lambda f: f.bytes.__delitem__(slice(24, None)), "no whole FlatBuffer"),
    ("W", "identifier", LENET, one_letter, "NVDA"),
    ("W", "version", LENET, lambda f: f.bytes.__setitem__(f.root().at + f.root().slots[0] + 1, 8), "root version 0.8.0"),
    *[("E", "root vectors", LENET, lambda f, slot=slot: f.drop(f.root(), slot), f"no list of {name}")
      for slot, name in enumerate(("tasks", "memories", "addresses", "events", "blobs", "tensors", "relocations", "submits"), 1)],
    ("E", "blob", LENET, lambda f: f.drop(f.entry(BLOBS, 0), 4), "blob 0: has no version"),
    ("E", "blob", LENET, lambda f: f.put(f.entry(BLOBS, 0), 1, "Q", 1 << 40), "blob 0: has size"),
    ("W", "tensor", LENET, lambda f: f.put(f.entry(TENSORS, 1), 1, "H", 7), "tensor 1: has id 7"),
    ("E", "tensor", LENET, lambda f: f.drop(f.entry(TENSORS, 0), 0), "has no name"),
    ("E", "blob version", LENET, network_blob_version, "version 0.11"),
    ("E", "dep_graph", LENET, renamed, "dep_graph in the name"),
    ("W", "memory", LENET, entry_field(MEMORIES, 1, 0, "H", 77), "memory 1: has id 77"),
    ("E", "memory", LENET, in_memory(3, 3, "Q", 2), "within its 2 bytes"),
    ("E", "memory", LENET, in_memory(3, 2, "H", 2), "never allocates (flags 2"),
    ("E", "memory", LENET, in_memory(3, 2, "H", 2), "contents without the flag 1"),
    ("E", "address", LENET, entry_field(ADDRESSES, 1, 1, "H", 99), "address 1: is in memory 99"),
    ("W", "address", LENET, entry_field(ADDRESSES, 1, 0, "H", 99), "address 1: has id 99"),
    ("E", "bind", LENET, lambda f: f.put(f.entry(TENSORS, 0), 3, "Q", 1), "callers allocate"),
    ("W", "nvdla_runtime", LENET, lambda f: f.put(f.entry(TENSORS, 0), 8, "B", 20), "pixel format 20"),
    ("E", "submit", LENET, lambda f: struct.pack_into("<H", f.bytes, f.entry(SUBMITS, 0)._vec(1)[0], 9), "submit 0: names task 9"),
    ("E", "task", LENET, lambda f: f.put(f.entry(TASKS, 0), 1, "I", 7), "task 0: has interface 7"),
    ("E", "task", LENET, lambda f: struct.pack_into("<H", f.bytes, f.entry(TASKS, 0)._vec(3)[0] + 2, 999), "address 999 in entry 1"),
    ("E", "descriptor", LENET, network_field(0, "h", 999), "operation list in entry 999"),
    ("E", "descriptor", LENET, network_field(30, "H", 60000), "60000 operations"),
    ("E", "network", LENET, network_field(30, "H", 0), "has no operations"),
    ("E", "network", LENET, network_field(28, "H", 2), "2 regions of interest"),
    ("E", "network", LENET, network_field(38, "B", 1), "dynamic regions"),
    ("E", "network", LENET, network_field(12, "h", 3), "statistics list, 3"),
    ("E", "network", LENET, network_field(18, "h", 500), "begins CONV with operation 500"),
    ("E", "graph", LENET, graph_field("CONV", 3, "B", 9), "has type 9"),
    ("E", "graph", LENET, graph_field("CONV", 4, "B", 9), "dependency_count 9"),
    ("E", "graph", LENET, graph_field("CONV", 8 + 4 * 2, "h", 500), "SDP consumer 500"),
    ("E", "graph", LENET, graph_field("SDP", 32, "h", 400), "fused parent 400"),
    ("E", "graph", LENET, network_field(18, "h", -1), "never dequeued"),
    ("E", "graph", LENET, waits_for_itself, ""),
    ("E", "fused", LENET, cube_field("SDP", 0, "type", 0), "reads memory"),
    ("E", "fused", LENET, cube_field("SDP", 0, "channels", 8), "writes"),
    ("E", "cube", LENET, cube_field("PDP", 1, "address", 999), "address 999"),
    ("E", "cube", LENET, cube_field("PDP", 1, "type", 1), "secondary memory"),
    ("E", "cube", LENET, cube_field("PDP", 1, "type", 9), "memory type 9"),
    ("E", "cube", LENET, cube_field("PDP", 0, "width", 0), "0 x"),
    ("E", "cube", LENET, cube_field("PDP", 1, "offset", 1 << 30), "from there on"),
    ("E", "alignment", LENET, cube_field("PDP", 1, "line", 97), "line stride 97"),
    ("E", "precision", LENET, kind_field("SDP", 0, "B", 2), "precision 2"),
    ("E", "precision", ALEX, kind_field("SDP", 0, "B", 3), "precision 3"),
    ("E", "unit", "regression/BDMA_L0_0", lambda f: None, "is a BDMA, which nv_small does not have"),
    ("E", "conv", LENET, kind_field("CONV", 84, "h", 2), "output converter of scale 2"),
    ("E", "conv", LENET, kind_field("CONV", 0, "B", 1), "mode 1"),
    ("E", "conv", LENET, kind_field("CONV", 8, "B", 37), "data format 37"),
    ("E", "conv", LENET, kind_field("CONV", 9, "B", 1), "pixel mapping 1"),
    ("E", "conv", LENET, kind_field("CONV", 20, "B", 2), "batch 2"),
    ("E", "conv", LENET, kind_field("CONV", 28, "B", 3), "post extension 3"),
    ("E", "conv", LENET, kind_field("CONV", 22, "B", 200), "200 banks"),
    ("E", "conv", LENET, kind_field("CONV", 61, "B", 9), "stride in x of 9"),
    ("E", "conv", LENET, kind_field("CONV", 6, "H", 9000), "entries of data"),
    ("E", "conv", LENET, kind_field("CONV", 48, "I", 1 << 20), "bytes"),
    ("E", "conv", LENET, cube_field("CONV", 0, "size", 16), "weight cube of 16 bytes"),
    ("E", "conv", LENET, kind_field("CONV", 21, "B", 1), "compressed weights"),
    ("E", "conv", TINY, both(kind_field("CONV", 21, "B", 1), kind_field("CONV", 23, "B", 1), cube_field("CONV", 1, "address", -1)), "compressed weights without mask"),
    ("E", "conv", LENET, kind_field("CONV", 46, "H", 3), "in CMAC"),
    ("E", "conv", LENET, kind_field("CONV", 34, "H", 40, 1), "CSC"),
    ("E", "conv", LENET, cube_field("CONV", 4, "line", 64, -1), "line stride of 64, expected 8"),
    ("W", "conv", LENET, cube_field("CONV", 4, "type", 0), "always sends its results to SDP"),
    ("E", "sdp", LENET, kind_field("SDP", 13, "B", 2), "batch 2"),
    ("E", "sdp", LENET, kind_field("SDP", 20 + 2, "B", 9), "X1: has ALU"),
    ("E", "sdp", LENET, kind_field("SDP", 84, "B", 1), "Y: is enabled"),
    ("E", "sdp", LENET, kind_field("SDP", 20 + 4, "B", 2), "X1: has a table"),
    ("E", "sdp", LENET, kind_field("SDP", 2, "h", 0), "num_luts is 0"),
    ("E", "sdp", "sigtanh_nv_full", kind_field("SDP", 2, "h", 9), "uses table 9"),
    ("W", "sdp", LENET, cube_field("SDP", 4, "channels", 8), "different sizes"),
    ("E", "pdp", LENET, kind_field("PDP", 13, "B", 3), "method 3"),
    ("E", "pdp", LENET, kind_field("PDP", 16, "B", 0), "strides 0"),
    ("E", "pdp", LENET, kind_field("PDP", 18, "B", 8), "paddings 8"),
    ("E", "pdp", LENET, kind_field("PDP", 12, "B", 65), "65 splits"),
    ("E", "pdp", LENET, cube_field("PDP", 1, "type", 2), "output of memory type 2"),
    ("E", "pdp", LENET, cube_field("PDP", 1, "channels", 8), "channels in its input"),
    ("E", "pdp", LENET, cube_field("PDP", 1, "width", 3), "output width of 3"),
    ("E", "pdp", ALEX, kind_field("PDP", 24, "i", 5), "padding values"),
    ("E", "cdp", ALEX, kind_field("CDP", 1, "B", 1), "precision"),
    ("E", "cdp", ALEX, kind_field("CDP", 20, "B", 4), "window of 4"),
    ("E", "cdp", ALEX, cube_field("CDP", 0, "type", 2), "on the fly"),
    ("E", "cdp", ALEX, kind_field("CDP", 2, "h", 7), "uses table 7"),
    ("E", "bdma", "regression/BDMA_L0_0", lambda f: f.set("surfaces", f.operation("BDMA"), 2, "H", 21), "21 transfers"),
    ("E", "bdma", "regression/BDMA_L0_0", lambda f: f.set("surfaces", f.operation("BDMA"), 8, "I", 33), "lines of 33 bytes"),
    ("E", "rubik", "regression/RBK_L0_0", lambda f: f.set("operations", f.operation("RUBIK"), 0, "B", 3), "mode 3"),
    ("E", "host", "regression/NN_L0_0", host_field(0, "B", 2), "has type 2"),
    ("E", "host", "regression/NN_L0_0", host_field(10, "H", 2, True), "format 2"),
    ("E", "host", "regression/NN_L0_0", host_field(0, "h", 99, True), "entry 99"),
    ("E", "host", "regression/NN_L0_0", host_field(2, "I", 1 << 20, True), "needs"),
    ("E", "host", "regression/NN_L0_0", host_field(10, "H", 0, True), "formats 0 and 3"),
    ("E", "host", "regression/NN_L0_0", both(host_field(10, "H", 0, True), host_field(266, "H", 0, True), host_field(4, "I", 0)), "scales"),
    ("E", "host", "regression/NN_L0_0", both(host_field(16, "H", 40, True), host_field(22, "I", 64, True)), "64 apart"),
    ("W", "host", "regression/NN_L0_0", host_field(12, "H", 2, True), "softmax of 2 x 1"),
]


def counted(findings):
    return collections.Counter((f[0], f[1]) for f in findings)


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)

    def found(self, path, machine):
        """Weight, rule, section, place and problem of each."""
        done = subprocess.run([DLASIM, "loadable", str(path), "--check", "--hw", machine], capture_output=True, text=True, timeout=120)
        lines = done.stdout.splitlines()
        found = [LINE.match(line).groups() for line in lines[:-1]]
        refused = sum(f[0] == "E" for f in found)
        self.assertEqual(done.returncode, 1 if refused else 0, done.stderr)
        self.assertIn(f"{refused} E, which NVIDIA's software refuses", lines[-1])
        return found

    def agree(self, path, machine, what=""):
        try:
            model = check_loadable.Check(Path(path).read_bytes(), machine).run()
        except (MemoryError, OverflowError):
            return None
        found = self.found(path, machine)
        self.assertEqual(counted(found), counted(model), f"{what or path}\n{found}\n{model}")
        return found


class Files(Check):
    def test_all_files(self):
        files = sorted(DATA.rglob("loadables/**/*.nvdla")) + sorted((DATA / "real_driver").glob("*.nvdla"))
        self.assertGreater(len(files), 50)
        for path in some(files, 1):
            with self.subTest(path=path.name):
                self.agree(path, machine_of(path))

    def test_what_stands_in_the_way_is_told_once(self):
        path = DATA / "loadables/lenet5_nv_small.nvdla"
        self.assertEqual([f for f in self.agree(path, "nv_small") if f[0] == "E"], [])
        done = subprocess.run([DLASIM, "loadable", str(DATA / "real_driver/statistics_nv_small.nvdla"), "--hw", "nv_small", "--quiet"], capture_output=True, text=True)
        self.assertEqual(done.stderr.count("NVIDIA's software would not run this file"), 1)


class Broken(Check):
    def test_every_rule(self):
        rules = set()
        for weight, rule, name, change, says in BROKEN:
            path = DATA / f"loadables/{name}.nvdla"
            machine = "nv_small" if rule == "unit" else machine_of(path)
            with self.subTest(rule=rule, says=says):
                file = File(path)
                if rule == "host":
                    modern_hosts(file)
                before = counted(check_loadable.Check(bytes(file.bytes), machine_of(path)).run())
                change(file)
                broken = self.at / path.name
                broken.write_bytes(file.bytes)
                found = self.agree(broken, machine, f"{rule} {says}")
                self.assertGreater(counted(found)[weight, rule], before[weight, rule])
                hits = [f for f in found if f[:2] == (weight, rule) and says in f"{f[3]}: {f[4]}"]
                self.assertTrue(hits, found)
                rules.add(rule)
        named = set(re.findall(r"""[EW]\('([a-z_ ]+)',""", Path(check_loadable.__file__).read_text())) | {"relocation"}
        self.assertEqual(named - rules - {"relocation"}, set())

    def test_relocations(self):
        found = self.agree(DATA / "loadables/lenet5_nv_small.nvdla", "nv_small")
        self.assertIn(("W", "relocation", "7", "relocation 0"), [f[:4] for f in found])


class Drawn(Check):
    def test_bytes_at_random(self):
        for seed in range(COUNT):
            draw = random.Random(seed)
            path = DATA / f"loadables/{draw.choice([LENET, TINY, ALEX, 'resblock_nv_large', 'split_fm_nv_small'])}.nvdla"
            file = File(path)
            count = struct.unpack_from("<H", file.bytes, file.network_at() + 30)[0]
            what = draw.choice(["network", "graph", "operations", "surfaces", "surfaces"])
            if what == "network":
                at = file.network_at() + draw.randrange(40)
            else:
                at = file.at(what, draw.randrange(count), draw.randrange({"graph": 36, "operations": 92, "surfaces": 160}[what]))
            file.bytes[at] = draw.choice([0, 1, 2, 0xff, file.bytes[at] ^ 1 << draw.randrange(8)])
            broken = self.at / "drawn.nvdla"
            broken.write_bytes(file.bytes)
            with self.subTest(seed=seed):
                self.agree(broken, machine_of(path), f"{path.name} byte {at} seed {seed}")


class Written(Check):
    def run_dlasim(self, *arguments, status=0):
        done = subprocess.run([DLASIM, *map(str, arguments)], capture_output=True, text=True, timeout=600, cwd=self.at)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_compiled_files_written_again(self):
        for name in ("tiny_nv_small", "tiny_nv_large", "resblock_nv_full", "tiny_batch2_nv_full", "sigtanh_nv_full"):
            path = DATA / f"loadables/{name}.nvdla"
            machine = machine_of(path)
            with self.subTest(name=name):
                self.run_dlasim("export", path, "--hw", machine, "--form", "nvdla", "--to", "again.nvdla")
                self.assertEqual([f for f in self.agree(self.at / "again.nvdla", machine) if f[0] == "E" or f[1] == "relocation"], [])
                self.run_dlasim("export", "again.nvdla", "--hw", machine, "--form", "nvdla", "--to", "third.nvdla")
                self.assertEqual((self.at / "again.nvdla").read_bytes(), (self.at / "third.nvdla").read_bytes())
                for file, out in ((path, "first"), ("again.nvdla", "second")):
                    self.run_dlasim("loadable", file, "--hw", machine, "--mode", "driver", "--accesses", out + ".txt", "--out", out, "--quiet")
                self.assertEqual((self.at / "first.txt").read_bytes(), (self.at / "second.txt").read_bytes())
                self.assertEqual((self.at / "first/output.npy").read_bytes(), (self.at / "second/output.npy").read_bytes())

    def test_what_nvidia_would_not_run_is_not_written(self):
        for name, machine, says in (("regression/CDP_L0_0", "nv_full", "has interface version 0.10.0"), ("regression/NN_L0_0", "nv_full", "has an operation list of 16 bytes")):
            done = self.run_dlasim("export", DATA / f"loadables/{name}.nvdla", "--hw", machine, "--form", "nvdla", "--to", "again.nvdla", status=2)
            self.assertIn(says, done.stderr)
            self.assertEqual(list(self.at.iterdir()), [])

    def test_options_that_say_nothing_here(self):
        path = DATA / "loadables/tiny_nv_small.nvdla"
        for *more, says in (("--mode", "driver", "is written as it is, expected no options of a run"), ("--golden", "golden", "is written as it is, expected no options of a run"),
                            ("--precision", "int8", "--precision: found with a file of the NVDLA compiler, expected a network"),
                            ("--chains", "2", "is written as it is, expected no options of a run")):
            done = self.run_dlasim("export", path, "--hw", "nv_small", "--form", "nvdla", "--to", "again.nvdla", *more, status=2)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    if "--count" in sys.argv:
        at = sys.argv.index("--count")
        COUNT = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
