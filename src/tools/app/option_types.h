// What words of the command line may be: commands, numbers in a range, one of some words, sizes, shards, windows. Each says what it found
// and what it expected.
#pragma once
#include <CLI/CLI.hpp>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/run_options.h"

namespace dlasim {

/// The words after the program's name. `--set A=1 B=2` is `--set A=1 --set B=2`.
std::vector<std::string> words_of(int argc, char** argv, CLI::App& app);
/// What is wrong with a command line, and what was meant perhaps.
std::string usage_problem(const CLI::ParseError& error, CLI::App& app, const std::vector<std::string>& words);

/// The library reads "-1" as the largest unsigned number; here an option takes digits in a range.
CLI::Validator whole(std::uint64_t low, std::uint64_t high);
/// A number that is one.
CLI::Validator number(double low, double high);
/// One of some words.
CLI::Validator one_of(const std::vector<std::string>& words);
/// KiB, or with a unit: memories have KB of 1,024 bytes.
CLI::Validator kibibytes(double low, double high);
CLI::Validator shard_option();
CLI::Validator window_option();
CLI::Validator tracks_option();

/// "2/8": the second of eight.
std::optional<std::pair<std::size_t, std::size_t>> shard_of(const std::string& text);
/// "A:B": cycles [A, B).
std::optional<std::pair<std::int64_t, std::int64_t>> window_of(const std::string& text);
/// "units,steps"; "all".
std::optional<std::bitset<kTimelineTracks.size()>> tracks_of(const std::string& text);

}  // namespace dlasim
