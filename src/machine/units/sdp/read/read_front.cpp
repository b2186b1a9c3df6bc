#include "units/sdp/read/read_front.h"

#include <algorithm>

namespace dlasim::sdp {

ReadFront::ReadFront(const facts::sdp::Facts& silicon, ReadEngine engine, Values& values)
    : silicon_(silicon),
      engine_(engine),
      values_(values),
      ports_{PortStages<ReadRequest>(silicon.interface_stages, silicon.stalls),
             PortStages<ReadRequest>(silicon.interface_stages, silicon.stalls)},
      contexts_(silicon.contexts[static_cast<unsigned>(engine)])
{
}

void ReadFront::connect(ReadLink* primary, ReadLink* secondary)
{
    links_ = {secondary, primary};
    for (unsigned port = 0; port < 2; ++port)
        if (links_[port]) ports_[port].connect(&links_[port]->request);
}

void ReadFront::start(const ReadLayer& layer)
{
    requests_.start(layer);
    port_ = layer.to_primary;
    values_.expect(engine_, layer);
}

void ReadFront::receive(Cycle at)
{
    for (ReadLink* link : links_) {
        if (!link || !link->response.fires(at)) continue;
        const ReadBeat& beat = link->response.item(at);
        const std::uint32_t atoms = std::min(beat.atoms, silicon_.word_atoms);
        words_.push_back(static_cast<std::uint8_t>(atoms));
        awaited_ -= beat.atoms;
        values_.receive(engine_, beat.data.data(), atoms * silicon_.atom_bytes);
        arrived_ = true;
    }
}

bool ReadFront::sweep_requests(Cycle at, std::uint32_t& issued)
{
    PortStages<ReadRequest>& port = ports_[port_];
    if (!requests_.more() && port.at_rest()) {
        blocked_ = false;
        issued = 0;
        return !contexts_.ready(at) && contexts_.clears();
    }
    const bool context = contexts_.ready(at), offered = requests_.more() && context, enters = offered && port.ready();
    blocked_ = offered && !enters;
    issued = 0;
    if (enters) {
        const ReadRequest& request = requests_.front();
        issued = request.atoms;
        port.push() = request;
        requests_.pop();
        contexts_.push(at);
        ++open_;
        awaited_ += issued;
    }
    port.look(at);
    return port.step(at) || enters || (!context && contexts_.clears());
}

bool ReadFront::sweep_words(Cycle at, bool pop)
{
    const bool changed = arrived_ || pop || !fifo_.idle();
    if (pop) {
        words_.pop_front();
        if (links_[port_]) links_[port_]->credit.put(at + 1, true);
    }
    fifo_.clock(arrived_, pop);
    arrived_ = false;
    return changed;
}

void ReadFront::context_done(Cycle at)
{
    contexts_.pop(at);
    request_done();
}

}  // namespace dlasim::sdp
