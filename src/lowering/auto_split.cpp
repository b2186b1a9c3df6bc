// A partition of its own: tries every cut of the kernels with every number of data banks.
#include <algorithm>
#include <tuple>

#include "lowering/part_banks.h"
#include "lowering/part_order.h"

namespace dlasim {
namespace {

struct Candidate {
    Split split;
    std::uint64_t bytes = 0;
};

void try_kernels(const SplitFrame& frame, std::uint32_t most, std::optional<Candidate>& best)
{
    const std::vector<KernelPart> kernels = cut_kernels(frame, most);
    for (std::uint64_t data = frame.banks; data > 0; --data) {
        const std::vector<RowPart> rows = cut_rows(frame, frame.out_height, data * frame.bank_depth / frame.line_entries, kernels);
        const std::uint64_t count = rows.size() * kernels.size();
        if (count == 0 || count > kMostParts || (best && count > best->split.parts.size())) return;
        for (const bool reuse_weights : {true, false}) {
            const std::vector<Part> parts = ordered_parts(frame, rows, kernels, true, reuse_weights);
            if (!masks_fit(frame, parts)) continue;
            const std::optional<Banks> banks = allocate_banks(frame, parts, bank_need(frame, parts, true));
            if (!banks) continue;
            const std::uint64_t bytes = fetched_bytes(frame, parts);
            if (best && std::tuple(parts.size(), bytes) > std::tuple(best->split.parts.size(), best->bytes)) break;
            best = Candidate{{parts, static_cast<std::uint32_t>(banks->data), static_cast<std::uint32_t>(banks->weights), frame.out_height},
                             bytes};
            break;
        }
    }
}

}  // namespace

Split automatic_split(const SplitFrame& frame)
{
    if (whole_fits(frame)) return {};
    const Pass& p = frame.pass;
    const Geometry& g = frame.geometry;
    std::optional<Candidate> best;
    const std::uint32_t group = std::min(p.kernels, frame.hw.kernel_group(p.precision));
    try_kernels(frame, p.kernels, best);
    // Less than a group is less than an atom of the output: only where nothing else fits.
    for (std::uint32_t kernels = best ? 0 : group - 1; frame.by_kernels && kernels > 0; --kernels) try_kernels(frame, kernels, best);
    if (best) return best->split;
    const auto text = [](std::uint64_t number) { return std::to_string(number); };
    frame.refuse("", "does not fit the CBUF in any partition by rows and kernels: one row of output takes " +
                         text(g.entries / frame.line_entries) + " lines of " + text(frame.line_entries) +
                         " entries, one group of kernels " + text(group * g.kernel_bytes) + " bytes, expected at most " +
                         text(frame.banks) + " banks of " + text(frame.bank_bytes) + " bytes together and at most " + text(kMostParts) +
                         " parts");
}

}  // namespace dlasim
