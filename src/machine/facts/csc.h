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
inline constexpr Cycle kGateOff = 4;          // [spec] 3: done to the clock off, op_en delayed by three flops
inline constexpr Cycle kWinogradGate = 3;     // [spec] 3: the Winograd cells later than the rest
inline constexpr Cycle kAckToBusy = 3;        // [spec] 1.12: last pending ack to BUSY
inline constexpr Cycle kCreditToCounter = 2;  // [spec] 1.6.1: credit at the port to the counter
inline constexpr Cycle kMinimumLoad = 2;      // [spec] 1.6: a weight load of one cell counts as two

// ---- queues
inline constexpr unsigned kFifoWords = 4;  // [spec] 1.6: storage words after the input register

/// What depends on the generation and on the geometry.
struct Facts {
    bool words;                       // int16 and fp16
    bool long_stripes;                // stripes of `upper` atoms while twice as many are left, else of `lower`. [spec] 1.5.1
    bool short_slice_count;           // image: the last slice is detected by a count that one more element makes too short. [spec] 6
    std::uint32_t lower, upper;       // stripe limits, direct convolution, one batch. [spec] 1.5.1
    std::uint32_t image_stripe;       // atoms of an image stripe
    std::uint32_t minimum_issue;      // cycles from data pop to data pop. [spec] 1.6.1
    std::uint32_t credit;             // initial: entries (nv_full) or atoms that CACC can deliver. [spec] 1.6.1
    std::uint32_t credit_lanes;       // results of a credit. [spec] 1.6.1
    unsigned entry_bits, bank_bits;   // of D_ENTRY_PER_SLICE and of each field of D_BANK. [spec] 1.2
    std::uint32_t address_mask;       // an entry's address in the ring. [spec] 1.8
    std::uint32_t weight_entry_mask;  // D_WEIGHT_BYTES in entries, as far as the silicon keeps it. [spec] 1.11
    unsigned row_limit_shift;         // image: entries of a row that count as one of D_ENTRY_PER_SLICE, log2. [spec] 1.8.3
};
inline Facts of(const Hardware& hw)
{
    const std::uint32_t ak = hw.mac.atomic_k, div = hw.mac.atomic_c / ak, image = (div >= 4 ? 4 : 2) * ak;
    if (hw.full()) return {true, false, false, ak, 2 * ak, image, 10, 256, 16, 12, 4, 0xfff, 0xfff, 0};
    return {false, true, true, ak, 2 * ak, image, ak, image, ak, 14, 5, 0xffff, UINT32_MAX, 2};
}

inline constexpr std::uint32_t kJumpBelow = 32;         // [spec] 1.8.5: bytes of an entry; narrower ones are read in pairs
inline constexpr std::uint32_t kMaskEntries = 512;      // D_WMB_BYTES in entries, as far as the silicon keeps it: modulo this
inline constexpr std::uint32_t kSliceCount = 1u << 13;  // [spec] open_points.md R1: the count of channel slices wraps here
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
