#include "units/sdp/read/requests_ahead.h"

namespace dlasim::sdp {

void RequestsAhead::start(bool pairs)
{
    pairs_ = pairs;
    even_ = true;
}

void RequestsAhead::look()
{
    moves_ = command_ && to_write_ < facts::sdp::kMrdmaCommands && to_read_ < facts::sdp::kMrdmaCommands;
    reads_ = moves_ && (!pairs_ || even_);
}

bool RequestsAhead::step(ContextQueue& contexts, Cycle at, bool written, bool read)
{
    const bool loads = (!command_ || moves_) && contexts.valid(at);
    to_write_ += moves_ - written;
    to_read_ += reads_ - read;
    if (moves_) even_ = !even_;
    command_ = loads || (command_ && !moves_);
    if (loads) contexts.pop(at);
    return loads || moves_ || contexts.arrives(at);
}

}  // namespace dlasim::sdp
