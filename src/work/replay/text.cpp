#include "replay/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files/printable.h"
#include "base/files/spelling.h"
#include "registers/tables.h"

namespace dlasim::trace {

std::string_view trim(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

void Line::fail(const std::string& problem) const { throw ConfigError(file + ":" + std::to_string(number), problem); }

std::uint64_t Line::value(std::string_view text, std::uint64_t high) const
{
    text = trim(text);
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    const std::string_view digits = hex ? text.substr(2) : text;
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result, hex ? 16 : 10);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty() || result > high)
        fail("found \"" + std::string(text.substr(0, 40)) + "\", expected a number up to " + std::to_string(high));
    return result;
}

std::string no_register(const Hardware& hardware, std::string_view name)
{
    std::vector<std::string> known;
    for (const UnitRegisters& unit : register_units(hardware))
        for (const RegisterRow& row : unit.rows) known.push_back(fmt::format("{}.{}", unit.name, row.name));
    const std::string_view shown = name.substr(0, 60);
    const std::string near = meant(shown, known);
    return fmt::format("{} has no register {}{}", hardware.name, printable(std::string(shown)),
                       near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near));
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators)
{
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        if (const auto part = trim(text.substr(at, end - at)); !part.empty()) parts.push_back(part);
        at = end + 1;
    }
    return parts;
}

LineReader open_beside(const std::filesystem::path& trace, std::string_view name, const Line& line)
{
    const std::filesystem::path relative{std::string(name)};
    if (relative.is_absolute() || relative.has_parent_path())
        line.fail("data file " + std::string(name) + " must be in the folder of the trace");
    try {
        return LineReader(trace.parent_path() / relative, kMaxText);
    } catch (const ConfigError& error) {
        line.fail(error.what());
    }
}

void add_bounded(std::uint64_t& total, std::uint64_t bytes, const Line& line, const char* what)
{
    if (bytes > kMaxBytes || (total += bytes) > kMaxBytes) line.fail(std::string("the trace ") + what + " more than 1 GiB in all");
}

void expect_addressable(Address address, std::uint64_t bytes, const Line& line)
{
    if (!addressable(address, bytes))
        line.fail(std::to_string(bytes) + " bytes from address " + std::to_string(address.byte()) + " on go beyond the last address");
}

OutputRegion checked_region(std::string_view address, std::string_view bytes, std::uint64_t& total, const Line& line)
{
    OutputRegion region;
    region.place.address = Address{line.value(address, UINT64_MAX)};
    region.bytes = line.value(bytes, kMaxBytes);
    add_bounded(total, region.bytes, line, "checks");
    expect_addressable(region.place.address, region.bytes, line);
    region.source = line.file + ":" + std::to_string(line.number);
    return region;
}

Place place_of(Address address, const Hardware& hardware) { return {!hardware.memory.has_secondary || address.byte() >> 28 != 5, address}; }

}  // namespace dlasim::trace
