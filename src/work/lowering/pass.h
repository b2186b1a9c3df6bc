// One pass of the convolution pipeline: what the registers of all its units say, before it is
// written as registers. A layer is one pass or several.
//
//   Pass (what) ──► size_pass() ──► Geometry (entries, banks, strides) ──► with addresses: write_pass()
//
// Source  programming.md 2 to 9; cdma.md 1; sdp.md 1.3 and 1.6.
// Error   registers equal to those of the measured cases (tests/unit/lowering_test).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "config/model/layer.h"
#include "facts/hardware.h"
#include "lowering/cut/fit.h"

namespace dlasim {

struct RegisterRow;
struct UnitRegisters;

enum class PassMode { Direct, Image, Winograd, Sdp, Pool };  // Sdp, Pool: SDP or PDP alone, memory to memory

/// What stays in the buffer between passes, and partial height: programming.md 7.
struct Reuse {
    bool data = false, weights = false, keep_data = false, keep_weights = false;
    std::uint32_t fetched_lines = 0, total_lines = 0, released_lines = 0;  // 0: all lines
    std::uint32_t output_rows = 0;                                         // 0: what the lines give
    std::uint32_t extended_lines = 0;                                      // fetched, as Winograd counts them; 0: all
};

struct CompressedSizes {
    bool on = false;
    std::uint64_t weight_bytes = 0, mask_bytes = 0;
    std::vector<std::uint64_t> group_ends;  // bytes of weights up to the end of each kernel group
};

/// Pixels have a second plane.
struct InputStrides : Strides {
    std::uint64_t uv_line = 0;
};

struct Pass {
    PassMode mode = PassMode::Direct;
    Precision precision = Precision::Int8;
    std::uint32_t width = 1, height = 1, channels = 1, kernels = 1, batch = 1;
    std::uint32_t alike = 1;  // passes of the layer that follow each other and differ in their channels alone
    std::uint32_t kernel_width = 1, kernel_height = 1;
    Extent stride, dilation;
    Padding pad;
    InputStrides in_strides;                                    // 0: packed
    std::uint32_t data_banks = 0, weight_banks = 0, grain = 1;  // 0: what it takes
    bool lines_packed = true, surfaces_packed = true;           // adjacent in memory
    bool input_primary = true, weights_primary = true, output_primary = true;
    const PixelFormat* format = nullptr;
    std::uint32_t x_offset = 0;
    bool signed_pixels = true;
    InputConversion conversion;
    bool flush_nan = false;  // in CDMA
    std::uint32_t y_extension = 0;
    Reuse reuse;
    CompressedSizes compressed;
    std::uint32_t transform_truncate = 0;  // CSC.D_PRA_CFG
    std::uint32_t accumulator_truncate = 0;
    Strides out_strides;                       // 0: packed
    std::optional<Precision> input_precision;  // of features, where it is another
    SdpConfig post;
    std::array<bool, 3> operands_primary{true, true, true};
    std::array<Strides, 3> operand_strides;  // 0: packed
    OutputConversion output;
    std::optional<Pool> pool;  // SDP hands over to PDP

    bool convolves() const { return mode != PassMode::Sdp && mode != PassMode::Pool; }
    Precision stored_precision() const { return input_precision.value_or(precision); }
    std::uint32_t element_bytes() const { return precision == Precision::Int8 ? 1 : 2; }
    std::uint32_t span_y() const { return (kernel_height - 1) * dilation.y + 1; }
    std::uint32_t lines() const { return reuse.total_lines != 0 ? reuse.total_lines : height; }
};

/// Layout of the operands of an SDP engine in memory: `atoms` of memory hold those of an atom of elements.
struct OperandGeometry {
    std::uint64_t atoms = 0, bytes = 0;
    Strides strides;
};

/// What follows from a pass on a machine.
struct Geometry {
    std::uint32_t out_width = 0, out_height = 0;
    std::uint32_t width_ext = 0, height_ext = 0, channels_ext = 0;           // as CSC sees the input
    std::uint32_t kernel_width = 0, kernel_height = 0, kernel_channels = 0;  // as CSC sees a kernel
    Extent stride_ext;
    std::uint32_t surfaces = 0;           // of the input
    std::uint64_t entries_per_slice = 0;  // CBUF entries of a line
    std::uint64_t entries = 0;            // of the whole input
    std::uint64_t kernel_bytes = 0;       // of a kernel, uncompressed
    std::uint64_t weight_bytes = 0;       // of the layer, as fetched
    std::uint32_t data_banks = 0, weight_banks = 0;
    InputStrides in_strides;
    Strides out_strides;
    std::uint32_t out_element_bytes = 1, out_surfaces = 0;  // as SDP writes them
    std::array<OperandGeometry, 3> operands;                // of BS, BN, EW
    std::uint32_t pad_right = 0;                            // as set in CDMA
    std::uint32_t in_precision = 0;
    std::uint64_t macs = 0;
};

/// Of a pass as it is, without batches.
InputStrides input_strides(const Pass& pass, const Hardware& hardware);

/// What the machine cannot do whatever the sizes are; empty if it can.
std::string forbidden(const Pass& pass, const Hardware& hardware);
/// Sizes and checks; the reason why a pass does not fit has the numbers.
Fit<Geometry> fits(const Pass& pass, const Hardware& hardware);
/// The same; throws ConfigError(where, ...) if it does not fit.
Geometry size_pass(const Pass& pass, const Hardware& hardware, const std::string& where);

/// Addresses of the inputs and outputs of a pass. 0: unused.
struct Addresses {
    Address input, input_uv, weights, mask, group_sizes, output;
    std::array<Address, 3> operands;  // of BS, BN, EW
};

struct RegisterValue {
    const UnitRegisters* unit = nullptr;
    const RegisterRow* row = nullptr;  // of the unit
    std::uint32_t value = 0;
    bool operator==(const RegisterValue&) const = default;
    std::string name() const;  // "CDMA.D_BANK"
};
/// The registers of a pass in programming order, then the op-enables in the order they are written.
struct PassRegisters {
    std::vector<RegisterValue> writes, enables;
};
/// The register group that takes the settings of a unit. Units that do not take part in every operation get out of step.
struct UnitGroups {
    unsigned array = 0;  // CDMA, CSC, CMAC, CACC
    unsigned sdp = 0, sdp_rdma = 0, pdp = 0, pdp_rdma = 0;

    static UnitGroups all(unsigned group) { return {group, group, group, group, group}; }
};
}  // namespace dlasim
