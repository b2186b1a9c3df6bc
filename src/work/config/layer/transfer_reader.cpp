#include "config/layer/transfer_reader.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "config/descriptor_keys.h"
#include "config/layer/layer_words.h"
#include "config/layer/lrn_reader.h"
#include "config/layer/place_reader.h"
#include "config/tolerance_reader.h"

namespace dlasim {
namespace {

// Register widths: [spec] registers_nv_full.json, BDMA and RBK; bdma.md 1.3: the store keeps 13 bits of a repeat.
constexpr Within kReshapeChannels{1, 8192}, kReshapeStride{1, 32};
constexpr std::uint32_t kAtom = 32;
constexpr PlaceRule kTransferAddress{{0, keys::kLastByte}, kAtom};
constexpr std::size_t kMaxBlocks = 65536;

const std::vector<std::string> kModes{"contract", "split", "merge"};

std::uint32_t atoms(const JsonObject& object, const char* key, std::optional<std::int64_t> fallback = std::nullopt)
{
    const std::int64_t value = object.integer(key, fallback);
    if (value % kAtom != 0)
        throw ConfigError(object.where(key),
                          "found " + std::to_string(value) + ", expected a multiple of " + std::to_string(kAtom) + ": an atom");
    return static_cast<std::uint32_t>(value);
}

/// Without a stride the lines, the surfaces, are packed; a repeat of one has none.
std::uint32_t read_stride(const JsonObject& end, const char* key, std::uint32_t repeats, std::uint64_t packed)
{
    if (!end.has(key) && repeats > 1 && packed > static_cast<std::uint64_t>(keys::kMaxStride))
        throw ConfigError(end.where(key),
                          "is missing and would be " + std::to_string(packed) + ", expected at most " + std::to_string(keys::kMaxStride));
    return atoms(end, key, repeats > 1 ? static_cast<std::int64_t>(packed) : 0);
}

BlockEnd read_end(const JsonObject& parent, const char* key, const CopyBlock& block)
{
    const auto strides = [&](const JsonObject& object, BlockEnd& end) {
        end.strides.line = read_stride(object, "line_stride", block.lines, block.line_bytes);
        end.strides.surface = read_stride(object, "surface_stride", block.surfaces,
                                          std::uint64_t{block.lines} * (block.lines > 1 ? end.strides.line : block.line_bytes));
    };
    BlockEnd end;
    if (parent.has(key) && parent.raw(key).is_object()) {
        const JsonObject object = parent.object(key, keys::kBlockEnd);
        end.place = read_place(object, kTransferAddress, std::nullopt);
        strides(object, end);
        return end;
    }
    end.place = read_place(parent, key, kTransferAddress, std::nullopt);
    const Json packed = Json::object();
    strides(JsonObject(packed, parent.file(), parent.pointer(key), keys::kBlockEnd), end);
    return end;
}

CopyBlock read_block(const Json& json, const std::string& file, const std::string& pointer, unsigned group_before)
{
    const JsonObject object(json, file, pointer, keys::kBlock);
    CopyBlock block;
    block.group = static_cast<unsigned>(object.integer("group", group_before));
    block.wait = object.flag("wait", false);
    block.line_bytes = atoms(object, "line_bytes");
    block.lines = object.count("lines", 1);
    block.surfaces = object.count("surfaces", 1);
    block.source = read_end(object, "source", block);
    block.destination = read_end(object, "destination", block);
    return block;
}

Copy read_copy(const JsonObject& top)
{
    if (!top.has("blocks")) top.missing("blocks", "a list of objects {\"source\", \"destination\", \"line_bytes\"}");
    const Json& list = top.raw("blocks");
    if (!list.is_array() || list.empty() || list.size() > kMaxBlocks)
        throw ConfigError(top.where("blocks"), (list.is_array() ? "found " + std::to_string(list.size()) + " blocks" : found(list)) +
                                                   ", expected a list of 1.." + std::to_string(kMaxBlocks) +
                                                   " objects {\"source\", \"destination\", \"line_bytes\"}");
    Copy copy;
    for (std::size_t i = 0; i < list.size(); ++i)
        copy.blocks.push_back(
            read_block(list[i], top.file(), top.pointer("blocks") + "/" + std::to_string(i), i == 0 ? 0 : copy.blocks.back().group));
    return copy;
}

Extent read_stride(const JsonObject& rubik)
{
    const JsonObject stride = rubik.object("stride", keys::kExtent);
    return {stride.count("x", kReshapeStride, "stride", 1), stride.count("y", kReshapeStride, "stride", 1)};
}

void check_contraction(const Reshape& reshape, const JsonObject& top, const JsonObject& input)
{
    const std::uint32_t cubes = reshape.sub_cubes();
    if (reshape.channels % cubes != 0)
        throw ConfigError(input.where("channels"), "found " + std::to_string(reshape.channels) + ", expected a multiple of " +
                                                       std::to_string(cubes) + ": a sub-cube for each phase of the stride");
    if (reshape.out_channels() > kReshapeChannels.high)
        throw ConfigError(input.where("channels"), "found " + std::to_string(reshape.channels) + ", expected at most " +
                                                       std::to_string(kReshapeChannels.high * cubes) + ": " +
                                                       std::to_string(kReshapeChannels.high) + " for each sub-cube");
    // [spec] rubik.md 1.1: up to a stride of 8 a line is one request, whose size has 13 bits.
    if (reshape.stride.x <= 8 && reshape.out_width() > 8192)
        throw ConfigError(top.where("rubik") + "/stride/x",
                          "gives an output line of " + std::to_string(reshape.out_width()) + " atoms, expected at most 8192");
}

Reshape read_reshape(const JsonObject& top)
{
    Reshape reshape;
    if (!top.has("rubik")) top.missing("rubik", "an object {\"mode\"}");
    const JsonObject rubik = top.object("rubik", keys::kRubik);
    if (!rubik.has("mode")) rubik.missing("mode", "one of: contract, split, merge");
    reshape.mode = static_cast<Reshape::Mode>(rubik.word("mode", kModes, 0));
    const bool contract = reshape.mode == Reshape::Mode::Contract;
    if (contract && !rubik.has("stride")) rubik.missing("stride", "an object {\"x\", \"y\"}");
    if (!contract && rubik.has("stride"))
        throw ConfigError(rubik.where("stride"), found(rubik.raw("stride")) + ", expected no such key: only contract has a stride");
    if (contract) reshape.stride = read_stride(rubik);

    if (!top.has("input")) top.missing("input", "an object {\"width\", \"height\", \"channels\"}");
    const JsonObject input = top.object("input", keys::kCube);
    reshape.width = input.count("width");
    reshape.height = input.count("height");
    const Within channels{1, kReshapeChannels.high * (contract ? kReshapeStride.high * kReshapeStride.high : 1)};
    reshape.channels = input.count("channels", channels, "input channels");
    reshape.precision = static_cast<Precision>(top.word("precision", kPrecisions, 0));
    if (contract) check_contraction(reshape, top, input);
    if (top.has("placement")) {
        const JsonObject placement = top.object("placement", keys::kCubePlacement);
        reshape.input = read_place(placement, "input", kTransferAddress, reshape.input);
        reshape.output = read_place(placement, "output", kTransferAddress, reshape.output);
    }
    return reshape;
}

/// Of what makes a cube of another one.
void place_cube(std::vector<PlacedKey>& list)
{
    place_keys(list, keys::kCube, "input/");
    place_keys(list, keys::kCubePlacement, "placement/");
    for (const InputKey& key : keys::kCubePlacement)
        place_keys(list, keys::kPlace, "placement/" + std::string(key.row.name) + "/", &key != keys::kCubePlacement.data());
    place_keys(list, keys::kCubeData, "data/");
}

OrderedJson end_json(const BlockEnd& end)
{
    return {{"memory", memory_name(end.place)},
            {"address", end.place.address.byte()},
            {"line_stride", end.strides.line},
            {"surface_stride", end.strides.surface}};
}

}  // namespace

std::string Transfer::where(const std::string& below) const { return at(file.empty() ? name : file, pointer + below); }

const std::vector<TransferKeys>& transfer_keys()
{
    static const std::vector<TransferKeys> kTransfers = [] {
        std::vector<TransferKeys> list{{"bdma", "Copies", keys::kCopy, {}},
                                       {"rubik", "Reshapes", keys::kReshape, {}},
                                       {"lrn", "Local response normalisation", keys::kNormalisation, {}}};
        for (TransferKeys& transfer : list) place_keys(transfer.placed, transfer.top);
        place_keys(list[0].placed, keys::kBlock, "blocks/[]/");
        place_keys(list[0].placed, keys::kBlockEnd, "blocks/[]/source/");
        place_keys(list[0].placed, keys::kBlockEnd, "blocks/[]/destination/", true);
        place_keys(list[0].placed, keys::kCopyData, "data/");
        place_keys(list[1].placed, keys::kRubik, "rubik/");
        place_keys(list[1].placed, keys::kExtent, "rubik/stride/");
        place_cube(list[1].placed);
        place_keys(list[2].placed, keys::kLrn, "lrn/");
        place_cube(list[2].placed);
        return list;
    }();
    return kTransfers;
}

bool is_transfer(const Json& descriptor)
{
    if (!descriptor.is_object() || !descriptor.contains("op") || !descriptor.at("op").is_string()) return false;
    return std::ranges::count(transfer_keys(), descriptor.at("op").get<std::string>(), &TransferKeys::op) != 0;
}

Transfer transfer_from_json(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder)
{
    const auto keys = std::ranges::find(transfer_keys(), json.at("op").get<std::string>(), &TransferKeys::op);
    const bool bdma = keys->op == "bdma", lrn = keys->op == "lrn";
    const JsonObject top(json, file, pointer, keys->top);
    Transfer transfer;
    transfer.file = file;
    transfer.pointer = pointer;
    transfer.name = top.text("name", std::filesystem::path(file).stem().string());
    if (bdma) transfer.what = read_copy(top);
    else if (lrn) transfer.what = read_lrn(top);
    else transfer.what = read_reshape(top);
    if (!top.has("data")) return transfer;
    const JsonObject data = top.object("data", bdma ? std::span<const InputKey>(keys::kCopyData) : keys::kCubeData);
    transfer.seed = static_cast<std::uint64_t>(data.integer("seed", 1));
    const auto from_file = [&](auto& cube) {
        cube.data = data.input_file("input", folder);
        cube.data_where = data.where("input");
        cube.expected = data.input_file("expected", folder);
        cube.expected_where = data.where("expected");
        cube.tolerance = read_tolerance(data);
    };
    if (Reshape* reshape = std::get_if<Reshape>(&transfer.what)) from_file(*reshape);
    if (Lrn* cube = std::get_if<Lrn>(&transfer.what)) from_file(*cube);
    return transfer;
}

OrderedJson transfer_json(const Transfer& transfer)
{
    OrderedJson json;
    json["name"] = transfer.name;
    json["op"] = transfer_keys()[transfer.what.index()].op;
    if (const Copy* copy = transfer.copy()) {
        for (const CopyBlock& block : copy->blocks)
            json["blocks"].push_back({{"group", block.group},
                                      {"wait", block.wait},
                                      {"source", end_json(block.source)},
                                      {"destination", end_json(block.destination)},
                                      {"line_bytes", block.line_bytes},
                                      {"lines", block.lines},
                                      {"surfaces", block.surfaces}});
    }
    if (const Reshape* reshape = transfer.reshape()) {
        json["rubik"] = {{"mode", mode_name(reshape->mode)}};
        if (reshape->mode == Reshape::Mode::Contract) json["rubik"]["stride"] = {{"x", reshape->stride.x}, {"y", reshape->stride.y}};
        json["input"] = {{"width", reshape->width}, {"height", reshape->height}, {"channels", reshape->channels}};
        json["precision"] = precision_name(reshape->precision);
        json["placement"] = {{"input", place_json(reshape->input)}, {"output", place_json(reshape->output)}};
    }
    if (const Lrn* lrn = transfer.lrn()) put_lrn(json, *lrn);
    json["data"] = {{"seed", transfer.seed}};
    const auto files = [&](const auto& cube) {
        if (!cube.data.empty()) json["data"]["input"] = cube.data;
        if (!cube.expected.empty()) json["data"]["expected"] = cube.expected;
        put_tolerance(json["data"], cube.tolerance);
    };
    if (const Reshape* reshape = transfer.reshape()) files(*reshape);
    if (const Lrn* lrn = transfer.lrn()) files(*lrn);
    return json;
}

bool is_transfer_field(const std::string& path)
{
    const std::string first = path.substr(0, path.find('.'));
    return std::ranges::any_of(transfer_keys(), [&](const TransferKeys& transfer) {
        return std::ranges::any_of(transfer.top, [&](const InputKey& key) { return key.row.name == first; });
    });
}

}  // namespace dlasim
