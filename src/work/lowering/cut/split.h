// Cutting a pass into parts that run one after the other: rows of the output, columns, kernels. What a part leaves in
// the CBUF for the next one follows from the order of the parts.
//
//   strips  columns next to each other, with the halo that they need; and of a kernel dilated by d downwards the rows of one phase,
//           which read every d-th line: neither has lines in common with another one
//
//   pooled rows p .. p + n - 1 (a pooling on the way) need the output rows  p * stride - pad .. (p + n - 1) * stride - pad + kernel - 1:
//   windows that overlap have rows in common, which two parts compute. Where there is a pooling, its rows and columns are cut
//
//   output rows o .. o + n - 1  need the lines  o * stride - pad .. (o + n - 1) * stride - pad + span - 1  of the input
//
//   the part before saw                      it releases           this part fetches
//     the same lines                           nothing               nothing
//     lines that begin and end before          those before          those after: a sliding window
//     else                                     everything            everything
//
//   and of the same kernels the weights can stay. The banks are the same for all parts: a change discards what is kept.
//
//   strips ──► frame ──► rows, kernels ──► order and reuse ──► banks      as the layer says (split.cpp), or tried (auto_split.cpp)
//   strips     split_frame  row_parts      part_order          part_banks
//
// Source  programming.md 4, 5 and 7; cdma.md 2.2; csc.md 1.5.2, 1.11.
// Error   registers equal to those of the measured sequences (tests/unit/split_test).
#pragma once
#include <string>
#include <vector>

#include "lowering/pass.h"

namespace dlasim {

/// Columns next to each other, and a row interval: a part of the output that is itself a convolution.
struct Strip {
    Pass pass;                                                       // with the strides of the whole input
    std::uint32_t column = 0, row = 0, row_step = 1;                 // of the output: its first, and from a row to the next
    std::uint32_t columns = 0, rows = 0;                             // of the output
    std::uint32_t made_column = 0, made_columns = 0, made_rows = 0;  // of what is written: the pooling, if PDP does one on the way
    std::uint32_t input_column = 0;                                  // the first that it reads
    std::uint64_t input_offset = 0, uv_offset = 0;                   // bytes from the whole input to its own
};

/// Output rows of a strip, and the lines of the input that CSC sees for them. Winograd: lines after extension by the stride.
struct RowPart {
    std::uint32_t strip = 0;
    std::uint32_t first = 0, count = 0;  // output rows
    std::uint32_t begin = 0, end = 0;    // lines
    std::uint32_t pad_top = 0, pad_bottom = 0;
    std::uint32_t made_first = 0, made_count = 0;  // rows of what is written
    std::uint32_t lines() const { return end - begin; }
    bool operator==(const RowPart&) const = default;
};

struct KernelPart {
    std::uint32_t first = 0, count = 0;
    bool operator==(const KernelPart&) const = default;
};

struct Part {
    RowPart rows;
    KernelPart kernels;
    bool reuse_data = false, reuse_weights = false, keep_data = false, keep_weights = false;
    std::uint32_t kept_lines = 0;      // of the part before
    std::uint32_t released_lines = 0;  // at the end
    bool fetches_data() const { return kept_lines < rows.lines(); }
    std::uint32_t fetch_begin() const { return fetches_data() ? rows.begin + kept_lines : rows.begin; }
    bool operator==(const Part&) const = default;
};

struct Split {
    std::vector<Part> parts;  // in the order they run; none: the pass as it is
    std::uint32_t data_banks = 0, weight_banks = 0;
    std::vector<Strip> strips;
    bool whole() const { return parts.empty(); }
    const Strip& strip_of(const Part& part) const { return strips[part.rows.strip]; }
};

/// Kernels that one part may have: all, or one surface. Of a single output place in several batches SDP takes operands per
/// element for one surface only; of more it waits for ever (sdp/operand_walk.h, PairReplay).
std::uint32_t most_kernels(const Pass& pass, const Hardware& hardware);

/// Throws ConfigError(where, ...) with the numbers or the rule if it cannot be done. `by_kernels`: kernels may be cut.
Split split_pass(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels, const std::string& where);

}  // namespace dlasim
