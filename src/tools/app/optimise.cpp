#include "app/optimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "app/apart.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/printable.h"
#include "lowering/cut/parts.h"

namespace dlasim {
namespace {

const std::string kOption = "--optimise";

/// Another value of a decision, or another tiling.
struct OtherPlan {
    std::optional<CutWay> way;
    std::uint32_t value = 0;
};

/// What a step could have in place of what it has.
struct Choice {
    std::size_t layer = 0;  // of the network
    std::string step;
    std::optional<PlanDecision> decision;  // none: the tiling
    std::uint32_t was = 0;
    std::vector<OtherPlan> others;
    std::int64_t cycles = 0;
};

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
    return text.empty() ? "other tiles" : text;
}

class Optimiser {
public:
    Optimiser(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options, double seconds,
              std::size_t jobs)
        : network_(network),
          hw_(hardware),
          memory_(memory),
          options_(options),
          jobs_(std::max<std::size_t>(jobs, 1)),
          end_(std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds)))
    {
        options_.values = false;
        options_.images = 1;
    }

    Optimised run()
    {
        std::vector<Choice> choices = choices_of();
        options_.revise = true;  // what goes with a decision no more
        found_.after = found_.before = before_;
        std::size_t since = 0;  // choices without a gain
        for (std::size_t i = 0; since < choices.size() && !over(); i = (i + 1) % choices.size()) {
            const bool kept = better(choices[i]);
            since = kept ? 1 : since + 1;
            if (!kept || !choices[i].decision) continue;
            choices = choices_of();  // other steps, other tilings
            since = 0;
        }
        found_.all = since >= choices.size();
        if (!found_.kept.empty()) take_decisions(plan_network(network_, hw_, memory_, options_));
        return std::move(found_);
    }

private:
    bool over() const { return interrupted() || std::chrono::steady_clock::now() >= end_; }
    bool bytes() const { return network_.minimise == Minimise::Traffic; }

    void take_decisions(const NetworkPlan& plan)
    {
        network_.decided = plan.network.decided;
        for (std::size_t l = 0; l < network_.layers.size(); ++l) network_.layers[l].decided = plan.network.layers[l].decided;
    }

    /// The steps by their cycles.
    std::vector<Choice> choices_of()
    {
        const NetworkPlan plan = plan_network(network_, hw_, memory_, options_);
        const NetworkCycles cycles = cycles_apart(plan, kOption);
        before_ = bytes() ? bytes_of(plan) : cycles.network;
        found_.unit = bytes() ? "bytes" : "cycles";
        std::vector<Choice> choices;
        for (const auto& [place, value] : plan.decided) choices.push_back(decision(plan, cycles, place.first, place.second, value));
        for (std::size_t i = 0; i < plan.plans.size(); ++i) {
            const Step& step = plan.steps.list[i];
            if (step.unit != StepUnit::Array) continue;
            Layer layer = plan.plans[i].machine;
            Partition automatic;
            automatic.early = layer.partition.early;
            layer.partition = automatic;
            layer.partition.automatic = true;
            layer.partition.minimise = Minimise::Cycles;
            layer.partition.own_lines = options_.for_driver;
            Choice tiling{.layer = step.layer, .step = step.name, .decision = {}, .others = {}, .cycles = cycles.steps[i]};
            for (const CutWay& way : likely_ways(layer, hw_)) tiling.others.push_back({way});
            if (!tiling.others.empty()) choices.push_back(std::move(tiling));
        }
        std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.cycles > b.cycles; });
        return choices;
    }

    Choice decision(const NetworkPlan& plan, const NetworkCycles& cycles, std::size_t layer, PlanDecision of, std::uint32_t value) const
    {
        Choice choice{.layer = layer, .step = network_.name, .decision = of, .was = value, .others = {}};
        for (std::uint32_t other = key_of(of).most == 1 ? 0 : 1; other <= key_of(of).most; other += std::max(other, 1U))
            if (other != value) choice.others.push_back({{}, other});
        if (layer == kWholeNetwork) return choice;
        choice.step = network_.layers[layer].name;
        for (std::size_t i = 0; i < plan.plans.size(); ++i) {
            const Step& step = plan.steps.list[i];
            const std::vector<std::size_t> own = step.kernel_layers();
            if (step.pool == layer || step.add == layer || std::find(own.begin(), own.end(), layer) != own.end())
                choice.cycles = std::max(choice.cycles, cycles.steps[i]);
        }
        return choice;
    }

    static std::uint64_t bytes_of(const NetworkPlan& plan)
    {
        std::uint64_t bytes = 0;
        for (const StepPlan& step : plan.plans)
            for (const TensorTraffic& tensor : step.traffic.tensors) bytes += tensor.primary ? tensor.moved : 0;
        return bytes;
    }

    /// Tilings of the layers whose steps another value makes others.
    void tile_anew(std::size_t l)
    {
        NetworkLayer& layer = network_.layers[l];
        for (NetworkLayer& other : network_.layers)
            if (other.inputs == layer.inputs) other.layer.partition = {};
        if (layer.convolves()) return;
        for (const std::size_t tensor : layer.inputs)
            if (const std::optional<std::size_t> maker = network_.tensors[tensor].layer) tile_anew(*maker);
    }

    void apply(const Choice& choice, const OtherPlan& change)
    {
        if (choice.decision) {
            Decisions& decided = choice.layer == kWholeNetwork ? network_.decided : network_.layers[choice.layer].decided;
            decided.of(*choice.decision) = change.value;
            if (key_of(*choice.decision).tiles) tile_anew(choice.layer);
            return;
        }
        Partition partition;
        partition.automatic = true;
        partition.minimise = network_.minimise == Minimise::Parts ? Minimise::Balanced : network_.minimise;
        partition.way = change.way;
        network_.layers[choice.layer].layer.partition = partition;
    }

    /// True if one of the changes was kept.
    bool better(const Choice& choice)
    {
        struct Try {
            const OtherPlan* change;
            std::unique_ptr<Apart> apart;
        };
        std::deque<Try> running;
        const OtherPlan* best = nullptr;
        const std::uint64_t before = found_.after;
        const auto take = [&] {
            const Try done = std::move(running.front());
            running.pop_front();
            const std::int64_t cost = done.apart->next();
            ++found_.tries;
            if (cost < 0 || static_cast<std::uint64_t>(cost) >= found_.after) return;
            found_.after = static_cast<std::uint64_t>(cost);
            best = done.change;
        };
        const std::optional<CutWay> has = choice.layer == kWholeNetwork ? std::nullopt : network_.layers[choice.layer].layer.partition.way;
        for (const OtherPlan& change : choice.others) {
            if (over()) break;
            if (has && change.way == has) continue;
            // The child has the change, this process keeps what it has.
            running.push_back({&change, std::make_unique<Apart>(kOption, [&](const Apart::Give& give) {
                                   apply(choice, change);
                                   return simulate(choice, change, give);
                               })});
            if (running.size() == jobs_) take();
        }
        while (!running.empty() && !interrupted()) take();
        if (!best) return false;
        apply(choice, *best);
        found_.kept.push_back({choice.step, choice.decision ? key_of(*choice.decision).name : "partition",
                               choice.decision ? said(key_of(*choice.decision), choice.was)
                               : has           ? said(*has)
                                               : "the planner's",
                               choice.decision ? said(key_of(*choice.decision), best->value) : said(*best->way), before, found_.after});
        return true;
    }

    int simulate(const Choice& choice, const OtherPlan& change, const Apart::Give& give) const
    {
        std::int64_t cost = -1;
        try {
            NetworkPlan plan = plan_network(network_, hw_, memory_, options_);
            const std::vector<Bound> bounds = network_bounds(plan);
            const auto is = choice.decision ? plan.decided.find({choice.layer, *choice.decision}) : plan.decided.end();
            const bool possible = !choice.decision || (is != plan.decided.end() && is->second == change.value);
            if (possible && bytes()) cost = static_cast<std::int64_t>(bytes_of(plan));
            else if (possible && (bounds.empty() || largest(bounds) < found_.after)) cost = cycles_of(std::move(plan));
        } catch (const ConfigError&) {  // it does not go with the network
        }
        give(cost);
        return kDone;
    }

    Network& network_;
    const Hardware& hw_;
    const MemorySpec& memory_;
    NetworkOptions options_;
    const std::size_t jobs_;
    const std::chrono::steady_clock::time_point end_;
    std::uint64_t before_ = 0;
    Optimised found_;
};

}  // namespace

Optimised optimise(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options, double seconds,
                   std::size_t jobs)
{
    return Optimiser(network, hardware, memory, options, seconds, jobs).run();
}

std::string optimised_text(const Optimised& o)
{
    const double percent = o.before == 0 ? 0 : 100.0 * (static_cast<double>(o.after) / static_cast<double>(o.before) - 1);
    std::string text = fmt::format("  optimised    {} to {} {} ({:+.1f} %) by {} of {} tries{}\n", o.before, o.after, o.unit, percent,
                                   o.kept.size(), o.tries, o.all ? "; no other decision of one step gains" : "; time is over");
    for (const KeptDecision& kept : o.kept)
        text += fmt::format("    {:<28} {:<32} {:>+12} {}\n", printable(kept.step),
                            fmt::format("{}: {} to {}", kept.decision, kept.was, kept.is),
                            static_cast<std::int64_t>(kept.after) - static_cast<std::int64_t>(kept.before), o.unit);
    return text;
}

OrderedJson optimised_json(const Optimised& o)
{
    OrderedJson list = OrderedJson::array();
    for (const KeptDecision& kept : o.kept)
        list.push_back({{"step", kept.step},
                        {"decision", kept.decision},
                        {"was", kept.was},
                        {"is", kept.is},
                        {"gained", kept.before - kept.after},
                        {"unit", o.unit}});
    return list;
}

}  // namespace dlasim
