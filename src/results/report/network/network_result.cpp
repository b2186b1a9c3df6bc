#include "report/network/network_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "base/files/json_text.h"
#include "base/files/output_folder.h"
#include "base/files/printable.h"
#include "config/machine/hardware.h"
#include "config/machine/measured.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "network/asked.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"
#include "report/causes_report.h"
#include "report/nearest_program.h"
#include "report/network/network_memory.h"
#include "report/run_report.h"
#include "report/timeline/power_profile.h"

namespace dlasim {
namespace {

using Bounds = std::vector<Bound>;

const char* unit_name(StepUnit unit)
{
    constexpr const char* kNames[] = {"array", "sdp", "pdp", "cdp", "host"};
    return kNames[static_cast<int>(unit)];
}

/// In a table: an array that takes pixels is called image.
const char* worker_name(const Step& step, const StepPlan& plan) { return plan.machine.image() ? "image" : unit_name(step.unit); }

/// A step of the run.
struct ReportedStep {
    const NetworkResult& r;
    std::size_t i;
    const Step& step = r.plan.steps.list[i];
    const StepPlan& plan = r.plan.plans[i];
    const StepMarks& marks = r.plan.marks.steps[i];

    bool host() const { return step.unit == StepUnit::Host; }
    const StepTimes& times() const { return r.times[i]; }
    const NetworkTensor& output() const { return r.plan.steps.tensors[step.output]; }
    double utilization() const
    {
        const double most =
            static_cast<double>(times().cycles()) * static_cast<double>(r.plan.hardware.macs_per_cycle(r.plan.network.precision));
        return most > 0 ? static_cast<double>(plan.macs) / most : 0;
    }
    std::vector<std::string> layers() const
    {
        const Network& network = r.plan.network;
        std::vector<std::string> names;
        for (const std::size_t layer : step.kernel_layers()) names.push_back(network.layers[layer].name);
        for (const std::optional<std::size_t>& layer : {step.add, step.pool})
            if (layer) names.push_back(network.layers[*layer].name);
        if (step.image != 0) names.back() += "@" + std::to_string(step.image + 1);
        return names;
    }
};

OrderedJson shape_json(const NetworkTensor& tensor) { return {tensor.channels, tensor.height, tensor.width}; }

OrderedJson inputs_json(const ReportedStep& s)
{
    OrderedJson names = OrderedJson::array();
    for (const std::size_t tensor : s.step.inputs) names.push_back(s.r.plan.steps.tensors[tensor].name);
    if (s.step.addend) names.push_back(s.r.plan.steps.tensors[*s.step.addend].name);
    return names;
}

OrderedJson of_machine(const ReportedStep& s, const OrderedJson& value) { return s.host() ? kAbsent : value; }
OrderedJson of_finding(const ReportedStep& s, OrderedJson (*value)(const Comparison&))
{
    return s.r.findings.empty() ? OrderedJson() : value(s.r.findings[s.i].comparison);
}

constexpr std::string_view kUnits = "steps of units", kHosts = "CPU fallback", kMachine = "the machine has a part in it";
constexpr KeyRow kStepCausesKey{"causes", "object", "cycles", "the causes of the cycles of its share: [CAUSES.md](CAUSES.md)", kUnits};
constexpr std::array kReportedStepKeys{
    Key<ReportedStep>{{"name", "text", "", "of the last layer in it, and of the tensor that it makes"},
                      [](const ReportedStep& s) -> OrderedJson { return s.step.name; }},
    Key<ReportedStep>{{"layers", "list", "", "layers that it executes"}, value_of<&ReportedStep::layers>},
    Key<ReportedStep>{{"unit", "text", "", "array, sdp, pdp, cdp or host"},
                      [](const ReportedStep& s) -> OrderedJson { return unit_name(s.step.unit); }},
    Key<ReportedStep>{
        {"mode", "text", "", "direct, image or winograd", "steps of the array"},
        [](const ReportedStep& s) -> OrderedJson { return s.step.unit == StepUnit::Array ? OrderedJson(s.plan.mode) : kAbsent; }},
    Key<ReportedStep>{{"why", "text", "", "why no unit computes it", kHosts},
                      [](const ReportedStep& s) -> OrderedJson { return s.host() ? OrderedJson(s.step.why) : kAbsent; }},
    Key<ReportedStep>{{"inputs", "list", "", "tensors that it reads"}, inputs_json},
    Key<ReportedStep>{{"output", "list", "", "channels, rows and columns of its output"},
                      [](const ReportedStep& s) { return shape_json(s.output()); }},
    Key<ReportedStep>{{"memory", "text", "", "of its output: dbb or cvsram"},
                      [](const ReportedStep& s) -> OrderedJson { return memory_of(s.r.plan.layouts[s.step.output].place); }},
    Key<ReportedStep>{{"address", "integer", "address", "of its output there"},
                      [](const ReportedStep& s) -> OrderedJson { return s.r.plan.layouts[s.step.output].place.address.byte(); }},
    Key<ReportedStep>{{"pieces", "integer", "pieces", "of its output in memory, with unused lanes between; mostly 1"},
                      [](const ReportedStep& s) -> OrderedJson { return s.r.plan.layouts[s.step.output].pieces.size(); }},
    Key<ReportedStep>{{"operations", "integer", "operations", "hardware layers: tiles and passes", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.marks.operations.size()); }},
    Key<ReportedStep>{{"cut", "flag", "", "it does not fit CBUF and is tiled", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.plan.cut); }},
    Key<ReportedStep>{{"output_shift", "integer", "bits", "of the output converter", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.plan.layer.output.shift); }},
    Key<ReportedStep>{
        {"enabled", "integer", "cycle", "its first op-enable was accepted: its inputs are complete, its registers written", kUnits},
        [](const ReportedStep& s) { return of_machine(s, s.times().enabled); }},
    Key<ReportedStep>{{"start", "integer", "cycle", "it could start: enabled, and its units had finished all earlier operations", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.times().start); }},
    Key<ReportedStep>{{"done", "integer", "cycle", "the interrupt of its last operation", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.times().done); }},
    Key<ReportedStep>{{"cycles", "integer", "cycles", "from start to done; with prefetching fewer than those of the step alone", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.times().cycles()); }},
    Key<ReportedStep>{{"share", "integer", "cycles", "its share of the cycles of the network: the sum of all shares is `cycles`", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.times().share); }},
    Key<ReportedStep>{kStepCausesKey, [](const ReportedStep& s) { return s.host() ? kAbsent : causes_json(s.r.causes(s.times())); }},
    Key<ReportedStep>{{"macs", "integer", "MACs", "of the layer as defined", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.plan.macs); }},
    Key<ReportedStep>{{"utilization", "number", "", "MACs over the capacity of the array from start to done", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.host() ? 0 : s.utilization()); }},
    Key<ReportedStep>{{"bound", "text", "", "the largest lower bound", kUnits},
                      [](const ReportedStep& s) { return s.host() ? kAbsent : OrderedJson(binding(s.plan.bounds).name()); }},
    Key<ReportedStep>{{"bound_cycles", "integer", "cycles", "no machine of these sizes can be faster", kUnits},
                      [](const ReportedStep& s) { return s.host() ? kAbsent : OrderedJson(binding(s.plan.bounds).cycles); }},
    Key<ReportedStep>{{"bounds", "object", "cycles", "all lower bounds by name", kUnits},
                      [](const ReportedStep& s) { return s.host() ? kAbsent : bounds_json(s.plan.bounds); }},
    Key<ReportedStep>{{"tensors", "object", "", "by tensor", kUnits},
                      [](const ReportedStep& s) { return s.host() ? kAbsent : tensors_json(s.plan.traffic); }},
    Key<ReportedStep>{{"traffic/moved", "integer", "bytes", "sum of all tensors", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.plan.traffic.moved()); }},
    Key<ReportedStep>{{"traffic/compulsory", "integer", "bytes", "if each tensor moved once", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.plan.traffic.compulsory()); }},
    Key<ReportedStep>{{"traffic/communication", "integer", "bytes", "lower bound of any loop order with this on-chip memory", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.plan.traffic.communication); }},
    Key<ReportedStep>{{"traffic/binding", "text", "", "the larger of the two", kUnits},
                      [](const ReportedStep& s) { return of_machine(s, s.plan.traffic.binding()); }},
    Key<ReportedStep>{{"apart", "integer", "cycles", "of the step alone", "--layers apart, steps of units"},
                      [](const ReportedStep& s) { return s.r.apart.empty() ? kAbsent : of_machine(s, s.r.apart[s.i]); }},
    Key<ReportedStep>{{"compared", "integer or null", "values", "of its output"},
                      [](const ReportedStep& s) { return of_finding(s, value_of<&Comparison::compared>); }},
    Key<ReportedStep>{{"mismatches", "integer or null", "values", "of these not equal to the golden ones"},
                      [](const ReportedStep& s) { return of_finding(s, value_of<&Comparison::mismatches>); }},
    Key<ReportedStep>{
        {"direct", "object", "", "its output compared with the direct convolution of the same input", "Winograd, no ONNX model"},
        [](const ReportedStep& s) { return s.plan.direct ? direct_json(*s.plan.direct) : kAbsent; }},
};

std::uint64_t sum(const NetworkPlan& plan, std::uint64_t (Traffic::*bytes)() const)
{
    std::uint64_t all = 0;
    for (const StepPlan& step : plan.plans) all += (step.traffic.*bytes)();
    return all;
}

OrderedJson steps_json(const NetworkResult& r)
{
    return written_list(kReportedStepKeys, r.plan.plans.size(), [&](std::size_t i) { return ReportedStep{r, i}; });
}

constexpr std::string_view kOnnx = "an ONNX model", kImages = "an ONNX model, `--images`", kLabels = "an ONNX model with `--labels`",
                           kValues = "an ONNX model, not with --timing-only";

/// What follows from the bounds of a network of which the machine does anything.
template <class Value>
OrderedJson of_bounds(const NetworkResult& r, Value value)
{
    const Bounds bounds = network_bounds(r.plan);
    return bounds.empty() ? kAbsent : OrderedJson(value(bounds));
}
double share(std::uint64_t bound, std::int64_t cycles)
{
    return cycles > 0 ? static_cast<double>(bound) / static_cast<double>(cycles) : 0.0;
}

template <class Value>
OrderedJson of_images(const NetworkResult& r, Value value)
{
    return r.images ? OrderedJson(value()) : kAbsent;
}
template <auto Member>
OrderedJson of_model(const NetworkResult& r)
{
    return r.images ? OrderedJson(r.images->model.*Member) : kAbsent;
}
OrderedJson of_several(const NetworkResult& r, std::uint64_t value)
{
    return r.images || r.plan.together > 1 ? OrderedJson(value) : kAbsent;
}
OrderedJson of_labels(const NetworkResult& r, std::optional<double> ImagesResult::*share)
{
    return r.images && r.images->*share ? OrderedJson(*(r.images->*share)) : kAbsent;
}
OrderedJson agreement_json(const NetworkResult& r)
{
    if (!r.images) return kAbsent;
    const std::optional<double>& share = r.images->outputs[r.images->judged].agreement;
    return share ? OrderedJson(*share) : kAbsent;
}

constexpr std::array kNetworkKeys{
    Key<NetworkResult>{{"network", "object", "", "the file, with every default: NETWORK.md"},
                       [](const NetworkResult& r) { return network_json(r.plan.network); }},
    Key<NetworkResult>{{"frames_per_s", "number", "1/s", "frames back to back; includes CPU fallback if `--host` is given"},
                       value_of<&NetworkResult::frames_per_s>},
    Key<NetworkResult>{{"host", "object", "", "CPU fallback, which takes no cycles: below"},
                       [](const NetworkResult& r) { return host_json(r.host()); }},
    Key<NetworkResult>{{"apart/cycles", "integer", "cycles", "sum over all steps, each alone", "--layers apart"},
                       [](const NetworkResult& r) { return r.apart.empty() ? kAbsent : OrderedJson(r.cycles_apart()); }},
    Key<NetworkResult>{{"apart/gained", "integer", "cycles", "of these that running the steps as one program saves", "--layers apart"},
                       [](const NetworkResult& r) { return r.apart.empty() ? kAbsent : OrderedJson(r.cycles_apart() - r.cycles()); }},
    Key<NetworkResult>{{"model/file", "text", "", "the model as the command named it", kOnnx}, of_model<&OnnxWork::file>},
    Key<NetworkResult>{{"model/input", "list", "", "files of `--input`, [NAME=]FILE", kOnnx}, of_model<&OnnxWork::input>},
    Key<NetworkResult>{{"model/calibrate", "list", "", "files of `--calibrate`", kOnnx}, of_model<&OnnxWork::calibrate>},
    Key<NetworkResult>{{"model/bias_correction", "flag", "", "`--bias-correction`", kOnnx}, of_model<&OnnxWork::bias_correction>},
    Key<NetworkResult>{{"model/preprocess", "list", "", "of `--preprocess`", kOnnx}, of_model<&OnnxWork::preprocess>},
    Key<NetworkResult>{{"model/calibration", "text", "", "method that derives ranges from these images", "an ONNX model in int8"},
                       [](const NetworkResult& r) -> OrderedJson {
                           if (!r.images || r.plan.network.is_fp16()) return kAbsent;
                           return r.images->model.calibration.empty() ? "max" : r.images->model.calibration;
                       }},
    Key<NetworkResult>{{"model/shape", "list", "", "of `--shape`, [NAME=]SIZES", kOnnx}, of_model<&OnnxWork::shapes>},
    Key<NetworkResult>{
        {"model/precision", "text", "", "int8 or fp16", kOnnx},
        [](const NetworkResult& r) { return of_images(r, [&]() -> OrderedJson { return precision_name(r.plan.network.precision); }); }},
    Key<NetworkResult>{{"images/count", "integer", "images", "that ran", kImages},
                       [](const NetworkResult& r) { return of_several(r, r.plan.image_count * r.plan.together); }},
    Key<NetworkResult>{{"images/cycles", "integer", "cycles", "of all images", kImages},
                       [](const NetworkResult& r) { return of_several(r, r.run.cycles); }},
    Key<NetworkResult>{
        {"accuracy", "number", "", "share of images whose largest output is that of the label, the first of equal ones", kLabels},
        [](const NetworkResult& r) { return of_labels(r, &ImagesResult::accuracy); }},
    Key<NetworkResult>{{"reference_accuracy", "number", "", "the same of the model in real numbers", kLabels},
                       [](const NetworkResult& r) { return of_labels(r, &ImagesResult::reference_accuracy); }},
    Key<NetworkResult>{{"agreement", "number", "", "share of images with the same largest output as the model in real numbers", kValues},
                       agreement_json},
    Key<NetworkResult>{{"host_nodes", "list", "", "nodes that the CPU computed after the machine, in real numbers", kOnnx},
                       [](const NetworkResult& r) { return of_images(r, [&]() -> OrderedJson { return r.images->trailing; }); }},
    Key<NetworkResult>{
        {"judged", "text", "", "the output that is scored: the first that is a row, else the first", "an ONNX model of several outputs"},
        [](const NetworkResult& r) {
            return r.images && r.images->outputs.size() > 1 ? OrderedJson(r.images->outputs[r.images->judged].name) : kAbsent;
        }},
    Key<NetworkResult>{{"outputs", "list", "", "of the model, in its order", kOnnx},
                       [](const NetworkResult& r) { return of_images(r, [&] { return image_outputs_json(*r.images); }); }},
    Key<NetworkResult>{
        {"tensors", "list", "", "of all images against the model in real numbers", kValues},
        [](const NetworkResult& r) { return r.images && r.images->values ? tensor_errors_json(r.plan, *r.images) : kAbsent; }},
    Key<NetworkResult>{
        {"worst_step", "object", "", "the step that loses most: name, own_signal_to_noise, why, helps", "--accuracy-by-step"},
        [](const NetworkResult& r) { return r.images ? worst_step_json(r.plan, *r.images) : kAbsent; }},
    Key<NetworkResult>{{"macs", "integer", "MACs", "of all layers as defined"},
                       [](const NetworkResult& r) -> OrderedJson { return r.plan.network.macs(); }},
    Key<NetworkResult>{{"utilization", "number", "", "MACs over the capacity of the array in `cycles`"},
                       value_of<&NetworkResult::utilization>},
    Key<NetworkResult>{
        {"verified", "flag or null", "", "every value of every tensor is equal; null with --timing-only"},
        [](const NetworkResult& r) -> OrderedJson { return r.findings.empty() ? OrderedJson() : OrderedJson(r.verified()); }},
    Key<NetworkResult>{
        {"output", "text or null", "", "file of the last layer's tensor, or of a model's first output; null if none was written"},
        [](const NetworkResult& r) -> OrderedJson { return r.output_file.empty() ? OrderedJson() : OrderedJson(r.output_file); }},
    Key<NetworkResult>{{"expected", "object", "", "the last layer's tensor compared with the expected one, as for a layer",
                        "the network gives an expected tensor"},
                       [](const NetworkResult& r) -> OrderedJson { return r.expected ? expected_json(*r.expected) : kAbsent; }},
    Key<NetworkResult>{{"memory_use", "object", "", "memory of tensors and weights: below"},
                       [](const NetworkResult& r) { return memory_use_json(r.plan); }},
    Key<NetworkResult>{{"places", "list", "", "of all tensors in memory"}, [](const NetworkResult& r) { return places_json(r.plan); }},
    Key<NetworkResult>{{"search", "object", "", "what `--optimise` tried and changed: below", "--optimise"},
                       [](const NetworkResult& r) { return r.search ? search_json(*r.search) : kAbsent; }},
    Key<NetworkResult>{{"steps", "list", "", "the steps, in this order"}, steps_json},
    Key<NetworkResult>{{"bounds", "object", "cycles", "lower bounds of an image by name: sums over all steps", kMachine},
                       [](const NetworkResult& r) { return of_bounds(r, bounds_json); }},
    Key<NetworkResult>{{"bound", "text", "", "the name of the largest", kMachine},
                       [](const NetworkResult& r) { return of_bounds(r, [](const Bounds& b) { return binding(b).name(); }); }},
    Key<NetworkResult>{{"bound_cycles", "integer", "cycles", "no machine of these sizes can be faster", kMachine},
                       [](const NetworkResult& r) { return of_bounds(r, largest); }},
    Key<NetworkResult>{
        {"bound_share", "number", "", "of `cycles`", kMachine},
        [](const NetworkResult& r) { return of_bounds(r, [&](const Bounds& b) { return share(binding(b).cycles, r.cycles()); }); }},
    Key<NetworkResult>{{"traffic/moved", "integer", "bytes", "by all hardware steps, in whole atoms"},
                       [](const NetworkResult& r) -> OrderedJson { return sum(r.plan, &Traffic::moved); }},
    Key<NetworkResult>{{"traffic/compulsory", "integer", "bytes", "if each tensor of each step moved once"},
                       [](const NetworkResult& r) -> OrderedJson { return sum(r.plan, &Traffic::compulsory); }},
};

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string layer_list(const ReportedStep& s)
{
    std::string text;
    for (const std::string& name : s.layers()) text += (text.empty() ? "" : " + ") + printable(name);
    return text;
}

/// How often each byte of a tensor moves; empty if it is not there.
std::string refetched(const Traffic& traffic, std::string_view name)
{
    for (const TensorTraffic& tensor : traffic.tensors)
        if (tensor.name == name && tensor.bytes != 0) return fmt::format("{:.3f}", tensor.times());
    return "";
}

std::string bound_text(const Bound& bound, std::int64_t cycles)
{
    return fmt::format("  bound        {} cycles, {} of them: {}, {}\n", grouped(bound.cycles), percent(share(bound.cycles, cycles)),
                       bound.name(), bound.meaning());
}

std::string verdict(const NetworkResult& r)
{
    if (r.findings.empty()) return "not compared (--timing-only)";
    std::uint64_t compared = 0;
    std::string wrong;
    for (const TensorFinding& finding : r.findings) {
        compared += finding.comparison.compared;
        if (finding.comparison.equal()) continue;
        const Comparison& c = finding.comparison;
        wrong += fmt::format("\n               {}: {} of {} differ, {}", printable(r.plan.steps.tensors[finding.tensor].name),
                             grouped(c.mismatches), grouped(c.compared), c.examples.front());
    }
    if (!wrong.empty()) return "NO" + wrong;
    return fmt::format("yes, all {} values of {} tensors equal the golden ones (own {} arithmetic)", grouped(compared), r.findings.size(),
                       r.plan.network.is_fp16() ? "fp16" : "integer");
}

}  // namespace

bool NetworkResult::verified() const
{
    return std::all_of(findings.begin(), findings.end(), [](const TensorFinding& finding) { return finding.comparison.equal(); });
}

namespace {

class Timer {
public:
    Timer(const NetworkMarks& program, const RunResult& run) : program_(program), run_(run), times_(program.steps.size())
    {
        for (const DoneEvent& done : run.done)
            for (std::uint32_t bits = done.bits; bits != 0; bits &= bits - 1) raised_[bits & ~(bits - 1)].push_back(done.cycle);
    }

    std::vector<StepTimes> times()
    {
        std::vector<std::size_t> step_of(program_.done.size());
        std::vector<std::optional<std::size_t>> waited_for(times_.size());  // the step whose unit it took over last
        std::size_t last = 0;
        for (std::size_t i = 0; i < times_.size(); ++i)
            for (const Sequence::Operation operation : program_.steps[i].operations) step_of[operation] = i;
        for (std::size_t i = 0; i < times_.size(); ++i) {
            const StepMarks& marks = program_.steps[i];
            if (!marks.stamp) continue;
            StepTimes& t = times_[i];
            t.start = t.enabled = run_.stamps[*marks.stamp];
            for (const UnitMark& unit : program_.units[marks.operations.front()]) {
                if (cycle(unit.done) <= t.start) continue;
                t.start = cycle(unit.done);
                waited_for[i] = step_of[unit.operation];
            }
            for (const Sequence::Operation operation : marks.operations) {
                t.done = std::max(t.done, cycle(program_.done[operation]));
            }
            if (t.done > times_[last].done) last = i;
        }
        share(last, waited_for);
        return std::move(times_);
    }

private:
    std::int64_t cycle(const DoneMark& mark) const { return raised_.at(mark.bit).at(mark.nth); }

    /// From `step`, the last one, back to the first.
    void share(std::size_t step, const std::vector<std::optional<std::size_t>>& waited_for)
    {
        for (std::int64_t end = times_[step].done; end > 0;) {
            StepTimes& t = times_[step];
            std::int64_t from = t.start;
            if (waited_for[step]) {
                step = *waited_for[step];
            } else {  // for software: what it reads was there, or its registers were written
                from = 0;
                for (std::size_t i = 0; &times_[i] != &t; ++i)
                    if (times_[i].done > from && times_[i].done <= t.start) from = times_[step = i].done;
            }
            t.share += end - from;
            t.share_end = end;
            end = from;
        }
    }

    const NetworkMarks& program_;
    const RunResult& run_;
    std::vector<StepTimes> times_;
    std::map<std::uint32_t, std::vector<std::int64_t>> raised_;  // by bit of GLB
};

}  // namespace

std::vector<StepTimes> step_times(const NetworkMarks& program, const RunResult& run) { return Timer(program, run).times(); }

std::int64_t NetworkResult::cycles_apart() const { return std::accumulate(apart.begin(), apart.end(), std::int64_t{0}); }

double NetworkResult::utilization() const
{
    const double most = static_cast<double>(cycles()) * static_cast<double>(plan.hardware.macs_per_cycle(plan.network.precision));
    return most > 0 ? static_cast<double>(plan.network.macs() * plan.together) / most : 0;
}

std::int64_t NetworkResult::cycles() const
{
    if (plan.image_count == 1) return static_cast<std::int64_t>(run.cycles);
    std::int64_t last = 0;
    for (const StepTimes& step : times) last = std::max(last, step.done);
    return last;
}

std::vector<CauseCycles> NetworkResult::causes(const StepTimes& step) const
{
    return run.causes.between(static_cast<Cycle>(step.share_end - step.share), static_cast<Cycle>(step.share_end));
}

double NetworkResult::latency_seconds() const { return static_cast<double>(cycles()) / (plan.hardware.clock_mhz * 1e6); }

double NetworkResult::frames_per_s() const
{
    const double seconds = static_cast<double>(run.cycles) / (plan.hardware.clock_mhz * 1e6);
    return host().frames_per_s(seconds / static_cast<double>(plan.image_count * plan.together));
}

HostWork NetworkResult::host() const
{
    HostWork host{.ns_per_element = host_ns};
    for (const Step& step : plan.steps.list)
        if (step.unit == StepUnit::Host && step.image == 0) host.add(plan.steps.tensors[step.output].elements());
    if (!images || images->trailing.empty()) return host;
    // Functions of single elements: each makes as many as the output has, of several outputs the largest.
    std::uint64_t most = 0;
    for (const ImagesResult::Output& output : images->outputs)
        most = std::max(most, std::accumulate(output.dims.begin(), output.dims.end(), std::uint64_t{1},
                                              [](std::uint64_t all, std::int64_t n) { return all * static_cast<std::uint64_t>(n); }));
    for (std::size_t i = 0; i < images->trailing.size(); ++i) host.add(most);
    return host;
}

OrderedJson network_result_json(const NetworkResult& r)
{
    const NetworkPlan& plan = r.plan;
    return report_json({"network", plan.network.name, plan.hardware, plan.memory, plan.program, r.run, r.cycles(), r.causes()},
                       kNetworkKeys, r);
}

std::vector<PlacedKey> network_result_keys()
{
    return placed(kNetworkKeys, "", host_keys(), "", network_images_keys(), "", network_memory_keys(), "", search_keys(), "",
                  kReportedStepKeys, "steps/[]/", direct_keys(), "steps/[]/direct/", tensor_keys(), repeated("steps/[]/tensors/*/"),
                  step_energy_keys(), "steps/[]/");
}

std::string network_csv(const NetworkResult& r)
{
    std::string text =
        "name,layers,unit,operations,cut,enabled,start,done,cycles,share,apart,macs,utilization,bound,bound_cycles,moved,compulsory,"
        "communication,"
        "input_times,weight_times,output_memory,mismatches\n";
    for (std::size_t i = 0; i < r.plan.plans.size(); ++i) {
        const ReportedStep s{r, i};
        const std::string mismatches = r.findings.empty() ? "" : std::to_string(r.findings[i].comparison.mismatches);
        const char* memory = memory_of(r.plan.layouts[s.step.output].place);
        text += fmt::format("{},{},{}", cell_text(s.step.name), cell_text(layer_list(s)), unit_name(s.step.unit));
        if (s.host()) {
            text += fmt::format(",,,,,,,,,,,,,,,,,,{},{}\n", memory, mismatches);
            continue;
        }
        const StepTimes& times = s.times();
        const Bound& bound = binding(s.plan.bounds);
        const Traffic& traffic = s.plan.traffic;
        text += fmt::format(",{},{},{},{},{},{},{},{},{},{:.4f},{},{},{},{},{},{},{},{},{}\n", s.marks.operations.size(),
                            s.plan.cut ? 1 : 0, times.enabled, times.start, times.done, times.cycles(), times.share,
                            r.apart.empty() ? "" : std::to_string(r.apart[i]), s.plan.macs, s.utilization(), bound.name(), bound.cycles,
                            traffic.moved(), traffic.compulsory(), traffic.communication, refetched(traffic, "input"),
                            refetched(traffic, "weights"), memory, mismatches);
    }
    return text;
}

std::string network_table(const NetworkResult& r)
{
    std::string text = fmt::format("{}  {} layers in {} steps, {} MACs\n", printable(r.plan.network.name), r.plan.network.layers.size(),
                                   r.plan.plans.size(), grouped(r.plan.network.macs()));
    text += fmt::format("  on           {}{}, {}, {} MACs a cycle\n", machine_name(r.plan.hardware),
                        measured_text(r.plan.hardware, r.plan.program), memory_text(r.plan.memory),
                        r.plan.hardware.macs_per_cycle(r.plan.network.precision));
    text += fmt::format("  cycles       {}, {} of what the array could multiply\n", grouped(static_cast<std::uint64_t>(r.cycles())),
                        percent(r.utilization()));
    text += fmt::format("  latency      {:.3f} ms at {} MHz, {:.2f} frames/s{}\n", 1e3 * r.latency_seconds(), r.plan.hardware.clock_mhz,
                        r.frames_per_s(), r.host().text());
    if (const Bounds bounds = network_bounds(r.plan); !bounds.empty()) text += bound_text(binding(bounds), r.cycles());
    if (r.images) text += images_text(*r.images, r.run.cycles);
    if (r.plan.together > 1)
        text += fmt::format("  images       {} together, {} cycles each\n", r.plan.together, grouped(r.run.cycles / r.plan.together));
    if (!r.apart.empty())
        text += fmt::format("  apart        {} cycles for all steps, each alone: {} {}\n",
                            grouped(static_cast<std::uint64_t>(r.cycles_apart())),
                            grouped(static_cast<std::uint64_t>(std::abs(r.cycles_apart() - r.cycles()))),
                            r.cycles_apart() < r.cycles() ? "lost between them" : "saved by running them together");
    text += fmt::format("  verified     {}\n", verdict(r));
    const std::optional<Difference> direct = from_direct(r.plan);
    text += expected_line(r.expected) + direct_line(direct ? &*direct : nullptr) + hazards_text(r.run);
    text += memory_use_text(r.plan);
    text += nearest_line(r.plan.program, r.plan.hardware);
    text += simulation_text(r.run) + '\n';
    text += fmt::format("  {:<40} {:<6} {:>5} {:>12} {:>12} {:>12} {:>12} {:>7} {:>12} {:>6}  {:<6}  {}\n", "step", "unit", "parts", "done",
                        "cycles", "share", r.apart.empty() ? "" : "apart", "array", "bytes", "times", "output", "bound");
    for (std::size_t i = 0; i < r.plan.plans.size(); ++i) {
        const ReportedStep s{r, i};
        if (s.host()) {
            text += fmt::format("  {:<40} {:<6} {}\n", layer_list(s), "host", s.step.why);
            continue;
        }
        const StepTimes& times = s.times();
        const Bound& bound = binding(s.plan.bounds);
        const std::uint64_t moved = s.plan.traffic.moved(), least = std::max<std::uint64_t>(1, s.plan.traffic.compulsory());
        text += fmt::format("  {:<40} {:<6} {:>5} {:>12} {:>12} {:>12} {:>12} {:>7} {:>12} {:>6.2f}  {:<6}  {} {}\n", layer_list(s),
                            worker_name(s.step, s.plan), s.marks.operations.size(), grouped(static_cast<std::uint64_t>(times.done)),
                            grouped(static_cast<std::uint64_t>(times.cycles())), grouped(static_cast<std::uint64_t>(times.share)),
                            r.apart.empty() ? "" : grouped(static_cast<std::uint64_t>(r.apart[i])), percent(s.utilization()),
                            grouped(moved), static_cast<double>(moved) / static_cast<double>(least),
                            memory_of(r.plan.layouts[s.step.output].place), bound.name(), grouped(bound.cycles));
    }
    if (r.images && r.images->values) text += tensor_errors_text(r.plan, *r.images);
    const std::uint32_t beat = r.plan.hardware.memory.primary.width_bytes;
    const char* of = r.plan.image_count == 1 ? "" : ", for all images";
    text += fmt::format("\n  DBB          read {} bytes, written {} bytes{}\n", grouped(r.run.dbb.read_beats * beat),
                        grouped(r.run.dbb.write_bytes), of);
    if (r.plan.hardware.memory.has_secondary)
        text += fmt::format("  CVSRAM       read {} bytes, written {} bytes{}\n",
                            grouped(r.run.cvsram.read_beats * r.plan.hardware.memory.secondary.width_bytes),
                            grouped(r.run.cvsram.write_bytes), of);
    text += fmt::format("\n{}", causes_text(r.causes()));
    return text;
}

std::string network_plan_table(const NetworkPlan& plan)
{
    std::string text =
        fmt::format("{}  {} layers in {} steps, {} MACs, on {}\n\n", printable(plan.network.name), plan.network.layers.size(),
                    plan.plans.size(), grouped(plan.network.macs()), machine_name(plan.hardware));
    text += fmt::format("  {:<40} {:<6} {:>5} {:>11} {:>12} {:>6} {:>14}  {:<6}  {}\n", "step", "unit", "parts", "banks", "bytes", "times",
                        "cycles, least", "output", "bound");
    for (std::size_t i = 0; i < plan.plans.size(); ++i) {
        const Step& step = plan.steps.list[i];
        const StepPlan& of = plan.plans[i];
        text += fmt::format("  {:<40} {:<6}", printable(step.name), worker_name(step, of));
        if (step.unit == StepUnit::Host) {
            text += fmt::format(" {}\n", step.why);
            continue;
        }
        const Bound& bound = binding(of.bounds);
        const bool array = step.unit == StepUnit::Array;
        const Geometry g = array ? of.passes.front().geometry : Geometry{};
        const double least = static_cast<double>(std::max<std::uint64_t>(1, of.traffic.compulsory()));
        text += fmt::format(" {:>5} {:>11} {:>12} {:>6.2f} {:>14}  {:<6}  {}\n", plan.marks.steps[i].operations.size(),
                            array ? fmt::format("{} + {}", g.data_banks, g.weight_banks) : "", grouped(of.traffic.moved()),
                            static_cast<double>(of.traffic.moved()) / least, grouped(bound.cycles),
                            memory_of(plan.layouts[step.output].place), bound.name());
    }
    text += '\n';
    text += memory_use_text(plan);
    return text;
}

}  // namespace dlasim
