#!/usr/bin/env python3
"""dlasim net with ONNX models of several outputs, against NumPy.

usage: onnx_outputs_test.py DLASIM [Outputs]
"""
import json
import sys
import unittest
from pathlib import Path

import numpy as np

import onnx_test
from onnx_test import MACHINES, Onnx, convolve
from onnx_writer import node

F = np.float32


class Outputs(Onnx):
    def heads(self):
        """A map of boxes and a row of classes from one trunk; what they are of x."""
        w, wb, wc, b = self.reals(8, 3, 3, 3, scale=0.3), self.reals(5, 8, 1, 1), self.reals(8, 6), self.reals(6)
        self.save([node("Conv", ["x", "w"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["t"]), node("Conv", ["t", "wb"], ["m"]), node("Sigmoid", ["m"], ["boxes"]),
                   node("GlobalAveragePool", ["t"], ["g"]), node("Flatten", ["g"], ["f"]), node("Gemm", ["f", "wc", "b"], ["h"]), node("Softmax", ["h"], ["a/row"], axis=1)],
                  {"w": w, "wb": wb, "wc": wc, "b": b}, {"x": [None, 3, 7, 6]}, {"boxes": None, "a/row": None, "t": None, "h": None})

        def reference(x):
            t = np.maximum(convolve(x, w, None, 1, 1), 0)
            h = t.mean((2, 3)) @ wc.astype(float) + b
            e = np.exp(h - h.max(1, keepdims=True))
            return {"boxes": 1 / (1 + np.exp(-convolve(t.astype(F), wb))), "a/row": e / e.sum(1, keepdims=True), "t": t, "h": h}
        return reference

    def files(self, result):
        return {output["name"]: np.load(self.folder / "out" / output["file"]) for output in result["outputs"]}

    def check(self, found, expected, largest):
        self.assertEqual(list(found), list(expected))
        for name, values in expected.items():
            self.assertEqual((found[name].shape, found[name].dtype), (values.shape, F), name)
            self.assertLess(np.abs(found[name] - values).max(), largest * max(1, np.abs(values).max()), name)

    def test_each_output_has_a_file(self):
        reference = self.heads()
        x = self.reals(6, 3, 7, 6)
        expected = reference(x)
        labels = self.array("l.npy", np.array([*expected["h"].argmax(1)[:5], 7]))
        for machine, more, largest in (*((machine, [], 0.06) for machine in MACHINES), ("nv_full", ["--precision", "fp16"], 0.003)):
            first, result = self.run_images(x, "--labels", labels, *more, machine=machine)
            self.assertEqual([output["file"] for output in result["outputs"]], ["output.npy", "outputs/a_row.npy", "outputs/t.npy", "outputs/h.npy"])
            found = self.files(result)
            np.testing.assert_array_equal(first, found["boxes"])
            self.check(found, expected, largest)
            # Labels are of rows, and the map is none.
            self.assertEqual(result["judged"], "a/row")
            same = found["a/row"].argmax(1) == expected["a/row"].argmax(1)
            self.assertAlmostEqual(result["agreement"], same.mean())
            self.assertAlmostEqual(result["reference_accuracy"], 5 / 6)
            self.assertAlmostEqual(result["accuracy"], same[:5].sum() / 6)
            self.assertEqual(sorted(result["host_nodes"]), ['node "a/row" (Softmax)', 'node "boxes" (Sigmoid)'])
            for output in result["outputs"]:
                difference = found[output["name"]] - expected[output["name"]]
                self.assertEqual(output["dimensions"], list(difference.shape[1:]))
                self.assertAlmostEqual(output["largest_difference"], np.abs(difference).max(), places=5)
                ratio = 10 * np.log10((expected[output["name"]] ** 2).sum() / (difference ** 2).sum())
                self.assertAlmostEqual(output["signal_to_noise"], ratio, delta=0.1)
                self.assertAlmostEqual(output["agreement"], np.mean([a.argmax() == b.argmax() for a, b in zip(found[output["name"]], expected[output["name"]])]))

    def test_what_others_read_too_is_there(self):
        """Nothing joins over it and its memory is kept; an output may be an input, and stand there by two names."""
        w, v = self.reals(16, 16, 3, 3, scale=0.1), self.reals(16, 16, 1, 1, scale=0.3)
        self.save([node("Conv", ["x", "w"], ["c"], pads=[1] * 4), node("Add", ["c", "x"], ["s"]), node("Relu", ["s"], ["r"]), node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2]),
                   node("Conv", ["r", "v"], ["d"]), node("Concat", ["r", "d"], ["j"], axis=1), node("Relu", ["j"], ["e"]), node("Identity", ["p"], ["q"])],
                  {"w": w, "v": v}, {"x": [None, 16, 8, 8]}, {name: None for name in ("c", "p", "r", "s", "d", "e", "q", "x")})
        x = self.reals(2, 16, 8, 8)
        c = convolve(x, w, None, 1, 1)
        r = np.maximum(c + x, 0)
        p = np.max([r[:, :, i:7 + i, j:7 + j] for i in (0, 1) for j in (0, 1)], 0)
        d = convolve(r.astype(F), v)
        expected = {"c": c, "p": p, "r": r, "s": c + x, "d": d, "e": np.maximum(np.concatenate([r, d], 1), 0), "q": p, "x": x}
        for machine, more, largest in (("nv_small", [], 0.04), ("nv_large", [], 0.04), ("nv_full", ["--precision", "fp16"], 0.003)):
            _, result = self.run_images(x, *more, machine=machine)
            self.check(self.files(result), expected, largest)
            for place in result["places"]:
                if place["name"] in ("c", "p", "r", "s", "d"):
                    self.assertEqual((place["memory"], place["over"]), ("dbb", None), place)

    def test_integers_and_numbers_stand_beside_each_other(self):
        step, zero = F(0.05), np.uint8(100)
        self.save([node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]), node("Neg", ["d"], ["n"]),
                   node("QuantizeLinear", ["n", "s", "z"], ["a.b"]), node("Identity", ["d"], ["a/b"]), node("Sigmoid", ["d"], ["a_b"])],
                  {"s": step, "z": zero}, {"x": [None, 4, 5, 5]}, {"a.b": (None, "uint8"), "a/b": (None, "float32"), "a_b": (None, "float64")})
        x = self.reals(3, 4, 5, 5)
        q = np.clip(np.rint(x / step) + 100, 0, 255).astype(int)
        _, result = self.run_images(x)
        self.assertEqual([output["file"] for output in result["outputs"]], ["output.npy", "outputs/a_b.npy", "outputs/a_b.2.npy"])
        found = self.files(result)
        np.testing.assert_array_equal(found["a.b"], np.clip(200 - q, 0, 255).astype(np.uint8))
        np.testing.assert_allclose(found["a/b"], (q - 100) * step, rtol=1e-6)
        np.testing.assert_allclose(found["a_b"], 1 / (1 + np.exp(-(q - 100) * float(step))), rtol=1e-6)
        self.assertEqual([array.dtype.name for array in found.values()], ["uint8", "float32", "float64"])

    def test_time_alone_writes_none_of_them(self):
        self.heads()
        x = self.reals(1, 3, 7, 6)
        _, result = self.run_images(x)
        self.net("--input", "x.npy", "--timing-only")
        timed = json.loads((self.folder / "out/result.json").read_text())
        self.assertEqual(timed["cycles"], result["cycles"])
        self.assertEqual([output["file"] for output in timed["outputs"]], [None] * 4)
        self.assertFalse((self.folder / "out/output.npy").exists())
        self.assertFalse((self.folder / "out/outputs").exists())

    def test_counts_and_names_that_cannot_be(self):
        for outputs, words in (({}, "outputs: found 0, expected 1 to 64"), ({f"y{i}": None for i in range(65)}, "found 65"), ({"y": None, "no": None}, 'output "no": is the output of no node')):
            self.save([node("Relu", ["x"], ["y"])], {}, {"x": [None, 2, 4, 4]}, outputs)
            self.assertIn(words, self.net(status=2).stderr)


if __name__ == "__main__":
    onnx_test.DLASIM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
