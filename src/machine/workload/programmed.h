// The registers of a unit as a program has written them, without a machine: both groups, reset values where nothing was written, and the
// program entry of every write. Programming rules, the operations of a program and the driver's descriptors are all read from these.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "registers/field.h"
#include "registers/tables.h"
#include "workload/program.h"

namespace dlasim {

/// Values of one register group (and of the single registers) at one time.
class RegisterGroup {
public:
    explicit RegisterGroup(const UnitRegisters& unit);

    std::uint32_t get(std::uint32_t offset) const { return offset / 4 < values_.size() ? values_[offset / 4] : 0; }
    std::uint32_t get(reg::Register at) const { return get(at.offset); }
    std::uint32_t get(reg::Field field) const { return field.get(get(field.offset)); }
    std::int32_t get_signed(reg::Field field) const { return field.get_signed(get(field.offset)); }
    /// An address in two registers.
    std::uint64_t wide(reg::Register high, reg::Register low) const { return std::uint64_t{get(high)} << 32 | get(low); }
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

/// Both groups of a unit, and the one that is written. BDMA has one.
class ProgrammedUnit {
public:
    enum class Effect : std::uint8_t { None, Value, Launch };

    explicit ProgrammedUnit(const UnitRegisters& registers);

    /// None of a write to another unit.
    Effect take(const RegisterWrite& write, std::size_t entry);
    const RegisterGroup& group() const { return groups_[producer_]; }
    unsigned producer() const { return producer_; }
    const UnitRegisters& registers() const { return *registers_; }

private:
    const UnitRegisters* registers_;
    std::array<RegisterGroup, 2> groups_;
    unsigned producer_ = 0;
};

}  // namespace dlasim
