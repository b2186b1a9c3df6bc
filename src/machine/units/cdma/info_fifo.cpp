#include "units/cdma/info_fifo.h"

namespace dlasim::cdma {

bool FifoCounters::step(bool stored, bool popped, unsigned depth)
{
    const unsigned with = in_ram_ + stored;
    const bool full = !freed_ && with == depth;
    const bool read = requested_ && !(output_ && !popped);
    output_ = requested_ || (output_ && !popped);
    readable_ += static_cast<unsigned>(credit_) - static_cast<unsigned>(read);
    requested_ = readable_ > 0;
    in_ram_ = with - freed_;
    freed_ = read;
    credit_ = stored;
    return full;
}

bool ResponseFifo::step(bool offered, bool popped)
{
    if (!offered && !popped && quiet_) return false;
    const bool was = full_, stored = offered && !full_;
    full_ = FifoCounters::step(stored, popped, facts::cdma::kWeightFifo);
    quiet_ = settled() && !stored && !popped && full_ == was;
    return !quiet_;
}

}  // namespace dlasim::cdma
