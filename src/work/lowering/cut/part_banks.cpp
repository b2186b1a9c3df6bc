#include "lowering/cut/part_banks.h"

#include <algorithm>
#include <map>

#include "facts/csc.h"
#include "lowering/cut/strips.h"
#include "lowering/cut/weight_ring.h"

namespace dlasim {
namespace {

std::uint64_t group_banks(const SplitFrame& frame, Kernels kernels)
{
    return weight_banks(frame.hw, group_ends(frame.hw, frame.pass.precision, kernels, frame.geometry.kernel_bytes));
}

bool mask_of_part_fits(const SplitFrame& frame, Kernels kernels, bool kept)
{
    const Pass& p = frame.pass;
    if (!p.compressed.on) return true;
    const GroupEnds ends = group_ends(frame.hw, p.precision, kernels, frame.geometry.kernel_bytes / p.element_bytes());
    return mask_fits(frame.hw, ends) && (!kept || ceil_div(ends.back(), std::uint64_t{8}) <= frame.bank_bytes);
}

bool wraps_inside_a_line(const SplitFrame& frame, const std::vector<Part>& parts, std::uint64_t data_banks)
{
    if (wraps_safely(frame.pass, frame.hw)) return false;
    const DataEntries ring = frame.room_of(data_banks);
    DataEntries at;  // the ring begins with its banks
    for (const Part& part : parts)
        for (std::uint32_t line = part.kept_lines; line < part.rows.lines(); ++line) {
            at += frame.line_entries[part.rows.strip];
            if (at > ring) return true;
            if (at == ring) at = {};
        }
    return false;
}

}  // namespace

// [spec] programming.md 4: narrow entries are read in pairs, wrongly so where a line of pixels wraps around the ring.
bool wraps_safely(const Pass& pass, const Hardware& hardware)
{
    const std::uint32_t entry = hardware.cbuf.entry_bytes;
    return pass.mode != PassMode::Image || entry >= facts::csc::kJumpBelow || pass.stride.x * pass.format->components <= entry;
}

BankNeed bank_need(const SplitFrame& frame, const std::vector<Part>& parts, bool sure)
{
    BankNeed need;
    std::map<Kernels, std::uint64_t> groups;  // known ones
    DataEntries most;
    const auto at_least = [](std::uint64_t& value, std::uint64_t other) { value = std::max(value, other); };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Part& part = parts[i];
        const Kernels kernels{part.kernels.count};
        const std::uint64_t weights = frame.weight_bytes(kernels.count());
        const bool more = i + 1 < parts.size();
        const RowPart& rows = part.rows;
        DataEntries entries_next;
        if (more) entries_next = frame.line_entries[parts[i + 1].rows.strip] * (parts[i + 1].rows.lines() - parts[i + 1].kept_lines);
        const std::uint64_t weights_next = more && !parts[i + 1].reuse_weights ? frame.weight_bytes(parts[i + 1].kernels.count) : 0;
        if (!groups.contains(kernels)) groups[kernels] = group_banks(frame, kernels);
        if (frame.entries_of(rows) > most) {
            most = frame.entries_of(rows);
            need.rows = rows;
        }
        at_least(need.data_ahead, frame.banks_of(frame.entries_of(rows) + entries_next));
        at_least(need.group, groups[kernels]);
        at_least(need.weights, ceil_div(weights, frame.bank_bytes));
        at_least(need.weights_ahead, ceil_div(weights + weights_next, frame.bank_bytes));
        if (part.keep_weights && (sure || !frame.pass.compressed.on)) at_least(need.kept, ceil_div(weights, frame.bank_bytes));
    }
    need.data = frame.banks_of(most);
    return need;
}

std::optional<Banks> allocate_banks(const SplitFrame& frame, const std::vector<Part>& parts, const BankNeed& need)
{
    const std::uint64_t banks = frame.banks, data_fixed = frame.wish.data_banks, weights_fixed = frame.wish.weight_banks;
    const std::uint64_t least = weights_fixed != 0 ? weights_fixed : need.least_weights();
    if (least < need.least_weights() || need.data + least > banks) return {};
    const auto weights_beside = [&](std::uint64_t data, std::uint64_t want) {
        return weights_fixed != 0 ? weights_fixed : std::min(banks - data, std::max(least, want));
    };
    if (data_fixed != 0) {
        if (data_fixed < need.data || data_fixed + least > banks || wraps_inside_a_line(frame, parts, data_fixed)) return {};
        return Banks{data_fixed, weights_beside(data_fixed, need.weights_ahead)};
    }
    const std::uint64_t most = banks - least;
    const std::uint64_t best = std::min(std::max(need.data, need.data_ahead), banks - weights_beside(need.data, need.weights));
    for (std::uint64_t away = 0; away <= banks; ++away)
        for (const std::uint64_t data : {best + away, best >= away ? best - away : 0})
            if (data >= need.data && data <= most && !wraps_inside_a_line(frame, parts, data))
                return Banks{data, weights_beside(data, need.weights_ahead)};
    return {};
}

bool masks_fit(const SplitFrame& frame, const std::vector<Part>& parts)
{
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Part& part) { return mask_of_part_fits(frame, Kernels{part.kernels.count}, part.keep_weights); });
}

bool whole_fits(const SplitFrame& frame)
{
    const Pass& p = frame.pass;
    return frame.strips.size() == 1 && (!p.pool || pooled_as_it_is(p, frame.hw)) && p.kernels <= most_kernels(p, frame.hw) &&
           (frame.winograd() || p.height <= kMaxReleased) &&
           frame.banks_of(frame.line_entries.front() * (frame.winograd() ? frame.most_rows() + kTile : p.height)) +
                   group_banks(frame, Kernels{p.kernels}) <=
               frame.banks &&
           mask_of_part_fits(frame, Kernels{p.kernels}, false);
}

}  // namespace dlasim
