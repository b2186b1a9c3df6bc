#include "lowering/cut/size_sdp.h"

#include "base/bits.h"

namespace dlasim {
namespace {

// [spec] sdp.md 1.7: one surface is the channels of an atom; int8 to int16 writes them in pairs.
Geometry with_output(Geometry g, const Pass& p, const Hardware& hw)
{
    const std::uint64_t atom = hw.memory.atom_bytes;
    const std::uint32_t kernels = p.kernels, per_atom = hw.memory.atom_bytes / p.element_bytes();
    g.out_element_bytes = p.output.precision == Precision::Int8 ? 1 : 2;
    g.out_surfaces = static_cast<std::uint32_t>(ceil_div(kernels, per_atom));
    if (p.element_bytes() == 1 && g.out_element_bytes == 2) g.out_surfaces *= 2;
    g.out_strides.line = p.out_strides.line != 0 ? p.out_strides.line : std::uint64_t{g.out_width} * atom;
    // Operands per element pair up from the start of a line, results from the even atoms of memory: lines begin there.
    if (p.batch > 1 && p.post.streams_elements()) g.out_strides.line = round_up(g.out_strides.line, 2 * atom);
    g.out_strides.surface = p.out_strides.surface != 0 ? p.out_strides.surface : g.out_strides.line * g.out_height;
    g.out_strides.batch = p.out_strides.batch != 0 ? p.out_strides.batch : g.out_strides.surface * g.out_surfaces;
    if (p.convolves())
        g.macs = std::uint64_t{g.out_width} * g.out_height * kernels * p.kernel_width * p.kernel_height * p.channels * p.batch;
    return g;
}

// [spec] sdp.md 1.6.1: what SDP_RDMA is asked for.
Fit<Geometry> with_operands(Geometry g, const Pass& p, const Hardware& hw)
{
    const std::uint64_t atom = hw.memory.atom_bytes;
    const SdpConfig& post = p.post;
    const std::uint32_t per_atom = hw.memory.atom_bytes / p.element_bytes();
    if (post.ew().on() && !hw.sdp.has_ew) return {{}, "found operations of EW, expected none: " + hw.name + " has no EW"};
    if (post.ew().lut && !hw.sdp.has_lut) return {{}, "found a lookup table, expected none: " + hw.name + " has none"};
    if (post.compares() && p.kernels % per_atom != 0)
        return {{},
                "found " + std::to_string(p.kernels) + " channels to compare, expected a multiple of " + std::to_string(per_atom) +
                    ": EW compares whole atoms"};
    const std::uint64_t surfaces = ceil_div(p.kernels, per_atom);
    for (std::size_t i = 0; i < post.engines.size(); ++i) {
        const PointEngine& e = post.engines[i];
        if (!e.streams()) continue;
        OperandGeometry& o = g.operands[i];
        o.atoms = (e.alu.streamed() && e.mul.streamed() ? 2 : 1) * (p.element_bytes() == 1 ? e.operand_bytes : 1);
        const bool element = e.per() == OperandPer::Element && (g.out_width > 1 || g.out_height > 1);
        o.strides.line = !element ? 0 : p.operand_strides[i].line != 0 ? p.operand_strides[i].line : o.atoms * g.out_width * atom;
        o.strides.surface = !element ? 0 : p.operand_strides[i].surface != 0 ? p.operand_strides[i].surface : o.strides.line * g.out_height;
        o.bytes = element ? o.strides.surface * surfaces : o.atoms * surfaces * atom;
    }
    return {g};
}

}  // namespace

Fit<Geometry> with_sdp(const Geometry& geometry, const Pass& pass, const Hardware& hardware)
{
    return with_operands(with_output(geometry, pass, hardware), pass, hardware);
}

}  // namespace dlasim
