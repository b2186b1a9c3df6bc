// What CDP must make of a cube with the tables of an LRN layer: golden/cdp.h with them.
//
//   y[c] = x[c] * table(sum of x[j]^2, j = c - window / 2 .. c + window / 2), converted
//
// Source  cdp.md 3, 5.2.
#pragma once
#include <array>
#include <cstdint>

#include "golden/cdp.h"

namespace dlasim {

/// The function of an LRN layer as CDP's tables have it. LO is even steps of 2^lo_select, LE octaves from
/// 2^le_offset on; LO is taken where it reaches, its first entry for a sum of 0.
struct LrnTables {
    static constexpr std::size_t kLeEntries = 65, kLoEntries = 257;
    Precision precision = Precision::Int8;
    std::uint32_t window = 5;
    std::array<std::uint16_t, kLeEntries> le{};  // int16, or fp16 pattern
    std::array<std::uint16_t, kLoEntries> lo{};
    int le_offset = 0, lo_select = 0;
    std::int32_t scale = 1;  // integers: out = x * table * scale / 2^shift
    unsigned shift = 0;

    /// What CDP looks up is the same; the converter may be another.
    bool same_function(const LrnTables& other) const
    {
        return precision == other.precision && le == other.le && lo == other.lo && le_offset == other.le_offset &&
               lo_select == other.lo_select;
    }
};

/// The first `channels` of the output of a cube; beyond the cube's own they are 0.
Tensor normalised(const LrnTables& tables, const Tensor& cube, std::uint32_t channels);

}  // namespace dlasim
