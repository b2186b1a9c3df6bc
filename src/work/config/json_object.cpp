#include "config/json_object.h"

#include <algorithm>
#include <filesystem>

#include "base/expects.h"
#include "base/files/claims.h"
#include "base/files/printable.h"
#include "base/files/spelling.h"

namespace dlasim {
namespace {

std::string range_text(Within range) { return "a whole number in " + std::to_string(range.low) + ".." + std::to_string(range.high); }

}  // namespace

std::string at(const std::string& file, const std::string& pointer) { return printable(pointer.empty() ? file : file + ": " + pointer); }

std::string found(const Json& value) { return "found " + printable(json_excerpt(value)); }

std::int64_t checked_integer(const Json& value, const std::string& where, Within range, std::string_view meaning)
{
    const auto refuse = [&]() {
        throw ConfigError(where, found(value) + ", expected " + range_text(range) + " (" + std::string(meaning) + ")");
    };
    if (!value.is_number_integer()) refuse();
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) refuse();
    const std::int64_t number = value.get<std::int64_t>();
    if (number < range.low || number > range.high) refuse();
    return number;
}

namespace {

std::vector<std::string> names(std::span<const InputKey> keys)
{
    std::vector<std::string> names;
    for (const InputKey& key : keys) names.emplace_back(key.row.name);
    return names;
}

}  // namespace

JsonObject::JsonObject(const Json& value, std::string file, std::string pointer, std::initializer_list<std::string_view> keys)
    : JsonObject(value, std::move(file), std::move(pointer), std::vector<std::string>(keys.begin(), keys.end()))
{
}

JsonObject::JsonObject(const Json& value, std::string file, std::string pointer, std::span<const InputKey> keys)
    : value_(value), file_(std::move(file)), pointer_(std::move(pointer)), keys_(keys)
{
    if (!value_.is_object()) throw ConfigError(at(file_, pointer_), found(value_) + ", expected an object {...}");
    refuse_unknown(names(keys));
}

JsonObject::JsonObject(const Json& value, std::string file, std::string pointer, const std::vector<std::string>& keys)
    : value_(value), file_(std::move(file)), pointer_(std::move(pointer))
{
    if (!value_.is_object()) throw ConfigError(at(file_, pointer_), found(value_) + ", expected an object {...}");
    refuse_unknown(keys);
}

/// Without those that are only read because earlier versions had them there.
std::vector<std::string> JsonObject::todays(std::vector<std::string> keys) const
{
    std::erase_if(keys, [&](const std::string& key) {
        const auto declared = std::ranges::find(keys_, key, [](const InputKey& k) { return k.row.name; });
        return declared != keys_.end() && declared->row.when == kInPlaceOfThat;
    });
    return keys;
}

void JsonObject::refuse_unknown(const std::vector<std::string>& keys) const
{
    for (const auto& [key, value] : value_.items())
        if (std::find(keys.begin(), keys.end(), key) == keys.end())
            throw ConfigError(at(file_, pointer_ + "/" + key), "unknown key" + suggest(key, todays(keys)));
}

std::int64_t JsonObject::integer(std::string_view key, Within range, std::string_view meaning, std::optional<std::int64_t> fallback) const
{
    if (!has(key)) {
        if (!fallback) missing(key, meaning);
        return *fallback;
    }
    return checked_integer(raw(key), where(key), range, meaning);
}

std::int64_t JsonObject::integer(std::string_view key, std::optional<std::int64_t> fallback) const
{
    const auto declared = std::find_if(keys_.begin(), keys_.end(), [&](const InputKey& k) { return k.row.name == key; });
    DLASIM_EXPECTS(declared != keys_.end() && declared->low < declared->high);
    return integer(key, {declared->low, declared->high}, declared->row.meaning, fallback);
}

bool JsonObject::flag(std::string_view key, bool fallback) const
{
    if (!has(key)) return fallback;
    if (!raw(key).is_boolean()) throw ConfigError(where(key), found(raw(key)) + ", expected true or false");
    return raw(key).get<bool>();
}

std::string JsonObject::text(std::string_view key, const std::string& fallback) const
{
    if (!has(key)) return fallback;
    if (!raw(key).is_string()) throw ConfigError(where(key), found(raw(key)) + ", expected a text \"...\"");
    const std::string& text = raw(key).get_ref<const std::string&>();
    if (text.size() > kMaxLetters)
        throw ConfigError(where(key),
                          "found a text of " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(kMaxLetters));
    return text;
}

std::string JsonObject::input_file(std::string_view key, const std::string& folder) const
{
    const std::filesystem::path name = text(key, "");
    if (name.empty() && has(key)) throw ConfigError(where(key), "found \"\", expected a NumPy file");
    if (name.empty()) return "";
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    claim_input(file);
    return file.string();
}

std::size_t JsonObject::word(std::string_view key, const std::vector<std::string>& words, std::size_t fallback) const
{
    if (!has(key)) return fallback;
    if (raw(key).is_string())
        for (std::size_t i = 0; i < words.size(); ++i)
            if (words[i] == raw(key).get_ref<const std::string&>()) return i;
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    throw ConfigError(where(key), found(raw(key)) + ", expected one of: " + list);
}

void JsonObject::not_both(std::string_view key, std::string_view other) const
{
    if (has(key) && has(other)) throw ConfigError(where(key), "duplicates \"" + std::string(other) + "\", expected only one of them");
}

std::vector<std::int64_t> JsonObject::integers(std::string_view key, std::size_t count, Within range, std::string_view meaning) const
{
    const Json& list = raw(key);
    if (!list.is_array() || list.size() != count)
        throw ConfigError(where(key),
                          found(list) + ", expected a list of " + std::to_string(count) + " numbers (" + std::string(meaning) + ")");
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < count; ++i)
        numbers.push_back(checked_integer(list[i], where(key) + "/" + std::to_string(i), range, meaning));
    return numbers;
}

void JsonObject::missing(std::string_view key, std::string_view meaning) const
{
    throw ConfigError(where(key), "is missing, expected " + std::string(meaning));
}

}  // namespace dlasim
