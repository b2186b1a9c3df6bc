"""What mkdocs does beside its own work: README.md as the first page, the version, live pages of runs, links to files that are no pages, and an index for
pages without a server.

Live pages need the program, DLASIM or build/dlasim; without it the pages have none.
"""
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")
SHOWN = ("include/", "examples/", "models/")  # what a user without the sources wants to read
shown = set()
FIRST = "README.md"
LIVE = "<!-- live pages -->"  # in a page: where links to them go
RUNS = {  # file: what it shows, the command, the page that it writes
    "resnet50.html": ("ResNet-50 on nv_large with DDR4",
                      ("net", "models/networks/resnet50.json", "--hw", "nv_large", "--memory", "ddr4-3200", "--timing-only"), None),
    "layer.html": ("one layer of ResNet-50", ("run", "models/resnet50_res2a_branch1.json", "--hw", "nv_large"), None),
    "sweep.html": ("a sweep of four machines", ("sweep", "configs/templates/sweep.json", "--timing-only", "--no-causes"), "sweep.html"),
}
made = {}  # file: its folder


def pages_of(nav):
    """Files of a navigation, in order."""
    for entry in nav:
        for below in entry.values() if isinstance(entry, dict) else [entry]:
            yield from pages_of(below) if isinstance(below, list) else [below]


def on_config(config):
    """The version is part of the name; a page that the navigation lacks goes to the end of its reference."""
    config["site_name"] += " " + re.search(r"project\(dlasim VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    listed = set(pages_of(config["nav"]))
    others = [path.name for path in sorted(Path(config["docs_dir"]).glob("*.md")) if path.name not in listed]
    next(entry["Reference"] for entry in config["nav"] if "Reference" in entry).extend(others)
    return config


def on_files(files, config):
    """README.md is the first page. Its links lead from the top folder."""
    files.append(File(FIRST, str(ROOT), config["site_dir"], use_directory_urls=False))
    return files


def on_pre_build(**_):
    """Makes the live pages."""
    program = os.environ.get("DLASIM") or ROOT / "build/dlasim"
    if not Path(program).is_file():
        return
    folder = Path(tempfile.mkdtemp(prefix="dlasim_site_"))
    for name, (_, words, written) in RUNS.items():
        out = folder / Path(name).stem
        page = ("--html", str(folder / name)) if written is None else ()
        subprocess.run([program, *words, *page, "--out", str(out), "--quiet"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if written is not None:
            shutil.copyfile(out / written, folder / name)
        shutil.rmtree(out)
        made[name] = folder


def live_links(page):
    links = [f'<a href="{posixpath.relpath("runs/" + name, posixpath.dirname(page.file.url) or ".")}">{html.escape(RUNS[name][0])}</a>' for name in made]
    return "Live pages, as `--html` writes them: " + ", ".join(links) + "." if links else ""


def on_page_markdown(markdown, page, **_):
    """A header, an example or a model is next to the pages, as text. Another file of the sources is named, not linked."""
    markdown = markdown.replace(LIVE, live_links(page))
    top = "" if page.file.src_path == FIRST else posixpath.join("docs", posixpath.dirname(page.file.src_path))

    def named(match):
        text, target, _ = match.groups()
        path = posixpath.normpath(posixpath.join(top, target))
        if "://" in target or path.startswith("docs/"):
            return match.group() if top else match.group().replace("](docs/", "](")
        if path.startswith(SHOWN) and (ROOT / path).is_file():
            shown.add(path)
            to = posixpath.relpath(f"sources/{path}.txt", posixpath.dirname(page.file.url) or ".")
            return f'<a href="{html.escape(to)}">{html.escape(text)}</a>'
        return f"{text} (`{path}`)"

    return LINK.sub(named, markdown)


def on_post_build(config, **_):
    for name, folder in made.items():
        copy = Path(config["site_dir"]) / "runs" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, copy)
    for folder in set(made.values()):
        shutil.rmtree(folder)
    made.clear()
    for path in shown:
        copy = Path(config["site_dir"]) / "sources" / f"{path}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy)
    folder = Path(config["site_dir"]) / "search"
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    (folder / "search_index.js").write_text(f"searchIndex({json.dumps(index)});\n", encoding="utf-8")
