#include "mutator.h"

#include <algorithm>
#include <array>

namespace dlasim::fuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxKept = 300, kLongestKept = 1 << 16;

void collect(Json& value, std::vector<Json*>& nodes)
{
    nodes.push_back(&value);
    if (value.is_structured())
        for (Json& inner : value) collect(inner, nodes);
}

}  // namespace

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> seeds, std::vector<std::string> words)
    : random_(seed), files_(std::move(seeds)), words_(std::move(words)), seeds_(files_.size())
{
    for (const char* word : {"-1",         "0",    "1e400", "99999999999999999999",
                             "1.5",        "null", "true",  "[",
                             "]",          "{",    "}",     "\"",
                             "\\u0000",    "\xff", ",",     ":",
                             "8192",       "8193", "32",    "31",
                             "4294967296", "0x",   "%n",    "..",
                             "/",          "'",    "\n",    "\t",
                             "\x1b"})
        words_.emplace_back(word);
}

const std::string& Mutator::any_file() { return files_[below(2) != 0 ? below(seeds_) : below(files_.size())]; }

std::string Mutator::next()
{
    const std::string& file = any_file();
    const bool json = !file.empty() && (file[0] == '{' || file[0] == '[');
    if (!json) return changed_text(file);
    const std::string tree = changed_tree(file);
    return below(8) == 0 ? changed_text(tree) : tree;
}

void Mutator::keep(const std::string& input)
{
    if (input.size() > kLongestKept) return;
    if (files_.size() < seeds_ + kMaxKept) files_.push_back(input);
    else if (below(16) == 0) files_[seeds_ + below(kMaxKept)] = input;
}

std::string Mutator::changed_tree(const std::string& text)
{
    Json tree = Json::parse(text, nullptr, false);
    if (tree.is_discarded()) return changed_text(text);
    for (std::size_t times = 1 + below(3); times-- > 0;) change(tree);
    if (below(500) == 0) return std::string(1 + below(300), '[') + tree.dump(-1, ' ', false, Json::error_handler_t::replace);
    return tree.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Mutator::change(Json& tree)
{
    std::vector<Json*> nodes;
    collect(tree, nodes);
    Json& node = *nodes[below(nodes.size())];
    if (!node.is_structured() || below(12) == 0) {
        node = below(20) == 0 ? part_of_another() : scalar(node);
        return;
    }
    const std::size_t place = node.empty() ? 0 : below(node.size());
    switch (below(5)) {
        case 0:
            if (!node.empty()) node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(place)));
            break;
        case 1:
            if (node.is_array() && !node.empty()) node.push_back(Json(node[place]));
            else if (node.is_object()) node[words_[below(words_.size())]] = part_of_another();
            break;
        case 2: {  // a member of another file's object: keys that belong there
            const Json other = part_of_another();
            if (!other.is_object() || !node.is_object() || other.empty()) break;
            const auto member = std::next(other.begin(), static_cast<std::ptrdiff_t>(below(other.size())));
            node[member.key()] = member.value();
            break;
        }
        case 3:
            if (node.is_array() && node.size() > 1) std::swap(node[place], node[below(node.size())]);
            break;
        default:
            if (!node.empty()) {
                Json& value = *std::next(node.begin(), static_cast<std::ptrdiff_t>(place));
                value = scalar(value);
            }
    }
}

Json Mutator::scalar(const Json& before)
{
    static const std::array<std::int64_t, 24> kNumbers{0,    1,    2,     3,          4,          7,          8,         16,
                                                       31,   32,   33,    63,         64,         255,        256,       1000,
                                                       8191, 8192, 65536, 2147483647, 4294967295, 4294967296, INT64_MAX, INT64_MIN};
    if (before.is_number_integer() && below(3) != 0) {
        const auto value = static_cast<std::uint64_t>(before.get<std::int64_t>());
        switch (below(6)) {
            case 0:
                return static_cast<std::int64_t>(value + 1);
            case 1:
                return static_cast<std::int64_t>(value - 1);
            case 2:
                return static_cast<std::int64_t>(value * 2);
            case 3:
                return static_cast<std::int64_t>(value) / 2;
            default:
                return 1 + below(70);
        }
    }
    if (before.is_boolean() && below(3) != 0) return !before.get<bool>();
    switch (below(12)) {
        case 0:
            return nullptr;
        case 1:
            return below(2) != 0;
        case 2:
            return static_cast<double>(below(1000)) / 7.0 - 20;
        case 3:
            return Json::object();
        case 4:
            return Json::array();
        case 5:
            return UINT64_MAX;
        case 6:
        case 7:
        case 8:
            return words_[below(words_.size())];
        default:
            return kNumbers[below(kNumbers.size())];
    }
}

Json Mutator::part_of_another()
{
    Json other = Json::parse(any_file(), nullptr, false);
    if (other.is_discarded()) return nullptr;
    std::vector<Json*> nodes;
    collect(other, nodes);
    return *nodes[below(nodes.size())];
}

std::string Mutator::changed_text(std::string text)
{
    for (std::size_t times = 1 + below(3); times-- > 0;) {
        const std::size_t at = below(text.size() + 1);
        switch (below(6)) {
            case 0:
                text.erase(at, below(6));
                break;
            case 1:
                text.insert(at, words_[below(words_.size())]);
                break;
            case 2:
            case 3:
                change_number(text);
                break;
            case 4:
                change_lines(text);
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(random_());
        }
    }
    return text;
}

void Mutator::change_lines(std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
        lines.push_back(text.substr(start, end - start));
        start = end;
    }
    if (lines.empty()) return;
    const std::size_t line = below(lines.size());
    switch (below(3)) {
        case 0:
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line));
            break;
        case 1:
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())), std::string(lines[line]));
            break;
        default:
            std::swap(lines[line], lines[below(lines.size())]);
    }
    text.clear();
    for (const std::string& each : lines) text += each;
}

void Mutator::change_number(std::string& text)
{
    static const std::array<const char*, 18> kValues{
        "0",  "1", "2", "7", "31", "32", "33", "63", "255", "64", "127", "1000", "8192", "-3", "0.5", "4294967295", "18446744073709551615",
        "1e9"};
    const std::size_t at = text.find_first_of("0123456789", below(text.size() + 1));
    if (at == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    text.replace(at, end - at, below(2) != 0 ? std::to_string(below(300)) : kValues[below(kValues.size())]);
}

}  // namespace dlasim::fuzz
