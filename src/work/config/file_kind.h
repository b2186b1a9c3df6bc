// What a JSON file is, by keys that only its kind has: used to report a wrong kind and what takes it. source.h asks it of what runs.
#pragma once
#include <string>

#include "config/json_object.h"

namespace dlasim {

enum class FileKind { Unknown, Layer, Network, Sweep, Case, Hardware, Memory, Result, Model, Loadable };  // the last two: no JSON

FileKind kind_of(const Json& json);

/// Refuses a file that is plainly of another kind: what it is, and what takes it.
void expect_kind(const Json& json, const std::string& file, FileKind expected);

}  // namespace dlasim
