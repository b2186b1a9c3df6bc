#include "units/sdp/read/features.h"

namespace dlasim::sdp {

// ---- words of two atoms

void WordFeatures::start(const ReadLayer& layer)
{
    bytes_ = layer.input == Precision::Int8;
    segments_ = layer.narrowing && !layer.one_pixel();
    left_ = layer.total_atoms() * beats_per_atom();
    beat_ = written_ = 0;
    primary_ = even_ = true;
    ahead_.start(segments_);
}

void WordFeatures::issued(std::uint32_t atoms)
{
    words_.push_back((atoms + 1) / 2);
    if (!segments_) beats_.push_back(atoms * beats_per_atom());
    else if (even_) beats_.push_back(atoms * 2);
    even_ = !even_;
}

/// Where a word of that many atoms goes.
unsigned WordFeatures::targets(unsigned word) const { return primary_ ? (1u << 2 * word) - 1 : ((1u << word) - 1) << 4; }

/// Where the next beat comes from.
unsigned WordFeatures::source() const
{
    static constexpr std::uint8_t kSegmentOrder[4] = {0x03, 0x10, 0x0c, 0x20};
    if (segments_) return kSegmentOrder[beat_ & 3];
    return bytes_ ? 1u << (beat_ & 3) : beat_ & 1 ? 0x0c : 0x03;
}

bool WordFeatures::room(unsigned fifos) const
{
    for (unsigned i = 0; i < kFifos; ++i)
        if ((fifos >> i & 1) && !(i < 4 ? fifos_[i].ready() : wide_[i - 4].ready())) return false;
    return true;
}

bool WordFeatures::full(unsigned fifos) const
{
    for (unsigned i = 0; i < kFifos; ++i)
        if ((fifos >> i & 1) && !(i < 4 ? fifos_[i].valid() : wide_[i - 4].valid())) return false;
    return true;
}

ReaderAnswer WordFeatures::sweep(Cycle at, bool out)
{
    const unsigned select = source(), word = front_.word(), into = word ? targets(word) : 0;
    ahead_.look();
    const bool readable = ahead_.readable();
    const bool write = word != 0 && ahead_.writable() && room(into), offered = readable && full(select);
    const bool accepted = out_.valid() && out;
    elements::Flow flow{out};
    out_.sweep(offered, flow);
    const bool read = flow.ready && readable;
    for (unsigned i = 0; i < kFifos; ++i) {
        elements::Flow fifo{read && (select >> i & 1)};
        if (i < 4) fifos_[i].sweep(write && (into >> i & 1), fifo);
        else wide_[i - 4].sweep(write && (into >> i & 1), fifo);
    }
    const bool all_written = write && ++written_ == words_.front(), all_read = offered && read && ++beat_ == beats_.front();
    if (all_written) {
        words_.pop_front();
        written_ = 0;
        if (segments_) primary_ = !primary_;
        front_.request_done();
    }
    if (all_read) {
        beats_.pop_front();
        beat_ = 0;
    }
    const bool moved = ahead_.step(front_.contexts(), at, all_written, all_read);
    const bool changed = front_.sweep_words(at, write) || moved || accepted || write || (offered && read);
    return {changed, accepted && left_ && --left_ == 0};
}

// ---- single atoms

AtomFeatures::AtomFeatures(const facts::sdp::Facts& silicon, ReadFront& front) : front_(front)
{
    pack_.ratio = static_cast<std::uint8_t>(silicon.beats_of_atom(1));
}

void AtomFeatures::start(const ReadLayer& layer)
{
    left_ = layer.total_atoms();
    collected_ = group_ = written_ = read_ = 0;
    ahead_.start(false);
}

void AtomFeatures::issued(std::uint32_t atoms)
{
    writes_.push_back(atoms);
    reads_.push_back(atoms);
}

ReaderAnswer AtomFeatures::sweep(Cycle at, bool out)
{
    const unsigned select = read_ & 3;
    ahead_.look();
    bool write = group_ != 0;
    for (unsigned i = 0; i < group_; ++i) write = write && fifos_[i].ready();
    const bool offered = ahead_.readable() && fifos_[select].valid();
    const bool accepted = out_.valid() && out;
    elements::Flow flow{out};
    out_.sweep(offered, flow);
    const bool read = flow.ready && ahead_.readable();
    const unsigned pushed = write ? group_ : 0;
    for (unsigned i = 0; i < fifos_.size(); ++i) {
        flow.ready = read && i == select;
        fifos_[i].sweep(i < pushed, flow);
    }
    const bool pop = front_.word() && ahead_.writable() && (!group_ || write);
    bool all_written = false, all_read = false;
    if (write) group_ = 0;
    if (pop) {
        ++collected_;
        all_written = ++written_ == writes_.front();
        if (collected_ == 4 || all_written) {
            group_ = collected_;
            collected_ = 0;
        }
        if (all_written) {
            written_ = 0;
            writes_.pop_front();
            front_.request_done();
        }
    }
    if (offered && read && ++read_ == reads_.front()) {
        all_read = true;
        read_ = 0;
        reads_.pop_front();
    }
    const bool moved = ahead_.step(front_.contexts(), at, all_written, all_read);
    const bool changed = front_.sweep_words(at, pop) || moved || accepted || write || flow.changed;
    return {changed, accepted && left_ && --left_ == 0};
}

}  // namespace dlasim::sdp
