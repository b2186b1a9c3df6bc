// How a command ends: the exit statuses, and what becomes of everything that is thrown.
#pragma once
#include <functional>

namespace dlasim {

enum Status : int {
    kDone = 0,           // done, and verified where something was to verify
    kMismatch = 1,       // a value differs
    kBadInput = 2,       // bad input or usage, or a place that cannot be written
    kMachineBroke = 3,   // the machine hung or broke a protocol
    kPointsRefused = 4,  // of a sweep: some points have no result because they cannot be
    kNoRoom = 5,         // of a point's process: its files could not be written; the sweep ends with kBadInput
    kNoMemory = 6,       // of a point's process, or of steps apart: they run again with more
    kInterrupted = 130,
};

/// Runs a command; what it throws is reported on standard error and becomes a status. Standard output is
/// written out before; what was lost of it makes the status kBadInput. `no_memory`: the status when memory runs out, however that shows.
int guarded(const std::function<int()>& command, int no_memory = kBadInput) noexcept;

}  // namespace dlasim
