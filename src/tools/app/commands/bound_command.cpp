#include "app/commands/bound_command.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/printable.h"
#include "config/description.h"
#include "config/file_kind.h"
#include "config/layer/layer_reader.h"
#include "jobs/traffic_bound.h"

namespace dlasim {
namespace {

/// Of one layer on one chip, elements become bytes.
struct BoundRow {
    const Layer& layer;
    Dataflows flows;
    std::uint32_t word;
    OrderedJson bytes(const std::optional<std::uint64_t>& elements) const
    {
        return elements ? OrderedJson(*elements * word) : OrderedJson();
    }
    OrderedJson of_best(std::uint64_t TiledTraffic::*number, std::uint32_t unit) const
    {
        return flows.best ? OrderedJson((*flows.best).*number * unit) : kAbsent;
    }
};

constexpr double kMaxMacs = std::uint64_t{1} << 56;  // what all of them move fits 64 bits
constexpr std::string_view kBest = "a block fits the chip";
constexpr std::array kRowKeys{
    Key<BoundRow>{{"name", "text", "", "of the descriptor"}, [](const BoundRow& r) -> OrderedJson { return r.layer.name; }},
    Key<BoundRow>{{"macs", "integer", "MACs", "multiplications"}, [](const BoundRow& r) -> OrderedJson { return r.layer.macs(); }},
    Key<BoundRow>{
        {"lower_bound", "number", "bytes",
         "2 * MACs / sqrt(R * S) and the outputs once, as published: products with padding are counted, and without them less may move"},
        [](const BoundRow& r) -> OrderedJson { return r.flows.bound * r.word; }},
    Key<BoundRow>{{"best", "integer or null", "bytes", "the best tiling of the communication-optimal dataflow; null if no block fits"},
                  [](const BoundRow& r) { return r.flows.best ? r.bytes(r.flows.best->all()) : OrderedJson(); }},
    Key<BoundRow>{{"block/images", "integer", "images", "of a block of that tiling", kBest},
                  [](const BoundRow& r) { return r.of_best(&TiledTraffic::images, 1); }},
    Key<BoundRow>{{"block/columns", "integer", "columns", "of the output", kBest},
                  [](const BoundRow& r) { return r.of_best(&TiledTraffic::columns, 1); }},
    Key<BoundRow>{{"block/rows", "integer", "rows", "of the output", kBest},
                  [](const BoundRow& r) { return r.of_best(&TiledTraffic::rows, 1); }},
    Key<BoundRow>{{"block/kernels", "integer", "kernels", "of a block", kBest},
                  [](const BoundRow& r) { return r.of_best(&TiledTraffic::kernels, 1); }},
    Key<BoundRow>{{"weights", "integer", "bytes", "that this tiling fetches", kBest},
                  [](const BoundRow& r) { return r.of_best(&TiledTraffic::weights, r.word); }},
    Key<BoundRow>{{"inputs", "integer", "bytes", "likewise, halos each time", kBest},
                  [](const BoundRow& r) { return r.of_best(&TiledTraffic::inputs, r.word); }},
    Key<BoundRow>{{"outputs", "integer", "bytes", "that it writes", kBest},
                  [](const BoundRow& r) { return r.of_best(&TiledTraffic::outputs, r.word); }},
    Key<BoundRow>{
        {"all_kernels", "integer or null", "bytes", "for comparison: all kernels of a position stay on chip; null if they do not fit"},
        [](const BoundRow& r) { return r.bytes(r.flows.all_kernels); }},
    Key<BoundRow>{{"all_places", "integer or null", "bytes", "the largest plane of positions stays, kernels use the remaining memory"},
                  [](const BoundRow& r) { return r.bytes(r.flows.all_places); }},
    Key<BoundRow>{{"inputs_stay", "integer or null", "bytes", "a tile of the input with all its channels stays"},
                  [](const BoundRow& r) { return r.bytes(r.flows.inputs_stay); }},
    Key<BoundRow>{{"weights_stay", "integer or null", "bytes", "kernels stay, with the largest number of channels that fits"},
                  [](const BoundRow& r) { return r.bytes(r.flows.weights_stay); }},
};
constexpr std::array kBalanceKeys{
    KeyRow{"balances/*", "integer", "bytes",
           "least traffic of the blocks of this balance (src/work/jobs/traffic_bound.h), half an octave around 0.25, 0.5, 1, 2, .."},
};
/// What adds up over the layers.
constexpr std::array kSummed{"lower_bound", "best", "all_kernels", "all_places", "inputs_stay", "weights_stay"};

constexpr std::array kChipKeys{
    KeyRow{"chip", "integer", "bytes", "that the chip holds"},
    KeyRow{"total", "object", "bytes", "lower_bound, best and the dataflows for comparison, of all layers"},
    KeyRow{"layers", "list", "", "a row for each layer"},
};

/// A layer of a topology without what only networks have: its place for messages, and the input of a tile before.
Json layer_alone(const Json& layers, std::size_t i)
{
    Json layer = layers[i];
    if (!layer.is_object() || !layer.contains("from")) return layer;
    layer.erase("from");
    for (const Json& other : layers)
        if (layer.contains("inputs") && layer["inputs"] == Json::array({other.value("name", "") + ".input"})) {
            layer["input"] = other["input"];
            layer.erase("inputs");
        }
    return layer;
}

std::vector<Layer> layers_of(const BoundOptions& options)
{
    const Json file = read_description(options.layers);
    if (kind_of(file) != FileKind::Network) expect_kind(file, options.layers, FileKind::Layer);
    const std::string folder = std::filesystem::path(options.layers).parent_path().string();
    std::vector<Layer> layers;
    if (file.is_object() && file.contains("layers") && file["layers"].is_array())
        for (std::size_t i = 0; i < file["layers"].size(); ++i)
            layers.push_back(layer_from_json(layer_alone(file["layers"], i), options.layers, fmt::format("/layers/{}", i), folder));
    else layers.push_back(layer_from_json(file, options.layers, "", folder));
    if (layers.empty()) throw ConfigError(options.layers, "found an empty list of layers, expected at least one");
    for (Layer& layer : layers) {
        if (options.batch != 0) layer.batch = options.batch;
        if (!layer.convolves() || layer.op == Op::Deconvolution || layer.groups != 1)
            throw ConfigError(layer.file, "found another operation, expected convolutions of one group");
        const double macs = static_cast<double>(layer.out_width()) * layer.out_height() * layer.batch * layer.kernels * layer.channels *
                            layer.kernel_width * layer.kernel_height;
        if (macs > kMaxMacs)
            throw ConfigError(layer.file, fmt::format("{} has {:.3g} multiplications, expected at most 2^56", layer.name, macs));
    }
    return layers;
}

OrderedJson balances_json(const TrafficByOctave& balances, std::uint32_t word)
{
    OrderedJson json = OrderedJson::object();
    for (const auto& [octave, elements] : balances) json[fmt::format("{}", std::exp2(octave))] = elements * word;
    return json;
}

OrderedJson chip_json(const std::vector<Layer>& layers, double kib, std::uint32_t word)
{
    OrderedJson rows = OrderedJson::array(), total = OrderedJson::object();
    for (const Layer& layer : layers) {
        const BoundRow row{layer, dataflows_of(layer, kib * 1024 / word), word};
        rows.push_back(written(kRowKeys, row));
        rows.back()["balances"] = balances_json(row.flows.balances, word);
    }
    for (const char* key : kSummed) {
        double sum = 0;
        bool all = true;
        for (const OrderedJson& row : rows) {
            if (row[key].is_null()) all = false;
            else sum += row[key].get<double>();
        }
        total[key] = all ? OrderedJson(sum) : OrderedJson();
    }
    return {{"chip", static_cast<std::uint64_t>(kib * 1024)}, {"total", total}, {"layers", rows}};
}

std::string mebibytes(const OrderedJson& bytes) { return bytes.is_null() ? "-" : fmt::format("{:.1f}", bytes.get<double>() / (1 << 20)); }

void say_table(const OrderedJson& chips)
{
    say("off-chip traffic, MiB\n{:>10}  {:<16} {:>9} {:>9} {:>7} {:>12} {:>11} {:>12} {:>13}\n", "chip KiB", "layer", "bound", "best",
        "gap %", "all_kernels", "all_places", "inputs_stay", "weights_stay");
    const auto line = [](const std::string& chip, const std::string& name, const OrderedJson& row) {
        const std::string gap =
            row["best"].is_null() ? "-" : fmt::format("{:.1f}", 100 * (row["best"].get<double>() / row["lower_bound"].get<double>() - 1));
        say("{:>10}  {:<16} {:>9} {:>9} {:>7} {:>12} {:>11} {:>12} {:>13}\n", chip, name, mebibytes(row["lower_bound"]),
            mebibytes(row["best"]), gap, mebibytes(row["all_kernels"]), mebibytes(row["all_places"]), mebibytes(row["inputs_stay"]),
            mebibytes(row["weights_stay"]));
    };
    for (const OrderedJson& chip : chips) {
        const std::string kib = fmt::format("{:.1f}", chip["chip"].get<double>() / 1024);
        if (chips.size() == 1)
            for (const OrderedJson& row : chip["layers"]) line(kib, printable(row["name"].get<std::string>()), row);
        line(kib, "all", chip["total"]);
    }
}

}  // namespace

int bound_command(const BoundOptions& options)
{
    const std::vector<Layer> layers = layers_of(options);
    OrderedJson chips = OrderedJson::array();
    for (const double kib : options.chip) chips.push_back(chip_json(layers, kib, options.word));
    if (options.json) say("{}\n", chips.dump(2, ' ', true));  // ASCII: say() shows controls as \\xNN
    else say_table(chips);
    return kDone;
}

std::vector<PlacedKey> bound_command_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kChipKeys);
    place_keys(keys, kRowKeys, "layers/[]/");
    place_keys(keys, kBalanceKeys, "layers/[]/");
    return keys;
}

}  // namespace dlasim
