// What the array and SDP have to do for a pass: operations, loads of weights, beats.
//
// Source  csc.md 1.5 and 1.10, sdp.md 1.4.
#pragma once
#include "base/bits.h"
#include "facts/abilities.h"
#include "lowering/pass.h"

namespace dlasim {

/// Operations for one output atom and one kernel group, and output places an operation makes.
struct ArrayNest {
    std::uint64_t operations = 0;
    std::uint64_t places = 1;  // that one atom of the array makes
    std::uint64_t longest_stripe = 0;
};

inline ArrayNest array_nest(const Pass& p, const Geometry& g, const Hardware& hw)
{
    const std::uint64_t slice = hw.mac.atomic_c;
    if (p.mode == PassMode::Winograd) return {g.channels_ext / 4, 4, 32};
    const facts::Abilities can = facts::abilities(hw);
    if (p.mode == PassMode::Image)
        return {ceil_div<std::uint64_t>(g.kernel_channels, slice) * ceil_div(p.kernel_height, 1u << p.y_extension), 1,
                can.longest_pixel_stripe};
    return {ceil_div<std::uint64_t>(p.channels, slice) * p.kernel_width * p.kernel_height, 1, can.longest_stripe};
}

/// Cycles to load the weights of a number of kernels once: a cell per cycle, with all its kernels.
inline std::uint64_t load_cycles(const Pass& p, std::uint32_t kernels, const Hardware& hw)
{
    return ceil_div(kernels, hw.kernel_group(p.precision) / hw.mac.atomic_k);
}

/// Beats of results that SDP takes for an output position and a number of kernels.
inline std::uint64_t sdp_beats(const Pass& p, std::uint32_t kernels, const Hardware& hw)
{
    const std::uint32_t group = hw.kernel_group(p.precision);
    return std::uint64_t{ceil_div(kernels, group)} * (group / hw.sdp.max_throughput());
}

/// Cycles that the slowest engine in use takes for a beat.
inline std::uint64_t cycles_a_beat(const Pass& p, const Hardware& hw)
{
    const std::uint32_t throughput[] = {hw.sdp.bs_throughput, hw.sdp.bn_throughput, hw.sdp.ew_throughput};
    std::uint64_t cycles = 1;
    for (std::size_t i = 0; i < p.post.engines.size(); ++i)
        if (p.post.engines[i].on()) cycles = std::max<std::uint64_t>(cycles, hw.sdp.max_throughput() / throughput[i]);
    return cycles;
}

}  // namespace dlasim
