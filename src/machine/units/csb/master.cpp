#include "units/csb/master.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "facts/csb.h"
#include "registers/register_file.h"

namespace dlasim {
namespace {
constexpr std::uint32_t kWindowBytes = UnitRegisters::kWindow, kBusBytes = 1u << 18, kWordBytes = 4;
}

CsbMaster::CsbMaster(const sc_core::sc_module_name& name, Clock& clock, const std::vector<Window>& windows) : sc_module(name), clock_(clock)
{
    converter_.register_b_transport(this, &CsbMaster::b_transport);
    converter_.register_transport_dbg(this, &CsbMaster::debug);
    front_.converter = converter_.get_base_export().operator->();
    socket.bind(front_);
    converter_.get_base_port().bind(socket.get_base_port());
    for (const Window& window : windows) {
        ports_.push_back({window, std::make_unique<Reads>(clock)});
        if (window.link) window.link->response.reader = ports_.back().reads.get();
    }
}

void CsbMaster::fail_with(Failures& failures)
{
    failures_ = &failures;
    failures.listen([this](const std::string&) {
        for (Port& port : ports_) port.reads->changed.notify(sc_core::SC_ZERO_TIME);
    });
}

void CsbMaster::renew(const std::vector<Window>& windows)
{
    DLASIM_EXPECTS(windows.size() == ports_.size());
    ++life_;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        Reads& reads = *ports_[i].reads;
        ports_[i].window = windows[i];
        if (windows[i].link) windows[i].link->response.reader = &reads;
        reads.asked = reads.answered = 0;
        reads.abandoned.clear();
        reads.early.clear();
        reads.changed.notify(sc_core::SC_ZERO_TIME);
    }
    queue_ = RequestQueue();
    free_from_ = 0;
}

CsbMaster::Port* CsbMaster::find(std::uint64_t address)
{
    for (Port& port : ports_)
        if (port.window.unit->has(address)) return &port;
    return nullptr;
}

/// Why a transaction cannot be one of this bus; OK if it can.
tlm::tlm_response_status CsbMaster::refusal(const tlm::tlm_generic_payload& payload)
{
    // A width of 0 is what a payload begins with: not set.
    const unsigned width = payload.get_streaming_width();
    if (payload.get_data_length() != kWordBytes || (width != 0 && width < kWordBytes)) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (!payload.get_data_ptr()) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (payload.get_address() % kWordBytes != 0 || payload.get_address() >= kBusBytes) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (const unsigned char* enables = payload.get_byte_enable_ptr()) {
        const unsigned length = payload.get_byte_enable_length();
        if (length == 0 || !std::all_of(enables, enables + std::min(length, kWordBytes), [](auto e) { return e == TLM_BYTE_ENABLED; }))
            return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    }
    return tlm::TLM_OK_RESPONSE;
}

void CsbMaster::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay)
{
    payload.set_dmi_allowed(false);
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return;
    }
    const bool deaf = (in_reset && in_reset()) || failed();
    tlm::tlm_response_status status = deaf ? tlm::TLM_GENERIC_ERROR_RESPONSE : refusal(payload);
    if (status == tlm::TLM_OK_RESPONSE) {
        try {
            if (!transport(payload, delay)) status = tlm::TLM_GENERIC_ERROR_RESPONSE;
        } catch (const Error& error) {
            if (failures_) failures_->report(basename(), error.what());
            status = tlm::TLM_GENERIC_ERROR_RESPONSE;
        }
    }
    payload.set_response_status(status);
}

unsigned CsbMaster::debug(tlm::tlm_generic_payload& payload)
{
    payload.set_dmi_allowed(false);
    const tlm::tlm_response_status status = refusal(payload);
    payload.set_response_status(status);
    if (status != tlm::TLM_OK_RESPONSE || !payload.is_read() || (in_reset && in_reset()) || failed()) return 0;
    std::uint32_t data = 0;
    const auto address = static_cast<std::uint32_t>(payload.get_address());
    if (const Port* port = find(address); port && port->window.link) {
        const auto value = port->window.link->registers->peek(address % kWindowBytes, clock_.now());
        if (!value) return 0;
        data = *value;
    }
    std::memcpy(payload.get_data_ptr(), &data, kWordBytes);
    return kWordBytes;
}

/// False if there is no answer.
bool CsbMaster::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay)
{
    const RequestQueue::Passage passage = queue_.offer(std::max(clock_.edge_after(delay), free_from_));
    free_from_ = passage.accepted + 1;

    // Windows without a unit: writes vanish, reads are 0.
    const std::uint64_t address = payload.get_address();
    const bool write = payload.is_write();
    Port* port = find(address);
    const bool unit = port && port->window.link;
    std::uint32_t data = 0;
    if (write) std::memcpy(&data, payload.get_data_ptr(), kWordBytes);
    if (unit) {
        const Cycle decode = passage.pushed + facts::csb::kPushToDecode + port->window.retiming;
        port->window.link->request.put(decode, {static_cast<std::uint32_t>(address % kWindowBytes), data, write});
    }
    Cycle done = passage.accepted;
    if (!write) {
        done = passage.pushed + (port ? facts::csb::kPushToGec : facts::csb::kPushToUnmapped);
        if (unit) {
            const sc_core::sc_time called = sc_core::sc_time_stamp() + delay;
            const std::optional<Answer> answer = await_answer(*port);
            const sc_core::sc_time now = sc_core::sc_time_stamp();
            delay = called > now ? called - now : sc_core::SC_ZERO_TIME;  // a caller's time does not go back
            if (!answer) return false;
            data = answer->data;
            done = answer->at + facts::csb::kResponseToPort + port->window.retiming;
        }
        std::memcpy(payload.get_data_ptr(), &data, kWordBytes);
    }
    if (on_access) on_access(done, static_cast<std::uint32_t>(address), data, write);
    delay = clock_.until(done);
    return true;
}

/// The data of the read that was asked last, and the cycle in which its unit gave them; nothing if the machine fails or is reset.
/// Whoever comes first takes the data of all: a caller may be suspended when his come.
std::optional<CsbMaster::Answer> CsbMaster::await_answer(Port& port)
{
    const unsigned life = life_;
    Reads& reads = *port.reads;
    Pulse<std::uint32_t>& response = port.window.link->response;
    const std::uint64_t ticket = reads.asked++;
    // A caller whose process is reset or killed leaves wait() by an exception; its data come all the same.
    struct Place {
        CsbMaster& bus;
        Reads& reads;
        std::uint64_t ticket;
        unsigned life;
        bool answered = false;
        ~Place()
        {
            if (!answered && life == bus.life_ && reads.early.erase(ticket) == 0) reads.abandoned.insert(ticket);
        }
    } place{*this, reads, ticket, life};
    std::optional<Answer> mine;
    for (;;) {
        if (failed() || life != life_) return std::nullopt;
        if (const auto early = reads.early.find(ticket); early != reads.early.end()) {
            mine = early->second;
            reads.early.erase(early);
        }
        for (bool others = false; response.available(clock_.now());) {
            const Cycle at = response.next();
            const Answer answer{response.take(), at};
            const std::uint64_t whose = reads.answered++;
            if (whose == ticket) mine = answer;
            else if (reads.abandoned.erase(whose) == 0) reads.early.emplace(whose, answer);
            if (whose != ticket && !std::exchange(others, true)) reads.changed.notify(sc_core::SC_ZERO_TIME);
        }
        if (mine) break;
        if (response.next() != kNever) wait(clock_.until(response.next()), reads.changed);
        else wait(reads.changed);
    }
    place.answered = true;
    return mine;
}

}  // namespace dlasim
