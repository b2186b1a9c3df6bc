"""What mkdocs does beside its own work: links to files that are no pages, and an index for pages without a server."""
import json
import posixpath
import re
from pathlib import Path

LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


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
    """A file of the sources is named, not linked: the site has pages only."""
    def named(match):
        text, target, _ = match.groups()
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_path), target))
        if "://" in target or path.startswith("docs/"):
            return match.group()
        return f"{text} (`{path}`)"

    return LINK.sub(named, markdown)


def on_post_build(config, **_):
    folder = Path(config["site_dir"]) / "search"
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    (folder / "search_index.js").write_text(f"searchIndex({json.dumps(index)});\n", encoding="utf-8")
