#include "memory/memory_store.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace dlasim {

std::uint8_t* MemoryStore::look_up(std::uint64_t number, Recent& recent) const
{
    const auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    recent = {number, found->second->data()};
    return recent.bytes;
}

std::uint8_t* MemoryStore::create(std::uint64_t number)
{
    if (pages_.size() >= page_limit_)
        throw MachineError("memory: more than " + std::to_string(page_limit_ * (kPageBytes >> 10)) +
                           " KB written, the limit of this memory");
    std::uint8_t* bytes = pages_.emplace(number, std::make_unique<Page>()).first->second->data();
    recent_[number % kRecent] = {number, bytes};
    return bytes;
}

void MemoryStore::each_page(const std::function<void(std::uint64_t, std::span<const std::uint8_t>)>& see) const
{
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, page] : pages_) numbers.push_back(number);
    std::ranges::sort(numbers);
    for (const std::uint64_t number : numbers) see(number * kPageBytes, *pages_.at(number));
}

void MemoryStore::clear()
{
    pages_.clear();
    recent_.fill({});
}

void MemoryStore::read_slowly(std::uint64_t address, std::uint8_t* to, std::size_t bytes) const
{
    while (bytes != 0) {
        const std::size_t part = std::min<std::uint64_t>(bytes, kPageBytes - address % kPageBytes);
        read(address, to, part);
        address += part;
        to += part;
        bytes -= part;
    }
}

void MemoryStore::write_slowly(std::uint64_t address, const std::uint8_t* from, std::size_t bytes)
{
    while (bytes != 0) {
        const std::size_t part = std::min<std::uint64_t>(bytes, kPageBytes - address % kPageBytes);
        write(address, from, part);
        address += part;
        from += part;
        bytes -= part;
    }
}

void MemoryStore::write(std::uint64_t address, const std::uint8_t* from, std::size_t bytes, const std::uint8_t* enables,
                        std::size_t enable_bytes)
{
    for (std::size_t i = 0; i < bytes;) {
        const bool on = enables[i % enable_bytes] != 0;
        std::size_t end = i + 1;
        while (end < bytes && (enables[end % enable_bytes] != 0) == on) ++end;
        if (on) write(address + i, from + i, end - i);
        i = end;
    }
}

}  // namespace dlasim
