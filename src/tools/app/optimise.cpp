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

/// A step's tilings, but the one that it has.
struct Choice {
    std::size_t layer = 0;  // of the network
    std::string step;
    std::vector<CutWay> ways;
    std::int64_t cycles = 0;
};

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
        const std::vector<Choice> choices = choices_of();
        found_.after = found_.before;
        std::size_t since = 0;  // choices without a gain
        for (std::size_t i = 0; !choices.empty() && since < choices.size() && !over(); i = (i + 1) % choices.size())
            since = better(choices[i]) ? 1 : since + 1;
        found_.all = since >= choices.size();
        return std::move(found_);
    }

private:
    bool over() const { return interrupted() || std::chrono::steady_clock::now() >= end_; }

    /// The steps by their cycles, and how many the network takes.
    std::vector<Choice> choices_of()
    {
        const NetworkPlan plan = plan_network(network_, hw_, memory_, options_);
        const NetworkCycles cycles = cycles_apart(plan, kOption);
        found_.before = cycles.network;
        std::vector<Choice> choices;
        for (std::size_t i = 0; i < plan.plans.size(); ++i) {
            const Step& step = plan.steps.list[i];
            if (step.unit != StepUnit::Array || asked(network_.layers[step.layer].layer.partition)) continue;
            Layer layer = plan.plans[i].machine;
            Partition automatic;
            automatic.early = layer.partition.early;
            layer.partition = automatic;
            layer.partition.automatic = true;
            layer.partition.minimise = Minimise::Cycles;
            layer.partition.own_lines = options_.for_driver;
            if (std::vector<CutWay> ways = likely_ways(layer, hw_); ways.size() > 1)
                choices.push_back({step.layer, step.name, std::move(ways), cycles.steps[i]});
        }
        std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.cycles > b.cycles; });
        return choices;
    }

    /// The network's own file says how.
    static bool asked(const Partition& partition) { return partition.on() && !partition.way; }

    Partition by(const CutWay& way) const
    {
        Partition partition;
        partition.automatic = true;
        partition.minimise = network_.minimise == Minimise::Parts ? Minimise::Balanced : network_.minimise;
        partition.way = way;
        return partition;
    }

    /// True if one of the tilings was kept.
    bool better(const Choice& choice)
    {
        struct Try {
            Partition partition;
            std::unique_ptr<Apart> apart;
        };
        std::deque<Try> running;
        Partition& partition = network_.layers[choice.layer].layer.partition;
        Partition best = partition;
        bool kept = false;
        const auto take = [&] {
            Try done = std::move(running.front());
            running.pop_front();
            const std::int64_t cycles = done.apart->next();
            ++found_.tries;
            if (cycles < 0 || static_cast<std::uint64_t>(cycles) >= found_.after) return;
            found_.after = static_cast<std::uint64_t>(cycles);
            best = std::move(done.partition);
            kept = true;
        };
        const std::optional<CutWay> has = partition.way;
        for (const CutWay& way : choice.ways) {
            if (over()) break;
            if (has && way == *has) continue;
            partition = by(way);  // the child has it so from here on
            running.push_back({partition, std::make_unique<Apart>(kOption, [&](const Apart::Give& give) { return simulate(give); })});
            if (running.size() == jobs_) take();
        }
        while (!running.empty() && !interrupted()) take();
        partition = best;
        if (kept) found_.kept.push_back({choice.step, found_.after});
        return kept;
    }

    int simulate(const Apart::Give& give) const
    {
        std::int64_t cycles = -1;
        try {
            cycles = cycles_of(plan_network(network_, hw_, memory_, options_));
        } catch (const ConfigError&) {  // such a tiling does not go with the network
        }
        give(cycles);
        return kDone;
    }

    Network& network_;
    const Hardware& hw_;
    const MemorySpec& memory_;
    NetworkOptions options_;
    const std::size_t jobs_;
    const std::chrono::steady_clock::time_point end_;
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
    std::string text = fmt::format("  optimised    {} to {} cycles ({:+.1f} %) by {} of {} tries{}\n", o.before, o.after, percent,
                                   o.kept.size(), o.tries, o.all ? "; no other tiling of one step gains" : "; time is over");
    std::uint64_t before = o.before;
    for (const KeptTiling& kept : o.kept) {
        text += fmt::format("    {:<40} {:>+12} cycles\n", printable(kept.step),
                            static_cast<std::int64_t>(kept.cycles) - static_cast<std::int64_t>(before));
        before = kept.cycles;
    }
    return text;
}

}  // namespace dlasim
