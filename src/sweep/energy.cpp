#include "sweep/energy.h"

#include <array>
#include <cmath>
#include <filesystem>

#include "facts/abilities.h"
#include "files/input.h"
#include "sweep/embedded.h"

namespace dlasim {
namespace {

struct EnergyField {
    KeyRow row;
    double EnergyTable::*member;
};

constexpr std::array kFields{
    EnergyField{{"multiply_int8_pj", "object", "pJ", "a product of int8"}, &EnergyTable::multiply_int8_pj},
    EnergyField{{"multiply_int16_pj", "object", "pJ", "a product of int16"}, &EnergyTable::multiply_int16_pj},
    EnergyField{{"multiply_fp16_pj", "object", "pJ", "a product of fp16"}, &EnergyTable::multiply_fp16_pj},
    EnergyField{{"add_int32_pj", "object", "pJ", "a product of integers added to its sum"}, &EnergyTable::add_int32_pj},
    EnergyField{{"add_fp32_pj", "object", "pJ", "a product of fp16 added to its sum"}, &EnergyTable::add_fp32_pj},
    EnergyField{{"sram_8kib_pj", "object", "pJ", "64 bits read from or written to a bank of 8 KiB"}, &EnergyTable::sram_8kib_pj},
    EnergyField{{"sram_32kib_pj", "object", "pJ", "the same of 32 KiB"}, &EnergyTable::sram_32kib_pj},
    EnergyField{{"sram_1mib_pj", "object", "pJ", "the same of 1 MiB; banks between and beside follow as powers of their size"},
                &EnergyTable::sram_1mib_pj},
    EnergyField{{"dram_pj", "object", "pJ", "64 bits of the ideal memory"}, &EnergyTable::dram_pj},
    EnergyField{{"multiply_int8_um2", "object", "um2", "a multiplier of int8: configurable machines"}, &EnergyTable::multiply_int8_um2},
    EnergyField{{"multiply_fp16_um2", "object", "um2", "a multiplier of fp16: nv_full"}, &EnergyTable::multiply_fp16_um2},
    EnergyField{{"add_int32_um2", "object", "um2", "an adder behind a multiplier of int8"}, &EnergyTable::add_int32_um2},
    EnergyField{{"add_fp32_um2", "object", "um2", "an adder behind a multiplier of fp16"}, &EnergyTable::add_fp32_um2},
    EnergyField{{"sram_bit_um2", "object", "um2", "a cell of CBUF"}, &EnergyTable::sram_bit_um2},
    EnergyField{{"sram_cells_share", "object", "", "of CBUF's area that is cells"}, &EnergyTable::sram_cells_share},
};
constexpr std::array kOtherKeys{
    KeyRow{"table", "text", "", "the table that this one is laid over: 45nm", "optional: a file that has all numbers needs none"},
    KeyRow{"name", "text", "", "for whoever reads the file", "optional"},
    KeyRow{"note", "text", "", "for whoever reads the file", "optional"},
};
constexpr std::array kNumberKeys{
    KeyRow{"*/value", "number", "", "0 or more, of that unit"},
    KeyRow{"*/source", "text", "", "the publication that the number comes from", "or an assumption"},
    KeyRow{"*/assumption", "text", "", "why the number is what it is, where nobody published it", "or a source"},
};
constexpr double kMost = 1e9;

EnergyNumber number_of(const JsonObject& table, std::string_view key)
{
    const JsonObject number(table.raw(key), table.file(), table.pointer(key), {"value", "source", "assumption"});
    if (!number.has("value")) number.missing("value", "a number");
    number.not_both("source", "assumption");
    const bool assumed = number.has("assumption");
    const std::string why = number.text(assumed ? "assumption" : "source", "");
    if (why.empty()) number.missing("source", "where the number comes from, or \"assumption\": why it is what it is");
    const Json& value = number.raw("value");
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > kMost)
        throw ConfigError(number.where("value"), found(value) + ", expected a number from 0 to 1e9");
    return {value.get<double>(), why, assumed};
}

std::string shipped(const std::string& name)
{
    for (const EmbeddedFile& file : energy_files())
        if (name == file.name) return file.text;
    return "";
}

/// pJ for 64 bits of a bank of so many bytes: between the published sizes, and beside them, a power of the size.
double sram_pj(const EnergyTable& table, double bytes)
{
    const std::array<std::pair<double, double>, 3> known{
        {{8 << 10, table.sram_8kib_pj}, {32 << 10, table.sram_32kib_pj}, {1 << 20, table.sram_1mib_pj}}};
    const std::size_t i = bytes < known[1].first ? 0 : 1;
    const auto& [small, small_pj] = known[i];
    const auto& [large, large_pj] = known[i + 1];
    if (small_pj <= 0 || large_pj <= 0) return small_pj;
    return small_pj * std::pow(large_pj / small_pj, std::log(bytes / small) / std::log(large / small));
}

EnergyTable lay(EnergyTable table, const Json& json, const std::string& file, const std::string& pointer, bool whole)
{
    std::vector<std::string> keys = names_of(kOtherKeys);
    for (const EnergyField& field : kFields) keys.emplace_back(field.row.name);
    const JsonObject object(json, file, pointer, keys);
    table.name = object.text("name", table.name);
    for (const EnergyField& field : kFields)
        if (object.has(field.row.name)) {
            const EnergyNumber number = number_of(object, field.row.name);
            table.*field.member = number.value;
            table.numbers[std::string(field.row.name)] = number;
        } else if (whole) object.missing(field.row.name, "{\"value\": .., \"source\": ..}: " + std::string(field.row.meaning));
    if (table.sram_cells_share <= 0 || table.sram_cells_share > 1)
        throw ConfigError(object.where("sram_cells_share"), "is not above 0 and at most 1, expected a share");
    return table;
}

}  // namespace

std::vector<std::string> energy_tables()
{
    std::vector<std::string> names;
    for (const EmbeddedFile& file : energy_files()) names.emplace_back(file.name);
    return names;
}

std::vector<PlacedKey> energy_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kOtherKeys);
    place_keys(keys, kFields);
    place_keys(keys, kNumberKeys);
    return keys;
}

EnergyTable read_energy(const Json& spec, const std::string& where, const std::string& folder)
{
    if (spec.is_object()) {
        const bool over = spec.contains("table");
        const EnergyTable below = over ? read_energy(spec["table"], where + "/table", folder) : EnergyTable{};
        return lay(below, spec, where, "", !over);
    }
    if (!spec.is_string()) throw ConfigError(where, found(spec) + ", expected a table's name, a file or an object");
    const auto name = spec.get<std::string>();
    if (const std::string text = shipped(name); !text.empty()) return lay({}, parse_json(text, name), name, "", true);
    std::error_code none;
    const std::filesystem::path beside = std::filesystem::path(folder) / name;
    const std::string file = std::filesystem::exists(beside, none) ? beside.string() : name;
    if (!std::filesystem::exists(file, none)) throw ConfigError(where, "unknown table \"" + name + "\"" + suggest(name, energy_tables()));
    const Json json = read_json(file);
    if (!json.is_object() || !json.contains("table")) return lay({}, json, file, "", true);
    if (!json["table"].is_string() || shipped(json["table"].get<std::string>()).empty())
        throw ConfigError(at(file, "/table"),
                          found(json["table"]) + ", expected a table that comes with dlasim: " + energy_tables().front());
    return lay(read_energy(json["table"], file, folder), json, file, "", false);
}

EnergyParts energy_of(const EnergyTable& table, const Hardware& hardware, const EnergyEvents& events)
{
    const bool fp = events.precision == Precision::Fp16;
    const double multiply = fp                                    ? table.multiply_fp16_pj
                            : events.precision == Precision::Int8 ? table.multiply_int8_pj
                                                                  : table.multiply_int16_pj;
    const double bank = static_cast<double>(hardware.cbuf.bank_depth) * hardware.cbuf.entry_bytes;
    EnergyParts parts;
    parts.array = static_cast<double>(events.products) * (multiply + (fp ? table.add_fp32_pj : table.add_int32_pj));
    parts.cbuf = static_cast<double>(events.cbuf_read + events.cbuf_written) / 8 * sram_pj(table, bank);
    parts.memory = static_cast<double>(events.memory) / 8 * table.dram_pj + events.dram_pj;
    return parts;
}

std::string assumed_of(const EnergyTable& table, const Hardware& hardware, const EnergyEvents& events)
{
    const bool fp = events.precision == Precision::Fp16, floats = facts::abilities(hardware).words;
    const double bank = static_cast<double>(hardware.cbuf.bank_depth) * hardware.cbuf.entry_bytes;
    const std::array used{fp                                    ? "multiply_fp16_pj"
                          : events.precision == Precision::Int8 ? "multiply_int8_pj"
                                                                : "multiply_int16_pj",
                          fp ? "add_fp32_pj" : "add_int32_pj",
                          "sram_32kib_pj",
                          bank < 32 << 10 ? "sram_8kib_pj" : "sram_1mib_pj",
                          floats ? "multiply_fp16_um2" : "multiply_int8_um2",
                          floats ? "add_fp32_um2" : "add_int32_um2",
                          "sram_bit_um2",
                          "sram_cells_share"};
    std::string names;
    const auto add = [&](const char* name) {
        const auto number = table.numbers.find(name);
        if (number != table.numbers.end() && number->second.assumed) names += (names.empty() ? "" : ", ") + std::string(name);
    };
    for (const char* name : used) add(name);
    if (events.memory != 0) add("dram_pj");
    return names;
}

nlohmann::ordered_json energy_numbers_json(const EnergyTable& table)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const EnergyField& field : kFields) {
        const auto number = table.numbers.find(std::string(field.row.name));
        if (number == table.numbers.end()) continue;
        list.push_back({{"name", field.row.name},
                        {"value", number->second.value},
                        {"unit", field.row.unit},
                        {"meaning", field.row.meaning},
                        {"source", number->second.source},
                        {"assumed", number->second.assumed}});
    }
    return list;
}

AreaParts area_of(const EnergyTable& table, const Hardware& hardware)
{
    const double multipliers = static_cast<double>(hardware.mac.atomic_c) * hardware.mac.atomic_k;
    const double bits = 8.0 * hardware.cbuf.banks * hardware.cbuf.bank_depth * hardware.cbuf.entry_bytes;
    const bool words = facts::abilities(hardware).words;
    const double element = words ? table.multiply_fp16_um2 + table.add_fp32_um2 : table.multiply_int8_um2 + table.add_int32_um2;
    return {multipliers * element, bits * table.sram_bit_um2 / table.sram_cells_share};
}

}  // namespace dlasim
