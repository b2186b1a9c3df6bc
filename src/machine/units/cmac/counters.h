// What a half of CMAC counts.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct CmacCounters {
    std::uint64_t stripes = 0, atoms = 0, products = 0, lost_stripes = 0;
    std::vector<std::uint64_t> cell_atoms;
    std::uint64_t op = 0;
};

template <>
inline constexpr auto counters<CmacCounters> = std::array{
    counter("stripes", &CmacCounters::stripes, "stripes", "stripes taken from CSC", "csc.md 1.5"),
    counter("atoms", &CmacCounters::atoms, "atoms", "atoms of these stripes: operations of the array", "csc.md 1.5"),
    counter("products", &CmacCounters::products, "products", "atoms x kernels of this half x elements of an operation that are used",
            "cmac.md 1.3"),
    counter("lost_stripes", &CmacCounters::lost_stripes, "stripes", "stripes that arrived while the clock was off: lost, as in the silicon",
            "cmac.md 2.7"),
    counter("cell_#_atoms", &CmacCounters::cell_atoms, "atoms",
            "atoms that this MAC cell multiplied; in other cycles its registers did not toggle", "cmac.md 3"),
    clock_domain("op*", &CmacCounters::op, "all domains of the half, which run together: cells, input, operands, output", "cmac.md 3"),
};

}  // namespace dlasim
