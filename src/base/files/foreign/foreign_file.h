// Files of other programs that are none of ours: named as what they are, with what to do, before anything is read of them.
//
// A new kind is a row of the table in foreign_file.cpp.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dlasim {

enum class Wanted { Work, Machine, Memory };  // a layer or network; a machine; a memory

/// Throws ConfigError if `text`, the beginning of a file, is of another program, or no JSON at all.
void refuse_foreign(const std::string& path, std::string_view text, Wanted wanted);
/// The same of JSON.
void refuse_foreign_json(const std::string& path, const nlohmann::json& json, Wanted wanted);
/// A JSON file of ours.
nlohmann::json read_json_of_ours(const std::string& path, Wanted wanted);

}  // namespace dlasim
