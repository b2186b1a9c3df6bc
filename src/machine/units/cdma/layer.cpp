#include "units/cdma/layer.h"

#include "base/bits.h"
#include "facts/cdma.h"
#include "registers/fields/cdma.h"

namespace dlasim::cdma {
namespace {

namespace r = reg::cdma;

/// The registers of one group.
struct Group {
    const Hardware& hw;
    const RegisterFile& registers;
    unsigned group;

    auto get(auto what) const { return registers.get(what, group); }
    std::uint64_t address(std::uint32_t high, std::uint32_t low) const
    {
        const unsigned bits = hw.memory.address_bits;
        return ((std::uint64_t{get(high)} << 32) | get(low)) & (bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
    }
    std::uint64_t aligned(std::uint64_t value) const { return value / hw.memory.atom_bytes * hw.memory.atom_bytes; }
};

void decode_conversion(const Group& from, LayerConfig& l)
{
    l.convert = from.get(r::D_CVT_CFG::CVT_EN);
    l.truncate = from.get(r::D_CVT_CFG::CVT_TRUNCATE);
    l.offset = static_cast<std::int16_t>(from.get(r::D_CVT_OFFSET));
    l.scale = static_cast<std::int16_t>(from.get(r::D_CVT_SCALE));
    l.mean = from.get(r::D_MEAN_FORMAT);
    constexpr reg::Field kMeans[] = {r::D_MEAN_GLOBAL_0::MEAN_RY, r::D_MEAN_GLOBAL_0::MEAN_GU, r::D_MEAN_GLOBAL_1::MEAN_BV,
                                     r::D_MEAN_GLOBAL_1::MEAN_AX};
    for (unsigned i = 0; i < 4; ++i) l.mean_value[i] = static_cast<std::int16_t>(from.get(kMeans[i]));
    l.pad_value = static_cast<std::uint16_t>(from.get(r::D_ZERO_PADDING_VALUE));
    l.nan_to_zero = from.get(r::D_NAN_FLUSH_TO_ZERO);
}

void decode_weights(const Group& from, bool words, LayerConfig& l)
{
    l.compressed = from.hw.weight_compression && from.get(r::D_WEIGHT_FORMAT);
    l.weight_primary = from.get(r::D_WEIGHT_RAM_TYPE);
    l.bytes_per_kernel = from.get(r::D_WEIGHT_SIZE_0) + 1;
    l.kernels = from.get(r::D_WEIGHT_SIZE_1) + 1;
    l.kernel_group = from.hw.kernel_group(words && l.precision != 0 ? Precision::Int16 : Precision::Int8);
    l.kernel_groups = ceil_div(l.kernels, l.kernel_group);
    l.weight_address = from.aligned(from.address(r::D_WEIGHT_ADDR_HIGH, r::D_WEIGHT_ADDR_LOW));
    l.mask_address = from.aligned(from.address(r::D_WMB_ADDR_HIGH, r::D_WMB_ADDR_LOW));
    l.group_size_address = from.aligned(from.address(r::D_WGS_ADDR_HIGH, r::D_WGS_ADDR_LOW));
    l.weight_bytes = from.get(r::D_WEIGHT_BYTES);
    l.mask_bytes = from.get(r::D_WMB_BYTES);
}

}  // namespace

LayerConfig LayerConfig::decode(const Hardware& hw, const RegisterFile& registers, unsigned group)
{
    const Group from{hw, registers, group};
    const auto get = [&](auto what) { return from.get(what); };
    const auto aligned = [&](std::uint64_t value) { return from.aligned(value); };
    const facts::cdma::Facts silicon = facts::cdma::of(hw);

    LayerConfig l;
    l.group = group;
    const bool winograd = hw.winograd && get(r::D_MISC_CFG::CONV_MODE), pixel = get(r::D_DATAIN_FORMAT::DATAIN_FORMAT);
    l.fetcher = winograd ? (pixel ? Fetcher::None : Fetcher::Winograd) : pixel ? Fetcher::Image : Fetcher::Feature;
    l.input_precision = get(r::D_MISC_CFG::IN_PRECISION);
    l.precision = get(r::D_MISC_CFG::PROC_PRECISION);
    l.data_reuse = get(r::D_MISC_CFG::DATA_REUSE);
    l.weight_reuse = get(r::D_MISC_CFG::WEIGHT_REUSE);
    l.skip_data = get(r::D_MISC_CFG::SKIP_DATA_RLS);
    l.skip_weight = get(r::D_MISC_CFG::SKIP_WEIGHT_RLS);
    l.data_banks = get(r::D_BANK::DATA_BANK) + 1;
    l.weight_banks = get(r::D_BANK::WEIGHT_BANK) + 1;

    l.width = get(r::D_DATAIN_SIZE_0::DATAIN_WIDTH) + 1;
    l.height = get(r::D_DATAIN_SIZE_0::DATAIN_HEIGHT) + 1;
    l.channels = get(r::D_DATAIN_SIZE_1) + 1;
    l.extended_width = get(r::D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT) + 1;
    l.extended_height = get(r::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT) + 1;
    // [spec] cdma.md 1.3: the surface count uses the processing precision; the configurable generation knows int8 only.
    const std::uint32_t element = silicon.words && l.precision != 0 ? 2 : 1;
    l.surfaces = ceil_div(l.channels, hw.memory.atom_bytes / element);
    l.base = from.address(r::D_DAIN_ADDR_HIGH_0, r::D_DAIN_ADDR_LOW_0);
    l.base_uv = from.address(r::D_DAIN_ADDR_HIGH_1, r::D_DAIN_ADDR_LOW_1);
    l.line_stride = get(r::D_LINE_STRIDE);
    l.uv_line_stride = get(r::D_LINE_UV_STRIDE);
    l.surface_stride = get(r::D_SURF_STRIDE);
    l.batch_stride = get(r::D_BATCH_STRIDE);
    if (!silicon.pixel_addresses || l.fetcher != Fetcher::Image) {
        l.base = aligned(l.base);
        l.base_uv = aligned(l.base_uv);
        l.line_stride = aligned(l.line_stride);
        l.uv_line_stride = aligned(l.uv_line_stride);
        l.surface_stride = aligned(l.surface_stride);
        l.batch_stride = aligned(l.batch_stride);
    }
    const bool line_packed = get(r::D_DAIN_MAP::LINE_PACKED), surface_packed = get(r::D_DAIN_MAP::SURF_PACKED);
    l.packed_pixel = l.width == 1 && l.height == 1 && surface_packed;
    l.batches = hw.batch ? get(r::D_BATCH_NUMBER) + 1 : 1;
    l.entries = get(r::D_ENTRY_PER_SLICE) + 1;
    l.grain = line_packed ? get(r::D_FETCH_GRAIN) + 1 : 1;
    l.pad_left = get(r::D_ZERO_PADDING::PAD_LEFT);
    l.pad_right = get(r::D_ZERO_PADDING::PAD_RIGHT);
    l.pad_top = get(r::D_ZERO_PADDING::PAD_TOP);
    l.x_offset = get(r::D_PIXEL_OFFSET::PIXEL_X_OFFSET);
    l.stride_x = get(r::D_CONV_STRIDE::CONV_X_STRIDE) + 1;
    l.stride_y = get(r::D_CONV_STRIDE::CONV_Y_STRIDE) + 1;
    l.pixel_format = get(r::D_DATAIN_FORMAT::PIXEL_FORMAT);
    l.pixel_signed = get(r::D_DATAIN_FORMAT::PIXEL_SIGN_OVERRIDE);
    l.data_primary = get(r::D_DAIN_RAM_TYPE);

    decode_conversion(from, l);
    decode_weights(from, silicon.words, l);
    l.performance = get(r::D_PERF_ENABLE);
    return l;
}

PixelFormat decode_pixel_format(const Hardware& hw, std::uint32_t code)
{
    using Order = PixelFormat::Order;
    using Packed = PixelFormat::Packed10;
    const std::uint32_t atom = hw.memory.atom_bytes;
    PixelFormat f;
    const auto plane0 = [&](std::uint32_t bytes, std::uint32_t components, bool eight_bit) {
        f.bytes[0] = bytes;
        f.components = components;
        f.eight_bit = eight_bit;
    };
    const bool wide = facts::cdma::of(hw).words;
    plane0(4, 4, true);  // ABGR8, and every code that does not exist
    if (code == 0x00) {
        plane0(1, 1, true);
    } else if (code >= 0x01 && code <= 0x05 && wide) {
        plane0(2, 1, false);
    } else if (code >= 0x06 && code <= 0x0b && wide) {
        plane0(8, 4, false);
        if (code == 0x09 || code == 0x0b) f.order = Order::Swap02;
        if (code == 0x0a) f.order = Order::Rotate;
    } else if (code >= 0x14 && code <= 0x19 && wide) {
        plane0(4, 4, false);
        f.packed10 = code == 0x14 ? Packed::Abgr : code == 0x15 || code == 0x18 ? Packed::Argb : code == 0x17 ? Packed::Rgba : Packed::Bgra;
    } else if (code == 0x1c || code == 0x1d) {
        plane0(1, 3, true);
        f.planes = 2;
        f.bytes[1] = 2;
        f.swap_uv = code == 0x1c;
    } else if (code >= 0x1e && code <= 0x23 && wide) {
        plane0(2, 3, false);
        f.planes = 2;
        f.bytes[1] = 4;
        f.swap_uv = (code & 1) == 0;
    } else if (code == 0x0d || code == 0x11 || code == 0x1a) {
        f.order = Order::Swap02;
    } else if (code == 0x0e || code == 0x12 || code == 0x1b) {
        f.order = Order::Rotate;
    } else if (code == 0x0f || code == 0x13) {
        f.order = Order::Reverse;
    }
    for (unsigned p = 0; p < f.planes; ++p) f.pixels_per_atom[p] = atom / f.bytes[p] ? atom / f.bytes[p] : 1;
    return f;
}

}  // namespace dlasim::cdma
