#include "units/sdp/banks.h"

namespace dlasim::sdp {

/// The multiplication adds the bytes up.
unsigned Banks::missing(unsigned banks) const { return (kSpread[banks] & ~filled()) * kEvery >> 24; }

bool Banks::clock(unsigned pushed, unsigned popped)
{
    const std::uint32_t were_empty = ~filled() & kEvery, went = go_;
    held_ += kSpread[pushed];
    held_ -= kSpread[popped];
    // A bank of four is full when bit 2 of its count is set.
    go_ = stalls_ ? kSpread[popped] | were_empty : ~(held_ >> 2) & kEvery;
    return pushed != popped || go_ != went;
}

}  // namespace dlasim::sdp
