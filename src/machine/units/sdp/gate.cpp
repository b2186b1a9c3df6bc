#include "units/sdp/gate.h"

namespace dlasim::sdp {

RigidGate::RigidGate(bool ew, std::uint32_t pieces) : ew_(ew) { pack_.ratio = static_cast<std::uint8_t>(pieces); }

void RigidGate::start(bool streams, bool) { open_ = streams; }

void RigidGate::sweep(bool in, bool last, elements::Flow& flow)
{
    const bool was_valid = pipe_.valid();
    if (ew_) {
        convert_.sweep(pack_.valid(), flow);
        pack_.sweep(was_valid && open_, flow);
    }
    const bool taken = open_ && flow.ready && was_valid, ends = taken && last_;
    flow.ready = open_ && flow.ready;
    pipe_.sweep(in, flow);
    if (flow.ready) last_ = last;
    if (ends) open_ = false;
    flow.changed |= taken || (in && flow.ready);
}

ElasticGate::ElasticGate(bool ew, std::uint32_t pieces) : ew_(ew) { pack_.ratio = static_cast<std::uint8_t>(pieces); }

void ElasticGate::start(bool streams, bool convert)
{
    open_ = streams;
    depth_ = !ew_ ? 0 : convert ? facts::sdp::kElasticEwOperand : facts::sdp::kElasticEwOperandBypass;
}

void ElasticGate::sweep(bool in, bool last, elements::Flow& flow)
{
    const bool offered = offers();
    for (unsigned i = depth_; i-- > 0;) convert_[i].sweep(i ? convert_[i - 1].valid() : offered, flow);
    flow.ready = flow.ready && open_;
    const bool ends = offered && flow.ready && last_ && pack_.at_last_piece();
    pack_.sweep(in, flow);
    if (in && flow.ready) {
        flow.changed = true;
        last_ = last;
    }
    if (ends) open_ = false;
}

}  // namespace dlasim::sdp
