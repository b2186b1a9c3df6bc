#include "report/result.h"

#include <algorithm>

#include "config/hardware.h"
#include "config/layer_reader.h"
#include "config/memory.h"
#include "report/advice.h"

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

/// Parts of a partitioned layer in the order they ran: [first, count] of rows and kernels of the output, lines of the input.
OrderedJson parts_json(const Plan& plan)
{
    OrderedJson parts = OrderedJson::array();
    for (const PlannedPass& part : plan.passes) {
        const Reuse& reuse = part.pass.reuse;
        parts.push_back({{"rows", {part.first_row, part.rows}},
                         {"kernels", {part.first_kernel, part.kernels}},
                         {"fetched_lines", part.fetched_lines},
                         {"kept_lines", part.kept_lines},
                         {"reuse_data", reuse.data},
                         {"reuse_weights", reuse.weights},
                         {"keep_data", reuse.keep_data},
                         {"keep_weights", reuse.keep_weights}});
    }
    return parts;
}

OrderedJson plan_json(const Plan& plan, const Layer& layer)
{
    OrderedJson json;
    json["mode"] = plan.mode;
    json["passes"] = plan.passes.size();
    const Geometry& g = plan.passes.front().geometry;
    json["data_banks"] = g.data_banks;
    json["weight_banks"] = g.weight_banks;
    json["entries_per_line"] = g.entries_per_slice;
    json["entries"] = g.entries;
    json["weight_bytes"] = g.weight_bytes;
    json["array_macs"] = plan.macs;
    if (plan.partitioned) json["parts"] = parts_json(plan);
    if (const OutputLayout layout = output_layout(plan, layer); layout.regions != 0)
        json["output"] = {
            {"one_tensor", layout.one_tensor}, {"regions", layout.regions}, {"bytes", layout.bytes}, {"tensor_bytes", layout.tensor_bytes}};
    if (plan.passes.front().pool) json["pool_columns"] = plan.passes.front().pool->geometry.columns;
    const Addresses& a = plan.passes.front().address;
    json["addresses"] = {{"input", a.input},    {"weights", a.weights}, {"output", a.output},
                         {"bs", a.operands[0]}, {"bn", a.operands[1]},  {"ew", a.operands[2]}};
    return json;
}

}  // namespace

void put_verdict(OrderedJson& json, const std::optional<Comparison>& comparison)
{
    if (comparison) json["verified"] = comparison->equal();
    else json["verified"] = nullptr;
    json["compared"] = comparison ? comparison->compared : 0;
    json["mismatches"] = comparison ? comparison->mismatches : 0;
    if (comparison && !comparison->equal()) json["mismatch_examples"] = comparison->examples;
}

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

void put_run(OrderedJson& json, const RunResult& run, const Hardware& hardware, std::uint64_t cycles)
{
    for (const UnitReport& unit : run.units) json["units"][unit.name] = unit_json(unit, cycles);
    json["traffic"]["dbb"] = port_json(run.dbb, hardware.memory.primary.width_bytes);
    if (hardware.memory.has_secondary) json["traffic"]["cvsram"] = port_json(run.cvsram, hardware.memory.secondary.width_bytes);
    // What a DRAM says of itself; the ideal memory says nothing.
    for (const auto& [port, report] : {std::pair{"dbb", &run.dbb_memory}, std::pair{"cvsram", &run.cvsram_memory}})
        if (!report->json.empty()) json["memory_report"][port] = OrderedJson::parse(report->json, nullptr, false);
}

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

double LayerResult::utilization() const
{
    const double slots = static_cast<double>(cycles()) * static_cast<double>(hardware.macs_per_cycle(layer.precision));
    return slots > 0 ? static_cast<double>(layer.macs()) / slots : 0;
}

double LayerResult::occupancy() const
{
    const std::uint64_t operations = array_operations(plan, hardware);
    return cycles() != 0 ? static_cast<double>(operations) / static_cast<double>(cycles()) : 0;
}

OrderedJson result_json(const LayerResult& r)
{
    OrderedJson json;
    json["schema"] = "dlasim.result/1";
    json["name"] = r.layer.name;
    json["layer"] = layer_json(r.layer);
    json["hardware"] = hardware_json(r.hardware);
    json["memory"] = memory_json(r.memory);
    json["plan"] = plan_json(r.plan, r.layer);
    json["cycles"] = r.cycles();
    json["t0"] = r.run.t0;
    json["macs"] = r.layer.macs();
    json["mac_utilization"] = r.utilization();
    json["array_occupancy"] = r.occupancy();
    if (const std::vector<std::string> advice = advice_on(r.plan, r.layer, r.hardware, r.memory); !advice.empty()) json["advice"] = advice;
    put_verdict(json, r.comparison);
    put_output(json, r.output_file, r.expected);
    if (r.layer.post.compares() && !r.run.reads.empty()) json["unequal"] = (r.run.reads.back().second & 1) != 0;
    put_run(json, r.run, r.hardware, r.cycles());
    put_bounds(json, lower_bounds(r.plan, r.layer, r.hardware, r.memory), r.run, r.cycles());
    json["wall_seconds"] = r.wall_seconds;
    json["simulated_cycles_per_second"] = r.cycles_per_second();
    return json;
}

}  // namespace dlasim
