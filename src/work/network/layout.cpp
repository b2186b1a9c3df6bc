#include "network/layout.h"

#include <algorithm>

#include "base/bits.h"
#include "base/expects.h"

namespace dlasim {
namespace {

void append(std::vector<ChannelPiece>& pieces, const ChannelPiece& next)
{
    if (!pieces.empty() && pieces.back().first + pieces.back().count == next.first && pieces.back().at + pieces.back().count == next.at)
        pieces.back().count += next.count;
    else pieces.push_back(next);
}

}  // namespace

std::uint32_t TensorLayout::at(std::uint32_t channel) const
{
    const auto piece = std::find_if(pieces.begin(), pieces.end(), [&](const ChannelPiece& p) { return channel < p.first + p.count; });
    DLASIM_EXPECTS(piece != pieces.end());
    return piece->at + channel - piece->first;
}

TensorLayout packed_layout(const NetworkTensor& tensor, const Network& network, const Hardware& hardware)
{
    const std::uint32_t atom_bytes = hardware.memory.atom_bytes, element_bytes = network.element_bytes();
    TensorLayout layout;
    layout.pieces = {{0, tensor.channels, 0}};
    const std::uint64_t line = std::uint64_t{tensor.width} * atom_bytes, surface = line * tensor.height;
    layout.bytes = surface * ceil_div(tensor.channels, atom_bytes / element_bytes);
    layout.cube = {{line, surface, layout.bytes}, atom_bytes, element_bytes};
    return layout;
}

std::optional<TensorLayout> pixel_layout(const NetworkTensor& tensor, const Network& network)
{
    if (tensor.channels == 2 || tensor.channels > 4) return std::nullopt;
    const bool single = tensor.channels == 1;
    TensorLayout layout;
    layout.pieces = {{0, tensor.channels, 0}};
    layout.format =
        network.is_fp16() ? find_pixel_format(single ? "T_R16_F" : "T_A16B16G16R16_F") : find_pixel_format(single ? "T_R8" : "T_A8B8G8R8");
    return layout;
}

TensorLayout written_layout(const LayerPlan& plan, Address base)
{
    TensorLayout layout;
    layout.cube = plan.outputs.front().cube;
    const Address first = plan.outputs.front().place.address;
    std::vector<OutputCube> cubes = plan.outputs;
    std::sort(cubes.begin(), cubes.end(), [](const OutputCube& a, const OutputCube& b) { return a.first_kernel < b.first_kernel; });
    std::uint64_t end = 0;
    for (const OutputCube& cube : cubes) {
        const std::uint64_t offset = cube.place.address - first, surface = layout.cube.strides.surface;
        DLASIM_EXPECTS(cube.place.address >= first && offset % surface == 0 && cube.cube.strides.surface == surface);
        append(layout.pieces, {cube.first_kernel, cube.kernels, static_cast<std::uint32_t>(offset / surface) * layout.per_atom()});
        end = std::max(end, offset + ceil_div(cube.kernels, layout.per_atom()) * surface);
    }
    layout.bytes = end;
    layout.before = first - base;
    return layout;
}

TensorLayout joined_layout(const std::vector<TensorLayout>& parts)
{
    TensorLayout whole;
    whole.cube = parts.front().cube;
    std::uint32_t channels = 0;
    for (const TensorLayout& part : parts) {
        DLASIM_EXPECTS(part.cube.strides.surface == whole.cube.strides.surface && part.cube.strides.line == whole.cube.strides.line);
        const auto before = static_cast<std::uint32_t>(whole.bytes / whole.cube.strides.surface) * whole.per_atom();
        for (const ChannelPiece& piece : part.pieces) append(whole.pieces, {channels + piece.first, piece.count, before + piece.at});
        channels += part.pieces.back().first + part.pieces.back().count;
        whole.bytes += part.bytes;
    }
    whole.cube.strides.batch = whole.bytes;
    return whole;
}

namespace {

Bytes bytes_of_pixels(const Tensor& tensor, const TensorLayout& layout)
{
    Layer layer;
    layer.format = layout.format;
    Geometry geometry;
    geometry.in_strides.line = layout.cube.strides.line;
    Tensor padded(1, layout.format->components, tensor.h, tensor.w);
    std::copy(tensor.values.begin(), tensor.values.end(), padded.values.begin());
    return pixel_bytes(layer, padded, geometry, 0);
}

}  // namespace

Bytes tensor_bytes(const Tensor& tensor, const TensorLayout& layout)
{
    if (layout.format) return bytes_of_pixels(tensor, layout);
    Bytes all(layout.bytes);
    for (const ChannelPiece& piece : layout.pieces) {
        const std::uint64_t from = piece.at / layout.per_atom() * layout.cube.strides.surface;
        Bytes bytes = feature_bytes(tensor, {piece.first, piece.count}, layout.cube, layout.bytes - from);
        if (layout.pieces.size() == 1 && from == 0) return bytes;
        for (std::size_t i = 0; i < bytes.size(); ++i) all[from + i] = static_cast<std::uint8_t>(all[from + i] | bytes[i]);
    }
    return all;
}

Tensor read_tensor(const NetworkTensor& shape, const TensorLayout& layout, const ReadPlace& read)
{
    Tensor tensor(1, shape.channels, shape.height, shape.width);
    for (const ChannelPiece& piece : layout.pieces) {
        const std::uint64_t from = piece.at / layout.per_atom() * layout.cube.strides.surface,
                            bytes = (ceil_div(piece.count, layout.per_atom()) - 1) * layout.cube.strides.surface +
                                    shape.height * layout.cube.strides.line;
        read_feature(read(layout.place + from, bytes), layout.cube, tensor, {piece.first, piece.count});
    }
    return tensor;
}

}  // namespace dlasim
