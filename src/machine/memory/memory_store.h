// The contents of a memory: 64-bit byte addresses, pages that exist once they have been written.
//
// Source    interfaces.md 3: memory that nobody filled is zero.
// Error     more than the page limit is a MachineError, not an exhausted machine.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>

namespace dlasim {

class MemoryStore {
public:
    static constexpr std::uint64_t kPageBytes = 1u << 16;
    static constexpr std::size_t kDefaultPages = 1u << 15;  // 2 GB

    explicit MemoryStore(std::size_t page_limit = kDefaultPages) : page_limit_(page_limit) {}

    void read(std::uint64_t address, std::uint8_t* to, std::size_t bytes) const
    {
        const std::uint64_t offset = address % kPageBytes;
        if (offset + bytes > kPageBytes) return read_slowly(address, to, bytes);
        if (const std::uint8_t* page = find(address / kPageBytes)) std::memcpy(to, page + offset, bytes);
        else std::memset(to, 0, bytes);
    }
    void write(std::uint64_t address, const std::uint8_t* from, std::size_t bytes)
    {
        const std::uint64_t offset = address % kPageBytes;
        if (offset + bytes > kPageBytes) return write_slowly(address, from, bytes);
        std::memcpy(make(address / kPageBytes) + offset, from, bytes);
    }
    /// Writes the bytes whose enable is not 0; the enables repeat.
    void write(std::uint64_t address, const std::uint8_t* from, std::size_t bytes, const std::uint8_t* enables, std::size_t enable_bytes);

    std::size_t pages() const { return pages_.size(); }
    /// Every page that was written, in order: the address of its first byte.
    void each_page(const std::function<void(std::uint64_t address, std::span<const std::uint8_t> bytes)>& see) const;
    /// As in the beginning.
    void clear();

private:
    using Page = std::array<std::uint8_t, kPageBytes>;
    /// The pages used last, one for each of a few streams that interleave.
    struct Recent {
        std::uint64_t number = UINT64_MAX;
        std::uint8_t* bytes = nullptr;
    };
    static constexpr std::size_t kRecent = 8;

    std::uint8_t* find(std::uint64_t number) const
    {
        Recent& recent = recent_[number % kRecent];
        return recent.number == number ? recent.bytes : look_up(number, recent);
    }
    std::uint8_t* make(std::uint64_t number)
    {
        std::uint8_t* page = find(number);
        return page ? page : create(number);
    }
    std::uint8_t* look_up(std::uint64_t number, Recent& recent) const;
    std::uint8_t* create(std::uint64_t number);
    void read_slowly(std::uint64_t address, std::uint8_t* to, std::size_t bytes) const;
    void write_slowly(std::uint64_t address, const std::uint8_t* from, std::size_t bytes);

    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    mutable std::array<Recent, kRecent> recent_;
    std::size_t page_limit_;
};

}  // namespace dlasim
