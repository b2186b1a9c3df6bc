// A register block without a data path: CFGROM. Registers are stored and read back; nothing
// ever runs.
#pragma once
#include <string>

#include "links/core.h"
#include "registers/register_file.h"

namespace dlasim {

class PassiveCore final : public Core {
public:
    PassiveCore(const UnitRegisters& unit, CsbLink& csb) : registers_(unit, csb) {}

    void advance(Cycle to) override { registers_.advance(to); }
    Cycle horizon() const override { return registers_.horizon(); }
    UnitReport report(Cycle end) override
    {
        PhaseLog gated;
        gated.account_until(end);
        return {std::string(registers_.unit().name), gated};
    }
    std::string waiting_for() const override { return registers_.enabled() ? "was enabled, and has no data path in this machine" : "idle"; }

private:
    RegisterFile registers_;
};

}  // namespace dlasim
