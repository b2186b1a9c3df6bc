// The data side: one of the fetchers, its request and response stages, its port, the status unit.
//
//   fetcher ─► request register ─► stage ─► stage ─► port       port ─► stage ─► stage (─► stage) ─► fetcher
//                    └─► info FIFO ─────────────────────────────────────────────────────────┘
//
// Only one fetcher works in a layer and all its requests are answered before the layer is done, so
// the fetchers share everything around them, and so do the two memory interfaces.
//
// Source  cdma.md 2.2, 3, 10, 11.
#pragma once
#include <array>
#include <string>

#include "elements/stage.h"
#include "facts/cdma.h"
#include "units/cdma/data/feature.h"
#include "units/cdma/data/image.h"
#include "units/cdma/data/winograd.h"
#include "units/cdma/info_fifo.h"
#include "units/cdma/port_counters.h"

namespace dlasim::cdma {

class DataSide {
public:
    DataSide(const Hardware& hw, ReadLink& primary, ReadLink* secondary, CdmaCscLink& csc, Cbuf& cbuf, bool values);

    /// A layer starts: its registers are known from now on.
    void start(const LayerConfig& layer);
    /// The fetcher's state is BUSY from this cycle on.
    void busy(Cycle at);
    /// The layer is over.
    void stop() { busy_ = false; }
    /// False if cycle `at` changes nothing: nothing moved in the last one and no input is different.
    bool due(Cycle at) const
    {
        return awake_ || link_->response.valid(at) || (requests_[1].valid() && link_->request.ready(at)) || horizon() <= at;
    }
    /// Evaluates a cycle. True if the next one must be evaluated too.
    bool step(Cycle at, bool clear);
    /// Accounts `cycles` quiet cycles after the last evaluated one.
    void idle(Cycle cycles)
    {
        performance_.repeat(cycles);
        moved_ = false;
    }
    /// DONE from this cycle on; kNever if not yet known.
    Cycle done_at() const { return busy_ && fetcher_ ? fetcher_->done_at() : kNever; }
    /// The next cycle with something to do if no link wakes the unit.
    Cycle horizon() const;

    void partition(std::uint32_t capacity)
    {
        status_.partition(capacity);
        awake_ = true;
    }
    const PortCounters& performance() const { return performance_; }
    std::uint32_t nans() const { return fetcher_ ? fetcher_->nans() : 0; }
    std::uint32_t infs() const { return fetcher_ ? fetcher_->infs() : 0; }

    bool moved() const { return moved_; }      // something passed a register in the last evaluated cycle
    bool blocked() const { return blocked_; }  // waits for space or for the memory interface
    std::string waiting_for() const;

    // ---- for the log
    /// What has come waits for this side.
    bool response_waits() const { return !link_->response.ready_next(); }
    bool in_flight() const { return info_.size() != 0; }
    /// A request is here and is not accepted: the queue of those in flight is full, or the memory interface does not take it.
    bool asks_in_vain() const { return slot_.valid && blocked_; }
    bool queue_full() const { return !info_.ready(); }
    bool asks_more() const
    {
        return busy_ && fetcher_ && (fetcher_->more() || slot_.valid || requests_[0].valid() || requests_[1].valid());
    }
    bool lacks_space() const { return blocked_ && !slot_.valid; }

    Probe* write_probe = nullptr;
    std::uint64_t atoms_read = 0;

private:
    bool step_responses(Cycle at);
    bool step_requests(Cycle at);
    void consume(Cycle at, const ReadBeat* beat, std::uint32_t atoms);
    void arrive(const ReadBeat& beat);

    const facts::cdma::Facts silicon_;
    const bool values_;
    NoPort no_port_;
    std::array<ReadLink*, 2> links_;  // secondary, primary
    ReadLink* link_;
    CdmaCscLink& csc_;
    StatusUnit status_;
    DataContext context_;
    LayerConfig layer_;
    bool busy_ = false, awake_ = true;

    RequestSlot slot_;
    InfoFifo<RequestInfo> info_;
    std::array<elements::Stage<ReadRequest>, 2> requests_;
    std::array<elements::Stage<std::uint8_t>, 3> responses_;  // silicon_.response_stages of them
    const std::uint32_t beat_atoms_;
    std::uint32_t received_ = 0;  // atoms of the head request accepted
    unsigned completed_ = 0;      // requests completed in this cycle
    unsigned values_ahead_ = 0;   // requests after the head whose values are stored
    std::uint32_t values_received_ = 0;

    Ring<ReadBeat> beats_{8};  // in the response stages; feature data are stored when they pass the port

    FeatureFetcher feature_;
    ImageFetcher image_;
    WinogradFetcher winograd_;
    DataFetcher* fetcher_ = nullptr;  // of the layer; null: none does what it wants
    bool stores_early_ = false;
    PortCounters performance_;
    bool moved_ = false, blocked_ = false;
};

}  // namespace dlasim::cdma
