#include "lowering/program/register_writer.h"

#include "base/error.h"
#include "registers/fields/groups.h"
#include "registers/tables.h"

namespace dlasim {

std::string RegisterValue::name() const { return std::string(unit->name) + "." + std::string(row->name); }

void RegisterWriter::unit(std::string_view name) { unit_ = find_unit(hw_, name); }

void RegisterWriter::unit(std::string_view name, unsigned group)
{
    unit(name);
    put(reg::groups::S_POINTER, group);
}

void RegisterWriter::put(reg::Register at, std::uint64_t value) { write(row(at), value, held(at)); }

void RegisterWriter::put(std::initializer_list<reg::FieldValue> fields)
{
    const RegisterRow& at = row(fields.begin()->field.offset);
    std::uint32_t word = 0;
    for (const reg::FieldValue& part : fields) {
        DLASIM_EXPECTS(part.field.offset == at.offset);
        if (!part.field.fits(part.value))
            throw ConfigError(RegisterValue{unit_, &at}.name(), "found " + std::to_string(part.value) + " in bits from " +
                                                                    std::to_string(part.field.lsb) + " on, expected at most " +
                                                                    std::to_string(part.field.max_value()));
        word |= part.field.put(part.value);
    }
    write(at, word, at.write_mask);
}

std::uint32_t RegisterWriter::held(reg::Register at) const { return row(at).write_mask | (hw_.memory.atom_bytes - 1); }

void RegisterWriter::enable(std::string_view name)
{
    const UnitRegisters* unit = find_unit(hw_, name);
    out_.enables.push_back({unit, unit->find(unit->group_start), 1});
}

const RegisterRow& RegisterWriter::row(std::uint32_t offset) const
{
    const RegisterRow* row = unit_->find(offset);
    DLASIM_EXPECTS(row);
    return *row;
}

void RegisterWriter::write(const RegisterRow& row, std::uint64_t value, std::uint32_t kept)
{
    if ((value & ~std::uint64_t{kept}) != 0)
        throw ConfigError(RegisterValue{unit_, &row}.name(), "found " + std::to_string(value) +
                                                                 ", expected a value that its register can hold (mask " +
                                                                 std::to_string(row.write_mask) + ")");
    out_.writes.push_back({unit_, &row, static_cast<std::uint32_t>(value)});
}

}  // namespace dlasim
