#include "units/pdp/completion.h"

namespace dlasim::pdp {

std::optional<unsigned> Completion::clock(const Inputs& in)
{
    std::optional<unsigned> interrupt;
    if (!groups_.empty() && ((in.acknowledged && !waiting_) || (remembered_ && done_before_))) {
        interrupt = groups_.front();
        groups_.pop_front();
    }
    if (done_) groups_.push_back(in.group);
    remembered_ = (in.acknowledged && waiting_) || (remembered_ && !done_before_);
    const bool done = (in.last_data && reader_done_) || (waiting_ && reader_done_);
    waiting_ = (in.last_data && !reader_done_) || (waiting_ && !reader_done_);
    if (in.last_data) reader_done_ = false;
    else if (in.reader_done && !in.flying) reader_done_ = true;
    else if (in.start) reader_done_ = in.flying;
    done_before_ = done_;
    done_ = done;
    return interrupt;
}

}  // namespace dlasim::pdp
