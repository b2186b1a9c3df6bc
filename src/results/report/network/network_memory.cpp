#include "report/network/network_memory.h"

#include <fmt/format.h>

#include <array>

#include "base/files/console.h"
#include "base/files/json_text.h"

namespace dlasim {
namespace {

/// A tensor and its memory.
struct PlacedTensor {
    const NetworkPlan& plan;
    std::size_t tensor;
    const Block& block;
    const TensorLayout& layout = plan.layouts[tensor];
};

constexpr std::array kPlaceKeys{
    Key<PlacedTensor>{{"name", "text", "", "of the tensor"},
                      [](const PlacedTensor& t) -> OrderedJson { return t.plan.steps.tensors[t.tensor].name; }},
    Key<PlacedTensor>{{"memory", "text", "", "dbb or cvsram"},
                      [](const PlacedTensor& t) -> OrderedJson { return memory_of(t.layout.place); }},
    Key<PlacedTensor>{{"address", "integer", "address", "at that port"},
                      [](const PlacedTensor& t) -> OrderedJson { return t.layout.place.address.byte(); }},
    Key<PlacedTensor>{{"bytes", "integer", "bytes", "from there on"}, [](const PlacedTensor& t) -> OrderedJson { return t.layout.bytes; }},
    Key<PlacedTensor>{
        {"first_step", "integer", "", "until this step the memory may hold another tensor, or another part of the concatenation"},
        [](const PlacedTensor& t) -> OrderedJson { return t.block.begin; }},
    Key<PlacedTensor>{{"over", "integer or null", "", "the first step that may overwrite it, after all its readers; null: none"},
                      [](const PlacedTensor& t) { return t.block.end < t.plan.plans.size() ? OrderedJson(t.block.end) : OrderedJson(); }},
    Key<PlacedTensor>{
        {"moved", "integer", "bytes", "that all hardware steps read and write of it, or of the concatenation that it is part of"},
        [](const PlacedTensor& t) -> OrderedJson { return t.block.moved; }},
};

constexpr std::array kUseKeys{
    Key<NetworkPlan>{{"dbb/tensors", "integer", "bytes", "DBB memory of tensors, from the first address to the last"},
                     value_of<&NetworkPlan::memory_use, &MemoryUse::tensors>},
    Key<NetworkPlan>{{"dbb/weights", "integer", "bytes", "DBB memory of weights and operands per kernel"},
                     value_of<&NetworkPlan::memory_use, &MemoryUse::weights>},
    Key<NetworkPlan>{{"cvsram/tensors", "integer", "bytes", "CVSRAM of tensors, from the first address to the last"},
                     value_of<&NetworkPlan::memory_use, &MemoryUse::cvsram>},
    Key<NetworkPlan>{{"cvsram/capacity", "integer", "bytes", "of the hardware's CVSRAM"},
                     [](const NetworkPlan& p) -> OrderedJson { return p.hardware.memory.secondary_bytes; }},
    Key<NetworkPlan>{{"cvsram/kept", "integer", "bytes", "of traffic of units that CVSRAM keeps from DBB"},
                     value_of<&NetworkPlan::memory_use, &MemoryUse::kept>},
    Key<NetworkPlan>{{"apart", "integer", "bytes", "memory of tensors without reuse"},
                     value_of<&NetworkPlan::memory_use, &MemoryUse::apart>},
};

}  // namespace

const char* memory_of(const Place& place) { return place.primary ? "dbb" : "cvsram"; }

OrderedJson memory_use_json(const NetworkPlan& plan) { return written(kUseKeys, plan); }

OrderedJson places_json(const NetworkPlan& plan)
{
    std::vector<const Block*> blocks(plan.layouts.size());
    for (const Block& block : plan.blocks)
        for (const std::size_t tensor : block.tensors) blocks[tensor] = &block;
    OrderedJson list = OrderedJson::array();
    for (std::size_t t = 0; t < blocks.size(); ++t)
        if (blocks[t]) list.push_back(written(kPlaceKeys, PlacedTensor{plan, t, *blocks[t]}));
    return list;
}

std::vector<PlacedKey> network_memory_keys() { return placed(kUseKeys, "memory_use/", kPlaceKeys, "places/[]/"); }

std::string memory_use_text(const NetworkPlan& plan)
{
    const MemoryUse& use = plan.memory_use;
    std::string text = fmt::format("  memory       tensors {} bytes in DBB memory", grouped(use.tensors));
    if (use.cvsram != 0) text += fmt::format(" and {} of {} in CVSRAM", grouped(use.cvsram), grouped(plan.hardware.memory.secondary_bytes));
    text += fmt::format(", {} without reuse; weights {}\n", grouped(use.apart), grouped(use.weights));
    if (use.kept != 0) text += fmt::format("               CVSRAM keeps {} bytes of traffic from DBB\n", grouped(use.kept));
    return text;
}

}  // namespace dlasim
