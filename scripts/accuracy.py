#!/usr/bin/env python3
"""Replays measured cases, each of which `dlasim replay` compares with the reference hardware, cycle by cycle.

usage: accuracy.py [--dlasim PATH] [--jobs N] [--only PREFIXES] [--every N] [--leap-law N] [--page FILE] [--known-gaps FILE]
                   [--clocks FILE] CASE_OR_FOLDER...

A case with "finished": false is one in which the reference hangs: the replay must end with exit status 3 and its events, which are compared
but for the probes.
A case is exact when all of these are equal:
  done    the cycle of every interrupt
  bus     the logs of read and write commands (cycle, address, beats, id) and the totals of both ports
  probes  first, last, active and every recorded run of every probe
  data    the CRC of every output region and the value of every register read that the case names
--leap-law    also replays one case of N evaluating every unit in every cycle; the events must be the same bytes, the causes of the
              cycles the same; these add up to the cycles in any case
--page FILE   rewrites the table between the markers of that page
--clocks FILE   when the gated clocks ran in some of the cases: every run of every domain must be equal, the cycles of the
              report too, and all these cases must be among those that are played
--known-gaps FILE   cases that are not exact yet, one name or PREFIX* a line: they must differ, all others must be exact
Exit status 0 when every case is exact, or is a known gap and differs. Python standard library only.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Registers that a case reads, and where result.json says the same of a single layer.
COUNTERS = {"CDMA.D_PERF_DAT_READ_STALL": ("cdma", "data_read_stall"), "CDMA.D_PERF_WT_READ_STALL": ("cdma", "weight_read_stall"),
            "CDMA.D_PERF_DAT_READ_LATENCY": ("cdma", "data_read_latency"), "CDMA.D_PERF_WT_READ_LATENCY": ("cdma", "weight_read_latency"),
            "SDP.D_PERF_WDMA_WRITE_STALL": ("sdp", "wdma_write_stall")}
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def between(page, begin, end, text):
    head, rest = page.split(begin, 1)
    return head + begin + "\n" + text + "\n" + end + rest.split(end, 1)[1]


def sum_of(tree):
    """Of the leaves of a tree of name to cycles."""
    return sum(map(sum_of, tree.values())) if isinstance(tree, dict) else tree


def replay(dlasim, case, events, *flags, hangs=False):
    """The events file and what the replay says of differences. It compares by itself; status 1: something differs."""
    run = subprocess.run([dlasim, "replay", str(case), "--quiet", "--events", events, *flags],
                         capture_output=True, text=True, timeout=600)
    lines = (run.stderr or run.stdout).strip().splitlines()
    if run.returncode not in ((3,) if hangs else (0, 1)):
        raise RuntimeError(lines[0] if lines else f"exit status {run.returncode}")
    return Path(events).read_bytes(), [line for line in lines if ": expected " in line]


def without_probes(text):
    """Of a machine that hangs: how long a valid stays high says when somebody looked."""
    return json.loads(text) | {"probes": {}}


def wrong_clocks(measured, probes, report):
    """Domains of which a run, or the cycles that the report counts, are not as measured; units of which its idle runs are not."""
    wrong, of_unit, units, last = [], {}, report["units"], report["cycles"]
    for domain, want in measured.items():
        unit, name = domain.split(".")
        runs = probes.get(f"clock_on_{unit}_{name}", {"runs": []})["runs"]
        cycles = sum(min(start + length, last + 1) - min(start, last + 1) for start, length in want)
        if runs != want or units[unit]["clock_on"].get(name, 0) != cycles:
            wrong.append(f"clock of {domain}")
        of_unit.setdefault(unit, []).extend(want)
    for unit, runs in of_unit.items():
        idle, end = {}, None
        for start, length in sorted(runs):
            if end is not None and end < start <= last:
                least = 1 << (start - end).bit_length() - 1
                sums = idle.setdefault(least, [least, 0, 0])
                sums[1], sums[2] = sums[1] + 1, sums[2] + start - end
            end = max(end or 0, start + length)
        if units[unit]["idle_runs"] != [sums for _, sums in sorted(idle.items())]:
            wrong.append(f"idle runs of {unit}")
    return wrong


def check(path, options, steps):
    case = json.loads(path.read_text())
    if "expected" not in case:
        return None
    hangs, want = not case.get("finished", True), case["expected"]
    row = {"id": case["id"], "config": case["config"], "prefix": path.name.split("_")[0], "wrong": []}
    with tempfile.TemporaryDirectory() as folder:
        try:
            text, said = replay(options.dlasim, path, os.path.join(folder, "events.json"), "--out", folder, hangs=hangs)
            report = {"causes": {}, "cycles": 0} if hangs else json.loads(Path(folder, "result.json").read_text())
            if steps:
                stepped, _ = replay(options.dlasim, path, os.path.join(folder, "stepped.json"), "--stepping", "--out", os.path.join(folder, "stepped"), hangs=hangs)
                if without_probes(stepped) != without_probes(text) if hangs else stepped != text:
                    row["wrong"].append("skipping and stepping differ")
                if not hangs and json.loads(Path(folder, "stepped", "result.json").read_text())["causes"] != report["causes"]:
                    row["wrong"].append("skipping and stepping differ in the causes of the cycles")
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            row["wrong"].append(str(error))
            return row | dict.fromkeys(("done", "bus", "probes", "data"), False)
    if sum_of(report["causes"]) != report["cycles"]:
        row["wrong"].append(f'the causes are of {sum_of(report["causes"])} cycles, not {report["cycles"]}')
    if hangs:  # no report: the messages have the differences
        row |= dict.fromkeys(("done", "bus", "probes", "data"), not said)
        row["wrong"] += said
    else:
        differences, compared = report.get("differences", []), report.get("compared", {})
        for group in ("done", "bus", "probes", "data"):
            row[group] = not any(d["group"] == group for d in differences)
        row["data"] = row["data"] if "data" in compared else None
        row["wrong"] += [d["signal"] for d in differences]
        if "done" not in compared:
            row["wrong"].append("nothing was compared")
    row["wrong"] += [f"report of {name}" for name, value in want.get("reads", [])
                     if not hangs and name in COUNTERS and len(case["layers"]) == 1 and report["units"][COUNTERS[name][0]]["counters"][COUNTERS[name][1]] != value]
    if case["id"] in options.clocks:
        row["wrong"] += wrong_clocks(options.clocks[case["id"]]["on"], json.loads(text)["probes"], report)
    return row


def table(rows, kinds):
    """Markdown: a line a configuration, with `kinds` a line a kind of case, and the sum."""
    lines = ["| cases | number | done = | bus = | probes = | data = |", "|---|---:|---:|---:|---:|---:|"]

    def line(name, chosen):
        judged = [r for r in chosen if r["data"] is not None]
        lines.append(f"| {name} | {len(chosen)} | {sum(r['done'] for r in chosen)} | {sum(r['bus'] for r in chosen)} | "
                     f"{sum(r['probes'] for r in chosen)} | {sum(r['data'] for r in judged)} of {len(judged)} |")

    for config in sorted({r["config"] for r in rows}):
        line(config, [r for r in rows if r["config"] == config])
    for prefix in sorted({r["prefix"] for r in rows if kinds}):
        line(f"`{prefix}_`", [r for r in rows if r["prefix"] == prefix])
    line("**all**", rows)
    return "\n".join(lines)


def known_gaps(file):
    lines = (line.split("#", 1)[0].strip() for line in file.read_text().splitlines())
    return [line for line in lines if line]


def judge(rows, gaps, show):
    """Names what is wrong: a case that differs and is no known gap, a gap that is closed. True when there is none."""
    listed = lambda row: any(fnmatch.fnmatchcase(row["id"], gap) for gap in gaps)
    bad = [r for r in rows if r["wrong"] and not listed(r)]
    for row in bad[:show]:
        print(f"  {row['id']}: {', '.join(row['wrong'][:8])}")
    closed = []
    for gap in gaps:
        cases = [r for r in rows if fnmatch.fnmatchcase(r["id"], gap)]
        if cases and not any(r["wrong"] for r in cases):
            closed.append(gap)
            print(f"  {gap}: a known gap that is closed: delete its line from the file of known gaps")
    exact, open_gaps = sum(not r["wrong"] for r in rows), sum(bool(r["wrong"]) and listed(r) for r in rows)
    print(f"exact {exact} of {len(rows)}" + (f", {open_gaps} known gaps" if open_gaps else ""))
    return not bad and not closed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--dlasim", default="build/dlasim")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="comma-separated prefixes of case names")
    parser.add_argument("--every", type=int, default=1, help="one of this number of cases is played")
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--leap-law", type=int, metavar="N", help="one of this number of cases is stepped too")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--known-gaps", type=Path)
    parser.add_argument("--clocks", type=lambda file: json.loads(Path(file).read_text())["cases"], default={})
    options = parser.parse_args()
    files = [f for p in options.paths for f in (sorted(p.rglob("*.json")) if p.is_dir() else [p])]
    if options.only:
        files = [f for f in files if f.name.split("_")[0] in options.only.split(",")]
    files = files[::options.every]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        steps = [options.leap_law and i % options.leap_law == 0 for i in range(len(files))]
        rows = [r for r in pool.map(lambda f, steps: check(f, options, steps), files, steps) if r]
    if not rows:
        print("no cases found")
        return 1
    print(table(rows, True))
    right = judge(rows, known_gaps(options.known_gaps) if options.known_gaps else [], options.show)
    if options.clocks:
        left_out = options.clocks.keys() - {row["id"] for row in rows}
        print(f"clocks of {len(options.clocks)} cases" + "".join(f"; {name}: not played" for name in sorted(left_out)))
        right = right and not left_out
    if options.page:
        page = options.page.read_text()
        options.page.write_text(between(page, BEGIN, END, table(rows, False)))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
