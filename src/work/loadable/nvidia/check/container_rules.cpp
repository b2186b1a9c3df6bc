#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "loadable/nvidia/check/checked_file.h"

namespace dlasim::loadable {
namespace {

constexpr std::size_t kLongestName = 80, kMostAddresses = 6144, kMostImageChannels = 16;
constexpr Version kRootVersion{0, 7, 0};

std::string nth(const char* list, std::size_t i) { return fmt::format("{} {}", list, i); }

void check_root(CheckedFile& f)
{
    if (!f.file.identified) f.doubt("identifier", "file", "has no NVDA in bytes 4 to 7; this is not checked");
    const Version version = f.file.version.value_or(Version{});
    if (version.number() != kRootVersion.number())
        f.doubt("version", "file",
                fmt::format("has root version {}, known files have {}; this is not checked", text(version), text(kRootVersion)));
    for (const char* list : f.file.absent)
        f.refuse("root vectors", "file", fmt::format("has no list of {}, not even an empty one: the runtime follows a null pointer", list));
}

void check_blobs(CheckedFile& f)
{
    std::set<std::string> names;
    for (std::size_t i = 0; i < f.file.blobs.size(); ++i) {
        const RawBlob& blob = f.file.blobs[i];
        const std::string place = nth("blob", i);
        const auto expect = [&](bool there, const char* what) {
            if (!there) f.refuse("blob", place, fmt::format("has no {}: the runtime follows a null pointer", what));
        };
        expect(blob.name.has_value(), "name");
        expect(blob.version.has_value(), "version");
        expect(blob.has_data, "data");
        if (!blob.name) continue;
        if (!names.insert(*blob.name).second)
            f.doubt("blob", place, fmt::format("has the name {} of another one: the later one is used", *blob.name));
        if (blob.size > blob.held)
            f.refuse("blob", place, fmt::format("has size {}, but {} bytes of data: the runtime reads beyond them", blob.size, blob.held));
        else if (blob.size < blob.held)
            f.doubt("blob", place, fmt::format("has size {}, so that not all of its {} bytes are used", blob.size, blob.held));
    }
}

void check_tensors(CheckedFile& f)
{
    for (std::size_t i = 0; i < f.file.tensors.size(); ++i) {
        const RawTensor& tensor = f.file.tensors[i];
        if (!tensor.name) f.refuse("tensor", nth("tensor", i), "has no name: the runtime follows a null pointer");
        if (tensor.name.value_or("").size() > kLongestName)
            f.doubt("tensor", nth("tensor", i),
                    fmt::format("has a name of {} bytes, which is truncated to {}", tensor.name->size(), kLongestName));
        if (tensor.id != i) f.doubt("tensor", nth("tensor", i), fmt::format("has id {}; its position is used", tensor.id));
    }
}

void check_contents(CheckedFile& f, std::size_t i)
{
    const RawMemory& memory = f.file.memories[i];
    const std::string place = nth("memory", i);
    if (!memory.is(MemoryEntry::Set)) {
        if (std::ranges::any_of(memory.contents, [](const std::string& name) { return !name.empty(); }))
            f.doubt("memory", place, "has contents without the flag 2: they are not loaded");
        return;
    }
    if (memory.contents.size() != memory.offsets.size())
        f.refuse("memory", place,
                 fmt::format("has {} contents at {} offsets, expected equal numbers", memory.contents.size(), memory.offsets.size()));
    if (memory.bound()) f.doubt("memory", place, "is bound, so that the runtime does not load its contents");
    else if (!memory.is(MemoryEntry::Allocate)) f.refuse("memory", place, "has contents without the flag 1: they are not loaded");
    for (std::size_t k = 0; k < std::min(memory.contents.size(), memory.offsets.size()); ++k) {
        const RawBlob* blob = f.blob(memory.contents[k]);
        const std::uint64_t offset = memory.offsets[k];
        if (!blob) f.refuse("memory", place, fmt::format("has content \"{}\", expected the name of a blob", memory.contents[k]));
        else if (offset > memory.size || blob->bytes.size() > memory.size - offset)
            f.refuse("memory", place,
                     fmt::format("has {} bytes of blob \"{}\" at {}, expected them within its {} bytes", blob->bytes.size(),
                                 memory.contents[k], offset, memory.size));
    }
}

void check_memories(CheckedFile& f)
{
    for (std::size_t i = 0; i < f.file.memories.size(); ++i) {
        if (const std::uint16_t id = f.file.memories[i].id; id != i)
            f.doubt("memory", nth("memory", i), fmt::format("has id {}: addresses name positions, relocations ids", id));
        check_contents(f, i);
    }
    for (std::size_t i = 0; i < f.file.addresses.size(); ++i) {
        const RawAddress& address = f.file.addresses[i];
        const std::string place = nth("address", i);
        if (address.memory >= f.file.memories.size())
            f.refuse("address", place, fmt::format("is in memory {}, expected one of {}", address.memory, f.file.memories.size()));
        else if (const std::uint64_t size = f.file.memories[address.memory].size; address.offset >= std::max<std::uint64_t>(1, size))
            f.refuse("address", place, fmt::format("has offset {}, expected it within the {} bytes of its memory", address.offset, size));
        if (address.offset >> 32 != 0) f.refuse("address", place, fmt::format("has offset {}, expected one of 32 bits", address.offset));
        if (address.id != i) f.doubt("address", place, fmt::format("has id {}: tasks name positions, relocations ids", address.id));
    }
}

void check_tensor_of(CheckedFile& f, std::size_t m)
{
    const RawMemory& memory = f.file.memories[m];
    if (memory.tensor >= f.file.tensors.size())
        return f.refuse("bind", nth("memory", m), fmt::format("has tensor {}, expected one of {}", memory.tensor, f.file.tensors.size()));
    const RawTensor& t = f.file.tensors[memory.tensor];
    const std::string place = nth("tensor", memory.tensor);
    if (t.size < memory.size)
        f.refuse("bind", place,
                 fmt::format("has {} bytes, its memory {} has {}: callers allocate the size of the tensor", t.size, m, memory.size));
    else if (t.size > memory.size) f.doubt("bind", place, fmt::format("has {} bytes, its memory {} has {}", t.size, m, memory.size));
    if (t.memory != m) f.doubt("bind", place, fmt::format("names memory {}, but is bound to {}; this is not checked", t.memory, m));
    constexpr unsigned kHalf = 2, kByte = 4;
    struct Form {
        unsigned pixel_format, type;
        bool operator==(const Form&) const = default;
    };
    constexpr std::array kKnown{Form{0, kByte},  Form{0, kHalf},  Form{12, kByte}, Form{8, kHalf},
                                Form{36, kHalf}, Form{36, kByte}, Form{37, kByte}};
    if (memory.is(MemoryEntry::Input) && std::ranges::find(kKnown, Form{t.pixel_format, t.type}) == kKnown.end())
        f.doubt(
            "nvdla_runtime", place,
            fmt::format("is an input of pixel format {} and type {}, which the test application does not support", t.pixel_format, t.type));
    if (memory.is(MemoryEntry::Input) && t.channels > static_cast<std::int32_t>(kMostImageChannels))
        f.doubt("nvdla_runtime", place,
                fmt::format("is an input of {} channels; the test application takes {} at most", t.channels, kMostImageChannels));
    if (memory.is(MemoryEntry::Output) && t.pixel_format != 36 && t.pixel_format != 37)
        f.doubt("nvdla_runtime", place,
                fmt::format("is an output of pixel format {}; the test application takes features", t.pixel_format));
}

void check_bindings(CheckedFile& f)
{
    const auto numbers = [&](bool output) {
        const char* what = output ? "output" : "input";
        std::vector<unsigned> ids;
        for (const RawMemory& memory : f.file.memories)
            if (output ? memory.is(MemoryEntry::Output) && !memory.is(MemoryEntry::Input) : memory.is(MemoryEntry::Input))
                ids.push_back(memory.bind);
        std::ranges::sort(ids);
        bool whole = true;
        for (std::size_t i = 0; i < ids.size(); ++i) whole = whole && ids[i] == i;
        if (!whole)
            f.refuse("bind", "memories",
                     fmt::format("have {} numbers {}, expected 0 to {} once each", what, fmt::join(ids, ", "), ids.size() - 1));
        if (ids.empty()) f.doubt("bind", "memories", fmt::format("have no {}", what));
    };
    numbers(false);
    numbers(true);
    for (std::size_t m = 0; m < f.file.memories.size(); ++m)
        if (f.file.memories[m].bound()) check_tensor_of(f, m);
}

void check_submits(CheckedFile& f)
{
    const RawFile& file = f.file;
    if (file.tasks.empty() || file.submits.empty() || file.memories.empty())
        f.refuse("submit", "file", "needs a task, a submit and a memory");
    std::vector<std::size_t> times(file.tasks.size());
    bool any = false;
    for (std::size_t s = 0; s < file.submits.size(); ++s)
        for (const std::uint16_t task : file.submits[s].tasks) {
            if (task >= file.tasks.size())
                f.refuse("submit", nth("submit", s), fmt::format("names task {}, expected one of {}", task, file.tasks.size()));
            else any = ++times[task] != 0;
        }
    if (!any) f.refuse("submit", "submits", "name no task");
    for (std::size_t t = 0; t < times.size(); ++t) {
        if (times[t] > 1 && file.tasks[t].interface == static_cast<std::uint32_t>(Interface::Dla))
            f.refuse("submit", nth("task", t), fmt::format("is submitted {} times in one run: its dependency graph is used up", times[t]));
        if (times[t] == 0) f.doubt("submit", nth("task", t), "is never submitted");
    }
}

void check_list(CheckedFile& f, std::size_t t)
{
    const RawTask& task = f.file.tasks[t];
    const std::string place = nth("task", t);
    if (task.addresses.empty()) f.refuse("task", place, "has no address list");
    if (task.addresses.size() > kMostAddresses)
        f.refuse("task", place, fmt::format("has a list of {} addresses, expected {} at most", task.addresses.size(), kMostAddresses));
    for (std::size_t k = 0; k < task.addresses.size(); ++k) {
        const std::uint16_t a = task.addresses[k];
        if (a >= f.file.addresses.size()) {
            f.refuse("task", place,
                     fmt::format("has address {} in entry {} of its list, expected one of {}", a, k, f.file.addresses.size()));
            continue;
        }
        const std::uint16_t m = f.file.addresses[a].memory;
        if (task.interface != static_cast<std::uint32_t>(Interface::Dla) || m >= f.file.memories.size()) continue;
        const RawMemory& memory = f.file.memories[m];
        if (memory.bound() || (memory.is(MemoryEntry::Allocate) && memory.domain == 0)) continue;
        f.refuse(
            "memory", place,
            fmt::format("names memory {} in entry {} of its list, which the runtime never allocates (flags {}, domain {}{}): a null handle",
                        m, k, memory.flags, memory.domain, memory.domain != 0 ? ", which is SRAM" : ""));
    }
}

void check_task_entries(CheckedFile& f)
{
    constexpr auto kDla = static_cast<std::uint32_t>(Interface::Dla), kEmu = static_cast<std::uint32_t>(Interface::Emu);
    for (std::size_t t = 0; t < f.file.tasks.size(); ++t) {
        const RawTask& task = f.file.tasks[t];
        const std::string place = nth("task", t);
        if (task.interface != kDla && task.interface != kEmu)
            f.refuse("task", place, fmt::format("has interface {}, expected {} (machine) or {} (CPU)", task.interface, kDla, kEmu));
        if (task.interface == kEmu && task.instance > 0)
            f.refuse("task", place, fmt::format("is of the CPU with instance {}, expected -1 or 0", task.instance));
        if (task.interface == kDla && task.instance != -1)
            f.doubt("task", place, fmt::format("has instance {}, which is ignored", task.instance));
        check_list(f, t);
    }
}

/// The runtime counts their offsets in words, the compiler wrote bytes.
void check_relocations(CheckedFile& f)
{
    if (f.file.relocations.empty()) return;
    const RawRelocation& first = f.file.relocations.front();
    const auto memory = std::ranges::find(f.file.memories, first.memory, &RawMemory::id);
    f.doubt("relocation", "relocation 0",
            fmt::format("has offset {}, which the runtime counts in words of 32 bits: set*TensorDesc writes byte {} of {}", first.offset,
                        4 * first.offset, memory == f.file.memories.end() ? 0 : memory->size));
    if (f.file.relocations.size() > 1)
        f.doubt("relocation", "relocations", fmt::format("has {} more of these", f.file.relocations.size() - 1));
}

}  // namespace

void check_container(CheckedFile& f)
{
    check_root(f);
    if (!f.file.absent.empty()) return;
    check_blobs(f);
    check_tensors(f);
    check_memories(f);
    check_bindings(f);
    check_submits(f);
    check_task_entries(f);
    check_relocations(f);
}

}  // namespace dlasim::loadable
