// The tiling of a layer into parts that run one after the other as hardware layers, and what they leave in the CBUF for
// each other.
//
//   "partition": {"rows": 14, "kernels": 64, "data_banks": 8, "weight_banks": 4, "reuse_data": true, "reuse_weights": true}
//   "partition": "auto"      the fewest parts that fit; the default
//   "plan": {"minimise": "cycles"}      in place of the fewest parts those that cost least; balanced: cycles times the fourth root of the
//   bytes moved
//
// Source  programming.md 7.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "config/model/plane_area.h"

namespace dlasim {

/// What software starts before the operation before is done. Registers: those of the next operation are written, in the other group,
/// but it is enabled then; None: they are written then, as with one group. Unprotected (networks): nothing waits for what it reads.
enum class Overlap { All, Registers, None, Unprotected };

/// Of which a cut that the lowering makes by itself has the least.
enum class Minimise { Parts, Cycles, Traffic, Balanced };

/// A cut that a search makes: the pass as it is, or the limits per part.
struct CutWay {
    bool whole = false;
    std::uint32_t columns = 0;
    bool phases = false;
    std::uint32_t kernels = 0, rows = 0;
    std::optional<bool> keeps_weights;  // none: what costs less
    bool operator==(const CutWay&) const = default;
};

/// Of a step of a network: the part of its input that the last operation of the step before writes, and the cycles of that operation, in
/// which all else is there.
struct EarlyInput {
    PlaneArea late{};
    std::uint64_t cycles = 0;
    bool handed_on = false;  // the next step reads the output
    bool operator==(const EarlyInput&) const = default;
};

struct Partition {
    bool automatic = false;
    Minimise minimise = Minimise::Parts;
    std::uint32_t rows = 0, kernels = 0;             // of the output in a part, at most; 0: all
    std::vector<std::uint32_t> row_list;             // of one part after the other, in place of `rows`; the last for all that follow
    std::uint32_t columns = 0;                       // likewise
    bool phases = false;                             // rows of one phase of the dilation in a part
    std::uint32_t data_banks = 0, weight_banks = 0;  // of every part; 0: what it takes. Rows follow from the data banks
    bool pooled = false;                             // these are rows and columns of the pooling on the way
    bool padded = false;                             // parts of less than an atom of kernels, each in surfaces of its own
    bool reuse_data = false, reuse_weights = false;  // what the next part needs stays in the buffer
    std::optional<CutWay> way;                       // of an automatic one for cycles: in place of the one that costs least by estimate
    EarlyInput early{};                              // of an automatic one: of what its first parts may read
    bool own_lines = false;                          // a part fetches no line for the next one: no descriptor of NVIDIA's driver says that

    bool on() const
    {
        return automatic || rows != 0 || !row_list.empty() || columns != 0 || phases || kernels != 0 || data_banks != 0 ||
               weight_banks != 0;
    }
    bool operator==(const Partition&) const = default;
};

}  // namespace dlasim
