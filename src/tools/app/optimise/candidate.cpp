#include "app/optimise/candidate.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "network/network_host.h"
#include "platform/simulate.h"
#include "report/network/network_result.h"
#include "silicon/silicon_keys.h"
#include "sweep/figures.h"

namespace dlasim {
namespace {

enum Kind : std::int64_t { kImpossible, kNotRun, kTried };

// Names all members: with a new one this does not compile until the key has it.
std::string key_of(const CutWay& way)
{
    const auto& [whole, columns, phases, kernels, rows, keeps_weights] = way;
    return fmt::format("{:d} {} {:d} {} {} {}", whole, columns, phases, kernels, rows, keeps_weights ? *keeps_weights ? 1 : 0 : 2);
}

std::string key_of(const Partition& partition)
{
    if (partition == Partition{}) return "";
    const auto& [automatic, minimise, rows, kernels, row_list, columns, phases, data_banks, weight_banks, pooled, padded, reuse_data,
                 reuse_weights, way, early, own_lines] = partition;
    DLASIM_EXPECTS(early == EarlyInput{});  // the planner's, of a step
    return fmt::format("{:d} {} {} {} {} {} {:d} {} {} {:d} {:d} {:d} {:d} [{}] {:d}", automatic, static_cast<int>(minimise), rows, kernels,
                       fmt::join(row_list, ","), columns, phases, data_banks, weight_banks, pooled, padded, reuse_data, reuse_weights,
                       way ? key_of(*way) : "", own_lines);
}

std::string key_of(const Decisions& decisions)
{
    std::string text;
    for (const std::optional<std::uint32_t>& value : decisions.values) text += value ? fmt::format("{} ", *value) : "- ";
    return text;
}

}  // namespace

Candidate Candidate::of(const Network& network)
{
    Candidate candidate;
    for (const NetworkLayer& layer : network.layers) {
        candidate.partitions.push_back(layer.layer.partition);
        candidate.decided.push_back(layer.decided);
    }
    candidate.of_network = network.decided;
    return candidate;
}

void Candidate::give_to(Network& network) const
{
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        network.layers[l].layer.partition = partitions[l];
        network.layers[l].decided = decided[l];
    }
    network.decided = of_network;
}

std::string Candidate::key() const
{
    std::string text = key_of(of_network);
    for (std::size_t l = 0; l < partitions.size(); ++l) text += key_of(partitions[l]) + "|" + key_of(decided[l]) + "\n";
    return text;
}

void give_outcome(const Network& network, const NetworkOptions& options, const TrialMachine& machine,
                  const std::function<bool(const NetworkPlan& plan)>& as_asked,
                  const std::function<bool(std::uint64_t least_cycles)>& worth_it, const Apart::Give& give)
{
    std::optional<NetworkPlan> plan;
    try {
        plan = plan_network(network, machine.hardware, machine.memory, options);
    } catch (const ConfigError&) {  // it does not go with the network
        return give(kImpossible);
    }
    if (!as_asked(*plan)) return give(kImpossible);
    const std::vector<Bound> bounds = network_bounds(*plan);
    const std::uint64_t least = bounds.empty() ? 0 : largest(bounds);
    const bool runs = worth_it(least);
    std::optional<RunResult> run;
    if (runs) {
        NetworkHost host(*plan, false);
        SimulateOptions how;
        how.timing_only = true;
        how.causes = false;
        try {
            run = simulate(*plan, host, how);
        } catch (const ConfigError&) {
            return give(kImpossible);
        }
        if (run->hung || run->interrupted) return give(kImpossible);
    }
    give(run ? kTried : kNotRun);
    give(static_cast<std::int64_t>(least));
    if (!run) return;
    const NetworkResult result{.plan = *plan, .run = *run, .findings = {}, .host_ns = machine.host_ns};
    OrderedJson json = network_result_json(result);
    silicon::add_silicon(json, machine.technology);
    for (const double figure : figures_in_order(figures_of(json))) give(std::bit_cast<std::int64_t>(figure));
    give(static_cast<std::int64_t>(result.times.size()));
    for (const StepTimes& step : result.times) give(step.cycles());
}

TrialOutcome take_outcome(Apart& apart)
{
    TrialOutcome outcome;
    const std::int64_t kind = apart.next();
    if (kind == kImpossible) return outcome;
    outcome.possible = true;
    outcome.least_cycles = static_cast<std::uint64_t>(apart.next());
    if (kind != kTried) return outcome;
    TriedProgram& tried = outcome.tried.emplace();
    for (std::size_t i = 0; i < figure_names().size(); ++i) tried.figures.push_back(std::bit_cast<double>(apart.next()));
    tried.steps.resize(static_cast<std::size_t>(apart.next()));
    for (std::int64_t& cycles : tried.steps) cycles = apart.next();
    return outcome;
}

}  // namespace dlasim
