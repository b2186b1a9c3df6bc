#!/usr/bin/env python3
"""What the pages and the data of the repository promise.

usage: pages.py [citations] [links] [places] [data] [tables] [version] [terms] [size]     no argument: all. Names file and place, exits 1.

citations  "fabric.md 1.3", "csc.md 6, point 10", "open_points.md F2" and "models/pdp.py", wherever they stand in src, include, tests,
           scripts, configs and docs, lead to a page of docs/hardware, a heading with that number, a point of that section, a model
links      what a page links to, and every file of the project that a page or comment names from the top folder, is there
places     the places of "Where to look" in docs/ARCHITECTURE.md: the file is there and has the name
data       the table of tests/data/README.md is true: every archive, its number of files, its checksum
tables     the marks of a measured table stand in pairs with rows between them, and the page names the command of the script that writes it
version    CMakeLists.txt, the Python package, CITATION.cff and the newest release of CHANGELOG.md have the same version, and the citation its date
terms      pages and messages use the terms of the field: none of the words of FOREIGN, in comments at most a few; names of keys may have them
size       docs has at most MOST_PAGES pages, and those for users, README included, at most MOST_WORDS words: without docs/hardware and the generated REFERENCE
"""
import hashlib
import io
import re
import sys
import tarfile
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


HARDWARE = ROOT / "docs/hardware"
SETTLED = ROOT / "tests/data/open_points.md"  # questions that were settled by measuring
NUMBER = r"(?:[0-9]+(?:\.[0-9]+)*|F[0-9][a-z]?)"
CITATION = re.compile(rf"\b([a-z_]{{3,}}\.md)`?(?:,? (?:section |chapter )?({NUMBER}(?:(?:, | and | to |, F|-){NUMBER})*))?"
                      r"(?:(?:,| \() ?(?:open )?points? ([0-9]+))?")
MODEL = re.compile(r"\bmodels/([a-z_]+\.py)")


def texts():
    for folder in ("src", "include", "tests", "scripts", "configs", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".py", ".md", ".cmake", ".sh", ".txt") and path.is_file():
                yield path, path.read_text()
    for path in sorted(ROOT.glob("*.md")):
        yield path, path.read_text()


def sections(page):
    """Number of every section of a page -> its text, with the text of the sections below it."""
    found, lines = {}, page.read_text().splitlines()
    open_sections = []
    for line in lines:
        heading = re.match(rf"#+ ({NUMBER})\b", line)
        if heading:
            number = heading.group(1)
            open_sections = [n for n in open_sections if number.startswith(n + ".")] + [number]
            found[number] = []
        elif re.match(r"#+ ", line):
            open_sections = []
        for number in open_sections:
            found[number].append(line)
    return found


def check_citations():
    pages = {page.name: sections(page) for page in [*sorted(HARDWARE.glob("*.md")), SETTLED]}
    for path, text in texts():
        own = path.parent == HARDWARE
        # A comment goes on in the next line, and so may a citation.
        joined = re.sub(r"\n[ \t]*(?://|#)?[ \t]*", lambda m: " " * len(m.group()), text)
        joined = re.sub(r"  +", lambda m: " " + "\0" * (len(m.group()) - 1), joined)
        place = lambda at: f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, at) + 1}"
        plain = joined.replace("\0", "")
        offsets = [i for i, c in enumerate(joined) if c != "\0"]
        for match in CITATION.finditer(plain):
            page, numbers, point = match.groups()
            where = place(offsets[match.start()])
            if page not in pages:
                if not (ROOT / "docs" / page).exists() and not (path.parent / page).exists() and (own or page.islower()):
                    yield f"{where}: {page} is no page of docs/hardware"
                continue
            for number in re.findall(NUMBER, numbers or ""):
                if number not in pages[page]:
                    yield f"{where}: {page} has no section {number}"
            last = re.findall(NUMBER, numbers or "")[-1:]
            if point and last and last[0] in pages[page]:
                if not re.search(rf"^ *(?:\| *)?\**{point}[.) |*]", "\n".join(pages[page][last[0]]), re.M):
                    yield f"{where}: {page} {last[0]} has no point {point}"
        for match in MODEL.finditer(plain):
            if not (HARDWARE / "models" / match.group(1)).exists():
                yield f"{place(offsets[match.start()])}: models/{match.group(1)} is not in docs/hardware/models"


NAMED = re.compile(r"(?<![\w/.<>-])((?:src|include|tests|scripts|configs|docs)/[\w./-]*\w\.(?:h|cpp|py|md|json|sh|cmake|txt))\b")


def check_links():
    for path, text in texts():
        for match in NAMED.finditer(text):
            if path.name == "dram.md" or match.group(1).endswith("/NAME.json"):
                continue  # dram.md names files of other projects, its sources
            if not (ROOT / match.group(1)).exists():
                yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(1)} is not there"
        if path.suffix != ".md":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
                if "://" not in target and not (path.parent / target).exists():
                    yield f"{path.relative_to(ROOT)}:{number}: {target} is not there"


def check_places():
    page = ROOT / "docs/ARCHITECTURE.md"
    table = page.read_text().partition("\n## Where to look\n")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    if len(rows) < 10:
        yield f"docs/ARCHITECTURE.md: {len(rows)} places to look at, expected ten"
    for row in rows:
        place = re.search(r"`([^`]+)`: `([^`]+)` \|$", row)
        if not place:
            yield f"docs/ARCHITECTURE.md: no place in: {row}"
        elif not (ROOT / place.group(1)).is_file():
            yield f"docs/ARCHITECTURE.md: {place.group(1)} is not there"
        elif place.group(2) not in (ROOT / place.group(1)).read_text():
            yield f"docs/ARCHITECTURE.md: {place.group(1)} has no {place.group(2)}"


def check_data():
    folder = ROOT / "tests/data"
    rows = re.findall(r"^\| (\S+\.tar\.xz) \| (\d+) \| ([0-9a-f]{64}) \|", (folder / "README.md").read_text(), re.M)
    told, there = {row[0] for row in rows}, {p.name for p in folder.glob("*.tar.xz")}
    for name in sorted(told ^ there):
        yield f"tests/data/{name}: " + ("no row in README.md" if name in there else "a row in README.md, but no file")
    for name, files, checksum in rows:
        if name not in there:
            continue
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != checksum:
            yield f"tests/data/{name}: not the checksum of README.md"
        with tarfile.open(folder / name) as archive:
            found = sum(member.isfile() for member in archive)
        if found != int(files):
            yield f"tests/data/{name}: {found} files, README.md says {files}"


MARK = re.compile(r"<!-- (\w+): begin -->")
WRITTEN = re.compile(r'write_table\([^,]+, "(\w+)"')  # scripts/page_table.py


def check_tables():
    pages = {path: path.read_text() for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "scripts/figures/EXPERIMENTS.md"]}
    for path, text in pages.items():
        for mark in MARK.finditer(text):
            table, end, _ = text[mark.end():].partition(f"<!-- {mark.group(1)}: end -->")
            if not end or MARK.search(table) or "\n|" not in table:
                yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, mark.start()) + 1}: no table up to an end of {mark.group(1)}"
    for script in sorted((ROOT / "scripts").glob("*.py")):
        for mark in MARK.findall(script.read_text()) + WRITTEN.findall(script.read_text()):
            named = [path for path, text in pages.items() if f"<!-- {mark}: begin -->" in text]
            if len(named) != 1:
                yield f"scripts/{script.name}: {len(named)} pages have a table {mark}, expected one"
            elif not re.search(rf"scripts/{script.name}\b.*--page {named[0].relative_to(ROOT)}", pages[named[0]]):
                yield f"{named[0].relative_to(ROOT)}: names no command of scripts/{script.name} for the table {mark}"


def check_version():
    def found(file, pattern):
        match = re.search(pattern, (ROOT / file).read_text(), re.M)
        return match.groups() if match else ("nothing",)

    release = found("CHANGELOG.md", r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$")
    for file, pattern in (("CMakeLists.txt", r"^project\(dlasim VERSION (\S+)"), ("python/pyproject.toml", r'^version = "(.+)"$'), ("CITATION.cff", r"^version: (\S+)$")):
        if found(file, pattern)[0] != release[0]:
            yield f"{file}: version {found(file, pattern)[0]}, CHANGELOG.md has {release[0]}"
    if found("CITATION.cff", r'^date-released: "?([\d-]+)"?$')[0] != release[-1]:
        yield f"CITATION.cff: date-released is not {release[-1]}, the date of {release[0]} in CHANGELOG.md"


# after, downstream of | recorded, reported, set | is (in), represents | n times, the given number of | is, reaches, recurs, restarts | delayed | skips, omits | tiled
FOREIGN = re.compile(r"\b(?:behind|tell(?:s|ing)?|told|said|stand(?:s|ing)?(?!-?alone)|stood|so (?:many|much)|(?:c[oa]mes?|coming) (?:to|again)|"
                     r"h[eo]lds? (?:\w+ )?up|holding (?:\w+ )?up|(?:left|leaves?|leaving) (?:it |them |that |this )?out|rooms|anew|(?:is|are) cut into)\b", re.I)
SAYS = re.compile(r"\bsay(?:s|ing)?\b", re.I)  # in pages and messages
MODULE = re.compile(r"(?<!clean.)\broom\b(?! temperature)", re.I)  # a module, or space
MOST_IN_COMMENTS = 0
CPP_PARTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"', re.S)


def parts_of(path, text):
    """Whether it is a comment, where it begins and the text of every comment and message of a source file."""
    if path.suffix in (".h", ".cpp"):
        for part in CPP_PARTS.finditer(text):
            comment = part.group().startswith("/")
            if comment or " " in part.group():  # a text of one word is a key
                yield comment, part.start(), part.group()
        return
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        documents = token.string.lstrip("rf").startswith('"""')
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and " " in token.string:
            yield token.type == tokenize.COMMENT or documents, starts[token.start[0] - 1] + token.start[1], token.string


def check_terms():
    sources = [path for folder in ("src", "docs", "scripts", "examples", "configs/templates", "tests/data") for path in (ROOT / folder).rglob("*")]
    sources += [*ROOT.glob("*.*"), *(ROOT / "cmake").glob("*"), *(ROOT / "python").glob("*.ipynb")]
    pages = (".md", ".html", ".js", ".svg", ".ipynb", ".cmake", ".txt", ".cff", ".yml", ".sh")
    for path in sorted(path for path in sources if path.is_file() and (path.suffix in pages and ".bundle." not in path.name or path.parent.name == "templates")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = re.sub(r"`[^`]*`", "", line) if path.suffix == ".md" else line
            says = SAYS.finditer(line) if path.suffix == ".md" else ()
            for found in [*FOREIGN.finditer(line), *MODULE.finditer(line), *says]:
                yield f"{path.relative_to(ROOT)}:{number}: \"{found.group()}\" is no term of the field"
    comments = []
    sources = [path for folder in ("src", "include", "python", "scripts", "examples", "docs/hardware/models") for path in (ROOT / folder).rglob("*")]
    for path in sorted(path for path in sources if path.suffix in (".h", ".cpp", ".py")):
        text = path.read_text()
        for comment, start, part in parts_of(path, text):
            for found in [*FOREIGN.finditer(part), *(() if comment else SAYS.finditer(part))]:
                where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, start + found.start()) + 1}: \"{found.group()}\" is no term of the field"
                if comment:
                    comments.append(where)
                else:
                    yield where + ", in a message"
    if len(comments) > MOST_IN_COMMENTS:
        yield from comments
        yield f"{len(comments)} such words in comments, at most {MOST_IN_COMMENTS}"


MOST_PAGES, MOST_WORDS = 40, 24_000


def check_size():
    pages = sorted((ROOT / "docs").rglob("*.md"))
    if len(pages) > MOST_PAGES:
        yield f"docs: {len(pages)} pages, expected at most {MOST_PAGES}"
    words = {page: len(page.read_text().split()) for page in [ROOT / "README.md", *pages] if HARDWARE not in page.parents and page.name != "REFERENCE.md"}
    if sum(words.values()) > MOST_WORDS:
        longest = ", ".join(f"{page.name} {count:,}" for page, count in sorted(words.items(), key=lambda item: -item[1])[:3])
        yield f"README.md and docs: {sum(words.values()):,} words for users, expected at most {MOST_WORDS:,}; the longest: {longest}"


CHECKS = {"citations": check_citations, "links": check_links, "places": check_places, "data": check_data, "tables": check_tables, "version": check_version, "terms": check_terms, "size": check_size}


def main():
    problems = [p for name in (sys.argv[1:] or CHECKS) for p in CHECKS[name]()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
