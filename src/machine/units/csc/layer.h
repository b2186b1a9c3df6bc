// One hardware layer as CSC sees it: its registers and what is derived from them at layer start.
// Source  csc.md 1.2, 1.3, 1.5.1.
#pragma once
#include <cstdint>

#include "facts/hardware.h"
#include "registers/register_file.h"

namespace dlasim::csc {

enum class ConvMode : std::uint8_t { Direct, Image, Winograd };

struct LayerConfig {
    ConvMode mode = ConvMode::Direct;
    Precision precision = Precision::Int8;
    bool data_reuse = false, weight_reuse = false, skip_data_release = false, skip_weight_release = false;
    bool compressed = false;

    // Programmed minus one, as the silicon compares them.
    std::uint32_t last_column = 0, last_row = 0;  // of the input
    std::uint32_t last_weight_channel = 0, last_kernel = 0;
    std::uint32_t last_output_column = 0, last_output_row = 0;
    std::uint32_t last_entry = 0;  // of a slice

    std::uint32_t kernel_columns = 1, kernel_rows = 1;  // steps of s and r; 1 where the mode has no such loop
    std::uint32_t x_stride = 1, y_stride = 1, x_dilation = 1, y_dilation = 1;
    std::int32_t pad_left = 0, pad_top = 0;
    std::uint32_t pad_value = 0;
    std::uint32_t batches = 1;         // as SG multiplies
    std::uint32_t loaded_batches = 1;  // as DL walks: 1 in image and Winograd
    std::uint32_t data_banks = 1, weight_banks = 1;
    std::uint32_t weight_entries = 0, mask_entries = 0;  // registers, in entries, for the reuse release
    std::uint32_t pra_truncate = 0;
    std::uint32_t y_extension = 0;

    // Derived.
    std::uint32_t element_bytes = 1;
    std::uint32_t kernel_group = 1, groups = 1;
    std::uint32_t kernels_per_load = 1;
    bool long_stripes = false;           // stripes of `upper` while twice as many atoms are left
    std::uint32_t atoms = 1, rows = 1;   // output atoms of a row (of the plane), output rows of the loop
    std::uint32_t slices = 1;            // channel slices
    std::uint32_t slice_channels = 1;    // channels of a full slice
    std::uint32_t row_step = 1;          // kernel rows of a package
    std::uint32_t fetch_rows = 1;        // HS: input rows fetched per step
    std::uint32_t lower = 1, upper = 1;  // stripe limits
    std::uint32_t entries = 1;           // E1: entries of a slice
    std::uint32_t row_entries = 1;       // E: entries of an input row (four in Winograd)
    std::uint32_t data_width = 1;        // DW: entries from channel slice to channel slice
    std::uint32_t release_slices = 1;    // RLS
    std::uint32_t credit_unit = 1;       // credits of an atom
    std::uint32_t credit_guard = 0;
    std::uint32_t components = 1;  // image: components of a pixel step

    std::uint32_t input_rows() const { return last_row + 1; }
    std::uint32_t kept_slices() const { return skip_data_release ? input_rows() : input_rows() - release_slices; }
    std::uint32_t slice_size(bool last_slice) const
    {
        return mode == ConvMode::Winograd || !last_slice ? slice_channels : last_weight_channel % slice_channels + 1;
    }
    bool int8() const { return precision == Precision::Int8; }

    static LayerConfig decode(const Hardware& hardware, const RegisterFile& registers);
};

}  // namespace dlasim::csc
