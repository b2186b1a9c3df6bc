// The lookup table of EW on one number. Source: sdp.md 4.5.
#pragma once
#include "config/model/sdp.h"

namespace dlasim {

/// `le_quirk`: LE takes a distance of 2^31 or more as negative where a step is 2^33 or more.
std::int64_t reference_lut(const Lut& lut, std::int64_t x, bool le_quirk);

/// Of fp16 layers: fp32 patterns in and out, the interpolation in fp17.
std::uint32_t reference_lut_fp(const Lut& lut, std::uint32_t x);

/// value / 2^shift to nearest, ties away from zero.
std::int64_t round_shift(std::int64_t value, unsigned shift);
std::int64_t clamp_bits(std::int64_t value, int width);

}  // namespace dlasim
