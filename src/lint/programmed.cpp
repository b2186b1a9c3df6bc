#include "lint/programmed.h"

namespace dlasim::lint {

RegisterGroup::RegisterGroup(const UnitRegisters& unit) : unit_(&unit)
{
    for (const RegisterRow& row : unit.rows) {
        if (row.offset / 4 >= values_.size()) values_.resize(row.offset / 4 + 1);
        values_[row.offset / 4] = row.reset;
    }
    entries_.resize(values_.size());
}

std::optional<std::size_t> RegisterGroup::entry(std::uint32_t offset) const
{
    if (offset / 4 >= entries_.size() || entries_[offset / 4] == 0) return std::nullopt;
    return entries_[offset / 4] - 1;
}

void RegisterGroup::set(std::uint32_t offset, std::uint32_t value, std::size_t entry)
{
    if (offset / 4 >= values_.size()) return;
    values_[offset / 4] = value;
    entries_[offset / 4] = static_cast<std::uint32_t>(entry + 1);
}

std::string RegisterGroup::name(std::uint32_t offset) const
{
    const RegisterRow* row = unit_->find(offset);
    return std::string(unit_->name) + "." + (row ? std::string(row->name) : std::to_string(offset));
}

}  // namespace dlasim::lint
