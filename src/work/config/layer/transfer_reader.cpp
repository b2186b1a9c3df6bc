#include "config/layer/transfer_reader.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "config/descriptor_keys.h"
#include "config/layer/lrn_reader.h"
#include "config/layer/place_reader.h"
#include "config/layer/reshape_reader.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kAtom = 32;
constexpr std::size_t kMaxBlocks = 65536;

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
    static const std::vector<TransferKeys> kTransfers{
        {"bdma", "Copies", keys::kCopy,
         placed(keys::kCopy, "", keys::kBlock, "blocks/[]/", keys::kBlockEnd, "blocks/[]/source/", keys::kBlockEnd,
                repeated("blocks/[]/destination/"), keys::kCopyData, "data/")},
        reshape_keys(),
        {"lrn", "Local response normalisation", keys::kNormalisation,
         placed(keys::kNormalisation, "", keys::kLrn, "lrn/", cube_keys(), "")}};
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
    if (TransferCube* cube = transfer.cube()) read_cube_files(data, folder, *cube);
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
    if (const Reshape* reshape = transfer.reshape()) put_reshape(json, *reshape);
    if (const Lrn* lrn = transfer.lrn()) put_lrn(json, *lrn);
    json["data"] = {{"seed", transfer.seed}};
    if (const TransferCube* cube = transfer.cube()) put_cube_files(json["data"], *cube);
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
