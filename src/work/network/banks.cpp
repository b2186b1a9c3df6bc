#include "network/banks.h"

#include <algorithm>
#include <optional>

#include "base/bits.h"
#include "lowering/cut/part_banks.h"
#include "lowering/cut/weight_ring.h"
#include "network/plan.h"

namespace dlasim {
namespace {

/// Groups of kernels in the buffer: the array has one while the next one comes.
constexpr std::uint64_t kGroups = 2;

/// What steps take, and the fewest banks that do for their weights.
struct SharedBanks {
    std::uint64_t data = 0, weights = 0, least_weights = 0;
    bool asked = false;  // the network says so
};

std::uint64_t least_weights(const PlannedPass& planned, const Hardware& hw)
{
    const Pass& p = planned.pass;
    const Geometry& g = planned.geometry;
    const std::uint64_t bank = std::uint64_t{hw.cbuf.bank_depth} * hw.cbuf.entry_bytes;
    const std::uint64_t in_use =
        p.reuse.keep_weights ? g.weight_bytes : std::min(g.weight_bytes, kGroups * hw.kernel_group(p.precision) * g.kernel_bytes);
    const std::uint64_t group = weight_banks(hw, group_ends(hw, p.precision, Kernels{p.kernels}, g.kernel_bytes));
    return std::min<std::uint64_t>(g.weight_banks, std::max(group, ceil_div(in_use, bank)));
}

bool asked(const Partition& cut) { return !cut.automatic && (cut.data_banks != 0 || cut.weight_banks != 0); }

SharedBanks banks_of(const StepPlan& step, const Hardware& hw)
{
    SharedBanks banks{.asked = asked(step.machine.partition)};
    for (const PlannedPass& pass : step.passes) {
        banks.data = std::max<std::uint64_t>(banks.data, pass.geometry.data_banks);
        banks.weights = std::max<std::uint64_t>(banks.weights, pass.geometry.weight_banks);
        banks.least_weights = std::max(banks.least_weights, least_weights(pass, hw));
    }
    return banks;
}

/// Of both; none if they cannot have the same.
std::optional<SharedBanks> shared(const SharedBanks& a, const SharedBanks& b, std::uint64_t all)
{
    const SharedBanks most{std::max(a.data, b.data), std::max(a.weights, b.weights), std::max(a.least_weights, b.least_weights)};
    if (!a.asked && !b.asked) return most.data + most.least_weights <= all ? std::optional(most) : std::nullopt;
    const SharedBanks& given = a.asked ? a : b;
    if (most.data > given.data || most.least_weights > given.weights) return {};
    if (a.asked && b.asked && a.weights != b.weights) return {};
    return given;
}

class Sharing {
public:
    Sharing(NetworkPlan& plan, bool noted) : p_(plan), noted_(noted) {}

    void share()
    {
        for (std::size_t i = 0; i < p_.plans.size(); ++i) {
            if (p_.steps.list[i].unit == StepUnit::Host) close();
            if (p_.steps.list[i].unit == StepUnit::Array) add(i);
        }
        close();
    }

private:
    void add(std::size_t i)
    {
        const StepPlan& step = p_.plans[i];
        const bool pixels = step.mode == "image";
        if ((step.mode != "direct" && !pixels) || !step.packing.empty() || step.contraction) return close();
        const SharedBanks own = banks_of(step, p_.hardware);
        if (pixels) {
            close();
            if (wraps_safely(step.passes.front().pass, p_.hardware)) pixels_ = {i, own};
            return;
        }
        std::optional<SharedBanks> with = steps_.empty() ? own : shared(banks_, own, p_.hardware.cbuf.banks);
        if (with && !steps_.empty() && !p_.decide(p_.steps.list[i].layer, PlanDecision::SharedBanks, true)) with = std::nullopt;
        if (!with) close();
        banks_ = with.value_or(own);
        steps_.push_back(i);
    }

    void close()
    {
        if (pixels_ && !steps_.empty()) join_pixels();
        const std::uint64_t weights = std::min(p_.hardware.cbuf.banks - banks_.data, banks_.weights);
        for (const std::size_t i : steps_)
            if (steps_.size() > 1 && !asked(p_.plans[i].machine.partition)) give(i, banks_.data, weights);
        steps_.clear();
        pixels_.reset();
    }

    /// A step of pixels takes the banks of the steps after it, if these lose none of their weights.
    void join_pixels()
    {
        const auto& [step, own] = *pixels_;
        const std::uint64_t all = p_.hardware.cbuf.banks, data = std::max(own.data, banks_.data),
                            weights = std::max(own.least_weights, std::min(all - banks_.data, banks_.weights));
        if (own.asked || banks_.asked || data + weights > all) return;
        banks_.data = data;
        banks_.weights = weights;
        steps_.insert(steps_.begin(), step);
    }

    void give(std::size_t i, std::uint64_t data, std::uint64_t weights)
    {
        const auto set = [&](auto& banks) {
            banks.data_banks = static_cast<std::uint32_t>(data);
            banks.weight_banks = static_cast<std::uint32_t>(weights);
        };
        for (PlannedPass& pass : p_.plans[i].passes) {
            set(pass.pass);
            set(pass.geometry);
        }
        Partition& given = p_.network.layers[p_.steps.list[i].layer].layer.partition;
        if (noted_ && !given.automatic && given.on()) set(given);
    }

    NetworkPlan& p_;
    const bool noted_;
    std::vector<std::size_t> steps_;  // that have the same
    SharedBanks banks_;
    std::optional<std::pair<std::size_t, SharedBanks>> pixels_;  // a step of pixels before them
};

}  // namespace

void share_banks(NetworkPlan& plan, bool noted) { Sharing(plan, noted).share(); }

}  // namespace dlasim
