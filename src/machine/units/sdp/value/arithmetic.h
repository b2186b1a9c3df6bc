// What the registers of a layer say about values: the arithmetic of BS, BN, EW and the converter.
//
// Source  sdp.md 1.3, 4.
#pragma once
#include "facts/sdp.h"
#include "numerics/sdp_cvt.h"
#include "numerics/sdp_x.h"
#include "numerics/sdp_y.h"
#include "registers/register_file.h"
#include "units/sdp/layer.h"

namespace dlasim::sdp {

struct Arithmetic {
    numerics::SdpXConfig bs, bn;
    numerics::SdpYConfig ew;
    numerics::SdpCvtConfig converter;
    bool nan_to_zero = false;  // of features and operands

    static Arithmetic decode(const facts::sdp::Facts& silicon, const RegisterFile& registers, const LayerConfig& layer);
};

}  // namespace dlasim::sdp
