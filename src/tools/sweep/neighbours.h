// Points that are slower than one with less: more banks, MACs or bandwidth should cost no cycles, and where they do a row says why.
//
//   rows ──► neighbours on an axis: all else equal, one value less ──► "9 % slower than point 3 (cbuf.banks 8): ..."
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "sweep/store.h"

namespace dlasim {

/// An axis, and what its larger values give the machine: more of something, less of it, neither; or they follow from other axes.
struct SweptAxis {
    enum class Gives { More, Less, Other, Follows };
    std::string name;
    Gives gives = Gives::Other;
};

inline constexpr double kSlower = 1.02;  // cycles of a point over those of its neighbour, from here on
inline constexpr KeyRow kSlowerColumn{"slower", "text or null", "",
                                      "more than 2 % slower than a point with less of one axis and all else equal: which, and why"};

/// What to say of such points, by point.
std::map<std::size_t, std::string> slower_points(SweepStore& store, const std::vector<SweptAxis>& axes);

}  // namespace dlasim
