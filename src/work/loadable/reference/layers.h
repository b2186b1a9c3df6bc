// Operations of a loadable as the golden layers see them.
//
// Source  loadable.md 3, 6: what the registers say of a descriptor, in the terms of config/model/layer.h.
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

/// The convolution before, which may have left its data or weights in the buffer.
struct Before {
    const HardwareTask* task = nullptr;
    const ConvOperation* conv = nullptr;
};

class Translator {
public:
    Translator(const LoadablePlan& plan, const HardwareTask& task, const Shadow& shadow, const Before& before)
        : plan_(plan), task_(task), shadow_(shadow), before_(before)
    {
    }

    /// SDP after a convolution, or alone: `conv` null. Without its pooling.
    GoldenLayer layer(const ConvOperation* conv, const SdpOperation& sdp) const;
    GoldenPool pool(const PdpOperation& pdp) const;
    CdpFunction function(const CdpOperation& cdp) const;

    /// Whose registers hold an address or a stride: features and weights of a convolution, its pixels, everything else.
    enum class Field { Fetched, Pixels, Other };
    /// As the register holds it: nv_full whole atoms; the others all bits, of which CDMA uses whole atoms but for pixels, and the other
    /// units must be given whole atoms. cdma.md 3, registers.md.
    std::uint64_t held(std::uint64_t value, Field field = Field::Other) const;
    Place place(std::int16_t address, std::uint64_t offset, Field field = Field::Other) const;
    Place place(const Cube& cube, Field field = Field::Other) const { return place(cube.address, cube.offset, field); }
    /// A cube in memory, in atoms of the machine; strides that nothing moves by are 0.
    Features features(const Cube& cube, unsigned precision, Field field = Field::Other) const;
    Tensor input(const Features& of) const;

private:
    void add_convolution(GoldenLayer& golden, const ConvOperation& conv) const;
    void check_fields(const ConvOperation& conv) const;
    void check_reuse(const ConvOperation& conv) const;
    bool same_place(const Cube& cube, const Cube& before) const;
    void add_engine(GoldenLayer& golden, std::size_t engine, const SdpOperation& sdp) const;

    const LoadablePlan& plan_;
    const HardwareTask& task_;
    const Shadow& shadow_;
    const Before before_;
};

Precision precision_of(unsigned code);

/// Unchecked where the golden layer has no word for it; where a rule of software is broken.
void expect(bool good, const std::string& why);
void rule(bool good, const std::string& why);
void check_weights(const Weights& weights);

}  // namespace dlasim::loadable
