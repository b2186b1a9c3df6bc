// Addresses of the memories of a loadable in the machine, and their content before it runs.
//
//   system memory   from 0x80000000 on, in the order of the file, each from a multiple of its alignment (4096 at least)
//   SRAM            from 0x50000000 on, likewise
//
// Source  loadable.md 2, 7.
#pragma once
#include <string>
#include <vector>

#include "base/place.h"
#include "facts/hardware.h"
#include "loadable/container.h"

namespace dlasim::loadable {

/// Bytes of a memory as the file has them: what no blob sets is zero.
class MemoryView {
public:
    MemoryView(std::vector<std::uint8_t> set, std::uint64_t size, std::string where)
        : set_(std::move(set)), size_(size), where_(std::move(where))
    {
    }
    /// `count` bytes from `offset` on; ConfigError if the memory ends before.
    std::vector<std::uint8_t> bytes(std::uint64_t offset, std::uint64_t count) const;
    std::uint64_t size() const { return size_; }
    const std::string& where() const { return where_; }

private:
    std::vector<std::uint8_t> set_;  // up to the end of the last blob
    std::uint64_t size_;
    std::string where_;
};

class MemoryPlan {
public:
    /// Refuses what the machine has no memory for.
    MemoryPlan(const Loadable& loadable, const Hardware& hardware);

    Place base(std::size_t memory) const { return bases_[memory]; }
    /// Entry `index` of a task's address list; `where` for messages.
    Place place(const Task& task, int index, const std::string& where) const;
    /// Its memory.
    std::size_t memory_of(const Task& task, int index, const std::string& where) const;
    /// Its bytes to the end of the memory.
    MemoryView view(const Task& task, int index, const std::string& where) const;
    /// The interface version of its blob; 0.12.0 without one.
    Version version(const Task& task, int index, const std::string& where) const;
    /// All bytes from there on are in memories of the loadable, or in what is left of their last page.
    bool holds(const Place& from, std::uint64_t bytes) const;

private:
    const AddressEntry& entry(const Task& task, int index, const std::string& where) const;

    const Loadable& loadable_;
    std::vector<Place> bases_;
    Address end_[2];
};

}  // namespace dlasim::loadable
