#include "sweep/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/files/json_text.h"
#include "config/machine/hardware.h"

namespace dlasim {
namespace {

/// A result, with what several figures need of it.
struct Run {
    const OrderedJson& json;
    Hardware hardware;
    double cycles = 0, images = 1, all_cycles = 0;  // of an image; images of an ONNX model, and the cycles of all

    explicit Run(const OrderedJson& result) : json(result)
    {
        if (result.empty()) return;
        hardware = read_hardware(Json(result.at("hardware")), "result.json", "/hardware");
        cycles = all_cycles = result.at("cycles").get<double>();
        if (at("images/count").is_null()) return;
        images = static_cast<double>(std::max<std::uint64_t>(1, count("images/count")));
        all_cycles = static_cast<double>(count("images/cycles"));
    }
    bool ran() const { return !json.empty(); }
    /// The value at a path; null if there is none.
    OrderedJson at(const std::string& path) const { return value_at(json, path); }
    std::uint64_t count(const std::string& path) const
    {
        const OrderedJson value = at(path);
        return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
    }
    double seconds() const { return cycles / (hardware.clock_mhz * 1e6); }
    /// A rate: `amount` of the whole run over its time.
    double a_second(double amount) const { return amount * hardware.clock_mhz * 1e6 / all_cycles; }
    double frames() const { return images * static_cast<double>(std::max<std::uint64_t>(1, count("layer/input/batch"))); }
    /// Of a number of the whole run, as every image has the same program; null if there is none.
    OrderedJson an_image(const std::string& path) const
    {
        OrderedJson value = at(path);
        if (!value.is_number_unsigned() || images == 1) return value;
        const auto each = static_cast<std::uint64_t>(images), all = value.get<std::uint64_t>();
        return all % each == 0 ? OrderedJson(all / each) : OrderedJson(shown(static_cast<double>(all) / images));
    }
    /// A layer has no steps of the host.
    OrderedJson host(const std::string& key) const { return at("host").is_null() ? OrderedJson(0) : at("host/" + key); }
    /// Energy of a unit, of an image.
    OrderedJson unit_uj(std::string_view unit) const { return rounded_or_null(at("energy/units/" + std::string(unit) + "/energy_uj")); }
    OrderedJson rounded_or_null(const OrderedJson& value) const
    {
        return value.is_number() ? OrderedJson(shown(value.get<double>())) : OrderedJson();
    }
    /// Of a number at a path.
    OrderedJson share(const std::string& path) const
    {
        return cycles > 0 ? OrderedJson(static_cast<double>(count(path)) / cycles) : OrderedJson();
    }
};

/// The path of a value, as a parameter of what takes it.
template <std::size_t N>
struct Path {
    char text[N];
    constexpr Path(const char (&path)[N]) { std::copy_n(path, N, text); }
};
template <Path P>
OrderedJson figure_at(const Run& r)
{
    return r.at(P.text);
}
template <Path P>
OrderedJson rounded_value(const Run& r)
{
    return r.rounded_or_null(r.at(P.text));
}
template <Path P>
OrderedJson value_of_image(const Run& r)
{
    return r.an_image(P.text);
}
template <Path P>
OrderedJson unit_uj(const Run& r)
{
    return r.unit_uj(P.text);
}

/// Six digits: figures that follow from others claim no more.
OrderedJson rounded(double value)
{
    if (!std::isfinite(value)) return {};
    return shown(value);
}

/// How the work was cut and its banks were divided; null where the result says nothing of it, as of networks.
OrderedJson plan_text(const Run& run)
{
    if (run.at("plan/data_banks").is_null()) return {};
    std::string text =
        std::to_string(run.count("plan/data_banks")) + " data and " + std::to_string(run.count("plan/weight_banks")) + " weight banks";
    const OrderedJson cut = run.at("plan/cut"), parts = run.at("plan/parts");
    if (cut.is_string()) text += ", " + cut.get<std::string>();
    if (parts.is_array() && !parts.empty())
        for (const char* side : {"rows", "columns", "kernels"})
            if (const OrderedJson& range = parts[0].value(side, OrderedJson()); range.is_array() && range.size() == 2)
                text += (side == std::string("rows") ? ", the first of " : ", ") + range[1].dump() + " " + side;
    return text;
}

/// Of the measured program that is nearest to the farthest kind of operation.
OrderedJson nearest_of(const Run& run, const char* key)
{
    const OrderedJson list = run.at("nearest");
    if (!list.is_array() || list.empty()) return {};
    const OrderedJson value = list.front().value(key, OrderedJson());
    return value.is_number() ? rounded(value.get<double>()) : value;
}

/// The share of the energy that is spent without any work, times the power.
OrderedJson idle_mw(const Run& run)
{
    const OrderedJson units = run.at("energy/units"), energy = run.at("energy_uj"), power = run.at("power_mw");
    if (!units.is_object() || !energy.is_number() || !power.is_number() || energy.get<double>() <= 0) return {};
    double idle_uj = 0;
    for (const auto& [name, unit] : units.items())
        idle_uj += unit.value("leakage_uj", 0.0) + (name == "control" ? unit.value("clock_uj", 0.0) : 0);
    return rounded(power.get<double>() * idle_uj / energy.get<double>());
}

/// All ranks in the cheapest of the idle states, and refreshes as often as in the run; PHY and controller.
OrderedJson memory_idle_mw(const Run& run)
{
    const OrderedJson energy = run.at("memory_report/dbb/energy"), ranks = run.at("memory_report/dbb/rank_cycles");
    if (!energy.is_object() || !ranks.is_object()) return run.ran() && run.at("memory_uj").is_number() ? OrderedJson(0.0) : OrderedJson();
    const double total_pj = energy.value("total_pj", 0.0), power_mw = energy.value("power_mw", 0.0);
    double all = 0, least = std::numeric_limits<double>::infinity();
    for (const auto& [state, cycles] : ranks.items()) {
        all += cycles.get<double>();
        if (state.starts_with("active") || cycles.get<double>() <= 0) continue;
        least = std::min(least, energy.at("background_pj").value(state, 0.0) / cycles.get<double>());
    }
    if (!std::isfinite(least) || total_pj <= 0) return {};
    const OrderedJson phy_mw = run.at("energy/phy_mw");
    return rounded(power_mw * (least * all + energy.value("refresh_pj", 0.0)) / total_pj + (phy_mw.is_number() ? phy_mw.get<double>() : 0));
}

OrderedJson step_cycles(const Run& run)
{
    const OrderedJson steps = run.at("steps");
    if (!steps.is_array()) return run.at("cycles").is_null() ? OrderedJson() : OrderedJson(run.at("cycles").dump());
    std::string text;
    for (const OrderedJson& step : steps)
        if (const OrderedJson share = step.value("share", OrderedJson()); share.is_number())
            text += (text.empty() ? "" : " ") + share.dump();
    return text;
}

constexpr const char* kDram = "with a DRAM; otherwise null";
constexpr std::array kFigures{
    Key<Run>{{"cycles", "integer or null", "cycles", "from t0 to the last done interrupt; of an ONNX model those of the first image"},
             figure_at<"cycles">},
    Key<Run>{{"time_us", "number or null", "us", "the same at the clock of the hardware"},
             [](const Run& r) { return rounded(1e6 * r.seconds()); }},
    Key<Run>{{"frames_per_s", "number or null", "1/s", "images over the time of all, run back to back"},
             [](const Run& r) {
                 const OrderedJson host = r.host("seconds");
                 return rounded(1 / (1 / r.a_second(r.frames()) + (host.is_null() ? 0 : host.get<double>())));
             }},
    Key<Run>{{"host_elements", "integer or null", "elements", "of CPU fallback per image, which takes no cycles"},
             [](const Run& r) { return r.host("elements"); }},
    Key<Run>{{"host_us", "number or null", "us",
              "time of these, included in frames_per_s; null without `host_ns`: frames_per_s then excludes them"},
             [](const Run& r) {
                 const OrderedJson seconds = r.host("seconds");
                 return seconds.is_null() ? seconds : rounded(1e6 * seconds.get<double>());
             }},
    Key<Run>{{"macs", "integer or null", "MACs", "multiplications of the direct convolution"}, figure_at<"macs">},
    Key<Run>{{"gops", "number or null", "GOPS", "two operations for each of them, over the time of all images"},
             [](const Run& r) { return rounded(2e-9 * r.a_second(r.images * static_cast<double>(r.count("macs")))); }},
    Key<Run>{{"utilization", "number or null", "", "macs over the capacity of the array"}, figure_at<"utilization">},
    Key<Run>{{"array_occupancy", "number or null", "", "share of the cycles in which the array takes an operation; null for networks"},
             figure_at<"array_occupancy">},
    Key<Run>{{"dbb_read_bytes", "integer or null", "bytes", "read over the primary port for an image, whole beats"},
             value_of_image<"traffic/dbb/read_bytes">},
    Key<Run>{{"dbb_write_bytes", "integer or null", "bytes", "written over the primary port"}, value_of_image<"traffic/dbb/write_bytes">},
    Key<Run>{{"dbb_gb_per_s", "number or null", "GB/s", "both, over the time of all images"},
             [](const Run& r) {
                 const std::uint64_t bytes = r.count("traffic/dbb/read_bytes") + r.count("traffic/dbb/write_bytes");
                 return rounded(1e-9 * r.a_second(static_cast<double>(bytes)));
             }},
    Key<Run>{{"cvsram_read_bytes", "integer or null", "bytes", "read over the secondary port; null without one"},
             value_of_image<"traffic/cvsram/read_bytes">},
    Key<Run>{{"cvsram_write_bytes", "integer or null", "bytes", "written over the secondary port; null without one"},
             value_of_image<"traffic/cvsram/write_bytes">},
    Key<Run>{{"dram_gb_per_s", "number or null", "GB/s", "traffic of its data buses", kDram},
             figure_at<"memory_report/dbb/bandwidth_gb_per_s">},
    Key<Run>{{"dram_efficiency", "number or null", "", "share of their cycles with data", kDram},
             figure_at<"memory_report/dbb/data_bus/utilization">},
    Key<Run>{{"dram_held", "number or null", "", "share of the cycles in which the busiest bus carried data or was blocked by timing rules",
              kDram},
             [](const Run& r) { return r.at("estimates/dram_bus").is_null() ? OrderedJson() : r.share("estimates/dram_bus"); }},
    Key<Run>{{"dram_row_hit_rate", "number or null", "", "requests that found their row open", kDram},
             figure_at<"memory_report/dbb/row_hit_rate">},
    Key<Run>{{"bound", "text or null", "", "the largest lower bound: REFERENCE.md has all"}, figure_at<"bound">},
    Key<Run>{{"bound_cycles", "integer or null", "cycles", "no machine of these sizes can be faster"}, figure_at<"bound_cycles">},
    Key<Run>{{"bound_share", "number or null", "", "of the cycles"}, figure_at<"bound_share">},
    Key<Run>{{"energy_uj", "number or null", "uJ",
              "of an image, of the accelerator with CBUF and CVSRAM: [CHOOSE.md](howto/CHOOSE.md#area-energy-and-power)"},
             rounded_value<"energy_uj">},
    Key<Run>{{"array_uj", "number or null", "uJ", "of these, the MAC array"},
             [](const Run& r) {
                 const OrderedJson a = r.unit_uj("cmac_a"), b = r.unit_uj("cmac_b");
                 return a.is_null() ? a : rounded(a.get<double>() + b.get<double>());
             }},
    Key<Run>{{"cbuf_uj", "number or null", "uJ", "of these, CBUF"}, unit_uj<"cbuf">},
    Key<Run>{{"cvsram_uj", "number or null", "uJ", "of these, CVSRAM; null without one"}, unit_uj<"cvsram">},
    Key<Run>{{"memory_uj", "number or null", "uJ", "of the memory at DBB: the DRAM's own energy if one is simulated"},
             rounded_value<"memory_uj">},
    Key<Run>{{"total_uj", "number or null", "uJ", "energy_uj and memory_uj"}, rounded_value<"total_uj">},
    Key<Run>{{"power_mw", "number or null", "mW", "energy_uj over the time"}, rounded_value<"power_mw">},
    Key<Run>{{"idle_mw", "number or null", "mW", "of the idle accelerator: leakage, and the clocks that never stop"}, idle_mw},
    Key<Run>{{"memory_idle_mw", "number or null", "mW",
              "of the DRAM without requests: the cheapest state that occurred in the run, and refresh; 0 for an ideal memory"},
             memory_idle_mw},
    Key<Run>{{"step_cycles", "text or null", "cycles", "share of each step of a network in its cycles, in order"}, step_cycles},
    Key<Run>{{"area_mm2", "number or null", "mm2", "of the accelerator with CBUF and CVSRAM"}, rounded_value<"area_mm2">},
    Key<Run>{{"assumed", "text or null", "", "unpublished numbers of the technology"}, figure_at<"energy/assumed">},
    Key<Run>{{"plan", "text or null", "", "tiling of the layer and division of its banks; null for networks"}, plan_text},
    Key<Run>{{"machine", "text or null", "", "the preset, and what differs from it"}, figure_at<"machine">},
    Key<Run>{{"measured", "flag or null", "", "the machine was measured on the reference; all others follow its rules: DEVIATIONS.md D8"},
             figure_at<"measured">},
    Key<Run>{{"nearest", "text or null", "",
              "the measured program that is nearest to the kind of operation that is farthest from all measured ones"},
             [](const Run& r) { return nearest_of(r, "program"); }},
    Key<Run>{{"nearest_sizes", "number or null", "", "largest ratio of a size of both"},
             [](const Run& r) { return nearest_of(r, "size_ratio"); }},
    Key<Run>{{"verified", "flag or null", "", "every value compared is equal"}, figure_at<"verified">},
    Key<Run>{{"mismatches", "integer or null", "values", "values that are not equal; null for networks"}, figure_at<"mismatches">},
};

constexpr std::array kPatterns{
    KeyRow{"dbb_read_bytes.*", "integer", "bytes", "by client: CDMA_DAT, CDMA_WT, SDP_BS, ..", "a client read in a point"},
    KeyRow{"dbb_write_bytes.*", "integer", "bytes", "by client", "a client wrote in a point"},
    KeyRow{"cvsram_read_bytes.*", "integer", "bytes", "by client", "a client read in a point"},
    KeyRow{"cvsram_write_bytes.*", "integer", "bytes", "by client", "a client wrote in a point"},
    KeyRow{"*.issuing", "number", "", "share of the cycles in which a unit did its work: csc.issuing", "the unit ran in a point"},
    KeyRow{"*.starved", "number", "", "in which it waited for its producer", "the unit ran in a point"},
    KeyRow{"*.blocked", "number", "", "in which it waited for its consumer", "the unit ran in a point"},
};

void add_clients(OrderedJson& row, const Run& run)
{
    for (const char* port : {"dbb", "cvsram"})
        for (const char* way : {"read", "write"}) {
            const std::string path = std::string("traffic/") + port + "/" + way + "_bytes_by_client";
            const OrderedJson clients = run.at(path);
            if (!clients.is_object()) continue;
            for (const auto& [client, bytes] : clients.items())
                row[std::string(port) + "_" + way + "_bytes." + client] = run.an_image(path + "/" + client);
        }
}

/// Units that did something.
void add_phases(OrderedJson& row, const Run& run)
{
    const OrderedJson units = run.at("units");
    if (!units.is_object()) return;
    for (const auto& [unit, phases] : units.items())
        if (phases.value("issuing", std::uint64_t{0}) != 0)
            for (const char* phase : {"issuing", "starved", "blocked"})
                row[unit + "." + phase] = rounded(phases.value(phase, 0.0) / run.all_cycles);
}

}  // namespace

double shown(double value)
{
    if (value == 0) return 0.0;
    const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

nlohmann::ordered_json figures_of(const nlohmann::ordered_json& result)
{
    const Run run(result);
    OrderedJson row;
    for (const Key<Run>& key : kFigures) row[std::string(key.row.name)] = run.ran() ? key.value(run) : OrderedJson();
    if (!run.ran()) return row;
    add_clients(row, run);
    add_phases(row, run);
    return row;
}

std::vector<PlacedKey> figure_keys() { return placed(kFigures, "", kPatterns, ""); }

}  // namespace dlasim
