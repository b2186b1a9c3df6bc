// Keys of JSON that is read or written, declared once: name, type, unit and a sentence. What writes walks a table whose rows carry the
// value too, and a strict reader takes the keys it knows from its table, so that neither knows a key that the reference page does not.
//
//   constexpr std::array kRegionKeys{
//       Key<Region>{{"bytes", "integer", "bytes", "length"}, value_of<&Region::bytes>}, ..};
//   written(kRegionKeys, region)                    an object with these keys in this order
//   placed(kRegionKeys, "output/[]/")               the same for the reference page, with the place in the file
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dlasim {

/// Description of a key. A name may be a path: "dbb/ar"; "[]" in it means the elements of a list, "*" for a name that is made
/// of what the run has.
struct KeyRow {
    std::string_view name;
    std::string_view type;  // integer, number, text, flag, list, object; file: a text that may name an input
    std::string_view unit;  // cycles, bytes; empty without one
    std::string_view meaning;
    std::string_view when{};     // it is there; always if empty
    std::string_view choices{};  // of a text: the values allowed, with a space between; empty: any
};

/// "a, b or c" of the choices "a b c".
std::string choices_text(std::string_view choices);

/// A key of a file that is read.
struct InputKey {
    KeyRow row;
    std::int64_t low = 0, high = 0;  // of a whole number; none if both are 0
    std::string_view otherwise{};    // what holds without it; empty: it must be there, or means nothing then
};

/// A row with the place of its object in front.
struct PlacedKey {
    std::string path;
    KeyRow row;
    bool again = false;  // the same as another one of the list, in another place
    std::int64_t low = 0, high = 0;
    std::string_view otherwise{};
};

template <class Source>
struct Key {
    KeyRow row;
    nlohmann::ordered_json (*value)(const Source&);  // kAbsent where it is not there
};

/// In place of a value: the key is not there.
inline const nlohmann::ordered_json kAbsent = nlohmann::ordered_json::value_t::discarded;

/// The value of a key that is a member of its source, or what a member function returns, or a member of that.
template <auto Member, auto... Below, class Source>
nlohmann::ordered_json value_of(const Source& source)
{
    if constexpr (sizeof...(Below) == 0) return std::invoke(Member, source);
    else return value_of<Below...>(std::invoke(Member, source));
}

/// Adds what `keys` describe to an object; paths make objects in each other.
template <class Keys, class Source>
void write_keys(nlohmann::ordered_json& json, const Keys& keys, const Source& source)
{
    for (const auto& key : keys) {
        nlohmann::ordered_json value = key.value(source);
        if (value.is_discarded()) continue;
        nlohmann::ordered_json* place = &json;
        for (std::string_view path = key.row.name; !path.empty();) {
            const std::size_t slash = std::min(path.find('/'), path.size());
            place = &(*place)[std::string(path.substr(0, slash))];
            path.remove_prefix(std::min(slash + 1, path.size()));
        }
        *place = std::move(value);
    }
}

/// The object that `keys` describe.
template <class Keys, class Source>
nlohmann::ordered_json written(const Keys& keys, const Source& source)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    write_keys(json, keys, source);
    return json;
}

/// A list of such objects: of each element, or of what `view` makes of it; of a number of them `view` gets the places.
template <class Keys, class Sources, class View = std::identity>
nlohmann::ordered_json written_list(const Keys& keys, const Sources& sources, View view = {})
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    if constexpr (std::is_integral_v<Sources>)
        for (Sources place = 0; place < sources; ++place) list.push_back(written(keys, view(place)));
    else
        for (const auto& source : sources) list.push_back(written(keys, view(source)));
    return list;
}

/// Names of rows, for a strict reader.
template <class Rows>
std::vector<std::string> names_of(const Rows& rows)
{
    std::vector<std::string> names;
    names.reserve(std::size(rows));
    for (const KeyRow& row : rows) names.emplace_back(row.name);
    return names;
}

/// Where the object is that has some keys.
struct KeyPlace {
    std::string path;
    bool again = false;  // the same keys are at another place of the list
    KeyPlace(const char* at = "") : path(at) {}
    KeyPlace(std::string at, bool elsewhere = false) : path(std::move(at)), again(elsewhere) {}
};
inline KeyPlace repeated(const char* at) { return {at, true}; }

/// Adds rows, or rows that have places already.
template <class Keys>
void place_keys(std::vector<PlacedKey>& list, const Keys& keys, const KeyPlace& at = {})
{
    for (const auto& key : keys) {
        if constexpr (requires { key.path; }) list.push_back({at.path + key.path, key.row, key.again || at.again});
        else if constexpr (requires { key.row; }) list.push_back({at.path + std::string(key.row.name), key.row, at.again});
        else list.push_back({at.path + std::string(key.name), key, at.again});
        if constexpr (requires { key.otherwise; }) {
            list.back().low = key.low;
            list.back().high = key.high;
            list.back().otherwise = key.otherwise;
        }
    }
}
/// Several, each with its place after it.
template <class Keys, class At, class... More>
requires(sizeof...(More) != 0) void place_keys(std::vector<PlacedKey>& list, const Keys& keys, const At& at, const More&... more)
{
    place_keys(list, keys, KeyPlace(at));
    place_keys(list, more...);
}

/// placed(kRunKeys, "", kStepKeys, "steps/[]/")
template <class... KeysAndPlaces>
std::vector<PlacedKey> placed(const KeysAndPlaces&... lists)
{
    std::vector<PlacedKey> all;
    place_keys(all, lists...);
    return all;
}

}  // namespace dlasim
