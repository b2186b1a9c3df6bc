#include "units/sdp/values.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "facts/sdp.h"
#include "numerics/fp.h"
#include "registers/offsets.h"
#include "units/sdp/integer_lanes.h"

namespace dlasim {
namespace {

numerics::SdpXConfig x_config(Generation generation, bool fp, bool nan_to_zero, const RegisterFile& regs, std::uint32_t cfg,
                              std::uint32_t alu_cfg, std::uint32_t alu_value, std::uint32_t mul_cfg, std::uint32_t mul_value)
{
    const std::uint32_t value = regs.get(cfg);
    numerics::SdpXConfig x;
    x.generation = generation;
    x.fp = fp;
    x.nan_to_zero = nan_to_zero;
    x.alu_bypass = bits(value, 1, 1);
    x.alu = static_cast<numerics::SdpAlu>(bits(value, 2, 2));
    x.mul_bypass = bits(value, 4, 1);
    x.prelu = bits(value, 5, 1);
    x.relu_bypass = bits(value, 6, 1);
    x.alu_shift = bits(regs.get(alu_cfg), 8, 6);
    x.mul_shift = bits(regs.get(mul_cfg), 8, 6);
    x.alu_operand = static_cast<std::int16_t>(regs.get(alu_value));
    x.mul_operand = static_cast<std::int16_t>(regs.get(mul_value));
    return x;
}

numerics::LutConfig lut_config(const RegisterFile& regs)
{
    using namespace reg::sdp;
    const auto shift = [](std::uint32_t five) { return static_cast<std::int8_t>(static_cast<std::int8_t>(five << 3) >> 3); };
    const auto slopes = [&](std::uint32_t scale, std::uint32_t shifts, numerics::LutSlope& under, numerics::LutSlope& over) {
        under = {static_cast<std::int16_t>(regs.get(scale)), shift(bits(regs.get(shifts), 0, 5))};
        over = {static_cast<std::int16_t>(regs.get(scale) >> 16), shift(bits(regs.get(shifts), 5, 5))};
    };
    const std::uint32_t cfg = regs.get(S_LUT_CFG), info = regs.get(S_LUT_INFO);
    numerics::LutConfig lut;
    lut.bypass = bits(regs.get(D_DP_EW_CFG), 6, 1);
    lut.le_linear = bits(cfg, 0, 1);
    lut.underflow_lo = bits(cfg, 4, 1);
    lut.overflow_lo = bits(cfg, 5, 1);
    lut.hybrid_lo = bits(cfg, 6, 1);
    lut.le_index_offset = static_cast<std::int8_t>(info);
    lut.le_index_select = static_cast<std::int8_t>(info >> 8);
    lut.lo_index_select = static_cast<std::int8_t>(info >> 16);
    lut.le_start = static_cast<std::int32_t>(regs.get(S_LUT_LE_START));
    lut.le_end = static_cast<std::int32_t>(regs.get(S_LUT_LE_END));
    lut.lo_start = static_cast<std::int32_t>(regs.get(S_LUT_LO_START));
    lut.lo_end = static_cast<std::int32_t>(regs.get(S_LUT_LO_END));
    slopes(S_LUT_LE_SLOPE_SCALE, S_LUT_LE_SLOPE_SHIFT, lut.le_underflow, lut.le_overflow);
    slopes(S_LUT_LO_SLOPE_SCALE, S_LUT_LO_SLOPE_SHIFT, lut.lo_underflow, lut.lo_overflow);
    return lut;
}

numerics::SdpYConfig y_config(Generation generation, bool fp, bool nan_to_zero, const RegisterFile& regs)
{
    using namespace reg::sdp;
    const std::uint32_t value = regs.get(D_DP_EW_CFG);
    numerics::SdpYConfig y;
    y.generation = generation;
    y.fp = fp;
    y.nan_to_zero = nan_to_zero;
    y.alu_bypass = bits(value, 1, 1);
    y.alu = static_cast<numerics::SdpAlu>(bits(value, 2, 2));
    y.mul_bypass = bits(value, 4, 1);
    y.prelu = bits(value, 5, 1);
    y.truncate = bits(regs.get(D_DP_EW_TRUNCATE_VALUE), 0, 10);
    y.alu_operand = static_cast<std::int32_t>(regs.get(D_DP_EW_ALU_SRC_VALUE));
    y.mul_operand = static_cast<std::int32_t>(regs.get(D_DP_EW_MUL_SRC_VALUE));
    y.alu_converter = {bits(regs.get(D_DP_EW_ALU_CFG), 1, 1) != 0, static_cast<std::int32_t>(regs.get(D_DP_EW_ALU_CVT_OFFSET_VALUE)),
                       static_cast<std::int16_t>(regs.get(D_DP_EW_ALU_CVT_SCALE_VALUE)),
                       bits(regs.get(D_DP_EW_ALU_CVT_TRUNCATE_VALUE), 0, 6)};
    y.mul_converter = {bits(regs.get(D_DP_EW_MUL_CFG), 1, 1) != 0, static_cast<std::int32_t>(regs.get(D_DP_EW_MUL_CVT_OFFSET_VALUE)),
                       static_cast<std::int16_t>(regs.get(D_DP_EW_MUL_CVT_SCALE_VALUE)),
                       bits(regs.get(D_DP_EW_MUL_CVT_TRUNCATE_VALUE), 0, 6)};
    y.lut = lut_config(regs);
    return y;
}

std::uint16_t half_word(const std::uint8_t* at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }

constexpr std::uint64_t kReleaseInterval = 64;  // beats

constexpr bool fp16_nan(std::uint16_t x) { return (x & 0x7fff) > 0x7c00; }
constexpr bool fp16_infinite(std::uint16_t x) { return (x & 0x7fff) == 0x7c00; }

}  // namespace

SdpValues::SdpValues(const Hardware& hardware)
    : full_(hardware.full()),
      atom_(hardware.memory.atom_bytes),
      lanes_per_beat_(full_ ? 16 : hardware.sdp.max_throughput()),
      ew_lanes_(full_ ? facts::sdp::kFullEwLanes : hardware.sdp.ew_throughput),
      has_lut_(hardware.sdp.has_lut),
      sums_(1024)
{
    piece_.lut_hybrid = ew_lanes_;  // no flag is set after reset
}

void SdpValues::feed_lanes(const std::int32_t* lanes)
{
    if (sums_end_ + lanes_per_beat_ - sums_begin_ > sums_.size()) {
        std::vector<std::int32_t> larger(sums_.size() * 2);
        for (std::uint64_t i = sums_begin_; i < sums_end_; ++i) larger[i & (larger.size() - 1)] = sums_[i & (sums_.size() - 1)];
        sums_ = std::move(larger);
    }
    // A beat is a power of two of lanes, so it never wraps around the end.
    std::memcpy(&sums_[sums_end_ & (sums_.size() - 1)], lanes, lanes_per_beat_ * sizeof *lanes);
    sums_end_ += lanes_per_beat_;
}

/// NaN and infinity among features of fp16.
void SdpValues::count_special(const std::uint8_t* bytes, std::uint32_t count)
{
    for (std::uint32_t i = 0; i + 1 < count; i += 2) {
        counters_.nan_input += fp16_nan(half_word(bytes + i));
        counters_.infinite_input += fp16_infinite(half_word(bytes + i));
    }
}

void SdpValues::expect(ReadEngine engine, const ReadLayer& layer)
{
    Stream& s = stream(engine);
    s.spans.push_back({layer, s.expected});
    if (on_) s.expected += layer.total_atoms() * layer.atom;
}

void SdpValues::start(const RegisterFile& regs, const SdpLayer& layer)
{
    using namespace reg::sdp;
    layer_ = layer;
    const Generation generation = full_ ? Generation::Full : Generation::Configurable;
    const bool fp = full_ && layer.processing == Precision::Fp16;
    nan_to_zero_ = fp && bits(regs.get(D_FEATURE_MODE_CFG), 3, 1);
    bs_ = x_config(generation, fp, nan_to_zero_, regs, D_DP_BS_CFG, D_DP_BS_ALU_CFG, D_DP_BS_ALU_SRC_VALUE, D_DP_BS_MUL_CFG,
                   D_DP_BS_MUL_SRC_VALUE);
    bn_ = x_config(generation, fp, nan_to_zero_, regs, D_DP_BN_CFG, D_DP_BN_ALU_CFG, D_DP_BN_ALU_SRC_VALUE, D_DP_BN_MUL_CFG,
                   D_DP_BN_MUL_SRC_VALUE);
    ew_ = y_config(generation, fp, nan_to_zero_, regs);
    cvt_.generation = generation;
    cvt_.fp = fp;
    cvt_.out = layer.output;
    cvt_.equal_mode = layer.compares_lanes();
    cvt_.offset = static_cast<std::int32_t>(regs.get(D_CVT_OFFSET));
    cvt_.scale = static_cast<std::int16_t>(regs.get(D_CVT_SCALE));
    cvt_.shift = bits(regs.get(D_CVT_SHIFT), 0, 6);
    beat_ = 0;
    looked_up_ = 0;
    const bool int8 = !full_ || layer.processing == Precision::Int8;
    atom_elements_ = int8 ? atom_ : atom_ / 2;
    lanes_ = full_ ? 16 : atom_;
    beats_per_atom_ = std::max(1u, atom_elements_ / lanes_);
    counting_ = bits(regs.get(D_PERF_ENABLE), 2, 1);
    const SdpValueCounters before = counters_;
    counters_ = {};
    counters_.nan_input = before.nan_input;
    counters_.infinite_input = before.infinite_input;
    if (!counting_) counters_.saturated = before.saturated;
    stream(ReadEngine::Mrdma).used = !layer.flying;
    stream(ReadEngine::Brdma).used = layer.bs.alu_stream || layer.bs.mul_stream;
    stream(ReadEngine::Nrdma).used = layer.bn.alu_stream || layer.bn.mul_stream;
    stream(ReadEngine::Erdma).used = layer.ew.alu_stream || layer.ew.mul_stream;
    for (auto& halves : cache_)
        for (Operands& operands : halves) operands.until = 0;
    fast_ = !fp && !layer.ew.on && !layer.compare && layer.output != Precision::Fp16;
    const std::uint64_t beats = std::uint64_t{layer.width} * layer.height * layer.surfaces * layer.batch * beats_per_atom_;
    last_piece_ = beats * lanes_ / ew_lanes_ - 1;
    counting_lut_ = on_ && layer.ew.on && has_lut_ && bits(regs.get(D_PERF_ENABLE), 1, 1);
}

void SdpValues::finish()
{
    for (Stream& s : streams_) {
        if (!s.used || s.spans.empty()) continue;
        const auto& span = s.spans.front();
        s.bytes.release(span.begin + span.layer.total_atoms() * span.layer.atom);
        s.spans.pop_front();
        s.used = false;
    }
}

const SdpValues::Operands& SdpValues::operands(ReadEngine engine, std::uint64_t beat)
{
    Stream& s = stream(engine);
    const std::uint32_t half = static_cast<std::uint32_t>(beat % beats_per_atom_);
    Operands& cached = cache_[static_cast<unsigned>(engine)][half & 1];
    const std::uint64_t pixel = beat / beats_per_atom_;
    if (pixel < cached.until && pixel >= cached.from) return cached;
    if (s.spans.empty()) {
        cached = {};
        return cached;
    }
    const auto& [layer, begin] = s.spans.front();
    // Per kernel an atom of operands serves a surface.
    std::uint64_t atom = 0;
    if (layer.per_element) {
        atom = layer.element_of(pixel);
        cached.from = pixel;
        cached.until = pixel + 1;
    } else {
        atom = pixel / layer.pixels();
        cached.from = atom * layer.pixels();
        cached.until = cached.from + layer.pixels();
    }
    const std::uint32_t bytes = layer.int8() ? layer.operand_bytes : 2;
    const bool both = layer.use == OperandUse::Both;
    const std::uint32_t step = bytes * (both ? 2 : 1);
    std::array<std::uint8_t, kMaxLanes * 4> raw;
    s.bytes.read(begin + (atom * atom_elements_ + half * lanes_) * step, raw.data(), lanes_ * step);
    const auto take = [&](std::array<std::int16_t, kMaxLanes>& to, std::uint32_t offset) {
        for (std::uint32_t i = 0; i < lanes_; ++i) {
            const std::uint8_t* at = raw.data() + i * step + offset;
            to[i] = bytes == 1 ? static_cast<std::int8_t>(*at) : static_cast<std::int16_t>(half_word(at));
        }
    };
    if (layer.uses_alu()) take(cached.alu, 0);
    if (layer.uses_mul()) take(cached.mul, both ? bytes : 0);
    return cached;
}

void SdpValues::from_memory(std::int32_t* lanes, std::uint64_t beat)
{
    Stream& s = stream(ReadEngine::Mrdma);
    if (s.spans.empty()) {
        std::fill_n(lanes, lanes_, 0);
        return;
    }
    const auto& [layer, begin] = s.spans.front();
    const bool bytes = !full_ || layer.input == Precision::Int8;
    std::uint64_t element = beat * lanes_;
    if (layer.narrowing && !layer.one_pixel()) {
        // Segments of 8 pixels of one surface, then of the next: channels 0..15 and 16..31 of the pixels.
        const std::uint64_t atom = beat / 2, line = atom / layer.width;
        const std::uint32_t x = static_cast<std::uint32_t>(atom % layer.width),
                            segment = x / facts::sdp::kSegment16to8 * facts::sdp::kSegment16to8;
        const std::uint32_t pixels = std::min(facts::sdp::kSegment16to8, layer.width - segment);
        element = ((line * layer.width + segment) * 2 + beat % 2 * pixels + x - segment) * (layer.atom / 2);
    }
    std::array<std::uint8_t, kMaxLanes * 2> raw;
    s.bytes.read(begin + element * (bytes ? 1 : 2), raw.data(), lanes_ * (bytes ? 1 : 2));
    const bool fp = layer.input == Precision::Fp16;
    for (std::uint32_t i = 0; i < lanes_; ++i) {
        if (bytes) lanes[i] = static_cast<std::int8_t>(raw[i]);
        else if (fp) lanes[i] = static_cast<std::int32_t>(numerics::fp16_to_fp32(half_word(&raw[2 * i])));
        else lanes[i] = static_cast<std::int16_t>(half_word(&raw[2 * i]));
    }
}

void SdpValues::features(std::int32_t* lanes, std::uint64_t beat)
{
    if (!layer_.flying) {
        from_memory(lanes, beat);
    } else {
        const std::uint64_t at = sums_begin_ + (beat - beat_) * lanes_;
        const std::size_t first = at & (sums_.size() - 1);
        if (at + lanes_ <= sums_end_ && first + lanes_ <= sums_.size()) std::memcpy(lanes, &sums_[first], lanes_ * sizeof *lanes);
        else
            for (std::uint32_t i = 0; i < lanes_; ++i) lanes[i] = at + i < sums_end_ ? sums_[(at + i) & (sums_.size() - 1)] : 0;
    }
    if (nan_to_zero_)
        for (std::uint32_t i = 0; i < lanes_; ++i)
            if (numerics::Fp32::is_nan(static_cast<std::uint32_t>(lanes[i]))) lanes[i] = 0;
}

/// Everything in front of the look-up table.
void SdpValues::evaluate(std::int32_t* lanes, std::uint64_t beat)
{
    features(lanes, beat);
    const auto x_engine = [&](const SdpEngineLayer& engine, const numerics::SdpXConfig& config, ReadEngine reader) {
        if (!engine.on) return;
        const Operands* streamed = engine.alu_stream || engine.mul_stream ? &operands(reader, beat) : nullptr;
        numerics::sdp_x(config, lanes, engine.alu_stream ? streamed->alu.data() : nullptr,
                        engine.mul_stream ? streamed->mul.data() : nullptr, lanes_);
    };
    x_engine(layer_.bs, bs_, ReadEngine::Brdma);
    x_engine(layer_.bn, bn_, ReadEngine::Nrdma);
    if (layer_.ew.on) {
        const SdpEngineLayer& engine = layer_.ew;
        const Operands* streamed = engine.alu_stream || engine.mul_stream ? &operands(ReadEngine::Erdma, beat) : nullptr;
        numerics::sdp_y(ew_, lanes, engine.alu_stream ? streamed->alu.data() : nullptr, engine.mul_stream ? streamed->mul.data() : nullptr,
                        lanes_);
    }
}

/// Gives up bytes that no later beat needs, so that long layers do not pile up.
void SdpValues::release_used()
{
    const std::uint64_t pixel = beat_ / beats_per_atom_;
    for (Stream& s : streams_) {
        if (!s.used || s.spans.empty()) continue;
        const auto& [layer, begin] = s.spans.front();
        std::uint64_t atoms = 0;  // of memory, before the ones in use
        if (!layer.features) {
            // Of a multi-batch layer whole lines.
            atoms = (!layer.per_element ? pixel / layer.pixels()
                     : layer.batch == 1 ? pixel
                                        : pixel / layer.batch / layer.width * layer.width) *
                    layer.atoms_per_atom;
        } else if (layer.narrowing) {
            atoms = pixel / layer.width * layer.width * 2;
        } else {
            atoms = beat_ * lanes_ * (!full_ || layer.input == Precision::Int8 ? 1 : 2) / layer.atom;
        }
        s.bytes.release(begin + atoms * layer.atom);
    }
}

/// All of it, where only integers are in play.
unsigned SdpValues::convert_fast(std::int32_t* lanes, std::uint16_t* out)
{
    features(lanes, beat_);
    IntegerLanes all;
    all.load(lanes, lanes_);
    const auto x_engine = [&](const SdpEngineLayer& engine, const numerics::SdpXConfig& config, ReadEngine reader) {
        if (!engine.on) return;
        const Operands* streamed = engine.alu_stream || engine.mul_stream ? &operands(reader, beat_) : nullptr;
        all.engine(config, engine.alu_stream ? streamed->alu.data() : nullptr, engine.mul_stream ? streamed->mul.data() : nullptr);
    };
    x_engine(layer_.bs, bs_, ReadEngine::Brdma);
    x_engine(layer_.bn, bn_, ReadEngine::Nrdma);
    return all.convert(cvt_, out, lanes_, counting_);
}

void SdpValues::next(std::array<std::uint8_t, 32>& bytes)
{
    if (!on_) {
        bytes.fill(0);
        return;
    }
    std::array<std::int32_t, kMaxLanes> lanes;
    std::array<std::uint16_t, kMaxLanes> out{};
    if (fast_) {
        counters_.saturated += convert_fast(lanes.data(), out.data());
    } else {
        evaluate(lanes.data(), beat_);
        if (layer_.ew.lut)
            for (std::uint32_t i = 0; i < lanes_; ++i)
                lanes[i] = numerics::lut_value(ew_, tables_, lanes[i], numerics::lut_index(ew_, lanes[i]));
        const unsigned flagged = numerics::sdp_cvt(cvt_, lanes.data(), out.data(), lanes_);
        if (counting_) counters_.saturated += flagged;
    }
    if (full_ && layer_.output == Precision::Fp16)
        for (std::uint32_t i = 0; i < lanes_; ++i) counters_.nan_output += fp16_nan(out[i]);
    if (full_ && layer_.output != Precision::Int8) {
        std::memcpy(bytes.data(), out.data(), 32);
    } else {
        std::array<std::uint8_t, kMaxLanes> low;
        for (std::uint32_t i = 0; i < kMaxLanes; ++i) low[i] = static_cast<std::uint8_t>(out[i]);
        bytes = low;
    }
    ++beat_;
    if (beat_ % kReleaseInterval == 0) release_used();
    if (layer_.flying) sums_begin_ = std::min(sums_begin_ + lanes_, sums_end_);
}

void SdpValues::look_up()
{
    // The last one stays there and is counted in the next layer, which may count where this one does not.
    const std::uint64_t piece = looked_up_++, lane = piece * ew_lanes_;
    if (!counting_lut_ && (!on_ || piece != last_piece_)) return;
    std::array<std::int32_t, kMaxLanes> lanes;
    evaluate(lanes.data(), lane / lanes_);
    piece_ = {};
    for (std::uint32_t i = 0; i < ew_lanes_; ++i) {
        const numerics::LutIndex index = numerics::lut_index(ew_, lanes[lane % lanes_ + i]);
        piece_.lut_underflow += index.underflow;
        piece_.lut_overflow += index.overflow;
        piece_.lut_hybrid += !index.underflow && !index.overflow;
        // A table's own hits, whichever of them answers.
        piece_.lut_le_hit += index.le == numerics::LutIndex::Range::Hit;
        piece_.lut_lo_hit += index.lo == numerics::LutIndex::Range::Hit;
    }
}

void SdpValues::count_lut(Cycle cycles)
{
    if (!counting_lut_) return;
    counters_.lut_underflow += piece_.lut_underflow * cycles;
    counters_.lut_overflow += piece_.lut_overflow * cycles;
    counters_.lut_hybrid += piece_.lut_hybrid * cycles;
    counters_.lut_le_hit += piece_.lut_le_hit * cycles;
    counters_.lut_lo_hit += piece_.lut_lo_hit * cycles;
}

}  // namespace dlasim
