// Helpers of the trace readers: bounded numbers, lines with their place.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/input.h"
#include "base/quantity.h"
#include "facts/hardware.h"
#include "replay/recording.h"

namespace dlasim::trace {

// What one trace may load in all, and what it may check in all. Far above any real layer.
inline constexpr std::uint64_t kMaxBytes = 1u << 30;
/// The bits of GLB.S_INTR_STATUS and S_INTR_MASK. csb.md 3.
inline constexpr std::uint32_t kAllInterrupts = 0x003fffff;
inline constexpr std::uint64_t kMaxText = 8 * kMaxBytes;  // of a data file: "0xff " and more a byte

std::string_view trim(std::string_view text);

/// A line of a file, for messages.
struct Line {
    std::string file;
    std::uint64_t number = 0;
    [[noreturn]] void fail(const std::string& problem) const;
    /// Decimal, or hexadecimal with 0x.
    std::uint64_t value(std::string_view text, std::uint64_t high) const;
};

/// The problem of a name that is no register, with the register that it may have been meant for.
std::string no_register(const Hardware& hardware, std::string_view name);

std::vector<std::string_view> split(std::string_view text, std::string_view separators);

/// A data file beside the trace; a name that leads out of the trace's folder is refused.
LineReader open_beside(const std::filesystem::path& trace, std::string_view name, const Line& line);

/// Counts towards a limit without wrapping.
void add_bounded(std::uint64_t& total, std::uint64_t bytes, const Line& line, const char* what);

/// Refuses a range of addresses that goes beyond the last one.
void expect_addressable(Address address, std::uint64_t bytes, const Line& line);

/// The region that a check of `line` names; counts towards what the trace may check.
OutputRegion checked_region(std::string_view address, std::string_view bytes, std::uint64_t& total, const Line& line);

/// The bench of the public traces has the CVSRAM at 0x5xxxxxxx and the other memory elsewhere.
Place place_of(Address address, const Hardware& hardware);

}  // namespace dlasim::trace
