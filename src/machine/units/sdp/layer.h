// What the registers of SDP's consumer group ask for.
//
// Source  sdp.md 1.3, 1.4, 1.7.
#pragma once
#include <cstdint>

#include "facts/sdp.h"
#include "registers/register_file.h"

namespace dlasim::sdp {

/// The fields of SDP and SDP_RDMA that name a precision.
constexpr Precision precision(std::uint32_t field)
{
    return field == 0 ? Precision::Int8 : field == 1 ? Precision::Int16 : Precision::Fp16;
}

/// BS, BN or EW as the pipeline sees it; the values are in Arithmetic.
struct EngineLayer {
    bool on = false;                                // not bypassed
    bool alu = false, mul = false;                  // sub-engines that are not bypassed
    bool alu_stream = false, mul_stream = false;    // their operands come from memory
    bool alu_convert = false, mul_convert = false;  // EW: operand converter not bypassed
    bool lut = false;                               // EW

    bool streams() const { return alu_stream || mul_stream; }
};

struct LayerConfig {
    std::uint32_t width = 1, height = 1, surfaces = 1, batch = 1;
    Precision processing = Precision::Int8, output = Precision::Int8;
    bool flying = true, winograd = false;
    bool to_pdp = false, compare = false;  // nothing leaves for memory
    bool to_primary = true;                // MCIF, not CVIF
    bool wide = false;                     // results of two bytes
    bool widening = false;                 // 8to16: int8 processing, results of two bytes
    bool single = false;                   // one command holds the whole cube
    std::uint32_t atom = 0;                // bytes
    std::uint32_t beat_bytes = 0;          // of a beat at WDMA
    std::uint32_t beats_per_atom = 1;      // such beats
    std::uint64_t base = 0, line_stride = 0, surface_stride = 0, batch_stride = 0;
    std::uint64_t address_mask = UINT64_MAX;  // addresses wrap
    EngineLayer bs, bn, ew;

    bool quiet() const { return to_pdp || compare; }
    /// The converter passes what EW compared. Where there is no EW, compare mode stops WDMA alone.
    bool compares_lanes() const { return compare && ew.on; }

    static LayerConfig decode(const facts::sdp::Facts& silicon, const RegisterFile& registers);
};

}  // namespace dlasim::sdp
