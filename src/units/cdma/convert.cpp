#include "units/cdma/convert.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace dlasim::cdma {
namespace {

std::int32_t saturate(std::int64_t value, unsigned width)
{
    const std::int64_t high = (std::int64_t{1} << (width - 1)) - 1;
    return static_cast<std::int32_t>(std::clamp(value, -high - 1, high));
}

/// value / 2^n, nearest, ties away from zero
std::int64_t shift_round(std::int64_t value, unsigned n)
{
    if (n == 0) return value;
    const std::int64_t quotient = value >> n;
    const bool guard = (value >> (n - 1)) & 1;
    const bool sticky = n > 1 && (value & ((std::int64_t{1} << (n - 1)) - 1)) != 0;
    return quotient + (guard && (value >= 0 || sticky) ? 1 : 0);
}

std::uint16_t load16(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] | p[1] << 8); }
void store16(std::uint8_t* p, std::uint16_t v)
{
    p[0] = static_cast<std::uint8_t>(v);
    p[1] = static_cast<std::uint8_t>(v >> 8);
}

constexpr unsigned kProductBits = 34;  // a shift beyond them gives 0

}  // namespace

std::uint16_t integer_to_fp16(std::int32_t value)
{
    if (value == 0) return 0;
    const std::uint32_t sign = value < 0 ? 0x8000 : 0, magnitude = static_cast<std::uint32_t>(value < 0 ? -value : value);
    unsigned exponent = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
    std::uint32_t fraction;
    if (exponent > 10) {
        const unsigned shift = exponent - 10;
        const std::uint32_t rest = magnitude & ((1u << shift) - 1), half = 1u << (shift - 1);
        fraction = magnitude >> shift;
        if (rest > half || (rest == half && (fraction & 1))) ++fraction;
        if (fraction >> 11) {
            fraction >>= 1;
            ++exponent;
        }
    } else {
        fraction = magnitude << (10 - exponent);
    }
    if (exponent + 15 > 30) return static_cast<std::uint16_t>(sign | 0x7bff);
    return static_cast<std::uint16_t>(sign | (exponent + 15) << 10 | (fraction & 0x3ff));
}

Converter Converter::of(const Layer& l, bool words)
{
    Converter c;
    c.words = words;
    c.input = l.input_precision;
    c.precision = l.precision;
    c.enabled = l.convert;
    c.nan_to_zero = l.nan_to_zero;
    c.offset = l.offset;
    c.scale = l.scale;
    c.truncate = l.truncate;
    c.pad = l.pad_value;
    return c;
}

std::uint16_t Converter::element(std::uint16_t raw, std::int16_t operand, bool is_unsigned) const
{
    if (words && input == 2) return raw;
    std::int32_t x;
    if (input8()) x = is_unsigned ? raw & 0xff : static_cast<std::int8_t>(raw);
    else x = is_unsigned ? raw : static_cast<std::int16_t>(raw);
    return cell(x, operand);
}

std::uint16_t Converter::cell(std::int32_t x, std::int16_t operand) const
{
    const std::int64_t product = std::int64_t{x - operand} * scale;
    const std::int32_t s = truncate >= kProductBits ? 0 : saturate(shift_round(product, truncate), 17);
    if (precision == 1) return static_cast<std::uint16_t>(saturate(s, 16));
    if (precision == 0 || !words) return static_cast<std::uint16_t>(saturate(s, 8) & (words ? 0xff : 0xffff));
    return integer_to_fp16(s);
}

void Converter::bytes(const std::uint8_t* from, std::uint8_t* to, std::uint32_t count, std::uint32_t& nans, std::uint32_t& infs) const
{
    if (input8()) {
        for (std::uint32_t i = 0; i < count; ++i) to[i] = enabled ? static_cast<std::uint8_t>(element(from[i], offset, false)) : from[i];
        return;
    }
    for (std::uint32_t i = 0; i + 1 < count; i += 2) {
        std::uint16_t h = load16(from + i);
        if (input == 2 && fp16_is_special(h)) {
            if (fp16_is_nan(h)) {
                ++nans;
                if (nan_to_zero) h = 0;
            } else {
                ++infs;
            }
        }
        store16(to + i, enabled ? element(h, offset, false) : h);
    }
}

void BeatConverter::beat(const ConverterBeat& in, ConverterWrite& out, std::uint32_t& nans, std::uint32_t& infs)
{
    const Converter& c = converter_;
    const bool in8 = c.input8(), out8 = c.output8();
    const bool normal = in8 == out8, expand = in8 && !out8, shrink = out8 && !in8;
    std::uint8_t data[128];
    std::memcpy(data, in.data, sizeof data);
    if (c.input == 2) {
        for (unsigned k = 0; k < 32; ++k) {
            const std::uint16_t h = load16(data + 2 * k);
            if (!fp16_is_special(h)) continue;
            if (in.atoms >> (k / 16) & 1) ++(fp16_is_nan(h) ? nans : infs);
            if (c.nan_to_zero && fp16_is_nan(h)) store16(data + 2 * k, 0);
        }
    }
    const bool pairs = shrink && !(in.atoms & 0xc);
    const bool release = pairs && held_, hold = pairs && !held_ && !in.fill64 && !in.fill128;
    const auto atom = [&](unsigned k) { return (in.atoms >> k & 1) != 0; };

    // Values
    std::uint8_t result[128] = {};
    if (!c.enabled) {
        std::memcpy(result, data, sizeof result);
    } else {
        for (unsigned k = 0; k < 64; ++k) {
            const std::uint16_t raw = in8 ? data[k] : load16(data + 2 * k);
            const std::uint16_t e = c.element(raw, in.mean ? in.mean[k] : c.offset, in.is_unsigned);
            if (out8) result[k] = static_cast<std::uint8_t>(e);
            else store16(result + 2 * k, e);
        }
    }
    // Masks in output bytes
    std::uint8_t pad[128] = {};
    if (in.pad_mask) {
        if (normal) std::memcpy(pad, in.pad_mask, sizeof pad);
        else if (expand)
            for (unsigned k = 0; k < 128; ++k) pad[k] = in.pad_mask[k / 2];
        else
            for (unsigned k = 0; k < 64; ++k) pad[k] = in.pad_mask[2 * k];
    }
    const auto put_padding = [&](std::uint8_t* to, const std::uint8_t* mask, unsigned count) {
        for (unsigned k = 0; k < count; ++k)
            if (mask[k]) to[k] = static_cast<std::uint8_t>(out8 || k % 2 == 0 ? c.pad : c.pad >> 8);
    };
    if (hold) {
        put_padding(result, pad, 32);
        std::memcpy(held_data_, result, 32);
        held_ = true;
        held_high_ = in.high;
        held_entry_ = in.entry;
        out.halves = 0;
        return;
    }
    bool granule[8];
    for (unsigned k = 0; k < 8; ++k) {
        if (release) granule[k] = k < 2 || (k < 4 && atom(k - 2));
        else if (shrink) granule[k] = k < 4 && atom(k);
        else if (expand) granule[k] = atom(k / 4);
        else granule[k] = atom(k / 2);
    }
    bool high = in.high;
    out.entry = in.entry;
    if (release) {
        held_ = false;
        high = held_high_;
        out.entry = held_entry_;
        std::uint8_t both[128] = {};
        std::memcpy(both, held_data_, 32);
        std::memcpy(both + 32, result, 32);
        std::memcpy(result, both, sizeof both);
        std::memmove(pad + 32, pad, 32);
        std::memset(pad, 0, 32);
        std::memset(pad + 64, 0, 64);
    }
    put_padding(result, pad, 128);
    for (unsigned k = 0; k < 8; ++k)
        if (!granule[k]) std::memset(result + 16 * k, 0, 16);
    if (high) {
        std::memset(out.data, 0, 64);
        std::memcpy(out.data + 64, result, 64);
    } else {
        std::memcpy(out.data, result, 128);
    }
    const bool upper = high || (normal && atom(2)) || (expand && atom(1)) || in.fill128;
    out.halves = (high ? 0u : 1u) | (upper ? 2u : 0u);
}

}  // namespace dlasim::cdma
