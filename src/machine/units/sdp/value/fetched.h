// What a read engine has fetched: bytes in order of arrival, found by the position of a beat in its layer.
//
//   MCIF ─► bytes of layer 0 │ bytes of layer 1 │ ...        features of a beat, operands of a beat
//           └ released after the last beat that needs them
//
// Shapes  a beat is BeatShape::lanes elements: features of 8, 16 bits or fp16, operands of 8 or 16 bits.
// Source  sdp.md 1.5, 1.6.2, 1.6.3.
#pragma once
#include <array>
#include <cstdint>

#include "base/byte_stream.h"
#include "base/ring.h"
#include "traffic/memory.h"
#include "units/sdp/read/read_layer.h"

namespace dlasim::sdp {

inline constexpr std::uint32_t kMaxLanes = kMaxBeatBytes;  // of a beat: an atom of int8

/// How a beat at WDMA lies in an atom of elements.
struct BeatShape {
    std::uint32_t lanes = 16;          // elements of the beat
    std::uint32_t atom_elements = 16;  // elements of an atom
    std::uint32_t beats_per_atom = 1;
};

/// Operands of the lanes of a beat.
struct Operands {
    std::array<std::int16_t, kMaxLanes> alu{}, mul{};
};

class Fetched {
public:
    /// A layer of the read engine begins. Its bytes follow, if there are any.
    void expect(const ReadLayer& layer, bool bytes);
    void receive(const std::uint8_t* bytes, std::uint32_t count) { bytes_.push(bytes, count); }
    /// What the bytes that arrive are; pre: expected.
    const ReadLayer& arriving() const { return layers_.back().layer; }

    /// A layer of SDP begins that uses the oldest layer fetched, or none.
    void start(bool uses);
    /// The layer of SDP has ended.
    void finish();
    /// No beat before this one is needed any more.
    void release_before(std::uint64_t beat, const BeatShape& shape);

    /// BRDMA, NRDMA, ERDMA: what the beat takes; zero where nothing was fetched.
    const Operands& operands(std::uint64_t beat, const BeatShape& shape);
    /// MRDMA: the lanes of the beat, int32 or fp32.
    void features(std::int32_t* lanes, std::uint64_t beat, const BeatShape& shape) const;

private:
    struct Span {
        ReadLayer layer;
        std::uint64_t begin = 0;  // of its bytes
    };
    struct Cached : Operands {
        std::uint64_t from = 0, until = 0;  // atoms of elements of the layer that they belong to
    };

    ByteStream bytes_;
    Ring<Span> layers_{4};  // whose bytes are here or to come
    std::uint64_t expected_ = 0;
    bool used_ = false;
    std::array<Cached, 2> cache_;  // the halves of an atom
};

}  // namespace dlasim::sdp
