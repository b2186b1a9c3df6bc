// The output converter: subtract, multiply, shift, saturate.
//
//   RigidConverter (nv_full)           SKID ─► HLS(4)
//   ElasticConverter (configurable)    4 SKID; where EW compares, the last one only
//
// Latency  rigid 5 cycles, elastic 4 or 1.
// Source   sdp.md 2.4, 2.5; facts in facts/sdp.h.
#pragma once
#include "elements/chain.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"

namespace dlasim::sdp {

class RigidConverter {
public:
    /// `compares`: of the layer that begins.
    void start(bool /*compares*/) {}
    bool valid() const { return engine_.valid(); }
    /// As those of the engines.
    unsigned latency() const { return 1 + engine_.kLatency; }
    unsigned distance() const
    {
        if (engine_.stage) return engine_.distance();
        return engine_.skid || input_.valid() ? engine_.kLatency : elements::kNoBeat;
    }
    void sweep(bool in, elements::Flow& flow)
    {
        engine_.sweep(input_.valid(), flow);
        input_.sweep(in, flow);
    }

private:
    elements::Skid input_;
    elements::Rigid<facts::sdp::kRigidConverter> engine_;
};

class ElasticConverter {
public:
    void start(bool compares) { compares_ = compares; }
    bool valid() const { return row_.valid(); }
    unsigned latency() const { return compares_ ? facts::sdp::kElasticConverterCompare : facts::sdp::kElasticConverter; }
    unsigned distance() const { return row_.distance(); }
    void sweep(bool in, elements::Flow& flow)
    {
        if (compares_) row_.sweep_from(facts::sdp::kElasticConverter - 1, in, flow);
        else row_.sweep(in, flow);
    }

private:
    elements::SkidRow<facts::sdp::kElasticConverter> row_;
    bool compares_ = false;
};

}  // namespace dlasim::sdp
