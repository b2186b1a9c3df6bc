#include "units/csc/weight_loader.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "facts/csc.h"

namespace dlasim::csc {
namespace {
constexpr std::uint32_t kMaskRing = 256;  // rows of the mask bank an address reaches: 8 bits
}

WeightLoader::WeightLoader(const Hardware& hw, Cbuf& cbuf, bool values)
    : entry_bytes_(hw.cbuf.entry_bytes),
      bank_depth_(hw.cbuf.bank_depth),
      mask_bank_(hw.cbuf.banks - 1),
      lanes_(hw.mac.atomic_c),
      values_(values),
      cbuf_(cbuf)
{
    for (Stream* s : {&weights_, &masks_, &saved_weights_, &saved_masks_}) s->residual.assign(entry_bytes_, 0);
    // A load cycle takes at most two kernels of four rows.
    row_.assign(std::size_t{lanes_} * 2 * 4 * 2 + 64, 0);
    compact_.assign(row_.size(), 0);
}

void WeightLoader::reset_ring()
{
    ring_start_ = mask_ring_start_ = 0;
    turns_ = mask_turns_ = 0;
    if (cbuf_.watch) cbuf_.watch->restarted();
}

void WeightLoader::release_kept(Entries entries, MaskEntries mask_entries)
{
    ring_start_ = (ring_start_ + entries.count()) % ring_entries_;
    mask_ring_start_ = (mask_ring_start_ + mask_entries.count()) % kMaskRing;
    turns_ += entries.count();
    mask_turns_ += mask_entries.count();
}

void WeightLoader::start_layer(const LayerConfig& layer)
{
    layer_ = &layer;
    ring_entries_ = layer.weight_banks * bank_depth_;
    ring_base_ = layer.data_banks * bank_depth_;
    weights_.next = ring_start_ % ring_entries_;
    masks_.next = mask_ring_start_;
    weights_.turn = turns_;
    masks_.turn = mask_turns_;
    weights_.left = masks_.left = 0;
    weights_.fetched = masks_.fetched = 0;
    saved_weights_ = weights_;
    saved_masks_ = masks_;
    first_pass_ = true;
}

void WeightLoader::read_entry(Stream& stream, bool mask)
{
    const std::uint32_t entry = mask ? mask_bank_ * bank_depth_ + stream.next % bank_depth_ : ring_base_ + stream.next;
    if (values_ || mask) {  // masks decide how many entries are read: they are time, not only value
        if (entry < cbuf_.entries()) std::memcpy(stream.residual.data(), cbuf_.entry(entry), entry_bytes_);
        else std::memset(stream.residual.data(), 0, entry_bytes_);
    }
    tell(stream, entry, mask ? Held::Masks : Held::Weights);
    stream.next = (stream.next + 1) % (mask ? kMaskRing : ring_entries_);
    ++stream.fetched;
}

void WeightLoader::tell(Stream& stream, std::uint32_t entry, Held kind) const
{
    if (cbuf_.watch && entry < cbuf_.entries()) cbuf_.watch->read(kind, entry, stream.turn);
    ++stream.turn;
}

/// Bytes of one load cycle; an entry that is needed is read with enable in cycle `enable`.
void WeightLoader::take_bytes(std::uint8_t* to, std::uint32_t count, Cycle enable)
{
    Stream& s = weights_;
    bool read = false;
    while (count != 0) {
        if (s.left == 0) {
            read_entry(s, false);
            s.left = entry_bytes_;
            read = true;
        }
        const std::uint32_t part = std::min(count, s.left);
        if (values_) std::memcpy(to, s.residual.data() + entry_bytes_ - s.left, part);
        to += part;
        s.left -= part;
        count -= part;
    }
    if (read) {
        ++reads_;
        if (read_probe) read_probe->run(enable, 1);
    }
}

/// As take_bytes, of all load cycles of a package at once: no load needs more than one new entry.
void WeightLoader::take_run(std::uint8_t* to, std::uint32_t count)
{
    Stream& s = weights_;
    if (!values_ && !cbuf_.watch) return count_run(count);
    while (count != 0) {
        if (s.left == 0) {
            const std::uint32_t at = ring_base_ + s.next;
            if (count >= entry_bytes_ && at < cbuf_.entries()) {
                if (values_) std::memcpy(to, cbuf_.entry(at), entry_bytes_);
                tell(s, at, Held::Weights);
                s.next = s.next + 1 == ring_entries_ ? 0 : s.next + 1;
                ++s.fetched;
                ++reads_;
                to += entry_bytes_;
                count -= entry_bytes_;
                continue;
            }
            read_entry(s, false);
            s.left = entry_bytes_;
            ++reads_;
        }
        const std::uint32_t part = std::min(count, s.left);
        if (values_) std::memcpy(to, s.residual.data() + entry_bytes_ - s.left, part);
        to += part;
        s.left -= part;
        count -= part;
    }
}

/// As take_run, where nobody asks for the bytes.
void WeightLoader::count_run(std::uint32_t count)
{
    Stream& s = weights_;
    const std::uint32_t entries = count <= s.left ? 0 : ceil_div(count - s.left, entry_bytes_);
    s.left += entries * entry_bytes_ - count;
    s.next += entries;
    if (s.next >= ring_entries_) s.next %= ring_entries_;
    s.turn += entries;
    s.fetched += entries;
    reads_ += entries;
}

void WeightLoader::place(const Package& p, const std::uint8_t* elements, std::uint8_t* lanes) const
{
    const std::uint32_t bytes = layer_->element_bytes;
    const std::uint32_t segment = lanes_ / (layer_->row_step) * bytes, row = p.weight_elements * bytes;
    for (std::uint32_t q = 0; q <= p.sub_rows; ++q)
        std::memcpy(lanes + q * segment, elements + q * row, std::min(row, segment * (layer_->row_step - q)));
}

void WeightLoader::load_plain(const Package& p, Cycle at, WeightSet& out)
{
    const std::uint32_t kernel_bytes = p.weight_elements * (p.sub_rows + 1) * layer_->element_bytes;
    const bool rows = layer_->row_step != 1;
    std::uint8_t* to = out.bytes.data();
    if (!rows && !read_probe) {
        // Which load cycle reads an entry matters to nobody: the kernels are one run of bytes.
        take_run(to, p.kernels * kernel_bytes);
        return;
    }
    for (std::uint32_t j = 0, k = 0; j < p.loads; ++j) {
        const std::uint32_t kernels = std::min(layer_->kernels_per_load, p.kernels - k);
        std::uint8_t* from = rows ? row_.data() : to;
        take_bytes(from, kernels * kernel_bytes, at + facts::csc::kWeightRead + j);
        if (rows && values_)
            for (std::uint32_t i = 0; i < kernels; ++i) place(p, from + i * kernel_bytes, to + i * out.pitch);
        to += kernels * out.pitch;
        k += kernels;
    }
}

void WeightLoader::load_compressed(const Package& p, Cycle at, WeightSet& out)
{
    const std::uint32_t bytes = layer_->element_bytes;
    const std::uint32_t elements = p.weight_elements * (p.sub_rows + 1);
    std::uint8_t* to = out.bytes.data();
    for (std::uint32_t j = 0, k = 0; j < p.loads; ++j) {
        const std::uint32_t kernels = std::min(layer_->kernels_per_load, p.kernels - k);
        std::uint32_t present = 0;
        Stream& m = masks_;
        bool read = false;
        // Which elements are there; their order is the order of the bits, kernel after kernel.
        for (std::uint32_t i = 0; i < kernels * elements; ++i) {
            if (m.left == 0) {
                read_entry(m, true);
                m.left = 8 * entry_bytes_;
                read = true;
            }
            const std::uint32_t bit = 8 * entry_bytes_ - m.left--;
            row_[i] = (m.residual[bit / 8] >> bit % 8) & 1;
            present += row_[i];
        }
        if (read && mask_probe) mask_probe->run(at + facts::csc::kMaskRead + j, 1);
        if (read) ++cbuf_.mask_reads;
        take_bytes(compact_.data(), present * bytes, at + facts::csc::kWeightRead + j);
        if (values_) {
            const std::uint8_t* from = compact_.data();
            for (std::uint32_t i = 0; i < kernels; ++i) {
                std::uint8_t* lanes = to + i * out.pitch;
                const std::uint32_t segment = lanes_ / layer_->row_step;
                for (std::uint32_t e = 0; e < elements; ++e) {
                    const std::uint32_t lane = e / p.weight_elements * segment + e % p.weight_elements;
                    const bool there = row_[i * elements + e];
                    if (lane < lanes_ && (lane + 1) * bytes <= out.pitch) {
                        if (there) std::memcpy(lanes + lane * bytes, from, bytes);
                        else std::memset(lanes + lane * bytes, 0, bytes);
                    }
                    if (there) from += bytes;
                }
            }
        }
        to += kernels * out.pitch;
        k += kernels;
    }
}

WeightLoader::Released WeightLoader::load(const Package& p, Cycle at, WeightSet& out)
{
    const LayerConfig& l = *layer_;
    const bool rows = l.row_step != 1;
    out.pitch = (rows ? lanes_ : p.weight_elements) * l.element_bytes;
    const std::size_t size = std::size_t{p.kernels} * out.pitch + 64;
    if (out.bytes.size() < size) out.bytes.resize(size);
    if (rows && values_) std::memset(out.bytes.data(), 0, size);
    const std::uint64_t reads = reads_;
    if (l.compressed) load_compressed(p, at, out);
    else load_plain(p, at, out);
    cbuf_.weight_reads += reads_ - reads;

    Released released;
    if (p.channel_end && first_pass_) {
        group_entries_ = weights_.fetched;
        group_mask_entries_ = masks_.fetched;
        first_pass_ = false;
    }
    if (p.group_end) {
        if (!l.skip_weight_release) {
            released = {Entries{group_entries_}, MaskEntries{group_mask_entries_}};
            release_kept(released.entries, released.mask_entries);
        }
        weights_.fetched = masks_.fetched = 0;
        saved_weights_ = weights_;
        saved_masks_ = masks_;
        first_pass_ = true;
    } else if (p.channel_end) {
        weights_ = saved_weights_;
        masks_ = saved_masks_;
    }
    return released;
}

}  // namespace dlasim::csc
