#include "network/check.h"

#include <algorithm>

#include "base/expects.h"
#include "network/host.h"

namespace dlasim {
namespace {

constexpr std::uint8_t kUnwritten = 0xa5;

}  // namespace

void fill_memory(NetworkPlan& plan, const Contents::Write& write)
{
    for (std::size_t t = 0; t < plan.layouts.size(); ++t) {
        if (!plan.exists(t)) continue;
        const TensorLayout& layout = plan.layouts[t];
        const bool input = t < plan.network.tensors.size() && !plan.network.tensors[t].layer;
        write(layout.place, input ? tensor_bytes(*plan.golden[t], layout) : Bytes(layout.bytes, kUnwritten));
    }
    for (PlannedImage& image : plan.images) {
        write(image.place, image.bytes);
        image.bytes = {};
    }
}

void run_host_step(const NetworkPlan& plan, std::size_t number, const ReadPlace& read, const Contents::Write& write)
{
    const std::vector<StepMarks>& steps = plan.program.steps;
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const StepMarks& marks) { return marks.host == number; });
    DLASIM_EXPECTS(found != steps.end());
    const Step& step = plan.steps.list[static_cast<std::size_t>(found - steps.begin())];
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> pointers;
    inputs.reserve(step.inputs.size());
    pointers.reserve(step.inputs.size());
    for (const std::size_t tensor : step.inputs) inputs.push_back(read_tensor(plan.steps.tensors[tensor], plan.layouts[tensor], read));
    for (const Tensor& input : inputs) pointers.push_back(&input);
    const TensorLayout& layout = plan.layouts[step.output];
    write(layout.place, tensor_bytes(host_output(plan.network, plan.steps, step, pointers), layout));
}

std::vector<TensorFinding> check_tensors(const NetworkPlan& plan, const ReadPlace& read)
{
    std::vector<TensorFinding> findings;
    for (const Step& step : plan.steps.list) {
        const std::size_t t = step.output;
        findings.push_back({t, compare(read_tensor(plan.steps.tensors[t], plan.layouts[t], read), *plan.golden[t])});
    }
    return findings;
}

}  // namespace dlasim
