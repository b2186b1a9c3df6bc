#include "report/result.h"

#include <array>

#include "config/machine/hardware.h"
#include "config/machine/measured.h"
#include "config/machine/memory.h"
#include "report/difference_report.h"
#include "report/run_report.h"

namespace dlasim {
namespace {

OrderedJson job_bounds(const Job& job) { return bounds_json(job.bounds); }

/// Where the plan has launches, the cycle in which each was done.
constexpr KeyRow kLaunchDone{"done", "integer or null", "cycle", "when it completed, null if it did not", "bdma"};

OrderedJson plan_json(const Result& r)
{
    OrderedJson json = r.job.text.plan;
    if (!json.contains("launches")) return json;
    std::size_t i = 0;
    for (OrderedJson& launch : json["launches"]) {
        launch[std::string(kLaunchDone.name)] = i < r.run.done.size() ? OrderedJson(r.run.done[i].cycle) : OrderedJson();
        ++i;
    }
    return json;
}

constexpr std::array kResultKeys{
    Key<Result>{{"layer", "object", "", "the descriptor with every default: [DESCRIPTOR.md](DESCRIPTOR.md)"},
                [](const Result& r) -> OrderedJson { return r.job.text.descriptor; }},
    Key<Result>{{"plan", "object", "", "the plan of the lowering"}, plan_json},
    Key<Result>{{"macs", "integer", "MACs", "multiplications of the direct convolution"},
                [](const Result& r) -> OrderedJson { return r.job.array ? r.job.array->macs : 0; }},
    Key<Result>{{"utilization", "number", "", "macs over the capacity of the array in `cycles`: may exceed 1 with Winograd"},
                value_of<&Result::utilization>},
    Key<Result>{{"array_occupancy", "number", "", "share of the cycles in which the array takes an operation", "layers"},
                [](const Result& r) -> OrderedJson { return r.job.array ? OrderedJson(r.occupancy()) : kAbsent; }},
    Key<Result>{{"advice", "list", "", "what costs more than necessary, and how to write it", "there is any"},
                [](const Result& r) -> OrderedJson { return r.job.text.advice.empty() ? kAbsent : OrderedJson(r.job.text.advice); }},
    Key<Result>{{"verified", "flag or null", "", "every value compared is equal; null with --timing-only"},
                [](const Result& r) -> OrderedJson { return r.comparison() ? OrderedJson(r.comparison()->equal()) : OrderedJson(); }},
    Key<Result>{{"compared", "integer", "values", "outputs of a layer, bytes of all else"},
                [](const Result& r) -> OrderedJson { return r.comparison() ? r.comparison()->compared : 0; }},
    Key<Result>{{"mismatches", "integer", "values", "of these not equal"},
                [](const Result& r) -> OrderedJson { return r.comparison() ? r.comparison()->mismatches : 0; }},
    Key<Result>{{"mismatch_examples", "list", "", "the first of them in words", "there are mismatches"},
                [](const Result& r) -> OrderedJson {
                    return r.comparison() && !r.comparison()->equal() ? OrderedJson(r.comparison()->examples) : kAbsent;
                }},
    Key<Result>{{"output", "text or null", "", "the file of the output tensor, null if none was written"},
                [](const Result& r) -> OrderedJson { return r.output_file.empty() ? OrderedJson() : OrderedJson(r.output_file); }},
    Key<Result>{{"expected", "object", "", "the output compared with the expected tensor", "the descriptor gives an expected tensor"},
                [](const Result& r) -> OrderedJson { return r.expected() ? expected_json(*r.expected()) : kAbsent; }},
    Key<Result>{{"direct", "object", "", "the output compared with the direct convolution: the error of the transforms", "Winograd"},
                [](const Result& r) -> OrderedJson { return r.direct() ? direct_json(*r.direct()) : kAbsent; }},
    Key<Result>{{"unequal", "flag", "", "SDP's status: an element differed", "layers that compare"},
                [](const Result& r) -> OrderedJson {
                    return r.job.compares && !r.run.reads.empty() ? OrderedJson((r.run.reads.back().second & 1) != 0) : kAbsent;
                }},
    Key<Result>{{"bounds", "object", "cycles", "closed-form lower bounds: no machine of these sizes can be faster"},
                [](const Result& r) { return bounds_json(r.job.bounds); }},
    Key<Result>{{"bounds/largest", "integer", "cycles", "the largest of them"},
                [](const Result& r) -> OrderedJson { return largest(r.job.bounds); }},
    Key<Result>{{"bound", "text", "", "the name of the largest"},
                [](const Result& r) -> OrderedJson { return binding(r.job.bounds).name(); }},
    Key<Result>{{"bound_cycles", "integer", "cycles", "the same as bounds/largest"},
                [](const Result& r) -> OrderedJson { return binding(r.job.bounds).cycles; }},
    Key<Result>{{"bound_share", "number", "", "of `cycles`"},
                [](const Result& r) -> OrderedJson {
                    return r.cycles() == 0 ? 0.0 : static_cast<double>(binding(r.job.bounds).cycles) / static_cast<double>(r.cycles());
                }},
    Key<Result>{
        {"estimates/dram_bus", "integer", "cycles",
         "measured, not a bound: the busiest data bus of the DRAM carried data, or was blocked by timing rules", "with a DRAM"},
        [](const Result& r) -> OrderedJson { return r.run.dbb_memory.bus_held != 0 ? OrderedJson(r.run.dbb_memory.bus_held) : kAbsent; }},
};

constexpr std::array kOutlineKeys{
    Key<Job>{{"schema", "text", "", "dlasim.plan/1"}, [](const Job&) -> OrderedJson { return "dlasim.plan/1"; }},
    Key<Job>{{"name", "text", "", "of the descriptor"}, value_of<&Job::name>},
    Key<Job>{{"layer", "object", "", "the descriptor with every default: [DESCRIPTOR.md](DESCRIPTOR.md)"},
             value_of<&Job::text, &ReportText::descriptor>},
    Key<Job>{{"hardware", "object", "", "the machine: below"}, [](const Job& j) -> OrderedJson { return hardware_json(j.hardware); }},
    Key<Job>{kMachineKey, [](const Job& j) -> OrderedJson { return machine_name(j.hardware); }},
    Key<Job>{kMeasuredKey, [](const Job& j) -> OrderedJson { return was_measured(j.hardware, j.program); }},
    Key<Job>{{"memory", "object", "", "the memory at DBB: below"}, [](const Job& j) -> OrderedJson { return memory_json(j.memory); }},
    Key<Job>{{"plan", "object", "", "the plan of the lowering, as in result.json"}, value_of<&Job::text, &ReportText::plan>},
    Key<Job>{{"macs", "integer", "MACs", "multiplications of the direct convolution"},
             [](const Job& j) -> OrderedJson { return j.array ? j.array->macs : 0; }},
    Key<Job>{{"advice", "list", "", "what costs more than necessary, and how to write it", "there is any"},
             [](const Job& j) -> OrderedJson { return j.text.advice.empty() ? kAbsent : OrderedJson(j.text.advice); }},
    Key<Job>{{"bounds", "object", "cycles", "closed-form lower bounds, as in result.json"}, job_bounds},
    Key<Job>{{"bounds/largest", "integer", "cycles", "the largest of them"}, [](const Job& j) -> OrderedJson { return largest(j.bounds); }},
    Key<Job>{{"bound", "text", "", "the name of the largest"}, [](const Job& j) -> OrderedJson { return binding(j.bounds).name(); }},
    Key<Job>{{"bound_cycles", "integer", "cycles", "the same as bounds/largest"},
             [](const Job& j) -> OrderedJson { return binding(j.bounds).cycles; }},
};

}  // namespace

OrderedJson outline_json(const Job& job) { return written(kOutlineKeys, job); }

std::vector<PlacedKey> outline_keys() { return placed(kOutlineKeys, ""); }

double Result::utilization() const
{
    if (!job.array) return 0;
    const double slots = static_cast<double>(cycles()) * static_cast<double>(job.array->macs_per_cycle);
    return slots > 0 ? static_cast<double>(job.array->macs) / slots : 0;
}

double Result::occupancy() const
{
    return job.array && cycles() != 0 ? static_cast<double>(job.array->operations) / static_cast<double>(cycles()) : 0;
}

OrderedJson result_json(const Result& r)
{
    const Job& job = r.job;
    return report_json(
        {"layer", job.name, job.hardware, job.memory, job.program, r.run, static_cast<std::int64_t>(r.cycles()), r.run.causes.total()},
        kResultKeys, r);
}

std::vector<PlacedKey> result_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kResultKeys);
    std::vector<PlacedKey> plan = layer_plan_keys();
    for (const PlacedKey& key : transfer_plan_keys())
        if (key.path != "mode") plan.push_back(key);
    for (const PlacedKey& key : plan) keys.push_back({"plan/" + key.path, key.row});
    keys.push_back({"plan/launches/[]/" + std::string(kLaunchDone.name), kLaunchDone});
    place_keys(keys, expected_keys(), "expected/", direct_keys(), "direct/", kBoundKeys, "bounds/");
    return keys;
}

}  // namespace dlasim
