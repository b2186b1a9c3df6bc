// What SDP does to every result on its way to memory: three engines in a row, then the converter.
//
//   result ── BS ── BN ── EW ── output conversion ──► memory
//
//   BS, BN   ALU(operand << alu.shift) ── multiplier or PReLU, >> mul.shift ── ReLU
//   EW       multiplier or PReLU, >> mul.shift ── ALU ── lookup table
//
// An operand is one number for the layer (a register), one a kernel, or one an element of the output; the
// latter two are tensors in memory, [kernels] and [batch or 1, kernels, height, width], ALU and
// multiplier of an engine interleaved.
//
// Source  sdp.md 1.1, 1.6, 4.1 to 4.5.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace dlasim {

enum class Activation { None, Relu, Relu6, Leaky, Tanh };

/// Slope of "leaky" for negative numbers: kLeakySlope / 2^kLeakyShift.
inline constexpr std::int32_t kLeakySlope = 3277;
inline constexpr std::uint32_t kLeakyShift = 15;
inline constexpr double kLeakyHalf = 0.1;  // of fp16

enum class OperandPer : std::uint8_t { Layer, Kernel, Element };
enum class AluFunction : std::uint8_t { Max = 0, Min = 1, Sum = 2, Equal = 3 };  // register codes

/// Of a streamed EW operand, integers: (x - offset) * scale >> truncate.
struct OperandConversion {
    bool on = false;
    std::int32_t offset = 0, scale = 1;
    std::uint32_t truncate = 0;
};

struct Operand {
    bool on = false;
    OperandPer per = OperandPer::Kernel;
    std::int32_t value = 0;  // per layer: as the register holds it; fp16 layers: bits of an fp16 (BS, BN) or fp32 (EW)
    OperandConversion conversion{};
    bool streamed() const { return on && per != OperandPer::Layer; }
};

/// Extension of a lookup table beyond its first or last entry: (x - end) * scale >> shift.
struct LutSlope {
    std::int32_t scale = 0;  // int16, or the bits of an fp16
    std::int32_t shift = 0;  // -16..15, negative is left
};

/// One of the two tables. LE has 65 entries, LO 257.
struct LutTable {
    bool exponential = false;         // LE only: entries at powers of two from `start`
    std::int32_t start = 0, end = 0;  // int32, or the bits of an fp32
    std::int32_t index_offset = 0;    // exponential: log2 of the first step
    std::int32_t index_select = 0;    // linear: log2 of the step
    LutSlope underflow{}, overflow{};
    std::array<std::int16_t, 257> entries{};  // int16, or the bits of an fp16
};

struct Lut {
    static constexpr std::size_t kLeEntries = 65, kLoEntries = 257;
    LutTable le{.exponential = true}, lo;
    bool underflow_lo = false, overflow_lo = false, hybrid_lo = false;  // who answers when both could: LO, else LE
};

struct PointEngine {
    Operand alu{}, mul{};
    AluFunction function = AluFunction::Sum;
    bool prelu = false;           // the multiplier takes negative numbers only
    std::uint32_t alu_shift = 0;  // BS, BN: left shift of the ALU's operand
    std::uint32_t mul_shift = 0;  // right shift after the multiplier; BS and BN shift without a multiplier too
    bool relu = false;            // BS, BN
    std::optional<Lut> lut{};     // EW
    std::uint32_t operand_bytes = 2;

    bool on() const { return alu.on || mul.on || relu || mul_shift != 0 || lut.has_value(); }
    bool streams() const { return alu.streamed() || mul.streamed(); }
    /// Of both operands: the hardware reads them as one stream.
    OperandPer per() const { return alu.streamed() ? alu.per : mul.per; }
};

struct SdpConfig {
    std::array<PointEngine, 3> engines;
    bool flush_nan = false;  // fp16: NaN becomes 0 at the input

    PointEngine& bs() { return engines[0]; }
    const PointEngine& bs() const { return engines[0]; }
    const PointEngine& ew() const { return engines[2]; }
    bool streams() const { return engines[0].streams() || engines[1].streams() || engines[2].streams(); }
    bool streams_elements() const
    {
        return std::any_of(engines.begin(), engines.end(),
                           [](const PointEngine& e) { return e.streams() && e.per() == OperandPer::Element; });
    }
    /// EW compares: nothing is written, a status bit says whether all were equal.
    bool compares() const { return ew().alu.on && ew().function == AluFunction::Equal; }

    /// One number a kernel is added in BS, shifted left.
    void add_bias(std::uint32_t shift = 0)
    {
        bs().alu = {.on = true, .per = OperandPer::Kernel};
        bs().function = AluFunction::Sum;
        bs().alu_shift = shift;
    }
    /// BN if it is used, else BS: of these two what works last.
    PointEngine& last_of_two() { return engines[engines[1].on() ? 1 : 0]; }
    bool bias() const { return bs().alu.on && bs().alu.per == OperandPer::Kernel && bs().function == AluFunction::Sum; }
};

constexpr std::array<const char*, 3> kEngineNames{"bs", "bn", "ew"};

/// Place of an engine's operand among the six: alu and mul of BS, BN, EW.
constexpr std::size_t operand_slot(std::size_t engine, bool mul) { return 2 * engine + (mul ? 1 : 0); }
constexpr std::array<const char*, 6> kOperandNames{"bs_alu", "bs_mul", "bn_alu", "bn_mul", "ew_alu", "ew_mul"};

}  // namespace dlasim
