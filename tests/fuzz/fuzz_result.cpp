// Results of runs: read as two runs of which one was changed, compared and told.
#include "base/files/json_text.h"
#include "compare/comparison.h"
#include "fuzz.h"

namespace dlasim {
namespace fuzz_result {

using namespace fuzz;

constexpr const char* kLayer =
    R"({"schema": "dlasim.result/2", "kind": "layer", "name": "l", "layer": {"name": "l", "input": {"width": 9, "channels": 12},
    "weights": {"compressed": false, "density": 1.0}, "partition": {"rows": [3, 2]}, "data": {"seed": 1}},
    "hardware": {"preset": "nv_small", "cbuf": {"banks": 32}, "clock_mhz": 1000}, "memory": {"kind": "ideal", "latency": 32},
    "plan": {"mode": "direct", "passes": 3, "reason": "x", "parts": [{"rows": [0, 3]}]}, "cycles": 1000, "verified": true,
    "causes": {"array": {"computing": 600, "idle": {"data": 150}}, "memory": 250},
    "units": {"cmac_a": {"issuing": 700, "starved": 300, "blocked": 0, "draining": 0, "gated": 0}},
    "traffic": {"dbb": {"read_bytes": 4096, "write_bytes": 512, "read_bytes_by_client": {"CDMA_DAT": 4096}}}})";
constexpr const char* kNetwork =
    R"({"schema": "dlasim.result/2", "kind": "network", "name": "n", "network": {"name": "n", "input": {"width": 4}, "plan": {"minimise": "cycles"},
    "layers": [{"name": "a", "op": "conv2d", "partition": {"rows": 2}}, {"name": "b", "op": "pool"}]}, "images": {"count": 2},
    "hardware": {"preset": "nv_large"}, "memory": {"kind": "ddr4-3200"}, "cycles": 500, "verified": null,
    "steps": [{"name": "a", "share": 300, "unit": "array", "operations": 2, "causes": {"x": 300}}, {"name": "a", "share": 200}, {"name": "h"}]})";
constexpr const char* kLoadable = R"({"schema": "dlasim.loadable/1", "loadable": "d/f.nvdla", "mode": "driver", "cycles": 70,
    "operations": [{"task": 0, "operation": 1, "kind": "CONV", "start": 3, "done": 60, "macs": 9, "input": [1, 2, 3]}]})";
constexpr const char* kReplay = R"({"schema": "dlasim.replay/1", "name": "r", "hardware": "nv_full", "cycles": 7,
    "units": {"cmac_a": {"phases": {"issuing": 7}}}, "traffic": {"dbb": {"ar": 1, "rbeats": 2, "wbytes": 3}}})";

std::vector<std::string> seeds() { return {kLayer, kNetwork, kLoadable, kReplay}; }

std::vector<std::string> words()
{
    return {"schema",
            "dlasim.result/1",
            "dlasim.result/2",
            "kind",
            "causes",
            "steps",
            "share",
            "operations",
            "start",
            "done",
            "layer",
            "network",
            "layers",
            "name",
            "phases",
            "9007199254740992",
            "18446744073709551615",
            "\\u0000",
            "-0.0"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const RecordedRun run = recorded_run(parse_json({reinterpret_cast<const char*>(data), size}, "result.json"), "result.json");
        const RecordedRun other = recorded_run(parse_json(kNetwork, "other.json"), "other.json");
        const RunComparison same = compare_runs(run, run);
        fuzz::expect(same.change() == 0 && same.same_work() && same.hardware.empty() && same.memory.empty() && same.plan.empty() &&
                         same.traffic.empty() && same.only_a.empty() && same.only_b.empty() && same.within(0),
                     "a run is what it is");
        for (const RunComparison& c : {compare_runs(run, other), compare_runs(other, run)}) {
            fuzz::expect(!comparison_text(c, 1.0).empty() && !comparison_json(c, std::nullopt).dump(-1, ' ', true).empty(),
                         "it can be told");
            for (const StepChange& step : c.steps) fuzz::expect(step.cycles.a >= 0 && step.cycles.b >= 0, "cycles of a step");
        }
    });
}

const Target target("result", seeds, words, input);

}  // namespace fuzz_result
}  // namespace dlasim
