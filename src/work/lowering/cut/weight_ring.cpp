#include "lowering/cut/weight_ring.h"

#include <algorithm>

#include "base/bits.h"
#include "facts/cdma.h"

namespace dlasim {
namespace {

}  // namespace

GroupEnds group_ends(const Hardware& hardware, Precision precision, Kernels kernels, std::uint64_t kernel)
{
    GroupEnds ends;
    const std::uint32_t group = hardware.kernel_group(precision);
    for (std::uint32_t done = 0; done < kernels.count(); done += group) ends.push_back(kernel * std::min(done + group, kernels.count()));
    return ends;
}

std::uint64_t ring_entries(const Hardware& hardware, const GroupEnds& ends, std::uint64_t entry)
{
    const std::uint64_t atoms = hardware.atoms_per_entry(), total = ceil_div<std::uint64_t>(ends.back(), entry);
    const std::uint64_t slack = facts::cdma::of(hardware).weight_slack / atoms;
    std::uint64_t most = 0, released = 0;
    for (const std::uint64_t end : ends) {
        const std::uint64_t entries = ceil_div<std::uint64_t>(end, entry);
        const std::uint64_t fetched =
            std::min(ceil_div<std::uint64_t>(entries * atoms, facts::cdma::kBurstAtoms) * facts::cdma::kBurstAtoms, total * atoms);
        const std::uint64_t held = fetched - released * atoms;
        most = std::max({most, entries - released, ceil_div<std::uint64_t>(held - std::min(held, slack), atoms)});
        released = entries;
    }
    return most;
}

std::uint64_t weight_banks(const Hardware& hardware, const GroupEnds& ends)
{
    return std::max<std::uint64_t>(
        1, ceil_div<std::uint64_t>(ring_entries(hardware, ends, hardware.cbuf.entry_bytes), hardware.cbuf.bank_depth));
}

bool mask_fits(const Hardware& hardware, const GroupEnds& ends)
{
    return ring_entries(hardware, ends, std::uint64_t{hardware.cbuf.entry_bytes} * 8) <= hardware.cbuf.bank_depth;
}

}  // namespace dlasim
