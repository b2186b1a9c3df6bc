// A partition of its own: tries every cut of the kernels with every number of data banks, first without strips.
#include <algorithm>
#include <bit>
#include <tuple>

#include "lowering/cut/part_banks.h"
#include "lowering/cut/part_order.h"
#include "lowering/cut/strips.h"

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
    if (kernels.size() * frame.strips.size() > kMaxParts) return;
    for (std::uint64_t data = frame.banks; data > 0; --data) {
        const std::vector<RowPart> rows = cut_rows(frame, frame.most_rows(), frame.room_of(data), kernels, kMaxParts / kernels.size());
        const std::uint64_t count = rows.size() * kernels.size();
        if (count == 0 || count > kMaxParts || (best && count > best->split.parts.size())) return;
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

/// Parts of whole groups of kernels.
void try_groups(const SplitFrame& frame, std::optional<Candidate>& best)
{
    const Pass& p = frame.pass;
    try_kernels(frame, p.kernels, best);
    // Fewer, where not all kernels of a strip's parts stay for the next one.
    const std::uint32_t group = frame.hw.kernel_group(p.precision);
    for (std::uint32_t kernels = group; frame.by_kernels && frame.strips.size() > 1 && kernels < p.kernels; kernels *= 2)
        try_kernels(frame, kernels, best);
}

/// The strips of a pass, the fewest first: they fetch halos twice, and phases of the dilation their kernels.
class StripSearch {
public:
    StripSearch(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels, const std::string& where)
        : whole_(whole), hw_(hardware), partition_(partition), by_kernels_(by_kernels), where_(where), columns_(made_columns(whole))
    {
    }

    Fit<SplitFrame> frame_of(std::vector<Strip> strips) const
    {
        return split_frame(whole_, std::move(strips), hw_, partition_, by_kernels_, where_);
    }
    /// What `parts_of` (frame, candidate) finds with the fewest strips; a split without parts if all fits as it is.
    template <class PartsOf>
    std::optional<Split> fewest(const PartsOf& parts_of) const
    {
        for (std::uint32_t strips = 1; strips <= columns_; strips += ceil_div(strips, kFinely)) {
            std::optional<Candidate> best;
            for (const bool phases : {false, true}) {
                if (phases && (best || whole_.kernel_height == 1 || whole_.dilation.y == 1)) continue;
                // Batches are written in pairs of places.
                const std::uint32_t wide = ceil_div(columns_, strips);
                std::optional<std::vector<Strip>> cut = cut_strips(whole_, hw_, whole_.batch > 1 ? round_up(wide, 2u) : wide, phases);
                if (!cut || cut->size() > kMaxParts) continue;
                const Fit<SplitFrame> frame = frame_of(*std::move(cut));
                if (!frame) continue;  // narrower ones may
                if (whole_fits(*frame)) return Split{};
                parts_of(*frame, best);
            }
            if (best) return best->split;
        }
        return std::nullopt;
    }

private:
    const Pass& whole_;
    const Hardware& hw_;
    const Partition& partition_;
    const bool by_kernels_;
    const std::string& where_;
    const std::uint32_t columns_;
};

}  // namespace

Split automatic_split(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels, const std::string& where)
{
    const StripSearch search(whole, hardware, partition, by_kernels, where);
    if (const std::optional<Split> split = search.fewest(try_groups)) return *split;
    // Less than a group is less than an atom of the output and leaves cells of the array idle: only where nothing else fits. Parts of an
    // atom are put together (packing.h).
    const std::uint32_t group = std::min(whole.kernels, hardware.kernel_group(whole.precision));
    std::optional<Split> least;
    for (std::uint32_t kernels = std::bit_floor(group - 1); by_kernels && !whole.pool && kernels > 0; kernels /= 2) {
        const auto parts_of = [&](const SplitFrame& frame, std::optional<Candidate>& best) {
            if (frame.by_kernels) try_kernels(frame, kernels, best);
        };
        std::optional<Split> split = search.fewest(parts_of);
        if (split && (!least || split->parts.size() < least->parts.size())) least = std::move(split);
    }
    if (least) return *std::move(least);
    const SplitFrame frame = search.frame_of(one_strip(whole)).or_refused(where);
    const auto text = [](std::uint64_t number) { return std::to_string(number); };
    const Geometry& g = frame.geometry;
    frame.refuse("", "does not fit the CBUF in any partition by rows, columns and kernels: one row of output takes " +
                         text(g.entries / g.entries_per_slice) + " lines of " + text(frame.line_entries.front().count()) +
                         " entries, one group of kernels " + text(group * g.kernel_bytes) + " bytes, expected at most " +
                         text(frame.banks) + " banks of " + text(frame.bank_bytes) + " bytes together and at most " + text(kMaxParts) +
                         " parts");
}

}  // namespace dlasim
