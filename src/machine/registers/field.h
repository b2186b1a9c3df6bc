// A register and the fields of its word, as the generated headers in registers/fields list them for every unit: D_BANK is the register,
// D_BANK::DATA_BANK one of its fields. No position of a bit is typed anywhere else (tests/tidy).
//
// A field is as wide as the wider of the two generations has it: what a machine stores of it, the mask of its register says
// (registers/tables.h). Addresses, strides and sizes whose low bits are not stored keep their position, from bit 0 on.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/expects.h"

namespace dlasim::reg {

struct Register {
    std::uint32_t offset;  // bytes in the unit's window
    constexpr operator std::uint32_t() const { return offset; }
};

struct FieldValue;

struct Field {
    std::uint16_t offset;  // of its register
    std::uint8_t lsb, width;
    bool operator==(const Field&) const = default;

    constexpr std::uint32_t max_value() const { return std::numeric_limits<std::uint32_t>::max() >> (32 - width); }
    constexpr std::uint32_t get(std::uint32_t word) const { return word >> lsb & max_value(); }
    /// Of a field that holds a two's complement.
    constexpr std::int32_t get_signed(std::uint32_t word) const
    {
        return static_cast<std::int32_t>(get(word) << (32 - width)) >> (32 - width);
    }

    /// Of negative values the two's complement fits.
    constexpr bool fits(std::int64_t value) const
    {
        return value <= std::int64_t{max_value()} && value >= -(std::int64_t{max_value()} / 2) - 1;
    }
    /// The low bits of the value, in their place in the word.
    constexpr std::uint32_t cut(std::int64_t value) const { return (static_cast<std::uint32_t>(value) & max_value()) << lsb; }
    /// pre: fits(value)
    constexpr std::uint32_t put(std::int64_t value) const
    {
        DLASIM_EXPECTS(fits(value));
        return cut(value);
    }
    /// To be written with other fields of the register: who writes checks whether it fits.
    template <std::integral T>
    constexpr FieldValue operator()(T value) const;

    /// The same field of a register of equal layout, `distance` bytes further on.
    constexpr Field operator+(std::uint32_t distance) const { return {static_cast<std::uint16_t>(offset + distance), lsb, width}; }
};

struct FieldValue {
    Field field;
    std::int64_t value;
};

template <std::integral T>
constexpr FieldValue Field::operator()(T value) const
{
    constexpr std::uint64_t kMaxValue = std::numeric_limits<std::int64_t>::max();
    if constexpr (std::is_unsigned_v<T>) return {*this, static_cast<std::int64_t>(std::min<std::uint64_t>(value, kMaxValue))};
    else return {*this, value};
}

}  // namespace dlasim::reg
