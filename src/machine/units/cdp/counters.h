// What CDP counts. The stalls and look-ups are its performance registers.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct CdpCounters {
    std::uint64_t layers = 0, beats = 0, atoms_read = 0, atoms_written = 0, rdma_read_stall = 0, wdma_write_stall = 0;
    std::uint64_t lut_uflow = 0, lut_oflow = 0, lut_hybrid = 0, lut_le_hit = 0, lut_lo_hit = 0;
    std::uint64_t core = 0, wdma = 0, rdma = 0;
    std::optional<std::uint64_t> fp, integer;
};

template <>
inline constexpr auto counters<CdpCounters> = std::array{
    counter("layers", &CdpCounters::layers, "layers", "layers whose last data were sent", "cdp.md 4.4"),
    counter("beats", &CdpCounters::beats, "beats", "beats that the core took from CDP_RDMA", "cdp.md 4.2"),
    counter("atoms_read", &CdpCounters::atoms_read, "atoms", "memory atoms requested by CDP_RDMA", "cdp.md 4.1"),
    counter("atoms_written", &CdpCounters::atoms_written, "atoms", "memory atoms given to MCIF or CVIF", "cdp.md 4.4"),
    counter("rdma_read_stall", &CdpCounters::rdma_read_stall, "cycles",
            "a read request waited for the interface, in layers that count (D_PERF_READ_STALL)", "cdp.md 3.5"),
    counter("wdma_write_stall", &CdpCounters::wdma_write_stall, "cycles",
            "a write command or data waited for the interface, in layers that count (D_PERF_WRITE_STALL)", "cdp.md 3.5"),
    counter("lut_uflow", &CdpCounters::lut_uflow, "elements", "elements below both tables", "cdp.md 3.5"),
    counter("lut_oflow", &CdpCounters::lut_oflow, "elements", "elements above both tables", "cdp.md 3.5"),
    counter("lut_hybrid", &CdpCounters::lut_hybrid, "elements", "elements that both tables hit, or one below and one above", "cdp.md 3.5"),
    counter("lut_le_hit", &CdpCounters::lut_le_hit, "elements", "elements that only the LE table hit", "cdp.md 3.5"),
    counter("lut_lo_hit", &CdpCounters::lut_lo_hit, "elements", "elements that only the LO table hit", "cdp.md 3.5"),
    clock_domain("core", &CdpCounters::core, "data path", "cdp.md 4.6"),
    clock_domain("wdma", &CdpCounters::wdma, "write DMA", "cdp.md 4.6"),
    clock_domain("fp", &CdpCounters::fp, "floating-point pipes, in fp16 layers", "cdp.md 4.6", "on nv_full"),
    clock_domain("int", &CdpCounters::integer, "integer pipes, in all other layers", "cdp.md 4.6", "on nv_full"),
    clock_domain("rdma", &CdpCounters::rdma, "CDP_RDMA", "cdp.md 4.6"),
};

}  // namespace dlasim
