// Memory around a run: what it holds before, and what it must hold after.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/place.h"
#include "golden/compare.h"
#include "golden/memory/expected.h"

namespace dlasim {

/// The memory after a run.
struct MemoryAfterRun {
    std::function<std::vector<std::uint8_t>(const Place& place, std::uint64_t bytes)> read;
    std::uint32_t status = 0;  // that the program read last
};

struct Findings {
    Comparison comparison;
    std::optional<Tensor> output;        // none where no tensor is made
    std::optional<Difference> expected;  // from the tensor of the user's, where there is one
    std::optional<Difference> direct{};  // of a Winograd layer, from the direct convolution
};

class MemoryCheck {
public:
    using Write = std::function<void(const Place& place, std::span<const std::uint8_t> bytes)>;

    static constexpr std::uint64_t kAround = 64;  // bytes before and after a transfer's output that are also checked: a beat

    virtual ~MemoryCheck() = default;
    /// Fills the machine's memory.
    virtual void before(const Write& write) const = 0;
    /// Compares what is there with what must be.
    virtual Findings after(const MemoryAfterRun& remains) const = 0;
};

/// Counts a byte; a mismatch is reported as `dbb 0x80000000: found 0x12, expected 0x34`.
void compare_byte(Comparison& result, const Place& place, std::uint8_t found, std::uint8_t expected, const std::string& what = "");

}  // namespace dlasim
