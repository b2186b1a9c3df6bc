// The converter: what happens to an input element on its way into the buffer.
//
//   x ─► - (offset or mean) ─► * scale ─► >> truncate, rounded, to 17 bits ─► saturate or fp16
//
// Shapes  elements are bit patterns: 8 or 16 bits in, 8 or 16 bits out.
// Source  cdma.md 9.
#pragma once
#include <cstdint>

#include "units/cdma/layer.h"

namespace dlasim::cdma {

struct Converter {
    std::uint32_t input = 0;      // precision of the input: 0 int8, 1 int16, 2 fp16
    std::uint32_t precision = 0;  // of the result
    bool enabled = false, nan_to_zero = false, words = false;
    std::int16_t offset = 0, scale = 0;
    std::uint32_t truncate = 0;
    std::uint16_t pad = 0;

    static Converter of(const LayerConfig& layer, bool words);

    bool input8() const { return !words || input == 0; }
    bool output8() const { return !words || precision == 0; }
    /// Elements pass as they are.
    bool transparent() const { return !enabled && !(words && input == 2); }

    /// One element: bit pattern in, bit pattern out (int8: low byte). `operand` is the offset or the element's mean.
    std::uint16_t element(std::uint16_t raw, std::int16_t operand, bool is_unsigned) const;
    /// The arithmetic of element(): x is the extended input.
    std::uint16_t cell(std::int32_t x, std::int16_t operand) const;
    /// `count` bytes of elements of one width in and out, with the offset as operand; counts NaN and Inf of the input.
    void bytes(const std::uint8_t* from, std::uint8_t* to, std::uint32_t count, std::uint32_t& nans, std::uint32_t& infs) const;
};

/// A 64-byte beat at the converter input, and what leaves for the buffer. nv_full only. cdma.md 9.4, 9.5.
struct ConverterBeat {
    const std::uint8_t* data = nullptr;      // 128 bytes
    const std::int16_t* mean = nullptr;      // 64 elements, or null: the offset
    const std::uint8_t* pad_mask = nullptr;  // 128 bytes of 0 or 1, or null
    std::uint32_t atoms = 0;                 // valid-atom bits
    bool is_unsigned = false, fill64 = false, fill128 = false;
    bool high = false;  // half of the entry
    std::uint32_t entry = 0;
};
struct ConverterWrite {
    std::uint32_t entry = 0;
    std::uint32_t halves = 0;  // 0: the beat is held
    std::uint8_t data[128];
};

/// The converter with its memory: 16-bit input for int8 processing is packed from pairs of beats.
class BeatConverter {
public:
    void start(const Converter& converter)
    {
        converter_ = converter;
        held_ = false;
    }
    const Converter& converter() const { return converter_; }
    void beat(const ConverterBeat& in, ConverterWrite& out, std::uint32_t& nans, std::uint32_t& infs);

private:
    void convert(const ConverterBeat& in, std::uint8_t* result, std::uint32_t& nans, std::uint32_t& infs) const;

    Converter converter_;
    bool held_ = false, held_high_ = false;
    std::uint32_t held_entry_ = 0;
    std::uint8_t held_data_[32] = {};
};

}  // namespace dlasim::cdma
