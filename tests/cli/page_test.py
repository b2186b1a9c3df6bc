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
            found = re.search(r'data-found="([^"]*)"', text)
            if not found:
                sys.exit(f"page_test: the page did not come to its end: {re.findall('data-error=.[^>]*', text)}")
            out = json.loads(found.group(1).replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
            ran = [row for row in rows if row["cycles"] is not None]
            slower = [row for row in ran if row["slower"]]
            # The front by its definition: nobody is at least as good in both columns and better in one.
            front = [row["point"] for row in ran if not any(
                o["area_mm2"] <= row["area_mm2"] and o["cycles"] <= row["cycles"] and (o["area_mm2"], o["cycles"]) != (row["area_mm2"], row["cycles"]) for o in ran)]
            expect(out["title"], SWEEP["name"], "the title")
            expect(out["summary"], f"12 of 12 points, {len(ran)} with a result, 3 without, {sum(not row['measured'] for row in ran)} on unmeasured machines" +
                   (f", {len(slower)} slower than a smaller neighbour" if slower else ""), "the summary")
            expect(out["technology"], "Area and energy: technology 16nm, 3 of 20 numbers are assumptions", "the technology")
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
            expect(("Unmeasured" in out["says"], "assumptions: sram_bit_um2" in out["says"]), (not best["measured"], True), "what is said of the point")
            expect(sorted(out["themes"]), ["dark", "light"], "the themes")
            expect(out["png"], ["data:image/png;base64,"] * 3, "the pictures")
            expect(out["svg"], [True, True], "the drawing")
            expect((out["overflow"] <= 0, out["canvas"]), (True, True), f"all fits into {width} pixels")
        for theme, width in (("light", 1280), ("dark", 1280), ("light", 500)):
            shot = Path(sys.argv[3] if len(sys.argv) > 3 else folder) / f"{theme}_{width}.png"
            chromium(program, f"file://{folder}/out/sweep.html?theme={theme}", f"--window-size={width},2300", f"--screenshot={shot}")
            expect(struct.unpack(">II", shot.read_bytes()[16:24]), (width, 2300), "the screenshot")
    print("the page of 12 points works in two widths and both themes")


if __name__ == "__main__":
    main()
