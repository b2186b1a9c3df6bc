#include "units/csc/tile_loader.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "numerics/tile_block.h"

namespace dlasim::csc {
namespace {
constexpr std::uint32_t kTileLanes = numerics::kTileLanes;
constexpr std::uint32_t kTileChannels = 4, kPositionBytes = 8;
constexpr std::uint32_t kTileAtom = 2 * kTileLanes + 64;  // bytes
}  // namespace

TileLoader::TileLoader(const Hardware& hw, DataRing& ring, bool values) : entry_bytes_(hw.cbuf.entry_bytes), values_(values), ring_(ring)
{
    for (Rows& rows : rows_) {
        rows.current.assign(entry_bytes_, 0);
        rows.previous.assign(entry_bytes_, 0);
    }
}

void TileLoader::start_layer(const LayerConfig& layer)
{
    layer_ = &layer;
    walk_.start_layer(layer, 0);
}

void TileLoader::load(const Package& p, Cycle at, PackageAtoms& out)
{
    const std::uint32_t rows = layer_->fetch_rows, steps = round_up(p.length, rows);
    out.lanes = kTileLanes;
    out.make_room_in_bytes(p.length, kTileAtom);
    Cycle enable = at + facts::csc::kDataReadWinograd;
    bool exact = false;  // the tile is the current entry
    for (std::uint32_t step = 0; step < steps; ++step, ++enable) {
        const std::uint32_t h = step % rows;
        const bool odd = walk_.column() & 2;
        if (h == 0) exact = odd;
        // The entry of an odd column came with the column before it, but for the first tiles of a stripe.
        const bool skipped = walk_.column() >= 4 && odd && std::min(step, p.length - 1) >= 2;
        if (!skipped) fetch(p, h, step >= rows, enable);
        if (step < p.length && values_) {
            std::int16_t tile[kTileLanes];
            gather(h == 1, exact, tile);
            transform(tile, out.atom(step, kTileAtom));
        }
        if (h + 1 == rows) walk_.advance(p, step + 1 == steps);
    }
}

void TileLoader::fetch(const Package& p, std::uint32_t h, bool keeps_previous, Cycle enable)
{
    const std::uint32_t address =
        ring_.address(std::int64_t{walk_.row()} + p.kernel_row + h, 0, static_cast<std::uint32_t>(walk_.column()) >> 2);
    if (!ring_.request(h, address, false, enable) || !values_) return;
    Rows& rows = rows_[h];
    if (keeps_previous) rows.previous.swap(rows.current);
    std::memcpy(rows.current.data(), ring_.entry(address), entry_bytes_);
}

/// The tile out of the window: `lower` rows 2-5, else 0-3; `exact` columns 2-5, else 0-3.
void TileLoader::gather(bool lower, bool exact, std::int16_t* tile) const
{
    const bool bytes = layer_->int8();
    const std::uint32_t first_channel = bytes && ring_.slice() % 2 == 1 ? kTileChannels : 0;
    for (std::uint32_t i = 0; i < kTileLanes / kTileChannels; ++i) {
        const std::uint32_t row = i / 4 + (lower ? 2 : 0), c = i % 4;
        const bool old = !exact && c < 2;
        const std::uint32_t column = exact ? c : old ? c + 2 : c - 2;
        const Rows& rows = rows_[row / 4];
        const std::uint8_t* at = (old ? rows.previous : rows.current).data() + (row % 4 * 4 + column) * kPositionBytes;
        if (bytes)
            for (std::uint32_t ch = 0; ch < kTileChannels; ++ch)
                tile[kTileChannels * i + ch] = static_cast<std::int8_t>(at[first_channel + ch]);
        else std::memcpy(tile + kTileChannels * i, at, kPositionBytes);
    }
}

void TileLoader::transform(const std::int16_t* tile, std::uint8_t* lanes) const
{
    if (layer_->precision == Precision::Fp16) {
        std::uint16_t in[kTileLanes], out[kTileLanes];
        std::memcpy(in, tile, sizeof in);
        numerics::transform_tiles_fp16(in, out);
        std::memcpy(lanes, out, sizeof out);
    } else {
        std::int16_t out[kTileLanes];
        numerics::transform_tiles(layer_->int8(), layer_->pra_truncate, tile, out);
        std::memcpy(lanes, out, sizeof out);
    }
}

}  // namespace dlasim::csc
