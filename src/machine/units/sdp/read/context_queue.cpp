#include "units/sdp/read/context_queue.h"

#include <algorithm>

namespace dlasim::sdp {

bool ContextQueue::ready(Cycle at)
{
    while (!freed_.empty() && freed_.front() <= at) freed_.pop_front();
    return pushed_.size() + freed_.size() < entries_ + !pushed_.empty();
}

void ContextQueue::push(Cycle at)
{
    if (pushed_.empty()) move(at + kWay);
    pushed_.push_back(at);
}

void ContextQueue::pop(Cycle at)
{
    pushed_.pop_front();
    if (!pushed_.empty()) move(std::max(pushed_.front() + kWay, at));
}

void ContextQueue::move(Cycle at)
{
    moved_ = at;
    freed_.push_back(at + kRelease);
}

}  // namespace dlasim::sdp
