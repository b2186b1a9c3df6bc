// The output converter of SDP: (x - offset) * scale >> shift to a 17-bit number, then to the output
// precision. fp16 processing: fp32 to fp16, and on to int16 if that is written.
//
// Source  sdp.md 3.2, 4.2, 4.3.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "facts/hardware.h"
#include "facts/sdp.h"

namespace dlasim::numerics {

struct SdpCvtConfig {
    facts::sdp::Arithmetic silicon;
    bool fp = false;                  // proc_precision is fp16
    Precision out = Precision::Int8;  // out_precision
    bool equal_mode = false;          // EW compares: lanes pass unconverted
    std::int32_t offset = 0;
    std::int16_t scale = 1;
    unsigned shift = 0;  // 0..63
};

struct CvtLane {
    std::uint16_t value = 0;
    bool saturated = false;  // the converter's flag
    bool operator==(const CvtLane&) const = default;
};
CvtLane sdp_cvt_lane(const SdpCvtConfig& config, std::int32_t x);

/// `count` lanes; the number of lanes that out_saturation counts: those flagged, or in fp16 output those
/// of the largest finite value.
unsigned sdp_cvt(const SdpCvtConfig& config, const std::int32_t* in, std::uint16_t* out, std::size_t count);

}  // namespace dlasim::numerics
