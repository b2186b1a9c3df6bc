#!/usr/bin/env python3
"""Pictures as images of a model: PNG and JPEG files, folders of them and of .npy, against Pillow and NumPy.

usage: pictures_test.py DLASIM [Pixels | Folders | Manifest | Refused | Hostile]

Pixels    every format and size, resized, cropped, in every order of colours: the integers of the input are those that NumPy computes from Pillow
Folders   a folder is its files in the order of their names; a .npy of bytes is a decoded picture
Manifest  `preprocessing` says what was done, and the C file of examples/board does the same to the byte
Refused   what does not fit, by option and file
Hostile   damaged and lying files end with a message, in little time and memory
"""
import io
import json
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

import onnx_writer
from onnx_writer import node

ROOT = Path(__file__).resolve().parents[2]
DLASIM = None
COUNT = 150
SECONDS, BYTES = 20, 2 << 30


def picture(width, height, components, seed=1):
    """Smooth and noisy parts, so that rounding matters."""
    draw = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = [(128 + 120 * np.sin(x / (3 + c) + seed) * np.cos(y / (2 + c))) for c in range(components)]
    array = np.stack(planes, -1) + draw.integers(-30, 30, (height, width, components))
    return np.clip(array, 0, 255).astype("uint8")


def image_of(array):
    return Image.fromarray(array if array.shape[2] == 3 else array[:, :, 0])


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)

    def model(self, channels, height, width, batch=None):
        weights = np.random.default_rng(3).normal(0, 0.3, (4, channels, 3, 3)).astype("float32")
        onnx_writer.save(self.at / "m.onnx", [node("Conv", ["data", "w"], ["c"], kernel_shape=[3, 3]), node("Relu", ["c"], ["y"])], {"w": weights},
                         {"data": [batch, channels, height, width]}, {"y": None})

    def run_dlasim(self, *arguments, status=0, limit=False):
        def bounds():
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        done = subprocess.run([DLASIM, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS if limit else 300, preexec_fn=bounds if limit else None)
        self.assertIn(done.returncode, (status,) if isinstance(status, int) else status, done.stderr + done.stdout)
        return done

    def net(self, images, *preprocess, status=0, option="--input", more=(), limit=False):
        options = [part for text in preprocess for part in ("--preprocess", text)]
        return self.run_dlasim("net", self.at / "m.onnx", "--hw", "nv_small", option, images, *options, "--no-causes", "--tensors", "--out", self.at / "out", *more,
                               status=status, limit=limit)

    def integers(self):
        result = json.loads((self.at / "out/result.json").read_text())
        scale = next(t for t in result["tensors"] if t["name"] == "data")["scale"]
        return np.load(self.at / "out/tensors/data.npy"), np.float32(scale)

    def expect(self, pictures, mean=(0,), norm=(1,), bgr=False):
        """Bytes [height][width][channels] of each picture, after resizing and cropping."""
        found, scale = self.integers()
        numbers = np.stack([p.astype("float64").transpose(2, 0, 1) for p in pictures])
        numbers = numbers[:, ::-1] if bgr else numbers
        numbers = (numbers - np.reshape(mean, (1, -1, 1, 1))) / np.reshape(norm, (1, -1, 1, 1))
        expected = np.clip(np.rint(numbers.astype("float32") / scale), -128, 127)
        np.testing.assert_array_equal(found, expected)


class Pixels(Pictures):
    def test_formats(self):
        colour, grey = picture(37, 23, 3), picture(37, 23, 1)
        palette = Image.fromarray(colour).quantize(60)
        alpha = Image.fromarray(np.dstack([colour, picture(37, 23, 1, 4)]))
        deep = (np.arange(23 * 37) * 71 % 65536).astype("uint16").reshape(23, 37)
        files = {"colour.png": Image.fromarray(colour), "grey.png": Image.fromarray(grey[:, :, 0]), "palette.png": palette, "alpha.png": alpha,
                 "bits.png": Image.fromarray(grey[:, :, 0]).convert("1"), "best.jpg": Image.fromarray(colour), "small.jpeg": Image.fromarray(colour),
                 "grey.jpg": Image.fromarray(grey[:, :, 0]), "progressive.jpg": Image.fromarray(colour), "whole.jpg": Image.fromarray(colour)}
        options = {"best.jpg": {"quality": 95, "subsampling": 0}, "small.jpeg": {"quality": 30}, "progressive.jpg": {"progressive": True, "quality": 80},
                   "whole.jpg": {"quality": 80, "subsampling": 2, "restart_marker_blocks": 1}}
        for channels, mode in ((3, "RGB"), (1, "L")):
            self.model(channels, 23, 37)
            for name, image in files.items():
                with self.subTest(name=name, channels=channels):
                    image.save(self.at / name, **options.get(name, {}))
                    self.net(self.at / name)
                    with Image.open(self.at / name) as read:
                        pixels = np.asarray(read.convert("RGB" if mode == "RGB" or read.mode in ("P", "RGBA") else "L"))
                        pixels = np.asarray(Image.fromarray(pixels).convert(mode)).reshape(23, 37, channels)
                    self.expect([pixels])
        Image.fromarray(deep).save(self.at / "deep.png")  # the upper byte
        self.net(self.at / "deep.png")
        self.expect([(deep >> 8).astype("uint8")[:, :, None]])

    def test_interlaced(self):
        pixels = picture(19, 17, 3)
        raw = b""
        for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
            for row in pixels[y0::dy, x0::dx]:
                raw += b"\0" + row.tobytes() if row.size else b""
        (self.at / "i.png").write_bytes(png(19, 17, raw, interlace=1))
        self.model(3, 17, 19)
        self.net(self.at / "i.png")
        self.expect([pixels])

    def test_resized_and_cropped(self):
        draw = random.Random(2)
        for seed in range(12):
            width, height, components = draw.randint(1, 90), draw.randint(1, 90), draw.choice([1, 3])
            pixels = picture(width, height, components, seed)
            image_of(pixels).save(self.at / "p.png")
            short = draw.randint(4, 40)
            resize = [f"resize={short}"] if seed % 3 else [f"resize={draw.randint(4, 60)}x{draw.randint(4, 60)}"]
            size = [int(n) for n in resize[0][7:].split("x")]
            if len(size) == 1:
                size = [short, int(short * height / width)] if width <= height else [int(short * width / height), short]
            crop = [draw.randint(3, size[0]), draw.randint(3, size[1])]
            with self.subTest(seed=seed, width=width, height=height, size=size, crop=crop):
                made = np.asarray(image_of(pixels).resize(size, Image.BILINEAR)).reshape(size[1], size[0], components)
                left, top = round((size[0] - crop[0]) / 2), round((size[1] - crop[1]) / 2)
                made = made[top:top + crop[1], left:left + crop[0]]
                self.model(components, crop[1], crop[0])
                self.net(self.at / "p.png", *resize, f"crop={crop[0]}x{crop[1]}")
                self.expect([made])

    def test_numbers(self):
        pixels = picture(16, 12, 3)
        Image.fromarray(pixels).save(self.at / "p.png")
        self.model(3, 12, 16)
        mean, norm = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
        self.net(self.at / "p.png", "mean=" + ",".join(map(str, mean)), "norm=" + ",".join(map(str, norm)))
        self.expect([pixels], mean, norm)
        self.net(self.at / "p.png", "mean=127.5", "norm=127.5", "colours=bgr")
        self.expect([pixels], (127.5,), (127.5,), bgr=True)


class Folders(Pictures):
    def test_in_the_order_of_names(self):
        (self.at / "images").mkdir()
        pixels = [picture(14, 10, 3, seed) for seed in range(4)]
        Image.fromarray(pixels[2]).save(self.at / "images/c.png")
        Image.fromarray(pixels[0]).save(self.at / "images/a.PNG")
        np.save(self.at / "images/b.npy", pixels[1])
        (self.at / "images/b.npy").rename(self.at / "images/b.NPY")
        np.save(self.at / "images/d.npy", (pixels[3].astype("float32").transpose(2, 0, 1)[None] - 10) / 2)
        (self.at / "images/labels.txt").write_text("no image")
        (self.at / "images/sub").mkdir()
        self.model(3, 10, 14)
        self.net(self.at / "images", "mean=10", "norm=2")
        self.expect(pixels, (10,), (2,))
        self.assertEqual(json.loads((self.at / "out/result.json").read_text())["images"]["count"], 4)

    def test_calibration(self):
        """The scale is that of the pictures; those of the input are others."""
        (self.at / "images").mkdir()
        image_of(np.full((10, 14, 3), 200, "uint8")).save(self.at / "images/a.png")
        image_of(np.full((10, 14, 3), 30, "uint8")).save(self.at / "images/b.png")
        np.save(self.at / "x.npy", np.ones((1, 3, 10, 14), "float32"))
        self.model(3, 10, 14)
        self.net(self.at / "images", "mean=100", "norm=10", option="--calibrate", more=("--input", self.at / "x.npy"))
        self.assertAlmostEqual(float(self.integers()[1]), 10 / 127, places=6)

    def test_open_sizes_follow_the_pictures(self):
        image_of(picture(20, 16, 3)).save(self.at / "p.png")
        self.model(3, None, None)
        self.net(self.at / "p.png", "resize=12")
        self.assertEqual(self.integers()[0].shape, (1, 3, 12, 15))


PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
#include "dlasim_tensors.h"
int main(void)
{
    const dlasim_tensor in = INPUT;
    const dlasim_pixels pixels = PIXELS;
    const dlasim_picture from = {40, 30, 3}, resized = {RESIZED, 3};
    uint8_t *picture = malloc(40 * 30 * 3), *between = malloc(resized.width * 30 * 3), *all = malloc(resized.width * resized.height * 3);
    uint8_t *middle = malloc(in.width * in.height * 3), *memory = malloc(in.bytes);
    FILE* f = fopen("picture", "rb");
    if (!f || fread(picture, 1, 40 * 30 * 3, f) != 40 * 30 * 3) return 1;
    dlasim_resize(&from, picture, resized.width, resized.height, between, all);
    dlasim_crop(&resized, all, in.width, in.height, middle);
    dlasim_write_image(&in, &pixels, middle, memory);
    f = fopen("surface.in", "wb");
    return fwrite(memory, 1, in.bytes, f) != in.bytes || fclose(f) != 0;
}
'''


class Manifest(Pictures):
    def test_the_c_file_does_the_same(self):
        pixels = picture(40, 30, 3)
        Image.fromarray(pixels).save(self.at / "p.png")
        (self.at / "picture").write_bytes(pixels.tobytes())
        self.model(3, 17, 19)
        texts = ("resize=22", "crop=19x17", "colours=bgr", "mean=103.53,116.28,123.675", "norm=57.375,57.12,58.395")
        options = [part for text in texts for part in ("--preprocess", text)]
        for machine in ("nv_small", "nv_large"):
            self.run_dlasim("export", self.at / "m.onnx", "--hw", machine, "--form", "nvdla", "--to", self.at / "m.nvdla", "--golden", self.at / "golden", "--input",
                            self.at / "p.png", *options)
            manifest = json.loads((self.at / "m.json").read_text())
            said = manifest["preprocessing"][0]
            self.assertEqual(said, {"input": "data", "resize": {"shorter_side": 22, "filter": "bilinear of Pillow"}, "crop": {"width": 19, "height": 17, "at": "centre"},
                                    "colours": "bgr", "mean": [103.53, 116.28, 123.675], "norm": [57.375, 57.12, 58.395], "number": "(byte - mean) / norm"})
            tensor = next(t for t in manifest["tensors"] if t["name"] == "data")
            layout, (_, c, h, w) = tensor["layout"], tensor["shape"]
            initialiser = (f"{{{c}, {h}, {w}, {layout.get('atom_bytes', 0)}, {layout.get('components', 0)}, {layout['line_stride']}, {layout['surface_stride']}, "
                           f"{layout['bytes']}, {tensor['scale']!r}, {tensor['zero_point']}, NULL, 0}}")
            numbers = ", ".join("{" + ", ".join(map(str, said[key])) + "}" for key in ("mean", "norm"))
            (self.at / "caller.c").write_text(PROGRAM.replace("= INPUT", "= " + initialiser).replace("PIXELS", f"{{1, {numbers}}}").replace("RESIZED", "29, 22"))
            compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
            subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "examples/board", "caller.c", "-o", "caller", "-lm"], cwd=self.at, check=True)
            subprocess.run(["./caller"], cwd=self.at, check=True)
            for out, more in (("c", (self.at / "surface.in", "--input-form", "surface")), ("g", (self.at / "golden/data.npy",))):
                self.run_dlasim("loadable", self.at / "m.nvdla", "--hw", machine, "--input", *more, "--out", self.at / out)
            self.assertEqual((self.at / "c/output.npy").read_bytes(), (self.at / "g/output.npy").read_bytes())
            self.assertEqual(np.load(self.at / "golden/data.npy").tobytes(), self.of_surface(tensor).tobytes())

    def of_surface(self, tensor):
        memory, layout, (_, c, h, w) = (self.at / "surface.in").read_bytes(), tensor["layout"], tensor["shape"]
        atom = layout.get("atom_bytes", 0)
        def at(k, y, x):
            if not atom:
                return y * layout["line_stride"] + x * layout["components"] + k
            return k // atom * layout["surface_stride"] + y * layout["line_stride"] + x * atom + k % atom
        return np.array([memory[at(k, y, x)] for k in range(c) for y in range(h) for x in range(w)], "uint8").view("int8")


class Refused(Pictures):
    def refuse(self, text, images, *preprocess, **more):
        error = self.net(images, *preprocess, status=2, **more).stderr
        self.assertIn(text, error)
        self.assertEqual(len(error.strip().splitlines()), 1, error)

    def test_what_does_not_fit(self):
        self.model(3, 10, 14)
        image_of(picture(15, 10, 3)).save(self.at / "p.png")
        (self.at / "empty").mkdir()
        (self.at / "text.png").write_text("no picture at all")
        (self.at / "short.jpg").write_bytes(b"\xff\xd8\xff\xe0")
        np.save(self.at / "x.npy", np.ones((1, 3, 10, 14), "float32"))
        image_of(picture(14, 10, 3)).convert("CMYK").save(self.at / "cmyk.jpg")
        for text, *arguments in (("has 15 x 10 pixels, expected 14 x 10: --preprocess resize=WxH or crop=WxH", self.at / "p.png"),
                                 ("expected no less: resize", self.at / "p.png", "crop=20"), ("is a folder without files", self.at / "empty"),
                                 ("is no PNG or JPEG file", self.at / "text.png"), ("is not a valid JPEG file", self.at / "short.jpg"),
                                 ("found 4 components", self.at / "cmyk.jpg"), ("found without pictures", self.at / "x.npy", "resize=3"),
                                 ("expected N or WxH", self.at / "p.png", "resize=0"), ("expected N or WxH", self.at / "p.png", "crop=3x"),
                                 ("expected colours=rgb, bgr or grey", self.at / "p.png", "colours=red"), ("expected 3, or 1 and colours=grey", self.at / "p.png", "colours=grey"),
                                 ("numbers other than 0", self.at / "p.png", "norm=0"), ("one number, or three", self.at / "p.png", "mean=1,2"),
                                 ("each key once", self.at / "p.png", "mean=1", "mean=2"), ("expected resize=, crop=", self.at / "p.png", "size=3")):
            with self.subTest(text=text):
                self.refuse(text, *arguments)

    def test_no_output_in_the_folder_of_images(self):
        self.model(3, 10, 14)
        (self.at / "out").mkdir()
        image_of(picture(14, 10, 3)).save(self.at / "out/p.png")
        self.refuse("is an input of this command", self.at / "out")


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, raw, interlace=0, colour=2, depth=8, more=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


class Hostile(Pictures):
    def test_lying_sizes(self):
        self.model(3, 10, 14)
        jpeg = io.BytesIO()
        image_of(picture(14, 10, 3)).save(jpeg, "JPEG")
        data = bytearray(jpeg.getvalue())
        at = data.index(b"\xff\xc0") + 5
        data[at:at + 4] = struct.pack(">HH", 65000, 65000)
        bomb = chunk(b"zTXt", b"a\0\0" + zlib.compress(b"x" * (200 << 20), 9))
        files = {"huge.png": png(1 << 24, 1 << 24, b""), "wide.png": png((1 << 31) - 1, 1, b""), "none.png": png(0, 5, b""), "huge.jpg": bytes(data),
                 "short.png": png(4000, 4000, b"\0" * 100), "text.png": png(14, 10, (b"\0" + b"a" * 42) * 10, more=bomb * 20)}
        for name, content in files.items():
            with self.subTest(name=name):
                (self.at / name).write_bytes(content)
                self.net(self.at / name, status=0 if name == "text.png" else 2, limit=True)
        image_of(picture(2, 10, 3)).resize((2, 4000)).save(self.at / "tall.png")
        self.net(self.at / "tall.png", "resize=16384", status=2, limit=True)

    def test_many_scans(self):
        """A scan for every coefficient: all blocks of each end at once."""
        image = io.BytesIO()
        Image.fromarray(picture(16, 12, 3)).save(image, "JPEG", progressive=True)
        data = image.getvalue()
        first = data.index(b"\xff\xda")
        begin = next(i for i in range(first + 2, len(data)) if data[i] == 0xff and data[i + 1] not in (0, *range(0xd0, 0xd8)))
        table = b"\xff\xc4\x00\x14\x10\x01" + bytes(15) + b"\xe0"
        scans = [b"\xff\xda\x00\x08\x01" + bytes([component, 0, k, k, 0]) + b"\x00\x01" for component in (1, 2, 3) for k in range(1, 64)]
        self.model(3, 12, 16)
        for count, status in ((60, 0), (len(scans), 2)):
            (self.at / "scans.jpg").write_bytes(data[:begin] + table + b"".join(scans[:count]) + b"\xff\xd9")
            error = self.net(self.at / "scans.jpg", status=status, limit=True).stderr
        self.assertIn("too many scans", error)

    def test_damaged_files(self):
        """Run or refused with one line; no crash, no long time, no memory."""
        self.model(3, 12, 16)
        draw, seeds = random.Random(5), []
        for name, options in (("PNG", {}), ("JPEG", {}), ("JPEG", {"progressive": True})):
            stream = io.BytesIO()
            Image.fromarray(picture(16, 12, 3)).save(stream, name, **options)
            seeds.append((stream.getvalue(), ".png" if name == "PNG" else ".jpg"))
        stream = io.BytesIO()
        Image.fromarray(picture(16, 12, 3)).quantize(40).save(stream, "PNG", bits=8)
        seeds.append((stream.getvalue(), ".png"))
        refused = 0
        for i in range(COUNT):
            data, ending = draw.choice(seeds)
            data = bytearray(data)
            for _ in range(draw.choice([1, 1, 2, 5])):
                at, kind = draw.randrange(4, len(data)), draw.randrange(4)
                if kind == 0:
                    data[at] = draw.randrange(256)
                elif kind == 1:
                    del data[at:at + draw.randrange(1, 40)]
                elif kind == 2:
                    data[at:at] = draw.randbytes(draw.randrange(1, 40))
                else:
                    data[at] ^= 1 << draw.randrange(8)
            if ending == ".png" and draw.random() < 0.7:
                data = sound_sums(data)
            (self.at / f"p{ending}").write_bytes(data)
            done = self.plan(f"p{ending}")
            refused += done.returncode == 2
            self.assertLessEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(COUNT / 4 < refused < COUNT, refused)

    def plan(self, name):
        return self.run_dlasim("net", self.at / "m.onnx", "--hw", "nv_small", "--input", self.at / name, "--preprocess", "resize=16x12", "--plan", "--quiet",
                               status=(0, 2), limit=True)


def sound_sums(data):
    """Checksums of chunks as far as they can be followed."""
    at = 8
    while at + 12 <= len(data):
        size = struct.unpack_from(">I", data, at)[0]
        if at + 12 + size > len(data):
            break
        struct.pack_into(">I", data, at + 8 + size, zlib.crc32(data[at + 4:at + 8 + size]))
        at += 12 + size
    return data


if __name__ == "__main__":
    if "--count" in sys.argv:
        at = sys.argv.index("--count")
        COUNT = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    DLASIM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
