#!/usr/bin/env python3
"""Pages of every kind in a browser, by pages_browser.cjs, which scripts/browser_tools.sh has installed the tools of.

usage: NODE_PATH=.. pages_test.py DLASIM CHROMIUM
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def network(name, size, *kernels):
    width, height, channels = size
    return {"name": name, "input": {"width": width, "height": height, "channels": channels},
            "layers": [{"name": f"step_of_{name}_{i}", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": count}} for i, count in enumerate(kernels)]}


SMALL, LARGE = network("small", (24, 24, 16), 32, 48), network("large", (32, 32, 32), 32, 64, 32)
QUESTION = {"name": "a camera", "base": {"hw": "nv_small", "memory": "lpddr4-3200"},
            "axes": {"mac.atomic_c": [8, 16, 32], "mac.atomic_k": [8, 16], "cbuf.banks": [16, 32]}, "exclude": ["mac.atomic_c < mac.atomic_k"],
            "workloads": [{"network": SMALL, "rate": 600}, {"network": LARGE, "rate": 400}], "require": "area_mm2 < 1.2 && system_mw < 1000"}
POINTS = {"base": {"layer": {"input": {"width": 8, "height": 8, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 32}}, "hw": "nv_large"},
          "axes": {"mac.atomic_c": [32, 48, 64], "cbuf.banks": [8, 16]}}


def main():
    dlasim, program = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="dlasim_pages_") as name:
        folder = Path(name)

        def run(*words, status=(0,)):
            done = subprocess.run([dlasim, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300)
            if done.returncode not in status:
                sys.exit(f"pages_test: {' '.join(map(str, words))}: status {done.returncode}: {done.stdout}{done.stderr}")

        for file, content in (("net.json", LARGE), ("layer.json", POINTS["base"]["layer"]), ("question.json", QUESTION), ("points.json", POINTS),
                              ("impossible.json", {**QUESTION, "require": "system_mw < 0.001"})):
            (folder / file).write_text(json.dumps(content))
        timed = ("--timing-only", "--quiet")
        run("run", "layer.json", "--hw", "nv_small", "--out", "layer", "--html", "layer.html", "--quiet")
        run("net", "net.json", "--hw", "nv_large", "--memory", "ddr4-2400", "--out", "a", "--html", "net.html", "--remedies", 3, "--slack", 2, *timed)
        run("net", "net.json", "--hw", "nv_large", "--set", "cbuf.banks=8", "--memory", "ddr4-2400", "--out", "b", "--html", "b.html", *timed)
        run("net", "net.json", "--hw", "nv_small", "--out", "c", *timed)
        run("compare", "a", "b", "c", "--html", "compare.html")
        run("explain", "a", "--remedies", 3, "--slack", 2, "--html", "explain.html")
        run("explain", "c", "--html", "causes.html")
        swept = ("--no-causes", "--jobs", 2, *timed)
        run("sweep", "points.json", "--out", "points", *swept, status=(4,))
        run("sweep", "question.json", "--out", "question", "--best", "system_mw", *swept, status=(0, 4))
        run("sweep", "question.json", "--out", "proven", "--best", "area_mm2", "--prove", *swept, status=(0, 4))
        run("sweep", "impossible.json", "--out", "impossible", *swept, status=(0, 4))
        # One badge on all of them, from one place.
        badge = '<span class="badge rules">unmeasured machine</span>'
        for file, as_data in (("compare.html", False), ("b.html", True), ("points/sweep.html", True)):
            if (json.dumps(badge).strip('"').replace("<", "\\u003c") if as_data else badge) not in (folder / file).read_text():
                sys.exit(f"pages_test: {file} has no badge {badge}")
        pages = ["layer.html", "net.html", "compare.html", "explain.html", "causes.html", "b.html"] + [f"{out}/sweep.html" for out in ("points", "question", "proven", "impossible")]
        done = subprocess.run(["node", Path(__file__).with_name("pages_browser.cjs"), program, *pages], cwd=folder, timeout=900)
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
