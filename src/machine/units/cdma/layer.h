// A layer as CDMA sees it: the registers of its group, decoded once at the start.
//
// Source  cdma.md 1.1, 1.3, 4.1, 5.1, 5.2, 6.1.
#pragma once
#include <cstdint>

#include "facts/hardware.h"
#include "registers/register_file.h"

namespace dlasim::cdma {

enum class Fetcher : std::uint8_t { None, Feature, Image, Winograd };

struct LayerConfig {
    unsigned group = 0;
    Fetcher fetcher = Fetcher::None;
    std::uint32_t input_precision = 0, precision = 0;  // 0 int8, 1 int16, 2 fp16
    bool data_reuse = false, weight_reuse = false, skip_data = false, skip_weight = false;
    std::uint32_t data_banks = 1, weight_banks = 1;

    // Data
    std::uint32_t width = 1, height = 1, channels = 1, surfaces = 1;
    std::uint32_t extended_width = 1, extended_height = 1;  // Winograd
    std::uint64_t base = 0, base_uv = 0;
    std::uint64_t line_stride = 0, uv_line_stride = 0, surface_stride = 0, batch_stride = 0;
    std::uint32_t batches = 1, entries = 1, grain = 1;
    bool packed_pixel = false;  // W = H = 1 with packed surfaces: the surfaces are one line
    std::uint32_t pad_left = 0, pad_right = 0, pad_top = 0, x_offset = 0;
    std::uint32_t stride_x = 1, stride_y = 1;  // Winograd pre-extension
    std::uint32_t pixel_format = 0;
    bool pixel_signed = false;
    bool data_primary = true;  // DRAM at MCIF, else CVSRAM

    // Conversion
    bool convert = false, mean = false, nan_to_zero = false;
    std::uint32_t truncate = 0;
    std::int16_t offset = 0, scale = 0;
    std::int16_t mean_value[4] = {};
    std::uint16_t pad_value = 0;

    // Weights
    bool compressed = false, weight_primary = true;
    std::uint32_t bytes_per_kernel = 1, kernels = 1, kernel_group = 1, kernel_groups = 1;
    std::uint64_t weight_address = 0, mask_address = 0, group_size_address = 0;
    std::uint32_t weight_bytes = 0, mask_bytes = 0;

    bool performance = false;  // stall and latency counters run

    bool input8() const { return input_precision == 0; }
    bool output8() const { return precision == 0; }
    /// Bits of the bank fields: a change of bank_code means a new partition of the buffer.
    std::uint32_t bank_code() const { return data_banks | weight_banks << 16; }

    /// What the registers of group `group` say.
    static LayerConfig decode(const Hardware& hw, const RegisterFile& registers, unsigned group);
};

/// How a pixel format lies in memory and in the buffer.
struct PixelFormat {
    enum class Order : std::uint8_t { Same, Swap02, Rotate, Reverse };
    enum class Packed10 : std::uint8_t { No, Abgr, Argb, Bgra, Rgba };
    std::uint32_t planes = 1;
    std::uint32_t bytes[2] = {4, 0};            // a pixel in memory, by plane
    std::uint32_t pixels_per_atom[2] = {1, 1};  // by plane
    std::uint32_t components = 4;               // a pixel in the buffer
    bool eight_bit = true;                      // components of 8 bit, else 16
    Order order = Order::Same;
    bool swap_uv = false;  // the two components of plane 1 change places
    Packed10 packed10 = Packed10::No;
};

PixelFormat decode_pixel_format(const Hardware& hw, std::uint32_t code);

}  // namespace dlasim::cdma
