#include "units/sdp/value/fetched.h"

#include <algorithm>

#include "facts/sdp.h"
#include "numerics/fp.h"

namespace dlasim::sdp {
namespace {

std::uint16_t half_word(const std::uint8_t* at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }

/// 16to8: segments of 8 pixels of one surface, then of the next: channels 0..15 and 16..31 of the pixels.
std::uint64_t narrowed_element(const ReadLayer& layer, std::uint64_t beat)
{
    constexpr std::uint32_t kSegment = facts::sdp::kSegment16to8;
    const std::uint64_t atom = beat / 2, line = atom / layer.width;
    const std::uint32_t x = static_cast<std::uint32_t>(atom % layer.width), segment = x / kSegment * kSegment;
    const std::uint32_t pixels = std::min(kSegment, layer.width - segment);
    return ((line * layer.width + segment) * 2 + beat % 2 * pixels + x - segment) * (layer.atom / 2);
}

}  // namespace

void Fetched::expect(const ReadLayer& layer, bool bytes)
{
    layers_.push_back({layer, expected_});
    if (bytes) expected_ += layer.total_atoms() * layer.atom;
}

void Fetched::start(bool uses)
{
    used_ = uses;
    for (Cached& half : cache_) half.until = 0;
}

void Fetched::finish()
{
    if (!used_ || layers_.empty()) return;
    const auto& [layer, begin] = layers_.front();
    bytes_.release(begin + layer.total_atoms() * layer.atom);
    layers_.pop_front();
    used_ = false;
}

void Fetched::release_before(std::uint64_t beat, const BeatShape& shape)
{
    if (!used_ || layers_.empty()) return;
    const auto& [layer, begin] = layers_.front();
    const std::uint64_t pixel = beat / shape.beats_per_atom;
    std::uint64_t atoms = 0;  // of memory
    if (!layer.features) {
        // Of a multi-batch layer whole lines.
        const std::uint64_t done = !layer.per_element ? pixel / layer.pixels()
                                   : layer.batch == 1 ? pixel
                                                      : pixel / layer.batch / layer.width * layer.width;
        atoms = done * layer.atoms_per_atom;
    } else if (layer.narrowing) {
        atoms = pixel / layer.width * layer.width * 2;
    } else {
        atoms = beat * shape.lanes * layer.input_bytes / layer.atom;
    }
    bytes_.release(begin + atoms * layer.atom);
}

const Operands& Fetched::operands(std::uint64_t beat, const BeatShape& shape)
{
    const std::uint32_t half = static_cast<std::uint32_t>(beat % shape.beats_per_atom);
    Cached& cached = cache_[half & 1];
    const std::uint64_t pixel = beat / shape.beats_per_atom;
    if (pixel < cached.until && pixel >= cached.from) return cached;
    if (layers_.empty()) {
        cached = {};
        return cached;
    }
    const auto& [layer, begin] = layers_.front();
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
    bytes_.read(begin + (atom * shape.atom_elements + half * shape.lanes) * step, raw.data(), shape.lanes * step);
    const auto take = [&](std::array<std::int16_t, kMaxLanes>& to, std::uint32_t offset) {
        for (std::uint32_t i = 0; i < shape.lanes; ++i) {
            const std::uint8_t* at = raw.data() + i * step + offset;
            to[i] = bytes == 1 ? static_cast<std::int8_t>(*at) : static_cast<std::int16_t>(half_word(at));
        }
    };
    if (layer.uses_alu()) take(cached.alu, 0);
    if (layer.uses_mul()) take(cached.mul, both ? bytes : 0);
    return cached;
}

void Fetched::features(std::int32_t* lanes, std::uint64_t beat, const BeatShape& shape) const
{
    if (layers_.empty()) {
        std::fill_n(lanes, shape.lanes, 0);
        return;
    }
    const auto& [layer, begin] = layers_.front();
    const std::uint64_t element = layer.narrowing && !layer.one_pixel() ? narrowed_element(layer, beat) : beat * shape.lanes;
    std::array<std::uint8_t, kMaxLanes * 2> raw;
    bytes_.read(begin + element * layer.input_bytes, raw.data(), shape.lanes * layer.input_bytes);
    const bool fp = layer.input == Precision::Fp16;
    for (std::uint32_t i = 0; i < shape.lanes; ++i) {
        if (layer.input_bytes == 1) lanes[i] = static_cast<std::int8_t>(raw[i]);
        else if (fp) lanes[i] = static_cast<std::int32_t>(numerics::fp16_to_fp32(half_word(&raw[2 * i])));
        else lanes[i] = static_cast<std::int16_t>(half_word(&raw[2 * i]));
    }
}

}  // namespace dlasim::sdp
