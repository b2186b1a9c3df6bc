// Measures an accelerator that runs in somebody else's simulation: it looks when a cycle is over that a report begins or ends with.
//
//   mark(cycle), interrupts ──► Window ──► look, the last moment before the next edge ──► read(): as of a run
//
// It never calls the machine but to ask, so nothing that it does changes a cycle.
#pragma once
#include <optional>
#include <systemc>

#include "platform/window.h"

namespace dlasim {

class Meter final : public sc_core::sc_module {
public:
    /// `causes`: finds what the cycles go to. pre: both live longer
    Meter(const sc_core::sc_module_name& name, Clock& clock, Top& top, bool causes);

    /// Counting begins after this cycle: one that has not run, or the last that has.
    void mark(Cycle at);
    /// The machine is held in reset, and as after power-on: nothing has been counted.
    void hold();
    /// Its cycle 0 comes.
    void release();
    /// Nothing more will be asked about causes until the next mark.
    void rest() { resting_ = true; }
    /// What has been counted since the mark, to the end of the last interrupt after it or, without one, of the last cycle; or of
    /// that in any case. Nothing under reset and of a machine that has failed.
    RunResult read(bool to_interrupt);
    /// Null without causes.
    CriticalPathRecorder* path() { return path_ ? &*path_ : nullptr; }

private:
    void start_of_simulation() override;
    Snapshot take(Cycle end);
    void begin();
    void look();
    void schedule();

    Clock& clock_;
    Top& top_;
    const bool causes_;
    Window window_;
    std::optional<CriticalPathRecorder> path_;
    Cycle mark_ = 0;
    bool resting_ = false;
    sc_core::sc_event due_{"due"};
};

}  // namespace dlasim
