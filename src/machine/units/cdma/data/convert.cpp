#include "units/cdma/data/convert.h"

#include <cstring>

#include "numerics/fp.h"
#include "numerics/rounding.h"

namespace dlasim::cdma {

using numerics::Fp16;

namespace {

std::uint16_t load16(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] | p[1] << 8); }
void store16(std::uint8_t* p, std::uint16_t v)
{
    p[0] = static_cast<std::uint8_t>(v);
    p[1] = static_cast<std::uint8_t>(v >> 8);
}

constexpr unsigned kProductBits = 34;  // a shift beyond them gives 0

}  // namespace

Converter Converter::of(const LayerConfig& l, bool words)
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
    const std::int64_t s = truncate >= kProductBits ? 0 : numerics::shift_right(product, truncate, 17);
    if (precision == 1) return static_cast<std::uint16_t>(numerics::saturate(s, 16));
    if (precision == 0 || !words) return static_cast<std::uint16_t>(numerics::saturate(s, 8) & (words ? 0xff : 0xffff));
    return numerics::int17_to_fp16(static_cast<std::int32_t>(s));
}

void Converter::bytes(const std::uint8_t* from, std::uint8_t* to, std::uint32_t count, std::uint32_t& nans, std::uint32_t& infs) const
{
    if (input8()) {
        for (std::uint32_t i = 0; i < count; ++i) to[i] = enabled ? static_cast<std::uint8_t>(element(from[i], offset, false)) : from[i];
        return;
    }
    for (std::uint32_t i = 0; i + 1 < count; i += 2) {
        std::uint16_t h = load16(from + i);
        if (input == 2 && Fp16::is_special(h)) {
            if (Fp16::is_nan(h)) {
                ++nans;
                if (nan_to_zero) h = 0;
            } else {
                ++infs;
            }
        }
        store16(to + i, enabled ? element(h, offset, false) : h);
    }
}

/// What is converted of a beat; of fp16 NaNs and infinities are counted, and NaNs flushed if they are to be.
void BeatConverter::convert(const ConverterBeat& in, std::uint8_t* result, std::uint32_t& nans, std::uint32_t& infs) const
{
    const Converter& c = converter_;
    std::uint8_t data[128];
    std::memcpy(data, in.data, sizeof data);
    if (c.input == 2) {
        for (unsigned k = 0; k < 32; ++k) {
            const std::uint16_t h = load16(data + 2 * k);
            if (!Fp16::is_special(h)) continue;
            if (in.atoms >> (k / 16) & 1) ++(Fp16::is_nan(h) ? nans : infs);
            if (c.nan_to_zero && Fp16::is_nan(h)) store16(data + 2 * k, 0);
        }
    }
    if (!c.enabled) {
        std::memcpy(result, data, sizeof data);
        return;
    }
    for (unsigned k = 0; k < 64; ++k) {
        const std::uint16_t raw = c.input8() ? data[k] : load16(data + 2 * k);
        const std::uint16_t e = c.element(raw, in.mean ? in.mean[k] : c.offset, in.is_unsigned);
        if (c.output8()) result[k] = static_cast<std::uint8_t>(e);
        else store16(result + 2 * k, e);
    }
}

void BeatConverter::beat(const ConverterBeat& in, ConverterWrite& out, std::uint32_t& nans, std::uint32_t& infs)
{
    const Converter& c = converter_;
    const bool in8 = c.input8(), out8 = c.output8();
    const bool normal = in8 == out8, expand = in8 && !out8, shrink = out8 && !in8;
    const bool pairs = shrink && !(in.atoms & 0xc);
    const bool release = pairs && held_, hold = pairs && !held_ && !in.fill64 && !in.fill128;
    const auto atom = [&](unsigned k) { return (in.atoms >> k & 1) != 0; };

    std::uint8_t result[128] = {};
    convert(in, result, nans, infs);
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
