// The asynchronous FIFO in front of the register bus: which cycle a request is accepted in, and when
// it leaves for its unit. Its timing depends on the requests before it alone, so it is computed when
// a request is offered, and nothing runs while the bus is idle.
//
//   offered (valid held) ─► input register ─► 4-entry FIFO ─► unit port U = push + 7
//
// Source  csb.md 2.1, 2.3. Error: 0 cycles on every measured accept pattern (tests/unit/csb_test).
#pragma once
#include <array>

#include "base/cycle.h"

namespace dlasim {

class RequestQueue {
public:
    struct Passage {
        Cycle accepted;  // valid and ready at the port
        Cycle pushed;    // into the FIFO
    };
    /// A request is offered from cycle `offered` on, later than the last was accepted.
    Passage offer(Cycle offered);

private:
    static constexpr std::array<Cycle, 9> none()
    {
        std::array<Cycle, 9> all{};
        all.fill(kNever);
        return all;
    }
    void step(bool valid);  // one cycle of the ready logic
    bool idle() const { return !register_full_ && count_ == 0 && !busy_ && !full_; }

    Cycle now_ = 0;  // next cycle to be evaluated
    bool register_full_ = false, full_ = false, busy_ = false;
    unsigned count_ = 0;
    std::array<Cycle, 9> pushes_ = none();  // the last pushes, oldest first; kNever where there is none
    bool accepted_ = false;
};

}  // namespace dlasim
