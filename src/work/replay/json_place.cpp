#include "replay/json_place.h"

#include <fmt/format.h>

#include "base/error.h"

namespace dlasim {

void JsonPlace::fail(const std::string& problem) const { throw ConfigError(dlasim::at(file, pointer), problem); }

const Json& member(const Json& object, const std::string& key, const JsonPlace& place)
{
    if (!object.is_object()) place.fail(found(object) + ", expected an object");
    const auto entry = object.find(key);
    if (entry == object.end()) place.fail("no \"" + key + "\"");
    return *entry;
}

std::uint64_t number(const Json& value, const JsonPlace& place, std::uint64_t low, std::uint64_t high)
{
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low || value.get<std::uint64_t>() > high)
        place.fail(fmt::format("{}, expected a whole number in {}..{}", found(value), low, high));
    return value.get<std::uint64_t>();
}

std::uint64_t hex_number(const Json& value, const JsonPlace& place)
{
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text.empty() || text.size() > 16 || text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        place.fail(found(value) + ", expected a hexadecimal number as a string");
    return std::stoull(text, nullptr, 16);
}

const Json& list_or_none(const Json& object, const char* key, const JsonPlace& place)
{
    static const Json none = Json::array();
    if (!object.contains(key)) return none;
    if (!object[key].is_array()) place.at(key).fail(found(object[key]) + ", expected a list");
    return object[key];
}

std::vector<std::uint8_t> hex_bytes(const std::string& text, const JsonPlace& place)
{
    if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        place.fail("expected pairs of hexadecimal digits");
    std::vector<std::uint8_t> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
    return bytes;
}

}  // namespace dlasim
