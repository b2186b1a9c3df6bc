#include "report/result.h"

#include "config/hardware.h"
#include "config/memory.h"

namespace dlasim {
namespace {

OrderedJson unit_json(const UnitReport& unit, Cycle cycles)
{
    OrderedJson json;
    for (std::size_t p = 0; p < kPhases; ++p) json[std::string(kPhaseNames[p])] = unit.phases.cycles(static_cast<Phase>(p));
    for (const auto& [domain, on] : unit.clock_on) {
        json["clock_on"][domain] = on;
        json["clock_gated"][domain] = cycles - on;
    }
    for (const auto& [name, value] : unit.counters) json["counters"][name] = value;
    return json;
}

OrderedJson clients_json(const std::vector<std::pair<std::string, std::uint64_t>>& clients)
{
    OrderedJson json = OrderedJson::object();
    for (const auto& [client, bytes] : clients) json[client] = bytes;
    return json;
}

OrderedJson port_json(const PortTraffic& port, std::uint32_t beat_bytes)
{
    OrderedJson json;
    json["read_commands"] = port.ar;
    json["read_beats"] = port.read_beats;
    json["read_bytes"] = port.read_beats * beat_bytes;
    json["write_commands"] = port.aw;
    json["write_beats"] = port.write_beats;
    json["write_bytes"] = port.write_bytes;
    json["read_bytes_by_client"] = clients_json(port.read_bytes_by_client);
    json["write_bytes_by_client"] = clients_json(port.write_bytes_by_client);
    return json;
}

/// `verified`, `compared`, `mismatches` and the examples.
void put_verdict(OrderedJson& json, const std::optional<Comparison>& comparison)
{
    if (comparison) json["verified"] = comparison->equal();
    else json["verified"] = nullptr;
    json["compared"] = comparison ? comparison->compared : 0;
    json["mismatches"] = comparison ? comparison->mismatches : 0;
    if (comparison && !comparison->equal()) json["mismatch_examples"] = comparison->examples;
}

/// `output`: the file of the tensor, null without one. `expected`: how it differs from the tensor it should be, if there is one.
void put_output(OrderedJson& json, const std::string& file, const std::optional<Difference>& expected)
{
    json["output"] = file.empty() ? OrderedJson() : OrderedJson(file);
    if (!expected) return;
    OrderedJson& d = json["expected"];
    d = {{"file", expected->file}, {"equal", expected->equal()}, {"compared", expected->compared}, {"differing", expected->differing}};
    if (expected->equal()) return;
    d["first"] = {{"batch", expected->n},  {"channel", expected->c},   {"row", expected->y},
                  {"column", expected->x}, {"found", expected->found}, {"expected", expected->expected}};
    d["largest_difference"] = expected->largest;  // null if it is not finite
}

/// `units`, `traffic`, `memory_report`.
void put_run(OrderedJson& json, const RunResult& run, const Hardware& hardware, std::uint64_t cycles)
{
    for (const UnitReport& unit : run.units) json["units"][unit.name] = unit_json(unit, cycles);
    json["traffic"]["dbb"] = port_json(run.dbb, hardware.memory.primary.width_bytes);
    if (hardware.memory.has_secondary) json["traffic"]["cvsram"] = port_json(run.cvsram, hardware.memory.secondary.width_bytes);
    // What a DRAM says of itself; the ideal memory says nothing.
    for (const auto& [port, report] : {std::pair{"dbb", &run.dbb_memory}, std::pair{"cvsram", &run.cvsram_memory}})
        if (!report->json.empty()) json["memory_report"][port] = OrderedJson::parse(report->json, nullptr, false);
}

/// `bounds`, `binding_bound` with its share of the cycles, and `estimates`: measured, not bounds.
void put_bounds(OrderedJson& json, const std::vector<Bound>& bounds, const RunResult& run, std::uint64_t cycles)
{
    for (const Bound& bound : bounds) json["bounds"][bound.name] = bound.cycles;
    json["bounds"]["largest"] = largest(bounds);
    const Bound& bind = binding(bounds);
    json["binding_bound"] = {{"name", bind.name},
                             {"cycles", bind.cycles},
                             {"share", cycles == 0 ? 0.0 : static_cast<double>(bind.cycles) / static_cast<double>(cycles)}};
    if (run.dbb_memory.bus_held != 0) json["estimates"]["dram_bus"] = run.dbb_memory.bus_held;
}

/// Where the plan has launches, the cycle in which each was done: null where it was not.
OrderedJson plan_json(const OrderedJson& plan, const RunResult& run)
{
    OrderedJson json = plan;
    if (!json.contains("launches")) return json;
    std::size_t i = 0;
    for (OrderedJson& launch : json["launches"]) {
        launch["done"] = i < run.done.size() ? OrderedJson(run.done[i].cycle) : OrderedJson();
        ++i;
    }
    return json;
}

}  // namespace

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
    OrderedJson json;
    json["schema"] = "dlasim.result/1";
    json["name"] = job.name;
    json["layer"] = job.says.descriptor;
    json["hardware"] = hardware_json(job.hardware);
    json["memory"] = memory_json(job.memory);
    json["plan"] = plan_json(job.says.plan, r.run);
    json["cycles"] = r.cycles();
    json["t0"] = r.run.t0;
    json["macs"] = job.array ? job.array->macs : 0;
    json["mac_utilization"] = r.utilization();
    if (job.array) json["array_occupancy"] = r.occupancy();
    if (!job.says.advice.empty()) json["advice"] = job.says.advice;
    put_verdict(json, r.comparison);
    put_output(json, r.output_file, r.expected);
    if (job.compares && !r.run.reads.empty()) json["unequal"] = (r.run.reads.back().second & 1) != 0;
    put_run(json, r.run, job.hardware, r.cycles());
    put_bounds(json, job.bounds, r.run, r.cycles());
    json["wall_seconds"] = r.wall_seconds;
    json["simulated_cycles_per_second"] = r.cycles_per_second();
    return json;
}

}  // namespace dlasim
