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
      packed_(kRubikPackedAtoms),
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

    // Writers of a queue before its readers: all see it as it was at the start of the cycle.
    bool moved = step_completion(to);
    moved |= step_reader(to);
    moved |= step_commands(to);
    moved |= step_fill(to);
    moved |= step_drain(to);
    moved |= step_sender(to);
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
    layer_ = Layer::read(registers_);
    from_ = layer_.from_mc ? 0 : 1;
    to_ = layer_.to_mc ? 0 : 1;
    reads_ = ReadWalk(layer_);
    writes_ = WriteWalk(layer_);
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

bool RubikCore::step_fill(Cycle now)
{
    bool moved = false;
    BankState& side = banks_[fill_bank_];
    const bool free = !side.full && side.changes <= now;
    if (free && !fifo_.empty() && fifo_.front().at <= now && (filling_ || !blocks_.empty())) {
        if (!filling_) {
            side.bank.open(blocks_.front());
            blocks_.pop_front();
            filling_ = true;
        }
        if (side.bank.fill(fifo_.front().data.data())) {
            filling_ = false;
            side.full = true;
            side.changes = now + kRubikFillToDrain;
            fill_bank_ ^= 1;
        }
        fifo_.pop_front();
        read_[from_]->credit.put(now + 1, true);
        ++beats_in_;
        moved = true;
    }
    for (ReadLink* link : read_) {
        if (!link->response.fires(now)) continue;
        Beat& beat = fifo_.extend();
        beat.at = now + kRubikResponseToFifo;
        beat.data = link->response.item(now).data;
        moved = true;
    }
    return moved;
}

// ---- (3)

bool RubikCore::step_drain(Cycle now)
{
    BankState& side = banks_[drain_bank_];
    if (!side.full || side.changes > now || drains_.empty() || drains_.front().at > now) return false;
    const std::uint32_t count = side.bank.drain_atoms();
    if (packed_.size() + count > kRubikPackedAtoms) return false;
    Atom atoms[2];
    const bool last = side.bank.drain(atoms);
    for (std::uint32_t i = 0; i < count; ++i) packed_.push_back({now + kRubikDrainToSender, atoms[i]});
    if (armed_at_ == kNever) armed_at_ = now + kRubikDrainToFirstCommand;
    if (last) {
        side.full = false;
        side.changes = now + kRubikDrainToFill;
        drain_bank_ ^= 1;
        if (--drains_.front().blocks == 0) drains_.pop_front();
    }
    return true;
}

// ---- (4)

bool RubikCore::step_commands(Cycle now)
{
    if (!commanding_ || active_at_ > now) return false;
    if (commands_.size() == kRubikCommands || drains_.size() == kRubikDrainCommands) return false;
    const Write write = writes_.current();
    commands_.push_back({now + kRubikCommandLatency, write});
    if (write.opens_blocks != 0) drains_.push_back({now + kRubikCommandLatency, write.opens_blocks});
    commanding_ = writes_.next();
    return true;
}

bool RubikCore::sender_offers(Cycle at) const
{
    if (sending_) return packed_.size() >= beat_atoms() && packed_[beat_atoms() - 1].at <= at;
    return !commands_.empty() && commands_.front().at <= at && armed_at_ <= at;
}

bool RubikCore::step_sender(Cycle now)
{
    if (!sender_offers(now)) return false;
    Outlet<WritePacket>& out = write_out_[to_];
    if (!out.ready()) {
        write_stall_ += registers_.get(reg::rbk::D_PERF_ENABLE);
        return false;
    }
    WritePacket& packet = out.push();
    if (!sending_) {
        write_ = commands_.front().write;
        commands_.pop_front();
        packet.command = true;
        packet.require_ack = write_.last;
        packet.address = write_.address;
        packet.atoms = atoms_left_ = write_.atoms;
        if (write_.last) acks_.expect(to_);
        sending_ = true;
        return true;
    }
    packet.command = packet.require_ack = false;
    packet.atoms = beat_atoms();
    packet.data.fill(0);
    for (std::uint32_t i = 0; i < packet.atoms; ++i) {
        std::copy(packed_.front().data.begin(), packed_.front().data.end(), packet.data.begin() + i * kAtomBytes);
        packed_.pop_front();
    }
    atoms_left_ -= packet.atoms;
    ++beats_out_;
    if (atoms_left_ == 0) {
        sending_ = false;
        if (write_.last) finish(now);
    }
    return true;
}

/// The last beat is handed over. Where the program makes the two sides count differently, data are left
/// and the engine hangs.
void RubikCore::finish(Cycle now)
{
    const bool rest = reading_ || !blocks_.empty() || filling_ || !fifo_.empty() || !drains_.empty() || !packed_.empty();
    if (rest) return;
    registers_.set(reg::rbk::D_PERF_WRITE_STALL, registers_.consumer(), write_stall_);
    write_stall_ = 0;
    done_groups_.push_back(registers_.consumer());
    registers_.finish(now);
    running_ = false;
    gate_until_ = now + kRubikDoneToGate;
    gate_cycles_ += gate_until_ - gate_from_;
    ++layers_;
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
        if (!drains_.empty()) timer(drains_.front().at);
        if (!commands_.empty()) timer(std::max(commands_.front().at, armed_at_));
        if (sending_ && packed_.size() >= beat_atoms()) timer(packed_[beat_atoms() - 1].at);
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
    UnitReport report{.name = "RBK", .phases = phases_, .counters = {}, .clock_on = {}};
    report.counters = {{"layers", layers_}, {"beats_in", beats_in_}, {"beats_out", beats_out_}};
    Cycle on = gate_cycles_;
    if (running_) on += end > gate_from_ ? end - gate_from_ : 0;
    else if (end < gate_until_) on -= gate_until_ - end;
    report.clock_on = {{"rubik", on}};
    return report;
}

std::string RubikCore::waiting_for() const
{
    if (!running_) return acks_.outstanding() ? "waits for the acknowledgement of the last write" : "idle";
    if (sending_ && packed_.empty()) return "sender waits for read data";
    if (sending_) return "sender waits for the memory interface";
    if (reading_) return "reader waits for the memory interface";
    if (!commands_.empty()) return "a write waits for data";
    return "read and write side count differently: datain_channel and dataout_channel";
}

}  // namespace dlasim
