#include "report/run_report.h"

#include <array>

#include "base/files/output_folder.h"
#include "config/machine/hardware.h"
#include "config/machine/measured.h"
#include "config/machine/memory.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"
#include "report/causes_report.h"
#include "report/nearest_program.h"

namespace dlasim {
namespace {

constexpr std::array kHeadKeys{
    Key<RunReport>{{"schema", "text", "", "dlasim.result/2"}, [](const RunReport&) -> OrderedJson { return kResultSchema; }},
    Key<RunReport>{{"kind", "text", "", "layer (transfers as well), network (ONNX models as well), loadable or program"},
                   value_of<&RunReport::kind>},
    Key<RunReport>{{"name", "text", "", "of the layer, network or program; of a loadable its file's"}, value_of<&RunReport::name>},
    Key<RunReport>{{"hardware", "object", "", "the machine: below"}, [](const RunReport& r) { return hardware_json(r.hardware); }},
    Key<RunReport>{kMachineKey, [](const RunReport& r) -> OrderedJson { return machine_name(r.hardware); }},
    Key<RunReport>{kMeasuredKey, [](const RunReport& r) -> OrderedJson { return was_measured(r.hardware, r.program); }},
    Key<RunReport>{{"nearest", "list", "", "by kind of operation the nearest program measured on the RTL, the farthest kind first: below",
                    "the program launches an operation"},
                   [](const RunReport& r) { return nearest_json(r.program, r.hardware); }},
    Key<RunReport>{{"memory", "object", "", "the memory at the ports: below"}, [](const RunReport& r) { return memory_json(r.memory); }},
    Key<RunReport>{{"cycles", "integer", "cycles", "from t0 to the last done interrupt; of several images those of the first"},
                   value_of<&RunReport::cycles>},
    Key<RunReport>{{"latency_seconds", "number", "s", "the same at the hardware's clock"}, value_of<&RunReport::latency_seconds>},
    Key<RunReport>{kCausesKey, [](const RunReport& r) { return causes_json(r.causes); }},
    Key<RunReport>{{"t0", "integer", "cycle", "from reset to the acceptance of the last op-enable of the first operation"},
                   [](const RunReport& r) -> OrderedJson { return r.run.t0; }},
    Key<RunReport>{
        {"interrupt_cycles", "list", "cycles", "rising edges of the interrupt pin after t0", "no network, whose steps have them"},
        [](const RunReport& r) { return r.kind == "network" ? kAbsent : OrderedJson(r.run.interrupt_cycles); }},
};

constexpr std::array kTailKeys{
    Key<RunReport>{
        {"units", "object", "", "every unit by name: its cycles by phase, which add up to those of the run, its clocks, its counters"},
        [](const RunReport& r) { return units_json(r.run); }},
    Key<RunReport>{{"traffic/dbb", "object", "", "traffic of the primary port, of all images"},
                   [](const RunReport& r) { return port_json(r.run.dbb, r.hardware.memory.primary.width_bytes); }},
    Key<RunReport>{{"traffic/cvsram", "object", "", "traffic of the secondary port, of all images", "the machine has one"},
                   [](const RunReport& r) {
                       const auto& ports = r.hardware.memory;
                       return ports.has_secondary ? port_json(r.run.cvsram, ports.secondary.width_bytes) : kAbsent;
                   }},
    Key<RunReport>{{"memory_report/dbb", "object", "", "statistics of its DRAM: below", "with a DRAM"},
                   [](const RunReport& r) { return memory_report_json(r.run.dbb_memory); }},
    Key<RunReport>{{"hazards", "object", "", "accesses out of order: [PROGRAMS.md](PROGRAMS.md#hazards)", "--hazards"},
                   [](const RunReport& r) { return hazards_json(r.run); }},
    Key<RunReport>{kWallSecondsKey, [](const RunReport& r) -> OrderedJson { return r.run.wall_seconds; }},
    Key<RunReport>{kCyclesPerSecondKey, [](const RunReport& r) -> OrderedJson { return cycles_per_second(r.run); }},
};

}  // namespace

double RunReport::latency_seconds() const { return static_cast<double>(cycles) / (hardware.clock_mhz * 1e6); }

OrderedJson head_json(const RunReport& report) { return written(kHeadKeys, report); }

void add_tail(OrderedJson& json, const RunReport& report) { write_keys(json, kTailKeys, report); }

void place_report_keys(std::vector<PlacedKey>& keys)
{
    place_keys(keys, kHeadKeys, "", kTailKeys, "", nearest_keys(), "");
    place_run_keys(keys);
    place_silicon_keys(keys);
    place_keys(keys, std::array{kFilesKey});
}

}  // namespace dlasim
