#include "network/check.h"

#include <algorithm>
#include <utility>

#include "base/expects.h"
#include "lowering/memory/images.h"
#include "network/host.h"

namespace dlasim {

void fill_memory(NetworkPlan& plan, const MemoryCheck::Write& write)
{
    for (std::size_t t = 0; t < plan.layouts.size(); ++t) {
        if (!plan.exists(t)) continue;
        const TensorLayout& layout = plan.layouts[t];
        const bool input = !plan.steps.tensors[t].layer;
        write(layout.place, input ? tensor_bytes(*plan.golden[t], layout) : Bytes(layout.bytes, kUnwritten));
    }
    // For the first of several input images alone: what is in memory stays there.
    for (PlannedImage& image : plan.images)
        if (const Bytes bytes = std::exchange(image.bytes, Bytes()); !bytes.empty()) write(image.place, bytes);
}

void run_host_step(const NetworkPlan& plan, std::size_t number, const ReadPlace& read, const MemoryCheck::Write& write)
{
    const Step& step = plan.steps.list[number];
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> pointers;
    inputs.reserve(step.inputs.size());
    pointers.reserve(step.inputs.size());
    for (const std::size_t tensor : step.inputs) inputs.push_back(read_tensor(plan.steps.tensors[tensor], plan.layouts[tensor], read));
    for (const Tensor& input : inputs) pointers.push_back(&input);
    const TensorLayout& layout = plan.layouts[step.output];
    write(layout.place, tensor_bytes(host_output(plan.network, plan.steps, step, pointers), layout));
}

TensorWatch::TensorWatch(const NetworkPlan& plan, ReadPlace read, MemoryCheck::Write write, bool keep)
    : plan_(plan), read_(std::move(read)), write_(std::move(write)), keep_(keep), seen_(plan.layouts.size())
{
    for (const Step& step : plan.steps.list) findings_.push_back({step.output, {}});
    if (keep) tensors_.resize(plan.layouts.size());
}

void TensorWatch::look(std::size_t tensor)
{
    if (seen_[tensor] || !plan_.exists(tensor)) return;
    seen_[tensor] = true;
    std::optional<std::size_t> maker = plan_.steps.maker(tensor);
    if (maker && plan_.steps.list[*maker].output != tensor) maker.reset();  // a part of what the step makes
    if (!maker && !keep_) return;
    // Nobody writes an input, and pixels are not read back.
    const bool input = !plan_.steps.tensors[tensor].layer;
    Tensor values = input ? *plan_.golden[tensor] : read_tensor(plan_.steps.tensors[tensor], plan_.layouts[tensor], read_);
    if (maker) findings_[*maker].comparison = compare(values, *plan_.golden[tensor]);
    if (keep_) tensors_[tensor] = std::move(values);
}

void TensorWatch::before(std::size_t step)
{
    for (const std::size_t tensor : plan_.overwritten[step]) look(tensor);
    for (const Block& block : plan_.blocks)
        if (block.begin == step && block.end < plan_.steps.list.size()) write_(block.place, Bytes(block.bytes, kUnwritten));
}

void TensorWatch::end()
{
    for (std::size_t t = 0; t < seen_.size(); ++t) look(t);
}

}  // namespace dlasim
