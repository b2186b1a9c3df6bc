// A layer as the user describes it, read and checked: interfaces.md 2.
//
//   input [batch, channels, height, width]  kernel [count, channels / groups, height, width]
//   output width = (width + left + right - ((kernel - 1) * dilation + 1)) / stride + 1
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/place.h"
#include "config/model/geometry.h"
#include "config/model/partition.h"
#include "config/model/pool.h"
#include "config/model/sdp.h"
#include "config/model/tolerance.h"
#include "facts/hardware.h"

namespace dlasim {

enum class Op { Convolution, FullyConnected, Deconvolution, Sdp, Pool };
enum class Mode { Auto, Direct, Image, Winograd };

/// A pixel format of the register map. Components of plane 0, bytes a pixel of it, planes,
/// components after assembly, bytes a component in the CBUF (before conversion to int8).
struct PixelFormat {
    const char* name;
    std::uint32_t code, plane_components, plane_pixel_bytes, planes, components;
    bool eight_bit;  // components of 8 bits
    bool half_float;

    /// Four components in one word: three of 10 bits and an alpha of 2, left aligned in 16 bits once unpacked.
    bool ten_bits() const { return code >= 0x14 && code <= 0x19; }
    /// Component of memory that becomes component o.
    std::array<std::uint32_t, 4> order() const;
    /// Bits of a 16-bit component that memory does not hold.
    std::uint16_t missing_bits(std::uint32_t component) const
    {
        if (!ten_bits()) return 0;
        return component == 3 ? 0x3fff : 0x003f;
    }
};
/// Null if there is none of that name.
const PixelFormat* find_pixel_format(const std::string& name);
const PixelFormat* find_pixel_format(std::uint32_t code);

struct Padding {
    std::uint32_t left = 0, right = 0, top = 0, bottom = 0;
    std::int32_t value = 0;  // as the machine sees it: fp16 as its bit pattern
    bool any() const { return left != 0 || right != 0 || top != 0 || bottom != 0; }
    bool operator==(const Padding&) const = default;
};

struct OutputConversion {
    Precision precision = Precision::Int8;
    std::int32_t offset = 0;
    std::int32_t scale = 1;
    std::uint32_t shift = 0;
};

/// Input conversion in CDMA: (x - offset) * scale >> shift, rounded and saturated; pixels may have an offset (mean) a component.
struct InputConversion {
    bool on = false;
    std::int32_t offset = 0;
    std::int32_t scale = 1;
    std::uint32_t shift = 0;
    bool per_component = false;
    std::array<std::int32_t, 4> mean{};
};

struct TensorSource {
    std::uint64_t seed = 1;
    std::string input, weights;           // NumPy files; empty: by seed
    std::string expected;                 // NumPy file of the output to compare with; empty: none
    Tolerance tolerance;                  // of that comparison
    std::array<std::string, 6> operands;  // of SDP, by operand_slot()
    std::string where;                    // of "data" in the descriptor, for messages

    bool in_files() const
    {
        return !input.empty() || !weights.empty() || !expected.empty() ||
               std::any_of(operands.begin(), operands.end(), [](const std::string& file) { return !file.empty(); });
    }
};

/// Where a layer's tensors begin: which memory, and which banks of a DRAM they meet in.
struct Placement {
    Place input{true, Address{0x80000000}}, weights{true, Address{0x90000000}}, output{true, Address{0xa0000000}};
    std::array<Place, 3> operands{
        {{true, Address{0xb0000000}}, {true, Address{0xc0000000}}, {true, Address{0xd0000000}}}};  // of BS, BN, EW
};

struct Layer {
    Placement placement;
    std::string name;
    std::string file;  // it was read from, for messages
    Op op = Op::Convolution;
    std::uint32_t width = 1, height = 1, channels = 1, batch = 1;
    std::uint32_t output_surface = 0;  // bytes from a surface of the output to the next; 0: packed
    bool two_kernel_rows = false;      // depthwise: two of them in an operation. A line below every surface of the input holds its padding
    std::uint32_t input_line = 0, input_surface = 0;  // bytes from a line of features to the next, from a surface; 0: packed
    const PixelFormat* format = nullptr;              // null: feature data
    bool signed_pixels = true;
    std::uint32_t x_offset = 0;
    InputConversion conversion;
    bool flush_nan = false;  // fp16: NaN of input and weights becomes 0 in CDMA
    std::uint32_t kernel_width = 1, kernel_height = 1, kernels = 1;
    Extent stride, dilation;
    std::uint32_t groups = 1;
    Padding pad;
    Precision precision = Precision::Int8;
    std::optional<Precision> input_precision;  // of features in memory, where CDMA or SDP convert them
    Mode mode = Mode::Auto;
    std::uint32_t rows_at_once = 0;       // kernel rows of an operation, pixels: 1, 2 or 4; 0: as many as fit
    std::uint32_t winograd_truncate = 2;  // of the input transform, integers; the weights are stored times 4
    SdpConfig post;
    OutputConversion output;
    std::optional<Pool> pool;  // after SDP, or the operation itself
    bool compressed = false;
    std::uint32_t density = 100;  // of the weights made by seed: percent that are not zero
    TensorSource data;
    Partition partition;
    Overlap overlap = Overlap::All;  // of its parts

    bool image() const { return format != nullptr; }
    Precision stored_precision() const { return input_precision.value_or(precision); }
    std::uint32_t element_bytes() const { return precision == Precision::Int8 ? 1 : 2; }
    std::uint32_t kernel_channels() const { return channels / groups; }
    std::uint32_t span_x() const { return (kernel_width - 1) * dilation.x + 1; }
    std::uint32_t span_y() const { return (kernel_height - 1) * dilation.y + 1; }
    std::uint32_t out_width() const
    {
        if (op == Op::Deconvolution) return (width - 1) * stride.x + span_x() - pad.left - pad.right;
        return (width + pad.left + pad.right - span_x()) / stride.x + 1;
    }
    std::uint32_t out_height() const
    {
        if (op == Op::Deconvolution) return (height - 1) * stride.y + span_y() - pad.top - pad.bottom;
        return (height + pad.top + pad.bottom - span_y()) / stride.y + 1;
    }
    /// What is in memory after the layer: pooled, where it is.
    std::uint32_t result_width() const { return pool ? pool->x.outputs(out_width(), pool->ceil) : out_width(); }
    std::uint32_t result_height() const { return pool ? pool->y.outputs(out_height(), pool->ceil) : out_height(); }
    /// It passes the array.
    bool convolves() const { return op != Op::Sdp && op != Op::Pool; }
    /// Multiplications of the layer as defined; deconvolution in scatter form.
    std::uint64_t macs() const
    {
        if (!convolves()) return 0;
        const std::uint64_t kernel = std::uint64_t{kernel_width} * kernel_height * kernel_channels() * kernels;
        const std::uint64_t places = op == Op::Deconvolution ? std::uint64_t{width} * height : std::uint64_t{out_width()} * out_height();
        return kernel * places * batch;
    }
};

inline const char* precision_name(Precision precision)
{
    constexpr const char* kNames[] = {"int8", "int16", "fp16"};
    return kNames[static_cast<int>(precision)];
}

}  // namespace dlasim
