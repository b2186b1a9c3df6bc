// What the planner decides beside tilings. A network may say it in place of the planner: "decide": {"pixels": false}.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace dlasim {

/// Of a layer; the last one of the network, which may ask for Winograd and compression in all its layers too.
enum class PlanDecision {
    Pixels,
    RowsAtOnce,
    Pooled,
    TwoKernelRows,
    Joined,
    ByRows,
    SharedBanks,
    Cvsram,
    Winograd,
    Compressed,
    Interleaved
};

struct DecisionKey {
    const char* name;
    const char* needs;       // for messages
    std::uint32_t most = 1;  // flags: 1; else powers of two up to it
    bool tiles = false;      // with another value the layer has other tilings
    bool asked = false;      // made only where a file asks for it
};
inline constexpr std::array kDecisions{
    DecisionKey{"pixels", "an input of the network of 1, 3 or 4 channels that one convolution reads, and tiles of pixels that fit", 1,
                true},
    DecisionKey{"rows_at_once", "an input as pixels, and as many kernel rows as fit the array", 4, true},
    DecisionKey{"pooled", "a convolution or addition that only this pooling reads, and whose partition is pooled if it has one", 1, true},
    DecisionKey{"two_kernel_rows", "a depthwise convolution of three rows in int8 on nv_large or nv_full, with a line to spare", 1, true},
    DecisionKey{"joined", "an earlier convolution of the same input with equal windows, and no partition of its own", 1, true},
    DecisionKey{"by_rows", "a pooling or normalisation that is long enough for several operations"},
    DecisionKey{"shared_banks", "a convolution whose banks go together with those of the step before"},
    DecisionKey{"cvsram", "a CVSRAM with space for the tensor, which only units of the machine read and write"},
    DecisionKey{
        "winograd",
        "a machine with Winograd, a convolution of at most 3 x 3 per phase of the stride whose output has multiples of 4 columns and "
        "rows, and no fused pooling",
        1, true, true},
    DecisionKey{"compressed", "a machine that decompresses weights, and feature data", 1, true, true},
    DecisionKey{"interleaved", "operations that overlap"},
};
inline constexpr std::size_t kLayerDecisions = kDecisions.size() - 1;

constexpr const DecisionKey& key_of(PlanDecision decision) { return kDecisions[static_cast<std::size_t>(decision)]; }

/// Those that the file has.
struct Decisions {
    std::array<std::optional<std::uint32_t>, kDecisions.size()> values{};

    std::optional<std::uint32_t>& of(PlanDecision decision) { return values[static_cast<std::size_t>(decision)]; }
    const std::optional<std::uint32_t>& of(PlanDecision decision) const { return values[static_cast<std::size_t>(decision)]; }
};

}  // namespace dlasim
