#!/usr/bin/env python3
"""House rules that a compiler does not check.

usage: tidy.py [modules [--write]] [includes] [lengths] [words] [types] [scripts] [format]     no argument: all. Names file and line, exits 1.

modules   the table of modules has no cycle, names every folder and is in docs/ARCHITECTURE.md
includes  who may include whom: that table
lengths   no source file over 600 lines, no line over 200 characters
words     no unfinished work in the sources, no tabs, no space at the end of a line
types     no class, struct, union or enum of a named namespace is defined twice: two definitions of one
          name are undefined behaviour that no compiler sees, also in a header and a source file of another module
scripts   what begins with #! may be executed
format    every source file is as clang-format writes it: clang-format -i FILE
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES, MOST_COLUMNS = 600, 200
WRITE = "--write" in sys.argv

# The storeys of src/, from the lowest: a module includes its own storey and those below it, which the build enforces as well.
STOREYS = {
    "base": ["base", "files"],
    "machine": ["facts", "elements", "causes", "links", "traffic", "registers", "workload", "numerics", "dram", "memory", "units", "platform", "lint"],
    "work": ["config", "onnx", "golden", "lowering", "loadable", "replay", "jobs", "network", "plan"],
    "results": ["silicon", "report", "compare", "explain"],
    "tools": ["sweep", "suite", "library", "app"],
}

# The modules in the order of their layers: what a folder of a storey contains, and which earlier modules
# (or which of their headers) it may include. docs/ARCHITECTURE.md has the modules; `tidy.py modules --write` writes it.
UNIT = {"base", "facts", "elements", "causes", "links", "traffic", "registers", "numerics"}
MODULES = {
    "base": ("cycles, bits, rings, phases, errors", set()),
    "files": ("bounded input, JSON, atomic output files, the terminal, expressions", {"base"}),
    "facts": ("presets; sizes, depths and latencies of every unit, by generation", {"base"}),
    "elements": ("building blocks of the silicon: stages, FIFOs, arbiters", {"base"}),
    "causes": ("what each unit and burst waited for; a backward pass from the last interrupt gives every cycle a cause", {"base", "facts"}),
    "links": ("wires, channels, pulses, DMA interface stages; the core interface and its SystemC module", {"base", "elements", "causes"}),
    "traffic": ("payloads of the links", {"base", "facts", "links"}),
    "registers": ("generated register maps, the register file with its two groups", {"base", "facts", "causes", "links", "traffic"}),
    "workload": ("programs, their operations, hosts, results of a run", {"base", "facts", "links", "registers"}),
    "numerics": ("bit-exact arithmetic of every unit, without time", {"base", "facts"}),
    "dram": ("DRAM, also standalone: files, channels, command checker, energy, statistics, command line", {"base", "files", "facts"}),
    "memory": ("ideal and DRAM memories at a port, their content", UNIT | {"dram"}),
    "units": ("one folder per unit (`mcif`: also CVIF; `csb`: also GLB): core, ports, counters; includes no other unit, except CBUF's storage", UNIT),
    "platform": ("connects units to a machine and runs register programs on it", UNIT | {"dram", "memory", "units", "workload"}),
    "lint": ("programming rules, checked on a register program without running it",
             {"base", "facts", "workload", "registers", "platform"}),
    "config": ("strict readers: hardware, memory, layers, networks, sweeps, NumPy, files of other simulators", {"base", "files", "facts", "dram"}),
    "onnx": ("ONNX models: parsed, converted to graphs of real numbers, quantised to networks", {"base", "files", "facts", "config"}),
    # Not numerics: what checks the machine shares no arithmetic with it.
    "golden": ("independent references of every operation, expected memory of copies and reshapes, the comparison",
               {"base", "facts", "config"}),
    "lowering": ("layers, copies and reshapes to register programs and memory images",
                 {"base", "facts", "registers", "config", "golden", "workload"}),
    "loadable": ("files of the NVDLA compiler: container, descriptors, schedule, registers, CPU fallback, golden operations",
                 {"base", "files", "facts", "memory/memory_store.h", "registers", "config", "golden", "workload"}),
    "replay": ("recorded register programs: measured cases, public traces", {"base", "files", "facts", "registers", "workload", "config"}),
    "jobs": ("a planned layer, copy or reshape: program, memory, lower bounds",
             {"base", "files", "facts", "config", "golden", "lowering", "workload", "dram"}),
    "network": ("networks to steps and one program; allocation of tensors; golden values",
                {"base", "facts", "config", "golden", "lowering", "jobs", "workload"}),
    "plan": ("any input, planned: its workload and host",
             {"base", "files", "facts", "config", "golden", "lowering", "loadable", "replay", "jobs", "network", "workload"}),
    "silicon": ("area of the components of a machine, energy of a run", {"base", "files", "facts", "config"}),
    "report": ("result.json, layers.csv, the table", {"base", "files", "facts", "links", "config", "golden", "lowering", "jobs", "network", "loadable",
                                          "workload", "registers", "replay", "silicon"}),
    "compare": ("comparison of two results", {"base", "files", "config"}),
    "explain": ("explanation of a result, fixes", {"base", "files", "facts", "config", "compare"}),
    "sweep": ("points and tables of a sweep", {"base", "files", "facts", "config", "silicon"}),
    "suite": ("regression suites: cases, expected results, CI reports", {"base", "files", "facts", "config"}),
    "library": ("accelerator, memories and workloads for foreign platforms: include/dlasim",
                {"base", "facts", "links", "elements", "workload", "registers", "dram", "memory", "platform", "config", "silicon", "golden", "lowering",
                 "loadable", "jobs", "network", "plan", "report"}),
    "app": ("the command line; no other module sees argv",
             {"base", "files", "facts", "config", "onnx", "golden", "lowering", "platform", "replay", "jobs", "network", "plan", "loadable", "report", "silicon", "sweep", "compare", "explain", "suite", "dram", "lint"}),
}
# The convolution buffer is storage that its writer and its reader share.
UNIT_EXTRA = {"cdma": {"units/cbuf"}, "csc": {"units/cbuf"}}
SYSTEMC = re.compile(r"^(links|platform|memory|library)/|^app/main|^units/[^/]+/(module|dbb_port)|^units/csb/")
JSON = re.compile(r"^(files|config|silicon|jobs|report|replay|sweep|compare|app|platform|dram)/|^units/csb/")


def sources():
    for folder in ("src", "tests", "include"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path


def of_storey(path):
    """A path below src/ as a module names it: machine/facts/csc.h is facts/csc.h."""
    first, _, rest = path.partition("/")
    return rest if first in STOREYS and rest.partition("/")[0] in STOREYS[first] and "/" in rest else path


def header_of(target):
    """The header of src/ that an include names, and its module's name for it; None."""
    for storey in ("", *list(STOREYS)[1:]):
        if (ROOT / "src" / storey / target).is_file():
            return of_storey(target) if not storey else target
    return None


def may_include(place, target):
    parts = place.split("/")
    module = parts[0]
    if target.split("/")[0] == module and module != "units":
        return True
    allowed = MODULES[module][1]
    if module == "units":
        allowed = allowed | {"/".join(parts[:2])} | UNIT_EXTRA.get(parts[1], set())
    return any(target == a or target.startswith(a + "/") for a in allowed)


def module_table():
    rows = ["| storey | module | contains |", "|---|---|---|"]
    storey_of = {module: storey for storey, modules in STOREYS.items() for module in modules}
    last = ""
    for module, (holds, _) in MODULES.items():
        storey = storey_of[module]
        rows.append(f"| {f'**{storey}**' if storey != last else ''} | `{module}` | {holds} |")
        last = storey
    return "\n".join(rows)


def check_modules():
    """Modules include only modules above them, every folder is a module, and the architecture page has them all."""
    above = set()
    for module, (_, allowed) in MODULES.items():
        for target in sorted(allowed):
            if target.split("/")[0] not in above:
                yield f"tests/tidy/tidy.py: {module} may include {target}, which is not above it"
        above.add(module)
    if {folder.name for folder in (ROOT / "src").iterdir() if folder.is_dir()} != set(STOREYS):
        yield f"src: other folders than {', '.join(STOREYS)}"
    for storey, modules in STOREYS.items():
        for folder in sorted((ROOT / "src" / storey).iterdir()):
            if folder.is_dir() and folder.name not in modules:
                yield f"src/{storey}/{folder.name}: not in the table of modules"
    height = {module: i for i, modules in enumerate(STOREYS.values()) for module in modules}
    for module, (_, allowed) in MODULES.items():
        for target in sorted(allowed):
            if height[target.split("/")[0]] > height[module]:
                yield f"tests/tidy/tidy.py: {module} may include {target}, of a storey above it"
    page = ROOT / "docs/ARCHITECTURE.md"
    text = page.read_text()
    start, end = text.index("| storey | module"), text.index("\n\n", text.index("| storey | module"))
    if text[start:end] == module_table():
        return
    if WRITE:
        page.write_text(text[:start] + module_table() + text[end:])
    else:
        yield "docs/ARCHITECTURE.md: the table of modules is not what tests/tidy enforces: tests/tidy/tidy.py modules --write"


def check_includes():
    for path in sources():
        if "src" not in path.relative_to(ROOT).parts[:1]:
            continue
        place = of_storey(path.relative_to(ROOT / "src").as_posix())
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include [<"]([^">]+)[">]', line)
            if not match:
                continue
            target = match.group(1)
            where = f"{path.relative_to(ROOT)}:{number}: includes {target}"
            if header := header_of(target):
                if not may_include(place, header):
                    yield f"{where}: this arrow is not in the table"
            elif target in ("systemc", "tlm", "systemc.h") or target.startswith("tlm_utils"):
                if not SYSTEMC.search(place):
                    yield f"{where}: SystemC is seen in links, modules and platform only"
            elif target.startswith("nlohmann") and not JSON.search(place):
                yield f"{where}: JSON is seen where files are read and written only"


def check_lengths():
    for path in sources():
        lines = path.read_text().splitlines() or [""]
        if len(lines) > MOST_LINES and "Generated by" not in lines[0]:
            yield f"{path.relative_to(ROOT)}: {len(lines)} lines, at most {MOST_LINES}"
        if "Generated by" in lines[0]:
            continue
        for number, line in enumerate(lines, 1):
            if len(line) > MOST_COLUMNS:
                yield f"{path.relative_to(ROOT)}:{number}: {len(line)} characters, at most {MOST_COLUMNS}"


def check_words():
    unfinished = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    for path in sources():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.relative_to(ROOT)}:{number}"
            if unfinished.search(line):
                yield f"{where}: unfinished work belongs into docs/DEVIATIONS.md"
            if "\t" in line:
                yield f"{where}: a tab"
            if line != line.rstrip():
                yield f"{where}: space at the end of the line"


def without_text(source):
    """The source without comments, strings and preprocessor lines; lines stay where they are."""
    def blank(match):
        return " " + "\n" * match.group(0).count("\n")

    source = re.sub(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, source, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, source, flags=re.M)


TOKEN = re.compile(r"[A-Za-z_]\w*|::|\[\[|\]\]|[{};=<>()\[\],:]|\n")


def defined_types(source):
    """(name with its namespaces, line) of every type that the source defines outside of anonymous namespaces and functions."""
    tokens, line = [], 1
    for match in TOKEN.finditer(without_text(source)):
        if match.group() == "\n":
            line += 1
        else:
            tokens.append((match.group(), line))
    scopes, head = [], []  # open braces: a namespace's or type's name, or None; tokens since the last ; { }
    for token, at in tokens:
        if token in (";", "}"):
            if token == "}" and scopes:
                scopes.pop()
            head = []
        elif token == "{":
            words = [t for t, _ in head]
            name = None
            if "namespace" in words:
                name = "".join(words[words.index("namespace") + 1:]) or None
            else:
                plain = "".join(f" {w}" for w in words)
                plain = re.sub(r"\[\[.*?\]\]", "", re.sub(r"^ template <.*> (?=(class|struct|union)\b)", "", plain))
                match = re.match(r" (?:class|struct|union|enum(?: class| struct)?)((?: \w+| ::)+?)(?: final)?( <.*>)?(?: :(?!:).*)?$", plain)
                if match and "(" not in plain.split(" : ")[0]:
                    name = match.group(1).replace(" ", "") + (match.group(2) or "").replace(" ", "")
                    if all(scopes):
                        yield "::".join([*scopes, name]), head[-1][1]
            scopes.append(name)
            head = []
        else:
            head.append((token, at))


def check_types():
    defined = {}  # name: the files that define it; tests are linked with src, not with each other
    for path in sources():
        place = path.relative_to(ROOT)
        for name, line in defined_types(path.read_text()):
            for other in defined.get(name, []):
                if other == place or {other.parts[0], place.parts[0]} != {"tests"}:
                    yield f"{place}:{line}: {name} is defined in {other} too"
            defined.setdefault(name, []).append(place)


def check_scripts():
    for path in (path for folder in ("scripts", "tests") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()):
        with path.open("rb") as file:
            if file.read(2) == b"#!" and not os.access(path, os.X_OK):
                yield f"{path.relative_to(ROOT)}:1: a script that may not be executed: chmod +x"


def check_format():
    files = [p for p in sources() if "Generated by" not in p.open().readline()]
    result = subprocess.run(["clang-format", "--dry-run", *map(str, files)], capture_output=True, text=True)
    for line in result.stderr.splitlines():
        if "warning:" in line:
            yield f"{line.split(': warning')[0].removeprefix(f'{ROOT}/')}: not as clang-format writes it"
    if result.returncode != 0:
        yield f"clang-format: {result.stderr.strip()[:200]}"


CHECKS = {"modules": check_modules, "includes": check_includes, "lengths": check_lengths, "words": check_words, "types": check_types, "scripts": check_scripts,
          "format": check_format}


def main():
    problems = [p for name in ([a for a in sys.argv[1:] if a != "--write"] or CHECKS) for p in CHECKS[name]()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
