#include "loadable/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files/input.h"
#include "loadable/verified_root.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint32_t kMaxElements = 1u << 20;  // of a task's address list
constexpr std::uint32_t kMaxDimension = 1u << 20;

Version version(const fbs::Version* from)
{
    if (!from) return {};
    return {from->major(), from->minor(), from->sub_minor()};
}

class Reader {
public:
    Reader(std::string bytes, const std::string& file)
    {
        l_.file = file;
        l_.bytes = std::make_shared<const std::string>(std::move(bytes));
        root_ = &verified_root(*l_.bytes, file);
    }

    Loadable read()
    {
        l_.version = version(root_->version());
        read_blobs();
        each(root_->tensors(), "tensor", [&](const fbs::Tensor& t, std::size_t i) { read_tensor(t, i); });
        each(root_->memories(), "memory", [&](const fbs::Memory& m, std::size_t i) { read_memory(m, i); });
        each(root_->addresses(), "address", [&](const fbs::Address& a, std::size_t i) { read_address(a, i); });
        each(root_->tasks(), "task", [&](const fbs::Task& t, std::size_t i) { read_task(t, i); });
        read_submits();
        check_bindings(MemoryEntry::Input, "input");
        check_bindings(MemoryEntry::Output, "output");
        return std::move(l_);
    }

private:
    [[noreturn]] void fail(const char* what, std::size_t index, const std::string& problem) const
    {
        throw ConfigError(l_.where(what, index), problem);
    }

    /// A list whose ids are the positions of its entries.
    template <class T, class Each>
    void each(const flatbuffers::Vector<flatbuffers::Offset<T>>* list, const char* what, Each read)
    {
        if (!list) return;
        for (std::uint32_t i = 0; i < list->size(); ++i) {
            const T& entry = *list->Get(i);
            if (entry.id() != i) fail(what, i, fmt::format("has id {}, expected its index in the list", entry.id()));
            read(entry, i);
        }
    }

    std::string name(const flatbuffers::String& name, const char* what, std::size_t i) const
    {
        if (name.size() > kMaxLetters) fail(what, i, fmt::format("has a name of {} bytes, expected at most {}", name.size(), kMaxLetters));
        return name.str();
    }

    void read_blobs()
    {
        if (!root_->blobs()) return;
        for (std::uint32_t i = 0; i < root_->blobs()->size(); ++i) {
            const fbs::Blob& from = *root_->blobs()->Get(i);
            const std::uint64_t held = from.data() ? from.data()->size() : 0;
            if (from.size() > held) fail("blob", i, fmt::format("has size {}, but {} bytes of data", from.size(), held));
            Blob blob;
            if (from.name()) blob.name = name(*from.name(), "blob", i);
            blob.version = version(from.version());
            blob.interface = from.interface();
            blob.sub_interface = from.sub_interface();
            if (held != 0) blob.bytes = {from.data()->data(), static_cast<std::size_t>(from.size())};
            if (!blobs_.emplace(blob.name, l_.blobs.size()).second)
                fail("blob", i, "has the name of another one, expected different names");
            l_.blobs.push_back(std::move(blob));
        }
    }

    void read_tensor(const fbs::Tensor& from, std::size_t i)
    {
        TensorEntry tensor;
        if (from.name()) tensor.name = name(*from.name(), "tensor", i);
        tensor.type = from.data_type();
        tensor.pixel_format = from.pixel_format();
        const auto size = [&](std::int32_t value, const char* name) {
            if (value < 1 || value > static_cast<std::int32_t>(kMaxDimension))
                fail("tensor", i, fmt::format("has {} = {}, expected 1 to {}", name, value, kMaxDimension));
            return static_cast<std::uint32_t>(value);
        };
        tensor.n = size(from.n(), "n");
        tensor.c = size(from.c(), "c");
        tensor.h = size(from.h(), "h");
        tensor.w = size(from.w(), "w");
        tensor.size = from.size();
        tensor.line_stride = from.stride_1();
        tensor.surface_stride = from.stride_2();
        l_.tensors.push_back(std::move(tensor));
    }

    void read_memory(const fbs::Memory& from, std::size_t i)
    {
        MemoryEntry memory;
        memory.domain = from.domain();
        memory.flags = from.flags();
        memory.size = from.size();
        memory.alignment = from.alignment();
        memory.bind = from.bind_id();
        memory.tensor = from.tensor_desc_id();
        if (memory.domain > 1) fail("memory", i, fmt::format("is in domain {}, expected 0 (system memory) or 1 (SRAM)", memory.domain));
        if (memory.is(MemoryEntry::Set)) read_contents(from, i, memory);
        l_.memories.push_back(std::move(memory));
    }

    void read_contents(const fbs::Memory& from, std::size_t i, MemoryEntry& memory)
    {
        const std::uint32_t names = from.contents() ? from.contents()->size() : 0, offsets = from.offsets() ? from.offsets()->size() : 0;
        if (names != offsets) fail("memory", i, fmt::format("has {} contents at {} offsets, expected equal numbers", names, offsets));
        for (std::uint32_t k = 0; k < names; ++k) {
            const std::string name = from.contents()->Get(k)->str();
            const auto blob = blobs_.find(name);
            if (blob == blobs_.end()) fail("memory", i, "has content \"" + name + "\", expected the name of a blob");
            const Content content{blob->second, from.offsets()->Get(k)};
            const std::uint64_t bytes = l_.blobs[content.blob].bytes.size();
            if (bytes > memory.size || content.offset > memory.size - bytes)
                fail("memory", i,
                     fmt::format("has {} bytes of blob \"{}\" at {}, expected them within its {} bytes", bytes, name, content.offset,
                                 memory.size));
            if ((filled_ += bytes) > kMaxBytes) fail("memory", i, fmt::format("has contents of more than {} bytes in all", kMaxBytes));
            memory.contents.push_back(content);
        }
    }

    void read_address(const fbs::Address& from, std::size_t i)
    {
        if (from.mem_id() >= l_.memories.size())
            fail("address", i, fmt::format("is in memory {}, expected one of {}", from.mem_id(), l_.memories.size()));
        if (from.offset() > l_.memories[from.mem_id()].size)
            fail("address", i,
                 fmt::format("has offset {}, expected it within the {} bytes of its memory", from.offset(),
                             l_.memories[from.mem_id()].size));
        l_.addresses.push_back({from.mem_id(), from.offset()});
    }

    void read_task(const fbs::Task& from, std::size_t i)
    {
        Task task;
        if (from.interface() != 1 && from.interface() != 2)
            fail("task", i, fmt::format("has interface {}, expected 1 (DLA) or 2 (EMU)", from.interface()));
        task.interface = static_cast<Interface>(from.interface());
        const std::uint32_t count = from.address_list() ? from.address_list()->size() : 0;
        if (count == 0 || count > kMaxElements)
            fail("task", i, fmt::format("has a list of {} addresses, expected 1 to {}", count, kMaxElements));
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint16_t address = from.address_list()->Get(k);
            if (address >= l_.addresses.size())
                fail("task", i, fmt::format("names address {}, expected one of {}", address, l_.addresses.size()));
            task.addresses.push_back(address);
        }
        l_.tasks.push_back(std::move(task));
    }

    void read_submits()
    {
        std::set<std::size_t> seen;
        each(root_->submits(), "submit", [&](const fbs::Submit& from, std::size_t i) {
            for (std::uint32_t k = 0; from.task_ids() && k < from.task_ids()->size(); ++k) {
                const std::uint16_t task = from.task_ids()->Get(k);
                if (task >= l_.tasks.size()) fail("submit", i, fmt::format("names task {}, expected one of {}", task, l_.tasks.size()));
                if (!seen.insert(task).second) fail("submit", i, fmt::format("names task {}, which was submitted before", task));
                l_.order.push_back(task);
            }
        });
        if (l_.order.empty())
            for (std::size_t i = 0; i < l_.tasks.size(); ++i) l_.order.push_back(i);
        if (l_.order.empty()) throw ConfigError(l_.file, "has no tasks, expected one at least");
    }

    void check_bindings(MemoryEntry::Flag flag, const char* what) const
    {
        std::set<unsigned> seen;
        for (std::size_t i = 0; i < l_.memories.size(); ++i) {
            const MemoryEntry& memory = l_.memories[i];
            if (!memory.is(flag) || memory.tensor >= l_.tensors.size()) continue;
            if (!seen.insert(memory.bind).second) fail("memory", i, fmt::format("is {} {}, like another one", what, memory.bind));
        }
        if (!seen.empty() && *seen.rbegin() != seen.size() - 1)
            throw ConfigError(l_.file, fmt::format("binds {}s up to {}, expected {} without gaps", what, *seen.rbegin(), seen.size()));
    }

    Loadable l_;
    const fbs::Root* root_ = nullptr;
    std::map<std::string, std::size_t> blobs_;
    std::uint64_t filled_ = 0;
};

}  // namespace

Loadable parse_loadable(std::string bytes, const std::string& file) { return Reader(std::move(bytes), file).read(); }

Loadable read_loadable(const std::string& path)
{
    const auto judge = [&](std::string_view bytes) {
        if (bytes.substr(0, 4) == std::string_view("\0\0\0\0", 4))  // where the root is
            throw ConfigError(path, "is no FlatBuffer of a loadable, expected a file that the NVDLA compiler has written");
    };
    return parse_loadable(read_text(path, kMaxBytes, judge), path);
}

}  // namespace dlasim::loadable
