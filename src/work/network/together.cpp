#include "network/together.h"

#include <algorithm>
#include <map>

#include "facts/cdma.h"

namespace dlasim {
namespace {

bool reads(const Step& step, std::size_t tensor) { return std::find(step.inputs.begin(), step.inputs.end(), tensor) != step.inputs.end(); }

/// Its surfaces may have those of other images between them: units can write and read it so.
bool may_be_apart(const Network& network, const Steps& steps, const std::vector<bool>& at_once, std::size_t tensor)
{
    const auto joined = [&](const JoinedTensor& of) { return of.whole == tensor || of.has(tensor); };
    if (std::any_of(steps.joined.begin(), steps.joined.end(), joined)) return false;
    const std::optional<std::size_t> maker = steps.maker(tensor);
    if (!maker) return false;
    const Step& made = steps.list[*maker];
    if (made.unit == StepUnit::Host || made.unit == StepUnit::Cdp || network.layers[made.layer].op == NetworkOp::Deconvolution)
        return false;
    const NetworkTensor& shape = steps.tensors[tensor];
    const bool one_place = shape.width == 1 && shape.height == 1;  // SDP reads and writes adjacent surfaces of it
    const bool by_pdp = made.pool || made.unit == StepUnit::Pdp, of_all = *maker >= at_once.size() || at_once[*maker];
    if (one_place && !by_pdp && !of_all) return false;
    return std::none_of(steps.list.begin(), steps.list.end(), [&](const Step& step) {
        const bool by_sdp = step.addend == tensor || (step.unit != StepUnit::Array && reads(step, tensor));
        return (one_place && by_sdp && step.unit != StepUnit::Host) || (step.unit == StepUnit::Cdp && reads(step, tensor));
    });
}

class Images {
public:
    Images(const Steps& one, std::size_t images) : one_(one), images_(images) {}

    Steps steps(const std::vector<bool>& at_once)
    {
        for (std::size_t image = 0; image < images_; ++image) add_tensors(image);
        for (std::size_t i = 0; i < one_.list.size();) {
            std::size_t end = i;
            while (end < one_.list.size() && !at_once[end]) ++end;
            for (std::size_t image = 0; image < images_; ++image)
                for (std::size_t k = i; k < end; ++k) all_.list.push_back(of_image(k, image));
            if (end < one_.list.size()) all_.list.push_back(of_all(end));
            i = end + 1;
        }
        return std::move(all_);
    }

private:
    std::size_t tensor(std::size_t of_one, std::size_t image) const { return of_one + image * one_.tensors.size(); }
    static std::string suffix(std::size_t image) { return image == 0 ? "" : "@" + std::to_string(image + 1); }

    void add_tensors(std::size_t image)
    {
        for (NetworkTensor tensor : one_.tensors) {
            tensor.name += suffix(image);
            all_.tensors.push_back(std::move(tensor));
        }
        for (JoinedTensor joined : one_.joined) {
            joined.whole = tensor(joined.whole, image);
            for (std::size_t& part : joined.parts) part = tensor(part, image);
            all_.joined.push_back(std::move(joined));
        }
    }

    Step of_image(std::size_t i, std::size_t image) const
    {
        Step step = one_.list[i];
        step.image = image;
        step.name += suffix(image);
        for (std::size_t& input : step.inputs) input = tensor(input, image);
        if (step.addend) step.addend = tensor(*step.addend, image);
        step.output = tensor(step.output, image);
        return step;
    }

    Step of_all(std::size_t i)
    {
        Step step = one_.list[i];
        step.images = images_;
        for (std::size_t& input : step.inputs) input = whole(input, false);
        if (step.addend) step.addend = whole(*step.addend, false);
        step.output = whole(step.output, true);
        return step;
    }

    std::size_t whole(std::size_t of_one, bool at_once)
    {
        const auto [known, first] = wholes_.try_emplace(of_one, all_.tensors.size());
        if (!first) return known->second;
        NetworkTensor tensor = one_.tensors[of_one];
        JoinedTensor joined{.whole = known->second, .parts = {}, .at_once = at_once, .rows = tensor.height};
        for (std::size_t image = 0; image < images_; ++image) joined.parts.push_back(this->tensor(of_one, image));
        tensor.name += "@1-" + std::to_string(images_);
        tensor.height *= static_cast<std::uint32_t>(images_);
        all_.tensors.push_back(std::move(tensor));
        all_.joined.push_back(std::move(joined));
        return known->second;
    }

    const Steps& one_;
    const std::size_t images_;
    Steps all_;
    std::map<std::size_t, std::size_t> wholes_;  // by tensor of one image
};

}  // namespace

std::optional<Layer> layer_of_images(Layer layer, std::size_t images)
{
    if (!layer.convolves() || layer.op == Op::Deconvolution || layer.groups != 1 || layer.pool ||
        layer.partition.on() > layer.partition.automatic)
        return std::nullopt;
    const std::uint32_t span = (layer.kernel_height - 1) * layer.dilation.y + 1, rows = layer.out_height();
    if (rows == 1) layer.stride.y = layer.height;
    if (layer.pad.top != 0 || layer.pad.bottom != 0 || layer.stride.y > facts::cdma::kMaxStride || span > layer.stride.y ||
        rows * layer.stride.y != layer.height || layer.height * images > facts::cdma::kMaxLines)
        return std::nullopt;
    layer.op = Op::Convolution;
    layer.height *= static_cast<std::uint32_t>(images);
    return layer;
}

bool may_compute_images(const Network& network, const Steps& steps, const std::vector<bool>& before)
{
    const Step& step = steps.list[before.size()];
    const auto apart = [&](std::size_t tensor) { return may_be_apart(network, steps, before, tensor); };
    return step.unit == StepUnit::Array && step.beside.empty() && !step.pool &&
           std::all_of(step.inputs.begin(), step.inputs.end(), apart) && (!step.addend || apart(*step.addend)) && apart(step.output);
}

Steps steps_of_images(const Steps& one, std::size_t images, const std::vector<bool>& at_once) { return Images(one, images).steps(at_once); }

const JoinedTensor* images_of(const Steps& steps, std::size_t tensor)
{
    const auto has = [&](const JoinedTensor& of) { return of.rows != 0 && (of.whole == tensor || of.has(tensor)); };
    const auto found = std::find_if(steps.joined.begin(), steps.joined.end(), has);
    return found != steps.joined.end() ? &*found : nullptr;
}

std::size_t of_first_image(const Steps& steps, std::size_t tensor)
{
    const JoinedTensor* images = images_of(steps, tensor);
    return images && images->whole == tensor ? images->parts.front() : tensor;
}

Step for_first_image(const Steps& steps, Step step)
{
    for (std::size_t& tensor : step.inputs) tensor = of_first_image(steps, tensor);
    if (step.addend) step.addend = of_first_image(steps, *step.addend);
    step.output = of_first_image(steps, step.output);
    return step;
}

std::uint32_t atoms_of_images(const Steps& steps, std::size_t tensor)
{
    const JoinedTensor* images = images_of(steps, tensor);
    if (!images || images->whole == tensor) return 0;
    return steps.tensors[tensor].width * images->rows * static_cast<std::uint32_t>(images->parts.size());
}

TensorLayout layout_below(TensorLayout image, std::size_t images, std::uint32_t rows)
{
    image.bytes += (images - 1) * rows * image.cube.strides.line;
    image.cube.strides.batch = image.bytes;
    return image;
}

TensorLayout layout_of_image(TensorLayout whole, std::size_t images, std::uint32_t rows)
{
    whole.bytes -= (images - 1) * rows * whole.cube.strides.line;
    return whole;
}

Tensor below_each_other(const std::vector<const Tensor*>& images)
{
    const Tensor& first = *images.front();
    Tensor whole(1, first.c, first.h * static_cast<std::uint32_t>(images.size()), first.w);
    const std::size_t plane = std::size_t{first.h} * first.w;
    for (std::uint32_t c = 0; c < first.c; ++c)
        for (std::size_t i = 0; i < images.size(); ++i)
            std::copy_n(&images[i]->values[c * plane], plane, &whole.values[(c * images.size() + i) * plane]);
    return whole;
}

Tensor rows_of(const Tensor& whole, std::uint32_t first, std::uint32_t count)
{
    Tensor part(1, whole.c, count, whole.w);
    for (std::uint32_t c = 0; c < whole.c; ++c)
        std::copy_n(&whole.values[whole.index(0, c, first, 0)], std::size_t{count} * whole.w, &part.values[part.index(0, c, 0, 0)]);
    return part;
}

}  // namespace dlasim
