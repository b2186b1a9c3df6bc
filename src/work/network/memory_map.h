// Addresses of the tensors and weights of a network.
//
//   tensors   at DBB from kTensors on, or in CVSRAM from kCvsram on, each from a multiple of 256 bytes on; parts of a
//             concatenation within it. Memory of dead tensors is reused (allocation.h)
//   weights   at DBB from kWeights on, step by step: weights, then the operands of SDP per kernel
//
// A block - a tensor, or a concatenation with its parts - is needed from the step that writes it first up to the first step that begins
// when the interrupts of all operations that write or read it have been taken anyway. No step waits because memory is used again.
//
// CVSRAM contains blocks that only units of the machine write and read, those that save most traffic for the space and time that they
// take. Inputs and the output of the network keep their places in DRAM.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/place.h"
#include "lowering/memory/images.h"

namespace dlasim {

struct NetworkPlan;
struct NetworkOptions;

/// Memory that is taken from its start on.
class Region {
public:
    static constexpr std::uint64_t kAligned = 256;

    Region(const char* name, Address begin, Address end) : name_(name), begin_(begin), next_(begin), end_(end) {}
    /// Throws ConfigError(where, ...) if it does not fit.
    Address take(std::uint64_t bytes, const std::string& where);
    std::uint64_t taken() const { return next_ - begin_; }

private:
    const char* name_;
    Address begin_, next_, end_;
};

/// In CVSRAM; at DBB tensors, then weights up to kReachable. Apart, so that a case with one memory can hold both.
inline constexpr Address kCvsram{0x50000000}, kTensors{0x80000000}, kWeights{0xa0000000};

/// Where steps are planned before their places are known.
inline constexpr Placement kPlannedPlaces{};

/// A tensor, or a concatenation with its parts; or what a step puts together to its output, without tensors.
struct Block {
    std::vector<std::size_t> tensors;  // the whole first
    Place place{};
    std::uint64_t bytes = 0, moved = 0;  // moved: by all steps, to and from it
    std::size_t begin = 0, end = 0;      // steps in which it is needed: the first that writes it, the first that may write over it
};

struct MemoryUse {
    std::uint64_t tensors = 0, weights = 0;  // peak bytes at DBB
    std::uint64_t apart = 0;                 // of all tensors without reuse
    std::uint64_t cvsram = 0;                // peak bytes in CVSRAM
    std::uint64_t kept = 0;                  // bytes of traffic that CVSRAM keeps from DBB
};

/// What a step needs of memory beside its tensors; before the places are known: bytes.
struct Footprint {
    std::uint64_t output = 0, weights = 0, mask = 0, group_sizes = 0;
    std::array<std::uint64_t, 3> operands{};
    std::vector<PlannedImage> images;
};

/// Blocks, places of tensors, weights and passes; what a step writes over. `over`: of every step the first that begins when it is done.
/// Throws ConfigError if it does not fit.
void place_network(NetworkPlan& plan, std::vector<Footprint> footprints, const std::vector<std::size_t>& over,
                   const NetworkOptions& options);

}  // namespace dlasim
