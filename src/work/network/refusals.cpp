#include "network/refusals.h"

#include <optional>
#include <string>

#include "base/error.h"

namespace dlasim {

void check_decisions(NetworkPlan& p, const NetworkOptions& options)
{
    const auto check = [&](std::size_t layer, const std::string& where) {
        for (std::size_t d = 0; d < kDecisions.size(); ++d) {
            std::optional<std::uint32_t>& said = p.decisions_of(layer).values[d];
            const auto is = p.decided.find({layer, static_cast<PlanDecision>(d)});
            const DecisionKey& key = kDecisions[d];
            const bool differs = said && (is == p.decided.end() ? *said != 0 : *said != is->second);
            if (differs && options.revise) said.reset();
            else if (differs && *said == 0)
                throw ConfigError(where + "/decide/" + key.name, "found false, expected true: the partition of the layer before is pooled");
            else if (differs)
                throw ConfigError(where + "/decide/" + key.name,
                                  "found " + (key.most != 1 ? std::to_string(*said) : "true") + ", expected " + key.needs);
            if (options.explicit_cuts && is != p.decided.end()) said = is->second;
        }
    };
    check(kWholeNetwork, p.network.file + ": ");
    for (std::size_t l = 0; l < p.network.layers.size(); ++l) check(l, p.network.layers[l].where);
}

void check_addend(const NetworkPlan& p, const Step& s, const Layer& layer)
{
    const TensorLayout &addend = p.layouts[*s.addend], &input = p.layouts[s.inputs.front()];
    if (layer.convolves() ? addend.whole() : addend.pieces == input.pieces) return;
    throw ConfigError(layer.file, "adds a tensor that consists of " + std::to_string(addend.pieces.size()) + " pieces to one in " +
                                      std::to_string(layer.convolves() ? 1 : input.pieces.size()) +
                                      ", expected channels in the same lanes: SDP adds whole atoms");
}

void check_one_place(const NetworkPlan& p, const Step& s, const Layer& layer)
{
    for (const std::optional<std::size_t>& tensor : {layer.op == Op::Sdp ? std::optional(s.inputs.front()) : std::nullopt, s.addend}) {
        if (!tensor) continue;
        const NetworkTensor& shape = p.steps.tensors[*tensor];
        const TensorLayout& at = p.layouts[*tensor];
        if (shape.width != 1 || shape.height != 1 || at.channels() <= at.per_atom() || at.cube.strides.surface == at.cube.atom_bytes)
            continue;
        throw ConfigError(layer.file, "reads \"" + shape.name + "\", one position whose surfaces are " +
                                          std::to_string(at.cube.strides.surface) + " bytes apart, expected adjacent ones as SDP " +
                                          "reads them: a deconvolution whose stride does not exceed its output");
    }
}

}  // namespace dlasim
