// Reads addresses.
//
//   "output": 2684354560                                     at DBB
//   "output": {"memory": "cvsram", "address": 4096}          either port
#pragma once
#include "base/place.h"
#include "config/json_object.h"

namespace dlasim {

/// What addresses will do.
struct PlaceRule {
    Within range{0, 0xffffff00};
    std::uint32_t multiple = 256;
};
/// Of transfers: every atom below 2^48.
inline constexpr PlaceRule kTransferAddress{{0, (std::int64_t{1} << 48) - 32}, 32};

/// The place under `key`. Without the key, or without its address, the fallback's; required if there is none.
Place read_place(const JsonObject& parent, std::string_view key, const PlaceRule& rule, const std::optional<Place>& fallback);
/// The place that the keys "memory" and "address" of an object say; it may have others.
Place read_place(const JsonObject& object, const PlaceRule& rule, const std::optional<Place>& fallback);

const char* memory_name(const Place& place);
/// As it is read.
OrderedJson place_json(const Place& place);

}  // namespace dlasim
