// What the cycles of a run went to: every cycle from t0 to the last interrupt has one cause, so all of them together are the cycles.
//
//   group        cause            client, of the causes of memory
//   memory ────► latency ───────► CDMA_WT
//
// `dlasim reference` prints each of them.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cause.h"
#include "base/cycle.h"
#include "facts/client.h"

namespace dlasim {

/// A cause by name.
struct CauseName {
    std::string_view group, name;  // as result.json has them
    bool by_client;                // separate per memory client
    std::string_view text;         // what it is, in a sentence
};
const CauseName& name_of(Cause cause);

/// A cause with the client it concerns.
struct ExactCause {
    static constexpr std::uint8_t kNoClient = kClients;
    Cause cause = Cause::StartUp;
    std::uint8_t client = kNoClient;  // AXI id

    bool operator==(const ExactCause&) const = default;
    auto operator<=>(const ExactCause&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes <=> for a comparison with 0
};
/// The client that it concerns, "-" for a cause of nobody.
const char* client_of(ExactCause cause);
/// "memory/latency/CDMA_WT"
std::string path_of(ExactCause cause);

/// Cycles by cause, in the order of the enumeration; none has 0.
struct CauseCycles {
    ExactCause cause;
    Cycle cycles = 0;
    bool operator==(const CauseCycles&) const = default;
};

/// A part of the run: the cycles after that in which the one before it ends.
struct CauseSlice {
    Cycle end = 0;  // its last cycle, relative to t0
    std::vector<CauseCycles> spent;
    void add(ExactCause cause, Cycle cycles);
    bool operator==(const CauseSlice&) const = default;
};

/// In order of time and without a gap, from t0 to the last interrupt. Where an operation was done or started a slice ends.
class Causes {
public:
    std::vector<CauseSlice> slices;

    bool empty() const { return slices.empty(); }
    /// Of all of them.
    std::vector<CauseCycles> total() const { return between(0, kNever); }
    /// Of the cycles after `from` up to `to`, relative to t0. Of a slice that is cut the causes count as if one came after the other.
    std::vector<CauseCycles> between(Cycle from, Cycle to) const;
    /// Of absolute cycles: those after `t0` up to `done`, relative to t0.
    Causes after(Cycle t0, Cycle done) const;
    bool operator==(const Causes&) const = default;
};

Cycle sum_of(const std::vector<CauseCycles>& causes);

}  // namespace dlasim
