// GLB: the interrupt status of the machine and its pin.
//
//   unit pulses (cycle I) ─► status bit I + 2 ─► OR of unmasked bits ─► dla_intr I + 6
//   write of ones to S_INTR_STATUS: bit cleared U + 2, pin low U + 6; a set in the same cycle wins
//
// Source  csb.md 2.6, 3.
#pragma once
#include <functional>
#include <vector>

#include "links/core.h"
#include "registers/register_file.h"

namespace dlasim {

class GlbCore final : public Core {
public:
    /// `sources`: interrupt pulses of the units, S_INTR_STATUS bits to set, in the cycle at the GLB input.
    GlbCore(const Hardware& hardware, CsbLink& csb, std::vector<Pulse<std::uint32_t>*> sources);

    void advance(Cycle to) override;
    Cycle horizon() const override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void follow(WaitLogs& logs) override { logs_ = &logs; }

    Pulse<bool> pin;  // changes of dla_intr, in their cycle
    /// The pin shows, in that cycle, that an unmasked interrupt has come; it has no edge if it was high for another one's sake.
    std::function<void(Cycle)> on_interrupt;
    std::uint32_t status() const { return status_; }

    /// The done pulse of a unit: its status bits, and the cycle in which the pin can show them at the earliest.
    struct Done {
        Cycle cycle = 0;
        std::uint32_t bits = 0;
    };
    const std::vector<Done>& done() const { return done_; }

private:
    void update_pin(Cycle status_changed);
    void note_pin(std::uint32_t bits, Cycle at);

    RegisterFile registers_;
    std::vector<Pulse<std::uint32_t>*> sources_;
    std::uint32_t status_ = 0;
    std::uint32_t set_ = 0, clear_ = 0;   // strobes of this cycle's writes
    std::uint32_t cleared_together_ = 0;  // by the last write that cleared more than one bit
    bool level_ = false;
    std::vector<Done> done_;
    WaitLogs* logs_ = nullptr;
};

}  // namespace dlasim
