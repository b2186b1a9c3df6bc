// What the parts of the data side hand to each other.
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "base/ring.h"
#include "facts/cdma.h"
#include "traffic/convolution.h"
#include "traffic/memory.h"
#include "units/cbuf/cbuf.h"
#include "units/cdma/request.h"

namespace dlasim::cdma {

/// A fetcher's request register.
struct RequestSlot {
    bool valid = false;
    ReadRequest request;
    RequestInfo info;
};

/// Entries of the data ring that are valid, free, next to be written. cdma.md 10.
class StatusUnit {
public:
    std::int64_t free() const { return free_; }
    std::uint32_t write_index() const { return write_index_; }
    std::uint32_t capacity() const { return capacity_; }

    void partition(std::uint32_t capacity) { capacity_ = capacity; }
    /// End of a cycle. True if anything changed.
    bool step(Entries added, Entries released, bool clear);

private:
    std::int64_t valid_ = 0, free_ = 0;
    std::uint32_t capacity_ = 0, write_index_ = 0;
};

/// Updates of a fetcher on their way to the status unit and to CSC.
struct PendingUpdate {
    Cycle at = 0;
    Entries entries;
};

/// What every fetcher works with.
struct DataContext {
    const StatusUnit& status;
    Pulse<DataUpdate>& filled;  // to CSC
    Cbuf& cbuf;
    Probe* const& write_probe;
    Ring<PendingUpdate> updates{8};

    /// An update reaches the status unit in cycle `at`, CSC nine cycles later.
    void update(Cycle at, Entries entries, Slices slices);
    /// A write strobe of the data port.
    void buffer_write(Cycle at);
};

}  // namespace dlasim::cdma
