#include "network/plan.h"

#include <algorithm>
#include <limits>

#include "base/bits.h"
#include "base/error.h"
#include "lowering/cut/explicit_partition.h"
#include "lowering/cut/known_cuts.h"
#include "lowering/cut/split_cost.h"
#include "lowering/memory/places.h"
#include "lowering/program/lrn_tables.h"
#include "lowering/shape.h"
#include "lowering/transfer/transfer_plan.h"
#include "network/asked.h"
#include "network/banks.h"
#include "network/fp16_values.h"
#include "network/handed_on.h"
#include "network/host.h"
#include "network/images.h"
#include "network/refusals.h"
#include "network/scaled.h"
#include "network/siblings.h"
#include "network/together.h"

namespace dlasim {
namespace {

std::uint64_t bytes_at(const std::vector<TouchedRange>& ranges, const Place& place)
{
    for (const TouchedRange& range : ranges)
        if (range.place == place) return range.bytes;
    return 0;
}

/// From the last atom of a part to the first of the next, about.
constexpr std::size_t kPartCycles = 100;
/// Cycles for an early fetch, in steps: layers that recur are searched once.
constexpr std::uint64_t kEarlySteps = 512, kMostEarly = 8192;
constexpr std::uint32_t kMostMultiplier = 14;  // log2
constexpr double kWorthIt = 0.97;              // of several images at once, against each alone
constexpr PlaneArea kNothing{.lines = {0, 0}};

class Planner {
public:
    Planner(const Network& network, const Hardware& hw, const MemorySpec& memory, const NetworkOptions& options) : options_(options)
    {
        p_.name = network.name;
        p_.network = network;
        p_.hardware = hw;
        p_.memory = memory;
        p_.image_count = options.images;
        p_.together = options.together;
    }

    /// None if siblings that were joined cannot be separated in memory.
    std::optional<NetworkPlan> plan()
    {
        p_.steps = steps_of(p_.network, p_.hardware, [this](const Network&, const Step& step) { return can_fuse(step); });
        if (options_.siblings && !options_.for_driver && p_.network.overlap == Overlap::All)
            join_siblings(p_.steps, p_.network, p_.hardware,
                          [this](const Step& s) { return p_.decide(s.layer, PlanDecision::Joined, true); });
        for (auto& [place, value] : p_.decided)
            if (place.second == PlanDecision::Pooled) value = is_fused(place.first) ? 1 : 0;
        for (std::size_t i = 0; i < p_.steps.list.size(); ++i) p_.steps.list[i].origin = i;
        p_.image_tensors = p_.steps.tensors.size();
        if (p_.together > 1) p_.steps = steps_of_images(p_.steps, p_.together, at_once());
        p_.layouts.resize(p_.steps.tensors.size());
        p_.golden.resize(p_.steps.tensors.size());
        footprints_.resize(p_.steps.list.size());
        for (std::size_t t = 0; t < p_.steps.tensors.size(); ++t)
            if (!p_.steps.tensors[t].layer) give(t);
        for (std::size_t i = 0; i < p_.steps.list.size(); ++i) {
            p_.plans.emplace_back();
            if (step(i).image == 0) plan_step(i);
            else plan_again(i);
            if (!divide(i)) return std::nullopt;
            join();
        }
        if (p_.network.overlap == Overlap::All && !options_.for_driver) share_banks(p_, options_.explicit_cuts);
        note_asked(p_);
        put_in_order(p_, footprints_);
        place_network(p_, std::move(footprints_), steps_over(p_), options_);
        check_decisions(p_, options_);
        NetworkProgram program = network_program(p_);
        p_.program = std::move(program.entries);
        p_.marks = std::move(program);
        p_.work.amount = 0;
        for (const StepPlan& step : p_.plans) p_.work.amount += step.array_operations * p_.image_count;
        for (std::size_t i = 0; i < p_.marks.steps.size(); ++i)
            if (const std::optional<std::size_t> stamp = p_.marks.steps[i].stamp) {
                p_.work.steps.resize(std::max(p_.work.steps.size(), *stamp + 1));
                p_.work.steps[*stamp] = step(i).name;
            }
        return std::move(p_);
    }

private:
    const Hardware& hw() const { return p_.hardware; }
    /// Golden values are made with the plan.
    bool golden() const { return options_.values && !p_.network.numbered(); }
    std::uint32_t atom() const { return p_.hardware.memory.atom_bytes; }
    const Step& step(std::size_t i) const { return p_.steps.list[i]; }

    bool is_fused(std::size_t pool) const
    {
        return std::any_of(p_.steps.list.begin(), p_.steps.list.end(), [&](const Step& s) { return s.pool == pool; });
    }

    /// The cost of a step, estimated from its shapes.
    struct Estimate {
        double cycles = 0, bytes = 0;
        std::size_t parts = 0;
        Estimate operator+(const Estimate& other) const { return {cycles + other.cycles, bytes + other.bytes, parts + other.parts}; }
    };

    /// By bounds; of the input as features and as pixels the better one. None if the machine cannot do it.
    std::optional<Estimate> estimate(const Steps& alone, const Step& step) const
    {
        try {
            Layer layer = step_layer(p_.network, alone, step);
            layer.partition.own_lines = options_.for_driver;
            std::optional<Estimate> least;
            const auto weigh = [&](const std::optional<LayerPlan>& plan) {
                if (!plan) return;
                const double cycles = static_cast<double>(largest(lower_bounds(*plan, layer, hw(), p_.memory)));
                if (least && least->cycles <= cycles) return;
                const std::size_t parts = plan->passes.size();
                least = Estimate{cycles + static_cast<double>(parts * kPartCycles),
                                 static_cast<double>(traffic_of(*plan, layer, hw()).moved()), parts};
            };
            if (!layer_asks(p_.network, step, PlanDecision::Winograd)) weigh(shaped(layer));
            if (is_asked(p_.network, step, PlanDecision::Winograd)) weigh(winograd_plan(p_, step, layer));
            if (const std::optional<TensorLayout> pixels = possible_pixels(step, layer)) weigh(shaped(machine_layer(layer, *pixels, hw())));
            return least;
        } catch (const ConfigError&) {
            return std::nullopt;
        }
    }

    /// SDP can hand over to PDP, and that is better than a step of its own for PDP.
    bool can_fuse(const Step& step)
    {
        const auto ours = [&](std::size_t tensor) { return tensor < p_.network.tensors.size(); };
        if (!ours(step.inputs.front()) || !ours(step.output)) return false;  // what steps hand to each other: planned without PDP
        const Partition& cut = p_.network.layers[step.layer].layer.partition;
        if (cut.on() && !cut.automatic) {  // its rows are those of the convolution, or of the pooling
            p_.decided[{*step.pool, PlanDecision::Pooled}] = cut.pooled ? 1 : 0;
            return cut.pooled;
        }
        Steps alone;
        alone.tensors = p_.network.tensors;
        const std::optional<Estimate> fused = estimate(alone, step);
        return fused && p_.decide(*step.pool, PlanDecision::Pooled, better_fused(step, alone, *fused));
    }
    bool better_fused(const Step& step, const Steps& alone, const Estimate& fused) const
    {
        if (fused.parts == 1) return true;
        Step array = step, pool{.name = step.name, .unit = StepUnit::Pdp, .layer = *step.pool, .inputs = {step.output}};
        array.pool.reset();
        pool.output = p_.network.layers[*step.pool].output;
        const std::optional<Estimate> first = estimate(alone, array), second = estimate(alone, pool);
        if (!first || !second) return true;
        const Estimate apart = *first + *second;
        switch (p_.network.minimise) {
            case Minimise::Parts:
                return fused.parts <= apart.parts;
            case Minimise::Cycles:
                return fused.cycles < apart.cycles;
            case Minimise::Traffic:
                return fused.bytes < apart.bytes;
            case Minimise::Balanced:
                break;
        }
        return balanced_cost(fused.cycles, fused.bytes) < balanced_cost(apart.cycles, apart.bytes);
    }

    /// By step: it computes all images, which takes less than each alone.
    std::vector<bool> at_once() const
    {
        std::vector<bool> those;
        for (const Step& step : p_.steps.list) {
            those.push_back(options_.at_once && !is_asked(p_.network, step, PlanDecision::Winograd) &&
                            may_compute_images(p_.network, p_.steps, those) && !wants_spare_line(step.output) &&
                            !wants_spare_line(step.inputs.front()));
            if (!those.back()) continue;
            const Layer layer = step_layer(p_.network, p_.steps, step);
            const std::optional<Layer> all = layer_of_images(layer, p_.together);
            those.back() = all && cycles_of(*all) < kWorthIt * static_cast<double>(p_.together) * cycles_of(layer);
        }
        return those;
    }
    /// At least, and what parts add; infinite if the machine cannot do it.
    double cycles_of(const Layer& layer) const
    {
        const std::optional<LayerPlan> plan = shaped(layer);
        if (!plan) return std::numeric_limits<double>::infinity();
        return static_cast<double>(largest(lower_bounds(*plan, layer, hw(), p_.memory)) + plan->passes.size() * kPartCycles);
    }

    /// As the same step of the first image.
    void plan_again(std::size_t i)
    {
        const Step& s = step(i);
        const auto like = std::find_if(p_.steps.list.begin(), p_.steps.list.end(), [&](const Step& of) { return of.origin == s.origin; });
        const auto first = static_cast<std::size_t>(like - p_.steps.list.begin());
        for (std::size_t t = 0; t < s.inputs.size(); ++t) p_.layouts[s.inputs[t]] = p_.layouts[like->inputs[t]];
        p_.layouts[s.output] = p_.layouts[like->output];
        if (golden()) p_.golden[s.output] = golden_output(p_, s, p_.plans[first], p_.golden);
        LayerTensors weights = std::move(p_.plans[first].weights);
        p_.plans[i] = p_.plans[first];
        p_.plans[first].weights = std::move(weights);
        footprints_[i].output = footprints_[first].output;
    }

    void give(std::size_t tensor)
    {
        p_.layouts[tensor] = packed_layout(p_.steps.tensors[tensor], p_.network, hw());
        if (golden()) p_.golden[tensor] = seeded_input(p_.steps.tensors[tensor], p_.network.precision, options_.seed + tensor);
    }

    void plan_step(std::size_t i)
    {
        const Step& s = step(i);
        StepPlan& plan = p_.plans[i];
        if (s.unit == StepUnit::Host) {
            p_.layouts[s.output] = packed_layout(p_.steps.tensors[s.output], p_.network, hw());
            if (!golden()) return;
            std::vector<const Tensor*> inputs;
            for (const std::size_t tensor : s.inputs) inputs.push_back(&*p_.golden[tensor]);
            p_.golden[s.output] = host_output(p_.network, p_.steps, s, inputs);
            return;
        }
        if (s.unit == StepUnit::Cdp) return plan_lrn_step(i);
        plan.layer = step_layer(p_.network, p_.steps, s);
        plan.layer.partition.own_lines = options_.for_driver;
        plan.layer.rows_at_once = p_.network.layers[s.layer].decided.of(PlanDecision::RowsAtOnce).value_or(0);
        choose_pixels(s, plan.layer);
        if (!options_.for_driver) choose_asked(p_, s, plan.layer);
        if (!p_.layouts[s.inputs.front()].format) plan.layer.rows_at_once = 0;
        const TensorLayout& input = p_.layouts[s.inputs.front()];
        if (s.addend) check_addend(p_, s, plan.layer);
        if (s.addend || !plan.layer.convolves()) check_one_place(p_, s, plan.layer);
        if (p_.network.is_fp16()) return plan_fp16_step(i, input);
        LayerTensors tensors;
        if (golden()) tensors = golden_step(for_first_image(p_.steps, s), plan.layer);
        else if (options_.values) tensors = plan.weights = numbered_step(p_.network, p_.steps, s).tensors;
        if (s.images > 1) plan.layer = *layer_of_images(std::move(plan.layer), s.images);
        if (golden() && p_.together > 1) plan.weights = tensors;
        if (golden() && plan.layer.mode == Mode::Winograd) plan.direct = from_direct(p_, s, plan, tensors);
        if (golden() && s.images > 1) p_.golden[s.output] = golden_output(p_, s, plan, p_.golden);
        plan.machine = machine_layer(plan.layer, input, hw());
        plan.machine.two_kernel_rows = !options_.for_driver && input.whole() && plan.machine.groups == plan.layer.groups &&
                                       takes_two_rows(plan.layer, hw()) && plan.layer.mode == Mode::Auto && !plan.layer.compressed &&
                                       (second_rows_inside(plan.layer) || (input.spare_line && plan.layer.pad.value == 0)) &&
                                       p_.decide(s.layer, PlanDecision::TwoKernelRows, true);
        const bool spare = makes_spare_line(s, plan.machine);
        plan.machine.output_surface =
            spare ? atom() * plan.machine.out_width() * (plan.machine.out_height() + 1) : atom() * atoms_of_images(p_.steps, s.output);
        tensors.weights = options_.values ? machine_weights(plan.layer, plan.machine, input, std::move(tensors.weights)) : Tensor{};
        tensors.operands = machine_operands(plan.layer, plan.machine, input, std::move(tensors.operands));
        note_early_input(i);
        keep(i, options_.values ? plan_layer(plan.machine, hw(), tensors) : plan_shape(plan.machine, hw()));
        p_.layouts[s.output].spare_line = spare;
    }

    /// A step that reads the tensor wants a line below each surface (lowering/shape.h), and this one can leave it.
    bool makes_spare_line(const Step& s, const Layer& machine) const
    {
        // Images beside each other have no line between them.
        if (p_.image_count > 1 || options_.for_driver || s.pool || machine.op == Op::Deconvolution ||
            (!machine.convolves() && machine.op != Op::Sdp))
            return false;
        for (const JoinedTensor& joined : p_.steps.joined)
            if (std::find(joined.parts.begin(), joined.parts.end(), s.output) != joined.parts.end()) return false;
        return wants_spare_line(s.output);
    }
    bool wants_spare_line(std::size_t tensor) const
    {
        return std::any_of(p_.steps.list.begin(), p_.steps.list.end(), [&](const Step& reader) {
            if (reader.unit != StepUnit::Array || reader.inputs.front() != tensor) return false;
            const Layer& layer = p_.network.layers[reader.layer].layer;
            return takes_two_rows(layer, hw()) && !second_rows_inside(layer) && layer.pad.value == 0;
        });
    }

    /// What of its input the step before writes last. Other inputs are there, but the buffer is full of the step before.
    void note_early_input(std::size_t i)
    {
        StepPlan& plan = p_.plans[i];
        if (i == 0 || !plan.machine.partition.automatic || plan.machine.groups != 1 || p_.network.overlap != Overlap::All ||
            options_.for_driver || step(i - 1).unit != StepUnit::Array || step(i).images > 1 || step(i - 1).images > 1)
            return;
        const StepPlan& before = p_.plans[i - 1];
        if (before.passes.empty() || !before.packing.empty() || before.contraction) return;
        const PlaneArea late = late_area(i - 1, step(i).inputs.front());
        if (late == PlaneArea{} || late == kNothing || (step(i).addend && late_area(i - 1, *step(i).addend) != kNothing)) return;
        const double share = results_of(before.passes.back()) / [&] {
            double all = 0;
            for (const PlannedPass& pass : before.passes) all += results_of(pass);
            return all;
        }();
        const std::uint64_t moved = before.traffic.moved() / hw().memory.primary.width_bytes;
        const auto cycles = static_cast<std::uint64_t>(share * static_cast<double>(std::max(largest(before.bounds), moved)));
        plan.machine.partition.early = {late, std::min(cycles / kEarlySteps * kEarlySteps, kMostEarly), handed_on(i)};
    }
    /// The next step reads what this one writes.
    bool handed_on(std::size_t i) const
    {
        if (i + 1 == p_.steps.list.size()) return false;
        const std::function<bool(std::size_t)> reads = [&](std::size_t tensor) {
            return p_.steps.maker(tensor) == i ||
                   std::any_of(p_.steps.joined.begin(), p_.steps.joined.end(), [&](const JoinedTensor& joined) {
                       return joined.whole == tensor && std::any_of(joined.parts.begin(), joined.parts.end(), reads);
                   });
        };
        const Step& next = step(i + 1);
        return std::any_of(next.inputs.begin(), next.inputs.end(), reads) || (next.addend && reads(*next.addend));
    }
    static double results_of(const PlannedPass& pass)
    {
        return static_cast<double>(pass.rows) * pass.geometry.out_width * pass.pass.kernels;
    }
    /// What of a tensor is not there when the array begins the last operation of the step before.
    PlaneArea late_area(std::size_t before, std::size_t tensor) const
    {
        for (const JoinedTensor& joined : p_.steps.joined) {
            if (joined.whole != tensor) continue;
            PlaneArea late = kNothing;
            for (const std::size_t part : joined.parts)
                if (const PlaneArea of_part = late_area(before, part); of_part != kNothing) late = late == kNothing ? of_part : PlaneArea{};
            return late;
        }
        const std::optional<std::size_t> maker = p_.steps.maker(tensor);
        if (!maker) return kNothing;
        if (*maker == before) return p_.plans[before].passes.back().writes;
        return step(*maker).unit == StepUnit::Array ? kNothing : PlaneArea{};
    }

    /// Golden values follow from what the machine is given: lanes count in its order of sums.
    void plan_fp16_step(std::size_t i, const TensorLayout& input)
    {
        const Step& s = step(i);
        StepPlan& plan = p_.plans[i];
        LayerTensors tensors;
        if (options_.values && p_.network.numbered()) tensors = numbered_step(p_.network, p_.steps, s).tensors;
        else if (golden() && plan.layer.convolves())
            tensors = side_by_side(of_each(s, plan.layer, [&](const Layer& own, std::uint64_t seed) {
                return seeded_fp16_weights(own, seed, *p_.golden[of_first_image(p_.steps, s.inputs.front())]);
            }));
        if (s.images > 1) plan.layer = *layer_of_images(std::move(plan.layer), s.images);
        plan.machine = machine_layer(plan.layer, input, hw());
        plan.machine.output_surface = atom() * atoms_of_images(p_.steps, s.output);
        if (plan.layer.convolves() && options_.values)
            tensors.weights = machine_weights(plan.layer, plan.machine, input, std::move(tensors.weights));
        tensors.operands = machine_operands(plan.layer, plan.machine, input, std::move(tensors.operands));
        note_early_input(i);
        LayerPlan planned = options_.values ? plan_layer(plan.machine, hw(), tensors) : plan_shape(plan.machine, hw());
        plan.method = planned.method;
        keep(i, std::move(planned));
        if (options_.values) plan.weights = std::move(tensors);
        if (golden()) p_.golden[s.output] = golden_output(p_, s, plan, p_.golden);
        if (golden() && plan.method.winograd) plan.direct = from_direct(p_, s, plan, plan.weights);
        if (p_.together == 1 && !p_.network.numbered()) plan.weights = {};
    }

    /// The input of a step as pixels: an input of the network that one convolution reads.
    std::optional<TensorLayout> possible_pixels(const Step& s, const Layer& layer) const
    {
        const std::size_t tensor = s.inputs.front();
        const bool input = options_.pixels && tensor < p_.network.tensors.size() && !p_.network.tensors[tensor].layer;
        const bool dilated = layer.dilation.x != 1 || layer.dilation.y != 1;
        if (!input || layer.op != Op::Convolution || layer.groups != 1 || layer_asks(p_.network, s, PlanDecision::Winograd) || dilated ||
            readers(tensor) != 1)
            return {};
        return pixel_layout(p_.network.tensors[tensor], p_.network);
    }
    /// They are used if the bounds are lower then: of equal largest ones the next decide, which add to them where a layer starts and ends.
    void choose_pixels(const Step& s, const Layer& layer)
    {
        const std::size_t tensor = s.inputs.front();
        std::optional<TensorLayout> pixels = possible_pixels(s, layer);
        if (!pixels) return;
        const std::optional<LayerPlan> image = shaped(machine_layer(layer, *pixels, hw()));
        if (!image) return;
        const std::optional<LayerPlan> features = shaped(machine_layer(layer, p_.layouts[tensor], hw()));
        const auto ranked = [&](const LayerPlan& plan) { return from_largest(lower_bounds(plan, layer, hw(), p_.memory)); };
        if (!p_.decide(s.layer, PlanDecision::Pixels, !features || ranked(*features) > ranked(*image))) return;
        pixels->cube.strides.line = image->passes.front().geometry.in_strides.line;
        pixels->bytes = image->input_bytes;
        p_.layouts[tensor] = *pixels;
    }
    /// Layers that read a tensor.
    std::size_t readers(std::size_t tensor) const
    {
        std::size_t count = 0;
        for (const NetworkLayer& layer : p_.network.layers)
            count += static_cast<std::size_t>(std::count(layer.inputs.begin(), layer.inputs.end(), tensor));
        return count;
    }
    std::optional<LayerPlan> shaped(const Layer& layer) const { return possible_plan(layer, hw(), options_.for_driver); }

    /// CDP and PDP alone in several operations: there are steps before or after them.
    bool hands_on_rows() const { return p_.steps.list.size() > 1 && !options_.for_driver && p_.network.overlap == Overlap::All; }

    /// CDP makes a cube like its input.
    void plan_lrn_step(std::size_t i)
    {
        const Step& s = step(i);
        const NetworkLayer& of = p_.network.layers[s.layer];
        const TensorLayout& input = p_.layouts[s.inputs.front()];
        if (!input.whole())
            throw ConfigError(of.where, "normalises a tensor that consists of " + std::to_string(input.pieces.size()) +
                                            " pieces, expected one: its channels must be neighbours");
        StepPlan& plan = p_.plans[i];
        for (const UnitBound& bound : lrn_bounds(of.lrn, hw())) plan.bounds.emplace_back(bound.name, bound.cycles);
        plan.lrn = {{of.lrn, lrn_tables(of.lrn, of.where + "/lrn/output_scale"), input.cube}};
        std::vector<LrnPass> rows = plan.lrn;
        if (hands_on_rows()) hand_on_rows(rows, largest(plan.bounds));
        if (rows.size() > 1 && p_.decide(s.layer, PlanDecision::ByRows, true)) plan.lrn = std::move(rows);
        TensorLayout layout = input;
        layout.before = 0;
        plan.traffic.tensors = {{"input", true, false, input.bytes, input.bytes}, {"output", true, true, layout.bytes, layout.bytes}};
        p_.layouts[s.output] = layout;
        if (golden()) p_.golden[s.output] = normalised(plan.lrn.front().tables, *p_.golden[s.inputs.front()], of.lrn.channels);
    }

    /// Of a step with several layers: each as if it was alone.
    template <class Make>
    std::vector<LayerTensors> of_each(const Step& s, const Layer& layer, const Make& make) const
    {
        std::vector<LayerTensors> all;
        for (const std::size_t l : s.kernel_layers()) {
            Layer own = layer;
            own.kernels = p_.network.layers[l].layer.kernels;
            own.post.bs().mul = {};
            all.push_back(make(own, options_.seed + 1 + l));
        }
        return all;
    }

    /// Each shifts as if it was alone: multipliers make up for the largest shift.
    LayerTensors golden_siblings(const Step& s, Layer& layer)
    {
        const Tensor& input = *p_.golden[s.inputs.front()];
        std::vector<std::uint32_t> kernels, shifts;
        LayerTensors all = side_by_side(of_each(s, layer, [&](const Layer& own, std::uint64_t seed) {
            StepValues alone = step_values(own, hw(), seeded_weights(own, seed), input, nullptr);
            kernels.push_back(own.kernels);
            shifts.push_back(alone.layer.output.shift);
            return std::move(alone.weights);
        }));
        layer.output.shift = *std::max_element(shifts.begin(), shifts.end());
        Tensor& multipliers = all.operands[operand_slot(0, true)];
        multipliers = Tensor(1, layer.kernels, 1, 1);
        auto to = multipliers.values.begin();
        for (std::size_t i = 0; i < kernels.size(); ++i)
            to = std::fill_n(to, kernels[i], static_cast<std::int16_t>(1u << std::min(layer.output.shift - shifts[i], kMostMultiplier)));
        p_.golden[s.output] = scaled_output(layer, hw(), all, input, nullptr);
        return all;
    }

    /// Converters and output of a step; what the machine needs of its tensors.
    LayerTensors golden_step(const Step& s, Layer& layer)
    {
        if (!s.beside.empty()) return golden_siblings(s, layer);
        LayerTensors weights;
        if (layer.convolves()) weights = seeded_weights(layer, options_.seed + 1 + s.layer);
        StepValues values =
            step_values(layer, hw(), std::move(weights), *p_.golden[s.inputs.front()], s.addend ? &*p_.golden[*s.addend] : nullptr);
        layer = std::move(values.layer);
        p_.golden[s.output] = std::move(values.output);
        return std::move(values.weights);
    }

    void keep(std::size_t i, LayerPlan planned)
    {
        StepPlan& plan = p_.plans[i];
        if (step(i).unit == StepUnit::Pdp && hands_on_rows()) {
            std::vector<PlannedPass> whole = planned.passes;
            hand_on_rows(planned, plan.layer, hw());
            if (planned.passes.size() > whole.size() && !p_.decide(step(i).layer, PlanDecision::ByRows, true))
                planned.passes = std::move(whole);
        }
        if (plan.machine.image()) p_.decided[{step(i).layer, PlanDecision::RowsAtOnce}] = 1u << planned.passes.front().pass.y_extension;
        plan.bounds = unit_bounds(planned, plan.layer, hw());
        plan.traffic = traffic_of(planned, plan.layer, hw());
        plan.array_operations = array_operations(planned, hw());
        plan.macs = plan.layer.macs();
        plan.cut = planned.partitioned;
        if (options_.explicit_cuts && plan.machine.convolves() && step(i).images == 1) {
            const std::optional<Partition> partition = explicit_partition(planned, plan.machine, hw());
            if (partition) p_.network.layers[step(i).layer].layer.partition = *partition;
        }
        TensorLayout layout = written_layout(planned, kPlannedPlaces.output.address);
        if (!plan.machine.convolves()) layout.pieces = p_.layouts[step(i).inputs.front()].pieces;  // places go through as they are
        layout.bytes = std::max(layout.bytes, layout.cube.strides.surface * ceil_div(layout.channels(), layout.per_atom()));
        if (atoms_of_images(p_.steps, step(i).output) != 0)
            layout = layout_of_image(std::move(layout), p_.together, p_.steps.tensors[step(i).output].height);
        p_.layouts[step(i).output] = layout;
        Footprint& at = footprints_[i];
        at.output = bytes_at(planned.ranges, kPlannedPlaces.output);
        at.weights = bytes_at(planned.ranges, kPlannedPlaces.weights);
        at.mask = bytes_at(planned.ranges, kPlannedPlaces.weights + kMaskBehindWeights);
        at.group_sizes = bytes_at(planned.ranges, kPlannedPlaces.weights + kGroupSizesBehindWeights);
        for (std::size_t e = 0; e < at.operands.size(); ++e)
            if (planned.passes.front().pass.post.engines[e].streams())
                at.operands[e] = bytes_at(planned.ranges, kPlannedPlaces.operands[e]);
        std::erase_if(planned.images, [](const PlannedImage& image) { return image.what == ImageOf::Output; });
        at.images = std::move(planned.images);
        plan.mode = std::move(planned.mode);
        plan.passes = std::move(planned.passes);
        plan.contraction = planned.contraction;
        plan.packing = std::move(planned.packing);
    }

    /// The parts of what a step makes at once. False if channels of two layers meet inside an atom: tiles of fewer kernels.
    bool divide(std::size_t i)
    {
        if (step(i).images > 1) {
            const JoinedTensor& images = *images_of(p_.steps, step(i).output);
            for (std::size_t image = 0; image < images.parts.size(); ++image) {
                const std::size_t part = images.parts[image];
                p_.layouts[part] = layout_of_image(p_.layouts[images.whole], p_.together, images.rows);
                if (golden())
                    p_.golden[part] = rows_of(*p_.golden[images.whole], static_cast<std::uint32_t>(image) * images.rows, images.rows);
            }
        }
        if (step(i).beside.empty()) return true;
        const auto made = std::find_if(p_.steps.joined.begin(), p_.steps.joined.end(),
                                       [&](const JoinedTensor& joined) { return joined.whole == step(i).output; });
        std::uint32_t first = 0;
        for (const std::size_t part : made->parts) {
            const std::uint32_t count = p_.steps.tensors[part].channels;
            const std::optional<TensorLayout> layout = layout_of(p_.layouts[made->whole], first, count);
            if (!layout) return false;
            p_.layouts[part] = *layout;
            if (golden()) p_.golden[part] = channels_of(*p_.golden[made->whole], first, count);
            first += count;
        }
        return true;
    }

    /// Concatenations whose parts are all there.
    void join()
    {
        for (const JoinedTensor& joined : p_.steps.joined) {
            if (p_.exists(joined.whole)) continue;
            std::vector<TensorLayout> parts;
            for (const std::size_t part : joined.parts)
                if (p_.exists(part)) parts.push_back(p_.layouts[part]);
            if (parts.size() != joined.parts.size()) continue;
            p_.layouts[joined.whole] = joined.rows != 0 ? layout_below(parts.front(), parts.size(), joined.rows) : joined_layout(parts);
            if (!golden()) continue;
            if (joined.rows != 0) {
                std::vector<const Tensor*> images;
                for (const std::size_t part : joined.parts) images.push_back(&*p_.golden[part]);
                p_.golden[joined.whole] = below_each_other(images);
                continue;
            }
            const NetworkTensor& shape = p_.steps.tensors[joined.whole];
            Tensor whole(1, 0, shape.height, shape.width);
            for (const std::size_t part : joined.parts) {
                const Tensor& values = *p_.golden[part];
                whole.values.insert(whole.values.end(), values.values.begin(), values.values.end());
                whole.c += values.c;
            }
            p_.golden[joined.whole] = std::move(whole);
        }
    }

    const NetworkOptions options_;
    const KnownCuts known_cuts_;
    NetworkPlan p_;
    std::vector<Footprint> footprints_;  // by step
};

}  // namespace

std::vector<Bound> network_bounds(const NetworkPlan& plan)
{
    std::vector<Bound> sum;
    for (const StepPlan& step : plan.plans) add_bounds(sum, step.bounds);
    return sum;
}

NetworkPlan plan_network(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetworkOptions& options)
{
    NetworkOptions how = options;
    how.values |= asks_compressed(network);  // the time of compressed weights depends on them
    if (std::optional<NetworkPlan> plan = Planner(network, hardware, memory, how).plan()) return *std::move(plan);
    how.siblings = false;
    return Planner(network, hardware, memory, how).plan().value();
}

}  // namespace dlasim
