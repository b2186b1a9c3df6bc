#!/usr/bin/env python3
"""Runs the commands of the gallery in docs/TIMELINE.md, takes the pictures of its pages and rewrites that section.

usage: gallery.py [--dlasim FILE] [--chromium FILE] [--docs FOLDER]

A figure in the text is read from the run of its picture. Python standard library and Chromium.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 1000
# Leaves one part of a page; `%s` sees to it that the part shows what it is to show. Says how high it is.
ONE_PART = """
<script>
setTimeout(() => {
  %s
  const kept = [%s].map((id) => document.querySelector(id)).map((part) => part.closest("section") ?? part);
  document.querySelectorAll("section").forEach((section) => kept.includes(section) || section.remove());
  document.querySelectorAll(".two .panel").forEach((panel) => panel.matches([%s].join(",")) || panel.remove());
  document.querySelector("a.skip")?.remove();
  document.querySelector("#theme").remove();
  window.page.draw?.();
  document.documentElement.dataset.high = Math.ceil(document.body.getBoundingClientRect().height);
}, 300);
</script>
"""


def leaves(tree):
    return sum(map(leaves, tree.values())) if isinstance(tree, dict) else tree


def share(result, *path):
    tree = result["causes"]
    for name in path:
        tree = tree.get(name, {})
    return f"{100 * (leaves(tree) if tree else 0) / result['cycles']:.0f} %"


def cycles(result):
    return f"{result['cycles']:,}"


class Camera:
    """Takes pictures of parts of a page that dlasim has written."""

    def __init__(self, chromium, folder):
        self.chromium, self.folder = chromium, folder

    def browser(self, page, *arguments):
        with tempfile.TemporaryDirectory(prefix="dlasim_chromium_") as profile:
            return subprocess.run([self.chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                                   "--virtual-time-budget=8000", *arguments, f"file://{page}?theme=light"],
                                  capture_output=True, text=True, check=True, timeout=300).stdout

    def take(self, page, picture, parts, script=""):
        ids = ", ".join(f'"{part}"' for part in parts)
        copy = self.folder / "part.html"
        copy.write_text(page.read_text().replace("</body>", ONE_PART % (script, ids, ids) + "</body>"))
        high = re.search(r'data-high="(\d+)"', self.browser(copy, f"--window-size={WIDTH},900", "--dump-dom"))
        if not high:
            sys.exit(f"{picture}: the page did not finish")
        self.browser(copy, f"--window-size={WIDTH},{high.group(1)}", f"--screenshot={picture}")


class Gallery:
    def __init__(self, options, folder):
        self.dlasim, self.docs, self.folder = options.dlasim, Path(options.docs), folder
        self.camera = Camera(options.chromium, folder)
        self.pictures = self.docs / "gallery"
        shutil.rmtree(self.pictures, ignore_errors=True)
        self.pictures.mkdir(parents=True)
        self.text = ""

    def picture(self, page, name, parts, script=""):
        self.camera.take(page, self.pictures / f"{name}.png", parts, script)

    def run(self, *words):
        """The page and the result of a run, and its command as a reader would give it."""
        done = subprocess.run([self.dlasim, *words, "--html", str(self.folder / "run.html"), "--out", str(self.folder / "out"), "--quiet"], cwd=ROOT)
        if done.returncode != 0:
            sys.exit(f"gallery: {words} ends with {done.returncode}")
        return self.folder / "run.html", json.loads((self.folder / "out/result.json").read_text()), f"dlasim {' '.join(words)} --html run.html"

    def entry(self, title, name, command, text):
        self.text += f"\n### {title}\n\n{text}\n\n![{title}](gallery/{name}.png)\n" + (f"\n```sh\n{command}\n```\n" if command else "")

    def make(self):
        page, result, command = self.run("net", "models/networks/resnet50.json", "--hw", "nv_large", "--memory", "ddr4-3200", "--timing-only")
        self.picture(page, "resnet50", ["#facts", "#causes", "#timeline"])
        self.entry("Where a network's time goes", "resnet50", command,
                   f"ResNet-50 on nv_large with DDR4-3200: {cycles(result)} cycles. The array computes in {share(result, 'array', 'computing')} of them; the bottleneck "
                   f"is memory in {share(result, 'memory')} and the accumulator, which cannot drain into SDP faster, in "
                   f"{share(result, 'array_idle', 'accumulator_full')}.")
        step = next(step for step in result["steps"] if step["name"] == "res2b_branch2a")
        self.picture(page, "tiles", ["#timeline"], "{ const step = page.steps.find((one) => one.name === 'res2b_branch2a'); page.view(step.start, step.done); }")
        self.entry("A tiled layer", "tiles", "",
                   f"The same run, zoomed to `res2b_branch2a`: {step['operations']} operations. It takes {step['share']:,} cycles; its largest bound is "
                   f"{step['bound_cycles']:,}.")
        page, result, _ = self.run("net", "models/networks/mobilenet_v1.json", "--hw", "nv_large", "--memory", "ddr4-3200", "--timing-only")
        self.picture(page, "roofline", ["#roofline"])
        self.entry("Which steps reach the roofline", "roofline", "",
                   f"MobileNet-v1 on nv_large, {cycles(result)} cycles. Depthwise layers are far below the roof: a group of one channel uses one lane of the array. "
                   "The size of a dot is its share of the time.")
        page, result, command = self.run("run", "models/resnet50_res2a_branch1.json", "--hw", "nv_large")
        self.picture(page, "stripes", ["#timeline"], "page.view(20000, 20700);")
        self.entry("Single stripes", "stripes", command,
                   "700 cycles of a 1 x 1 layer. CMAC works for a stripe of 64 cycles, then waits until CACC has delivered results to SDP: the cause of "
                   f"{share(result, 'array_idle', 'accumulator_full')} of all cycles. CSC is blocked (red) meanwhile.")
        page, result, _ = self.run("net", "models/networks/alexnet.json", "--hw", "nv_small", "--memory", "lpddr4-3200", "--timing-only")
        self.picture(page, "machine", ["#machine"])
        self.entry("How busy each unit is", "machine", "",
                   f"AlexNet on nv_small, {cycles(result)} cycles. {result['traffic']['dbb']['read_bytes_by_client']['CDMA_WT'] / 1e6:.0f} MB of weights come through a port of "
                   f"{result['hardware']['memory']['primary']['width_bytes']} bytes. The largest bound of the whole is `{result['bound']}`.")
        sweep = {"name": "ResNet-50 layer, sizes of the machine", "base": {"layer": str(ROOT / "models/resnet50_res3a_branch2b.json"), "hw": "nv_large", "memory": "ddr4-3200"},
                 "axes": {"mac.atomic_c": [16, 32, 64], "mac.atomic_k": [16, 32], "cbuf.banks": [8, 16, 32]}}
        (self.folder / "sweep.json").write_text(json.dumps(sweep))
        subprocess.run([self.dlasim, "sweep", "sweep.json", "--out", "points", "--quiet"], cwd=self.folder, check=False, stderr=subprocess.DEVNULL)
        rows = [row for row in json.loads((self.folder / "points/points.json").read_text()) if row["cycles"] is not None]
        self.picture(self.folder / "points/sweep.html", "pareto", ["#pareto"])
        best = min(rows, key=lambda row: row["cycles"] * row["area_mm2"])
        self.entry("Which machine", "pareto", "",
                   f"{len(rows)} machines for one layer, area against cycles, with the Pareto front. The smallest product of area and cycles has "
                   f"`mac.atomic_c` {best['mac.atomic_c']}, `mac.atomic_k` {best['mac.atomic_k']}, {best['cbuf.banks']} banks: {best['cycles']:,} cycles, "
                   f"{best['area_mm2']:.2f} mm2.")
        page = self.docs / "TIMELINE.md"
        page.write_text(re.sub(r"(<!-- gallery -->\n).*(<!-- /gallery -->)", lambda marks: marks[1] + self.text.lstrip() + marks[2], page.read_text(), flags=re.S))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", default=str(ROOT / "build/dlasim"))
    parser.add_argument("--chromium", default=next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), "chromium"))
    parser.add_argument("--docs", default=str(ROOT / "docs"))
    with tempfile.TemporaryDirectory(prefix="dlasim_gallery_") as folder:
        Gallery(parser.parse_args(), Path(folder)).make()


if __name__ == "__main__":
    main()
