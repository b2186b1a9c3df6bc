// The four banks of WDMA side by side, as occupancy: byte i belongs to bank i.
//
//   beat ──►│ bank 0 │──┐
//       or ►│ bank 1 │──┤
//       or ►│ bank 2 │──┼──► packet: the banks it needs, together
//       or ►│ bank 3 │──┘
//
//   4 places   FIFO-R(3): takes while there is space
//   2 places   SKID-PIPE-B: takes in the cycle after it was empty or emptied
//
// Source  sdp.md 2.1, 2.7.
#pragma once
#include <array>
#include <cstdint>

namespace dlasim::sdp {

/// Sets of banks are masks: bit i is bank i.
class Banks {
public:
    explicit Banks(std::uint32_t places) : stalls_(places == 2) {}

    bool ready(unsigned banks) const { return (go_ & kSpread[banks]) == kSpread[banks]; }
    bool valid(unsigned banks) const { return (filled() & kSpread[banks]) == kSpread[banks]; }
    /// Words missing in these banks.
    unsigned missing(unsigned banks) const;
    /// True if anything changed. pre: what is pushed is ready, what is popped is valid.
    bool clock(unsigned pushed, unsigned popped);

private:
    static constexpr std::uint32_t kEvery = 0x01010101;
    static constexpr std::array<std::uint32_t, 16> kSpread = [] {
        std::array<std::uint32_t, 16> spread{};
        for (unsigned banks = 0; banks < 16; ++banks)
            for (unsigned bank = 0; bank < 4; ++bank) spread[banks] |= (banks >> bank & 1) << 8 * bank;
        return spread;
    }();
    std::uint32_t filled() const { return (held_ + 0x7f7f7f7f) >> 7 & kEvery; }

    bool stalls_;
    std::uint32_t held_ = 0;     // words
    std::uint32_t go_ = kEvery;  // 1: takes a word
};

}  // namespace dlasim::sdp
