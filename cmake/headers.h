// What most sources include, precompiled for builds with sanitizers. The JSON library is instantiated once there, in json.cpp; without
// optimisation every source that reads JSON would compile all of it. Sources include what they use and do without this file.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#define DLASIM_JSON(INSTANTIATE)                                            \
    INSTANTIATE class nlohmann::basic_json<>;                               \
    INSTANTIATE class nlohmann::basic_json<nlohmann::ordered_map>;          \
    INSTANTIATE class nlohmann::detail::serializer<nlohmann::json>;         \
    INSTANTIATE class nlohmann::detail::serializer<nlohmann::ordered_json>; \
    INSTANTIATE class std::vector<nlohmann::json>;                          \
    INSTANTIATE class std::vector<nlohmann::ordered_json>;                  \
    INSTANTIATE class std::map<std::string, nlohmann::json, std::less<>>;

DLASIM_JSON(extern template)
