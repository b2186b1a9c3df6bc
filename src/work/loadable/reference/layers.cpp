#include "loadable/reference/layers.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlasim::loadable {
namespace {

constexpr unsigned kRelu = 1, kTable = 2, kPrelu = 3;  // activations

/// One direction of a window that makes `outputs` of `size` elements.
struct Fit {
    std::uint32_t used = 0, behind = 0;  // elements that count, padding after them
};
Fit fit(std::uint32_t outputs, std::uint32_t stride, std::uint32_t span, std::uint32_t before, std::uint32_t size)
{
    const std::int64_t needed = (std::int64_t{outputs} - 1) * stride + span - before - size;
    rule(needed + size > 0 && needed < span, "has an output that its input does not reach");
    return {static_cast<std::uint32_t>(size + std::min<std::int64_t>(needed, 0)),
            static_cast<std::uint32_t>(std::max<std::int64_t>(needed, 0))};
}

/// The first columns and rows.
Tensor cropped(const Tensor& of, std::uint32_t h, std::uint32_t w)
{
    if (of.h == h && of.w == w) return of;
    Tensor crop(of.n, of.c, h, w);
    for (std::uint32_t n = 0; n < of.n; ++n)
        for (std::uint32_t c = 0; c < of.c; ++c)
            for (std::uint32_t y = 0; y < h; ++y)
                std::copy_n(of.values.begin() + static_cast<std::ptrdiff_t>(of.index(n, c, y, 0)), w,
                            crop.values.begin() + static_cast<std::ptrdiff_t>(crop.index(n, c, y, 0)));
    return crop;
}

// Fields of registers are narrower than what the file says: registers.md.
constexpr std::int32_t signed_field(std::int64_t value, unsigned width)
{
    return static_cast<std::int32_t>(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << (64 - width)) >> (64 - width));
}
constexpr unsigned kShiftField = 63;  // of converters and of X1's and X2's addition

LutSlope slope_of(const Slope& slope) { return {slope.scale, signed_field(slope.shift, 5)}; }

/// A bound of 32 bits, as its register holds it.
std::int32_t low_word(std::uint64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

// The register of the method has one bit; the byte says which field holds the steps of LE.
bool exponential(const LookupTable& t) { return (t.method & 1) == 0; }
std::int8_t le_steps(const LookupTable& t) { return t.method == 0 || !exponential(t) ? t.le_offset : std::int8_t{0}; }

Lut lut_of(const LookupTable& t)
{
    Lut lut;
    lut.le.exponential = exponential(t);
    lut.le.start = low_word(t.le_start), lut.le.end = low_word(t.le_end);
    lut.lo.start = low_word(t.lo_start), lut.lo.end = low_word(t.lo_end);
    lut.le.index_offset = lut.le.index_select = le_steps(t);
    lut.lo.index_select = t.lo_select;
    lut.le.underflow = slope_of(t.le_underflow), lut.le.overflow = slope_of(t.le_overflow);
    lut.lo.underflow = slope_of(t.lo_underflow), lut.lo.overflow = slope_of(t.lo_overflow);
    lut.underflow_lo = (t.underflow_priority & 1) != 0, lut.overflow_lo = (t.overflow_priority & 1) != 0;
    lut.hybrid_lo = (t.hybrid_priority & 1) != 0;
    std::copy(t.le.begin(), t.le.end(), lut.le.entries.begin());
    std::copy(t.lo.begin(), t.lo.end(), lut.lo.entries.begin());
    return lut;
}

}  // namespace

Precision precision_of(unsigned code)
{
    expect(code <= 2, fmt::format("has precision {}", code));
    return static_cast<Precision>(code);
}

Place Translator::place(std::int16_t address, std::uint64_t offset, Field field) const
{
    rule(address >= 0, "has data without an address");
    Place at = plan_.memories->place(plan_.loadable->tasks[task_.task], address, task_.where);
    at.address = Address{held((at.address + offset).byte(), field)};
    return at;
}

Features Translator::features(const Cube& cube, unsigned precision, Field field) const
{
    const Precision elements = precision_of(precision);
    Features of{place(cube.address, cube.offset, field), 1, cube.channels, cube.height, cube.width};
    of.atom_bytes = plan_.hardware.memory.atom_bytes;
    of.element_bytes = elements == Precision::Int8 ? 1 : 2;
    if (cube.height > 1) of.strides.line = held(cube.line_stride, field);
    if (cube.channels > of.per_atom()) of.strides.surface = held(cube.surface_stride, field);
    return of;
}

Tensor Translator::input(const Features& of) const
{
    return loadable::features(of, [&](const Place& from, std::span<std::uint8_t> bytes) { shadow_.read(from, bytes); });
}

void Translator::add_convolution(GoldenLayer& golden, const ConvOperation& conv) const
{
    const Hardware& hw = plan_.hardware;
    Layer& l = golden.layer;
    expect(conv.mode == 0, "is a Winograd convolution, whose kernels the file has transformed");
    expect(conv.output_converter.truncate == 0, "truncates its sums");
    rule(conv.mac_width == conv.destination.width && conv.mac_height == conv.destination.height, "takes its sums in another shape");
    check_fields(conv);
    check_reuse(conv);
    l.op = Op::Convolution;
    l.precision = precision_of(conv.precision);
    l.batch = conv.batch;
    l.kernels = conv.destination.channels;
    l.kernel_height = conv.kernel_height;
    l.kernel_width = conv.kernel_width;
    l.channels = conv.kernel_channels;
    l.stride = {conv.stride_x, conv.stride_y};
    l.dilation = {conv.dilation_x, conv.dilation_y};
    l.conversion.on = conv.input_converter.enable != 0;
    l.conversion.offset = signed_field(conv.input_converter.offset, 16);
    l.conversion.scale = conv.input_converter.scale;
    l.conversion.shift = conv.input_converter.truncate & kShiftField;
    const bool image = !conv.feature();
    if (image) {
        l.format = find_pixel_format(conv.format);
        expect(l.format != nullptr, fmt::format("has data format {}", conv.format));
        rule(conv.source.channels == l.format->components,
             fmt::format("has pixels of {} components in a format of {}", conv.source.channels, l.format->components));
        l.signed_pixels = conv.pixel_override != 0;
        l.conversion.per_component = conv.mean_on != 0;
        std::copy(conv.mean.begin(), conv.mean.end(), l.conversion.mean.begin());
        rule(conv.kernel_width == 1 && conv.kernel_channels % l.format->components == 0, "has kernels that are no rows of pixels");
        expect(conv.batch == 1 && conv.dilation_x == 1 && conv.dilation_y == 1, "takes pixels in batches or dilated");
        l.channels = l.format->components;
        l.kernel_width = conv.kernel_channels / l.channels;
        golden.method.image_rows = 1u << conv.post_extension;
    } else {
        l.input_precision = precision_of(conv.input_precision);
        rule(conv.csc_width == conv.source.width && conv.csc_height == conv.source.height, "has features of two sizes");
        expect(l.conversion.on || *l.input_precision == l.precision, "takes features of another precision unconverted");
    }
    const Fit x = fit(conv.destination.width, l.stride.x, l.span_x(), conv.pad_left, conv.source.width),
              y = fit(conv.destination.height, l.stride.y, l.span_y(), conv.pad_top, conv.source.height);
    l.pad = {conv.pad_left, x.behind, conv.pad_top, y.behind, conv.pad_value};
    l.width = x.used, l.height = y.used;
    if (image) {
        const Pixels of{.format = l.format,
                        .place = place(conv.source, Field::Pixels),
                        .w = conv.source.width,
                        .h = conv.source.height,
                        .line_stride = held(conv.source.line_stride, Field::Pixels),
                        .second_plane = held(static_cast<std::uint64_t>(conv.second_plane), Field::Pixels),
                        .second_line_stride = held(conv.second_line_stride, Field::Pixels)};
        golden.tensors.input = cropped(pixels(shadow_, of), l.height, l.width);
    } else {
        Features of = features(conv.source, conv.input_precision, Field::Fetched);
        rule((conv.kernel_channels - 1) / of.per_atom() == (conv.source.channels - 1) / of.per_atom(),
             "has kernels with more or fewer channels than its features");
        of.c = conv.kernel_channels;
        of.n = conv.batch;
        of.strides.batch = held(conv.batch_stride, Field::Fetched);
        golden.tensors.input = cropped(input(of), l.height, l.width);
    }
    Weights w;
    const std::uint32_t unit = hw.full() ? 128 : 1;  // that the registers count sizes in
    w.place = place(conv.weights, Field::Fetched);
    w.bytes = conv.weights.size / unit * unit;
    w.kernels = l.kernels, w.channels = l.channels, w.rows = l.kernel_height, w.columns = l.kernel_width;
    w.element_bytes = l.element_bytes();
    w.group = hw.kernel_group(l.precision);
    w.slice = golden.method.lanes = hw.mac.atomic_c;
    w.image = image;
    w.rows_together = golden.method.image_rows;
    w.compressed = conv.weight_format != 0;
    if (w.compressed) w.mask = place(conv.mask, Field::Fetched), w.mask_bytes = conv.mask.size / unit * unit;
    check_weights(w);
    golden.tensors.weights = weights(shadow_, w);
}

void Translator::add_engine(GoldenLayer& golden, std::size_t engine, const SdpOperation& sdp) const
{
    const SdpStage& stage = sdp.stages[engine];
    const bool y = engine == 2;
    if (stage.enable == 0 || (y && !plan_.hardware.sdp.has_ew)) return;
    Layer& l = golden.layer;
    PointEngine& e = l.post.engines[engine];
    const OperandPer per = stage.mode == 0 ? OperandPer::Layer : stage.mode == 1 ? OperandPer::Kernel : OperandPer::Element;
    const auto operand = [&](bool on, std::int32_t value, const Converter& c) {
        return Operand{on, per, value, {y && c.enable != 0, c.offset, c.scale, c.truncate & kShiftField}};
    };
    e.alu = operand(stage.adds(), stage.alu_operand, stage.alu_converter);
    e.mul = operand(stage.multiplies(), stage.multiplier_operand, stage.multiplier_converter);
    e.function = static_cast<AluFunction>(stage.alu & 3);
    expect(!e.alu.on || e.function != AluFunction::Equal, "compares");
    e.prelu = stage.activation == kPrelu;
    e.relu = !y && stage.activation == kRelu;
    e.alu_shift = y ? 0 : stage.shift & kShiftField;
    e.mul_shift = stage.truncate;
    if (y && stage.activation == kTable) {
        rule(sdp.table >= 0, "looks up without a table");
        e.lut = lut_of(task_.tables[static_cast<std::size_t>(sdp.table)]);
    }
    if (!stage.reads()) return;
    const bool bytes = stage.precision == 0;
    rule(!bytes || l.precision == Precision::Int8, "has operands of one byte for numbers of two");
    e.operand_bytes = bytes ? 1 : 2;
    const bool element = per == OperandPer::Element;
    const Cube& cube = sdp.operands[engine];
    const Operands of{.place = place(cube, Field::Other),
                      .strides = {.line = element && l.out_height() > 1 ? held(cube.line_stride, Field::Other) : 0,
                                  .surface = element ? held(cube.surface_stride, Field::Other) : 0},
                      .c = l.kernels,
                      .h = element ? l.out_height() : 1,
                      .w = element ? l.out_width() : 1,
                      .per_atom = plan_.hardware.memory.atom_bytes / l.element_bytes(),
                      .width = e.operand_bytes,
                      .both = stage.type == 3};
    std::array<Tensor, 2> streamed = operands(shadow_, of);
    if (stage.adds()) golden.tensors.operands[operand_slot(engine, false)] = std::move(streamed[0]);
    if (stage.multiplies()) golden.tensors.operands[operand_slot(engine, true)] = std::move(streamed[stage.adds() ? 1 : 0]);
}

GoldenLayer Translator::layer(const ConvOperation* conv, const SdpOperation& sdp) const
{
    GoldenLayer golden;
    Layer& l = golden.layer;
    if (sdp.mode != 0) throw Unchecked{"takes its input in Winograd's order", !conv || conv->mode == 0};
    if (conv) {
        rule(sdp.source.on_the_fly(), "takes its input from memory after a convolution");
        rule(sdp.source_precision == conv->precision, "takes sums of another precision");
        add_convolution(golden, *conv);
        rule(sdp.source.width == l.out_width() && sdp.source.height == l.out_height() && sdp.source.channels == l.kernels &&
                 sdp.batch == conv->batch,
             "takes sums of another shape");
    } else {
        rule(!sdp.source.on_the_fly(), "takes its input from no operation");
        expect(sdp.batch == 1, "is a batch from memory");
        expect(sdp.source_precision != 1 || sdp.precision != 0, "converts int16 to int8");
        l.op = Op::Sdp;
        l.precision = precision_of(sdp.source_precision);
        l.width = sdp.source.width, l.height = sdp.source.height, l.channels = l.kernels = sdp.source.channels;
        golden.tensors.input = input(features(sdp.source, sdp.source_precision));
    }
    l.output = {precision_of(sdp.precision), sdp.output_converter.offset, sdp.output_converter.scale,
                sdp.output_converter.truncate & kShiftField};
    for (std::size_t engine = 0; engine < sdp.stages.size(); ++engine) add_engine(golden, engine, sdp);
    return golden;
}

GoldenPool Translator::pool(const PdpOperation& pdp) const
{
    constexpr PoolFunction kFunctions[] = {PoolFunction::Average, PoolFunction::Max, PoolFunction::Min};
    GoldenPool golden;
    golden.precision = precision_of(pdp.precision);
    Pool& pool = golden.pool;
    expect(pdp.method < std::size(kFunctions), fmt::format("has method {}", pdp.method));
    pool.function = kFunctions[pdp.method];
    pool.x = {pdp.kernel_width + 1u, pdp.stride_x, pdp.pad_left, 0};
    pool.y = {pdp.kernel_height + 1u, pdp.stride_y, pdp.pad_top, 0};
    constexpr unsigned kPad = 7;
    rule(pdp.pad_left <= kPad && pdp.pad_right <= kPad && pdp.pad_top <= kPad && pdp.pad_bottom <= kPad,
         "has more padding than registers can encode");
    rule(pool.x.before < pool.x.kernel && pool.y.before < pool.y.kernel, "has windows of nothing but padding");
    const Fit x = fit(pdp.destination.width, pool.x.stride, pool.x.kernel, pool.x.before, pdp.source.width),
              y = fit(pdp.destination.height, pool.y.stride, pool.y.kernel, pool.y.before, pdp.source.height);
    pool.x.after = x.behind, pool.y.after = y.behind;
    golden.width = x.used, golden.height = y.used;
    rule(pdp.destination.channels == pdp.source.channels, "writes more or fewer channels than it reads");
    if (golden.precision == Precision::Fp16 || pool.function != PoolFunction::Average) return golden;
    constexpr unsigned kPadBits = 19;
    pool.pad_value = signed_field(pdp.pad_values[0], kPadBits);
    for (std::size_t i = 0; i < pdp.pad_values.size(); ++i)
        expect(signed_field(pdp.pad_values[i], kPadBits) == static_cast<std::int64_t>(i + 1) * signed_field(pdp.pad_values[0], kPadBits),
               "pads with sums of different values");
    return golden;
}

CdpFunction Translator::function(const CdpOperation& cdp) const
{
    rule(cdp.table >= 0, "looks up without a table");
    const LookupTable& t = task_.tables[static_cast<std::size_t>(cdp.table)];
    CdpFunction f;
    f.precision = precision_of(cdp.input_precision);
    f.window = cdp.window;
    f.bypass_square_sum = cdp.bypass_square_sum != 0;
    f.bypass_multiplier = cdp.bypass_multiplier != 0;
    if (f.precision != Precision::Fp16) {
        const Converter &in = cdp.input_converter, &out = cdp.output_converter;
        constexpr unsigned kInputShift = 31;
        f.input = {signed_field(in.offset, 16), in.scale, in.truncate & kInputShift};
        f.output = {out.offset, out.scale, out.truncate & kShiftField};
    }
    constexpr unsigned kMaxInputShift = 24, kMaxOutputShift = 41;
    expect(f.input.shift <= kMaxInputShift && f.output.shift <= kMaxOutputShift, "shifts everything out");
    const auto bound = [&](std::uint64_t value) {
        const std::int64_t number = static_cast<std::int64_t>(value << 26) >> 26;  // 38 bits
        return f.precision == Precision::Fp16 ? static_cast<std::int64_t>(static_cast<std::uint32_t>(value)) : number;
    };
    constexpr std::int64_t kNarrow = std::int64_t{1} << 21;  // of int8's index unit
    f.le.exponential = exponential(t);
    f.le.start = bound(t.le_start), f.le.end = bound(t.le_end), f.lo.start = bound(t.lo_start), f.lo.end = bound(t.lo_end);
    expect(f.precision != Precision::Int8 || (f.le.start >= 0 && f.le.start < kNarrow && f.lo.start >= 0 && f.lo.start < kNarrow),
           "has a table that begins beyond the sums of int8");
    const unsigned select_bits = f.precision == Precision::Int8 ? 6 : f.precision == Precision::Int16 ? 7 : 8;  // cdp.md 3.3
    f.le.offset = f.le.exponential ? le_steps(t) : signed_field(le_steps(t), select_bits);
    f.lo.offset = signed_field(t.lo_select, select_bits);
    expect(f.precision == Precision::Fp16 || (f.lo.offset >= 0 && (f.le.exponential || f.le.offset >= 0)), "has steps of less than 1");
    f.le.underflow = slope_of(t.le_underflow), f.le.overflow = slope_of(t.le_overflow);
    f.lo.underflow = slope_of(t.lo_underflow), f.lo.overflow = slope_of(t.lo_overflow);
    f.underflow_lo = (t.underflow_priority & 1) != 0, f.overflow_lo = (t.overflow_priority & 1) != 0;
    f.hybrid_lo = (t.hybrid_priority & 1) != 0;
    std::copy(t.le.begin(), t.le.end(), f.le.entries.begin());
    std::copy(t.lo.begin(), t.lo.end(), f.lo.entries.begin());
    return f;
}

}  // namespace dlasim::loadable
