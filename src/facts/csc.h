// What CSC is: latencies, depths and the sizes that follow from the geometry. These numbers appear
// nowhere else.
//
//   [spec]  csc.md, section named; all of them confirmed by the measured cases (csc.md 7)
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::csc {

// ---- latencies from the pops to the port of CSC
inline constexpr Cycle kDataToMac = 22;            // [spec] 2.1: data pop to the first atom at the port
inline constexpr Cycle kDataRead = 12;             // [spec] 2.1: data pop to the first read enable, one row at a time
inline constexpr Cycle kDataReadTwoRows = 11;      // [spec] 2.1: image, two rows at a time
inline constexpr Cycle kDataReadFourRows = 9;      // [spec] 2.1: image, four rows at a time
inline constexpr Cycle kDataReadWinograd = 7;      // [spec] 2.1
inline constexpr Cycle kDataRelease = 20;          // [spec] 2.1: data pop to the release of its first atom
inline constexpr Cycle kDataReleaseWinograd = 15;  // [spec] 2.1
inline constexpr Cycle kWeightToMac = 22;          // [spec] 2.1: weight pop to the first cell at the port
inline constexpr Cycle kMaskRead = 3;              // [spec] 2.1: weight pop to the first mask read enable
inline constexpr Cycle kWeightRead = 11;           // [spec] 2.1
inline constexpr Cycle kWeightRelease = 18;        // [spec] 2.1: weight pop to the release of its first load
inline constexpr Cycle kReuseRelease = 2;          // [spec] 1.11: layer start to the release of kept data or weights

// ---- layer
inline constexpr Cycle kFlush = 50;           // [spec] 1.4: last data pop + atoms to done
inline constexpr Cycle kAckToBusy = 3;        // [spec] 1.12: last pending ack to BUSY
inline constexpr Cycle kCreditToCounter = 2;  // [spec] 1.6.1: credit at the port to the counter
inline constexpr Cycle kMinimumLoad = 2;      // [spec] 1.6: a weight load of one cell counts as two

// ---- queues
inline constexpr unsigned kFifoWords = 4;  // [spec] 1.6: storage words behind the input register

/// Sizes that depend on the geometry. [spec] 0, 1.5.1, 1.6.1
struct Sizes {
    std::uint32_t lower, upper;   // stripe limits, direct convolution, one batch
    std::uint32_t image_stripe;   // atoms of an image stripe
    std::uint32_t minimum_issue;  // cycles from data pop to data pop
    std::uint32_t credit;         // initial: entries (nv_full) or atoms that CACC can deliver
};
inline Sizes sizes(const Hardware& hw)
{
    const std::uint32_t ak = hw.mac.atomic_k, div = hw.mac.atomic_c / ak;
    if (hw.full()) return {ak, 2 * ak, 4 * ak, 10, 256};
    const std::uint32_t image = (div >= 4 ? 4 : 2) * ak;
    return {ak, 2 * ak, image, ak, image};
}

inline constexpr std::uint32_t kWinogradLower = 16, kWinogradUpper = 32;  // [spec] 1.5.1
inline constexpr std::uint32_t kWinogradChannels = 4;                     // [spec] 1.3: channels of a slice

/// Stripe limits with several batches, nv_full. [spec] 1.5.1
struct Limits {
    std::uint32_t lower, upper;
};
constexpr Limits batch_limits(std::uint32_t batches)
{
    return batches <= 3 ? Limits{8, 16} : batches <= 7 ? Limits{4, 8} : batches <= 15 ? Limits{2, 4} : Limits{1, 1};
}

}  // namespace dlasim::facts::csc
