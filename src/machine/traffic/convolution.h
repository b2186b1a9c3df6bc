// What travels along the convolution pipeline: CDMA, CBUF, CSC, CMAC, CACC, SDP, and on to PDP.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/quantity.h"
#include "facts/hardware.h"
#include "links/wire.h"
#include "traffic/memory.h"

namespace dlasim {

/// CDMA notifies CSC of filled lines, CSC notifies CDMA of released ones. cdma.md 0.2.
struct DataUpdate {
    Entries entries{};
    Slices slices{};
};
struct WeightUpdate {
    Kernels kernels{};
    Entries entries{};
    MaskEntries mask_entries{};
};

/// Everything between CDMA and CSC but the CBUF itself.
struct CdmaCscLink {
    Pulse<DataUpdate> data_filled, data_released;             // cdma2sc_dat_updt, sc2cdma_dat_updt
    Pulse<WeightUpdate> weight_filled, weight_released;       // cdma2sc_wt_updt, sc2cdma_wt_updt
    Wire<bool> data_pending_request, weight_pending_request;  // CSC to CDMA, level
    Wire<bool> data_pending_ack, weight_pending_ack;          // CDMA to CSC, level
};

/// A pulse of which some messages wait for the next one that wakes the reader: nothing follows from them before. The reader takes each
/// as of its own cycle.
template <class T>
class PatientPulse : public Pulse<T> {
public:
    void put(Cycle at, const T& message, bool wakes = true)
    {
        Sleeper* const woken = std::exchange(this->reader, wakes ? this->reader : nullptr);
        Pulse<T>::put(at, message);
        this->reader = woken;
    }
};

/// What a package computes with. An element is a byte in int8, else two bytes, little endian; it is
/// zero where the lane is masked. Winograd: 64 lanes of position * 4 + channel, 16 bits each for the
/// data in every precision, int8 weights one byte.
struct Operands {
    Precision precision = Precision::Int8;
    bool winograd = false;
    std::uint32_t lanes = 0;                     // elements of an atom that can be other than zero
    const std::uint8_t* const* atoms = nullptr;  // [Stripe::atoms] -> [lanes]
    const std::uint8_t* weights = nullptr;       // [Stripe::kernels][lanes]
    std::uint32_t weight_pitch = 0;              // bytes from kernel to kernel
};

/// One weight set and the atoms that slide past it: a package of CSC on its way to both halves of
/// CMAC. Nothing stalls downstream of CSC, so a package is one message, sent in the cycle after its data
/// are popped; the atoms leave the CSC port one a cycle from `first_atom` on, without a hole.
struct Stripe {
    Cycle first_atom = 0;      // cycle of the first atom at the CSC port
    std::uint32_t atoms = 0;   // batches included
    Kernels kernels{};         // of the group, over both halves
    bool channel_end = false;  // the sums are complete with this stripe
    bool layer_end = false;    // the last stripe of the layer
    Precision precision = Precision::Int8;
    std::uint32_t lanes = 0;  // elements of an atom that can be other than zero, with and without values
    /// Owned by CSC; must be used in the cycle in which the message arrives. Null without values.
    const Operands* operands = nullptr;
};

/// The products of one half of the MAC cells with the atoms of a stripe, on their way to CACC.
struct Sums {
    Cycle first_atom = 0;  // cycle of the first atom's valid at the CACC port
    std::uint32_t atoms = 0;
    Kernels kernels{};          // of this half that hold weights
    std::uint32_t outputs = 1;  // sums of a kernel: 4 in Winograd
    std::uint32_t pitch = 0;    // kernels a row
    bool channel_end = false;
    bool layer_end = false;
    /// [atoms][outputs][pitch]; one of them, or none without values:
    /// int8 sums, int16 sums, fp16 words of 44 bits (mantissa 38, exponent 6; cmac.md 4.4).
    /// Owned by CMAC; must be used in the cycle in which the message arrives.
    const std::int32_t* narrow = nullptr;
    const std::int64_t* wide = nullptr;
};

/// Beats from CACC to SDP, each of up to 16 results, int32 or the bit pattern of fp32. sdp.md 1.4. One item of the channel is a train: a
/// beat moves in every cycle in which it is valid and SDP is ready.
struct SumBeat {
    std::array<std::int32_t, 16> lanes{};  // of the first one
    bool layer_end = false;                // the last one ends the layer
    std::uint32_t beats = 1;
    const std::int32_t* more = nullptr;  // lanes of the others, one after another; CACC keeps them until the last one is taken
    const std::int32_t* lanes_of(std::uint32_t beat, std::uint32_t count) const
    {
        return beat == 0 ? lanes.data() : more + std::size_t{beat - 1} * count;
    }
};

/// One beat from SDP to PDP: results as memory holds them, elements of the output's precision. pdp.md 1.8.
struct PoolBeat {
    alignas(32) std::array<std::uint8_t, kMaxBeatBytes> bytes{};
    std::uint32_t count = 0;  // bytes
};

}  // namespace dlasim
