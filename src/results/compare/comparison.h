// Two runs side by side: cycles in all, by cause and by step, and what changed in hardware, memory, plan and traffic.
#pragma once
#include <optional>

#include "base/files/keys.h"
#include "compare/recorded_run.h"

namespace dlasim {

/// A value that differs; null where a run does not have it.
struct FactChange {
    std::string path;
    Json a, b;
};

/// A number of both; 0 where a run does not have it.
struct AmountChange {
    std::string name;
    std::int64_t a = 0, b = 0;
    std::int64_t change() const { return b - a; }
};

struct StepChange {
    AmountChange cycles;
    std::vector<AmountChange> causes;  // of steps whose causes are in both results
};

struct RunComparison {
    RecordedRun a, b;
    std::vector<FactChange> work, hardware, memory, plan;  // by path
    std::vector<AmountChange> parts;                       // of the cycles, largest change first: causes, or phases of the array
    bool by_cause = false;                                 // else by phase
    std::vector<StepChange> steps;                         // in both, in the order of B
    std::vector<AmountChange> only_a, only_b;              // steps of one run alone
    std::vector<AmountChange> traffic;                     // bytes, those that changed

    bool same_work() const { return work.empty(); }
    std::int64_t change() const { return b.cycles - a.cycles; }
    /// Of the cycles of A; none where these are 0.
    std::optional<double> percent() const;
    /// The cycles differ by at most this percentage of those of A, either way.
    bool within(double tolerance) const;
    /// One sentence: how many cycles more or fewer, and what most of them are.
    std::string verdict(const std::string& name_of_b = "B") const;
};

RunComparison compare_runs(RecordedRun a, RecordedRun b);
/// The part that moved most the way the whole did: "mostly memory: latency (-1,234)". Empty if none did.
std::string main_part(const std::vector<AmountChange>& parts, std::int64_t change);

/// `tolerance`: in percent, where one was asked for.
OrderedJson comparison_json(const RunComparison& comparison, std::optional<double> tolerance);
std::vector<PlacedKey> comparison_keys();
/// One page of runs that are compared with the same first one: causes and steps of all on one axis, and what changed. Nothing in it needs
/// a script. pre: there is one
std::string comparison_page(const std::vector<RunComparison>& comparisons);
/// The verdict, and tables within 80 columns.
std::string comparison_text(const RunComparison& comparison, std::optional<double> tolerance);

}  // namespace dlasim
