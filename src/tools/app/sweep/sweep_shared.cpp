#include "app/sweep/sweep_shared.h"

#include <algorithm>
#include <new>

#include "app/no_memory.h"
#include "golden/reference.h"
#include "lowering/plan.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxLayers = 8;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 27;  // of input, weights and output

std::shared_ptr<const SharedLayer> make(const Layer& layer, const Hardware& hardware)
{
    const std::uint64_t elements = std::uint64_t{layer.batch} * layer.channels * layer.height * layer.width +
                                   std::uint64_t{layer.kernels} * layer.kernel_channels() * layer.kernel_height * layer.kernel_width +
                                   std::uint64_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width();
    if (elements > kMaxElements) return nullptr;
    const LayerPlan plan = plan_shape(layer, hardware);
    auto shared = std::make_shared<SharedLayer>();
    shared->tensors = load_tensors(layer);
    if (shares_reference(layer, plan.method)) shared->reference = reference_output(layer, hardware, shared->tensors, plan.method);
    return shared;
}

}  // namespace

std::shared_ptr<const SharedLayer> SharedLayers::of(const SweepPoint& point)
{
    const Layer* layer = layer_of(point.work);
    if (!layer) return nullptr;
    const std::string work = std::string(name_of(point.hardware.generation)) + "\n" + point.described;
    const auto there = std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return known.work == work; });
    if (there == known_.end()) {
        known_.push_front({work, nullptr, false});
        if (known_.size() > kMaxLayers) known_.pop_back();
        return nullptr;
    }
    known_.splice(known_.begin(), known_, there);
    Known& known = known_.front();
    if (known.layer || known.hopeless) return known.layer;
    try {
        known.layer = make(*layer, point.hardware);
        known.hopeless = !known.layer;
    } catch (const ConfigError&) {  // the point says so itself; another machine may be able to
    } catch (const std::bad_alloc&) {
        forget_failed_allocation();
        known.hopeless = true;
    }
    return known.layer;
}

}  // namespace dlasim
