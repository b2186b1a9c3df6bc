"""Layers and networks, described by calls that an editor completes. Every figure is checked by the program before anything runs."""

import json
import tempfile
from pathlib import Path

from . import command


def _pair(value, first, second):
    """3 or (height, width), as in ONNX, NumPy and PyTorch."""
    value = command.plain(value)
    down, across = (value, value) if isinstance(value, int) else value
    return {first: across, second: down}


def _pad(value):
    """1, (rows, columns) or (top, left, bottom, right)."""
    value = command.plain(value)
    if isinstance(value, int):
        value = (value,) * 4
    elif len(value) == 2:
        value = (value[0], value[1], value[0], value[1])
    top, left, bottom, right = value
    return {"left": left, "right": right, "top": top, "bottom": bottom}


def _convolution(op, kernel, count, stride, pad, dilation, groups, bias):
    stride, pad, dilation = command.plain(stride), command.plain(pad), command.plain(dilation)
    layer = {"op": op, "kernel": {**(_pair(kernel, "width", "height") if kernel is not None else {}), "count": count}}
    if stride != 1:
        layer["stride"] = _pair(stride, "x", "y")
    if pad != 0:
        layer["pad"] = _pad(pad)
    if dilation != 1:
        layer["dilation"] = _pair(dilation, "x", "y")
    if groups != 1:
        layer["groups"] = groups
    if bias:
        layer["bias"] = True
    return layer


def _window(function, window, stride, pad, ceil_mode):
    pad = command.plain(pad)
    pool = {"function": function, "kernel": _pair(window, "width", "height"), "stride": _pair(window if stride is None else stride, "x", "y")}
    if pad != 0:
        pool["pad"] = _pad(pad)
    if ceil_mode:
        pool["ceil_mode"] = 1
    return pool


def _lrn(size, alpha, beta, bias):
    return {"size": size, "alpha": alpha, "beta": beta, "bias": bias}


class _Described:
    """Something that a file can say."""

    def __init__(self, description):
        self.description = command.plain(description)

    def __repr__(self):
        return f"{type(self).__name__}({json.dumps(command.plain(self.description))})"

    def save(self, path):
        """Writes it as JSON, for the command line. Returns the path."""
        Path(path).write_text(command.text_of(self.description) + "\n", encoding="utf-8")
        return Path(path)

    def check(self, hw="nv_full", memory=None, set=None):
        """Plans it for a machine without simulating: returns the plan as a dict; raises Refused with the rule that is broken."""
        with tempfile.TemporaryDirectory(prefix="dlasim-") as folder:
            file = self.save(Path(folder) / "described.json")
            command.call(self._command, file, *command.words_of(hw, memory, set), "--plan", "--quiet", "--out", Path(folder) / "out")
            return json.loads((Path(folder) / "out" / "plan.json").read_text(encoding="utf-8"))


class Layer(_Described):
    """A layer. Sizes are elements. Make one with ``conv2d``, ``fully_connected``, ``deconv2d``, ``pool``, ``lrn`` or ``sdp``;
    ``Layer(dict)`` takes anything that docs/DESCRIPTOR.md has. ``run`` and ``check`` refuse what cannot be before anything runs."""

    _command = "run"

    @classmethod
    def conv2d(cls, *, width, height, channels, kernel, count, stride=1, pad=0, dilation=1, groups=1, batch=1, bias=False, relu=False,
               shift=None, precision="int8", mode="auto", name="conv2d", op="conv2d", **more):
        """A convolution.

        width, height, channels  of the input; batch: number of inputs
        kernel         size: 3 or (height, width); count: kernels, so channels of the output
        stride         1..8 or (down, right); dilation 1..32 likewise
        pad            zeros around: 1, (rows, columns) or (top, left, bottom, right)
        groups         groups of channels; as many as channels: depthwise
        bias, relu     after it; shift: right shift of the sum to the output
        precision      int8, int16 or fp16
        mode           auto, direct, image or winograd
        more           other keys of docs/DESCRIPTOR.md, for example partition={"rows": 14}, plan={"minimise": "cycles"}
        """
        layer = {"name": name, "input": {"width": width, "height": height, "channels": channels},
                 **_convolution(op, kernel, count, stride, pad, dilation, groups, bias), "precision": precision, "mode": mode,
                 **({"activation": "relu"} if relu else {})}
        if batch != 1:
            layer["input"]["batch"] = batch
        post = {**({"output": {"shift": shift}} if shift is not None else {}), **more.pop("post", {})}
        return cls({**layer, **({"post": post} if post else {}), **more})

    @classmethod
    def fully_connected(cls, *, channels, count, width=1, height=1, name="fully_connected", **more):
        """Every output is made of all inputs: width x height x channels. More as of conv2d."""
        return cls.conv2d(width=width, height=height, channels=channels, kernel=(height, width), count=count, name=name, op="fully_connected",
                          **more)

    @classmethod
    def deconv2d(cls, *, width, height, channels, kernel, count, stride=1, name="deconv2d", **more):
        """A transposed convolution: the output is stride times as wide and high, about. More as of conv2d."""
        return cls.conv2d(width=width, height=height, channels=channels, kernel=kernel, count=count, stride=stride, name=name, op="deconv2d",
                          **more)

    @classmethod
    def pool(cls, *, width, height, channels, window, function="max", stride=None, pad=0, ceil_mode=False, precision="int8", name="pool",
             **more):
        """Windows: function max, min or average; window 1..8 or (height, width); stride: default the window's size."""
        return cls({"name": name, "op": "pool", "input": {"width": width, "height": height, "channels": channels}, "precision": precision,
                    "pool": _window(function, window, stride, pad, ceil_mode), **more})

    @classmethod
    def lrn(cls, *, width, height, channels, size=5, alpha=1e-4, beta=0.75, bias=1, precision="int8", name="lrn", **more):
        """Local response normalisation over size channels: x / (bias + alpha / size * sum of x^2)^beta, as in ONNX."""
        return cls({"name": name, "op": "lrn", "lrn": _lrn(size, alpha, beta, bias),
                    "input": {"width": width, "height": height, "channels": channels}, "precision": precision, **more})

    @classmethod
    def sdp(cls, *, width, height, channels, post, precision="int8", name="sdp", **more):
        """SDP alone, from memory to memory: post says what it does, for example {"ew": {"lut": {"function": "sigmoid"}}}."""
        return cls({"name": name, "op": "sdp", "input": {"width": width, "height": height, "channels": channels}, "post": post,
                    "precision": precision, **more})

    @classmethod
    def load(cls, path):
        """From a JSON file."""
        return cls(json.loads(Path(path).read_text(encoding="utf-8")))


class Network(_Described):
    """A network: layers one after the other, each named and reading tensors by name. The input is called ``data``.

        net = dlasim.Network(width=32, height=32, channels=3, name="small")
        a = net.conv2d(kernel=3, count=16, pad=1, relu=True)
        b = net.conv2d(kernel=3, count=16, pad=1, inputs=a)
        net.add(a, b, relu=True)
    """

    _command = "net"

    def __init__(self, description=None, *, width=None, height=None, channels=None, name="network", precision="int8"):
        super().__init__(description if description is not None else {
            "name": name, "precision": precision, "input": {"width": width, "height": height, "channels": channels}, "layers": []})

    @classmethod
    def load(cls, path):
        """From a JSON file."""
        return cls(json.loads(Path(path).read_text(encoding="utf-8")))

    def _append(self, layer, inputs, name, more):
        layers = self.description["layers"]
        name = name or f"{layer['op']}_{len(layers) + 1}"
        inputs = [inputs] if isinstance(inputs, str) else list(inputs or [layers[-1]["name"] if layers else "data"])
        known = ["data"] + [before["name"] for before in layers]
        for one in inputs:
            if one not in known:
                raise command.Refused(f"{name}: no tensor {one!r}, expected one of {', '.join(known)}", 2)
        if name in known:
            raise command.Refused(f"{name!r} already exists: every layer needs a different name", 2)
        layers.append(command.plain({"name": name, **layer, "inputs": inputs, **more}))
        return name

    def conv2d(self, *, kernel, count, stride=1, pad=0, dilation=1, groups=1, bias=True, relu=False, inputs=None, name=None, **more):
        """A convolution as of Layer.conv2d; inputs: name of the tensor, default the previous layer. Returns its name."""
        layer = _convolution("conv2d", kernel, count, stride, pad, dilation, groups, bias)
        return self._append({**layer, **({"activation": "relu"} if relu else {})}, inputs, name, more)

    def fully_connected(self, *, count, relu=False, bias=True, inputs=None, name=None, **more):
        """All of the input makes each of ``count`` outputs. Returns its name."""
        layer = _convolution("fully_connected", None, count, 1, 0, 1, 1, bias)
        return self._append({**layer, **({"activation": "relu"} if relu else {})}, inputs, name, more)

    def deconv2d(self, *, kernel, count, stride=1, pad=0, bias=True, relu=False, inputs=None, name=None, **more):
        """A transposed convolution as of Layer.deconv2d. Returns its name."""
        layer = _convolution("deconv2d", kernel, count, stride, pad, 1, 1, bias)
        return self._append({**layer, **({"activation": "relu"} if relu else {})}, inputs, name, more)

    def lrn(self, *, size=5, alpha=1e-4, beta=0.75, bias=1, inputs=None, name=None):
        """Local response normalisation as of Layer.lrn. Returns its name."""
        return self._append({"op": "lrn", "lrn": _lrn(size, alpha, beta, bias)}, inputs, name, {})

    def upsample(self, factor, *, inputs=None, name=None):
        """Every element factor times, 1..8 or (down, right); by the host. Returns its name."""
        return self._append({"op": "upsample", "factor": _pair(factor, "x", "y")}, inputs, name, {})

    def softmax(self, *, inputs=None, name=None):
        """Softmax over channels, by the host. Returns its name."""
        return self._append({"op": "softmax"}, inputs, name, {})

    def pool(self, *, window, function="max", stride=None, pad=0, ceil_mode=False, inputs=None, name=None):
        """Windows as of Layer.pool, up to 64. Returns its name."""
        return self._append({"op": "pool", "pool": _window(function, window, stride, pad, ceil_mode)}, inputs, name, {})

    def add(self, *inputs, relu=False, name=None):
        """The sum of two tensors or more. Returns its name."""
        return self._append({"op": "add", **({"activation": "relu"} if relu else {})}, inputs, name, {})

    def concat(self, *inputs, name=None):
        """Tensors concatenated along the channels. Returns its name."""
        return self._append({"op": "concat"}, inputs, name, {})
