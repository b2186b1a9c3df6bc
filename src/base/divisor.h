// Division by a number that is known beforehand: a multiplication, as long as the other one is not huge.
#pragma once
#include <cstdint>

#include "base/expects.h"

namespace dlasim {

class Divisor {
public:
    /// pre: by != 0
    explicit Divisor(std::uint64_t by) : by_(by)
    {
        DLASIM_EXPECTS(by != 0);
        if (by < 2) return;
        // ceil(2^64 / by): too large by less than 1, so a product is too large by less than number / 2^64, which is below 1 / by.
        reciprocal_ = ~std::uint64_t{0} / by + 1;
        exact_below_ = ~std::uint64_t{0} / by;
    }
    std::uint64_t by() const { return by_; }
    /// number / by(), rounded down.
    std::uint64_t operator()(std::uint64_t number) const
    {
        if (number >= exact_below_) return number / by_;
        return static_cast<std::uint64_t>(static_cast<Wide>(number) * reciprocal_ >> 64);
    }

private:
    __extension__ using Wide = unsigned __int128;

    std::uint64_t by_;
    std::uint64_t reciprocal_ = 0, exact_below_ = 0;
};

}  // namespace dlasim
