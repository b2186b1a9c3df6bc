#include "silicon/silicon_keys.h"

#include <array>
#include <cmath>

#include "config/machine/hardware.h"
#include "silicon/area.h"
#include "silicon/elements.h"

namespace dlasim::silicon {
namespace {

/// Of a result; `run` is none where nothing is known.
struct Seen {
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

struct SeenUnit {
    const Seen& all;
    const UnitEnergy& energy;
    double um2;
    double uj(double pj) const { return 1e-6 * pj / all.run->images; }
};

constexpr std::array kUnitKeys{
    Key<SeenUnit>{{"area_mm2", "number", "mm2", "of the unit"}, [](const SeenUnit& u) -> OrderedJson { return 1e-6 * u.um2; }},
    Key<SeenUnit>{{"energy_uj", "number", "uJ", "of the unit: the sum of the next three"},
                  [](const SeenUnit& u) -> OrderedJson { return u.uj(u.energy.all_pj()); }},
    Key<SeenUnit>{{"events_uj", "number", "uJ", "of counted events: products, sums, accesses"},
                  [](const SeenUnit& u) -> OrderedJson { return u.uj(u.energy.events_pj); }},
    Key<SeenUnit>{{"clock_uj", "number", "uJ", "of registers and clock tree, in cycles with the clock of their domain on"},
                  [](const SeenUnit& u) -> OrderedJson { return u.uj(u.energy.clock_pj); }},
    Key<SeenUnit>{{"leakage_uj", "number", "uJ", "by area and time"},
                  [](const SeenUnit& u) -> OrderedJson { return u.uj(u.energy.leakage_pj); }},
};

OrderedJson units_of(const Seen& seen)
{
    if (!seen.timed()) return {};
    OrderedJson units;
    const std::vector<UnitArea> areas = area_of(seen.technology, seen.run->hardware);
    for (std::size_t i = 0; i < areas.size(); ++i) units[areas[i].unit] = written(kUnitKeys, SeenUnit{seen, seen.units[i], areas[i].um2});
    return units;
}

constexpr std::array kKeys{
    Key<Seen>{{"area_mm2", "number or null", "mm2",
               "of the accelerator with CBUF and CVSRAM, in the technology: [CHOOSE.md](howto/CHOOSE.md#area-energy-and-power)"},
              [](const Seen& s) { return known(s.run.has_value(), s.area_mm2); }},
    Key<Seen>{{"energy_uj", "number or null", "uJ", "of the accelerator with CBUF and CVSRAM; of an ONNX model's images those of one"},
              [](const Seen& s) { return s.timed() ? known(true, s.chip_uj()) : OrderedJson(); }},
    Key<Seen>{{"power_mw", "number or null", "mW", "energy_uj over the time of the cycles"},
              [](const Seen& s) { return s.timed() ? known(true, s.mw(s.chip_uj())) : OrderedJson(); }},
    Key<Seen>{{"memory_uj", "number or null", "uJ",
               "of the memory at DBB: the DRAM's own energy if one is simulated, `dram_pj` of the technology where it is ideal"},
              [](const Seen& s) { return s.timed() ? known(true, s.memory_uj()) : OrderedJson(); }},
    Key<Seen>{{"memory_mw", "number or null", "mW", "memory_uj over the same time"},
              [](const Seen& s) { return s.timed() ? known(true, s.mw(s.memory_uj())) : OrderedJson(); }},
    Key<Seen>{{"total_uj", "number or null", "uJ", "energy_uj and memory_uj"},
              [](const Seen& s) { return s.timed() ? known(true, s.chip_uj() + s.memory_uj()) : OrderedJson(); }},
    Key<Seen>{{"energy/technology", "text", "", "the table of areas and energies"},
              [](const Seen& s) -> OrderedJson { return s.technology.name; }},
    Key<Seen>{{"energy/assumed", "text", "", "its unpublished numbers"},
              [](const Seen& s) -> OrderedJson { return assumptions(s.technology); }},
    Key<Seen>{{"energy/units", "object or null", "", "each unit, with cbuf, cvsram and control: below"}, units_of},
};

struct SeenMachine {
    const Technology& technology;
    const Hardware& hardware;
};
struct SeenElements {
    const Technology& technology;
    const UnitElements& elements;
};

constexpr std::array kElementKeys{
    Key<SeenElements>{{"area_mm2", "number", "mm2", "of the unit"},
                      [](const SeenElements& e) -> OrderedJson {
                          return 1e-6 * (e.elements.all_gates() * e.technology.gate_um2 + e.elements.ram_bits * e.technology.ram_bit_um2 +
                                         e.elements.sram_bits * e.technology.sram_bit_um2);
                      }},
    Key<SeenElements>{{"gates", "number", "gates", "of logic and registers, as NAND2"},
                      [](const SeenElements& e) -> OrderedJson { return e.elements.all_gates(); }},
    Key<SeenElements>{{"clocked_bits", "number", "bits", "of registers that a clock domain reaches, or that are never gated"},
                      [](const SeenElements& e) -> OrderedJson { return e.elements.clocked_bits(); }},
    Key<SeenElements>{{"ram_bits", "number", "bits", "of buffers with two ports"},
                      [](const SeenElements& e) -> OrderedJson { return e.elements.ram_bits; }},
    Key<SeenElements>{{"sram_bits", "number", "bits", "of CVSRAM"},
                      [](const SeenElements& e) -> OrderedJson { return e.elements.sram_bits; }},
};

constexpr std::array kMachineKeys{
    Key<SeenMachine>{{"technology", "text", "", "the table of areas and energies"},
                     [](const SeenMachine& m) -> OrderedJson { return m.technology.name; }},
    Key<SeenMachine>{{"area_mm2", "number", "mm2", "of the accelerator with CBUF and CVSRAM"},
                     [](const SeenMachine& m) -> OrderedJson { return area_mm2(m.technology, m.hardware); }},
    Key<SeenMachine>{{"peak_mw", "number", "mW", "while all units work, every lane in every cycle, with worst-case operands"},
                     [](const SeenMachine& m) -> OrderedJson { return peak_mw(m.technology, m.hardware); }},
    Key<SeenMachine>{{"full_mw", "number", "mW", "the same with average operands, without the next row"},
                     [](const SeenMachine& m) -> OrderedJson { return full_mw(m.technology, m.hardware).first; }},
    Key<SeenMachine>{{"still_mw", "number", "mW", "leakage, and registers that are never gated"},
                     [](const SeenMachine& m) -> OrderedJson { return full_mw(m.technology, m.hardware).second; }},
    Key<SeenMachine>{{"units", "object", "", "each unit, with cbuf, cvsram and control"},
                     [](const SeenMachine& m) {
                         OrderedJson units;
                         for (const UnitElements& e : elements_of(m.hardware))
                             units[e.unit] = written(kElementKeys, SeenElements{m.technology, e});
                         units["control"]["area_mm2"] = 1e-6 * m.technology.control_um2;
                         return units;
                     }},
};

}  // namespace

OrderedJson machine_json(const Technology& technology, const Hardware& hardware)
{
    return written(kMachineKeys, SeenMachine{technology, hardware});
}

std::vector<PlacedKey> machine_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kMachineKeys);
    place_keys(keys, kElementKeys, "units/*/");
    return keys;
}

void add_silicon(OrderedJson& result, const Technology& technology)
{
    Seen seen{technology, measured_run(result), {}, 0};
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
}

std::vector<PlacedKey> silicon_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kKeys);
    place_keys(keys, kUnitKeys, "energy/units/*/");
    return keys;
}

}  // namespace dlasim::silicon
