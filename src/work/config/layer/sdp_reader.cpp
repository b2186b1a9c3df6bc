#include "config/layer/sdp_reader.h"

#include <bit>
#include <cmath>
#include <optional>
#include <span>

#include "config/descriptor_keys.h"
#include "config/layer/layer_words.h"
#include "config/layer/pool_reader.h"
#include "config/model/fp16.h"
#include "config/warning.h"

namespace dlasim {
namespace {

const std::vector<std::string> kAluFunctions{"max", "min", "sum", "equal"};
const std::vector<std::string> kPer{"layer", "kernel", "element"};

class EngineReader {
public:
    EngineReader(const JsonObject& object, std::size_t engine, Precision precision)
        : o_(object), ew_(engine == 2), fp_(precision == Precision::Fp16), precision_(precision)
    {
    }

    PointEngine read()
    {
        if (o_.has("alu")) read_alu();
        if (o_.has("mul")) read_mul();
        e_.mul_shift = shift(o_);
        if (ew_ && e_.mul_shift != 0 && !e_.mul.on)
            throw ConfigError(o_.where("shift"), found(o_.raw("shift")) + " without a multiplier, expected 0: EW shifts products only");
        if (!ew_) e_.relu = o_.flag("relu", false);
        if (ew_ && o_.has("lut")) {
            const JsonObject lut = o_.object("lut", keys::kLut);
            e_.lut = read_lut(lut, precision_);
        }
        e_.operand_bytes = static_cast<std::uint32_t>(o_.integer("operand_bytes", 2));
        if (e_.operand_bytes == 1 && precision_ != Precision::Int8)
            throw ConfigError(o_.where("operand_bytes"), std::string("found 1, expected 2 for ") + precision_name(precision_) +
                                                             ": SDP_RDMA reads operands of one byte for int8 only");
        if (e_.alu.streamed() && e_.mul.streamed() && e_.alu.per != e_.mul.per)
            throw ConfigError(o_.where("mul"), "found operands per " + kPer[static_cast<std::size_t>(e_.mul.per)] + " beside an alu per " +
                                                   kPer[static_cast<std::size_t>(e_.alu.per)] +
                                                   ", expected the same: an engine reads both as one stream");
        return e_;
    }

private:
    std::uint32_t shift(const JsonObject& object) const
    {
        const auto value = static_cast<std::uint32_t>(object.integer("shift", 0));
        if (fp_ && value != 0)
            throw ConfigError(object.where("shift"), found(object.raw("shift")) + ", expected 0: fp16 numbers are not shifted");
        return value;
    }

    Operand operand(const JsonObject& object) const
    {
        Operand operand{.on = true};
        operand.per = static_cast<OperandPer>(object.word("per", kPer, static_cast<std::size_t>(OperandPer::Kernel)));
        const bool layer = operand.per == OperandPer::Layer;
        if (layer && !object.has("value")) object.missing("value", "the operand of the whole layer");
        if (!layer && object.has("value"))
            throw ConfigError(object.where("value"), "found a value beside operands from memory, expected \"per\": \"layer\" with it");
        const NumberKind kind = fp_ ? (ew_ ? NumberKind::Fp32 : NumberKind::Fp16) : ew_ ? NumberKind::Int32 : NumberKind::Int16;
        if (layer) operand.value = read_number(object, "value", kind, "the operand", 0);
        if (ew_ && object.has("conversion")) operand.conversion = conversion(object, layer);
        return operand;
    }

    OperandConversion conversion(const JsonObject& object, bool layer) const
    {
        if (layer || fp_)
            throw ConfigError(object.where("conversion"), std::string("found a conversion of ") +
                                                              (layer ? "a register's operand" : "fp16 operands") +
                                                              ", expected none: only integers from memory are converted");
        const JsonObject c = object.object("conversion", keys::kEwConversion);
        OperandConversion conversion{.on = true};
        conversion.offset = static_cast<std::int32_t>(c.integer("offset", 0));
        conversion.scale = static_cast<std::int32_t>(c.integer("scale", 1));
        conversion.truncate = static_cast<std::uint32_t>(c.integer("truncate", 0));
        return conversion;
    }

    void read_alu()
    {
        const JsonObject alu = o_.object("alu", ew_ ? std::span<const InputKey>(keys::kEwAlu) : keys::kAlu);
        e_.function = static_cast<AluFunction>(alu.word("op", kAluFunctions, static_cast<std::size_t>(AluFunction::Sum)));
        if (!ew_ && e_.function == AluFunction::Equal)
            throw ConfigError(alu.where("op"), "found \"equal\", expected max, min or sum: only EW compares");
        e_.alu = operand(alu);
        if (!ew_) e_.alu_shift = shift(alu);
    }

    void read_mul()
    {
        const JsonObject mul = o_.object("mul", ew_ ? std::span<const InputKey>(keys::kEwMul) : keys::kMul);
        e_.mul = operand(mul);
        e_.prelu = mul.flag("prelu", false);
    }

    const JsonObject& o_;
    const bool ew_, fp_;
    const Precision precision_;
    PointEngine e_;
};

void read_engines(Layer& layer, const JsonObject& post)
{
    for (std::size_t i = 0; i < kEngineNames.size(); ++i) {
        const char* name = kEngineNames[i];
        if (!post.has(name)) continue;
        const JsonObject object = post.object(name, i == 2 ? std::span<const InputKey>(keys::kEwEngine) : keys::kEngine);
        layer.post.engines[i] = EngineReader(object, i, layer.precision).read();
    }
}

/// A bias is the ALU of BS.
void read_bias(Layer& layer, const JsonObject& holder)
{
    if (!holder.has("bias")) return;
    std::uint32_t shift = 0;
    if (holder.raw("bias").is_object()) {
        const JsonObject bias = holder.object("bias", keys::kBias);
        shift = static_cast<std::uint32_t>(bias.integer("shift", 0));
        if (layer.precision == Precision::Fp16 && shift != 0)
            throw ConfigError(bias.where("shift"), found(bias.raw("shift")) + ", expected 0: an fp16 bias is not shifted");
    } else if (!holder.flag("bias", false)) {
        return;
    }
    if (layer.post.bs().alu.on)
        throw ConfigError(holder.where("bias"), "found a bias beside an alu in \"bs\", expected one of them: the bias takes that ALU");
    if (layer.post.bs().mul.streamed() && (layer.post.bs().per() != OperandPer::Kernel || layer.post.bs().operand_bytes != 2))
        throw ConfigError(holder.where("bias"),
                          "found a bias beside a multiplier with another kind of operand in \"bs\", expected two bytes per kernel in both");
    layer.post.add_bias(shift);
}

/// The activation follows everything before the converter: BN's ReLU if BN is used, else BS's.
void read_activation(Layer& layer, const JsonObject& holder)
{
    if (!holder.has("activation")) return;
    const std::string where = holder.where("activation"), what = found(holder.raw("activation"));
    const auto tanh = static_cast<std::size_t>(Activation::Tanh);
    if (holder.raw("activation") == kActivations[tanh])
        throw ConfigError(
            where, what + ", expected none, relu, relu6 or leaky: the tanh of a layer is a table, \"ew\": {\"lut\": ..} in \"post\"");
    const auto activation = static_cast<Activation>(holder.word("activation", {kActivations.begin(), kActivations.begin() + tanh}, 0));
    if (activation == Activation::None) return;
    if (layer.post.ew().on())
        throw ConfigError(where, what + " after EW, expected none: EW has no ReLU; set \"relu\": true in \"bs\" or \"bn\"");
    if (activation == Activation::Leaky && layer.post.last_of_two().mul.on)
        throw ConfigError(where, what + " after a multiplier, expected none: both need the multiplier of the engine");
    rectify(layer, activation);
}

void read_output(Layer& layer, const JsonObject& post, const JsonObject& top)
{
    if (!post.has("output")) return;
    const JsonObject output = post.object("output", keys::kOutput);
    layer.output.precision = static_cast<Precision>(output.word("precision", kPrecisions, static_cast<std::size_t>(layer.precision)));
    layer.output.offset = static_cast<std::int32_t>(output.integer("offset", 0));
    layer.output.scale = static_cast<std::int32_t>(output.integer("scale", 1));
    layer.output.shift = static_cast<std::uint32_t>(output.integer("shift", 0));
    // [spec] sdp.md 4.6 and 7: what SDP can convert in one pass.
    const auto pair = std::pair{layer.precision, layer.output.precision};
    if (pair == std::pair{Precision::Int8, Precision::Fp16} || pair == std::pair{Precision::Int16, Precision::Int8} ||
        pair == std::pair{Precision::Fp16, Precision::Int8})
        throw ConfigError(output.where("precision"), std::string("found \"") + precision_name(layer.output.precision) + "\" after " +
                                                         precision_name(layer.precision) +
                                                         ", expected int8 to int8 or int16, int16 to int16 or fp16, "
                                                         "fp16 to fp16 or int16: SDP converts no other pair");
    if (layer.precision == Precision::Fp16 && (layer.output.offset != 0 || layer.output.scale != 1 || layer.output.shift != 0))
        throw ConfigError(top.where("post") + "/output", "fp16 results are not scaled, expected offset 0, scale 1, shift 0");
}

OrderedJson operand_json(const Operand& operand, bool ew, Precision precision)
{
    OrderedJson json;
    json["per"] = kPer[static_cast<std::size_t>(operand.per)];
    const bool fp = precision == Precision::Fp16;
    if (operand.per == OperandPer::Layer)
        json["value"] = number_json(operand.value, fp   ? (ew ? NumberKind::Fp32 : NumberKind::Fp16)
                                                   : ew ? NumberKind::Int32
                                                        : NumberKind::Int16);
    const OperandConversion& c = operand.conversion;
    if (c.on) json["conversion"] = {{"offset", c.offset}, {"scale", c.scale}, {"truncate", c.truncate}};
    return json;
}

OrderedJson engine_json(const PointEngine& e, std::size_t engine, Precision precision)
{
    const bool ew = engine == 2;
    OrderedJson json;
    if (e.alu.on) {
        json["alu"] = operand_json(e.alu, ew, precision);
        json["alu"]["op"] = kAluFunctions[static_cast<std::size_t>(e.function)];
        if (!ew) json["alu"]["shift"] = e.alu_shift;
    }
    if (e.mul.on) {
        json["mul"] = operand_json(e.mul, ew, precision);
        json["mul"]["prelu"] = e.prelu;
    }
    json["shift"] = e.mul_shift;
    if (!ew) json["relu"] = e.relu;
    if (e.lut) json["lut"] = lut_json(*e.lut, precision);
    json["operand_bytes"] = e.operand_bytes;
    return json;
}

}  // namespace

std::int32_t checked_number(const Json& value, const std::string& where, NumberKind kind, const char* meaning)
{
    if (kind == NumberKind::Int16) return static_cast<std::int32_t>(checked_integer(value, where, {-32768, 32767}, meaning));
    if (kind == NumberKind::Int32) return static_cast<std::int32_t>(checked_integer(value, where, {INT32_MIN, INT32_MAX}, meaning));
    const double most = kind == NumberKind::Fp16 ? 65504 : 3.4028234663852886e38;
    if (!value.is_number() || !std::isfinite(value.get<double>()) || std::abs(value.get<double>()) > most)
        throw ConfigError(
            where, found(value) + ", expected a number " + (kind == NumberKind::Fp16 ? "of fp16" : "of fp32") + " (" + meaning + ")");
    if (kind == NumberKind::Fp16) return static_cast<std::int16_t>(fp16_from_double(value.get<double>()));
    return std::bit_cast<std::int32_t>(static_cast<float>(value.get<double>()));
}

std::int32_t read_number(const JsonObject& object, const char* key, NumberKind kind, const char* meaning, std::int32_t fallback)
{
    return object.has(key) ? checked_number(object.raw(key), object.where(key), kind, meaning) : fallback;
}

OrderedJson number_json(std::int32_t bits, NumberKind kind)
{
    if (kind == NumberKind::Fp16) return double_from_fp16(static_cast<std::uint16_t>(bits));
    if (kind == NumberKind::Fp32) return static_cast<double>(std::bit_cast<float>(bits));
    return bits;
}

void read_post_pool(Layer& layer, const JsonObject& top)
{
    if (!top.has("post")) return;
    const JsonObject post = top.object("post", keys::kPost);
    if (post.has("pool")) layer.pool = read_pool(post, layer.output.precision, layer.out_width(), layer.out_height());
}

const JsonObject& holder_of(const char* key, const JsonObject& layer, const std::optional<JsonObject>& post)
{
    if (!post || !post->has(key)) return layer;
    if (layer.has(key))
        throw ConfigError(post->where(key), "duplicates the layer's own \"" + std::string(key) + "\", expected only that one");
    warn("\"bias\" and \"activation\" in \"post\" are read, but belong to the layer itself now, as in networks: docs/DESCRIPTOR.md");
    return *post;
}

void rectify(Layer& layer, Activation activation)
{
    PointEngine& last = layer.post.last_of_two();
    const bool fp = layer.precision == Precision::Fp16;
    if (activation == Activation::Leaky) {
        last.mul = {.on = true, .per = OperandPer::Layer, .value = fp ? fp16_from_double(kLeakyHalf) : kLeakySlope};
        last.prelu = true;
        last.mul_shift = fp ? 0 : kLeakyShift;
        return;
    }
    last.relu = true;
    if (!fp || activation != Activation::Relu6) return;  // of integers: what is more than 6 is more than the output holds
    const std::size_t engine = layer.post.engines[1].on() ? 2 : 1;
    PointEngine& limit = layer.post.engines[engine];
    limit.alu = {.on = true, .per = OperandPer::Layer, .value = engine == 2 ? std::bit_cast<std::int32_t>(6.0F) : fp16_from_double(6)};
    limit.function = AluFunction::Min;
}

void read_post(Layer& layer, const JsonObject& top)
{
    layer.output.precision = layer.precision;
    std::optional<JsonObject> post;
    if (top.has("post")) post.emplace(top.object("post", keys::kPost));
    if (post) read_engines(layer, *post);
    read_bias(layer, holder_of("bias", top, post));
    read_activation(layer, holder_of("activation", top, post));
    if (!post) return;
    layer.post.flush_nan = post->flag("nan_to_zero", false);
    if (layer.post.flush_nan && layer.precision != Precision::Fp16)
        throw ConfigError(post->where("nan_to_zero"),
                          std::string("found true for ") + precision_name(layer.precision) + ", expected fp16: integers have no NaN");
    read_output(layer, *post, top);
}

void put_post(OrderedJson& top, const Layer& layer)
{
    OrderedJson json;
    const SdpConfig& post = layer.post;
    const PointEngine& bs = post.bs();
    const bool plain =
        !bs.on() || (!bs.mul.on && bs.mul_shift == 0 && (!bs.alu.on || post.bias()) && bs.operand_bytes == 2 && bs.alu_shift <= 31);
    if (plain) {
        if (post.bias() && bs.alu_shift != 0) top["bias"] = {{"shift", bs.alu_shift}};
        else top["bias"] = post.bias();
    }
    const bool last = !post.engines[1].on() && !post.ew().on();
    if (plain && last) top["activation"] = bs.relu ? "relu" : "none";
    else if (plain && bs.relu) json["bs"] = {{"relu", true}};
    for (std::size_t i = 0; i < kEngineNames.size(); ++i)
        if (post.engines[i].on() && (i != 0 || !plain)) json[kEngineNames[i]] = engine_json(post.engines[i], i, layer.precision);
    if (post.flush_nan) json["nan_to_zero"] = true;
    if (layer.pool) json["pool"] = pool_json(*layer.pool);
    json["output"] = {{"precision", precision_name(layer.output.precision)},
                      {"offset", layer.output.offset},
                      {"scale", layer.output.scale},
                      {"shift", layer.output.shift}};
    top["post"] = std::move(json);
}

}  // namespace dlasim
