// Whole numbers as they are typed: digits and nothing else, so that no sign wraps and no tail is lost.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dlasim {

/// Decimal digits, or 0x and hexadecimal ones where `hex` allows them; nothing outside of low..high.
inline std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t low = 0, std::uint64_t high = UINT64_MAX,
                                                 bool hex = false)
{
    const bool in_hex = hex && (text.starts_with("0x") || text.starts_with("0X"));
    if (in_hex) text.remove_prefix(2);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, in_hex ? 16 : 10);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number < low || number > high) return std::nullopt;
    return number;
}

inline std::string whole_number_problem(std::string_view text, std::uint64_t low, std::uint64_t high)
{
    return "found \"" + std::string(text) + "\", expected a whole number in " + std::to_string(low) + ".." + std::to_string(high);
}

}  // namespace dlasim
