#include "base/files/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace dlasim {
namespace {

constexpr std::size_t kMinColumns = 40, kMaxIndent = 20;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }  // of a character of UTF-8

std::size_t width(std::string_view line) { return line.size() - static_cast<std::size_t>(std::ranges::count_if(line, continues)); }

std::vector<std::string> lines_of(std::string_view text)
{
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

/// Takes away what blank columns of all these lines are more than two.
void narrow(std::vector<std::string>& lines, std::size_t first, std::size_t last)
{
    std::size_t longest = 0;
    for (std::size_t i = first; i < last; ++i) longest = std::max(longest, lines[i].size());
    std::vector<bool> blank(longest, true);
    for (std::size_t i = first; i < last; ++i)
        for (std::size_t c = 0; c < lines[i].size(); ++c)
            if (lines[i][c] != ' ') blank[c] = false;
    for (std::size_t i = first; i < last; ++i) {
        std::string kept;
        std::size_t run = 0;
        for (std::size_t c = 0; c < lines[i].size(); ++c) {
            run = blank[c] ? run + 1 : 0;
            if (run <= 2) kept += lines[i][c];
        }
        lines[i] = std::move(kept);
    }
}

/// Where the second column of a line begins: after the first word and two blanks or more.
std::size_t second_column(const std::string& line)
{
    const std::size_t word = line.find_first_not_of(' ');
    const std::size_t gap = word == std::string::npos ? word : line.find("  ", word);
    const std::size_t value = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
    return value == std::string::npos || value > kMaxIndent ? std::min<std::size_t>(word == std::string::npos ? 0 : word + 2, kMaxIndent)
                                                            : value;
}

std::string wrapped(std::string line, std::size_t columns)
{
    const std::string indent(second_column(line), ' ');
    std::string text;
    while (width(line) > columns) {
        const std::size_t least = indent.size() + 1;
        std::size_t cut = line.rfind(' ', columns);
        if (cut == std::string::npos || cut < least) cut = line.find(' ', columns);  // a word that is longer
        if (cut == std::string::npos) break;
        text += line.substr(0, line.find_last_not_of(' ', cut) + 1) + "\n";
        const std::size_t next = line.find_first_not_of(' ', cut);
        if (next == std::string::npos) return text;
        line = indent + line.substr(next);
    }
    return text + line + "\n";
}

}  // namespace

std::size_t terminal_columns(int descriptor)
{
    if (::isatty(descriptor) == 0) return 0;
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return std::max<std::size_t>(size.ws_col, kMinColumns);
    return 80;
}

bool colours_wanted()
{
    const char *none = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
    return (!none || *none == '\0') && terminal && std::string_view(terminal) != "dumb";
}

std::string fitted(std::string_view text, std::size_t columns)
{
    std::vector<std::string> lines = lines_of(text);
    for (std::size_t first = 0; first < lines.size();) {
        std::size_t last = first;
        bool fits = true;
        for (; last < lines.size() && !lines[last].empty(); ++last) fits = fits && width(lines[last]) <= columns;
        if (!fits) narrow(lines, first, last);
        first = last + 1;
    }
    std::string all;
    for (const std::string& line : lines) all += wrapped(line, columns);
    if (!text.ends_with('\n') && !all.empty()) all.pop_back();
    return all;
}

std::string coloured(std::string_view text)
{
    constexpr std::array<std::string_view, 3> kVerdicts{"  verified", "  expected", "  values"};
    std::string all;
    for (std::string& line : lines_of(text)) {
        const std::size_t value = second_column(line);
        const bool verdict = std::ranges::any_of(kVerdicts, [&](std::string_view start) { return line.starts_with(start); });
        for (const auto& [word, colour] : {std::pair{"yes", "\x1b[32m"}, std::pair{"NO", "\x1b[31m"}, std::pair{"verified:", "\x1b[32m"}})
            if (const std::string_view w = word; verdict && line.compare(value, w.size(), w) == 0) {
                line = line.substr(0, value) + colour + word + "\x1b[0m" + line.substr(value + w.size());
                break;
            }
        all += line + "\n";
    }
    if (!text.ends_with('\n') && !all.empty()) all.pop_back();
    return all;
}

}  // namespace dlasim
