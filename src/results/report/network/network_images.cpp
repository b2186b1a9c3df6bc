#include "report/network/network_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/files/columns.h"
#include "base/files/json_text.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

OrderedJson ratio_json(const ImagesResult::Error& error) { return error.noise > 0 ? OrderedJson(error.ratio()) : OrderedJson(); }
std::string ratio_text(const ImagesResult::Error& error) { return error.noise > 0 ? fmt::format("{:.1f} dB", error.ratio()) : "exact"; }

constexpr std::string_view kRatio = "squares of the real numbers over squares of the differences; null without a difference";

struct ErrorView {
    const NetworkTensor& tensor;
    const ImagesResult::Error& error;
    const std::optional<ImagesResult::StepLoss>& loss;
};
using Loss = ImagesResult::StepLoss;

constexpr std::string_view kByStep = "--accuracy-by-step";
OrderedJson of_loss(const ErrorView& e, OrderedJson (*value)(const Loss& loss)) { return e.loss ? value(*e.loss) : kAbsent; }

constexpr double kMuchSaturated = 0.001;  // share of elements
constexpr double kFarReach = 4;           // steps of a grid over those that numbers use
constexpr double kSpread = 12;            // largest weight of a kernel over the root of the mean square of the others

/// Why a step loses what it loses, and what helps.
struct Verdict {
    std::string why, helps;
};
Verdict verdict_of(const NetworkTensor& tensor, const Loss& loss)
{
    if (!tensor.quantisation) return {"its sums are rounded to fp16", "--precision int8, or smaller numbers"};
    const Quantisation& q = *tensor.quantisation;
    const double reach = std::max(q.real(127), -q.real(-128));
    if (loss.saturation() > kMuchSaturated)
        return {fmt::format("{:.2f} % of its numbers saturate: they reach {:.4g}, its steps {:.4g}", 100 * loss.saturation(), loss.largest,
                            reach),
                tensor.wanted ? "a larger scale in the model (QuantizeLinear)"
                              : "calibration images like those of the run, or --calibration max"};
    if (loss.largest > 0 && reach > kFarReach * loss.largest)
        return {fmt::format("its steps reach {:.4g}, its numbers only {:.4g}", reach, loss.largest),
                tensor.wanted
                    ? "a smaller scale in the model (QuantizeLinear)"
                    : "a separate range for the tensor: no concatenation with larger numbers; calibration images like those of the run"};
    if (loss.weight_spread > kSpread)
        return {fmt::format("the largest weight of a kernel is {:.1f} times the root mean square of its others, which have few steps",
                            loss.weight_spread),
                "clipping these weights in training, or fp16 on nv_full (--precision fp16)"};
    return {"its numbers are small against the steps of int8", "--calibration mse or percentile, or fp16 on nv_full (--precision fp16)"};
}
constexpr std::array kErrorKeys{
    Key<ErrorView>{{"name", "text", "", "of the model's tensor"}, [](const ErrorView& e) -> OrderedJson { return e.tensor.name; }},
    Key<ErrorView>{
        {"scale", "number", "", "real number of a step", "int8"},
        [](const ErrorView& e) -> OrderedJson { return e.tensor.quantisation ? OrderedJson(e.tensor.quantisation->scale) : kAbsent; }},
    Key<ErrorView>{
        {"zero_point", "integer", "", "integer that represents 0", "int8"},
        [](const ErrorView& e) -> OrderedJson { return e.tensor.quantisation ? OrderedJson(e.tensor.quantisation->zero) : kAbsent; }},
    Key<ErrorView>{{"signal_to_noise", "number or null", "dB", kRatio}, [](const ErrorView& e) { return ratio_json(e.error); }},
    Key<ErrorView>{{"largest_difference", "number", "", "between a real number and what its integer represents"},
                   [](const ErrorView& e) -> OrderedJson { return e.error.largest; }},
    Key<ErrorView>{{"own_signal_to_noise", "number or null", "dB",
                    "the same of the step alone: against real numbers computed from the tensors that it reads", kByStep},
                   [](const ErrorView& e) { return of_loss(e, [](const Loss& loss) { return ratio_json(loss.own); }); }},
    Key<ErrorView>{{"cosine", "number", "", "of the angle between its numbers and those of the model", kByStep},
                   [](const ErrorView& e) { return of_loss(e, value_of<&Loss::cosine>); }},
    Key<ErrorView>{{"saturated", "number", "", "share of its elements beyond its range", kByStep},
                   [](const ErrorView& e) { return of_loss(e, value_of<&Loss::saturation>); }},
};

struct OutputView {
    const ImagesResult& images;
    const ImagesResult::Output& output;

    OrderedJson of_values(const OrderedJson& value) const { return images.values ? value : kAbsent; }
};
constexpr std::string_view kNotTimingOnly = "not with --timing-only";
constexpr std::array kOutputKeys{
    Key<OutputView>{{"name", "text", "", "of the model's output"}, [](const OutputView& o) -> OrderedJson { return o.output.name; }},
    Key<OutputView>{{"file", "text or null", "", "[images, ...], null if none was written"},
                    [](const OutputView& o) { return o.output.file.empty() ? OrderedJson() : OrderedJson(o.output.file); }},
    Key<OutputView>{{"dimensions", "list", "", "of one image"}, [](const OutputView& o) -> OrderedJson { return o.output.dims; }},
    Key<OutputView>{
        {"agreement", "number", "", "share of images with the same largest element as the model in real numbers", kNotTimingOnly},
        [](const OutputView& o) { return o.output.agreement ? OrderedJson(*o.output.agreement) : kAbsent; }},
    Key<OutputView>{{"signal_to_noise", "number or null", "dB", kRatio, kNotTimingOnly},
                    [](const OutputView& o) { return o.of_values(ratio_json(o.output.error)); }},
    Key<OutputView>{{"largest_difference", "number", "", "from the model in real numbers", kNotTimingOnly},
                    [](const OutputView& o) { return o.of_values(o.output.error.largest); }},
};

std::string dims_text(const std::vector<std::int64_t>& dims)
{
    std::string text;
    for (const std::int64_t size : dims) text += (text.empty() ? "" : " x ") + std::to_string(size);
    return text.empty() ? "1" : text;
}

}  // namespace

void ImagesResult::Error::add(double real, double found)
{
    if (!std::isfinite(real)) return;  // of a function that has no number there
    const double difference = found - real;
    // A float and the integer that it was rounded to are the same number.
    const double lost = std::abs(difference) <= 1e-6 * std::abs(real) ? 0 : difference;
    signal += real * real;
    noise += lost * lost;
    largest = std::max(largest, std::abs(lost));
}

double ImagesResult::Error::ratio() const { return 10 * std::log10(std::max(signal, 1e-300) / std::max(noise, 1e-300)); }

void ImagesResult::StepLoss::add(double model, double alone, double is, const std::optional<Quantisation>& quantisation)
{
    if (!std::isfinite(model) || !std::isfinite(alone)) return;
    own.add(alone, is);
    product += model * is;
    real += model * model;
    found += is * is;
    ++elements;
    largest = std::max(largest, std::abs(alone));
    if (!quantisation) return;
    const double steps = alone / quantisation->scale + quantisation->zero;
    saturated += steps > 127.5 || steps < -128.5;
}

double ImagesResult::StepLoss::cosine() const { return real > 0 && found > 0 ? product / std::sqrt(real * found) : real == found ? 1 : 0; }

const ImagesResult::TensorError* ImagesResult::worst() const
{
    const TensorError* found = nullptr;
    for (const TensorError& of : errors)
        if (of.loss && of.loss->own.noise > 0 && of.loss->own.signal > 0 && (!found || of.loss->own.ratio() < found->loss->own.ratio()))
            found = &of;
    return found;
}

OrderedJson worst_step_json(const NetworkPlan& plan, const ImagesResult& images)
{
    const ImagesResult::TensorError* worst = images.worst();
    if (!worst) return kAbsent;
    const NetworkTensor& tensor = plan.steps.tensors[worst->tensor];
    const Verdict verdict = verdict_of(tensor, *worst->loss);
    return {{"name", tensor.name}, {"own_signal_to_noise", worst->loss->own.ratio()}, {"why", verdict.why}, {"helps", verdict.helps}};
}

OrderedJson tensor_errors_json(const NetworkPlan& plan, const ImagesResult& images)
{
    return written_list(kErrorKeys, images.errors, [&](const ImagesResult::TensorError& of) {
        return ErrorView{plan.steps.tensors[of.tensor], of.error, of.loss};
    });
}

OrderedJson image_outputs_json(const ImagesResult& images)
{
    return written_list(kOutputKeys, images.outputs, [&](const ImagesResult::Output& output) { return OutputView{images, output}; });
}

std::vector<PlacedKey> network_images_keys() { return placed(kErrorKeys, "tensors/[]/", kOutputKeys, "outputs/[]/"); }

std::string images_text(const ImagesResult& i, std::uint64_t cycles)
{
    std::string text = fmt::format("  images       {}, {} cycles in all\n", grouped(i.count), grouped(cycles));
    if (i.accuracy)
        text +=
            fmt::format("  accuracy     {:.2f} %, of the model in real numbers {:.2f} %\n", 100 * *i.accuracy, 100 * *i.reference_accuracy);
    if (const std::optional<double>& agreement = i.outputs[i.judged].agreement)
        text +=
            fmt::format("  agreement    {:.2f} % of the images have the largest output of the model in real numbers\n", 100 * *agreement);
    for (const std::string& node : i.trailing) text += fmt::format("  after it     {}, on the CPU in real numbers\n", printable(node));
    if (i.outputs.size() == 1) return text;
    for (const ImagesResult::Output& output : i.outputs)
        text += fmt::format("  output       {}, {}{}{}\n", printable(output.name), dims_text(output.dims),
                            i.values ? ", " + ratio_text(output.error) : "", output.file.empty() ? "" : ", in " + output.file);
    return text;
}

std::string tensor_errors_text(const NetworkPlan& plan, const ImagesResult& images)
{
    const bool by_step = images.worst() != nullptr;
    std::string text =
        by_step
            ? fmt::format("\n  {:<30} {:>12} {:>12} {:>9} {:>9}\n", "signal to noise of", "up to it", "step alone", "cosine", "saturated")
            : fmt::format("\n  {:<30} {:>11} {:>5} {:>10} {:>17}\n", "tensor", "step", "zero", "signal", "largest difference");
    for (const ImagesResult::TensorError& of : images.errors) {
        const NetworkTensor& tensor = plan.steps.tensors[of.tensor];
        const std::string name = cut_to(tensor.name, 30);
        if (of.loss)
            text += fmt::format("  {:<30} {:>12} {:>12} {:>9.6f} {:>7.3f} %\n", name, ratio_text(of.error), ratio_text(of.loss->own),
                                of.loss->cosine(), 100 * of.loss->saturation());
        else if (by_step) text += fmt::format("  {:<30} {:>12}\n", name, ratio_text(of.error));
        else
            text += fmt::format("  {:<30} {:>11} {:>5} {:>10} {:>18.6g}\n", name,
                                tensor.quantisation ? fmt::format("{:.6g}", tensor.quantisation->scale) : "fp16",
                                tensor.quantisation ? tensor.quantisation->zero : 0, ratio_text(of.error), of.error.largest);
    }
    if (const ImagesResult::TensorError* worst = images.worst()) {
        const NetworkTensor& tensor = plan.steps.tensors[worst->tensor];
        const Verdict verdict = verdict_of(tensor, *worst->loss);
        text += folded(fmt::format("  Most is lost in {}, {} alone: {}. What helps: {}", printable(tensor.name),
                                   ratio_text(worst->loss->own), verdict.why, verdict.helps),
                       4);
    }
    return text;
}

}  // namespace dlasim
