#!/usr/bin/env python3
"""sweep.html in headless Chromium: docs/SWEEPS.md.

usage: page_test.py DLASIM CHROMIUM [FOLDER]      FOLDER: screenshots are left there

A script that is appended to a copy of the page uses it as a reader does - chooses, filters, clicks, saves - and writes down what it finds.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

LAYER = {"input": {"width": 8, "height": 8, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 32}}
SWEEP = {"name": "</script><b>wide & deep", "base": {"layer": LAYER, "hw": "nv_large", "memory": "ddr4-2400"},
         "axes": {"mac.atomic_c": [16, 32, 48, 64], "mac.atomic_k": "= max(16, mac.atomic_c / 2)", "cbuf.banks": [4, 8, 16]}}
SCRIPT = r"""
<script>
addEventListener("error", (event) => { document.documentElement.dataset.error = event.message; });
setTimeout(() => {
  const out = {}, $ = (s) => document.querySelector(s);
  const lines = () => [...document.querySelectorAll("#table tbody tr")].map((row) => +row.cells[0].textContent);
  out.title = $("#title").textContent;
  out.summary = $("#summary").textContent;
  out.rows = lines();
  out.front = page.front(page.ran, "area_mm2", "cycles", true, true).map((row) => row[0]);
  out.note = $("#pareto [data-role=note]").textContent;
  out.technology = $("#technology summary").textContent;
  out.assumed = [...document.querySelectorAll("#technology tr.assumed")].map((row) => row.cells[0].textContent);
  $("#filter").value = "cbuf.banks = 8, mac.atomic_c >= 32"; $("#filter").dispatchEvent(new Event("input"));
  out.filtered = lines();
  $("#filter").value = "power of two"; $("#filter").dispatchEvent(new Event("input"));
  out.refused = lines();
  out.why = [...document.querySelectorAll("#table td.why")].map((cell) => cell.textContent);
  $("#filter").value = ""; $("#filter").dispatchEvent(new Event("input"));
  [...document.querySelectorAll("#table th")].find((th) => th.textContent === "cycles").click();
  out.sorted = lines();
  const parallel = page.drawings[2].chart;
  parallel.dispatchAction({ type: "axisAreaSelect", parallelAxisIndex: 2, intervals: [[7, 9]] });
  setTimeout(() => {
    out.brushed = lines().sort((a, b) => a - b);
    $("#parallel [data-role=clear]").click();
    out.unbrushed = lines().length;
    document.querySelectorAll("#table tbody tr")[0].click();
    out.open = $("#point").open;
    out.links = [...document.querySelectorAll("#point a")].map((a) => a.getAttribute("href"));
    out.command = $("#point code").textContent;
    out.says = [...document.querySelectorAll("#point p.soft")].map((p) => p.textContent).join(" ");
    $("#close").click();
    const before = document.documentElement.dataset.theme;
    $("#theme").click();
    out.themes = [before, document.documentElement.dataset.theme];
    out.png = page.drawings.map((d) => d.save("png").slice(0, 22));
    out.overflow = document.documentElement.scrollWidth - window.innerWidth;
    out.canvas = [...document.querySelectorAll("canvas")].every((c) => c.getBoundingClientRect().right <= window.innerWidth + 1);
    const image = new Image();
    image.onload = () => { out.svg = [image.width > 100, image.height > 100]; document.documentElement.dataset.found = JSON.stringify(out); };
    image.src = page.drawings[0].save("svg");
  }, 300);
}, 300);
</script>
"""


# Two workloads and requirements: a row a machine.
NETWORK = {"name": "n", "input": {"width": 8, "height": 8, "channels": 32},
           "layers": [{"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 32}}]}
MACHINES = {"base": {"hw": "nv_large"}, "axes": {"mac.atomic_c": [16, 32, 64], "mac.atomic_k": [16, 32], "cbuf.banks": [8, 16]},
            "exclude": ["mac.atomic_c < mac.atomic_k"],
            "workloads": [{"network": NETWORK, "weight": 3}, {"network": NETWORK | {"name": "m", "input": {"width": 20, "height": 20, "channels": 32}}}]}
MACHINE_SCRIPT = r"""
<script>
addEventListener("error", (event) => { document.documentElement.dataset.error = event.message; });
setTimeout(() => {
  const out = {}, $ = (s) => document.querySelector(s);
  out.summary = $("#summary").textContent;
  out.heads = [...document.querySelectorAll("#table th")].map((th) => th.textContent.replace(/ .$/, ""));
  out.rows = [...document.querySelectorAll("#table tbody tr")].map((row) => +row.cells[0].textContent);
  out.meeting = page.meeting.map((row) => row[0]);
  out.front = page.front(page.meeting, "area_mm2", "mean.frames_per_s", true, false).map((row) => row[0]);
  out.note = $("#pareto [data-role=note]").textContent;
  const series = page.drawings[0].chart.getOption().series;
  out.pale = series[0].data.filter((d) => d.itemStyle).map((d) => d.row[0]);
  out.bars = [series[2].data.length, series[3].data.length, series[2].data.slice(0, 2).map((d) => d[0])];
  out.star = series[4].data.map((d) => d.row[0]);
  out.lines = series[0].markLine.data.map((d) => d.xAxis ?? d.yAxis);
  out.answer = [$("#answer").hidden, $("#verdict").textContent, [...document.querySelectorAll("#limits tbody tr")].map((tr) => tr.cells[0].textContent)];
  out.steps = [...document.querySelectorAll("#steps tbody tr")].map((tr) => [tr.cells[0].textContent, tr.className]);
  out.red = [...document.querySelectorAll("#table td.bad")].map((td) => td.textContent);
  $("#filter").value = "meets = true"; for (const kind of ["input", "change"]) $("#filter").dispatchEvent(new Event(kind));
  out.hash = new URLSearchParams(location.hash.slice(1)).get("filter");
  $("#filter").value = ""; for (const kind of ["input", "change"]) $("#filter").dispatchEvent(new Event(kind));
  out.csv = page.drawings[0].csv().split("\n").length;
  document.querySelectorAll("#table tbody tr")[0].click();
  out.links = [...document.querySelectorAll("#point a")].map((a) => a.getAttribute("href"));
  out.command = $("#point code").textContent;
  document.documentElement.dataset.found = JSON.stringify(out);
}, 300);
</script>
"""


def found_in(text):
    found = re.search(r'data-found="([^"]*)"', text)
    if not found:
        sys.exit(f"page_test: the page did not come to its end: {re.findall('data-error=.[^>]*', text)}")
    return json.loads(found.group(1).replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def neighbours(rows, row):
    """One step up, one step down on each axis, as far as there are such machines."""
    axes = MACHINES["axes"]
    for axis, values in axes.items():
        for step in (1, -1):
            at = values.index(row[axis]) + step
            if 0 <= at < len(values):
                yield from (r for r in rows if r[axis] == values[at] and all(r[other] == row[other] for other in axes if other != axis))


def expect_machines(dlasim, program, folder):
    def run(sweep, status):
        (folder / "m.json").write_text(json.dumps(sweep))
        done = subprocess.run([dlasim, "sweep", "m.json", "--timing-only", "--out", "machines", "--quiet", "--restart"], cwd=folder, capture_output=True,
                              text=True, timeout=200)
        expect((done.returncode, done.stderr), (status, ""), "the status of machines")
        return json.loads((folder / "machines/machines.json").read_text())
    all_of_them = run(MACHINES, 0)
    areas, powers = (sorted(row[column] for row in all_of_them) for column in ("area_mm2", "worst.power_mw"))
    rows = run(MACHINES | {"require": [f"area_mm2 < {areas[-1]}", f"power_mw < {powers[5]}"]}, 4)
    page = (folder / "machines/sweep.html").read_text()
    (folder / "machines/test.html").write_text(page.replace("</body>", MACHINE_SCRIPT + "</body>"))
    out = found_in(chromium(program, f"file://{folder}/machines/test.html", "--window-size=1280,1600", "--dump-dom"))
    ran, meeting = [row for row in rows if row["mean.cycles"] is not None], [row for row in rows if row["meets"]]
    expect(0 < len(meeting) < len(ran) < len(rows), True, "some machines meet everything, some run and do not, some do not run")
    expect(out["summary"], f"{len(rows)} of {len(rows)} machines, {len(ran)} with a result, {len(meeting)} meet everything, {len(rows) - len(ran)} without, "
           f"{sum(not row['measured'] for row in ran)} on unmeasured machines", "the summary of machines")
    expect(out["rows"], [row["machine"] for row in rows], "the table of machines")
    expect(out["heads"][:5], ["machine", *MACHINES["axes"], "meets"], "its first columns")
    expect(set(out["heads"]) >= {"mean.frames_per_s", "n.frames_per_s", "m.frames_per_s", "fails"}, True, "its columns")
    expect(out["meeting"], [row["machine"] for row in meeting], "what meets everything")
    front = [row for row in meeting if not any(o["area_mm2"] <= row["area_mm2"] and o["mean.frames_per_s"] >= row["mean.frames_per_s"] and o != row for o in meeting)]
    expect(sorted(out["front"]), [row["machine"] for row in front], "the front of machines")
    expect(out["pale"], [row["machine"] for row in ran if not row["meets"]], "what is pale")
    least = min(row["area_mm2"] for row in front)
    expect((out["bars"][0], out["bars"][1], [round(x / least, 3) for x in out["bars"][2]]), (3 * len(front), 0, [0.937, 1.063]), "the bars of the areas' error")
    expect(out["note"].startswith(f"{len(front)} of {len(meeting)} machines that meet everything are on the front"), True, out["note"])
    # The answer: the smallest that meets everything, its limits, one step on each axis; a limit that is missed is red.
    smallest = min(meeting, key=lambda row: (row["area_mm2"], row["mean.total_uj"] or 0))
    expect(out["star"], [smallest["machine"]], "the machine with the star")
    expect(out["answer"][0] or "has the least area_mm2" not in out["answer"][1], False, out["answer"][1])
    expect(sorted(set(limit.split()[0] for limit in out["answer"][2])), ["area_mm2", "m.power_mw", "n.power_mw"], "the limits of the answer")
    expect(out["lines"], [areas[-1]], "limits as lines of the chart")
    expect(len(out["steps"]) > 0 and all(bool(mark) == (not row["meets"]) for (_, mark), row in
                                         zip(out["steps"], [r for r in neighbours(rows, smallest)])), True, "the steps of the answer")
    expect(sorted(out["red"]), sorted(row["fails"] for row in rows if row["fails"] and row["mean.cycles"] is not None), "what is red")
    expect(out["hash"], "meets = true", "the link keeps the filter")
    expect(out["csv"], len(ran) + 2, "the lines of a chart's CSV")
    first = rows[0]["machine"]
    expect(out["command"], f"dlasim sweep m.json --out verified --machine {first}", "the command of a machine")
    files = ("report.txt", "result.json") if rows[0]["mean.cycles"] is not None else ("messages.txt",)
    expect(out["links"], [f"points/{first + i:04}/{file}" for i in range(2) for file in files], "the links of a machine")


def chromium(program, page, *arguments):
    with tempfile.TemporaryDirectory(prefix="dlasim_chromium_") as profile:
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                   "--virtual-time-budget=8000", *arguments, page]
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout


def expect(found, expected, what):
    if found != expected:
        sys.exit(f"page_test: {what}: found {found}, expected {expected}")


def main():
    dlasim, program = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="dlasim_page_") as name:
        folder = Path(name)
        (folder / "s.json").write_text(json.dumps(SWEEP))
        done = subprocess.run([dlasim, "sweep", "s.json", "--out", "out", "--quiet"], cwd=folder, capture_output=True, text=True, timeout=200)
        expect(done.returncode, 4, "the sweep's status")  # 48 is no power of two
        rows = json.loads((folder / "out/points.json").read_text())
        page = (folder / "out/sweep.html").read_text()
        expect(re.findall(r'(?:src|href)="(?:https?:)?//', page), [], "what the page loads from elsewhere")
        (folder / "out/test.html").write_text(page.replace("</body>", SCRIPT + "</body>"))
        for width in (1280, 500):
            text = chromium(program, f"file://{folder}/out/test.html", f"--window-size={width},1600", "--dump-dom")
            out = found_in(text)
            ran = [row for row in rows if row["cycles"] is not None]
            slower = [row for row in ran if row["slower"]]
            # The front by its definition: nobody is at least as good in both columns and better in one.
            front = [row["point"] for row in ran if not any(
                o["area_mm2"] <= row["area_mm2"] and o["cycles"] <= row["cycles"] and (o["area_mm2"], o["cycles"]) != (row["area_mm2"], row["cycles"]) for o in ran)]
            expect(out["title"], SWEEP["name"], "the title")
            expect(out["summary"], f"12 of 12 points, {len(ran)} with a result, 3 without, {sum(not row['measured'] for row in ran)} on unmeasured machines" +
                   (f", {len(slower)} slower than a smaller neighbour" if slower else ""), "the summary")
            expect(out["technology"], "Area and energy: technology 16nm, 3 of 24 numbers are assumptions", "the technology")
            expect(out["assumed"], ["sram_bit_um2", "multiply_int16_pj", "leakage_mw_per_mm2"], "its assumptions")
            expect(out["rows"], list(range(12)), "the table")
            expect(sorted(out["front"]), front, "the Pareto front")
            expect(out["filtered"], [row["point"] for row in rows if row["cbuf.banks"] == 8 and row["mac.atomic_c"] >= 32], "the filter by columns")
            expect(out["refused"], [row["point"] for row in rows if row["cycles"] is None], "the filter by words")
            expect(out["why"], [row["reason"] for row in rows if row["cycles"] is None], "why they have none")
            expect(out["sorted"][:9], [row["point"] for row in sorted(ran, key=lambda row: row["cycles"])], "the table by cycles")
            expect(out["brushed"], [row["point"] for row in ran if row["cbuf.banks"] == 8], "what the brush chooses")
            expect(out["unbrushed"], 12, "rows without a brush")
            best = rows[out["sorted"][0]]
            expect(out["open"], True, "the dialog of a point")
            expect(out["links"], [f"points/{best['point']:04}/{file}" for file in ("report.txt", "result.json")], "the links of a point")
            expect(all((folder / "out" / link).is_file() for link in out["links"]), True, "their files")
            expect(out["command"], best["command"], "the command")
            expect([text in out["says"] for text in ("unmeasured machine", "measured machine", f"Nearest measured program: {best['nearest']}", "assumptions: sram_bit_um2")],
                   [not best["measured"], True, True, True], "what is said of the point")
            expect(sorted(out["themes"]), ["dark", "light"], "the themes")
            expect(out["png"], ["data:image/png;base64,"] * 3, "the pictures")
            expect(out["svg"], [True, True], "the drawing")
            expect((out["overflow"] <= 0, out["canvas"]), (True, True), f"all fits into {width} pixels")
        for theme, width in (("dark", 1280), ("light", 500)):
            shot = Path(sys.argv[3] if len(sys.argv) > 3 else folder) / f"{theme}_{width}.png"
            chromium(program, f"file://{folder}/out/sweep.html?theme={theme}", f"--window-size={width},2300", f"--screenshot={shot}")
            expect(struct.unpack(">II", shot.read_bytes()[16:24]), (width, 2300), "the screenshot")
        expect_machines(dlasim, program, folder)
    print("the page of 12 points works in two widths and both themes")


if __name__ == "__main__":
    main()
