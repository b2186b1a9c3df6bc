// Fields of a layer's descriptor by their path: what sweeps set.
#include <algorithm>

#include "config/descriptor_keys.h"
#include "config/layer/layer_reader.h"

namespace dlasim {

bool is_layer_field(const std::string& path)
{
    const std::string first = path.substr(0, path.find('.'));
    const bool spelt_otherwise =
        first == "strides" || first == "dilations" || first == "group" || first == "pads" || first == "kernel_shape";
    return !spelt_otherwise &&
           std::any_of(keys::kLayer.begin(), keys::kLayer.end(), [&](const InputKey& key) { return key.row.name == first; });
}

namespace {

/// A field of an object, an element of a list by its place.
Json& part_of(Json& json, const std::string& key, const std::string& path, const std::string& where)
{
    if (!json.is_array()) return json[key];
    const bool number = !key.empty() && key.size() < 7 && key.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoul(key) >= json.size())
        throw ConfigError(where, "\"" + path + "\" has \"" + key + "\" in a list of " + std::to_string(json.size()) +
                                     ", expected the index of one of them, from 0 on");
    return json[std::stoul(key)];
}

}  // namespace

void set_layer_field(Json& json, const std::string& path, const Json& value, const std::string& where)
{
    Json* place = &json;
    std::size_t start = 0;
    for (std::size_t dot; (dot = path.find('.', start)) != std::string::npos; start = dot + 1) {
        place = &part_of(*place, path.substr(start, dot - start), path, where);
        if (!place->is_null() && !place->is_structured())
            throw ConfigError(where, "\"" + path + "\" is below a value that is no object, expected a descriptor's field");
    }
    part_of(*place, path.substr(start), path, where) = value;
}

}  // namespace dlasim
