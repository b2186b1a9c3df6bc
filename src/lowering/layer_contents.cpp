#include "lowering/layer_contents.h"

#include "golden/reference.h"

namespace dlasim {
namespace {

class LayerContents final : public Contents {
public:
    LayerContents(Layer layer, const Hardware& hardware, LayerTensors tensors, Plan plan)
        : layer_(std::move(layer)), hardware_(hardware), tensors_(std::move(tensors)), plan_(std::move(plan))
    {
    }

    void before(const Write& write) const override
    {
        for (const PlannedImage& image : plan_.images) write(image.place, image.bytes);
    }

    Findings after(const Remains& remains) const override
    {
        const Tensor reference = reference_output(layer_, hardware_, tensors_, plan_.method);
        Findings findings;
        if (layer_.post.compares()) {
            findings.comparison = compare_status(remains.status, reference);
            return findings;
        }
        findings.output = collect_output(plan_, layer_, remains.read);
        findings.comparison = compare(*findings.output, reference);
        if (!tensors_.expected.empty())
            findings.expected = difference(*findings.output, tensors_.expected, layer_.output.precision, layer_.data.expected);
        return findings;
    }

private:
    const Layer layer_;
    const Hardware hardware_;
    const LayerTensors tensors_;
    const Plan plan_;
};

}  // namespace

std::unique_ptr<const Contents> layer_contents(Layer layer, const Hardware& hardware, LayerTensors tensors, Plan plan)
{
    return std::make_unique<LayerContents>(std::move(layer), hardware, std::move(tensors), std::move(plan));
}

}  // namespace dlasim
