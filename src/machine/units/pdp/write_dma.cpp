#include "units/pdp/write_dma.h"

#include <algorithm>
#include <bit>

namespace dlasim::pdp {

WriteDma::WriteDma(const facts::pdp::Facts& silicon, Values& values)
    : silicon_(silicon),
      values_(values),
      ports_{PortStages<WritePacket>(silicon.interface_stages, silicon.stalls),
             PortStages<WritePacket>(silicon.interface_stages, silicon.stalls)}
{
    input_.stalls = silicon.stalls;
}

void WriteDma::connect(WriteLink& primary, WriteLink* secondary)
{
    ports_[1].connect(&primary.request);
    if (secondary) ports_[0].connect(&secondary->request);
}

void WriteDma::start(const LayerConfig& layer, bool count_stall)
{
    commands_.start(layer, silicon_.atom_bytes);
    filling_.start(layer, silicon_.atom_bytes);
    pixel_ = 0;
    to_primary_ = layer.to_primary;
    count_stall_ = count_stall;
    moving_ = true;
}

bool WriteDma::sweep(Cycle now, bool in, elements::Flow& flow)
{
    // Waiting for data, and nothing else moves: only beats do.
    if (!moving_ && data_phase_ && !data_ready() && !ports_[0].leaves() && !ports_[1].leaves()) {
        blocked_ = false;
        elements::Flow beats{atoms_[set_of_beat()] <= silicon_.atom_fifo};
        collect(beats, in);
        flow.ready = beats.ready;
        flow.changed |= beats.changed;
        return false;
    }
    PortStages<WritePacket>& port = ports_[to_primary_];
    const bool room = port.ready(), command = !data_phase_ && register_.valid(), data = data_phase_ && data_ready();
    blocked_ = (command || data) && !room;
    if (blocked_ && count_stall_) ++stall_;
    const std::array<std::uint32_t, 2> before = atoms_;
    bool last = false;
    const bool takes_command = command && room;
    if (takes_command) send_command(port);
    else if (data && room) last = send_data(port);

    // FIFOs and command register as they were at the start of the cycle.
    elements::Flow beats{before[set_of_beat()] <= silicon_.atom_fifo};
    collect(beats, in);
    flow.ready = beats.ready;

    Command made;
    const bool makes = commands_.more();
    if (makes && register_.ready()) {
        made = {commands_.address() & silicon_.address_mask, commands_.atoms(), commands_.last()};
        commands_.next();
    }
    moving_ = register_.clock(makes ? &made : nullptr, takes_command) || ((command || data) && room);
    for (PortStages<WritePacket>& stages : ports_) {
        const bool was_ready = stages.ready();
        // one that becomes empty, and could have taken a packet before, changes nothing more
        moving_ |= stages.step(now) && !(was_ready && stages.at_rest());
    }
    flow.changed |= moving_ || beats.changed;
    return last;
}

void WriteDma::collect(elements::Flow& flow, bool in)
{
    const bool taken = input_.valid() && flow.ready;
    input_.sweep(in, flow);
    if (!taken) return;
    flow.changed = true;
    if (++beat_ == silicon_.beats) end_atom();
}

void WriteDma::flow(unsigned cycles, std::uint32_t in)
{
    blocked_ = false;
    if (in == 0 && !input_.full) return;
    const std::uint32_t last = 1u << (cycles - 1);
    beat_ += static_cast<std::uint32_t>(std::popcount(in & (last - 1))) + input_.full;
    input_.full = (in & last) != 0;
    if (beat_ == silicon_.beats) end_atom();
}

/// Its last beat is in the FIFO.
void WriteDma::end_atom()
{
    ++atoms_[set_of_beat()];
    beat_ = 0;
    ++pixel_;
    if (filling_.more() && pixel_ == filling_.atoms()) {
        pixel_ = 0;
        filling_.next();
    }
}

void WriteDma::send_command(PortStages<WritePacket>& port)
{
    command_ = register_.head();
    WritePacket& packet = port.push();
    packet.command = true;
    packet.require_ack = command_.last;
    packet.atoms = command_.atoms;
    packet.address = Address{command_.address};
    sent_ = 0;
    data_phase_ = true;
}

/// True if the packet is the last of the layer.
bool WriteDma::send_data(PortStages<WritePacket>& port)
{
    const std::uint32_t atoms = packet_atoms();
    for (std::uint32_t i = 0; i < atoms; ++i) --atoms_[i];
    WritePacket& packet = port.push();
    packet.command = packet.require_ack = false;
    packet.atoms = atoms;
    for (std::uint32_t i = 0; i < atoms; ++i) values_.next(packet.data.data() + i * silicon_.atom_bytes);
    atoms_written_ += atoms;
    sent_ += atoms;
    if (sent_ < command_.atoms) return false;
    data_phase_ = false;
    return command_.last;
}

Cycle WriteDma::quiet(Cycle arrives) const
{
    if (moving_) return 0;
    if (blocked_ || (!data_phase_ && !register_.valid())) return kNever;
    return !data_phase_ || data_ready() ? 0 : atom_comes(arrives);
}

}  // namespace dlasim::pdp
