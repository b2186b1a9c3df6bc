#include "silicon/silicon_keys.h"

#include <array>
#include <cmath>

#include "config/machine/hardware.h"
#include "silicon/area.h"
#include "silicon/elements.h"

namespace dlasim::silicon {
namespace {

/// Of a result; `run` is none where nothing is known.
struct EnergyView {
    const Technology& technology;
    std::optional<MeasuredRun> run;
    std::vector<UnitEnergy> units;  // of all images
    double area_mm2 = 0;

    double chip_uj() const { return 1e-6 * chip_pj(units) / run->images; }
    double memory_uj() const { return 1e-6 * run->memory_pj(technology) / run->images; }
    /// mW of an energy of one image, over the time that an image takes.
    double mw(double uj) const { return 1e-3 * uj * run->images / run->seconds(); }
    bool timed() const { return run && run->precise && run->activity.cycles > 0; }
};

OrderedJson known(bool there, double value) { return there && std::isfinite(value) ? OrderedJson(value) : OrderedJson(); }

struct UnitView {
    const EnergyView& all;
    const UnitEnergy& energy;
    double um2;
    double uj(double pj) const { return 1e-6 * pj / all.run->images; }
};

constexpr std::array kUnitKeys{
    Key<UnitView>{{"area_mm2", "number", "mm2", "of the unit"}, [](const UnitView& u) -> OrderedJson { return 1e-6 * u.um2; }},
    Key<UnitView>{{"energy_uj", "number", "uJ", "of the unit: the sum of the next three"},
                  [](const UnitView& u) -> OrderedJson { return u.uj(u.energy.all_pj()); }},
    Key<UnitView>{{"events_uj", "number", "uJ", "of counted events: products, sums, accesses"},
                  [](const UnitView& u) -> OrderedJson { return u.uj(u.energy.events_pj); }},
    Key<UnitView>{{"clock_uj", "number", "uJ", "of registers and clock tree, in cycles with the clock of their domain on"},
                  [](const UnitView& u) -> OrderedJson { return u.uj(u.energy.clock_pj); }},
    Key<UnitView>{{"leakage_uj", "number", "uJ", "by area and time"},
                  [](const UnitView& u) -> OrderedJson { return u.uj(u.energy.leakage_pj); }},
};

OrderedJson units_of(const EnergyView& seen)
{
    if (!seen.timed()) return {};
    OrderedJson units;
    const std::vector<UnitArea> areas = area_of(seen.technology, seen.run->hardware);
    for (std::size_t i = 0; i < areas.size(); ++i) units[areas[i].unit] = written(kUnitKeys, UnitView{seen, seen.units[i], areas[i].um2});
    return units;
}

constexpr std::array kKeys{
    Key<EnergyView>{{"area_mm2", "number or null", "mm2",
                     "of the accelerator with CBUF and CVSRAM, in the technology: [CHOOSE.md](howto/CHOOSE.md#area-energy-and-power)"},
                    [](const EnergyView& s) { return known(s.run.has_value(), s.area_mm2); }},
    Key<EnergyView>{
        {"energy_uj", "number or null", "uJ", "of the accelerator with CBUF and CVSRAM; of an ONNX model's images those of one"},
        [](const EnergyView& s) { return s.timed() ? known(true, s.chip_uj()) : OrderedJson(); }},
    Key<EnergyView>{{"power_mw", "number or null", "mW", "energy_uj over the time of the cycles"},
                    [](const EnergyView& s) { return s.timed() ? known(true, s.mw(s.chip_uj())) : OrderedJson(); }},
    Key<EnergyView>{
        {"memory_uj", "number or null", "uJ",
         "of the memory at DBB: the DRAM's own energy if one is simulated, with `phy_read_pj`, `phy_write_pj` and `phy_mw` of the "
         "technology; `dram_pj` where it is ideal"},
        [](const EnergyView& s) { return s.timed() ? known(true, s.memory_uj()) : OrderedJson(); }},
    Key<EnergyView>{{"memory_mw", "number or null", "mW", "memory_uj over the same time"},
                    [](const EnergyView& s) { return s.timed() ? known(true, s.mw(s.memory_uj())) : OrderedJson(); }},
    Key<EnergyView>{{"total_uj", "number or null", "uJ", "energy_uj and memory_uj"},
                    [](const EnergyView& s) { return s.timed() ? known(true, s.chip_uj() + s.memory_uj()) : OrderedJson(); }},
    Key<EnergyView>{{"energy/technology", "text", "", "the table of areas and energies"},
                    [](const EnergyView& s) -> OrderedJson { return s.technology.name; }},
    Key<EnergyView>{
        {"energy/voltage", "number", "", "over that of its energies, at this clock: `nominal_mhz`, `threshold`, `alpha`", "a run"},
        [](const EnergyView& s) -> OrderedJson { return s.run ? OrderedJson(s.technology.voltage(s.run->hardware.clock_mhz)) : kAbsent; }},
    Key<EnergyView>{
        {"energy/phy_mw", "number", "mW", "PHY and controller of a simulated DRAM at any time", "it is above 0"},
        [](const EnergyView& s) -> OrderedJson { return s.technology.phy_mw > 0 ? OrderedJson(s.technology.phy_mw) : kAbsent; }},
    Key<EnergyView>{{"energy/assumed", "text", "", "its unpublished numbers"},
                    [](const EnergyView& s) -> OrderedJson { return assumptions(s.technology); }},
    Key<EnergyView>{{"energy/units", "object or null", "", "each unit, with cbuf, cvsram and control: below"}, units_of},
};

struct MachineView {
    const Technology& technology;
    const Hardware& hardware;
};
struct ElementsView {
    const Technology& technology;
    const UnitElements& elements;
    const UnitElements& of_unit() const { return elements; }
};

constexpr std::array kElementKeys{
    Key<ElementsView>{{"area_mm2", "number", "mm2", "of the unit"},
                      [](const ElementsView& e) -> OrderedJson {
                          return 1e-6 * (e.elements.all_gates() * e.technology.gate_um2 + e.elements.ram_bits * e.technology.ram_bit_um2 +
                                         e.elements.sram_bits * e.technology.sram_bit_um2);
                      }},
    Key<ElementsView>{{"gates", "number", "gates", "of logic and registers, as NAND2"},
                      dlasim::value_of<&ElementsView::of_unit, &UnitElements::all_gates>},
    Key<ElementsView>{{"clocked_bits", "number", "bits", "of registers that a clock domain reaches, or that are never gated"},
                      dlasim::value_of<&ElementsView::of_unit, &UnitElements::clocked_bits>},
    Key<ElementsView>{{"ram_bits", "number", "bits", "of buffers with two ports"},
                      dlasim::value_of<&ElementsView::of_unit, &UnitElements::ram_bits>},
    Key<ElementsView>{{"sram_bits", "number", "bits", "of CVSRAM"}, dlasim::value_of<&ElementsView::of_unit, &UnitElements::sram_bits>},
};

constexpr std::array kMachineKeys{
    Key<MachineView>{{"technology", "text", "", "the table of areas and energies"},
                     [](const MachineView& m) -> OrderedJson { return m.technology.name; }},
    Key<MachineView>{{"area_mm2", "number", "mm2", "of the accelerator with CBUF and CVSRAM"},
                     [](const MachineView& m) -> OrderedJson { return area_mm2(m.technology, m.hardware); }},
    Key<MachineView>{{"peak_mw", "number", "mW", "while all units work, every lane in every cycle, with worst-case operands"},
                     [](const MachineView& m) -> OrderedJson { return peak_mw(m.technology, m.hardware); }},
    Key<MachineView>{{"full_mw", "number", "mW", "the same with average operands, without the next row"},
                     [](const MachineView& m) -> OrderedJson { return full_mw(m.technology, m.hardware).first; }},
    Key<MachineView>{{"still_mw", "number", "mW", "leakage, and registers that are never gated"},
                     [](const MachineView& m) -> OrderedJson { return full_mw(m.technology, m.hardware).second; }},
    Key<MachineView>{{"units", "object", "", "each unit, with cbuf, cvsram and control"},
                     [](const MachineView& m) {
                         OrderedJson units;
                         for (const UnitElements& e : elements_of(m.hardware))
                             units[e.unit] = written(kElementKeys, ElementsView{m.technology, e});
                         units["control"]["area_mm2"] = 1e-6 * m.technology.control_um2;
                         return units;
                     }},
};

}  // namespace

OrderedJson machine_json(const Technology& technology, const Hardware& hardware)
{
    return written(kMachineKeys, MachineView{technology, hardware});
}

std::vector<PlacedKey> machine_keys() { return placed(kMachineKeys, "", kElementKeys, "units/*/"); }

std::optional<MeasuredRun> add_silicon(OrderedJson& result, const Technology& technology)
{
    EnergyView seen{technology, measured_run(result), {}, 0};
    if (seen.run) {
        seen.units = energy_of(technology, seen.run->hardware, seen.run->activity);
        seen.area_mm2 = area_mm2(technology, seen.run->hardware);
    }
    const OrderedJson silicon = written(kKeys, seen);
    OrderedJson all;
    for (auto& [key, value] : result.items()) {
        if (silicon.contains(key)) continue;  // of another technology
        all[key] = std::move(value);
        if (key == "cycles") all.update(silicon);
    }
    if (!all.contains("energy")) all.update(silicon);
    result = std::move(all);
    return seen.timed() ? seen.run : std::nullopt;
}

std::vector<PlacedKey> silicon_keys() { return placed(kKeys, "", kUnitKeys, "energy/units/*/"); }

}  // namespace dlasim::silicon
