#include "lowering/split.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "lowering/weight_ring.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMostPadTop = 31;  // what the register holds
constexpr std::uint32_t kTile = 4;         // output rows of a Winograd block
constexpr std::uint32_t kMostParts = 4096;
// [spec] programming.md 4: narrower entries are read in pairs, wrongly so where a line of pixels wraps around the ring.
constexpr std::uint32_t kPairedBelow = 32;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
std::uint64_t align_up(std::uint64_t a, std::uint64_t b) { return divide_up(a, b) * b; }
std::string text(std::uint64_t number) { return std::to_string(number); }

/// Lines of the input in memory, and how many rows of padding CDMA puts above them.
struct Fetch {
    std::uint32_t line = 0, lines = 1, pad_top = 0;
    bool only_padding = false;
};

Fetch fetch_of(const Pass& pass, const RowPart& rows, std::uint32_t begin)
{
    if (pass.mode != PassMode::Winograd) return {begin, rows.end - begin, rows.pad_top, false};
    const std::int64_t first = std::int64_t{begin} * pass.stride.y - pass.pad.top,
                       last = std::int64_t{rows.end} * pass.stride.y - pass.pad.top;
    if (first >= pass.height) return {pass.height - 1, 1, static_cast<std::uint32_t>(last - first), true};
    const auto top = static_cast<std::uint32_t>(std::max<std::int64_t>(0, -first)),
               line = static_cast<std::uint32_t>(std::max<std::int64_t>(0, first));
    if (last <= 0) return {0, 1, top, true};
    return {line, static_cast<std::uint32_t>(std::min<std::int64_t>(pass.height, last)) - line, top, false};
}

enum class Order { KernelsInside, KernelsTurning, RowsInside };

class Splitter {
public:
    Splitter(const Pass& whole, const Hardware& hw, const Partition& partition, bool by_kernels, const std::string& where)
        : p_(whole),
          hw_(hw),
          wish_(partition),
          by_kernels_(by_kernels),
          where_(where + "/partition"),
          g_(smallest(where)),
          depth_(hw.cbuf.bank_depth),
          bank_bytes_(depth_ * hw.cbuf.entry_bytes),
          banks_(hw.cbuf.banks - (whole.compressed.on ? 1 : 0)),
          line_entries_(g_.entries_per_slice * whole.batch),
          out_height_((whole.height + whole.pad.top + whole.pad.bottom - whole.span_y()) / whole.stride.y + 1)
    {
        if (winograd() && out_height_ % kTile != 0)
            throw ConfigError(where,
                              "found an output of " + text(out_height_) + " rows, expected a multiple of 4: Winograd works on tiles");
    }

    Split split() { return wish_.automatic ? automatic() : explicitly(); }

private:
    bool winograd() const { return p_.mode == PassMode::Winograd; }
    std::uint32_t tile() const { return winograd() ? kTile : 1; }
    std::uint64_t banks_of(std::uint64_t lines) const { return divide_up(lines * line_entries_, depth_); }
    [[noreturn]] void refuse(const std::string& key, const std::string& problem) const { throw ConfigError(where_ + key, problem); }

    /// What does not depend on the part: sized with one row of output and one kernel, which must fit.
    Geometry smallest(const std::string& where) const
    {
        Pass p = p_;
        p.compressed = {};
        if (by_kernels_) p.kernels = 1;
        p.data_banks = p.weight_banks = 0;
        p.reuse = {};
        p.reuse.output_rows = tile();
        p.reuse.total_lines = winograd() ? 2 * kTile : std::min(p.height, p.span_y());
        return size_pass(p, hw_, where);
    }

    RowPart rows_of(std::uint32_t first, std::uint32_t count) const
    {
        RowPart part{first, count, first, first + count + kTile, 0, p_.pad.bottom};
        if (winograd()) return part;
        const std::int64_t from = std::int64_t{first} * p_.stride.y - p_.pad.top;
        const std::int64_t to = (std::int64_t{first} + count - 1) * p_.stride.y - p_.pad.top + p_.span_y();
        const std::int64_t height = p_.height;
        if (from >= height) {
            // Below the input. CSC counts rows from the first line it has, so the window must be above one: all of it is padding.
            part.begin = p_.height - 1;
            part.end = p_.height;
            part.pad_top = static_cast<std::uint32_t>(to - from);
            part.pad_bottom = 0;
            return part;
        }
        part.begin = static_cast<std::uint32_t>(std::max<std::int64_t>(0, from));
        part.end = static_cast<std::uint32_t>(std::max<std::int64_t>(1, std::min(height, to)));
        part.pad_top = static_cast<std::uint32_t>(std::max<std::int64_t>(0, -from));
        part.pad_bottom = static_cast<std::uint32_t>(std::max<std::int64_t>(0, to - height));
        return part;
    }

    bool programmable(const RowPart& rows) const { return fetch_of(p_, rows, rows.begin).pad_top <= kMostPadTop; }

    /// [spec] sdp.md 1.6.1, 1.7.2: of a single output place SDP writes the surfaces one after the other, not where those of a higher
    /// cube are; batches stand apart. It reads operands per element likewise, of batches too.
    bool needs_two_rows(const std::vector<KernelPart>& kernels) const
    {
        const std::uint32_t most = kernels.front().count, per_atom = hw_.memory.atom_bytes / p_.element_bytes();
        const bool one_surface = most <= per_atom && g_.out_element_bytes <= p_.element_bytes();
        const bool together = p_.batch == 1 || p_.post.streams_elements();
        return g_.out_width == 1 && out_height_ > 1 && together && !one_surface;
    }

    /// As many rows a part as the limits allow; nothing if the fewest do not fit them.
    std::vector<RowPart> cut(std::uint32_t most_rows, std::uint64_t most_lines, const std::vector<KernelPart>& kernels) const
    {
        const bool two = needs_two_rows(kernels);
        std::vector<RowPart> parts;
        for (std::uint32_t first = 0; first < out_height_; first += parts.back().count) {
            std::optional<RowPart> part;
            const std::uint32_t left = out_height_ - first;
            for (std::uint32_t count = tile(); count <= std::min(most_rows, left); count += tile()) {
                const RowPart longer = rows_of(first, count);
                if (longer.lines() > most_lines || !programmable(longer)) break;
                if (!two || (count != 1 && left - count != 1)) part = longer;
            }
            if (!part) return {};
            parts.push_back(*part);
        }
        return parts;
    }

    /// Nothing can be released of two windows that begin at the same line, so the first one fetches for both.
    static void fetch_ahead(std::vector<RowPart>& rows)
    {
        for (std::size_t i = rows.size() - 1; i-- > 0;)
            if (rows[i].begin == rows[i + 1].begin) rows[i].end = rows[i + 1].end;
    }

    std::vector<KernelPart> cut_kernels(std::uint32_t most) const
    {
        std::vector<KernelPart> parts;
        most = std::min(most, most_kernels(p_, hw_));
        for (std::uint32_t first = 0; first < p_.kernels; first += most) parts.push_back({first, std::min(most, p_.kernels - first)});
        return parts;
    }

    static std::vector<Part> arrange(const std::vector<RowPart>& rows, const std::vector<KernelPart>& kernels, Order order)
    {
        std::vector<Part> parts;
        const auto add = [&](const RowPart& r, const KernelPart& k) {
            parts.emplace_back();
            parts.back().rows = r;
            parts.back().kernels = k;
        };
        if (order == Order::RowsInside) {
            for (const KernelPart& k : kernels)
                for (const RowPart& r : rows) add(r, k);
            return parts;
        }
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t k = 0; k < kernels.size(); ++k)
                add(rows[r], order == Order::KernelsTurning && r % 2 == 1 ? kernels[kernels.size() - 1 - k] : kernels[k]);
        return parts;
    }

    void connect(std::vector<Part>& parts, bool reuse_data, bool reuse_weights) const
    {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            Part& part = parts[i];
            part.released_lines = part.rows.lines();
            if (i == 0) continue;
            Part& before = parts[i - 1];
            const RowPart &a = before.rows, &b = part.rows;
            if (reuse_data && a.begin == b.begin && a.end == b.end) {
                before.keep_data = part.reuse_data = true;
                part.kept_lines = b.lines();
            } else if (reuse_data && a.begin < b.begin && b.begin < a.end && a.end < b.end &&
                       fetch_of(p_, b, a.end).pad_top <= kMostPadTop) {
                part.reuse_data = true;
                part.kept_lines = a.end - b.begin;
                before.released_lines = b.begin - a.begin;
            }
            if (reuse_weights && before.kernels == part.kernels) before.keep_weights = part.reuse_weights = true;
        }
    }

    std::uint64_t weight_bytes(std::uint32_t kernels) const
    {
        return align_up(g_.kernel_bytes * kernels, hw_.full() ? 128 : hw_.cbuf.entry_bytes);
    }
    std::uint64_t line_bytes() const { return line_entries_ * hw_.cbuf.entry_bytes; }
    std::uint64_t fetched_bytes(const std::vector<Part>& parts) const
    {
        std::uint64_t bytes = 0;
        for (const Part& part : parts) {
            bytes += (part.rows.lines() - part.kept_lines) * line_bytes();
            if (!part.reuse_weights) bytes += weight_bytes(part.kernels.count);
        }
        return bytes;
    }

    /// The order that fetches least; of equal ones the first.
    std::vector<Part> connected(std::vector<RowPart> rows, const std::vector<KernelPart>& kernels, bool reuse_data,
                                bool reuse_weights) const
    {
        if (reuse_data) fetch_ahead(rows);
        std::vector<Part> best;
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        for (const Order order : {Order::KernelsInside, Order::KernelsTurning, Order::RowsInside}) {
            std::vector<Part> parts = arrange(rows, kernels, order);
            connect(parts, reuse_data, reuse_weights);
            const std::uint64_t bytes = fetched_bytes(parts);
            if (bytes >= least) continue;
            least = bytes;
            best = std::move(parts);
        }
        return best;
    }

    // ---- banks

    struct Need {
        std::uint64_t lines = 0, data = 0;  // of the largest part
        std::uint64_t data_ahead = 0;       // with what the next part fetches meanwhile
        std::uint64_t group = 0, kept = 0;  // weights: of a kernel group, and of a part that is kept
        std::uint64_t weights = 0, weights_ahead = 0;
        std::uint64_t least_weights() const { return std::max(group, kept); }
    };

    /// Compressed weights are known to fit only when they are made: `sure` takes them for uncompressed ones.
    Need need_of(const std::vector<Part>& parts, bool sure) const
    {
        Need need;
        const auto at_least = [](std::uint64_t& value, std::uint64_t other) { value = std::max(value, other); };
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Part& part = parts[i];
            const std::uint64_t weights = weight_bytes(part.kernels.count);
            const bool more = i + 1 < parts.size();
            const std::uint64_t lines_next = more ? parts[i + 1].rows.lines() - parts[i + 1].kept_lines : 0;
            const std::uint64_t weights_next = more && !parts[i + 1].reuse_weights ? weight_bytes(parts[i + 1].kernels.count) : 0;
            at_least(need.lines, part.rows.lines());
            at_least(need.data_ahead, banks_of(part.rows.lines() + lines_next));
            at_least(need.group, group_banks(part.kernels.count));
            at_least(need.weights, divide_up(weights, bank_bytes_));
            at_least(need.weights_ahead, divide_up(weights + weights_next, bank_bytes_));
            if (part.keep_weights && (sure || !p_.compressed.on)) at_least(need.kept, divide_up(weights, bank_bytes_));
        }
        need.data = banks_of(need.lines);
        return need;
    }

    std::uint64_t group_banks(std::uint32_t kernels) const
    {
        std::uint64_t& banks = group_banks_[kernels];
        if (banks == 0) banks = weight_banks(hw_, group_ends(hw_, p_.precision, kernels, g_.kernel_bytes));
        return banks;
    }

    /// The mask has one bank, whatever is kept.
    bool mask_of_part_fits(std::uint32_t kernels, bool kept) const
    {
        if (!p_.compressed.on) return true;
        const GroupEnds ends = group_ends(hw_, p_.precision, kernels, g_.kernel_bytes / p_.element_bytes());
        return mask_fits(hw_, ends) && (!kept || divide_up(ends.back(), 8) <= bank_bytes_);
    }
    bool masks_fit(const std::vector<Part>& parts) const
    {
        return std::all_of(parts.begin(), parts.end(),
                           [&](const Part& part) { return mask_of_part_fits(part.kernels.count, part.keep_weights); });
    }

    bool whole_fits() const
    {
        return p_.kernels <= most_kernels(p_, hw_) &&
               banks_of(winograd() ? out_height_ + kTile : p_.height) + group_banks(p_.kernels) <= banks_ &&
               mask_of_part_fits(p_.kernels, false);
    }

    bool wraps_inside_a_line(const std::vector<Part>& parts, std::uint64_t data_banks) const
    {
        if (p_.mode != PassMode::Image || hw_.full() || hw_.cbuf.entry_bytes >= kPairedBelow) return false;
        if (p_.stride.x * p_.format->components <= hw_.cbuf.entry_bytes) return false;
        const std::uint64_t ring = data_banks * depth_;
        std::uint64_t at = 0;  // the ring begins with its banks
        for (const Part& part : parts)
            for (std::uint32_t line = part.kept_lines; line < part.rows.lines(); ++line) {
                if (at + line_entries_ > ring) return true;
                at = (at + line_entries_) % ring;
            }
        return false;
    }

    struct Banks {
        std::uint64_t data = 0, weights = 0;
    };

    /// What is left when everything has its place lets the next part fetch ahead.
    std::optional<Banks> allocate(const std::vector<Part>& parts, const Need& need) const
    {
        const std::uint64_t data_fixed = wish_.data_banks, weights_fixed = wish_.weight_banks;
        const std::uint64_t least = weights_fixed != 0 ? weights_fixed : need.least_weights();
        if (least < need.least_weights() || need.data + least > banks_) return {};
        const auto weights_beside = [&](std::uint64_t data, std::uint64_t want) {
            return weights_fixed != 0 ? weights_fixed : std::min(banks_ - data, std::max(least, want));
        };
        if (data_fixed != 0) {
            if (data_fixed < need.data || data_fixed + least > banks_ || wraps_inside_a_line(parts, data_fixed)) return {};
            return Banks{data_fixed, weights_beside(data_fixed, need.weights_ahead)};
        }
        const std::uint64_t most = banks_ - least;
        const std::uint64_t best = std::min(std::max(need.data, need.data_ahead), banks_ - weights_beside(need.data, need.weights));
        for (std::uint64_t away = 0; away <= banks_; ++away)
            for (const std::uint64_t data : {best + away, best >= away ? best - away : 0})
                if (data >= need.data && data <= most && !wraps_inside_a_line(parts, data))
                    return Banks{data, weights_beside(data, need.weights_ahead)};
        return {};
    }

    // ---- as told

    Split explicitly() const
    {
        const std::uint32_t group = hw_.kernel_group(p_.precision);
        if (wish_.kernels != 0 && !by_kernels_)
            refuse("/kernels",
                   "found parts of " + text(wish_.kernels) + " kernels, expected none: the phases of a deconvolution are cut by rows");
        if (wish_.kernels > group && wish_.kernels < p_.kernels && wish_.kernels % group != 0)
            refuse("/kernels", "found " + text(wish_.kernels) + ", expected a multiple of the " + text(group) +
                                   " kernels of a group: a part ends with a group");
        // A group of kernels is an atom of the output.
        if (wish_.kernels != 0 && wish_.kernels < std::min(group, p_.kernels) && !wish_.padded && !p_.post.compares())
            refuse("/kernels", "found " + text(wish_.kernels) + ", expected a multiple of the " + text(group) +
                                   " channels of an atom: SDP writes whole atoms, so smaller parts do not make one tensor; with" +
                                   " \"padded\": true each part has surfaces of its own");
        if (wish_.rows < out_height_ && wish_.rows % tile() != 0)
            refuse("/rows", "found " + text(wish_.rows) + ", expected a multiple of 4: Winograd works on tiles");
        const std::uint32_t most_rows = wish_.rows != 0 ? wish_.rows : out_height_;
        const std::vector<KernelPart> kernels = cut_kernels(wish_.kernels != 0 ? wish_.kernels : p_.kernels);
        const std::uint64_t most_lines =
            wish_.data_banks != 0 ? wish_.data_banks * depth_ / line_entries_ : std::numeric_limits<std::uint64_t>::max();
        const std::vector<RowPart> rows = cut(most_rows, most_lines, kernels);
        if (rows.empty()) refuse_row(most_lines, needs_two_rows(kernels));
        if (rows.size() * kernels.size() == 1 && wish_.data_banks == 0 && wish_.weight_banks == 0 && whole_fits()) return {};
        check_count(rows.size() * kernels.size());
        const std::vector<Part> parts = connected(rows, kernels, wish_.reuse_data, wish_.reuse_weights);
        const Need need = need_of(parts, false);
        if (!masks_fit(parts))
            refuse("",
                   "found a weight mask of more than " + text(bank_bytes_) + " bytes in a part, expected at most that: one bank holds it");
        const std::optional<Banks> banks = allocate(parts, need);
        if (!banks) refuse_banks(parts, need);
        return {parts, static_cast<std::uint32_t>(banks->data), static_cast<std::uint32_t>(banks->weights), out_height_};
    }

    [[noreturn]] void refuse_row(std::uint64_t most_lines, bool two_rows) const
    {
        for (std::uint32_t first = 0; first < out_height_; first += tile()) {
            const RowPart row = rows_of(first, tile());
            if (row.lines() > most_lines)
                refuse("/data_banks", "found " + text(wish_.data_banks) + ", expected at least " + text(banks_of(row.lines())) +
                                          ": output row " + text(first) + " takes " + text(row.lines()) + " lines of " +
                                          text(line_entries_) + " entries");
            if (!programmable(row))
                refuse("", "found output row " + text(first) + " below the input, with a window of " +
                               text(fetch_of(p_, row, row.begin).pad_top) + " lines, expected at most " + text(kMostPadTop) +
                               " lines or no partition there");
        }
        const std::string limit = wish_.rows != 0 ? text(wish_.rows) + " rows" : text(wish_.data_banks) + " data banks";
        if (two_rows)
            refuse("", "found parts of at most " + limit + " for an output of 1 x " + text(out_height_) +
                           ", expected none of a single output place: SDP takes its surfaces" +
                           " one after the other. Other rows, or kernels of one surface a part, would do");
        refuse("/rows", "found " + limit + ", expected at least " + text(tile()) + " rows");
    }

    [[noreturn]] void refuse_banks(const std::vector<Part>& parts, const Need& need) const
    {
        const std::uint64_t weights = std::max<std::uint64_t>(need.least_weights(), wish_.weight_banks),
                            data = std::max<std::uint64_t>(need.data, wish_.data_banks);
        const std::string machine =
            " of the " + text(banks_) + " banks of " + text(bank_bytes_) + " bytes" + (p_.compressed.on ? " (one holds the mask)" : "");
        if (wish_.data_banks != 0 && wish_.data_banks < need.data)
            refuse("/data_banks", "found " + text(wish_.data_banks) + ", expected at least " + text(need.data) + ": a part takes " +
                                      text(need.lines) + " lines of " + text(line_entries_) + " entries");
        if (wish_.weight_banks != 0 && wish_.weight_banks < need.least_weights())
            refuse("/weight_banks", "found " + text(wish_.weight_banks) + ", expected at least " + text(need.least_weights()) +
                                        (need.kept > need.group ? " for the weights that are kept" : " for one group of kernels"));
        for (const auto& [key, fixed, beside, of] : {std::tuple{"/data_banks", wish_.data_banks, weights, "weights"},
                                                     std::tuple{"/weight_banks", wish_.weight_banks, data, "data"}})
            if (fixed + beside > banks_ && need.data + need.least_weights() <= banks_)
                refuse(key, "found " + text(fixed) + ", expected at most " + text(beside < banks_ ? banks_ - beside : 0) + " of the " +
                                text(banks_) + " banks beside " + text(beside) + " of " + of);
        if (data + weights > banks_) {
            const std::uint64_t cap = weights < banks_ ? (banks_ - weights) * depth_ / line_entries_ : 0,
                                window = winograd() ? 2 * kTile : p_.span_y();
            const std::uint64_t rows = cap < window ? 0 : winograd() ? (cap - kTile) / kTile * kTile : (cap - window) / p_.stride.y + 1;
            refuse("", "does not fit the CBUF: a part takes " + text(need.lines) + " lines of " + text(line_entries_) +
                           " entries = " + text(data) + " banks, " +
                           (need.kept > need.group ? "its weights, which are kept, " : "one group of its kernels ") + text(weights) +
                           machine +
                           (rows != 0 && rows < out_height_ ? "; expected at most " + text(rows) + " rows in a part beside these weights"
                                                            : "; expected fewer kernels in a part"));
        }
        refuse("", "found " + text(parts.size()) + " parts of which a line of pixels, " + text(line_entries_) +
                       " entries, wraps around the ring of the data banks, expected banks" + " whose entries are a multiple of it: " +
                       hw_.name + " reads such lines wrongly for a stride of more than " + text(hw_.cbuf.entry_bytes) + " components");
    }

    void check_count(std::uint64_t parts) const
    {
        if (parts > kMostParts) refuse("", "found " + text(parts) + " parts, expected at most " + text(kMostParts));
    }

    // ---- by itself

    struct Candidate {
        Split split;
        std::uint64_t bytes = 0;
    };

    /// The fewest parts; of those the fewest bytes, then the fewest data banks.
    Split automatic() const
    {
        if (whole_fits()) return {};
        std::optional<Candidate> best;
        const std::uint32_t group = std::min(p_.kernels, hw_.kernel_group(p_.precision));
        try_kernels(p_.kernels, best);
        // Less than a group is less than an atom of the output: only where nothing else fits.
        for (std::uint32_t kernels = best ? 0 : group - 1; by_kernels_ && kernels > 0; --kernels) try_kernels(kernels, best);
        if (!best)
            throw ConfigError(where_, "does not fit the CBUF in any partition by rows and kernels: one row of output takes " +
                                          text(g_.entries / line_entries_) + " lines of " + text(line_entries_) +
                                          " entries, one group of kernels " + text(group * g_.kernel_bytes) + " bytes, expected at most " +
                                          text(banks_) + " banks of " + text(bank_bytes_) + " bytes together and at most " +
                                          text(kMostParts) + " parts");
        return best->split;
    }

    void try_kernels(std::uint32_t most, std::optional<Candidate>& best) const
    {
        const std::vector<KernelPart> kernels = cut_kernels(most);
        for (std::uint64_t data = banks_; data > 0; --data) {
            const std::vector<RowPart> rows = cut(out_height_, data * depth_ / line_entries_, kernels);
            const std::uint64_t count = rows.size() * kernels.size();
            if (count == 0 || count > kMostParts || (best && count > best->split.parts.size())) return;
            for (const bool reuse_weights : {true, false}) {
                const std::vector<Part> parts = connected(rows, kernels, true, reuse_weights);
                const std::optional<Banks> banks = masks_fit(parts) ? allocate(parts, need_of(parts, true)) : std::nullopt;
                if (!banks) continue;
                const std::uint64_t bytes = fetched_bytes(parts);
                if (best && std::tuple(parts.size(), bytes) > std::tuple(best->split.parts.size(), best->bytes)) break;
                best = Candidate{{parts, static_cast<std::uint32_t>(banks->data), static_cast<std::uint32_t>(banks->weights), out_height_},
                                 bytes};
                break;
            }
        }
    }

    const Pass& p_;
    const Hardware& hw_;
    const Partition& wish_;
    const bool by_kernels_;
    const std::string where_;
    const Geometry g_;
    const std::uint64_t depth_, bank_bytes_, banks_, line_entries_;
    const std::uint32_t out_height_;
    mutable std::map<std::uint32_t, std::uint64_t> group_banks_;  // known ones, by kernels
};

}  // namespace

std::uint32_t most_kernels(const Pass& pass, const Hardware& hardware)
{
    if (pass.batch == 1 || !pass.post.streams_elements()) return pass.kernels;
    const std::uint32_t span_x = (pass.kernel_width - 1) * pass.dilation.x + 1;
    const bool one_place = pass.width + pass.pad.left + pass.pad.right < span_x + pass.stride.x &&
                           pass.height + pass.pad.top + pass.pad.bottom < pass.span_y() + pass.stride.y;
    if (!one_place) return pass.kernels;
    return hardware.memory.atom_bytes / pass.element_bytes();
}

Split split_pass(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels, const std::string& where)
{
    return Splitter(whole, hardware, partition, by_kernels, where).split();
}

Pass part_pass(const Pass& pass, const Geometry& geometry, const Split& split, const Part& part)
{
    Pass p = pass;
    const Fetch fetch = fetch_of(pass, part.rows, part.fetch_begin());
    const bool winograd = pass.mode == PassMode::Winograd;
    p.kernels = part.kernels.count;
    p.data_banks = split.data_banks;
    p.weight_banks = split.weight_banks;
    p.reuse = {part.reuse_data,     part.reuse_weights, part.keep_data,
               part.keep_weights,   fetch.lines,        part.rows.lines(),
               part.released_lines, part.rows.count,    winograd ? part.rows.end - part.fetch_begin() : 0};
    p.pad.top = fetch.pad_top;
    p.pad.bottom = part.rows.pad_bottom;
    // A single line of one pixel is fetched as packed surfaces, which those of a higher input are not.
    if (pass.width == 1 && pass.height > 1 && fetch.lines == 1) p.packing &= 0xffff;
    p.address.input = pass.address.input + fetch.line * geometry.line_stride;
    p.address.input_uv = pass.address.input_uv == 0 ? 0 : pass.address.input_uv + fetch.line * geometry.uv_line_stride;
    p.out_surface_stride = static_cast<std::uint32_t>(geometry.out_surface_stride);
    p.out_batch_stride = geometry.out_batch_stride;
    p.address.output = pass.address.output + part.rows.first * geometry.out_line_stride;
    for (std::size_t i = 0; i < geometry.operands.size(); ++i) {
        p.operand_surface_stride[i] = geometry.operands[i].surface_stride;
        p.address.operands[i] += part.rows.first * geometry.operands[i].line_stride;
    }
    return p;
}

std::uint32_t fetched_lines(const Pass& pass, const Part& part)
{
    if (!part.fetches_data()) return 0;
    const Fetch fetch = fetch_of(pass, part.rows, part.fetch_begin());
    return fetch.only_padding ? 0 : fetch.lines;
}

}  // namespace dlasim
