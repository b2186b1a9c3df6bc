"""YOLOv1-tiny: what stays in the buffer, pooling on the way, maps on the chip, fully connected layers: Y1 to Y4."""
from figures.common import Net, Run, Table, at_once, layer, network, percent, workload
from figures.performance import descriptor

SMALL, LARGE = "nv_small", "nv_large"
RESIDENT = "does not fit the CBUF", "expected at most", "expected at least"


def entries(op):
    return [entry for entry in workload("yolov1_tiny")["layers"] if entry["op"] == op]


def moved(run):
    """Bytes at the memory port."""
    traffic = run.result["traffic"]["dbb"]
    return traffic["read_bytes"] + traffic["write_bytes"]


def first_that_fits(shape, partitions):
    """The run of the first partition that the machine takes."""
    for partition in partitions:
        try:
            return Run(shape | {"partition": partition}, hw=SMALL)
        except SystemExit as refused:
            if not any(text in str(refused) for text in RESIDENT):
                raise
    raise SystemExit(f"{shape['name']}: no part fits")


def halves(number, least=1):
    """number, a half, a third, ..: what stays is as much as fits."""
    sizes = {-(-number // parts) for parts in range(1, number // least + 1)}
    return sorted((size for size in sizes if size >= least), reverse=True)


def pixels_stay(entry):
    """Rows stay, as many as fit, and all weights pass them."""
    return first_that_fits(descriptor(entry), [{"rows": rows, "reuse_data": True} for rows in halves(entry["out"]["h"])])


def weights_stay(entry):
    """Kernels stay, as many as fit beside a tenth of the lines, and all lines pass them."""
    kernels = sorted({-(-size // 8) * 8 for size in halves(entry["out"]["k"], 8)}, reverse=True)
    rows = halves(entry["out"]["h"])
    return first_that_fits(descriptor(entry), [{"kernels": k, "rows": r, "reuse_weights": True} for k in kernels for r in rows
                                               if r <= max(1, entry["out"]["h"] // 10) or (k == kernels[-1])])


def y1():
    table = Table("layer", "pixels stay: bytes", "cycles", "weights stay: bytes", "cycles", "planner: bytes", "cycles", "keeps", "input, KB", "weights, KB", texts=1)
    best = True
    for entry in entries("conv"):
        pixels, weights, planned = at_once([lambda: pixels_stay(entry), lambda: weights_stay(entry), lambda: Run(
            descriptor(entry, plan={"minimise": "traffic"}), hw=SMALL)])
        # A plan of one part holds all pixels; one of several holds the weights while pixels slide past, if it says so.
        partition = planned.result["plan"].get("partition")
        keeps = "pixels" if partition is None else "weights" if partition["reuse_weights"] else "pixels"
        tensors = planned.result["plan"]["tensors"]
        best &= moved(planned) <= min(moved(pixels), moved(weights))
        table.row(entry["name"], f"{moved(pixels):,}", f"{pixels.cycles:,}", f"{moved(weights):,}", f"{weights.cycles:,}", f"{moved(planned):,}",
                  f"{planned.cycles:,}", keeps, *(f"{tensors[one]['bytes'] / 1024:.1f}" for one in ("input", "weights")))
    table.expect(best, "The planner (`minimise`: `traffic`) never moves more than the better of both")
    return table


def tiles(entry, columns, rows):
    """The layer in tiles of the output, each a layer of its own, with 2 x 2 pooling on the way."""
    wide, high = entry["out"]["w"], entry["out"]["h"]
    made = []
    for top in range(0, high, rows):
        for left in range(0, wide, columns):
            pad = {"left": int(left == 0), "right": int(left + columns >= wide), "top": int(top == 0), "bottom": int(top + rows >= high)}
            across, down = min(columns, wide - left), min(rows, high - top)
            made.append(layer(across + 2 - pad["left"] - pad["right"], down + 2 - pad["top"] - pad["bottom"], entry["in"]["c"], entry["out"]["k"],
                              (3, 3), pad, **{key: value for key, value in descriptor(entry).items() if key in ("bias", "activation")},
                              post=descriptor(entry)["post"] | {
                                  "pool": {"function": "max", "kernel": {"width": 2, "height": 2}, "stride": {"x": 2, "y": 2}}}))
    return made


def fused(entry):
    """Runs of the largest equal tiles that fit: PDP takes a plane in one pass, CDMA holds the lines of a tile."""
    wide, high = entry["out"]["w"], entry["out"]["h"]
    for columns, rows in ((wide // a, high // b) for a in (1, 2, 4) for b in (1, 2, 4, 7, 8, 14)):
        if columns % 2 or rows % 2:
            continue
        try:
            return columns, rows, at_once([lambda one=one: Run(one, hw=SMALL) for one in tiles(entry, columns, rows)])
        except SystemExit as refused:
            if not any(text in str(refused) for text in (*RESIDENT, "pool")):
                raise
    raise SystemExit(f"{entry['name']}: no tile fits")


def y2():
    table = Table("layer", "tiles", "elements written and read for pooling", "on the way", "saved", "bytes moved, separate", "on the way", "cycles, separate",
                  "on the way", texts=1)
    saved = []
    for entry in entries("conv")[:6]:
        pool = {"op": "pool", "input": {"width": entry["out"]["w"], "height": entry["out"]["h"], "channels": entry["out"]["k"]},
                "pool": {"function": "max", "kernel": {"width": 2, "height": 2}, "stride": {"x": 2, "y": 2}}}
        apart, pooled = Run(descriptor(entry), hw=SMALL), Run(pool, hw=SMALL)
        columns, rows, together = fused(entry)
        between = apart.result["traffic"]["dbb"]["write_bytes_by_client"]["SDP"] + pooled.result["traffic"]["dbb"]["read_bytes_by_client"]["PDP"]
        joined = sum(run.result["traffic"]["dbb"]["write_bytes_by_client"].get("SDP", 0) for run in together)
        saved.append(between - joined)
        table.row(entry["name"], f"{len(together)} of {columns} x {rows}", f"{between:,}", f"{joined:,}", f"{saved[-1]:,}",
                  f"{moved(apart) + moved(pooled):,}", f"{sum(map(moved, together)):,}", f"{apart.cycles + pooled.cycles:,}",
                  f"{sum(run.cycles for run in together):,}")
    first = entries("conv")[0]["out"]
    published = 2 * first["w"] * first["h"] * first["k"]
    table.expect(saved[0] == published == 6422528, "The first layer saves the published 6,422,528 elements")
    return table


def on_chip(address):
    return {"memory": "cvsram", "address": address}


def y3():
    table = Table("layer on nv_large", "maps in DRAM: bytes moved", "cycles", "maps on the chip: bytes moved", "cycles", "saved", texts=1)
    exact = True
    for entry in entries("conv")[6:]:
        outside = Run(descriptor(entry), hw=LARGE)
        inside = Run(descriptor(entry, placement={"input": on_chip(0), "output": on_chip(1 << 20)}), hw=LARGE)
        maps = sum(side["w"] * side["h"] * side.get("c", side.get("k")) for side in (entry["in"], entry["out"]))
        exact &= moved(outside) - moved(inside) == maps
        table.row(entry["name"], f"{moved(outside):,}", f"{outside.cycles:,}", f"{moved(inside):,}", f"{inside.cycles:,}", f"{moved(outside) - moved(inside):,}")
    table.expect(exact, "What is saved are the maps, every element once")
    whole = network("yolov1_tiny")
    first, last = (entries("conv")[i]["name"] for i in (6, 8))
    names = [entry["name"] for entry in whole["layers"]]
    chain = whole["layers"][names.index(first):names.index(last) + 1]
    shape = entries("conv")[6]["in"]
    chain[0] = {key: value for key, value in chain[0].items() if key != "inputs"}
    part = {"name": "maps", "input": {"width": shape["w"], "height": shape["h"], "channels": shape["c"]}, "layers": chain}
    outside, inside = Net(part, hw=LARGE), Net(part, hw=LARGE, cvsram=True)
    table.row(f"{first} to {last}, `dlasim net`", f"{moved(outside):,}", f"{outside.cycles:,}", f"{moved(inside):,}", f"{inside.cycles:,}",
              f"{moved(outside) - moved(inside):,}")
    between = sum(2 * entry["out"]["w"] * entry["out"]["h"] * entry["out"]["k"] for entry in entries("conv")[6:8])
    table.expect(moved(outside) - moved(inside) == between, "`dlasim net` keeps the maps between the layers there: each is neither written nor read")
    return table


def y4():
    figures = network("yolov1_tiny")
    connected = {entry["name"] for entry in entries("fc")}
    table = Table("machine", "share of multiplications", "share of cycles", *(f"array busy in {name}" for name in sorted(connected)), "cycles of the network", texts=1)
    shares = []
    for name, hw, sets in (("nv_small, CBUF 128 KB", SMALL, ()), ("nv_small_256, CBUF 128 KB", "nv_small_256", ()),
                           ("nv_small_256, CBUF 512 KB", "nv_small_256", ("cbuf.bank_depth=512",)),
                           ("nv_large, CBUF 512 KB", LARGE, ())):
        run = Net(figures, hw=hw, sets=sets)
        steps = [step for step in run.steps if connected & set(step["layers"])]
        shares.append(sum(step["macs"] for step in steps) / run.result["macs"])
        table.row(name, percent(shares[-1]), percent(sum(step["cycles"] for step in steps) / run.cycles),
                  *(percent(step["utilization"]) for step in sorted(steps, key=lambda s: s["name"])), f"{run.cycles:,}")
    table.expect(all(round(100 * share) == 1 for share in shares), "The fully connected layers are the published 1 % of all multiplications")
    return table


EXPERIMENTS = {"Y1": y1, "Y2": y2, "Y3": y3, "Y4": y4}
