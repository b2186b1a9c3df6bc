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

struct BdmaCore final : DirectCore<BdmaCore> {
    BdmaCore(const Hardware& hardware, const TransferPorts& ports)
        : silicon(facts::bdma::of(hardware)),
          registers(*find_unit(hardware, "BDMA"), ports.csb),
          read{&ports.read_mc, &ports.read_cv},
          interrupt(ports.interrupt),
          queue(facts::bdma::kDescriptors + 2),
          slots(facts::bdma::kDescriptors + 2),
          gathering(4),
          read_out(ports.read_mc.request, ports.read_cv.request),
          commands(silicon.commands),
          fifo(silicon.fifo_beats),
          write_out(ports.write_mc.request, ports.write_cv.request),
          acks(ports.write_mc.complete, ports.write_cv.complete)
    {
        registers.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) { write_register(offset, data, decode); };
        registers.read_status = [this](std::uint32_t offset, unsigned, Cycle at) { return read_register(offset, at); };
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return next; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override { phases.record(probes.phases("bdma")); }
    std::uint64_t work() const override { return counted.beats * kMaxBeatBytes; }
    void follow(WaitLogs& all) override { logs = &all; }
    void note_waits(Cycle at, bool stored);

    struct Command {
        bdma::Descriptor descriptor;
        Cycle at = 0;       // first cycle at the queue's output
        bool last = false;  // of its group: to be acknowledged
        unsigned group = 0;
    };
    struct Queued {
        bdma::Descriptor descriptor;
        Cycle pushed = 0;
    };
    struct Beat {
        Cycle at = 0;  // first cycle at the FIFO's output
        bdma::Interface from = bdma::kMc;
        std::array<std::uint8_t, kMaxBeatBytes> data;
    };

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
    Cycle timers(Cycle now) const;
    bool idle() const;
    Phase waiting_phase(Cycle at) const;
    bool gate_open() const;

    const facts::bdma::Facts silicon;
    RegisterFile registers;
    std::array<ReadLink*, 2> read;
    Pulse<std::uint32_t>& interrupt;

    // Descriptors and groups.
    Ring<Queued> queue;     // pushed, not yet taken by the loader
    Ring<Cycle> slots;      // cycles in which slots of taken ones are counted as free
    Cycle head_moved = 0;   // when the head of the queue could move to its output register
    Ring<Cycle> gathering;  // pushes not yet in the counter
    std::uint32_t gathered = 0;
    bool pending = false, active = false;
    Cycle pending_at = 0;
    unsigned pending_group = 0, active_group = 0;
    std::uint32_t active_left = 0;
    Cycle active_at = 0;
    std::array<bool, 2> busy{};
    std::array<Cycle, 2> busy_changes{};  // cycle from which busy is read

    // (1) The loader.
    bool loading = false;
    bdma::Descriptor load;
    bdma::LineWalk load_walk;
    bdma::Interface previous_from = bdma::kCv;
    DmaOutputs<ReadRequest> read_out;

    // (2) The store.
    Ring<Command> commands;
    bool storing = false, sending_data = false;
    Command store;
    bdma::LineWalk store_walk;
    std::uint32_t beats_left = 0;
    Ring<Beat> fifo;
    DmaOutputs<WritePacket> write_out;
    WriteAcks acks;
    Ring<unsigned> done_groups;  // groups whose acknowledged command was sent

    // Accounting.
    Cycle evaluated = 0, next = 0;
    PhaseLog phases;
    WaitLogs* logs = nullptr;
    std::array<std::uint32_t, 2> read_stall{};
    std::uint32_t write_stall = 0;
    GatedClocks<BdmaCounters> clocks;
    BdmaCounters counted;
};

}  // namespace

// ---- registers

void BdmaCore::write_register(std::uint32_t offset, std::uint32_t data, Cycle decode)
{
    if (!reg::bdma::CFG_OP::EN.get(data)) return;  // launches have the same bit
    if (offset == reg::bdma::CFG_OP) {
        const Cycle pushed = decode + facts::bdma::kDecodeToTrigger;
        if (queue_count(pushed) == facts::bdma::kDescriptors) return;  // no place: dropped
        queue.push_back({bdma::Descriptor::decode(registers), pushed});
        gathering.push_back(pushed);
    } else if (offset == reg::bdma::CFG_LAUNCH0 || offset == reg::bdma::CFG_LAUNCH1) {
        const unsigned group = offset == reg::bdma::CFG_LAUNCH1;
        if (!pending) pending_at = decode + facts::bdma::kDecodeToBusy;
        pending = true;
        pending_group = group;  // of two launches that cannot move the first is lost
        if (!busy[group]) {
            busy[group] = true;
            busy_changes[group] = decode + facts::bdma::kDecodeToBusy;
        }
        registers.set(kReadStall[group], 0, 0);
        registers.set(kWriteStall[group], 0, 0);
    }
}

std::optional<std::uint32_t> BdmaCore::read_register(std::uint32_t offset, Cycle at) const
{
    if (offset != reg::bdma::STATUS) return std::nullopt;
    using Status = decltype(reg::bdma::STATUS);
    const auto shown = [&](unsigned group) { return busy[group] == (at >= busy_changes[group]); };
    return Status::FREE_SLOT.put(facts::bdma::kDescriptors - queue_count(at)) | Status::IDLE.put(idle()) | Status::GRP0_BUSY.put(shown(0)) |
           Status::GRP1_BUSY.put(shown(1));
}

/// Descriptors counted as held in cycle `at`: a slot is free again two cycles after its descriptor left.
std::uint32_t BdmaCore::queue_count(Cycle at) const
{
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) count += queue[i].pushed < at;
    if (!queue.empty() && descriptor_at() - 1 + facts::bdma::kSlotRelease <= at) --count;
    for (std::size_t i = 0; i < slots.size(); ++i) count += slots[i] > at;
    return count;
}

/// First cycle in which the head of the queue is in its output register. pre: the queue is not empty
Cycle BdmaCore::descriptor_at() const { return std::max(queue.front().pushed + facts::bdma::kPushToDescriptor, head_moved + 1); }

// ---- one cycle

void BdmaCore::advance(Cycle to)
{
    account(to);
    registers.advance(to);
    read_out.begin(to);
    write_out.begin(to);

    bool moved = step_completion(to);
    moved |= step_loader(to);  // before the store: it sees the store as it was at the start of the cycle
    const bool stored = step_store(to);
    moved |= stored;
    moved |= step_responses(to);
    moved |= read_out.end(to);
    moved |= write_out.end(to);

    if (gate_open()) clocks.on(to, &BdmaCounters::engine);
    else clocks.off(to);

    phases.enter(moved ? Phase::Issuing : waiting_phase(to), to);
    if (moved) phases.enter(waiting_phase(to + 1), to + 1);
    if (logs) note_waits(to, stored);
    evaluated = to;
    next = moved ? to + 1 : timers(to);
}

/// Cycles that were slept through stalled as the last one did.
void BdmaCore::account(Cycle to)
{
    if (to <= evaluated + 1 || !registers.get(reg::bdma::CFG_STATUS)) return;
    const auto slept = static_cast<std::uint32_t>(to - evaluated - 1);
    if (loading && !read_out[load.source.interface].ready()) read_stall[active_group] += slept;
    if (store_offers(evaluated + 1) && !write_out[store.descriptor.destination.interface].ready()) write_stall += slept;
}

bool BdmaCore::step_completion(Cycle now)
{
    if (!acks.take(now)) return false;
    const unsigned group = done_groups.front();
    done_groups.pop_front();
    interrupt.put(now + facts::bdma::kCompleteToInterrupt, reg::glb::kBdma.bit(group));
    if (logs)
        (*logs)[WaitPoint::BdmaDone].event(now + facts::bdma::kCompleteToInterrupt,
                                           of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Bdma)), Cause::Interrupt,
                                           facts::bdma::kCompleteToInterrupt + WriteAcks::kLatency);
    busy[group] = false;
    busy_changes[group] = now + 1;
    registers.set(kReadStall[group], 0, read_stall[group]);
    registers.set(kWriteStall[group], 0, write_stall);
    if (registers.get(reg::bdma::CFG_STATUS)) write_stall = 0;
    ++counted.groups;
    return true;
}

bool BdmaCore::step_loader(Cycle now)
{
    while (!gathering.empty() && gathering.front() < now) {
        gathering.pop_front();
        ++gathered;
    }
    while (!slots.empty() && slots.front() <= now) slots.pop_front();

    bool moved = false, finishing = false;
    if (loading) {
        DmaOutput<ReadRequest>& out = read_out[load.source.interface];
        if (out.ready()) {
            out.push() = {Address{load_walk.address()}, load.line_atoms()};
            ++counted.lines;
            finishing = !load_walk.next();
            moved = true;
        } else if (registers.get(reg::bdma::CFG_STATUS)) {
            ++read_stall[active_group];
        }
    }

    bool last = false;
    if (takes_descriptor(now, finishing)) {
        last = active_left == 1;
        load = queue.front().descriptor;
        load_walk = {load, load.source};
        commands.push_back({load, now + facts::bdma::kCommandLatency, last, active_group});
        slots.push_back(descriptor_at() - 1 + facts::bdma::kSlotRelease);
        queue.pop_front();
        head_moved = now;
        previous_from = load.source.interface;
        --active_left;
        loading = true;
        moved = true;
    } else if (finishing) {
        loading = false;
    }

    if (pending && pending_at <= now && (!active || last)) {
        // Counts what was pushed up to now, launched or not; a group of none never ends.
        active = true;
        active_at = now + 1;
        active_group = pending_group;
        active_left = gathered;
        gathered = 0;
        pending = false;
        moved = true;
    } else if (last) {
        active = false;
    }
    return moved;
}

bool BdmaCore::takes_descriptor(Cycle now, bool finishing) const
{
    if (!active || active_at > now || active_left == 0) return false;
    if (queue.empty() || descriptor_at() > now || commands.size() == silicon.commands) return false;
    if (queue.front().descriptor.source.interface == previous_from) return !loading || finishing;
    // Another source: only when everything that came from the old one is stored.
    return !loading && commands.empty() && !storing;
}

bool BdmaCore::step_store(Cycle now)
{
    bool moved = false;
    if (storing) {
        DmaOutput<WritePacket>& out = write_out[store.descriptor.destination.interface];
        if (store_offers(now)) {
            if (!out.ready()) write_stall += registers.get(reg::bdma::CFG_STATUS);
            else if (sending_data) send_beat(out, now);
            else send_command(out);
            moved = out.ready();
        }
    }
    if (!storing && !commands.empty() && commands.front().at <= now) {
        store = commands.front();
        commands.pop_front();
        store.descriptor.last_line &= facts::bdma::kStoreRepeats;
        store.descriptor.last_surface &= facts::bdma::kStoreRepeats;
        store_walk = {store.descriptor, store.descriptor.destination};
        storing = true;
        moved = true;
    }
    return moved;
}

/// The store has something for its interface in that cycle.
bool BdmaCore::store_offers(Cycle at) const { return storing && (!sending_data || (!fifo.empty() && fifo.front().at <= at)); }

void BdmaCore::send_command(DmaOutput<WritePacket>& out)
{
    const bdma::Descriptor& d = store.descriptor;
    const bool last = store.last && store_walk.last();
    WritePacket& packet = out.push();
    packet.command = true;
    packet.require_ack = last;
    packet.atoms = d.line_atoms();
    packet.address = Address{store_walk.address()};
    if (last) {
        acks.expect(d.destination.interface);
        done_groups.push_back(store.group);
    }
    sending_data = true;
    beats_left = d.last_atom / silicon.beat_atoms + 1;
}

void BdmaCore::send_beat(DmaOutput<WritePacket>& out, Cycle now)
{
    const bdma::Descriptor& d = store.descriptor;
    --beats_left;
    WritePacket& packet = out.push();
    packet.command = packet.require_ack = false;
    packet.atoms = beats_left == 0 ? d.last_atom % silicon.beat_atoms + 1 : silicon.beat_atoms;
    packet.data = fifo.front().data;
    read[fifo.front().from]->credit.put(now + 1, true);
    fifo.pop_front();
    ++counted.beats;
    if (beats_left != 0) return;
    sending_data = false;
    storing = store_walk.next();
}

bool BdmaCore::step_responses(Cycle now)
{
    bool moved = false;
    for (unsigned port = 0; port < 2; ++port) {
        if (!read[port]->response.fires(now)) continue;
        Beat& beat = fifo.extend();
        beat.at = now + facts::bdma::kResponseToFifo;
        beat.from = static_cast<bdma::Interface>(port);
        beat.data = read[port]->response.item(now).data;
        moved = true;
    }
    return moved;
}

// ---- sleep and report

/// Why cycle `at` stores nothing, or that it does.
void BdmaCore::note_waits(Cycle at, bool stored)
{
    WaitLog& log = (*logs)[WaitPoint::Bdma];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Bdma)); };
    const bool idle = !pending && !active && !loading && commands.empty() && !storing;
    if (WaitLog& ask = (*logs)[of(WaitPoint::Ask)]; idle) ask.idles(at, kWriteToLaunch);
    else if (ask.segments().back().idle) ask.works(at, Cause::StartUp);
    if (idle) log.idles(at, kWriteToLaunch);
    else if (stored) log.works(at, Cause::BdmaPace);
    else if (store_offers(at)) log.waits(at, of(WaitPoint::Room), Cause::BdmaPace);
    else if (!fifo.empty() || !storing || !sending_data) log.works(at, Cause::BdmaPace);
    else log.waits(at, of(WaitPoint::Read), Cause::BdmaPace);
}

Cycle BdmaCore::timers(Cycle now) const
{
    Cycle at = std::min(registers.horizon(), acks.next(now));
    const auto timer = [&](Cycle due) {
        if (due > now) at = std::min(at, due);
    };
    if (pending) timer(pending_at);
    if (active) timer(active_at);
    if (active && !queue.empty()) timer(descriptor_at());
    if (!commands.empty()) timer(commands.front().at);
    if (!fifo.empty()) timer(fifo.front().at);
    return std::max(at, now + 1);
}

bool BdmaCore::idle() const { return queue.empty() && !loading && commands.empty() && !storing && !acks.outstanding(); }

bool BdmaCore::gate_open() const { return pending || active || loading || !commands.empty() || storing || acks.outstanding(); }

Phase BdmaCore::waiting_phase(Cycle at) const
{
    if (!gate_open()) return Phase::Gated;
    if (store_offers(at) || loading) return Phase::Blocked;
    if (storing || !commands.empty()) return Phase::Starved;
    return acks.outstanding() ? Phase::Draining : Phase::Starved;
}

UnitReport BdmaCore::report(Cycle end)
{
    phases.account_until(end);
    return {"BDMA", phases, counted, clocks, end};
}

std::string BdmaCore::waiting_for() const
{
    if (!gate_open()) return "idle";
    if (active && active_left == 0) return "a group without descriptors was launched and never ends";
    if (storing && sending_data && fifo.empty()) return "store waits for read data";
    if (storing) return "store waits for the memory interface";
    if (loading) return "loader waits for the memory interface";
    if (acks.outstanding()) return "waits for the acknowledgement of the last write";
    return "a group waits for its descriptors";
}

std::unique_ptr<Core> make_bdma(const Hardware& hardware, const TransferPorts& ports)
{
    return std::make_unique<BdmaCore>(hardware, ports);
}

}  // namespace dlasim
