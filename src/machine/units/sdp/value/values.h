// What SDP's beats are worth. The pipeline says when a beat reaches WDMA; its value is computed then,
// from the sums of CACC or the bytes of MRDMA in order of arrival, and from operand bytes found by the
// position of the beat in the layer. The arithmetic itself is in numerics/.
//
//   feature beats ─► BS(x, operands) ─► BN ─► EW ─► LUT ─► converter ─► bytes of one WDMA input beat
//
// Shapes    a beat: silicon.result_lanes elements of one byte, of two where the layer is wide.
// Source    sdp.md 1.6.2, 4; order of beats 1.4.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "facts/sdp.h"
#include "numerics/sdp_y.h"
#include "registers/register_file.h"
#include "traffic/convolution.h"
#include "traffic/memory.h"
#include "units/sdp/layer.h"
#include "units/sdp/read/read_layer.h"
#include "units/sdp/value/arithmetic.h"
#include "units/sdp/value/fetched.h"

namespace dlasim::sdp {

/// Flags of the look-up register, summed.
struct LookUps {
    std::uint64_t underflow = 0, overflow = 0, hybrid = 0, le_hit = 0, lo_hit = 0;
    void add(const LookUps& flags, std::uint64_t times)
    {
        underflow += flags.underflow * times;
        overflow += flags.overflow * times;
        hybrid += flags.hybrid * times;
        le_hit += flags.le_hit * times;
        lo_hit += flags.lo_hit * times;
    }
};

/// Counted while a layer runs. A layer that does not count saturations or look-ups leaves them as they were.
struct ValueCounters {
    std::uint64_t saturated = 0, nan_output = 0, nan_input = 0, infinite_input = 0;
    LookUps look_ups;
};

class Values {
public:
    explicit Values(const facts::sdp::Facts& silicon);

    void compute(bool on) { on_ = on; }
    bool computes() const { return on_; }

    /// A beat from CACC.
    void feed(const SumBeat& item, std::uint32_t beat)
    {
        if (on_) feed_lanes(item.lanes_of(beat, silicon_.beat_lanes));
    }
    /// A layer of a read engine begins; its bytes follow.
    void expect(ReadEngine engine, const ReadLayer& layer) { fetched(engine).expect(layer, on_); }
    void receive(ReadEngine engine, const std::uint8_t* bytes, std::uint32_t count);

    void start(const RegisterFile& registers, const LayerConfig& layer);
    /// All beats of the layer have been used.
    void finish();

    /// The bytes of the next WDMA input beat, and no others.
    void next(std::array<std::uint8_t, kMaxBeatBytes>& bytes);

    /// The next piece of a beat enters the register whose table entries are read.
    void look_up();
    /// In every cycle of a layer in which EW is on the piece in that register is counted, as in the silicon: nothing
    /// yet, or the last piece of a layer before, until the first one comes; in a layer without table all the time.
    void count_lut(Cycle cycles)
    {
        if (counting_lut_) counters_.look_ups.add(piece_, cycles);
    }

    numerics::LutTables& tables() { return tables_; }
    ValueCounters& counters() { return counters_; }

private:
    void count_special(const std::uint8_t* bytes, std::uint32_t count);
    void feed_lanes(const std::int32_t* lanes);
    void features(std::int32_t* lanes, std::uint64_t beat);
    const Operands* operands(const EngineLayer& engine, ReadEngine reader, std::uint64_t beat);
    void evaluate(std::int32_t* lanes, std::uint64_t beat);
    unsigned convert_integers(std::int32_t* lanes, std::uint16_t* out);
    Fetched& fetched(ReadEngine engine) { return fetched_[static_cast<unsigned>(engine)]; }

    const facts::sdp::Facts& silicon_;
    bool on_ = true;
    // features from CACC
    std::vector<std::int32_t> sums_;
    std::uint64_t sums_begin_ = 0, sums_end_ = 0;
    std::array<Fetched, kReadEngines> fetched_;
    // the layer
    LayerConfig layer_;
    Arithmetic arithmetic_;
    BeatShape shape_;
    bool integers_ = false;  // only they are in play, and EW is not: integer_lanes.h does it
    bool counting_ = false;  // saturated lanes are wanted
    bool counting_lut_ = false;
    std::uint64_t beat_ = 0;  // WDMA input beats used
    numerics::LutTables tables_;
    // look-up ahead of use
    std::uint64_t looked_up_ = 0, last_piece_ = 0;  // pieces; the last one of the layer
    LookUps piece_;                                 // flags of the piece in the register
    ValueCounters counters_;
};

}  // namespace dlasim::sdp
