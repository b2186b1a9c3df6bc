#include "network/handed_on.h"

#include <algorithm>

#include "base/bits.h"
#include "lowering/cut/pool_rows.h"

namespace dlasim {
namespace {

// Cycles of an operation, operations of a step, lines for each that the next operation reads again.
constexpr std::uint64_t kCycles = 2500, kMostOperations = 16;
constexpr std::uint32_t kLinesForOneAgain = 8;

std::uint32_t rows_of_operation(std::uint32_t rows, std::uint64_t cycles)
{
    const std::uint64_t operations = std::min(cycles / kCycles, kMostOperations);
    return operations < 2 ? rows : ceil_div(rows, static_cast<std::uint32_t>(operations));
}

}  // namespace

void hand_on_rows(std::vector<LrnPass>& passes, std::uint64_t cycles)
{
    LrnPass pass = passes.front();
    const std::uint32_t height = pass.lrn.height, rows = rows_of_operation(height, cycles);
    passes.clear();
    for (; pass.first_line < height; pass.first_line += rows) {
        pass.lrn.height = std::min(rows, height - pass.first_line);
        passes.push_back(pass);
    }
}

void hand_on_rows(LayerPlan& planned, const Layer& layer, const Hardware& hardware)
{
    if (planned.passes.size() != 1) return;
    const PoolAxis& y = layer.pool->y;
    const std::uint32_t again = y.kernel - std::min(y.kernel, y.stride), least = ceil_div(kLinesForOneAgain * again, y.stride);
    const std::uint32_t rows = rows_of_operation(planned.passes.front().rows, largest(unit_bounds(planned, layer, hardware)));
    planned.passes = pool_in_rows(planned.passes.front(), std::max(rows, least), hardware, layer.file);
}

}  // namespace dlasim
