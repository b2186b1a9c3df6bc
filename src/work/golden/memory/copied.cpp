#include "golden/memory/copied.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "config/layer/place_reader.h"

namespace dlasim {
namespace {

/// Bytes in pages, as the memories hold them.
class Pages {
public:
    using Page = std::vector<std::uint8_t>;
    bool has(const Place& place) const { return pages_.contains(number(place)); }
    void put(const Place& place, Page bytes) { pages_[number(place)] = std::move(bytes); }
    Page& at(const Place& place) { return pages_.at(number(place)); }

    void copy(Place from, Place to, std::uint64_t bytes)
    {
        while (bytes > 0) {
            const std::uint64_t in_source = from.address.byte() % AtomSet::kPageBytes,
                                in_destination = to.address.byte() % AtomSet::kPageBytes;
            const std::uint64_t part = std::min(bytes, AtomSet::kPageBytes - std::max(in_source, in_destination));
            const auto source = at(from).begin() + static_cast<std::ptrdiff_t>(in_source);
            std::copy_n(source, part, at(to).begin() + static_cast<std::ptrdiff_t>(in_destination));
            from.address += part;
            to.address += part;
            bytes -= part;
        }
    }

private:
    static std::uint64_t number(const Place& place) { return place.address.byte() / AtomSet::kPageBytes * 2 + place.primary; }
    std::unordered_map<std::uint64_t, Page> pages_;
};

}  // namespace

void compare_byte(Comparison& result, const Place& place, std::uint8_t found, std::uint8_t expected, const std::string& what)
{
    ++result.compared;
    if (found == expected || ++result.mismatches > 5) return;
    char numbers[64], address[32];
    std::snprintf(numbers, sizeof numbers, ": found 0x%02x, expected 0x%02x", found, expected);
    std::snprintf(address, sizeof address, " %#llx", static_cast<unsigned long long>(place.address.byte()));
    result.examples.push_back(memory_name(place) + std::string(address) + what + numbers);
}

void insert_lines(AtomSet& set, const CopyBlock& block, const BlockEnd& end, std::uint64_t around)
{
    for_each_line(block, [&](std::uint32_t surface, std::uint32_t line) {
        const Address address = end.line_address(surface, line);
        const std::uint64_t before = std::min(around, address.byte());
        set.insert({end.place.primary, address - before}, before + block.line_bytes + around);
    });
}

CopiedMemory::CopiedMemory(Copy copy, std::uint64_t seed) : copy_(std::move(copy)), streams_{Stream(seed, 5), Stream(seed, 6)}
{
    for (const CopyBlock& block : copy_.blocks) {
        insert_lines(sources_, block, block.source);
        insert_lines(destinations_, block, block.destination, kAround);
    }
}

std::vector<std::uint8_t> CopiedMemory::made(const Place& page) const
{
    std::vector<std::uint8_t> bytes(AtomSet::kPageBytes);
    for (std::uint64_t i = 0; i < bytes.size(); i += 8) {
        const std::uint64_t word = streams_[page.primary]((page.address.byte() + i) / 8);
        for (unsigned b = 0; b < 8; ++b) bytes[i + b] = static_cast<std::uint8_t>(word >> 8 * b);
    }
    return bytes;
}

void CopiedMemory::before(const Write& write) const
{
    for (const AtomSet* set : {&sources_, &destinations_})
        for (const Place& page : set->page_list()) write(page, made(page));
}

Findings CopiedMemory::after(const MemoryAfterRun& remains) const
{
    Pages pages;
    for (const AtomSet* set : {&sources_, &destinations_})
        for (const Place& page : set->page_list())
            if (!pages.has(page)) pages.put(page, made(page));
    for (const CopyBlock& block : copy_.blocks)
        for_each_line(block, [&](std::uint32_t s, std::uint32_t l) {
            pages.copy({block.source.place.primary, block.source.line_address(s, l)},
                       {block.destination.place.primary, block.destination.line_address(s, l)}, block.line_bytes);
        });

    Findings findings;
    Comparison& result = findings.comparison;
    for (const Place& page : destinations_.page_list()) {
        const std::vector<std::uint8_t> found = remains.read(page, AtomSet::kPageBytes), &expected = pages.at(page);
        if (found == expected) {
            result.compared += found.size();
            continue;
        }
        for (std::size_t i = 0; i < found.size(); ++i) compare_byte(result, page + i, found[i], expected[i]);
    }
    return findings;
}

}  // namespace dlasim
