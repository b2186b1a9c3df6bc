// What runs, one step after the other: layers of the network put together as the hardware can, and what no unit can do on the host.
//
//   conv ─ bias ─ activation                           one step: the array and SDP
//   conv ─ bias ─ addition of another tensor ─ activation     the same: SDP reads the other tensor
//   conv or addition ─ pooling                         the same: PDP on the way, where that is better than a step of its own
//   concatenation ─ pooling                            the same, part by part
//   concatenation                                      no step: its parts are written into the surfaces of the whole
//   convolutions alike of one input                    one: kernels of all, so that the input is read once (siblings.h)
//
// An addition joins the convolution that makes its last tensor, if nobody else reads that. Tensors between joined layers do not exist.
#pragma once
#include <algorithm>
#include <functional>

#include "config/model/network.h"

namespace dlasim {

enum class StepUnit { Array, Sdp, Pdp, Cdp, Host };

struct Step {
    std::string name{};  // of the last layer in it
    StepUnit unit = StepUnit::Array;
    std::size_t layer = 0;                     // of the network: whose operation it is
    std::vector<std::size_t> beside{};         // layers whose kernels come after those of `layer`
    std::optional<std::size_t> add{}, pool{};  // layers that SDP and PDP do on the way
    std::vector<std::size_t> inputs{};         // tensors
    std::optional<std::size_t> addend{};       // tensor that SDP adds
    std::size_t output = 0;                    // tensor
    Activation activation = Activation::None;
    std::string why{};       // Host: why no unit does it
    std::size_t origin = 0;  // the step of one image that it is
    std::size_t image = 0;   // of several: whose it is
    std::size_t images = 1;  // that it computes, one below the other (together.h)

    /// In the order of their kernels.
    std::vector<std::size_t> kernel_layers() const
    {
        std::vector<std::size_t> layers{layer};
        layers.insert(layers.end(), beside.begin(), beside.end());
        return layers;
    }
};

/// A concatenation by addresses.
struct JoinedTensor {
    std::size_t whole = 0;
    std::vector<std::size_t> parts;
    bool at_once = false;    // one step makes the whole
    std::uint32_t rows = 0;  // of a part, where parts are images one below the other

    bool has(std::size_t part) const { return std::find(parts.begin(), parts.end(), part) != parts.end(); }
};

struct Steps {
    std::vector<NetworkTensor> tensors;  // of the network, then what steps hand to each other beside
    std::vector<Step> list;              // in the order they run
    std::vector<JoinedTensor> joined;    // in the order of their layers

    /// The step that makes a tensor; none of inputs and concatenations.
    std::optional<std::size_t> maker(std::size_t tensor) const;
};

/// `can_fuse`: the step can hand over to PDP.
Steps steps_of(const Network& network, const Hardware& hardware, const std::function<bool(const Network&, const Step&)>& can_fuse);

/// PDP has such windows.
bool pdp_has(const Pool& pool);

}  // namespace dlasim
