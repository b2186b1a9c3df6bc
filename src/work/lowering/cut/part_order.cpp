#include "lowering/cut/part_order.h"

#include <limits>

namespace dlasim {
namespace {

enum class Order { KernelsInside, KernelsTurning, RowsInside };

/// Nothing can be released of two windows that begin at the same line, so the first one fetches for both.
void fetch_ahead(std::vector<RowPart>& rows)
{
    for (std::size_t i = rows.size() - 1; i-- > 0;)
        if (rows[i].strip == rows[i + 1].strip && rows[i].begin == rows[i + 1].begin) rows[i].end = rows[i + 1].end;
}

std::vector<Part> arrange(const std::vector<RowPart>& rows, const std::vector<KernelPart>& kernels, Order order)
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

void connect(const SplitFrame& frame, std::vector<Part>& parts, const ReusedBetweenParts& again)
{
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Part& part = parts[i];
        part.released_lines = part.rows.lines();
        if (i == 0) continue;
        Part& before = parts[i - 1];
        const RowPart &a = before.rows, &b = part.rows;
        const bool beside = again.data && a.strip == b.strip;
        if (beside && a.begin == b.begin && a.end == b.end) {
            before.keep_data = part.reuse_data = true;
            part.kept_lines = b.lines();
        } else if (beside && a.begin < b.begin && b.begin < a.end && a.end < b.end &&
                   fetch_of(frame.strips[b.strip].pass, b, a.end).pad_top <= kMaxPadTop) {
            part.reuse_data = true;
            part.kept_lines = a.end - b.begin;
            before.released_lines = b.begin - a.begin;
        }
        if (again.weights && before.kernels == part.kernels) before.keep_weights = part.reuse_weights = true;
    }
}

}  // namespace

std::vector<Part> ordered_parts(const SplitFrame& frame, std::vector<RowPart> rows, const std::vector<KernelPart>& kernels,
                                const ReusedBetweenParts& again)
{
    if (again.data && !frame.wish.own_lines) fetch_ahead(rows);
    std::vector<Part> best;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const Order order : {Order::KernelsInside, Order::KernelsTurning, Order::RowsInside}) {
        std::vector<Part> parts = arrange(rows, kernels, order);
        connect(frame, parts, again);
        const std::uint64_t bytes = fetched_bytes(frame, parts);
        if (bytes >= least) continue;
        least = bytes;
        best = std::move(parts);
    }
    return best;
}

std::uint64_t fetched_bytes(const SplitFrame& frame, const std::vector<Part>& parts)
{
    std::uint64_t bytes = 0;
    for (const Part& part : parts) {
        bytes += (part.rows.lines() - part.kept_lines) * frame.line_entries[part.rows.strip].count() * frame.hw.cbuf.entry_bytes;
        if (!part.reuse_weights) bytes += frame.weight_bytes(part.kernels.count);
    }
    return bytes;
}

}  // namespace dlasim
