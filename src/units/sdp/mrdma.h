// MRDMA: features from memory, cut to the beats the pipeline takes.
//
//   nv_full        word ─► 4 FIFOs of 16 bytes (and 2 of 32 for 16to8) ─► select ─► SKID ─► mux
//   configurable   atoms ─► collector of up to 4 ─► 4 SKID-B of an atom ─► select ─► SKID-B ─► PACK
//
// Reading starts anew at FIFO 0 with every read request.
//
//   context queue ─► command register ─┬─► FIFO(4) of the side that writes words      (1)
//                                      └─► FIFO(4) of the side that reads beats
//
// (1) The register empties when both have room. An entry leaves with the last word, and with the last beat, of its
// request: the queue is not full before six requests more are open than it has entries.
//
// Source  sdp.md 2.8; open_points.md F3.
#pragma once
#include <array>

#include "units/sdp/read_front.h"

namespace dlasim::sdp {

/// What a reader's cycle did.
struct ReaderAnswer {
    bool changed = false;
    bool finished = false;  // the last beat of the layer was accepted
};

/// (1): how many requests each side may work on.
class RequestsAhead {
public:
    /// What the sides see in this cycle: what stands in their FIFOs, and what falls through.
    void look()
    {
        moves_ = command_ && to_write_ < facts::sdp::kMrdmaCommands && to_read_ < facts::sdp::kMrdmaCommands;
        reads_ = moves_ && (!pairs_ || even_);
    }
    void start(bool pairs)
    {
        pairs_ = pairs;
        even_ = true;
    }
    bool writable() const { return to_write_ != 0 || moves_; }
    bool readable() const { return to_read_ != 0 || reads_; }
    /// True if anything changed, or will.
    bool step(ContextQueue& contexts, Cycle at, bool written, bool read)
    {
        const bool loads = (!command_ || moves_) && contexts.valid(at);
        to_write_ += moves_ - written;
        to_read_ += reads_ - read;
        if (moves_) even_ = !even_;
        command_ = loads || (command_ && !moves_);
        if (loads) contexts.pop(at);
        return loads || moves_ || contexts.arrives(at);
    }

private:
    unsigned to_write_ = 0, to_read_ = 0;
    bool command_ = false, moves_ = false, reads_ = false;
    bool pairs_ = false, even_ = true;  // two requests are one command of the reading side
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
        ahead_.start(segments_);
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
        ahead_.look();
        const bool readable = ahead_.readable();
        bool write = word != 0 && ahead_.writable(), offered = readable;
        for (unsigned i = 0; i < kFifos; ++i) {
            if (targets >> i & 1) write = write && room(i);
            if (select >> i & 1) offered = offered && full(i);
        }
        ReaderAnswer answer;
        const bool accepted = out_.valid() && out;
        elements::Flow flow{out};
        out_.sweep(offered, flow);
        const bool read = flow.ready && readable;
        for (unsigned i = 0; i < kFifos; ++i) {
            elements::Flow fifo{read && (select >> i & 1)};
            if (i < 4) fifos_[i].sweep(write && (targets >> i & 1), fifo);
            else wide_[i - 4].sweep(write && (targets >> i & 1), fifo);
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
        answer.changed = front_.sweep_words(at, write) || moved || accepted || write || (offered && read);
        if (accepted && left_ && --left_ == 0) answer.finished = true;
        return answer;
    }

private:
    static constexpr unsigned kFifos = 6;
    bool room(unsigned i) const { return i < 4 ? fifos_[i].ready() : wide_[i - 4].ready(); }
    bool full(unsigned i) const { return i < 4 ? fifos_[i].valid() : wide_[i - 4].valid(); }

    ReadFront<true>& front_;
    std::array<elements::Places<facts::sdp::kFeatureFifo + 1>, 4> fifos_{};
    std::array<elements::Places<facts::sdp::kWideFifo + 1>, 2> wide_{};
    elements::Skid out_;
    bool int8_ = true, segments_ = false, primary_ = true, even_ = true;
    std::uint64_t left_ = 0;
    std::uint32_t beat_ = 0, written_ = 0;
    RequestsAhead ahead_;
    Ring<std::uint32_t> words_{16}, beats_{16};  // of the requests on their way
};

class ElasticMrdma {
public:
    ElasticMrdma(ReadFront<false>& front) : front_(front) {}
    void start(const ReadLayer& layer)
    {
        left_ = layer.total_atoms();
        collected_ = group_ = written_ = read_ = 0;
        ahead_.start(false);
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
        ahead_.look();
        bool write = group_ != 0;
        for (unsigned i = 0; i < group_; ++i) write = write && fifos_[i].ready();
        const bool offered = ahead_.readable() && fifos_[select].valid();
        ReaderAnswer answer;
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
        answer.changed = front_.sweep_words(at, pop) || moved || accepted || write || flow.changed;
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
    RequestsAhead ahead_;
    Ring<std::uint32_t> writes_{16}, reads_{16};  // atoms of the requests on their way
};

}  // namespace dlasim::sdp
