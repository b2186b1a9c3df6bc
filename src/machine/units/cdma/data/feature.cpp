#include "units/cdma/data/feature.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace dlasim::cdma {

FeatureFetcher::FeatureFetcher(const Hardware& hw, DataContext& context)
    : DataFetcher(hw, context), atom_(hw.memory.atom_bytes), entry_bytes_(hw.cbuf.entry_bytes), atoms_per_entry_(hw.atoms_per_entry())
{
}

void FeatureFetcher::start(const LayerConfig& layer, const Converter& converter)
{
    layer_ = layer;
    converter_ = converter;
    line_atoms_ = layer.packed_pixel ? layer.surfaces : layer.width;
    loop_surfaces_ = layer.packed_pixel ? 1 : layer.surfaces;
    group_size_ = layer.packed_pixel ? 1 : silicon_.surfaces_in_turn;
    done_at_ = kNever;
    nans_ = infs_ = 0;
}

void FeatureFetcher::busy(Cycle at)
{
    first_check_ = at + facts::cdma::kFirstGrain;
    checked_ = space_ok_ = requests_done_ = all_read_ = blocked_ = false;
    lines_requested_ = batch_ = surface_ = 0;
    grain_base_ = layer_.base;
    next_group();

    read_lines_ = read_batch_ = read_surface_ = read_line_ = read_pixel_ = 0;
    read_grain_lines_ = lines_of_grain(0);
    read_group_ = std::min(group_size_, loop_surfaces_);
    write_latency_ = facts::cdma::kReadToConverter + (layer_.convert ? facts::cdma::kConvert : facts::cdma::kBypass);
    fill_[0] = fill_[1] = 0;

    ring_ = context_.status.capacity();
    store_base_ = context_.status.write_index();
    store_lines_ = store_batch_ = store_surface_ = 0;
    store_grain_lines_ = lines_of_grain(0);
    next_store_group();
}

std::uint32_t FeatureFetcher::lines_of_grain(std::uint32_t lines_done) const
{
    const std::uint32_t left = layer_.height - lines_done;
    return left < layer_.grain ? left : layer_.grain;
}

void FeatureFetcher::next_group()
{
    in_group_ = std::min(group_size_, loop_surfaces_ - surface_);
    grain_lines_ = lines_of_grain(lines_requested_);
    grain_atoms_ = std::uint64_t{grain_lines_} * line_atoms_;
    grain_need_ = std::uint64_t{grain_lines_} * layer_.entries * layer_.batches;
    counted_[0] = counted_[1] = 0;
    turn_ = 0;
    end_of_group_ = false;
}

bool FeatureFetcher::request(Cycle at, bool room, RequestSlot& slot)
{
    if (requests_done_ || at < first_check_) return false;
    checked_ = true;
    bool end_of_grain = false, changed = false;
    if (space_ok_) {
        if (end_of_group_) {
            changed = true;
            surface_ += in_group_;
            if (surface_ >= loop_surfaces_) {
                surface_ = 0;
                if (++batch_ == layer_.batches) {
                    batch_ = 0;
                    end_of_grain = true;
                }
            }
            if (!end_of_grain) next_group();
        } else if (const std::uint32_t s = turn_; room || counted_[s] == grain_atoms_) {
            // A finished surface gives up its turn also while the request register waits.
            changed = true;
            if (counted_[s] != grain_atoms_) {
                const std::uint64_t address =
                    grain_base_ + batch_ * layer_.batch_stride + (surface_ + s) * layer_.surface_stride + counted_[s] * atom_;
                const std::uint64_t limit =
                    counted_[s] == 0 ? facts::cdma::kBurstAtoms - address / atom_ % facts::cdma::kBurstAtoms : facts::cdma::kBurstAtoms;
                const auto n = static_cast<std::uint32_t>(std::min(grain_atoms_ - counted_[s], limit));
                slot.valid = true;
                slot.request = {Address{address}, n};
                slot.info = {};
                slot.info.atoms = static_cast<std::uint8_t>(n);
                slot.info.source = static_cast<std::uint8_t>(s);
                counted_[s] += n;
            }
            turn_ = s + 1 == in_group_ ? 0 : s + 1;
            end_of_group_ = counted_[0] == grain_atoms_ && (in_group_ == 1 || counted_[1] == grain_atoms_);
        }
    }
    const bool enough = !end_of_grain && onfly_ + static_cast<std::int64_t>(grain_need_) <= context_.status.free();
    if (end_of_grain) {
        onfly_add_ = grain_need_;
        grain_base_ += layer_.grain * layer_.line_stride;
        lines_requested_ += grain_lines_;
        if (lines_requested_ == layer_.height) requests_done_ = true;
        else next_group();
    }
    changed |= enough != space_ok_;
    space_ok_ = enough;
    return changed;
}

void FeatureFetcher::consume(Cycle, const RequestInfo& info, const ReadBeat*, std::uint32_t atoms, bool, bool)
{
    fill_[info.source & 1] += atoms;
}

bool FeatureFetcher::read(Cycle at)
{
    taken_[0] = taken_[1] = 0;
    block_next_ = false;
    if (all_read_) return false;
    const bool last_pixel = read_pixel_ == line_atoms_ - 1;
    const bool upper = read_surface_ & 2;
    bool one, go;
    std::uint32_t step = 1;
    if (read_group_ == 1) {
        one = last_pixel || upper;
        step = one ? 1 : silicon_.atoms_per_read;
        go = fill_[0] >= step;
    } else {
        one = true;
        go = fill_[0] > 0 && fill_[1] > 0;
    }
    if (!go) return false;
    taken_[0] = step;
    taken_[1] = read_group_ == 2 ? 1 : 0;
    block_next_ = !blocked_ && one;
    context_.buffer_write(at + write_latency_);

    read_pixel_ += step;
    if (read_pixel_ < line_atoms_) return true;
    read_pixel_ = 0;
    if (++read_line_ != read_grain_lines_) return true;
    read_line_ = 0;
    read_surface_ += read_group_;
    if (read_surface_ >= loop_surfaces_) {
        read_surface_ = 0;
        if (++read_batch_ == layer_.batches) {
            read_batch_ = 0;
            const std::uint64_t need = std::uint64_t{read_grain_lines_} * layer_.entries * layer_.batches;
            context_.update(at + facts::cdma::kReadToConverter, Entries{static_cast<std::uint32_t>(need)}, Slices{read_grain_lines_});
            read_lines_ += read_grain_lines_;
            if (read_lines_ == layer_.height) {
                all_read_ = true;
                done_at_ = at + facts::cdma::kFeatureDone;
            } else {
                read_grain_lines_ = lines_of_grain(read_lines_);
            }
        }
    }
    read_group_ = std::min(group_size_, loop_surfaces_ - read_surface_);
    return true;
}

bool FeatureFetcher::commit()
{
    const bool changed = taken_[0] | taken_[1] | (blocked_ != block_next_);
    fill_[0] -= taken_[0];
    fill_[1] -= taken_[1];
    blocked_ = block_next_;
    return changed;
}

void FeatureFetcher::account(Entries added)
{
    onfly_ += onfly_add_;
    onfly_ -= added.count();
    onfly_add_ = 0;
}

void FeatureFetcher::next_store_group()
{
    store_group_ = std::min(group_size_, loop_surfaces_ - store_surface_);
    store_open_ = store_group_;
    const std::uint64_t row = std::uint64_t{store_batch_} * layer_.entries + std::uint64_t{store_surface_ / atoms_per_entry_} * line_atoms_;
    for (Cursor& c : cursor_) c = {0, 0, row};
}

void FeatureFetcher::store(const ReadBeat& beat, std::uint32_t source)
{
    for (std::uint32_t i = 0; i < beat.atoms; ++i) store_atom(beat.data.data() + i * atom_, source);
}

void FeatureFetcher::store_atom(const std::uint8_t* data, std::uint32_t source)
{
    Cursor& c = cursor_[source & 1];
    if (c.line == store_grain_lines_) return;
    const std::uint32_t r = atoms_per_entry_, surface = store_surface_ + source, w = c.pixel;
    const std::uint32_t rest = loop_surfaces_ % r;  // surfaces of an incomplete last entry
    const bool tail = rest != 0 && surface >= loop_surfaces_ - rest && rest != 3;
    std::uint32_t column = w, slot = surface % r;
    if (tail && r == 4) {
        column = rest == 1 ? w >> 2 : w >> 1;
        slot = rest == 1 ? w & 3 : (w & 1) << 1 | (surface & 1);
    } else if (tail && r == 2) {
        column = w >> 1;
        slot = w & 1;
    }
    std::uint64_t entry = store_base_ + c.row + column;
    if (entry >= ring_) entry -= ring_;
    const bool last_pixel = w + 1 == line_atoms_;
    if (entry < silicon_.data_entries) {
        const auto index = static_cast<std::uint32_t>(entry);
        alignas(32) std::uint8_t converted[kMaxBeatBytes];
        if (!converter_.transparent()) {
            converter_.bytes(data, converted, atom_, nans_, infs_);
            data = converted;
        }
        context_.cbuf.write(Entries(index), slot * atom_, data, atom_);
        if (silicon_.line_ends_cleared && surface + 1 == loop_surfaces_) {
            // [spec] cdma.md 4.7: what the last atoms of a line leave of their entry is written as zero
            static constexpr std::uint8_t kZero[128] = {};
            if (rest == 3) context_.cbuf.write(Entries(index), 3 * atom_, kZero, atom_);
            else if (tail && last_pixel && slot != 3) context_.cbuf.write(Entries(index), (slot + 1) * atom_, kZero, (3 - slot) * atom_);
        }
    }
    if (!last_pixel) {
        ++c.pixel;
        return;
    }
    c.pixel = 0;
    c.row += std::uint64_t{layer_.entries} * layer_.batches;
    if (++c.line != store_grain_lines_ || --store_open_ != 0) return;
    store_surface_ += store_group_;
    if (store_surface_ >= loop_surfaces_) {
        store_surface_ = 0;
        if (++store_batch_ == layer_.batches) {
            store_batch_ = 0;
            store_base_ += std::uint64_t{store_grain_lines_} * layer_.entries * layer_.batches;
            if (ring_ && store_base_ >= ring_) store_base_ %= ring_;
            store_lines_ += store_grain_lines_;
            if (store_lines_ == layer_.height) return;
            store_grain_lines_ = lines_of_grain(store_lines_);
        }
    }
    next_store_group();
}

}  // namespace dlasim::cdma
