"""What mkdocs does beside its own work: links to files that are no pages, and an index for pages without a server."""
import html
import json
import posixpath
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")
SHOWN = ("include/", "examples/", "models/")  # what a user without the sources wants to read
shown = set()


def pages_of(nav):
    """Files of a navigation, in order."""
    for entry in nav:
        for below in entry.values() if isinstance(entry, dict) else [entry]:
            yield from pages_of(below) if isinstance(below, list) else [below]


def on_config(config):
    """A page that the navigation does not have stands at the end of its reference."""
    listed = set(pages_of(config["nav"]))
    others = [path.name for path in sorted(Path(config["docs_dir"]).glob("*.md")) if path.name not in listed]
    next(entry["Reference"] for entry in config["nav"] if "Reference" in entry).extend(others)
    return config


def on_page_markdown(markdown, page, **_):
    """A header, an example or a model stands beside the pages, as text. Another file of the sources is named, not linked."""
    def named(match):
        text, target, _ = match.groups()
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_path), target))
        if "://" in target or path.startswith("docs/"):
            return match.group()
        if path.startswith(SHOWN) and (ROOT / path).is_file():
            shown.add(path)
            to = posixpath.relpath(f"sources/{path}.txt", posixpath.dirname(page.file.url) or ".")
            return f'<a href="{html.escape(to)}">{html.escape(text)}</a>'
        return f"{text} (`{path}`)"

    return LINK.sub(named, markdown)


def on_post_build(config, **_):
    for path in shown:
        copy = Path(config["site_dir"]) / "sources" / f"{path}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy)
    folder = Path(config["site_dir"]) / "search"
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    (folder / "search_index.js").write_text(f"searchIndex({json.dumps(index)});\n", encoding="utf-8")
