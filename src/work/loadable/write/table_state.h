// The entries of a lookup table as a program writes them.
#pragma once
#include <span>

#include "loadable/descriptors.h"
#include "registers/lut_fields.h"
#include "workload/programmed.h"

namespace dlasim::loadable {

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
    LookupTable table(const RegisterGroup& unit, std::span<const reg::LutTable> at) const
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
