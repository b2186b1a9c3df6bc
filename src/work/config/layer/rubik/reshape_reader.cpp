// The keys of Rubik's descriptor, read and written.
//
//   {"op": "rubik", "rubik": {"mode": "contract", "stride": {"x": 2, "y": 2}},
//    "input": {"width": 8, "height": 8, "channels": 128}, "precision": "int8", "placement": {"output": 2684354560}}
//
// Source  of the widths registers_nv_full.json, RBK.
#include "config/layer/reshape_reader.h"

#include "config/descriptor_keys.h"

namespace dlasim {
namespace {

constexpr Within kReshapeChannels{1, 8192}, kReshapeStride{1, 32};
constexpr std::array kReshape{keys::kTransferName,
                              InputKey{{"op", "text", "", "operation", "", "rubik"}},
                              InputKey{{"rubik", "object", "", "what it does"}},
                              keys::kCubeInput,
                              keys::kCubePrecision,
                              keys::kCubePlaces,
                              keys::kCubeFiles};
constexpr std::array kRubik{
    InputKey{{"mode", "text", "", "operation of Rubik", "", "contract split merge"}},
    InputKey{{"stride", "object", "", "sub-cubes each way, 1..32", "contract"}},
};

const std::vector<std::string> kModes{"contract", "split", "merge"};

Extent read_stride(const JsonObject& rubik)
{
    const JsonObject stride = rubik.object("stride", keys::kExtent);
    return {stride.count("x", kReshapeStride, "stride", 1), stride.count("y", kReshapeStride, "stride", 1)};
}

void check_contraction(const Reshape& reshape, const JsonObject& top)
{
    const std::uint32_t cubes = reshape.sub_cubes();
    const std::string channels = top.where("input") + "/channels", found = "found " + std::to_string(reshape.channels) + ", expected ";
    if (reshape.channels % cubes != 0)
        throw ConfigError(channels, found + "a multiple of " + std::to_string(cubes) + ": a sub-cube for each phase of the stride");
    if (reshape.out_channels() > kReshapeChannels.high)
        throw ConfigError(channels, found + "at most " + std::to_string(kReshapeChannels.high * cubes) + ": " +
                                        std::to_string(kReshapeChannels.high) + " for each sub-cube");
    // [spec] rubik.md 1.1: up to a stride of 8 a line is one request, whose size has 13 bits.
    if (reshape.stride.x <= 8 && reshape.out_width() > 8192)
        throw ConfigError(top.where("rubik") + "/stride/x",
                          "gives an output line of " + std::to_string(reshape.out_width()) + " atoms, expected at most 8192");
}

}  // namespace

TransferKeys reshape_keys()
{
    return {"rubik", "Reshapes", kReshape, placed(kReshape, "", kRubik, "rubik/", keys::kExtent, "rubik/stride/", cube_keys(), "")};
}

Reshape read_reshape(const JsonObject& top)
{
    Reshape reshape;
    if (!top.has("rubik")) top.missing("rubik", "an object {\"mode\"}");
    const JsonObject rubik = top.object("rubik", kRubik);
    if (!rubik.has("mode")) rubik.missing("mode", "one of: contract, split, merge");
    reshape.mode = static_cast<Reshape::Mode>(rubik.word("mode", kModes, 0));
    const bool contract = reshape.mode == Reshape::Mode::Contract;
    if (contract && !rubik.has("stride")) rubik.missing("stride", "an object {\"x\", \"y\"}");
    if (!contract && rubik.has("stride"))
        throw ConfigError(rubik.where("stride"), found(rubik.raw("stride")) + ", expected no such key: only contract has a stride");
    if (contract) reshape.stride = read_stride(rubik);
    read_cube(top, {1, kReshapeChannels.high * (contract ? kReshapeStride.high * kReshapeStride.high : 1)}, reshape);
    if (contract) check_contraction(reshape, top);
    return reshape;
}

void put_reshape(OrderedJson& json, const Reshape& reshape)
{
    json["rubik"] = {{"mode", mode_name(reshape.mode)}};
    if (reshape.mode == Reshape::Mode::Contract) json["rubik"]["stride"] = {{"x", reshape.stride.x}, {"y", reshape.stride.y}};
    put_cube(json, reshape);
}

}  // namespace dlasim
