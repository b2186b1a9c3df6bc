#include "units/mcif/write_client.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/expects.h"
#include "units/mcif/copy.h"

namespace dlasim::fabric {

WriteClient::WriteClient(const Hardware& hardware, std::uint32_t block, std::uint8_t id, WriteLink& link, const FabricMode& mode)
    : silicon_(facts::fabric::of(hardware)),
      atom_bytes_(hardware.memory.atom_bytes),
      atom_shift_(static_cast<std::uint32_t>(std::countr_zero(atom_bytes_))),
      block_(block),
      address_mask_(address_mask(hardware)),
      values_(mode.values),
      direct_(mode.direct),
      id_(id),
      link_(&link),
      atoms_(kAtoms * atom_bytes_)
{
}

void WriteClient::connect_doorbell(std::uint32_t& rung, unsigned index)
{
    bell_.hang(link_->request.consumer, rung, index);
    link_->request.consumer = &bell_;
    if (offered()) rung |= 1u << index;
}

std::uint8_t WriteClient::take_beat(bool last)
{
    taken_ = {true, last};
    const std::uint8_t strobes = fifo_[fifo_head_];
    fifo_head_ = static_cast<std::uint8_t>((fifo_head_ + 1) % fifo_.size());
    --fifo_count_;
    return strobes;
}

void WriteClient::take_atoms(std::uint8_t strobes, std::uint8_t* beat)
{
    for (unsigned i = 0; strobes >> i != 0; ++i) {
        if (!(strobes >> i & 1)) continue;
        if (values_) copy_bytes(beat + i * atom_bytes_, &atoms_[got_ % kAtoms * atom_bytes_], atom_bytes_);
        ++got_;
    }
}

bool WriteClient::waits_for_data(Cycle at) const
{
    // Without data a request ahead keeps what follows it waiting, whether that is a command or not.
    return !has_beat() && (no_data() || data_from(at + 1) != kNever) && (!first_.valid() || !second_.valid() || phase_ != Phase::Idle);
}

/// From the arbiter back to the channel: every stage sees the state of the next one at the start of the cycle.
WriteClient::Stepped WriteClient::step(Cycle at)
{
    const Taken taken = std::exchange(taken_, {});
    bool changed = taken.beat && phase_ != Phase::Idle, entered = false;
    const bool fifo_room = fifo_count_ + unsigned{taken.beat} < facts::fabric::kWriteDataFifo;
    Beat beat;
    if (phase_ == Phase::Data && fifo_room) beat = next_beat(at);
    const bool chunk = phase_ == Phase::Command && slot_room(taken.last);
    if (chunk) emit_chunk();
    if (beat.there) emit_beat(beat);
    changed |= turn_slot(chunk, taken.last) || chunk || beat.there;

    const Packet* packet = second_.valid() ? &second_.head() : nullptr;
    bool leaves = packet && packet->command && load(*packet);
    changed |= step_data(at, packet && !packet->command ? packet->atoms : 0, beat, leaves);
    const bool room = second_.ready();
    changed |= second_.step(elements::offer(first_), leaves, silicon_.stages_stall);
    changed |= receive(at, room, entered);
    return {changed, entered};
}

// ---- (1), (3)

/// CMD: the chunk is in slot_chunk_, its beats are next.
void WriteClient::emit_chunk()
{
    const auto atom = static_cast<std::uint32_t>(address_ >> atom_shift_);
    const std::uint32_t atoms = std::min(left_, block_ - atom % block_);
    odd_start_ = atom & 1;
    first_beat_ = true;
    atoms_left_ = static_cast<std::uint8_t>(atoms);
    beats_left_ = static_cast<std::uint8_t>(silicon_.pairs ? (odd_start_ + atoms + 1) / 2 : atoms);
    emitted_ = {address_ & address_mask_, atoms_left_, beats_left_, ack_ && atoms == left_};
    address_ += std::uint64_t{atoms} << atom_shift_;
    left_ -= atoms;
    phase_ = Phase::Data;
}

bool WriteClient::turn_slot(bool emits, bool freed)
{
    if (silicon_.pairs) return (emits || freed) && slot_.step(emits ? &emitted_ : nullptr, freed, false);
    if (freed) slot_full_ = false;
    if (emits) {
        slot_chunk_ = emitted_;
        slot_full_ = true;
    }
    return false;
}

/// DATA: the next memory beat of the chunk.
WriteClient::Beat WriteClient::next_beat(Cycle at) const
{
    if (!silicon_.pairs) return {data_.valid() && data_from_ <= at, 1, 1, 0};
    const unsigned lane = lane_;
    const bool upper = first_beat_ && odd_start_;
    if (upper || atoms_left_ == 1)
        return {lanes_[lane].valid(), 1, static_cast<std::uint8_t>(upper ? 2 : 1), static_cast<std::uint8_t>(1u << lane)};
    // a lane's read ready depends on the other one only
    const bool here = lanes_[lane].valid(), there = lanes_[1 - lane].valid();
    return {here && there, 2, 3, static_cast<std::uint8_t>(there << lane | here << (1 - lane))};
}

void WriteClient::emit_beat(const Beat& beat)
{
    fifo_[(fifo_head_ + fifo_count_++) % fifo_.size()] = beat.strobes;
    lane_ = (lane_ + beat.atoms) & 1;
    atoms_left_ = static_cast<std::uint8_t>(atoms_left_ - beat.atoms);
    first_beat_ = false;
    if (--beats_left_ == 0) phase_ = left_ != 0 ? Phase::Command : Phase::Idle;
}

/// True if the register takes the command: it is free, or becomes so with the last beat of the request.
bool WriteClient::load(const Packet& command)
{
    if (phase_ != Phase::Idle) return false;
    phase_ = Phase::Command;
    ++requests_;
    address_ = command.address;
    left_ = command.atoms;
    ack_ = command.ack;
    lane_ = 0;
    return true;
}

// ---- (2)

/// `atoms` of a data packet are offered, 0: none; `leaves` becomes true if they are taken.
bool WriteClient::step_data(Cycle at, std::uint32_t atoms, const Beat& beat, bool& leaves)
{
    if (!silicon_.pairs) {
        if (data_from_ > at) return false;
        const bool taken = atoms != 0 && data_.ready();
        leaves |= taken;
        return data_.step(taken, beat.there, silicon_.stages_stall);
    }
    const bool ready[2]{lanes_[0].ready(), lanes_[1].ready()};
    leaves |= atoms != 0 && ready[0] && ready[1];
    bool changed = false;
    for (unsigned i = 0; i < 2; ++i) changed |= lanes_[i].step(atoms > i && ready[1 - i], beat.reads >> i & 1);
    return changed;
}

/// The first stage and the channel. `room`: the second one accepts its content.
bool WriteClient::receive(Cycle at, bool room, bool& entered)
{
    Channel<WritePacket>& request = link_->request;
    const bool offered = request.valid(at), ready = first_.ready();
    entered = offered && ready;
    if (entered) {
        const WritePacket& packet = request.item(at);
        DLASIM_EXPECTS(packet.atoms != 0);
        if (!packet.command) keep_atoms(packet);
        if (!packet.command && straight()) {  // the path to (2) is free
            data_.step(true, false, silicon_.stages_stall);
            data_from_ = at + facts::fabric::kWriteDataLatency;
            return false;
        }
        first_.incoming() = {packet.address.byte(), packet.atoms, packet.command, packet.require_ack};
    }
    const bool changed = first_.step(offered, room, silicon_.stages_stall);
    if (first_.ready() != ready) request.set_ready(at + 1, !ready);
    return changed;
}

void WriteClient::keep_atoms(const WritePacket& packet)
{
    if (values_) {
        const std::uint32_t to = put_ % kAtoms, unbroken = std::min(packet.atoms, kAtoms - to);
        copy_bytes(&atoms_[to * atom_bytes_], packet.data.data(), unbroken * atom_bytes_);
        if (unbroken != packet.atoms)
            copy_bytes(atoms_.data(), &packet.data[unbroken * atom_bytes_], (packet.atoms - unbroken) * atom_bytes_);
    }
    put_ += packet.atoms;
}

}  // namespace dlasim::fabric
