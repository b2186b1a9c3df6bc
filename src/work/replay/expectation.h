// What a measured case expects of a run - the form of `expected` in interfaces.md 3 - and the comparison of a run with it.
//
//   case ── read_expectation ──► signals: events in order, totals ─┐
//   RunResult ─────────────────► the same signals ─────────────────┴─► CaseComparison: by group, the first difference of each signal
//
// Accuracy is reported per group: interrupts, memory ports, unit boundaries, values.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/json_place.h"
#include "workload/run_result.h"

namespace dlasim {

struct Recording;

enum class EventGroup : std::uint8_t { Done, Bus, Probes, Data };
inline constexpr std::size_t kEventGroups = 4;
inline constexpr std::array<const char*, kEventGroups> kEventGroupNames{"done", "bus", "probes", "data"};

enum class EventForm : std::uint8_t { Edge, Command, Run };

/// A rising edge; a command with address, beats, id; a run with its length.
struct SignalEvent {
    std::int64_t cycle = 0;
    std::array<std::uint64_t, 3> values{};
    bool operator==(const SignalEvent&) const = default;
};

/// The events of a signal in order, and figures over all of them.
struct Signal {
    EventGroup group{};
    EventForm form{};
    std::string name;
    std::optional<std::vector<SignalEvent>> events;
    bool cut = false;  // recording stopped after these
    std::vector<std::pair<std::string, std::int64_t>> totals;
};

struct Expectation {
    bool finished = true;  // false: the reference hangs
    std::vector<Signal> signals;
    std::optional<std::vector<std::pair<std::string, std::uint32_t>>> reads;

    /// Commands or probes are expected, which a run records only when it is asked to.
    bool needs_events() const;
};

/// pre: `expected` is an object. ConfigError for anything that is not in the form of a measured case.
Expectation read_expectation(const Json& expected, bool finished, const JsonPlace& place);

struct SignalDifference {
    EventGroup group{};
    std::string signal;
    std::optional<std::int64_t> cycle;  // none for totals and values
    std::string expected, found;
    std::size_t equal_before = 0;  // events of the signal, or reads

    std::string text() const;
};

struct CaseComparison {
    std::array<std::optional<std::size_t>, kEventGroups> compared;  // events, totals and values by group; none: the case has none
    std::vector<SignalDifference> differences;                      // the first of each signal, the earliest first
};

/// `outputs`: the regions have the values of this run. `same_machine`: cycles may be compared.
CaseComparison compare_with(const Expectation& expectation, const Recording& recording, const RunResult& run,
                            const std::vector<std::vector<std::uint8_t>>& contents, bool outputs, bool same_machine);

/// The difference of a region of memory, if there is one.
std::optional<SignalDifference> region_difference(const struct OutputRegion& region, const std::vector<std::uint8_t>& bytes);

}  // namespace dlasim
