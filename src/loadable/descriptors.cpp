#include "loadable/descriptors.h"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint64_t kNetworkBytes = 40, kCommonBytes = 36, kOperationBytes = 116, kSurfaceBytes = 644, kTableBytes = 700;
constexpr std::size_t kMaxTransfers = 20;

/// Fields of a packed little-endian structure, one after the other.
class Fields {
public:
    explicit Fields(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

    template <class T>
    T get()
    {
        std::make_unsigned_t<T> value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<std::make_unsigned_t<T>>(value | static_cast<std::make_unsigned_t<T>>(bytes_[at_ + i]) << (8 * i));
        at_ += sizeof(T);
        return static_cast<T>(value);
    }
    template <class... T>
    void read(T&... values)
    {
        ((values = get<T>()), ...);
    }
    template <class T, std::size_t N>
    void read_all(std::array<T, N>& values)
    {
        for (T& value : values) value = get<T>();
    }
    void skip(std::size_t bytes) { at_ += bytes; }

private:
    std::vector<std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

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
        network.skip(4);
        t_.lists = {operations, surfaces, graph, tables, network.get<std::int16_t>()};
        network.skip(2);
        network.read_all(t_.heads);
        const auto rois = network.get<std::uint16_t>(), count = network.get<std::uint16_t>(), luts = network.get<std::uint16_t>();
        network.skip(4);
        if (luts == 0) t_.lists[HardwareTask::Tables] = -1;
        if (network.get<std::uint8_t>() != 0) throw ConfigError(t_.where, "has dynamic regions of interest, expected none");
        if (rois > 1) throw ConfigError(t_.where, fmt::format("has {} regions of interest, expected 1", rois));
        if (count == 0) {
            check();
            return std::move(t_);
        }
        if (luts != 0) read_tables(view(tables), luts);
        const MemoryView graph_view = view(graph), operation_view = view(operations), surface_view = view(surfaces);
        // Whether all are there is seen before any is read: a memory may be said to be larger than its blobs.
        (void)graph_view.bytes(std::uint64_t{count - 1u} * kCommonBytes, kCommonBytes);
        (void)operation_view.bytes(std::uint64_t{count - 1u} * kOperationBytes, kOperationBytes);
        (void)surface_view.bytes(std::uint64_t{count - 1u} * kSurfaceBytes, kSurfaceBytes);
        for (std::uint64_t i = 0; i < count; ++i) {
            Operation operation;
            read_common(Fields(graph_view.bytes(i * kCommonBytes, kCommonBytes)), operation, i);
            Fields surface(surface_view.bytes(i * kSurfaceBytes, kSurfaceBytes)),
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
        f.skip(3);
        const auto type = f.get<std::uint8_t>();
        if (type >= kKinds)
            throw ConfigError(fmt::format("{}: operation {}", t_.where, i), fmt::format("has type {}, expected 0 to 5", type));
        o.kind = static_cast<Kind>(type);
        o.dependencies = f.get<std::uint8_t>();
        f.skip(3);
        for (Link& link : o.consumers) read_link(f, link);
        read_link(f, o.fused_parent);
    }
    static void read_link(Fields& f, Link& link)
    {
        f.read(link.operation, link.event);
        f.skip(1);
    }

    void read_cube(Fields& f, Cube& cube) const
    {
        cube.memory = static_cast<CubeMemory>(f.get<std::uint16_t>());
        f.read(cube.address);
        if (!t_.version.before({0, 12, 0})) f.read(cube.offset);
        f.read(cube.size);
        cube.width = f.get<std::uint16_t>();
        cube.height = f.get<std::uint16_t>();
        cube.channels = f.get<std::uint16_t>();
        f.skip(2);
        f.read(cube.line_stride, cube.surface_stride, cube.plane_stride);
    }
    static void read_converter(Fields& f, Converter& c) { f.read(c.scale, c.truncate, c.enable, c.offset); }

    void read_operation(Operation& o, Fields& surface, Fields& f, std::uint64_t i) const
    {
        switch (o.kind) {
            case Kind::Bdma:
                return read_bdma(o.bdma, surface, i);
            case Kind::Conv:
                return read_conv(o.conv, surface, f);
            case Kind::Sdp:
                return read_sdp(o.sdp, surface, f);
            case Kind::Pdp:
                return read_pdp(o.pdp, surface, f);
            case Kind::Cdp:
                read_cube(surface, o.cdp.source);
                read_cube(surface, o.cdp.destination);
                f.read(o.cdp.input_precision, o.cdp.precision, o.cdp.table);
                read_converter(f, o.cdp.input_converter);
                read_converter(f, o.cdp.output_converter);
                return f.read(o.cdp.window, o.cdp.bypass_square_sum, o.cdp.bypass_multiplier);
            case Kind::Rubik:
                read_cube(surface, o.rubik.source);
                read_cube(surface, o.rubik.destination);
                return f.read(o.rubik.mode, o.rubik.precision, o.rubik.stride_x, o.rubik.stride_y);
        }
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
        for (Transfer& t : o.transfers)
            surface.read(t.source, t.destination, t.line_bytes, t.lines, t.source_line, t.destination_line, t.surfaces, t.source_surface,
                         t.destination_surface);
    }

    void read_conv(ConvOperation& o, Fields& surface, Fields& f) const
    {
        for (Cube* cube : {&o.weights, &o.mask, &o.groups, &o.source, &o.destination}) read_cube(surface, *cube);
        surface.read(o.second_plane, o.second_line_stride);
        f.read(o.mode, o.data_reuse, o.weight_reuse, o.skip_data_release, o.skip_weight_release);
        f.skip(1);
        f.read(o.entries, o.format, o.pixel_mapping, o.fetch_grain);
        f.skip(8);
        f.read(o.batch, o.weight_format, o.data_banks, o.weight_banks, o.batch_stride, o.post_extension, o.pixel_override, o.released,
               o.csc_width, o.csc_height, o.csc_channels, o.kernel_width, o.kernel_height, o.kernel_channels, o.mac_width, o.mac_height,
               o.bytes_per_kernel);
        f.read_all(o.mean);
        f.read(o.mean_on, o.stride_x, o.stride_y, o.pad_left, o.pad_right, o.pad_top, o.pad_bottom, o.dilation_x, o.dilation_y);
        f.skip(2);
        f.read(o.winograd_truncate, o.input_precision, o.precision, o.pad_value);
        read_converter(f, o.input_converter);
        read_converter(f, o.output_converter);
    }

    void read_sdp(SdpOperation& o, Fields& surface, Fields& f) const
    {
        for (Cube* cube : {&o.source, &o.operands[0], &o.operands[1], &o.operands[2], &o.destination}) read_cube(surface, *cube);
        f.read(o.source_precision, o.precision, o.table);
        read_converter(f, o.output_converter);
        f.read(o.mode, o.batch);
        f.skip(2);
        f.read(o.batch_stride);
        for (SdpStage& s : o.stages) {
            f.read(s.enable, s.alu, s.type, s.mode, s.activation, s.shift, s.truncate, s.precision, s.alu_operand, s.multiplier_operand);
            read_converter(f, s.alu_converter);
            read_converter(f, s.multiplier_converter);
        }
    }

    void read_pdp(PdpOperation& o, Fields& surface, Fields& f) const
    {
        read_cube(surface, o.source);
        read_cube(surface, o.destination);
        f.read_all(o.partial_in);
        f.read_all(o.partial_out);
        f.read(o.splits, o.method, o.kernel_width, o.kernel_height, o.stride_x, o.stride_y, o.pad_left, o.pad_right, o.pad_top,
               o.pad_bottom, o.precision);
        f.skip(1);
        f.read_all(o.pad_values);
    }

    void read_tables(const MemoryView& view, std::uint64_t count)
    {
        for (std::uint64_t i = 0; i < count; ++i) {
            Fields f(view.bytes(i * kTableBytes, kTableBytes));
            LookupTable t;
            f.read_all(t.le);
            f.read_all(t.lo);
            f.read(t.le_offset);
            f.skip(1);
            f.read(t.lo_select);
            f.skip(1);
            f.read(t.le_start, t.le_end, t.lo_start, t.lo_end);
            for (Slope* slope : {&t.le_underflow, &t.le_overflow, &t.lo_underflow, &t.lo_overflow}) {
                f.read(slope->scale, slope->shift);
                f.skip(1);
            }
            f.read(t.hybrid_priority, t.underflow_priority, t.overflow_priority, t.method);
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

/// One of the cubes of an operation; null of BDMA, which has none.
template <class Which>
const Cube* cube_of(const Operation& o, Which which)
{
    switch (o.kind) {
        case Kind::Conv:
            return which(o.conv);
        case Kind::Sdp:
            return which(o.sdp);
        case Kind::Pdp:
            return which(o.pdp);
        case Kind::Cdp:
            return which(o.cdp);
        case Kind::Rubik:
            return which(o.rubik);
        default:
            return nullptr;
    }
}

}  // namespace

bool SdpOperation::needs_rdma() const
{
    bool operands = false;
    for (const SdpStage& stage : stages) operands = operands || (stage.enable != 0 && stage.mode != 0);
    return !source.on_the_fly() || operands;
}

const Cube* Operation::source() const
{
    return cube_of(*this, [](const auto& of_kind) { return &of_kind.source; });
}

const Cube* Operation::destination() const
{
    return cube_of(*this, [](const auto& of_kind) { return &of_kind.destination; });
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
