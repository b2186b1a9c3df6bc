// Normalisations and poolings from memory in operations of some rows: steps before and after them work meanwhile (order.h).
#pragma once
#include "jobs/bounds.h"
#include "lowering/program/lrn_pass.h"

namespace dlasim {

/// pre: one normalisation, which takes this many cycles at least
void hand_on_rows(std::vector<LrnPass>& passes, std::uint64_t cycles);
/// A pooling of more than one operation stays as it is.
void hand_on_rows(LayerPlan& planned, const Layer& layer, const Hardware& hardware);

}  // namespace dlasim
