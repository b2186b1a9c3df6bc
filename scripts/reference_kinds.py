"""Arithmetic of random_reference.py, written from the definitions of the operations, and the kinds of layers that need much of it."""
import numpy as np

LIMITS = {"int8": (-128, 127), "int16": (-32768, 32767)}
TYPES = {"int8": np.int8, "int16": np.int16}


def shifted(value, shift):
    """Rounded to the nearest, halves away from zero."""
    if shift == 0:
        return value
    half = 1 << (shift - 1)
    return np.where(value >= 0, (value + half) >> shift, -((-value + half) >> shift))


def clipped(value, precision):
    return np.clip(value, *LIMITS[precision])


def padded(x, pad):
    left, right, top, bottom, value = pad
    n, c, h, w = x.shape
    wide = np.full((n, c, h + top + bottom, w + left + right), value, np.int64)
    wide[:, :, top:top + h, left:left + w] = x
    return wide


def convolution(x, w, stride, dilation, groups):
    """Sums of x, which is padded: tap after tap."""
    (sx, sy), (dx, dy) = stride, dilation
    n, c, h, wd = x.shape
    k, cg, r, s = w.shape
    oh, ow = (h - (r - 1) * dy - 1) // sy + 1, (wd - (s - 1) * dx - 1) // sx + 1
    sums = np.zeros((n, k, oh, ow), np.int64)
    kg = k // groups
    for g in range(groups):
        for i in range(r):
            for j in range(s):
                part = x[:, g * cg:(g + 1) * cg, i * dy:i * dy + (oh - 1) * sy + 1:sy, j * dx:j * dx + (ow - 1) * sx + 1:sx]
                sums[:, g * kg:(g + 1) * kg] += np.einsum("nchw,kc->nkhw", part, w[g * kg:(g + 1) * kg, :, i, j])
    return sums


def looked_up(lut, x):
    """The table of EW at one whole number: LE and LO each miss below, hit, or miss above; the priorities choose."""
    found = {}
    for name, last in (("le", 64), ("lo", 256)):
        table = lut[name]
        distance = x - table["start"]
        at, fraction = ("underflow", 0), 0.0
        if distance > 0 and table.get("function") == "exponential":
            power = distance.bit_length() - 1
            index = power - table["index_offset"]
            at = ("underflow", 0) if index < 0 else ("overflow", last) if index >= last else ("hit", index)
            fraction = (distance - (1 << power), power)
        elif distance > 0:
            select = table["index_select"]
            index = distance >> select if select >= 0 else distance << -select
            at = ("overflow", last) if index >= last else ("hit", index)
            fraction = (distance & ((1 << max(select, 0)) - 1), max(select, 0))
        found[name] = (*at, fraction)
    ways = found["le"][0], found["lo"][0]
    by = "underflow" if ways == ("underflow",) * 2 else "overflow" if ways == ("overflow",) * 2 else "hybrid"
    chosen = lut["priority"][by] if "hit" not in ways or ways == ("hit",) * 2 else "le" if ways[0] == "hit" else "lo"
    way, index, fraction = found[chosen]
    table = lut[chosen]
    low = table["entries"][index]
    if way == "hit":
        part, bits = fraction
        return int(shifted(np.array(low * ((1 << bits) - part) + table["entries"][index + 1] * part, object), bits))
    end = table["start"] if way == "underflow" else table["end"]
    if way == "underflow" and table.get("function") == "exponential":
        end += 1 << table["index_offset"]
    slope = table[way]
    beyond = (x - end) * slope["scale"]
    beyond = int(shifted(np.array(beyond, object), slope["shift"])) if slope["shift"] >= 0 else beyond << -slope["shift"]
    return max(-(1 << 31), min((1 << 31) - 1, low + max(-(1 << 31), min((1 << 31) - 1, beyond))))


def bits32(value):
    return np.clip(value, -(1 << 31), (1 << 31) - 1)


class MoreKinds:
    """Mixed into the maker of layers."""

    def engine(self, layer, value, name, precision, wide):
        """BS or BN of whole numbers: operand shifted left, ALU, multiplier, right shift, ReLU."""
        stage, (_, c, h, w) = {}, value.shape
        streamed, fields = self.pick("kernel", "element"), self.between(0, 3)

        def operand(which, to):
            to["per"] = self.pick("layer", streamed)
            kind = "int16" if wide else "int8"
            if to["per"] == "layer":
                to["value"] = self.between(-120, 120)
                return to["value"]
            made = self.values((1, c, h, w) if streamed == "element" else (c,), kind)
            layer["data"][f"{name}_{which}"] = self.save(f"{name}_{which}", made, TYPES[kind])
            return made if streamed == "element" else made[None, :, None, None]

        kept = np.zeros(value.shape, bool)
        if fields & 1:
            alu = stage["alu"] = {"op": self.pick("sum", "max", "min")}
            other = operand("alu", alu)
            if self.one_in(2):
                alu["shift"] = self.between(0, 12)
            other = bits32(np.asarray(other, np.int64) << alu.get("shift", 0))
            value = {"sum": np.add, "max": np.maximum, "min": np.minimum}[alu["op"]](value, other)
        if fields & 2:
            mul = stage["mul"] = {}
            if self.one_in(3):
                mul["prelu"] = True
                kept = value >= 0
            by = operand("mul", mul)
            stage["shift"] = self.between(0, 15)
            value = np.where(kept, (value + (1 << 31)) % (1 << 32) - (1 << 31), bits32(shifted(value * by, stage["shift"])))
        else:
            value = bits32(value)
        if self.one_in(4):
            stage["relu"] = True
            value = np.maximum(value, 0)
        if any(part.get("per", "layer") != "layer" for part in (stage.get("alu", {}), stage.get("mul", {}))) and precision == "int8":
            stage["operand_bytes"] = 2 if wide else 1
        return stage, value

    def table(self, value):
        """Random tables over about the range of the values."""
        low, high = int(value.min()), int(value.max()) + 1
        select = max(0, (max(high - low, 1) // self.pick(64, 256, 512)).bit_length() - 1)

        def one(entries, exponential):
            start = self.between(low - (high - low) // 4 - 1, high)
            table = {"start": start, "end": start + ((entries - 1) << select), "index_select": select,
                     "entries": [self.between(-32768, 32767) for _ in range(entries)]}
            for way in ("underflow", "overflow"):
                table[way] = {"scale": self.between(-300, 300), "shift": self.between(-2, 10)}
            if entries == 65:
                table["function"], table["index_offset"] = ("exponential" if exponential else "linear"), self.between(0, 6)
            return table

        lut = {"le": one(65, self.one_in(2)), "lo": one(257, False)}
        lut["priority"] = {key: self.pick("le", "lo") for key in ("underflow", "overflow", "hybrid")}
        known = {int(x): looked_up(lut, int(x)) for x in np.unique(value)}
        return lut, np.vectorize(known.__getitem__, otypes=[np.int64])(value)

    def post(self):
        precision = self.pick("int8", "int16") if self.full else "int8"
        w, h, c = self.between(1, 16), self.between(1, 8), self.between(1, 70)
        layer = {"op": "sdp", "precision": precision, "input": {"width": w, "height": h, "channels": c}, "data": {}, "post": {}}
        value = self.values((1, c, h, w), precision)
        layer["data"]["input"] = self.save("x", value, TYPES[precision])
        wide = {name: precision == "int16" or self.one_in(2) for name in ("bs", "bn", "ew")}
        for name in ("bs", "bn"):
            if self.one_in(2):
                stage, value = self.engine(layer, value, name, precision, wide[name])
                if stage:
                    layer["post"][name] = stage
        if self.machine != "nv_small" and not self.one_in(4):
            value = self.ew(layer, value, precision, wide["ew"])
        shift = self.scale_of(value, precision)
        layer["post"]["output"] = {"shift": shift}
        return layer, clipped(np.clip(shifted(value, shift), -65536, 65535), precision)

    def ew(self, layer, value, precision, wide):
        stage, (_, c, h, w) = {}, value.shape
        streamed, fields = self.pick("kernel", "element"), self.between(0, 3)

        def operand(which, to):
            to["per"] = self.pick("layer", streamed)
            if to["per"] == "layer":
                to["value"] = self.between(-30000, 30000)
                return to["value"]
            kind = "int16" if wide else "int8"
            made = self.values((1, c, h, w) if streamed == "element" else (c,), kind)
            layer["data"][f"ew_{which}"] = self.save(f"ew_{which}", made, TYPES[kind])
            if self.one_in(2):
                how = to["conversion"] = {"offset": self.between(-200, 200), "scale": self.between(-300, 300), "truncate": self.between(0, 12)}
                made = bits32(shifted((made - how["offset"]) * how["scale"], how["truncate"]))
            return made if streamed == "element" else made[None, :, None, None]

        if fields & 1:
            mul = stage["mul"] = {}
            kept = np.zeros(value.shape, bool)
            if self.one_in(3):
                mul["prelu"] = True
                kept = value >= 0
            by = operand("mul", mul)
            stage["shift"] = self.between(0, 20)
            value = np.where(kept, value, bits32(shifted(value * by, stage["shift"])))
        if fields & 2:
            alu = stage["alu"] = {"op": self.pick("sum", "max", "min")}
            value = bits32({"sum": np.add, "max": np.maximum, "min": np.minimum}[alu["op"]](value, operand("alu", alu)))
        if self.one_in(3) or not fields:
            stage["lut"], value = self.table(value)
        if any(part.get("per", "layer") != "layer" for part in (stage.get("alu", {}), stage.get("mul", {}))) and precision == "int8":
            stage["operand_bytes"] = 2 if wide else 1
        layer["post"]["ew"] = stage
        return value

    def winograd(self):
        precision = self.pick("int8", "int16")
        low, high = LIMITS[precision]
        sx, sy = self.pick(1, 1, 2), self.pick(1, 1, 2)
        ow, oh = 4 * self.between(1, 6), 4 * self.between(1, 4)
        c, k = self.between(1, self.pick(10, 70)), self.between(1, 50)
        s, r = (3, 3) if sx == sy == 1 else (3 * sx, 3 * sy)
        pad = tuple(self.between(0, 2) for _ in range(4)) if self.one_in(2) else (0,) * 4
        w, h = (ow - 1) * sx + s - pad[0] - pad[1], (oh - 1) * sy + r - pad[2] - pad[3]
        layer = {"precision": precision, "mode": "winograd", "input": {"width": w, "height": h, "channels": c}, "kernel": {"width": s, "height": r, "count": k},
                 "stride": {"x": sx, "y": sy}, "winograd": {"truncate": self.between(0, 2)}, "data": {},
                 "pad": dict(zip(("left", "right", "top", "bottom", "value"), (*pad, 0)))}
        x, weights = self.values((1, c, h, w), precision), self.values((k, c, r, s), precision)
        layer["data"] |= {"input": self.save("x", x, TYPES[precision]), "weights": self.save("w", weights, TYPES[precision])}
        wide = padded(x, (*pad, 0))
        into = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
        kernel = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])
        out = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])
        sums = np.zeros((1, k, oh, ow), np.int64)
        for py in range(sy):
            for px in range(sx):
                d = np.lib.stride_tricks.sliding_window_view(wide[0, :, py::sy, px::sx], (4, 4), (1, 2))[:, :oh - 1:2, :ow - 1:2]
                v = np.clip(shifted(np.einsum("ir,cyxrs,js->cyxij", into, d, into), layer["winograd"]["truncate"]), low, high)
                u = np.clip(np.einsum("ir,kcrs,js->kcij", kernel, weights[:, :, py::sy, px::sx], kernel), low, high)
                m = np.einsum("cyxij,kcij->kyxij", v, u)
                sums[0] += np.einsum("ai,kyxij,bj->kyaxb", out, m, out).reshape(k, oh, ow)
        return layer, self.behind(layer, sums, precision)

    def fp16(self):
        w, h, c, k = self.between(1, 14), self.between(1, 10), self.between(1, 40), self.between(1, 40)
        layer = {"precision": "fp16", "input": {"width": w, "height": h, "channels": c}, "data": {}}
        pad = tuple(self.between(0, 2) for _ in range(4)) if self.one_in(2) else (0,) * 4
        r, s = self.between(1, min(3, h + pad[2] + pad[3])), self.between(1, min(3, w + pad[0] + pad[1]))
        stride = (self.between(1, 3), self.between(1, 3))
        layer |= {"kernel": {"width": s, "height": r, "count": k}, "stride": {"x": stride[0], "y": stride[1]},
                  "pad": dict(zip(("left", "right", "top", "bottom"), pad))}
        most = max(1, min(7, int((1500 / (c * r * s)) ** 0.5)))
        x, weights = self.rng.integers(-most, most + 1, (1, c, h, w)), self.rng.integers(-most, most + 1, (k, c, r, s))
        step = 2.0 ** self.between(-6, 0)
        layer["data"] |= {"input": self.save("x", x * step, np.float16), "weights": self.save("w", weights, np.float16)}
        sums = convolution(padded(x, (*pad, 0)), weights, stride, (1, 1), 1).astype(np.float64)
        if self.one_in(2):
            bias = self.rng.integers(-200, 200, k)
            layer["bias"], layer["data"]["bias"] = True, self.save("bias", bias * step, np.float16)
            sums += bias[None, :, None, None]
        layer["post"] = {}
        if self.one_in(3):
            more = self.rng.integers(-200, 200, sums.shape)
            layer["post"]["bn"] = {"alu": {"op": "sum", "per": "element"}}
            layer["data"]["bn_alu"] = self.save("more", more * step, np.float16)
            sums += more
        if self.one_in(2):
            layer["activation"] = "relu"
            sums = np.maximum(sums, 0)
        return layer, (sums * step).astype(np.float16)

    def fp16post(self):
        w, h, c = self.between(1, 16), self.between(1, 8), self.between(1, 70)
        layer = {"op": "sdp", "precision": "fp16", "input": {"width": w, "height": h, "channels": c}, "data": {}, "post": {}}

        def numbers(shape):
            return (self.rng.normal(0, 1, shape) * 2.0 ** self.between(-3, 3)).astype(np.float16)

        x = numbers((1, c, h, w))
        layer["data"]["input"] = self.save("x", x, np.float16)
        value = x.astype(np.float32)
        for name in ("bs", "bn", "ew"):
            if not self.one_in(2):
                continue
            stage, streamed, fields = {}, self.pick("kernel", "element"), self.between(1, 3)

            def operand(which, to):
                to["per"] = self.pick("layer", streamed)
                if to["per"] == "layer":
                    to["value"] = float(numbers(()))
                    return np.float32(to["value"])
                made = numbers((1, c, h, w) if streamed == "element" else (c,))
                layer["data"][f"{name}_{which}"] = self.save(f"{name}_{which}", made, np.float16)
                made = made.astype(np.float32)
                return made if streamed == "element" else made[None, :, None, None]

            for part in ("mul", "alu") if name == "ew" else ("alu", "mul"):
                if part == "alu" and fields & 1:
                    alu = stage["alu"] = {"op": self.pick("sum", "max", "min")}
                    value = {"sum": np.add, "max": np.maximum, "min": np.minimum}[alu["op"]](value, operand("alu", alu)).astype(np.float32)
                if part == "mul" and fields & 2:
                    mul = stage["mul"] = {"prelu": True} if self.one_in(3) else {}
                    product = (value * operand("mul", mul)).astype(np.float32)
                    value = np.where((value >= 0) & ("prelu" in mul), value, product)
            if name != "ew" and self.one_in(3):
                stage["relu"] = True
                value = np.maximum(value, np.float32(0))
            layer["post"][name] = stage
        return layer, np.clip(value, -65504, 65504).astype(np.float16)

    def lrn(self):
        w, h, c = self.between(1, 20), self.between(1, 12), self.between(1, 70)
        lrn = {"size": self.pick(3, 5, 7, 9), "alpha": self.pick(1e-5, 1e-4, 1e-3, 1e-2), "beta": self.pick(0.5, 0.75, 1), "bias": self.pick(1, 2)}
        layer = {"op": "lrn", "precision": "int8", "lrn": lrn, "input": {"width": w, "height": h, "channels": c}, "data": {}}
        x = self.values((1, c, h, w), "int8")
        layer["data"]["input"] = self.save("x", x, np.int8)
        squares = np.pad(x.astype(np.float64) ** 2, ((0, 0), (lrn["size"] // 2,) * 2, (0, 0), (0, 0)))
        sums = np.lib.stride_tricks.sliding_window_view(squares, lrn["size"], 1).sum(-1)
        self.atol = 1.2
        return layer, np.clip(x * (lrn["bias"] / (lrn["bias"] + lrn["alpha"] / lrn["size"] * sums)) ** lrn["beta"], -128, 127)

    def rubik(self):
        precision = self.pick("int8", "int16", "fp16")
        mode = self.pick("split", "merge", "contract")
        w, h, c = self.between(1, self.pick(5, 40)), self.between(1, 8), self.between(1, self.pick(10, 80))
        layer = {"op": "rubik", "precision": precision, "rubik": {"mode": mode}, "data": {}}
        x = self.rng.integers(*LIMITS["int8" if precision == "int8" else "int16"], (1, c, h, w))
        if mode == "contract":
            sx, sy, n = self.between(1, 4), self.between(1, 4), (32 if precision == "int8" else 16) * self.between(1, 2)
            layer["rubik"]["stride"] = {"x": sx, "y": sy}
            x = self.rng.integers(*LIMITS["int8" if precision == "int8" else "int16"], (1, sx * sy * n, h, w))
            want = x.reshape(sy, sx, n, h, w).transpose(2, 3, 0, 4, 1).reshape(1, n, h * sy, w * sx)
        else:
            want = x
        layer["input"] = {"width": w, "height": h, "channels": x.shape[1]}
        kind = np.int8 if precision == "int8" else np.int16
        as_stored = (lambda t: t.astype(np.int16).view(np.float16)) if precision == "fp16" else (lambda t: t.astype(kind))
        self.files["x"] = as_stored(x)
        layer["data"]["input"] = "x.npy"
        return layer, as_stored(want)

    def bdma(self):
        """Copies: where each block takes its bytes and puts them; memory is that of the exported case."""
        blocks, moved, put = [], [], 0x90000000
        for i in range(self.between(1, 6)):
            lines, surfaces, line = self.between(1, 6), self.between(1, 4), 32 * self.between(1, 12)

            def side(address):
                stride = line + 32 * self.between(0, 4)
                return {"address": address, "line_stride": stride, "surface_stride": stride * lines + 32 * self.between(0, 4)}

            source, destination = side(0x80000000 + 32 * self.between(0, 200)), side(put)
            put += destination["surface_stride"] * surfaces + 32 * self.between(0, 5)
            block = {"source": source, "destination": destination, "line_bytes": line, "lines": lines, "surfaces": surfaces, "group": self.between(0, 1)}
            if i and self.one_in(3):
                block["wait"] = True
            blocks.append(block)
            moved += [(source["address"] + s * source["surface_stride"] + y * source["line_stride"],
                       destination["address"] + s * destination["surface_stride"] + y * destination["line_stride"], line)
                      for s in range(surfaces) for y in range(lines)]
        self.blocks = moved
        return {"op": "bdma", "blocks": blocks, "data": {"seed": self.between(1, 1000)}}, np.zeros(0)
