#include "units/bdma/core.h"

#include <algorithm>

#include "facts/bdma.h"
#include "registers/offsets.h"

namespace dlasim {
namespace {

using namespace facts;

constexpr std::uint32_t kStoreRepeatMask = 0x1fff;  // the store keeps 13 bits of each repeat
constexpr std::uint32_t kReadStall[] = {reg::bdma::STATUS_GRP0_READ_STALL, reg::bdma::STATUS_GRP1_READ_STALL};
constexpr std::uint32_t kWriteStall[] = {reg::bdma::STATUS_GRP0_WRITE_STALL, reg::bdma::STATUS_GRP1_WRITE_STALL};

}  // namespace

bool BdmaCore::Walk::next(std::uint32_t lines, std::uint32_t surfaces, std::uint32_t line_stride, std::uint32_t surface_stride)
{
    if (line != lines) {
        ++line;
        address += line_stride;
        return true;
    }
    if (surface == surfaces) return false;
    ++surface;
    line = 0;
    surface_base += surface_stride;
    address = surface_base;
    return true;
}

BdmaCore::BdmaCore(const Hardware& hardware, const BdmaPorts& ports)
    : registers_(*find_unit(hardware.generation, "BDMA"), ports.csb),
      read_{&ports.read_mc, &ports.read_cv},
      interrupt_(ports.interrupt),
      queue_(kBdmaDescriptors + 2),
      slots_(kBdmaDescriptors + 2),
      gathering_(4),
      read_out_{Outlet<ReadRequest>(ports.read_mc.request), Outlet<ReadRequest>(ports.read_cv.request)},
      commands_(kBdmaCommands),
      fifo_(kBdmaFifoBeats + 11),
      write_out_{Outlet<WritePacket>(ports.write_mc.request), Outlet<WritePacket>(ports.write_cv.request)},
      acks_(ports.write_mc.complete, ports.write_cv.complete)
{
    registers_.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) { write_register(offset, data, decode); };
    registers_.read_status = [this](std::uint32_t offset, unsigned, Cycle at) { return read_register(offset, at); };
}

// ---- registers

void BdmaCore::write_register(std::uint32_t offset, std::uint32_t data, Cycle decode)
{
    if (!(data & 1)) return;
    if (offset == reg::bdma::CFG_OP) {
        const Cycle pushed = decode + kBdmaDecodeToTrigger;
        if (queue_count(pushed) == kBdmaDescriptors) return;  // no place: dropped
        queue_.push_back({snapshot(), pushed});
        gathering_.push_back(pushed);
    } else if (offset == reg::bdma::CFG_LAUNCH0 || offset == reg::bdma::CFG_LAUNCH1) {
        const unsigned group = offset == reg::bdma::CFG_LAUNCH1;
        if (!pending_) pending_at_ = decode + kBdmaDecodeToBusy;
        pending_ = true;
        pending_group_ = group;  // of two launches that cannot move the first is lost
        if (!busy_[group]) {
            busy_[group] = true;
            busy_changes_[group] = decode + kBdmaDecodeToBusy;
        }
        registers_.set(kReadStall[group], 0, 0);
        registers_.set(kWriteStall[group], 0, 0);
    }
}

std::optional<std::uint32_t> BdmaCore::read_register(std::uint32_t offset, Cycle at) const
{
    if (offset != reg::bdma::STATUS) return std::nullopt;
    const auto busy = [&](unsigned group) -> std::uint32_t { return busy_[group] == (at >= busy_changes_[group]); };
    return (kBdmaDescriptors - queue_count(at)) | static_cast<std::uint32_t>(idle()) << 8 | busy(0) << 9 | busy(1) << 10;
}

BdmaCore::Descriptor BdmaCore::snapshot() const
{
    using namespace reg::bdma;
    const auto address = [&](std::uint32_t high, std::uint32_t low) {
        return std::uint64_t{registers_.get(high)} << 32 | registers_.get(low);
    };
    Descriptor d;
    d.source = address(CFG_SRC_ADDR_HIGH, CFG_SRC_ADDR_LOW);
    d.destination = address(CFG_DST_ADDR_HIGH, CFG_DST_ADDR_LOW);
    d.size = registers_.get(CFG_LINE);
    d.lines = registers_.get(CFG_LINE_REPEAT);
    d.surfaces = registers_.get(CFG_SURF_REPEAT);
    d.source_line = registers_.get(CFG_SRC_LINE);
    d.source_surface = registers_.get(CFG_SRC_SURF);
    d.destination_line = registers_.get(CFG_DST_LINE);
    d.destination_surface = registers_.get(CFG_DST_SURF);
    d.from = registers_.get(CFG_CMD) & 1 ? kMc : kCv;
    d.to = registers_.get(CFG_CMD) & 2 ? kMc : kCv;
    return d;
}

/// Descriptors counted as held in cycle `at`: a slot is free again two cycles after its descriptor left.
std::uint32_t BdmaCore::queue_count(Cycle at) const
{
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < queue_.size(); ++i) count += queue_[i].pushed < at;
    if (!queue_.empty() && descriptor_at() - 1 + kBdmaSlotRelease <= at) --count;
    for (std::size_t i = 0; i < slots_.size(); ++i) count += slots_[i] > at;
    return count;
}

/// First cycle in which the head of the queue is in its output register. pre: the queue is not empty
Cycle BdmaCore::descriptor_at() const { return std::max(queue_.front().pushed + kBdmaPushToDescriptor, moved_ + 1); }

// ---- one cycle

void BdmaCore::advance(Cycle to)
{
    account(to);
    registers_.advance(to);
    for (unsigned port = 0; port < 2; ++port) {
        read_out_[port].begin(to);
        write_out_[port].begin(to);
    }

    bool moved = step_completion(to);
    moved |= step_loader(to);  // before the store: it sees the store as it was at the start of the cycle
    moved |= step_store(to);
    moved |= step_responses(to);
    for (unsigned port = 0; port < 2; ++port) {
        moved |= read_out_[port].end(to);
        moved |= write_out_[port].end(to);
    }

    const bool open = gate_open();
    if (open && !gate_) gate_since_ = to;
    if (!open && gate_) gate_cycles_ += to - gate_since_;
    gate_ = open;

    phases_.enter(moved ? Phase::Issuing : waiting_phase(to), to);
    if (moved) phases_.enter(waiting_phase(to + 1), to + 1);
    now_ = to;
    horizon_ = moved ? to + 1 : timers(to);
}

/// Cycles that were slept through stalled as the last one did.
void BdmaCore::account(Cycle to)
{
    if (to <= now_ + 1 || !registers_.get(reg::bdma::CFG_STATUS)) return;
    const auto slept = static_cast<std::uint32_t>(to - now_ - 1);
    if (loading_ && !read_out_[load_.from].ready()) read_stall_[active_group_] += slept;
    if (store_offers(now_ + 1) && !write_out_[store_.descriptor.to].ready()) write_stall_ += slept;
}

bool BdmaCore::step_completion(Cycle now)
{
    if (!acks_.take(now)) return false;
    const unsigned group = done_groups_.front();
    done_groups_.pop_front();
    interrupt_.put(now + kBdmaCompleteToGlb, 1u << (kBdmaInterruptBit + group));
    busy_[group] = false;
    busy_changes_[group] = now + 1;
    registers_.set(kReadStall[group], 0, read_stall_[group]);
    registers_.set(kWriteStall[group], 0, write_stall_);
    if (registers_.get(reg::bdma::CFG_STATUS)) write_stall_ = 0;
    ++counted_.groups;
    return true;
}

bool BdmaCore::step_loader(Cycle now)
{
    while (!gathering_.empty() && gathering_.front() < now) {
        gathering_.pop_front();
        ++gathered_;
    }
    while (!slots_.empty() && slots_.front() <= now) slots_.pop_front();

    bool moved = false, finishing = false;
    if (loading_) {
        Outlet<ReadRequest>& out = read_out_[load_.from];
        if (out.ready()) {
            out.push() = {load_walk_.address, load_.size + 1};
            ++counted_.lines;
            finishing = !load_walk_.next(load_.lines, load_.surfaces, load_.source_line, load_.source_surface);
            moved = true;
        } else if (registers_.get(reg::bdma::CFG_STATUS)) {
            ++read_stall_[active_group_];
        }
    }

    bool last = false;
    if (takes_descriptor(now, finishing)) {
        last = active_left_ == 1;
        load_ = queue_.front().descriptor;
        load_walk_ = {load_.source, load_.source, 0, 0};
        commands_.push_back({load_, now + kBdmaCommandLatency, last, active_group_});
        slots_.push_back(descriptor_at() - 1 + kBdmaSlotRelease);
        queue_.pop_front();
        moved_ = now;
        previous_from_ = load_.from;
        --active_left_;
        loading_ = true;
        moved = true;
    } else if (finishing) {
        loading_ = false;
    }

    if (pending_ && pending_at_ <= now && (!active_ || last)) {
        // Counts what was pushed up to now, launched or not; a group of none never ends.
        active_ = true;
        active_at_ = now + 1;
        active_group_ = pending_group_;
        active_left_ = gathered_;
        gathered_ = 0;
        pending_ = false;
        moved = true;
    } else if (last) {
        active_ = false;
    }
    return moved;
}

bool BdmaCore::takes_descriptor(Cycle now, bool finishing) const
{
    if (!active_ || active_at_ > now || active_left_ == 0) return false;
    if (queue_.empty() || descriptor_at() > now || commands_.size() == kBdmaCommands) return false;
    if (queue_.front().descriptor.from == previous_from_) return !loading_ || finishing;
    // Another source: only when everything that came from the old one is stored.
    return !loading_ && commands_.empty() && !storing_;
}

bool BdmaCore::step_store(Cycle now)
{
    bool moved = false;
    if (storing_) {
        Outlet<WritePacket>& out = write_out_[store_.descriptor.to];
        if (store_offers(now)) {
            if (!out.ready()) write_stall_ += registers_.get(reg::bdma::CFG_STATUS);
            else if (sending_data_) send_beat(out, now);
            else send_command(out);
            moved = out.ready();
        }
    }
    if (!storing_ && !commands_.empty() && commands_.front().at <= now) {
        store_ = commands_.front();
        commands_.pop_front();
        store_.descriptor.lines &= kStoreRepeatMask;
        store_.descriptor.surfaces &= kStoreRepeatMask;
        store_walk_ = {store_.descriptor.destination, store_.descriptor.destination, 0, 0};
        storing_ = true;
        moved = true;
    }
    return moved;
}

/// The store has something for its interface in that cycle.
bool BdmaCore::store_offers(Cycle at) const { return storing_ && (!sending_data_ || (!fifo_.empty() && fifo_.front().at <= at)); }

void BdmaCore::send_command(Outlet<WritePacket>& out)
{
    const Descriptor& d = store_.descriptor;
    const bool last = store_.last && store_walk_.line == d.lines && store_walk_.surface == d.surfaces;
    WritePacket& packet = out.push();
    packet.command = true;
    packet.require_ack = last;
    packet.atoms = d.size + 1;
    packet.address = store_walk_.address;
    if (last) {
        acks_.expect(d.to);
        done_groups_.push_back(store_.group);
    }
    sending_data_ = true;
    beats_left_ = d.size / 2 + 1;
}

void BdmaCore::send_beat(Outlet<WritePacket>& out, Cycle now)
{
    const Descriptor& d = store_.descriptor;
    --beats_left_;
    WritePacket& packet = out.push();
    packet.command = packet.require_ack = false;
    packet.atoms = beats_left_ == 0 && d.size % 2 == 0 ? 1 : 2;
    packet.data = fifo_.front().data;
    read_[fifo_.front().from]->credit.put(now + 1, true);
    fifo_.pop_front();
    ++counted_.beats;
    if (beats_left_ != 0) return;
    sending_data_ = false;
    storing_ = store_walk_.next(d.lines, d.surfaces, d.destination_line, d.destination_surface);
}

bool BdmaCore::step_responses(Cycle now)
{
    bool moved = false;
    for (unsigned port = 0; port < 2; ++port) {
        if (!read_[port]->response.fires(now)) continue;
        Beat& beat = fifo_.extend();
        beat.at = now + kBdmaResponseToFifo;
        beat.from = port;
        beat.data = read_[port]->response.item(now).data;
        moved = true;
    }
    return moved;
}

// ---- sleep and report

Cycle BdmaCore::timers(Cycle now) const
{
    Cycle at = std::min(registers_.horizon(), acks_.next(now));
    const auto timer = [&](Cycle due) {
        if (due > now) at = std::min(at, due);
    };
    if (pending_) timer(pending_at_);
    if (active_) timer(active_at_);
    if (active_ && !queue_.empty()) timer(descriptor_at());
    if (!commands_.empty()) timer(commands_.front().at);
    if (!fifo_.empty()) timer(fifo_.front().at);
    return std::max(at, now + 1);
}

bool BdmaCore::idle() const { return queue_.empty() && !loading_ && commands_.empty() && !storing_ && !acks_.outstanding(); }

bool BdmaCore::gate_open() const { return pending_ || active_ || loading_ || !commands_.empty() || storing_ || acks_.outstanding(); }

Phase BdmaCore::waiting_phase(Cycle at) const
{
    if (!gate_open()) return Phase::Gated;
    if (store_offers(at) || loading_) return Phase::Blocked;
    if (storing_ || !commands_.empty()) return Phase::Starved;
    return acks_.outstanding() ? Phase::Draining : Phase::Starved;
}

UnitReport BdmaCore::report(Cycle end)
{
    phases_.settle(end);
    BdmaCounters counted = counted_;
    counted.clock = gate_cycles_ + (gate_ && end > gate_since_ ? end - gate_since_ : 0);
    return {"BDMA", phases_, counted};
}

std::string BdmaCore::waiting_for() const
{
    if (!gate_open()) return "idle";
    if (active_ && active_left_ == 0) return "a group without descriptors was launched and never ends";
    if (storing_ && sending_data_ && fifo_.empty()) return "store waits for read data";
    if (storing_) return "store waits for the memory interface";
    if (loading_) return "loader waits for the memory interface";
    if (acks_.outstanding()) return "waits for the acknowledgement of the last write";
    return "a group waits for its descriptors";
}

}  // namespace dlasim
