"""The site that mkdocs makes of docs/. site_test.py MKDOCS [CHROMIUM]

Links      the build has no warning, every link leads to a page and a heading that are there, and nothing is fetched from elsewhere
Search     the index has every page; opened as a file, without a server, the search of a page finds what it should
Widths     on a phone no page is wider than the screen
"""
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]


# Opens every page in a frame of a width, and says which ones are wider.
WIDTHS = """<!doctype html><body><script>
(async () => {
  const wide = [];
  const width = 390;
  for (const page of %s) {
    const frame = Object.assign(document.createElement("iframe"), { width, height: 800, src: page });
    document.body.append(frame);
    await new Promise((done) => { frame.onload = done; });
    const needed = frame.contentDocument.documentElement.scrollWidth;
    if (needed > width) wide.push(`${page} needs ${needed} of ${width}`);
    frame.remove();
  }
  document.body.textContent = `looked at all: [${wide.join("; ")}]`;
})();
</script></body>"""


class Links(html.parser.HTMLParser):
    """What a page refers to, what it loads, and which places it has."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if values.get("id"):
            self.places.add(values["id"])
        if tag == "a" and values.get("name"):
            self.places.add(values["name"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("img", "script", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") not in ("canonical", "prev", "next") and values.get("href"):
            self.loaded.append(values["href"])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="dlasim_site_"))
        done = subprocess.run([MKDOCS, "build", "--strict", "--quiet", "--site-dir", cls.folder], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.pages = {file: Links(file) for file in cls.folder.rglob("*.html") if file.name != "404.html"}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_links(self):
        self.assertGreater(len(self.pages), 30)
        seen = 0
        for file, page in self.pages.items():
            where = file.relative_to(self.folder)
            for link in page.links + page.loaded:
                target = urlsplit(link)
                if target.scheme in ("http", "https"):
                    self.assertIn(link, page.links, f"{where} loads {link}")
                    continue
                place = Path(os.path.normpath(file.parent / unquote(target.path))) if target.path else file
                place = place / "index.html" if place.is_dir() else place
                self.assertTrue(place.is_file(), f"{where}: {link}")
                if target.fragment and place in self.pages and not target.fragment.startswith("__"):
                    self.assertIn(unquote(target.fragment), self.pages[place].places, f"{where}: {link}")
                seen += 1
        self.assertGreater(seen, 1000)

    def test_no_page_is_out_of_reach(self):
        index = self.folder / "index.html"
        reached, ahead = {index}, [index]
        while ahead:
            file = ahead.pop()
            for link in self.pages[file].links:
                place = Path(os.path.normpath(file.parent / unquote(urlsplit(link).path)))
                if place in self.pages and place not in reached:
                    reached.add(place)
                    ahead.append(place)
        self.assertEqual(sorted(str(file.relative_to(self.folder)) for file in set(self.pages) - reached), [])

    def test_the_index_has_every_page(self):
        places = {entry["location"].split("#")[0] for entry in json.loads((self.folder / "search/search_index.json").read_text())["docs"]}
        self.assertEqual(places, {str(file.relative_to(self.folder)) for file in self.pages if file.parent.name != "runs"})

    def browser(self, page, *options):
        """The page as Chromium has it, opened as a file."""
        with tempfile.TemporaryDirectory(prefix="dlasim_chromium_") as profile:
            return subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", *options, "--dump-dom",
                                   f"file://{self.folder}/{page}"], capture_output=True, text=True, check=True, timeout=300).stdout

    @unittest.skipUnless(len(sys.argv) > 2 or shutil.which("chromium"), "no Chromium")
    def test_no_page_is_wider_than_the_screen(self):
        (self.folder / "widths.html").write_text(WIDTHS % json.dumps([str(file.relative_to(self.folder)) for file in sorted(self.pages)]))
        shown = self.browser("widths.html", "--allow-file-access-from-files", "--virtual-time-budget=600000")
        self.assertIn("looked at all: []", shown, shown[-2000:])

    @unittest.skipUnless(len(sys.argv) > 2 or shutil.which("chromium"), "no Chromium")
    def test_search_without_a_server(self):
        for words, expected in (("tRCD", "DRAM.html"), ("accumulator", "hardware/cacc.html")):
            shown = self.browser(f"GLOSSARY.html?q={words}", "--virtual-time-budget=20000")
            found = shown.partition('class="md-search-result__list"')[2].partition("</ol>")[0]
            self.assertIn(expected, found, f"{words}: {found[:500]}")


if __name__ == "__main__":
    MKDOCS = sys.argv.pop(1)
    CHROMIUM = sys.argv.pop(1) if len(sys.argv) > 1 and Path(sys.argv[1]).is_file() else shutil.which("chromium")
    unittest.main()
