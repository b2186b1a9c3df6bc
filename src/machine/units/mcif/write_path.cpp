#include "units/mcif/write_path.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace dlasim::fabric {

namespace ff = facts::fabric;

WritePath::WritePath(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, const FabricMode& mode)
    : silicon_(ff::of(hardware)),
      splits_(silicon_.pairs && side == MemorySide::Primary),
      split_mask_(splits_ ? ~std::uint64_t{ff::kFullWordBytes - 1} : ~std::uint64_t{0}),
      port_(port)
{
    const PortHardware& memory = side == MemorySide::Primary ? hardware.memory.primary : hardware.memory.secondary;
    index_.fill(kNobody);
    clients_.reserve(kWriteClients);  // doorbells point at them
    for (std::uint8_t id = 0; id < kWriteClients; ++id) {
        if (!links.write[id]) continue;
        index_[id] = static_cast<std::uint8_t>(clients_.size());
        open_ |= 1u << clients_.size();
        clients_.emplace_back(hardware, ff::block_atoms(hardware, memory), id, *links.write[id], mode);
        contexts_.emplace_back(64);
    }
}

void WritePath::apply(const FabricSettings& settings)
{
    limit_ = settings.write_limit;
    weighted_ = 0;
    for (unsigned i = 0; i < clients_.size(); ++i) {
        weight_[i] = settings.write_weight[clients_[i].id()];
        if (weight_[i] != 0) weighted_ |= 1u << i;
    }
    changed_ = again_ = true;
}

void WritePath::connect_doorbells()
{
    belled_ = true;
    rung_ = 0;
    for (unsigned i = 0; i < clients_.size(); ++i) clients_[i].connect_doorbell(rung_, i);
}

/// From the port back to the clients: every stage sees the state of the next one at the start of the cycle.
[[gnu::flatten]] void WritePath::step(Cycle at)
{
    rest();
    now_ = at;
    const bool answered = port_.b.valid && port_.b.from <= at;
    std::uint32_t arrivals = (rung_ & open_) != 0 ? this->arrivals(at) : 0;
    if (transit_ends_ <= at) arrivals |= end_transits(at);
    if (!again_ && arrivals == 0 && !answered && !port_.aw.fires(at) && !port_.w.fires(at)) return;

    const Converted converted = convert();
    if (converted.beat || !aw_.quiet() || !w_.quiet()) serve_port(at, converted);
    const int pushed = converted.command ? clients_[command_.client].id() : ContextQueue::kNobody;
    if (pushed != ContextQueue::kNobody || answered || returned_ != 0 || b_valid_ || !b_pipe_.quiet() || !context_times_.still())
        accept_response(answered, match_response(at, pushed));

    const bool command_room = !command_valid_ || converted.command, data_room = !data_valid_ || converted.beat;
    if (converted.command) command_valid_ = false;
    if (converted.beat) data_valid_ = false;
    bool room = command_room && data_room, more_room = data_room;  // for a chunk, for another beat of one
    if (silicon_.pairs) {
        const bool splitter_full = split_beats_.size() > ff::kWriteSplitterBusy;
        split(command_room, data_room);
        room = !splitting_ && !splitter_full;
        more_room = true;
    }
    const std::uint8_t granted = arbitrate(room, more_room);
    if (granted != kNobody) move(granted);
    step_clients(at, arrivals | (granted != kNobody ? 1u << granted : 0));
    again_ = changed_ && goes_on();
}

/// Something can move without further input.
bool WritePath::goes_on() const
{
    return ((complete_ & weighted_) | active_) != 0 || locked_ != kNobody || splitting_ || !split_beats_.empty() || command_valid_ ||
           data_valid_ || !aw_.quiet() || !w_.quiet() || !responses_empty() || !b_pipe_.quiet() || returned_ != 0 ||
           !context_times_.still();
}

/// The clients whose data are through their first stages.
std::uint32_t WritePath::end_transits(Cycle at)
{
    std::uint32_t ended = 0;
    transit_ends_ = kNever;
    for (std::uint32_t left = transit_; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        const Cycle from = clients_[i].data_from(at);
        if (from == kNever) ended |= 1u << i;
        else transit_ends_ = std::min(transit_ends_, from);
    }
    transit_ &= ~ended;
    return ended;
}

/// Only commands: they wait in the clients, for data.
bool WritePath::waits_for_data(Cycle at) const
{
    if (holding_ == 0 || splitting_ || !split_beats_.empty() || !converter_empty() || !responses_empty()) return false;
    for (const WriteClient& client : clients_)
        if (!client.waits_for_data(at)) return false;
    return true;
}

// ---- (3)

/// A beat, with its command if it is the first of one.
WritePath::Converted WritePath::convert()
{
    if (!data_valid_ || !w_.ready()) return {};
    if (data_.first) {
        if (burst_logs_ && command_valid_ && outstanding_ + command_.beats - returned_ > limit_)
            burst_logs_->writes[commands_].limited = true;
        if (!command_valid_ || !may_send(command_)) return {};
        outstanding_ += command_.beats;
        contexts_[command_.client].push_back({command_.beats, command_.ack});
        ++commands_;
    }
    ++beats_;
    return {true, data_.first};
}

bool WritePath::may_send(const Command& command) const
{
    return aw_.ready() && !context_times_.full() && outstanding_ + command.beats - returned_ <= limit_;
}

void WritePath::serve_port(Cycle at, Converted converted)
{
    const bool aw_fires = port_.aw.fires(at), w_fires = port_.w.fires(at);
    if (aw_fires) port_.aw.valid = false;
    if (w_fires) port_.w.valid = false;
    moved_ |= aw_fires || w_fires;
    changed_ |= aw_.step(converted.command ? &command_ : nullptr, aw_fires, silicon_.stages_stall);
    changed_ |= w_.step(converted.beat ? &data_ : nullptr, w_fires, silicon_.stages_stall);
    if (aw_.valid() && !port_.aw.valid) offer_command(at + 1);
    if (w_.valid() && !port_.w.valid) offer_data(at + 1);
}

void WritePath::offer_command(Cycle from)
{
    const Command& command = aw_.head();
    port_.aw = {{command.address, command.beats, clients_[command.client].id(), 0, 0, command.ack}, true, false, from, kNever};
}

void WritePath::offer_data(Cycle from)
{
    const Beat& beat = w_.head();
    WriteClient& client = clients_[beat.client];
    PortOffer<PortWriteBeat>& w = port_.w;
    w.item.id = client.id();
    w.item.atoms = beat.strobes;
    w.item.last = beat.last;
    client.take_atoms(beat.strobes, w.item.data.data());
    w.valid = true;
    w.seen = false;
    w.from = from;
    w.accept = kNever;
}

// ---- (4)

/// True if the response in the register finds its context; `pushed`: the client a context of which is pushed in this cycle.
bool WritePath::match_response(Cycle at, int pushed)
{
    outstanding_ -= returned_;
    changed_ |= returned_ != 0;
    returned_ = 0;
    bool matched = false;
    std::uint32_t wanted = 0;
    if (!responses_empty()) {
        const std::uint8_t id = silicon_.pairs ? b_id_ : b_pipe_.head();
        wanted = 1u << id;
        matched = context_times_.available(id, pushed);
        if (matched) {
            Ring<Context>& contexts = contexts_[index_[id]];
            returned_ = contexts.front().beats;
            if (contexts.front().ack) clients_[index_[id]].complete(at + ff::kCompleteLatency);
            contexts.pop_front();
            changed_ = true;
        }
    }
    if (pushed != ContextQueue::kNobody || wanted != 0 || !context_times_.still()) changed_ |= context_times_.step(pushed, wanted);
    return matched;
}

/// The register in front of that, `matched`: its response leaves.
void WritePath::accept_response(bool answered, bool matched)
{
    const std::uint8_t id = port_.b.id;
    if (answered && (id >= index_.size() || index_[id] == kNobody))
        throw MachineError("memory port: a write response for a client that wrote nothing");
    bool taken;
    if (silicon_.pairs) {
        taken = answered && (!b_valid_ || matched);
        b_valid_ = taken || (b_valid_ && !matched);
        if (taken) b_id_ = id;
        changed_ |= taken;
    } else {
        taken = answered && b_pipe_.ready();
        changed_ |= b_pipe_.step(answered ? &id : nullptr, matched, silicon_.stages_stall);
    }
    if (!taken) return;
    port_.b.taken = true;
    moved_ = true;
}

// ---- (1), (2)

/// The client one beat of which moves in this cycle. `room`: for a chunk, `more_room`: for another beat of one.
std::uint8_t WritePath::arbitrate(bool room, bool more_room) const
{
    if (locked_ != kNobody) return more_room && clients_[locked_].has_beat() ? locked_ : kNobody;
    const std::uint32_t requests = complete_ & weighted_;
    return room && requests != 0 ? static_cast<std::uint8_t>(arbiter_.pick(requests)) : kNobody;
}

void WritePath::move(unsigned index)
{
    WriteClient& client = clients_[index];
    const WriteChunk chunk = client.chunk();
    const bool first = locked_ == kNobody;
    if (first) {
        arbiter_.grant(index, weight_[index]);
        locked_beats_ = chunk.beats;
        moving_ = noted_chunk(index);
    }
    const bool last = --locked_beats_ == 0;
    locked_ = last ? kNobody : static_cast<std::uint8_t>(index);
    const Beat beat{static_cast<std::uint8_t>(index), client.take_beat(last), first, last};
    const Command command{chunk.address & split_mask_, static_cast<std::uint8_t>(index), chunk.beats, chunk.ack};
    changed_ = true;
    if (silicon_.pairs) {
        split_beats_.push_back(beat);
        if (!first) return;
        split_ = command;
        splitting_ = true;
    } else {
        if (first) to_converter(command);
        to_converter(beat);
    }
}

/// MCIF gives every beat of the chunk a command of its own. In CVIF command and beats are two streams that know nothing of
/// each other.
void WritePath::split(bool command_room, bool data_room)
{
    if (!splits_ && splitting_ && command_room) {
        to_converter(split_);
        splitting_ = false;
    }
    if (split_beats_.empty() || !data_room) return;
    Beat beat = split_beats_.front();
    if (splits_) {
        if (!command_room) return;
        beat.first = beat.last = true;
        --split_.beats;
        splitting_ = split_.beats != 0;
        to_converter(Command{split_.address, split_.client, 1, split_.ack && !splitting_});
        split_.address += ff::kFullWordBytes;
    }
    split_beats_.pop_front();
    to_converter(beat);
}

PendingChunk WritePath::noted_chunk(unsigned index) const
{
    const Cycle complete = complete_from_[index];
    return {complete - std::min<Cycle>(complete, ff::kWriteDataLatency), complete, {clients_[index].id(), 0, false, false, false, 0, 0, 0}};
}

void WritePath::note_pending() const
{
    if (!burst_logs_) return;
    if (splitting_) burst_logs_->writes.add_pending(moving_);
    for (unsigned i = 0; i < clients_.size(); ++i)
        if (complete_ >> i & 1) burst_logs_->writes.add_pending(noted_chunk(i));
}

void WritePath::to_converter(const Command& command)
{
    command_ = command;
    command_valid_ = changed_ = true;
    if (!burst_logs_) return;
    burst_logs_->writes.grant(moving_, now_, command.beats);
}

void WritePath::to_converter(const Beat& beat)
{
    data_ = beat;
    data_valid_ = changed_ = true;
}

// ---- clients

/// Those that a packet enters in this cycle.
std::uint32_t WritePath::arrivals(Cycle at)
{
    std::uint32_t arriving = 0;
    for (std::uint32_t left = rung_ & open_; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        if (clients_[i].arrives(at)) arriving |= 1u << i;
        else if (belled_ && !clients_[i].offered()) rung_ &= ~(1u << i);
    }
    return arriving;
}

/// Steps those in which something can change: active ones and those that are `with_input`.
void WritePath::step_clients(Cycle at, std::uint32_t with_input)
{
    std::uint32_t active = 0;
    if ((active_ | with_input) == 0) return;
    for (std::uint32_t left = active_ | with_input; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        const WriteClient::Stepped stepped = clients_[i].step(at);
        if (stepped.changed) active |= 1u << i;
        moved_ |= stepped.entered;
        if (const Cycle from = stepped.entered ? clients_[i].data_from(at) : kNever; from != kNever) {
            transit_ |= 1u << i;
            transit_ends_ = std::min(transit_ends_, from);
            last_transit_ends_ = from;
        }
        note(i, at);
    }
    active_ = active;
    changed_ |= active != 0;
}

/// What a cycle looks at of a client.
void WritePath::note(unsigned index, Cycle at)
{
    const WriteClient& client = clients_[index];
    if (client.competes() && !(complete_ >> index & 1)) complete_from_[index] = at;
    const auto set = [index](std::uint32_t& mask, bool on) { mask = (mask & ~(1u << index)) | std::uint32_t{on} << index; };
    set(complete_, client.competes());
    set(holding_, !client.empty());
    set(open_, client.open());
}

}  // namespace dlasim::fabric
