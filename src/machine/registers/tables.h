// The register maps of both generations as data: names, offsets, masks, resets.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "facts/hardware.h"
#include "registers/field.h"

namespace dlasim {

struct RegisterRow {
    std::string_view name;
    std::uint32_t offset;      // bytes in the unit's window
    std::uint32_t read_mask;   // bits that read back
    std::uint32_t write_mask;  // bits that a write stores
    std::uint32_t reset;
};

/// A field of a register by name, for people: code uses registers/fields.
struct FieldRow {
    std::string_view name;
    reg::Field field;
};

inline constexpr std::uint32_t kNoGroups = UINT32_MAX;

struct UnitRegisters {
    std::string_view name;      // CDMA, SDP_RDMA ...
    std::uint32_t base;         // byte address of the unit's window
    std::uint32_t group_start;  // first offset of the duplicated registers; kNoGroups if there are none
    std::span<const RegisterRow> rows;
    std::span<const FieldRow> fields;  // by offset and bit, of both generations; none of a register that is one number

    static constexpr std::uint32_t kWindow = 0x1000;  // bytes
    /// A byte address of its window on the bus.
    bool has(std::uint64_t address) const { return address / kWindow == base / kWindow; }
    bool has_groups() const { return group_start != kNoGroups; }
    /// A register at that offset is duplicated.
    bool grouped(std::uint32_t offset) const { return has_groups() && offset >= group_start; }
    const RegisterRow* find(std::uint32_t offset) const
    {
        for (const RegisterRow& row : rows)
            if (row.offset == offset) return &row;
        return nullptr;
    }
    const RegisterRow* find(std::string_view register_name) const
    {
        for (const RegisterRow& row : rows)
            if (row.name == register_name) return &row;
        return nullptr;
    }
};

// Generated.
std::span<const UnitRegisters> full_units();
std::span<const UnitRegisters> configurable_units();

/// As the hardware has them: sizes in whole entries of CBUF drop the bits below an entry.
std::span<const UnitRegisters> register_units(const Hardware& hardware);

inline const UnitRegisters* find_unit(const Hardware& hardware, std::string_view name)
{
    for (const UnitRegisters& unit : register_units(hardware))
        if (unit.name == name) return &unit;
    return nullptr;
}

/// Byte address of UNIT.REGISTER on the register bus of that generation; empty if there is none.
inline std::optional<std::uint32_t> register_address(const Hardware& hardware, std::string_view name)
{
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const UnitRegisters* unit = find_unit(hardware, name.substr(0, dot));
    if (!unit) return std::nullopt;
    const RegisterRow* row = unit->find(name.substr(dot + 1));
    if (!row) return std::nullopt;
    return unit->base + row->offset;
}

}  // namespace dlasim
