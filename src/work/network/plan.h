// A network planned: one register program for one machine, memory before and after, and what the report says of each step.
//
//   Network ──► steps ──► each as a layer of the machine ──► places of all tensors ──► program
//               steps.h   step_layer.h, lowering             memory_map.h              lowering/program/sequence.h
//
// The golden values are computed beside, step by step from those of the steps before (values.h): converters follow from them. Of a network
// with numbers they are computed image by image when it runs (images.h).
//
// Error  ConfigError if the machine cannot do a step.
#pragma once
#include <algorithm>
#include <map>

#include "jobs/bounds.h"
#include "jobs/traffic.h"
#include "network/memory_map.h"
#include "network/order.h"
#include "network/program.h"
#include "network/values.h"
#include "workload/workload.h"

namespace dlasim {

struct NetworkOptions {
    std::uint64_t seed = 1;      // of the input; layer i has seed + 1 + i
    bool values = true;          // golden values and weights; without them only time can be simulated
    std::size_t images = 1;      // that run one after the other; more than 1 with numbers only
    std::size_t together = 1;    // that run in one program, weights shared; more than 1 without numbers only
    bool keep_tensors = false;   // every tensor has memory of its own
    bool pixels = true;          // inputs may be stored as pixels
    bool cvsram = true;          // tensors may be there
    bool for_driver = false;     // only what NVIDIA's driver can express: no columns of pixels, no spare lines of tensors
    bool siblings = true;        // convolutions of one input may be one step
    bool at_once = true;         // a step may compute all images
    bool revise = false;         // decisions of the network that cannot be are dropped: NetworkPlan::network
    bool explicit_cuts = false;  // the tiling of every layer, as in a file: Network::layers
};

struct StepPlan {
    Layer layer;    // as the reference computes it
    Layer machine;  // as the machine is given it
    std::string mode;
    std::vector<PlannedPass> passes;
    std::optional<ReshapePass> contraction;
    std::vector<std::vector<PlannedPass>> packing;
    std::vector<LrnPass> lrn;  // CDP, rows after rows
    bool cut = false;
    std::uint64_t macs = 0, array_operations = 0;  // macs of the layer as defined
    std::vector<Bound> bounds;
    Traffic traffic;
    Method method;                       // fp16
    std::optional<Difference> direct{};  // of a Winograd step, from the direct convolution: with values that come by seed
    LayerTensors weights;                // with numbers, or of several images: as the reference has them
};

/// Of the network itself in place of a layer.
inline constexpr std::size_t kWholeNetwork = SIZE_MAX;

struct NetworkPlan : Workload {
    Network network;
    Steps steps;
    std::vector<StepPlan> plans;                // one a step
    std::vector<StepOperation> order;           // of the operations of all steps
    std::vector<TensorLayout> layouts;          // by tensor; empty where a tensor does not exist
    std::vector<std::optional<Tensor>> golden;  // by tensor; with values
    std::vector<PlannedImage> images;           // weights and operands; with values
    std::vector<Block> blocks;
    std::vector<std::vector<std::size_t>> overwritten;  // by step: tensors of which it takes the memory; all of a block
    MemoryUse memory_use;
    std::size_t image_count = 1;
    std::size_t together = 1, image_tensors = 0;  // images in the program, tensors of each
    NetworkMarks marks;
    std::map<std::pair<std::size_t, PlanDecision>, std::uint32_t> decided;  // by layer: where there was something to decide

    Decisions& decisions_of(std::size_t layer) { return layer == kWholeNetwork ? network.decided : network.layers[layer].decided; }
    /// What the network says, or what is usual.
    bool decide(std::size_t layer, PlanDecision decision, bool usual)
    {
        return (decided[{layer, decision}] = decisions_of(layer).of(decision).value_or(usual)) != 0;
    }

    /// Weights are compressed: they are in memory for timing alone too.
    bool timed_by_values() const
    {
        return std::any_of(plans.begin(), plans.end(), [](const StepPlan& step) { return step.machine.compressed; });
    }
    bool exists(std::size_t tensor) const { return !layouts[tensor].pieces.empty(); }
    /// The one that the last layer makes.
    std::size_t output() const { return network.layers.back().output; }
    /// It keeps its memory to the end.
    bool is_output(std::size_t tensor) const
    {
        if (tensor < together * image_tensors) tensor %= image_tensors;
        return tensor == output() || std::find(network.outputs.begin(), network.outputs.end(), tensor) != network.outputs.end();
    }
};

/// Of all steps of an image; empty where the host does all of them.
std::vector<Bound> network_bounds(const NetworkPlan& plan);

NetworkPlan plan_network(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetworkOptions& options);

}  // namespace dlasim
