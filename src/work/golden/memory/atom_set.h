// A set of memory atoms of both memories, kept in pages: where blocks lie, and whether they meet.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/place.h"

namespace dlasim {

class AtomSet {
public:
    static constexpr std::uint64_t kAtomBytes = 32, kPageBytes = 1u << 16;

    /// Adds the atoms of a range; the address of the first one that was there before. pre: atoms are whole
    std::optional<Address> insert(const Place& place, std::uint64_t bytes);
    /// The address of the first atom of the range that is in the set.
    std::optional<Address> find(const Place& place, std::uint64_t bytes) const;

    std::size_t pages() const { return pages_.size(); }
    /// Where the pages begin, in order.
    std::vector<Place> page_list() const;
    void clear() { pages_.clear(); }

private:
    using Page = std::array<std::uint64_t, kPageBytes / kAtomBytes / 64>;
    static std::uint64_t key(const Place& place) { return place.address.byte() / kPageBytes * 2 + place.primary; }

    std::unordered_map<std::uint64_t, Page> pages_;
};

}  // namespace dlasim
