#include "network/fp16_step.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "config/model/fp16.h"
#include "network/siblings.h"

namespace dlasim {
namespace {

constexpr std::size_t kBs = 0, kBn = 1, kEw = 2;

class Fp16Step {
public:
    Fp16Step(const Network& network, const NetworkLayer& of, const Step& step, Layer layer)
        : of_(of),
          n_(*of_.numbers),
          last_(step.add ? *network.layers[*step.add].numbers : n_),
          adds_(step.addend && of_.op != NetworkOp::Multiply)
    {
        s_.layer = std::move(layer);
    }

    ScaledStep step()
    {
        if (of_.op == NetworkOp::Pool) return std::move(s_);
        if (of_.convolves()) {
            s_.tensors.weights = n_.weights;
            if (!n_.bias.empty()) set(kBs, false, n_.bias);
        } else if (of_.op == NetworkOp::Multiply) {
            stream(kBs, true);
        } else if (adds_) {
            put(kBs, true, {last_.sign}, 1);
        } else {
            put(kBs, true, n_.factor, 1);
            put(kBn, false, n_.bias, 0);
        }
        if (adds_) stream(kBn, false);
        clamp();
        if (!used(kBs) && !of_.convolves()) set(kBs, true, {1});
        return std::move(s_);
    }

private:
    PointEngine& engine(std::size_t e) { return s_.layer.post.engines[e]; }
    bool used(std::size_t e) const { return s_.layer.post.engines[e].on(); }
    [[noreturn]] void refuse(const std::string& what) const { throw ConfigError(of_.where, what); }

    std::int16_t half(double value) const
    {
        if (!(std::abs(value) < kMaxFp16 + 16))
            refuse("has a number " + std::to_string(value) + ", expected at most 65504: fp16 holds no more");
        return static_cast<std::int16_t>(fp16_from_double(value));
    }

    /// Unless it changes nothing.
    void put(std::size_t e, bool mul, const std::vector<double>& values, double nothing)
    {
        if (std::any_of(values.begin(), values.end(), [&](double value) { return value != nothing; })) set(e, mul, values);
    }

    /// One number for the layer, or one a kernel.
    void set(std::size_t e, bool mul, const std::vector<double>& values)
    {
        PointEngine& to = engine(e);
        Operand& operand = mul ? to.mul : to.alu;
        if (operand.on) refuse("needs two numbers of one engine, expected one: SDP has no more engines");
        operand.on = true;
        if (!mul) to.function = AluFunction::Sum;
        if (values.size() == 1) {
            operand.per = OperandPer::Layer;
            operand.value = e == kEw ? std::bit_cast<std::int32_t>(static_cast<float>(values.front())) : half(values.front());
            return;
        }
        const Operand& other = mul ? to.alu : to.mul;
        if (other.streamed() && other.per != OperandPer::Kernel)
            refuse("has a number for each channel beside a tensor, expected one number");
        operand.per = OperandPer::Kernel;
        Tensor& tensor = s_.tensors.operands[operand_slot(e, mul)];
        tensor = Tensor(1, static_cast<std::uint32_t>(values.size()), 1, 1);
        std::transform(values.begin(), values.end(), tensor.values.begin(), [&](double value) { return half(value); });
    }

    void stream(std::size_t e, bool mul)
    {
        PointEngine& to = engine(e);
        (mul ? to.mul : to.alu) = {.on = true, .per = OperandPer::Element};
        if (!mul) to.function = AluFunction::Sum;
        to.operand_bytes = 2;
    }

    void clamp()
    {
        const Clamp& b = last_.clamp;
        std::size_t e = used(kBn) ? kBn : kBs;
        if (!b.slopes.empty()) {
            if (engine(e).mul.on) e = next(e);
            set(e, true, b.slopes);
            engine(e).prelu = true;
        }
        if (b.low == 0.0) engine(e).relu = true;
        else if (b.low) clip(e, *b.low, AluFunction::Max);
        if (b.high) clip(e, *b.high, AluFunction::Min);
    }
    void clip(std::size_t& e, double limit, AluFunction function)
    {
        if (used(e)) e = next(e);
        set(e, false, {limit});
        engine(e).function = function;
    }
    std::size_t next(std::size_t e) const
    {
        if (e == kEw) refuse("has more limits and numbers than SDP has engines");
        return e + 1;
    }

    const NetworkLayer& of_;
    const LayerNumbers &n_, &last_;
    const bool adds_;
    ScaledStep s_;
};

}  // namespace

ScaledStep fp16_step(const Network& network, const Step& step, Layer layer)
{
    if (step.beside.empty()) return Fp16Step(network, network.layers[step.layer], step, std::move(layer)).step();
    return Fp16Step(network, with_siblings(network, step), step, std::move(layer)).step();
}

bool fp16_joins_addition(const Clamp& clamp) { return clamp.slopes.size() <= 1 && (!clamp.high || !clamp.low || *clamp.low == 0); }

}  // namespace dlasim
