// A value of a JSON file with its place: what the readers of measured cases refuse is named by file and JSON pointer.
#pragma once
#include <string>
#include <vector>

#include "config/json_object.h"

namespace dlasim {

/// A place in a file: its path and a JSON pointer.
struct JsonPlace {
    std::string file, pointer;
    JsonPlace at(const std::string& key) const { return {file, pointer + "/" + key}; }
    JsonPlace at(std::size_t index) const { return {file, pointer + "/" + std::to_string(index)}; }
    [[noreturn]] void fail(const std::string& problem) const;
};

const Json& member(const Json& object, const std::string& key, const JsonPlace& place);
std::uint64_t number(const Json& value, const JsonPlace& place, std::uint64_t low, std::uint64_t high);
std::uint64_t hex_number(const Json& value, const JsonPlace& place);
/// A list that may be missing.
const Json& list_or_none(const Json& object, const char* key, const JsonPlace& place);
std::vector<std::uint8_t> hex_bytes(const std::string& text, const JsonPlace& place);

}  // namespace dlasim
