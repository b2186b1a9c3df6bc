#include "units/rubik/core.h"

#include <algorithm>

#include "facts/rubik.h"
#include "registers/offsets.h"

namespace dlasim {

using namespace facts;
using namespace rubik;

RubikCore::RubikCore(const Hardware& hardware, const RubikPorts& ports)
    : registers_(*find_unit(hardware.generation, "RBK"), ports.csb),
      read_{&ports.read_mc, &ports.read_cv},
      interrupt_(ports.interrupt),
      read_out_{Outlet<ReadRequest>(ports.read_mc.request), Outlet<ReadRequest>(ports.read_cv.request)},
      blocks_(kRubikFifoBeats),
      fifo_(kRubikFifoBeats),
      atoms_(Packer::kAtoms),
      write_out_{Outlet<WritePacket>(ports.write_mc.request), Outlet<WritePacket>(ports.write_cv.request)},
      acks_(ports.write_mc.complete, ports.write_cv.complete)
{
}

void RubikCore::advance(Cycle to)
{
    account(to);
    registers_.advance(to);
    for (unsigned port = 0; port < 2; ++port) {
        read_out_[port].begin(to);
        write_out_[port].begin(to);
    }
    if (!running_ && registers_.start_cycle() <= to) start(to);

    bool moved = step_completion(to);
    moved |= step_reader(to);
    moved |= step_write_side(to);
    moved |= step_response(to);
    for (unsigned port = 0; port < 2; ++port) {
        moved |= read_out_[port].end(to);
        moved |= write_out_[port].end(to);
    }

    phases_.enter(moved ? Phase::Issuing : waiting_phase(to), to);
    if (moved) phases_.enter(waiting_phase(to + 1), to + 1);
    now_ = to;
    horizon_ = moved ? to + 1 : timers(to);
}

void RubikCore::start(Cycle now)
{
    running_ = reading_ = commanding_ = true;
    active_at_ = now + kRubikStartToRequest;
    layer_ = Layer::decode(registers_);
    from_ = layer_.from_mc ? 0 : 1;
    to_ = layer_.to_mc ? 0 : 1;
    reads_ = ReadWalk(layer_);
    writes_ = WriteWalk(layer_);
    next_write_ = writes_.current();
    gate_from_ = std::max(now, gate_until_);
}

/// Cycles that were slept through stalled as the last one did.
void RubikCore::account(Cycle to)
{
    if (!running_ || to <= now_ + 1 || !registers_.get(reg::rbk::D_PERF_ENABLE)) return;
    const auto slept = static_cast<std::uint32_t>(to - now_ - 1);
    if (reading_ && active_at_ <= now_ + 1) read_stall_ += slept;
    if (sender_offers(now_ + 1) && !write_out_[to_].ready()) write_stall_ += slept;
}

bool RubikCore::step_completion(Cycle now)
{
    if (!acks_.take(now) || done_groups_.empty()) return false;
    interrupt_.put(now + kRubikCompleteToGlb, 1u << (kRubikInterruptBit + done_groups_.front()));
    done_groups_.pop_front();
    return true;
}

// ---- (1)

bool RubikCore::step_reader(Cycle now)
{
    if (!reading_ || active_at_ > now) return false;
    const std::uint32_t stalls_before = read_stall_;
    read_stall_ += registers_.get(reg::rbk::D_PERF_ENABLE);  // counts every cycle of a request
    Outlet<ReadRequest>& out = read_out_[from_];
    if (!out.ready()) return false;
    const Read read = reads_.current();
    out.push() = {read.address, read.atoms};
    if (read.opens_block) blocks_.push_back(read.block);
    if (!reads_.next()) {
        reading_ = false;
        registers_.set(reg::rbk::D_PERF_READ_STALL, registers_.consumer(), stalls_before);
        read_stall_ = 0;
    }
    return true;
}

bool RubikCore::step_response(Cycle now)
{
    bool moved = false;
    for (ReadLink* link : read_) {
        if (!link->response.fires(now)) continue;
        Beat& beat = fifo_.extend();
        beat.at = now + kRubikResponseToFifo;
        beat.data = link->response.item(now).data;
        moved = true;
    }
    return moved;
}

/// From the sender back to the data FIFO: all see the others as they were at the start of the cycle.
bool RubikCore::step_write_side(Cycle now)
{
    bool moved = command_taken_ = layer_done_ = false;
    const bool room_in_file = blocks_filled_ < kRubikBanks, block_in_file = blocks_filled_ != 0;
    const unsigned sent = step_sender(now, moved);
    const Packer::Beat* issued = step_drain(now);
    moved |= step_commands(now, command_taken_);
    const Packer::Cycle packed = packer_.step(issued, block_in_file, sent);
    if (packed.pushed && armed_at_ == kNever) armed_at_ = now + kRubikPushToCommand;
    blocks_filled_ -= packed.block_read;

    const bool arrives = fill_pipe_.valid() && room_in_file;
    blocks_filled_ += arrives && fill_pipe_.head();
    const bool fills = step_fill(now);
    moved |= fill_pipe_.step(fills ? &fill_ends_ : nullptr, arrives, false);
    if (layer_done_) finish(now);
    return moved || packed.changed || issued || arrives || fills;
}

/// A beat from the data FIFO to the bank that is filled.
bool RubikCore::step_fill(Cycle now)
{
    BankState& side = banks_[fill_bank_];
    const bool free = !side.full && side.changes <= now && fill_pipe_.ready();
    if (!free || fifo_.empty() || fifo_.front().at > now || (!filling_ && blocks_.empty())) return false;
    if (!filling_) {
        side.bank.open(blocks_.front());
        blocks_.pop_front();
        filling_ = true;
    }
    fill_ends_ = side.bank.fill(fifo_.front().data.data());
    if (fill_ends_) {
        filling_ = false;
        side.full = true;
        side.changes = now + kRubikFillToDrain;
        fill_bank_ ^= 1;
    }
    fifo_.pop_front();
    read_[from_]->credit.put(now + 1, true);
    ++counted_.beats_in;
    return true;
}

// ---- (3)

/// A beat from the bank that is drained, null if there is none.
const Packer::Beat* RubikCore::step_drain(Cycle now)
{
    BankState& side = banks_[drain_bank_];
    if (!side.full || side.changes > now || open_ == 0 || !packer_.ready()) return nullptr;
    Atom atoms[2];
    drained_.atoms = static_cast<std::uint8_t>(side.bank.drain_atoms());
    drained_.ends_block = side.bank.drain(atoms);
    for (std::uint32_t i = 0; i < drained_.atoms; ++i) atoms_.push_back(atoms[i]);
    if (drained_.ends_block) {
        side.full = false;
        side.changes = now + kRubikDrainToFill;
        drain_bank_ ^= 1;
        --open_;
    }
    return &drained_;
}

// ---- (4)

bool RubikCore::sender_offers(Cycle at) const
{
    return sending_ ? packer_.available(beat_atoms()) : commands_.fifo.valid() && armed_at_ <= at;
}

/// Clocks the command FIFOs. A write command is made when both have room; the drain command at the output is taken
/// when the one before it has issued its last beat.
bool RubikCore::step_commands(Cycle now, bool taken)
{
    const bool wants = commanding_ && active_at_ <= now, room = commands_.fifo.ready(), room_to_drain = drains_.fifo.ready();
    const bool takes = open_ == 0 && drains_.fifo.valid();
    if (takes) open_ = drains_.items.front();
    const std::uint32_t opens = next_write_.opens_blocks;
    const bool moved = commands_.step(wants && room_to_drain ? &next_write_ : nullptr, taken);
    const bool drains_moved = drains_.step(wants && room && opens != 0 ? &opens : nullptr, takes);
    if (wants && room && room_to_drain) {
        commanding_ = writes_.next();
        if (commanding_) next_write_ = writes_.current();
    }
    return moved || drains_moved;
}

/// Returns the atoms that leave the packer.
unsigned RubikCore::step_sender(Cycle now, bool& moved)
{
    const bool offers = sender_offers(now);
    Outlet<WritePacket>& out = write_out_[to_];
    const bool goes = offers && out.ready();
    const bool command = goes && !sending_;
    unsigned sent = 0;
    if (offers && !goes) write_stall_ += registers_.get(reg::rbk::D_PERF_ENABLE);
    if (command) {
        write_ = commands_.items.front();
        WritePacket& packet = out.push();
        packet.command = true;
        packet.require_ack = write_.last;
        packet.address = write_.address;
        packet.atoms = atoms_left_ = write_.atoms;
        if (write_.last) acks_.expect(to_);
        sending_ = true;
    } else if (goes) {
        WritePacket& packet = out.push();
        packet.command = packet.require_ack = false;
        packet.atoms = sent = beat_atoms();
        packet.data.fill(0);
        for (std::uint32_t i = 0; i < sent; ++i) {
            std::copy(atoms_.front().begin(), atoms_.front().end(), packet.data.begin() + i * kAtomBytes);
            atoms_.pop_front();
        }
        atoms_left_ -= sent;
        ++counted_.beats_out;
        sending_ = atoms_left_ != 0;
        layer_done_ = !sending_ && write_.last;
    }
    moved |= goes;
    command_taken_ = command;
    return sent;
}

/// The last beat is handed over. Where the program makes the two sides count differently, data are left
/// and the engine hangs.
void RubikCore::finish(Cycle now)
{
    const bool rest = reading_ || !blocks_.empty() || filling_ || !fifo_.empty() || !drains_.empty() || open_ != 0 || !atoms_.empty();
    if (rest) return;
    registers_.set(reg::rbk::D_PERF_WRITE_STALL, registers_.consumer(), write_stall_);
    write_stall_ = 0;
    done_groups_.push_back(registers_.consumer());
    packer_.restart();
    registers_.finish(now);
    running_ = false;
    gate_until_ = now + kRubikDoneToGate;
    gate_cycles_ += gate_until_ - gate_from_;
    ++counted_.layers;
}

// ---- sleep and report

Cycle RubikCore::timers(Cycle now) const
{
    Cycle at = std::min(registers_.horizon(), acks_.next(now));
    const auto timer = [&](Cycle due) {
        if (due > now) at = std::min(at, due);
    };
    if (!running_) {
        timer(registers_.start_cycle());
    } else {
        timer(active_at_);
        timer(banks_[0].changes);
        timer(banks_[1].changes);
        if (!fifo_.empty()) timer(fifo_.front().at);
        timer(armed_at_);
    }
    return std::max(at, now + 1);
}

Phase RubikCore::waiting_phase(Cycle at) const
{
    if (!running_) return acks_.outstanding() ? Phase::Draining : Phase::Gated;
    if (sender_offers(at)) return Phase::Blocked;
    return commanding_ || reading_ || !commands_.empty() || sending_ ? Phase::Starved : Phase::Draining;
}

UnitReport RubikCore::report(Cycle end)
{
    phases_.settle(end);
    RubikCounters counted = counted_;
    counted.clock = gate_cycles_;
    if (running_) counted.clock += end > gate_from_ ? end - gate_from_ : 0;
    else if (end < gate_until_) counted.clock -= gate_until_ - end;
    return {"RBK", phases_, counted};
}

std::string RubikCore::waiting_for() const
{
    if (!running_) return acks_.outstanding() ? "waits for the acknowledgement of the last write" : "idle";
    if (sending_ && atoms_.empty()) return "sender waits for read data";
    if (sending_) return "sender waits for the memory interface";
    if (reading_) return "reader waits for the memory interface";
    if (!commands_.empty()) return "a write waits for data";
    return "read and write side count differently: datain_channel and dataout_channel";
}

}  // namespace dlasim
