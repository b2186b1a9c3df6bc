// One operation from the registers of its units, as they are when it is enabled: loadable.md 6.1 to 6.6, read backwards.
#pragma once
#include "facts/hardware.h"
#include "loadable/write/recovery.h"
#include "workload/programmed.h"

namespace dlasim::loadable {

/// Adds the registers of a group.
void keep(const RegisterGroup& from, std::vector<WrittenRegister>& in);
/// Bytes from the first to the last of a cube of features.
std::uint32_t feature_extent(const Cube& cube, unsigned precision, const Hardware& hardware);

struct ConvUnits {
    const RegisterGroup &cdma, &csc, &cmac_a, &cmac_b, &cacc;
};

RecoveredOperation recover_conv(const ConvUnits& from, const Hardware& hardware);
/// `reads`: SDP_RDMA was enabled for it.
RecoveredOperation recover_sdp(const RegisterGroup& sdp, const RegisterGroup& rdma, bool reads, const Hardware& hardware);
RecoveredOperation recover_pdp(const RegisterGroup& pdp, const RegisterGroup& rdma, const Hardware& hardware);
RecoveredOperation recover_cdp(const RegisterGroup& cdp, const RegisterGroup& rdma, const Hardware& hardware);
RecoveredOperation recover_rubik(const RegisterGroup& rubik, const Hardware& hardware);
/// Adds a transfer.
void recover_transfer(const RegisterGroup& bdma, RecoveredOperation& operation);

}  // namespace dlasim::loadable
