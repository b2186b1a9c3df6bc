#include "golden/memory/difference_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "config/model/fp16.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kEnough = 4;  // values that must agree for a conclusion

/// Values of the arrays at the same place.
struct Values {
    double found, expected;
};

class Kinds {
public:
    explicit Kinds(const ComparedArrays& arrays) : a_(arrays) {}

    std::string first() const
    {
        for (const auto& kind :
             {&Kinds::constant, &Kinds::layout, &Kinds::shift, &Kinds::sign, &Kinds::range, &Kinds::rounding, &Kinds::scale, &Kinds::bias})
            if (std::string text = (this->*kind)(); !text.empty()) return text;
        return "";
    }

private:
    std::uint64_t count() const { return a_.found.size(); }
    double found(std::size_t i) const { return a_.found[i]; }
    double expected(std::size_t i) const { return a_.expected[i]; }
    bool all(const std::function<bool(Values)>& holds) const
    {
        for (std::size_t i = 0; i < count(); ++i)
            if (!holds({found(i), expected(i)})) return false;
        return true;
    }
    /// Holds wherever the two differ, and at `least` places of them.
    bool wherever_different(const std::function<bool(Values)>& holds, std::uint64_t least = 1) const
    {
        std::uint64_t places = 0;
        for (std::size_t i = 0; i < count(); ++i) {
            if (found(i) == expected(i)) continue;
            if (!holds({found(i), expected(i)})) return false;
            ++places;
        }
        return places >= least;
    }
    double share() const
    {
        std::uint64_t differing = 0;
        for (std::size_t i = 0; i < count(); ++i) differing += found(i) != expected(i) ? 1U : 0U;
        return static_cast<double>(differing) / static_cast<double>(count());
    }

    std::string constant() const
    {
        if (count() < kEnough) return "";
        if (all([&](Values p) { return p.found == 0; })) return "all found values are 0";
        if (all([&](Values p) { return p.expected == 0; })) return "all expected values are 0";
        return "";
    }

    /// The values of the file in another order of the dimensions.
    std::string layout() const
    {
        const auto [n, c, h, w] = a_.shape;
        struct Order {
            const char* text;
            std::array<std::size_t, 4> axes;  // of the file, slowest first, as numbers of n, c, h, w
        };
        constexpr Order kOrders[] = {{"batch, row, column, channel (NHWC)", {0, 2, 3, 1}},
                                     {"batch, channel, column, row", {0, 1, 3, 2}},
                                     {"batch, column, row, channel", {0, 3, 2, 1}},
                                     {"channel, batch, row, column", {1, 0, 2, 3}}};
        if (count() < kEnough || uniform()) return "";
        for (const Order& order : kOrders) {
            std::array<std::uint64_t, 4> stride{};
            std::uint64_t step = 1;
            for (std::size_t i = 4; i-- > 0;) {
                stride[order.axes[i]] = step;
                step *= a_.shape[order.axes[i]];
            }
            bool same = true;
            std::size_t i = 0;
            for (std::uint64_t in = 0; in < n && same; ++in)
                for (std::uint64_t ic = 0; ic < c && same; ++ic)
                    for (std::uint64_t ih = 0; ih < h && same; ++ih)
                        for (std::uint64_t iw = 0; iw < w && same; ++iw, ++i)
                            same = found(i) == expected(in * stride[0] + ic * stride[1] + ih * stride[2] + iw * stride[3]);
            if (same) return fmt::format("the expected values are in another order: {}", order.text);
        }
        return "";
    }
    bool uniform() const
    {
        return std::ranges::all_of(a_.found, [&](double value) { return value == a_.found.front(); });
    }

    /// The same values some channels, rows or columns further on.
    std::string shift() const
    {
        if (uniform()) return "";
        constexpr const char* kNames[] = {"batch", "channel", "row", "column"};
        constexpr std::int64_t kMost = 8;
        for (std::int64_t by = 1; by <= kMost; ++by)
            for (std::size_t axis = 1; axis < 4; ++axis)
                for (const std::int64_t sign : {1, -1}) {
                    const std::int64_t size = static_cast<std::int64_t>(a_.shape[axis]);
                    if (by >= size || 2 * by > size + 1 || !shifted(axis, sign * by)) continue;
                    return fmt::format("the expected values are {} {}{} {}", by, kNames[axis], by == 1 ? "" : "s",
                                       sign > 0 ? "further on" : "further back");
                }
        return "";
    }
    /// found[i] == expected[i + by] along the axis, wherever both are there, and not all of one value.
    bool shifted(std::size_t axis, std::int64_t by) const
    {
        std::uint64_t stride = 1;
        for (std::size_t i = axis + 1; i < 4; ++i) stride *= a_.shape[i];
        const auto size = static_cast<std::int64_t>(a_.shape[axis]);
        std::uint64_t compared = 0;
        double one = 0;
        bool several = false;
        for (std::size_t i = 0; i < count(); ++i) {
            const std::int64_t at = static_cast<std::int64_t>(i / stride) % size + by;
            if (at < 0 || at >= size) continue;
            const auto j = static_cast<std::size_t>(static_cast<std::int64_t>(i) + by * static_cast<std::int64_t>(stride));
            if (found(i) != expected(j)) return false;
            if (compared++ == 0) one = found(i);
            several |= found(i) != one;
        }
        return compared >= kEnough && several;
    }

    std::string sign() const
    {
        const bool opposite = all([](Values p) { return p.found == -p.expected; });
        return opposite ? "the signs are opposite" : "";
    }

    /// Values at an end of the range.
    std::string range() const
    {
        if (wherever_different([](Values p) { return p.found < 0 && p.expected == 0; }))
            return "the expected values are clipped at 0: a ReLU that the layer does not have";
        if (wherever_different([](Values p) { return p.found == 0 && p.expected < 0; }))
            return "the found values are clipped at 0: a ReLU that the expected values do not have";
        const auto [low, high] = std::ranges::minmax(a_.found);
        const auto [least, most] = std::ranges::minmax(a_.expected);
        if (most < high && wherever_different([top = most](Values p) { return p.expected == top && p.found > top; }))
            return fmt::format("the expected values are clipped at {}", most);
        if (least > low && wherever_different([bottom = least](Values p) { return p.expected == bottom && p.found < bottom; }))
            return fmt::format("the expected values are clipped at {}", least);
        const auto at_end = [low = low, high = high](Values p) { return p.found == low || p.found == high; };
        const double limit = a_.halves ? 65504 : high > 127 || low < -128 ? 32767 : 127;
        if ((high == limit || low == -limit - (a_.halves ? 0 : 1)) && wherever_different(at_end))
            return "all differences are where the output saturates: the expected values wrap around or saturate at other limits";
        return "";
    }

    static double step_of(double value, bool halves)
    {
        return halves ? std::ldexp(1.0, std::max(std::ilogb(std::max(std::abs(value), std::ldexp(1.0, -14))), -14) - 10) : 1;
    }

    /// Of fp16: less than a unit in the last place of the largest value, so that it may come from the order of sums.
    std::string sums() const
    {
        double largest = 0, apart = 0;
        for (std::size_t i = 0; i < count(); ++i) {
            largest = std::max({largest, std::abs(found(i)), std::abs(expected(i))});
            apart = std::max(apart, std::abs(found(i) - expected(i)));
        }
        if (!(apart <= step_of(largest, true))) return "";
        return fmt::format(
            "all differences are at most one unit in the last place of the largest value: sums rounded in another order; "
            "\"atol\": {:.3g} allows them",
            apart);
    }

    std::string rounding() const
    {
        const bool halves = a_.halves;
        const bool one_step = wherever_different([halves](Values p) {
            return std::abs(p.found - p.expected) <= step_of(std::max(std::abs(p.found), std::abs(p.expected)), halves);
        });
        if (halves && !one_step) return sums();
        if (!one_step) return "";
        if (halves) return "all differences are one unit in the last place: sums rounded in another order; \"ulp\": 1 allows it";
        const char* how = "one step: another rounding";
        const bool ties = share() < 0.2;
        const auto odd = [](double value) { return std::fmod(value, 2) != 0; };
        const auto down = [](Values p) { return p.expected < p.found; };
        const auto toward_zero = [](Values p) { return std::abs(p.expected) < std::abs(p.found); };
        if (ties && wherever_different([&](Values p) { return !odd(p.expected) && toward_zero(p); }, 2))
            how = "one step, to even values: ties are rounded to even, the machine rounds them away from zero";
        else if (wherever_different([](Values p) { return p.found < 0 && p.expected == p.found + 1; }, 2) && ties)
            how = "one step up, of negative values: ties are rounded up, the machine rounds them away from zero";
        else if (wherever_different(toward_zero, 2))
            how = ties ? "one step toward zero: ties are rounded toward zero, the machine rounds them away from it"
                       : "one step toward zero: the expected values are truncated, the machine rounds to the nearest";
        else if (wherever_different(down, 2))
            how = "one step down: the expected values are rounded down (an arithmetic shift), the machine rounds to the nearest";
        else if (share() * static_cast<double>(count()) < kEnough) return "";  // single values
        return std::string("all differences are ") + how;
    }

    /// A shift that is some bits off.
    std::string scale() const
    {
        for (const int bits : {1, -1, 2, -2, 3, -3, 4, -4}) {
            const double factor = std::ldexp(1.0, bits);
            std::uint64_t places = 0;
            bool holds = true;
            const auto [low, high] = std::ranges::minmax(a_.found);
            const auto [least, most] = std::ranges::minmax(a_.expected);
            for (std::size_t i = 0; i < count() && holds; ++i) {
                const bool end = found(i) == low || found(i) == high || expected(i) == least || expected(i) == most;
                const double slack = a_.halves ? std::abs(expected(i)) / 256 : std::max(1.0, factor);
                if (end) continue;
                holds = std::abs(found(i) * factor - expected(i)) <= slack;
                places += std::abs(found(i)) > 2 ? 1U : 0U;
            }
            if (holds && places >= kEnough)
                return fmt::format("the expected values are {} times the found ones: a shift by {} bit{}", factor, std::abs(bits),
                                   std::abs(bits) == 1 ? "" : "s");
        }
        return "";
    }

    /// The same number more in all values of a channel.
    std::string bias() const
    {
        const auto [n, c, h, w] = a_.shape;
        const std::uint64_t plane = h * w;
        if (n * plane < 2) return "";
        std::uint64_t moved = 0, used = 0;
        for (std::uint64_t channel = 0; channel < c; ++channel) {
            double low = INFINITY, high = -INFINITY;
            for (std::uint64_t in = 0; in < n; ++in)
                for (std::uint64_t i = 0; i < plane; ++i) {
                    const std::size_t at = (in * c + channel) * plane + i;
                    if (!a_.halves && (saturated(found(at)) || saturated(expected(at)))) continue;
                    const double more = expected(at) - found(at);
                    low = std::min(low, more);
                    high = std::max(high, more);
                }
            if (low > high) continue;
            ++used;
            const double slack = a_.halves ? std::max(std::abs(low), std::abs(high)) / 16 : 1;
            if (high - low > slack) return "";
            moved += std::abs(low + high) / 2 > (a_.halves ? 0 : 0.5) ? 1U : 0U;
        }
        if (moved == 0 || used == 0) return "";
        return moved == 1 && c > 1 ? "the difference is the same in all of one channel: its bias"
                                   : "the difference is the same in all of a channel: a bias that is missing, or of another scale";
    }
    static bool saturated(double value) { return value == 127 || value == -128 || value == 32767 || value == -32768; }

    const ComparedArrays& a_;
};

}  // namespace

std::string difference_kind(const ComparedArrays& arrays) { return Kinds(arrays).first(); }

}  // namespace dlasim
