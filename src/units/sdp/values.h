// What SDP's beats are worth. The pipeline says when a beat reaches WDMA; its value is computed then,
// from the sums of CACC or the bytes of MRDMA in order of arrival, and from operand bytes found by the
// position of the beat in the layer. The arithmetic itself is in numerics/.
//
//   feature beats ─► BS(x, operands) ─► BN ─► EW ─► LUT ─► converter ─► bytes of one WDMA input beat
//
// Shapes    nv_full: 16 elements to 16 bytes (int8 out) or 32; configurable: one atom.
// Source    sdp.md 1.6.2, 4; order of beats 1.4.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/byte_stream.h"
#include "base/ring.h"
#include "numerics/sdp_cvt.h"
#include "numerics/sdp_x.h"
#include "numerics/sdp_y.h"
#include "registers/register_file.h"
#include "traffic/convolution.h"
#include "units/sdp/layer.h"
#include "units/sdp/read_layer.h"

namespace dlasim {

/// Counted while a layer runs.
struct SdpValueCounters {
    std::uint64_t saturated = 0, nan_output = 0, nan_input = 0, infinite_input = 0;
    std::uint64_t lut_underflow = 0, lut_overflow = 0, lut_hybrid = 0, lut_le_hit = 0, lut_lo_hit = 0;
};

class SdpValues {
public:
    explicit SdpValues(const Hardware& hardware);

    void compute(bool on) { on_ = on; }

    /// A beat from CACC.
    void feed(const SumBeat& beat)
    {
        if (on_) feed_lanes(beat.lanes.data());
    }
    /// A layer of a read engine begins; its bytes follow.
    void expect(ReadEngine engine, const ReadLayer& layer);
    void receive(ReadEngine engine, const std::uint8_t* bytes, std::uint32_t count)
    {
        if (!on_) return;
        Stream& to = stream(engine);
        to.bytes.push(bytes, count);
        if (full_ && engine == ReadEngine::Mrdma && to.spans.back().layer.input == Precision::Fp16) count_special(bytes, count);
    }

    void start(const RegisterFile& registers, const SdpLayer& layer);
    /// All beats of the layer have been used.
    void finish();

    /// The bytes of the next WDMA input beat.
    void next(std::array<std::uint8_t, 32>& bytes);

    /// The next piece of a beat enters the register whose table entries are read.
    void look_up();
    /// In every cycle of a layer in which EW is on the piece in that register is counted, as in the silicon: nothing
    /// yet, or the last piece of a layer before, until the first one comes; in a layer without table all the time.
    void count_lut(Cycle cycles);

    numerics::LutTables& tables() { return tables_; }
    SdpValueCounters& counters() { return counters_; }

private:
    /// The layers of a read engine whose bytes are here or to come.
    struct Stream {
        struct Span {
            ReadLayer layer;
            std::uint64_t begin = 0;
        };
        ByteStream bytes;
        Ring<Span> spans{4};
        std::uint64_t expected = 0;
        bool used = false;  // by the layer that runs
    };
    struct Operands {
        std::array<std::int16_t, 32> alu{}, mul{};
        std::uint64_t from = 0, until = 0;  // atoms of elements of the layer that they belong to
    };

    static constexpr std::uint32_t kMaxLanes = 32;

    void count_special(const std::uint8_t* bytes, std::uint32_t count);
    void release_used();
    void feed_lanes(const std::int32_t* lanes);
    void evaluate(std::int32_t* lanes, std::uint64_t beat);
    unsigned convert_fast(std::int32_t* lanes, std::uint16_t* out);
    void features(std::int32_t* lanes, std::uint64_t beat);
    void from_memory(std::int32_t* lanes, std::uint64_t beat);
    const Operands& operands(ReadEngine engine, std::uint64_t beat);
    Stream& stream(ReadEngine engine) { return streams_[static_cast<unsigned>(engine)]; }

    bool on_ = true;
    bool full_;
    std::uint32_t atom_, lanes_per_beat_;  // of CACC
    std::uint32_t ew_lanes_;               // of a piece in EW
    bool has_lut_;
    // features from CACC
    std::vector<std::int32_t> sums_;
    std::uint64_t sums_begin_ = 0, sums_end_ = 0;
    // read engines
    std::array<Stream, kReadEngines> streams_;
    std::array<std::array<Operands, 2>, kReadEngines> cache_;
    // the layer
    SdpLayer layer_;
    numerics::SdpXConfig bs_, bn_;
    numerics::SdpYConfig ew_;
    numerics::SdpCvtConfig cvt_;
    bool nan_to_zero_ = false;
    bool fast_ = false;      // integers only, no EW: integer_lanes.h does it
    bool counting_ = false;  // saturated lanes are wanted
    bool counting_lut_ = false;
    std::uint64_t beat_ = 0;    // WDMA input beats used
    std::uint32_t lanes_ = 16;  // of such a beat
    std::uint32_t beats_per_atom_ = 1, atom_elements_ = 1;
    numerics::LutTables tables_;
    // look-up ahead of use
    std::uint64_t looked_up_ = 0, last_piece_ = 0;  // pieces; the last one of the layer
    SdpValueCounters piece_;                        // flags of the piece in the register
    SdpValueCounters counters_;
};

}  // namespace dlasim
