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


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    CASES = Path(sys.argv.pop(1))
    unittest.main()
