#!/usr/bin/env python3
"""Whether it is found when a part does not say all of its state: one member after the other is left out, and what is skipped then is compared.

usage: state_left_out.py WORKTREE [--places N] [--seed S]

WORKTREE is a worktree of this project that nobody else uses: its sources are changed and restored, and it is built in its folder build. A
place is a line of src in which the state of a member is said; they are drawn folder by folder of the units that work where time repeats
itself. A build without it runs layers and networks of models/ and random networks until one is found by another result.json than
that of the whole build, or by `--repeats check`.

--places  how many (20)
--seed    of the draw (1)

Exit status 1 if a place is not found. Python standard library only.
"""
import argparse
import importlib.util
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CALL = re.compile(r"\b[\w.>-]+(?:\.|->)state\(s\b")
WHERE = ("elements", "links", "platform", "traffic", "units/cacc", "units/cdma", "units/cmac", "units/csc", "units/mcif", "units/sdp")
NOTHING = "static_cast<void>(0)"
MODELS = [("mobilenet_v1_conv1_image.json", "nv_small"), ("vgg16_conv3_2.json", "nv_small"), ("googlenet_3a_3x3_winograd.json", "nv_full"),
          ("dcgan_deconv1.json", "nv_small"), ("resnet50_res2a_branch2c_add.json", "nv_large"), ("networks/mobilenet_v1.json", "nv_full"),
          ("networks/alexnet.json", "nv_small"), ("networks/googlenet.json", "nv_large"), ("networks/resnet18.json", "nv_small")]
RANDOM = 24


def test_module():
    """Random networks are those of the test."""
    spec = importlib.util.spec_from_file_location("repeats_test", ROOT / "tests/cli/repeats_test.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(worktree):
    folder = worktree / "build"
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "-S", worktree, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DDLASIM_TESTS=OFF",
                        "-DCMAKE_CXX_FLAGS=-w"], check=True, stdout=subprocess.DEVNULL)
    return subprocess.run(["ninja", "-C", folder, "dlasim"], stdout=subprocess.DEVNULL).returncode == 0


def places(worktree):
    """Of every folder: file, line, where in it the call begins and ends."""
    folders = {}
    for file in (file for folder in WHERE for file in sorted((worktree / "src" / folder).rglob("*"))):
        if file.suffix not in (".cpp", ".h") or "State& s" not in file.read_text() or "repeats" in file.parts:
            continue
        for number, line in enumerate(file.read_text().splitlines()):
            call = CALL.search(line)
            if not call or not line.rstrip().endswith((";", "});")):
                continue
            depth, end = 0, line.index("(", call.start())
            for end in range(end, len(line)):
                depth += (line[end] == "(") - (line[end] == ")")
                if depth == 0:
                    break
            if depth == 0 and line[call.start() - 1] in " ":
                folders.setdefault(file.parent, []).append((file, number, call.start(), end + 1))
    return list(folders.values())


def draw(worktree, count, seed):
    chosen, rng = [], random.Random(seed)
    folders = places(worktree)
    while len(chosen) < count and any(folders):
        rng.shuffle(folders)
        for of_folder in folders:
            if len(chosen) < count and of_folder:
                chosen.append(of_folder.pop(rng.randrange(len(of_folder))))
    return chosen


def results(dlasim, file, machine, repeats, *more):
    """result.json, and what was said."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([dlasim, "run", file, "--hw", machine, "--timing-only", "--reproducible", "--quiet", "--repeats", repeats, "--out",
                               folder, *more], capture_output=True, text=True, timeout=600)
        result = Path(folder, "result.json")
        return result.read_bytes() if done.returncode == 0 and result.exists() else None, done.stderr


def runs(folder):
    """Files and machines, those that take little time first."""
    test = test_module()
    for file, machine in MODELS:
        yield ROOT / "models" / file, machine
    for seed in range(RANDOM):
        rng = random.Random(seed)
        file = Path(folder, f"random_{seed}.json")
        file.write_text(json.dumps(test.network(rng)))
        yield file, rng.choice(["nv_small", "nv_large", "nv_full"])


def found_by(dlasim, whole):
    """How a build that says less is found; None: it is not."""
    for (file, machine, *more), result in whole.items():
        for repeats in ("skip", "check"):
            try:
                other, said = results(dlasim, file, machine, repeats, *more)
            except subprocess.TimeoutExpired:
                return f"{file.stem}, {machine}: does not end"
            if other != result:
                how = "other results" if other else re.sub(r"[^ ]*/", "", said.strip().splitlines()[0])[:90]
                return f"{file.stem}, {machine}, {repeats}: {how}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worktree", type=Path)
    parser.add_argument("--places", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    worktree = options.worktree.resolve()
    if worktree == ROOT:
        sys.exit("a worktree of its own, please: git worktree add ../left_out HEAD")
    if not build(worktree):
        sys.exit("it does not build")
    dlasim = worktree / "build/dlasim"
    print("| left out | found by |\n|---|---|")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        whole = {(*run, *more): results(dlasim, *run, "simulate", *more)[0] for run in runs(folder) for more in ((), ("--no-causes",))}
        if None in whole.values():
            sys.exit("the whole build cannot run all of it")
        for file, number, begin, end in draw(worktree, options.places, options.seed):
            text = file.read_text()
            changed = text.splitlines(keepends=True)
            call = changed[number][begin:end]
            changed[number] = changed[number][:begin] + NOTHING + changed[number][end:]
            file.write_text("".join(changed))
            try:
                how = found_by(dlasim, whole) if build(worktree) else "it does not build"
            finally:
                file.write_text(text)
            missed += how is None
            print(f"| {file.relative_to(worktree / 'src')}: `{call}` | {how or '**not found**'} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
