#include "lowering/cut/split.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "lowering/cut/part_banks.h"
#include "lowering/cut/part_order.h"
#include "lowering/cut/strips.h"

namespace dlasim {
namespace {

[[noreturn]] void refuse_row(const SplitFrame& frame, DataEntries most_entries, bool two_rows)
{
    const Partition& wish = frame.wish;
    for (std::uint32_t strip = 0; strip < frame.strips.size(); ++strip)
        for (std::uint32_t first = 0; first < frame.strips[strip].made_rows; first += frame.tile()) {
            const RowPart row = rows_of(frame, strip, first, frame.tile());
            if (frame.entries_of(row) > most_entries)
                frame.refuse("/data_banks", "found " + std::to_string(wish.data_banks) + ", expected at least " +
                                                std::to_string(frame.banks_of(frame.entries_of(row))) + ": output row " +
                                                std::to_string(first) + " takes " + std::to_string(row.lines()) + " lines of " +
                                                std::to_string(frame.line_entries[strip].count()) + " entries");
            if (!programmable(frame, row))
                frame.refuse("", "found output row " + std::to_string(first) + " below the input, with a window of " +
                                     std::to_string(fetch_of(frame.strips[strip].pass, row, row.begin).pad_top) +
                                     " lines, expected at most " + std::to_string(kMaxPadTop) + " lines or no partition there");
        }
    const std::string limit = wish.rows != 0      ? std::to_string(wish.rows) + " rows"
                              : wish.columns != 0 ? std::to_string(wish.columns) + " columns"
                                                  : std::to_string(wish.data_banks) + " data banks";
    if (two_rows)
        frame.refuse("", "found tiles of at most " + limit + " for an output of " + std::to_string(made_columns(frame.pass)) + " x " +
                             std::to_string(made_rows(frame.pass)) + ", expected none of a single output position: SDP takes its surfaces" +
                             " one after the other. Use other rows, or kernels of one surface per tile");
    frame.refuse("/rows", "found " + limit + ", expected at least " + std::to_string(frame.tile()) + " rows");
}

[[noreturn]] void refuse_banks(const SplitFrame& frame, const std::vector<Part>& parts, const BankNeed& need)
{
    const Partition& wish = frame.wish;
    const std::uint64_t line = frame.line_entries[need.rows.strip].count();
    const std::uint64_t weights = std::max<std::uint64_t>(need.least_weights(), wish.weight_banks),
                        data = std::max<std::uint64_t>(need.data, wish.data_banks);
    const std::string machine = " of the " + std::to_string(frame.banks) + " banks of " + std::to_string(frame.bank_bytes) + " bytes" +
                                (frame.pass.compressed.on ? " (one holds the mask)" : "");
    if (wish.data_banks != 0 && wish.data_banks < need.data)
        frame.refuse("/data_banks", "found " + std::to_string(wish.data_banks) + ", expected at least " + std::to_string(need.data) +
                                        ": a part takes " + std::to_string(need.rows.lines()) + " lines of " + std::to_string(line) +
                                        " entries");
    if (wish.weight_banks != 0 && wish.weight_banks < need.least_weights())
        frame.refuse("/weight_banks", "found " + std::to_string(wish.weight_banks) + ", expected at least " +
                                          std::to_string(need.least_weights()) +
                                          (need.kept > need.group ? " for the weights that are kept" : " for one group of kernels"));
    for (const auto& [key, fixed, beside, of] :
         {std::tuple{"/data_banks", wish.data_banks, weights, "weights"}, std::tuple{"/weight_banks", wish.weight_banks, data, "data"}})
        if (fixed + beside > frame.banks && need.data + need.least_weights() <= frame.banks)
            frame.refuse(key, "found " + std::to_string(fixed) + ", expected at most " +
                                  std::to_string(beside < frame.banks ? frame.banks - beside : 0) + " of the " +
                                  std::to_string(frame.banks) + " banks beside " + std::to_string(beside) + " of " + of);
    if (data + weights > frame.banks) {
        const std::uint64_t cap = weights < frame.banks ? (frame.banks - weights) * frame.bank_depth / line : 0,
                            window = frame.winograd() ? 2 * kTile : frame.strips[need.rows.strip].pass.span_y();
        const std::uint64_t rows = cap < window       ? 0
                                   : frame.winograd() ? (cap - kTile) / kTile * kTile
                                                      : (cap - window) / frame.strips[need.rows.strip].pass.stride.y + 1;
        frame.refuse("", "does not fit the CBUF: a tile takes " + std::to_string(need.rows.lines()) + " lines of " + std::to_string(line) +
                             " entries = " + std::to_string(data) + " banks, " +
                             (need.kept > need.group ? "its weights, which are kept, " : "one group of its kernels ") +
                             std::to_string(weights) + machine +
                             (rows != 0 && rows < frame.most_rows()
                                  ? "; expected at most " + std::to_string(rows) + " rows in a tile with these weights"
                                  : "; expected fewer kernels in a tile"));
    }
    frame.refuse("", "found " + std::to_string(parts.size()) + " tiles of which a line of pixels, " + std::to_string(line) +
                         " entries, wraps around the ring of the data banks, expected banks" +
                         " whose entries are a multiple of it: " + frame.hw.name + " reads such lines wrongly for a stride of more than " +
                         std::to_string(frame.hw.cbuf.entry_bytes) + " components");
}

/// The parts that the layer asks for.
Split told_split(const SplitFrame& frame)
{
    const Partition& wish = frame.wish;
    const std::uint32_t group = frame.hw.kernel_group(frame.pass.precision);
    if (wish.kernels != 0 && !frame.by_kernels)
        frame.refuse("/kernels", "found tiles of " + std::to_string(wish.kernels) +
                                     " kernels, expected none: the phases of a deconvolution are tiled by rows");
    if (wish.kernels > group && wish.kernels < frame.pass.kernels && wish.kernels % group != 0)
        frame.refuse("/kernels", "found " + std::to_string(wish.kernels) + ", expected a multiple of the " + std::to_string(group) +
                                     " kernels of a group: a tile ends with a group");
    // A group of kernels is an atom of the output.
    if (frame.pass.pool && wish.padded) frame.refuse("/padded", "found true, expected false: a fused pooling writes one tensor");
    if (wish.kernels != 0 && wish.kernels < std::min(group, frame.pass.kernels) && !wish.padded && !frame.pass.post.compares())
        frame.refuse("/kernels", "found " + std::to_string(wish.kernels) + ", expected a multiple of the " + std::to_string(group) +
                                     " channels of an atom: SDP writes whole atoms, so smaller tiles do not form one tensor; with" +
                                     " \"padded\": true each tile has separate surfaces");
    const bool whole_tiles =
        std::all_of(wish.row_list.begin(), wish.row_list.end(), [&](std::uint32_t rows) { return rows % frame.tile() == 0; });
    if ((wish.rows < frame.most_rows() && wish.rows % frame.tile() != 0) || !whole_tiles)
        frame.refuse("/rows", "found " + std::to_string(wish.rows) + ", expected a multiple of 4: Winograd works on tiles");
    const std::uint32_t most_rows = wish.rows != 0 ? wish.rows : frame.most_rows();
    const std::vector<KernelPart> kernels = cut_kernels(frame, wish.kernels != 0 ? wish.kernels : frame.pass.kernels);
    const DataEntries most_entries =
        wish.data_banks != 0 ? frame.room_of(wish.data_banks) : DataEntries{std::numeric_limits<std::uint64_t>::max()};
    const std::vector<RowPart> rows = cut_rows(frame, most_rows, most_entries, kernels);
    if (rows.empty())
        refuse_row(frame, most_entries, std::any_of(frame.strips.begin(), frame.strips.end(), [&](const Strip& strip) {
                       return needs_two_rows(frame, strip, kernels);
                   }));
    if (rows.size() * kernels.size() == 1 && wish.data_banks == 0 && wish.weight_banks == 0 && whole_fits(frame)) return {};
    if (rows.size() * kernels.size() > kMaxParts)
        frame.refuse("", "found " + std::to_string(rows.size() * kernels.size()) + " tiles, expected at most " + std::to_string(kMaxParts));
    const std::vector<Part> parts = ordered_parts(frame, rows, kernels, {.data = wish.reuse_data, .weights = wish.reuse_weights});
    const BankNeed need = bank_need(frame, parts, false);
    if (!masks_fit(frame, parts))
        frame.refuse("", "found a weight mask of more than " + std::to_string(frame.bank_bytes) +
                             " bytes in a tile, expected at most that: one bank holds it");
    const std::optional<Banks> banks = allocate_banks(frame, parts, need);
    if (!banks) refuse_banks(frame, parts, need);
    return {parts, static_cast<std::uint32_t>(banks->data), static_cast<std::uint32_t>(banks->weights), frame.strips};
}

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
    if (partition.automatic && partition.minimise != Minimise::Parts)
        if (std::optional<Split> cheapest = cheapest_split(whole, hardware, partition, by_kernels, where)) return std::move(*cheapest);
    if (partition.automatic) return automatic_split(whole, hardware, partition, by_kernels, where);
    const std::uint32_t columns = made_columns(whole);
    if (partition.phases && whole.dilation.y == 1)
        throw ConfigError(where + "/partition/dilation_phases", "found true, expected a dilation downwards of more than 1");
    if (partition.phases && whole.pool)
        throw ConfigError(where + "/partition/dilation_phases",
                          "found true, expected false: a window of the pooling needs rows of several");
    auto strips = cut_strips(whole, hardware, partition.columns != 0 ? partition.columns : columns, partition.phases);
    if (!strips && whole.mode == PassMode::Winograd)
        throw ConfigError(where + "/partition/columns",
                          "found " + std::to_string(partition.columns) + ", expected none: Winograd is tiled by rows and kernels");
    if (!strips)
        throw ConfigError(where + "/partition/columns",
                          "found " + std::to_string(partition.columns) + ", expected more: a tile would have only padding as input");
    if (whole.batch > 1 && partition.columns % 2 != 0 && partition.columns < columns)
        throw ConfigError(where + "/partition/columns", "found " + std::to_string(partition.columns) +
                                                            ", expected an even number: batches are written in pairs of positions");
    return told_split(split_frame(whole, *std::move(strips), hardware, partition, by_kernels, where).or_refused(where));
}

}  // namespace dlasim
