#include "units/csb/master.h"

#include <algorithm>
#include <cstring>

#include "facts/csb.h"

namespace dlasim {
namespace {
constexpr std::uint32_t kWindowBytes = 0x1000;
}

CsbMaster::CsbMaster(const sc_core::sc_module_name& name, const Clock& clock, std::vector<Window> windows)
    : sc_module(name), clock_(clock), windows_(std::move(windows))
{
    socket.register_b_transport(this, &CsbMaster::b_transport);
    for (const Window& window : windows_)
        if (window.link) window.link->response.reader = this;
}

void CsbMaster::wake_at(Cycle at) { response_.notify(clock_.at(at) - sc_core::sc_time_stamp()); }

const CsbMaster::Window* CsbMaster::find(std::uint32_t address) const
{
    for (const Window& window : windows_)
        if (address / kWindowBytes == window.unit->base / kWindowBytes) return &window;
    return nullptr;
}

void CsbMaster::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay)
{
    const std::uint64_t address = payload.get_address();
    if (payload.get_data_length() != 4 || address % 4 != 0) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    if (payload.get_byte_enable_ptr()) {
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    const bool write = payload.is_write();
    const auto cycle = [&] { return (sc_core::sc_time_stamp() + delay).value() / clock_.period().value(); };
    const RequestQueue::Passage passage = queue_.offer(std::max<Cycle>(cycle(), free_from_));
    free_from_ = passage.accepted + 1;
    delay = clock_.at(passage.accepted) - sc_core::sc_time_stamp();

    // Addresses beyond the bus' 18 bits and windows without a unit: writes vanish, reads are 0.
    const Window* window = address < (1u << 18) ? find(static_cast<std::uint32_t>(address)) : nullptr;
    std::uint32_t data = 0;
    std::memcpy(&data, payload.get_data_ptr(), 4);
    if (window && window->link) {
        const Cycle decode = passage.pushed + facts::kCsbPushToDecode + window->retiming;
        window->link->request.put(decode, {static_cast<std::uint32_t>(address % kWindowBytes), data, write});
    }
    if (!write) {
        Cycle answered = passage.pushed + (window ? facts::kCsbPushToGec : facts::kCsbPushToUnmapped);
        data = 0;
        if (window && window->link) {
            Pulse<std::uint32_t>& response = window->link->response;
            while (!response.available(clock_.now())) wait(response_);
            answered = response.next() + facts::kCsbResponseToPort + window->retiming;
            data = response.take();
        }
        delay = clock_.at(answered) - sc_core::sc_time_stamp();
        std::memcpy(payload.get_data_ptr(), &data, 4);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace dlasim
