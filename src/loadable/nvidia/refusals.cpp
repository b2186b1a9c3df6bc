#include "loadable/nvidia/refusals.h"

#include <fmt/format.h>

namespace dlasim::loadable {
namespace {

constexpr const char* kListNames[] = {"operation list", "surface list", "dependency graph", "table list"};
constexpr std::size_t kMostAddresses = 6144;  // of a task

class Search {
public:
    Search(const Loadable& loadable, const Hardware& hardware) : l_(loadable), hw_(hardware) {}

    std::vector<std::string> search(std::span<const HardwareTask> tasks)
    {
        for (const std::string& absent : l_.absent)
            found_.push_back(fmt::format("{}: has {}: the runtime follows a null pointer", l_.file, absent));
        for (std::size_t m = 0; m < l_.memories.size(); ++m) look_at_memory(m);
        for (const HardwareTask& task : tasks) look_at_task(task);
        return std::move(found_);
    }

private:
    void look_at_memory(std::size_t m)
    {
        const MemoryEntry& memory = l_.memories[m];
        const bool bound = memory.is(MemoryEntry::Input) || memory.is(MemoryEntry::Output);
        if (memory.contents.empty()) return;
        if (bound) say(l_.where("memory", m), "is bound, so that the runtime does not load its contents");
        else if (!memory.is(MemoryEntry::Allocate))
            say(l_.where("memory", m), "is not allocated (flag 1), so that the runtime does not load its contents");
    }

    void look_at_task(const HardwareTask& task)
    {
        if (task.version.before({0, 12, 0}))
            say(task.where,
                fmt::format("has interface version {}: the driver reads every file as 0.12, whose surfaces are laid out otherwise",
                            text(task.version)));
        if (task.lists[HardwareTask::Statistics] != -1)
            say(task.where, fmt::format("has a statistics list, {}, expected -1: the kernel follows a null pointer",
                                        task.lists[HardwareTask::Statistics]));
        if (task.operations.empty()) say(task.where, "has no operations: the driver waits for ever");
        const std::vector<std::uint16_t>& addresses = l_.tasks[task.task].addresses;
        if (addresses.size() > kMostAddresses)
            say(task.where, fmt::format("has a list of {} addresses, expected {} at most", addresses.size(), kMostAddresses));
        look_at_list(task, 0, "network descriptor");
        for (std::size_t list = HardwareTask::Operations; list <= HardwareTask::Tables; ++list)
            if (task.lists[list] >= 0) look_at_list(task, static_cast<std::size_t>(task.lists[list]), kListNames[list]);
        for (const std::uint16_t address : addresses) {
            const std::size_t m = l_.addresses[address].memory;
            const MemoryEntry& memory = l_.memories[m];
            if (memory.is(MemoryEntry::Input) || memory.is(MemoryEntry::Output)) continue;
            if (memory.domain == 0 && memory.is(MemoryEntry::Allocate)) continue;
            say(task.where, fmt::format("names memory {}, which the runtime never allocates: {}", m,
                                        memory.domain != 0 ? "it is in SRAM" : "its flag 1 is not set"));
        }
        if (task.lists[HardwareTask::Graph] >= 0) look_at_graph(task, addresses[static_cast<std::size_t>(task.lists[HardwareTask::Graph])]);
        for (std::size_t i = 0; i < task.operations.size(); ++i) look_at_operation(task, i);
    }

    /// The driver's processor reads descriptors from the beginning of their memory.
    void look_at_list(const HardwareTask& task, std::size_t entry, const char* what)
    {
        const std::vector<std::uint16_t>& addresses = l_.tasks[task.task].addresses;
        if (entry >= addresses.size()) return;
        if (const std::uint64_t offset = l_.addresses[addresses[entry]].offset; offset != 0)
            say(task.where,
                fmt::format("has its {} at an address with offset {}, expected 0: the driver ignores the offset", what, offset));
    }

    void look_at_graph(const HardwareTask& task, std::uint16_t address)
    {
        for (const Content& content : l_.memories[l_.addresses[address].memory].contents)
            if (const std::string& name = l_.blobs[content.blob].name; name.find("dep_graph") == std::string::npos)
                say(task.where,
                    fmt::format("has its dependency graph in blob \"{}\", expected dep_graph in the name: the second run hangs", name));
    }

    void look_at_operation(const HardwareTask& task, std::size_t i)
    {
        const Operation& o = task.operations[i];
        const Cube& out = o.conv.destination;
        if (o.kind == Kind::Conv && out.width == 1 && out.height == 1 && out.line_stride != hw_.memory.atom_bytes)
            say(task.where_is(i), fmt::format("has an output of 1 x 1 with a line stride of {}, expected {}: the driver refuses it",
                                              out.line_stride, hw_.memory.atom_bytes));
        if (o.kind == Kind::Rubik) {
            constexpr unsigned kMerge = 2, kPlane = 32;
            if (o.rubik.mode == kMerge && (o.rubik.source.plane_stride == 0 || o.rubik.source.plane_stride % kPlane != 0))
                say(task.where_is(i), fmt::format("merges planes {} bytes apart, expected a multiple of {}: the driver refuses it",
                                                  o.rubik.source.plane_stride, kPlane));
        }
        for (const Transfer& t : o.bdma.transfers)
            if (t.source_line < t.line_bytes || t.destination_line < t.line_bytes)
                say(task.where_is(i),
                    fmt::format("copies lines of {} bytes that lie {} and {} apart, expected no less: the driver refuses it", t.line_bytes,
                                t.source_line, t.destination_line));
        for (const Link& link : o.consumers) look_at_link(task, i, link);
    }

    void look_at_link(const HardwareTask& task, std::size_t i, const Link& link)
    {
        const bool fetched = link.event == Link::WeightsDone || link.event == Link::DataDone;
        if (link.operation < 0 || !fetched || task.operations[i].kind == Kind::Conv) return;
        say(task.where_is(i),
            fmt::format("tells operation {} of its fetches (event {}), which convolutions alone have: the driver waits for ever",
                        link.operation, static_cast<unsigned>(link.event)));
    }

    void say(const std::string& where, const std::string& what) { found_.push_back(where + ": " + what); }

    const Loadable& l_;
    const Hardware& hw_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> nvidia_refusals(const Loadable& loadable, std::span<const HardwareTask> tasks, const Hardware& hardware)
{
    return Search(loadable, hardware).search(tasks);
}

}  // namespace dlasim::loadable
