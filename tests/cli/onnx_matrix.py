"""A model of python3-onnx through the machine: what came out against the documented arithmetic and against the definition.

    class Mine(Matrix):
        def test_it(self):
            self.run_case([node("Relu", ["x"], ["y"])], {"x": x})

int8   on the three machines by turns: every tensor equal to onnx_steps.py in every bit, the chosen numbers near the scales, the output
       within `steps` steps of the definition
fp16   on nv_full: every tensor within the rounding that onnx_half_reference.py bounds, the output near the definition
"""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from onnx_definitions import evaluate
from onnx_half_reference import half, half_problems
from onnx_steps import Steps

F = np.float32
TYPES = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8}
MACHINES = ("nv_small", "nv_large", "nv_full")
NEWEST = 17  # operator set that python3-onnx 1.12 of Debian 12 knows
DLASIM = None


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name=outputs[0], **attributes)


def stem(name):
    return "".join(c if c.isascii() and c.isalnum() or c in "_-." else "_" for c in name)


def model_of(nodes, constants, inputs, kind, shape, opset):
    ports = [helper.make_tensor_value_info(name, TYPES[x.dtype.name], ["N", *x.shape[1:]]) for name, x in inputs.items()]
    outputs = [helper.make_tensor_value_info(nodes[-1].output[0], TYPES[kind], shape)]
    graph = helper.make_graph(nodes, "test", ports, outputs, [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


class Matrix(unittest.TestCase):
    turn = 0
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # each run writes a dozen files: no disk need wait for them

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="dlasim_matrix_", dir=self.memory)
        self.folder = Path(self.temporary.name)
        self.rng = np.random.default_rng(11)
        self.x = self.on_steps(2, 5, 9, 8)

    def tearDown(self):
        self.temporary.cleanup()

    def reals(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(F)

    def on_steps(self, *shape, scale=0.05):
        """Numbers that the input's steps hold exactly."""
        q = self.rng.integers(-127, 128, shape)
        q.flat[0] = 127
        return (q * scale).astype(F)

    def net(self, *options, status=0):
        command = [DLASIM, "net", "m.onnx", "--out", "out", "--quiet", *map(str, options)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}")
        return done

    def write(self, nodes, constants, inputs, kind="float32", opset=13):
        """m.onnx, and every tensor by definition."""
        out = nodes[-1].output[0]
        values = evaluate(model_of(nodes, constants, inputs, kind, None, opset), inputs)
        ceil = any(a.name == "ceil_mode" for n in nodes for a in n.attribute)  # its shapes changed after opset 17
        shape = ["N", *([None] * (values[out].ndim - 1) if ceil else values[out].shape[1:])]
        self.keep(model_of(nodes, constants, inputs, kind, shape, opset), opset <= NEWEST)
        return values, out

    def keep(self, model, checked):
        onnx.save(model, str(self.folder / "m.onnx"))
        if checked:
            onnx.checker.check_model(str(self.folder / "m.onnx"), full_check=True)

    def through(self, inputs, *options):
        """steps, tensors by name, output, result of a run with these inputs."""
        given = []
        for name, x in inputs.items():
            np.save(self.folder / f"{stem(name)}.npy", x)
            given += ["--input", f"{name}={stem(name)}.npy"]
        self.net(*given, "--tensors", "--steps", *options)
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertTrue(result["verified"])
        steps = Steps(self.folder / "out/steps")
        tensors = {tensor["name"]: np.load(self.folder / "out/tensors" / (stem(tensor["name"]) + ".npy")) for tensor in result["tensors"]}
        return steps, tensors, np.load(self.folder / "out/output.npy"), result

    def integers_of(self, steps, name, x):
        """The input as QuantizeLinear makes it."""
        scale, zero = steps.grid(name)
        cube = x.reshape(len(x), *steps.tensors[name]["shape"])
        if cube.dtype.kind in "iu":
            return cube.astype(np.int64) - (128 if cube.dtype == np.uint8 else 0)
        return np.clip(np.rint(cube.astype(F) / F(scale)) + zero, -128, 127).astype(np.int64)

    def check_integers(self, inputs, constants, *options):
        """Bit for bit; returns output and result."""
        steps, tensors, out, result = self.through(inputs, *options)
        given = {name: self.integers_of(steps, name, x) for name, x in inputs.items()}
        for name in set(steps.file["inputs"]) - set(inputs):  # constants that stand in memory; divisors as factors
            real, (scale, zero) = np.asarray(constants[name], float), steps.grid(name)
            given[name] = tensors[name]
            found = (tensors[name].astype(float) - zero) * scale
            self.assertTrue(any(np.abs(found - want).max() <= 0.51 * scale for want in (real, 1 / np.where(real == 0, np.inf, real))), name)
        expected = steps.run(given)
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(tensor, expected[name], name)
        self.assertEqual(steps.problems(), [])
        return out, result

    def check_case(self, nodes, inputs, constants, kind, opset, steps, machine):
        values, name = self.write(nodes, constants, inputs, kind, opset)
        out, result = self.check_integers(inputs, constants, "--hw", machine)
        want = values[name]
        self.assertEqual(out.shape, want.shape)
        computed = [label for label in result["host_nodes"] if not label.endswith(("(Transpose)", "(Reshape)", "(MatMul)"))]
        step = 1 if kind != "float32" else 0.02 if computed else result["tensors"][-1]["scale"]
        self.assertLessEqual(np.abs(out - want).max() / step, steps)
        return values

    def run_case(self, nodes, inputs=None, constants=None, opset=13, steps=1.01, half_near=3e-3, halves=True):
        """A model in real numbers, int8 and fp16."""
        inputs, constants = inputs or {"x": self.x}, constants or {}
        Matrix.turn += 1
        self.check_case(nodes, inputs, constants, "float32", opset, steps, MACHINES[Matrix.turn % 3])
        if halves:
            self.run_halves(inputs, half_near, nodes, constants, opset)

    def run_halves(self, inputs, near, nodes, constants, opset=13):
        inputs = {name: half(x.astype(float)).astype(F) for name, x in inputs.items()}
        values, name = self.write(nodes, constants, inputs, "float32", opset)
        steps, tensors, out, _ = self.through(inputs, "--hw", "nv_full", "--precision", "fp16")
        for given in inputs:
            np.testing.assert_array_equal(tensors[given].ravel(), inputs[given].ravel().astype(np.float16))
        self.assertEqual(half_problems(steps, tensors), [])
        want = values[name]
        self.assertLessEqual(np.abs(out - want).max(), near * (1 + np.abs(want).max()))

    def run_integers(self, nodes, inputs, constants, kind, steps=1):
        """A model with QuantizeLinear and DequantizeLinear."""
        Matrix.turn += 1
        self.check_case(nodes, inputs, constants, kind, 13, steps, MACHINES[Matrix.turn % 3])

    def one(self, op, constants=None, x=None, opset=13, steps=1.01, half_near=3e-3, halves=True, **attributes):
        """An operator of x and constants."""
        constants = constants or {}
        with self.subTest(op=op, opset=opset, **attributes):
            inputs = {"x": self.x if x is None else x}
            self.run_case([node(op, ["x", *constants], **attributes)], inputs, constants, opset, steps, half_near, halves)

    def refused(self, words, nodes, inputs=None, constants=None, opset=13, options=("--hw", "nv_full"), checked=True):
        """A legal model that does not run here: `words` of the message."""
        inputs = inputs or {"x": self.x}
        out = nodes[-1].output[0]
        open_shape = model_of(nodes, constants or {}, inputs, "float32", None, opset)
        inferred = onnx.shape_inference.infer_shapes(open_shape).graph.output[0].type.tensor_type
        rank = len(inferred.shape.dim) if inferred.HasField("shape") else 4
        self.keep(model_of(nodes, constants or {}, inputs, "float32", [None] * rank, opset), checked)
        said = self.net(*options, status=2).stderr
        for word in (f'node "{out}" ({nodes[-1].op_type})', *([words] if isinstance(words, str) else words)):
            self.assertIn(word, said)


def main(arguments):
    global DLASIM
    DLASIM = str(Path(arguments.pop(1)).resolve())
    unittest.main()
