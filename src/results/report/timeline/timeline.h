// A timeline of a run, as ui.perfetto.dev opens it.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/timeline/over_time.h"
#include "workload/run_result.h"

namespace dlasim {

/// A part of the work with a name: a step of a network, an operation. Cycles relative to t0; from after `start` to `done`.
struct Span {
    std::string name;
    std::int64_t start = 0, done = 0;
};

/// Tracks that can be chosen, from top to bottom.
enum class TimelineTrack : std::uint8_t { Steps, Units, Groups, Stripes, Clients, Banks, Flows, Counters, Signals };
inline constexpr std::array<std::string_view, 9> kTimelineTracks{"steps", "units", "groups",   "stripes", "clients",
                                                                 "banks", "flows", "counters", "signals"};

/// What of a run a record shows.
struct TimelineSelection {
    std::int64_t from = INT64_MIN, to = INT64_MAX;     // cycles [from, to) relative to t0; what reaches beyond is cut
    std::bitset<kTimelineTracks.size()> tracks{0xff};  // all but signals
    bool contains(Cycle cycle) const { return static_cast<std::int64_t>(cycle) >= from && static_cast<std::int64_t>(cycle) < to; }
    bool has(TimelineTrack track) const { return tracks[static_cast<std::size_t>(track)]; }
};

/// Refuses --timeline in a build without Perfetto's format.
void require_timelines();

/// Perfetto's protobuf form; 1 ns is a cycle of the core clock, 0 is t0. pre: the run recorded events.
///
///   steps     the spans; interrupts          clients   beats of every memory client
///   units     phases; gated cycles are gaps  banks     open rows of the DRAM at DBB
///   groups    layers of register groups      counters  levels, bytes, rows, power; beats in 1,024 cycles
///   stripes   through CSC, CMAC, CACC, SDP   signals   every signal at a boundary that was ever high
///   flows     arrows from the layer that CDMA fetches to those of CSC, CACC and SDP that use it, and to PDP
std::string timeline_bytes(const RunResult& run, const std::string& name, const std::vector<Span>& spans, const OverTime::Parts& parts,
                           const TimelineSelection& shown);

}  // namespace dlasim
