#include "units/csc/layer.h"

#include "base/bits.h"
#include "facts/csc.h"
#include "registers/fields/csc.h"

namespace dlasim::csc {

LayerConfig LayerConfig::decode(const Hardware& hw, const RegisterFile& registers)
{
    using namespace reg::csc;
    const auto get = [&](auto what) { return registers.get(what); };
    const facts::csc::Facts silicon = facts::csc::of(hw);
    LayerConfig l;
    const bool winograd = hw.winograd && get(D_MISC_CFG::CONV_MODE);
    const bool image = !winograd && get(D_DATAIN_FORMAT);
    l.mode = winograd ? ConvMode::Winograd : image ? ConvMode::Image : ConvMode::Direct;
    const std::uint32_t precision = silicon.words ? get(D_MISC_CFG::PROC_PRECISION) : 0;
    l.precision = precision == 0 ? Precision::Int8 : precision == 2 ? Precision::Fp16 : Precision::Int16;
    l.element_bytes = l.int8() ? 1 : 2;
    l.data_reuse = get(D_MISC_CFG::DATA_REUSE);
    l.weight_reuse = get(D_MISC_CFG::WEIGHT_REUSE);
    l.skip_data_release = get(D_MISC_CFG::SKIP_DATA_RLS);
    l.skip_weight_release = get(D_MISC_CFG::SKIP_WEIGHT_RLS);
    l.compressed = hw.weight_compression && get(D_WEIGHT_FORMAT);

    l.last_column = get(D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT);
    l.last_row = get(D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT);
    l.last_weight_channel = get(D_WEIGHT_SIZE_EXT_1::WEIGHT_CHANNEL_EXT);
    l.last_kernel = get(D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL);
    l.last_output_column = get(D_DATAOUT_SIZE_0::DATAOUT_WIDTH);
    l.last_output_row = get(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT);
    l.last_entry = get(D_ENTRY_PER_SLICE);
    l.kernel_columns = l.mode == ConvMode::Direct ? get(D_WEIGHT_SIZE_EXT_0::WEIGHT_WIDTH_EXT) + 1 : 1;
    l.kernel_rows = winograd ? 1 : get(D_WEIGHT_SIZE_EXT_0::WEIGHT_HEIGHT_EXT) + 1;
    l.x_stride = winograd ? 1 : get(D_CONV_STRIDE_EXT::CONV_X_STRIDE_EXT) + 1;
    l.y_stride = winograd ? 1 : get(D_CONV_STRIDE_EXT::CONV_Y_STRIDE_EXT) + 1;
    if (l.mode == ConvMode::Direct) {
        l.x_dilation = get(D_DILATION_EXT::X_DILATION_EXT) + 1;
        l.y_dilation = get(D_DILATION_EXT::Y_DILATION_EXT) + 1;
    }
    l.pad_left = static_cast<std::int32_t>(get(D_ZERO_PADDING::PAD_LEFT));
    l.pad_top = static_cast<std::int32_t>(get(D_ZERO_PADDING::PAD_TOP));
    l.pad_value = get(D_ZERO_PADDING_VALUE);
    l.batches = hw.batch ? get(D_BATCH_NUMBER) + 1 : 1;
    l.loaded_batches = l.mode == ConvMode::Direct ? l.batches : 1;
    l.data_banks = get(D_BANK::DATA_BANK) + 1;
    l.weight_banks = get(D_BANK::WEIGHT_BANK) + 1;
    l.weight_entries = get(D_WEIGHT_BYTES) / hw.cbuf.entry_bytes & silicon.weight_entry_mask;
    l.mask_entries = l.compressed ? get(D_WMB_BYTES) / hw.cbuf.entry_bytes % facts::csc::kMaskEntries : 0;
    l.pra_truncate = std::min(get(D_PRA_CFG), 2u);
    l.y_extension = get(D_POST_Y_EXTENSION);

    constexpr std::uint32_t kRows[] = {1, 2, 4, 1};
    const std::uint32_t rows = kRows[l.y_extension];
    l.kernel_group = hw.kernel_group(l.precision);
    l.kernels_per_load = l.kernel_group / hw.mac.atomic_k;
    l.long_stripes = silicon.long_stripes;
    l.groups = l.last_kernel / l.kernel_group + 1;
    const std::uint32_t atomics = get(D_ATOMICS);
    l.atoms = image ? l.last_output_column + 1 : winograd ? atomics / 4 + 1 : atomics + 1;
    l.rows = image ? l.last_output_row + 1 : 1;
    l.slice_channels = winograd ? facts::csc::kWinogradChannels : hw.mac.atomic_c;
    l.slices = ceil_div(l.last_weight_channel + 1, l.slice_channels);
    l.row_step = rows;
    l.fetch_rows = winograd ? 2 : image ? rows : 1;
    l.entries = l.last_entry + 1;
    l.row_entries = winograd ? 4 * l.entries : l.entries;
    l.data_width = winograd ? l.last_column / 4 + 1 : l.last_column + 1;
    l.release_slices = get(D_RELEASE) + 1;
    const std::uint32_t pixel = get(D_DATAIN_SIZE_EXT_1) % 4;  // components of a pixel minus 1
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
