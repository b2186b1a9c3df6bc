// What the commands that run something on a machine have in common, whatever it is. The command line decides which command has which
// option; what means nothing for a kind of work is refused: refuse_options().
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/trial_options.h"
#include "base/files/output.h"
#include "plan/planned.h"
#include "report/network/search_report.h"
#include "report/timeline/timeline.h"
#include "silicon/technology.h"

namespace dlasim {

struct RunOptions : PlanOptions {
    std::string out = "out";  // empty: a recording has no result.json
    bool has_out = false;
    std::optional<std::size_t> point;  // of a sweep
    std::string events;                // file of probes and bus logs, none if empty
    std::string timeline;              // file of a timeline, likewise
    std::string waves;                 // file of a waveform, likewise
    std::string html;                  // file of a page, likewise
    TrialOptions trials;               // for the page
    TriedSections tried;               // what they found
    std::string pipeline;              // file of stripes, likewise
    TimelineSelection shown;           // what of the run timeline and pipeline have
    std::string trace;                 // file of the bursts of DMA clients, likewise
    std::string trace_client;          // of this one only; empty: of all
    std::string accesses;              // file of the register accesses, likewise
    std::string diff;                  // file of output - expected tensor, likewise
    std::string command;               // as it was given, for a shell
    bool check_dram = false;           // every command of a DRAM goes through its checker
    bool quiet = false, stepping = false, hazards = false, times = false;
    bool causes = true;
    std::uint64_t sum_up_every = 0;      // SimulateOptions::sum_up_every
    bool records_events = false;         // though no file has them
    bool operations = false;             // when each operation of the program ran
    bool output = true;                  // write output tensors
    bool apart = false;                  // simulate every step of a network by itself too
    double optimise = 0;                 // seconds for a better network; 0: the planner's
    std::string best, require;           // what is better then, what it must meet: expressions of figures
    std::size_t jobs = 0;                // simulations side by side meanwhile
    std::string cpu;                     // how fast the host of a compiler's file is
    bool check = false;                  // a compiler's file against the rules of NVIDIA's software, without running
    bool report = false;                 // the table in report.txt too
    std::optional<SearchReport> search;  // what it found
    bool scale_sim = false;              // COMPUTE_REPORT.csv and BANDWIDTH_REPORT.csv too
    bool reproducible = false;           // result.json says nothing of the host
    bool page = false;                   // the page in run.html of the folder
    Sync sync = Sync::Now;
    std::string technology;                              // of area and energy: a table's name or a file; empty: the sweep's, or 16nm
    std::shared_ptr<const silicon::Technology> silicon;  // as read; null: 16nm
    std::optional<double> host_ns;                       // that the host takes for an element of its steps, where it was stated
    std::uint64_t power_window = 0;                      // cycles of a window of power over time; 0: none is wanted
    std::function<void(const nlohmann::ordered_json&)> on_result;  // gets what result.json says
};

}  // namespace dlasim
