// How the register tables are written: a register once, with the generations that have it so.
//
//   unit_rows.h, rom_rows.h ── of<generation, rows> ──► UnitRegisters of tables.cpp
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "registers/tables.h"

namespace dlasim::registers {

enum Generations : std::uint8_t { kFull = 1, kConfigurable = 2, kBoth = kFull | kConfigurable };

struct Row {
    Generations in;
    RegisterRow row;
};

/// The registers that a generation has among `rows`, in their order.
template <Generations generation, const auto& rows>
inline constexpr auto of = [] {
    constexpr auto has = [](const Row& row) { return (row.in & generation) != 0; };
    std::array<RegisterRow, std::count_if(std::begin(rows), std::end(rows), has)> chosen{};
    std::size_t next = 0;
    for (const Row& row : rows)
        if (has(row)) chosen[next++] = row.row;
    return chosen;
}();

}  // namespace dlasim::registers
