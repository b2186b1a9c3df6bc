#include "network/images.h"

#include <algorithm>

#include "golden/lrn.h"
#include "network/fp16_values.h"
#include "network/host.h"
#include "network/scaled.h"
#include "network/siblings.h"

namespace dlasim {
namespace {

constexpr std::size_t kExamples = 5;

Tensor joined_parts(const NetworkTensor& shape, const std::vector<std::size_t>& parts, const std::vector<std::optional<Tensor>>& golden)
{
    Tensor whole(1, 0, shape.height, shape.width);
    for (const std::size_t part : parts) {
        whole.values.insert(whole.values.end(), golden[part]->values.begin(), golden[part]->values.end());
        whole.c += golden[part]->c;
    }
    return whole;
}

}  // namespace

Tensor golden_output(const NetworkPlan& plan, const Step& step, const StepPlan& of, const std::vector<std::optional<Tensor>>& golden)
{
    const Tensor& input = *golden[step.inputs.front()];
    const Tensor* addend = step.addend ? &*golden[*step.addend] : nullptr;
    if (step.unit == StepUnit::Host) {
        std::vector<const Tensor*> all;
        for (const std::size_t tensor : step.inputs) all.push_back(&*golden[tensor]);
        return host_output(plan.network, plan.steps, step, all);
    }
    if (!of.lrn.empty()) return normalised(of.lrn.front().tables, input, input.c);
    if (!plan.network.is_fp16()) return scaled_output(of.layer, plan.hardware, of.weights, input, addend);
    return fp16_output(of.layer, of.machine, plan.layouts[step.inputs.front()], of.method, plan.hardware, of.weights, input, addend);
}

std::vector<std::optional<Tensor>> golden_tensors(const NetworkPlan& plan, std::vector<Tensor> inputs)
{
    std::vector<std::optional<Tensor>> golden(plan.steps.tensors.size());
    std::size_t next = 0;
    for (std::size_t t = 0; t < plan.network.tensors.size(); ++t)
        if (!plan.network.tensors[t].layer) golden[t] = std::move(inputs[next++]);
    for (std::size_t i = 0; i < plan.plans.size(); ++i) {
        const Step& step = plan.steps.list[i];
        golden[step.output] = golden_output(plan, step, plan.plans[i], golden);
        for (const JoinedTensor& whole : plan.steps.joined) {
            if (whole.whole != step.output) continue;
            std::uint32_t first = 0;
            for (const std::size_t part : whole.parts) {
                golden[part] = channels_of(*golden[step.output], first, plan.steps.tensors[part].channels);
                first += golden[part]->c;
            }
        }
        for (const JoinedTensor& whole : plan.steps.joined)
            if (!golden[whole.whole] &&
                std::all_of(whole.parts.begin(), whole.parts.end(), [&](std::size_t part) { return golden[part].has_value(); }))
                golden[whole.whole] = joined_parts(plan.steps.tensors[whole.whole], whole.parts, golden);
    }
    return golden;
}

void add_findings(std::vector<TensorFinding>& sum, const std::vector<TensorFinding>& more)
{
    if (sum.empty()) {
        sum = more;
        return;
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
        Comparison &to = sum[i].comparison, from = more[i].comparison;
        to.compared += from.compared;
        to.mismatches += from.mismatches;
        for (std::string& example : from.examples)
            if (to.examples.size() < kExamples) to.examples.push_back(std::move(example));
    }
}

}  // namespace dlasim
