#include "units/rubik/packer.h"

namespace dlasim::rubik {

Packer::Cycle Packer::step(const Beat* issued, bool filled, unsigned sent)
{
    Cycle cycle;
    const bool ready[2]{lanes_[0].ready(), lanes_[1].ready()};
    const bool lanes_ready = ready[fill_] && (atoms_ == 1 || ready[1 - fill_]);
    for (unsigned i = 0; i < lanes_.size(); ++i) {
        const bool wanted = full_ && (atoms_ == 2 || i == fill_);
        const bool write = wanted && (atoms_ == 1 || ready[1 - i]);
        const bool read = sent == 2 || (sent == 1 && i == send_);
        cycle.changed |= lanes_[i].step(write, read);
    }
    if (sent == 1) send_ ^= 1;
    cycle.pushed = full_ && lanes_ready;
    if (cycle.pushed && atoms_ == 1) fill_ ^= 1;

    const bool pops = pipe_.valid() && filled && lanes_ready;
    cycle.block_read = pops && pipe_.head().ends_block;
    cycle.changed |= cycle.pushed || pops;
    if (lanes_ready) {
        // The count follows the pipe's output, whether it is valid or not.
        cycle.changed |= atoms_ != at_output_;
        full_ = pops;
        atoms_ = at_output_;
    }
    cycle.changed |= pipe_.step(issued, pops, false);
    if (pipe_.valid()) at_output_ = pipe_.head().atoms;
    return cycle;
}

}  // namespace dlasim::rubik
