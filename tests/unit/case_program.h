// What a measured case says of its layers: register programs, descriptors.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dlasim {

using nlohmann::json;
using Group = std::map<std::string, std::uint32_t>;

/// The register values of each layer of a program, as they stand at the last enable of the layer.
inline std::vector<Group> layers_of(const json& program, const std::string& last_enable = "CDMA.D_OP_ENABLE")
{
    std::map<std::string, std::uint32_t> pointer;
    Group groups[2];
    std::vector<Group> layers;
    for (const json& entry : program) {
        const std::string name = entry[0];
        const std::size_t dot = name.find('.');
        if (dot == std::string::npos || name == "READ") continue;
        const std::string unit = name.substr(0, dot);
        const std::uint32_t value = entry[1];
        if (name.ends_with(".S_POINTER")) pointer[unit] = value;
        groups[pointer[unit] & 1][name] = value;
        if (name == last_enable) layers.push_back(groups[pointer[unit] & 1]);
    }
    return layers;
}

/// The layer that a sequence of partial heights computes together.
inline std::string whole_layer(const json& layers)
{
    const json &first = layers.front().at("descriptor"), &last = layers.back().at("descriptor"), &derived = layers.front().at("derived");
    const auto number = [](const json& d, const char* key, int fallback) { return d.value(key, fallback); };
    json layer;
    layer["input"] = {{"width", first["w"]}, {"height", derived["surf"].get<int>() / derived["line"].get<int>()}, {"channels", first["c"]}};
    layer["kernel"] = {{"width", first["s"]}, {"height", first["r"]}, {"count", first["k"]}};
    layer["stride"] = {{"x", number(first, "sx", 1)}, {"y", number(first, "sy", 1)}};
    layer["pad"] = {{"left", first["pl"]}, {"right", first["pr"]}, {"top", first["pt"]}, {"bottom", last["pb"]}};
    layer["precision"] = first.value("prec", "int8");
    layer["post"]["output"]["shift"] = number(first, "shift", 0);
    layer["winograd"]["truncate"] = 0;  // a register of direct passes, too
    layer["partition"] = {{"rows", derived["OH"]},
                          {"data_banks", derived["db"]},
                          {"weight_banks", derived["wb"]},
                          {"reuse_data", number(layers[1]["descriptor"], "data_reuse", 0) != 0}};
    return layer.dump();
}

}  // namespace dlasim
