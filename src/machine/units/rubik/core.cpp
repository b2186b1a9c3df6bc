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

class RubikCore final : public DirectCore<RubikCore> {
public:
    RubikCore(const Hardware& hardware, const TransferPorts& ports)
        : silicon_(facts::rubik::of(hardware)),
          links_{&ports.read_mc, &ports.read_cv},
          interrupt_(ports.interrupt),
          registers_(*find_unit(hardware, "RBK"), ports.csb),
          read_out_(ports.read_mc.request, ports.read_cv.request),
          blocks_(silicon_.fifo_beats),
          fifo_(silicon_.fifo_beats),
          waiting_(Packer::kAtoms),
          write_out_(ports.write_mc.request, ports.write_cv.request),
          acks_(ports.write_mc.complete, ports.write_cv.complete)
    {
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return next_; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override { phases_.record(probes.phases("rubik")); }
    std::uint64_t work() const override { return counted_.beats_out * kMaxBeatBytes; }
    void follow(WaitLogs& all) override { logs_ = &all; }

private:
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
    std::uint32_t beat_atoms() const { return sender_.atoms_left < 2 ? sender_.atoms_left : 2; }
    void finish(Cycle now);
    void note_waits(Cycle at, bool moved);
    Cycle timers(Cycle now) const;
    Phase waiting_phase(Cycle at) const;

    // ---- what never changes
    const facts::rubik::Facts silicon_;
    std::array<ReadLink*, 2> links_;
    Pulse<std::uint32_t>& interrupt_;

    // ---- what a layer sets
    RegisterFile registers_;
    struct Layer {
        Cycle active_at = 0;  // first cycle of requests and commands
        rubik::LayerConfig config;
        unsigned source = 0, target = 0;  // 0 MCIF, 1 CVIF
    } layer_;

    // ---- what moves
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
    DmaOutputs<ReadRequest> read_out_;  // (1)
    Ring<rubik::Block> blocks_;         // requested, not yet being filled
    Ring<Beat> fifo_;                   // (2)
    std::array<BankState, 2> banks_;
    elements::Stage<bool> fill_pipe_;  // the beat ends its block
    Commands<std::uint32_t> drains_;   // (3) blocks to drain
    rubik::Packer packer_;
    Ring<rubik::Atom> waiting_;          // drained and not yet sent
    Commands<rubik::Write> commands_;    // (4)
    DmaOutputs<WritePacket> write_out_;  // (4)
    WriteAcks acks_;
    Ring<unsigned> done_groups_;
    bool running_ = false;
    Cycle evaluated_ = 0, next_ = 0;
    unsigned blocks_filled_ = 0;  // (5)
    /// (1)
    struct Reader {
        bool reading = false;
        rubik::ReadWalk walk;
    } reader_;
    /// (2)
    struct Fill {
        bool filling = false, ends = false;  // the beat filled in this cycle ended its block
        unsigned bank = 0;
    } fill_;
    /// (3)
    struct Drain {
        unsigned bank = 0;
        std::uint32_t open = 0;      // blocks left of the drain command that was taken out
        rubik::Packer::Beat issued;  // the beat issued in this cycle
    } drain_;
    /// (4)
    struct Generator {
        bool commanding = false;  // commands are still generated
        rubik::WriteWalk walk;
        rubik::Write next_write;
    } generator_;
    /// (4)
    struct Sender {
        Cycle armed_at = kNever;                                          // the first command after reset waits for data
        bool sending = false, command_taken = false, layer_done = false;  // the last two: in this cycle
        rubik::Write write;
        std::uint32_t atoms_left = 0;
    } sender_;

    // ---- what is counted
    PhaseLog phases_;
    WaitLogs* logs_ = nullptr;
    std::uint32_t read_stall_ = 0, write_stall_ = 0;
    GatedClocks<RubikCounters> clocks_;
    RubikCounters counted_;
};

}  // namespace

void RubikCore::advance(Cycle to)
{
    account(to);
    registers_.advance(to);
    read_out_.begin(to);
    write_out_.begin(to);
    if (!running_ && registers_.start_cycle() <= to) start(to);

    const std::uint64_t sent = counted_.beats_out, taken = counted_.beats_in;
    bool moved = step_completion(to);
    moved |= step_reader(to);
    moved |= step_write_side(to);
    moved |= step_response(to);
    moved |= read_out_.end(to);
    moved |= write_out_.end(to);

    phases_.enter(moved ? Phase::Issuing : waiting_phase(to), to);
    if (moved) phases_.enter(waiting_phase(to + 1), to + 1);
    if (logs_) note_waits(to, counted_.beats_out != sent || counted_.beats_in != taken);
    evaluated_ = to;
    next_ = moved ? to + 1 : timers(to);
}

void RubikCore::start(Cycle now)
{
    running_ = reader_.reading = generator_.commanding = true;
    layer_.active_at = now + facts::rubik::kStartToRequest;
    layer_.config = LayerConfig::decode(registers_);
    layer_.source = layer_.config.from_mc ? 0 : 1;
    layer_.target = layer_.config.to_mc ? 0 : 1;
    reader_.walk = ReadWalk(layer_.config);
    generator_.walk = WriteWalk(layer_.config);
    generator_.next_write = generator_.walk.current();
    clocks_.on(now, &RubikCounters::engine);
}

/// Cycles that were slept through stalled as the last one did.
void RubikCore::account(Cycle to)
{
    if (!running_ || to <= evaluated_ + 1 || !registers_.get(reg::rbk::D_PERF_ENABLE)) return;
    const auto slept = static_cast<std::uint32_t>(to - evaluated_ - 1);
    if (reader_.reading && layer_.active_at <= evaluated_ + 1) read_stall_ += slept;
    if (sender_offers(evaluated_ + 1) && !write_out_[layer_.target].ready()) write_stall_ += slept;
}

bool RubikCore::step_completion(Cycle now)
{
    if (!acks_.take(now) || done_groups_.empty()) return false;
    interrupt_.put(now + facts::rubik::kCompleteToInterrupt, reg::glb::kRubik.bit(done_groups_.front()));
    if (logs_)
        (*logs_)[WaitPoint::RubikDone].event(now + facts::rubik::kCompleteToInterrupt,
                                             of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Rubik)), Cause::Interrupt,
                                             facts::rubik::kCompleteToInterrupt + WriteAcks::kLatency);
    done_groups_.pop_front();
    return true;
}

// ---- (1)

bool RubikCore::step_reader(Cycle now)
{
    if (!reader_.reading || layer_.active_at > now) return false;
    const std::uint32_t stalls_before = read_stall_;
    read_stall_ += registers_.get(reg::rbk::D_PERF_ENABLE);  // counts every cycle of a request
    DmaOutput<ReadRequest>& out = read_out_[layer_.source];
    if (!out.ready()) return false;
    const Read read = reader_.walk.current();
    out.push() = {Address{read.address}, read.atoms};
    if (read.opens_block) blocks_.push_back(read.block);
    if (!reader_.walk.next()) {
        reader_.reading = false;
        registers_.set(reg::rbk::D_PERF_READ_STALL, registers_.consumer(), stalls_before);
        read_stall_ = 0;
    }
    return true;
}

bool RubikCore::step_response(Cycle now)
{
    bool moved = false;
    for (ReadLink* link : links_) {
        if (!link->response.fires(now)) continue;
        Beat& beat = fifo_.extend();
        beat.at = now + facts::rubik::kResponseToFifo;
        beat.data = link->response.item(now).data;
        moved = true;
    }
    return moved;
}

/// From the sender back to the data FIFO: all see the others as they were at the start of the cycle.
bool RubikCore::step_write_side(Cycle now)
{
    bool moved = sender_.command_taken = sender_.layer_done = false;
    const bool room_in_file = blocks_filled_ < facts::rubik::kBanks, block_in_file = blocks_filled_ != 0;
    const unsigned sent = step_sender(now, moved);
    const Packer::Beat* issued = step_drain(now);
    moved |= step_commands(now, sender_.command_taken);
    const Packer::Cycle packed = packer_.step(issued, block_in_file, sent);
    if (packed.pushed && sender_.armed_at == kNever) sender_.armed_at = now + facts::rubik::kPushToCommand;
    blocks_filled_ -= packed.block_read;

    const bool arrives = fill_pipe_.valid() && room_in_file;
    blocks_filled_ += arrives && fill_pipe_.head();
    const bool fills = step_fill(now);
    moved |= fill_pipe_.step(fills ? &fill_.ends : nullptr, arrives, false);
    if (sender_.layer_done) finish(now);
    return moved || packed.changed || issued || arrives || fills;
}

/// A beat from the data FIFO to the bank that is filled.
bool RubikCore::step_fill(Cycle now)
{
    BankState& side = banks_[fill_.bank];
    const bool free = !side.full && side.changes <= now && fill_pipe_.ready();
    if (!free || fifo_.empty() || fifo_.front().at > now || (!fill_.filling && blocks_.empty())) return false;
    if (!fill_.filling) {
        side.bank.open(blocks_.front());
        blocks_.pop_front();
        fill_.filling = true;
    }
    fill_.ends = side.bank.fill(fifo_.front().data.data());
    if (fill_.ends) {
        fill_.filling = false;
        side.full = true;
        side.changes = now + facts::rubik::kFillToDrain;
        fill_.bank ^= 1;
    }
    fifo_.pop_front();
    links_[layer_.source]->credit.put(now + 1, true);
    ++counted_.beats_in;
    return true;
}

// ---- (3)

/// A beat from the bank that is drained, null if there is none.
const Packer::Beat* RubikCore::step_drain(Cycle now)
{
    BankState& side = banks_[drain_.bank];
    if (!side.full || side.changes > now || drain_.open == 0 || !packer_.ready()) return nullptr;
    Atom atoms[2];
    drain_.issued.atoms = static_cast<std::uint8_t>(side.bank.drain_atoms());
    drain_.issued.ends_block = side.bank.drain(atoms);
    for (std::uint32_t i = 0; i < drain_.issued.atoms; ++i) waiting_.push_back(atoms[i]);
    if (drain_.issued.ends_block) {
        side.full = false;
        side.changes = now + facts::rubik::kDrainToFill;
        drain_.bank ^= 1;
        --drain_.open;
    }
    return &drain_.issued;
}

// ---- (4)

bool RubikCore::sender_offers(Cycle at) const
{
    return sender_.sending ? packer_.available(beat_atoms()) : commands_.fifo.valid() && sender_.armed_at <= at;
}

/// Clocks the command FIFOs. A write command is made when both have space; the drain command at the output is taken
/// when the one before it has issued its last beat.
bool RubikCore::step_commands(Cycle now, bool taken)
{
    const bool wants = generator_.commanding && layer_.active_at <= now, room = commands_.fifo.ready(),
               room_to_drain = drains_.fifo.ready();
    const bool takes = drain_.open == 0 && drains_.fifo.valid();
    if (takes) drain_.open = drains_.items.front();
    const std::uint32_t opens = generator_.next_write.opens_blocks;
    const bool moved = commands_.step(wants && room_to_drain ? &generator_.next_write : nullptr, taken);
    const bool drains_moved = drains_.step(wants && room && opens != 0 ? &opens : nullptr, takes);
    if (wants && room && room_to_drain) {
        generator_.commanding = generator_.walk.next();
        if (generator_.commanding) generator_.next_write = generator_.walk.current();
    }
    return moved || drains_moved;
}

/// Returns the atoms that leave the packer.
unsigned RubikCore::step_sender(Cycle now, bool& moved)
{
    const bool offers = sender_offers(now);
    DmaOutput<WritePacket>& out = write_out_[layer_.target];
    const bool goes = offers && out.ready();
    const bool command = goes && !sender_.sending;
    unsigned sent = 0;
    if (offers && !goes) write_stall_ += registers_.get(reg::rbk::D_PERF_ENABLE);
    if (command) {
        sender_.write = commands_.items.front();
        WritePacket& packet = out.push();
        packet.command = true;
        packet.require_ack = sender_.write.last;
        packet.address = Address{sender_.write.address};
        packet.atoms = sender_.atoms_left = sender_.write.atoms;
        if (sender_.write.last) acks_.expect(layer_.target);
        sender_.sending = true;
    } else if (goes) {
        WritePacket& packet = out.push();
        packet.command = packet.require_ack = false;
        packet.atoms = sent = beat_atoms();
        packet.data.fill(0);
        for (std::uint32_t i = 0; i < sent; ++i) {
            std::copy(waiting_.front().begin(), waiting_.front().end(), packet.data.begin() + i * kAtomBytes);
            waiting_.pop_front();
        }
        sender_.atoms_left -= sent;
        ++counted_.beats_out;
        sender_.sending = sender_.atoms_left != 0;
        sender_.layer_done = !sender_.sending && sender_.write.last;
    }
    moved |= goes;
    sender_.command_taken = command;
    return sent;
}

/// The last beat is handed over. Where the program makes the two sides count differently, data are left
/// and the engine hangs.
void RubikCore::finish(Cycle now)
{
    const bool rest =
        reader_.reading || !blocks_.empty() || fill_.filling || !fifo_.empty() || !drains_.empty() || drain_.open != 0 || !waiting_.empty();
    if (rest) return;
    registers_.set(reg::rbk::D_PERF_WRITE_STALL, registers_.consumer(), write_stall_);
    write_stall_ = 0;
    done_groups_.push_back(registers_.consumer());
    packer_.restart();
    registers_.finish(now);
    running_ = false;
    clocks_.off(now + facts::rubik::kDoneToGate);
    ++counted_.layers;
}

// ---- sleep and report

/// Why cycle `at` moves no beat, or that it does.
void RubikCore::note_waits(Cycle at, bool moved)
{
    WaitLog& log = (*logs_)[WaitPoint::Rubik];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Rubik)); };
    if (WaitLog& ask = (*logs_)[of(WaitPoint::Ask)]; !running_) registers_.note_idle(ask, at);
    else if (ask.segments().back().idle) ask.works(at, Cause::StartUp);
    if (!running_) registers_.note_idle(log, at);
    else if (moved) log.works(at, Cause::RubikPace);
    else if (sender_offers(at)) log.waits(at, of(WaitPoint::Room), Cause::RubikPace);
    else if (!fifo_.empty() || (!reader_.reading && blocks_.empty() && !fill_.filling)) log.works(at, Cause::RubikPace);
    else log.waits(at, of(WaitPoint::Read), Cause::RubikPace);
}

Cycle RubikCore::timers(Cycle now) const
{
    Cycle at = std::min(registers_.horizon(), acks_.next(now));
    const auto timer = [&](Cycle due) {
        if (due > now) at = std::min(at, due);
    };
    if (!running_) {
        timer(registers_.start_cycle());
    } else {
        timer(layer_.active_at);
        timer(banks_[0].changes);
        timer(banks_[1].changes);
        if (!fifo_.empty()) timer(fifo_.front().at);
        timer(sender_.armed_at);
    }
    return std::max(at, now + 1);
}

Phase RubikCore::waiting_phase(Cycle at) const
{
    if (!running_) return acks_.outstanding() ? Phase::Draining : Phase::Gated;
    if (sender_offers(at)) return Phase::Blocked;
    return generator_.commanding || reader_.reading || !commands_.empty() || sender_.sending ? Phase::Starved : Phase::Draining;
}

UnitReport RubikCore::report(Cycle end)
{
    phases_.account_until(end);
    return {"RUBIK", phases_, counted_, clocks_, end};
}

std::string RubikCore::waiting_for() const
{
    if (!running_) return acks_.outstanding() ? "waits for the acknowledgement of the last write" : "idle";
    if (sender_.sending && waiting_.empty()) return "sender waits for read data";
    if (sender_.sending) return "sender waits for the memory interface";
    if (reader_.reading) return "reader waits for the memory interface";
    if (!commands_.empty()) return "a write waits for data";
    return "read and write side have different counts: datain_channel and dataout_channel";
}

std::unique_ptr<Core> make_rubik(const Hardware& hardware, const TransferPorts& ports)
{
    return std::make_unique<RubikCore>(hardware, ports);
}

}  // namespace dlasim
