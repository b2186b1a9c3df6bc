"""The program that simulates, and what it says when it does not."""

import json
import os
import shutil
import subprocess
from pathlib import Path

_chosen = None


class Error(Exception):
    """The message of dlasim; ``status`` is its exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Refused(Error, ValueError):
    """Invalid input, or disk or memory full: nothing was simulated."""


class Mismatch(Error):
    """The machine computed another value than expected. ``result`` has the run; a sweep's is its table."""

    result = None


class Hung(Error):
    """The machine hung or broke a protocol: the message says which unit waits for what."""


class Broken(Error):
    """The program ended in another way: by a signal, or it could not be started."""


def program(path=None):
    """Path of the program; with one, the program of all later calls."""
    global _chosen
    if path is not None:
        _chosen = Path(path)
    wanted = str(_chosen or os.environ.get("DLASIM") or "dlasim")
    found = shutil.which(wanted)  # also of a path
    if not found:
        raise Broken(f"{wanted}: no such program, expected it on the PATH, in DLASIM or by dlasim.program(PATH)", None)
    return Path(found)


def plain(value):
    """A value of NumPy as one of Python, and lists, tuples and dicts of them; other values as they are."""
    if hasattr(value, "tolist"):  # arrays, and numbers of NumPy
        return value.tolist()
    if isinstance(value, dict):
        return {plain(key): plain(below) for key, below in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else [plain(below) for below in value]
    return value


def text_of(value, default=None):
    """As JSON, whatever numbers it has."""
    return json.dumps(plain(value), indent=2, default=default)


def words_of(hw=None, memory=None, set=None, seed=None, timing_only=False, precision=None):
    """Options that several commands have, as words of the command line."""
    words = []
    for option, value in (("--hw", hw), ("--memory", memory), ("--seed", seed), ("--precision", precision)):
        if value is not None:
            words += [option, str(value)]
    for path, value in plain(set or {}).items():
        words += ["--set", f"{path}={str(value).lower() if isinstance(value, bool) else value}"]
    if timing_only:
        words.append("--timing-only")
    return words


def raised(status, said):
    """The exception of an exit status; None where there is none."""
    text = "\n".join(line.removeprefix("dlasim: ") for line in said.strip().splitlines())
    if status == 0:
        return None
    kind = {1: Mismatch, 2: Refused, 3: Hung}.get(status, Broken)
    return kind(text or f"dlasim ended with status {status}", status)


def call(*words, folder=None):
    """Runs it to its end. Returns what it printed; raises what it refused, but for a mismatch: (text, Mismatch or None)."""
    done = subprocess.run([program(), *map(str, words)], cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    error = raised(done.returncode, done.stderr)
    if error is not None and not isinstance(error, Mismatch):
        raise error
    return done.stdout, error
