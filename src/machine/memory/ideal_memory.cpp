#include "memory/ideal_memory.h"

#include <algorithm>

#include "links/dbb_socket.h"
#include "links/guard.h"
#include "memory/payload.h"

namespace dlasim {

IdealMemory::IdealMemory(const sc_core::sc_module_name& name, Clock& clock, const MemorySpec& spec, MemoryStore& store)
    : sc_module(name),
      clock_(clock),
      spec_(spec),
      store_(store),
      read_latency_(clock.span(spec.read_latency)),
      write_latency_(clock.span(spec.write_latency))
{
    socket.bind(*this);
    SC_HAS_PROCESS(IdealMemory);
    SC_METHOD(respond);
    sensitive << response_due_;
    dont_initialize();
}

bool IdealMemory::perform(Payload& burst)
{
    burst.set_dmi_allowed(false);
    burst.set_response_status(refusal_of(burst));
    if (burst.is_response_error()) return false;
    move(store_, burst_of(burst), burst.get_address() + offset_);
    return true;
}

MemoryModel::Taken IdealMemory::offer(MemoryBurst& burst, Cycle from)
{
    burst.refused = burst.address + (burst.bytes - 1) < burst.address;
    if (!burst.refused) move(store_, burst, burst.address + offset_);
    return {from, from + (burst.write ? spec_.write_latency : spec_.read_latency)};
}

tlm::tlm_sync_enum IdealMemory::nb_transport_fw(Payload& burst, tlm::tlm_phase& phase, sc_core::sc_time& delay)
{
    if (phase == tlm::BEGIN_REQ) {
        if (!burst.has_mm()) {
            burst.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            if (failures) failures->report(basename(), kNoMemoryManager);
            else SC_REPORT_ERROR("/dlasim", kNoMemoryManager);
            return tlm::TLM_COMPLETED;
        }
        const bool done = perform(burst);
        if (!paced_ && done) return begin_request(burst, phase, delay);
        delay += burst.is_read() ? read_latency_ : write_latency_;
        return tlm::TLM_COMPLETED;
    }
    if (phase == tlm::END_RESP && responding_ == &burst) {
        end_response(delay);
        return tlm::TLM_COMPLETED;
    }
    return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum IdealMemory::begin_request(Payload& burst, tlm::tlm_phase& phase, sc_core::sc_time& delay)
{
    const Cycle asked = clock_.edge_after(delay);
    const bool read = burst.is_read();
    Cycle& next = read ? next_read_ : next_write_;
    const Cycle accepted = std::max(asked, next);
    next = accepted + spec_.command_interval;
    (read ? reads_ : writes_).push_back({&burst, accepted + (read ? spec_.read_latency : spec_.write_latency)});
    burst.acquire();
    schedule();
    delay = clock_.until(accepted);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

/// Sleeps until the cycle before the next response.
void IdealMemory::schedule()
{
    if (responding_ || (reads_.empty() && writes_.empty())) return;
    const Cycle at = std::max(next_response(), clock_.now() + 1);
    clock_.expect_activity();
    response_due_.notify(clock_.until(at - 1));
}

Cycle IdealMemory::next_response() const
{
    const Cycle read = reads_.empty() ? kNever : std::max(reads_.front().due, next_beat_);
    const Cycle write = writes_.empty() ? kNever : writes_.front().due;
    return std::min(read, write);
}

void IdealMemory::respond()
{
    if (failures && failures->any()) return;
    guard_kernel([this] { answer(); },
                 [this](const char* what) {
                     if (!failures) SC_REPORT_ERROR("/dlasim", what);
                     else failures->report(basename(), what);
                 });
}

void IdealMemory::answer()
{
    const Cycle due = next_response();
    if (responding_ || due == kNever) return;
    if (due > clock_.now() + 1) return schedule();
    const bool read = !reads_.empty() && due == std::max(reads_.front().due, next_beat_);
    Ring<Waiting>& queue = read ? reads_ : writes_;
    Payload& burst = *queue.front().burst;
    queue.pop_front();
    responding_ = &burst;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = clock_.until(std::max(due, clock_.now() + 1));
    const tlm::tlm_sync_enum answer = socket->nb_transport_bw(burst, phase, delay);
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) end_response(delay);
}

void IdealMemory::end_response(const sc_core::sc_time& delay)
{
    if (responding_->is_read()) next_beat_ = clock_.edge_after(delay) + spec_.beat_interval;
    responding_->release();
    responding_ = nullptr;
    schedule();
}

void IdealMemory::b_transport(Payload& burst, sc_core::sc_time& delay)
{
    perform(burst);
    delay += burst.is_read() ? read_latency_ : write_latency_;
}

unsigned IdealMemory::transport_dbg(Payload& burst)
{
    if (burst.get_command() == tlm::TLM_IGNORE_COMMAND) {
        if (PortPace* pace = burst.get_extension<PortPace>()) {
            pace->command_interval = spec_.command_interval;
            pace->write_interval = spec_.write_interval;
            pace->beat_interval = spec_.beat_interval;
            paced_ = true;
            if (pace->clock == &clock_) pace->model = this;
        }
        return 0;
    }
    return perform(burst) ? burst.get_data_length() : 0;
}

}  // namespace dlasim
