// "plan": {"minimise": "cycles"} of a layer: the cuts that cost least by estimate run on the machine, each in a process of its own, and the
// layer gets the one that takes the fewest cycles. So what is planned is the same in every command.
#pragma once
#include <vector>

#include "config/descriptor.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"

namespace dlasim {

/// The layer with each cut that it may get; the descriptor alone where there is no choice.
std::vector<Descriptor> possible_cuts(const Descriptor& descriptor, const Hardware& hardware);

/// The estimate alone decides where a run takes long (kMostCycles), or where compressed weights say how long it takes.
void try_cuts(Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory);

}  // namespace dlasim
