#include "network/network_host.h"

namespace dlasim {

NetworkHost::NetworkHost(NetworkPlan& plan, bool values, bool keep_tensors, const ImageSource* source)
    : plan_(plan), values_(values), keep_tensors_(keep_tensors), source_(source)
{
}

void NetworkHost::before(const HostMemory& memory)
{
    if (values_) return begin(memory);
    if (plan_.timed_by_values())
        for (const PlannedImage& image : plan_.images) memory.write(image.place, image.bytes);
}

void NetworkHost::at(std::size_t step, const HostMemory& memory)
{
    if (!values_) return;
    const HostAction action = host_action(step, plan_.plans.size());
    if (action.kind == HostAction::Kind::Compute) return run_host_step(plan_, action.step, memory.read, memory.write);
    if (action.kind == HostAction::Kind::Look) return watch_->before(action.step);
    end();
    begin(memory);
}

bool NetworkHost::computes(std::size_t step) const { return host_action(step, plan_.plans.size()).kind == HostAction::Kind::Compute; }

void NetworkHost::after(const RunResult&, const HostMemory& memory)
{
    if (!values_) return;
    end();
    for (std::size_t image = 0; image < plan_.together; ++image) {
        const std::size_t tensor = plan_.output() + image * plan_.image_tensors;
        const Tensor one = read_tensor(plan_.steps.tensors[tensor], plan_.layouts[tensor], memory.read);
        output_.n = static_cast<std::uint32_t>(image + 1);
        output_.c = one.c;
        output_.h = one.h;
        output_.w = one.w;
        output_.values.insert(output_.values.end(), one.values.begin(), one.values.end());
    }
}

void NetworkHost::begin(const HostMemory& memory)
{
    if (source_) plan_.golden = golden_tensors(plan_, source_->inputs(image_));
    fill_memory(plan_, memory.write);
    watch_.emplace(plan_, memory.read, memory.write, keep_tensors_ || source_);
}

void NetworkHost::end()
{
    watch_->end();
    add_findings(findings_, watch_->findings());
    if (source_) source_->done(image_, watch_->tensors());
    ++image_;
}

}  // namespace dlasim
