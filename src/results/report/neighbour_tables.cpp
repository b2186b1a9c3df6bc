#include "report/neighbour_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/files/json_text.h"
#include "facts/client.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// What has cycles and bounds of its own: the steps of units, or the layer.
std::vector<const OrderedJson*> layers_of(const OrderedJson& result)
{
    if (!result.contains("steps")) return {&result};
    std::vector<const OrderedJson*> layers;
    for (const OrderedJson& step : result["steps"])
        if (step.contains("cycles")) layers.push_back(&step);
    return layers;
}

double over(double a, double b) { return b > 0 ? a / b : 0; }

/// Bytes that move of a tensor; for a layer they are in its plan.
double moved(const OrderedJson& layer, std::string_view tensor)
{
    double bytes = 0;
    for (const char* place : {"tensors", "plan/tensors"})
        for (const auto& [name, of] : value_at(layer, place).items())
            if (name == tensor || name.starts_with(std::string(tensor) + "_")) bytes += number_at(of, "moved");
    return bytes;
}

}  // namespace

std::string compute_report(const OrderedJson& result)
{
    std::string text = "LayerID, Total Cycles, Stall Cycles, Overall Util %, Mapping Efficiency %, Compute Util %,\n";
    std::size_t id = 0;
    for (const OrderedJson* layer : layers_of(result)) {
        const double cycles = number_at(*layer, "cycles"), overall = number_at(*layer, "utilization");
        const double computing = std::min(number_at(*layer, "bounds/mac_array"), cycles);
        const double full = 100 * overall * over(cycles, computing);  // of the operations of the array
        text += fmt::format("{}, {:.0f}, {:.0f}, {:.6g}, {:.6g}, {:.6g},\n", id++, cycles, cycles - computing, 100 * overall, full, full);
    }
    return text;
}

std::string bandwidth_report(const OrderedJson& result)
{
    std::string text =
        "LayerID, Avg IFMAP SRAM BW, Avg FILTER SRAM BW, Avg OFMAP SRAM BW, Avg IFMAP DRAM BW, Avg FILTER DRAM BW, Avg OFMAP DRAM BW,\n";
    std::size_t id = 0;
    for (const OrderedJson* layer : layers_of(result)) {
        const double cycles = number_at(*layer, "cycles");
        text += fmt::format("{}, , , , {:.6g}, {:.6g}, {:.6g},\n", id++, over(moved(*layer, "input"), cycles),
                            over(moved(*layer, "weights"), cycles), over(moved(*layer, "output"), cycles));
    }
    return text;
}

std::string address_trace(const RunResult& run, const Hardware& hardware, const std::string& client)
{
    struct Burst {
        const BusCommand* command;
        const char *port, *access;
        std::uint64_t width;
    };
    std::vector<Burst> bursts;
    const auto add = [&](const std::vector<BusCommand>& log, const char* port, const char* access, std::uint64_t width) {
        for (const BusCommand& command : log)
            if (client.empty() || client == kClientNames[command.id % kClients]) bursts.push_back({&command, port, access, width});
    };
    const std::uint64_t primary = hardware.memory.primary.width_bytes, secondary = hardware.memory.secondary.width_bytes;
    add(run.dbb.ar_log, "dbb", "read", primary);
    add(run.dbb.aw_log, "dbb", "write", primary);
    add(run.cvsram.ar_log, "cvsram", "read", secondary);
    add(run.cvsram.aw_log, "cvsram", "write", secondary);
    std::ranges::stable_sort(bursts, {}, [](const Burst& burst) { return burst.command->cycle; });
    std::string text = "cycle,port,access,client,address,bytes\n";
    for (const auto& [command, port, access, width] : bursts)
        text += fmt::format("{},{},{},{},{:#x},{}\n", static_cast<std::int64_t>(command->cycle) - static_cast<std::int64_t>(run.t0), port,
                            access, kClientNames[command->id % kClients], command->address, command->beats * width);
    return text;
}

}  // namespace dlasim
