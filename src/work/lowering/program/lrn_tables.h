// The tables and the output converter of an LRN layer.
//
//   f(S) = (bias + alpha / size * s^2 * S)^-beta      S: sum of the squares of the input's steps, s: the input's scale
//   LO   f in 256 even steps: in integers as far as makes the error least, in fp16 over the part where it bends
//   LE   f at every power of two, which answers beyond LO
//
// Source  cdp.md 5.2; models/cdp_lrn.py.
// Error   int8: 0.2 output steps on average, at most 0.7, against the definition (scripts/table_errors.py).
#pragma once
#include "config/model/lrn.h"
#include "golden/lrn.h"

namespace dlasim {

/// Throws ConfigError at `where` (a place in the descriptor) if the output's scale is out of the converter's reach.
LrnTables lrn_tables(const Lrn& lrn, const std::string& where);

}  // namespace dlasim
