#include "app/option_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/files/number.h"
#include "base/files/spelling.h"

namespace dlasim {
namespace {

/// ` (did you mean "--memory"?)`; nothing where no word is near.
std::string correction(const std::string& word, const std::vector<std::string>& known)
{
    const std::string near = meant(word, known);
    return near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near);
}

/// The command of a command line; null if it is none.
CLI::App* command_of(const std::vector<std::string>& words, CLI::App& app)
{
    const auto named = app.get_subcommands([&](const CLI::App* command) { return !words.empty() && command->get_name() == words.front(); });
    return named.empty() ? nullptr : named.front();
}

bool sets_a_path(const std::string& word)
{
    const std::size_t equals = word.find('=');
    const auto in_path = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    return equals != 0 && equals != std::string::npos &&
           std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), in_path);
}

}  // namespace

std::vector<std::string> words_of(int argc, char** argv, CLI::App& app)
{
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc), all;
    CLI::App* command = command_of(words, app);
    const bool sets = command && command->get_option_no_throw("--set");
    bool setting = false;
    for (const std::string& word : words) {
        const bool option = word.starts_with("-");
        if (setting && !option && all.back() != "--set") {
            setting = sets_a_path(word);
            if (setting) all.emplace_back("--set");
        }
        if (option) setting = sets && (word == "--set" || word.starts_with("--set="));
        all.push_back(word);
    }
    return all;
}

std::string usage_problem(const CLI::ParseError& error, CLI::App& app, const std::vector<std::string>& words)
{
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    const std::string commands = fmt::format("expected one of: {}", fmt::join(known, ", "));
    CLI::App* command = command_of(words, app);
    if (!command && words.empty()) return "found no command, " + commands;
    if (!command && !words.front().starts_with("-"))
        return fmt::format("found \"{}\", which is no command{}, {}", words.front(), correction(words.front(), known), commands);
    if (!command || error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return error.what();
    known.clear();
    for (const CLI::Option* option : command->get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& word : words) {
        if (word == "--") break;
        const std::string name = word.substr(0, word.find('='));
        if (word.starts_with("-") && word.size() > 1 && !command->get_option_no_throw(name))
            return fmt::format("found {}, which is no option of {}{}", word, command->get_name(), correction(name, known));
    }
    return error.what();
}

CLI::Validator whole(std::uint64_t low, std::uint64_t high)
{
    return {[=](std::string& text) { return whole_number(text, low, high) ? "" : whole_number_problem(text, low, high); }, "NUMBER"};
}

CLI::Validator one_of(const std::vector<std::string>& words)
{
    return {[=](std::string& text) {
                const bool known = std::find(words.begin(), words.end(), text) != words.end();
                return known ? ""
                             : "found \"" + text + "\", expected " + fmt::format("{}", fmt::join(words, ", ")) + correction(text, words);
            },
            fmt::format("{{{}}}", fmt::join(words, ","))};
}

CLI::Validator kibibytes(double low, double high)
{
    return {[=](std::string& text) {
                constexpr std::pair<std::string_view, double> kUnits[] = {{"kib", 1},   {"kb", 1},   {"k", 1},         {"mib", 1024},
                                                                          {"mb", 1024}, {"m", 1024}, {"b", 1.0 / 1024}};
                std::string digits = CLI::detail::to_lower(text);
                double unit = 1, number = 0;
                for (const auto& [name, size] : kUnits) {
                    if (!digits.ends_with(name)) continue;
                    digits.resize(digits.size() - name.size());
                    unit = size;
                    break;
                }
                const bool is_number = !digits.empty() && CLI::detail::lexical_cast(digits, number) && std::isfinite(number);
                if (!is_number || number * unit < low || number * unit > high)
                    return fmt::format("found \"{}\", expected KiB in {}..{}, or a size with its unit, 512KB or 1.5MiB", text, low, high);
                text = fmt::format("{}", number * unit);
                return std::string();
            },
            "KiB"};
}

CLI::Validator number(double low, double high)
{
    return {[=](std::string& text) {
                double value = 0;
                const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= low && value <= high;
                return is_number ? "" : fmt::format("found \"{}\", expected a number in {}..{}", text, low, high);
            },
            "NUMBER"};
}

std::optional<std::pair<std::size_t, std::size_t>> shard_of(const std::string& text)
{
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto n = whole_number(std::string_view(text).substr(std::min(slash + 1, text.size())), 1, 1'000'000);
    const auto i = n ? whole_number(std::string_view(text).substr(0, slash), 1, *n) : std::nullopt;
    if (!i) return std::nullopt;
    return std::pair<std::size_t, std::size_t>{*i, *n};
}

CLI::Validator shard_option()
{
    return {[](std::string& text) { return shard_of(text) ? "" : "found \"" + text + "\", expected I/N, for example 1/8"; }, "I/N"};
}

std::optional<std::pair<std::int64_t, std::int64_t>> window_of(const std::string& text)
{
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto to = whole_number(std::string_view(text).substr(std::min(colon + 1, text.size())), 1, INT64_MAX);
    const auto from = to ? whole_number(std::string_view(text).substr(0, colon), 0, *to - 1) : std::nullopt;
    if (!from) return std::nullopt;
    return std::pair{static_cast<std::int64_t>(*from), static_cast<std::int64_t>(*to)};
}

std::optional<std::bitset<kTimelineTracks.size()>> tracks_of(const std::string& text)
{
    std::bitset<kTimelineTracks.size()> tracks;
    for (const std::string& name : CLI::detail::split(text, ',')) {
        const auto there = std::ranges::find(kTimelineTracks, name);
        if (name == "all") tracks.set();
        else if (there == kTimelineTracks.end()) return std::nullopt;
        else tracks.set(static_cast<std::size_t>(there - kTimelineTracks.begin()));
    }
    return tracks;
}

CLI::Validator window_option()
{
    return {[](std::string& text) { return window_of(text) ? "" : "found \"" + text + "\", expected FROM:TO, for example 0:20000"; },
            "FROM:TO"};
}

CLI::Validator tracks_option()
{
    return {[](std::string& text) {
                return tracks_of(text)
                           ? ""
                           : fmt::format("found \"{}\", expected all, or with commas {}", text, fmt::join(kTimelineTracks, ","));
            },
            "LIST"};
}

}  // namespace dlasim
