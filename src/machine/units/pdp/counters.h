// What PDP counts. The stalls are its performance registers, never cleared.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct PdpCounters {
    std::uint64_t layers = 0, beats = 0, atoms_read = 0, atoms_written = 0, read_stall = 0, write_stall = 0;
    std::uint64_t core = 0, wdma = 0, rdma = 0;
    std::optional<std::uint64_t> fp16;
};

template <>
inline constexpr auto counters<PdpCounters> = std::array{
    counter("layers", &PdpCounters::layers, "layers", "layers done", "pdp.md 1.9"),
    counter("beats", &PdpCounters::beats, "beats", "beats that the horizontal stage took, padding included", "pdp.md 4.4"),
    counter("atoms_read", &PdpCounters::atoms_read, "atoms", "memory atoms requested by PDP_RDMA", "pdp.md 1.5"),
    counter("atoms_written", &PdpCounters::atoms_written, "atoms", "memory atoms given to MCIF or CVIF", "pdp.md 1.7"),
    counter("read_stall", &PdpCounters::read_stall, "cycles",
            "a read request waited for its stage, in layers that count (D_PERF_READ_STALL)", "pdp.md 6"),
    counter("write_stall", &PdpCounters::write_stall, "cycles",
            "a write command or data waited for its stage, in layers that count (D_PERF_WRITE_STALL)", "pdp.md 6"),
    clock_domain("core", &PdpCounters::core, "pooling data path", "pdp.md 6"),
    clock_domain("wdma", &PdpCounters::wdma, "write DMA", "pdp.md 6"),
    clock_domain("rdma", &PdpCounters::rdma, "PDP_RDMA", "pdp.md 6"),
    clock_domain("fp16", &PdpCounters::fp16, "fp16 engines, in fp16 averages", "pdp.md 6", "on nv_full"),
};

}  // namespace dlasim
