#include <fmt/format.h>

#include "loadable/descriptor_fields.h"
#include "loadable/descriptor_layout.h"
#include "loadable/nvidia/check/checked_task.h"

namespace dlasim::loadable {
namespace {

/// What the network descriptor says.
struct NetworkFields {
    std::int16_t operations = 0, surfaces = 0, graph = 0, tables = 0, roi = 0, roi_surfaces = 0, statistics = 0;
    std::array<std::int16_t, kKinds> heads{};
    std::uint16_t rois = 0, count = 0, luts = 0, addresses = 0;
    std::uint8_t dynamic = 0;
};

class TaskCheck {
public:
    TaskCheck(CheckedFile& f, std::size_t task) : f_(f), t_{f, f.file.tasks[task], fmt::format("task {}", task)} {}

    void run()
    {
        if (!read_network()) return;
        if (!read_lists()) return;
        if (!check_graph(t_)) return;
        for (std::size_t i = 0; i < t_.task.operations.size(); ++i) check_operation(t_, i);
    }

private:
    /// The memory of an entry of the list as the driver's processor reads it: from its beginning, whatever the address says.
    std::optional<MemoryView> list(int entry, const char* what)
    {
        if (entry < 0 || static_cast<std::size_t>(entry) >= t_.raw.addresses.size()) {
            f_.refuse("descriptor", t_.place, fmt::format("has its {} in entry {} of a list of {}", what, entry, t_.raw.addresses.size()));
            return std::nullopt;
        }
        const auto at = static_cast<std::size_t>(entry);
        const RawMemory& memory = f_.memory(t_.raw, at);
        if (const std::uint64_t offset = f_.address(t_.raw, at).offset; offset != 0)
            f_.refuse("address", t_.place,
                      fmt::format("has its {} at an address with offset {}, expected 0: the driver ignores the offset", what, offset));
        if (!memory.is(MemoryEntry::Set)) f_.refuse("descriptor", t_.place, fmt::format("has its {} in a memory without contents", what));
        return f_.view(memory, 0);
    }

    /// Of the last blob in that memory.
    Version version() const
    {
        Version version{0, 12, 0};
        for (const std::string& name : f_.memory(t_.raw, 0).contents)
            if (const RawBlob* blob = f_.blob(name)) version = blob->version.value_or(Version{});
        return version;
    }

    bool read_network()
    {
        const auto view = list(0, "network descriptor");
        if (!view || view->size() < kNetworkBytes) {
            f_.refuse("descriptor", t_.place, "has no network descriptor in entry 0 of its list");
            return false;
        }
        if (const Version v = version(); v.before({0, 12, 0}) && v.number() != 0)
            f_.refuse(
                "blob version", t_.place,
                fmt::format("has interface version {}: the driver reads every file as 0.12, whose surfaces have another layout", text(v)));
        Fields fields(view->bytes(0, kNetworkBytes));
        fields.fields(n_.operations, n_.surfaces, n_.graph, n_.tables, n_.roi, n_.roi_surfaces, n_.statistics);
        fields.gap(2);
        fields.list(n_.heads);
        fields.fields(n_.rois, n_.count, n_.luts, n_.addresses);
        fields.gap(2);
        fields.fields(n_.dynamic);
        if (n_.count == 0) {
            f_.refuse("network", t_.place, "has no operations: the driver waits for ever");
            return false;
        }
        if (n_.rois != 1) f_.refuse("network", t_.place, fmt::format("has {} regions of interest, expected 1", n_.rois));
        if (n_.dynamic != 0) f_.refuse("network", t_.place, "has dynamic regions of interest, expected none");
        if (n_.statistics != -1)
            f_.refuse("network", t_.place,
                      fmt::format("has a statistics list, {}, expected -1: the kernel follows a null pointer", n_.statistics));
        return true;
    }

    bool holds(const MemoryView& view, const char* name, std::uint64_t bytes)
    {
        if (view.size() >= n_.count * bytes) return true;
        f_.refuse("descriptor", t_.place,
                  fmt::format("has a {} of {} bytes, expected {} for {} operations", name, view.size(), n_.count * bytes, n_.count));
        return false;
    }

    void look_at_graph_name()
    {
        const RawMemory& memory = f_.memory(t_.raw, static_cast<std::size_t>(n_.graph));
        for (const std::string& name : memory.contents)
            if (f_.blob(name) && name.find("dep_graph") == std::string::npos)
                f_.refuse(
                    "dep_graph", t_.place,
                    fmt::format("has its dependency graph in blob \"{}\", expected dep_graph in the name: the second run hangs", name));
    }

    bool read_lists()
    {
        const auto graph = list(n_.graph, "dependency graph");
        if (graph) look_at_graph_name();
        const auto operations = list(n_.operations, "operation list"), surfaces = list(n_.surfaces, "surface list");
        if (!graph || !operations || !surfaces) return false;
        if (!holds(*graph, "dependency graph", kCommonBytes) || !holds(*operations, "operation list", kOperationBytes) ||
            !holds(*surfaces, "surface list", kSurfaceBytes))
            return false;
        for (std::size_t kind = 0; kind < kKinds; ++kind)
            if (const int head = n_.heads[kind]; head >= n_.count || head < -1) {
                f_.refuse("network", t_.place,
                          fmt::format("begins {} with operation {}, expected one of {} or -1", kKindNames[kind], head, n_.count));
                return false;
            }
        if (n_.luts != 0) {
            const auto tables = list(n_.tables, "table list");
            if (!tables) return false;
            if (tables->size() < kTableBytes * n_.luts) {
                f_.refuse(
                    "descriptor", t_.place,
                    fmt::format("has a table list of {} bytes, expected {} for {} tables", tables->size(), kTableBytes * n_.luts, n_.luts));
                return false;
            }
        }
        read_operations(*graph, *operations, *surfaces);
        return true;
    }

    void read_operations(const MemoryView& graph, const MemoryView& operations, const MemoryView& surfaces)
    {
        t_.task.where = t_.place;
        t_.task.heads = n_.heads;
        t_.tables = n_.luts;
        t_.copies.resize(n_.count);
        t_.consumers.resize(n_.count);
        for (std::uint64_t i = 0; i < n_.count; ++i) {
            Operation o;
            Fields common(graph.bytes(i * kCommonBytes, kCommonBytes));
            common.gap(3);
            o.kind = static_cast<Kind>(common.get<std::uint8_t>());
            links_layout(common, o);
            Fields surface(surfaces.bytes(i * kSurfaceBytes, kSurfaceBytes), true),
                fields(operations.bytes(i * kOperationBytes, kOperationBytes));
            if (o.kind == Kind::Bdma) read_copy(t_.copies[i], o, surface);
            else kind_layout(surface, fields, o);
            if (const int parent = o.fused_parent.operation; parent >= 0 && parent < n_.count)
                t_.consumers[static_cast<std::size_t>(parent)].push_back(i);
            t_.task.operations.push_back(std::move(o));
        }
    }

    static void read_copy(TransferMemories& memories, Operation& o, Fields& surface)
    {
        memories = {surface.get<std::uint8_t>(), surface.get<std::uint8_t>(), surface.get<std::uint16_t>()};
        o.bdma.transfers.resize(std::min<std::size_t>(memories.transfers, kMaxTransfers));
        for (Transfer& transfer : o.bdma.transfers) transfer_layout(surface, transfer);
    }

    CheckedFile& f_;
    CheckedTask t_;
    NetworkFields n_;
};

}  // namespace

void check_hardware_task(CheckedFile& f, std::size_t task) { TaskCheck(f, task).run(); }

}  // namespace dlasim::loadable
