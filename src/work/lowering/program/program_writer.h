// Writes a register program for one machine by the names of its registers.
#pragma once
#include "facts/csb.h"
#include "facts/hardware.h"
#include "lowering/program/register_writer.h"
#include "registers/tables.h"
#include "workload/program.h"

namespace dlasim {

/// pre: the machine has the register
inline std::uint32_t program_address(const Hardware& hardware, const std::string& name)
{
    const std::size_t dot = name.find('.');
    const UnitRegisters* unit = find_unit(hardware, name.substr(0, dot));
    return unit->base + unit->find(std::string_view(name).substr(dot + 1))->offset;
}

class ProgramWriter {
public:
    ProgramWriter(const Hardware& hardware, Program& program) : hw_(hardware), program_(program) {}

    /// What every program begins with: CBUF is flushed, and no interrupts but these reach the pin.
    void begin(std::uint32_t interrupts)
    {
        poll("CDMA.S_CBUF_FLUSH_STATUS", 1);
        write("GLB.S_INTR_MASK", facts::csb::kEveryInterrupt & ~interrupts);
    }
    void write(const std::string& name, std::uint32_t value) { program_.push_back(RegisterWrite{name, program_address(hw_, name), value}); }
    void write(const std::vector<RegisterValue>& values)
    {
        for (const RegisterValue& value : values)
            program_.push_back(RegisterWrite{value.name(), value.unit->base + value.row->offset, value.value});
    }
    void write(const PassRegisters& registers)
    {
        write(registers.writes);
        write(registers.enables);
    }
    /// To be written when all of it is there.
    RegisterWriter unit(std::string_view name) const
    {
        RegisterWriter out(hw_);
        out.unit(name);
        return out;
    }
    void poll(const std::string& name, std::uint32_t value)
    {
        program_.push_back(PollRegister{name, program_address(hw_, name), value, value});
    }
    void read(const std::string& name) { program_.push_back(RegisterRead{name, program_address(hw_, name)}); }
    void add(const ProgramEntry& entry) { program_.push_back(entry); }

private:
    const Hardware& hw_;
    Program& program_;
};

}  // namespace dlasim
