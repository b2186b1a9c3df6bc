#include "app/tried_cut.h"

#include <algorithm>

#include "app/apart.h"
#include "app/interrupt.h"
#include "jobs/job.h"
#include "lowering/cut/parts.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMostCycles = 50'000'000;  // of all tries together, by the array's bound: a second or two

/// From the best one by estimate.
std::vector<CutWay> ways_of(const Layer& layer, const Hardware& hardware)
{
    if (layer.compressed) return {};
    std::vector<CutWay> ways = likely_ways(layer, hardware);
    const std::uint64_t cycles = std::max<std::uint64_t>(1, layer.macs() / hardware.macs_per_cycle(layer.precision));
    if (ways.size() > kMostCycles / cycles) ways.resize(kMostCycles / cycles);
    return ways;
}

}  // namespace

std::vector<Descriptor> possible_cuts(const Descriptor& descriptor, const Hardware& hardware)
{
    std::vector<Descriptor> all;
    if (const Layer* layer = std::get_if<Layer>(&descriptor))
        for (const CutWay& way : ways_of(*layer, hardware)) {
            all.push_back(descriptor);
            std::get<Layer>(all.back()).partition.way = way;
        }
    if (all.empty()) all.push_back(descriptor);
    return all;
}

void try_cuts(Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory)
{
    Layer* layer = std::get_if<Layer>(&descriptor);
    if (!layer) return;
    const std::vector<CutWay> ways = ways_of(*layer, hardware);
    if (ways.size() < 2) return;
    std::optional<std::uint64_t> least;
    std::optional<CutWay> best;
    for (const CutWay& way : ways) {
        if (interrupted()) return;
        Layer tried = *layer;
        tried.partition.way = way;
        const std::optional<std::uint64_t> taken = cycles_apart(layer_outline(tried, hardware, memory), "\"minimise\": \"cycles\"");
        if (!taken || (least && *taken >= *least)) continue;
        least = taken;
        best = way;
    }
    layer->partition.way = best;
}

}  // namespace dlasim
