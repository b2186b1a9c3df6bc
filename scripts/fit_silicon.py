#!/usr/bin/env python3
"""Fits the few constants of configs/technology to published areas and powers, and says how well.

usage: fit_silicon.py [--dlasim build/dlasim] [--runs DIR] [--write] [--page scripts/figures/EXPERIMENTS.md]

What a machine is made of - gates, registers, bits of memory - and what a run of it did come from dlasim, so that nothing is modelled
twice. --runs keeps the simulated results, or takes those that are there. --write writes the fitted numbers into configs/technology;
--page puts the tables between the marks of the page. Ends with 1 if a goal of the page is missed by a row that the page does not name.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "configs/technology"

# NVDLA Primer, "Example Area and Performance with NVDLA": MACs, CBUF, GB/s, mm2 in 28 nm, frames a second of ResNet-50; the figures of
# 16 nm are those of the project's table of the same seven machines: mm2, peak and average mW at 1 GHz.
PUBLISHED = {
    2048: (512, 20, 5.5, 269, 3.3, 766, 291),
    1024: (256, 15, 3.0, 153, 1.8, 375, 143),
    512: (256, 10, 2.3, 93, 1.4, 210, 80),
    256: (256, 5, 1.7, 46, 1.0, 135, 48),
    128: (256, 2, 1.4, 20, 0.84, 82, 31),
    64: (128, 1, 0.91, 7.3, 0.55, 55, 21),
    32: (128, 0.5, 0.85, 3.6, 0.51, 45, 17),
}
# Sizes missing in the primer are those of the nearest preset, without the port to CVSRAM ("no on-chip SRAM is used"); cycles
# between two beats of the ideal memory come nearest to its bandwidth.
NO_PORT = ["memory.has_secondary=false", "memory.fifo_cover_cycles=256"]
MACHINES = {
    2048: ("nv_large", NO_PORT, 2),
    1024: ("nv_large", ["mac.atomic_k=16", "cbuf.banks=8", "sdp.bs_throughput=8", "sdp.bn_throughput=8", "sdp.ew_throughput=2", *NO_PORT], 1),
    512: ("nv_medium_512", ["cbuf.banks=16", "sdp.has_ew=true", "sdp.has_lut=true", "sdp.ew_throughput=2"], 2),
    256: ("nv_small_256_full", ["cbuf.bank_depth=256", "memory.has_secondary=false"], 2),
    128: ("nv_small_256", ["mac.atomic_c=16", "cbuf.bank_depth=512"], 4),
    64: ("nv_small", [], 8),
    32: ("nv_small", ["mac.atomic_k=4", "memory.primary.width_bytes=8"], 8),  # smaller than dlasim simulates: counters of 64, with twice the passes over the input
}
GOALS = {"area": (9, 12), "average": (8, 15), "peak": (10, 15)}  # percent: every row, leave-one-out


class Dlasim:
    def __init__(self, program):
        self.program = program

    def __call__(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"dlasim {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def silicon(self, technology, *words):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.json"
            table.write_text(json.dumps(technology))
            return json.loads(self("silicon", "--technology", table, "--json", *words))


def settings(macs):
    preset, paths, _ = MACHINES[macs]
    words = ["--hw", preset]
    for path in paths:
        words += ["--set", path]
    return words


def simulate(dlasim, runs):
    """ResNet-50 on the seven machines at the published bandwidths: {macs: file of the result}."""
    files = {}
    for macs in MACHINES:
        if macs == 32:
            continue
        files[macs] = runs / f"{macs}" / "result.json"
        if not files[macs].exists():
            interval = MACHINES[macs][2]
            dlasim("net", ROOT / "models/networks/resnet50.json", "--timing-only", "--quiet", *settings(macs), "--memory",
                   f"ideal:latency=100,interval={interval},write_interval={interval}", "--out", runs / f"{macs}")
    result = json.loads(files[64].read_text())
    result["hardware"]["mac"]["atomic_k"] = result["hardware"]["memory"]["atom_bytes"] = 4
    for unit, counter in (("csc", "data_reads"), ("csc", "atoms"), ("cacc", "atoms")):
        result["units"][unit]["counters"][counter] *= 2
    for unit, counter in (("cdma", "data_atoms_read"), ("cdma", "weight_atoms_read")):
        result["units"][unit]["counters"][counter] *= 2  # atoms of half the size
    files[32] = runs / "32.json"
    files[32].write_text(json.dumps(result))
    return files


# ---- least squares of logarithms, with numpy only

def least(residuals, start):
    """Levenberg-Marquardt over the logarithms of positive parameters."""
    import numpy as np
    z, damping = np.log(np.array(start, float)), 1e-2
    r = residuals(np.exp(z))
    for _ in range(500):
        jacobian = np.empty((len(r), len(z)))
        for i in range(len(z)):
            moved = z.copy()
            moved[i] += 1e-6
            jacobian[:, i] = (residuals(np.exp(moved)) - r) / 1e-6
        normal = jacobian.T @ jacobian
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), -jacobian.T @ r)
        tried = z + np.clip(step, -1, 1)
        there = residuals(np.exp(tried))
        if there @ there < r @ r:
            small = r @ r - there @ there < 1e-15
            z, r, damping = tried, there, max(damping / 5, 1e-9)
            if small:
                break
        else:
            damping *= 4
            if damping > 1e12:
                break
    return np.exp(z)


def leave_one_out(fit, predict, rows):
    """{row: relative errors of that row by a fit that has not seen it}."""
    return {row: predict(fit([r for r in rows if r != row]), row) for row in rows}


class Areas:
    """gate_um2, ram_bit_um2, control_um2 of 28 nm, and the share of them that 16 nm takes."""

    def __init__(self, dlasim, technology):
        self.terms = {}
        for macs in MACHINES:
            units = dlasim.silicon(technology, *settings(macs))["units"]
            self.terms[macs] = tuple(sum(u.get(key, 0) for u in units.values()) * 1e-6 for key in ("gates", "ram_bits"))

    def mm2(self, p, macs):
        gates, bits = self.terms[macs]
        return gates * p[0] + bits * p[1] + p[2]

    def errors(self, p, macs):
        published = PUBLISHED[macs]
        return [self.mm2(p, macs) / published[2] - 1, p[3] * self.mm2(p, macs) / published[4] - 1]

    def fit(self, rows=tuple(MACHINES)):
        import numpy as np
        return least(lambda p: np.array([math.log(1 + e) for macs in rows for e in self.errors(p, macs)]), [1.5, 0.4, 0.3, 0.6])


class Powers:
    """event_share, register_fj, control_pj and peak_factor of 16 nm; leakage is a prior."""

    # The literature's energies are of operands at random. Of the inputs 44 % are 0 (Albericio et al., Cnvlutin, ISCA 2016) and weights
    # stay for a stripe, so that half of a multiplier's bits do not toggle: 0.28; a factor of 1.5 is one standard deviation. Of the published
    # figures 5 % are. Deviations count with their fourth power: the worst row is what a goal is about.
    PRIOR, FACTOR, DEVIATION = 0.28, 1.5, 0.05

    def __init__(self, dlasim, technology, files):
        self.terms = {}
        for macs in MACHINES:
            run = dlasim.silicon(technology, "--of", files[macs])
            units, time = run["energy"]["units"], json.loads(files[macs].read_text())["cycles"] * 1e-9
            part = {key: sum(u[key] for u in units.values()) for key in ("events_uj", "clock_uj", "leakage_uj")}
            full = dlasim.silicon(dict(technology, register_fj=made(0)), *settings(macs))
            clocks = dlasim.silicon(dict(technology, event_share=made(0)), *settings(macs))
            # mW at the published rate of frames; clocks and leakage are as long on as the machine runs
            self.terms[macs] = {"events": part["events_uj"] * 1e-3 * PUBLISHED[macs][3], "clock": part["clock_uj"] * 1e-3 / time,
                                "leakage": part["leakage_uj"] * 1e-3 / time, "full_events": full["full_mw"], "full_clock": clocks["full_mw"],
                                "frames_per_s": 1 / time}

    def average(self, p, macs):
        t = self.terms[macs]
        return p[0] * t["events"] + p[1] * t["clock"] + p[2] + t["leakage"]

    def peak(self, p, macs):
        t = self.terms[macs]
        return p[3] * (p[0] * t["full_events"] + p[1] * t["full_clock"]) + p[2] + t["leakage"]

    def errors(self, p, macs):
        return [self.average(p, macs) / PUBLISHED[macs][6] - 1, self.peak(p, macs) / PUBLISHED[macs][5] - 1]

    def fit(self, rows=tuple(MACHINES)):
        import numpy as np

        def residuals(p):
            list_ = [math.log(p[0] / self.PRIOR) / math.log(self.FACTOR)]
            for macs in rows:
                list_ += [math.log(1 + error) / self.DEVIATION for error in self.errors(p, macs)]
            return np.sign(list_) * np.square(list_)
        return least(residuals, [0.5, 1.5, 3.0, 2.0])


# ---- the tables of configs/technology

def made(value, why="in the course of the fit"):
    return {"value": value, "assumption": why}


HOROWITZ = "Horowitz, Computing's Energy Problem, ISSCC 2014, 45 nm, 0.9 V: "
EVENTS = {
    "multiply_int8_pj": (0.2, HOROWITZ + "8-bit integer multiplication"),
    "multiply_int16_pj": (0.8, None),
    "multiply_fp16_pj": (1.1, HOROWITZ + "16-bit floating-point multiplication"),
    "add_int32_pj": (0.1, HOROWITZ + "32-bit integer addition"),
    "add_fp32_pj": (0.9, HOROWITZ + "32-bit floating-point addition"),
    "sram_8kib_pj": (10, HOROWITZ + "64 bits of a memory of 8 KB"),
    "sram_32kib_pj": (20, HOROWITZ + "64 bits of a memory of 32 KB"),
    "sram_1mib_pj": (100, HOROWITZ + "64 bits of a memory of 1 MB"),
}
CELLS = {45: (0.346, "Mistry et al., IEDM 2007"), 28: (0.127, "Wu et al., IEDM 2009"), 16: (0.07, "Wu et al., IEDM 2013")}
VOLTS = {45: 0.9, 28: 0.9, 16: 0.8}
LEAKAGE = {45: 6, 28: 5, 16: 3}
# The clock follows (V - threshold) ^ alpha / V. Voltages are over that of the energies, 0.8 V in 16 nm.
LEE = "Lee et al., A 16-nm Always-On DNN Processor, JSSC 54(7), 2019: 0.4 to 1 V, up to 1.36 GHz, taken as at 1 V"
VOLTAGE = {"nominal_mhz": (1000, "NVDLA Primer: its machines run at 1 GHz"),
           "threshold": (0.5, "of the law through 1 GHz at 0.8 V and 1.36 GHz at 1 V: " + LEE),
           "alpha": (1.3, "Sakurai and Newton, Alpha-Power Law MOSFET Model, JSSC 25(2), 1990: short channels"),
           "least_voltage": (0.5, LEE)}


def energy_scale(nm):
    return nm / 45 * (VOLTS[nm] / VOLTS[45]) ** 2


def rounded(value):
    return float(f"{value:.4g}")


def table(nm, area, power, errors):
    """A technology: areas of 28 nm and powers of 16 nm as fitted, the others scaled."""
    scale, from16 = energy_scale(nm), energy_scale(nm) / energy_scale(16)
    scaled = "" if nm == 45 else f", times {rounded(scale)}: capacitance with the length, {VOLTS[nm]} V"
    numbers = {"name": f"{nm}nm"}

    def put(name, value, source=None, assumption=None):
        numbers[name] = {"value": rounded(value), **({"source": source} if source else {"assumption": assumption})}

    shrink, how = {28: (1, "fitted to seven areas"), 16: (area[3], "fitted to fourteen areas"),
                   45: ((45 / 28) ** 2, "28 nm with the square of the length")}[nm]
    fitted = f"scripts/fit_silicon.py, {how}: NVDLA Primer"
    for name, value in zip(("gate_um2", "ram_bit_um2", "control_um2"), (area[0], area[1], 1e6 * area[2])):
        put(name, shrink * value, **({"assumption": how} if nm == 45 else {"source": fitted}))
    put("sram_bit_um2", CELLS[nm][0] / 0.7, assumption=f"cell of {CELLS[nm][0]} um2 ({CELLS[nm][1]}); that 70 % of the area is cells is assumed")
    for name, (value, source) in EVENTS.items():
        put(name, value * scale, source and source + scaled,
            f"four times the product of 8 bits, as the width squared; Horowitz has 8 and 32 bits{scaled}")
    put("event_share", power[0], "scripts/fit_silicon.py, fitted to powers of ResNet-50 in 16 nm: NVDLA Primer")
    for name, value in (("register_fj", power[1]), ("control_pj", power[2])):
        why = "scripts/fit_silicon.py, fitted to powers in 16 nm: NVDLA Primer" if nm == 16 else None
        put(name, value * from16, why, "16 nm, times the ratio of the energies")
    put("leakage_mw_per_mm2", LEAKAGE[nm], assumption="standard thresholds at room temperature; nobody published it of this machine")
    put("peak_factor", power[3], "scripts/fit_silicon.py, fitted to peak powers in 16 nm: NVDLA Primer")
    put("dram_pj", 1300, HOROWITZ + "64 bits of a DRAM, the lower end of 1.3 to 2.6 nJ; where a DRAM is simulated its own energy counts instead")
    for name, (value, source) in VOLTAGE.items():
        put(name, value, source if nm == 16 else None, "as in 16 nm: " + source)
    put("area_error", errors[0], "scripts/fit_silicon.py, leave-one-out")
    put("power_error", errors[1], "scripts/fit_silicon.py, leave-one-out")
    return numbers


def table_text(numbers):
    return "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in numbers.items()) + "\n}\n"


def prior():
    """The numbers of the literature in 16 nm, with 1 for each that is fitted."""
    numbers = table(16, (1, 1, 1, 1), (1, 1, 1, 1), (0, 0))
    for name in ("gate_um2", "ram_bit_um2", "event_share", "register_fj", "peak_factor"):
        numbers[name] = made(1)
    numbers["control_pj"] = numbers["control_um2"] = made(0)
    return numbers


# ---- the page

def percent(value):
    return f"{100 * value:+.1f} %"


def area_table(areas, p, left):
    lines = ["| MACs | CBUF, KB | 28 nm, mm2 | model | error | held out | 16 nm, mm2 | model | error | held out |", "|---:" * 10 + "|"]
    for macs, row in PUBLISHED.items():
        e, l, mm2 = areas.errors(p, macs), left[macs], areas.mm2(p, macs)
        lines.append(f"| {macs:,} | {row[0]} | {row[2]} | {mm2:.2f} | {percent(e[0])} | {percent(l[0])} | {row[4]} | {p[3] * mm2:.2f} | "
                     f"{percent(e[1])} | {percent(l[1])} |")
    return lines


def power_table(powers, p, left):
    lines = ["| MACs | frames/s | simulated | average, mW | model | error | held out | peak, mW | model | error | held out |", "|---:" * 11 + "|"]
    for macs, row in PUBLISHED.items():
        e, l, rate = powers.errors(p, macs), left[macs], powers.terms[macs]["frames_per_s"]
        simulated = f"{rate:.1f}" if macs != 32 else ""
        lines.append(f"| {macs:,} | {row[3]} | {simulated} | {row[6]} | {powers.average(p, macs):.1f} | {percent(e[0])} | {percent(l[0])} | {row[5]} | "
                     f"{powers.peak(p, macs):.0f} | {percent(e[1])} | {percent(l[1])} |")
    return lines


def share_table(powers, p):
    lines = ["| MACs | events | clocks | control | leakage |", "|---:" * 5 + "|"]
    for macs in PUBLISHED:
        t, all_ = powers.terms[macs], powers.average(p, macs)
        parts = (p[0] * t["events"], p[1] * t["clock"], p[2], t["leakage"])
        lines.append(f"| {macs:,} | " + " | ".join(f"{100 * part / all_:.0f} %" for part in parts) + " |")
    return lines


def constants_table(area, power):
    rows = (("gate_um2", area[0], "um2, 28 nm"), ("ram_bit_um2", area[1], "um2, 28 nm"), ("control_um2", 1e6 * area[2], "um2, 28 nm"),
            ("areas of 16 nm", area[3], "of those of 28 nm"), ("event_share", power[0], "of the literature's energies"),
            ("register_fj", power[1], "fJ, 16 nm"), ("control_pj", power[2], "pJ, 16 nm"), ("peak_factor", power[3], ""))
    return ["| constant | value | |", "|---|---:|---|"] + [f"| {name} | {value:,.4g} | {unit} |" for name, value, unit in rows]


def put_into_page(page, name, lines):
    text = page.read_text()
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    head, rest = text.split(begin)
    page.write_text(head + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1])


def worst(errors, column):
    return max(abs(e[column]) for e in errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlasim", default=str(ROOT / "build/dlasim"))
    parser.add_argument("--runs")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--page")
    arguments = parser.parse_args()
    dlasim = Dlasim(arguments.dlasim)
    with tempfile.TemporaryDirectory() as folder:
        files = simulate(dlasim, Path(arguments.runs or folder))
        areas = Areas(dlasim, prior())
        area = areas.fit()
        technology = dict(prior(), gate_um2=made(area[0] * area[3]), ram_bit_um2=made(area[1] * area[3]), control_um2=made(1e6 * area[2] * area[3]))
        powers = Powers(dlasim, technology, files)
    power = powers.fit()
    rows = list(MACHINES)
    left_areas = leave_one_out(areas.fit, areas.errors, rows)
    left_powers = leave_one_out(powers.fit, powers.errors, rows)
    tables = {"constants": constants_table(area, power), "areas": area_table(areas, area, left_areas),
              "powers": power_table(powers, power, left_powers), "shares": share_table(powers, power)}
    for name, lines in tables.items():
        print(f"{name}\n" + "\n".join(lines) + "\n")
        if arguments.page:
            put_into_page(Path(arguments.page), name, lines)
    area_left = max(worst(left_areas.values(), 0), worst(left_areas.values(), 1))
    found = {"area": (max(worst([areas.errors(area, m) for m in rows], c) for c in (0, 1)), area_left),
             "average": (worst([powers.errors(power, m) for m in rows], 0), worst(left_powers.values(), 0)),
             "peak": (worst([powers.errors(power, m) for m in rows], 1), worst(left_powers.values(), 1))}
    missed = False
    for what, (row, out) in found.items():
        print(f"{what}: worst row {100 * row:.1f} % (goal {GOALS[what][0]} %), held out {100 * out:.1f} % (goal {GOALS[what][1]} %)")
        missed |= 100 * row > GOALS[what][0] or 100 * out > GOALS[what][1]
    if arguments.write:
        for nm in (45, 28, 16):
            (TABLES / f"{nm}nm.json").write_text(table_text(table(nm, area, power, (area_left, found["average"][1]))))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
