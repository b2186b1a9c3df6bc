#include "lowering/cut/explicit_partition.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace dlasim {
namespace {

/// Of the first strip, from top to bottom.
std::vector<std::uint32_t> rows_of_parts(const std::vector<PlannedPass>& passes)
{
    const PlannedPass& first = passes.front();
    std::map<std::uint32_t, std::uint32_t> rows;
    for (const PlannedPass& pass : passes)
        if (pass.first_column == first.first_column && pass.first_row % first.row_step == first.first_row % first.row_step)
            rows[pass.first_row] = pass.pool ? pass.pool->geometry.out_height : pass.rows;
    std::vector<std::uint32_t> list;
    list.reserve(rows.size());
    for (const auto& [at, count] : rows) list.push_back(count);
    return list;
}

Partition described(const LayerPlan& plan)
{
    Partition p;
    const std::vector<PlannedPass>& passes = plan.passes;
    const std::vector<std::uint32_t> rows = rows_of_parts(passes);
    const bool even =
        std::adjacent_find(rows.begin(), rows.end() - 1, std::not_equal_to<>()) == rows.end() - 1 && rows.back() <= rows.front();
    if (even) p.rows = rows.front();
    else p.row_list = rows;
    for (const PlannedPass& pass : passes) {
        if (plan.cut.columns) p.columns = std::max(p.columns, pass.pool ? pass.pool->geometry.out_width : pass.geometry.out_width);
        p.pooled = p.pooled || pass.pool;
        if (plan.cut.kernels) p.kernels = std::max(p.kernels, pass.kernels);
        p.reuse_weights = p.reuse_weights || !pass.fetches_weights;
    }
    p.phases = plan.cut.phases;
    p.data_banks = passes.front().geometry.data_banks;
    p.weight_banks = passes.front().geometry.weight_banks;
    p.reuse_data = true;
    return p;
}

bool same_passes(const LayerPlan& a, const LayerPlan& b, const Hardware& hw)
{
    return std::equal(a.passes.begin(), a.passes.end(), b.passes.begin(), b.passes.end(), [&](const PlannedPass& x, const PlannedPass& y) {
        return registers_of(x, {}, hw).writes == registers_of(y, {}, hw).writes;
    });
}

}  // namespace

std::optional<Partition> explicit_partition(const LayerPlan& plan, const Layer& layer, const Hardware& hardware)
{
    if (!plan.partitioned) return {};
    Layer with_partition = layer;
    with_partition.partition = described(plan);
    try {
        if (same_passes(plan, plan_shape(with_partition, hardware), hardware)) return with_partition.partition;
    } catch (const ConfigError&) {
        // An explicit partition is not packed, and has whole groups.
    }
    return {};
}

}  // namespace dlasim
