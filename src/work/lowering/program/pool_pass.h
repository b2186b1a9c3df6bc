// One pooling: how PDP does it, and what its registers say.
//
//   Pool of a plane ──► windows that fit exactly ──► widths of the passes ──► register writes
//
// The unit needs windows that fit exactly: padding that no window reaches is dropped, columns and rows that none
// touches are not read. A plane whose output is wider than the line buffer goes through in passes of columns, from
// memory only.
//
// Source  pdp.md 1.2, 1.6, 2.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "config/model/pool.h"
#include "lowering/program/register_writer.h"

namespace dlasim {

/// What follows from a pooling of a plane.
struct PoolGeometry {
    std::uint32_t width = 0, height = 0;  // of the input that is read
    std::uint32_t out_width = 0, out_height = 0;
    std::uint32_t pad_right = 0, pad_bottom = 0;
    std::vector<std::uint32_t> columns;  // of the output, pass by pass
    Strides strides;                     // of the output, packed
    std::uint64_t bytes = 0;             // likewise
    bool operator==(const PoolGeometry&) const = default;
};

/// One operation of PDP.
struct PoolPass {
    Pool pool;
    Precision precision = Precision::Int8;
    std::uint32_t channels = 1;
    bool flying = false;  // from SDP, else from memory
    bool flush_nan = false;
    Place source, target;
    Strides source_strides;
    PoolGeometry geometry;
};

/// What the unit cannot do is a problem, with the rule. `flying`: from SDP.
Fit<PoolGeometry> size_pool(const Pool& pool, const CubeSize& of, Precision precision, bool flying, const Hardware& hardware);

/// In programming order.
void write_pool(RegisterWriter& out, const PoolPass& pass, const UnitGroups& groups);

}  // namespace dlasim
