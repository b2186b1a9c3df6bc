// Layout of a tensor of a network in memory: feature data, its channels in pieces that begin with an atom each. Mostly one piece; a
// concatenation of parts that do not end with an atom, and parts of less than an atom of kernels, leave lanes between them unused.
//
//   channel c of piece p  ──►  place p.at + (c - p.first) of the cube, at is a multiple of the elements of an atom
//
// Who reads such a tensor reads all places; weights are 0 for those that are no channel.
#pragma once
#include <functional>
#include <optional>

#include "config/model/channel_piece.h"
#include "config/model/network.h"
#include "lowering/plan.h"

namespace dlasim {

struct TensorLayout {
    std::vector<ChannelPiece> pieces;
    Cube cube;
    Place place;                          // of place 0
    std::uint64_t bytes = 0;              // from there on
    std::uint64_t before = 0;             // bytes in front of it that its step puts together
    bool spare_line = false;              // below every surface: padding only
    const PixelFormat* format = nullptr;  // pixels of one plane, line by line; null: feature data

    /// Places up to the last channel's.
    std::uint32_t channels() const { return pieces.back().at + pieces.back().count; }
    bool whole() const { return pieces.size() == 1 && pieces.front().at == 0; }
    std::uint32_t per_atom() const { return cube.atom_bytes / cube.element_bytes; }
    /// The place of a channel.
    std::uint32_t at(std::uint32_t channel) const;
};

/// In one piece.
TensorLayout packed_layout(const NetworkTensor& tensor, const Network& network, const Hardware& hardware);
/// The same as pixels: one channel, or three or four in words of four. None of other numbers of channels, and of fp16.
std::optional<TensorLayout> pixel_layout(const NetworkTensor& tensor, const Network& network);
/// As a plan writes it, from `base` on; `base`: where its output begins. Pieces that follow each other become one.
TensorLayout written_layout(const LayerPlan& plan, Address base);
/// Concatenated, channels and memory. pre: planes of one size
TensorLayout joined_layout(const std::vector<TensorLayout>& parts);

Bytes tensor_bytes(const Tensor& tensor, const TensorLayout& layout);
using ReadPlace = std::function<Bytes(const Place& place, std::uint64_t bytes)>;
Tensor read_tensor(const NetworkTensor& shape, const TensorLayout& layout, const ReadPlace& read);

}  // namespace dlasim
