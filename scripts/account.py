#!/usr/bin/env python3
"""Where the cycles of whole layers go: every cycle from t0 to the done interrupt has one cause, and they add up.

usage: account.py [--dlasim PATH] [--page FILE] [LAYER.json@HARDWARE ...]

Runs each layer with `dlasim run --events`, cuts its time at events of the unit boundaries and prints a table, the
closed-form lower bounds of the report beneath it. Without layers: the three of scripts/figures/EXPERIMENTS.md.
--page FILE   rewrites the table between the markers of that page
Exit status 1 when a layer's causes do not add up to its cycles. Python standard library only.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from page_table import write_table

LAYERS = ["models/resnet50_res3a_branch2b.json@nv_full", "models/resnet50_res2a_branch1.json@nv_large", "models/alexnet_fc7.json@nv_full"]
PIPELINE = 22  # cycles from a pop in CSC to its port: src/machine/facts/csc.h, kDataToMac


def run(dlasim, layer, hardware):
    with tempfile.TemporaryDirectory() as folder:
        events = os.path.join(folder, "events.json")
        done = subprocess.run([dlasim, "run", layer, "--hw", hardware, "--quiet", "--out", folder, "--events", events],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{layer}: {done.stderr.strip()}")
        return json.loads(Path(folder, "result.json").read_text()), json.loads(Path(events).read_text())


def account(events, passes):
    """(cause, cycles) in the order of time. With several passes the first one's start and the last one's end."""
    probes = events["probes"]
    first, last = (lambda name: probes[name]["first"]), (lambda name: probes[name]["last"])
    runs = lambda name: probes[name]["runs"]
    loads = [start for start, _ in runs("csc_load_gap")]
    begin, end = first("sc2mac_dat_a"), last("sc2mac_dat_a") + 1
    popped = loads[0] - PIPELINE if loads and loads[0] < begin else begin - PIPELINE
    filled = max(start for name in ("cdma2sc_dat_updt", "cdma2sc_wt_updt") for start, _ in runs(name) if start < popped)
    gaps = {cause: sum(length for start, length in runs(f"csc_{cause}_gap") if start >= begin) for cause in ("package", "load", "credit")}
    inside = [("MAC: an atom enters the array", probes["sc2mac_dat_a"]["active"]),
              ("bubble: kernels not yet in the buffer", gaps["package"]),
              ("bubble: the next weights still load into the array", gaps["load"]),
              ("bubble: CACC is full, SDP or memory is late", gaps["credit"])]
    between = end - begin - sum(cycles for _, cycles in inside)
    assert passes > 1 or between == 0, "the gaps do not tile the time between the atoms"
    if passes > 1:
        inside.append(("between passes: CSC drains and restarts", between))
    cuts = [("start-up: last register write to the first read request", min(first("cdma_dat2mcif_rd_req_valid"), first("cdma_wt2mcif_rd_req_valid"))),
            ("fill: latency of the first read", min(first("mcif2cdma_dat_rd_rsp_valid"), first("mcif2cdma_wt_rd_rsp_valid"))),
            ("fill: the whole input and the first kernels into the buffer", filled),
            ("fill: notice of it to the first weight load", popped),
            ("fill: the first weights into the array", begin - PIPELINE),
            ("fill: depth of CSC", begin),
            (None, end),
            ("drain: depth of CMAC", max(last("mac_a2accu"), last("mac_b2accu")) + 1),
            ("drain: last sums through CACC", last("cacc2sdp_valid") + 1),
            ("drain: last results through SDP", last("sdp2mcif_wr_req_valid") + 1),
            ("write-back: answer of memory, interrupt", events["interrupt_cycles"][-1])]
    rows, at = [], 0
    for cause, until in cuts:
        rows += [(cause, until - at)] if cause else inside
        at = until
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", nargs="*", default=LAYERS, metavar="LAYER.json@HARDWARE")
    parser.add_argument("--dlasim", default="build/dlasim")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    columns, wrong = [], 0
    for name in options.layers:
        layer, _, hardware = name.partition("@")
        result, events = run(options.dlasim, layer, hardware or "nv_full")
        rows = account(events, result["plan"]["passes"])
        total = sum(cycles for _, cycles in rows)
        if total != result["cycles"] or any(cycles < 0 for _, cycles in rows):
            print(f"{name}: the causes add up to {total}, the layer takes {result['cycles']} cycles", file=sys.stderr)
            wrong = 1
        columns.append((f"{result['name']}, {hardware or 'nv_full'}", rows, result))
    cell = lambda n, of: f"{n:,} | {100 * n / of:.2f} %"
    lines = ["| cycles | " + " | ".join(f"{name} | share" for name, _, _ in columns) + " |", "|---" + "|---:|---:" * len(columns) + "|"]
    for i, (cause, _) in enumerate(columns[0][1]):
        lines.append(f"| {cause} | " + " | ".join(cell(rows[i][1], r["cycles"]) for _, rows, r in columns) + " |")
    lines.append("| **sum** = done interrupt | " + " | ".join(f"**{r['cycles']:,}** | 100 %" for _, _, r in columns) + " |")
    for bound in (b for b in columns[0][2]["bounds"] if b != "largest"):
        lines.append(f"| lower bound `{bound}` | " + " | ".join(cell(r["bounds"][bound], r["cycles"]) for _, _, r in columns) + " |")
    table = "\n".join(lines)
    print(table)
    if options.page:
        write_table(options.page, "account", table)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
