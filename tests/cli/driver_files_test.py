#!/usr/bin/env python3
"""dlasim export --form nvdla from outside: files that NVIDIA's runtime and driver take.

usage: driver_files_test.py DLASIM [Written | Networks | Cycles | Models | Random | Parts | Callers | Emulated | Refused] [--count N]

Written   layers: the checker of the specification finds nothing, and the file leaves what `dlasim run` leaves
Networks  the same of networks: outputs are the golden tensors, in every mode of `dlasim loadable`
Cycles    of ResNet-50 in the driver's order
Models    the same of ONNX models, int8 and fp16
Random    the same of random networks, on three machines
Parts     a network with a step that no unit does: several files, and a manifest that says what the caller computes
Callers   the C file of examples/board makes an input, reads an output and computes the steps between two files
Emulated  a softmax at the end is a task of NVIDIA's emulator in the file, computed as it does
Refused   what no descriptor can say is refused by the name of the step, and nothing is written
"""
import ast
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/hardware/models"))
import check_loadable  # noqa: E402
import onnx_writer  # noqa: E402

DLASIM = None
COUNT = 4
FOUND = (81, 126)  # a convolution that the driver enables in front of its turn; two windows that begin at the same line
MACHINES = ("nv_small", "nv_large", "nv_full")
HINTS = ("nvdla_runtime",)  # what NVIDIA's test application does not show, though the runtime takes it


def npy(path):
    """Type, shape and bytes."""
    data = Path(path).read_bytes()
    size, at = struct.unpack_from("<H", data, 8)[0], 10
    header = ast.literal_eval(data[at:at + size].decode())
    return header["descr"], header["shape"], data[at + size:]


def file_name(tensor):
    return "".join("_" if c in "/\\:" else c for c in tensor) + ".npy"


class DriverFiles(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)

    def run_dlasim(self, *arguments, status=0):
        done = subprocess.run([DLASIM, *map(str, arguments)], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done

    def export(self, model, machine, *more):
        """The manifest."""
        self.run_dlasim("export", model, "--hw", machine, "--form", "nvdla", "--to", self.at / "m.nvdla", "--golden", self.at / "golden", *more)
        return json.loads((self.at / "m.json").read_text())

    def check(self, name, machine):
        found = check_loadable.Check((self.at / name).read_bytes(), machine).run()
        self.assertEqual([f for f in found if f[1] not in HINTS], [], name)
        told = self.run_dlasim("loadable", self.at / name, "--hw", machine, "--check").stdout.splitlines()[:-1]
        self.assertEqual([line for line in told if line.split()[1] not in HINTS], [], name)

    def run_file(self, step, machine, inputs, mode="overlap"):
        """The outputs of one file, by name."""
        arguments = [part for name in step["inputs"] for part in ("--input", inputs / file_name(name))]
        out = self.at / "out"
        done = self.run_dlasim("loadable", self.at / step["file"], "--hw", machine, "--manifest", self.at / "m.json", "--mode", mode, "--out", out, *arguments)
        self.assertEqual(done.stderr, "")  # no convolution starts where the silicon may hang
        names = ["output.npy"] + [f"output_{i}.npy" for i in range(1, len(step["outputs"]))]
        return {tensor: npy(out / name)[1:] for tensor, name in zip(step["outputs"], names)}

    def prove(self, manifest, machine, modes=("overlap",)):
        """Every file by itself: its inputs and outputs are golden tensors."""
        for step in (s for s in manifest["order"] if "file" in s):
            self.check(step["file"], machine)
            for mode in modes:
                found = self.run_file(step, machine, self.at / "golden", mode)
                for tensor, data in found.items():
                    self.assertEqual(data, npy(self.at / "golden" / file_name(tensor))[1:], f"{step['file']} {tensor} {mode}")


class Written(DriverFiles):
    def test_layers(self):
        for layer in ("lenet5_c1_image", "lenet5_conv2", "lenet5_conv2_pool2", "resnet50_res2a_branch2c_add", "vgg16_pool1", "dcgan_deconv4",
                      "sdp_sigmoid", "mobilenet_v1_conv1_image", "googlenet_3a_3x3_winograd"):
            for machine in MACHINES:
                model = ROOT / f"models/{layer}.json"
                if machine != "nv_full" and "winograd" in layer or machine == "nv_small" and "sigmoid" in layer:
                    continue
                with self.subTest(layer=layer, machine=machine):
                    manifest = self.export(model, machine)
                    self.check("m.nvdla", machine)
                    found = self.run_file(manifest["order"][0], machine, self.at / "golden")
                    self.run_dlasim("run", model, "--hw", machine, "--out", self.at / "run")
                    self.assertEqual(found["output"], npy(self.at / "run/output.npy")[1:])


    def test_tiles_that_begin_at_the_same_line(self):
        """Padding on top: the first two tiles begin with line 0, and none fetches for the next."""
        layer = {"name": "own", "op": "conv2d", "input": {"width": 12, "height": 20, "channels": 16}, "kernel": {"width": 5, "height": 5, "count": 16}, "bias": True,
                 "precision": "int8", "pad": {"left": 2, "right": 2, "top": 4, "bottom": 2}, "partition": {"rows": 2, "reuse_data": True}}
        (self.at / "own.json").write_text(json.dumps(layer))
        for machine in MACHINES:
            with self.subTest(machine=machine):
                manifest = self.export(self.at / "own.json", machine)
                self.check("m.nvdla", machine)
                found = self.run_file(manifest["order"][0], machine, self.at / "golden")
                self.run_dlasim("run", self.at / "own.json", "--hw", machine, "--out", self.at / "run")
                self.assertEqual(found["output"], npy(self.at / "run/output.npy")[1:])


class Networks(DriverFiles):
    def test_networks(self):
        for network in ("lenet5", "acri_mnist"):
            for machine in MACHINES:
                with self.subTest(network=network, machine=machine):
                    self.prove(self.export(ROOT / f"models/networks/{network}.json", machine), machine, ("serial", "overlap", "driver"))

    def test_fp16(self):
        self.prove(self.export(ROOT / "models/networks/lenet5.json", "nv_full", "--precision", "fp16"), "nv_full", ("overlap", "driver"))

    def test_a_network_of_many_tiles(self):
        self.prove(self.export(ROOT / "models/networks/resnet18.json", "nv_small"), "nv_small")

    def test_normalisation_and_concatenations(self):
        self.prove(self.export(ROOT / "models/networks/googlenet.json", "nv_large"), "nv_large")


class Cycles(DriverFiles):
    def test_resnet_50_in_less_than_nvidias_compiler(self):
        """NVIDIA's compiler: 3,409,896 on the RTL with the same memory."""
        self.run_dlasim("export", ROOT / "models/networks/resnet50.json", "--hw", "nv_large", "--form", "nvdla", "--to", self.at / "m.nvdla", "--quiet")
        self.run_dlasim("loadable", self.at / "m.nvdla", "--hw", "nv_large", "--mode", "driver", "--timing-only", "--no-causes", "--quiet", "--out", self.at / "out")
        self.assertLessEqual(json.loads((self.at / "out/result.json").read_text())["cycles"], 3_000_000)


class Models(DriverFiles):
    def test_scales_of_a_random_image_are_warned_of(self):
        images = ROOT / "models/onnx/images.npy"
        for model, machine, more, warned in (("acri_mnist", "nv_small", (), True), ("acri_mnist", "nv_small", ("--input", images), False),
                                             ("acri_mnist", "nv_small", ("--calibrate", images), False), ("acri_mnist_qdq", "nv_small", (), False),
                                             ("acri_mnist", "nv_full", ("--precision", "fp16"), False)):
            done = self.run_dlasim("export", ROOT / f"models/onnx/{model}.onnx", "--hw", machine, "--form", "nvdla", "--to", self.at / "m.nvdla", *more)
            self.assertEqual("scales follow from one random image" in done.stderr, warned, (model, more))

    def test_models(self):
        images = ROOT / "models/onnx/images.npy"
        for model in ("acri_mnist", "acri_mnist_qdq", "mobilenet_small", "resnet_small"):
            for machine, more in (("nv_small", ()), ("nv_large", ()), ("nv_full", ("--precision", "fp16"))):
                if more and model.endswith("qdq"):
                    continue
                calibrate = () if more or model.endswith("qdq") else ("--calibrate", images)
                with self.subTest(model=model, machine=machine):
                    manifest = self.export(ROOT / f"models/onnx/{model}.onnx", machine, "--input", images, *calibrate, *more)
                    self.prove(manifest, machine)
                    tensors = {t["name"]: t for t in manifest["tensors"]}
                    for name in manifest["inputs"] + manifest["order"][0]["outputs"]:
                        self.assertEqual("scale" in tensors[name], not more, name)


def random_network(draw):
    """Convolutions, poolings, additions and concatenations that follow each other."""
    size, channels = draw.choice([7, 9, 12, 16, 20]), draw.choice([1, 3, 4, 8, 10, 16, 24])
    layers, shape = [], {"data": (size, size, channels)}
    last = "data"

    def add(layer, out):
        nonlocal last
        layer["output"] = dict(zip(("width", "height", "channels"), out))
        layers.append(layer)
        shape[layer["name"]] = out
        last = layer["name"]

    def conv(count, source, kernel=None, stride=1):
        w, h, _ = shape[source]
        k = kernel or draw.choice([1, 3, 3, 5])
        pad = k // 2
        layer = {"name": f"l{len(layers)}", "op": "conv2d", "inputs": [source], "kernel": {"width": k, "height": k, "count": count}, "bias": draw.random() < 0.8,
                 "activation": draw.choice(["relu", "none"])}
        if pad:
            layer["pad"] = {"left": pad, "right": pad, "top": pad, "bottom": pad}
        if stride > 1:
            layer["stride"] = {"x": stride, "y": stride}
        add(layer, ((w + 2 * pad - k) // stride + 1, (h + 2 * pad - k) // stride + 1, count))

    conv(draw.choice([4, 8, 16, 20, 32, 40]), "data")
    for _ in range(draw.randrange(2, 7)):
        w, h, c = shape[last]
        kind = draw.choice(["conv", "conv", "pool", "add", "concat"])
        if kind == "pool" and min(w, h) >= 4:
            add({"name": f"l{len(layers)}", "op": "pool", "inputs": [last], "pool": {"function": draw.choice(["max", "average"]), "kernel": {"width": 2, "height": 2},
                                                                                  "stride": {"x": 2, "y": 2}}}, (w // 2, h // 2, c))
        elif kind == "add":
            source = last
            conv(c, source)
            add({"name": f"l{len(layers)}", "op": "add", "inputs": [source, last], "activation": draw.choice(["relu", "none"])}, (w, h, c))
        elif kind == "concat":
            source, parts = last, []
            for _ in range(draw.choice([2, 3])):
                conv(draw.choice([8, 16, 32, 12]), source)
                parts.append(last)
            add({"name": f"l{len(layers)}", "op": "concat", "inputs": parts}, (w, h, sum(shape[p][2] for p in parts)))
            conv(draw.choice([8, 16, 32]), last)
        else:
            conv(draw.choice([8, 16, 24, 32, 48, 64]), last, stride=draw.choice([1, 1, 2]) if min(w, h) > 4 else 1)
    w, h, _ = shape[last]
    add({"name": "output", "op": "fully_connected", "inputs": [last], "kernel": {"width": w, "height": h, "count": draw.choice([2, 10, 33])}, "bias": True},
        (1, 1, layers and 0))
    layers[-1]["output"]["channels"] = layers[-1]["kernel"]["count"]
    return {"name": "random", "input": {"width": size, "height": size, "channels": channels}, "layers": layers}


class Random(DriverFiles):
    def test_random_networks(self):
        for seed in sorted({*range(COUNT), *FOUND}):
            network = random_network(random.Random(seed))
            (self.at / "network.json").write_text(json.dumps(network))
            for machine in MACHINES:
                with self.subTest(seed=seed, machine=machine):
                    self.prove(self.export(self.at / "network.json", machine, "--seed", seed), machine)


class Parts(DriverFiles):
    def test_a_step_of_the_caller_splits_the_network(self):
        manifest = self.export(ROOT / "models/networks/yolov3_tiny.json", "nv_large")
        first, upsample, concat, second = manifest["order"]
        self.assertEqual((first["file"], upsample["cpu"], concat["cpu"], second["file"]), ("m-0.nvdla", "upsample", "concat", "m-1.nvdla"))
        self.assertEqual(upsample["parameters"]["factor"], [2, 2])
        self.assertIn(upsample["inputs"][0], first["outputs"])
        known = set(manifest["inputs"])
        for step in manifest["order"]:  # everything is there when it is read
            self.assertLessEqual(set(step["inputs"]), known, step)
            known |= set(step["outputs"])
        self.assertLessEqual(set(manifest["outputs"]), known)
        self.prove(manifest, "nv_large")

    def test_channels_in_pieces_go_in_and_out_by_the_manifest(self):
        """Two tensors of less than an atom side by side, of one file for another and for the caller."""
        conv = {"op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}, "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}}
        layers = [{"name": "a", **conv, "inputs": ["data"]}, {"name": "b", **conv, "inputs": ["data"]}, {"name": "cat", "op": "concat", "inputs": ["a", "b"]},
                  {"name": "up", "op": "upsample", "inputs": ["a"], "factor": {"x": 2, "y": 2}}, {"name": "c", **conv, "inputs": ["up"]}, {"name": "d", **conv, "inputs": ["cat"]},
                  {"name": "e", **conv, "inputs": ["cat"]}, {"name": "out", "op": "concat", "inputs": ["d", "e"]}]
        (self.at / "n.json").write_text(json.dumps({"name": "n", "input": {"width": 10, "height": 10, "channels": 3}, "layers": layers}))
        for machine, more in (("nv_full", ("--precision", "fp16")), ("nv_full", ()), ("nv_large", ())):
            with self.subTest(machine=machine, more=more):
                manifest = self.export(self.at / "n.json", machine, *more)
                pieces = {t["name"]: t["layout"].get("pieces") for t in manifest["tensors"]}
                gap = 16 if more else 32
                self.assertEqual((pieces["cat"], pieces["out"]), ([[0, 8, 0], [8, 8, gap]],) * 2)
                self.assertIn("cat", [name for step in manifest["order"] if "file" in step for name in step["inputs"]])
                self.prove(manifest, machine)
        step = next(step for step in manifest["order"] if "cat" in step["inputs"])
        arguments = [part for name in step["inputs"] for part in ("--input", self.at / "golden" / file_name(name))]
        done = self.run_dlasim("loadable", self.at / step["file"], "--hw", machine, "--out", self.at / "out", *arguments, status=2)
        self.assertIn("has shape (1, 16, 10, 10), expected (1, 40, 10, 10), or --manifest if channels are in pieces", done.stderr)

    def test_manifests_that_are_none(self):
        manifest = self.export(ROOT / "models/networks/lenet5.json", "nv_small")
        def refuse(change, text):
            wrong = json.loads(json.dumps(manifest))
            change(wrong)
            (self.at / "wrong.json").write_text(json.dumps(wrong))
            done = self.run_dlasim("loadable", self.at / "m.nvdla", "--hw", "nv_small", "--manifest", self.at / "wrong.json", "--out", self.at / "out", status=2)
            self.assertIn(text, done.stderr)
            self.assertFalse((self.at / "out/result.json").exists())
        def pieces(*of):
            return lambda wrong: next(t for t in wrong["tensors"] if t["name"] in wrong["outputs"])["layout"].update(pieces=list(of))
        refuse(lambda wrong: wrong.update(format="other"), "wrong.json: is no manifest, expected the .json that export --form nvdla writes")
        refuse(lambda wrong: wrong["tensors"].append(4), "/tensors/2: found 4, expected a tensor with a name")
        refuse(pieces(), "/layout/pieces: found [], expected pieces [first channel, channels, place]")
        refuse(pieces([0, 8, 0], [8, 2, 4]), "/layout/pieces/1: found [8,2,4], expected channels and places after those of the previous piece")
        refuse(pieces([0, 8, 0], [8, 2, 40]), "has 10 channels, expected 42 of features, the end of its pieces in the manifest: does the manifest belong to this file?")

    def test_a_step_at_the_end_is_the_callers(self):
        manifest = self.export(ROOT / "models/networks/squeezenet_v1_1.json", "nv_small")
        self.assertEqual([s.get("cpu", s.get("file")) for s in manifest["order"]], ["m.nvdla", "pool"])
        self.prove(manifest, "nv_small")


C_PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
#include "dlasim_tensors.h"
static void read_all(const char* name, void* to, size_t bytes)
{
    FILE* f = fopen(name, "rb");
    if (!f || fread(to, 1, bytes, f) != bytes) exit(1);
    fclose(f);
}
static void write_all(const char* name, const void* from, size_t bytes)
{
    FILE* f = fopen(name, "wb");
    if (!f || fwrite(from, 1, bytes, f) != bytes) exit(1);
    fclose(f);
}
int main(void)
{
    const dlasim_tensor in = INPUT, out = OUTPUT;
    const size_t elements = (size_t)in.channels * in.height * in.width, results = (size_t)out.channels * out.height * out.width;
    float* numbers = malloc(elements * sizeof *numbers);
    uint8_t *memory = malloc(in.bytes), *surface = malloc(out.bytes);
    int8_t* integers = malloc(results);
    read_all("numbers", numbers, elements * sizeof *numbers);
    dlasim_write_input(&in, numbers, memory);
    write_all("surface.in", memory, in.bytes);
    read_all("surface.out", surface, out.bytes);
    dlasim_read_integers(&out, surface, integers);
    write_all("integers", integers, results);
    return 0;
}
'''


STEPS_PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
#include "dlasim_tensors.h"
typedef ELEMENT element;
static element* read_tensor(const char* name, size_t elements)
{
    element* to = malloc(elements * sizeof *to);
    FILE* f = fopen(name, "rb");
    if (!f || fread(to, sizeof *to, elements, f) != elements) exit(1);
    fclose(f);
    return to;
}
static void write_tensor(const char* name, const element* from, size_t elements)
{
    FILE* f = fopen(name, "wb");
    if (!f || fwrite(from, sizeof *from, elements, f) != elements) exit(1);
    fclose(f);
}
int main(void)
{
STEPS
    return 0;
}
'''


class Callers(DriverFiles):
    def initialiser(self, tensor):
        layout, (_, c, h, w) = tensor["layout"], tensor["shape"]
        rows = ", ".join("{" + ", ".join(map(str, piece)) + "}" for piece in layout.get("pieces", []))
        pieces = f"(const uint32_t[][3]){{{rows}}}" if rows else "NULL"
        return (f"{{{c}, {h}, {w}, {layout.get('atom_bytes', 0)}, {layout.get('components', 0)}, {layout['line_stride']}, {layout['surface_stride']}, "
                f"{layout['bytes']}, {tensor.get('scale', 1)!r}, {tensor.get('zero_point', 0)}, {pieces}, {len(layout.get('pieces', []))}}}")

    def compile(self, program):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        self.assertTrue(compiler, "no C compiler")
        (self.at / "caller.c").write_text(program)
        subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "examples/board", "caller.c", "-o", "caller", "-lm"], cwd=self.at, check=True)

    def test_the_c_file_makes_inputs_and_reads_outputs(self):
        images = ROOT / "models/onnx/images.npy"
        for machine, more in (("nv_small", ("--calibrate", images)), ("nv_large", ("--calibrate", images)), ("nv_full", ("--precision", "fp16"))):
            half = "fp16" in more
            manifest = self.export(ROOT / "models/onnx/resnet_small.onnx", machine, "--input", images, *more)
            tensors = {t["name"]: t for t in manifest["tensors"]}
            source, result = tensors[manifest["inputs"][0]], tensors[manifest["outputs"][0]]
            golden_in = npy(self.at / "golden" / file_name(source["name"]))[2]
            if half:
                numbers = struct.unpack(f"<{len(golden_in) // 2}e", golden_in)
            else:
                numbers = [(q - source["zero_point"]) * source["scale"] for q in struct.unpack(f"<{len(golden_in)}b", golden_in)]
            (self.at / "numbers").write_bytes(struct.pack(f"<{len(numbers)}f", *numbers))
            _, found = self.run_file(manifest["order"][0], machine, self.at / "golden")[result["name"]]
            (self.at / "surface.out").write_bytes((self.at / "out/output.surface").read_bytes())
            program = C_PROGRAM.replace("= INPUT", "= " + self.initialiser(source)).replace("out = OUTPUT", "out = " + self.initialiser(result))
            for name in ("dlasim_write_input", "dlasim_read_integers") if half else ():
                program = program.replace(name + "(", name.replace("integers", "halves").replace("input", "input_half") + "(")
            if half:
                program = program.replace("int8_t* integers = malloc(results)", "uint16_t* integers = malloc(2 * results)").replace("integers, results)", "integers, 2 * results)")
            self.compile(program)
            subprocess.run(["./caller"], cwd=self.at, check=True)
            self.assertEqual((self.at / "integers").read_bytes(), found)
            self.run_dlasim("loadable", self.at / "m.nvdla", "--hw", machine, "--input", self.at / "surface.in", "--input-form", "surface", "--manifest", self.at / "m.json", "--out", self.at / "c")
            self.assertEqual(npy(self.at / "c/output.npy")[2], found)


    def call(self, step, tensors, half=False):
        """C statements of one step of the caller."""
        suffix, steps = ("_half", "") if half else ("", "&from, &to, ")
        def size(tensor):
            return tensor["shape"][1] * tensor["shape"][2] * tensor["shape"][3]
        sources, to = [tensors[name] for name in step["inputs"]], tensors[step["outputs"][0]]
        first, p = sources[0], step.get("parameters", {})
        _, c, h, w = first["shape"]
        lines = [f"const dlasim_tensor from = {self.initialiser(first)}, to = {self.initialiser(to)};", "(void)from; (void)to;", f"element* out = malloc({size(to)} * sizeof *out);"]
        lines += [f'element* in{i} = read_tensor("{self.at}/{source["name"]}.in", {size(source)});' for i, source in enumerate(sources)]
        if step["cpu"] == "function":
            lines.append(f'dlasim_apply{suffix}({steps}"{p["function"]}", {p["alpha"]}, {p["beta"]}, in0, {size(first)}, out);')
        elif step["cpu"] == "upsample":
            lines.append(f"dlasim_upsample{suffix}(in0, {c}, {h}, {w}, {p['factor'][0]}, {p['factor'][1]}, {p['copies']}, out);")
        elif step["cpu"] == "concat":
            lines.append("size_t at = 0;")
            lines += [f"at = dlasim_concat{suffix}(in{i}, {size(source)}, out, at);" for i, source in enumerate(sources)]
        elif step["cpu"] == "reshape":
            lines.append(f"static const int32_t moved[] = {{{', '.join(map(str, p['from']))}}};")
            lines.append(f"dlasim_reshape{suffix}({'' if half else '&to, '}in0, moved, {size(to)}, {p['fill']}, out);")
        elif step["cpu"] == "pool":
            lines.append(f"const dlasim_window window = {{{int(p['function'] == 'average')}, {int(p['function'] == 'min')}, {int(p['padding_counts'])}, "
                         f"{p['kernel'][0]}, {p['kernel'][1]}, {p['stride'][0]}, {p['stride'][1]}, {p['pad'][0]}, {p['pad'][1]}}};")
            lines.append(f"dlasim_pool{suffix}(&from, &to, &window, in0, out);")
        lines.append(f'write_tensor("{self.at}/{to["name"]}.out", out, {size(to)});')
        return "{\n    " + "\n    ".join(lines) + "\n}\n"

    def test_the_c_file_computes_the_steps_between_files(self):
        draw = random.Random(4)
        tables = {name: onnx_writer.np.array([draw.gauss(0, 0.2) for _ in range(16 * c * 9)], "float32").reshape(16, c, 3, 3) for name, c in (("w0", 8), ("w1", 16))}
        tables["w2"] = onnx_writer.np.array([draw.gauss(0, 0.2) for _ in range(4 * 32 * 9)], "float32").reshape(4, 32, 3, 3)
        whole = {"scales": ("float32", [1, 1, 2, 2]), "starts": ("int64", [1, 0]), "ends": ("int64", [20, 20]), "axes": ("int64", [2, 3]), "steps": ("int64", [2, 2])}
        tables |= {name: onnx_writer.np.array(values, kind) for name, (kind, values) in whole.items()}
        same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
        nodes = [onnx_writer.node("Conv", ["data", "w0"], ["c0"], **same), onnx_writer.node("Elu", ["c0"], ["elu"], alpha=0.5),
                 onnx_writer.node("Conv", ["elu", "w1"], ["c1"], **same),
                 onnx_writer.node("Resize", ["c1", "", "scales"], ["up"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
                 onnx_writer.node("Slice", ["up", "starts", "ends", "axes", "steps"], ["slice"]), onnx_writer.node("Concat", ["slice", "c1"], ["cat"], axis=1),
                 onnx_writer.node("Conv", ["cat", "w2"], ["c2"], **same), onnx_writer.node("AveragePool", ["c2"], ["pool"], kernel_shape=[9, 9], pads=[1, 1, 1, 1])]
        onnx_writer.save(self.at / "net.onnx", nodes, tables, {"data": [None, 8, 10, 10]}, {"pool": None})
        onnx_writer.np.save(self.at / "images.npy", onnx_writer.np.array([draw.gauss(0, 1) for _ in range(800)], "float32").reshape(1, 8, 10, 10))
        self.compute_steps("nv_small", ["function", "upsample", "reshape", "concat", "pool"])
        self.compute_steps("nv_full", ["function", "upsample", "reshape", "concat", "pool"], "--precision", "fp16")

    def test_the_c_file_computes_the_last_steps_of_a_model(self):
        """Without a scale after them they are the caller's, in real numbers: the manifest has them in its order."""
        np, draw = onnx_writer.np, random.Random(5)
        def weights(*shape):
            return np.array([draw.gauss(0, 0.2) for _ in range(int(np.prod(shape)))], "float32").reshape(shape)
        tables = {"w0": weights(16, 3, 3, 3), "w1": weights(12, 16, 3, 3), "w2": weights(10, 16), "w3": weights(5, 16, 3, 3), "e": np.array(0.7, "float32")}
        same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
        node = onnx_writer.node
        nodes = [node("Conv", ["data", "w0"], ["c0"], **same), node("Relu", ["c0"], ["r"]), node("Conv", ["r", "w1"], ["c1"], **same),
                 node("DepthToSpace", ["c1"], ["image"], blocksize=2), node("GlobalAveragePool", ["r"], ["g"]), node("Flatten", ["g"], ["f"]),
                 node("Gemm", ["f", "w2"], ["logits"], transB=1), node("Softmax", ["logits"], ["prob"], axis=1),
                 node("Conv", ["r", "w3"], ["c3"], **same), node("Relu", ["c3"], ["r3"]), node("Pow", ["r3", "e"], ["root"])]
        onnx_writer.save(self.at / "net.onnx", nodes, tables, {"data": [None, 3, 8, 8]}, {"prob": None, "image": None, "root": None})
        np.save(self.at / "images.npy", weights(1, 3, 8, 8))
        for machine, more in (("nv_small", ()), ("nv_full", ("--precision", "fp16"))):
            with self.subTest(machine=machine):
                manifest = self.export(self.at / "net.onnx", machine, "--input", self.at / "images.npy", *more)
                self.assertEqual(manifest["outputs"], ["prob", "image", "root"])
                steps = [step for step in manifest["order"] if "cpu" in step]
                self.assertEqual([(step["cpu"], step["outputs"], step["numbers"]) for step in steps],
                                 [("softmax", ["prob"], "real"), ("reshape", ["image"], "real"), ("function", ["root"], "real")])
                self.prove(manifest, machine)
                tensors = {t["name"]: t for t in manifest["tensors"]}
                program = STEPS_PROGRAM.replace("ELEMENT", "uint16_t" if more else "int8_t")
                self.compile(program.replace("STEPS", "".join(self.call_real(step, tensors, bool(more)) for step in steps)))
                subprocess.run(["./caller"], cwd=self.at, check=True)
                self.run_dlasim("net", self.at / "net.onnx", "--hw", machine, "--input", self.at / "images.npy", "--no-causes", "--out", self.at / "net", *more)
                for name, of_net in (("prob", "output.npy"), ("image", "outputs/image.npy"), ("root", "outputs/root.npy")):
                    golden = npy(self.at / "golden" / file_name(name))
                    self.assertEqual((self.at / f"{name}.out").read_bytes(), golden[2], name)
                    self.assertEqual(npy(self.at / "net" / of_net)[1:], golden[1:], name)

    def call_real(self, step, tensors, half):
        """C statements of a last step, from the integers or halves that a file leaves."""
        (source, to), p = (tensors[step["inputs"][0]], tensors[step["outputs"][0]]), step["parameters"]
        _, c, h, w = source["shape"]
        size, out = c * h * w, to["shape"][1] * to["shape"][2] * to["shape"][3]
        (self.at / f"{source['name']}.in").write_bytes(npy(self.at / "golden" / file_name(source["name"]))[2])
        lines = [f"const dlasim_tensor from = {self.initialiser(source)};", f'element* in = read_tensor("{self.at}/{source["name"]}.in", {size});', "(void)from;",
                 f"float numbers[{size}], out[{out}];",
                 f"for (int i = 0; i < {size}; ++i) numbers[i] = (float){'dlasim_half_real(in[i])' if half else 'dlasim_real(&from, in[i])'};"]
        if step["cpu"] == "softmax":
            lines.append(f"dlasim_softmax_real(numbers, {c}, {h * w}, {int(p['logarithm'])}, out);")
        elif step["cpu"] == "function":
            lines.append(f'dlasim_apply_real("{p["function"]}", {p["alpha"]}, {p["beta"]}, numbers, {size}, out);')
        else:
            lines.append(f"static const int32_t moved[] = {{{', '.join(map(str, p['from']))}}};")
            lines.append(f"dlasim_reshape_real(numbers, moved, {out}, {p['fill']}, out);")
        lines.append(f'write_tensor("{self.at}/{to["name"]}.out", (const element*)out, sizeof out / (sizeof(element)));')
        return "{\n    " + "\n    ".join(lines) + "\n}\n"

    def compute_steps(self, machine, kinds, *more):
        manifest = self.export(self.at / "net.onnx", machine, "--input", self.at / "images.npy", *more)
        self.prove(manifest, machine)
        tensors, steps = {t["name"]: t for t in manifest["tensors"]}, [s for s in manifest["order"] if "cpu" in s]
        self.assertEqual([s["cpu"] for s in steps], kinds)
        for tensor in tensors:
            (self.at / f"{tensor}.in").write_bytes(npy(self.at / "golden" / file_name(tensor))[2])
        program = STEPS_PROGRAM.replace("ELEMENT", "uint16_t" if more else "int8_t")
        self.compile(program.replace("STEPS", "".join(self.call(step, tensors, bool(more)) for step in steps)))
        subprocess.run(["./caller"], cwd=self.at, check=True)
        for step in steps:
            for name in step["outputs"]:
                self.assertEqual((self.at / f"{name}.out").read_bytes(), npy(self.at / "golden" / file_name(name))[2], step["cpu"])


class Emulated(DriverFiles):
    def network(self, count, size=1):
        layers = [{"name": "a", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 16}},
                  {"name": "fc", "op": "conv2d", "kernel": {"width": 11 - size, "height": 11 - size, "count": count}}, {"name": "prob", "op": "softmax"}]
        (self.at / "n.json").write_text(json.dumps({"name": "n", "input": {"width": 12, "height": 12, "channels": 3}, "layers": layers}))

    def logits(self, machine, *more):
        """The input of the softmax, and what `dlasim net` makes of it."""
        np = onnx_writer.np
        self.run_dlasim("net", self.at / "n.json", "--hw", machine, "--tensors", "--no-causes", "--out", self.at / "net", *more)
        return np.load(self.at / "net/tensors/fc.npy").ravel(), np.load(self.at / "net/output.npy").ravel()

    def test_softmax(self):
        np = onnx_writer.np
        for machine, precision, count in (("nv_small", "int8", 5), ("nv_small", "int8", 33), ("nv_large", "int8", 70), ("nv_full", "int8", 10), ("nv_full", "fp16", 40)):
            with self.subTest(machine=machine, precision=precision):
                self.network(count)
                more = () if precision == "int8" else ("--precision", precision)
                manifest = self.export(self.at / "n.json", machine, *more)
                self.assertEqual([(s.get("file"), s.get("emulated"), s["outputs"]) for s in manifest["order"]], [("m.nvdla", ["prob"], ["prob"])])
                self.assertEqual([t["name"] for t in manifest["tensors"]], ["data", "prob"])
                self.prove(manifest, machine, ("serial", "overlap", "driver"))
                logits, rounded = self.logits(machine, *more)
                values = (logits.astype("f4") * np.float32(1 / 16)).astype("f2").astype("f4") if precision == "int8" else logits.astype("f4")
                powers, total = np.exp((values - values.max()).astype("f8")).astype("f4"), np.float32(0)
                for power in powers:
                    total = np.float32(total + power)
                expected = (powers / total).astype("f2")
                if precision == "int8":
                    expected = np.trunc(expected.astype("f4") / np.float32(1 / 127)).astype("i1")
                found = np.frombuffer(npy(self.at / "golden/prob.npy")[2], expected.dtype)
                np.testing.assert_array_equal(found, expected)
                if precision == "int8":
                    self.assertLessEqual(np.abs(found.astype(int) - rounded).max(), 1)  # cut off, not rounded

    def test_of_several_places_it_is_the_callers(self):
        self.network(10, 2)
        manifest = self.export(self.at / "n.json", "nv_small")
        self.assertEqual([s.get("cpu", s.get("file")) for s in manifest["order"]], ["m.nvdla", "softmax"])
        self.prove(manifest, "nv_small")


class Refused(DriverFiles):
    def refuse(self, model, machine, text, *more):
        done = self.run_dlasim("export", model, "--hw", machine, "--form", "nvdla", "--to", self.at / "m.nvdla", *more, status=2)
        self.assertIn(text, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertEqual(list(self.at.iterdir()), [])

    def test_secondary_memory(self):
        self.refuse(ROOT / "models/lenet5_conv2_cvsram.json", "nv_large", "uses the secondary memory (CVSRAM), which NVIDIA's runtime never allocates")

    def test_depthwise_layers_alone(self):
        self.refuse(ROOT / "models/mobilenet_v1_dw_14x14.json", "nv_small", "reads its input as several cubes")

    def test_options_that_say_nothing_here(self):
        lenet = ROOT / "models/networks/lenet5.json"
        for more in (("--mode", "driver"), ("--input", "x.npy"), ("--calibrate", "x.npy")):
            self.refuse(lenet, "nv_small", f"{more[0]}: found with a network, expected", *more)
        self.refuse(ROOT / "models/lenet5_conv2.json", "nv_full", "--precision: found with a layer, expected a network", "--precision", "fp16")

    def test_names(self):
        done = self.run_dlasim("export", ROOT / "models/lenet5_conv2.json", "--form", "nvdla", "--to", self.at / "m.bin", status=2)
        self.assertIn("expected a name that ends with .nvdla", done.stderr)


if __name__ == "__main__":
    if "--count" in sys.argv:
        at = sys.argv.index("--count")
        COUNT = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    DLASIM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
