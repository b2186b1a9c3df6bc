// What silicon costs in a process: a table of numbers, each with its source or the reason why it is assumed.
//
//   configs/technology/16nm.json, a file like it, or an object laid over it ──► Technology ──► area.h, energy.h
//
// Source  scripts/fit_silicon.py fits a few of the numbers to published areas and powers; docs/howto/CHOOSE.md has which, and how well.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/json_object.h"

namespace dlasim::silicon {

/// A number of a table, as its file has it.
struct Number {
    double value = 0;
    std::string source;    // publication, fit, or why it is assumed
    bool assumed = false;  // nobody published it
};

struct Technology {
    std::string name;
    std::map<std::string, Number> numbers;
    double gate_um2 = 0, ram_bit_um2 = 0, sram_bit_um2 = 0, control_um2 = 0;
    double multiply_int8_pj = 0, multiply_int16_pj = 0, multiply_fp16_pj = 0, add_int32_pj = 0, add_fp32_pj = 0;
    double sram_8kib_pj = 0, sram_32kib_pj = 0, sram_1mib_pj = 0, dram_pj = 0;  // 64 bits
    double event_share = 0, register_fj = 0, control_pj = 0, leakage_mw_per_mm2 = 0, peak_factor = 0;
    double phy_read_pj = 0, phy_write_pj = 0, phy_mw = 0;  // a bit; at any time
    double nominal_mhz = 0, threshold = 0, alpha = 0, least_voltage = 0;
    double area_error = 0, power_error = 0;

    /// pJ for 64 bits of a memory of a given size: a power law between and beyond the published sizes.
    double memory_pj(double bytes) const;
    /// Over that of the energies: what a clock needs, by the alpha-power law.
    double voltage(double mhz) const;
    /// pJ of PHY and controller of a DRAM.
    double phy_pj(double read_bytes, double written_bytes, double ns) const
    {
        return 8 * (read_bytes * phy_read_pj + written_bytes * phy_write_pj) + phy_mw * ns;
    }
};

/// The technology by default.
inline constexpr const char* kDefaultTechnology = "16nm";

/// `spec`: a table's name, a file, or an object {"table": name, "gate_um2": {"value": .., "source": ".."}, ..} that is laid over one.
/// ConfigError for a number that has neither a source nor is called an assumption. `where` names it in messages, `folder` is what a path is
/// relative to.
Technology read_technology(const Json& spec, const std::string& where, const std::string& folder);
std::vector<std::string> technology_names();
std::vector<PlacedKey> technology_keys();
/// Names of the numbers that are assumptions, with commas between; empty if all is published or fitted.
std::string assumptions(const Technology& technology);
/// What pages say of a table: a row a number, {name, value, unit, meaning, source, assumed}.
nlohmann::ordered_json technology_json(const Technology& technology);

}  // namespace dlasim::silicon
