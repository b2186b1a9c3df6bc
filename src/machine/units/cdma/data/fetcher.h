// What the data side works with in a layer: one of three fetchers. They share its request and response stages, its port and
// its status unit.
//
//   request()  the loop nest of requests ──► request register        consume()  atoms in order ──► the fetcher's buffer
//   read()     out of the buffer ──► converter ──► CBUF, updates of the status unit and to CSC
//
// A cycle: read(), ready() and consume(), commit(), request(), account(). Each sees the others as they were at its start.
//
// Source  cdma.md 2.2, 3.
#pragma once
#include "facts/cdma.h"
#include "facts/hardware.h"
#include "units/cdma/data/convert.h"
#include "units/cdma/data/data_types.h"

namespace dlasim::cdma {

class DataFetcher {
public:
    DataFetcher(const Hardware& hw, DataContext& context) : silicon_(facts::cdma::of(hw)), context_(context) {}
    virtual ~DataFetcher() = default;

    /// The registers of a layer are known; then BUSY from cycle `at` on.
    virtual void start(const LayerConfig& layer, const Converter& converter) = 0;
    virtual void busy(Cycle at) = 0;
    /// DONE from this cycle on; kNever if not yet known.
    Cycle done_at() const { return done_at_; }

    /// The request engine; `room`: the request register is empty or emptied in this cycle. True if anything changed.
    virtual bool request(Cycle at, bool room, RequestSlot& slot) = 0;
    /// Requests are still to be made.
    virtual bool more() const = 0;
    virtual bool waits_for_space() const = 0;
    /// The cycle of the first space check if it is still to come, else kNever.
    virtual Cycle first_check() const { return kNever; }

    /// Responses are taken.
    virtual bool ready() const { return true; }
    /// `atoms` of request `info` are here in cycle `at` (null: it makes them itself); `complete`: the last ones of it.
    virtual void consume(Cycle at, const RequestInfo& info, const ReadBeat* beat, std::uint32_t atoms, bool complete, bool values) = 0;
    /// Every atom's place is known when it is requested: a beat is stored by store() when it passes the port, not by consume().
    virtual bool stores_early() const { return false; }
    virtual void store(const ReadBeat&, std::uint32_t /*source*/) {}

    /// The read side, with the counters of the start of the cycle. True if it read.
    virtual bool read(Cycle) { return false; }
    /// What was read is free. True if anything changed.
    virtual bool commit() { return false; }
    /// End of the cycle: these entries were accounted by the status unit.
    virtual void account(Entries added) = 0;

    std::uint32_t nans() const { return nans_; }
    std::uint32_t infs() const { return infs_; }

protected:
    const facts::cdma::Facts silicon_;
    DataContext& context_;
    LayerConfig layer_;
    Cycle done_at_ = kNever;
    std::uint32_t nans_ = 0, infs_ = 0;
};

}  // namespace dlasim::cdma
