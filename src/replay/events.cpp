#include "replay/events.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kRecorded = 400;   // commands in the file
constexpr std::size_t kHexBytes = 1024;  // regions up to here are written out

OrderedJson totals(const PortTraffic& port)
{
    return {{"ar", port.ar}, {"rbeats", port.read_beats}, {"aw", port.aw}, {"wbeats", port.write_beats}, {"wbytes", port.write_bytes}};
}

OrderedJson commands(const std::vector<BusCommand>& log, Cycle t0)
{
    OrderedJson list = OrderedJson::array();
    for (std::size_t i = 0; i < std::min(log.size(), kRecorded); ++i)
        list.push_back({static_cast<std::int64_t>(log[i].cycle) - static_cast<std::int64_t>(t0), fmt::format("{:x}", log[i].address),
                        log[i].beats, log[i].id});
    return list;
}

}  // namespace

std::uint32_t crc32_of(const std::vector<std::uint8_t>& bytes)
{
    return static_cast<std::uint32_t>(::crc32_z(::crc32_z(0, nullptr, 0), bytes.data(), bytes.size()));
}

OrderedJson events_json(const RunResult& result, const Recording& recording, const std::vector<std::vector<std::uint8_t>>& contents,
                        bool secondary, std::size_t most_runs)
{
    OrderedJson events;
    events["interrupt_cycles"] = result.interrupt_cycles;
    events["dbb"] = totals(result.dbb);
    events["ar"] = commands(result.dbb.ar_log, result.t0);
    events["aw"] = commands(result.dbb.aw_log, result.t0);
    if (secondary) {
        events["cvsram"] = totals(result.cvsram);
        events["cvsram_ar"] = commands(result.cvsram.ar_log, result.t0);
        events["cvsram_aw"] = commands(result.cvsram.aw_log, result.t0);
    }
    events["reads"] = OrderedJson::array();
    for (const auto& [name, value] : result.reads) events["reads"].push_back({name, value});
    events["output"] = OrderedJson::array();
    for (std::size_t i = 0; i < contents.size(); ++i) {
        OrderedJson region{{"addr", fmt::format("{:x}", recording.outputs[i].address)},
                           {"bytes", contents[i].size()},
                           {"crc32", fmt::format("{:08x}", crc32_of(contents[i]))}};
        if (contents[i].size() <= kHexBytes) {
            std::string hex;
            for (const std::uint8_t byte : contents[i]) hex += fmt::format("{:02x}", byte);
            region["hex"] = hex;
        }
        events["output"].push_back(region);
    }
    OrderedJson& probes = events["probes"] = OrderedJson::object();
    for (const ProbeEvents& probe : result.probes) {
        OrderedJson runs = OrderedJson::array();
        for (std::size_t i = 0; i < std::min(probe.runs.size(), most_runs); ++i)
            runs.push_back({probe.runs[i].first, probe.runs[i].second});
        probes[probe.name] = {{"active", probe.active}, {"first", probe.first}, {"last", probe.last}, {"runs", runs}};
    }
    return events;
}

std::string json_file_text(const OrderedJson& json, int indent)
{
    return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace dlasim
