#include "platform/repeats/register_uses.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "registers/fields/glb.h"
#include "registers/fields/groups.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

using namespace reg::groups;
constexpr std::size_t kWords = UnitRegisters::kWindow / 4;

/// A write is an event, and what was written last is not read.
bool is_event(const UnitRegisters& unit, std::uint32_t offset)
{
    if (unit.name == "GLB") return offset == reg::glb::S_INTR_STATUS || offset == reg::glb::S_INTR_SET;
    return unit.has_groups() && (offset == S_POINTER || offset == unit.group_start);
}

}  // namespace

RegisterUses::RegisterUses(const std::vector<std::pair<std::string_view, RegisterFile*>>& files, std::uint64_t granule)
    : row_by_word_(files.size() * kWords, kNone)
{
    files_.reserve(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        files_.push_back(files[i].second);
        const UnitRegisters& unit = files_[i]->unit();
        for (const RegisterRow& row : unit.rows) {
            const AddressPart part = address_part(row.name);
            if (row.write_mask == 0 || part == AddressPart::High || is_event(unit, row.offset)) continue;
            row_by_word_[i * kWords + row.offset / 4] = rows_.size();
            const auto below = static_cast<std::uint32_t>(granule - 1);
            rows_.push_back({i, row.offset, part == AddressPart::Low ? below & row.write_mask : row.write_mask, unit.grouped(row.offset)});
        }
    }
}

std::size_t RegisterUses::unit_at(std::uint32_t address) const
{
    const auto unit = std::ranges::find_if(files_, [&](const RegisterFile* file) { return file->unit().has(address); });
    return unit == files_.end() ? kNone : static_cast<std::size_t>(unit - files_.begin());
}

std::size_t RegisterUses::row_at(std::size_t unit, std::uint32_t offset) const { return row_by_word_[unit * kWords + offset / 4]; }

RegisterUses::Contents RegisterUses::now() const
{
    Contents contents;
    contents.values.reserve(2 * rows_.size());
    for (const Row& row : rows_)
        for (const unsigned group : {0u, 1u}) contents.values.push_back(files_[row.unit]->value(row.offset, group) & row.mask);
    for (const RegisterFile* file : files_)
        contents.units.push_back({file->producer(), file->consumer(), {file->enabled(0, kNever), file->enabled(1, kNever)}});
    return contents;
}

void RegisterUses::write(Contents& contents, const RegisterWrite& write) const
{
    const std::size_t unit = unit_at(write.address);
    if (unit == kNone) return;
    const std::uint32_t offset = write.address % UnitRegisters::kWindow;
    Contents::Unit& of = contents.units[unit];
    if (files_[unit]->unit().has_groups() && offset == S_POINTER) of.producer = S_POINTER::PRODUCER.get(write.value);
    const std::size_t row = row_at(unit, offset);
    if (row == kNone) return;
    for (const unsigned group : {0u, 1u})
        if (!rows_[row].grouped || group == of.producer) contents.values[2 * row + group] = write.value & rows_[row].mask;
}

void RegisterUses::turn(Contents& contents, const GroupTurns& turns) const
{
    for (std::size_t i = 0; i < files_.size(); ++i)
        if (turns.of(files_[i]->unit().base)) contents.units[i].next ^= 1;
}

std::vector<bool> RegisterUses::asked() const
{
    std::vector<bool> asked;
    asked.reserve(2 * rows_.size());
    for (const Row& row : rows_)
        for (const unsigned group : {0u, 1u}) asked.push_back(files_[row.unit]->used(row.offset, group));
    return asked;
}

RegisterUses::Uses RegisterUses::of(Contents contents, const std::vector<bool>& asked, std::span<const ProgramEntry> part) const
{
    Uses uses{{}, std::vector<bool>(part.size(), true)};
    // the entry that wrote it, or that nobody asks any more
    constexpr std::size_t kSettled = kNone - 1;
    std::vector<std::size_t> written(2 * rows_.size(), kNone);
    const auto use = [&](std::size_t row, unsigned group) {
        const std::size_t by = std::exchange(written[2 * row + group], kSettled);
        if (by == kSettled) return;
        if (by != kNone) {
            uses.decides[by] = true;
            return;
        }
        const unsigned next = contents.units[rows_[row].unit].next;
        uses.found.push_back({row, rows_[row].grouped ? group ^ next : 0, contents.values[2 * row + group]});
    };
    const auto runs = [&](std::size_t unit, unsigned group, bool all) {
        for (std::size_t row = 0; row < rows_.size(); ++row)
            if (rows_[row].unit == unit && rows_[row].grouped && (all || asked[2 * row + group])) use(row, group);
    };
    for (std::size_t row = 0; row < rows_.size(); ++row)
        if (!rows_[row].grouped) use(row, 0);
    for (std::size_t unit = 0; unit < files_.size(); ++unit)
        for (const unsigned group : {0u, 1u})
            if (contents.units[unit].runs[group]) runs(unit, group, true);
    for (std::size_t entry = 0; entry < part.size(); ++entry) {
        const auto* write = std::get_if<RegisterWrite>(&part[entry]);
        const std::size_t unit = write ? unit_at(write->address) : kNone;
        if (unit == kNone) continue;
        this->write(contents, *write);
        const std::uint32_t offset = write->address % UnitRegisters::kWindow;
        const unsigned producer = contents.units[unit].producer;
        if (offset == files_[unit]->unit().group_start) {
            runs(unit, producer, false);
        } else if (const std::size_t row = row_at(unit, offset); row != kNone && rows_[row].grouped) {
            written[2 * row + producer] = entry;
            uses.decides[entry] = false;
        }
    }
    return uses;
}

bool RegisterUses::singles_alike(const Contents& a, const Contents& b) const
{
    for (std::size_t row = 0; row < rows_.size(); ++row)
        if (!rows_[row].grouped && a.values[2 * row] != b.values[2 * row]) return false;
    return true;
}

bool RegisterUses::found(std::span<const Use> uses, const Contents& contents) const
{
    return std::ranges::all_of(uses, [&](const Use& use) {
        const unsigned next = rows_[use.row].grouped ? contents.units[rows_[use.row].unit].next : 0;
        return contents.values[2 * use.row + (use.group ^ next)] == use.value;
    });
}

}  // namespace dlasim
