#!/usr/bin/env python3
"""Writes configs/technology/12nm.json, 7nm.json and 5nm.json: 16nm.json with published factors, and how far those may be off.

usage: scale_technology.py [--check]     --check: exits with 1 if a file differs from what it writes
"""
import json
import math
import sys
from pathlib import Path

TABLES = Path(__file__).resolve().parents[1] / "configs" / "technology"
# What a foundry states of a technology beside 16 nm: gates per area, power at the same speed, and the area of a cell of SRAM in um2.
WU16, WU7, YEAP = "Wu et al., IEDM 2013", "Wu et al., IEDM 2016", "Yeap et al., IEDM 2019"
NODES = {
    12: {"area": 0.8, "area_source": "TSMC, Technology Symposium 2017: 12FFC is up to 20 % smaller than 16FFC",
         "power": 0.75, "power_source": "TSMC, Technology Symposium 2017: 12FFC takes up to 25 % less power than 16FFC",
         "cell": 0.07, "cell_source": WU16 + ": the cell of 16 nm", "volts": 0.8,
         "denser": 1.1, "denser_why": "half of the stated gain in area may be missed"},
    7: {"area": 1 / 3.3, "area_source": WU7 + ": 3.3 times the routed gates of 16 nm per area",
        "power": 0.35, "power_source": WU7 + ": 65 % less power than 16 nm at the same speed",
        "cell": 0.027, "cell_source": WU7, "volts": 0.7,
        "denser": 1.1, "denser_why": "Apple A12: 6.9 billion transistors on 83.3 mm2 are 83 a um2, in place of the 91 of the technology"},
    5: {"area": 1 / 3.3 / 1.84, "area_source": f"{WU7}: 3.3 times the gates of 16 nm; {YEAP}: 1.84 times those of 7 nm",
        "power": 0.35 * 0.7, "power_source": f"{WU7}: 65 % less power than 16 nm; {YEAP}: 30 % less than 7 nm",
        "cell": 0.021, "cell_source": YEAP, "volts": 0.7,
        "denser": 1.28, "denser_why": "Apple A14: 11.8 billion transistors on 88 mm2 are 134 a um2, in place of 1.84 times those of 7 nm"},
}
CELL16 = 0.07
ENERGIES = ("multiply_int8_pj", "multiply_int16_pj", "multiply_fp16_pj", "add_int32_pj", "add_fp32_pj", "sram_8kib_pj", "sram_32kib_pj", "sram_1mib_pj",
            "register_fj", "control_pj")


def rounded(value):
    return float(f"{value:.4g}")


def table(nm, base):
    node, out = NODES[nm], {"name": f"{nm}nm"}

    def scaled(key, factor, why):
        kind = "source" if "source" in base[key] else "assumption"
        out[key] = {"value": rounded(base[key]["value"] * factor), kind: f"16nm ({base[key][kind]}), times {rounded(factor)}: {why}"}

    # Capacitance with the length and the square of the voltage says the same of energy, but for this share.
    other = nm / 16 * (node["volts"] / 0.8) ** 2
    for key in base:
        if key in ("gate_um2", "control_um2"):
            scaled(key, node["area"], node["area_source"])
        elif key == "ram_bit_um2":
            scaled(key, node["cell"] / CELL16, f"a cell of {node['cell']} um2 ({node['cell_source']}) in place of {CELL16}")
        elif key == "sram_bit_um2":
            out[key] = {"value": rounded(node["cell"] / 0.7),
                        "assumption": f"cell of {node['cell']} um2 ({node['cell_source']}); that 70 % of the area is cells is assumed"}
        elif key in ENERGIES:
            scaled(key, node["power"], node["power_source"])
        elif key == "leakage_mw_per_mm2":
            out[key] = {"value": base[key]["value"], "assumption": "as much as in 16 nm; nobody published it of this machine"}
        elif key in ("nominal_mhz", "threshold", "alpha", "least_voltage"):
            out[key] = {"value": base[key]["value"], "assumption": "as in 16 nm: " + base[key]["source"]}
        elif key == "area_error":
            out[key] = {"value": rounded(math.hypot(base[key]["value"], node["denser"] - 1)), "assumption": f"that of 16nm, and {node['denser_why']}"}
        elif key == "power_error":
            out[key] = {"value": rounded(math.hypot(base[key]["value"], abs(other / node["power"] - 1), 0.1)),
                        "assumption": f"that of 16nm, {100 * abs(other / node['power'] - 1):.1f} % between the stated power and capacitance with the length at "
                                      f"{node['volts']} V, and 10 % for what \"up to\" means"}
        elif key != "name":
            out[key] = dict(base[key])
    return out


def main():
    base, wrong = json.loads((TABLES / "16nm.json").read_text()), []
    for nm in NODES:
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table(nm, base).items()]
        text, path = "{\n" + ",\n".join(lines) + "\n}\n", TABLES / f"{nm}nm.json"
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            wrong.append(path.name)
    if wrong:
        print("not as this script writes them:", *wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
