// Strips of a pass: columns of its output next to each other, rows of one dilation phase, or both.
//
//   columns c .. c + n - 1   read the columns  c * stride - pad .. (c + n - 1) * stride - pad + span - 1: a halo of span - stride twice
//   phase p of d             rows p, p + d, .. of the output read every d-th line: as such a convolution without dilation
//
//   stride s and dilation d downwards have a divisor g in common: d / g phases, of stride s / g
#pragma once
#include <optional>
#include <vector>

#include "lowering/cut/split.h"

namespace dlasim {

/// The pass as it is.
std::vector<Strip> one_strip(const Pass& pass);
/// At most so many columns of the output each; with `phases` those of the dilation too. None if one of them would read nothing but
/// padding, or the mode has none (Winograd).
std::optional<std::vector<Strip>> cut_strips(const Pass& pass, const Hardware& hardware, std::uint32_t most_columns, bool phases);
/// Columns of the output.
std::uint32_t output_columns(const Pass& pass);
std::uint32_t output_rows(const Pass& pass);

}  // namespace dlasim
