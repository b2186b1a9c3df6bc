"""Layers and networks on a cycle-accurate simulator of the NVDLA deep-learning accelerator.

    import dlasim

    layer = dlasim.Layer.conv2d(width=56, height=56, channels=64, kernel=3, count=64, pad=1)
    result = dlasim.run(layer, hw="nv_large", memory="ddr4-3200")
    result.cycles           # 64,512 or so
    result.output           # a NumPy array [batch, channels, height, width]
    result.units            # a table: what every unit did in these cycles
    result.explain()        # why it took them

The simulation is the installed program ``dlasim``; every call is a process of its own. What the program refuses is an exception with
the program's words. ``DLASIM`` in the environment, or ``dlasim.program(PATH)``, names another program than the one on the PATH.
"""

try:
    import numpy as _numpy  # noqa: F401
except ImportError:
    raise ImportError("dlasim needs NumPy, which is not installed: install it with \"apt-get install python3-numpy\" (Debian) or "
                      "\"pip install numpy\"") from None

from .describe import Layer, Network
from .command import Broken, Error, Hung, Mismatch, Refused, program
from .results import Page, Result
from .reports import Suite, bound, dram, silicon, test
from .runs import export, loadable, net, presets, reference, run
from .sweeps import Sweep, sweep

__all__ = ["Broken", "Error", "Hung", "Layer", "Mismatch", "Network", "Page", "Refused", "Result", "Suite", "Sweep", "bound", "dram", "export",
           "loadable", "net", "presets", "program", "reference", "run", "silicon", "sweep", "test"]
