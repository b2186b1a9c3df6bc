#include "units/bdma/core.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ring.h"
#include "facts/bdma.h"
#include "links/direct_core.h"
#include "links/dma_shim.h"
#include "registers/fields/bdma.h"
#include "registers/interrupts.h"
#include "registers/register_file.h"
#include "units/bdma/counters.h"
#include "units/bdma/descriptor.h"

namespace dlasim {
namespace {

// Launch accepted at the port to the group, at least: csb.md 2.1.
constexpr Cycle kWriteToLaunch = 12;

constexpr std::uint32_t kReadStall[] = {reg::bdma::STATUS_GRP0_READ_STALL, reg::bdma::STATUS_GRP1_READ_STALL};
constexpr std::uint32_t kWriteStall[] = {reg::bdma::STATUS_GRP0_WRITE_STALL, reg::bdma::STATUS_GRP1_WRITE_STALL};

class BdmaCore final : public DirectCore<BdmaCore> {
public:
    BdmaCore(const Hardware& hardware, const TransferPorts& ports)
        : silicon_(facts::bdma::of(hardware)),
          read_{&ports.read_mc, &ports.read_cv},
          interrupt_(ports.interrupt),
          registers_(*find_unit(hardware, "BDMA"), ports.csb),
          read_out_(ports.read_mc.request, ports.read_cv.request),
          commands_(silicon_.commands),
          fifo_(silicon_.fifo_beats),
          write_out_(ports.write_mc.request, ports.write_cv.request),
          acks_(ports.write_mc.complete, ports.write_cv.complete)
    {
        registers_.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) { write_register(offset, data, decode); };
        registers_.read_status = [this](std::uint32_t offset, unsigned, Cycle at) { return read_register(offset, at); };
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return next_; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override { phases_.record(probes.phases("bdma")); }
    std::uint64_t work() const override { return counted_.beats * kMaxBeatBytes; }
    void follow(WaitLogs& all) override { logs_ = &all; }

private:
    void write_register(std::uint32_t offset, std::uint32_t data, Cycle decode);
    std::optional<std::uint32_t> read_register(std::uint32_t offset, Cycle at) const;
    std::uint32_t queue_count(Cycle at) const;
    Cycle descriptor_at() const;

    void account(Cycle to);
    bool step_completion(Cycle now);
    bool step_store(Cycle now);
    bool step_loader(Cycle now);
    bool step_responses(Cycle now);
    bool takes_descriptor(Cycle now, bool finishing) const;
    bool store_offers(Cycle at) const;
    void send_command(DmaOutput<WritePacket>& out);
    void send_beat(DmaOutput<WritePacket>& out, Cycle now);
    void note_waits(Cycle at, bool stored);
    Cycle timers(Cycle now) const;
    bool idle() const;
    Phase waiting_phase(Cycle at) const;
    bool gate_open() const;

    // ---- what never changes
    const facts::bdma::Facts silicon_;
    std::array<ReadLink*, 2> read_;
    Pulse<std::uint32_t>& interrupt_;

    // ---- what a layer sets
    RegisterFile registers_;

    // ---- what moves
    struct Queued {
        bdma::Descriptor descriptor;
        Cycle pushed = 0;
    };
    struct Command {
        bdma::Descriptor descriptor;
        Cycle at = 0;       // first cycle at the queue's output
        bool last = false;  // of its group: to be acknowledged
        unsigned group = 0;
    };
    struct Beat {
        Cycle at = 0;  // first cycle at the FIFO's output
        bdma::Interface from = bdma::kMc;
        std::array<std::uint8_t, kMaxBeatBytes> data;
    };
    DmaOutputs<ReadRequest> read_out_;   // (1)
    Ring<Command> commands_;             // (2)
    Ring<Beat> fifo_;                    // (2)
    DmaOutputs<WritePacket> write_out_;  // (2)
    WriteAcks acks_;
    Ring<unsigned> done_groups_;  // groups whose acknowledged command was sent
    Cycle evaluated_ = 0, next_ = 0;
    struct Descriptors {
        Ring<Queued> queue{facts::bdma::kDescriptors + 2};  // pushed, not yet taken by the loader
        Ring<Cycle> slots{facts::bdma::kDescriptors + 2};   // cycles in which slots of taken ones are counted as free
        Cycle head_moved = 0;                               // when the head of the queue could move to its output register
        Ring<Cycle> gathering{4};                           // pushes not yet in the counter
        std::uint32_t gathered = 0;
    } descriptors_;
    struct Groups {
        bool pending = false, active = false;
        Cycle pending_at = 0;
        unsigned pending_group = 0, active_group = 0;
        std::uint32_t active_left = 0;
        Cycle active_at = 0;
        std::array<bool, 2> busy{};
        std::array<Cycle, 2> busy_changes{};  // cycle from which busy is read
    } groups_;
    /// (1) The loader.
    struct Loader {
        bool loading = false;
        bdma::Descriptor descriptor;
        bdma::LineWalk walk;
        bdma::Interface previous_from = bdma::kCv;
    } loader_;
    /// (2) The store.
    struct Store {
        bool storing = false, sending_data = false;
        Command command;
        bdma::LineWalk walk;
        std::uint32_t beats_left = 0;
    } store_;

    // ---- what is counted
    PhaseLog phases_;
    WaitLogs* logs_ = nullptr;
    std::array<std::uint32_t, 2> read_stall_{};
    std::uint32_t write_stall_ = 0;
    GatedClocks<BdmaCounters> clocks_;
    BdmaCounters counted_;
};

}  // namespace

// ---- registers

void BdmaCore::write_register(std::uint32_t offset, std::uint32_t data, Cycle decode)
{
    if (!reg::bdma::CFG_OP::EN.get(data)) return;  // launches have the same bit
    if (offset == reg::bdma::CFG_OP) {
        const Cycle pushed = decode + facts::bdma::kDecodeToTrigger;
        if (queue_count(pushed) == facts::bdma::kDescriptors) return;  // no place: dropped
        descriptors_.queue.push_back({bdma::Descriptor::decode(registers_), pushed});
        descriptors_.gathering.push_back(pushed);
    } else if (offset == reg::bdma::CFG_LAUNCH0 || offset == reg::bdma::CFG_LAUNCH1) {
        const unsigned group = offset == reg::bdma::CFG_LAUNCH1;
        if (!groups_.pending) groups_.pending_at = decode + facts::bdma::kDecodeToBusy;
        groups_.pending = true;
        groups_.pending_group = group;  // of two launches that cannot move the first is lost
        if (!groups_.busy[group]) {
            groups_.busy[group] = true;
            groups_.busy_changes[group] = decode + facts::bdma::kDecodeToBusy;
        }
        registers_.set(kReadStall[group], 0, 0);
        registers_.set(kWriteStall[group], 0, 0);
    }
}

std::optional<std::uint32_t> BdmaCore::read_register(std::uint32_t offset, Cycle at) const
{
    if (offset != reg::bdma::STATUS) return std::nullopt;
    using Status = decltype(reg::bdma::STATUS);
    const auto shown = [&](unsigned group) { return groups_.busy[group] == (at >= groups_.busy_changes[group]); };
    return Status::FREE_SLOT.put(facts::bdma::kDescriptors - queue_count(at)) | Status::IDLE.put(idle()) | Status::GRP0_BUSY.put(shown(0)) |
           Status::GRP1_BUSY.put(shown(1));
}

/// Descriptors counted as held in cycle `at`: a slot is free again two cycles after its descriptor left.
std::uint32_t BdmaCore::queue_count(Cycle at) const
{
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < descriptors_.queue.size(); ++i) count += descriptors_.queue[i].pushed < at;
    if (!descriptors_.queue.empty() && descriptor_at() - 1 + facts::bdma::kSlotRelease <= at) --count;
    for (std::size_t i = 0; i < descriptors_.slots.size(); ++i) count += descriptors_.slots[i] > at;
    return count;
}

/// First cycle in which the head of the queue is in its output register. pre: the queue is not empty
Cycle BdmaCore::descriptor_at() const
{
    return std::max(descriptors_.queue.front().pushed + facts::bdma::kPushToDescriptor, descriptors_.head_moved + 1);
}

// ---- one cycle

void BdmaCore::advance(Cycle to)
{
    account(to);
    registers_.advance(to);
    read_out_.begin(to);
    write_out_.begin(to);

    bool moved = step_completion(to);
    moved |= step_loader(to);  // before the store: it sees the store as it was at the start of the cycle
    const bool stored = step_store(to);
    moved |= stored;
    moved |= step_responses(to);
    moved |= read_out_.end(to);
    moved |= write_out_.end(to);

    if (gate_open()) clocks_.on(to, &BdmaCounters::engine);
    else clocks_.off(to);

    phases_.enter(moved ? Phase::Issuing : waiting_phase(to), to);
    if (moved) phases_.enter(waiting_phase(to + 1), to + 1);
    if (logs_) note_waits(to, stored);
    evaluated_ = to;
    next_ = moved ? to + 1 : timers(to);
}

/// Cycles that were slept through stalled as the last one did.
void BdmaCore::account(Cycle to)
{
    if (to <= evaluated_ + 1 || !registers_.get(reg::bdma::CFG_STATUS)) return;
    const auto slept = static_cast<std::uint32_t>(to - evaluated_ - 1);
    if (loader_.loading && !read_out_[loader_.descriptor.source.interface].ready()) read_stall_[groups_.active_group] += slept;
    if (store_offers(evaluated_ + 1) && !write_out_[store_.command.descriptor.destination.interface].ready()) write_stall_ += slept;
}

bool BdmaCore::step_completion(Cycle now)
{
    if (!acks_.take(now)) return false;
    const unsigned group = done_groups_.front();
    done_groups_.pop_front();
    interrupt_.put(now + facts::bdma::kCompleteToInterrupt, reg::glb::kBdma.bit(group));
    if (logs_)
        (*logs_)[WaitPoint::BdmaDone].event(now + facts::bdma::kCompleteToInterrupt,
                                            of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Bdma)), Cause::Interrupt,
                                            facts::bdma::kCompleteToInterrupt + WriteAcks::kLatency);
    groups_.busy[group] = false;
    groups_.busy_changes[group] = now + 1;
    registers_.set(kReadStall[group], 0, read_stall_[group]);
    registers_.set(kWriteStall[group], 0, write_stall_);
    if (registers_.get(reg::bdma::CFG_STATUS)) write_stall_ = 0;
    ++counted_.groups;
    return true;
}

bool BdmaCore::step_loader(Cycle now)
{
    while (!descriptors_.gathering.empty() && descriptors_.gathering.front() < now) {
        descriptors_.gathering.pop_front();
        ++descriptors_.gathered;
    }
    while (!descriptors_.slots.empty() && descriptors_.slots.front() <= now) descriptors_.slots.pop_front();

    bool moved = false, finishing = false;
    if (loader_.loading) {
        DmaOutput<ReadRequest>& out = read_out_[loader_.descriptor.source.interface];
        if (out.ready()) {
            out.push() = {Address{loader_.walk.address()}, loader_.descriptor.line_atoms()};
            ++counted_.lines;
            finishing = !loader_.walk.next();
            moved = true;
        } else if (registers_.get(reg::bdma::CFG_STATUS)) {
            ++read_stall_[groups_.active_group];
        }
    }

    bool last = false;
    if (takes_descriptor(now, finishing)) {
        last = groups_.active_left == 1;
        loader_.descriptor = descriptors_.queue.front().descriptor;
        loader_.walk = {loader_.descriptor, loader_.descriptor.source};
        commands_.push_back({loader_.descriptor, now + facts::bdma::kCommandLatency, last, groups_.active_group});
        descriptors_.slots.push_back(descriptor_at() - 1 + facts::bdma::kSlotRelease);
        descriptors_.queue.pop_front();
        descriptors_.head_moved = now;
        loader_.previous_from = loader_.descriptor.source.interface;
        --groups_.active_left;
        loader_.loading = true;
        moved = true;
    } else if (finishing) {
        loader_.loading = false;
    }

    if (groups_.pending && groups_.pending_at <= now && (!groups_.active || last)) {
        // Counts what was pushed up to now, launched or not; a group of none never ends.
        groups_.active = true;
        groups_.active_at = now + 1;
        groups_.active_group = groups_.pending_group;
        groups_.active_left = descriptors_.gathered;
        descriptors_.gathered = 0;
        groups_.pending = false;
        moved = true;
    } else if (last) {
        groups_.active = false;
    }
    return moved;
}

bool BdmaCore::takes_descriptor(Cycle now, bool finishing) const
{
    if (!groups_.active || groups_.active_at > now || groups_.active_left == 0) return false;
    if (descriptors_.queue.empty() || descriptor_at() > now || commands_.size() == silicon_.commands) return false;
    if (descriptors_.queue.front().descriptor.source.interface == loader_.previous_from) return !loader_.loading || finishing;
    // Another source: only when everything that came from the old one is stored.
    return !loader_.loading && commands_.empty() && !store_.storing;
}

bool BdmaCore::step_store(Cycle now)
{
    bool moved = false;
    if (store_.storing) {
        DmaOutput<WritePacket>& out = write_out_[store_.command.descriptor.destination.interface];
        if (store_offers(now)) {
            if (!out.ready()) write_stall_ += registers_.get(reg::bdma::CFG_STATUS);
            else if (store_.sending_data) send_beat(out, now);
            else send_command(out);
            moved = out.ready();
        }
    }
    if (!store_.storing && !commands_.empty() && commands_.front().at <= now) {
        store_.command = commands_.front();
        commands_.pop_front();
        store_.command.descriptor.last_line &= facts::bdma::kStoreRepeats;
        store_.command.descriptor.last_surface &= facts::bdma::kStoreRepeats;
        store_.walk = {store_.command.descriptor, store_.command.descriptor.destination};
        store_.storing = true;
        moved = true;
    }
    return moved;
}

/// The store has something for its interface in that cycle.
bool BdmaCore::store_offers(Cycle at) const
{
    return store_.storing && (!store_.sending_data || (!fifo_.empty() && fifo_.front().at <= at));
}

void BdmaCore::send_command(DmaOutput<WritePacket>& out)
{
    const bdma::Descriptor& d = store_.command.descriptor;
    const bool last = store_.command.last && store_.walk.last();
    WritePacket& packet = out.push();
    packet.command = true;
    packet.require_ack = last;
    packet.atoms = d.line_atoms();
    packet.address = Address{store_.walk.address()};
    if (last) {
        acks_.expect(d.destination.interface);
        done_groups_.push_back(store_.command.group);
    }
    store_.sending_data = true;
    store_.beats_left = d.last_atom / silicon_.beat_atoms + 1;
}

void BdmaCore::send_beat(DmaOutput<WritePacket>& out, Cycle now)
{
    const bdma::Descriptor& d = store_.command.descriptor;
    --store_.beats_left;
    WritePacket& packet = out.push();
    packet.command = packet.require_ack = false;
    packet.atoms = store_.beats_left == 0 ? d.last_atom % silicon_.beat_atoms + 1 : silicon_.beat_atoms;
    packet.data = fifo_.front().data;
    read_[fifo_.front().from]->credit.put(now + 1, true);
    fifo_.pop_front();
    ++counted_.beats;
    if (store_.beats_left != 0) return;
    store_.sending_data = false;
    store_.storing = store_.walk.next();
}

bool BdmaCore::step_responses(Cycle now)
{
    bool moved = false;
    for (unsigned port = 0; port < 2; ++port) {
        if (!read_[port]->response.fires(now)) continue;
        Beat& beat = fifo_.extend();
        beat.at = now + facts::bdma::kResponseToFifo;
        beat.from = static_cast<bdma::Interface>(port);
        beat.data = read_[port]->response.item(now).data;
        moved = true;
    }
    return moved;
}

// ---- sleep and report

/// Why cycle `at` stores nothing, or that it does.
void BdmaCore::note_waits(Cycle at, bool stored)
{
    WaitLog& log = (*logs_)[WaitPoint::Bdma];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Bdma)); };
    const bool idle = !groups_.pending && !groups_.active && !loader_.loading && commands_.empty() && !store_.storing;
    if (WaitLog& ask = (*logs_)[of(WaitPoint::Ask)]; idle) ask.idles(at, kWriteToLaunch);
    else if (ask.segments().back().idle) ask.works(at, Cause::StartUp);
    if (idle) log.idles(at, kWriteToLaunch);
    else if (stored) log.works(at, Cause::BdmaPace);
    else if (store_offers(at)) log.waits(at, of(WaitPoint::Room), Cause::BdmaPace);
    else if (!fifo_.empty() || !store_.storing || !store_.sending_data) log.works(at, Cause::BdmaPace);
    else log.waits(at, of(WaitPoint::Read), Cause::BdmaPace);
}

Cycle BdmaCore::timers(Cycle now) const
{
    Cycle at = std::min(registers_.horizon(), acks_.next(now));
    const auto timer = [&](Cycle due) {
        if (due > now) at = std::min(at, due);
    };
    if (groups_.pending) timer(groups_.pending_at);
    if (groups_.active) timer(groups_.active_at);
    if (groups_.active && !descriptors_.queue.empty()) timer(descriptor_at());
    if (!commands_.empty()) timer(commands_.front().at);
    if (!fifo_.empty()) timer(fifo_.front().at);
    return std::max(at, now + 1);
}

bool BdmaCore::idle() const
{
    return descriptors_.queue.empty() && !loader_.loading && commands_.empty() && !store_.storing && !acks_.outstanding();
}

bool BdmaCore::gate_open() const
{
    return groups_.pending || groups_.active || loader_.loading || !commands_.empty() || store_.storing || acks_.outstanding();
}

Phase BdmaCore::waiting_phase(Cycle at) const
{
    if (!gate_open()) return Phase::Gated;
    if (store_offers(at) || loader_.loading) return Phase::Blocked;
    if (store_.storing || !commands_.empty()) return Phase::Starved;
    return acks_.outstanding() ? Phase::Draining : Phase::Starved;
}

UnitReport BdmaCore::report(Cycle end)
{
    phases_.account_until(end);
    return {"BDMA", phases_, counted_, clocks_, end};
}

std::string BdmaCore::waiting_for() const
{
    if (!gate_open()) return "idle";
    if (groups_.active && groups_.active_left == 0) return "a group without descriptors was launched and never ends";
    if (store_.storing && store_.sending_data && fifo_.empty()) return "store waits for read data";
    if (store_.storing) return "store waits for the memory interface";
    if (loader_.loading) return "loader waits for the memory interface";
    if (acks_.outstanding()) return "waits for the acknowledgement of the last write";
    return "a group waits for its descriptors";
}

std::unique_ptr<Core> make_bdma(const Hardware& hardware, const TransferPorts& ports)
{
    return std::make_unique<BdmaCore>(hardware, ports);
}

}  // namespace dlasim
