// Operations of a loadable as the golden layers see them.
//
// Source  loadable.md 3, 6: what the registers say of a descriptor, in the terms of config/layer.h.
// Error   Unchecked where the golden layer has no word for it.
#pragma once
#include "golden/cdp.h"
#include "golden/pooled.h"
#include "golden/reference.h"
#include "loadable/reference/shadow.h"

namespace dlasim::loadable {

struct GoldenLayer {
    Layer layer;
    LayerTensors tensors;
    Method method;
};

struct GoldenPool {
    Pool pool;
    Precision precision = Precision::Int8;
    std::uint32_t width = 1, height = 1;  // of the input that counts
};

class Translator {
public:
    Translator(const Plan& plan, const HardwareTask& task, const Shadow& shadow) : plan_(plan), task_(task), shadow_(shadow) {}

    /// SDP behind a convolution, or alone: `conv` null. Without the pooling behind it.
    GoldenLayer layer(const ConvOperation* conv, const SdpOperation& sdp) const;
    GoldenPool pool(const PdpOperation& pdp) const;
    CdpFunction function(const CdpOperation& cdp) const;

    Location place(const Cube& cube) const;
    Location place(std::int16_t address) const;
    /// A cube in memory, in atoms of the machine.
    Features features(const Cube& cube, unsigned precision) const;
    Tensor input(const Features& of) const;

private:
    void add_convolution(GoldenLayer& golden, const ConvOperation& conv) const;
    void add_engine(GoldenLayer& golden, std::size_t engine, const SdpOperation& sdp) const;

    const Plan& plan_;
    const HardwareTask& task_;
    const Shadow& shadow_;
};

Precision precision_of(unsigned code);

}  // namespace dlasim::loadable
