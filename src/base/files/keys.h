// Keys of JSON that is read or written, declared once: name, type, unit and a sentence. What writes walks a table whose rows carry the
// value too, and a strict reader takes the keys it knows from its table, so that neither knows a key that the reference page does not.
//
//   constexpr std::array kRegionKeys{
//       Key<Region>{{"bytes", "integer", "bytes", "length"}, [](const Region& r) -> OrderedJson { return r.bytes; }}, ..};
//   written(kRegionKeys, region)                    an object with these keys in this order
//   place_keys(list, kRegionKeys, "output/[]/")     the same for the reference page, with the place in the file
#pragma once
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
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

/// Names of rows, for a strict reader.
template <class Rows>
std::vector<std::string> names_of(const Rows& rows)
{
    std::vector<std::string> names;
    names.reserve(std::size(rows));
    for (const KeyRow& row : rows) names.emplace_back(row.name);
    return names;
}

template <class Keys>
void place_keys(std::vector<PlacedKey>& list, const Keys& keys, const std::string& prefix = "", bool again = false)
{
    for (const auto& key : keys) {
        const KeyRow* row;
        if constexpr (requires { key.row; }) row = &key.row;
        else row = &key;
        list.push_back({prefix + std::string(row->name), *row, again});
        if constexpr (requires { key.otherwise; }) {
            list.back().low = key.low;
            list.back().high = key.high;
            list.back().otherwise = key.otherwise;
        }
    }
}

}  // namespace dlasim
