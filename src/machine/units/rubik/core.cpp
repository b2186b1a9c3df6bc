#include "units/rubik/core.h"

#include <algorithm>
#include <array>

#include "base/ring.h"
#include "elements/stage.h"
#include "elements/word_fifo.h"
#include "facts/rubik.h"
#include "links/direct_core.h"
#include "links/dma_shim.h"
#include "registers/fields/rbk.h"
#include "registers/interrupts.h"
#include "registers/register_file.h"
#include "units/rubik/bank.h"
#include "units/rubik/counters.h"
#include "units/rubik/layer.h"
#include "units/rubik/packer.h"

namespace dlasim {

using namespace rubik;

namespace {

struct RubikCore final : DirectCore<RubikCore> {
    RubikCore(const Hardware& hardware, const TransferPorts& ports)
        : silicon(facts::rubik::of(hardware)),
          registers(*find_unit(hardware, "RBK"), ports.csb),
          links{&ports.read_mc, &ports.read_cv},
          interrupt(ports.interrupt),
          read_out(ports.read_mc.request, ports.read_cv.request),
          blocks(silicon.fifo_beats),
          fifo(silicon.fifo_beats),
          waiting(Packer::kAtoms),
          write_out(ports.write_mc.request, ports.write_cv.request),
          acks(ports.write_mc.complete, ports.write_cv.complete)
    {
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return next; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override { phases.record(probes.phases("rubik")); }
    std::uint64_t work() const override { return counted.beats_out * kMaxBeatBytes; }
    void follow(WaitLogs& all) override { logs = &all; }
    void note_waits(Cycle at, bool moved);

    struct Beat {
        Cycle at = 0;  // first cycle in which it can be filled
        std::array<std::uint8_t, kMaxBeatBytes> data;
    };
    /// A FIFO of commands: what is in it, and when it is at the output.
    template <class T>
    struct Commands {
        elements::WordFifo<facts::rubik::kCommandWords> fifo;
        Ring<T> items{elements::WordFifo<facts::rubik::kCommandWords>::kCapacity};
        bool empty() const { return items.empty(); }
        bool step(const T* in, bool taken)
        {
            if (taken) items.pop_front();
            if (in && fifo.ready()) items.push_back(*in);
            return fifo.step(in, taken);
        }
    };
    struct BankState {
        rubik::Bank bank;
        bool full = false;
        Cycle changes = 0;  // first cycle in which the other side sees it
    };

    void start(Cycle now);
    void account(Cycle to);
    bool step_completion(Cycle now);
    bool step_reader(Cycle now);
    bool step_commands(Cycle now, bool taken);
    unsigned step_sender(Cycle now, bool& moved);
    bool step_write_side(Cycle now);
    const rubik::Packer::Beat* step_drain(Cycle now);
    bool step_fill(Cycle now);
    bool step_response(Cycle now);
    bool sender_offers(Cycle at) const;
    std::uint32_t beat_atoms() const { return atoms_left < 2 ? atoms_left : 2; }
    void finish(Cycle now);
    Cycle timers(Cycle now) const;
    Phase waiting_phase(Cycle at) const;

    const facts::rubik::Facts silicon;
    RegisterFile registers;
    std::array<ReadLink*, 2> links;
    Pulse<std::uint32_t>& interrupt;

    // The layer.
    bool running = false;
    Cycle active_at = 0;  // first cycle of requests and commands
    rubik::LayerConfig layer;
    unsigned source = 0, target = 0;  // 0 MCIF, 1 CVIF

    // (1) and (2)
    bool reading = false;
    rubik::ReadWalk reads;
    DmaOutputs<ReadRequest> read_out;
    Ring<rubik::Block> blocks;  // requested, not yet being filled
    Ring<Beat> fifo;
    bool filling = false, fill_ends = false;  // the beat filled in this cycle ended its block

    // (3)
    std::array<BankState, 2> banks;
    unsigned fill_bank = 0, drain_bank = 0;
    elements::Stage<bool> fill_pipe;  // the beat ends its block
    unsigned blocks_filled = 0;       // (5)
    Commands<std::uint32_t> drains;   // blocks to drain
    std::uint32_t open = 0;           // blocks left of the drain command that was taken out
    rubik::Packer::Beat drained;      // the beat issued in this cycle
    rubik::Packer packer;
    Ring<rubik::Atom> waiting;  // drained and not yet sent

    // (4)
    bool commanding = false;  // commands are still generated
    rubik::WriteWalk writes;
    rubik::Write next_write;
    Commands<rubik::Write> commands;
    Cycle armed_at = kNever;                                          // the first command after reset waits for data
    bool sending = false, command_taken = false, layer_done = false;  // the last two: in this cycle
    rubik::Write write;
    std::uint32_t atoms_left = 0;
    DmaOutputs<WritePacket> write_out;
    WriteAcks acks;
    Ring<unsigned> done_groups;

    // Accounting.
    Cycle evaluated = 0, next = 0;
    PhaseLog phases;
    WaitLogs* logs = nullptr;
    std::uint32_t read_stall = 0, write_stall = 0;
    GatedClocks<RubikCounters> clocks;
    RubikCounters counted;
};

}  // namespace

void RubikCore::advance(Cycle to)
{
    account(to);
    registers.advance(to);
    read_out.begin(to);
    write_out.begin(to);
    if (!running && registers.start_cycle() <= to) start(to);

    const std::uint64_t sent = counted.beats_out, taken = counted.beats_in;
    bool moved = step_completion(to);
    moved |= step_reader(to);
    moved |= step_write_side(to);
    moved |= step_response(to);
    moved |= read_out.end(to);
    moved |= write_out.end(to);

    phases.enter(moved ? Phase::Issuing : waiting_phase(to), to);
    if (moved) phases.enter(waiting_phase(to + 1), to + 1);
    if (logs) note_waits(to, counted.beats_out != sent || counted.beats_in != taken);
    evaluated = to;
    next = moved ? to + 1 : timers(to);
}

void RubikCore::start(Cycle now)
{
    running = reading = commanding = true;
    active_at = now + facts::rubik::kStartToRequest;
    layer = LayerConfig::decode(registers);
    source = layer.from_mc ? 0 : 1;
    target = layer.to_mc ? 0 : 1;
    reads = ReadWalk(layer);
    writes = WriteWalk(layer);
    next_write = writes.current();
    clocks.on(now, &RubikCounters::engine);
}

/// Cycles that were slept through stalled as the last one did.
void RubikCore::account(Cycle to)
{
    if (!running || to <= evaluated + 1 || !registers.get(reg::rbk::D_PERF_ENABLE)) return;
    const auto slept = static_cast<std::uint32_t>(to - evaluated - 1);
    if (reading && active_at <= evaluated + 1) read_stall += slept;
    if (sender_offers(evaluated + 1) && !write_out[target].ready()) write_stall += slept;
}

bool RubikCore::step_completion(Cycle now)
{
    if (!acks.take(now) || done_groups.empty()) return false;
    interrupt.put(now + facts::rubik::kCompleteToInterrupt, reg::glb::kRubik.bit(done_groups.front()));
    if (logs)
        (*logs)[WaitPoint::RubikDone].event(now + facts::rubik::kCompleteToInterrupt,
                                            of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Rubik)), Cause::Interrupt,
                                            facts::rubik::kCompleteToInterrupt + WriteAcks::kLatency);
    done_groups.pop_front();
    return true;
}

// ---- (1)

bool RubikCore::step_reader(Cycle now)
{
    if (!reading || active_at > now) return false;
    const std::uint32_t stalls_before = read_stall;
    read_stall += registers.get(reg::rbk::D_PERF_ENABLE);  // counts every cycle of a request
    DmaOutput<ReadRequest>& out = read_out[source];
    if (!out.ready()) return false;
    const Read read = reads.current();
    out.push() = {Address{read.address}, read.atoms};
    if (read.opens_block) blocks.push_back(read.block);
    if (!reads.next()) {
        reading = false;
        registers.set(reg::rbk::D_PERF_READ_STALL, registers.consumer(), stalls_before);
        read_stall = 0;
    }
    return true;
}

bool RubikCore::step_response(Cycle now)
{
    bool moved = false;
    for (ReadLink* link : links) {
        if (!link->response.fires(now)) continue;
        Beat& beat = fifo.extend();
        beat.at = now + facts::rubik::kResponseToFifo;
        beat.data = link->response.item(now).data;
        moved = true;
    }
    return moved;
}

/// From the sender back to the data FIFO: all see the others as they were at the start of the cycle.
bool RubikCore::step_write_side(Cycle now)
{
    bool moved = command_taken = layer_done = false;
    const bool room_in_file = blocks_filled < facts::rubik::kBanks, block_in_file = blocks_filled != 0;
    const unsigned sent = step_sender(now, moved);
    const Packer::Beat* issued = step_drain(now);
    moved |= step_commands(now, command_taken);
    const Packer::Cycle packed = packer.step(issued, block_in_file, sent);
    if (packed.pushed && armed_at == kNever) armed_at = now + facts::rubik::kPushToCommand;
    blocks_filled -= packed.block_read;

    const bool arrives = fill_pipe.valid() && room_in_file;
    blocks_filled += arrives && fill_pipe.head();
    const bool fills = step_fill(now);
    moved |= fill_pipe.step(fills ? &fill_ends : nullptr, arrives, false);
    if (layer_done) finish(now);
    return moved || packed.changed || issued || arrives || fills;
}

/// A beat from the data FIFO to the bank that is filled.
bool RubikCore::step_fill(Cycle now)
{
    BankState& side = banks[fill_bank];
    const bool free = !side.full && side.changes <= now && fill_pipe.ready();
    if (!free || fifo.empty() || fifo.front().at > now || (!filling && blocks.empty())) return false;
    if (!filling) {
        side.bank.open(blocks.front());
        blocks.pop_front();
        filling = true;
    }
    fill_ends = side.bank.fill(fifo.front().data.data());
    if (fill_ends) {
        filling = false;
        side.full = true;
        side.changes = now + facts::rubik::kFillToDrain;
        fill_bank ^= 1;
    }
    fifo.pop_front();
    links[source]->credit.put(now + 1, true);
    ++counted.beats_in;
    return true;
}

// ---- (3)

/// A beat from the bank that is drained, null if there is none.
const Packer::Beat* RubikCore::step_drain(Cycle now)
{
    BankState& side = banks[drain_bank];
    if (!side.full || side.changes > now || open == 0 || !packer.ready()) return nullptr;
    Atom atoms[2];
    drained.atoms = static_cast<std::uint8_t>(side.bank.drain_atoms());
    drained.ends_block = side.bank.drain(atoms);
    for (std::uint32_t i = 0; i < drained.atoms; ++i) waiting.push_back(atoms[i]);
    if (drained.ends_block) {
        side.full = false;
        side.changes = now + facts::rubik::kDrainToFill;
        drain_bank ^= 1;
        --open;
    }
    return &drained;
}

// ---- (4)

bool RubikCore::sender_offers(Cycle at) const { return sending ? packer.available(beat_atoms()) : commands.fifo.valid() && armed_at <= at; }

/// Clocks the command FIFOs. A write command is made when both have space; the drain command at the output is taken
/// when the one before it has issued its last beat.
bool RubikCore::step_commands(Cycle now, bool taken)
{
    const bool wants = commanding && active_at <= now, room = commands.fifo.ready(), room_to_drain = drains.fifo.ready();
    const bool takes = open == 0 && drains.fifo.valid();
    if (takes) open = drains.items.front();
    const std::uint32_t opens = next_write.opens_blocks;
    const bool moved = commands.step(wants && room_to_drain ? &next_write : nullptr, taken);
    const bool drains_moved = drains.step(wants && room && opens != 0 ? &opens : nullptr, takes);
    if (wants && room && room_to_drain) {
        commanding = writes.next();
        if (commanding) next_write = writes.current();
    }
    return moved || drains_moved;
}

/// Returns the atoms that leave the packer.
unsigned RubikCore::step_sender(Cycle now, bool& moved)
{
    const bool offers = sender_offers(now);
    DmaOutput<WritePacket>& out = write_out[target];
    const bool goes = offers && out.ready();
    const bool command = goes && !sending;
    unsigned sent = 0;
    if (offers && !goes) write_stall += registers.get(reg::rbk::D_PERF_ENABLE);
    if (command) {
        write = commands.items.front();
        WritePacket& packet = out.push();
        packet.command = true;
        packet.require_ack = write.last;
        packet.address = Address{write.address};
        packet.atoms = atoms_left = write.atoms;
        if (write.last) acks.expect(target);
        sending = true;
    } else if (goes) {
        WritePacket& packet = out.push();
        packet.command = packet.require_ack = false;
        packet.atoms = sent = beat_atoms();
        packet.data.fill(0);
        for (std::uint32_t i = 0; i < sent; ++i) {
            std::copy(waiting.front().begin(), waiting.front().end(), packet.data.begin() + i * kAtomBytes);
            waiting.pop_front();
        }
        atoms_left -= sent;
        ++counted.beats_out;
        sending = atoms_left != 0;
        layer_done = !sending && write.last;
    }
    moved |= goes;
    command_taken = command;
    return sent;
}

/// The last beat is handed over. Where the program makes the two sides count differently, data are left
/// and the engine hangs.
void RubikCore::finish(Cycle now)
{
    const bool rest = reading || !blocks.empty() || filling || !fifo.empty() || !drains.empty() || open != 0 || !waiting.empty();
    if (rest) return;
    registers.set(reg::rbk::D_PERF_WRITE_STALL, registers.consumer(), write_stall);
    write_stall = 0;
    done_groups.push_back(registers.consumer());
    packer.restart();
    registers.finish(now);
    running = false;
    clocks.off(now + facts::rubik::kDoneToGate);
    ++counted.layers;
}

// ---- sleep and report

/// Why cycle `at` moves no beat, or that it does.
void RubikCore::note_waits(Cycle at, bool moved)
{
    WaitLog& log = (*logs)[WaitPoint::Rubik];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Rubik)); };
    if (WaitLog& ask = (*logs)[of(WaitPoint::Ask)]; !running) registers.note_idle(ask, at);
    else if (ask.segments().back().idle) ask.works(at, Cause::StartUp);
    if (!running) registers.note_idle(log, at);
    else if (moved) log.works(at, Cause::RubikPace);
    else if (sender_offers(at)) log.waits(at, of(WaitPoint::Room), Cause::RubikPace);
    else if (!fifo.empty() || (!reading && blocks.empty() && !filling)) log.works(at, Cause::RubikPace);
    else log.waits(at, of(WaitPoint::Read), Cause::RubikPace);
}

Cycle RubikCore::timers(Cycle now) const
{
    Cycle at = std::min(registers.horizon(), acks.next(now));
    const auto timer = [&](Cycle due) {
        if (due > now) at = std::min(at, due);
    };
    if (!running) {
        timer(registers.start_cycle());
    } else {
        timer(active_at);
        timer(banks[0].changes);
        timer(banks[1].changes);
        if (!fifo.empty()) timer(fifo.front().at);
        timer(armed_at);
    }
    return std::max(at, now + 1);
}

Phase RubikCore::waiting_phase(Cycle at) const
{
    if (!running) return acks.outstanding() ? Phase::Draining : Phase::Gated;
    if (sender_offers(at)) return Phase::Blocked;
    return commanding || reading || !commands.empty() || sending ? Phase::Starved : Phase::Draining;
}

UnitReport RubikCore::report(Cycle end)
{
    phases.account_until(end);
    return {"RUBIK", phases, counted, clocks, end};
}

std::string RubikCore::waiting_for() const
{
    if (!running) return acks.outstanding() ? "waits for the acknowledgement of the last write" : "idle";
    if (sending && waiting.empty()) return "sender waits for read data";
    if (sending) return "sender waits for the memory interface";
    if (reading) return "reader waits for the memory interface";
    if (!commands.empty()) return "a write waits for data";
    return "read and write side have different counts: datain_channel and dataout_channel";
}

std::unique_ptr<Core> make_rubik(const Hardware& hardware, const TransferPorts& ports)
{
    return std::make_unique<RubikCore>(hardware, ports);
}

}  // namespace dlasim
