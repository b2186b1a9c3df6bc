#include "app/onnx_run.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/half.h"
#include "onnx/importer.h"
#include "onnx/simplify.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMostKept = std::uint64_t{1} << 29;  // elements of all tensors of all images, with --tensors

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

}  // namespace

OnnxRun::OnnxRun(const NetOptions& options) : graph_(real_graph(read_onnx(options.network))), keep_tensors_(options.tensors)
{
    simplify(graph_);
    reference_ = graph_;
    images_.emplace(graph_, options.input, "--input", options.seed);
    if (!options.labels.empty()) labels_ = read_labels(options.labels, images_->count());
    calibrate(options);
    result_.count = images_->count();
    for (const RealNode& node : quantised_.behind) result_.behind.push_back(node.label);
    std::uint64_t elements = 0;
    for (const NetworkTensor& tensor : network().tensors) elements += tensor.elements();
    if (keep_tensors_ && elements * images_->count() > kMostKept)
        throw ConfigError("--tensors", "found " + std::to_string(elements) + " elements for each of " + std::to_string(images_->count()) +
                                           " images, expected at most " + std::to_string(kMostKept) + " in all");
}

void OnnxRun::calibrate(const NetOptions& options)
{
    if (options.precision == precision_name(Precision::Fp16)) {
        if (!options.calibrate.empty()) throw ConfigError("--calibrate", "found with --precision fp16, expected int8: fp16 has no steps");
        quantised_ = halved(graph_);
        return;
    }
    Ranges ranges(graph_);
    const bool needed = std::any_of(graph_.values.begin(), graph_.values.end(), [](const RealValue& value) { return !value.grid; });
    std::optional<Images> own;
    if (!options.calibrate.empty()) own.emplace(graph_, options.calibrate, "--calibrate", options.seed);
    const Images& seen = own ? *own : *images_;
    for (std::size_t i = 0; needed && i < seen.count(); ++i) ranges.see(evaluate(graph_, seen.reals(i)));
    quantised_ = quantised(graph_, ranges);
}

std::uint64_t OnnxRun::output_bytes() const { return graph_.values[graph_.output].cube.elements() * images_->count() * 8; }

ImageSource OnnxRun::source(const NetworkPlan& plan)
{
    kept_.resize(network().tensors.size());
    return {[this](std::size_t image) { return network().halves() ? images_->halves(image) : images_->integers(image); },
            [this, &plan](std::size_t image, const std::vector<Tensor>& tensors) { look_at(image, plan, tensors); }};
}

void OnnxRun::look_at(std::size_t image, const NetworkPlan& plan, const std::vector<Tensor>& tensors)
{
    const std::vector<RealTensor> reference = evaluate(reference_, images_->reals(image));
    std::vector<ImagesResult::Error>& errors = result_.errors;
    std::size_t next = 0;
    for (std::size_t t = 0; t < network().tensors.size(); ++t) {
        if (!plan.exists(t)) continue;
        const Tensor& tensor = tensors[t];
        if (image == 0) errors.push_back({.tensor = t});
        ImagesResult::Error& error = errors[next++];
        const RealTensor& real = reference[quantised_.values[t]];
        for (std::size_t i = 0; i < real.size(); ++i) {
            const auto x = static_cast<double>(real[i]);
            const double difference = number(t, tensor.values[i]) - x;
            // A float and the integer that it was rounded to are the same number.
            const double noise = std::abs(difference) <= 1e-6 * std::abs(x) ? 0 : difference;
            error.signal += x * x;
            error.noise += noise * noise;
            error.largest = std::max(error.largest, std::abs(noise));
        }
        if (keep_tensors_) kept_[t].insert(kept_[t].end(), tensor.values.begin(), tensor.values.end());
        if (t != quantised_.output) continue;
        std::vector<float> out = behind(tensor);
        const std::size_t found = largest(out), expected = largest(reference[reference_.output]);
        agreeing_ += found == expected;
        if (!labels_.empty()) {
            right_ += static_cast<std::int64_t>(found) == labels_[image];
            reference_right_ += static_cast<std::int64_t>(expected) == labels_[image];
        }
        const bool integers = !is_real(graph_.output_type);
        for (std::size_t i = 0; i < out.size(); ++i)
            output_.push_back(integers ? tensor.values[i] + (graph_.output_type == OnnxType::Uint8 ? 128 : 0)
                                       : static_cast<double>(out[i]));
    }
    ++seen_;
}

double OnnxRun::number(std::size_t tensor, std::int16_t value) const
{
    return network().halves() ? double_from_half(static_cast<std::uint16_t>(value)) : network().tensors[tensor].grid->real(value);
}

/// The output in real numbers.
std::vector<float> OnnxRun::behind(const Tensor& output) const
{
    RealTensor values;
    for (const std::int16_t q : output.values) values.push_back(static_cast<float>(number(quantised_.output, q)));
    CubeShape shape{output.c, output.h, output.w};
    for (const RealNode& node : quantised_.behind) {
        const CubeShape out = graph_.values[node.output].cube;
        values = evaluate(node, {&values}, {shape}, out);
        shape = out;
    }
    return values;
}

ImagesResult OnnxRun::result() const
{
    ImagesResult result = result_;
    if (seen_ == 0) return result;
    const auto share = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(seen_); };
    result.agreement = share(agreeing_);
    if (!labels_.empty()) {
        result.accuracy = share(right_);
        result.reference_accuracy = share(reference_right_);
    }
    return result;
}

std::string OnnxRun::output_file() const
{
    std::vector<std::uint64_t> shape{seen_};
    for (const std::int64_t size : graph_.output_dims) shape.push_back(static_cast<std::uint64_t>(size));
    return npy_numbers(output_type(graph_.output_type), shape, output_);
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
