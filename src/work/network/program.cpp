#include "network/program.h"

#include <algorithm>
#include <map>

#include "lowering/program/lut_writes.h"
#include "network/plan.h"

namespace dlasim {
namespace {

/// Numbers of HostSteps for each step.
constexpr std::size_t kActions = 2;

/// Both groups of the unit that raises a bit.
std::uint32_t unit_of(std::uint32_t bit)
{
    for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts)
        if ((interrupt->bits() & bit) != 0) return interrupt->bits();
    return bit;
}

class Writer {
public:
    Writer(const NetworkPlan& plan, std::size_t images, bool apart, bool registers)
        : plan_(plan), images_(images), apart_(apart), registers_(registers), writer_(plan.hardware, program_.entries)
    {
        program_.steps.resize(plan.plans.size());
        program_.over.assign(plan.plans.size(), plan.plans.size());
    }

    NetworkProgram write()
    {
        writer_.begin(reg::glb::kOfLayers);
        const auto tabled =
            std::find_if(plan_.plans.begin(), plan_.plans.end(), [](const StepPlan& step) { return table_of(step).has_value(); });
        if (tabled != plan_.plans.end()) {
            sdp_tables_ = static_cast<std::size_t>(tabled - plan_.plans.begin());
            write_table(*table_of(*tabled));
        }
        Sequence sequence(writer_, plan_.hardware, reg::glb::kOfLayers, plan_.network.overlap, registers_ ? Writes::Changed : Writes::None);
        add_steps(sequence);
        std::vector<StepMarks> first = program_.steps;
        for (std::size_t image = 1; image < images_ && !apart_; ++image) {
            writer_.add(HostStep{.number = kActions * first.size(), .ends_report = image == 1});
            program_.steps.assign(first.size(), {});
            add_steps(sequence);
        }
        program_.steps = std::move(first);
        mark_done(sequence);
        return std::move(program_);
    }

private:
    void write_table(const Lut& table)
    {
        if (registers_) write_lut(writer_, table);
    }
    static const std::optional<Lut>& table_of(const StepPlan& step) { return step.machine.post.ew().lut; }

    /// The integers of two tensors represent the same numbers, for any calibration images.
    bool tied(std::size_t a, std::size_t b) const
    {
        const NetworkTensor &x = plan_.steps.tensors[a], &y = plan_.steps.tensors[b];
        return a == b || !x.quantisation || (x.wanted && y.wanted && x.quantisation == y.quantisation);
    }
    /// Two steps look up the same, as the network says. Equal entries alone are chance.
    bool same_tables(std::size_t a, std::size_t b) const
    {
        const Step &x = plan_.steps.list[a], &y = plan_.steps.list[b];
        if (!tied(x.inputs.front(), y.inputs.front()) || !tied(x.output, y.output)) return false;
        if (!plan_.plans[a].lrn.empty()) return plan_.plans[a].lrn.front().tables.same_function(plan_.plans[b].lrn.front().tables);
        const auto &of_x = plan_.network.layers[x.layer].numbers, &of_y = plan_.network.layers[y.layer].numbers;
        return !of_x || of_x->function == of_y->function;
    }

    /// The tables belong to no register group: another one is written when all operations that look up are done.
    void load_table(std::size_t i, Sequence& sequence)
    {
        const std::optional<Lut>& table = table_of(plan_.plans[i]);
        if (!table || same_tables(i, *sdp_tables_)) return;
        for (const Sequence::Operation operation : looking_up_) sequence.wait_for(operation);
        looking_up_.clear();
        sdp_tables_ = i;
        write_table(*table);
    }

    /// Operations of the sequence that write what this one reads.
    Sequence::Operations before(const StepOperation& operation) const
    {
        Sequence::Operations operations;
        for (const StepOperation& maker : makers_of(plan_, operation)) {
            const Sequence::Operations& of = program_.steps[maker.step].operations;
            const bool last = maker.number + 1 == operations_of(plan_, maker.step);
            operations.insert(operations.end(), of.begin() + static_cast<std::ptrdiff_t>(maker.number),
                              last ? of.end() : of.begin() + static_cast<std::ptrdiff_t>(maker.number) + 1);
        }
        return operations;
    }

    /// Of one image, to their end.
    void add_steps(Sequence& sequence)
    {
        left_.clear();
        for (std::size_t i = 0; i < plan_.plans.size(); ++i) left_.push_back(operations_of(plan_, i));
        for (const StepOperation& operation : apart_ ? step_by_step(plan_) : plan_.order) {
            if (apart_ && operation.number == 0) sequence.wait_for_all();
            add(operation, sequence);
            --left_[operation.step];
            program_.ends.emplace_back(program_.entries.size(), operation.step);
        }
        sequence.wait_for_all();
    }

    void add(const StepOperation& operation, Sequence& sequence)
    {
        const std::size_t i = operation.step;
        const StepPlan& plan = plan_.plans[i];
        StepMarks& marks = program_.steps[i];
        const Sequence::Ready ready = operation.number != 0 ? Sequence::Ready{} : [&] {
            note_done(i, sequence);
            if (!plan_.overwritten.empty() && !plan_.overwritten[i].empty()) writer_.add(HostStep{kActions * i + 1});
        };
        if (plan_.steps.list[i].unit == StepUnit::Host) {
            for (const Sequence::Operation maker : before(operation)) sequence.wait_for(maker);
            ready();
            writer_.add(HostStep{kActions * i});
            return;
        }
        load_table(i, sequence);
        const auto started = [&](Sequence::Operation number) {
            marks.operations.push_back(number);
            if (table_of(plan)) looking_up_.push_back(number);
            if (marks.operations.size() > 1) return;
            writer_.add(Stamp{stamps_});
            marks.stamp = stamps_++;
        };
        if (operation.number < plan.lrn.size()) {
            const bool tables = !cdp_tables_ || !same_tables(i, *cdp_tables_);
            if (tables) cdp_tables_ = i;
            return started(sequence.add(plan.lrn[operation.number], tables, before(operation), ready));
        }
        if (operation.number < plan.passes.size()) return started(sequence.add(plan.passes[operation.number], before(operation), ready));
        // What puts parts together waits for all of them.
        Sequence::Operations parts = marks.operations;
        const auto behind = [&](const Sequence::Operations& operations) {
            marks.operations.insert(marks.operations.end(), operations.begin(), operations.end());
            parts = operations;
        };
        for (const std::vector<PlannedPass>& stage : plan.packing) behind(sequence.add(stage, parts));
        if (plan.contraction) behind(sequence.add(*plan.contraction, parts));
    }

    /// When `next` begins: steps of which all interrupts have been taken.
    void note_done(std::size_t next, const Sequence& sequence)
    {
        for (std::size_t i = 0; i < next; ++i) {
            if (program_.over[i] < plan_.plans.size() || left_[i] != 0) continue;
            const Sequence::Operations& operations = program_.steps[i].operations;
            if (std::all_of(operations.begin(), operations.end(), [&](Sequence::Operation o) { return sequence.waited(o); }))
                program_.over[i] = next;
        }
    }

    void mark_done(const Sequence& sequence)
    {
        std::map<std::uint32_t, std::size_t> count;
        std::map<std::uint32_t, UnitMark> last;  // by bits of a unit's groups
        for (Sequence::Operation operation = 0; operation < sequence.size(); ++operation) {
            const std::uint32_t done = sequence.done_bits(operation);
            program_.done.push_back({done, count[done]});
            std::vector<UnitMark>& units = program_.units.emplace_back();
            for (std::uint32_t raised = sequence.raised_bits(operation); raised != 0; raised &= raised - 1) {
                const std::uint32_t bit = raised & ~(raised - 1), unit = unit_of(bit);
                if (const auto before = last.find(unit); before != last.end()) units.push_back(before->second);
                last[unit] = {operation, {bit, count[bit]++}};
            }
        }
    }

    const NetworkPlan& plan_;
    const std::size_t images_;
    const bool apart_, registers_;
    NetworkProgram program_;
    ProgramWriter writer_;
    std::size_t stamps_ = 0;
    std::vector<std::size_t> left_;                       // by step: operations that are not in the program yet
    std::optional<std::size_t> sdp_tables_, cdp_tables_;  // the step whose tables are in the unit
    Sequence::Operations looking_up_;                     // those that may still read it
};

}  // namespace

HostAction host_action(std::size_t number, std::size_t steps)
{
    using Kind = HostAction::Kind;
    if (number == kActions * steps) return {Kind::ImageDone, 0};
    return {number % kActions == 0 ? Kind::Compute : Kind::Look, number / kActions};
}

std::optional<std::size_t> NetworkMarks::step_of(std::size_t entry) const
{
    const auto end = std::upper_bound(ends.begin(), ends.end(), std::pair{entry, SIZE_MAX});
    return end == ends.end() ? std::nullopt : std::optional(end->second);
}

std::vector<std::size_t> steps_over(const NetworkPlan& plan) { return Writer(plan, 1, false, false).write().over; }
NetworkProgram network_program(const NetworkPlan& plan, bool apart) { return Writer(plan, plan.image_count, apart, true).write(); }

}  // namespace dlasim
