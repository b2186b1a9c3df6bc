// Changes to a run that has ended, tried one by one: what it gains, and the exact option that makes it. docs/CAUSES.md.
//
//   result.json ──► recorded_point()      what ran, as a point that runs again
//               └─► remedies(), size_trials(), slack_trials()
//                                     trials ──► trial_point() ──► (run by app) ──► Outcome ──► remedies_text() and others
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/sweep/sweep.h"
#include "explain/explanation.h"

namespace dlasim {

/// One change to a run.
struct Trial {
    Change change{Change::Of::Work, "", ""};
    std::string path, value;       // as changed: "cbuf.banks", "32"
    std::string option;            // what makes it: "--set cbuf.banks=32"
    std::optional<Cause> against;  // what it is to make smaller; none of a trial of sizes
    std::int64_t charged = 0;      // cycles of that cause
    bool software() const { return change.of == Change::Of::Work; }
    bool of_clock() const { return path == "clock_mhz"; }
};

/// How a trial ended. Either `cycles` or `refused`.
struct Outcome {
    std::int64_t cycles = 0;
    double time_us = 0;                  // at the clock of that machine
    double area_mm2 = 0, energy_uj = 0;  // 0: not known
    std::string refused;                 // by which rule, or why it has no result
};

/// A run as its result.json has it, ready to be run again and changed.
struct RecordedPoint {  // NOLINT(bugprone-exception-escape): moving JSON does not throw
    std::string file;   // of the result
    const WorkKind* kind = nullptr;
    WrittenWork work;
    OnnxWork model;    // what a model gets
    std::string mode;  // of a file of the compiler
    Json memory;
    std::string preset;                 // of the hardware
    std::vector<std::string> settings;  // laid over it, "cbuf.banks=32": no more than make the machine
    std::int64_t dram_channels = 1;
};
/// ConfigError if it cannot be run again: a replay.
RecordedPoint recorded_point(const Json& result, const std::string& file);
/// The point itself with changes, one after the other. ConfigError if it cannot be.
SweepPoint trial_point(const RecordedPoint& recorded, std::span<const Trial> trials);

/// Changes that follow from the causes, up to a limit: software first, then by the cycles that they are against.
std::vector<Trial> remedies(const Explanation& explanation, const RecordedPoint& recorded, std::size_t most);
/// Every size of the hardware and every number of the ideal memory, halved and doubled, one after the other.
std::vector<Trial> size_trials(const RecordedPoint& recorded);
/// Every size of the hardware, and the channels of the DRAM, a half, a quarter and an eighth of what they are; every optional part left
/// out; slower clocks.
std::vector<Trial> slack_trials(const RecordedPoint& recorded);

/// `before`: the run itself, again.
OrderedJson trials_json(const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes, const Outcome& before);
std::vector<PlacedKey> trial_keys();
/// By gain, within 80 columns.
std::string remedies_text(const Explanation& explanation, const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes,
                          const Outcome& before);
/// A row a size.
std::string sizes_text(const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes, const Outcome& before);
/// Sections of a page without scripts: what would help and what can shrink as bars, with area, energy and the options to copy. `tried`: as
/// printed by --json.
std::string tried_html(const OrderedJson& tried, const Outcome& before);
std::string tried_styles();
/// A page of causes, and of such sections.
std::string explanation_page(const Explanation& explanation, const std::string& tried);

}  // namespace dlasim
