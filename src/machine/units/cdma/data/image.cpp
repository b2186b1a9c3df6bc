#include "units/cdma/data/image.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace dlasim::cdma {

ImageFetcher::ImageFetcher(const Hardware& hw, DataContext& context)
    : DataFetcher(hw, context),
      atom_(hw.memory.atom_bytes),
      atoms_per_entry_(hw.atoms_per_entry()),
      entries_of_write_(2 * kHalf / std::max(hw.cbuf.entry_bytes, kHalf)),
      hardware_(hw)
{
}

void ImageFetcher::start(const LayerConfig& layer, const Converter& converter)
{
    layer_ = layer;
    format_ = decode_pixel_format(hardware_, layer.pixel_format);
    converter_.start(converter);
    done_at_ = kNever;
    nans_ = infs_ = 0;
    const std::uint32_t pl = layer.pad_left, w1 = layer.width - 1;
    for (unsigned p = 0; p < format_.planes; ++p) {
        const std::uint32_t ppa = format_.pixels_per_atom[p];
        const std::uint32_t x = p == 0 ? layer.x_offset : layer.x_offset % ppa;
        const std::uint32_t left = pl / ppa + (x >= pl % ppa ? 0 : 1), real = (w1 + x) / ppa + 1;
        const std::uint32_t need = (pl + w1 + layer.pad_right) / ppa + 2;
        // [spec] cdma.md 5.2 and 16, point 7: the count of right dummies has four bits
        planes_[p].sections[0] = left;
        planes_[p].sections[1] = real;
        planes_[p].sections[2] = (need - left - real) & 0xf;
        bytes_[p].resize(std::size_t{real} * atom_);
        filled_[p] = 0;
    }
}

void ImageFetcher::busy(Cycle at)
{
    first_check_ = at + facts::cdma::kImageFirst;
    checked_ = space_ok_ = offered_ = false;
    line_ = 0;
    next_line();
    bundle_[0] = bundle_[1] = 0;
    packer_free_ = 0;
    lines_packed_ = 0;
    beats_.clear();
    write_latency_ = layer_.convert ? facts::cdma::kConvert : facts::cdma::kBypass;
    ring_ = context_.status.capacity();
    line_base_ = context_.status.write_index();
}

void ImageFetcher::next_line()
{
    for (unsigned p = 0; p < format_.planes; ++p) {
        std::copy(planes_[p].sections, planes_[p].sections + 3, planes_[p].left);
        planes_[p].requested = 0;
        planes_[p].first = true;
    }
    plane_ = 0;
    bundle_left_ = 0;
}

void ImageFetcher::generate(RequestSlot& slot)
{
    Plane& plane = planes_[plane_];
    if (bundle_left_ == 0) {
        bundle_left_ = (plane_ == 0 ? facts::cdma::kImageBundle0 : facts::cdma::kImageBundle1) + (plane.first ? 1 : 0);
        line_start_ = plane.first;
        plane.first = false;
    }
    const unsigned section = plane.left[0] ? 0 : plane.left[1] ? 1 : 2;
    const std::uint32_t n = std::min(plane.left[section], bundle_left_);
    slot.valid = true;
    slot.info = {};
    slot.info.atoms = static_cast<std::uint8_t>(n);
    slot.info.source = static_cast<std::uint8_t>(plane_);
    slot.info.line_start = line_start_;
    slot.info.dummy = section != 1;
    if (section == 1) {
        const std::uint64_t base = plane_ == 0 ? layer_.base : layer_.base_uv;
        const std::uint64_t stride = plane_ == 0 ? layer_.line_stride : layer_.uv_line_stride;
        slot.request = {Address{base + line_ * stride + std::uint64_t{plane.requested} * atom_}, n};
        plane.requested += n;
    }
    plane.left[section] -= n;
    bundle_left_ -= n;
    line_start_ = false;
    if (bundle_left_ != 0 && plane.total_left() != 0) return;
    // The plane's part of the bundle is complete: the other plane's turn, if it has atoms left.
    bundle_left_ = 0;
    const bool two = format_.planes == 2;
    const std::uint32_t other = two ? planes_[plane_ ^ 1].total_left() : 0;
    slot.info.bundle_end = !two || plane_ == 1 || other == 0;
    if (two && other != 0) plane_ ^= 1;
    if (plane.total_left() == 0 && other == 0) {
        slot.info.bundle_end = slot.info.line_end = true;
        ++line_;
        next_line();
    }
}

bool ImageFetcher::request(Cycle at, bool room, RequestSlot& slot)
{
    bool changed = false;
    if (offered_ && room) {
        offered_ = false;
        if (offered_line_end_) {
            space_ok_ = false;
            return true;
        }
    }
    if (!space_ok_ && !offered_ && line_ < layer_.height && at >= first_check_) {
        if (context_.status.free() >= onfly_ + layer_.entries) {
            space_ok_ = changed = true;
            onfly_ += layer_.entries;
        }
        changed |= !checked_;
        checked_ = true;
    }
    if (space_ok_ && !offered_) {
        generate(slot);
        offered_ = changed = true;
        offered_line_end_ = slot.info.line_end;
    }
    return changed;
}

void ImageFetcher::consume(Cycle at, const RequestInfo& info, const ReadBeat* beat, std::uint32_t atoms, bool complete, bool values)
{
    // After an illegal layer that ended early its requests may still be in flight: their sources mean nothing here.
    const unsigned plane = info.source < format_.planes ? info.source : 0;
    if (beat && values) {
        std::vector<std::uint8_t>& to = bytes_[plane];
        const std::size_t n = std::min<std::size_t>(std::size_t{atoms} * atom_, to.size() - filled_[plane]);
        std::memcpy(to.data() + filled_[plane], beat->data.data(), n);
        filled_[plane] += n;
    }
    if (!complete) return;
    bundle_[plane] += info.atoms - (info.line_start ? 1 : 0);
    if (!info.bundle_end) return;
    pack(at + facts::cdma::kImageBundle, info.line_end);
    bundle_[0] = bundle_[1] = 0;
    if (!info.line_end) return;
    context_.update(last_beat_, Entries{layer_.entries}, Slices{1});
    if (++lines_packed_ == layer_.height) done_at_ = last_beat_ + facts::cdma::kImageDone;
    const Converter& c = converter_.converter();
    if (values || (c.output8() && !c.input8())) convert_line();  // packing two beats decides about writes
    else
        for (const Cycle written : beats_) context_.buffer_write(written + write_latency_);
    beats_.clear();
    filled_[0] = filled_[1] = 0;
    line_base_ += layer_.entries;
    if (ring_ && line_base_ >= ring_) line_base_ -= ring_;
}

bool ImageFetcher::ends_early() const
{
    // [spec] cdma.md 5.5: the last write of a planar line is suppressed when its tail is short
    const std::uint32_t bytes = format_.eight_bit ? 3 : 6, line = layer_.pad_left + layer_.width + layer_.pad_right;
    if (silicon_.beats) {
        const std::uint32_t beat = 2 * atom_, tail = line % beat, t = ceil_div(tail * bytes, beat) % 8;
        const Plane& uv = planes_[1];
        const bool x = (uv.sections[0] + uv.sections[1] + uv.sections[2]) % 4 < 2;
        return t == 1 || t == 4 || ((t == 2 || t == 5) && x);
    }
    const std::uint32_t tail = line % atom_, t = ceil_div(tail * bytes, atom_) % 8;
    return t == 1 || t == 4 || (t == 2 && 2 * tail > atom_);
}

void ImageFetcher::pack(Cycle available, bool line_end)
{
    Cycle t = std::max(packer_free_, available);
    const std::int32_t n0 = std::max(bundle_[0], 0), n1 = std::max(bundle_[1], 0);
    const std::int32_t loops = silicon_.beats ? ceil_div(n0, 2) : n0;
    for (std::int32_t i = 0; i < loops; ++i) {
        const bool last = i + 1 == loops;
        if (format_.planes == 1) {
            beats_.push_back(t + facts::cdma::kImageRead);
            ++t;
            continue;
        }
        const unsigned uv = last && ((silicon_.beats ? n0 : n1) & 1) ? 1 : 2;
        // Every read triggers a write one cycle later, and the last one once more.
        for (unsigned j = 0; j < uv; ++j) beats_.push_back(t + facts::cdma::kImageRead + 1 + j);
        if (!(last && line_end && ends_early())) beats_.push_back(t + facts::cdma::kImageRead + 1 + uv);
        t += 1 + uv;
    }
    packer_free_ = t;
    if (!beats_.empty()) last_beat_ = beats_.back();
}

/// Element `index` of the line as the converter sees it: order restored, padding and what is beyond it zero.
void ImageFetcher::line_element(std::uint32_t index, std::uint16_t& raw, std::int16_t& mean, bool& pad) const
{
    const std::uint32_t x = index / format_.components, c = index % format_.components;
    const std::uint32_t line = layer_.pad_left + layer_.width + layer_.pad_right;
    raw = 0;
    mean = x < line ? layer_.mean_value[layer_.channels == 1 ? 0 : c] : std::int16_t{0};
    pad = x < line && (x < layer_.pad_left || x >= layer_.pad_left + layer_.width);
    if (pad || x >= line) return;
    const unsigned plane = format_.planes == 2 && c > 0 ? 1 : 0;
    const std::uint32_t ppa = format_.pixels_per_atom[plane];
    const std::uint32_t px = x - layer_.pad_left + (plane == 0 ? layer_.x_offset : layer_.x_offset % ppa);
    const std::size_t at = std::size_t{px} * format_.bytes[plane];
    if (at + format_.bytes[plane] > filled_[plane]) return;
    const std::uint8_t* pixel = bytes_[plane].data() + at;
    if (format_.packed10 != PixelFormat::Packed10::No) {
        std::uint32_t word;
        std::memcpy(&word, pixel, 4);
        const auto colour = [&](unsigned lsb) { return static_cast<std::uint16_t>((word >> lsb & 0x3ff) << 6); };
        switch (format_.packed10) {
            case PixelFormat::Packed10::Abgr:
                raw = c == 3 ? static_cast<std::uint16_t>(word >> 30 << 14) : colour(10 * c);
                break;
            case PixelFormat::Packed10::Argb:
                raw = c == 3 ? static_cast<std::uint16_t>(word >> 30 << 14) : colour(10 * (2 - c));
                break;
            case PixelFormat::Packed10::Bgra:
                raw = c == 3 ? static_cast<std::uint16_t>((word & 3) << 14) : colour(2 + 10 * c);
                break;
            default:
                raw = c == 3 ? static_cast<std::uint16_t>((word & 3) << 14) : colour(2 + 10 * (2 - c));
                break;
        }
        return;
    }
    std::uint32_t from = c;
    if (format_.planes == 2) {
        from = c == 0 ? 0 : format_.swap_uv ? 2 - c : c - 1;
    } else if (format_.components == 4) {
        switch (format_.order) {
            case PixelFormat::Order::Same:
                break;
            case PixelFormat::Order::Swap02:
                from = c == 3 ? 3 : 2 - c;
                break;
            case PixelFormat::Order::Rotate:
                from = (c + 1) & 3;
                break;
            case PixelFormat::Order::Reverse:
                from = 3 - c;
                break;
        }
    }
    raw = format_.eight_bit ? pixel[from] : static_cast<std::uint16_t>(pixel[2 * from] | pixel[2 * from + 1] << 8);
}

void ImageFetcher::convert_line()
{
    if (silicon_.beats) convert_line_beats();
    else convert_line_atoms();
}

void ImageFetcher::convert_line_atoms()
{
    const Converter& c = converter_.converter();
    std::uint8_t atom[kMaxBeatBytes];
    for (std::uint32_t u = 0; u < beats_.size(); ++u) {
        context_.buffer_write(beats_[u] + write_latency_);
        for (std::uint32_t i = 0; i < atom_; ++i) {
            std::uint16_t raw;
            std::int16_t mean;
            bool pad;
            line_element(u * atom_ + i, raw, mean, pad);
            if (pad) atom[i] = static_cast<std::uint8_t>(c.pad);
            else atom[i] = static_cast<std::uint8_t>(c.enabled ? c.element(raw, layer_.mean ? mean : c.offset, !layer_.pixel_signed) : raw);
        }
        std::uint64_t entry = line_base_ + u / atoms_per_entry_;
        if (entry >= ring_) entry -= ring_;
        if (entry < silicon_.data_entries)
            context_.cbuf.write(Entries(static_cast<std::uint32_t>(entry)), u % atoms_per_entry_ * atom_, atom, atom_);
    }
}

/// Half of what the converter writes: half an entry, or a whole one where entries are as narrow. The line may end between them.
void ImageFetcher::store_half(std::uint64_t entry, std::uint32_t half, const std::uint8_t* data)
{
    std::uint32_t offset = half * kHalf;
    if (half != 0 && entries_of_write_ == 2) {
        offset = 0;
        if ((entry + ring_ - line_base_) % ring_ + 1 >= layer_.entries) return;
        if (++entry == ring_) entry = 0;
    }
    if (entry < silicon_.data_entries) context_.cbuf.write(Entries(static_cast<std::uint32_t>(entry)), offset, data, kHalf);
}

void ImageFetcher::convert_line_beats()
{
    const Converter& c = converter_.converter();
    const bool in8 = format_.eight_bit, packed = format_.packed10 != PixelFormat::Packed10::No;
    const bool normal = c.input8() == c.output8(), shrink = !c.input8() && c.output8();
    const std::uint32_t beat_bytes = packed ? 128 : 64, element_bytes = in8 ? 1 : 2;
    const std::uint32_t elements = beat_bytes / element_bytes, slots = packed ? 4 : 2;
    const std::uint32_t step = normal ? slots : shrink ? slots / 2 : 2 * slots;
    const std::uint32_t line_atoms = planes_[0].sections[0] + planes_[0].sections[1] + planes_[0].sections[2] - 1;
    ConverterBeat beat;
    ConverterWrite write;
    std::uint8_t data[128], pad_mask[128];
    std::int16_t means[64] = {};
    std::uint32_t u = 0;
    for (std::uint32_t b = 0; b < beats_.size(); ++b, u += step) {
        std::memset(data, 0, sizeof data);
        std::memset(pad_mask, 0, sizeof pad_mask);
        for (std::uint32_t e = 0; e < elements; ++e) {
            std::uint16_t raw;
            bool pad;
            line_element(b * elements + e, raw, means[e % 64], pad);
            data[e * element_bytes] = static_cast<std::uint8_t>(raw);
            if (!in8) data[e * 2 + 1] = static_cast<std::uint8_t>(raw >> 8);
            for (std::uint32_t k = 0; k < element_bytes; ++k) pad_mask[e * element_bytes + k] = pad;
        }
        const bool last = b + 1 == beats_.size();
        const bool single = format_.planes == 1 && 2 * b + 1 == line_atoms;  // the line ends with half a beat
        beat.data = data;
        beat.mean = layer_.mean ? means : nullptr;
        beat.pad_mask = pad_mask;
        // Packed pixels for int8 processing: a half beat at the end of a line would be held for a partner that never
        // comes (cdma.md 9.5 with the fill rule of 5.6, not measured); it is written like a whole one.
        beat.atoms = packed ? (single && !shrink ? 0x3 : 0xf) : (single ? 0x1 : 0x3);
        beat.is_unsigned = !layer_.pixel_signed;
        beat.high = u & 2;
        beat.fill128 = last && !(u & 2) && ((normal && !packed) || shrink);
        beat.fill64 = last && shrink && (u & 3) == 2 && !packed;
        std::uint64_t entry = line_base_ + u / 4 * entries_of_write_;
        if (entry >= ring_) entry -= ring_;
        beat.entry = static_cast<std::uint32_t>(std::min<std::uint64_t>(entry, UINT32_MAX));
        converter_.beat(beat, write, nans_, infs_);
        if (write.halves == 0) continue;
        context_.buffer_write(beats_[b] + write_latency_);
        for (std::uint32_t half = 0; half < 2; ++half)
            if (write.halves >> half & 1) store_half(write.entry, half, write.data + half * kHalf);
    }
}

}  // namespace dlasim::cdma
