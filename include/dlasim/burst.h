// Whose burst it is. On every payload that an accelerator sends to memory, as an ignorable extension:
//
//   const auto* client = payload.get_extension<dlasim::BurstClient>();      null for payloads of others
//   dlasim::client_name(client->id)                                          "CDMA_DAT"
//
// An interconnect may leave it where it is; a memory may use it, or not know it. Do not keep the pointer beyond the burst.
#pragma once
#include <cstdint>
#include <tlm>

namespace dlasim {

struct BurstClient : tlm::tlm_extension<BurstClient> {
    std::uint8_t id = 0;           // AXI id: the unit of the accelerator that reads or writes, 0..9
    std::uint32_t beat_bytes = 0;  // a burst is a number of beats of this size, one a cycle of the port

    tlm_extension_base* clone() const override { return new BurstClient(*this); }
    void copy_from(const tlm_extension_base& from) override { *this = static_cast<const BurstClient&>(from); }
};

/// As the register CFG_RD_WEIGHT of each is named: "CDMA_DAT", "SDP_BS" ..; "?" beyond the clients that there are.
const char* client_name(std::uint8_t id);

}  // namespace dlasim
