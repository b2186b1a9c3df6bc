// One operation from the registers of its units, as they are when it is enabled: loadable.md 6.1 to 6.6, read backwards.
#pragma once
#include "facts/hardware.h"
#include "loadable/write/recovery.h"
#include "workload/programmed.h"

namespace dlasim::loadable {

// Of registers.
inline CubeMemory port(std::uint32_t primary) { return primary != 0 ? CubeMemory::Primary : CubeMemory::Secondary; }
inline std::uint32_t plus_one(std::uint32_t value) { return value + 1; }
inline std::uint8_t byte_of(std::uint32_t value) { return static_cast<std::uint8_t>(value); }
inline Place place_behind(const Cube& cube, std::uint64_t address) { return {cube.memory == CubeMemory::Primary, Address{address}}; }

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
RecoveredOperation recover_rubik(const RegisterGroup& rubik, const RegisterGroup& same, const Hardware& hardware);
/// Units that make an operation of a kind, and their read engines: those without one of their own are it themselves.
struct RecoveredUnit {
    Launched unit, engine;
    RecoveredOperation (*recover)(const RegisterGroup& unit, const RegisterGroup& engine, const Hardware& hardware);
};
inline constexpr RecoveredUnit kRecoveredUnits[] = {{Launched::Pdp, Launched::PdpRdma, recover_pdp},
                                                    {Launched::Cdp, Launched::CdpRdma, recover_cdp},
                                                    {Launched::Rubik, Launched::Rubik, recover_rubik}};
/// Adds a transfer.
void recover_transfer(const RegisterGroup& bdma, RecoveredOperation& operation);

}  // namespace dlasim::loadable
