#include "silicon/technology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/files/input.h"
#include "silicon/embedded.h"

namespace dlasim::silicon {
namespace {

struct Field {
    KeyRow row;
    double Technology::*member;
};

constexpr std::string_view kOptional = "optional: 0";
constexpr std::array kFields{
    Field{{"gate_um2", "object", "um2", "a gate (NAND2) of logic, with its share of wires and of everything else"}, &Technology::gate_um2},
    Field{{"ram_bit_um2", "object", "um2", "a bit of CBUF, FIFOs and buffers: a port to read and one to write, periphery included"},
          &Technology::ram_bit_um2},
    Field{{"sram_bit_um2", "object", "um2", "a bit of CVSRAM: one port, periphery included"}, &Technology::sram_bit_um2},
    Field{{"control_um2", "object", "um2", "registers of the bus, sequencers, interrupts: independent of all sizes"},
          &Technology::control_um2},
    Field{{"multiply_int8_pj", "object", "pJ", "a product of int8"}, &Technology::multiply_int8_pj},
    Field{{"multiply_int16_pj", "object", "pJ", "a product of int16"}, &Technology::multiply_int16_pj},
    Field{{"multiply_fp16_pj", "object", "pJ", "a product of fp16"}, &Technology::multiply_fp16_pj},
    Field{{"add_int32_pj", "object", "pJ", "a product of integers added to its sum"}, &Technology::add_int32_pj},
    Field{{"add_fp32_pj", "object", "pJ", "a product of fp16 added to its sum"}, &Technology::add_fp32_pj},
    Field{{"sram_8kib_pj", "object", "pJ", "64 bits read from or written to a memory of 8 KiB"}, &Technology::sram_8kib_pj},
    Field{{"sram_32kib_pj", "object", "pJ", "the same of 32 KiB"}, &Technology::sram_32kib_pj},
    Field{{"sram_1mib_pj", "object", "pJ", "the same of 1 MiB; sizes between and beside follow as powers of the size"},
          &Technology::sram_1mib_pj},
    Field{{"event_share", "object", "", "share of the energies above that an event takes, because not all operands toggle"},
          &Technology::event_share},
    Field{{"register_fj", "object", "fJ", "a bit of a register in a cycle with its clock on, its share of the clock tree included"},
          &Technology::register_fj},
    Field{{"control_pj", "object", "pJ", "a cycle of logic that is never gated and independent of all sizes"}, &Technology::control_pj},
    Field{{"leakage_mw_per_mm2", "object", "mW/mm2", "leakage per area"}, &Technology::leakage_mw_per_mm2},
    Field{{"peak_factor", "object", "", "peak power with worst-case operands over that with average ones"}, &Technology::peak_factor},
    Field{{"dram_pj", "object", "pJ", "64 bits of the ideal memory"}, &Technology::dram_pj},
    Field{{"phy_read_pj", "object", "pJ", "a bit read from a simulated DRAM, in PHY and controller of the accelerator's side", kOptional},
          &Technology::phy_read_pj},
    Field{{"phy_write_pj", "object", "pJ", "the same of a bit written", kOptional}, &Technology::phy_write_pj},
    Field{{"phy_mw", "object", "mW", "PHY and controller of a simulated DRAM at any time, with requests or without", kOptional},
          &Technology::phy_mw},
    Field{{"nominal_mhz", "object", "MHz", "the clock at the voltage of the energies above; 0: the voltage does not follow the clock",
           kOptional},
          &Technology::nominal_mhz},
    Field{{"threshold", "object", "", "threshold over that voltage: the clock follows (V - threshold) ^ alpha / V", kOptional},
          &Technology::threshold},
    Field{{"alpha", "object", "", "the exponent of that law", kOptional}, &Technology::alpha},
    Field{{"least_voltage", "object", "", "the lowest voltage over that voltage: slower clocks have it too", kOptional},
          &Technology::least_voltage},
    Field{{"area_error", "object", "", "largest error of an area that the fit had not seen"}, &Technology::area_error},
    Field{{"power_error", "object", "", "largest error of an average power that the fit had not seen"}, &Technology::power_error},
};
constexpr std::array kOtherKeys{
    KeyRow{"table", "text", "", "the table that this one is laid over: 45nm, 28nm, 16nm, 12nm, 7nm, 5nm",
           "optional: a file that has all numbers needs none"},
    KeyRow{"name", "text", "", "documentation", "optional"},
    KeyRow{"note", "text", "", "documentation", "optional"},
};
constexpr std::array kNumberKeys{
    KeyRow{"*/value", "number", "", "0 or more, of that unit"},
    KeyRow{"*/source", "text", "", "the publication or fit of the number", "or an assumption"},
    KeyRow{"*/assumption", "text", "", "the reason for an unpublished number", "or a source"},
};
constexpr double kMaxFigure = 1e9, kMostVoltage = 2;  // of a clock that no voltage allows

Number number_of(const JsonObject& table, std::string_view key)
{
    const JsonObject number(table.raw(key), table.file(), table.pointer(key), {"value", "source", "assumption"});
    if (!number.has("value")) number.missing("value", "a number");
    number.not_both("source", "assumption");
    const bool assumed = number.has("assumption");
    const std::string why = number.text(assumed ? "assumption" : "source", "");
    if (why.empty()) number.missing("source", "the source of the number, or \"assumption\" with its reason");
    const Json& value = number.raw("value");
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > kMaxFigure)
        throw ConfigError(number.where("value"), found(value) + ", expected a number from 0 to 1e9");
    return {value.get<double>(), why, assumed};
}

std::string shipped(const std::string& name)
{
    for (const EmbeddedFile& file : technology_files())
        if (name == file.name) return file.text;
    return "";
}

Technology lay(Technology table, const Json& json, const std::string& file, const std::string& pointer, bool whole)
{
    std::vector<std::string> keys = names_of(kOtherKeys);
    for (const Field& field : kFields) keys.emplace_back(field.row.name);
    const JsonObject object(json, file, pointer, keys);
    table.name = object.text("name", table.name);
    for (const Field& field : kFields)
        if (object.has(field.row.name)) {
            const Number number = number_of(object, field.row.name);
            table.*field.member = number.value;
            table.numbers[std::string(field.row.name)] = number;
        } else if (whole && field.row.when.empty())
            object.missing(field.row.name, "{\"value\": .., \"source\": ..}: " + std::string(field.row.meaning));
    return table;
}

}  // namespace

double Technology::memory_pj(double bytes) const
{
    const std::array<std::pair<double, double>, 3> known{{{8 << 10, sram_8kib_pj}, {32 << 10, sram_32kib_pj}, {1 << 20, sram_1mib_pj}}};
    const std::size_t i = bytes < known[1].first ? 0 : 1;
    const auto& [small, small_pj] = known[i];
    const auto& [large, large_pj] = known[i + 1];
    if (small_pj <= 0 || large_pj <= 0) return small_pj;
    return small_pj * std::pow(large_pj / small_pj, std::log(bytes / small) / std::log(large / small));
}

double Technology::voltage(double mhz) const
{
    if (nominal_mhz <= 0 || mhz == nominal_mhz) return 1;
    const auto clock = [&](double volts) { return std::pow((volts - threshold) / (1 - threshold), alpha) / volts; };
    double low = std::max(least_voltage, threshold), high = kMostVoltage;
    if (clock(low) >= mhz / nominal_mhz) return low;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (clock(middle) < mhz / nominal_mhz ? low : high) = middle;
    }
    return high;
}

std::vector<std::string> technology_names()
{
    std::vector<std::string> names;
    for (const EmbeddedFile& file : technology_files()) names.emplace_back(file.name);
    return names;
}

std::vector<PlacedKey> technology_keys() { return placed(kOtherKeys, "", kFields, "", kNumberKeys, ""); }

Technology read_technology(const Json& spec, const std::string& where, const std::string& folder)
{
    if (spec.is_object()) {
        const bool over = spec.contains("table");
        const Technology below = over ? read_technology(spec["table"], where + "/table", folder) : Technology{};
        return lay(below, spec, where, "", !over);
    }
    if (!spec.is_string()) throw ConfigError(where, found(spec) + ", expected a table's name, a file or an object");
    const auto name = spec.get<std::string>();
    if (const std::string text = shipped(name); !text.empty()) return lay({}, parse_json(text, name), name, "", true);
    std::error_code none;
    const std::filesystem::path beside = std::filesystem::path(folder) / name;
    const std::string file = std::filesystem::exists(beside, none) ? beside.string() : name;
    if (!std::filesystem::exists(file, none))
        throw ConfigError(where, "unknown technology \"" + name + "\"" + suggest(name, technology_names()));
    const Json json = read_json(file);
    if (!json.is_object() || !json.contains("table")) return lay({}, json, file, "", true);
    if (!json["table"].is_string() || shipped(json["table"].get<std::string>()).empty())
        throw ConfigError(at(file, "/table"),
                          found(json["table"]) + ", expected a table that comes with dlasim: " + technology_names().front());
    return lay(read_technology(json["table"], file, folder), json, file, "", false);
}

std::string assumptions(const Technology& technology)
{
    std::string names;
    for (const Field& field : kFields) {
        const auto number = technology.numbers.find(std::string(field.row.name));
        if (number == technology.numbers.end() || !number->second.assumed) continue;
        names += (names.empty() ? "" : ", ") + std::string(field.row.name);
    }
    return names;
}

nlohmann::ordered_json technology_json(const Technology& technology)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Field& field : kFields) {
        const auto number = technology.numbers.find(std::string(field.row.name));
        if (number == technology.numbers.end()) continue;
        list.push_back({{"name", field.row.name},
                        {"value", number->second.value},
                        {"unit", field.row.unit},
                        {"meaning", field.row.meaning},
                        {"source", number->second.source},
                        {"assumed", number->second.assumed}});
    }
    return list;
}

}  // namespace dlasim::silicon
