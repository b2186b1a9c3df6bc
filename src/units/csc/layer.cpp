#include "units/csc/layer.h"

#include "base/bits.h"
#include "facts/csc.h"
#include "registers/offsets.h"

namespace dlasim::csc {

Layer Layer::decode(const Hardware& hw, const RegisterFile& registers)
{
    const facts::csc::Facts silicon = facts::csc::of(hw);
    Layer l;
    const bool winograd = hw.winograd && registers.field(reg::csc::D_MISC_CFG, 0, 1);
    const bool image = !winograd && registers.field(reg::csc::D_DATAIN_FORMAT, 0, 1);
    l.mode = winograd ? ConvMode::Winograd : image ? ConvMode::Image : ConvMode::Direct;
    const std::uint32_t precision = silicon.words ? registers.field(reg::csc::D_MISC_CFG, 12, 2) : 0;
    l.precision = precision == 0 ? Precision::Int8 : precision == 2 ? Precision::Fp16 : Precision::Int16;
    l.element_bytes = l.int8() ? 1 : 2;
    l.data_reuse = registers.field(reg::csc::D_MISC_CFG, 16, 1);
    l.weight_reuse = registers.field(reg::csc::D_MISC_CFG, 20, 1);
    l.skip_data_release = registers.field(reg::csc::D_MISC_CFG, 24, 1);
    l.skip_weight_release = registers.field(reg::csc::D_MISC_CFG, 28, 1);
    l.compressed = hw.weight_compression && registers.field(reg::csc::D_WEIGHT_FORMAT, 0, 1);

    l.last_column = registers.field(reg::csc::D_DATAIN_SIZE_EXT_0, 0, 13);
    l.last_row = registers.field(reg::csc::D_DATAIN_SIZE_EXT_0, 16, 13);
    l.last_weight_channel = registers.field(reg::csc::D_WEIGHT_SIZE_EXT_1, 0, 13);
    l.last_kernel = registers.field(reg::csc::D_WEIGHT_SIZE_EXT_1, 16, 13);
    l.last_output_column = registers.field(reg::csc::D_DATAOUT_SIZE_0, 0, 13);
    l.last_output_row = registers.field(reg::csc::D_DATAOUT_SIZE_0, 16, 13);
    l.last_entry = registers.field(reg::csc::D_ENTRY_PER_SLICE, 0, silicon.entry_bits);
    l.kernel_columns = l.mode == ConvMode::Direct ? registers.field(reg::csc::D_WEIGHT_SIZE_EXT_0, 0, 5) + 1 : 1;
    l.kernel_rows = winograd ? 1 : registers.field(reg::csc::D_WEIGHT_SIZE_EXT_0, 16, 5) + 1;
    l.x_stride = winograd ? 1 : registers.field(reg::csc::D_CONV_STRIDE_EXT, 0, 3) + 1;
    l.y_stride = winograd ? 1 : registers.field(reg::csc::D_CONV_STRIDE_EXT, 16, 3) + 1;
    if (l.mode == ConvMode::Direct) {
        l.x_dilation = registers.field(reg::csc::D_DILATION_EXT, 0, 5) + 1;
        l.y_dilation = registers.field(reg::csc::D_DILATION_EXT, 16, 5) + 1;
    }
    l.pad_left = static_cast<std::int32_t>(registers.field(reg::csc::D_ZERO_PADDING, 0, 5));
    l.pad_top = static_cast<std::int32_t>(registers.field(reg::csc::D_ZERO_PADDING, 16, 5));
    l.pad_value = registers.field(reg::csc::D_ZERO_PADDING_VALUE, 0, 16);
    l.batches = hw.batch ? registers.field(reg::csc::D_BATCH_NUMBER, 0, 5) + 1 : 1;
    l.loaded_batches = l.mode == ConvMode::Direct ? l.batches : 1;
    l.data_banks = registers.field(reg::csc::D_BANK, 0, silicon.bank_bits) + 1;
    l.weight_banks = registers.field(reg::csc::D_BANK, 16, silicon.bank_bits) + 1;
    l.weight_entries = registers.get(reg::csc::D_WEIGHT_BYTES) / hw.cbuf.entry_bytes & silicon.weight_entry_mask;
    l.mask_entries = l.compressed ? registers.get(reg::csc::D_WMB_BYTES) / hw.cbuf.entry_bytes & 0x1ff : 0;
    l.pra_truncate = std::min(registers.field(reg::csc::D_PRA_CFG, 0, 2), 2u);
    l.y_extension = registers.field(reg::csc::D_POST_Y_EXTENSION, 0, 2);

    constexpr std::uint32_t kRows[] = {1, 2, 4, 1};
    const std::uint32_t rows = kRows[l.y_extension];
    l.kernel_group = hw.kernel_group(l.precision);
    l.kernels_per_load = l.kernel_group / hw.mac.atomic_k;
    l.long_stripes = silicon.long_stripes;
    l.groups = l.last_kernel / l.kernel_group + 1;
    const std::uint32_t atomics = registers.field(reg::csc::D_ATOMICS, 0, 21);
    l.atoms = image ? l.last_output_column + 1 : winograd ? (atomics >> 2) + 1 : atomics + 1;
    l.rows = image ? l.last_output_row + 1 : 1;
    l.slice_channels = winograd ? facts::csc::kWinogradChannels : hw.mac.atomic_c;
    l.slices = ceil_div(l.last_weight_channel + 1, l.slice_channels);
    l.row_step = rows;
    l.fetch_rows = winograd ? 2 : image ? rows : 1;
    l.entries = l.last_entry + 1;
    l.row_entries = winograd ? 4 * l.entries : l.entries;
    l.data_width = winograd ? (l.last_column >> 2) + 1 : l.last_column + 1;
    l.release_slices = registers.field(reg::csc::D_RELEASE, 0, 12) + 1;
    const std::uint32_t pixel = registers.field(reg::csc::D_DATAIN_SIZE_EXT_1, 0, 2);
    l.components = pixel == 3 ? 4 : pixel == 2 ? 3 : 1;

    if (image) l.lower = l.upper = silicon.image_stripe;
    else if (winograd) l.lower = facts::csc::kWinogradLower, l.upper = facts::csc::kWinogradUpper;
    else if (l.batches > 1) {
        l.lower = facts::csc::batch_limits(l.batches).lower;
        l.upper = facts::csc::batch_limits(l.batches).upper;
    } else l.lower = silicon.lower, l.upper = silicon.upper;

    const std::uint32_t per_output = ceil_div(l.kernel_group, silicon.credit_lanes);
    l.credit_unit = per_output * (winograd ? 4 : 1);
    l.credit_guard = l.mode == ConvMode::Direct && l.batches > 1 ? per_output * l.batches : 0;
    return l;
}

}  // namespace dlasim::csc
