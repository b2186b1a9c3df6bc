#include "units/sdp/wdma.h"

#include <algorithm>
#include <cstring>

#include "elements/occupancy.h"

namespace dlasim::sdp {
namespace {

/// A place of a bank.
void copy(std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes)
{
    if (bytes == 16) std::memcpy(to, from, 16);
    else if (bytes == 8) std::memcpy(to, from, 8);
    else std::memcpy(to, from, bytes);
}

}  // namespace

Wdma::Wdma(const facts::sdp::Facts& silicon, Values& values)
    : silicon_(silicon),
      values_(values),
      banks_per_atom_(silicon.atom_bytes / silicon.bank_bytes),
      banks_(silicon.bank_places),
      ports_{PortStages<WritePacket>(silicon.interface_stages, silicon.stalls),
             PortStages<WritePacket>(silicon.interface_stages, silicon.stalls)}
{
}

void Wdma::connect(WriteLink& primary, WriteLink* secondary)
{
    ports_[1].connect(&primary.request);
    if (secondary) ports_[0].connect(&secondary->request);
}

void Wdma::start(const LayerConfig& layer)
{
    commands_.start(layer);
    quiet_ = layer.quiet();
    to_pdp_ = layer.to_pdp;
    unequal_ = false;
    to_primary_ = layer.to_primary;
    wide_ = layer.wide;
    twins_ = layer.widening && !layer.single;
    beat_bytes_ = layer.beat_bytes;
}

const Wdma::Answer& Wdma::sweep(Cycle now, bool in, bool late)
{
    answer_ = {};
    const bool taken = in && ready();
    const bool produced = commands_.more() && split_.ready() && dma_.ready();
    if (produced) make_command();

    // (2) what is offered to the interface
    const bool room = quiet_ || ports_[to_primary_].ready();
    const unsigned needed = banks_of_packet();
    const bool waits = command_on_ && data_phase_ && !banks_.valid(needed);
    blocked_ = command_on_ && !waits && !room;
    const bool sent = command_on_ && !waits && room;
    unsigned popped = 0;
    if (sent && !data_phase_) {
        send_command();
    } else if (sent) {
        popped = needed;
        send_data(popped);
        if (++packet_ == packets_) {
            data_phase_ = command_on_ = false;
            answer_.last = command_.last;
        }
    }
    for (PortStages<WritePacket>& port : ports_) {
        if (port.stays()) continue;
        if (late) port.skip_look();
        else port.look(now);
        answer_.changed |= port.step(now);
    }
    // (1) the arriving beat
    const unsigned pushed = taken ? store_beat() : 0;
    if (!token_on_ && split_.count != 0) {
        token_ = split_.pop();
        token_on_ = true;
    }
    if (!command_on_ && dma_.count != 0) {
        command_ = dma_.pop();
        packets_ = ceil_div(command_.atoms, silicon_.word_atoms);
        packet_ = 0;
        command_on_ = true;
    }
    answer_.changed |= banks_.clock(pushed, popped) || taken || produced || sent;
    return answer_;
}

unsigned Wdma::beats_to_packet() const
{
    if (quiet_ || !ports_[0].at_rest() || !ports_[1].at_rest()) return 0;
    if (!command_on_) return dma_.count || commands_.more() ? 0 : elements::kNoBeat;
    if (!data_phase_) return 0;
    const unsigned missing = banks_.missing(banks_of_packet());
    return wide_ ? (missing + 1) / 2 : missing;
}

void Wdma::make_command()
{
    const WriteCommand command = commands_.next();
    split_.push({command.beats, command.atoms == 1});
    dma_.push(command);
}

/// Where the next beat goes.
unsigned Wdma::banks_of_beat() const
{
    if (!wide_) return 1u << (beat_ & 3);
    const bool upper = twins_ ? twin_ : beat_ & 1;
    return upper ? 0xc : 0x3;
}

/// The last packet of a command may be short of an atom.
std::uint32_t Wdma::atoms_of_packet() const { return std::min(silicon_.word_atoms, command_.atoms - packet_ * silicon_.word_atoms); }

unsigned Wdma::banks_of_packet() const
{
    const std::uint32_t first = packet_ * silicon_.word_atoms * banks_per_atom_;
    return ((1u << atoms_of_packet() * banks_per_atom_) - 1) << (first & 3);
}

void Wdma::send_command()
{
    data_phase_ = true;
    if (quiet_) return;
    WritePacket& packet = ports_[to_primary_].push();
    packet.command = true;
    packet.require_ack = command_.last;
    packet.atoms = command_.atoms;
    packet.address = Address{command_.address};
}

void Wdma::send_data(unsigned banks)
{
    WritePacket* packet = quiet_ ? nullptr : &ports_[to_primary_].push();
    if (packet) {
        packet->command = false;
        packet->require_ack = false;
        packet->atoms = atoms_of_packet();
        atoms_written_ += packet->atoms;
    }
    if (!values_.computes()) return;  // all bytes stay 0
    std::uint8_t* to = packet ? packet->data.data() : nullptr;
    for (unsigned bank = 0; bank < facts::sdp::kBanks; ++bank) {
        if (!(banks >> bank & 1)) continue;
        const std::uint8_t* from = words_[bank][heads_[bank]++ % kWords].data();
        if (!unequal_) unequal_ = std::any_of(from, from + silicon_.bank_bytes, [](std::uint8_t byte) { return byte != 0; });
        if (!to) continue;
        copy(to, from, silicon_.bank_bytes);
        to += silicon_.bank_bytes;
    }
}

void Wdma::store_bytes(unsigned banks)
{
    std::array<std::uint8_t, kMaxBeatBytes> bytes;
    if (to_pdp_) bytes.fill(0);
    else values_.next(bytes);
    const std::uint8_t* from = bytes.data();
    for (unsigned bank = 0; bank < facts::sdp::kBanks; ++bank) {
        if (!(banks >> bank & 1)) continue;
        copy(words_[bank][tails_[bank]++ % kWords].data(), from, silicon_.bank_bytes);
        from += silicon_.bank_bytes;
    }
}

/// Takes the beat that arrives; the banks it goes to.
unsigned Wdma::store_beat()
{
    const unsigned banks = banks_of_beat();
    if (values_.computes()) store_bytes(banks);
    if (++beat_ == token_.beats) {
        beat_ = 0;
        token_on_ = false;
        if (twins_ && !token_.single) twin_ = !twin_;
    }
    return banks;
}

}  // namespace dlasim::sdp
