// The four banks of WDMA side by side: bit or byte i belongs to bank i.
//
//   nv_full        FIFO-R(3) each: a counter to 4 in a byte
//   configurable   SKID-PIPE-B each: three bits
//
// Source  sdp.md 2.1, 2.7.
#pragma once
#include <array>
#include <cstdint>

#include "facts/sdp.h"

namespace dlasim::sdp {

class FullBanks {
public:
    bool ready(unsigned banks) const { return !(held_ & kSpread[banks] * kCapacity); }
    bool valid(unsigned banks) const
    {
        const std::uint32_t wanted = kSpread[banks] << 7;
        return ((held_ + 0x7f7f7f7f) & wanted) == wanted;
    }
    /// Words missing in these banks.
    unsigned missing(unsigned banks) const
    {
        unsigned count = 0;
        for (unsigned bank = 0; bank < facts::sdp::kBanks; ++bank) count += (banks >> bank & 1) && !(held_ >> 8 * bank & 0xff);
        return count;
    }
    /// True if anything changed. pre: what is pushed is ready, what is popped is valid.
    bool clock(unsigned pushed, unsigned popped)
    {
        held_ += kSpread[pushed];
        held_ -= kSpread[popped];
        return pushed != popped;
    }

private:
    static constexpr std::uint32_t kCapacity = 4;
    static_assert(kCapacity == 4, "a full bank is told by bit 2 of its counter");
    static constexpr std::array<std::uint32_t, 16> kSpread = [] {
        std::array<std::uint32_t, 16> spread{};
        for (unsigned banks = 0; banks < 16; ++banks)
            for (unsigned bank = 0; bank < 4; ++bank) spread[banks] |= (banks >> bank & 1) << 8 * bank;
        return spread;
    }();
    std::uint32_t held_ = 0;
};

class ElasticBanks {
public:
    bool ready(unsigned banks) const { return (go_ & banks) == banks; }
    bool valid(unsigned banks) const { return (full_ & banks) == banks; }
    unsigned missing(unsigned banks) const { return !valid(banks); }
    bool clock(unsigned pushed, unsigned popped)
    {
        const unsigned moves = (popped | ~full_) & 0xf, next = (go_ & pushed) | (~go_ & shadow_);
        const unsigned full = (moves & next) | (~moves & full_);
        const bool changed = full != full_ || next != shadow_ || moves != go_;
        full_ = full;
        shadow_ = next;
        go_ = moves;
        return changed;
    }

private:
    unsigned full_ = 0, shadow_ = 0, go_ = 0xf;
};

}  // namespace dlasim::sdp
