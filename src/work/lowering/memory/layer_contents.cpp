#include "lowering/memory/layer_contents.h"

#include "golden/reference.h"

namespace dlasim {
namespace {

class LayerContents final : public MemoryCheck {
public:
    LayerContents(Layer layer, const Hardware& hardware, std::shared_ptr<const SharedLayer> shared, LayerPlan plan)
        : layer_(std::move(layer)), hardware_(hardware), shared_(std::move(shared)), plan_(std::move(plan))
    {
    }

    void before(const Write& write) const override
    {
        for (const PlannedImage& image : plan_.images) write(image.place, image.bytes);
    }

    Findings after(const MemoryAfterRun& remains) const override
    {
        const LayerTensors& tensors = shared_->tensors;
        const bool known = !shared_->reference.empty() && shares_reference(layer_, plan_.method);
        const Tensor computed = known ? Tensor{} : reference_output(layer_, hardware_, tensors, plan_.method);
        const Tensor& reference = known ? shared_->reference : computed;
        Findings findings;
        if (layer_.post.compares()) {
            findings.comparison = compare_status(remains.status, reference);
            return findings;
        }
        findings.output = collect_output(plan_, layer_, remains.read);
        findings.comparison = compare(*findings.output, reference);
        if (plan_.method.winograd)
            findings.direct =
                difference(*findings.output, direct_output(layer_, hardware_, tensors, plan_.method), layer_.output.precision, {}, "");
        if (!tensors.expected.empty())
            findings.expected =
                difference(*findings.output, tensors.expected, layer_.output.precision, layer_.data.tolerance, layer_.data.expected);
        return findings;
    }

private:
    const Layer layer_;
    const Hardware hardware_;
    const std::shared_ptr<const SharedLayer> shared_;
    const LayerPlan plan_;
};

}  // namespace

bool shares_reference(const Layer& layer, const Method& method)
{
    return layer.convolves() && layer.precision != Precision::Fp16 && !method.winograd;
}

std::unique_ptr<const MemoryCheck> layer_contents(Layer layer, const Hardware& hardware, std::shared_ptr<const SharedLayer> shared,
                                                  LayerPlan plan)
{
    return std::make_unique<LayerContents>(std::move(layer), hardware, std::move(shared), std::move(plan));
}

}  // namespace dlasim
