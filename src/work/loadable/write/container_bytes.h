// A loadable as the bytes of its file: a FlatBuffer that NVIDIA's runtime takes and read_loadable() reads back.
//
// All vectors of the root are there, empty ones too: the runtime follows a null pointer else. Relocations and events are omitted: the
// runtime ignores events, and misreads relocations.
//
// Source  loadable_writing.md 1, 2, 7.
#pragma once
#include <string>

#include "loadable/container.h"

namespace dlasim::loadable {

std::string loadable_bytes(const Loadable& loadable);

}  // namespace dlasim::loadable
