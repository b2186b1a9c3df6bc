// The descriptors of an operation, field by field: one description for the reader and the writer.
//
//   Fields   fields(a, b, ..)   each in its own size, little-endian       gap(n)   bytes that hold nothing
//            list(array)        its elements                              half(a)  in 16 bits
//            offset(a)          since interface 0.12
//
// Source  loadable.md 3.
#pragma once
#include "loadable/descriptors.h"

namespace dlasim::loadable {

template <class Fields, class C>
void converter_layout(Fields& f, C& c)
{
    f.fields(c.scale, c.truncate, c.enable, c.offset);
}

/// What follows its kind: the operations that it notifies.
template <class Fields, class O>
void links_layout(Fields& f, O& o)
{
    const auto link = [&](auto& to) {
        f.fields(to.operation, to.event);
        f.gap(1);
    };
    f.fields(o.dependencies);
    f.gap(3);
    for (auto& consumer : o.consumers) link(consumer);
    link(o.fused_parent);
}

template <class Fields, OneOf<ConvOperation> O>
void operation_layout(Fields& surface, Fields& f, O& o)
{
    for (auto* cube : {&o.weights, &o.mask, &o.groups, &o.source, &o.destination}) cube_layout(surface, *cube);
    surface.fields(o.second_plane, o.second_line_stride);
    f.fields(o.mode, o.data_reuse, o.weight_reuse, o.skip_data_release, o.skip_weight_release);
    f.gap(1);
    f.fields(o.entries, o.format, o.pixel_mapping, o.fetch_grain);
    f.gap(8);
    f.fields(o.batch, o.weight_format, o.data_banks, o.weight_banks, o.batch_stride, o.post_extension, o.pixel_override, o.released,
             o.csc_width, o.csc_height, o.csc_channels, o.kernel_width, o.kernel_height, o.kernel_channels, o.mac_width, o.mac_height,
             o.bytes_per_kernel);
    f.list(o.mean);
    f.fields(o.mean_on, o.stride_x, o.stride_y, o.pad_left, o.pad_right, o.pad_top, o.pad_bottom, o.dilation_x, o.dilation_y);
    f.gap(2);
    f.fields(o.winograd_truncate, o.input_precision, o.precision, o.pad_value);
    converter_layout(f, o.input_converter);
    converter_layout(f, o.output_converter);
}

template <class Fields, OneOf<SdpOperation> O>
void operation_layout(Fields& surface, Fields& f, O& o)
{
    for (auto* cube : {&o.source, &o.operands[0], &o.operands[1], &o.operands[2], &o.destination}) cube_layout(surface, *cube);
    f.fields(o.source_precision, o.precision, o.table);
    converter_layout(f, o.output_converter);
    f.fields(o.mode, o.batch);
    f.gap(2);
    f.fields(o.batch_stride);
    for (auto& s : o.stages) {
        f.fields(s.enable, s.alu, s.type, s.mode, s.activation, s.shift, s.truncate, s.precision, s.alu_operand, s.multiplier_operand);
        converter_layout(f, s.alu_converter);
        converter_layout(f, s.multiplier_converter);
    }
}

template <class Fields, OneOf<PdpOperation> O>
void operation_layout(Fields& surface, Fields& f, O& o)
{
    cube_layout(surface, o.source);
    cube_layout(surface, o.destination);
    f.list(o.partial_in);
    f.list(o.partial_out);
    f.fields(o.splits, o.method, o.kernel_width, o.kernel_height, o.stride_x, o.stride_y, o.pad_left, o.pad_right, o.pad_top, o.pad_bottom,
             o.precision);
    f.gap(1);
    f.list(o.pad_values);
}

template <class Fields, OneOf<CdpOperation> O>
void operation_layout(Fields& surface, Fields& f, O& o)
{
    cube_layout(surface, o.source);
    cube_layout(surface, o.destination);
    f.fields(o.input_precision, o.precision, o.table);
    converter_layout(f, o.input_converter);
    converter_layout(f, o.output_converter);
    f.fields(o.window, o.bypass_square_sum, o.bypass_multiplier);
}

/// Its transfers are counted.
template <class Fields, OneOf<BdmaOperation> O>
void operation_layout(Fields&, Fields&, O&)
{
}

template <class Fields, class O>
void kind_layout(Fields& surface, Fields& f, O& o)
{
    visit([&](auto& operation) { operation_layout(surface, f, operation); }, o);
}

template <class Fields, class T>
void transfer_layout(Fields& surface, T& t)
{
    surface.fields(t.source, t.destination, t.line_bytes, t.lines, t.source_line, t.destination_line, t.surfaces, t.source_surface,
                   t.destination_surface);
}

template <class Fields, class T>
void table_layout(Fields& f, T& t)
{
    f.list(t.le);
    f.list(t.lo);
    f.fields(t.le_offset);
    f.gap(1);
    f.fields(t.lo_select);
    f.gap(1);
    f.fields(t.le_start, t.le_end, t.lo_start, t.lo_end);
    for (auto* slope : {&t.le_underflow, &t.le_overflow, &t.lo_underflow, &t.lo_overflow}) {
        f.fields(slope->scale, slope->shift);
        f.gap(1);
    }
    f.fields(t.hybrid_priority, t.underflow_priority, t.overflow_priority, t.method);
}

}  // namespace dlasim::loadable
