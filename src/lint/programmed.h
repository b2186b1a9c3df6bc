// The registers of a unit as a program has written them, without a machine: both groups, reset values where nothing was written, and the
// program entry of every write.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "registers/field.h"
#include "registers/tables.h"

namespace dlasim::lint {

/// Values of one register group (and of the single registers) at one time.
class RegisterGroup {
public:
    explicit RegisterGroup(const UnitRegisters& unit);

    std::uint32_t get(std::uint32_t offset) const { return offset / 4 < values_.size() ? values_[offset / 4] : 0; }
    std::uint32_t get(reg::Field field) const { return field.get(get(field.offset)); }
    /// Entry of the program that wrote it last; none: it has its reset value.
    std::optional<std::size_t> entry(std::uint32_t offset) const;
    void set(std::uint32_t offset, std::uint32_t value, std::size_t entry);

    const UnitRegisters& unit() const { return *unit_; }
    /// UNIT.REGISTER
    std::string name(std::uint32_t offset) const;

private:
    const UnitRegisters* unit_;
    std::vector<std::uint32_t> values_;   // by offset / 4
    std::vector<std::uint32_t> entries_;  // entry + 1; 0: reset value
};

}  // namespace dlasim::lint
