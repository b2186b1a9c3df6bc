#include "config/manifest_reader.h"

#include <fmt/format.h>

namespace dlasim {
namespace {

constexpr Within kChannels{0, 1 << 20};

[[noreturn]] void wrong(const std::string& where, const Json& value, const char* expected)
{
    throw ConfigError(where, found(value) + ", expected " + expected);
}

/// [first channel, channels, first place]: each piece follows the channels and the places of the one before.
std::vector<ChannelPiece> pieces_of(const Json& list, const std::string& file, const std::string& pointer)
{
    std::vector<ChannelPiece> pieces;
    if (!list.is_array() || list.empty()) wrong(at(file, pointer), list, "pieces [first channel, channels, place]");
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string where = at(file, fmt::format("{}/{}", pointer, i));
        if (!list[i].is_array() || list[i].size() != 3) wrong(where, list[i], "[first channel, channels, place]");
        const auto number = [&](std::size_t k) {
            return static_cast<std::uint32_t>(checked_integer(list[i][k], where, kChannels, "channels"));
        };
        const ChannelPiece piece{number(0), number(1), number(2)};
        const ChannelPiece before = pieces.empty() ? ChannelPiece{} : pieces.back();
        if (piece.count == 0 || piece.first != before.first + before.count || piece.at < before.at + before.count)
            wrong(where, list[i], "channels and places after those of the previous piece");
        pieces.push_back(piece);
    }
    return pieces;
}

}  // namespace

std::map<std::string, std::vector<ChannelPiece>> manifest_pieces(const Json& json, const std::string& file)
{
    if (!json.is_object() || json.value("format", Json()) != kManifestFormat || !json.contains("tensors") || !json["tensors"].is_array())
        throw ConfigError(
            file, fmt::format("is no manifest, expected the .json that export --form nvdla writes (\"format\": \"{}\")", kManifestFormat));
    std::map<std::string, std::vector<ChannelPiece>> pieces;
    for (std::size_t i = 0; i < json["tensors"].size(); ++i) {
        const Json& tensor = json["tensors"][i];
        const std::string pointer = fmt::format("/tensors/{}", i);
        if (!tensor.is_object() || !tensor.contains("name") || !tensor["name"].is_string())
            wrong(at(file, pointer), tensor, "a tensor with a name");
        if (tensor.contains("layout") && tensor["layout"].contains("pieces"))
            pieces[tensor["name"].get<std::string>()] = pieces_of(tensor["layout"]["pieces"], file, pointer + "/layout/pieces");
    }
    return pieces;
}

std::map<std::string, std::vector<ChannelPiece>> manifest_pieces(const std::string& path) { return manifest_pieces(read_json(path), path); }

}  // namespace dlasim
