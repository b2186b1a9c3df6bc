#include <deque>
#include <vector>

#include "facts/presets.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

/// nv_full's, for an array of other width. [spec] programming.md 3: D_WEIGHT_BYTES and D_WMB_BYTES are whole entries.
class Scaled {
public:
    explicit Scaled(std::uint32_t entry_bytes)
    {
        for (UnitRegisters unit : full_units()) {
            std::vector<RegisterRow>& rows = rows_.emplace_back(unit.rows.begin(), unit.rows.end());
            for (RegisterRow& row : rows)
                if (row.name == "D_WEIGHT_BYTES" || row.name == "D_WMB_BYTES") {
                    const std::uint32_t more =
                        find_preset("nv_full")->cbuf.entry_bytes - entry_bytes;  // bits from an entry up to nv_full's
                    row.read_mask |= more;
                    row.write_mask |= more;
                }
            unit.rows = rows;
            units_.push_back(unit);
        }
    }
    std::span<const UnitRegisters> units() const { return units_; }

private:
    std::deque<std::vector<RegisterRow>> rows_;
    std::vector<UnitRegisters> units_;
};

}  // namespace

std::span<const UnitRegisters> register_units(const Hardware& hardware)
{
    if (!hardware.full()) return configurable_units();
    static const std::uint32_t own = find_preset("nv_full")->cbuf.entry_bytes;
    if (hardware.cbuf.entry_bytes >= own) return full_units();
    static const Scaled half(own / 2);
    return half.units();
}

}  // namespace dlasim
