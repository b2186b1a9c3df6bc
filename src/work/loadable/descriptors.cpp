#include "loadable/descriptors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "loadable/descriptor_fields.h"
#include "loadable/descriptor_layout.h"

namespace dlasim::loadable {
namespace {

class TaskReader {
public:
    TaskReader(const Loadable& loadable, const MemoryPlan& memories, std::size_t task) : memories_(memories), task_(loadable.tasks[task])
    {
        t_.task = task;
        t_.where = loadable.where("task", task);
    }

    HardwareTask read()
    {
        t_.version = memories_.version(task_, 0, t_.where);
        if (t_.version.before({0, 10, 0}) || !t_.version.before({0, 13, 0}))
            throw ConfigError(t_.where, "has interface version " + text(t_.version) + ", expected 0.10, 0.11 or 0.12");
        Fields network(view(0).bytes(0, kNetworkBytes));
        const auto operations = network.get<std::int16_t>(), surfaces = network.get<std::int16_t>(), graph = network.get<std::int16_t>(),
                   tables = network.get<std::int16_t>();
        network.gap(4);
        t_.lists = {operations, surfaces, graph, tables, network.get<std::int16_t>()};
        network.gap(2);
        network.list(t_.heads);
        const auto rois = network.get<std::uint16_t>(), count = network.get<std::uint16_t>(), luts = network.get<std::uint16_t>();
        network.gap(4);
        if (luts == 0) t_.lists[HardwareTask::Tables] = -1;
        if (network.get<std::uint8_t>() != 0) throw ConfigError(t_.where, "has dynamic regions of interest, expected none");
        if (rois > 1) throw ConfigError(t_.where, fmt::format("has {} regions of interest, expected 1", rois));
        if (count == 0) {
            check();
            return std::move(t_);
        }
        if (luts != 0) read_tables(view(tables), luts);
        const MemoryView graph_view = view(graph), operation_view = view(operations), surface_view = view(surfaces);
        // Checks that all exist before any is read: a memory may be declared larger than its blobs.
        (void)graph_view.bytes(std::uint64_t{count - 1u} * kCommonBytes, kCommonBytes);
        (void)operation_view.bytes(std::uint64_t{count - 1u} * kOperationBytes, kOperationBytes);
        (void)surface_view.bytes(std::uint64_t{count - 1u} * kSurfaceBytes, kSurfaceBytes);
        for (std::uint64_t i = 0; i < count; ++i) {
            Operation operation;
            read_common(Fields(graph_view.bytes(i * kCommonBytes, kCommonBytes)), operation, i);
            Fields surface(surface_view.bytes(i * kSurfaceBytes, kSurfaceBytes), !t_.version.before({0, 12, 0})),
                fields(operation_view.bytes(i * kOperationBytes, kOperationBytes));
            read_operation(operation, surface, fields, i);
            t_.operations.push_back(std::move(operation));
        }
        check();
        return std::move(t_);
    }

private:
    MemoryView view(int index) const { return memories_.view(task_, index, t_.where); }

    void read_common(Fields f, Operation& o, std::uint64_t i) const
    {
        f.gap(3);
        const auto type = f.get<std::uint8_t>();
        if (type >= kKinds)
            throw ConfigError(fmt::format("{}: operation {}", t_.where, i), fmt::format("has type {}, expected 0 to 5", type));
        o.kind = static_cast<Kind>(type);
        links_layout(f, o);
    }

    void read_operation(Operation& o, Fields& surface, Fields& f, std::uint64_t i) const
    {
        if (o.kind == Kind::Bdma) read_bdma(o.bdma, surface, i);
        else kind_layout(surface, f, o);
    }

    void read_bdma(BdmaOperation& o, Fields& surface, std::uint64_t i) const
    {
        o.from_primary = surface.get<std::uint8_t>() == 0;
        o.to_primary = surface.get<std::uint8_t>() == 0;
        const auto count = surface.get<std::uint16_t>();
        if (count > kMaxTransfers)
            throw ConfigError(fmt::format("{}: operation {} (BDMA)", t_.where, i),
                              fmt::format("has {} transfers, expected {} at most", count, kMaxTransfers));
        o.transfers.resize(count);
        for (Transfer& t : o.transfers) transfer_layout(surface, t);
    }

    void read_tables(const MemoryView& view, std::uint64_t count)
    {
        for (std::uint64_t i = 0; i < count; ++i) {
            Fields f(view.bytes(i * kTableBytes, kTableBytes));
            LookupTable t;
            table_layout(f, t);
            t_.tables.push_back(t);
        }
    }

    void check() const
    {
        const auto count = static_cast<int>(t_.operations.size());
        const auto check_index = [&](int index, const std::string& where, const char* what) {
            if (index < -1 || index >= count)
                throw ConfigError(where, fmt::format("names {} {}, expected one of {} or -1", what, index, count));
        };
        for (std::size_t kind = 0; kind < kKinds; ++kind) {
            check_index(t_.heads[kind], t_.where, "first operation");
            if (t_.heads[kind] >= 0 && t_.operations[static_cast<std::size_t>(t_.heads[kind])].type() != kind)
                throw ConfigError(t_.where,
                                  fmt::format("begins {} with operation {}, which is of another kind", kKindNames[kind], t_.heads[kind]));
        }
        for (std::size_t i = 0; i < t_.operations.size(); ++i) {
            const Operation& o = t_.operations[i];
            const std::string where = t_.where_is(i);
            for (const Link& link : o.consumers) check_index(link.operation, where, "consumer");
            check_index(o.fused_parent.operation, where, "fused parent");
            if (const int own = o.consumers[o.type()].operation; own >= 0 && t_.operations[static_cast<std::size_t>(own)].kind != o.kind)
                throw ConfigError(where, fmt::format("is followed by operation {}, expected one of its kind", own));
            if (o.table() >= static_cast<int>(t_.tables.size()) || o.table() < -1)
                throw ConfigError(where, fmt::format("uses table {}, expected one of {}", o.table(), t_.tables.size()));
        }
    }

    const MemoryPlan& memories_;
    const Task& task_;
    HardwareTask t_;
};

}  // namespace

bool SdpOperation::needs_rdma() const
{
    const bool reads = std::ranges::any_of(stages, [](const SdpStage& stage) { return stage.enable != 0 && stage.mode != 0; });
    return reads || !source.on_the_fly();
}

const Cube* Operation::source() const
{
    return visit(Cases{[](const BdmaOperation&) -> const Cube* { return nullptr; }, [](const auto& o) { return &o.source; }}, *this);
}

const Cube* Operation::destination() const
{
    return visit(Cases{[](const BdmaOperation&) -> const Cube* { return nullptr; }, [](const auto& o) { return &o.destination; }}, *this);
}

std::string HardwareTask::where_is(std::size_t operation) const
{
    return fmt::format("{}: operation {} ({})", where, operation, operations[operation].name());
}

HardwareTask read_task(const Loadable& loadable, const MemoryPlan& memories, std::size_t task)
{
    return TaskReader(loadable, memories, task).read();
}

}  // namespace dlasim::loadable
