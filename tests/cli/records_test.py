"""Timelines and waveforms of runs, read back by readers of their public formats. records_test.py DLASIM [CASE]"""

import json
import os
import shutil
import struct
import subprocess
import sys
import unittest
from collections import defaultdict
from pathlib import Path

import cli_test
from cli_test import SMALL, Case

NETWORK = {"name": "two", "input": {"width": 12, "height": 12, "channels": 16},
           "layers": [{"name": "a", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 16}},
                      {"name": "b", "op": "pool", "pool": {"function": "max", "kernel": {"width": 2, "height": 2}, "stride": {"x": 2, "y": 2}}}]}


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a protobuf message: integers, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert key & 7 == 2, key
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def read_timeline(file, flows=None):
    """Slices and counters by track, from the field numbers of Perfetto's public schema: {path: [(name, start, end)]}, {path: [(at, value)]}.
    `flows`: gets {id: [where it leaves, where it arrives]}, each (path, name, start)."""
    tracks, names, slices, begun, counters = {}, {}, defaultdict(list), {}, defaultdict(list)
    for number, packet in fields(file.read_bytes()):
        assert number == 1
        packet = dict(fields(packet))
        if 60 in packet:
            track = dict(fields(packet[60]))
            parent = tracks.get(track.get(5), "")
            tracks[track[1]] = parent + "/" + track[2].decode()
        if 12 in packet:
            for _, entry in fields(packet[12]):
                entry = dict(fields(entry))
                names[entry[1]] = entry[2].decode()
        if 11 in packet:
            event = dict(fields(packet[11]))
            track, at = tracks[event[11]], packet.get(8, 0)
            if event[9] == 1:
                assert track not in begun, "slices of a track overlap"
                assert not slices[track] or slices[track][-1][2] <= at, "slices of a track overlap"
                begun[track] = (names[event[10]], at)
                for field, end in ((47, 0), (48, 1)):
                    if field in event and flows is not None:
                        ends = flows.setdefault(struct.unpack("<Q", event[field])[0], [None, None])
                        assert ends[end] is None, "two ends of an arrow"
                        ends[end] = (track, names[event[10]], at)
            elif event[9] == 2:
                slices[track].append((*begun.pop(track), at))
            elif event[9] == 4:
                value = struct.unpack("<d", event[44])[0] if 44 in event else event.get(30, 0)
                counters[track].append((at, value if value < 1 << 63 else value - (1 << 64)))
    assert not begun
    return {track: told for track, told in slices.items() if told}, counters


def read_pipeline(file):
    """Kanata 0004: {instruction: {"label": .., stage: (start, end), "retired": cycle}}."""
    lines = file.read_text().splitlines()
    assert lines[0] == "Kanata\t0004" and lines[1].startswith("C=\t")
    now, told, alive = int(lines[1].split("\t")[1]), {}, set()
    for line in lines[2:]:
        word, *rest = line.split("\t")
        if word == "C":
            assert int(rest[0]) > 0
            now += int(rest[0])
        elif word == "I":
            assert rest[0] not in told
            told[rest[0]] = {}
            alive.add(rest[0])
        elif word == "L":
            told[rest[0]]["label"] = rest[2]
        else:
            assert rest[0] in alive, line
            one = told[rest[0]]
            if word == "S":
                one[rest[2]] = (now, None)
            elif word == "E":
                one[rest[2]] = (one[rest[2]][0], now)
            else:
                assert word == "R", line
                one["retired"] = now
                alive.remove(rest[0])
    assert not alive
    return told


def read_waves(file):
    """[(at, value)] of every signal by its path."""
    signals, scope, edges, now, defined = {}, [], defaultdict(list), None, False
    for line in file.read_text().splitlines():
        words = line.split()
        if not words:
            continue
        if not defined:
            if words[0] == "$scope":
                scope.append(words[2])
            elif words[0] == "$upscope":
                scope.pop()
            elif words[0] == "$var":
                assert words[3] not in signals
                signals[words[3]] = ".".join([*scope, words[4]])
            defined = words[0] == "$enddefinitions"
        elif line[0] == "#":
            assert now is None or int(line[1:]) > now
            now = int(line[1:])
        elif line[0] == "b":
            edges[signals[words[1]]].append((now, int(words[0][1:], 2)))
        elif line[0] != "$":
            edges[signals[line[1:]]].append((now, int(line[0])))
    return edges


# Probes that are the beats of a memory client.
CLIENTS = {"mcif2cdma_dat_rd_rsp_valid": "CDMA_DAT reads DBB", "mcif2cdma_wt_rd_rsp_valid": "CDMA_WT reads DBB",
           "mcif2pdp_rd_rsp_valid": "PDP reads DBB", "sdp2mcif_wr_req_valid": "SDP writes DBB"}


class Records(Case):
    """What --timeline and --waves write is what --events and the result say."""

    def recorded(self, command, file, *options):
        done = self.dlasim(command, file, "--out", "out", "--events", "events.json", "--timeline", "t.pftrace", "--waves", "w.vcd", "--tracks", "all", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        slices, counters = read_timeline(self.folder / "t.pftrace")
        return (json.loads((self.folder / "out/result.json").read_text()), json.loads((self.folder / "events.json").read_text()),
                slices, counters, read_waves(self.folder / "w.vcd"))

    def check(self, name, result, events, slices, counters, waves):
        for unit, row in result["units"].items():
            spent = defaultdict(int)
            for phase, start, end in slices.get(f"/{name}/{unit}", []):
                self.assertTrue(0 < start < end <= result["cycles"] + 1, (unit, start, end))
                spent[phase] += end - start
            self.assertEqual({phase: spent[phase] for phase in ("issuing", "starved", "blocked", "draining")},
                             {phase: row[phase] for phase in ("issuing", "starved", "blocked", "draining")}, unit)
        by_signal = {path.split(".")[-1]: edges for path, edges in waves.items()}
        self.assertEqual([at for at, _ in by_signal["interrupt"]], events["interrupt_cycles"])
        seen = 0
        for probe, told in events["probes"].items():
            edges = by_signal[probe.replace("*", "_")]
            self.assertEqual(edges[0], (0, 0))
            self.assertEqual([edge for start, length in told["runs"] for edge in ((start, 1), (start + length, 0))], edges[1:], probe)
            signal = slices.get(f"/{name}/signals/{probe}")
            if signal:
                self.assertEqual([[start, end - start] for _, start, end in signal], told["runs"], probe)
                seen += 1
            if probe in CLIENTS and told["active"]:
                self.assertEqual(sum(value for _, value in counters[f"/{name}/beats in 1,024 cycles/{CLIENTS[probe]}"]), told["active"], probe)
                self.assertEqual([[start, end - start] for _, start, end in slices[f"/{name}/memory clients/{CLIENTS[probe]}"]], told["runs"])
                seen += 1
        self.assertGreater(seen, 8)

    def test_a_layer(self):
        for hw, memory in (("nv_small", "ideal"), ("nv_full", "ddr4-2400")):
            recorded = self.recorded("run", self.write(dict(SMALL, name="small")), "--hw", hw, "--memory", memory)
            self.check("small", *recorded)
            self.assertEqual([(name, end - start) for name, start, end in recorded[2]["/small/steps"]], [("small", recorded[0]["cycles"])])
        layout = (self.folder / "w.vcd.gtkw").read_text()
        self.assertIn("csc.sc2mac_dat_a", layout)
        self.assertIn('[dumpfile] "w.vcd"', layout)

    def test_a_network(self):
        result, events, slices, counters, waves = self.recorded("net", self.write(NETWORK), "--hw", "nv_large")
        self.check("two", result, events, slices, counters, waves)
        steps = {name: (start - 1, end - 1) for track, told in slices.items() if track == "/two/steps" for name, start, end in told}
        self.assertEqual(steps, {step["name"]: (step["start"], step["done"]) for step in result["steps"] if step["done"] > step["start"]})

    def test_layers_stripes_and_arrows(self):
        layer = self.write(dict(SMALL, name="small"))
        result, events, _, counters, _ = self.recorded("run", layer, "--hw", "nv_large", "--memory", "ddr4-3200")
        flows = {}
        slices = read_timeline(self.folder / "t.pftrace", flows)[0]
        csc = result["units"]["csc"]["counters"]
        stripes = slices["/small/stripes/CSC"]
        self.assertEqual((len(stripes), sum(end - start for _, start, end in stripes)), (csc["packages"], csc["atoms"]))
        self.assertEqual([(start, end) for _, start, end in stripes][0][0], events["probes"]["sc2mac_dat_a"]["first"])
        self.assertEqual(len(slices["/small/stripes/CACC"]), csc["packages"])
        for unit in ("CDMA", "CSC", "CACC", "SDP"):
            layers = [told for group in (0, 1) for told in slices.get(f"/small/register groups/{unit} group {group}", []) if told[0] != "waits"]
            self.assertEqual(len(layers), result["units"]["cdma"]["counters"]["layers"], unit)
        # From the fetch to its use to the write-back: an arrow each, forward in time.
        self.assertEqual([[track.split("/")[-1].split()[0] for track, _, _ in ends] for _, ends in sorted(flows.items())],
                         [["CDMA", "CSC"], ["CSC", "CACC"], ["CACC", "SDP"]])
        entries = result["hardware"]["cbuf"]["banks"] * result["hardware"]["cbuf"]["bank_depth"]
        for kind in ("data", "weights"):
            values = [value for _, value in counters[f"/small/levels/CBUF {kind}"]]
            self.assertTrue(0 <= min(values) and 0 < max(values) <= entries, (kind, values[:9]))
        acts = sum(bank["activations"] for bank in result["memory_report"]["banks"]) if "banks" in result["memory_report"] else None
        rows = sum(len(told) for track, told in slices.items() if track.startswith("/small/DRAM banks/"))
        self.assertTrue(0 < rows and (acts is None or rows <= acts), (rows, acts))
        # Bytes over time are those of the result.
        read = sum(result["traffic"]["dbb"]["read_bytes_by_client"].values()) + sum(result["traffic"]["cvsram"]["read_bytes_by_client"].values())
        self.assertEqual(sum(value for track, told in counters.items() if " reads" in track and "/over time/" in track for _, value in told), read)

    def test_a_window_and_chosen_tracks(self):
        layer = self.write(dict(SMALL, name="small"))
        whole = self.recorded("run", layer, "--hw", "nv_small")[2]
        done = self.dlasim("run", layer, "--hw", "nv_small", "--timeline", "part.pftrace", "--window", "200:700", "--tracks", "units,stripes")
        self.assertEqual(done.returncode, 0, done.stderr)
        part, counters = read_timeline(self.folder / "part.pftrace")
        self.assertEqual(counters, {})
        expected = {}
        for track, told in whole.items():
            cut = [(name, max(start, 200), min(end, 700)) for name, start, end in told if start < 700 and end > 200]
            if cut and (track.count("/") == 2 and track.split("/")[2] in ("mcif", "cdma", "csc", "cmac_a", "cmac_b", "cacc", "sdp", "glb") or "/stripes/" in track):
                expected[track] = cut
        self.assertEqual(part, expected)
        for words in (("--window", "7:7"), ("--window", "x"), ("--tracks", "unit"), ("--window", "-1:4")):
            done = self.dlasim("run", layer, "--timeline", "x", *words)
            self.assertEqual((done.returncode, (self.folder / "x").exists()), (2, False), words)
            self.assertIn(words[0], done.stderr)

    def test_stripes_for_konata(self):
        layer = self.write(dict(SMALL, name="small"))
        result, events, slices, _, _ = self.recorded("run", layer, "--hw", "nv_large", "--pipeline", "p.kanata")
        told = read_pipeline(self.folder / "p.kanata")
        self.assertEqual(len(told), result["units"]["csc"]["counters"]["packages"])
        # The array begins with a stripe when its first atom is at the port, CACC when its first sums are.
        self.assertEqual([one["M"][0] for one in told.values()], [start for _, start, _ in slices["/small/stripes/CSC"]])
        self.assertEqual([one["A"][0] for one in told.values()], [start for _, start, _ in slices["/small/stripes/CACC"]])
        self.assertEqual(min(one["M"][0] for one in told.values()), events["probes"]["sc2mac_dat_a"]["first"])
        sent = [one["O"] for one in told.values() if "O" in one]
        self.assertTrue(sent and max(end for _, end in sent) == events["probes"]["cacc2sdp_valid"]["last"] + 1, sent[-1:])
        for one in told.values():
            stages = [one[stage] for stage in ("W", "S", "M", "A", "O") if stage in one]
            self.assertEqual([end for _, end in stages[:-1]], [start for start, _ in stages[1:]])
            self.assertEqual(one["retired"], stages[-1][1])

    def test_waveforms_go_through_gtkwave(self):
        """GTKWave's converters read the file and write it again: every probe has its edges still, each in its cycle."""
        layer = self.write(dict(SMALL, name="small"))
        _, events, _, _, _ = self.recorded("run", layer, "--hw", "nv_small")
        self.assertIsNotNone(shutil.which("vcd2fst"), "of Debian's gtkwave")
        subprocess.run(["vcd2fst", "w.vcd", "w.fst"], cwd=self.folder, check=True, capture_output=True)
        back = subprocess.run(["fst2vcd", "w.fst"], cwd=self.folder, check=True, capture_output=True, text=True)
        (self.folder / "back.vcd").write_text(back.stdout)
        edges = {path.split(".")[-1]: told for path, told in read_waves(self.folder / "back.vcd").items()}
        for probe, told in events["probes"].items():
            runs = [edge for start, length in told["runs"] for edge in ((start, 1), (start + length, 0))]
            self.assertEqual(edges[probe.replace("*", "_")], [(0, 0), *runs], probe)

    def test_a_recording(self):
        done = self.dlasim("export", self.write(SMALL), "--hw", "nv_small", "--to", "case.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        recorded = self.recorded("replay", "case.json")
        self.check(recorded[0]["name"], *recorded)
        done = self.dlasim("replay", "case.json", "--timeline", "alone.pftrace")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read_timeline(self.folder / "alone.pftrace")[0],
                         {track: told for track, told in recorded[2].items() if "/signals/" not in track})

    def test_cycles_do_not_change(self):
        plain = self.dlasim("run", self.write(SMALL), "--hw", "nv_small", "--out", "plain")
        recorded = self.recorded("run", "layer.json", "--hw", "nv_small")[0]
        self.assertEqual(plain.returncode, 0)
        told = json.loads((self.folder / "plain/result.json").read_text())
        self.assertEqual([told[key] for key in ("cycles", "units", "traffic")], [recorded[key] for key in ("cycles", "units", "traffic")])

    def test_what_cannot_be_is_refused(self):
        layer = self.write(SMALL)
        self.refused(self.dlasim("run", layer, "--timeline", "x", "--waves", "x"), "is already written by this command")
        self.refused(self.dlasim("run", layer, "--plan", "--timeline", "x"), "--timeline")
        self.refused(self.dlasim("run", layer, "--waves", "none/w.vcd"), "none/w.vcd")
        self.assertEqual({path.name for path in self.folder.iterdir()} - {"out"}, {"layer.json"})


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
