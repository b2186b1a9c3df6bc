#include "units/sdp/value/values.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "numerics/fp.h"
#include "registers/fields/sdp.h"
#include "units/sdp/value/integer_lanes.h"

namespace dlasim::sdp {
namespace {

constexpr std::uint64_t kReleaseInterval = 64;  // beats

constexpr bool fp16_nan(std::uint32_t x) { return (x & 0x7fff) > 0x7c00; }
constexpr bool fp16_infinite(std::uint32_t x) { return (x & 0x7fff) == 0x7c00; }

}  // namespace

Values::Values(const facts::sdp::Facts& silicon) : silicon_(silicon), sums_(1024)
{
    piece_.hybrid = silicon.ew_lanes;  // no flag is set after reset
}

void Values::feed_lanes(const std::int32_t* lanes)
{
    const std::uint32_t count = silicon_.beat_lanes;
    if (sums_end_ + count - sums_begin_ > sums_.size()) {
        std::vector<std::int32_t> larger(sums_.size() * 2);
        for (std::uint64_t i = sums_begin_; i < sums_end_; ++i) larger[i & (larger.size() - 1)] = sums_[i & (sums_.size() - 1)];
        sums_ = std::move(larger);
    }
    // A beat is a power of two of lanes, so it never wraps around the end.
    std::memcpy(&sums_[sums_end_ & (sums_.size() - 1)], lanes, count * sizeof *lanes);
    sums_end_ += count;
}

void Values::receive(ReadEngine engine, const std::uint8_t* bytes, std::uint32_t count)
{
    if (!on_) return;
    Fetched& to = fetched(engine);
    to.receive(bytes, count);
    if (silicon_.words && engine == ReadEngine::Mrdma && to.arriving().input == Precision::Fp16) count_special(bytes, count);
}

/// NaN and infinity among features of fp16.
void Values::count_special(const std::uint8_t* bytes, std::uint32_t count)
{
    for (std::uint32_t i = 0; i + 1 < count; i += 2) {
        const std::uint32_t element = bytes[i] | bytes[i + 1] << 8;
        counters_.nan_input += fp16_nan(element);
        counters_.infinite_input += fp16_infinite(element);
    }
}

void Values::start(const RegisterFile& regs, const LayerConfig& layer)
{
    layer_ = layer;
    if (on_) arithmetic_ = Arithmetic::decode(silicon_, regs, layer);
    beat_ = 0;
    looked_up_ = 0;
    shape_.lanes = silicon_.result_lanes;
    shape_.atom_elements = !silicon_.words || layer.processing == Precision::Int8 ? layer.atom : layer.atom / 2;
    shape_.beats_per_atom = std::max(1u, shape_.atom_elements / shape_.lanes);
    const bool look_ups = regs.get(reg::sdp::D_PERF_ENABLE::PERF_LUT_EN);
    counting_ = regs.get(reg::sdp::D_PERF_ENABLE::PERF_SAT_EN);
    counters_.nan_output = 0;
    if (counting_) counters_.saturated = 0;
    if (look_ups) counters_.look_ups = {};
    fetched(ReadEngine::Mrdma).start(!layer.flying);
    fetched(ReadEngine::Brdma).start(layer.bs.streams());
    fetched(ReadEngine::Nrdma).start(layer.bn.streams());
    fetched(ReadEngine::Erdma).start(layer.ew.streams());
    integers_ = !arithmetic_.converter.fp && !layer.ew.on && !layer.compare && layer.output != Precision::Fp16;
    const std::uint64_t beats = std::uint64_t{layer.width} * layer.height * layer.surfaces * layer.batch * shape_.beats_per_atom;
    last_piece_ = beats * shape_.lanes / silicon_.ew_lanes - 1;
    counting_lut_ = on_ && layer.ew.on && silicon_.lut && look_ups;
}

void Values::finish()
{
    for (Fetched& fetched : fetched_) fetched.finish();
}

/// Of CACC or MRDMA.
void Values::features(std::int32_t* lanes, std::uint64_t beat)
{
    const std::uint32_t count = shape_.lanes;
    if (!layer_.flying) {
        fetched(ReadEngine::Mrdma).features(lanes, beat, shape_);
    } else {
        const std::uint64_t at = sums_begin_ + (beat - beat_) * count;
        const std::size_t first = at & (sums_.size() - 1);
        if (at + count <= sums_end_ && first + count <= sums_.size()) std::memcpy(lanes, &sums_[first], count * sizeof *lanes);
        else
            for (std::uint32_t i = 0; i < count; ++i) lanes[i] = at + i < sums_end_ ? sums_[(at + i) & (sums_.size() - 1)] : 0;
    }
    if (arithmetic_.nan_to_zero)
        for (std::uint32_t i = 0; i < count; ++i)
            if (numerics::Fp32::is_nan(static_cast<std::uint32_t>(lanes[i]))) lanes[i] = 0;
}

/// What the streams of an engine bring for a beat; null if it has none.
const Operands* Values::operands(const EngineLayer& engine, ReadEngine reader, std::uint64_t beat)
{
    return engine.streams() ? &fetched(reader).operands(beat, shape_) : nullptr;
}

/// Everything in front of the look-up table.
void Values::evaluate(std::int32_t* lanes, std::uint64_t beat)
{
    features(lanes, beat);
    const auto alu = [](const EngineLayer& engine, const Operands* o) { return engine.alu_stream ? o->alu.data() : nullptr; };
    const auto mul = [](const EngineLayer& engine, const Operands* o) { return engine.mul_stream ? o->mul.data() : nullptr; };
    const auto x_engine = [&](const EngineLayer& engine, const numerics::SdpXConfig& config, ReadEngine reader) {
        if (!engine.on) return;
        const Operands* streamed = operands(engine, reader, beat);
        numerics::sdp_x(config, lanes, alu(engine, streamed), mul(engine, streamed), shape_.lanes);
    };
    x_engine(layer_.bs, arithmetic_.bs, ReadEngine::Brdma);
    x_engine(layer_.bn, arithmetic_.bn, ReadEngine::Nrdma);
    if (!layer_.ew.on) return;
    const Operands* streamed = operands(layer_.ew, ReadEngine::Erdma, beat);
    numerics::sdp_y(arithmetic_.ew, lanes, alu(layer_.ew, streamed), mul(layer_.ew, streamed), shape_.lanes);
}

/// All of it, where only integers are in play.
unsigned Values::convert_integers(std::int32_t* lanes, std::uint16_t* out)
{
    features(lanes, beat_);
    IntegerLanes all;
    all.load(lanes, shape_.lanes);
    const auto x_engine = [&](const EngineLayer& engine, const numerics::SdpXConfig& config, ReadEngine reader) {
        if (!engine.on) return;
        const Operands* streamed = operands(engine, reader, beat_);
        all.engine(config, engine.alu_stream ? streamed->alu.data() : nullptr, engine.mul_stream ? streamed->mul.data() : nullptr);
    };
    x_engine(layer_.bs, arithmetic_.bs, ReadEngine::Brdma);
    x_engine(layer_.bn, arithmetic_.bn, ReadEngine::Nrdma);
    return all.convert(arithmetic_.converter, out, shape_.lanes, counting_);
}

void Values::next(std::array<std::uint8_t, kMaxBeatBytes>& bytes)
{
    if (!on_) {
        bytes.fill(0);
        return;
    }
    std::array<std::int32_t, kMaxLanes> lanes;
    std::array<std::uint16_t, kMaxLanes> out{};
    if (integers_) {
        counters_.saturated += convert_integers(lanes.data(), out.data());
    } else {
        evaluate(lanes.data(), beat_);
        const numerics::SdpYConfig& ew = arithmetic_.ew;
        if (layer_.ew.lut)
            for (std::uint32_t i = 0; i < shape_.lanes; ++i)
                lanes[i] = numerics::lut_value(ew, tables_, lanes[i], numerics::lut_index(ew, lanes[i]));
        const unsigned flagged = numerics::sdp_cvt(arithmetic_.converter, lanes.data(), out.data(), shape_.lanes);
        if (counting_) counters_.saturated += flagged;
    }
    if (silicon_.words && layer_.output == Precision::Fp16)
        for (std::uint32_t i = 0; i < shape_.lanes; ++i) counters_.nan_output += fp16_nan(out[i]);
    if (layer_.wide) {
        std::memcpy(bytes.data(), out.data(), shape_.lanes * sizeof out[0]);
    } else {
        for (std::uint32_t i = 0, n = shape_.lanes; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(out[i]);
    }
    ++beat_;
    // Long layers do not pile up what they have used.
    if (beat_ % kReleaseInterval == 0)
        for (Fetched& fetched : fetched_) fetched.release_before(beat_, shape_);
    if (layer_.flying) sums_begin_ = std::min(sums_begin_ + shape_.lanes, sums_end_);
}

void Values::look_up()
{
    // The last one stays there and is counted in the next layer, which may count where this one does not.
    const std::uint64_t piece = looked_up_++, lane = piece * silicon_.ew_lanes;
    if (!counting_lut_ && (!on_ || piece != last_piece_)) return;
    std::array<std::int32_t, kMaxLanes> lanes;
    evaluate(lanes.data(), lane / shape_.lanes);
    piece_ = {};
    for (std::uint32_t i = 0; i < silicon_.ew_lanes; ++i) {
        const numerics::LutIndex index = numerics::lut_index(arithmetic_.ew, lanes[lane % shape_.lanes + i]);
        piece_.underflow += index.underflow;
        piece_.overflow += index.overflow;
        piece_.hybrid += !index.underflow && !index.overflow;
        // A table's own hits, whichever of them answers.
        piece_.le_hit += index.le == numerics::LutIndex::Range::Hit;
        piece_.lo_hit += index.lo == numerics::LutIndex::Range::Hit;
    }
}

}  // namespace dlasim::sdp
