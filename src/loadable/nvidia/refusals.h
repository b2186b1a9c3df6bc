// What NVIDIA's runtime and kernel driver would not run of a file that runs here.
//
// Source  loadable_writing.md 1 to 5.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "loadable/descriptors.h"

namespace dlasim::loadable {

/// A sentence each, that begins with the place: "FILE: task 0: has ..".
std::vector<std::string> nvidia_refusals(const Loadable& loadable, std::span<const HardwareTask> tasks, const Hardware& hardware);

}  // namespace dlasim::loadable
