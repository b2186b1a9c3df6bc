// One operation from the registers of its units, as they are when it is enabled: loadable.md 6.1 to 6.6, read backwards.
#pragma once
#include "facts/hardware.h"
#include "loadable/write/register_state.h"
#include "registers/fields/bdma.h"

namespace dlasim::loadable {

/// Bytes from the first to the last of a cube of features.
std::uint32_t feature_extent(const Cube& cube, unsigned precision, const Hardware& hardware);

struct ConvUnits {
    const UnitState &cdma, &csc, &cmac_a, &cmac_b, &cacc;
};

RecoveredOperation recover_conv(const ConvUnits& from, const Hardware& hardware);
/// `reads`: SDP_RDMA was enabled for it.
RecoveredOperation recover_sdp(const UnitState& sdp, const UnitState& rdma, bool reads, const Hardware& hardware);
RecoveredOperation recover_pdp(const UnitState& pdp, const UnitState& rdma, const Hardware& hardware);
RecoveredOperation recover_cdp(const UnitState& cdp, const UnitState& rdma, const Hardware& hardware);
RecoveredOperation recover_rubik(const UnitState& rubik, const Hardware& hardware);
/// Adds a transfer.
void recover_transfer(const UnitState& bdma, RecoveredOperation& operation);

}  // namespace dlasim::loadable
