#!/usr/bin/env python3
"""Public register traces as their players take them: polls, the memory of an address, calls that check nothing.

usage: trace_test.py DLASIM CASES [TestCase...]

CASES: the folder of the measured cases, by configuration
"""
import json
import os
import sys
import unittest
from pathlib import Path

import cli_test

CASES = None
BDMA, GLB_STATUS, FLUSH, POINTER = 0x4000, 0x000C, 0x500C, 0x5004
SOURCE_LOW, DESTINATION_LOW, LINE, COMMAND, OPERATION, LAUNCH = (BDMA + offset for offset in (0x0, 0x8, 0x10, 0x14, 0x30, 0x34))
FROM_CVSRAM, TO_CVSRAM = 2, 1


class Traces(cli_test.Case):
    def replay(self, lines, name="input.txn", *arguments):
        return self.dlasim("replay", self.write("\n".join(lines) + "\n", name), *arguments)

    @staticmethod
    def write_reg(address, value):
        return f"write_reg {0xffff0000 | address >> 2:#x} {value:#x}"

    @staticmethod
    def read_reg(address, mask, value):
        return f"read_reg {0xffff0000 | address >> 2:#x} {mask:#x} {value:#x}"

    def copy(self, source, destination, command):
        registers = [(SOURCE_LOW, source), (DESTINATION_LOW, destination), (LINE, 1), (COMMAND, command), (OPERATION, 1), (LAUNCH, 1)]
        return [self.write_reg(*register) for register in registers] + [self.read_reg(GLB_STATUS, 0xC0, 0x40), self.write_reg(GLB_STATUS, 0xC0)]

    def test_a_read_waits_for_its_value_wherever_it_stands(self):
        done = self.replay([self.read_reg(FLUSH, 1, 1)])    # 0 for hundreds of cycles after reset
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_read_whose_value_never_comes_is_a_hang_that_is_diagnosed(self):
        done = self.replay([self.read_reg(POINTER, 0x10001, 1)])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("CDMA.S_POINTER never reads 0x1 under mask 0x10001, but 0x0", done.stderr)

    def test_0x5xxxxxxx_is_the_cvsram(self):
        self.write(" ".join(f"{3 * i:#04x}" for i in range(64)) + "\n", "data")
        lines = ["load_mem 0x50000000 64 data", *self.copy(0x50000000, 0x80000000, FROM_CVSRAM)]
        done = self.replay([*lines, "dump_mem 0x80000000 64 data"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 regions right", done.stdout)
        lines += self.copy(0x80000000, 0x50001000, TO_CVSRAM)
        done = self.replay([*lines, "dump_mem 0x50001000 64 data"])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.replay(["load_mem 0x40000000 64 data", *self.copy(0x50000000, 0x80000000, FROM_CVSRAM), "dump_mem 0x80000000 64 data"])
        self.assertEqual(done.returncode, 1, "nothing was loaded into the CVSRAM")

    def test_interrupts_of_cdma_are_known_in_lower_case_and_nothing_is_checked(self):
        case = json.loads((CASES / "nv_small" / "dc_int8_odd.json").read_text())
        writes = [entry for entry in case["program"] if entry[0] not in ("MARK", "READ", "WAIT_INTR", "GLB.S_INTR_MASK")]
        lines = [f"reg_write(NVDLA_{register}_0, {value:#x});" for register, value in writes]
        lines += [f"intr_notify({name}, sync_{name});" for name in ("cdma_dat_0", "cdma_wt_0", "SDP_0")]
        done = self.replay([*lines, "check_nothing(sync_SDP_0);"], "trace.cfg", "--hw", "nv_small")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.replay([*lines, "check_something(sync_SDP_0);"], "trace.cfg", "--hw", "nv_small")
        self.refused(done, "unknown call check_something")

    def test_a_read_compares_both_sides_under_its_mask(self):
        done = self.replay([self.read_reg(POINTER, 0, 0x10000), self.read_reg(POINTER, 0xffff, 0xabcd0000)])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_until_waits_for_bits(self):
        self.write(" ".join(f"{3 * i:#04x}" for i in range(64)) + "\n", "data")
        copy = self.copy(0x80000000, 0x80001000, FROM_CVSRAM | TO_CVSRAM)[:-2]
        until = lambda bits: f"until {0xffff0000 | GLB_STATUS >> 2:#x} {bits:#x}"
        for wait in ([until(0x40)], [self.write_reg(0x0004, 0x3fffbf), until(0x80)]):  # the second waits for a masked bit: for the pin
            done = self.replay(["load_mem 0x80000000 64 data", *copy, *wait, "dump_mem 0x80001000 64 data"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 of 1 regions right", done.stdout)

    def test_cycles_count_from_the_first_enable_with_comments_and_without(self):
        layers = [{"name": f"c{i}", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 16}} for i in range(3)]
        network = self.write(json.dumps({"name": "three", "input": {"width": 12, "height": 12, "channels": 16}, "layers": layers}), "net.json")
        for form, file, comment in (("txn", "input.txn", "#"), ("cfg", "test.cfg", "//")):
            self.dlasim("export", network, "--hw", "nv_full", "--form", form, "--to", self.folder / form)
            noted = self.dlasim("replay", self.folder / form, "--hw", "nv_full", "--out", self.folder / "noted").stdout
            trace = next((self.folder / form).glob(file)) if form == "txn" else next((self.folder / form).glob("*.cfg"))
            trace.write_text("\n".join(line.split(comment)[0].rstrip() for line in trace.read_text().splitlines()) + "\n")
            bare = self.dlasim("replay", self.folder / form, "--hw", "nv_full", "--out", self.folder / "bare")
            self.assertEqual(bare.returncode, 0, bare.stderr)
            one, other = (json.loads((self.folder / f / "result.json").read_text())["interrupt_cycles"] for f in ("noted", "bare"))
            if form == "txn":
                self.assertEqual(one, other, noted)     # each wait masks the other interrupts, which is no work of its own
            self.assertEqual(one[0], other[0], noted)  # its software waits as long for the first interrupt
            self.assertLess(abs(one[-1] - other[-1]), 200)

    def test_a_unit_that_the_machine_lacks_is_named(self):
        lines = ["reg_write(NVDLA_SDP.D_DP_EW_CFG_0, 0x50);", "reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);"]
        done = self.replay(lines, "trace.cfg", "--hw", "nv_small_256")
        self.refused(done, "switches on SDP.EW (SDP.D_DP_EW_CFG 0x50), which nv_small_256 does not have")
        self.assertIn("trace.cfg:2", done.stderr)


class Comparing(cli_test.Case):
    """A case is compared with everything that it expects."""

    def replay(self, change, *arguments):
        case = json.loads((CASES / "nv_small" / "img_4c_w.json").read_text())
        change(case)
        return self.dlasim("replay", self.write(json.dumps(case), "case.json"), "--out", self.folder / "out", *arguments)

    def differs(self, change, group, words):
        done = self.replay(change)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(words, done.stderr)
        result = json.loads((self.folder / "out" / "result.json").read_text())
        self.assertEqual([d["group"] for d in result["differences"]], [group])
        return result["differences"][0]

    def test_an_honest_case_is_equal(self):
        done = self.replay(lambda case: None)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("events of the case equal", done.stdout)
        compared = json.loads((self.folder / "out" / "result.json").read_text())["compared"]
        self.assertEqual(list(compared), ["done", "bus", "probes", "data"])
        self.assertGreater(min(compared.values()), 0)

    def test_every_kind_of_event_is_compared(self):
        def interrupt(case):
            case["expected"]["interrupt_cycles"][-1] += 1

        def command(case):
            case["expected"]["ar"][7][0] += 1

        def total(case):
            case["expected"]["dbb"]["rbeats"] += 1

        def run(case):
            case["expected"]["probes"]["sc2mac_dat_a"]["runs"][2][1] += 1

        def figure(case):
            case["expected"]["probes"]["sc2mac_dat_a"]["active"] += 1

        def crc(case):
            case["expected"]["output"][0]["crc32"] = "00000000"

        self.differs(interrupt, "done", "interrupt: expected cycle")
        self.assertEqual(self.differs(command, "bus", "dbb_ar: expected")["equal_before"], 7)
        self.differs(total, "bus", "dbb rbeats: expected")
        self.assertEqual(self.differs(run, "probes", "sc2mac_dat_a: expected")["equal_before"], 2)
        self.differs(figure, "probes", "sc2mac_dat_a active: expected")
        self.differs(crc, "data", "expected CRC 0x00000000")

    def test_a_case_that_should_hang_and_ends_differs(self):
        def hangs(case):
            case["finished"] = False

        self.differs(hangs, "done", "expected a machine that hangs")

    def test_another_machine_or_memory_is_not_compared(self):
        done = self.replay(lambda case: None, "--memory", "ideal:latency=99")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("measured with another memory", done.stdout)

    def test_what_is_no_expectation_is_refused(self):
        def command(case):
            case["expected"]["ar"][3] = [1, 2]

        self.refused(self.replay(command), "/expected/ar/3")


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    CASES = Path(sys.argv.pop(1))
    unittest.main()
