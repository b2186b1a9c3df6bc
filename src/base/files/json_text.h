// JSON text as all readers take it: no key twice in an object, no nesting beyond kDeepest.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dlasim {

inline constexpr std::size_t kDeepest = 100;  // objects and lists in each other; real files have fewer than ten

/// The JSON value in a text; ConfigError with file, line and column for anything else.
nlohmann::json parse_json(const std::string& text, const std::string& file);
/// As parse_json, from a file.
nlohmann::json read_json(const std::string& path);
/// A value from the command line: JSON where it is JSON, a text where it is not.
nlohmann::json json_or_text(const std::string& text, const std::string& where);
/// The order of the keys kept. The text has passed parse_json.
nlohmann::ordered_json parse_ordered_json(const std::string& text);
/// Any JSON value on a line, whatever bytes its texts hold; cut short beyond `most` characters.
std::string json_excerpt(const nlohmann::json& value, std::size_t most = 60);
/// A value as a cell of CSV: on one line, quoted where it must be, never a formula.
std::string cell_text(const nlohmann::json& value);

/// The value at a path with slashes; null if there is none.
template <class J>
const J& value_at(const J& json, const std::string& path)
{
    static const J kNothing;
    const typename J::json_pointer at("/" + path);
    return json.contains(at) ? json.at(at) : kNothing;
}
/// 0 if there is no number.
template <class J>
double number_at(const J& json, const std::string& path)
{
    const J& value = value_at(json, path);
    return value.is_number() ? value.template get<double>() : 0;
}

}  // namespace dlasim
