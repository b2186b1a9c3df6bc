"""One run of a layer, a network, a model or a file of the NVDLA compiler."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy

from . import command
from .describe import Layer, Network, _Described
from .results import Result


def _file_of(what, folder, kind):
    """A path of what is to run: the file itself, or one that is written."""
    if isinstance(what, (str, os.PathLike)):
        return Path(what)
    return (what if isinstance(what, _Described) else kind(what)).save(Path(folder) / "described.json")


def _with_data(layer, arrays, folder):
    """The layer with tensors of numbers in place of a seed."""
    if not isinstance(layer, _Described):
        if isinstance(layer, (str, os.PathLike)):
            base, layer = Path(layer).resolve().parent, Layer.load(layer)
            data = layer.description.get("data", {})
            layer.description["data"] = {key: value if key == "seed" else str(base / value) for key, value in data.items()}
        else:
            layer = Layer(layer)
    data = dict(layer.description.get("data", {}))
    for key, values in arrays.items():
        numpy.save(folder / f"{key}.npy", numpy.asarray(values))
        data[key] = f"{key}.npy"
    return Layer({**layer.description, "data": data})


def _ran(name, prepare, out, events):
    """Runs what prepare(folder) says, a file and words, in a folder of its own that lives as long as the result."""
    folder = Path(tempfile.mkdtemp(prefix="dlasim-"))
    result = None
    try:
        target = Path(out) if out is not None else folder / "out"
        file, words = prepare(folder)
        words = [name, Path(file).resolve(), *words]
        text, mismatch = command.call(*words, "--out", target, *(["--events", folder / "events.json"] if events else []))
        result = Result(target, text, folder, words)
        if mismatch is not None:
            mismatch.result = result
            raise mismatch
        return result
    finally:
        if result is None:
            shutil.rmtree(folder, ignore_errors=True)


def run(layer, hw="nv_full", memory=None, set=None, *, input=None, weights=None, bias=None, expected=None, seed=None, timing_only=False,
        events=False, out=None):
    """Runs one layer and compares its output with the golden one.

    layer        a Layer, a dict of its keys, or a file
    hw           a preset (nv_small, nv_small_256, nv_medium_512, nv_large, nv_full, ..) or a file
    memory       "ideal:latency=32", a DRAM preset such as "ddr4-3200", or a file
    set          sizes laid over the machine: {"cbuf.banks": 16, "clock_mhz": 800}
    input, weights, bias, expected   arrays [n, c, h, w] ([kernels, ..] of weights) in place of seeded ones
    seed         of the tensors that no array is given for
    timing_only  time without values; nothing is verified
    events       keep bus logs and probes: Result.events
    out          folder that keeps the files; else they are removed with the result

    Raises Refused before anything runs, Mismatch (with .result) if a value is wrong, Hung if the machine hangs.
    """
    arrays = {key: value for key, value in (("input", input), ("weights", weights), ("bias", bias), ("expected", expected)) if value is not None}

    def prepare(folder):
        file = _file_of(_with_data(layer, arrays, folder) if arrays else layer, folder, Layer)
        return file, command.words_of(hw, memory, set, seed, timing_only)

    return _ran("run", prepare, out, events)


def net(network, hw="nv_full", memory=None, set=None, *, input=None, labels=None, calibrate=None, precision=None, seed=None,
        timing_only=False, tensors=False, events=False, out=None):
    """Runs a whole network as one program and compares every tensor.

    network    a Network, a dict of its keys, a JSON file or an ONNX model (FILE.onnx)
    input      of an ONNX model: an array of images [n, c, h, w] or a file, or {name: array} for several inputs
    labels     of an ONNX model: the class of every image, for Result.json["accuracy"]
    calibrate  of an ONNX model: images that say how large numbers become; without it those of input
    precision  int8, or fp16 on nv_full
    tensors    keep every tensor: Result.tensors
    The others as of run().
    """
    def prepare(folder):
        words = command.words_of(hw, memory, set, seed, timing_only, precision)
        words += ["--tensors"] if tensors else []
        inputs = input if isinstance(input, dict) else {} if input is None else {None: input}
        for i, (name, values) in enumerate(inputs.items()):
            file = _array_file(values, folder / f"input{i}.npy")
            words += ["--input", file if name is None else f"{name}={file}"]
        for option, values in (("--labels", labels), ("--calibrate", calibrate)):
            if values is not None:
                words += [option, _array_file(values, folder / f"{option[2:]}.npy")]
        return _file_of(network, folder, Network), words

    return _ran("net", prepare, out, events)


def loadable(file, hw="nv_full", memory=None, set=None, *, input=None, mode=None, seed=None, timing_only=False, events=False, out=None):
    """Runs a file of the NVDLA compiler and compares what each operation writes (docs/LOADABLE.md).

    file    FILE.nvdla, compiled for this machine
    input   an array [n, c, h, w] or a file, or a list of these in the order of the inputs
    mode    order of the register writes: serial, overlap or driver
    The others as of run().
    """
    def prepare(folder):
        words = command.words_of(hw, memory, set, seed, timing_only) + (["--mode", mode] if mode is not None else [])
        for i, values in enumerate(input if isinstance(input, list) else [] if input is None else [input]):
            words += ["--input", _array_file(values, folder / f"input{i}.npy")]
        return Path(file), words

    return _ran("loadable", prepare, out, events)


def _array_file(values, file):
    if isinstance(values, (str, os.PathLike)):
        return Path(values).resolve()
    numpy.save(file, numpy.asarray(values))
    return file


def export(what, to, form="case", hw="nv_full", memory=None, set=None):
    """Writes what would run as a case, a trace of the public players ("txn", "cfg") or a C header ("c"), docs/LOADABLE.md."""
    with tempfile.TemporaryDirectory(prefix="dlasim-") as folder:
        kind = Network if isinstance(what, Network) or (isinstance(what, dict) and "layers" in what) else Layer
        command.call("export", _file_of(what, folder, kind), "--form", form, "--to", to, *command.words_of(hw, memory, set))


def reference(name=None):
    """What every counter and key means: {section: [{"name", "type", "unit", "meaning", ..}]}."""
    return json.loads(command.call("reference", "--json", *([name] if name else []))[0])


def presets(name=None):
    """Names of the machines and memories that come with the program: {"hardware": [...], "memory": [...]}; of one of them its sizes, a dict."""
    text = command.call("presets", *([name] if name else []))[0]
    if name:
        return json.loads(text)
    names = {}
    for line in text.splitlines():
        if not line.startswith(" "):
            section = names.setdefault(line.split()[0], [])
        else:
            section.append(line.split()[0])
    return names
