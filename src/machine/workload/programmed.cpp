#include "workload/programmed.h"

#include "registers/fields/bdma.h"
#include "registers/fields/groups.h"

namespace dlasim {

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

ProgrammedUnit::ProgrammedUnit(const UnitRegisters& registers)
    : registers_(&registers), groups_{RegisterGroup(registers), RegisterGroup(registers)}
{
}

ProgrammedUnit::Effect ProgrammedUnit::take(const RegisterWrite& write, std::size_t entry)
{
    if (!registers_->has(write.address)) return Effect::None;
    const std::uint32_t offset = write.address % UnitRegisters::kWindow;
    const RegisterRow* row = registers_->find(offset);
    if (!row) return Effect::None;
    if (registers_->has_groups() && offset == registers_->group_start)
        return reg::groups::D_OP_ENABLE::OP_EN.get(write.value) ? Effect::Launch : Effect::Value;
    const std::uint32_t value = write.value & row->write_mask;
    if (registers_->grouped(offset)) groups_[producer_].set(offset, value, entry);
    else
        for (RegisterGroup& group : groups_) group.set(offset, value, entry);
    if (registers_->has_groups()) {
        if (offset == reg::groups::S_POINTER) producer_ = reg::groups::S_POINTER::PRODUCER.get(write.value);
        return Effect::Value;
    }
    using namespace reg::bdma;
    const bool launches = registers_->name == "BDMA" && (offset == CFG_LAUNCH0 || offset == CFG_LAUNCH1);
    return launches && CFG_LAUNCH0::GRP0_LAUNCH.get(write.value) ? Effect::Launch : Effect::Value;
}

}  // namespace dlasim
