#include "units/cdp/write_dma.h"

#include <algorithm>
#include <cstring>

namespace dlasim::cdp {

WriteDma::WriteDma(const facts::cdp::Facts& silicon, WriteLink& primary, WriteLink& secondary, Values& values)
    : silicon_(silicon),
      values_(values),
      gatherer_(silicon.chunks, silicon.write_depth),
      interface_(secondary.request, primary.request, silicon.stalling_stages)
{
}

void WriteDma::start(const Cube& cube, const LayerConfig& layer)
{
    arriving_.start(cube, silicon_.chunks);
    fresh_ = true;
    passes_ = PassWalk(cube, layer.destination, silicon_.atom_bytes, silicon_.address_mask);
    primary_ = layer.destination.primary;
    counts_stalls_ = layer.counts_stalls;
}

void WriteDma::begin(Cycle now)
{
    interface_.begin(now);
    if (input_.valid() && fresh_) {
        arriving_.step();
        fresh_ = false;
    }
}

/// Where the beat in the input stage goes.
WriteDma::Target WriteDma::target() const
{
    const Beat& beat = arriving_.beat();
    return {beat.pixel % silicon_.word_atoms, beat.chunk};
}

/// The beat in the input stage goes on. The last one of every chunk needs space for the command, too.
bool WriteDma::takes() const
{
    const Target to = target();
    return gatherer_.ready(to.half, to.slice) && (!arriving_.beat().last_pixel() || commands_.held <= silicon_.write_commands);
}

unsigned WriteDma::atoms_of_word() const { return std::min(silicon_.word_atoms, pass_.pixels - pixel_); }

WriteDma::Answer WriteDma::cycle(Cycle now, bool in)
{
    Answer answer;
    const bool arrived = input_.valid(), taken = arrived && takes();
    const bool command = taken && arriving_.beat().last_pixel() && arriving_.beat().chunk + 1u == silicon_.chunks;
    const Target to = arrived ? target() : Target{0, 0};

    // (2) sees the FIFOs as they are at the start of the cycle.
    const bool was_data = data_phase_;
    offer(now, answer);
    elements::Flow commands{answer.sent && !was_data};
    commands_.sweep(command, commands);

    // (1)
    if (taken) {
        gatherer_.push(to.half, to.slice);
        fresh_ = true;
    }
    elements::Flow input{taken};
    input_.sweep(in, input);

    answer.changed |= taken || input.changed || commands.changed || answer.sent;
    answer.changed |= interface_.end(now);
    return answer;
}

void WriteDma::offer(Cycle now, Answer& answer)
{
    static_cast<void>(now);
    blocked_ = false;
    if (data_phase_ ? !gatherer_.valid(atoms_of_word()) : !commands_.valid()) return;
    DmaOutput<WritePacket>& port = interface_[primary_];
    if (!port.ready()) {
        blocked_ = true;
        stalls_ += counts_stalls_;
        return;
    }
    answer.sent = true;
    WritePacket& packet = port.push();
    if (!data_phase_) {
        pass_ = passes_.next();
        values_.pass(pass_);
        packet.command = true;
        packet.require_ack = pass_.last();
        packet.atoms = pass_.pixels;
        packet.address = Address{pass_.address};
        answer.last_command = pass_.last();
        data_phase_ = true;
        pixel_ = 0;
        return;
    }
    const unsigned atoms = atoms_of_word();
    packet.command = packet.require_ack = false;
    packet.atoms = atoms;
    for (unsigned i = 0; i < atoms; ++i)
        std::memcpy(packet.data.data() + i * silicon_.atom_bytes, values_.atom(pixel_ + i), silicon_.atom_bytes);
    gatherer_.pop(atoms);
    atoms_ += atoms;
    pixel_ += atoms;
    if (pixel_ != pass_.pixels) return;
    data_phase_ = false;
    answer.finished = pass_.last();
}

void WriteDma::account(Cycle cycles)
{
    if (blocked_ && counts_stalls_) stalls_ += static_cast<std::uint32_t>(cycles);
}

}  // namespace dlasim::cdp
