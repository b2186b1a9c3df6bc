// Arbiters.
//
// Source  fabric.md 1.5.
#pragma once
#include <bit>
#include <cstdint>

namespace dlasim::elements {

/// The first of `requests` after `last`; from 0 on where there is none. pre: requests is not 0
constexpr unsigned next_after(std::uint32_t requests, unsigned last)
{
    const std::uint32_t later = requests & (~std::uint32_t{1} << last);
    return static_cast<unsigned>(std::countr_zero(later ? later : requests));
}

/// Weighted round robin over up to 32 requesters (fabric.md 1.5). pick() decides, grant() remembers.
class WeightedRoundRobin {
public:
    /// The requester served next; `requests` is not 0.
    unsigned pick(std::uint32_t requests) const
    {
        if (left_ != 0 && (requests >> last_ & 1)) return last_;
        return fresh_ ? static_cast<unsigned>(std::countr_zero(requests)) : next_after(requests, last_);
    }
    void grant(unsigned pick, std::uint32_t weight)
    {
        left_ = !fresh_ && left_ != 0 && pick == last_ ? left_ - 1 : weight - 1;
        last_ = pick;
        fresh_ = false;
    }

private:
    unsigned last_ = 0;
    std::uint32_t left_ = 0;
    bool fresh_ = true;  // nobody has been served yet
};

}  // namespace dlasim::elements
