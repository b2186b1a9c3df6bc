#include "app/commands/onnx_run.h"

#include <algorithm>

#include "app/file_names.h"
#include "base/error.h"
#include "config/model/fp16.h"
#include "onnx/importer.h"
#include "onnx/simplify.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxKept = std::uint64_t{1} << 29;  // elements of all tensors of all images, with --tensors

const char* output_type(OnnxType type)
{
    switch (type) {
        case OnnxType::Int8:
            return "|i1";
        case OnnxType::Uint8:
            return "|u1";
        case OnnxType::Half:
            return "<f2";
        case OnnxType::Double:
            return "<f8";
        default:
            return "<f4";
    }
}

/// The first of the largest.
template <class Values>
std::size_t largest(const Values& values)
{
    return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

/// The output that labels are compared with: the first of which an image is a row, else the first.
std::size_t judged(const std::vector<RealOutput>& outputs)
{
    const auto row = [](const RealOutput& output) {
        return std::count_if(output.dims.begin(), output.dims.end(), [](std::int64_t size) { return size > 1; }) == 1;
    };
    const auto found = std::find_if(outputs.begin(), outputs.end(), row);
    return found == outputs.end() ? 0 : static_cast<std::size_t>(found - outputs.begin());
}

}  // namespace

OnnxRun::OnnxRun(const NetOptions& options)
    : graph_(real_graph(read_onnx(options.network))), keep_tensors_(options.tensors), keep_first_(options.steps)
{
    simplify(graph_);
    reference_ = graph_;
    images_.emplace(graph_, options.input, "--input", options.seed);
    if (!options.labels.empty()) labels_ = read_labels(options.labels, images_->count());
    calibrate(options);
    result_.count = images_->count();
    result_.judged = judged(graph_.outputs);
    for (const RealOutput& output : graph_.outputs) result_.outputs.push_back({.name = output.name, .dims = output.dims});
    for (const QuantisedNetwork::Output& output : quantised_.outputs)
        for (const RealNode& node : output.behind) result_.behind.push_back(node.label);
    agreeing_.resize(graph_.outputs.size());
    output_.resize(graph_.outputs.size());
    std::uint64_t elements = 0;
    for (const NetworkTensor& tensor : network().tensors) elements += tensor.elements();
    if (keep_tensors_ && elements * images_->count() > kMaxKept)
        throw ConfigError("--tensors", "found " + std::to_string(elements) + " elements for each of " + std::to_string(images_->count()) +
                                           " images, expected at most " + std::to_string(kMaxKept) + " in all");
}

void OnnxRun::calibrate(const NetOptions& options)
{
    if (options.precision == precision_name(Precision::Fp16)) {
        if (!options.calibrate.empty()) throw ConfigError("--calibrate", "found with --precision fp16, expected int8: fp16 has no steps");
        quantised_ = fp16_network(graph_);
        return;
    }
    Ranges ranges(graph_);
    const bool needed = std::any_of(graph_.values.begin(), graph_.values.end(), [](const RealValue& value) { return !value.quantisation; });
    std::optional<Images> own;
    if (!options.calibrate.empty()) own.emplace(graph_, options.calibrate, "--calibrate", options.seed);
    const Images& seen = own ? *own : *images_;
    for (std::size_t i = 0; needed && i < seen.count(); ++i) ranges.see(evaluate(graph_, seen.reals(i)));
    quantised_ = quantised(graph_, ranges);
}

std::vector<OutputPlace> OnnxRun::output_places() const
{
    std::vector<OutputPlace> places;
    FileNames names;
    for (const RealOutput& output : graph_.outputs) {
        const std::string name = names.of(output.name);
        places.push_back({places.empty() ? kTensorFile : "outputs/" + name, graph_.values[output.value].cube.elements() * images() * 8});
    }
    return places;
}

ImageSource OnnxRun::source(const NetworkPlan& plan)
{
    kept_.resize(network().tensors.size());
    return {[this](std::size_t image) { return inputs(image); },
            [this, &plan](std::size_t image, const std::vector<Tensor>& tensors) { look_at(image, plan, tensors); }};
}

void OnnxRun::look_at(std::size_t image, const NetworkPlan& plan, const std::vector<Tensor>& tensors)
{
    const std::vector<RealTensor> reference = evaluate(reference_, images_->reals(image));
    std::vector<ImagesResult::TensorError>& errors = result_.errors;
    std::size_t next = 0;
    if (keep_first_ && image == 0) first_ = tensors;
    for (std::size_t t = 0; t < network().tensors.size(); ++t) {
        if (!plan.exists(t)) continue;
        const Tensor& tensor = tensors[t];
        if (image == 0) errors.push_back({.tensor = t});
        ImagesResult::Error& error = errors[next++].error;
        const RealTensor& real = reference[quantised_.values[t]];
        for (std::size_t i = 0; i < real.size(); ++i) error.add(static_cast<double>(real[i]), number(t, tensor.values[i]));
        if (keep_tensors_) kept_[t].insert(kept_[t].end(), tensor.values.begin(), tensor.values.end());
    }
    for (std::size_t o = 0; o < graph_.outputs.size(); ++o)
        look_at_output(o, tensors[quantised_.outputs[o].tensor], reference[reference_.outputs[o].value], image);
    result_.values = true;
    ++seen_;
}

void OnnxRun::look_at_output(std::size_t output, const Tensor& tensor, const RealTensor& reference, std::size_t image)
{
    const std::vector<float> out = behind(output, tensor);
    const std::size_t found = largest(out), expected = largest(reference);
    agreeing_[output] += found == expected;
    if (!labels_.empty() && output == result_.judged) {
        right_ += static_cast<std::int64_t>(found) == labels_[image];
        reference_right_ += static_cast<std::int64_t>(expected) == labels_[image];
    }
    const OnnxType type = graph_.outputs[output].type;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto real = static_cast<double>(out[i]);
        result_.outputs[output].error.add(static_cast<double>(reference[i]), real);
        output_[output].push_back(is_real(type) ? real : tensor.values[i] + (type == OnnxType::Uint8 ? 128 : 0));
    }
}

double OnnxRun::number(std::size_t tensor, std::int16_t value) const
{
    return network().is_fp16() ? double_from_fp16(static_cast<std::uint16_t>(value)) : network().tensors[tensor].quantisation->real(value);
}

/// An output in real numbers.
std::vector<float> OnnxRun::behind(std::size_t output, const Tensor& tensor) const
{
    const QuantisedNetwork::Output& of = quantised_.outputs[output];
    RealTensor values;
    for (const std::int16_t q : tensor.values) values.push_back(static_cast<float>(number(of.tensor, q)));
    CubeShape shape{tensor.c, tensor.h, tensor.w};
    for (const RealNode& node : of.behind) {
        const CubeShape out = graph_.values[node.output].cube;
        values = evaluate(node, {&values}, {shape}, out);
        shape = out;
    }
    return values;
}

ImagesResult OnnxRun::result(bool written) const
{
    ImagesResult result = result_;
    const std::vector<OutputPlace> places = output_places();
    for (std::size_t o = 0; written && o < places.size(); ++o) result.outputs[o].file = places[o].file;
    if (seen_ == 0) return result;
    const auto share = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(seen_); };
    for (std::size_t o = 0; o < agreeing_.size(); ++o) result.outputs[o].agreement = share(agreeing_[o]);
    if (!labels_.empty()) {
        result.accuracy = share(right_);
        result.reference_accuracy = share(reference_right_);
    }
    return result;
}

std::string OnnxRun::output_file(std::size_t output) const
{
    const RealOutput& of = graph_.outputs[output];
    std::vector<std::uint64_t> shape{seen_};
    for (const std::int64_t size : of.dims) shape.push_back(static_cast<std::uint64_t>(size));
    return npy_numbers(output_type(of.type), shape, output_[output]);
}

std::vector<std::pair<std::string, std::string>> OnnxRun::tensor_files() const
{
    std::vector<std::pair<std::string, std::string>> files;
    for (std::size_t t = 0; t < kept_.size(); ++t) {
        if (kept_[t].empty()) continue;
        const NetworkTensor& tensor = network().tensors[t];
        files.emplace_back(tensor.name, npy_bytes(npy_type(network().precision), {seen_, tensor.channels, tensor.height, tensor.width},
                                                  {kept_[t].begin(), kept_[t].end()}));
    }
    return files;
}

}  // namespace dlasim
