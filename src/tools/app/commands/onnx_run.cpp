#include "app/commands/onnx_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "app/file_names.h"
#include "base/error.h"
#include "base/files/output.h"
#include "config/model/fp16.h"
#include "onnx/bias_correction.h"
#include "onnx/importer.h"
#include "onnx/simplify.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxKept = std::uint64_t{1} << 29;  // elements of all tensors of all images, with --tensors

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

/// Dimension 0 counts images.
std::vector<InputPort> ports_of(const OnnxModel& model)
{
    std::vector<InputPort> ports;
    for (const OnnxPort& port : model.inputs)
        ports.push_back({port.name, {port.shape.begin() + (port.shape.empty() ? 0 : 1), port.shape.end()}, port.shaped});
    return ports;
}

std::vector<std::string> input_names(const OnnxModel& model)
{
    std::vector<std::string> names;
    for (const OnnxPort& port : model.inputs) names.push_back(port.name);
    return names;
}

/// --shape [NAME=]1,3,224,224
std::vector<std::int64_t> shape_of_option(const std::string& text, const std::string& option)
{
    std::vector<std::int64_t> shape;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        std::int64_t size = 0;
        const auto [behind, error] = std::from_chars(at, end, size);
        const bool more = behind != end && (*behind == ',' || *behind == 'x');
        if (error != std::errc() || size < 1 || size > kMaxOnnxElements || shape.size() == kMaxOnnxRank || (!more && behind != end))
            throw ConfigError("--shape", "found \"" + option + "\", expected [NAME=]SIZES: 1 to 8 numbers above 0 such as 1,3,224,224");
        shape.push_back(size);
        if (!more) return shape;
        at = behind + 1;
    }
}

/// Files say their shapes; what has no file may have one of --shape.
GivenInputs given_inputs(const OnnxModel& model, const InputFiles& files, const std::vector<std::string>& shapes)
{
    GivenInputs given = files.given();
    const std::vector<std::string> names = input_names(model);
    for (const std::string& option : shapes) {
        const std::size_t equals = option.rfind('=');
        const std::string name = equals != std::string::npos ? option.substr(0, equals) : names.size() == 1 ? names.front() : "";
        const std::vector<std::int64_t> shape = shape_of_option(equals == std::string::npos ? option : option.substr(equals + 1), option);
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw ConfigError("--shape", "found \"" + option + "\" for " + std::to_string(names.size()) +
                                             " inputs, expected NAME=SIZES with the name of one");
        if (files.find(name))
            throw ConfigError("--shape", "found a shape for input \"" + name + "\", whose file has one, expected one of both");
        const auto port = std::find_if(model.inputs.begin(), model.inputs.end(), [&](const OnnxPort& input) { return input.name == name; });
        bool fits = !port->shaped || port->shape.size() == shape.size();
        for (std::size_t i = 0; fits && port->shaped && i < shape.size(); ++i) fits = port->shape[i] < 0 || port->shape[i] == shape[i];
        if (!fits)
            throw ConfigError("--shape", "found \"" + option + "\", expected the sizes that the model gives to input \"" + name + "\"");
        if (!given.emplace(name, GivenInput{shape, nullptr}).second)
            throw ConfigError("--shape", "found two shapes for input \"" + name + "\", expected one");
    }
    return given;
}

}  // namespace

OnnxRun::OnnxRun(const OnnxWork& work, const PlanOptions& options)
    : model_(read_onnx(work.file)),
      preprocessing_(preprocessing_of(work.preprocess)),
      files_(ports_of(model_), work.input, "--input", preprocessing_),
      pictures_(files_.pictures()),
      graph_(real_graph(model_, given_inputs(model_, files_, work.shapes))),
      keep_tensors_(options.tensors),
      keep_first_(options.steps),
      by_step_(options.by_step)
{
    simplify(graph_);
    reference_ = graph_;
    const std::uint64_t seed = options.seed.value_or(1);
    images_.emplace(graph_, files_, seed, work.most_images);
    result_.model = work;
    result_.model.most_images = 0;
    if (!work.labels.empty()) labels_ = read_labels(work.labels, images_->count());
    calibrate(work, seed);
    if (!work.preprocess.empty() && pictures_.empty())
        throw ConfigError("--preprocess", "found without pictures, expected --calibrate or --input with PNG or JPEG files or their folder");
    result_.count = images_->count();
    result_.judged = judged(graph_.outputs);
    for (const RealOutput& output : graph_.outputs) result_.outputs.push_back({.name = output.name, .dims = output.dims});
    for (const QuantisedNetwork::Output& output : quantised_.outputs)
        for (const RealNode& node : output.trailing) result_.trailing.push_back(node.label);
    agreeing_.resize(graph_.outputs.size());
    output_.resize(graph_.outputs.size());
    std::uint64_t elements = 0;
    for (const NetworkTensor& tensor : network().tensors) elements += tensor.elements();
    if (keep_tensors_ && elements * images_->count() > kMaxKept)
        throw ConfigError("--tensors", "found " + std::to_string(elements) + " elements for each of " + std::to_string(images_->count()) +
                                           " images, expected at most " + std::to_string(kMaxKept) + " in all");
}

void OnnxRun::calibrate(const OnnxWork& work, std::uint64_t seed)
{
    if (work.precision == precision_name(Precision::Fp16)) {
        if (!work.calibrate.empty() || !work.calibration.empty() || work.bias_correction)
            throw ConfigError(!work.calibrate.empty()     ? "--calibrate"
                              : !work.calibration.empty() ? "--calibration"
                                                          : "--bias-correction",
                              "found with --precision fp16, expected int8: fp16 has no steps");
        quantised_ = fp16_network(graph_);
        return;
    }
    const auto how =
        std::ranges::find(kCalibrationNames, work.calibration.empty() ? kCalibrationNames[0] : std::string_view(work.calibration));
    if (how == kCalibrationNames.end())
        throw ConfigError("--calibration", "found \"" + work.calibration + "\", expected max, percentile, mse or entropy");
    Ranges ranges(graph_, static_cast<Calibration>(how - kCalibrationNames.begin()));
    const bool needed = std::any_of(graph_.values.begin(), graph_.values.end(), [](const RealValue& value) { return !value.quantisation; });
    std::optional<Images> own;
    if (!work.calibrate.empty()) {
        const InputFiles files(open_inputs(graph_), work.calibrate, "--calibrate", preprocessing_);
        own.emplace(graph_, files, seed);
        pictures_.merge(files.pictures());
    }
    const Images& seen = own ? *own : *images_;
    for (std::size_t i = 0; needed && i < seen.count(); ++i) ranges.see(evaluate(graph_, seen.reals(i)));
    quantised_ = quantised(graph_, ranges);
    const bool own_scales = std::ranges::all_of(
        quantised_.values, [&](std::size_t value) { return value >= reference_.values.size() || reference_.values[value].quantisation; });
    random_scales_ = !own_scales && work.input.empty() && work.calibrate.empty();
    if (work.bias_correction)
        correct_biases(quantised_, reference_, graph_,
                       {std::min(seen.count(), kCorrectedImages), [&](std::size_t i) { return seen.reals(i); }});
}

std::vector<OutputPlace> OnnxRun::output_places() const
{
    std::vector<OutputPlace> places;
    FileNames names;
    for (const RealOutput& output : graph_.outputs) {
        const std::string name = names.of(output.name);
        const std::uint64_t elements = output.constant ? output.constant->size() : graph_.values[output.value].cube.elements() * images();
        places.push_back({places.empty() ? kTensorFile : "outputs/" + name, elements * 8});
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
        if (quantised_.values[t] == SIZE_MAX) {
            if (keep_tensors_) kept_[t].insert(kept_[t].end(), tensor.values.begin(), tensor.values.end());
            continue;
        }
        const RealTensor& real = reference[quantised_.values[t]];
        for (std::size_t i = 0; i < real.size(); ++i) error.add(static_cast<double>(real[i]), number(t, tensor.values[i]));
        if (by_step_) add_loss(errors[next - 1], real, alone(t, image, plan, tensors), tensor);
        if (keep_tensors_) kept_[t].insert(kept_[t].end(), tensor.values.begin(), tensor.values.end());
    }
    for (std::size_t o = 0; o < graph_.outputs.size(); ++o)
        if (graph_.outputs[o].constant) ++agreeing_[o];
        else look_at_output(o, tensors[quantised_.outputs[o].tensor], reference[reference_.outputs[o].value], image);
    result_.values = true;
    ++seen_;
}

/// The largest weight of a kernel over the root of the mean square of the others, of the worst kernel.
double OnnxRun::weight_spread(std::size_t tensor) const
{
    const std::optional<std::size_t> layer = network().tensors[tensor].layer;
    if (!layer || !graph_.nodes[*layer].convolves()) return 0;
    const RealNode& node = graph_.nodes[*layer];
    const std::size_t length = node.weights.size() / node.geometry.kernels;
    double worst = 0;
    for (std::size_t k = 0; k < node.geometry.kernels; ++k) {
        double squares = 0, most = 0;
        for (std::size_t i = 0; i < length; ++i) {
            const auto weight = static_cast<double>(node.weights[k * length + i]);
            squares += weight * weight;
            most = std::max(most, std::abs(weight));
        }
        const double others = std::max(squares - most * most, 1e-12 * squares);
        if (length > 1 && squares > 0) worst = std::max(worst, most / std::sqrt(others / static_cast<double>(length - 1)));
    }
    return worst;
}

void OnnxRun::add_loss(ImagesResult::TensorError& error, const RealTensor& model, const RealTensor& alone, const Tensor& found) const
{
    if (!error.loss) error.loss = ImagesResult::StepLoss{.weight_spread = weight_spread(error.tensor)};
    for (std::size_t i = 0; i < alone.size(); ++i)
        error.loss->add(static_cast<double>(model[i]), static_cast<double>(alone[i]), number(error.tensor, found.values[i]),
                        network().tensors[error.tensor].quantisation);
}

RealTensor OnnxRun::numbers(std::size_t tensor, const Tensor& of) const
{
    RealTensor reals;
    for (const std::int16_t value : of.values) reals.push_back(static_cast<float>(number(tensor, value)));
    return reals;
}

RealTensor OnnxRun::alone(std::size_t t, std::size_t image, const NetworkPlan& plan, const std::vector<Tensor>& tensors) const
{
    const std::optional<std::size_t> layer = network().tensors[t].layer;
    if (!layer) return images_->reals(image)[*untouched(t)];
    std::vector<RealTensor> reals;
    std::vector<CubeShape> shapes;
    for (const std::size_t input : network().layers[*layer].inputs) {
        const NetworkTensor& from = network().tensors[input];
        reals.push_back(plan.exists(input) ? numbers(input, tensors[input]) : alone(input, image, plan, tensors));
        shapes.push_back({from.channels, from.height, from.width});
    }
    std::vector<const RealTensor*> inputs;
    inputs.reserve(reals.size());
    for (const RealTensor& real : reals) inputs.push_back(&real);
    const NetworkTensor& to = network().tensors[t];
    RealTensor made = evaluate(graph_.nodes[*layer], inputs, shapes, {to.channels, to.height, to.width});
    // Limits of the model that the ends of a grid make are no loss.
    const std::optional<std::size_t> maker = quantised_.values[t] == SIZE_MAX ? std::nullopt : reference_.maker(quantised_.values[t]);
    const Clamp limits = maker ? reference_.nodes[*maker].clamp : Clamp{};
    for (float& x : made) {
        if (limits.low) x = std::max(x, static_cast<float>(*limits.low));
        if (limits.high) x = std::min(x, static_cast<float>(*limits.high));
    }
    return made;
}

void OnnxRun::look_at_output(std::size_t output, const Tensor& tensor, const RealTensor& reference, std::size_t image)
{
    const std::vector<float> out = trailing(output, tensor, image);
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
        const bool grid = type == OnnxType::Int8 || type == OnnxType::Uint8;
        output_[output].push_back(grid ? tensor.values[i] + (type == OnnxType::Uint8 ? 128 : 0) : real);
    }
}

double OnnxRun::number(std::size_t tensor, std::int16_t value) const
{
    return network().is_fp16() ? double_from_fp16(static_cast<std::uint16_t>(value)) : network().tensors[tensor].quantisation->real(value);
}

/// The input of the model whose copy a tensor is: no unit has computed anything, and the host still has the numbers before they were fp16.
std::optional<std::size_t> OnnxRun::untouched(std::size_t tensor) const
{
    const auto found = std::find(graph_.inputs.begin(), graph_.inputs.end(), quantised_.values[tensor]);
    if (found == graph_.inputs.end()) return std::nullopt;
    return static_cast<std::size_t>(found - graph_.inputs.begin());
}

/// An output in real numbers.
std::vector<float> OnnxRun::trailing(std::size_t output, const Tensor& tensor, std::size_t image) const
{
    const QuantisedNetwork::Output& of = quantised_.outputs[output];
    RealTensor values;
    const std::optional<std::size_t> input = network().is_fp16() && !of.trailing.empty() ? untouched(of.tensor) : std::nullopt;
    if (input) values = images_->reals(image)[*input];
    else
        for (const std::int16_t q : tensor.values) values.push_back(static_cast<float>(number(of.tensor, q)));
    CubeShape shape{tensor.c, tensor.h, tensor.w};
    for (const RealNode& node : of.trailing) {
        const CubeShape out = graph_.values[node.output].cube;
        values = evaluate(node, {&values}, {shape}, out);
        shape = out;
    }
    return values;
}

std::vector<ModelOutput> OnnxRun::outputs() const
{
    std::vector<ModelOutput> outputs;
    for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
        if (graph_.outputs[o].constant) continue;
        const QuantisedNetwork::Output& of = quantised_.outputs[o];
        ModelOutput made{o, of.tensor, network().tensors[of.tensor].name};
        for (std::size_t i = 0; i < of.trailing.size(); ++i) {
            const RealNode& node = of.trailing[i];
            const std::string before =
                std::exchange(made.name, i + 1 == of.trailing.size() ? graph_.outputs[o].name : graph_.values[node.output].name);
            made.steps.push_back({node, before, made.name, graph_.values[node.output].cube});
        }
        outputs.push_back(std::move(made));
    }
    return outputs;
}

std::string OnnxRun::real_file(const ModelOutput& output, const Tensor& tensor) const
{
    const std::vector<float> numbers = trailing(output.output, tensor, 0);
    std::vector<std::uint64_t> shape(graph_.outputs[output.output].dims.begin(), graph_.outputs[output.output].dims.end());
    if (graph_.batched) shape.insert(shape.begin(), 1);
    return npy_numbers("<f4", shape, {numbers.begin(), numbers.end()});
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
    std::vector<std::uint64_t> shape(of.dims.begin(), of.dims.end());
    if (of.constant) {
        std::vector<double> values;
        for (std::size_t i = 0; i < of.constant->size(); ++i) values.push_back(of.constant->at(i));
        return npy_numbers(facts_of(of.type).npy, shape, values);
    }
    // Where dimension 0 is no batch, images are along a leading dimension of 1 of the output, else concatenated.
    const bool in_place = !graph_.batched && (seen_ == 1 || (!shape.empty() && shape.front() == 1));
    if (!in_place) shape.insert(shape.begin(), seen_);
    else if (seen_ != 1) shape.front() = seen_;
    return npy_numbers(facts_of(of.type).npy, shape, output_[output]);
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

std::unique_ptr<PlannedNetwork> plan_model(const OnnxWork& model, const Source& source, const PlanOptions& options)
{
    const auto onnx = std::make_shared<OnnxRun>(model, options);
    const bool alone = options.outline || options.network.for_driver;
    std::unique_ptr<PlannedNetwork> plan = planned(onnx->network(), source, options, alone ? 1 : onnx->images());
    plan->source = onnx->source(plan->plan);
    plan->model = onnx;
    return plan;
}

}  // namespace dlasim
