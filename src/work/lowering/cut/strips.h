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
#include "lowering/program/pool_pass.h"

namespace dlasim {

/// The pass as it is.
std::vector<Strip> one_strip(const Pass& pass);
/// Strips of at most this many output columns; with `phases` those of the dilation too. None if one of them would read nothing but
/// padding, or the mode has none (Winograd).
std::optional<std::vector<Strip>> cut_strips(const Pass& pass, const Hardware& hardware, std::uint32_t most_columns, bool phases);
/// Columns of the output.
std::uint32_t output_columns(const Pass& pass);
std::uint32_t output_rows(const Pass& pass);
/// Of what is written: of a pooling on the way, else the same.
std::uint32_t made_columns(const Pass& pass);
std::uint32_t made_rows(const Pass& pass);
/// Rows of the output that rows [first, first + count) of what is written need, and the padding of the pooling beside them.
TouchedElements needed_rows(const Pass& pass, std::uint32_t first, std::uint32_t count);
/// The pooling of these rows; `pass`: of a strip.
Pool pool_of_rows(const Pass& pass, std::uint32_t first, std::uint32_t count);
/// What PDP makes of the whole output; pre: there is a pooling.
Fit<PoolGeometry> pooled_as_it_is(const Pass& pass, const Hardware& hardware);
/// What PDP makes of a strip's rows; pre: there is a pooling.
Fit<PoolGeometry> pooled_strip(const Strip& strip, const Hardware& hardware);

}  // namespace dlasim
