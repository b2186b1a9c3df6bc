#include "base/files/json_text.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/files/input.h"
#include "base/files/keys.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

using Json = nlohmann::json;

std::string line_and_column(const std::string& text, std::size_t byte)
{
    const std::size_t end = std::min(byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    const std::size_t start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    const std::size_t column = start == std::string::npos ? end : end - start - 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(std::max<std::size_t>(column, 1));
}

/// What is wrong at that byte, in our words: the parser's sort of mistake, what it found there and what it expected.
std::string syntax_problem(const std::string& text, std::size_t byte, std::string_view parser)
{
    struct Words {
        std::string_view theirs, ours;
    };
    const auto said = [&](std::string_view words) { return parser.find(words) != std::string_view::npos; };
    constexpr Words kMistakes[] = {
        {"ill-formed UTF-8", "bytes that are no UTF-8"},
        {"control character", "a control character in a text, expected it escaped"},
        {"missing closing quote", "a text that does not end, expected a quote"},
        {"forbidden character after backslash", "an escape that JSON does not have"},
        {"surrogate", "half of a pair of \\u escapes"},
        {"'\\u' must be followed", "a \\u without four hexadecimal digits"},
        {"invalid number", "a number that JSON does not have"},
        {"invalid literal", "a word that JSON does not have, expected true, false, null, a number or a text in quotes"},
        {"invalid comment", "a comment that is neither // nor /* */"}};
    for (const Words& mistake : kMistakes)
        if (said(mistake.theirs)) return "found " + std::string(mistake.ours);
    constexpr Words kExpected[] = {{"expected string literal", "a key in double quotes"},
                                   {"expected ':'", "a colon"},
                                   {"expected ',' or ']'", "a comma or ]"},
                                   {"expected ']'", "a comma or ]"},
                                   {"expected ',' or '}'", "a comma or }"},
                                   {"expected '}'", "a comma or }"},
                                   {"; expected end of input", "the end of the file"}};
    std::string expected = "a value";
    for (const Words& words : kExpected)
        if (said(words.theirs)) {
            expected = words.ours;
            break;
        }
    if (said("unexpected end of input") || byte > text.size()) return "found the end of the file, expected " + expected;
    std::size_t begin = std::min(byte == 0 ? 0 : byte - 1, text.size() - 1);
    const auto word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    while (begin > 0 && word(text[begin]) && word(text[begin - 1])) --begin;
    return "found " + json_excerpt(Json(text.substr(begin, byte - begin)), 40) + ", expected " + expected;
}

/// The byte after the comment that begins at `i`; `i` if none does.
std::size_t after_comment(const std::string& text, std::size_t i)
{
    if (text[i] != '/' || i + 1 >= text.size() || (text[i + 1] != '/' && text[i + 1] != '*')) return i;
    const bool line = text[i + 1] == '/';
    const std::size_t end = text.find(line ? "\n" : "*/", i + 2);
    return end == std::string::npos ? text.size() : end + (line ? 1 : 2);
}

/// The library handles nested values by recursion, so deep nesting is rejected before it is parsed.
void refuse_deep_nesting(const std::string& text, const std::string& file)
{
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (const std::size_t after = quoted ? i : after_comment(text, i); after != i) {
            i = after - 1;
            continue;
        }
        const char c = text[i];
        if (quoted) {
            if (c == '\\') ++i;
            else if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepest)
                throw ConfigError(file, "nests deeper than " + std::to_string(kDeepest) + " at " + line_and_column(text, i + 1) +
                                            ", expected fewer nested brackets");
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
}

}  // namespace

std::string choices_text(std::string_view choices)
{
    std::string text;
    for (std::size_t begin = 0, end = 0; begin < choices.size(); begin = end + 1) {
        end = std::min(choices.find(' ', begin), choices.size());
        text.append(begin == 0 ? "" : end == choices.size() ? " or " : ", ").append(choices.substr(begin, end - begin));
    }
    return text;
}

Json parse_json(const std::string& text, const std::string& file)
{
    refuse_deep_nesting(text, file);
    std::vector<std::set<std::string>> open;
    const Json::parser_callback_t no_key_twice = [&](int, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start) open.emplace_back();
        if (event == Json::parse_event_t::object_end) open.pop_back();
        if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
            throw ConfigError(file, "key " + json_excerpt(parsed) + " is given twice, expected once");
        return true;
    };
    try {
        return Json::parse(text, no_key_twice, true, true);  // with comments
    } catch (const Json::parse_error& error) {
        throw ConfigError(file, "not JSON at " + line_and_column(text, error.byte) + ": " + syntax_problem(text, error.byte, error.what()));
    } catch (const Json::exception&) {
        throw ConfigError(file, "has a number out of range, expected one of 64 bits or less");
    }
}

Json read_json(const std::string& path) { return parse_json(read_text(path), path); }

Json json_or_text(const std::string& text, const std::string& where)
{
    refuse_deep_nesting(text, where);
    try {
        return Json::parse(text);
    } catch (const Json::exception&) {
        return text;
    }
}

nlohmann::ordered_json parse_ordered_json(const std::string& text) { return nlohmann::ordered_json::parse(text, nullptr, true, true); }

std::string json_excerpt(const Json& value, std::size_t most)
{
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= most) return text;
    std::size_t end = most - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole characters only
    return text.substr(0, end) + "...";
}

std::string cell_text(const nlohmann::json& value)
{
    std::string text = value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    // A text that a spreadsheet would take for a formula gets an apostrophe in front; numbers stay numbers.
    if (value.is_string() && !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos)
        text = std::string("'").append(text);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text = printable(text);
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

}  // namespace dlasim
