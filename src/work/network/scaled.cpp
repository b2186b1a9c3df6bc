#include "network/scaled.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "golden/pooled.h"
#include "golden/staged.h"

namespace dlasim {
namespace {

constexpr double kMaxOperand = 32767, kMaxSum = 1073741824.0;  // 2^30: half of what the engines hold
constexpr int kMaxShift = 31, kMaxOutputShift = 63;
constexpr std::int64_t kSplit = 1 << 15, kOnePart = 32767;
constexpr double kExact = 1e-9;  // relative: less than a result is rounded by

/// The largest n with value * 2^n <= most, within limits.
int room(double value, double most, int limit)
{
    if (!(value > 0)) return limit;
    return std::clamp(static_cast<int>(std::floor(std::log2(most / value))), -64, limit);
}

std::int16_t operand(double value) { return static_cast<std::int16_t>(std::lround(std::clamp(value, -kMaxOperand, kMaxOperand))); }

class Scaler {
public:
    Scaler(const Network& network, const Steps& steps, const Step& step, Layer layer)
        : of_(network.layers[step.layer]),
          n_(*of_.numbers),
          last_(step.add ? *network.layers[*step.add].numbers : n_),
          clamp_(last_.clamp),
          in_(*steps.tensors[step.inputs.front()].quantisation),
          out_(*steps.tensors[step.output].quantisation),
          given_(steps.tensors[step.inputs.front()].wanted),
          has_other_(step.addend.has_value()),
          other_(step.addend ? *steps.tensors[*step.addend].quantisation : Quantisation{}),
          multiplies_(of_.op == NetworkOp::Multiply)
    {
        s_.layer = std::move(layer);
    }

    ScaledStep scaled()
    {
        if (of_.op == NetworkOp::Pool) {
            s_.layer.pool->pad_value = in_.zero;
            return std::move(s_);
        }
        if (of_.op == NetworkOp::Function) {
            s_.layer.post.engines[2].lut = every_integer(n_.function, in_, out_);
            if (s_.layer.pool) s_.layer.pool->pad_value = out_.zero;
            return std::move(s_);
        }
        zero_ = out_.zero;
        if (clamp_.low) {
            constant_ = -*clamp_.low;
            zero_ += *clamp_.low / out_.scale;
            relu_ = true;
        }
        if (of_.convolves()) of_array();
        else if (multiplies_) of_product();
        else of_sdp();
        clamp();
        convert();
        if (s_.layer.pool) s_.layer.pool->pad_value = out_.zero;
        return std::move(s_);
    }

private:
    PointEngine& bs() { return s_.layer.post.engines[0]; }
    PointEngine& bn() { return s_.layer.post.engines[1]; }
    bool decides() const { return relu_ || !clamp_.slopes.empty(); }  // something looks where 0 is
    [[noreturn]] void refuse(const std::string& what) const { throw ConfigError(of_.where, what); }

    Tensor& operands(std::size_t engine, bool mul, std::size_t count)
    {
        Tensor& tensor = s_.tensors.operands[operand_slot(engine, mul)];
        tensor = Tensor(1, static_cast<std::uint32_t>(count), 1, 1);
        return tensor;
    }

    /// One operand of the layer, or one a kernel.
    void set_operand(std::size_t engine, bool mul, const std::vector<std::int16_t>& values)
    {
        PointEngine& e = s_.layer.post.engines[engine];
        Operand& to = mul ? e.mul : e.alu;
        to.on = true;
        if (values.size() == 1) {
            to.per = OperandPer::Layer;
            to.value = values.front();
            return;
        }
        to.per = OperandPer::Kernel;
        operands(engine, mul, values.size()).values = values;
    }

    void add_other()
    {
        bn().alu = {.on = true, .per = OperandPer::Element};
        bn().function = AluFunction::Sum;
        bn().operand_bytes = 1;
    }

    /// Multipliers of these reals per sum, for sums of at most these magnitudes: BS or BN, and the real value of an output step.
    void multiply(std::size_t engine, const std::vector<double>& reals, const std::vector<double>& most)
    {
        double largest = 0, bound = 0;
        for (std::size_t k = 0; k < reals.size(); ++k) {
            largest = std::max(largest, std::abs(reals[k]));
            bound = std::max(bound, std::abs(reals[k]) * most[most.size() == 1 ? 0 : k]);
        }
        if (!(largest > 0)) largest = bound = out_.scale;
        bound = std::max(bound, std::abs(zero_) * out_.scale);  // the converter's offset has 32 bits too
        PointEngine& e = s_.layer.post.engines[engine];
        int shift = 0;
        if (has_other_ && !multiplies_) {
            int left = room(bound / other_.scale + 256, kMaxSum, 24);
            shift = room(std::ldexp(largest / other_.scale, left), kMaxOperand, kMaxShift);
            if (shift < 0) left += shift;
            shift = std::max(shift, 0);
            if (left < 0) refuse("adds a tensor whose scale is less than 1 / 32767 of the other one's, expected closer scales");
            e.mul_shift = static_cast<std::uint32_t>(shift);
            bn().alu_shift = static_cast<std::uint32_t>(left);
            unit_ = std::ldexp(other_.scale, -left);
        } else {
            unit_ = largest / kMaxOperand;
            shift = std::clamp(-room(bound / unit_, kMaxSum, 0), 0, kMaxShift);
            e.mul_shift = static_cast<std::uint32_t>(shift);
            unit_ = std::ldexp(unit_, shift);
        }
        std::vector<std::int16_t> values;
        values.reserve(reals.size());
        for (const double real : reals) values.push_back(operand(std::ldexp(real / unit_, shift)));
        set_operand(engine, true, values);
    }

    void of_array()
    {
        const std::uint32_t kernels = s_.layer.kernels;
        s_.tensors.weights = n_.weights;
        s_.layer.pad.value = in_.zero;
        if (has_other_) constant_ -= other_.zero * other_.scale;
        std::vector<double> reals, most;
        std::vector<std::int64_t> bias;
        const std::size_t length = n_.weights.values.size() / kernels;
        for (std::uint32_t k = 0; k < kernels; ++k) {
            const double real = in_.scale * n_.weight_scale[n_.weight_scale.size() == 1 ? 0 : k];
            std::int64_t sum = 0, magnitude = 0;
            for (std::size_t i = 0; i < length; ++i) {
                const std::int64_t w = n_.weights.values[k * length + i];
                sum += w;
                magnitude += std::abs(w);
            }
            const double added = ((n_.bias.empty() ? 0 : n_.bias[k]) + constant_) / real;
            bias.push_back(std::llround(std::clamp(added, -kMaxSum, kMaxSum)) - in_.zero * sum);
            reals.push_back(real);
            most.push_back(static_cast<double>(128 * magnitude + std::abs(bias.back())));
        }
        // What calibration finds must not decide which engines work.
        const bool one_part =
            given_ && std::all_of(bias.begin(), bias.end(), [](std::int64_t value) { return std::abs(value) <= kOnePart; });
        const bool uniform = n_.weight_scale.size() == 1, biased = !n_.bias.empty() || in_.zero != 0 || constant_ != 0,
                   two_parts = biased && !one_part && !has_other_ && clamp_.slopes.empty() && !clamp_.high;
        const std::size_t engine = two_parts ? 1 : 0;
        if (two_parts) add_two_parts(bias);
        else if (biased) add_bias(bias);
        if (has_other_) add_other();
        unit_ = reals.front();
        if (uniform && !has_other_) return refine(engine, *std::max_element(most.begin(), most.end()));
        if (uniform) {
            reals.resize(1);
            most = {*std::max_element(most.begin(), most.end())};
        }
        multiply(engine, reals, most);
    }

    /// A multiplier for all kernels that, with the converter's, is nearer to the scales than 15 bits are.
    void refine(std::size_t engine, double most)
    {
        const double all = std::max(most, std::abs(zero_) * out_.scale / unit_);  // the converter's offset has 32 bits too
        const int shift = std::clamp(-room(all * kMaxOperand, kMaxSum, 0), 0, kMaxShift);
        double best = INFINITY;
        std::int16_t multiplier = 16384;
        for (std::int32_t m = 16384; m <= 32767 && best > kExact; ++m) {
            const double ratio = std::ldexp(unit_, shift) / m / out_.scale;
            const double scale = std::ldexp(ratio, std::clamp(room(ratio, kMaxOperand, kMaxOutputShift), 0, kMaxOutputShift));
            const double error = std::abs(std::round(scale) / scale - 1);
            if (!(error < best)) continue;
            best = error;
            multiplier = static_cast<std::int16_t>(m);
        }
        s_.layer.post.engines[engine].mul_shift = static_cast<std::uint32_t>(shift);
        set_operand(engine, true, {multiplier});
        unit_ = std::ldexp(unit_, shift) / multiplier;
    }

    /// One number a kernel in two parts, in BS and in BN: both work whatever the numbers are.
    void add_two_parts(const std::vector<std::int64_t>& bias)
    {
        std::vector<std::int16_t> above, below;
        for (const std::int64_t value : bias) {
            const std::int64_t high = std::clamp<std::int64_t>((value + (value < 0 ? -kSplit / 2 : kSplit / 2)) / kSplit, -32767, 32767);
            above.push_back(static_cast<std::int16_t>(high));
            below.push_back(static_cast<std::int16_t>(std::clamp<std::int64_t>(value - high * kSplit, -32767, 32767)));
        }
        set_kernels(0, above);
        bs().alu_shift = 15;
        set_kernels(1, below);
    }

    /// One number a kernel; what 16 bits do not hold is shifted left.
    void add_bias(const std::vector<std::int64_t>& bias)
    {
        std::int64_t most = 0;
        for (const std::int64_t value : bias) most = std::max(most, std::abs(value));
        while (most > 32767) {
            most = (most + 1) / 2;
            ++bs().alu_shift;
        }
        std::vector<std::int16_t> values;
        values.reserve(bias.size());
        for (const std::int64_t value : bias)
            values.push_back(operand(std::ldexp(static_cast<double>(value), -static_cast<int>(bs().alu_shift))));
        set_kernels(0, values);
    }
    void set_kernels(std::size_t engine, const std::vector<std::int16_t>& values)
    {
        s_.layer.post.engines[engine].alu = {.on = true, .per = OperandPer::Kernel};
        s_.layer.post.engines[engine].function = AluFunction::Sum;
        operands(engine, false, values.size()).values = values;
    }

    void subtract_zero()
    {
        if (in_.zero == 0) return;
        bs().function = AluFunction::Sum;
        set_operand(0, false, {static_cast<std::int16_t>(-in_.zero)});
    }

    void of_product()
    {
        if (other_.zero != 0) refuse("multiplies with a tensor that has a zero point, expected one of them without");
        subtract_zero();
        bs().mul = {.on = true, .per = OperandPer::Element};
        bs().operand_bytes = 1;
        unit_ = in_.scale * other_.scale;
        add_constants({constant_});
    }

    /// An addition, or a factor and a number for every channel.
    void of_sdp()
    {
        if (has_other_) {
            subtract_zero();
            constant_ -= other_.zero * other_.scale;
            add_other();
            multiply(0, {in_.scale * last_.sign}, {256});
            if (constant_ != 0 && decides()) refuse("adds tensors with zero points and compares with 0, expected a tensor without one");
            zero_ += constant_ / out_.scale;
            return;
        }
        std::vector<double> reals, added;
        for (std::size_t c = 0; c < std::max(n_.factor.size(), n_.bias.size()); ++c) {
            const double factor = n_.factor[n_.factor.size() == 1 ? 0 : c];
            reals.push_back(factor * in_.scale);
            added.push_back(n_.bias[n_.bias.size() == 1 ? 0 : c] - factor * in_.zero * in_.scale + constant_);
        }
        if (n_.factor.size() == 1) reals.resize(1);
        multiply(0, reals, {128});
        add_constants(added);
    }

    /// Reals after the multiplier: in BN, or in the converter if the position of 0 does not matter.
    void add_constants(std::vector<double> reals)
    {
        const bool one = std::all_of(reals.begin(), reals.end(), [&](double real) { return real == reals.front(); });
        if (one && (reals.front() == 0 || !decides())) {
            zero_ += reals.front() / out_.scale;
            behind_ = reals.front();
            return;
        }
        if (clamp_.high) refuse("adds numbers and limits the result, expected one of them: the engine has one operand");
        double most = 0;
        for (const double real : reals) most = std::max(most, std::abs(real) / unit_);
        const int shift = std::clamp(-room(most, kMaxOperand, 0), 0, kMaxShift);
        bn().function = AluFunction::Sum;
        bn().alu_shift = static_cast<std::uint32_t>(shift);
        if (one) reals.resize(1);
        std::vector<std::int16_t> values;
        values.reserve(reals.size());
        for (const double real : reals) values.push_back(operand(std::ldexp(real / unit_, -shift)));
        set_operand(1, false, values);
    }

    void clamp()
    {
        if (!clamp_.slopes.empty()) {
            double most = 0;
            for (const double slope : clamp_.slopes) most = std::max(most, std::abs(slope));
            const int shift = std::max(room(most, kMaxOperand, 30), 0);
            std::vector<std::int16_t> values;
            values.reserve(clamp_.slopes.size());
            for (const double slope : clamp_.slopes) values.push_back(operand(std::ldexp(slope, shift)));
            if (bn().mul.on || (values.size() > 1 && bn().alu.on && bn().alu.per != OperandPer::Kernel))
                refuse("has a slope per channel after other operands, expected one slope");
            set_operand(1, true, values);
            bn().prelu = true;
            bn().mul_shift = static_cast<std::uint32_t>(shift);
        }
        if (clamp_.high) {
            if (bn().alu.on) refuse("limits a sum of tensors, expected a limit that equals the output's range");
            const double limit = (*clamp_.high - (relu_ ? *clamp_.low : 0) - behind_) / unit_;
            const int shift = std::clamp(-room(std::abs(limit), kMaxOperand, 0), 0, kMaxShift);
            bn().function = AluFunction::Min;
            bn().alu_shift = static_cast<std::uint32_t>(shift);
            set_operand(1, false, {operand(std::ldexp(limit, -shift))});
        }
        if (relu_) s_.layer.post.engines[bn().on() ? 1 : 0].relu = true;
    }

    /// (v - offset) * scale >> shift, the nearest one to v * unit / out.scale + zero.
    void convert()
    {
        const double ratio = unit_ / out_.scale;
        if (!(ratio > 0) || ratio > kMaxOperand)
            refuse("makes numbers " + std::to_string(ratio) + " times as large as the steps of its output, expected at most 32767");
        const int shift = std::clamp(room(ratio, kMaxOperand, kMaxOutputShift), 0, kMaxOutputShift);
        OutputConversion& to = s_.layer.output;
        to.scale = static_cast<std::int32_t>(std::lround(std::ldexp(ratio, shift)));
        to.shift = static_cast<std::uint32_t>(shift);
        if (std::abs(zero_ / ratio) > 2 * kMaxSum - 1)
            refuse("makes numbers " + std::to_string(ratio) + " times as large as the steps of its output, whose 0 is " +
                   std::to_string(zero_) + " of these away, expected closer scales");
        to.offset = static_cast<std::int32_t>(std::llround(-zero_ / ratio));
    }

    const NetworkLayer& of_;
    const LayerNumbers &n_, &last_;
    const Clamp& clamp_;
    const Quantisation in_, out_;
    const bool given_;  // the input's scale is the model's
    const bool has_other_;
    const Quantisation other_;
    const bool multiplies_;
    ScaledStep s_;
    double constant_ = 0;  // real, added to every result
    double zero_ = 0;      // of the converter, in steps of the output
    double behind_ = 0;    // real, that the converter adds after the limits
    double unit_ = 1;      // real number that a step in front of the converter is
    bool relu_ = false;
};

}  // namespace

ScaledStep scaled_step(const Network& network, const Steps& steps, const Step& step, Layer layer)
{
    return Scaler(network, steps, step, std::move(layer)).scaled();
}

Lut every_integer(const Function& function, const Quantisation& from, const Quantisation& to)
{
    Lut lut;
    lut.le.exponential = false;
    lut.le.start = lut.le.end = INT32_MAX;  // it begins after all of them, so LO answers
    lut.lo.start = -128;
    lut.lo.end = 128;
    lut.underflow_lo = lut.overflow_lo = lut.hybrid_lo = true;
    for (std::size_t i = 0; i < 256; ++i)
        lut.lo.entries[i] = static_cast<std::int16_t>(to.nearest(function(from.real(static_cast<std::int32_t>(i) - 128))));
    return lut;
}

bool joins_addition(const Clamp& clamp) { return clamp.slopes.size() <= 1 && !clamp.high; }

Tensor scaled_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, const Tensor& input, const Tensor* addend)
{
    if (layer.op == Op::Pool) return pooled(input, *layer.pool, layer.precision, false);
    LayerTensors with;
    with.operands = tensors.operands;
    for (std::size_t e = 0; addend && e < layer.post.engines.size(); ++e) {
        const PointEngine& engine = layer.post.engines[e];
        if (engine.streams() && engine.per() == OperandPer::Element) with.operands[operand_slot(e, !engine.alu.streamed())] = *addend;
    }
    StagedReference golden(layer, input, tensors.weights);
    return golden.output(layer, hardware, with);
}

}  // namespace dlasim
