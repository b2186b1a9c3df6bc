// A pooling from memory in several operations, each of some rows of its output: steps beside it begin with the rows that are there.
//
//   rows r .. r + n - 1   read the lines  r * stride - pad .. (r + n - 1) * stride - pad + kernel - 1: kernel - stride lines twice
#pragma once
#include "lowering/passes.h"

namespace dlasim {

/// pre: PDP reads memory, `rows` are at least 1
std::vector<PlannedPass> pool_in_rows(const PlannedPass& whole, std::uint32_t rows, const Hardware& hardware, const std::string& where);

}  // namespace dlasim
