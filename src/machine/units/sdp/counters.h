// What SDP counts. Saturations, NaN, look-ups and the stall are its performance registers, summed over the layers that switched them on.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct SdpCounters {
    std::uint64_t layers = 0, beats = 0, atoms_written = 0, atoms_read = 0, wdma_write_stall = 0, out_saturation = 0, nan_output_num = 0;
    std::optional<std::uint64_t> lut_uflow, lut_oflow, lut_hybrid, lut_le_hit, lut_lo_hit;
    std::uint64_t wdma = 0, bs = 0, bn = 0, ew = 0, mrdma = 0, brdma = 0, nrdma = 0, erdma = 0;
};

template <>
inline constexpr auto counters<SdpCounters> = std::array{
    counter("layers", &SdpCounters::layers, "layers", "layers whose last data were sent", "sdp.md 1.9"),
    counter("beats", &SdpCounters::beats, "beats", "beats that the input multiplexer took from CACC or MRDMA", "sdp.md 1.4"),
    counter("atoms_written", &SdpCounters::atoms_written, "atoms", "memory atoms given to MCIF or CVIF", "sdp.md 1.7"),
    counter("atoms_read", &SdpCounters::atoms_read, "atoms", "memory atoms requested by the read engines: features and operands",
            "sdp.md 1.6.1"),
    counter("wdma_write_stall", &SdpCounters::wdma_write_stall, "cycles",
            "a write command or data waited for the interface, in layers that count (D_PERF_WDMA_WRITE_STALL)", "sdp.md 3.2"),
    counter("out_saturation", &SdpCounters::out_saturation, "results",
            "results that the output converter saturated, in layers that count (D_PERF_OUT_SATURATION); 0 without values", "sdp.md 3.2"),
    counter("nan_output_num", &SdpCounters::nan_output_num, "results",
            "fp16 results that are NaN (D_STATUS_NAN_OUTPUT_NUM); 0 without values", "sdp.md 3.2"),
    counter("lut_uflow", &SdpCounters::lut_uflow, "lanes x cycles",
            "lanes below the selected table, in the register of the table read, in every cycle of the layer (D_PERF_LUT_UFLOW)",
            "sdp.md 3.2", "where a layer counts look-ups"),
    counter("lut_oflow", &SdpCounters::lut_oflow, "lanes x cycles", "the same above the selected table (D_PERF_LUT_OFLOW)", "sdp.md 3.2",
            "where a layer counts look-ups"),
    counter("lut_hybrid", &SdpCounters::lut_hybrid, "lanes x cycles", "the same neither below nor above it (D_PERF_LUT_HYBRID)",
            "sdp.md 3.2", "where a layer counts look-ups"),
    counter("lut_le_hit", &SdpCounters::lut_le_hit, "lanes x cycles",
            "the same that the LE table hits, whichever is selected (D_PERF_LUT_LE_HIT)", "sdp.md 3.2", "where a layer counts look-ups"),
    counter("lut_lo_hit", &SdpCounters::lut_lo_hit, "lanes x cycles",
            "the same that the LO table hits, whichever is selected (D_PERF_LUT_LO_HIT)", "sdp.md 3.2", "where a layer counts look-ups"),
    clock_domain("wdma", &SdpCounters::wdma, "write DMA", "sdp.md 3.1"),
    clock_domain("bs", &SdpCounters::bs, "BS", "sdp.md 3.1"),
    clock_domain("bn", &SdpCounters::bn, "BN", "sdp.md 3.1"),
    clock_domain("ew", &SdpCounters::ew, "EW and its tables, while they are written too", "sdp.md 3.1"),
    clock_domain("mrdma", &SdpCounters::mrdma, "read engine of features", "sdp.md 3.1"),
    clock_domain("brdma", &SdpCounters::brdma, "read engine of the operands of BS", "sdp.md 3.1"),
    clock_domain("nrdma", &SdpCounters::nrdma, "read engine of the operands of BN", "sdp.md 3.1"),
    clock_domain("erdma", &SdpCounters::erdma, "read engine of the operands of EW", "sdp.md 3.1"),
};

}  // namespace dlasim
