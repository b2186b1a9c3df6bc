#include "base/files/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files/printable.h"

namespace dlasim {

std::string cut_to(const std::string& text, std::size_t most)
{
    std::string shown = printable(text);
    if (shown.size() <= most) return shown;
    const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(shown[at]) & 0xC0) == 0x80; };  // of a letter
    std::size_t end = most / 2 - 1, begin = shown.size() - (most - most / 2 - 1);
    while (end > 0 && inside(end)) --end;
    while (begin < shown.size() && inside(begin)) ++begin;
    return shown.substr(0, end) + ".." + shown.substr(begin);
}

std::string folded(const std::string& text, std::size_t indent)
{
    std::string lines;
    std::size_t column = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at + (column == 0 ? text.find_first_not_of(' ', at) - at : 0)), text.size());
        const std::string word = text.substr(at, end - at);
        if (column != 0 && column + 1 + word.size() > kColumns) {
            lines += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column != 0) {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += word.size();
        at = end + 1;
    }
    return lines + "\n";
}

std::string table_text(const std::vector<std::vector<std::string>>& lines, std::initializer_list<std::size_t> words)
{
    std::vector<std::size_t> widths;
    for (const auto& line : lines) {
        widths.resize(line.size());
        for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
    }
    std::string text;
    for (const auto& line : lines) {
        std::string row = " ";
        for (std::size_t c = 0; c < line.size(); ++c) {
            const bool left = std::ranges::find(words, c) != words.end(), last = c + 1 == line.size();
            const std::size_t room = kColumns - std::min(kColumns, row.size() + 1);
            row += left ? fmt::format(" {:<{}}", last ? line[c].substr(0, room) : line[c], last ? 0 : widths[c])
                        : fmt::format(" {:>{}}", line[c], widths[c]);
        }
        row.resize(row.find_last_not_of(' ') + 1);
        text += row + '\n';
    }
    return text;
}

std::string percent_text(std::int64_t before, std::int64_t change)
{
    if (before == 0 || change == 0) return "";
    const double percent = 100.0 * static_cast<double>(change) / static_cast<double>(before);
    return std::abs(percent) < 1000 ? fmt::format("{:+.1f} %", percent) : fmt::format("x {:.3g}", 1 + percent / 100);
}

}  // namespace dlasim
