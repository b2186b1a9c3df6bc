// A part as a pass of its own: the lines that it fetches, and what its registers say of the parts around it.
#pragma once
#include "lowering/cut/split.h"

namespace dlasim {

inline constexpr std::uint32_t kTile = 4;  // output rows of a Winograd block

/// Lines of the input in memory, and how many rows of padding CDMA puts above them.
struct Fetch {
    std::uint32_t line = 0, lines = 1, pad_top = 0;
    bool only_padding = false;
};
/// Of these rows, from line `begin` on.
Fetch fetch_of(const Pass& pass, const RowPart& rows, std::uint32_t begin);

/// `geometry`: of all rows and columns together.
Pass part_pass(const Geometry& geometry, const Split& split, const Part& part);
/// Where a part finds its lines and its rows, if those of all rows and columns together are at `all`. `written`: strides of the output.
Addresses part_addresses(const Addresses& all, const Geometry& geometry, const Strides& written, const Split& split, const Part& part,
                         std::uint32_t atom_bytes);
/// Lines of the input in memory that a part fetches.
std::uint32_t fetched_lines(const Pass& pass, const Part& part);

}  // namespace dlasim
