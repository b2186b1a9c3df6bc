#include "units/sdp/read/operands.h"

namespace dlasim::sdp {

void OperandReader::start(const ReadLayer& layer)
{
    layer_ = layer;
    alu_done_ = !layer.uses_alu();
    mul_done_ = !layer.uses_mul();
    running_ = true;
    written_ = 0;
}

bool OperandReader::ends()
{
    const bool now = running_ && alu_done_ && mul_done_;
    if (now) running_ = false;
    return now;
}

bool OperandReader::leave(Cycle at)
{
    if (++written_ != requests_.front()) return false;
    written_ = 0;
    ++used_;
    requests_.pop_front();
    front_.context_done(at);
    return true;
}

}  // namespace dlasim::sdp
