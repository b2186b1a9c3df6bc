// What the registers of PDP's and PDP_RDMA's consumer group ask for.
//
//                 first pass      middle passes ...     last pass
//   input   |<──── first ────>|<─ mid + k - s ─>| ... |<─ last + k - s ─>|     neighbours overlap by k - s
//   output  |<── first_out ──>|<─── mid_out ───>| ... |<──── last_out ──>|
//
// Source  pdp.md 1.3, 1.5, 1.6.
#pragma once
#include <cstdint>

#include "facts/pdp.h"
#include "numerics/pdp.h"
#include "registers/register_file.h"

namespace dlasim::pdp {

/// Widths of the passes of a layer whose width is split. All widths are pixels.
struct Passes {
    std::uint32_t count = 1;
    std::uint32_t first = 1, mid = 1, last = 1;
    std::uint32_t width(std::uint32_t pass) const { return pass == 0 ? first : pass + 1 == count ? last : mid; }
    std::uint64_t total() const { return std::uint64_t{first} + (count > 1 ? std::uint64_t{count - 2} * mid + last : 0); }
};

/// What PDP_RDMA reads.
struct ReadLayer {
    Passes passes;
    std::int64_t second_start = 0;  // first column of pass 1, left of the base in a program without sense
    std::uint32_t step = 0;         // from pass to pass after it
    std::uint32_t height = 1, surfaces = 1;
    std::uint64_t base = 0, line_stride = 0, surface_stride = 0;
    bool from_primary = true;

    std::int64_t start(std::uint32_t pass) const { return pass == 0 ? 0 : second_start + std::int64_t{pass - 1} * step; }
    std::uint64_t atoms() const { return passes.total() * surfaces * height; }

    static ReadLayer decode(const facts::pdp::Facts& silicon, const RegisterFile& registers);
};

/// What PDP pools.
struct LayerConfig {
    Passes in, out;
    std::uint32_t width = 1, height = 1, out_height = 1;
    std::uint32_t surfaces = 1, out_surfaces = 1;
    std::uint32_t stride_x = 1, stride_y = 1;
    std::uint32_t pad_left = 0, pad_right = 0, pad_top = 0, pad_bottom = 0;
    numerics::PoolConfig pool;  // kernel, precision, method
    bool flying = false;
    bool fp16_average = false;
    std::uint64_t base = 0, line_stride = 0, surface_stride = 0;
    bool to_primary = true;

    std::uint64_t atoms_in() const { return in.total() * surfaces * height; }

    static LayerConfig decode(const facts::pdp::Facts& silicon, const RegisterFile& registers);
};

}  // namespace dlasim::pdp
