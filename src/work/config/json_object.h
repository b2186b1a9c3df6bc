// A JSON object that is being read by somebody strict: every key must be known, every value must be
// of its type and in its range. Errors name file, JSON pointer, found and expected.
//
//   file ── read_json() ──► Json ── JsonObject(keys) ──► integer(), text(), flag(), object()
//
// Keys are declared in tables (descriptor_keys.h) or named.
//
// Error  ConfigError; nothing has run when it is thrown.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/input.h"
#include "base/files/json_text.h"
#include "base/files/keys.h"
#include "base/files/spelling.h"

namespace dlasim {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// The place of a value: `layer.json: /input/width`.
std::string at(const std::string& file, const std::string& pointer);
/// The value as in the file, cut short if it is long.
std::string found(const Json& value);

struct Within {
    std::int64_t low, high;
};

/// Checks a number; `where` is what at() gives.
std::int64_t checked_integer(const Json& value, const std::string& where, Within range, std::string_view meaning);

/// `when` of a key that has moved and is still read.
inline constexpr std::string_view kInPlaceOfThat = "in place of that one";

class JsonObject {
public:
    /// Refuses anything but an object, and keys that are not in `keys`.
    JsonObject(const Json& value, std::string file, std::string pointer, std::initializer_list<std::string_view> keys);
    JsonObject(const Json& value, std::string file, std::string pointer, const std::vector<std::string>& keys);
    JsonObject(const Json& value, std::string file, std::string pointer, std::span<const InputKey> keys);
    /// The object under a key of this one.
    JsonObject object(std::string_view key, std::span<const InputKey> keys) const { return {raw(key), file_, pointer(key), keys}; }

    bool has(std::string_view key) const { return value_.contains(key); }
    const Json& raw(std::string_view key) const { return value_.at(std::string(key)); }
    const std::string& file() const { return file_; }
    std::string pointer(std::string_view key) const { return pointer_ + "/" + std::string(key); }
    std::string where(std::string_view key) const { return at(file_, pointer(key)); }

    /// Of a key that is declared with its range. Required without a fallback.
    std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = std::nullopt) const;
    /// Required without a fallback.
    std::int64_t integer(std::string_view key, Within range, std::string_view meaning,
                         std::optional<std::int64_t> fallback = std::nullopt) const;
    /// The same where the range ends below 4 Gi.
    template <class... Arguments>
    std::uint32_t count(std::string_view key, Arguments&&... arguments) const
    {
        return static_cast<std::uint32_t>(integer(key, std::forward<Arguments>(arguments)...));
    }
    bool flag(std::string_view key, bool fallback) const;
    std::string text(std::string_view key, const std::string& fallback) const;
    /// The file that a text names, from `folder` on: an input of this command, read or not. Empty without the key.
    std::string input_file(std::string_view key, const std::string& folder) const;
    /// The place of the word in `words`.
    std::size_t word(std::string_view key, const std::vector<std::string>& words, std::size_t fallback) const;
    /// Rejects a key that duplicates another one.
    void not_both(std::string_view key, std::string_view other) const;
    /// `[a, b, ...]` of `count` numbers.
    std::vector<std::int64_t> integers(std::string_view key, std::size_t count, Within range, std::string_view meaning) const;
    std::vector<std::uint32_t> counts(std::string_view key, std::size_t count, Within range, std::string_view meaning) const
    {
        const std::vector<std::int64_t> numbers = integers(key, count, range, meaning);
        return {numbers.begin(), numbers.end()};
    }
    [[noreturn]] void missing(std::string_view key, std::string_view meaning) const;

private:
    std::vector<std::string> todays(std::vector<std::string> keys) const;
    void refuse_unknown(const std::vector<std::string>& keys) const;

    const Json& value_;
    std::string file_, pointer_;
    std::span<const InputKey> keys_;  // where they are declared
};

}  // namespace dlasim
