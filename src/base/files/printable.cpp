#include "base/files/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace dlasim {
namespace {

/// Of a character in UTF-8; none if its bytes are no character.
struct Character {
    char32_t code;
    std::size_t bytes;
};

std::optional<Character> character_at(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return Character{first, 1};
    const std::size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (bytes == 0 || text.size() < bytes) return {};
    char32_t code = first & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3fU);
    }
    const bool shorter = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
    if (shorter || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
    return Character{code, bytes};
}

/// Characters that are not seen and change how others are: controls, line and paragraph ends, marks of direction, tags.
constexpr std::array<std::pair<char32_t, char32_t>, 11> kUnseen{{{0x00, 0x1f},
                                                                 {0x7f, 0x9f},
                                                                 {0x61c, 0x61c},
                                                                 {0x180e, 0x180e},
                                                                 {0x200b, 0x200f},
                                                                 {0x2028, 0x202e},
                                                                 {0x2060, 0x206f},
                                                                 {0xfeff, 0xfeff},
                                                                 {0xfff9, 0xfffb},
                                                                 {0xfffe, 0xffff},
                                                                 {0xe0000, 0xe007f}}};

bool unseen(char32_t code)
{
    return std::any_of(kUnseen.begin(), kUnseen.end(), [&](const auto& range) { return range.first <= code && code <= range.second; });
}

std::string escape(char32_t code)
{
    if (code == '\n') return "\\n";
    if (code == '\t') return "\\t";
    const auto number = static_cast<std::uint32_t>(code);
    return number < 0x100 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
}

}  // namespace

std::string printable(std::string_view text, bool lines)
{
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text[0]);
        std::size_t bytes = 1;
        if ((c >= 0x20 && c < 0x7f) || (c == '\n' && lines)) {
            result += text[0];
        } else if (const std::optional<Character> character = character_at(text)) {
            bytes = character->bytes;
            if (unseen(character->code)) result += escape(character->code);
            else result += text.substr(0, bytes);
        } else {
            result += escape(c);
        }
        text.remove_prefix(bytes);
    }
    return result;
}

std::string shortened(std::string_view text)
{
    constexpr std::size_t kFirst = 12'000, kLast = 4'000;
    if (text.size() <= kFirst + kLast) return std::string(text);
    const auto whole = [&](std::size_t at) {
        while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
        return at;
    };
    const std::size_t first = whole(kFirst), last = whole(text.size() - kLast);
    return fmt::format("{} ... {} bytes ... {}", text.substr(0, first), grouped(last - first), text.substr(last));
}

std::string grouped(std::uint64_t number)
{
    std::string text = std::to_string(number);
    for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) text.insert(static_cast<std::size_t>(i), 1, ',');
    return text;
}

}  // namespace dlasim
