// Memory around a transfer: what it holds before, and what it must hold after.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "config/place.h"
#include "golden/compare.h"
#include "golden/expected.h"

namespace dlasim {

class TransferMemory {
public:
    using Write = std::function<void(const Place& place, std::span<const std::uint8_t> bytes)>;
    using Read = std::function<std::vector<std::uint8_t>(const Place& place, std::uint64_t bytes)>;

    static constexpr std::uint64_t kAround = 64;  // bytes before and behind what is written that are looked at too: a beat

    virtual ~TransferMemory() = default;
    /// Fills the machine's memory.
    virtual void before(const Write& write) const = 0;
    /// Compares the machine's memory, byte by byte.
    virtual Comparison compare(const Read& read) const = 0;
    /// The output as a tensor [1][channels][height][width], and how it differs from one of the user's; copies have neither.
    virtual std::optional<Tensor> output(const Read&) const { return std::nullopt; }
    virtual std::optional<Difference> difference(const Tensor&) const { return std::nullopt; }
};

/// Counts a byte; a mismatch is told as `dbb 0x80000000: found 0x12, expected 0x34`.
void compare_byte(Comparison& result, const Place& place, std::uint8_t found, std::uint8_t expected, const std::string& what = "");

}  // namespace dlasim
