// A partition of its own: tries every cut of the kernels with every number of data banks, first without strips.
#include <algorithm>
#include <bit>
#include <tuple>

#include "lowering/part_banks.h"
#include "lowering/part_order.h"
#include "lowering/strips.h"

namespace dlasim {
namespace {

struct Candidate {
    Split split;
    std::uint64_t bytes = 0;
    auto cost() const { return std::tuple(split.parts.size(), bytes); }
};

/// Beyond this number of strips not every number is tried, but steps of this part of it.
constexpr std::uint32_t kFinely = 8;

void try_kernels(const SplitFrame& frame, std::uint32_t most, std::optional<Candidate>& best)
{
    const std::vector<KernelPart> kernels = cut_kernels(frame, most);
    if (kernels.size() * frame.strips.size() > kMostParts) return;
    for (std::uint64_t data = frame.banks; data > 0; --data) {
        const std::vector<RowPart> rows = cut_rows(frame, frame.most_rows(), frame.room_of(data), kernels, kMostParts / kernels.size());
        const std::uint64_t count = rows.size() * kernels.size();
        if (count == 0 || count > kMostParts || (best && count > best->split.parts.size())) return;
        for (const bool reuse_weights : {true, false}) {
            const std::vector<Part> parts = ordered_parts(frame, rows, kernels, {.data = true, .weights = reuse_weights});
            if (!masks_fit(frame, parts)) continue;
            const std::optional<Banks> banks = allocate_banks(frame, parts, bank_need(frame, parts, true));
            if (!banks) continue;
            Candidate candidate{{parts, static_cast<std::uint32_t>(banks->data), static_cast<std::uint32_t>(banks->weights), frame.strips},
                                fetched_bytes(frame, parts)};
            if (!best || candidate.cost() <= best->cost()) best = std::move(candidate);
            break;
        }
    }
}

/// Everything that these strips allow.
void try_strips(const SplitFrame& frame, std::optional<Candidate>& best)
{
    const Pass& p = frame.pass;
    const std::uint32_t group = std::min(p.kernels, frame.hw.kernel_group(p.precision));
    std::optional<Candidate> found;
    try_kernels(frame, p.kernels, found);
    // Whole groups, where not all kernels of a strip's parts stay for the next one.
    for (std::uint32_t kernels = group; frame.by_kernels && frame.strips.size() > 1 && kernels < p.kernels; kernels *= 2)
        try_kernels(frame, kernels, found);
    // Less than a group is less than an atom of the output: only where nothing else fits. Parts of an atom are put together (packing.h).
    for (std::uint32_t kernels = found ? 0 : std::bit_floor(group - 1); frame.by_kernels && kernels > 0; kernels /= 2)
        try_kernels(frame, kernels, found);
    if (found && (!best || found->cost() < best->cost())) best = std::move(found);
}

}  // namespace

Split automatic_split(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels, const std::string& where)
{
    const auto frame_of = [&](const std::vector<Strip>& strips) {
        return split_frame(whole, strips, hardware, partition, by_kernels, where);
    };
    std::optional<Candidate> best;
    std::string problem;
    const std::uint32_t columns = output_columns(whole);
    // Strips fetch halos twice, phases their kernels: the fewest that fit.
    for (std::uint32_t strips = 1; !best && strips <= columns; strips += ceil_div(strips, kFinely))
        for (const bool phases : {false, true}) {
            if (phases && (whole.kernel_height == 1 || whole.dilation.y == 1)) continue;
            // Batches are written in pairs of places.
            const std::uint32_t most = whole.batch > 1 ? round_up(ceil_div(columns, strips), 2u) : ceil_div(columns, strips);
            const std::optional<std::vector<Strip>> cut = cut_strips(whole, hardware, most, phases);
            if (!cut || cut->size() > kMostParts || (phases && best)) continue;
            try {
                const SplitFrame frame = frame_of(*cut);
                if (whole_fits(frame)) return {};
                try_strips(frame, best);
            } catch (const ConfigError& refusal) {
                if (problem.empty()) problem = refusal.what();
            }
        }
    if (best) return best->split;
    const SplitFrame frame = frame_of(one_strip(whole));  // throws what not even its least part can be
    const auto text = [](std::uint64_t number) { return std::to_string(number); };
    const Geometry& g = frame.geometry;
    const std::uint32_t group = std::min(whole.kernels, hardware.kernel_group(whole.precision));
    frame.refuse("", "does not fit the CBUF in any partition by rows, columns and kernels: one row of output takes " +
                         text(g.entries / g.entries_per_slice) + " lines of " + text(frame.line_entries.front().count()) +
                         " entries, one group of kernels " + text(group * g.kernel_bytes) + " bytes, expected at most " +
                         text(frame.banks) + " banks of " + text(frame.bank_bytes) + " bytes together and at most " + text(kMostParts) +
                         " parts");
}

}  // namespace dlasim
