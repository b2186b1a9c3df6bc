// The registers of all units of a machine as a program writes them, both groups, and the entries of the lookup tables.
#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "loadable/write/recovery.h"
#include "registers/field.h"
#include "registers/fields/groups.h"
#include "registers/lut_fields.h"

namespace dlasim::loadable {

class UnitState {
public:
    explicit UnitState(const UnitRegisters& unit) : unit_(unit)
    {
        for (auto& words : groups_) words.assign(UnitRegisters::kWindow / 4, 0);
        for (const RegisterRow& row : unit.rows)
            for (auto& words : groups_) words[row.offset / 4] = row.reset;
    }

    /// True for an enable.
    bool write(std::uint32_t offset, std::uint32_t value)
    {
        if (!unit_.has_groups() || offset < unit_.group_start) {
            for (auto& words : groups_) words[offset / 4] = value;
            if (unit_.has_groups() && offset == reg::groups::S_POINTER) pointer_ = value & 1;
            return false;
        }
        groups_[pointer_][offset / 4] = value;
        return offset == unit_.group_start;
    }
    std::uint32_t word(std::uint32_t offset) const { return groups_[pointer_][offset / 4]; }
    std::uint32_t get(reg::Register at) const { return word(at.offset); }
    std::uint32_t get(reg::Field field) const { return field.get(word(field.offset)); }
    std::int32_t get_signed(reg::Field field) const { return field.get_signed(word(field.offset)); }
    std::uint64_t wide(reg::Register high, reg::Register low) const { return std::uint64_t{get(high)} << 32 | get(low); }

    /// The registers of the group that is written.
    void keep(std::vector<WrittenRegister>& in) const
    {
        for (const RegisterRow& row : unit_.rows)
            if (unit_.grouped(row.offset) && row.offset != unit_.group_start && row.write_mask != 0)
                in.push_back({&unit_, &row, word(row.offset) & row.write_mask});
    }

private:
    const UnitRegisters& unit_;
    std::array<std::vector<std::uint32_t>, 2> groups_;
    unsigned pointer_ = 0;
};

/// Lookup tables of SDP or CDP: they are in neither group.
class TableState {
public:
    void write(std::uint32_t offset, std::uint32_t value)
    {
        using namespace reg::sdp;  // CDP's are the same
        if (offset == S_LUT_ACCESS_CFG) {
            lo_ = S_LUT_ACCESS_CFG::LUT_TABLE_ID.get(value) != 0;
            at_ = S_LUT_ACCESS_CFG::LUT_ADDR.get(value);
        } else if (offset == S_LUT_ACCESS_DATA) {
            const auto entry = static_cast<std::int16_t>(S_LUT_ACCESS_DATA::LUT_DATA.get(value));
            if (lo_ && at_ < table_.lo.size()) table_.lo[at_] = entry;
            if (!lo_ && at_ < table_.le.size()) table_.le[at_] = entry;
            ++at_;
        }
    }
    LookupTable table(const UnitState& unit, std::span<const reg::LutTable> at) const
    {
        using namespace reg::sdp;
        LookupTable t = table_;
        t.method = static_cast<std::uint8_t>(unit.get(S_LUT_CFG::LUT_LE_FUNCTION));
        t.underflow_priority = static_cast<std::uint8_t>(unit.get(S_LUT_CFG::LUT_UFLOW_PRIORITY));
        t.overflow_priority = static_cast<std::uint8_t>(unit.get(S_LUT_CFG::LUT_OFLOW_PRIORITY));
        t.hybrid_priority = static_cast<std::uint8_t>(unit.get(S_LUT_CFG::LUT_HYBRID_PRIORITY));
        t.le_offset = static_cast<std::int8_t>(unit.get(t.method == 0 ? S_LUT_INFO::LUT_LE_INDEX_OFFSET : S_LUT_INFO::LUT_LE_INDEX_SELECT));
        t.lo_select = static_cast<std::int8_t>(unit.get(S_LUT_INFO::LUT_LO_INDEX_SELECT));
        const auto limit = [&](reg::Register low, reg::Field high) {
            return unit.get(low) | (high.width != 0 ? std::uint64_t{unit.get(high)} << 32 : 0);
        };
        t.le_start = limit(at[0].start, at[0].start_high);
        t.le_end = limit(at[0].end, at[0].end_high);
        t.lo_start = limit(at[1].start, at[1].start_high);
        t.lo_end = limit(at[1].end, at[1].end_high);
        const auto slope = [&](reg::Field scale, reg::Field shift) {
            return Slope{static_cast<std::int16_t>(unit.get_signed(scale)), static_cast<std::int8_t>(unit.get_signed(shift))};
        };
        t.le_underflow = slope(at[0].underflow_scale, at[0].underflow_shift);
        t.le_overflow = slope(at[0].overflow_scale, at[0].overflow_shift);
        t.lo_underflow = slope(at[1].underflow_scale, at[1].underflow_shift);
        t.lo_overflow = slope(at[1].overflow_scale, at[1].overflow_shift);
        return t;
    }

private:
    LookupTable table_;
    bool lo_ = false;
    std::size_t at_ = 0;
};

}  // namespace dlasim::loadable
