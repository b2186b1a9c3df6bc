#include "loadable/write/descriptor_bytes.h"

#include <type_traits>

namespace dlasim::loadable {
namespace {

constexpr std::size_t kNetworkSlot = 40, kOperationSlot = 116, kSurfaceSlot = 644;

/// A packed little-endian structure, field by field.
class PackedFields {
public:
    template <class T>
    void put(T value)
    {
        const auto word = static_cast<std::make_unsigned_t<T>>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    }
    template <class... T>
    void write(const T&... values)
    {
        (put(values), ...);
    }
    template <class T, std::size_t N>
    void write_all(const std::array<T, N>& values)
    {
        for (const T& value : values) put(value);
    }
    void pad(std::size_t bytes) { bytes_.resize(bytes_.size() + bytes); }
    void pad_to(std::size_t size) { bytes_.resize(size); }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
};

void put_cube(PackedFields& f, const Cube& cube)
{
    f.write(static_cast<std::uint16_t>(cube.memory), cube.address, cube.offset, cube.size, static_cast<std::uint16_t>(cube.width),
            static_cast<std::uint16_t>(cube.height), static_cast<std::uint16_t>(cube.channels), std::uint16_t{0}, cube.line_stride,
            cube.surface_stride, cube.plane_stride);
}
void put_converter(PackedFields& f, const Converter& c) { f.write(c.scale, c.truncate, c.enable, c.offset); }

void put_link(PackedFields& f, const Link& link) { f.write(link.operation, link.event, std::uint8_t{0}); }

void put_common(PackedFields& f, const Operation& o)
{
    f.pad(3);
    f.write(static_cast<std::uint8_t>(o.kind), o.dependencies);
    f.pad(3);
    for (const Link& link : o.consumers) put_link(f, link);
    put_link(f, o.fused_parent);
}

void put_bdma(PackedFields& surface, PackedFields& f, const BdmaOperation& o)
{
    const auto count = static_cast<std::uint16_t>(o.transfers.size());
    surface.write(std::uint8_t{!o.from_primary}, std::uint8_t{!o.to_primary}, count);
    for (const Transfer& t : o.transfers)
        surface.write(t.source, t.destination, t.line_bytes, t.lines, t.source_line, t.destination_line, t.surfaces, t.source_surface,
                      t.destination_surface);
    f.write(count, std::uint16_t{0});
}

void put_conv(PackedFields& surface, PackedFields& f, const ConvOperation& o)
{
    for (const Cube* cube : {&o.weights, &o.mask, &o.groups, &o.source, &o.destination}) put_cube(surface, *cube);
    surface.write(o.second_plane, o.second_line_stride);
    f.write(o.mode, o.data_reuse, o.weight_reuse, o.skip_data_release, o.skip_weight_release);
    f.pad(1);
    f.write(o.entries, o.format, o.pixel_mapping, o.fetch_grain);
    f.pad(8);
    f.write(o.batch, o.weight_format, o.data_banks, o.weight_banks, o.batch_stride, o.post_extension, o.pixel_override, o.released,
            o.csc_width, o.csc_height, o.csc_channels, o.kernel_width, o.kernel_height, o.kernel_channels, o.mac_width, o.mac_height,
            o.bytes_per_kernel);
    f.write_all(o.mean);
    f.write(o.mean_on, o.stride_x, o.stride_y, o.pad_left, o.pad_right, o.pad_top, o.pad_bottom, o.dilation_x, o.dilation_y);
    f.pad(2);
    f.write(o.winograd_truncate, o.input_precision, o.precision, o.pad_value);
    put_converter(f, o.input_converter);
    put_converter(f, o.output_converter);
}

void put_sdp(PackedFields& surface, PackedFields& f, const SdpOperation& o)
{
    for (const Cube* cube : {&o.source, &o.operands[0], &o.operands[1], &o.operands[2], &o.destination}) put_cube(surface, *cube);
    f.write(o.source_precision, o.precision, o.table);
    put_converter(f, o.output_converter);
    f.write(o.mode, o.batch);
    f.pad(2);
    f.write(o.batch_stride);
    for (const SdpStage& s : o.stages) {
        f.write(s.enable, s.alu, s.type, s.mode, s.activation, s.shift, s.truncate, s.precision, s.alu_operand, s.multiplier_operand);
        put_converter(f, s.alu_converter);
        put_converter(f, s.multiplier_converter);
    }
}

void put_pdp(PackedFields& surface, PackedFields& f, const PdpOperation& o)
{
    put_cube(surface, o.source);
    put_cube(surface, o.destination);
    f.write_all(o.partial_in);
    f.write_all(o.partial_out);
    f.write(o.splits, o.method, o.kernel_width, o.kernel_height, o.stride_x, o.stride_y, o.pad_left, o.pad_right, o.pad_top, o.pad_bottom,
            o.precision);
    f.pad(1);
    f.write_all(o.pad_values);
}

void put_operation(PackedFields& surface, PackedFields& f, const Operation& o)
{
    switch (o.kind) {
        case Kind::Bdma:
            return put_bdma(surface, f, o.bdma);
        case Kind::Conv:
            return put_conv(surface, f, o.conv);
        case Kind::Sdp:
            return put_sdp(surface, f, o.sdp);
        case Kind::Pdp:
            return put_pdp(surface, f, o.pdp);
        case Kind::Cdp:
            put_cube(surface, o.cdp.source);
            put_cube(surface, o.cdp.destination);
            f.write(o.cdp.input_precision, o.cdp.precision, o.cdp.table);
            put_converter(f, o.cdp.input_converter);
            put_converter(f, o.cdp.output_converter);
            return f.write(o.cdp.window, o.cdp.bypass_square_sum, o.cdp.bypass_multiplier);
        case Kind::Rubik:
            put_cube(surface, o.rubik.source);
            put_cube(surface, o.rubik.destination);
            return f.write(o.rubik.mode, o.rubik.precision, o.rubik.stride_x, o.rubik.stride_y);
    }
}

void put_table(PackedFields& f, const LookupTable& t)
{
    f.write_all(t.le);
    f.write_all(t.lo);
    f.write(t.le_offset);
    f.pad(1);
    f.write(t.lo_select);
    f.pad(1);
    f.write(t.le_start, t.le_end, t.lo_start, t.lo_end);
    for (const Slope* slope : {&t.le_underflow, &t.le_overflow, &t.lo_underflow, &t.lo_overflow}) {
        f.write(slope->scale, slope->shift);
        f.pad(1);
    }
    f.write(t.hybrid_priority, t.underflow_priority, t.overflow_priority, t.method);
}

std::vector<std::uint8_t> network_bytes(const HardwareTask& task, const ListPlaces& places)
{
    PackedFields f;
    f.write(places.operations, places.surfaces, places.dependencies, places.tables);
    for (int list = 0; list < 3; ++list) f.put(std::int16_t{-1});  // regions of interest, their surface, statistics
    f.pad(2);
    f.write_all(task.heads);
    f.write(std::uint16_t{1}, static_cast<std::uint16_t>(task.operations.size()), static_cast<std::uint16_t>(task.tables.size()),
            places.addresses);
    f.pad_to(kNetworkSlot);
    return f.take();
}

}  // namespace

DescriptorBytes descriptor_bytes(const HardwareTask& task, const ListPlaces& places)
{
    PackedFields graph, operations, surfaces, tables;
    std::size_t slot = 0;
    for (const Operation& o : task.operations) {
        ++slot;
        put_common(graph, o);
        put_operation(surfaces, operations, o);
        operations.pad_to(slot * kOperationSlot);
        surfaces.pad_to(slot * kSurfaceSlot);
    }
    for (const LookupTable& table : task.tables) put_table(tables, table);
    return {network_bytes(task, places), graph.take(), operations.take(), surfaces.take(), tables.take()};
}

}  // namespace dlasim::loadable
