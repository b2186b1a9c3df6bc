#include "lowering/cut/pool_rows.h"

#include <algorithm>

#include "base/expects.h"

namespace dlasim {
namespace {

PoolAxis touching(const PoolAxis& axis, const TouchedElements& touched)
{
    return {axis.kernel, axis.stride, touched.before, touched.after};
}

PlannedPass rows_of_pool(const PlannedPass& whole, std::uint32_t first, std::uint32_t count, const Hardware& hw, const std::string& where)
{
    const PoolGeometry& all = whole.pool->geometry;
    const PoolAxis &x = whole.pool->pool.x, &y = whole.pool->pool.y;
    const TouchedElements lines = touched_elements(y, all.height, first, count);
    PlannedPass planned = whole;
    PoolPass& pool = *planned.pool;
    pool.pool.x = touching(x, touched_elements(x, all.width, 0, all.out_width));
    pool.pool.y = touching(y, lines);
    pool.pool.ceil = false;
    const CubeSize of{.width = all.width, .height = lines.count(), .channels = pool.channels};
    pool.geometry = size_pool(pool.pool, of, pool.precision, false, hw).or_refused(where);
    DLASIM_EXPECTS(pool.geometry.out_height == count && pool.geometry.out_width == all.out_width);
    pool.geometry.strides = all.strides;
    const std::uint64_t from = lines.begin * pool.source_strides.line, to = first * all.strides.line;
    planned.address.input += from;
    pool.source.address += from;
    planned.address.output += to;
    pool.target.address += to;
    planned.pass.height = planned.fetched_lines = lines.count();
    planned.first_row = first;
    planned.rows = count;
    planned.reads = {.lines = {lines.begin, lines.count()}};
    planned.writes = {.lines = {first, count}};
    return planned;
}

}  // namespace

std::vector<PlannedPass> pool_in_rows(const PlannedPass& whole, std::uint32_t rows, const Hardware& hardware, const std::string& where)
{
    DLASIM_EXPECTS(whole.pool && !whole.pool->flying && rows != 0);
    const std::uint32_t made = whole.pool->geometry.out_height;
    if (rows >= made) return {whole};
    std::vector<PlannedPass> parts;
    for (std::uint32_t first = 0; first < made; first += rows)
        parts.push_back(rows_of_pool(whole, first, std::min(rows, made - first), hardware, where));
    return parts;
}

}  // namespace dlasim
