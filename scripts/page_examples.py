#!/usr/bin/env python3
"""Runs the examples of pages, in order, and compares their output with the page.

usage: page_examples.py [--dlasim FILE] [--write] [--pictures] [--root FOLDER] [--list] [PAGE...]     without pages: all that have examples

```json title="layer.json"     a file: is written
```sh                          commands: run by bash in a folder that looks like the top folder; ```bash is shown only
```python                      statements; all of a page share their names. The last expression of a block is its output
```text                        below commands or statements: what they say, standard output and error

Marks, in the line before a block or a picture, invisible on the page:
<!-- show: A .. B | C .. D -->       of the output the lines from the first with A to the next with B, then those from C to D
<!-- status: 1 -->                  the exit status of the last command; 0 without it
<!-- bare -->                        these commands install or build: they run with --root only
<!-- picture: run.html #causes #timeline; SCRIPT -->   the picture is these parts of that page; SCRIPT runs in the page first

--root FOLDER runs all of it in another Debian, of which the sources are in root/dlasim: as a reader does who has nothing but them.
--write updates the outputs of the examples. --pictures updates the pictures, in Chromium.
Where times of this computer are all that differs a line stays as it is.
"""
import argparse
import ast
import contextlib
import difflib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/TUTORIAL.md", "docs/PYTHON.md", "docs/NETWORK.md", "docs/ONNX.md", "docs/REGRESSION.md", "docs/SIMULATORS.md", "docs/CAUSES.md",
         "docs/SWEEPS.md", "docs/PROGRAMS.md", "docs/LOADABLE.md", "docs/DRAM.md", "docs/howto/*.md", "scripts/figures/EXPERIMENTS.md")
BLOCK = re.compile(r"(?P<marks>(?:^<!-- (?:show|status|bare|picture)[^\n]*-->\n)*)"
                   r"(?:^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$|^!\[[^\]]*\]\((?P<picture>[^)]+)\)$)", re.M | re.S)
TIMES = re.compile(r"\d[\d.,]* (?:s|min|h)\b|\d[\d,]* cycles/s|\b\d+(?:\.\d+)?s\b|/tmp/[\w./-]+")


def marks_of(text):
    return dict(re.findall(r"<!-- (\w+):? ?([^\n]*?) ?-->", text or ""))


def shown(output, ranges):
    """The lines of an output that a page shows."""
    lines = output.rstrip("\n").split("\n")
    kept, at = [], 0
    for chunk in ranges.split(" | "):
        first, _, last = (part.strip() for part in chunk.partition(".."))
        begin = next((i for i in range(at, len(lines)) if first in lines[i]), None)
        end = next((i for i in range(begin or 0, len(lines)) if last and last in lines[i]), len(lines) - 1 if not last else None)
        if begin is None or end is None:
            raise ValueError(f"no lines from {first!r} to {last!r} in:\n{output}")
        kept += ([".."] if begin > at else []) + lines[begin:end + 1]
        at = end + 1
    return "\n".join(kept + ([".."] if at < len(lines) else [])) + "\n"


class Page:
    """A page and the folder in which its examples run."""

    def __init__(self, page, options, folder):
        self.page, self.options, self.folder, self.names, self.failed, self.differing = page, options, folder, {}, [], []
        if options.root:
            self.environment = {"PATH": "/root/dlasim/build:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "COLUMNS": "80", "TERM": "dumb"}
            return
        self.environment = {**os.environ, "PATH": f"{folder}/.bin:{os.environ['PATH']}", "HOME": str(folder), "PYTHONPATH": str(ROOT / "python"),
                            "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "DLASIM": options.dlasim}
        for entry in ROOT.iterdir():
            if not entry.name.startswith((".", "build")) and entry.name != "out":  # what is made is not part of the sources
                (folder / entry.name).symlink_to(entry)
        (folder / ".bin").mkdir()
        (folder / ".bin/dlasim").symlink_to(options.dlasim)
        (folder / ".bin/python3").symlink_to(sys.executable)

    def run(self):
        """Runs all of it. Returns the text of the page as it should be."""
        text, at, output, result = self.page.read_text(), 0, None, []
        for block in BLOCK.finditer(text):
            marks, kind = marks_of(block["marks"]), block["kind"]
            between = text[at:block.start()]
            output = output if not between.strip() else None
            result.append(between)
            new = block.group()
            if block["picture"]:
                self.picture(block["picture"], marks)
            elif block["title"]:
                (self.folder / block["title"]).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / block["title"]).write_text(block["text"])
            elif kind == "sh" and ("bare" not in marks or self.options.root):
                output = self.commands(block["text"], int(marks.get("status", 0)))
            elif kind == "python" and not self.options.root:
                output = self.statements(block["text"])
            elif kind == "text" and output is not None:
                said = shown(output, marks["show"]) if "show" in marks else output
                if TIMES.sub("T", said) != TIMES.sub("T", block["text"]):
                    self.differ(block["text"], said)
                    new = f"{block['marks']}```text\n{said}```"
                output = None
            result.append(new)
            at = block.end()
        return "".join([*result, text[at:]])

    def commands(self, script, status):
        shell = ["chroot", self.options.root] if self.options.root else []
        script = "cd /root/dlasim\n" + script if self.options.root else script
        done = subprocess.run([*shell, "bash", "-e", "-o", "pipefail", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != status:
            self.failed.append(f"status {done.returncode}, expected {status}:\n{script}{done.stdout}")
        return re.sub(r"[ \t]+$", "", done.stdout, flags=re.M)

    def statements(self, source):
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.chdir(self.folder):
            exec(compile(tree, str(self.page), "exec"), self.names)  # pylint: disable=exec-used
            value = eval(compile(ast.Expression(last.value), str(self.page), "eval"), self.names) if last else None  # pylint: disable=eval-used
            if value is not None:
                print(value)
        return re.sub(r"[ \t]+$", "", said.getvalue(), flags=re.M)

    def picture(self, target, marks):
        if "picture" not in marks or not self.options.pictures:
            return
        sys.path.insert(0, str(ROOT / "scripts"))
        from gallery import Camera  # pylint: disable=import-outside-toplevel

        what, _, script = marks["picture"].partition(";")
        file, *parts = what.split()
        place = self.page.parent / target
        place.parent.mkdir(exist_ok=True)
        Camera(self.options.chromium, self.folder / ".bin").take(self.folder / file, place, parts, script)

    def differ(self, there, said):
        self.differing.append("\n".join(difflib.unified_diff(there.splitlines(), said.splitlines(), "on the page", "output now", lineterm="")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", default=str(ROOT / "build/dlasim"))
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--root", type=Path)
    for option in ("--write", "--pictures", "--list"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("pages", nargs="*", type=Path)
    options = parser.parse_args()
    pages = options.pages or [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    if options.list:
        print("\n".join(str(page.relative_to(ROOT)) for page in pages))
        return 0
    options.dlasim = str(Path(options.dlasim).resolve())
    os.environ["DLASIM"] = options.dlasim
    sys.path.insert(0, str(ROOT / "python"))
    wrong = 0
    for page in pages:
        with tempfile.TemporaryDirectory(prefix="dlasim_page_") as folder:
            run = Page(page.resolve(), options, options.root / "root/dlasim" if options.root else Path(folder))
            text = run.run()
        for problem in run.failed + run.differing:
            print(f"{page}: {problem}\n")
        if options.write and not run.failed:
            page.write_text(text)
        wrong += len(run.failed) + (0 if options.write else len(run.differing))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
