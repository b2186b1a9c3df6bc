// Register bus inside the machine. Source: csb.md 2.
#pragma once
#include <cstdint>
#include <vector>

#include "links/run_log.h"
#include "links/wire.h"

namespace dlasim {

/// A request as a unit's register file sees it, in cycle U + 1 (U: valid at the unit port).
struct CsbRequest {
    std::uint32_t offset = 0;  // byte offset in the unit's 4 KB window
    std::uint32_t data = 0;
    bool write = false;
};

class RegisterFile;

/// A unit's connection to the CSB master. The request is delivered in the decode cycle U + 1; the
/// read data are returned for cycle U + 2. Writes need no answer inside the machine.
struct CsbLink {
    Pulse<CsbRequest> request;
    Pulse<std::uint32_t> response;
    std::uint32_t finished = 0;             // layers that the data path has done
    RegisterFile* registers = nullptr;      // of the unit: for who looks at them without the bus
    std::vector<GroupUse>* uses = nullptr;  // of a run that is recorded

    void wakes(Sleeper& unit) { request.reader = &unit; }
};

}  // namespace dlasim
