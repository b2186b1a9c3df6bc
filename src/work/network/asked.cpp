#include "network/asked.h"

#include <algorithm>

#include "base/error.h"
#include "network/images.h"
#include "network/step_layer.h"

namespace dlasim {

std::optional<LayerPlan> possible_plan(const Layer& layer, const Hardware& hardware, bool for_driver)
{
    try {
        LayerPlan plan = plan_that_fits(layer, hardware);
        if (for_driver && layer.image() && plan.cut.columns) return std::nullopt;
        return plan;
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

bool layer_asks(const Network& network, const Step& step, PlanDecision decision)
{
    return step.unit == StepUnit::Array && network.layers[step.layer].decided.of(decision).value_or(0) != 0;
}

bool is_asked(const Network& network, const Step& step, PlanDecision decision)
{
    const NetworkLayer& of = network.layers[step.layer];
    return step.unit == StepUnit::Array && of.layer.op == Op::Convolution && of.layer.groups == 1 &&
           of.decided.of(decision).value_or(network.decided.of(decision).value_or(0)) != 0;
}

bool asks_compressed(const Network& network)
{
    const auto asked = [](const Decisions& decided) { return decided.of(PlanDecision::Compressed).value_or(0) != 0; };
    return asked(network.decided) || std::ranges::any_of(network.layers, [&](const NetworkLayer& l) { return asked(l.decided); });
}

std::optional<LayerPlan> winograd_plan(const NetworkPlan& plan, const Step& step, Layer layer)
{
    layer.mode = Mode::Winograd;
    std::optional<LayerPlan> winograd = possible_plan(layer, plan.hardware, false);
    if (winograd && !layer_asks(plan.network, step, PlanDecision::Winograd) && !output_layout(*winograd, layer).one_tensor)
        winograd.reset();
    return winograd;
}

void choose_asked(NetworkPlan& plan, const Step& step, Layer& layer)
{
    const TensorLayout& input = plan.layouts[step.inputs.front()];
    if (input.format) return;
    if (is_asked(plan.network, step, PlanDecision::Winograd)) {
        const Layer machine = machine_layer(layer, input, plan.hardware);
        const std::optional<LayerPlan> winograd = winograd_plan(plan, step, machine), direct = possible_plan(machine, plan.hardware, false);
        const auto least = [&](const LayerPlan& of) { return largest(lower_bounds(of, layer, plan.hardware, plan.memory)); };
        if (winograd && plan.decide(step.layer, PlanDecision::Winograd, !direct || least(*winograd) < least(*direct)))
            layer.mode = Mode::Winograd;
    }
    if (is_asked(plan.network, step, PlanDecision::Compressed) && plan.hardware.weight_compression)
        layer.compressed = plan.decide(step.layer, PlanDecision::Compressed, true);
}

void note_asked(NetworkPlan& plan)
{
    const auto note = [&](PlanDecision decision, bool possible) {
        const std::optional<std::uint32_t>& said = plan.network.decided.of(decision);
        if (said && possible) plan.decided[{kWholeNetwork, decision}] = *said;
    };
    note(PlanDecision::Winograd, plan.hardware.winograd);
    note(PlanDecision::Compressed, plan.hardware.weight_compression);
}

Difference from_direct(const NetworkPlan& plan, const Step& step, const StepPlan& of, LayerTensors weights)
{
    StepPlan direct;
    direct.layer = of.layer;
    direct.machine = of.machine;
    direct.layer.mode = direct.machine.mode = Mode::Auto;
    direct.method = of.method;
    direct.method.winograd = false;
    direct.weights = std::move(weights);
    return difference(*plan.golden[step.output], golden_output(plan, step, direct, plan.golden), plan.network.precision, {}, "");
}

std::optional<Difference> from_direct(const NetworkPlan& plan)
{
    std::optional<Difference> all;
    for (const StepPlan& step : plan.plans) {
        if (!step.direct) continue;
        if (!all) all.emplace();
        all->compared += step.direct->compared;
        all->differing += step.direct->differing;
        all->largest = std::max(all->largest, step.direct->largest);
    }
    return all;
}

}  // namespace dlasim
