#include "golden/memory/atom_set.h"

#include <algorithm>

namespace dlasim {

std::optional<Address> AtomSet::insert(const Place& place, std::uint64_t bytes)
{
    std::optional<Address> met;
    Page* page = nullptr;
    for (Place atom = place; atom.address < place.address + bytes; atom.address += kAtomBytes) {
        if (!page || atom.address.byte() % kPageBytes == 0) page = &pages_[key(atom)];
        const std::uint64_t number = atom.address.byte() % kPageBytes / kAtomBytes;
        std::uint64_t& word = (*page)[number / 64];
        const std::uint64_t bit = std::uint64_t{1} << number % 64;
        if ((word & bit) != 0 && !met) met = atom.address;
        word |= bit;
    }
    return met;
}

std::optional<Address> AtomSet::find(const Place& place, std::uint64_t bytes) const
{
    for (Place atom = place; atom.address < place.address + bytes;) {
        const auto page = pages_.find(key(atom));
        if (page == pages_.end()) {
            atom.address = Address{(atom.address.byte() / kPageBytes + 1) * kPageBytes};
            continue;
        }
        const std::uint64_t number = atom.address.byte() % kPageBytes / kAtomBytes;
        if ((page->second[number / 64] >> number % 64 & 1) != 0) return atom.address;
        atom.address += kAtomBytes;
    }
    return std::nullopt;
}

std::vector<Place> AtomSet::page_list() const
{
    std::vector<Place> places;
    for (const auto& [key, page] : pages_) places.push_back({key % 2 != 0, Address{key / 2 * kPageBytes}});
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.primary != b.primary ? a.primary : a.address < b.address; });
    return places;
}

}  // namespace dlasim
