#include "app/optimise/optimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "app/apart.h"
#include "app/interrupt.h"
#include "app/optimise/candidate.h"
#include "app/optimise/tried_store.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/printable.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "lowering/cut/parts.h"
#include "sweep/figures.h"

namespace dlasim {
namespace {

const std::string kOption = "--optimise";
constexpr double kNear = 0.005;  // share of a step's cost within which bytes decide

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
    std::int64_t cycles = 0;  // of the step
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
    Optimiser(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options, const SearchOptions& search)
        : network_(network),
          machine_{hardware, memory, search.technology, search.host_ns},
          options_(options),
          jobs_(std::max<std::size_t>(search.jobs, 1)),
          objective_(search.best, search.require, network),
          end_(std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(search.seconds)))
    {
        options_.values = false;
        options_.images = 1;
        store_.emplace(search.store, identity());
    }

    Optimised run()
    {
        begin();
        options_.revise = true;  // what goes with a decision no more
        std::vector<Choice> choices = choices_of();
        std::size_t since = 0;  // choices without a gain
        for (std::size_t i = 0; since < choices.size() && !over(); i = (i + 1) % choices.size()) {
            const bool kept = better(choices[i]);
            since = kept ? 1 : since + 1;
            if (!kept || !choices[i].decision) continue;
            choices = choices_of();  // other steps, other tilings
            since = 0;
        }
        found_.all = since >= choices.size();
        if (Objective::best_of({score_, usual_score_}, 0) == 1) take_usual();
        found_.after = program_;
        found_.value_after = objective_.value_of(score_.cost);
        found_.required = objective_.required();
        found_.missed = objective_.missed(program_);
        if (!found_.kept.empty()) take_decisions(plan_network(network_, machine_.hardware, machine_.memory, options_));
        return std::move(found_);
    }

private:
    bool over() const { return interrupted() || std::chrono::steady_clock::now() >= end_; }

    /// The program at the start, and the planner's own of the same network.
    void begin()
    {
        const Candidate given = Candidate::of(network_);
        usual_ = given;
        for (Partition& partition : usual_.partitions) partition = {};
        for (Decisions& decided : usual_.decided) decided = {};
        usual_.of_network = {};
        program_ = simulated();
        if (usual_.key() == given.key()) {
            usual_program_ = program_;
        } else {
            usual_.give_to(network_);
            usual_program_ = simulated();
            given.give_to(network_);
        }
        objective_.limit_energy(usual_program_, program_);
        score_ = objective_.score(program_);
        start_ = least_ = score_;
        usual_score_ = objective_.score(usual_program_);
        found_.best = objective_.best();
        found_.before = program_;
        found_.value_before = objective_.value_of(score_.cost);
    }

    /// Of all that decides what a candidate does. The numbers of a model show in its program.
    std::string identity() const
    {
        const NetworkPlan plan = plan_network(network_, machine_.hardware, machine_.memory, options_);
        Digest sum;
        for (const OrderedJson& part : {network_json(network_), hardware_json(machine_.hardware), memory_json(machine_.memory),
                                        silicon::technology_json(machine_.technology)})
            sum.add(part.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
        for (const ProgramEntry& entry : plan.program)
            if (const auto* write = std::get_if<RegisterWrite>(&entry)) sum.add(fmt::format("{} {}", write->address, write->value));
        sum.add(fmt::format("{:d} {:d} {:d} {:d} {}", options_.keep_tensors, options_.pixels, options_.cvsram, options_.for_driver,
                            machine_.host_ns.value_or(-1)));
        sum.add_file("/proc/self/exe");
        return sum.text();
    }

    /// The network as it is.
    TriedProgram simulated()
    {
        const std::string key = Candidate::of(network_).key();
        if (const TrialOutcome* known = store_->find(key); known && known->tried) return *known->tried;
        Apart apart(kOption, [&](const Apart::Give& give) {
            give_outcome(
                network_, options_, machine_, [](const NetworkPlan&) { return true; }, [](std::uint64_t) { return true; }, give);
            return kDone;
        });
        TrialOutcome outcome = take_outcome(apart);
        if (outcome.tried) store_->keep(key, outcome);
        // What the machine refuses is refused with its reason.
        if (!outcome.possible) plan_network(network_, machine_.hardware, machine_.memory, options_);
        if (!outcome.tried) throw MachineError(kOption + ": the standalone simulation hangs");
        return *std::move(outcome.tried);
    }

    /// In place of all that was kept.
    void take_usual()
    {
        found_.kept.clear();
        score_ = start_;
        keep({network_.name, "plan", "that of the file", "the planner's"}, usual_program_, usual_score_);
        usual_.give_to(network_);
    }

    void keep(KeptDecision decision, TriedProgram program, const Objective::Score& score)
    {
        decision.value = objective_.value_of(score.cost) - objective_.value_of(score_.cost);
        decision.dbb_bytes = score.dbb_bytes - score_.dbb_bytes;
        decision.cvsram_bytes = score.cvsram_bytes - score_.cvsram_bytes;
        found_.kept.push_back(std::move(decision));
        program_ = std::move(program);
        score_ = score;
        if (std::pair(score.missed, score.cost) < std::pair(least_.missed, least_.cost)) least_ = score;
    }

    void take_decisions(const NetworkPlan& plan)
    {
        network_.decided = plan.network.decided;
        for (std::size_t l = 0; l < network_.layers.size(); ++l) network_.layers[l].decided = plan.network.layers[l].decided;
    }

    /// The steps by their cycles.
    std::vector<Choice> choices_of()
    {
        const NetworkPlan plan = plan_network(network_, machine_.hardware, machine_.memory, options_);
        std::vector<Choice> choices;
        for (const auto& [place, value] : plan.decided)
            if (!key_of(place.second).asked) choices.push_back(decision(plan, place.first, place.second, value));
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
            Choice tiling{.layer = step.layer, .step = step.name, .decision = {}, .others = {}, .cycles = program_.steps[i]};
            for (const CutWay& way : likely_ways(layer, machine_.hardware)) tiling.others.push_back({way});
            if (!tiling.others.empty()) choices.push_back(std::move(tiling));
        }
        std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.cycles > b.cycles; });
        return choices;
    }

    Choice decision(const NetworkPlan& plan, std::size_t layer, PlanDecision of, std::uint32_t value) const
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
                choice.cycles = std::max(choice.cycles, program_.steps[i]);
        }
        return choice;
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

    /// What another plan of the step may cost more if it moves fewer bytes: never more than the program at the start, and all steps
    /// together never more than that share of the least cost.
    double near(const Choice& choice) const
    {
        const double share = choice.cycles > 0 && score_.cycles > 0 ? std::min(1.0, static_cast<double>(choice.cycles) / score_.cycles) : 1;
        const double most = least_.missed > 0 ? score_.cost : std::min(start_.cost, least_.cost + kNear * std::abs(least_.cost));
        return std::clamp(most - score_.cost, 0.0, kNear * share * std::abs(score_.cost));
    }

    /// True if one of the changes was kept.
    bool better(const Choice& choice)
    {
        struct Try {
            const OtherPlan* change;
            std::string key;
            std::unique_ptr<Apart> apart;
        };
        std::deque<Try> running;
        std::vector<const OtherPlan*> changes{nullptr};
        std::vector<TriedProgram> programs{program_};
        std::vector<Objective::Score> scores{score_};
        const double bytes_decide = near(choice);
        const auto judge = [&](const OtherPlan* change, const TrialOutcome& outcome) {
            if (!outcome.tried) return;
            scores.push_back(objective_.score(*outcome.tried));
            programs.push_back(*outcome.tried);
            changes.push_back(change);
        };
        const auto take = [&] {
            const Try done = std::move(running.front());
            running.pop_front();
            const TrialOutcome outcome = take_outcome(*done.apart);
            ++found_.tries;
            store_->keep(done.key, outcome);
            judge(done.change, outcome);
        };
        const std::optional<CutWay> has = choice.layer == kWholeNetwork ? std::nullopt : network_.layers[choice.layer].layer.partition.way;
        const Candidate now = Candidate::of(network_);
        for (const OtherPlan& change : choice.others) {
            if (over()) break;
            if (has && change.way == has) continue;
            const Objective::Score best = scores[Objective::best_of(scores, bytes_decide)];
            const auto worth_it = [&](std::uint64_t least) { return !objective_.cannot_gain(least, best, bytes_decide); };
            apply(choice, change);
            std::string key = Candidate::of(network_).key();
            const TrialOutcome* known = store_->find(key);
            if (known && (known->tried || !known->possible || !worth_it(known->least_cycles))) {
                now.give_to(network_);
                ++found_.known;
                judge(&change, *known);
                continue;
            }
            running.push_back({&change, std::move(key), std::make_unique<Apart>(kOption, [&](const Apart::Give& give) {
                                   give_outcome(
                                       network_, options_, machine_,
                                       [&](const NetworkPlan& plan) { return has_decided(plan, choice, change); }, worth_it, give);
                                   return kDone;
                               })});
            now.give_to(network_);  // the child has the change
            if (running.size() == jobs_) take();
        }
        while (!running.empty() && !interrupted()) take();
        store_->commit();
        const std::size_t best = Objective::best_of(scores, bytes_decide);
        if (best == 0) return false;
        const OtherPlan& change = *changes[best];
        apply(choice, change);
        keep({choice.step, choice.decision ? key_of(*choice.decision).name : "partition",
              choice.decision ? said(key_of(*choice.decision), choice.was)
              : has           ? said(*has)
                              : "the planner's",
              choice.decision ? said(key_of(*choice.decision), change.value) : said(*change.way)},
             std::move(programs[best]), scores[best]);
        return true;
    }

    /// The planner could do as it was asked.
    static bool has_decided(const NetworkPlan& plan, const Choice& choice, const OtherPlan& change)
    {
        if (!choice.decision) return true;
        const auto is = plan.decided.find({choice.layer, *choice.decision});
        return is != plan.decided.end() && is->second == change.value;
    }

    Network& network_;
    const TrialMachine machine_;
    NetworkOptions options_;
    const std::size_t jobs_;
    Objective objective_;
    const std::chrono::steady_clock::time_point end_;
    std::optional<TriedStore> store_;
    Candidate usual_;                                       // the planner's own
    TriedProgram program_, usual_program_;                  // of the network as it is
    Objective::Score score_, usual_score_, start_, least_;  // least: of those that were kept
    Optimised found_;
};

double percent(double before, double after) { return before == 0 ? 0 : 100 * (after / before - 1); }

bool whole(double value) { return value == std::floor(value) && std::abs(value) < 9e15; }
/// Figures that are no whole numbers have six digits.
double digits(double value) { return whole(value) ? value : shown(value); }

std::string bytes_change(const KeptDecision& kept)
{
    std::string text;
    for (const auto& [bytes, port] : {std::pair(kept.dbb_bytes, "DBB"), std::pair(kept.cvsram_bytes, "CVSRAM")})
        if (bytes != 0) text += fmt::format(", {:+} bytes {}", bytes, port);
    return text;
}

}  // namespace

Optimised optimise(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options,
                   const SearchOptions& search)
{
    return Optimiser(network, hardware, memory, options, search).run();
}

std::string optimised_text(const Optimised& o)
{
    const std::string unit = printable(o.best);
    std::string text = fmt::format("  optimised    {} to {} {} ({:+.1f} %) by {} of {} tries{}{}\n", digits(o.value_before),
                                   digits(o.value_after), unit, percent(o.value_before, o.value_after), o.kept.size(), o.tries,
                                   o.known != 0 ? fmt::format(", {} more known", o.known) : "",
                                   o.all ? "; no other decision of one step gains" : "; time is over");
    for (const KeptDecision& kept : o.kept)
        text += fmt::format("    {:<28} {:<32} {:>+12} {}{}\n", printable(kept.step),
                            fmt::format("{}: {} to {}", kept.decision, kept.was, kept.is), digits(kept.value), unit, bytes_change(kept));
    if (!o.missed.empty()) text += fmt::format("  missed       {}\n", printable(o.missed));
    return text;
}

OrderedJson optimised_json(const Optimised& o)
{
    const auto number = [](double value) {
        return whole(value) ? OrderedJson(static_cast<std::int64_t>(value)) : OrderedJson(shown(value));
    };
    OrderedJson list = OrderedJson::array();
    for (const KeptDecision& kept : o.kept) {
        list.push_back({{"step", kept.step},
                        {"decision", kept.decision},
                        {"was", kept.was},
                        {"is", kept.is},
                        {"gained", number(more_is_better(o.best) ? kept.value : -kept.value)},
                        {"unit", o.best}});
        if (kept.dbb_bytes != 0) list.back()["dbb_bytes"] = number(kept.dbb_bytes);
        if (kept.cvsram_bytes != 0) list.back()["cvsram_bytes"] = number(kept.cvsram_bytes);
    }
    return list;
}

}  // namespace dlasim
