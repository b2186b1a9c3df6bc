#include "units/sdp/machine.h"

namespace dlasim::sdp {

Machine::Machine(const facts::sdp::Facts& silicon, Values& values, const SdpPorts& ports)
    : silicon_(silicon),
      values_(values),
      wdma_(silicon, values),
      fronts_{ReadFront{silicon, ReadEngine::Mrdma, values}, ReadFront{silicon, ReadEngine::Brdma, values},
              ReadFront{silicon, ReadEngine::Nrdma, values}, ReadFront{silicon, ReadEngine::Erdma, values}}
{
    wdma_.connect(ports.write_mc, ports.write_cv);
    for (unsigned i = 0; i < kReadEngines; ++i) fronts_[i].connect(ports.read_mc[i], ports.read_cv[i]);
}

void Machine::receive(Cycle at)
{
    for (ReadFront& front : fronts_)
        if (front.expects()) front.receive(at);
}

/// A beat passes the mux; after the last one of the layer it closes.
void Machine::pass_mux()
{
    bool last;
    if (layer_.flying) {
        last = input_last_[input_head_];
        input_head_ ^= 1;
    } else {
        last = --memory_beats_.front() == 0;
        if (last) memory_beats_.pop_front();
    }
    if (last) mux_open_ = false;
}

/// A beat enters the input stage.
void Machine::accept(bool layer_end)
{
    input_last_[input_tail_] = layer_end;
    input_tail_ ^= 1;
}

}  // namespace dlasim::sdp
