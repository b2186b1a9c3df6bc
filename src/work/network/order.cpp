#include "network/order.h"

#include <algorithm>
#include <array>
#include <limits>

#include "network/plan.h"

namespace dlasim {
namespace {

// Of an operation, about: cycles beside its work, and those in which software writes its registers.
constexpr double kStart = 150, kProgramming = 300;

bool put_together(const StepPlan& plan) { return !plan.packing.empty() || plan.contraction; }

/// What of the output the n-th operation writes.
PlaneArea written_area(const StepPlan& plan, std::size_t number)
{
    if (put_together(plan)) return {};
    if (!plan.lrn.empty()) return {.lines = {plan.lrn[number].first_line, plan.lrn[number].lrn.height}};
    return plan.passes.empty() ? PlaneArea{} : plan.passes[number].writes;
}

void add_makers(const NetworkPlan& plan, std::size_t tensor, const PlaneArea& area, std::vector<StepOperation>& makers)
{
    for (const JoinedTensor& joined : plan.steps.joined)
        if (joined.whole == tensor)
            for (const std::size_t part : joined.parts) add_makers(plan, part, joined.rows != 0 ? PlaneArea{} : area, makers);
    const std::optional<std::size_t> maker = plan.steps.maker(tensor);
    if (!maker) return;
    const bool of_images = plan.steps.list[*maker].images > 1 && plan.steps.list[*maker].output != tensor;  // it has other lines
    for (std::size_t i = 0; i < operations_of(plan, *maker); ++i)
        if (of_images || written_area(plan.plans[*maker], i).meets(area)) makers.push_back({*maker, i});
}

/// When operations of units that work beside each other could start, as long as software does nothing else.
class Merger {
public:
    explicit Merger(const NetworkPlan& plan) : p_(plan), done_(plan.plans.size())
    {
        for (std::size_t i = 0; i < done_.size(); ++i) done_[i].reserve(operations_of(p_, i));
    }

    std::vector<StepOperation> order()
    {
        std::array<std::vector<std::size_t>, kUnits> steps;
        for (std::size_t i = 0; i < p_.plans.size(); ++i) {
            if (p_.steps.list[i].unit != StepUnit::Host) {
                steps[static_cast<std::size_t>(p_.steps.list[i].unit)].push_back(i);
                continue;
            }
            merge(steps);
            steps = {};
            start({i, 0}, now_);
        }
        merge(steps);
        return std::move(order_);
    }

private:
    static constexpr std::size_t kUnits = static_cast<std::size_t>(StepUnit::Host);
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    struct Queue {
        std::size_t step = 0, number = 0;    // number: of the operation that is next
        std::optional<double> inputs = {};   // when what it reads is there, if all makers have been started
        std::array<double, 2> groups{0, 0};  // when they are free; the one that is next first
        double engine = 0;                   // when the unit is
    };

    void merge(const std::array<std::vector<std::size_t>, kUnits>& steps)
    {
        std::array<std::size_t, kUnits> at{};
        for (;;) {
            std::size_t first = kUnits;
            double earliest = kNever;
            for (std::size_t unit = 0; unit < kUnits; ++unit) {
                if (at[unit] == steps[unit].size()) continue;
                Queue& queue = queues_[unit];
                queue.step = steps[unit][at[unit]];
                const double time = could_start(queue);
                const bool before = first != kUnits && time == earliest && queue.step < queues_[first].step;
                if (time >= earliest && !before) continue;
                earliest = time;
                first = unit;
            }
            if (first == kUnits) return;
            Queue& queue = queues_[first];
            run(queue, earliest);
            if (++queue.number < operations_of(p_, queue.step)) continue;
            queue.number = 0;
            ++at[first];
        }
    }

    /// Infinite as long as what it reads has not been started.
    double could_start(Queue& queue) const
    {
        if (!queue.inputs) queue.inputs = inputs_of({queue.step, queue.number});
        return queue.inputs ? std::max({now_ + kProgramming, *queue.inputs, queue.groups.front()}) : kNever;
    }

    std::optional<double> inputs_of(const StepOperation& operation) const
    {
        double time = 0;
        for (const StepOperation& maker : makers_of(p_, operation)) {
            if (maker.number >= done_[maker.step].size()) return std::nullopt;
            time = std::max(time, done_[maker.step][maker.number]);
        }
        return time;
    }

    void run(Queue& queue, double enabled)
    {
        now_ = enabled;
        queue.engine = std::max(queue.engine, enabled) + kStart + work(queue.step, queue.number);
        queue.groups = {queue.groups.back(), queue.engine};
        queue.inputs.reset();
        start({queue.step, queue.number}, queue.engine);
    }

    void start(const StepOperation& operation, double done)
    {
        order_.push_back(operation);
        done_[operation.step].push_back(done);
    }

    /// Cycles of an operation: its share of the bound of the step.
    double work(std::size_t step, std::size_t number)
    {
        const StepPlan& plan = p_.plans[step];
        if (measured_ != step) {
            measured_ = step;
            double results = 0;
            for (std::size_t i = 0; i < operations_of(p_, step); ++i) results += results_of(plan, i);
            const double cycles = plan.bounds.empty() ? 0 : static_cast<double>(largest(plan.bounds)),
                         moved = static_cast<double>(plan.traffic.moved()) / p_.hardware.memory.primary.width_bytes;
            cycles_a_result_ = results == 0 ? 0 : std::max(cycles, moved) / results;
        }
        return cycles_a_result_ * results_of(plan, number);
    }
    static double results_of(const StepPlan& plan, std::size_t number)
    {
        if (!plan.lrn.empty()) return plan.lrn[number].lrn.height;
        if (number >= plan.passes.size()) return 0;
        const PlannedPass& pass = plan.passes[number];
        return static_cast<double>(pass.rows) * pass.geometry.out_width * pass.pass.kernels;
    }

    const NetworkPlan& p_;
    std::vector<std::vector<double>> done_;  // by step and operation that has been started
    std::array<Queue, kUnits> queues_{};
    std::vector<StepOperation> order_;
    double now_ = 0;                   // when software has enabled the last operation
    std::size_t measured_ = SIZE_MAX;  // the step that the next is of
    double cycles_a_result_ = 0;
};

}  // namespace

std::size_t operations_of(const NetworkPlan& plan, std::size_t step)
{
    if (plan.steps.list[step].unit == StepUnit::Host) return 1;
    const StepPlan& of = plan.plans[step];
    return of.lrn.size() + of.passes.size() + (put_together(of) ? 1 : 0);
}

std::vector<StepOperation> makers_of(const NetworkPlan& plan, const StepOperation& operation)
{
    const Step& step = plan.steps.list[operation.step];
    const StepPlan& of = plan.plans[operation.step];
    std::vector<StepOperation> makers;
    PlaneArea reads, adds;
    if (step.unit != StepUnit::Host && operation.number >= of.lrn.size() + of.passes.size()) return makers;  // after those of its step
    if (!of.lrn.empty()) reads.lines = {of.lrn[operation.number].first_line, of.lrn[operation.number].lrn.height};
    if (!of.passes.empty()) {
        reads = of.passes[operation.number].reads;
        adds = of.passes[operation.number].adds;
    }
    for (const std::size_t tensor : step.inputs) add_makers(plan, tensor, reads, makers);
    if (step.addend) add_makers(plan, *step.addend, adds, makers);
    return makers;
}

std::vector<StepOperation> step_by_step(const NetworkPlan& plan)
{
    std::vector<StepOperation> order;
    for (std::size_t step = 0; step < plan.plans.size(); ++step)
        for (std::size_t number = 0; number < operations_of(plan, step); ++number) order.push_back({step, number});
    return order;
}

void put_in_order(NetworkPlan& plan, std::vector<Footprint>& footprints)
{
    plan.order = plan.network.overlap == Overlap::All && plan.decide(kWholeNetwork, PlanDecision::Interleaved, true) ? Merger(plan).order()
                                                                                                                     : step_by_step(plan);
    std::vector<std::size_t> now(plan.plans.size());
    std::vector<Step> steps;
    std::vector<StepPlan> plans;
    std::vector<Footprint> moved;
    for (StepOperation& operation : plan.order) {
        if (operation.number == 0) {
            now[operation.step] = steps.size();
            steps.push_back(std::move(plan.steps.list[operation.step]));
            plans.push_back(std::move(plan.plans[operation.step]));
            moved.push_back(std::move(footprints[operation.step]));
        }
        operation.step = now[operation.step];
    }
    plan.steps.list = std::move(steps);
    plan.plans = std::move(plans);
    footprints = std::move(moved);
}

}  // namespace dlasim
