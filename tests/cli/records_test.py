"""Timelines and waveforms of runs, read back by readers of their public formats. records_test.py DLASIM [CASE]"""

import json
import os
import sys
import unittest
from collections import defaultdict

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
        else:
            assert key & 7 == 2, key
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def read_timeline(file):
    """Slices and counters by track, from the field numbers of Perfetto's public schema: {path: [(name, start, end)]}, {path: [(at, value)]}."""
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
            track = tracks[event[11]]
            if event[9] == 1:
                assert track not in begun, "slices of a track overlap"
                begun[track] = (names[event[10]], packet.get(8, 0))
            elif event[9] == 2:
                slices[track].append((*begun.pop(track), packet.get(8, 0)))
            elif event[9] == 4:
                counters[track].append((packet.get(8, 0), event.get(30, 0)))
    assert not begun
    return slices, counters


def read_waves(file):
    """[(at, value)] of every signal by its path."""
    signals, scope, edges, now, defined = {}, [], defaultdict(list), None, False
    for line in file.read_text().splitlines():
        words = line.split()
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


class Records(Case):
    """What --timeline and --waves write is what --events and the result say."""

    def recorded(self, command, file, *options):
        done = self.dlasim(command, file, "--out", "out", "--events", "events.json", "--timeline", "t.pftrace", "--waves", "w.vcd", *options)
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
            if f"/{name}/beats from memory/{probe}" in counters:
                self.assertEqual(sum(value for _, value in counters[f"/{name}/beats from memory/{probe}"]), told["active"], probe)
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

    def test_a_recording(self):
        done = self.dlasim("export", self.write(SMALL), "--hw", "nv_small", "--to", "case.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        recorded = self.recorded("replay", "case.json")
        self.check(recorded[0]["name"], *recorded)
        done = self.dlasim("replay", "case.json", "--timeline", "alone.pftrace")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read_timeline(self.folder / "alone.pftrace")[0], recorded[2])

    def test_cycles_do_not_change(self):
        plain = self.dlasim("run", self.write(SMALL), "--hw", "nv_small", "--out", "plain")
        recorded = self.recorded("run", "layer.json", "--hw", "nv_small")[0]
        self.assertEqual(plain.returncode, 0)
        told = json.loads((self.folder / "plain/result.json").read_text())
        self.assertEqual([told[key] for key in ("cycles", "units", "traffic")], [recorded[key] for key in ("cycles", "units", "traffic")])

    def test_what_cannot_be_is_refused(self):
        layer = self.write(SMALL)
        self.refused(self.dlasim("run", layer, "--timeline", "x", "--waves", "x"), "is written by this command already")
        self.refused(self.dlasim("run", layer, "--plan", "--timeline", "x"), "--timeline")
        self.refused(self.dlasim("run", layer, "--waves", "none/w.vcd"), "none/w.vcd")
        self.assertEqual({path.name for path in self.folder.iterdir()} - {"out"}, {"layer.json"})


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
