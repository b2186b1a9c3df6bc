#include "units/cdma/data/winograd.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace dlasim::cdma {
namespace {
constexpr std::uint32_t kTile = 4;  // a cube is kTile x kTile atoms, an entry one channel quarter of it
}

WinogradFetcher::WinogradFetcher(const Hardware& hw, DataContext& context) : DataFetcher(hw, context), atom_(hw.memory.atom_bytes) {}

void WinogradFetcher::start(const LayerConfig& layer, const Converter& converter)
{
    layer_ = layer;
    converter_ = converter;
    columns_ = (layer.extended_width - 1) / kTile + 1;
    blocks_ = (layer.extended_height - 1) / kTile + 1;
    block_entries_ = kTile * layer.entries;
    block_cubes_ = layer.surfaces * layer.stride_x * layer.stride_y * columns_;
    done_at_ = kNever;
    nans_ = infs_ = 0;
}

void WinogradFetcher::busy(Cycle)
{
    block_ = surface_ = phase_ = 0;
    first_section();
    space_ok_ = blocked_ = false;
    stage_.valid = false;
    position_ = 0;
    in_chunk_ = available_ = completed_now_ = completed_before_ = read_cycle_ = taken_ = block_read_ = blocks_read_ = 0;
    write_latency_ = facts::cdma::kCubeRead + (layer_.convert ? facts::cdma::kConvert : facts::cdma::kBypass);
    ring_ = context_.status.capacity();
    base_ = context_.status.write_index();
}

std::uint32_t WinogradFetcher::section_width(unsigned section) const
{
    return section == 0 ? layer_.pad_left : section == 1 ? layer_.width : layer_.pad_right;
}

void WinogradFetcher::first_section()
{
    section_ = layer_.pad_left ? 0 : 1;
    x_ = row_ = 0;
}

void WinogradFetcher::generate(RequestSlot& slot)
{
    const std::uint32_t width = section_width(section_), n = std::min(facts::cdma::kBurstAtoms, width - x_);
    const std::int64_t y = std::int64_t{block_} * kTile * layer_.stride_y - layer_.pad_top + phase_ + std::int64_t{row_} * layer_.stride_y;
    const bool real = section_ == 1 && y >= 0 && y < layer_.height;
    slot.valid = true;
    slot.info = {};
    slot.info.atoms = static_cast<std::uint8_t>(n);
    slot.info.source = static_cast<std::uint8_t>(row_);
    slot.info.dummy = !real;
    slot.info.chunk_end = row_ + 1 == kTile;
    if (real)
        slot.request = {Address{layer_.base + std::uint64_t{x_} * atom_ + static_cast<std::uint64_t>(y) * layer_.line_stride +
                                surface_ * layer_.surface_stride},
                        n};
    if (++row_ != kTile) return;
    row_ = 0;
    x_ += n;
    if (x_ != width) return;
    x_ = 0;
    if (section_ == 0 || (section_ == 1 && layer_.pad_right)) {
        ++section_;
        return;
    }
    first_section();
    if (++phase_ != layer_.stride_y) return;
    phase_ = 0;
    if (++surface_ != layer_.surfaces) return;
    surface_ = 0;
    ++block_;
    space_ok_ = false;
}

bool WinogradFetcher::request(Cycle, bool room, RequestSlot& slot)
{
    // After the generator the address is formed in two registers; the second is the request register.
    bool changed = false;
    if (room && stage_.valid) {
        slot = stage_;
        stage_.valid = false;
        changed = true;
    }
    if (space_ok_) {
        if (!stage_.valid) {
            generate(stage_);
            changed = true;
        }
    } else if (block_ < blocks_ && context_.status.free() >= onfly_ + block_entries_) {
        space_ok_ = changed = true;
        onfly_ += block_entries_;
    }
    return changed;
}

void WinogradFetcher::consume(Cycle, const RequestInfo& info, const ReadBeat* beat, std::uint32_t atoms, bool complete, bool values)
{
    if (values) {
        alignas(32) std::uint8_t padding[kMaxBeatBytes];
        if (!beat)
            for (std::uint32_t i = 0; i < atom_; ++i)
                padding[i] = static_cast<std::uint8_t>(converter_.input8() || i % 2 == 0 ? converter_.pad : converter_.pad >> 8);
        for (std::uint32_t i = 0; i < atoms; ++i)
            store_atom(beat ? beat->data.data() + i * atom_ : padding, position_ + in_chunk_ + i, info.source & (kTile - 1));
    }
    in_chunk_ += atoms;
    if (!complete) return;
    in_chunk_ = 0;
    if (!info.chunk_end) return;
    const std::uint64_t group = std::uint64_t{kTile} * layer_.stride_x, before = position_ / group;
    position_ += info.atoms;
    completed_now_ += static_cast<std::uint32_t>(position_ / group - before) * layer_.stride_x;
}

void WinogradFetcher::store_atom(const std::uint8_t* data, std::uint64_t position, std::uint32_t row)
{
    const std::uint32_t sx = layer_.stride_x, sy = layer_.stride_y;
    const auto phase = static_cast<std::uint32_t>(position % sx);
    const std::uint64_t column = position / sx;
    std::uint64_t group = column / kTile;
    const std::uint64_t in_line = group % columns_;
    group /= columns_;
    const std::uint64_t yp = group % sy;
    group /= sy;
    const std::uint64_t surface = group % layer_.surfaces;
    const std::uint64_t block = group / layer_.surfaces;
    std::uint64_t entry =
        base_ + block % blocks_ * block_entries_ + ((yp * sx + phase) * layer_.surfaces + surface) * kTile * columns_ + in_line;
    alignas(32) std::uint8_t converted[kMaxBeatBytes];
    if (!converter_.transparent()) {
        converter_.bytes(data, converted, atom_, nans_, infs_);
        data = converted;
    }
    const std::uint32_t quarter = atom_ / kTile;
    const std::uint32_t at = (row * kTile + static_cast<std::uint32_t>(column % kTile)) * quarter;
    for (std::uint32_t q = 0; q < kTile; ++q, entry += columns_) {
        const std::uint64_t index = ring_ ? entry % ring_ : entry;
        if (index < silicon_.data_entries) context_.cbuf.write(Entries(static_cast<std::uint32_t>(index)), at, data + q * quarter, quarter);
    }
}

bool WinogradFetcher::read(Cycle at)
{
    taken_ = 0;
    if (available_ == 0) return false;
    context_.buffer_write(at + write_latency_);
    if (++read_cycle_ != facts::cdma::kCubeCycles) return true;
    read_cycle_ = 0;
    taken_ = 1;
    if (++block_read_ != block_cubes_) return true;
    block_read_ = 0;
    context_.update(at + facts::cdma::kCubeRead, Entries{block_entries_}, Slices{kTile});
    if (++blocks_read_ == blocks_) done_at_ = at + facts::cdma::kCubeRead + facts::cdma::kWinogradDone;
    return true;
}

bool WinogradFetcher::commit()
{
    const bool changed = completed_now_ || completed_before_ || taken_;
    available_ += completed_before_ - taken_;
    completed_before_ = completed_now_;
    completed_now_ = 0;
    const bool was = blocked_;
    blocked_ = available_ >= facts::cdma::kCubeLimit;
    return changed || blocked_ != was;
}

}  // namespace dlasim::cdma
