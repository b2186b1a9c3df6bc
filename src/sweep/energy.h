// Energy and area of a point in a first form: events that the machine counts times the energy of an event, elements that it has times
// the area of an element. docs/SWEEPS.md.
//
//   configs/energy/45nm.json, a file like it, or an object laid over it ──► EnergyTable ──► energy_of(), area_of()
//
// Left out  clock tree, control, wires, leakage, and all units but the array, CBUF and memory.
// Error     unmeasured: published figures of arithmetic and memories, not of this machine.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/json_object.h"
#include "facts/hardware.h"
#include "files/keys.h"

namespace dlasim {

/// A number of a table, as its file has it.
struct EnergyNumber {
    double value = 0;
    std::string source;    // publication, or why it is assumed
    bool assumed = false;  // nobody published it
};

struct EnergyTable {
    std::string name;
    std::map<std::string, EnergyNumber> numbers;
    double multiply_int8_pj = 0, multiply_int16_pj = 0, multiply_fp16_pj = 0, add_int32_pj = 0, add_fp32_pj = 0;
    double sram_8kib_pj = 0, sram_32kib_pj = 0, sram_1mib_pj = 0, dram_pj = 0;  // 64 bits
    double multiply_int8_um2 = 0, multiply_fp16_um2 = 0, add_int32_um2 = 0, add_fp32_um2 = 0, sram_bit_um2 = 0, sram_cells_share = 0;
};

/// `spec`: a table's name, a file, or an object {"table": name, "add_int32_pj": {"value": .., "source": ".."}, ..} that is laid over one.
/// ConfigError for a number that has neither a source nor is called an assumption. `where` names it in messages, `folder` is what a path is
/// relative to.
EnergyTable read_energy(const Json& spec, const std::string& where, const std::string& folder);
std::vector<std::string> energy_tables();
std::vector<PlacedKey> energy_keys();

/// What a run did, as far as it costs energy here.
struct EnergyEvents {
    Precision precision = Precision::Int8;
    std::uint64_t products = 0;                     // that multipliers made, those of padding and unused lanes left out
    std::uint64_t cbuf_read = 0, cbuf_written = 0;  // bytes
    std::uint64_t memory = 0;                       // bytes, of memory without a model of its own
    double dram_pj = 0;                             // of memory that has one
};
struct EnergyParts {
    double array = 0, cbuf = 0, memory = 0;  // pJ
    double all() const { return array + cbuf + memory; }
};
EnergyParts energy_of(const EnergyTable& table, const Hardware& hardware, const EnergyEvents& events);

struct AreaParts {
    double array = 0, cbuf = 0;  // square micrometres
    double all() const { return array + cbuf; }
};
AreaParts area_of(const EnergyTable& table, const Hardware& hardware);

/// Names of the assumptions that energy and area of a run rest on, with commas between; empty if all is published.
std::string assumed_of(const EnergyTable& table, const Hardware& hardware, const EnergyEvents& events);

/// What pages say of a table: a row a number, {name, value, unit, meaning, source, assumed}.
nlohmann::ordered_json energy_numbers_json(const EnergyTable& table);

}  // namespace dlasim
