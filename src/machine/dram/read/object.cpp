#include "dram/read/object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "base/error.h"
#include "base/files/input.h"
#include "base/files/json_text.h"
#include "base/files/spelling.h"

namespace dlasim::dram {

Object::Object(const Json& json, std::string where, std::string path) : json_(&json), where_(std::move(where)), path_(std::move(path))
{
    if (!json.is_object()) throw ConfigError(where_, fmt::format("found {}, an object is needed", json_excerpt(json)));
}

bool Object::has(const std::string& key)
{
    declared(key);
    known_.insert(key);
    return json_->contains(key);
}

const Json& Object::raw(const std::string& key)
{
    if (!has(key)) throw ConfigError(at(key), "is missing");
    return (*json_)[key];
}

std::string Object::text(const std::string& key)
{
    const Json& value = raw(key);
    if (!value.is_string()) throw ConfigError(at(key), fmt::format("found {}, a string is needed", json_excerpt(value)));
    const std::string& text = value.get_ref<const std::string&>();
    if (text.size() > kMaxLetters)
        throw ConfigError(at(key), fmt::format("found a text of {} bytes, at most {} are possible", text.size(), kMaxLetters));
    return text;
}

std::int64_t Object::integer(const std::string& key)
{
    const auto [low, high] = std::pair{declared(key).low, declared(key).high};
    const Json& value = raw(key);
    const bool ok = value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
    if (!ok || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
        throw ConfigError(at(key), fmt::format("found {}, an integer in {}..{} is needed", json_excerpt(value), low, high));
    return value.get<std::int64_t>();
}

std::uint32_t Object::power_of_two(const std::string& key)
{
    const auto value = static_cast<std::uint32_t>(integer(key));
    if (!std::has_single_bit(value)) throw ConfigError(at(key), fmt::format("{} is not a power of two", value));
    return value;
}

double Object::number(const std::string& key)
{
    const auto [low, high] = std::pair{declared(key).least, declared(key).most};
    const Json& value = raw(key);
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high))
        throw ConfigError(at(key), fmt::format("found {}, a number in {}..{} is needed", json_excerpt(value), low, high));
    return value.get<double>();
}

bool Object::truth(const std::string& key)
{
    const Json& value = raw(key);
    if (!value.is_boolean()) throw ConfigError(at(key), fmt::format("found {}, true or false is needed", json_excerpt(value)));
    return value.get<bool>();
}

void Object::done() const
{
    for (const auto& [key, value] : json_->items())
        if (!known_.contains(key)) throw ConfigError(at(key), "unknown key" + suggest(key, {known_.begin(), known_.end()}));
}

const ConfigKey& Object::declared(const std::string& key) const
{
    for (const std::string& name : {path_ + key, path_ + "*"})
        for (const ConfigKey& each : kConfigKeys)
            if (each.row.name == name) return each;
    throw InternalError("a key of a DRAM file is read and not declared: " + path_ + key);
}

std::size_t Object::word(const std::string& key, const std::vector<std::string>& words)
{
    const std::string found = text(key);
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == found) return i;
    throw ConfigError(at(key), fmt::format("found \"{}\", one of {} is needed", found, fmt::join(words, ", ")));
}

}  // namespace dlasim::dram
