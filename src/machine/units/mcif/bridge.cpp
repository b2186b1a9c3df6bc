#include "units/mcif/bridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <tuple>
#include <typeinfo>

#include "base/error.h"

namespace dlasim {

using tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND;

Bridge::Bridge(const Hardware& hardware, MemorySide side, Clock& clock, DbbPort& port, Sleeper& process,
               tlm::tlm_initiator_socket<512>& socket, bool stepping, bool values)
    : clock_(clock),
      port_(port),
      process_(process),
      socket_(socket),
      beat_bytes_(side == MemorySide::Primary ? hardware.memory.primary.width_bytes : hardware.memory.secondary.width_bytes),
      atom_bytes_(hardware.memory.atom_bytes),
      whole_beat_((1u << beat_bytes_ / atom_bytes_) - 1),
      stepping_(stepping),
      values_(values)
{
}

/// Bursts that a memory still holds when their port has gone. It goes with the last of them, not before: memories may go at any time.
struct Bridge::ReleasedBursts final : tlm::tlm_mm_interface {
    static void keep(std::unique_ptr<Burst> burst)
    {
        static auto& kept = *new ReleasedBursts;
        burst->payload.set_mm(&kept);
        kept.all.push_back(std::move(burst));
    }
    void free(Payload* payload) override
    {
        payload->reset();
        all.erase(std::find_if(all.begin(), all.end(), [payload](const auto& burst) { return &burst->payload == payload; }));
    }
    std::vector<std::unique_ptr<Burst>> all;
};

Bridge::~Bridge()
{
    for (auto& burst : pool_.all) {
        if (burst->ours) give_back(burst.get());
        if (burst->payload.get_ref_count() != 0) ReleasedBursts::keep(std::move(burst));
    }
}

void Bridge::start()
{
    struct Question {  // a memory may throw
        explicit Question(PortPace& p) : pace(p) { payload.set_extension(&pace); }
        ~Question() { payload.clear_extension(&pace); }
        Payload payload;
        PortPace& pace;
    } question(pace_);
    question.payload.set_command(tlm::TLM_IGNORE_COMMAND);
    pace_.clock = stepping_ ? nullptr : &clock_;
    pace_.client = this;
    socket_->transport_dbg(question.payload);
    model_ = pace_.model;
    note_pace();
}

void Bridge::follow(BurstLogs* burst_logs)
{
    burst_logs_ = burst_logs;
    note_pace();
}

void Bridge::note_pace()
{
    if (!burst_logs_) return;
    burst_logs_->beat_interval = pace_.beat_interval;
    burst_logs_->command_interval = pace_.command_interval;
    burst_logs_->write_interval = pace_.write_interval;
    burst_logs_->reads.explained = burst_logs_->writes.explained = pace_.explains;
}

void Bridge::renew()
{
    free_at_ = std::max(free_at_, clock_.at(free_from_));
    held_ = true;
    for (const auto& burst : pool_.all) {
        if (!burst->ours) continue;
        if (!burst->sent) give_back(burst.get());
        else burst->dropped = true;
    }
    write_commands_.clear();
    early_data_.clear();
    complete_writes_.clear();
    turns_ = decltype(turns_)();
    reads_.clear();
    responses_.clear();
    next_read_command_ = next_write_command_ = next_write_beat_ = next_read_beat_ = next_response_ = 0;
    fault_.clear();
    log_ = TrafficLog();
}

std::string Bridge::oldest() const
{
    const Burst* oldest = nullptr;
    for (const auto& burst : pool_.all)
        if (burst->ours && burst->sent && !burst->answered && (!oldest || burst->asked < oldest->asked)) oldest = burst.get();
    if (!oldest) return "";
    return fmt::format("the memory has not answered the {} of {} bytes at {:#x} for {} since cycle {}", oldest->write ? "write" : "read",
                       oldest->bytes, oldest->address, kClientNames[oldest->tag.id % kClients], oldest->asked);
}

void Bridge::end_dropped()
{
    std::exception_ptr first;
    for (const auto& burst : pool_.all) {
        if (!burst->ours || !burst->answered) continue;
        try {
            end_response(burst.get(), burst->from);
        } catch (...) {  // of the memory: the other bursts are ended all the same
            if (!first) first = std::current_exception();
            give_back(burst.get());
        }
    }
    if (first) std::rethrow_exception(first);
}

void Bridge::restart()
{
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    free_from_ = free_at_ > now ? clock_.edge_after(free_at_ - now) : 0;
    held_ = false;
}

[[gnu::flatten]] void Bridge::advance(Cycle now)
{
    advancing_ = true;
    if (port_.r.taken) take_read_beat(now);
    if (port_.b.taken) take_response(now);
    if (port_.ar.valid && !port_.ar.seen && may_request(now)) offer_read(now);
    if (!complete_writes_.empty()) send_writes(now);
    if (port_.aw.valid && !port_.aw.seen && complete_writes_.size() < kWaitingWrites) offer_write(now);
    if (port_.w.valid && !port_.w.seen) offer_write_data(now);
    if (!complete_writes_.empty()) send_writes(now);
    advancing_ = false;
    if (!fault_.empty()) throw MachineError(fault_);
}

void Bridge::fail_unexpected(const std::string& answer, const Payload& payload)
{
    fail(fmt::format("{} for a burst at {:#x} that does not expect it", answer, payload.get_address()));
}

/// The process that advances the port throws it: not the memory that happens to call.
void Bridge::fail(const std::string& what)
{
    if (fault_.empty()) fault_ = "memory port: " + what;
    process_.wake_at(clock_.now() + 1);
}

// ---- commands

void Bridge::offer_read(Cycle now)
{
    port_.ar.seen = true;
    send(make(false, port_.ar.item), std::max(now + 1, next_read_command_));
}

void Bridge::offer_write(Cycle now)
{
    PortOffer<PortCommand>& aw = port_.aw;
    aw.seen = true;
    aw.accept = std::max(now + 1, next_write_command_);
    next_write_command_ = aw.accept + pace_.command_interval;
    log_.write_command({aw.accept, aw.item.address, aw.item.beats, aw.item.id});
    Burst* burst = make(true, aw.item);
    burst->from = aw.accept;
    write_commands_.push_back(burst);
    while (!early_data_.empty() && !write_commands_.empty()) {
        fill(write_commands_.front(), early_data_.front().beat, early_data_.front().at);
        early_data_.pop_front();
    }
}

void Bridge::offer_write_data(Cycle now)
{
    PortOffer<PortWriteBeat>& w = port_.w;
    w.seen = true;
    w.accept = std::max(now + 1, next_write_beat_);
    next_write_beat_ = w.accept + pace_.write_interval;
    log_.write_beat(w.accept, w.item.id, static_cast<std::uint32_t>(std::popcount(w.item.atoms)) * atom_bytes_);
    if (write_commands_.empty()) early_data_.push_back({w.item, w.accept});
    else fill(write_commands_.front(), w.item, w.accept);
}

void Bridge::fill(Burst* burst, const PortWriteBeat& beat, Cycle at)
{
    const std::size_t start = std::size_t{burst->filled} * beat_bytes_;
    std::memcpy(&burst->data_bytes[start], beat.data.data(), beat_bytes_);
    const bool whole = beat.atoms == whole_beat_;
    std::memset(&burst->enable_each[start], whole ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED, beat_bytes_);
    for (unsigned i = 0; !whole && beat.atoms >> i != 0; ++i)
        if (beat.atoms >> i & 1) std::memset(&burst->enable_each[start + i * atom_bytes_], TLM_BYTE_ENABLED, atom_bytes_);
    burst->all_enabled &= whole;
    burst->from = std::max(burst->from, at);
    if (++burst->filled != burst->beats) return;
    if (!burst->all_enabled) burst->enables = burst->enable_each.data();
    write_commands_.pop_front();
    if (burst_logs_) burst_logs_->writes.accept(*burst->record, burst->number, burst->from, 0);
    complete_writes_.push_back(burst);
}

void Bridge::send_writes(Cycle now)
{
    while (!complete_writes_.empty() && may_request(now)) {
        Burst* burst = complete_writes_.front();
        complete_writes_.pop_front();
        send(burst, std::max(burst->from, now + 1));
    }
}

/// To the memory in cycle `from`, and whatever it answers at once.
void Bridge::send(Burst* burst, Cycle from)
{
    if (watch_) notify_watch(*burst, from);
    burst->sent = true;
    burst->asked = from;
    if (!in_order(*burst)) turn_of(*burst).waiting.push_back(burst);
    requesting_ = burst;  // a memory may answer from inside the call
    if (!model_) return send_payload(burst, from);
    const MemoryModel::Taken taken = model_->offer(*burst, from);
    if (taken.accepted == kNever) return;
    request_ends(burst, taken.accepted);
    if (taken.answered == kNever) return;
    burst->completed = true;
    respond(burst, taken.answered);
}

void Bridge::accepted(MemoryBurst& burst, Cycle at)
{
    request_ends(static_cast<Burst*>(&burst), at);
    process_.wake_at(at);
}

[[gnu::flatten]] void Bridge::answered(MemoryBurst& burst, Cycle from)
{
    respond(static_cast<Burst*>(&burst), from);
    if (!advancing_) process_.wake_at(from);
}

/// The memory has taken the command, perhaps later than it could have.
void Bridge::request_ends(Burst* burst, Cycle at)
{
    command_accepted(burst, at);
    if (at <= burst->asked) return;
    free_from_ = at;
    process_.wake_at(at);
}

void Bridge::send_payload(Burst* burst, Cycle from)
{
    load_payload(burst);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = clock_.until(from);
    tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
    try {
        answer = socket_->nb_transport_fw(burst->payload, phase, delay);
    } catch (...) {
        if (requesting_ == burst) requesting_ = nullptr;  // it was not asked, and owes no END_REQ
        throw;
    }
    if (answer != tlm::TLM_COMPLETED) clock_.expect_activity();  // a memory that keeps it may have something to do
    switch (answer) {
        case tlm::TLM_ACCEPTED:
            break;
        case tlm::TLM_UPDATED:
            if (phase == tlm::END_REQ && requesting_ == burst) {
                request_ends(burst, cycle_at(delay, from));
            } else if (phase == tlm::BEGIN_RESP && !burst->answered) {
                if (requesting_ == burst) command_accepted(burst, from);
                if (!respond(burst, cycle_at(delay, from + 1))) end_early(burst);
            } else if (phase <= tlm::END_RESP) {
                if (requesting_ == burst) requesting_ = nullptr;
                fail_unexpected(phase.get_name(), burst->payload);
            }
            break;
        case tlm::TLM_COMPLETED:
            if (!burst->answered) {
                burst->completed = true;
                if (requesting_ == burst) command_accepted(burst, from);
                respond(burst, cycle_at(delay, from));
            } else if (!burst->completed) {
                fail_unexpected("TLM_COMPLETED", burst->payload);
            }
            break;
    }
}

void Bridge::notify_watch(const Burst& burst, Cycle at) const
{
    const Address first{burst.address};
    const PortCommand& command = burst.command;
    if (!burst.write) return watch_->read(command.id, first + command.skipped * atom_bytes_, command.atoms * atom_bytes_, at);
    const std::uint32_t bytes = burst.beats * beat_bytes_;
    std::uint32_t begin = 0;
    for (std::uint32_t end = 0; !burst.all_enabled && end < bytes; end += atom_bytes_) {
        if (burst.enable_each[end] == TLM_BYTE_ENABLED) continue;
        if (begin != end) watch_->written(command.id, first + begin, end - begin, at);
        begin = end + atom_bytes_;
    }
    if (begin != bytes) watch_->written(command.id, first + begin, bytes - begin, at);
    if (command.last) watch_->ended(command.id);
}

void Bridge::command_accepted(Burst* burst, Cycle at)
{
    if (requesting_ == burst) requesting_ = nullptr;
    if (burst_logs_ && pace_.explains) {
        BurstWaits& waits = (burst->write ? burst_logs_->writes : burst_logs_->reads).waits(burst->number);
        waits.taken = burst->asked_for.taken;
        waits.accepted = at;
    }
    if (burst->write) return;
    port_.ar.accept = at;
    next_read_command_ = at + pace_.command_interval;
    if (burst_logs_) burst_logs_->reads.accept(*burst->record, burst->number, at, pace_.command_interval);
    log_.read_command({at, port_.ar.item.address, port_.ar.item.beats, port_.ar.item.id});
}

// ---- responses

void Bridge::fail_refused(Burst& burst)
{
    if (model_) burst.payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    fail(fmt::format("the memory answers {} to a {} of {} bytes at {:#x} for {}", burst.payload.get_response_string(),
                     burst.write ? "write" : "read", burst.bytes, burst.address, kClientNames[burst.tag.id % kClients]));
}

/// False for one whose turn has not come: it waits here.
bool Bridge::respond(Burst* burst, Cycle from)
{
    burst->answered = true;
    burst->from = from;
    if (model_ ? burst->refused : burst->payload.get_response_status() <= tlm::TLM_INCOMPLETE_RESPONSE) {
        fail_refused(*burst);
        return true;
    }
    if (in_order(*burst)) {
        arrive(burst);
    } else {
        Turn& turn = turn_of(*burst);
        if (turn.waiting.front() != burst) return false;
        for (; !turn.waiting.empty() && turn.waiting.front()->answered; turn.waiting.pop_front()) {
            Burst* next = turn.waiting.front();
            turn.last = next->from = std::max(turn.last, next->from);
            arrive(next);
        }
    }
    show();
    return true;
}

/// It is the turn of its answer.
void Bridge::arrive(Burst* burst)
{
    if (burst_logs_ && pace_.explains)
        (burst->write ? burst_logs_->writes : burst_logs_->reads).waits(burst->number).waited = burst->asked_for.waited;
    burst->filled = 0;
    insert(burst->write ? responses_ : reads_, {burst, burst->from});
}

/// END_RESP of a burst that waits for its turn: the memory may not begin another response before.
void Bridge::end_early(Burst* burst)
{
    burst->completed = true;
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = clock_.until(burst->from);
    socket_->nb_transport_fw(burst->payload, phase, delay);
}

Bridge::Turn& Bridge::turn_of(const Burst& burst) { return turns_[burst.write][burst.tag.id % kClients]; }

/// Keeps the order of cycles; a response that has begun stays in front.
void Bridge::insert(Ring<Due>& queue, Due due)
{
    queue.push_back(due);
    for (std::size_t i = queue.size() - 1; i != 0 && queue[i - 1].from > queue[i].from && queue[i - 1].burst->filled == 0; --i)
        std::swap(queue[i - 1], queue[i]);
}

/// Puts the next beat and the next response at the port.
void Bridge::show()
{
    if (!reads_.empty() && !port_.r.taken) {
        const Burst& burst = *reads_.front().burst;
        port_.r = {true, std::max(reads_.front().from, next_read_beat_), burst.tag.id,
                   burst.data_bytes.data() + std::size_t{burst.filled} * beat_bytes_, false};
        if (burst_logs_) __builtin_prefetch(burst.record, 1);
    }
    if (!responses_.empty() && !port_.b.taken)
        port_.b = {true, std::max(responses_.front().from, next_response_), responses_.front().burst->tag.id, false};
}

void Bridge::take_read_beat(Cycle now)
{
    Burst* burst = reads_.front().burst;
    port_.r.valid = port_.r.taken = false;
    next_read_beat_ = now + pace_.beat_interval;
    log_.read_beat(now, burst->tag.id, beat_bytes_);
    if (burst_logs_ && burst->filled == 0)
        burst_logs_->reads.answer(*burst->record, burst->number, due(*burst), now, burst_logs_->busy(false), BurstLogs::follows(false));
    if (++burst->filled == burst->beats) {
        if (burst_logs_) burst_logs_->reads.finish(*burst->record, now);
        reads_.pop_front();
        end_response(burst, now);
    }
    show();
}

void Bridge::take_response(Cycle now)
{
    Burst* burst = responses_.front().burst;
    port_.b.valid = port_.b.taken = false;
    next_response_ = now + 1;
    if (burst_logs_) {
        burst_logs_->writes.answer(*burst->record, burst->number, due(*burst), now, burst_logs_->busy(true), BurstLogs::follows(true));
        burst_logs_->writes.finish(*burst->record, now);
    }
    responses_.pop_front();
    end_response(burst, now);
    show();
}

void Bridge::end_response(Burst* burst, Cycle at)
{
    if (!burst->completed) {
        burst->completed = true;  // END_RESP is sent once, even to a memory that throws
        if (model_) {
            model_->end(*burst, at);
            return give_back(burst);
        }
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay = clock_.until(at);
        socket_->nb_transport_fw(burst->payload, phase, delay);
        clock_.expect_activity();
    }
    give_back(burst);
}

void Bridge::give_back(Burst* burst)
{
    burst->ours = false;
    if (model_ || !burst->sent) pool_.idle.push_back(burst);
    else burst->payload.release();
}

/// An answer to a burst from before a reset.
tlm::tlm_sync_enum Bridge::take_dropped(Burst* burst, const tlm::tlm_phase& phase, const sc_core::sc_time& delay)
{
    if (requesting_ == burst) {
        requesting_ = nullptr;
        free_at_ = sc_core::sc_time_stamp() + delay;
        free_from_ = std::max(clock_.edge_after(delay), clock_.now() + 1);
        if (!held_) process_.wake_at(free_from_);
    }
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    burst->answered = true;
    give_back(burst);
    return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum Bridge::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay)
{
    Burst* burst = burst_of(payload);
    if (!burst) {
        fail("an answer to a transaction that this port did not send");
        return tlm::TLM_ACCEPTED;
    }
    // whoever calls may do so between two clock edges
    const Cycle at = std::max(clock_.edge_after(delay), clock_.now() + 1);
    const bool expected = phase == tlm::END_REQ      ? requesting_ == burst
                          : phase == tlm::BEGIN_RESP ? !burst->answered
                                                     : phase > tlm::END_RESP;  // an extended one
    if (!expected || payload.get_ref_count() == 0) {
        fail_unexpected(phase.get_name(), payload);
        return tlm::TLM_ACCEPTED;
    }
    if (burst->dropped) return phase == tlm::END_REQ || phase == tlm::BEGIN_RESP ? take_dropped(burst, phase, delay) : tlm::TLM_ACCEPTED;
    if (requesting_ == burst && (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP)) free_from_ = at;
    if (phase == tlm::END_REQ) {
        command_accepted(burst, at);
    } else if (phase == tlm::BEGIN_RESP) {
        if (requesting_ == burst) command_accepted(burst, at);
        if (!respond(burst, at)) {
            process_.wake_at(at);  // its command has been taken, perhaps
            burst->completed = true;
            return tlm::TLM_COMPLETED;
        }
    } else {
        return tlm::TLM_ACCEPTED;  // a phase this port does not know
    }
    process_.wake_at(at);
    return tlm::TLM_ACCEPTED;
}

Cycle Bridge::cycle_at(const sc_core::sc_time& delay, Cycle earliest) const { return std::max(clock_.edge_after(delay), earliest); }

// ---- payloads

/// Null for a payload that is not of this port.
Bridge::Burst* Bridge::burst_of(Payload& payload) const
{
    if (typeid(payload) != typeid(BurstPayload)) return nullptr;  // of somebody else
    const auto& ours = static_cast<const BurstPayload&>(payload);
    return ours.owner == this ? ours.burst : nullptr;
}

Bridge::Burst* Bridge::make(bool write, const PortCommand& from)
{
    if (pool_.idle.empty()) {
        Burst* fresh = pool_.all.emplace_back(std::make_unique<Burst>(*this)).get();
        fresh->payload.set_mm(&pool_);
        pool_.idle.push_back(fresh);
    }
    Burst* burst = pool_.idle.back();
    pool_.idle.pop_back();
    const std::uint32_t bytes = from.beats * beat_bytes_;
    if (burst->data_bytes.size() < bytes) {
        burst->data_bytes.resize(bytes);
        burst->enable_each.resize(bytes);
    }
    static_cast<MemoryBurst&>(*burst) = {
        burst_address(from), model_ && !values_ ? nullptr : burst->data_bytes.data(), nullptr, bytes, bytes, beat_bytes_, write};
    burst->command = from;
    if (burst_logs_) {
        std::tie(burst->number, burst->record) =
            (write ? burst_logs_->writes : burst_logs_->reads).offer(write ? port_.aw.from : port_.ar.from);
        if (pace_.explains) burst->waits = &(static_cast<MemoryWaits&>(burst->asked_for) = MemoryWaits());
    }
    burst->tag.id = from.id;
    burst->tag.beat_bytes = beat_bytes_;
    burst->beats = from.beats;
    burst->filled = 0;
    burst->ours = true;
    burst->sent = burst->dropped = burst->completed = burst->answered = false;
    burst->all_enabled = true;
    return burst;
}

void Bridge::load_payload(Burst* burst)
{
    burst->put_extensions(&burst->tag, burst->waits ? &burst->asked_for : nullptr);
    Payload& payload = burst->payload;
    payload.acquire();
    payload.set_command(burst->write ? TLM_WRITE_COMMAND : TLM_READ_COMMAND);
    payload.set_address(burst->address);
    payload.set_data_ptr(burst->data);
    payload.set_data_length(burst->bytes);
    payload.set_streaming_width(burst->bytes);
    payload.set_byte_enable_ptr(burst->enables ? burst->enable_each.data() : nullptr);
    payload.set_byte_enable_length(burst->enables ? burst->bytes : 0);
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void Bridge::Pool::free(Payload* payload)
{
    payload->reset();  // extensions that somebody on the way has left to us
    idle.push_back(static_cast<BurstPayload*>(payload)->burst);
}

}  // namespace dlasim
