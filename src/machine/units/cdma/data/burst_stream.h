// A stream of bursts of the weight side, with its account of space: the weights of a layer, or their masks.
//
//   bytes left ─► d1: size ─► d2: address ─► d3: candidate ─► arbiter      the three move together: d3 empty or taken
//
//        d2 ─► d3         CBUF write      message to CSC       CSC reads on
//   free ────────► on fly ──────────► stored ──────────► available ──────────► free
//
// A candidate is eligible while on fly, stored and available together are within the limit of its ring. A layer does not
// reset them: what it has kept goes on taking space.
//
// Shapes  bursts of up to 8 atoms that end where an 8th atom of memory does.
// Source  cdma.md 7.1.
#pragma once
#include <cstdint>

#include "base/quantity.h"
#include "traffic/memory.h"

namespace dlasim::cdma {

class BurstStream {
public:
    explicit BurstStream(std::uint32_t atom_bytes) : atom_bytes_(atom_bytes) {}

    /// What a layer fetches, and what its ring holds.
    struct Job {
        Address address{};
        std::uint64_t bytes = 0;
        std::int64_t limit = 0;  // atoms
    };
    void start(const Job& job);

    /// The candidate may be requested now.
    bool eligible() const { return d3_.valid && onfly_ + stored_ + available_ <= limit_; }
    bool waits_for_space() const { return d3_.valid && !eligible(); }
    bool more() const { return d1_.valid || d2_.valid || d3_.valid || left_ != 0; }
    const ReadRequest& candidate() const { return d3_.request; }
    /// End of a cycle; `taken`: the candidate was. True if the pipeline moved.
    bool advance(bool taken);

    void written(Atoms atoms);
    void announced(Atoms atoms);
    void released(Atoms atoms);
    /// CSC starts its ring again: the pending handshake.
    void forget_available() { available_ = 0; }

private:
    struct Burst {
        bool valid = false;
        ReadRequest request;
    };
    Burst next(bool first);

    const std::uint32_t atom_bytes_;
    Burst d1_, d2_, d3_;
    Address address_{};                                                // of the burst after d1
    std::uint64_t left_ = 0;                                           // atoms from there on
    std::int64_t onfly_ = 0, stored_ = 0, available_ = 0, limit_ = 0;  // atoms
};

}  // namespace dlasim::cdma
