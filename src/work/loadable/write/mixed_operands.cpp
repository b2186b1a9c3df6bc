#include "loadable/write/mixed_operands.h"

#include "base/bits.h"
#include "base/error.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint64_t kOwnPlaces = 0xf000000000, kOwnAligned = 256;  // where nothing of the program is
constexpr std::uint8_t kMultiply = 1, kAdd = 2, kNoActivation = 0;

/// The byte there; none outside of the constants.
std::optional<std::uint8_t> constant_at(std::span<const ConstantBytes> constants, std::uint64_t at)
{
    for (const ConstantBytes& constant : constants) {
        const std::uint64_t begin = constant.place.address.byte();
        if (at >= begin && at - begin < constant.bytes.size()) return constant.bytes[at - begin];
    }
    return std::nullopt;
}

void push_word(std::vector<std::uint8_t>& bytes, std::int32_t value)
{
    bytes.push_back(static_cast<std::uint8_t>(value));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8));
}

/// Pairs of both operands, kernel by kernel.
std::vector<std::uint8_t> paired_operands(const SdpStage& stage, const MixedStage& mixed, std::uint32_t kernels, std::uint64_t from,
                                          std::span<const ConstantBytes> constants, const std::string& where)
{
    const std::uint32_t size = stage.precision != 0 ? 2 : 1;
    std::vector<std::uint8_t> pairs;
    for (std::uint32_t k = 0; k < kernels; ++k) {
        std::uint32_t word = 0;
        for (std::uint32_t b = 0; b < size; ++b) {
            const auto byte = constant_at(constants, from + k * size + b);
            if (!byte) throw ConfigError(where, "reads operands per kernel that are not constant: no descriptor can express it");
            word |= std::uint32_t{*byte} << (8 * b);
        }
        const std::int32_t value = size == 1 ? static_cast<std::int8_t>(word) : static_cast<std::int16_t>(word);
        push_word(pairs, mixed.alu_in_memory ? value : stage.alu_operand);
        push_word(pairs, mixed.alu_in_memory ? stage.multiplier_operand : value);
    }
    return pairs;
}

/// The multiplication and all that follows it goes to the next stage, or the addition to the one before.
void spread(RecoveredOperation& o, std::size_t i, const std::string& where)
{
    SdpOperation& op = o.operation.sdp;
    const bool next = i == 0 && op.stages[1].enable == 0 && o.mixed[i].alu_in_memory;
    if (!next)
        throw ConfigError(where,
                          "takes one operand per element from memory and the other from a register, expected X1 to do so and X2 to be "
                          "free: no descriptor can express it");
    SdpStage &first = op.stages[0], &second = op.stages[1];
    second = first;
    second.type = kMultiply;
    second.mode = 0;
    second.shift = second.alu = second.precision = 0;
    second.alu_operand = 0;
    first.type = kAdd;
    first.activation = kNoActivation;
    first.truncate = 0;
    first.multiplier_operand = 0;
}

}  // namespace

void resolve_mixed_operands(RecoveredTask& task, std::span<const ConstantBytes> constants, std::deque<OwnOperands>& own,
                            const std::function<std::string(std::size_t)>& where)
{
    std::uint64_t next = kOwnPlaces;
    for (std::size_t n = 0; n < task.operations.size(); ++n) {
        RecoveredOperation& o = task.operations[n];
        if (o.operation.kind != Kind::Sdp) continue;
        for (std::size_t i = 0; i < o.mixed.size(); ++i) {
            if (!o.mixed[i].mixed) continue;
            SdpStage& stage = o.operation.sdp.stages[i];
            Cube& cube = o.operation.sdp.operands[i];
            if (stage.mode == 2) {
                spread(o, i, where(n));
            } else {
                std::vector<std::uint8_t> pairs = paired_operands(stage, o.mixed[i], o.operation.sdp.source.channels,
                                                                  o.places[1 + i]->address.byte(), constants, where(n));
                if (i == 2 && (stage.alu_converter.enable != 0 || stage.multiplier_converter.enable != 0))
                    throw ConfigError(where(n), "converts operands of which one is in a register: no descriptor can express it");
                stage.precision = o.operation.sdp.source_precision == 2 ? 2 : 1;
                stage.alu_operand = stage.multiplier_operand = 0;
                cube.size = static_cast<std::uint32_t>(pairs.size());
                cube.line_stride = cube.surface_stride = static_cast<std::uint32_t>(round_up<std::uint64_t>(pairs.size(), kOwnAligned));
                o.places[1 + i] = Place{true, Address{next}};
                own.push_back({*o.places[1 + i], std::move(pairs)});
                next += round_up<std::uint64_t>(own.back().bytes.size(), kOwnAligned);
            }
            o.mixed[i] = {};
        }
    }
}

}  // namespace dlasim::loadable
