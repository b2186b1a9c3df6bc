// result.json of every run, whatever ran: one schema. Its head says what ran on what and how long it took, its tail what the machine did;
// between the two are the keys of the kind: a layer or transfer, a network, a file of the compiler, a register program.
//
//   head   schema, kind, name, hardware, machine, measured, nearest, memory, cycles, latency_seconds, causes, t0, interrupt_cycles
//   own    what the kind adds: result.cpp, network/network_result.cpp, loadable_result.cpp, replay_result.cpp
//   tail   units, traffic, memory_report, hazards, wall_seconds, simulated_cycles_per_second
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/files/keys.h"
#include "config/json_object.h"
#include "report/run_sections.h"
#include "workload/run_result.h"

namespace dlasim {

inline constexpr std::string_view kResultSchema = "dlasim.result/2";

struct RunReport {
    std::string_view kind;  // layer, network, loadable, program
    std::string name;
    const Hardware& hardware;
    const MemorySpec& memory;
    const Program& program;
    const RunResult& run;
    std::int64_t cycles;  // of a network of several images those of the first
    std::vector<CauseCycles> causes;

    double latency_seconds() const;
};

OrderedJson head_json(const RunReport& report);
void add_tail(OrderedJson& json, const RunReport& report);
void place_report_keys(std::vector<PlacedKey>& keys);

/// `own`: the rows of the kind, of `source`.
template <class Keys, class Source>
OrderedJson report_json(const RunReport& report, const Keys& own, const Source& source)
{
    OrderedJson json = head_json(report);
    write_keys(json, own, source);
    add_tail(json, report);
    return json;
}

}  // namespace dlasim
