// The half of a read engine that faces memory: requests out, responses into the latency FIFO.
//
//   requests ─► interface stages ─► port            context queue: one entry a request
//   port ─► 2 response stages ─► latency FIFO ─► word()     credit pulse a cycle after a word left
//
// Responses are always taken: credits bound what is on its way.
//
// Source  sdp.md 2.8.
#pragma once
#include <algorithm>
#include <array>
#include <type_traits>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "traffic/memory.h"
#include "units/sdp/read_layer.h"
#include "units/sdp/values.h"

namespace dlasim::sdp {

/// The requests whose words are still to come: a RAM FIFO. Its output register is a place of its own, and
/// the slot of an entry that moves there in q takes a new one from q + 2 on. An operand reader leaves an entry there
/// until its last word is used; MRDMA moves entries ahead.
class ContextQueue {
public:
    explicit ContextQueue(std::uint32_t entries) : entries_(entries) {}
    bool empty() const { return pushed_.empty(); }
    bool ready(Cycle at)
    {
        while (!freed_.empty() && freed_.front() <= at) freed_.pop_front();
        return pushed_.size() + freed_.size() < entries_ + !pushed_.empty();
    }
    /// It is full, and will not be without anything else happening.
    bool clears() const { return !freed_.empty(); }
    /// An entry is in the output register, or on its way there.
    bool valid(Cycle at) const { return !pushed_.empty() && moved_ < at; }
    bool arrives(Cycle at) const { return !pushed_.empty() && moved_ >= at; }
    void push(Cycle at)
    {
        if (pushed_.empty()) move(at + kWay);
        pushed_.push_back(at);
    }
    /// The entry in front leaves the output register.
    void pop(Cycle at)
    {
        pushed_.pop_front();
        if (!pushed_.empty()) move(std::max(pushed_.front() + kWay, at));
    }

private:
    static constexpr Cycle kWay = 2, kRelease = 2;
    void move(Cycle at)
    {
        moved_ = at;
        freed_.push_back(at + kRelease);
    }

    std::uint32_t entries_;
    Cycle moved_ = 0;                   // the entry in front, to the output register
    Ring<Cycle> pushed_{8}, freed_{4};  // entries by the cycle of their push; slots that are not free yet
};

template <bool kFull>
class ReadFront {
public:
    ReadFront(ReadEngine engine, std::uint32_t contexts, Values& values) : engine_(engine), contexts_(contexts), values_(values) {}

    void connect(ReadLink* primary, ReadLink* secondary) { links_ = {secondary, primary}; }

    /// Requests leave from the next cycle on.
    void start(const ReadLayer& layer)
    {
        requests_.start(layer);
        link_ = links_[layer.to_primary];
        values_.expect(engine_, layer);
    }

    /// Clocks the request side. `issued` is the request that entered the interface, null if none.
    bool sweep_requests(Cycle at, const ReadRequest*& issued)
    {
        issued = nullptr;
        const bool context = contexts_.ready(at), offered = requests_.more() && context;
        const bool room = interface_[0].ready();
        blocked_ = offered && !room;
        const bool port_ready = link_ && link_->request.ready(at);
        const bool leaves = interface_[kInterface - 1].valid() && port_ready;
        elements::Flow flow{port_ready, leaves};
        for (unsigned i = kInterface - 1; i > 0; --i) interface_[i].sweep(interface_[i - 1].valid(), flow);
        interface_[0].sweep(offered, flow);
        bool changed = flow.changed || (!context && contexts_.clears());
        if (leaves) waiting_.pop_front();
        if (offered && room) {
            waiting_.push_back(requests_.front());
            requests_.pop();
            contexts_.push(at);
            ++open_;
            issued = &waiting_.back();
            changed = true;
        }
        if (link_ && (leaves || !shown_)) {
            shown_ = interface_[kInterface - 1].valid();
            if (shown_) link_->request.offer(at + 1, waiting_.front());
            else link_->request.withdraw(at + 1);
        }
        return changed;
    }

    /// Takes the response of this cycle.
    void receive(Cycle at)
    {
        for (ReadLink* link : links_) {
            if (!link || !link->response.fires(at)) continue;
            const ReadBeat& beat = link->response.item(at);
            const std::uint32_t atoms = kFull ? std::min(beat.atoms, 2u) : 1;
            words_.push_back(static_cast<std::uint8_t>(atoms));
            values_.receive(engine_, beat.data.data(), atoms * atom_);
            arrived_ = true;
        }
    }
    void set_atom(std::uint32_t bytes) { atom_ = bytes; }

    /// Atoms of the word at the output of the latency FIFO; 0 if there is none.
    unsigned word() const { return fifo_.valid() ? words_.front() : 0; }
    /// Clocks the latency FIFO.
    bool sweep_words(Cycle at, bool pop)
    {
        const bool changed = arrived_ || pop || !fifo_.idle();
        if (pop) {
            words_.pop_front();
            if (link_) link_->credit.put(at + 1, true);
        }
        fifo_.clock(arrived_, pop);
        arrived_ = false;
        return changed;
    }
    /// All words of a request have left, with its entry in the context queue.
    void context_done(Cycle at)
    {
        contexts_.pop(at);
        request_done();
    }
    /// The same of a request whose entry left the queue ahead of its words.
    void request_done() { --open_; }
    ContextQueue& contexts() { return contexts_; }

    bool blocked() const { return blocked_; }
    /// Nothing is asked for, on its way or waiting: nothing will leave.
    bool idle() const { return !requests_.more() && waiting_.empty() && words_.empty() && open_ == 0; }

private:
    static constexpr unsigned kInterface = kFull ? 2 : 1;
    using Stage = std::conditional_t<kFull, elements::Skid, elements::SkidB>;

    ReadEngine engine_;
    ContextQueue contexts_;
    std::uint32_t open_ = 0;  // requests whose words have not all left
    std::uint32_t atom_ = 0;
    Values& values_;
    std::array<ReadLink*, 2> links_{};  // by ram_type
    ReadLink* link_ = nullptr;
    ReadRequests requests_;
    std::array<Stage, kInterface> interface_{};
    Ring<ReadRequest> waiting_{8};
    bool shown_ = false, blocked_ = false, arrived_ = false;
    elements::RamFifo<facts::sdp::kResponseStages> fifo_;
    Ring<std::uint8_t> words_{64};
};

}  // namespace dlasim::sdp
