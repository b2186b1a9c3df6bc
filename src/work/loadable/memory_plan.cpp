#include "loadable/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "base/error.h"

namespace dlasim::loadable {
namespace {

constexpr Address kFirst[] = {Address{0x80000000}, Address{0x50000000}};
constexpr Address kEnd[] = {Address{std::uint64_t{1} << 32}, Address{0x80000000}};  // by domain
constexpr std::uint64_t kPage = 4096;

std::uint64_t up_to(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

std::vector<std::uint8_t> MemoryView::bytes(std::uint64_t offset, std::uint64_t count) const
{
    if (count > size_ || offset > size_ - count)
        throw ConfigError(where_, fmt::format("has {} bytes, expected {} from {} on", size_, count, offset));
    std::vector<std::uint8_t> bytes(count);
    if (offset < set_.size())
        std::copy_n(set_.begin() + static_cast<std::ptrdiff_t>(offset), std::min<std::uint64_t>(count, set_.size() - offset),
                    bytes.begin());
    return bytes;
}

MemoryPlan::MemoryPlan(const Loadable& loadable, const Hardware& hardware) : loadable_(loadable), end_{kFirst[0], kFirst[1]}
{
    for (std::size_t i = 0; i < loadable.memories.size(); ++i) {
        const MemoryEntry& memory = loadable.memories[i];
        const std::string where = loadable.where("memory", i);
        if (memory.domain == 1 && !hardware.memory.has_secondary)
            throw ConfigError(where, "is in SRAM, but " + hardware.name + " has no secondary memory port");
        const std::uint64_t step = std::max(memory.alignment, kPage);
        const Address end = kEnd[memory.domain];
        const Address base{up_to(end_[memory.domain].byte(), step)};
        const std::uint64_t room = end - std::min(base, end);
        const std::uint64_t bytes = memory.size > room ? memory.size : up_to(std::max<std::uint64_t>(memory.size, 1), step);
        if (bytes > room)
            throw ConfigError(where, fmt::format("has {} bytes, but only {} fit from {:#x} on", memory.size, room, base.byte()));
        bases_.push_back({memory.domain == 0, base});
        end_[memory.domain] = base + bytes;
    }
}

const AddressEntry& MemoryPlan::entry(const Task& task, int index, const std::string& where) const
{
    if (index < 0 || static_cast<std::size_t>(index) >= task.addresses.size())
        throw ConfigError(where, fmt::format("names address {} of its task, expected one of {}", index, task.addresses.size()));
    return loadable_.addresses[task.addresses[static_cast<std::size_t>(index)]];
}

std::size_t MemoryPlan::memory_of(const Task& task, int index, const std::string& where) const { return entry(task, index, where).memory; }

Place MemoryPlan::place(const Task& task, int index, const std::string& where) const
{
    const AddressEntry& at = entry(task, index, where);
    return bases_[at.memory] + at.offset;
}

MemoryView MemoryPlan::view(const Task& task, int index, const std::string& where) const
{
    const AddressEntry& at = entry(task, index, where);
    const MemoryEntry& memory = loadable_.memories[at.memory];
    std::uint64_t end = 0;
    for (const Content& content : memory.contents) end = std::max(end, content.offset + loadable_.blobs[content.blob].bytes.size());
    end = std::max(end, at.offset);
    if (end - at.offset > kMaxBytes) throw ConfigError(where, fmt::format("describes operations in more than {} bytes", kMaxBytes));
    std::vector<std::uint8_t> set(end - at.offset);
    for (const Content& content : memory.contents) {
        const auto bytes = loadable_.blobs[content.blob].bytes;
        const std::uint64_t skipped = at.offset > content.offset ? std::min<std::uint64_t>(at.offset - content.offset, bytes.size()) : 0;
        if (skipped < bytes.size())
            std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(skipped), bytes.end(),
                      set.begin() + static_cast<std::ptrdiff_t>(content.offset + skipped - at.offset));
    }
    return {std::move(set), memory.size - at.offset, fmt::format("{}: memory {}", where, at.memory)};
}

Version MemoryPlan::version(const Task& task, int index, const std::string& where) const
{
    const MemoryEntry& memory = loadable_.memories[entry(task, index, where).memory];
    return memory.contents.empty() ? Version{0, 12, 0} : loadable_.blobs[memory.contents.front().blob].version;
}

bool MemoryPlan::holds(const Place& from, std::uint64_t bytes) const
{
    const std::size_t domain = from.primary ? 0 : 1;
    return from.address >= kFirst[domain] && from.address <= end_[domain] && bytes <= end_[domain] - from.address;
}

}  // namespace dlasim::loadable
