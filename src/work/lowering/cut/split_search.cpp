// The cheapest of the ways to cut a pass: rows, kernels, columns and phases of the dilation, with and without keeping the weights.
#include <algorithm>
#include <set>
#include <tuple>

#include "facts/abilities.h"
#include "lowering/cut/known_cuts.h"
#include "lowering/cut/split_cost.h"
#include "lowering/cut/strips.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMaxStrips = 8;  // columns next to each other
constexpr std::size_t kMaxWeighed = 2'000'000, kMaxWeighedCoarsely = 200'000,
                      kMaxPartsCoarsely = 512;  // parts of all ways together: what remains is not tried

constexpr std::uint32_t kMaxUneven = 8;  // parts of a group that need not be equal
constexpr double kSurely = 0.98;         // an estimate of this part of another one is of a better way
constexpr double kLikely = 1.08;         // an estimate this much above the least one may be of the best way
constexpr std::size_t kMostLikely = 8;

constexpr std::uint32_t kEveryCount = 3;  // beyond this number of parts not every number is tried where time counts

/// From all to `least`: the limit per part for each number of parts.
std::vector<std::uint32_t> sizes(std::uint32_t all, std::uint32_t least, bool coarsely)
{
    std::set<std::uint32_t, std::greater<>> set;
    for (std::uint32_t parts = 1; parts <= ceil_div(all, least); parts += coarsely ? ceil_div(parts, kEveryCount) : 1)
        set.insert(std::min(all, round_up(ceil_div(all, parts), least)));
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
        if (wish_.way) return by(*wish_.way);
        KnownCuts* const known = KnownCuts::current();
        const std::string key = known ? key_of(whole_, wish_, by_kernels_) : std::string();
        if (const CutWay* way = known ? known->find(key) : nullptr) {
            found_ = *way;
            return by(*way);
        }
        if (wish_.early.cycles != 0) take_usual();
        search();
        const bool one = runs_in_one();
        if (best_) found_.whole = one;
        if (known && best_) {
            known->add(key, found_);
        }
        if (one) return Split{};
        return std::move(best_);
    }

    std::vector<CutWay> likely()
    {
        likely_.emplace();
        search();
        std::vector<CutWay> ways;
        if (!best_) return ways;
        if (runs_in_one()) found_.whole = true;
        ways.push_back(found_);
        for (const Likely& way : *likely_)
            if (way.cycles <= kLikely * std::get<0>(least_) && ways.size() < kMostLikely && !(way.way == found_) &&
                !(found_.whole && way.parts.size() == 1))
                ways.push_back(way.way);
        return ways;
    }

private:
    struct Likely {
        double cycles = 0;
        CutWay way;
        std::vector<Part> parts;
        std::size_t strips = 0;
    };

    /// First the tiling that is best without an early fetch: others must be better by what the estimate is worth. Where the first part is
    /// fetched early fewer parts would do, but the next step begins with what all but the last one have written.
    void take_usual()
    {
        Partition wish = wish_;
        wish.early = {};
        Search otherwise(whole_, hw_, wish, by_kernels_, where_);
        if (!otherwise.best()) return;
        const CutWay& way = otherwise.found_;
        try_strips(way.columns, way.phases, {way.kernels}, {way.rows}, way.keeps_weights);
        if (!best_) return;
        std::get<0>(least_) *= kSurely;
        if (wish_.early.handed_on) least_parts_ = best_->parts.size();
    }

    std::optional<Split> by(const CutWay& way)
    {
        if (way.whole) return Split{};
        try_strips(way.columns, way.phases, {way.kernels}, {way.rows}, way.keeps_weights);
        return std::move(best_);
    }

    /// What runs in one part is not cut.
    bool runs_in_one() const { return best_ && best_->parts.size() == 1 && whole(); }

    void search()
    {
        const std::uint32_t group = hw_.kernel_group(whole_.precision);
        try_columns(by_kernels_ ? sizes(whole_.kernels, group, coarsely()) : std::vector{whole_.kernels});
        if (best_ || !by_kernels_ || whole_.pool) return;
        // Less than a group is less than an atom: only where nothing else fits. Parts of an atom are put together (packing.h).
        for (std::uint32_t parts = 2; parts <= group; parts = parts < kMaxUneven ? parts + 1 : 2 * parts)
            if (const std::uint32_t kernels = ceil_div(group, parts); kernels < whole_.kernels) try_columns({kernels});
    }

    void try_columns(const std::vector<std::uint32_t>& kernels)
    {
        const std::uint32_t columns = made_columns(whole_);
        std::uint32_t last = 0;
        for (std::uint32_t strips = 1; strips <= std::min(columns, kMaxStrips); strips += coarsely() ? ceil_div(strips, kEveryCount) : 1) {
            const std::uint32_t most = whole_.batch > 1 ? round_up(ceil_div(columns, strips), 2u) : ceil_div(columns, strips);
            if (most == last) continue;
            // Columns of pixels begin inside of atoms, which no descriptor of NVIDIA's driver says: only where rows do not do.
            if (strips > 1 && wish_.own_lines && whole_.mode == PassMode::Image && best_) break;
            last = most;
            for (const bool phases : {false, true})
                if (!phases || (whole_.kernel_height != 1 && whole_.dilation.y != 1)) try_strips(most, phases, kernels, {});
        }
    }

    /// The pass as it is.
    bool whole() const
    {
        const Fit<SplitFrame> frame = frame_of(one_strip(whole_));
        return frame && whole_fits(*frame);
    }

    /// What every network is planned with: in a part of the time.
    bool coarsely() const { return wish_.minimise == Minimise::Balanced; }
    Fit<SplitFrame> frame_of(std::vector<Strip> strips) const
    {
        return split_frame(whole_, std::move(strips), hw_, wish_, by_kernels_, where_);
    }

    /// [spec] open_points.md R1: a stripe of a single place of pixels with four channel slices or more is summed wrongly in silicon.
    bool sums_wrongly(const std::vector<Strip>& strips) const
    {
        const facts::Abilities can = facts::abilities(hw_);
        if (!can.short_slice_count || whole_.mode != PassMode::Image) return false;
        if (ceil_div(whole_.kernel_width * whole_.channels, hw_.mac.atomic_c) < 4) return false;
        return std::any_of(strips.begin(), strips.end(), [&](const Strip& s) { return s.columns % can.longest_pixel_stripe == 1; });
    }

    /// `rows`: the limit per part; none: all that make another number of parts.
    void try_strips(std::uint32_t columns, bool phases, const std::vector<std::uint32_t>& kernels, const std::vector<std::uint32_t>& rows,
                    std::optional<bool> keeps_weights = std::nullopt)
    {
        std::optional<std::vector<Strip>> cut = cut_strips(whole_, hw_, columns, phases);
        if (!cut || cut->size() > kMaxParts || (cut->size() > 1 && sums_wrongly(*cut))) return;
        const Fit<SplitFrame> frame = frame_of(*std::move(cut));
        if (!frame) return;
        for (const std::uint32_t most_kernels : kernels)
            for (const std::uint32_t most_rows : rows.empty() ? sizes(frame->most_rows(), frame->tile(), coarsely()) : rows) {
                // Beyond this number of rows all have more parts.
                if (!worth(*frame, most_kernels, most_rows)) break;
                try_parts(
                    *frame,
                    {.columns = columns, .phases = phases, .kernels = most_kernels, .rows = most_rows, .keeps_weights = keeps_weights});
            }
    }

    /// Such parts could cost less than the best ones.
    bool worth(const SplitFrame& frame, std::uint32_t most_kernels, std::uint32_t most_rows) const
    {
        if (!best_) return true;
        std::uint64_t row_parts = 0;
        for (const Strip& strip : frame.strips) row_parts += ceil_div(strip.made_rows, most_rows);
        const Order bound = order_of(least_cost(frame, row_parts, ceil_div(whole_.kernels, most_kernels)), 0);
        return bound < least_ || (likely_ && std::get<0>(bound) <= kLikely * std::get<0>(least_));
    }

    void try_parts(const SplitFrame& frame, CutWay way)
    {
        const std::vector<KernelPart> kernels = cut_kernels(frame, way.kernels);
        const std::size_t most_parts = coarsely() ? kMaxPartsCoarsely : kMaxParts;
        if (kernels.size() > most_parts) return;
        const std::vector<RowPart> rows = cut_rows(frame, way.rows, frame.room_of(frame.banks), kernels, most_parts / kernels.size());
        if (rows.empty() || weighed_ + rows.size() * kernels.size() > (coarsely() ? kMaxWeighedCoarsely : kMaxWeighed)) return;
        const std::optional<bool> asked = way.keeps_weights;
        for (const bool reuse_weights : {true, false}) {
            if (asked && *asked != reuse_weights) continue;
            way.keeps_weights = reuse_weights;
            const std::vector<Part> parts = ordered_parts(frame, rows, kernels, {.data = true, .weights = reuse_weights});
            weighed_ += parts.size();
            if (parts.size() < least_parts_ || parts.size() > kMaxParts || !masks_fit(frame, parts)) continue;
            const std::optional<Banks> banks = allocate_banks(frame, parts, bank_need(frame, parts, true));
            if (!banks) continue;
            const SplitCost cost = split_cost(frame, parts, *banks);
            const Order order = order_of(cost, parts.size());
            if (likely_) keep_likely({static_cast<double>(cost.cycles), way, parts, frame.strips.size()});
            if (best_ && order >= least_) continue;
            least_ = order;
            best_ = Split{parts, static_cast<std::uint32_t>(banks->data), static_cast<std::uint32_t>(banks->weights), frame.strips};
            found_ = way;
        }
    }

    /// The best ones, each once, in their order.
    void keep_likely(Likely way)
    {
        const auto same = [&](const Likely& other) { return other.strips == way.strips && other.parts == way.parts; };
        if (std::any_of(likely_->begin(), likely_->end(), same)) return;
        const auto at =
            std::upper_bound(likely_->begin(), likely_->end(), way.cycles, [](double c, const Likely& l) { return c < l.cycles; });
        likely_->insert(at, std::move(way));
        if (likely_->size() > kMostLikely) likely_->pop_back();
    }

    using Order = std::tuple<double, std::uint64_t, std::size_t>;  // the least one is best
    Order order_of(const SplitCost& cost, std::size_t parts) const
    {
        const auto cycles = static_cast<double>(cost.cycles), bytes = static_cast<double>(cost.bytes);
        switch (wish_.minimise) {
            case Minimise::Traffic:
                return {bytes, cost.cycles, parts};
            case Minimise::Balanced:
                return {balanced_cost(cycles, bytes + static_cast<double>(written_)), cost.cycles, parts};
            case Minimise::Parts:
            case Minimise::Cycles:
                break;
        }
        return {cycles, cost.bytes, parts};
    }

    const Pass& whole_;
    const Hardware& hw_;
    const Partition& wish_;
    const bool by_kernels_;
    const std::string& where_;
    std::size_t weighed_ = 0, least_parts_ = 0;
    std::optional<Split> best_;
    CutWay found_;                               // that cuts it so
    std::optional<std::vector<Likely>> likely_;  // none: only the best is looked for
    Order least_;
    const std::uint64_t written_ = std::uint64_t{made_columns(whole_)} * made_rows(whole_) * whole_.kernels * whole_.batch;
};

}  // namespace

std::vector<CutWay> likely_ways(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels,
                                const std::string& where)
{
    return Search(whole, hardware, partition, by_kernels, where).likely();
}

std::optional<Split> cheapest_split(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels,
                                    const std::string& where)
{
    return Search(whole, hardware, partition, by_kernels, where).best();
}

}  // namespace dlasim
