#include "lowering/register_writer.h"

#include "base/error.h"
#include "registers/tables.h"

namespace dlasim {

void RegisterWriter::put(const char* unit, const std::string& name, std::uint64_t value)
{
    const UnitRegisters* registers = find_unit(hw_, unit);
    const RegisterRow* row = registers ? registers->find(name) : nullptr;
    const std::string full = std::string(unit) + "." + name;
    if (!row) throw ConfigError(full, hw_.name + " has no such register");
    // The atom bits of an address or stride are not stored; all others must be.
    const std::uint64_t kept = row->write_mask | (hw_.memory.atom_bytes - 1);
    if ((value & ~kept) != 0)
        throw ConfigError(full, "found " + std::to_string(value) + ", expected a value that its register can hold (mask " +
                                    std::to_string(row->write_mask) + ")");
    out_.writes.push_back({full, static_cast<std::uint32_t>(value)});
}

}  // namespace dlasim
