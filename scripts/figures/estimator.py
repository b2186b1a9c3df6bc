"""The formulas of the public NVDLA performance estimator (nvdla_perf_sheet.json of the workloads), without on-chip memory.

A layer takes the longer of two times, and layers follow each other without a gap:

  array   products / MACs; the stride folded into channels, these in 16s, kernels in 16s or 128s; 2.25 times fewer for every 3 x 3 kernel
  memory  (input + weights + output) / bandwidth; pooling after a convolution is free; one operand is read again for each piece of
          the other that the buffer holds. Weights of fully connected layers are read once for a batch
"""
import math
from dataclasses import dataclass

from figures.common import workload

NETWORKS = {"AlexNet": "alexnet", "GoogLeNet": "googlenet", "ResNet50": "resnet50"}  # in the sheet, in models/networks


@dataclass(frozen=True)
class Machine:
    macs: int = 2048
    cbuf_kb: float = 512
    gb_per_s: float = 10  # at 1 GHz: bytes a cycle
    batch: int = 16
    both_ways: bool = False  # the port reads and writes at once, with this bandwidth each
    winograd: bool = True
    read_again: bool = True  # one operand for each piece of the other
    fold: bool = True  # a kernel narrower than its stride has weights for all of the stride
    kernel_group: int = 0  # kernels are rounded up to it; 0: as the sheet does


def up(value, unit):
    return math.ceil(value / unit - 1e-12) * unit


def sheet():
    return workload("nvdla_perf_sheet")


def counted(network):
    """The sheet's rows that have a time: rows of one input may be merged into one of them."""
    return [row for row in sheet()["networks"][network]["layers"] if row["dram_only"]["cycles"] is not None and row["c"]]


def keeps_weights(network, row, least_weights, weights):
    """Whether the input is read again for each piece of the weights. The sheet's choice differs between its pages."""
    if network == "ResNet50":
        first = row["row"] == 11
        return row["min_input_kb" if first else "input_kb"] >= (least_weights if first else weights)
    return row["input_kb"] >= least_weights


def layer_cycles(network, row, machine):
    """(array, memory, both) cycles of a row; the last is the longer one."""
    batch = machine.batch if row["type"] == "fc" else 1
    channels = up(row["c"] * row["stride_y"] * row["stride_x"], 16)
    high = math.ceil((row["h"] if row["same_pad"] else row["h"] - row["r"] + 1) / row["stride_y"])
    wide = math.ceil((row["w"] if row["same_pad"] else row["w"] - row["s"] + 1) / row["stride_x"])
    three = row["r"] == 3 and row["s"] == 3
    kernels = up(row["k"] * batch, machine.kernel_group or (128 if network == "ResNet50" else 16))
    products = channels * high * wide * kernels * row["r"] * row["s"] / row["stride_y"] / row["stride_x"]
    array = products / machine.macs / (2.25 if three and machine.winograd else 1) / batch

    window = math.ceil(row["r"] / row["stride_y"]) * math.ceil(row["s"] / row["stride_x"])
    weights, least_weights = channels * window * row["k"] / 1024, channels * window * 32 / 1024
    if not machine.fold and window == 1:
        weights /= row["stride_y"] * row["stride_x"]
    if three and machine.winograd and (network != "GoogLeNet" or row["row"] <= 19):
        weights *= 16 / 9
    if least_weights >= machine.cbuf_kb:
        least_weights = machine.cbuf_kb / 2
    read, written = row["input_kb"] + weights / batch, row["output_kb"]
    if network != "AlexNet" and machine.read_again:
        if keeps_weights(network, row, least_weights, weights):
            room = machine.cbuf_kb - row["min_input_kb"]
            read = (math.ceil(weights / room - 1e-12) if weights > room else 1) * row["input_kb"] + weights
        else:
            room = machine.cbuf_kb - least_weights
            read = (math.ceil(row["input_kb"] / room - 1e-12) if row["input_kb"] > room else 1) * weights + row["input_kb"]
    if row["type"] == "conv + elwise":
        read += row["output_kb"]
    moved = max(read, written) if machine.both_ways else read + written
    memory = math.ceil(moved / machine.gb_per_s * 1000 - 1e-9)  # the sheet counts 1 KB at 10 GB/s as 100 cycles
    return array, memory, max(array, memory)


def network_cycles(network, machine):
    return sum(layer_cycles(network, row, machine)[2] for row in counted(network))
