// Who interrupts, as bits of S_INTR_STATUS; S_INTR_MASK and S_INTR_SET have the same. [spec] csb.md 3
#pragma once
#include <string_view>

#include "registers/fields/glb.h"

namespace dlasim::reg::glb {

struct Interrupt {
    std::string_view unit;  // as traces name it: SDP_0 and SDP_1
    Field of_group[2];
    std::string_view also = {};  // in some traces

    constexpr std::uint32_t bit(unsigned group) const { return of_group[group].put(1); }
    constexpr std::uint32_t bits() const { return bit(0) | bit(1); }
};
using Done = struct S_INTR_STATUS;
inline constexpr Interrupt kSdp{"SDP", {Done::SDP_DONE_STATUS0, Done::SDP_DONE_STATUS1}};
inline constexpr Interrupt kCdp{"CDP", {Done::CDP_DONE_STATUS0, Done::CDP_DONE_STATUS1}};
inline constexpr Interrupt kPdp{"PDP", {Done::PDP_DONE_STATUS0, Done::PDP_DONE_STATUS1}};
inline constexpr Interrupt kBdma{"BDMA", {Done::BDMA_DONE_STATUS0, Done::BDMA_DONE_STATUS1}};
inline constexpr Interrupt kRubik{"RBK", {Done::RUBIK_DONE_STATUS0, Done::RUBIK_DONE_STATUS1}, "RUBIK"};
inline constexpr Interrupt kCdmaData{"CDMA_DAT", {Done::CDMA_DAT_DONE_STATUS0, Done::CDMA_DAT_DONE_STATUS1}};
inline constexpr Interrupt kCdmaWeights{"CDMA_WT", {Done::CDMA_WT_DONE_STATUS0, Done::CDMA_WT_DONE_STATUS1}};
inline constexpr Interrupt kCacc{"CACC", {Done::CACC_DONE_STATUS0, Done::CACC_DONE_STATUS1}};
inline constexpr const Interrupt* kInterrupts[] = {&kSdp, &kCdp, &kPdp, &kBdma, &kRubik, &kCdmaData, &kCdmaWeights, &kCacc};

/// Of the units that end the operations of layers.
inline constexpr std::uint32_t kOfLayers = kSdp.bits() | kCdp.bits() | kPdp.bits() | kRubik.bits();

/// The bit of SDP_0 or SDP_1, as traces name them; 0 if there is no such interrupt.
constexpr std::uint32_t interrupt_bit(std::string_view name)
{
    for (const Interrupt* interrupt : kInterrupts)
        for (const unsigned group : {0u, 1u})
            for (const std::string_view unit : {interrupt->unit, interrupt->also})
                if (!unit.empty() && name.starts_with(unit) && name.substr(unit.size()) == (group ? "_1" : "_0"))
                    return interrupt->bit(group);
    return 0;
}

}  // namespace dlasim::reg::glb
