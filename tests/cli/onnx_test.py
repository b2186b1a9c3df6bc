#!/usr/bin/env python3
"""dlasim net with ONNX models: what comes out against NumPy, which shares nothing with it.

usage: onnx_test.py DLASIM [Models | Integers | Digits | Refusals]

Models    a model in real numbers becomes int8 and stays near; what is written; --calibrate, --labels, several images in one program
Integers  QuantizeLinear and DequantizeLinear: results equal to the integers of the definition within one step, on three machines
Digits    trained models of models/onnx: accuracy, and the integers of the one that is quantised
Refusals  nodes that cannot run are told all at once, by name and operator; files that are no models
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

from onnx_writer import attribute, data, node, save

DLASIM = None
F = np.float32
MACHINES = ("nv_small", "nv_large", "nv_full")
DIGITS = Path(__file__).resolve().parents[2] / "models/onnx"


class Onnx(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="dlasim_onnx_")
        self.folder = Path(self.temporary.name)
        self.rng = np.random.default_rng(7)

    def tearDown(self):
        self.temporary.cleanup()

    def net(self, *options, status=0, machine="nv_small"):
        command = [DLASIM, "net", "m.onnx", "--hw", machine, "--out", "out", *map(str, options)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}")
        return done

    def save(self, nodes, constants, inputs, outputs, **keys):
        save(self.folder / "m.onnx", nodes, constants, inputs, outputs, **keys)

    def array(self, name, array):
        np.save(self.folder / name, array)
        return name

    def run_images(self, images, *options, machine="nv_small"):
        """output.npy and result.json of these images, verified."""
        self.net("--input", self.array("x.npy", images), *options, machine=machine)
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertTrue(result["verified"])
        self.assertEqual(sum(step.get("share", 0) for step in result["steps"]), result["cycles"])
        return np.load(self.folder / "out/output.npy"), result

    def reals(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)


def convolve(x, w, b=None, stride=1, pad=0, groups=1):
    """[n, c, h, w] with [k, c / groups, r, s], in double precision or int64."""
    kind = np.int64 if x.dtype.kind == "i" else np.float64
    x = np.pad(x.astype(kind), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    k, cg, r, s = w.shape
    h, wd = (x.shape[2] - r) // stride + 1, (x.shape[3] - s) // stride + 1
    out = np.zeros((x.shape[0], k, h, wd), kind)
    for o in range(k):
        first = o // (k // groups) * cg
        for i in range(r):
            for j in range(s):
                part = x[:, first:first + cg, i:i + h * stride:stride, j:j + wd * stride:stride]
                out[:, o] += np.einsum("nchw,c->nhw", part, w[o, :, i, j].astype(kind))
    return out if b is None else out + b.astype(kind)[None, :, None, None]


def pool2(x):
    return np.maximum.reduce([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)])


class Models(Onnx):
    def model(self):
        w1, b1, w2, b2 = self.reals(6, 2, 3, 3), self.reals(6), self.reals(5, 6 * 16, scale=0.2), self.reals(5)
        gamma, beta, mean, var = self.reals(6), self.reals(6), self.reals(6), np.abs(self.reals(6)) + 0.5
        self.save([node("Conv", ["x", "w1", "b1"], ["c"], pads=[1, 1, 1, 1]), node("BatchNormalization", ["c", "g", "be", "m", "v"], ["n"], epsilon=1e-3),
                   node("Relu", ["n"], ["r"]), node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", ["p"], ["f"]),
                   node("Gemm", ["f", "w2", "b2"], ["y"], transB=1), node("Softmax", ["y"], ["z"], axis=1)],
                  {"w1": w1, "b1": b1, "w2": w2, "b2": b2, "g": gamma, "be": beta, "m": mean, "v": var}, {"x": [None, 2, 8, 8]}, {"z": [None, 5]})

        def reference(x):
            c = convolve(x, w1, b1, pad=1)
            c = (c - mean[None, :, None, None]) / np.sqrt(var + 1e-3)[None, :, None, None] * gamma[None, :, None, None] + beta[None, :, None, None]
            y = pool2(np.maximum(c, 0)).reshape(len(x), -1) @ w2.T.astype(np.float64) + b2
            e = np.exp(y - y.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)
        return reference

    def test_reals_become_integers_and_stay_near(self):
        reference = self.model()
        x = self.reals(12, 2, 8, 8)
        expected = reference(x)
        labels = expected.argmax(1)
        labels[0] = (labels[0] + 1) % 5
        for machine in MACHINES:
            out, result = self.run_images(x, "--labels", self.array("l.npy", labels.astype(np.uint8)), machine=machine)
            self.assertEqual((out.shape, out.dtype), ((12, 5), np.float32))
            self.assertLess(np.abs(out - expected).max(), 0.12)
            self.assertAlmostEqual(result["reference_accuracy"], 11 / 12)
            right = (out.argmax(1) == labels).mean()
            self.assertAlmostEqual(result["accuracy"], right)
            self.assertAlmostEqual(result["agreement"], (out.argmax(1) == expected.argmax(1)).mean())
            self.assertEqual(result["host_nodes"], ['node "z" (Softmax)'])
            self.assertEqual(result["images"]["count"], 12)
            self.assertAlmostEqual(result["frames_per_s"] * result["images"]["cycles"], 12 * result["hardware"]["clock_mhz"] * 1e6, delta=1)
            self.assertTrue(all(t["signal_to_noise"] > 25 for t in result["tensors"]), result["tensors"])

    def test_an_image_alone_and_among_others_has_the_same_result(self):
        self.model()
        x = self.reals(3, 2, 8, 8)
        calibrate = ["--calibrate", self.array("c.npy", x)]
        together, all_of_them = self.run_images(x, *calibrate)
        alone = [self.run_images(x[i:i + 1], *calibrate) for i in range(3)]
        np.testing.assert_array_equal(together, np.concatenate([out for out, _ in alone]))
        self.assertEqual(all_of_them["cycles"], alone[0][1]["cycles"])

    def test_causes_are_those_of_the_first_image(self):
        w1, w2 = self.reals(16, 3, 3, 3), self.reals(16, 16, 3, 3, scale=0.1)
        self.save([node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]), node("HardSigmoid", ["a"], ["h"]), node("Mul", ["a", "h"], ["b"]),
                   node("Conv", ["b", "w2"], ["y"], pads=[1, 1, 1, 1])], {"w1": w1, "w2": w2}, {"x": [None, 3, 32, 32]}, {"y": [None, 16, 32, 32]})
        x = self.reals(3, 3, 32, 32)
        calibrate = ["--calibrate", self.array("c.npy", x)]
        alone, among = (self.run_images(images, *calibrate, machine="nv_large")[1] for images in (x[:1], x))
        for key in ("cycles", "causes"):
            self.assertEqual(among[key], alone[key])
        self.assertEqual([step.get("causes") for step in among["steps"]], [step.get("causes") for step in alone["steps"]])

    def test_a_plan_of_a_model_is_laid_over_it(self):
        w1, w2 = self.reals(24, 8, 3, 3), self.reals(40, 24, 3, 3)
        self.save([node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]), node("Relu", ["a"], ["b"]), node("Conv", ["b", "w2"], ["y"], pads=[1, 1, 1, 1])],
                  {"w1": w1, "w2": w2}, {"x": [1, 8, 20, 20]}, {"y": [1, 40, 20, 20]})
        self.net("--plan", "--quiet")
        plan = json.loads((self.folder / "out/plan.json").read_text())
        tiled = [layer for layer in plan["layers"] if "partition" in layer]
        cycles = []
        for rows in (None, 2):
            if rows:
                tiled[-1]["partition"] = {"rows": rows}
            (self.folder / "plan.json").write_text(json.dumps(plan))
            cycles.append(self.run_images(self.reals(1, 8, 20, 20), "--from-plan", "plan.json")[1]["cycles"])
        self.assertEqual(cycles[0], self.run_images(self.reals(1, 8, 20, 20))[1]["cycles"])
        self.assertNotEqual(cycles[1], cycles[0])
        plan["layers"][0]["name"] = "nobody"
        for text, says in ((json.dumps(plan), "/layers/0/name: found \"nobody\", expected a layer of"), ("[1]", "/layers: is no list"),
                           ('{"layers": 3}', "/layers: is no list"), ('{"layers": [4]}', "/layers/0: found 4, expected an object")):
            (self.folder / "plan.json").write_text(text)
            self.assertIn(f"plan.json: {says}", self.net("--from-plan", "plan.json", status=2).stderr)

    def test_calibration_decides_the_steps(self):
        self.model()
        x = self.reals(2, 2, 8, 8)
        wide = self.array("c.npy", 10 * x)
        near, far = self.run_images(x)[1], self.run_images(x, "--calibrate", wide)[1]
        self.assertAlmostEqual(far["tensors"][0]["scale"], 10 * near["tensors"][0]["scale"], places=5)

    def test_images_decide_no_cycle(self):
        """Steps chosen from small images make biases of more than 16 bits, of large ones of none; limits are nearer or farther than the ends of
        a tensor; two tables are equal or not. Whatever they are, the same engines work."""
        w, b = {"w": self.reals(8, 3, 3, 3), "v": self.reals(8, 3, 1, 1), "u": self.reals(6, 32, 1, 1)}, {"b": self.reals(8), "c": self.reals(6, scale=0.1)}
        limits = {"zero": F(0), "six": F(6), "one": F(1), "deep": F(-6)}
        nodes = [node("Conv", ["x", "w", "b"], ["a"], pads=[1] * 4), node("Clip", ["a", "zero", "six"], ["r6"]), node("Conv", ["x", "v"], ["n"]),
                 node("Clip", ["n", "deep", "one"], ["cut"]), node("Add", ["r6", "cut"], ["s"]), node("Clip", ["s", "zero", "six"], ["s6"]),
                 node("Sigmoid", ["n"], ["g"]), node("Sigmoid", ["s6"], ["h"]), node("LRN", ["r6"], ["l"], size=3), node("LRN", ["cut"], ["m"], size=3),
                 node("Concat", ["l", "m", "g", "h"], ["all"], axis=1), node("Conv", ["all", "u", "c"], ["y"])]
        self.save(nodes, {**w, **b, **limits}, {"x": [None, 3, 6, 5]}, {"y": None})
        x = self.reals(1, 3, 6, 5)
        for machine in MACHINES:
            cycles = []
            for scale in (0.002, 0.03, 1, 40, 300):
                _, result = self.run_images(x, "--calibrate", self.array("c.npy", self.reals(1, 3, 6, 5, scale=scale)), machine=machine)
                cycles.append(result["cycles"])
            for more in ([], ["--timing-only"], ["--seed", 7]):
                self.net(*more, machine=machine)
                cycles.append(json.loads((self.folder / "out/result.json").read_text())["cycles"])
            self.assertEqual(len(set(cycles)), 1, (machine, cycles))

    def test_tensors_are_written_and_time_alone_takes_the_same_cycles(self):
        self.model()
        x = self.reals(2, 2, 8, 8)
        _, result = self.run_images(x, "--tensors")
        self.assertEqual(np.load(self.folder / "out/tensors/p.npy").shape, (2, 6, 4, 4))
        self.net("--input", "x.npy", "--timing-only")
        timed = json.loads((self.folder / "out/result.json").read_text())
        self.assertEqual(timed["cycles"], result["cycles"])
        self.assertFalse((self.folder / "out/output.npy").exists())


class Integers(Onnx):
    def test_a_quantised_model_is_within_one_step_of_its_integers(self):
        sx, s1, s2, s3 = np.float32(0.02), np.float32(0.11), np.float32(0.004), np.float32(0.31)
        w1 = self.rng.integers(-127, 128, (12, 3, 3, 3), np.int8)
        w2 = self.rng.integers(-127, 128, (7, 12 * 9), np.int8)
        sw1 = (self.rng.random(12) * 0.01 + 0.002).astype(np.float32)
        b1 = self.rng.integers(-9000, 9000, 12, np.int32)
        b1[3] = 70000  # more than 16 bits
        b2 = self.rng.integers(-2000, 2000, 7, np.int32)
        for per_kernel in (False, True):
            scale = sw1 if per_kernel else sw1[0]
            bias_scale = (sx * scale).astype(np.float32)
            z, zi = np.int8(0), np.int32(0)
            zeros = {"z": z, "zk": np.zeros(12, np.int8), "zi": zi, "zik": np.zeros(12, np.int32)}
            zk, zik = ("zk", "zik") if per_kernel else ("z", "zi")
            nodes = [node("QuantizeLinear", ["x", "sx", "z"], ["xq"]), node("DequantizeLinear", ["xq", "sx", "z"], ["xd"]),
                     node("DequantizeLinear", ["w1", "sw1", zk], ["w1d"], axis=0), node("DequantizeLinear", ["b1", "sb1", zik], ["b1d"], axis=0),
                     node("Conv", ["xd", "w1d", "b1d"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]),
                     node("QuantizeLinear", ["r", "s1", "z"], ["rq"]), node("DequantizeLinear", ["rq", "s1", "z"], ["rd"]),
                     node("MaxPool", ["rd"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("QuantizeLinear", ["p", "s1", "z"], ["pq"]),
                     node("DequantizeLinear", ["pq", "s1", "z"], ["pd"]), node("Reshape", ["pd", "to"], ["f"]),
                     node("DequantizeLinear", ["w2", "s2", "z"], ["w2d"]), node("DequantizeLinear", ["b2", "sb2", "zi"], ["b2d"]),
                     node("Gemm", ["f", "w2d", "b2d"], ["g"], transB=1), node("QuantizeLinear", ["g", "s3", "z"], ["gq"])]
            constants = {**zeros, "sx": sx, "w1": w1, "sw1": scale, "b1": b1, "sb1": bias_scale, "s1": s1, "to": np.array([0, -1]), "w2": w2,
                         "s2": s2, "b2": b2, "sb2": np.float32(s1 * s2), "s3": s3}
            self.save(nodes, constants, {"x": [1, 3, 12, 12]}, {"gq": ([1, 7], "int8")})
            x = self.reals(9, 3, 12, 12)
            q = np.clip(np.rint(x / sx), -128, 127).astype(np.int64)

            def rescaled(acc, factor):
                return np.clip(np.rint(acc * factor), -128, 127).astype(np.int64)

            factor = (float(sx) * np.broadcast_to(scale, 12).astype(np.float64) / float(s1))[None, :, None, None]
            first = rescaled(np.maximum(convolve(q, w1, b1, 2, 1), 0), factor)
            expected = rescaled(pool2(first).reshape(9, -1) @ w2.T.astype(np.int64) + b2, float(s1) * float(s2) / float(s3))
            for machine in MACHINES:
                out, result = self.run_images(x, "--tensors", machine=machine)
                self.assertEqual(out.dtype, np.int8)
                pooled = np.load(self.folder / "out/tensors/pq.npy")
                self.assertLessEqual(np.abs(pooled - pool2(first)).max(), 1)
                self.assertLess((pooled != pool2(first)).mean(), 0.01)
                self.assertLessEqual(np.abs(out - expected).max(), 1)
                self.assertGreater(len(np.unique(expected)), 20)


class Digits(Onnx):
    """The trained models of models/onnx."""

    def run_model(self, name, machine):
        command = [DLASIM, "net", DIGITS / f"{name}.onnx", "--input", DIGITS / "images.npy", "--labels", DIGITS / "labels.npy", "--hw", machine, "--out", "out"]
        subprocess.run(list(map(str, command)), cwd=self.folder, check=True, capture_output=True, timeout=300)
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertTrue(result["verified"])
        self.assertEqual(result["images"]["count"], 20)
        return np.load(self.folder / "out/output.npy"), result

    def test_integers_are_right_as_often_as_real_numbers(self):
        for name, machine in (("acri_mnist", "nv_small"), ("mobilenet_small", "nv_large"), ("resnet_small", "nv_full")):
            out, result = self.run_model(name, machine)
            labels = np.load(DIGITS / "labels.npy")
            self.assertEqual(result["accuracy"], (out.argmax(1) == labels).mean())
            self.assertGreaterEqual(result["accuracy"], 0.95)
            self.assertEqual((result["accuracy"], result["agreement"]), (result["reference_accuracy"], 1))

    def test_a_quantised_model_gives_the_integers_of_its_definition(self):
        expected = np.load(DIGITS / "acri_mnist_qdq_logits.npy").astype(int)
        for machine in MACHINES:
            out, result = self.run_model("acri_mnist_qdq", machine)
            steps = np.rint(out / result["tensors"][-1]["scale"])
            self.assertLessEqual(np.abs(steps - expected).max(), 1)
            self.assertLessEqual((steps != expected).sum(), 2)
            read = result["traffic"]["dbb"]["read_bytes_by_client"]
            self.assertIn("SDP_BS", read)  # biases fit its 16 bits, by the scales of the model
            self.assertNotIn("SDP_BN", read)


class Refusals(Onnx):
    def test_all_nodes_that_cannot_run_are_told_at_once(self):
        w = self.reals(4, 2, 3, 3)
        self.save([node("Conv", ["x", "w"], ["a"], "first", dilations=[33, 33], pads=[40] * 4), node("Relu", ["a"], ["b"]), node("Einsum", ["x"], ["d"], "odd", equation="ij"),
                   node("Conv", ["x", "w"], ["e"], "second", group=3), node("Resize", ["x", "", "sc"], ["g"], "soft", mode="area")],
                  {"w": w, "sc": np.array([1, 1, 2, 2], np.float32)}, {"x": [1, 2, 8, 8]}, {"b": None})
        said = self.net(status=2).stderr
        for words in ("4 problems", 'node "first" (Conv)', "found 33", 'node "odd" (Einsum)', 'node "second" (Conv)', "3 groups", 'node "soft" (Resize)',
                      'mode "area"'):
            self.assertIn(words, said)
        self.assertNotIn("(Relu)", said)
        self.assertFalse((self.folder / "out").exists())

    def test_problems_stand_one_below_the_other(self):
        self.save([node("Einsum", ["x"], ["a"], "one\ntwo"), node("Einsum", ["x"], ["y"], "three")], {}, {"x": [1, 2, 4, 4]}, {"y": None})
        lines = self.net(status=2).stderr.splitlines()
        self.assertEqual(lines[0], "dlasim: m.onnx: 2 problems:")
        self.assertTrue(lines[1].startswith('  node "one\\ntwo" (Einsum): is not a supported operator'), lines)
        self.assertIn("extract_model", lines[1])
        self.assertTrue(lines[2].startswith('  node "three" (Einsum): is not a supported operator'), lines)

    def test_numbers_of_attributes_that_are_none(self):
        port = {"x": [1, 2, 4, 4]}
        for number in (float("nan"), float("inf"), -float("inf")):
            for of, keys in (("Elu", {}), ("LeakyRelu", {}), ("Selu", {})):
                self.save([node(of, ["x"], ["y"], "bad", alpha=number)], {}, port, {"y": None}, **keys)
                said = self.net(status=2).stderr
                self.assertIn(f'm.onnx: node "bad" ({of}): has attribute "alpha" = ', said)
                self.assertIn("expected a finite number", said)
            self.save([node("Upsample", ["x"], ["y"], "bad", scales=[1.0, 1.0, number, 2.0])], {}, port, {"y": None}, opset=7)
            self.assertIn('node "bad" (Upsample): has attribute "scales" = ', self.net(status=2).stderr)

    def test_an_attribute_that_is_given_twice(self):
        twice = node("LeakyRelu", ["x"], ["y"], "odd", alpha=0.5) + data(5, attribute("alpha", 0.25))
        self.save([twice], {}, {"x": [1, 2, 4, 4]}, {"y": None})
        self.assertIn('node "odd" (LeakyRelu): has attribute "alpha" twice', self.net(status=2).stderr)

    def test_names_are_bounded(self):
        long = "x" * 20_000_000  # a file of small parts has 64 MiB at most
        for nodes, port in (([node("Relu", ["x"], ["y"], long)], "x"), ([node("Relu", [long], ["y"])], long), ([node(long, ["x"], ["y"])], "x"),
                            ([node("Relu", ["x"], ["y"], domain=long)], "x"), ([node("Cast", ["x"], ["y"], "cast", saturate=long)], "x")):
            self.save(nodes, {}, {port: [1, 2, 4, 4]}, {"y": None})
            said = self.net(status=2).stderr
            self.assertIn("m.onnx: has a name of 20000000 bytes, expected at most 4096", said)
            self.assertLess(len(said), 1000)

    def test_what_joins_tensors_is_refused_by_name(self):
        self.save([node("Add", ["x", "x2"], ["a"], "wide"), node("Transpose", ["x"], ["t"], "batch", perm=[1, 0, 2, 3]), node("Div", ["x", "x"], ["y"], "ratio")],
                  {}, {"x": [None, 2, 4, 4], "x2": [None, 3, 4, 4]}, {"y": None})
        said = self.net(status=2).stderr
        # What is left where dimension 0 is no batch.
        self.assertIn('node "wide" (Add): combines tensors of 2 and 3', said)
        self.assertNotIn("ratio", said)

    def test_files_that_are_no_models(self):
        for contents in (b"", b"not a model", b"\x08\x07", bytes(1000)):
            (self.folder / "m.onnx").write_bytes(contents)
            self.assertIn("m.onnx", self.net(status=2).stderr)

    def test_images_of_another_shape_and_options_of_another_format(self):
        self.save([node("Relu", ["x"], ["y"])], {}, {"x": [1, 2, 4, 4]}, {"y": [1, 2, 4, 4]})
        self.assertIn("(2, 4, 4)", self.net("--input", self.array("x.npy", np.zeros((3, 2, 4, 5), np.float32)), status=2).stderr)
        self.assertIn("finite", self.net("--input", self.array("x.npy", np.full((1, 2, 4, 4), np.nan, np.float32)), status=2).stderr)
        self.assertIn("label", self.net("--input", self.array("x.npy", np.zeros((3, 2, 4, 4), np.float32)), "--labels",
                                        self.array("l.npy", np.zeros(2, np.uint8)), status=2).stderr)


if __name__ == "__main__":
    DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
