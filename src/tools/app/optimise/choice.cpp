#include "app/optimise/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lowering/cut/parts.h"

namespace dlasim {
namespace {

std::string said(const DecisionKey& key, std::uint32_t value)
{
    return key.most != 1 ? std::to_string(value) : value != 0 ? "true" : "false";
}

std::string said(const CutWay& way)
{
    if (way.whole) return "whole";
    std::string text;
    for (const auto& [name, limit] : {std::pair("rows", way.rows), std::pair("columns", way.columns), std::pair("kernels", way.kernels)})
        if (limit != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, limit);
    if (text.empty()) text = "other tiles";
    if (way.keeps_weights) text += *way.keeps_weights ? ", weights kept" : ", data kept";
    return text;
}

void add_step(PlanChoice& choice, const NetworkPlan& plan, std::size_t i, std::int64_t cycles)
{
    choice.steps.push_back(i);
    choice.cycles = std::max(choice.cycles, cycles);
    if (!plan.plans[i].bounds.empty())
        choice.above_bound += std::max<std::int64_t>(0, cycles - static_cast<std::int64_t>(largest(plan.plans[i].bounds)));
}

PlanChoice decision(const NetworkPlan& plan, std::size_t layer, PlanDecision of, std::uint32_t value,
                    const std::vector<std::int64_t>& cycles)
{
    PlanChoice choice{.layer = layer, .step = plan.network.name, .decision = of, .was = value, .others = {}, .steps = {}};
    for (std::uint32_t other = key_of(of).most == 1 ? 0 : 1; other <= key_of(of).most; other += std::max(other, 1U))
        if (other != value) choice.others.push_back({{}, other});
    if (layer == kWholeNetwork) return choice;
    choice.step = plan.network.layers[layer].name;
    for (std::size_t i = 0; i < plan.plans.size(); ++i) {
        const Step& step = plan.steps.list[i];
        const std::vector<std::size_t> own = step.kernel_layers();
        if (step.pool == layer || step.add == layer || std::ranges::find(own, layer) != own.end()) add_step(choice, plan, i, cycles[i]);
    }
    return choice;
}

/// Tilings of the layers whose steps another value makes others.
void forget_tilings(Network& network, std::size_t l)
{
    NetworkLayer& layer = network.layers[l];
    for (NetworkLayer& other : network.layers)
        if (other.inputs == layer.inputs) other.layer.partition = {};
    if (layer.convolves()) return;
    for (const std::size_t tensor : layer.inputs)
        if (const std::optional<std::size_t> maker = network.tensors[tensor].layer) forget_tilings(network, *maker);
}

bool follows(const NetworkPlan& plan, std::size_t i, std::size_t before)
{
    const Step& step = plan.steps.list[i];
    const std::size_t tensor = plan.steps.list[before].output;
    return i == before || i == before + 1 || step.addend == tensor || std::ranges::find(step.inputs, tensor) != step.inputs.end();
}

}  // namespace

std::vector<PlanChoice> choices_of(const NetworkPlan& plan, const NetworkOptions& options, const std::vector<std::int64_t>& cycles)
{
    std::vector<PlanChoice> choices;
    for (const auto& [place, value] : plan.decided)
        if (!key_of(place.second).asked) choices.push_back(decision(plan, place.first, place.second, value, cycles));
    for (std::size_t i = 0; i < plan.plans.size(); ++i) {
        const Step& step = plan.steps.list[i];
        if (step.unit != StepUnit::Array) continue;
        Layer layer = plan.plans[i].machine;
        Partition automatic;
        automatic.early = layer.partition.early;
        layer.partition = automatic;
        layer.partition.automatic = true;
        layer.partition.minimise = Minimise::Cycles;
        layer.partition.own_lines = options.for_driver;
        PlanChoice tiling{.layer = step.layer, .step = step.name, .decision = {}, .others = {}, .steps = {}};
        add_step(tiling, plan, i, cycles[i]);
        for (const CutWay& way : likely_ways(layer, plan.hardware)) tiling.others.push_back({way});
        if (!tiling.others.empty()) choices.push_back(std::move(tiling));
    }
    std::ranges::stable_sort(choices, std::greater{},
                             [](const PlanChoice& choice) { return std::pair(choice.above_bound, choice.cycles); });
    return choices;
}

bool neighbours(const NetworkPlan& plan, const PlanChoice& a, const PlanChoice& b)
{
    return std::ranges::any_of(a.steps, [&](std::size_t i) {
        return std::ranges::any_of(b.steps, [&](std::size_t j) { return follows(plan, i, j) || follows(plan, j, i); });
    });
}

void apply(Network& network, const PlanChanges& changes)
{
    for (const PlanChange& change : changes) {
        const PlanChoice& choice = *change.choice;
        if (!choice.decision) continue;
        Decisions& decided = choice.layer == kWholeNetwork ? network.decided : network.layers[choice.layer].decided;
        decided.of(*choice.decision) = change.other.value;
        if (key_of(*choice.decision).tiles) forget_tilings(network, choice.layer);
    }
    for (const PlanChange& change : changes) {  // after what makes steps others
        if (change.choice->decision) continue;
        Partition partition;
        partition.automatic = true;
        partition.minimise = network.minimise == Minimise::Parts ? Minimise::Balanced : network.minimise;
        partition.way = change.other.way;
        network.layers[change.choice->layer].layer.partition = partition;
    }
}

bool has_decided(const NetworkPlan& plan, const PlanChanges& changes)
{
    return std::ranges::all_of(changes, [&](const PlanChange& change) {
        if (!change.choice->decision) return true;
        const auto is = plan.decided.find({change.choice->layer, *change.choice->decision});
        return is != plan.decided.end() && is->second == change.other.value;
    });
}

ChangedDecision changed(const Network& network, const PlanChange& change)
{
    const PlanChoice& choice = *change.choice;
    if (choice.decision) {
        const DecisionKey& key = key_of(*choice.decision);
        return {choice.step, key.name, said(key, choice.was), said(key, change.other.value)};
    }
    const std::optional<CutWay>& has = network.layers[choice.layer].layer.partition.way;
    return {choice.step, "partition", has ? said(*has) : "the planner's", said(*change.other.way)};
}

}  // namespace dlasim
