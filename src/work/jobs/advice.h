// Advice for a layer that would be cheaper in another form: reported with the result, never applied automatically.
#pragma once
#include <string>
#include <vector>

#include "facts/memory_spec.h"
#include "lowering/plan.h"

namespace dlasim {

/// A first layer of up to four channels as feature data, where `mode` is left to us: pixels take a fraction of the array's cycles.
std::vector<std::string> advice_on(const LayerPlan& plan, const Layer& layer, const Hardware& hardware, const MemorySpec& memory);

}  // namespace dlasim
