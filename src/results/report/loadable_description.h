// What a loadable would do, in words: memories, tensors, operations with what they wait for, register writes.
#pragma once
#include <string>

#include "loadable/plan.h"

namespace dlasim {

std::string loadable_description(const loadable::LoadablePlan& plan);

}  // namespace dlasim
