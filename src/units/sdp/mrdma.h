// MRDMA: features from memory, cut to the beats the pipeline takes.
//
//   nv_full        word ─► 4 FIFOs of 16 bytes (and 2 of 32 for 16to8) ─► select ─► SKID ─► mux
//   configurable   atoms ─► collector of up to 4 ─► 4 SKID-B of an atom ─► select ─► SKID-B ─► PACK
//
// Reading starts anew at FIFO 0 with every read request.
//
// Source  sdp.md 2.8.
#pragma once
#include <array>

#include "units/sdp/read_front.h"

namespace dlasim {

/// What a reader's cycle did.
struct ReaderAnswer {
    bool changed = false;
    bool finished = false;  // the last beat of the layer was accepted
};

class FullMrdma {
public:
    FullMrdma(ReadFront<true>& front) : front_(front) {}
    void start(const ReadLayer& layer)
    {
        int8_ = layer.input == Precision::Int8;
        segments_ = layer.narrowing && !layer.one_pixel();
        left_ = layer.total_atoms() * (int8_ ? 2 : 1);
        beat_ = written_ = 0;
        primary_ = even_ = true;
    }
    bool valid() const { return out_.valid(); }
    void issued(const ReadRequest& request)
    {
        words_.push_back((request.atoms + 1) / 2);
        if (!segments_) beats_.push_back(request.atoms * (int8_ ? 2 : 1));
        else if (even_) beats_.push_back(request.atoms * 2);
        even_ = !even_;
    }
    ReaderAnswer sweep(Cycle at, bool out)
    {
        static constexpr std::uint8_t kSegmentOrder[4] = {0x03, 0x10, 0x0c, 0x20};
        const unsigned select = segments_ ? kSegmentOrder[beat_ & 3] : int8_ ? 1u << (beat_ & 3) : beat_ & 1 ? 0x0c : 0x03;
        const unsigned word = front_.word();
        const unsigned targets = !word ? 0 : primary_ ? (1u << 2 * word) - 1 : ((1u << word) - 1) << 4;
        bool write = word != 0, offered = !beats_.empty();
        for (unsigned i = 0; i < kFifos; ++i) {
            if (targets >> i & 1) write = write && room(i);
            if (select >> i & 1) offered = offered && full(i);
        }
        ReaderAnswer answer;
        const bool accepted = out_.valid() && out;
        elements::Flow flow{out};
        out_.sweep(offered, flow);
        const bool read = flow.ready && !beats_.empty();
        for (unsigned i = 0; i < kFifos; ++i) {
            elements::Flow fifo{read && (select >> i & 1)};
            if (i < 4) fifos_[i].sweep(write && (targets >> i & 1), fifo);
            else wide_[i - 4].sweep(write && (targets >> i & 1), fifo);
        }
        if (write && ++written_ == words_.front()) {
            words_.pop_front();
            written_ = 0;
            if (segments_) primary_ = !primary_;
            front_.context_done(at);
        }
        if (offered && read && ++beat_ == beats_.front()) {
            beats_.pop_front();
            beat_ = 0;
        }
        answer.changed = front_.sweep_words(at, write) || accepted || write || (offered && read);
        if (accepted && left_ && --left_ == 0) answer.finished = true;
        return answer;
    }

private:
    static constexpr unsigned kFifos = 6;
    bool room(unsigned i) const { return i < 4 ? fifos_[i].ready() : wide_[i - 4].ready(); }
    bool full(unsigned i) const { return i < 4 ? fifos_[i].valid() : wide_[i - 4].valid(); }

    ReadFront<true>& front_;
    std::array<elements::Places<facts::sdp::kFullFeatureFifo + 1>, 4> fifos_{};
    std::array<elements::Places<facts::sdp::kFullWideFifo + 1>, 2> wide_{};
    elements::Skid out_;
    bool int8_ = true, segments_ = false, primary_ = true, even_ = true;
    std::uint64_t left_ = 0;
    std::uint32_t beat_ = 0, written_ = 0;
    Ring<std::uint32_t> words_{16}, beats_{16};  // of the requests on their way
};

class ElasticMrdma {
public:
    ElasticMrdma(ReadFront<false>& front) : front_(front) {}
    void start(const ReadLayer& layer)
    {
        left_ = layer.total_atoms();
        collected_ = group_ = written_ = read_ = 0;
    }
    bool valid() const { return out_.valid(); }
    void issued(const ReadRequest& request)
    {
        writes_.push_back(request.atoms);
        reads_.push_back(request.atoms);
    }
    ReaderAnswer sweep(Cycle at, bool out)
    {
        const unsigned select = read_ & 3;
        bool write = group_ != 0;
        for (unsigned i = 0; i < group_; ++i) write = write && fifos_[i].ready();
        const bool offered = fifos_[select].valid();
        ReaderAnswer answer;
        const bool accepted = out_.valid() && out;
        elements::Flow flow{out};
        out_.sweep(offered, flow);
        const bool read = flow.ready;
        const unsigned pushed = write ? group_ : 0;
        for (unsigned i = 0; i < fifos_.size(); ++i) {
            flow.ready = read && i == select;
            fifos_[i].sweep(i < pushed, flow);
        }
        const bool pop = front_.word() && (!group_ || write);
        if (write) group_ = 0;
        if (pop) {
            ++collected_;
            const bool end = ++written_ == writes_.front();
            if (collected_ == 4 || end) {
                group_ = collected_;
                collected_ = 0;
            }
            if (end) {
                written_ = 0;
                writes_.pop_front();
                front_.context_done(at);
            }
        }
        if (offered && read && ++read_ == reads_.front()) {
            read_ = 0;
            reads_.pop_front();
        }
        answer.changed = front_.sweep_words(at, pop) || accepted || write || flow.changed;
        if (accepted && left_ && --left_ == 0) answer.finished = true;
        return answer;
    }

private:
    ReadFront<false>& front_;
    std::array<elements::SkidB, 4> fifos_{};
    elements::SkidB out_;
    unsigned collected_ = 0, group_ = 0;  // atoms in the collector, and of the group that waits to be written
    std::uint32_t written_ = 0, read_ = 0;
    std::uint64_t left_ = 0;
    Ring<std::uint32_t> writes_{16}, reads_{16};  // atoms of the requests on their way
};

}  // namespace dlasim
