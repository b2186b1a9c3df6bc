#!/usr/bin/env python3
"""dlasim lint, and the rules part of --hazards: register programs that break a programming rule are named with entry, register, value.

usage: lint_test.py DLASIM [Broken | Clean | Run | Counts]

Broken  a right program with one change: the rule, the entry and the register are named
Clean   programs of ours, files of the compiler, traces and measured cases break no rule; the exceptions are listed
Run     what only a run knows: dropped writes, units that work at the end, the reason of a hang
"""
import collections
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from examples import some

DLASIM = None
ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DLASIM_TEST_DATA", "test-data"))  # the archives of tests/data, unpacked
AROUND = dict.fromkeys(("left", "right", "top", "bottom"), 1)
TWO = {"name": "two", "input": {"width": 9, "height": 7, "channels": 24}, "layers": [
    {"name": "c1", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 24}, "stride": {"x": 2, "y": 1}, "bias": True, "pad": AROUND},
    {"name": "c2", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 16}}]}
POOL = {"name": "pool", "input": {"width": 9, "height": 9, "channels": 16}, "layers": [
    {"name": "p", "op": "pool", "pool": {"function": "max", "kernel": {"width": 3, "height": 3}, "stride": {"x": 2, "y": 2}}}]}

# Registers of which every value but the right one breaks a rule, in a program of TWO or POOL, on every machine.
SHAPES = ["CDMA.D_DATAIN_SIZE_0", "CDMA.D_DATAIN_SIZE_1", "CDMA.D_ENTRY_PER_SLICE", "CDMA.D_WEIGHT_SIZE_0", "CDMA.D_WEIGHT_SIZE_1", "CDMA.D_BANK",
          "CDMA.D_DATAIN_FORMAT", "CDMA.D_ZERO_PADDING", "CSC.D_DATAIN_FORMAT", "CSC.D_DATAIN_SIZE_EXT_0", "CSC.D_DATAIN_SIZE_EXT_1",
          "CSC.D_ENTRY_PER_SLICE", "CSC.D_WEIGHT_SIZE_EXT_0", "CSC.D_WEIGHT_SIZE_EXT_1", "CSC.D_DATAOUT_SIZE_0", "CSC.D_DATAOUT_SIZE_1",
          "CSC.D_ATOMICS", "CSC.D_BANK", "CSC.D_CONV_STRIDE_EXT", "CSC.D_ZERO_PADDING", "CACC.D_DATAOUT_SIZE_0", "CACC.D_DATAOUT_SIZE_1",
          "SDP.D_DATA_CUBE_WIDTH", "SDP.D_DATA_CUBE_HEIGHT", "SDP.D_DATA_CUBE_CHANNEL", "SDP_RDMA.D_DATA_CUBE_WIDTH",
          "SDP_RDMA.D_DATA_CUBE_HEIGHT", "SDP_RDMA.D_DATA_CUBE_CHANNEL", "SDP.D_FEATURE_MODE_CFG", "SDP_RDMA.D_FEATURE_MODE_CFG",
          "SDP_RDMA.D_BRDMA_CFG", "SDP.D_DP_BS_ALU_CFG"]
POOLED = ["PDP.D_DATA_CUBE_IN_WIDTH", "PDP.D_DATA_CUBE_IN_HEIGHT", "PDP.D_DATA_CUBE_IN_CHANNEL", "PDP.D_DATA_CUBE_OUT_WIDTH",
          "PDP.D_DATA_CUBE_OUT_HEIGHT", "PDP.D_DATA_CUBE_OUT_CHANNEL", "PDP.D_POOLING_KERNEL_CFG", "PDP_RDMA.D_DATA_CUBE_IN_WIDTH",
          "PDP_RDMA.D_DATA_CUBE_IN_HEIGHT", "PDP_RDMA.D_DATA_CUBE_IN_CHANNEL", "PDP_RDMA.D_OPERATION_MODE_CFG"]


class Lint(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="dlasim_lint_")
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def dlasim(self, *words):
        done = subprocess.run([DLASIM, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def file(self, name, value):
        (self.folder / name).write_text(json.dumps(value))
        return name

    def case(self, network, machine):
        self.dlasim("export", self.file("network.json", network), "--hw", machine, "--form", "case", "--to", "case.json", "--quiet")
        case = json.loads((self.folder / "case.json").read_text())
        case.pop("expected")
        return case

    def broken(self, case, *more):
        """Of the changed case: the rules that it breaks."""
        status, out, err = self.dlasim("lint", self.file("changed.json", case), "--json", *more)
        self.assertIn(status, (0, 1), err)
        report = json.loads(out)
        self.assertEqual(report["broken"], len(report["list"]))
        self.assertEqual(status, 1 if report["list"] else 0)
        return report["list"]


def entries(case, name):
    return [i for i, entry in enumerate(case["program"]) if entry[0] == name]


class Broken(Lint):
    def test_every_shape_register_that_is_one_off(self):
        for network, names in ((TWO, SHAPES), (POOL, POOLED)):
            for machine in ("nv_small", "nv_full"):
                case = self.case(network, machine)
                self.assertEqual(self.broken(case), [])
                for name in some(names, 1):
                    for entry in entries(case, name):
                        changed = copy.deepcopy(case)
                        value = changed["program"][entry][1]
                        changed["program"][entry][1] = value + 1
                        found = self.broken(changed)
                        self.assertTrue(found, f"{machine}: entry {entry}, {name} = {value + 1}")
                        unit = name.split(".")[0]
                        self.assertTrue(any(b["entry"] == entry or unit in b["problem"] or b["register"].startswith(unit) for b in found),
                                        f"{machine}: {name} is in none of {found}")

    def test_a_launch_that_is_missing(self):
        for network, units in ((TWO, ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP", "SDP_RDMA")), (POOL, ("PDP", "PDP_RDMA"))):
            for machine in ("nv_small", "nv_full"):
                case = self.case(network, machine)
                for unit in units:
                    changed = copy.deepcopy(case)
                    launches = entries(changed, f"{unit}.D_OP_ENABLE")
                    changed["program"].pop(launches[0])
                    found = [b for b in self.broken(changed) if b["register"] == f"{unit}.D_OP_ENABLE"]
                    self.assertIn("missing_unit", {b["rule"] for b in found}, f"{machine}, {unit}")
                    if len(launches) > 1:  # the other one is in group 1 now, and the unit is at group 0
                        self.assertIn(("group_turn", launches[1] - 1), {(b["rule"], b["entry"]) for b in found})
        half = self.case({**TWO, "layers": TWO["layers"][:1]}, "nv_small")
        half["program"].pop(entries(half, "CMAC_B.D_OP_ENABLE")[0])
        (breach,) = self.broken(half)
        self.assertIn("half of the MAC array", breach["problem"])

    def test_addresses_and_strides_are_whole_atoms(self):
        for machine, atom in (("nv_small", 8), ("nv_large", 32), ("nv_full", 32)):
            for network in (TWO, POOL):
                case = self.case(network, machine)
                names = {e[0] for e in case["program"] if e[0].endswith(("ADDR_LOW", "ADDR_LOW_0", "LINE_STRIDE", "SURF_STRIDE", "SURFACE_STRIDE"))}
                self.assertGreater(len(names), 3)
                for name in some(sorted(names), 1):
                    changed = copy.deepcopy(case)
                    entry = entries(changed, name)[0]
                    changed["program"][entry][1] += atom // 2
                    (breach,) = [b for b in self.broken(changed) if b["rule"] == "alignment"]
                    self.assertEqual((breach["entry"], breach["register"], breach["value"]), (entry, name, changed["program"][entry][1]))
                    self.assertIn(f"no multiple of {atom} bytes", breach["problem"])

    def test_strides_that_are_too_small(self):
        case = self.case(TWO, "nv_small")
        for name in ("CDMA.D_LINE_STRIDE", "SDP.D_DST_LINE_STRIDE", "SDP.D_DST_SURFACE_STRIDE"):
            changed = copy.deepcopy(case)
            entry = entries(changed, name)[0]
            changed["program"][entry][1] -= 8
            self.assertIn((entry, "size"), {(b["entry"], b["rule"]) for b in self.broken(changed)}, name)

    def test_writes_into_an_enabled_group(self):
        case = self.case(TWO, "nv_small")
        for entry in case["program"]:
            if entry[0].endswith("S_POINTER"):
                entry[1] = 0
        second = entries(case, "CDMA.S_POINTER")[1]
        found = [b for b in self.broken(case) if b["rule"] == "enabled_group"]
        first = next(b for b in found if b["register"].startswith("CDMA."))
        self.assertGreater(first["entry"], second)
        self.assertGreater(first["more"], 20)
        self.assertIn(f"since entry {entries(case, 'CDMA.D_OP_ENABLE')[0]}", first["problem"])

    def test_a_program_that_does_not_wait(self):
        case = self.case(TWO, "nv_small")
        waits = entries(case, "WAIT_STATUS")
        case["program"].pop(waits[-1])
        (breach,) = self.broken(case)
        self.assertEqual((breach["rule"], breach["register"], breach["entry"]),
                         ("ends_while_working", "SDP.D_OP_ENABLE", entries(case, "SDP.D_OP_ENABLE")[-1]))

    def test_a_wait_for_an_interrupt_that_does_not_come(self):
        case = self.case(TWO, "nv_small")
        wait = entries(case, "WAIT_STATUS")[0]
        case["program"][wait][1] = 0x10  # of PDP
        self.assertIn(("never_raised", wait), {(b["rule"], b["entry"]) for b in self.broken(case)})

    def test_more_than_the_buffer_holds(self):
        case = self.case(TWO, "nv_small")
        for name in ("CDMA.D_BANK", "CSC.D_BANK"):
            case["program"][entries(case, name)[0]][1] = 31 | 3 << 16
        self.assertIn("buffer", {b["rule"] for b in self.broken(case)})

    def test_a_value_that_the_register_does_not_store(self):
        case = self.case(TWO, "nv_small")
        entry = entries(case, "SDP.D_DATA_CUBE_WIDTH")[0]
        case["program"][entry][1] |= 1 << 13
        (breach,) = self.broken(case)
        self.assertEqual((breach["rule"], breach["entry"]), ("register_width", entry))

    def test_a_table_that_changes_while_it_is_read(self):
        layer = {"name": "n", "op": "lrn", "input": {"width": 9, "height": 9, "channels": 16}, "lrn": {"size": 5}}
        case = self.case(layer, "nv_large")
        launch = max(entries(case, "CDP.D_OP_ENABLE") + entries(case, "CDP_RDMA.D_OP_ENABLE"))
        case["program"].insert(launch + 1, ["CDP.S_LUT_ACCESS_DATA", 1])
        self.assertEqual([(b["rule"], b["entry"]) for b in self.broken(case)], [("live_table", launch + 1)])

    def test_a_slip_of_the_pen(self):
        case = self.case(TWO, "nv_small")
        case["program"][20] = ["CDMA.D_LINE_STRID", 64]
        status, _, err = self.dlasim("lint", self.file("changed.json", case))
        self.assertEqual(status, 2)
        self.assertIn('/program/20: nv_small has no register CDMA.D_LINE_STRID (did you mean "CDMA.D_LINE_STRIDE"?)', err)


    def test_a_small_convolution_that_does_not_wait_for_the_one_before(self):
        """A measured program in which two ends meet, so that the third layer never ends: told without a run, and as the reason of the hang."""
        case = DATA / "rtl/nv_small/cacc_end_tag_ghost_hang.json"
        status, out, _ = self.dlasim("lint", case, "--json")
        breaches = json.loads(out)["list"]
        self.assertEqual((status, [(b["rule"], b["register"], b["entry"], b["operation"]) for b in breaches]),
                         (1, [("early_end", "CSC.D_OP_ENABLE", 204, 2)]))
        self.assertIn("1 result, fewer than the 16 that CACC holds", breaches[0]["problem"])
        status, _, err = self.dlasim("replay", case, "--events", "events.json", "--out", "out")
        self.assertEqual(status, 3)
        self.assertIn("because: CACC signalled the end of a layer to SDP too early", err)
        self.assertIn("early_end", err)
        events = json.loads((self.folder / "events.json").read_text())
        self.assertEqual((events["finished"], events["interrupt_cycles"]), (False, [796, 816]))
        self.assertFalse((self.folder / "out/result.json").exists())

    def test_a_last_column_of_pixels_that_the_silicon_sums_wrongly(self):
        status, out, _ = self.dlasim("lint", DATA / "rtl/nv_small/img_stripe1_ow17_ch44.json", "--json")
        breaches = [(b["rule"], b["register"]) for b in json.loads(out)["list"]]
        self.assertEqual((status, breaches), (1, [("defect", "CSC.D_WEIGHT_SIZE_EXT_1")]))

    def test_the_same_program_written_more_slowly_runs_by_luck(self):
        case = json.loads((DATA / "rtl/nv_small/cacc_end_tag_ghost_hang.json").read_text())
        case["program"][204:204] = [["GLB.S_INTR_MASK", 4194300]] * 200
        del case["expected"], case["finished"]
        status, out, err = self.dlasim("replay", self.file("lucky.json", case), "--hazards", "--out", "out")
        self.assertEqual(status, 1, err)
        self.assertIn("before the end of the previous convolution", out)


class Clean(Lint):
    def test_programs_of_ours(self):
        for model, machines in (("networks/lenet5.json", ("nv_small", "nv_full")), ("onnx/resnet_small.onnx", ("nv_full", "nv_large")),
                                ("dcgan_deconv5.json", ("nv_small",)), ("resnet50_res3a_branch2b.json", ("nv_large", "nv_medium_512"))):
            for machine in machines:
                status, out, err = self.dlasim("lint", ROOT / "models" / model, "--hw", machine)
                self.assertEqual(status, 0, f"{model}: {out}{err}")
                self.assertIn("none broken in", out)

    def test_files_of_the_compiler(self):
        files = sorted(DATA.glob("loadables/*.nvdla"))[::3]
        self.assertTrue(files)
        for file in files:
            machine = next((m for m in ("nv_small_256", "nv_small", "nv_large", "nv_full") if m in file.name), "nv_full")
            for mode in ("overlap", "driver"):
                status, out, err = self.dlasim("lint", file, "--hw", machine, "--mode", mode, "--json")
                rules = {breach["rule"] for breach in json.loads(out)["list"]}
                # NVIDIA's driver starts small convolutions of tiny_batch2_nv_large early.
                self.assertLessEqual(rules, {"early_end"} if mode == "driver" else set(), f"{file.name}: {out}{err}")

    def test_a_file_whose_order_can_hang_is_told_in_every_mode(self):
        for mode in ("overlap", "driver"):
            status, _, err = self.dlasim("loadable", DATA / "loadables/tiny_batch2_nv_large.nvdla", "--hw", "nv_large", "--mode", mode, "--out", "out")
            self.assertEqual(status, 0, err)
            self.assertIn("NVIDIA's driver starts 4 of its convolutions", err)

    def test_measured_cases(self):
        """All are right, but for convolutions that end early, and for a number of bytes of weights that moves the ring of the next layer: whole entries, rounded up to 128."""
        cases = sorted(DATA.glob("rtl/**/*.json"))[::4]
        self.assertTrue(cases)
        for case in cases:
            status, out, err = self.dlasim("lint", case, "--json")
            self.assertIn(status, (0, 1), f"{case}: {err}")
            for breach in json.loads(out)["list"]:
                if breach["rule"] == "defect":
                    self.assertTrue(case.name.startswith("img_"), case)
                    continue
                if breach["rule"] == "early_end":  # the silicon ran them: their ends did not meet
                    self.assertEqual(breach["register"], "CSC.D_OP_ENABLE")
                    continue
                self.assertEqual((breach["rule"], breach["register"], breach["value"] % 128), ("size", "CDMA.D_WEIGHT_BYTES", 0), f"{case}: {breach}")


class Counts(Lint):
    def test_the_page_counts_the_measured_cases_that_break_rules(self):
        cases, broken = sorted(DATA.glob("rtl/**/*.json")), collections.Counter()
        for case in cases:
            _, out, _ = self.dlasim("lint", case, "--json")
            broken.update({breach["rule"] for breach in json.loads(out)["list"]})
        page = (ROOT / "tests/data/README.md").read_text()
        for words in (f"of the {len(cases):,} measured cases", f"{broken['early_end']} have small convolutions", f"{broken['size']} declare more",
                      f"{broken['defect']} show the defect"):
            self.assertIn(words, page.replace("\n", " "))


class Run(Lint):
    def replayed(self, case):
        return self.dlasim("replay", self.file("changed.json", case), "--hazards", "--out", "out", "--memory", "ideal")

    def test_rules_are_part_of_the_hazards(self):
        case = self.case(TWO, "nv_small")
        status, out, _ = self.replayed(case)
        self.assertEqual(status, 0)
        self.assertIn("rules        none broken", out)
        case["program"][entries(case, "SDP.D_DST_BASE_ADDR_LOW")[1]][1] += 4
        status, out, _ = self.replayed(case)
        self.assertEqual(status, 1)
        rules = json.loads((self.folder / "out/result.json").read_text())["hazards"]["rules"]
        self.assertEqual([b["rule"] for b in rules["list"]], ["alignment"])
        self.assertIn("(alignment)", out)

    def test_writes_that_are_dropped_because_the_wait_is_for_another_unit(self):
        """The wait is there, so the program alone does not show it; CDMA has fetched long before SDP has written."""
        case = self.case({**TWO, "layers": TWO["layers"][:1]}, "nv_small")
        wait = entries(case, "WAIT_STATUS")[-1]
        width = case["program"][entries(case, "SDP.D_DATA_CUBE_WIDTH")[0]][1]
        mask = [["CDMA.S_POINTER", 0], ["POLL", {"register": "CDMA.S_STATUS", "mask": 3, "value": 0}], ["SDP.D_DATA_CUBE_WIDTH", width]]
        case["program"][wait:wait] = mask
        self.assertEqual(self.broken(case), [])
        status, _, _ = self.replayed(case)
        self.assertEqual(status, 1)
        (breach,) = json.loads((self.folder / "out/result.json").read_text())["hazards"]["rules"]["list"]
        self.assertEqual((breach["rule"], breach["entry"], breach["register"]), ("enabled_group", wait + 2, "SDP.D_DATA_CUBE_WIDTH"))

    def test_a_hang_names_the_disagreement(self):
        case = self.case(TWO, "nv_small")
        entry = entries(case, "CSC.D_ATOMICS")[0]
        case["program"][entry][1] -= 2
        status, _, err = self.replayed(case)
        self.assertEqual(status, 3)
        self.assertIn(f"entry {entry}: CSC.D_ATOMICS = ", err)

    def test_a_hang_names_the_writes_that_were_dropped(self):
        case = self.case(TWO, "nv_small")
        for written in case["program"]:
            if written[0].endswith("S_POINTER"):
                written[1] = 0
        status, _, err = self.replayed(case)
        self.assertEqual(status, 3)
        self.assertIn("so the machine drops the write", err)
        self.assertIn("more writes (enabled_group)", err)


if __name__ == "__main__":
    DLASIM = str(Path(sys.argv[1]).resolve())
    chosen = [name for name in ("Broken", "Clean", "Run", "Counts") if sys.argv[2:] == [name]]
    unittest.main(argv=[sys.argv[0], *chosen])
