// The weight side: weights, and in nv_full with compression masks (WMB) and group sizes (WGS).
//
//   WT  ─ d1 ─ d2 ─ d3 ─┐
//   WMB ─ d1 ─ d2 ─ d3 ─┴─► round robin ─► fixed priority ─► stage ─► port      (configurable: d3 ─► stage ─► port)
//   WGS ──────────────────────────────────►    (WGS first)
//
//   port ─► stage ─► pack to 64 B ─► ring of the weight banks                   (configurable: 2 stages, FIFO, atoms)
//                └─► group sizes ─► status: group complete? ─► message to CSC
//
// Space is counted in atoms: on the fly, stored but not announced, announced and not released.
//
// Source  cdma.md 7; facts in facts/cdma.h.
#pragma once
#include <array>
#include <string>

#include "base/bits.h"
#include "elements/stage.h"
#include "facts/cdma.h"
#include "units/cdma/counters.h"
#include "units/cdma/data_types.h"
#include "units/cdma/info_fifo.h"
#include "units/cdma/layer.h"

namespace dlasim::cdma {

/// Where a request of the weight side belongs to.
enum class Stream : std::uint8_t { Weights, Mask, GroupSizes };

struct WeightRequest {
    ReadRequest request;
    Stream stream = Stream::Weights;
};

/// One stream of bursts with its space accounting and its ring in the buffer.
class BurstStream {
public:
    /// A layer starts: `bytes` from `address`.
    void start(std::uint64_t address, std::uint32_t bytes, std::uint32_t atom, std::int64_t limit);
    /// The candidate may be requested now.
    bool eligible() const { return d3_.valid && onfly_ + stored_ + available_ <= limit_; }
    bool waits_for_space() const { return d3_.valid && !eligible(); }
    ReadRequest candidate() const { return d3_.request; }
    /// End of the cycle: the pipeline moves if its end is free.
    bool advance(bool taken);

    void written(std::uint32_t atoms) { onfly_ -= atoms, stored_ += atoms; }
    void announced(std::uint32_t atoms) { stored_ -= atoms, available_ += atoms; }
    void released(std::uint32_t atoms) { available_ -= atoms; }
    void clear() { available_ = 0; }

private:
    struct Burst {
        bool valid = false;
        ReadRequest request;
    };
    Burst next(bool first);
    Burst d1_, d2_, d3_;
    std::uint64_t address_ = 0, left_ = 0;
    std::uint32_t atom_ = 1;
    std::int64_t onfly_ = 0, stored_ = 0, available_ = 0, limit_ = 0;
};

/// A ring of atoms in the buffer, filled in order.
struct WeightRing {
    std::uint64_t begin = 0, end = 0, next = 0;  // atoms
    std::uint64_t take()
    {
        const std::uint64_t at = next;
        if (++next >= end) next = begin;
        return at;
    }
};

class WeightSide {
public:
    WeightSide(const Hardware& hw, ReadLink& primary, ReadLink* secondary, CdmaCscLink& csc, Cbuf& cbuf, bool values);

    void start(const Layer& layer);
    /// The register of both groups: its shares act on the next grant.
    void set_arbiter(std::uint32_t arbiter) { share_ = {bits(arbiter, 0, 4), bits(arbiter, 16, 4)}; }
    void busy(Cycle at);
    void stop() { busy_ = false; }
    /// False if cycle `at` changes nothing: nothing moved in the last one and no input is different.
    bool due(Cycle at) const
    {
        return awake_ || link_->response.valid(at) || (port_stage_.valid() && link_->request.ready(at)) || horizon() <= at;
    }
    /// Evaluates a cycle; `clear`: both sides of the pending handshake are 1. True if the next one must be evaluated too.
    bool step(Cycle at, bool clear);
    void idle(Cycle cycles)
    {
        performance_.repeat(cycles);
        moved_ = false;
    }
    Cycle done_at() const { return done_at_; }
    Cycle horizon() const { return csc_.weight_released.next(); }

    const PortCounters& performance() const { return performance_; }
    std::uint32_t nans() const { return nans_; }
    std::uint32_t infs() const { return infs_; }
    bool moved() const { return moved_; }
    bool blocked() const { return blocked_; }
    std::string waiting_for() const;

    Probe* write_probe = nullptr;
    std::uint64_t atoms_read = 0;

private:
    /// Atoms of the CBUF writes of this cycle, by stream.
    struct Written {
        std::uint32_t weights = 0, mask = 0;
    };
    bool step_responses_with_masks(Cycle at, Written& written);
    bool step_responses_of_weights(Cycle at, Written& written);
    bool step_requests(Cycle at);
    bool step_status(Cycle at);
    bool arbitrate();
    void pop_info_after(std::uint32_t atoms);
    void value(const ReadBeat& beat);
    void store(WeightRing& ring, const std::uint8_t* data, std::uint32_t atoms);
    void buffer_write(Cycle at);
    std::uint32_t group_sizes_of_read(std::uint32_t read) const;

    const facts::cdma::Facts silicon_;
    const bool values_;
    const std::uint32_t atom_, atoms_per_entry_, unit_bytes_, units_per_entry_, bank_depth_;
    const std::uint64_t first_atom_, last_atom_, mask_first_, mask_last_;
    NoPort no_port_;
    std::array<ReadLink*, 2> links_;  // secondary, primary
    ReadLink* link_;
    CdmaCscLink& csc_;
    Cbuf& cbuf_;
    Layer layer_;
    bool busy_ = false, awake_ = true, ring_set_ = false;

    // Requests
    BurstStream weights_, mask_;
    elements::Stage<WeightRequest> arbiter1_, arbiter2_;
    elements::Stage<ReadRequest> port_stage_;
    InfoFifo<RequestInfo> info_;
    std::array<std::uint32_t, 2> share_{};  // [weights, mask]
    int last_grant_ = -1;                   // 0 weights, 1 mask
    std::uint32_t credit_ = 0;
    std::uint32_t size_reads_ = 0, size_reads_total_ = 0;  // group size reads requested
    std::int64_t sizes_onfly_ = 0;

    // Responses
    std::array<elements::Stage<std::uint8_t>, 2> responses_;  // nv_full uses one
    ResponseFifo fifo_;
    Ring<ReadBeat> beats_{16};  // in the stages and the FIFO of the configurable generation
    std::uint32_t received_ = 0;
    unsigned completed_ = 0;  // requests completed, accepted, refused in this cycle
    bool accepted_ = false, stalled_ = false, port_stage_ready_ = true;
    std::uint32_t held_[2] = {};  // atoms in the holding registers
    std::uint32_t sizes_to_push_ = 0, sizes_answered_ = 0;
    InfoFifo<std::uint32_t> sizes_;  // bytes of the groups
    std::uint64_t guard_written_ = 0, guard_released_ = 0;
    WeightUpdate release_next_;  // a release reaches the counters one cycle later
    bool release_due_ = false;

    // Status
    std::uint32_t groups_ = 0, group_ = 0;
    bool check_ = false;
    std::uint64_t need_ = 0, mask_need_ = 0;                                                       // bytes, bits
    std::uint64_t fetched_ = 0, fetched_before_ = 0, mask_fetched_ = 0, mask_fetched_before_ = 0;  // atoms, units
    std::uint32_t announced_ = 0, mask_announced_ = 0;                                             // entries announced in this cycle
    Cycle done_at_ = kNever;

    // Values
    WeightRing ring_, mask_ring_;
    unsigned values_ahead_ = 0;
    std::uint32_t values_received_ = 0, size_values_read_ = 0;
    Ring<std::uint32_t> size_values_{32};
    std::uint32_t nans_ = 0, infs_ = 0;

    PortCounters performance_;
    bool moved_ = false, blocked_ = false;
};

}  // namespace dlasim::cdma
