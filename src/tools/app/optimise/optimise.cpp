#include "app/optimise/optimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/apart.h"
#include "app/interrupt.h"
#include "app/optimise/candidate.h"
#include "app/optimise/choice.h"
#include "app/optimise/tried_store.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/digest.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "sweep/figures.h"

namespace dlasim {
namespace {

const std::string kOption = "--optimise";
constexpr double kNear = 0.005;           // share of a step's cost within which bytes decide
constexpr std::size_t kPairsAtOnce = 16;  // of which the best is kept

/// What is known of the others of a choice in the program as it is.
struct Looked {
    struct Tried {
        PlanChange change;
        Objective::Score score;
    };
    std::vector<Tried> tried;
    std::uint64_t ruled_out = 0, impossible = 0;
    double cost = 0;   // of the program that they were compared with
    bool all = false;  // nothing is left to look at

    double lost(const Tried& t) const { return t.score.cost - cost; }
};

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

    SearchReport run()
    {
        begin();
        options_.revise = true;  // what goes with a decision no more
        look_again();
        while (alone())
            if (!together()) {
                report_.all = !over();
                break;
            }
        if (Objective::best_of({score_, usual_score_}, 0) == 1) take_usual();
        report_.required = objective_.required();
        report_.missed = objective_.missed(program_);
        const NetworkPlan plan = this->plan();
        if (!report_.kept.empty()) take_decisions(plan);
        say_figures();
        say_steps(plan);
        return std::move(report_);
    }

private:
    bool over() const { return interrupted() || std::chrono::steady_clock::now() >= end_; }
    NetworkPlan plan() const { return plan_network(network_, machine_.hardware, machine_.memory, options_); }

    /// The program at the start, and the planner's own of the same network.
    void begin()
    {
        const Candidate given = Candidate::of(network_);
        been_.insert(given.key());
        for (const Step& step : plan().steps.list) steps_before_.push_back(step.name);
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
        report_.best = objective_.best();
        before_ = program_;
    }

    /// Of all that decides what a candidate does. The numbers of a model show in its program.
    std::string identity() const
    {
        const NetworkPlan plan = this->plan();
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
        report_.kept.clear();
        score_ = start_;
        keep({network_.name, "plan", "that of the file", "the planner's"}, usual_score_);
        program_ = usual_program_;
        usual_.give_to(network_);
        look_again();
    }

    void keep(const ChangedDecision& decision, const Objective::Score& score)
    {
        const double change = objective_.value_of(score.cost) - objective_.value_of(score_.cost);
        report_.kept.push_back({decision, more_is_better(objective_.best()) ? change : -change, objective_.best(),
                                score.dbb_bytes - score_.dbb_bytes, score.cvsram_bytes - score_.cvsram_bytes});
        score_ = score;
        if (std::pair(score.missed, score.cost) < std::pair(least_.missed, least_.cost)) least_ = score;
    }

    void take_decisions(const NetworkPlan& plan)
    {
        network_.decided = plan.network.decided;
        for (std::size_t l = 0; l < network_.layers.size(); ++l) network_.layers[l].decided = plan.network.layers[l].decided;
    }

    /// Other steps have other choices.
    void look_again()
    {
        plan_.emplace(plan());
        choices_ = choices_of(*plan_, options_, program_.steps);
        looked_.assign(choices_.size(), {});
    }

    /// Changes of one choice, until none of them gains. False if time is over before.
    bool alone()
    {
        std::size_t since = 0;  // choices without a gain
        for (std::size_t i = 0; since < choices_.size(); i = (i + 1) % choices_.size()) {
            if (over()) return false;
            const PlanChoice& choice = choices_[i];
            const std::optional<CutWay> has = choice.decision ? std::nullopt : network_.layers[choice.layer].layer.partition.way;
            std::vector<Together> candidates;
            for (const OtherPlan& other : choice.others)
                if (!has || other.way != has) candidates.push_back({{{&choice, other}}, {}});
            const bool kept = better(candidates, near(choice.cycles), &looked_[i]);
            since = kept ? 1 : since + 1;
            if (!looked_[i].all) return false;
            if (!kept || !choice.decision) continue;
            look_again();
            since = 0;
        }
        return true;
    }

    /// Changes of two neighbours at once, those first that lose least alone. True if one was kept.
    bool together()
    {
        struct Pair {
            const Looked::Tried *a, *b;
            std::pair<double, double> lost;
        };
        std::vector<Pair> pairs;
        for (std::size_t i = 0; i < choices_.size(); ++i)
            for (std::size_t j = i + 1; j < choices_.size(); ++j) {
                if (!neighbours(*plan_, choices_[i], choices_[j])) continue;
                for (const Looked::Tried& a : looked_[i].tried)
                    for (const Looked::Tried& b : looked_[j].tried)
                        if (const double lost = looked_[i].lost(a) + looked_[j].lost(b); may_regain(lost, choices_[i], choices_[j]))
                            pairs.push_back({&a, &b, {a.score.missed + b.score.missed, lost}});
            }
        std::ranges::stable_sort(pairs, {}, &Pair::lost);
        for (std::size_t first = 0; first < pairs.size() && !over(); first += kPairsAtOnce) {
            std::vector<Together> candidates;
            for (std::size_t i = first; i < std::min(first + kPairsAtOnce, pairs.size()); ++i)
                candidates.push_back({{pairs[i].a->change, pairs[i].b->change}, pairs[i].a->score});
            if (!better(candidates, 0, nullptr)) continue;
            look_again();
            return true;
        }
        return false;
    }

    /// What two changes lose alone is regained by both of their steps, which do not get below their bounds.
    bool may_regain(double lost, const PlanChoice& a, const PlanChoice& b) const
    {
        return objective_.best() != "cycles" || lost < static_cast<double>(a.above_bound + b.above_bound);
    }

    /// What another plan of a step of these cycles may cost more if it moves fewer bytes: never more than the program at the start, and
    /// all steps together never more than that share of the least cost.
    double near(std::int64_t cycles) const
    {
        const double share = cycles > 0 && score_.cycles > 0 ? std::min(1.0, static_cast<double>(cycles) / score_.cycles) : 1;
        const double most = least_.missed > 0 ? score_.cost : std::min(start_.cost, least_.cost + kNear * std::abs(least_.cost));
        return std::clamp(most - score_.cost, 0.0, kNear * share * std::abs(score_.cost));
    }

    struct Together {
        PlanChanges changes;
        std::optional<Objective::Score> first;  // with the first of several alone
    };

    /// True if one of the candidates was kept: the best, among those that cost at most `bytes_decide` more by its bytes. None is a program
    /// that was kept before, so that a search ends.
    bool better(const std::vector<Together>& candidates, double bytes_decide, Looked* looked)
    {
        struct Try {
            const Together* candidate;
            std::string key;
            std::unique_ptr<Apart> apart;
        };
        std::deque<Try> running;
        std::vector<const Together*> tried{nullptr};
        std::vector<TriedProgram> programs{program_};
        std::vector<Objective::Score> scores{score_};
        Looked seen;
        std::size_t judged = 0;
        const auto judge = [&](const Together& candidate, const TrialOutcome& outcome) {
            ++judged;
            seen.ruled_out += outcome.possible && !outcome.tried;
            seen.impossible += !outcome.possible;
            if (!outcome.tried) return;
            scores.push_back(objective_.score(*outcome.tried));
            programs.push_back(*outcome.tried);
            tried.push_back(&candidate);
        };
        const auto take = [&] {
            const Try done = std::move(running.front());
            running.pop_front();
            const TrialOutcome outcome = take_outcome(*done.apart);
            ++report_.tries;
            store_->keep(done.key, outcome);
            judge(*done.candidate, outcome);
        };
        const Candidate now = Candidate::of(network_);
        for (const Together& candidate : candidates) {
            if (over()) break;
            const Objective::Score best = scores[Objective::best_of(scores, bytes_decide)];
            const auto worth_it = [&](std::uint64_t least) { return !objective_.cannot_gain(least, best, bytes_decide); };
            apply(network_, candidate.changes);
            std::string key = Candidate::of(network_).key();
            if (been_.contains(key)) {
                now.give_to(network_);
                ++judged;
                continue;
            }
            const TrialOutcome* known = store_->find(key);
            if (known && (known->tried || !known->possible || !worth_it(known->least_cycles))) {
                now.give_to(network_);
                ++report_.known;
                judge(candidate, *known);
                continue;
            }
            running.push_back({&candidate, std::move(key), std::make_unique<Apart>(kOption, [&](const Apart::Give& give) {
                                   give_outcome(
                                       network_, options_, machine_,
                                       [&](const NetworkPlan& plan) { return has_decided(plan, candidate.changes); }, worth_it, give);
                                   return kDone;
                               })});
            now.give_to(network_);  // the child has the change
            if (running.size() == jobs_) take();
        }
        while (!running.empty() && !interrupted()) take();
        store_->commit();
        const std::size_t best = Objective::best_of(scores, bytes_decide);
        if (looked) {
            for (std::size_t i = 1; i < tried.size(); ++i)
                if (i != best) seen.tried.push_back({tried[i]->changes.front(), scores[i]});
            seen.cost = scores[best].cost;
            seen.all = judged == candidates.size();
            *looked = std::move(seen);
        }
        if (best == 0) return false;
        const Together& kept = *tried[best];
        std::vector<ChangedDecision> decisions;
        for (const PlanChange& change : kept.changes) decisions.push_back(changed(network_, change));
        apply(network_, kept.changes);
        been_.insert(Candidate::of(network_).key());
        if (kept.first) {
            keep(decisions.front(), *kept.first);
            report_.kept.back().with_next = true;
        }
        keep(decisions.back(), scores[best]);
        program_ = std::move(programs[best]);
        return true;
    }

    void add_figure(const std::string& name, double before, double after)
    {
        if (!std::isnan(before) && !std::isnan(after) &&
            std::ranges::find(report_.figures, name, &SearchReport::Figure::name) == report_.figures.end())
            report_.figures.push_back({name, shown(before), shown(after)});
    }

    void say_figures()
    {
        const Objective::Score after = objective_.score(program_);
        add_figure(objective_.best(), objective_.value_of(start_.cost), objective_.value_of(after.cost));
        add_figure("cycles", start_.cycles, after.cycles);
        add_figure("dbb_bytes", start_.dbb_bytes, after.dbb_bytes);
        add_figure("cvsram_bytes", start_.cvsram_bytes, after.cvsram_bytes);
        add_figure("total_uj", before_.figure("total_uj"), program_.figure("total_uj"));
    }

    void say_steps(const NetworkPlan& plan)
    {
        for (std::size_t i = 0; i < plan.plans.size(); ++i) {
            if (plan.plans[i].bounds.empty()) continue;  // the host's
            const Bound& bound = binding(plan.plans[i].bounds);
            SearchedStep step{
                .name = plan.steps.list[i].name, .after = program_.steps[i], .bound = bound.name(), .bound_cycles = bound.cycles};
            if (const auto before = std::ranges::find(steps_before_, step.name); before != steps_before_.end())
                step.before = before_.steps[static_cast<std::size_t>(before - steps_before_.begin())];
            std::pair<double, double> least;
            for (std::size_t c = 0; c < choices_.size(); ++c) {
                const Looked& looked = looked_[c];
                if (std::ranges::find(choices_[c].steps, i) == choices_[c].steps.end()) continue;
                step.tried += looked.tried.size();
                step.ruled_out += looked.ruled_out;
                step.impossible += looked.impossible;
                step.all &= looked.all;
                for (const Looked::Tried& tried : looked.tried) {
                    const std::pair rank(tried.score.missed, looked.lost(tried));
                    if (step.next && rank >= least) continue;
                    least = rank;
                    step.next = changed(network_, tried.change);
                    step.lost = shown(looked.lost(tried));
                    step.misses = tried.score.missed > score_.missed;
                }
            }
            report_.steps.push_back(std::move(step));
        }
    }

    Network& network_;
    const TrialMachine machine_;
    NetworkOptions options_;
    const std::size_t jobs_;
    Objective objective_;
    const std::chrono::steady_clock::time_point end_;
    std::optional<TriedStore> store_;
    Candidate usual_;                                // the planner's own
    TriedProgram before_, program_, usual_program_;  // at the start; of the network as it is
    std::vector<std::string> steps_before_;
    Objective::Score score_, usual_score_, start_, least_;  // least: of those that were kept
    std::optional<NetworkPlan> plan_;                       // of which the choices are
    std::vector<PlanChoice> choices_;
    std::vector<Looked> looked_;  // by choice
    std::set<std::string> been_;  // keys of the programs that were kept
    SearchReport report_;
};

}  // namespace

SearchReport optimise(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options,
                      const SearchOptions& search)
{
    return Optimiser(network, hardware, memory, options, search).run();
}

}  // namespace dlasim
