#include "config/model/tensors.h"

#include "base/error.h"
#include "base/vectors.h"
#include "config/model/stream.h"
#include "config/npy.h"

namespace dlasim {
namespace {

std::int16_t random_value(Precision precision, std::uint64_t random)
{
    switch (precision) {
        case Precision::Int8:
            return static_cast<std::int8_t>(random);
        case Precision::Int16: {
            const auto wide = static_cast<std::int16_t>(random);
            return (random >> 16) % 64 == 0 ? wide : static_cast<std::int16_t>(wide >> 4);
        }
        case Precision::Fp16:
            break;
    }
    if ((random >> 32) % 64 == 0) return 0;
    const std::uint64_t exponent = 10 + (random >> 16) % 6;  // 2^-5 .. 2^0
    return static_cast<std::int16_t>((random & 0x83ff) | (exponent << 10));
}

DLASIM_FORM void fill_int8(std::int16_t* values, std::size_t count, Stream stream)
{
    for (std::size_t i = 0; i < count; ++i) values[i] = random_value(Precision::Int8, stream(i));
}

void fill_random(Tensor& tensor, Precision precision, const Stream& stream)
{
    std::int16_t* values = tensor.values.data();
    const std::size_t count = tensor.values.size();
    if (precision == Precision::Int8)  // most of all tensors
        in_form<fill_int8>(Vectors::Best, values, count, stream);
    else
        for (std::size_t i = 0; i < count; ++i) values[i] = random_value(precision, stream(i));
}

/// One- and two-byte integers and fp16 by their NumPy names.
std::vector<std::string> types_of(Precision precision) { return {npy_type(precision)}; }

void fill(Tensor& tensor, const std::vector<std::int32_t>& values)
{
    for (std::size_t i = 0; i < values.size(); ++i) tensor.values[i] = static_cast<std::int16_t>(values[i]);
}

/// Component of the i-th value of an image tensor.
std::uint32_t component_of(const Tensor& input, std::size_t i)
{
    return static_cast<std::uint32_t>(i / (std::size_t{input.h} * input.w) % input.c);
}

/// What a packed format cannot hold would be lost on the way to memory.
void expect_bits_of_format(const Layer& layer, const Tensor& input)
{
    for (std::size_t i = 0; layer.image() && i < input.values.size(); ++i) {
        const std::uint32_t missing = layer.format->missing_bits(component_of(input, i));
        if ((static_cast<std::uint16_t>(input.values[i]) & missing) != 0)
            throw ConfigError(layer.data.where + "/input: " + layer.data.input,
                              "found " + std::to_string(input.values[i]) + " at index " + std::to_string(i) + ", expected a multiple of " +
                                  std::to_string(missing + 1) + ": " + layer.format->name + " holds the upper bits of 16");
    }
}

Tensor load_input(const Layer& layer)
{
    Tensor input(layer.batch, layer.channels, layer.height, layer.width);
    const Precision held = layer.stored_precision();
    std::vector<std::string> types = types_of(held);
    Precision kind = held;
    if (layer.image()) {
        kind = layer.format->half_float ? Precision::Fp16 : layer.format->eight_bit ? Precision::Int8 : Precision::Int16;
        types = types_of(kind);
        if (!layer.signed_pixels) types = {layer.format->eight_bit ? "|u1" : "<u2"};
    }
    if (!layer.data.input.empty()) {
        fill(input, read_npy(layer.data.input, types, {input.n, input.c, input.h, input.w}, layer.data.where + "/input"));
        expect_bits_of_format(layer, input);
        return input;
    }
    const Stream stream(layer.data.seed, 1);
    fill_random(input, kind, stream);
    if (layer.image() && !layer.signed_pixels && layer.format->eight_bit)
        for (std::int16_t& value : input.values) value &= 255;
    for (std::size_t i = 0; i < input.values.size() && layer.image() && layer.format->ten_bits(); ++i)
        input.values[i] = static_cast<std::int16_t>(input.values[i] & ~layer.format->missing_bits(component_of(input, i)));
    return input;
}

Tensor load_weights(const Layer& layer)
{
    Tensor weights(layer.kernels, layer.kernel_channels(), layer.kernel_height, layer.kernel_width);
    if (!layer.data.weights.empty()) {
        fill(weights, read_npy(layer.data.weights, types_of(layer.precision), {weights.n, weights.c, weights.h, weights.w},
                               layer.data.where + "/weights"));
        return weights;
    }
    const Stream stream(layer.data.seed, 2), keep(layer.data.seed, 3);
    fill_random(weights, layer.precision, stream);
    for (std::size_t i = 0; i < weights.values.size() && layer.density < 100; ++i)
        if (keep(i) % 100 >= layer.density) weights.values[i] = 0;
    // The transformed kernel is four times as large: whole only if it still fits the precision.
    if (layer.mode == Mode::Winograd && layer.precision == Precision::Int8)
        for (std::int16_t& value : weights.values) value = static_cast<std::int16_t>(value / 9);
    return weights;
}

Tensor load_operand(const Layer& layer, std::size_t slot)
{
    const PointEngine& engine = layer.post.engines[slot / 2];
    const Operand& operand = slot % 2 == 0 ? engine.alu : engine.mul;
    if (!operand.streamed()) return {};
    const bool element = operand.per == OperandPer::Element, fp = layer.precision == Precision::Fp16;
    Tensor tensor(1, layer.kernels, element ? layer.out_height() : 1, element ? layer.out_width() : 1);
    const std::string& path = layer.data.operands[slot];
    if (!path.empty()) {
        const std::string where = layer.data.where + "/" + kOperandNames[slot];
        const std::vector<std::string> types = fp ? types_of(layer.precision) : std::vector<std::string>{"<i2", "|i1", "<i4"};
        const auto values = read_npy(
            path, types, element ? std::vector<std::size_t>{1, tensor.c, tensor.h, tensor.w} : std::vector<std::size_t>{tensor.c}, where);
        const std::int32_t most = engine.operand_bytes == 1 ? 127 : 32767;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!fp && (values[i] < -most - 1 || values[i] > most))
                throw ConfigError(where + ": " + path, "found " + std::to_string(values[i]) + " at index " + std::to_string(i) +
                                                           ", expected " + std::to_string(-most - 1) + ".." + std::to_string(most) +
                                                           ": operands of " + std::to_string(engine.operand_bytes) +
                                                           " bytes (a \"shift\" makes larger ones)");
            tensor.values[i] = static_cast<std::int16_t>(values[i]);
        }
        return tensor;
    }
    const Stream stream(layer.data.seed, 4 + slot);
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        if (fp) tensor.values[i] = random_value(Precision::Fp16, stream(i));
        else if (engine.operand_bytes == 1) tensor.values[i] = static_cast<std::int8_t>(stream(i));
        else tensor.values[i] = static_cast<std::int16_t>(static_cast<std::int16_t>(stream(i)) >> 2);
    }
    return tensor;
}

}  // namespace

Tensor load_cube(Precision precision, const CubeSize& size, const std::string& file, const std::string& where, std::uint64_t seed)
{
    Tensor cube(1, size.channels, size.height, size.width);
    const Stream stream(seed, 1);
    if (!file.empty()) fill(cube, read_npy(file, types_of(precision), {1, size.channels, size.height, size.width}, where));
    else
        for (std::size_t i = 0; i < cube.values.size(); ++i) cube.values[i] = random_value(precision, stream(i));
    return cube;
}

const char* npy_type(Precision precision) { return precision == Precision::Int8 ? "|i1" : precision == Precision::Int16 ? "<i2" : "<f2"; }

std::string npy_file(const Tensor& tensor, Precision precision)
{
    return npy_bytes(npy_type(precision), {tensor.n, tensor.c, tensor.h, tensor.w}, {tensor.values.begin(), tensor.values.end()});
}

LayerTensors load_tensors(const Layer& layer)
{
    LayerTensors tensors;
    tensors.input = load_input(layer);
    if (layer.convolves()) tensors.weights = load_weights(layer);
    for (std::size_t slot = 0; slot < tensors.operands.size(); ++slot) tensors.operands[slot] = load_operand(layer, slot);
    if (!layer.data.expected.empty()) {
        Tensor& expected = tensors.expected = Tensor(layer.batch, layer.kernels, layer.out_height(), layer.out_width());
        fill(expected, read_npy(layer.data.expected, {npy_type(layer.output.precision)}, {expected.n, expected.c, expected.h, expected.w},
                                layer.data.where + "/expected"));
    }
    return tensors;
}

}  // namespace dlasim
