// A layer of SDP on its bench, register by register.
#pragma once
#include <initializer_list>
#include <utility>

#include "sdp_bench.h"

namespace dlasim {

inline const Hardware& preset(const char* name) { return *find_preset(name); }

/// A flying layer on the bench; every engine bypassed unless it is switched on.
struct SdpLayer {
    explicit SdpLayer(const Hardware& hw) : hardware(hw), bench(hw)
    {
        for (const auto& [offset, value] :
             std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{{reg::sdp::D_DP_BS_CFG, 1},
                                                                            {reg::sdp::D_DP_BN_CFG, 1},
                                                                            {reg::sdp::D_DP_EW_CFG, 1},
                                                                            {reg::sdp::D_FEATURE_MODE_CFG, 1},
                                                                            {reg::sdp::D_DST_DMA_CFG, 1},
                                                                            {reg::sdp::D_CVT_SCALE, 1},
                                                                            {reg::sdp::D_DST_BASE_ADDR_LOW, 0x1000},
                                                                            {reg::sdp::D_PERF_ENABLE, 0xf}})
            set(offset, value);
    }
    void set(std::uint32_t offset, std::uint32_t value) { bench.writes.push_back({decode++, false, offset, value}); }
    void set_rdma(std::uint32_t offset, std::uint32_t value) { bench.writes.push_back({decode++, true, offset, value}); }
    void shape(std::uint32_t w, std::uint32_t h, std::uint32_t c, std::uint32_t format)
    {
        set(reg::sdp::D_DATA_CUBE_WIDTH, w - 1);
        set(reg::sdp::D_DATA_CUBE_HEIGHT, h - 1);
        set(reg::sdp::D_DATA_CUBE_CHANNEL, c - 1);
        set(reg::sdp::D_DATA_FORMAT, format);
        set(reg::sdp::D_DST_LINE_STRIDE, w * hardware.memory.atom_bytes);
        set(reg::sdp::D_DST_SURFACE_STRIDE, w * h * hardware.memory.atom_bytes);
    }
    /// Returns E.
    Cycle enable()
    {
        set(reg::sdp::D_OP_ENABLE, 1);
        return decode - 1 + 4;  // decode U + 1, E = U + 5
    }
    /// `count` beats back to back from `first` on, the layer's only ones.
    void beats(Cycle first, std::uint64_t count)
    {
        bench.beats = {{first, count}};
        bench.layer_beats = {count};
        bench.hold_refused = true;
    }

    const Hardware& hardware;
    SdpBench bench;
    Cycle decode = 3;
};

}  // namespace dlasim
