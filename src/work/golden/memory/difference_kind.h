// What a difference looks like: the mistakes that are made between a framework and the machine, each tried on the arrays.
#pragma once
#include "golden/memory/expected.h"

namespace dlasim {

/// In words; empty if it looks like none of them. pre: the arrays differ.
std::string difference_kind(const ComparedArrays& arrays);

}  // namespace dlasim
