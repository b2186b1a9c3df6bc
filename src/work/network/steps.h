// What runs, one step after the other: layers of the network put together as the hardware can, and what no unit can do on the host.
//
//   conv ─ bias ─ activation                           one step: the array and SDP
//   conv ─ bias ─ addition of another tensor ─ activation     the same: SDP reads the other tensor
//   conv or addition ─ pooling                         the same: PDP on the way, where that is better than a step of its own
//   concatenation ─ pooling                            the same, part by part
//   concatenation                                      no step: its parts are written into the surfaces of the whole
//
// An addition joins the convolution that makes its last tensor, if nobody else reads that. Tensors between joined layers do not exist.
#pragma once
#include <functional>

#include "config/model/network.h"

namespace dlasim {

enum class StepUnit { Array, Sdp, Pdp, Cdp, Host };

struct Step {
    std::string name{};  // of the last layer in it
    StepUnit unit = StepUnit::Array;
    std::size_t layer = 0;                     // of the network: whose operation it is
    std::optional<std::size_t> add{}, pool{};  // layers that SDP and PDP do on the way
    std::vector<std::size_t> inputs{};         // tensors
    std::optional<std::size_t> addend{};       // tensor that SDP adds
    std::size_t output = 0;                    // tensor
    Activation activation = Activation::None;
    std::string why{};  // Host: why no unit does it
};

/// A concatenation by addresses.
struct JoinedTensor {
    std::size_t whole = 0;
    std::vector<std::size_t> parts;
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
