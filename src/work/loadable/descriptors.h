// What a hardware task describes: its operations, their surfaces, their dependencies and the lookup tables.
//
// Shapes  sizes of cubes in elements, strides and offsets in bytes; what a field of the file holds minus one is so in its comment.
// Source  loadable.md 3.
// Error   ConfigError naming file, task, operation, field and what was found.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loadable/memory_plan.h"
#include "loadable/rubik/operation.h"

namespace dlasim::loadable {

enum class Kind : std::uint8_t { Bdma, Conv, Sdp, Pdp, Cdp, Rubik };
inline constexpr std::size_t kKinds = 6;
inline constexpr std::array<const char*, kKinds> kKindNames{"BDMA", "CONV", "SDP", "PDP", "CDP", "RUBIK"};
/// The units that software programs; the first one ends the operation, the second one of two is its read engine.
inline const std::vector<std::string_view>& units_of(Kind kind)
{
    static const std::array<std::vector<std::string_view>, kKinds> kUnits{
        {{"BDMA"}, {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}, {"SDP", "SDP_RDMA"}, {"PDP", "PDP_RDMA"}, {"CDP", "CDP_RDMA"}, {"RBK"}}};
    return kUnits[static_cast<std::size_t>(kind)];
}

struct Converter {
    std::int16_t scale = 0;
    std::uint8_t truncate = 0, enable = 0;
    std::int32_t offset = 0;
    bool operator==(const Converter&) const = default;
};

struct Transfer {
    std::int16_t source = -1, destination = -1;  // addresses of the task
    std::uint32_t line_bytes = 0, lines = 0, source_line = 0, destination_line = 0, surfaces = 0, source_surface = 0,
                  destination_surface = 0;
    bool operator==(const Transfer&) const = default;
};

struct BdmaOperation {
    bool from_primary = true, to_primary = true;
    std::vector<Transfer> transfers;
    bool operator==(const BdmaOperation&) const = default;
};

struct ConvOperation {
    Cube weights, mask, groups, source, destination;
    std::int64_t second_plane = 0;
    std::uint32_t second_line_stride = 0;
    std::uint8_t mode = 0, data_reuse = 0, weight_reuse = 0, skip_data_release = 0, skip_weight_release = 0;
    std::uint16_t entries = 0;  // per slice
    std::uint8_t format = 0, pixel_mapping = 0;
    std::uint16_t fetch_grain = 0;
    std::uint8_t batch = 0, weight_format = 0, data_banks = 0, weight_banks = 0;
    std::uint32_t batch_stride = 0;
    std::uint8_t post_extension = 0, pixel_override = 0;
    std::uint16_t released = 0, csc_width = 0, csc_height = 0, csc_channels = 0, kernel_width = 0, kernel_height = 0, kernel_channels = 0,
                  mac_width = 0, mac_height = 0;
    std::uint32_t bytes_per_kernel = 0;
    std::array<std::int16_t, 4> mean{};
    std::uint8_t mean_on = 0, stride_x = 0, stride_y = 0, pad_left = 0, pad_right = 0, pad_top = 0, pad_bottom = 0, dilation_x = 0,
                 dilation_y = 0, winograd_truncate = 0, input_precision = 0, precision = 0;
    std::int16_t pad_value = 0;
    Converter input_converter, output_converter;

    bool feature() const { return format == 36; }
    /// Multiplications. Those of Winograd's 4 x 4 make 2 x 2 places.
    std::uint64_t macs() const
    {
        const std::uint64_t places = std::uint64_t{batch} * destination.width * destination.height / (mode != 0 ? 4 : 1);
        return places * destination.channels * kernel_width * kernel_height * kernel_channels;
    }
    bool operator==(const ConvOperation&) const = default;
};

struct SdpStage {
    std::uint8_t enable = 0, alu = 0, type = 0, mode = 0, activation = 0, shift = 0, truncate = 0, precision = 0;
    std::int32_t alu_operand = 0, multiplier_operand = 0;
    Converter alu_converter, multiplier_converter;

    bool adds() const { return type >= 2; }
    bool multiplies() const { return (type & 1) != 0; }
    bool per_layer() const { return mode == 0; }
    bool reads() const { return enable != 0 && type != 0 && mode != 0; }
    bool operator==(const SdpStage&) const = default;
};

struct SdpOperation {
    Cube source, destination;
    std::array<Cube, 3> operands;                      // of the stages
    std::uint8_t source_precision = 0, precision = 0;  // precision: of the destination
    std::int16_t table = -1;
    Converter output_converter;
    std::uint8_t mode = 0, batch = 0;  // mode: 1 Winograd
    std::uint32_t batch_stride = 0;
    std::array<SdpStage, 3> stages;  // X1, X2, Y

    bool needs_rdma() const;
    bool operator==(const SdpOperation&) const = default;
};

struct PdpOperation {
    Cube source, destination;
    std::array<std::uint16_t, 3> partial_in{}, partial_out{};                  // first, mid, last
    std::uint8_t splits = 0, method = 0, kernel_width = 0, kernel_height = 0;  // kernel: minus one
    std::uint8_t stride_x = 0, stride_y = 0, pad_left = 0, pad_right = 0, pad_top = 0, pad_bottom = 0, precision = 0;
    std::array<std::int32_t, 7> pad_values{};
    bool operator==(const PdpOperation&) const = default;
};

struct CdpOperation {
    Cube source, destination;
    std::uint8_t input_precision = 0, precision = 0;
    std::int16_t table = -1;
    Converter input_converter, output_converter;
    std::uint8_t window = 0, bypass_square_sum = 0, bypass_multiplier = 0;
    bool operator==(const CdpOperation&) const = default;
};

struct Slope {
    std::int16_t scale = 0;
    std::int8_t shift = 0;
    bool operator==(const Slope&) const = default;
};

struct LookupTable {
    std::array<std::int16_t, 65> le{};
    std::array<std::int16_t, 257> lo{};
    std::int8_t le_offset = 0, lo_select = 0;
    std::uint64_t le_start = 0, le_end = 0, lo_start = 0, lo_end = 0;
    Slope le_underflow, le_overflow, lo_underflow, lo_overflow;
    std::uint8_t hybrid_priority = 0, underflow_priority = 0, overflow_priority = 0, method = 0;
    bool operator==(const LookupTable&) const = default;
};

/// Another operation and the event that notifies it.
struct Link {
    enum Event : std::uint8_t { Completed = 1, Programmed = 2, Enabled = 3, WeightsDone = 4, DataDone = 5 };
    std::int16_t operation = -1;  // -1 none
    std::uint8_t event = 0;
};

struct Operation {
    Kind kind = Kind::Bdma;
    std::uint8_t dependencies = 0;
    std::array<Link, kKinds> consumers;
    Link fused_parent;
    BdmaOperation bdma;  // of these, the one of its kind
    ConvOperation conv;
    SdpOperation sdp;
    PdpOperation pdp;
    CdpOperation cdp;
    RubikOperation rubik;

    std::size_t type() const { return static_cast<std::size_t>(kind); }
    const char* name() const { return kKindNames[type()]; }
    /// The table that it uses, -1 none.
    int table() const { return kind == Kind::Sdp ? sdp.table : kind == Kind::Cdp ? cdp.table : -1; }
    /// BDMA without transfers completes without the hardware.
    bool runs() const { return kind != Kind::Bdma || !bdma.transfers.empty(); }
    /// Equal settings, but for the number of the table of CDP.
    bool same_but_table(const Operation& other) const
    {
        CdpOperation same = cdp;
        same.table = other.cdp.table;
        return conv == other.conv && sdp == other.sdp && pdp == other.pdp && same == other.cdp && rubik == other.rubik;
    }
    /// What it reads and writes as cubes; null where it has none: BDMA.
    const Cube* source() const;
    const Cube* destination() const;
};

/// Calls it with the operation of its kind.
template <class O, class F>
decltype(auto) visit(F&& call, O& operation)
{
    switch (operation.kind) {
        case Kind::Bdma:
            return call(operation.bdma);
        case Kind::Conv:
            return call(operation.conv);
        case Kind::Sdp:
            return call(operation.sdp);
        case Kind::Pdp:
            return call(operation.pdp);
        case Kind::Cdp:
            return call(operation.cdp);
        case Kind::Rubik:
            break;
    }
    return call(operation.rubik);
}
/// A case for each of some types.
template <class... F>
struct Cases : F... {
    using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

struct HardwareTask {
    enum List : std::size_t { Operations, Surfaces, Graph, Tables, Statistics };

    std::size_t task = 0;  // in the file
    std::string where;     // "FILE: task N", for messages
    Version version;
    std::array<std::int16_t, kKinds> heads{};      // the first operation of each kind, -1 none
    std::array<int, 5> lists{-1, -1, -1, -1, -1};  // addresses of its descriptors: operations, surfaces, graph, tables, statistics; -1 none
    std::vector<Operation> operations;
    std::vector<LookupTable> tables;

    /// "FILE: task N: operation I (CONV)"
    std::string where_is(std::size_t operation) const;
};

/// Reads the descriptors of a task and checks that all their indices name something.
HardwareTask read_task(const Loadable& loadable, const MemoryPlan& memories, std::size_t task);

}  // namespace dlasim::loadable
