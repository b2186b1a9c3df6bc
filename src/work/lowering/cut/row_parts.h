// Where the rows and the kernels of a pass are cut.
#pragma once
#include "lowering/cut/split_frame.h"

namespace dlasim {

/// Where the i-th of `parts` nearly equal parts of `all` begins: the first ones have one more.
inline std::uint32_t even_part(std::uint32_t all, std::uint32_t parts, std::uint32_t i)
{
    const std::uint32_t more = all % parts;
    return all / parts * i + (i < more ? i : more);
}

/// Limit of kernels per part. Parts of less than a group end with the group and are nearly equal.
std::vector<KernelPart> cut_kernels(const SplitFrame& frame, std::uint32_t most);

/// Rows [first, first + count) of what is written of a strip.
RowPart rows_of(const SplitFrame& frame, std::uint32_t strip, std::uint32_t first, std::uint32_t count);
/// The registers hold its lines and its padding on top.
bool programmable(const SplitFrame& frame, const RowPart& rows);
/// Rows that the top padding of a fetch may have.
inline constexpr std::uint32_t kMaxPadTop = 31;

/// [spec] sdp.md 1.6.1, 1.7.2: of a single output place SDP writes the surfaces one after the other, not where those of a higher
/// cube are; batches are separate. It reads operands per element likewise, of batches too.
bool needs_two_rows(const SplitFrame& frame, const Strip& strip, const std::vector<KernelPart>& kernels);

/// As many rows a part as the limits allow, strip by strip; nothing if the fewest do not fit them.
/// Nothing too if there are more than `most_parts`.
std::vector<RowPart> cut_rows(const SplitFrame& frame, std::uint32_t most_rows, DataEntries most_entries,
                              const std::vector<KernelPart>& kernels, std::size_t most_parts = SIZE_MAX);

}  // namespace dlasim
