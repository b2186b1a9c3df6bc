#include "config/layer/place_reader.h"

#include "config/descriptor_keys.h"

namespace dlasim {
namespace {

const std::vector<std::string> kMemories{"dbb", "cvsram"};

Address checked_address(std::int64_t address, const std::string& where, const PlaceRule& rule)
{
    if (address % rule.multiple != 0)
        throw ConfigError(where, "found " + std::to_string(address) + ", expected a multiple of " + std::to_string(rule.multiple));
    return Address{static_cast<std::uint64_t>(address)};
}

std::string meaning(bool primary) { return std::string("byte address at the ") + (primary ? "DBB" : "CVSRAM") + " port"; }

std::optional<std::int64_t> address_of(const std::optional<Place>& place)
{
    if (!place) return std::nullopt;
    return static_cast<std::int64_t>(place->address.byte());
}

}  // namespace

const char* memory_name(const Place& place) { return kMemories[place.primary ? 0 : 1].c_str(); }

Place read_place(const JsonObject& object, const PlaceRule& rule, const std::optional<Place>& fallback)
{
    Place place;
    place.primary = object.word("memory", kMemories, fallback && !fallback->primary ? 1 : 0) == 0;
    place.address =
        checked_address(object.integer("address", rule.range, meaning(place.primary), address_of(fallback)), object.where("address"), rule);
    return place;
}

Place read_place(const JsonObject& parent, std::string_view key, const PlaceRule& rule, const std::optional<Place>& fallback)
{
    if (!parent.has(key)) {
        if (!fallback) parent.missing(key, "a byte address, or an object {\"memory\", \"address\"}");
        return *fallback;
    }
    if (parent.raw(key).is_object()) return read_place(parent.object(key, keys::kPlace), rule, fallback);
    return {true, checked_address(checked_integer(parent.raw(key), parent.where(key), rule.range, meaning(true)), parent.where(key), rule)};
}

OrderedJson place_json(const Place& place)
{
    if (place.primary) return place.address.byte();
    return {{"memory", memory_name(place)}, {"address", place.address.byte()}};
}

}  // namespace dlasim
