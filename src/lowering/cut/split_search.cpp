// The cheapest of the ways to cut a pass: rows, kernels, columns and phases of the dilation, with and without keeping the weights.
#include <algorithm>
#include <set>
#include <tuple>

#include "lowering/cut/split_cost.h"
#include "lowering/cut/strips.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMaxStrips = 8;         // columns next to each other
constexpr std::size_t kMaxWeighed = 2'000'000;  // parts of all ways together: what remains is not tried

/// From all to `least`, for each number of parts that they make: so many at most in a part.
std::vector<std::uint32_t> sizes(std::uint32_t all, std::uint32_t least)
{
    std::set<std::uint32_t, std::greater<>> set;
    for (std::uint32_t parts = 1; parts <= ceil_div(all, least); ++parts) set.insert(std::min(all, round_up(ceil_div(all, parts), least)));
    return {set.begin(), set.end()};
}

class Search {
public:
    Search(const Pass& whole, const Hardware& hw, const Partition& wish, bool by_kernels, const std::string& where)
        : whole_(whole), hw_(hw), wish_(wish), by_kernels_(by_kernels), where_(where)
    {
    }

    std::optional<Split> best()
    {
        const std::uint32_t columns = output_columns(whole_);
        std::uint32_t last = 0;
        for (std::uint32_t strips = 1; strips <= std::min(columns, kMaxStrips); ++strips) {
            const std::uint32_t most = whole_.batch > 1 ? round_up(ceil_div(columns, strips), 2u) : ceil_div(columns, strips);
            if (most == last) continue;
            last = most;
            for (const bool phases : {false, true})
                if (!phases || (whole_.kernel_height != 1 && whole_.dilation.y != 1)) try_strips(most, phases);
        }
        // What runs in one part is not cut.
        if (best_ && best_->parts.size() == 1)
            if (const Fit<SplitFrame> frame = frame_of(one_strip(whole_)); frame && whole_fits(*frame)) return Split{};
        return std::move(best_);
    }

private:
    Fit<SplitFrame> frame_of(const std::vector<Strip>& strips) const
    {
        return split_frame(whole_, strips, hw_, wish_, by_kernels_, where_);
    }

    void try_strips(std::uint32_t columns, bool phases)
    {
        const std::optional<std::vector<Strip>> cut = cut_strips(whole_, hw_, columns, phases);
        if (!cut || cut->size() > kMaxParts) return;
        const Fit<SplitFrame> frame = frame_of(*cut);
        if (!frame) return;
        const std::uint32_t group = hw_.kernel_group(whole_.precision);
        for (const std::uint32_t kernels : by_kernels_ ? sizes(whole_.kernels, group) : std::vector{whole_.kernels})
            for (const std::uint32_t rows : sizes(frame->most_rows(), frame->tile())) try_parts(*frame, kernels, rows);
    }

    void try_parts(const SplitFrame& frame, std::uint32_t most_kernels, std::uint32_t most_rows)
    {
        const std::vector<KernelPart> kernels = cut_kernels(frame, most_kernels);
        const std::vector<RowPart> rows = cut_rows(frame, most_rows, frame.room_of(frame.banks), kernels, kMaxParts / kernels.size());
        if (rows.empty() || weighed_ + rows.size() * kernels.size() > kMaxWeighed) return;
        for (const bool reuse_weights : {true, false}) {
            const std::vector<Part> parts = ordered_parts(frame, rows, kernels, {.data = true, .weights = reuse_weights});
            weighed_ += parts.size();
            if (parts.size() > kMaxParts || !masks_fit(frame, parts)) continue;
            const std::optional<Banks> banks = allocate_banks(frame, parts, bank_need(frame, parts, true));
            if (!banks) continue;
            const SplitCost cost = split_cost(frame, parts, *banks);
            const auto order = frame.wish.minimise == Minimise::Traffic ? std::tuple(cost.bytes, cost.cycles, parts.size())
                                                                        : std::tuple(cost.cycles, cost.bytes, parts.size());
            if (best_ && order >= least_) continue;
            least_ = order;
            best_ = Split{parts, static_cast<std::uint32_t>(banks->data), static_cast<std::uint32_t>(banks->weights), frame.strips};
        }
    }

    const Pass& whole_;
    const Hardware& hw_;
    const Partition& wish_;
    const bool by_kernels_;
    const std::string& where_;
    std::size_t weighed_ = 0;
    std::optional<Split> best_;
    std::tuple<std::uint64_t, std::uint64_t, std::size_t> least_;
};

}  // namespace

std::optional<Split> cheapest_split(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels,
                                    const std::string& where)
{
    return Search(whole, hardware, partition, by_kernels, where).best();
}

}  // namespace dlasim
