#include "network/memory_map.h"

#include "base/bits.h"
#include "base/error.h"

namespace dlasim {

std::uint64_t Region::take(std::uint64_t bytes, const std::string& where)
{
    const std::uint64_t taken = next_;
    next_ += round_up(bytes, kAligned);
    if (next_ > end_)
        throw ConfigError(where, std::string("found ") + name_ + " that end at " + std::to_string(next_) + ", expected all below " +
                                     std::to_string(end_));
    return taken;
}

}  // namespace dlasim
