// Registers of a convolution: loadable.md 6.1.
#include <fmt/format.h>

#include <algorithm>

#include "loadable/programmer.h"
#include "loadable/register_layout.h"
#include "registers/fields/cacc.h"
#include "registers/fields/cmac.h"

namespace dlasim::loadable {

void Programmer::write(const ConvOperation& op, bool)
{
    check_precision(op.input_precision);
    check_precision(op.precision);
    check(op.mode <= 1, fmt::format("has mode {}, expected 0 (direct) or 1 (Winograd)", op.mode));
    check(op.mode == 0 || hw_.winograd, "is a Winograd convolution, which " + hw_.name + " does not have");
    check(op.batch == 1 || (op.batch >= 1 && hw_.batch), fmt::format("has a batch of {}, which {} does not have", op.batch, hw_.name));
    check(op.weight_format <= 1, fmt::format("has weight format {}, expected 0 (plain) or 1 (compressed)", op.weight_format));
    check(op.weight_format == 0 || hw_.weight_compression, "has compressed weights, which " + hw_.name + " does not have");
    check(op.output_converter.scale == 1 && op.output_converter.offset == 0,
          fmt::format("has an output converter of scale {} and offset {}, expected 1 and 0", op.output_converter.scale,
                      op.output_converter.offset));
    check(op.format <= 36, fmt::format("has data format {}, expected 0 to 36", op.format));
    check(
        op.data_banks >= 1 && op.weight_banks >= 1 && op.data_banks + op.weight_banks <= static_cast<int>(hw_.cbuf.banks),
        fmt::format("takes {} banks for data and {} for weights, but {} has {}", op.data_banks, op.weight_banks, hw_.name, hw_.cbuf.banks));
    check_size(op.source, "source");
    check_size(op.destination, "destination");
    check(op.destination.on_the_fly(), "writes memory, expected SDP after it");
    write_conv_outputs(op);
    RegisterLayout::csc(*this, op);
    write_cdma(op);
}

/// CACC and CMAC.
void Programmer::write_conv_outputs(const ConvOperation& op)
{
    const Cube& out = op.destination;
    const bool single = out.width == 1 && out.height == 1;
    const Address out_address = out.address >= 0 ? address(out.address, true, out.offset, "destination", 0) : Address{};
    using namespace reg::cacc;
    unit("CACC");
    put({D_MISC_CFG::CONV_MODE(op.mode), D_MISC_CFG::PROC_PRECISION(op.precision)});
    put({less_one(D_DATAOUT_SIZE_0::DATAOUT_WIDTH, out.width), less_one(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT, out.height)});
    put(less_one(D_DATAOUT_SIZE_1::DATAOUT_CHANNEL, out.channels));
    put(D_DATAOUT_ADDR, out_address.byte());
    put(D_BATCH_NUMBER, op.batch - 1u);
    put(D_LINE_STRIDE, out.line_stride);
    put(D_SURF_STRIDE, out.surface_stride);
    put({D_DATAOUT_MAP::LINE_PACKED(single), D_DATAOUT_MAP::SURF_PACKED(single)});
    put(D_CLIP_CFG, op.output_converter.truncate);
    for (const char* cmac : {"CMAC_A", "CMAC_B"}) {
        using Misc = struct reg::cmac::D_MISC_CFG;
        unit(cmac);
        put({Misc::CONV_MODE(op.mode), Misc::PROC_PRECISION(op.precision)});
    }
}

void Programmer::write_cdma(const ConvOperation& op)
{
    const Cube& in = op.source;
    Address base, weights;
    if (!in.on_the_fly())
        base = op.feature() ? feature_address(in, "source", op.input_precision)
                            : address(in, "source", std::uint64_t{in.line_stride} * (in.height - 1) + in.width);
    if (op.weights.address >= 0) weights = address(op.weights, "weights", op.weights.size);
    RegisterLayout::cdma(*this, op, base, weights, hw_.memory.atom_bytes);
}

}  // namespace dlasim::loadable
