#!/usr/bin/env python3
"""--hazards: accesses to memory and to the convolution buffer that happen out of order are found and named.

usage: hazards_test.py DLASIM [Found | None]

Found  programs with a hazard, by a missing wait or a wrong register: who, where, when, checked against the bus log
None   programs of ours, files of the compiler and measured cases have none, and take the same cycles
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DLASIM = None
ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DLASIM_TEST_DATA", "test-data"))  # the archives of tests/data, unpacked
AROUND = dict.fromkeys(("left", "right", "top", "bottom"), 1)
CHAIN = {"plan": {"minimise": "parts"}, "input": {"width": 14, "height": 14, "channels": 32}, "layers": [
    {"name": "first", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 32}, "bias": True, "pad": AROUND},
    {"name": "second", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 32}, "bias": True}]}
POOL = {"name": "pool", "op": "pool", "pool": {"function": "max", "kernel": {"width": 2, "height": 2}, "stride": {"x": 2, "y": 2}}}
BESIDE = {"plan": {"minimise": "parts"}, "input": {"width": 16, "height": 16, "channels": 32}, "layers": [
    {"name": "conv", "op": "conv2d", "inputs": ["data"], "kernel": {"width": 3, "height": 3, "count": 32}, "bias": True, "pad": AROUND},
    POOL | {"input": {"width": 8, "height": 8, "channels": 8}}]}


class Hazards(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="dlasim_hazards_")
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def dlasim(self, *words, status=0):
        done = subprocess.run([DLASIM, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def file(self, name, value):
        (self.folder / name).write_text(json.dumps(value))
        return name

    def result(self):
        return json.loads((self.folder / "out/result.json").read_text())

    def case(self, network, machine):
        self.dlasim("export", self.file("network.json", network), "--hw", machine, "--form", "case", "--to", "case.json", "--quiet")
        return json.loads((self.folder / "case.json").read_text())

    def replayed(self, case, status):
        changed = {key: value for key, value in case.items() if key != "expected"}  # of the program as it was
        text = self.dlasim("replay", self.file("changed.json", changed), "--hazards", "--events", "events.json", "--out", "out", status=status)
        return self.result()["hazards"], text


def entries(case, name):
    return [i for i, entry in enumerate(case["program"]) if entry[0] == name]


def written(case, name):
    """The entries of a register, to be changed."""
    return [case["program"][i] for i in entries(case, name)]


class Found(Hazards):
    def test_a_reader_that_does_not_wait_for_its_writer(self):
        """The bus log says the same cycles."""
        for machine in ("nv_small", "nv_large", "nv_full"):
            side = 6 if machine == "nv_small" else 14  # the log holds 400 commands
            layers = [layer | {"kernel": layer["kernel"] | {"count": 16}} for layer in CHAIN["layers"]]
            network = {"overlap": "unprotected", "plan": {"minimise": "parts"}, "input": {"width": side, "height": side, "channels": 8}, "layers": layers}
            text = self.dlasim("net", self.file("network.json", network), "--hw", machine, "--no-cvsram", "--hazards", "--events", "events.json",
                               "--out", "out", status=1)
            found = self.result()["hazards"]
            hazard = found["list"][0]
            self.assertEqual((hazard["kind"], hazard["where"]), ("read_before_written", "DBB"))
            self.assertEqual((hazard["first"]["name"], hazard["first"]["client"]), ("second", "CDMA_DAT"))
            self.assertEqual((hazard["second"]["name"], hazard["second"]["client"]), ("first", "SDP"))
            self.assertLess(hazard["first"]["cycle"], hazard["second"]["cycle"])
            self.assertIn(f"CDMA_DAT of operation 2 (second: convolution, SDP_RDMA, SDP; entry {hazard['first']['entry']}) read", text)
            (tensor,) = [t for t in self.result()["places"] if t["name"] == "first"]
            self.assertTrue(0 <= hazard["address"] - tensor["address"] < side * side * 32, "in the tensor between them")
            events = json.loads((self.folder / "events.json").read_text())
            beat = {"nv_small": 8, "nv_large": 32, "nv_full": 64}[machine]
            reads = [cycle for cycle, address, beats, _ in events["ar"] if 0 <= hazard["address"] - int(address, 16) < beats * beat]
            self.assertEqual(reads[:1], [hazard["first"]["cycle"]], machine)
            writes = [cycle for cycle, address, *_ in events["aw"] if int(address, 16) == hazard["address"]]
            self.assertTrue(0 <= hazard["second"]["cycle"] - writes[0] <= 4, machine)

    def test_a_program_without_its_wait(self):
        case = self.case(CHAIN, "nv_large")
        self.assertEqual(self.replayed(case, 0)[0]["found"], 0)
        case["program"].pop(entries(case, "WAIT_STATUS")[0])
        found, text = self.replayed(case, 1)
        self.assertEqual({h["kind"] for h in found["list"]}, {"read_before_written"})
        self.assertEqual(found["list"][0]["first"]["entry"], entries(case, "CDMA.D_OP_ENABLE")[1])
        self.assertIn("hazards", text)

    def test_what_is_written_over_data_that_are_still_read(self):
        """PDP's result is put where the convolution beside it has its input."""
        case = self.case(BESIDE, "nv_small")
        self.assertEqual(self.replayed(case, 0)[0]["found"], 0)
        source = written(case, "CDMA.D_DAIN_ADDR_LOW_0")[0][1]
        end = source + 16 * 16 * 32 - 256
        written(case, "PDP.D_DST_BASE_ADDR_LOW")[0][1] = end
        found, _ = self.replayed(case, 1)
        (hazard,) = [h for h in found["list"] if h["kind"] == "overwritten_before_read"]
        self.assertEqual((hazard["first"]["client"], hazard["second"]["client"]), ("PDP", "CDMA_DAT"))
        self.assertEqual((hazard["first"]["operation"], hazard["second"]["operation"]), (2, 1))
        self.assertTrue(end <= hazard["address"] < end + 4 * 4 * 8)
        self.assertLess(hazard["first"]["cycle"], hazard["second"]["cycle"])

    def test_two_writers_of_one_place(self):
        case = self.case(BESIDE, "nv_small")
        written(case, "PDP.D_DST_BASE_ADDR_LOW")[0][1] = written(case, "SDP.D_DST_BASE_ADDR_LOW")[0][1]
        found, _ = self.replayed(case, 1)
        self.assertEqual([(h["kind"], h["first"]["client"], h["second"]["client"], h["amount"]) for h in found["list"]],
                         [("written_out_of_order", "PDP", "SDP", 4 * 4 * 8)])

    def test_pooling_into_the_end_of_its_own_input(self):
        """Its first results are there before its last lines have been read."""
        case = self.case({"input": {"width": 32, "height": 32, "channels": 8}, "layers": [POOL]}, "nv_small")
        end = written(case, "PDP_RDMA.D_SRC_BASE_ADDR_LOW")[0][1] + 32 * 32 * 8
        written(case, "PDP.D_DST_BASE_ADDR_LOW")[0][1] = end - 512
        found, _ = self.replayed(case, 1)
        self.assertEqual([(h["kind"], h["first"]["client"], h["second"]["client"], h["first"]["operation"], h["second"]["operation"])
                          for h in found["list"]], [("reads_itself", "PDP", "PDP", 1, 1)])
        self.assertTrue(end - 512 <= found["list"][0]["address"] < end)

    def test_banks_on_which_cdma_and_csc_do_not_agree(self):
        network = CHAIN | {"layers": [CHAIN["layers"][0] | {"kernel": {"width": 3, "height": 3, "count": 128}}]}
        case = self.case(network, "nv_small")
        cdma, csc = written(case, "CDMA.D_BANK")[0], written(case, "CSC.D_BANK")[0]
        banks, depth = (cdma[1] & 0xffff) + 1, 512
        for fetched, read, kind in ((banks, banks, None), (banks + 1, banks, "never_written"), (banks, banks + 1, "overwritten_before_read")):
            cdma[1], csc[1] = (fetched - 1) | 5 << 16, (read - 1) | 5 << 16
            found, text = self.replayed(case, 0 if kind is None else 1)
            kinds = {(h["where"], h["kind"]) for h in found["list"]}
            self.assertEqual(kinds == set(), kind is None, kinds)
            if kind:
                self.assertIn(("CBUF", kind), kinds)
                first = next(h for h in found["list"] if h["kind"] == kind)
                self.assertGreaterEqual(first["address"], read * depth, "weights stand behind the data")
                self.assertIn("CBUF entry", text)


class NoHazards(Hazards):
    def test_programs_of_ours(self):
        for command, model, machine in (("net", "models/networks/lenet5.json", "nv_small"), ("net", "models/onnx/resnet_small.onnx", "nv_full"),
                                        ("net", "models/onnx/resnet_small.onnx", "nv_large"), ("run", "models/dcgan_deconv5.json", "nv_small"),
                                        ("run", "models/resnet50_res3a_branch2b.json", "nv_large")):
            results = []
            for more in ([], ["--hazards"]):
                self.dlasim(command, ROOT / model, "--hw", machine, "--quiet", *more)
                results.append(self.result())
            self.assertEqual(results[1]["hazards"]["found"], 0, model)
            self.assertGreater(results[1]["hazards"]["accesses"], 1000, model)
            self.assertEqual(results[0]["cycles"], results[1]["cycles"], model)
            self.assertNotIn("hazards", results[0])

    def test_files_of_the_compiler(self):
        files = sorted(DATA.glob("loadables/*.nvdla"))[::9]
        self.assertTrue(files)
        for file in files:
            machine = next((m for m in ("nv_small_256", "nv_small", "nv_large", "nv_full") if m in file.name), "nv_full")
            self.dlasim("loadable", file, "--hw", machine, "--hazards", "--quiet")
            self.assertEqual(self.result()["hazards"]["found"], 0, file.name)

    def test_measured_cases(self):
        cases = [case for case in sorted(DATA.glob("rtl/**/*.json"))[::40] if json.loads(case.read_text()).get("finished", True)]
        self.assertTrue(cases)
        for case in cases:
            done = subprocess.run([DLASIM, "replay", case, "--hazards", "--quiet", "--out", "out"], cwd=self.folder, capture_output=True, text=True)
            hazards = self.result()["hazards"]
            self.assertEqual(hazards["found"], 0, case.name)
            # Some end while units work, others round bytes of weights up to 128, in others ends may meet: tests/data/README.md.
            self.assertLessEqual({b["rule"] for b in hazards["rules"]["list"]}, {"ends_while_working", "size", "early_end", "defect"}, case.name)
            self.assertEqual(done.returncode, 1 if hazards["rules"]["list"] else 0, case.name)

    def test_measured_cases_that_end_while_units_work(self):
        """Of those whose order was made at random; all others wait."""
        ends = 0
        for case in sorted(DATA.glob("rtl/**/mix_*.json")):
            subprocess.run([DLASIM, "replay", case, "--hazards", "--quiet", "--out", "out"], cwd=self.folder, capture_output=True, text=True, timeout=300)
            ends += any(b["rule"] == "ends_while_working" for b in self.result()["hazards"]["rules"]["list"])
        self.assertIn(f"{ends} end while units work", (ROOT / "tests/data/README.md").read_text())

    def test_time_alone_has_no_values_to_lose(self):
        self.dlasim("run", ROOT / "models/resnet50_res3a_branch2b.json", "--hazards", "--timing-only", status=2)


if __name__ == "__main__":
    DLASIM = str(Path(sys.argv[1]).resolve())
    chosen = {"Found": ["Found"], "None": ["NoHazards"]}.get(sys.argv[2] if len(sys.argv) > 2 else "", [])
    unittest.main(argv=[sys.argv[0], *chosen])
