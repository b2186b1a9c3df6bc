// The half of a read engine that faces memory: requests out, responses into the latency FIFO.
//
//   requests ─► interface stages ─► port            context queue: one entry a request
//   port ─► 2 response stages ─► latency FIFO ─► word()     credit pulse a cycle after a word left
//
// Responses are always taken: credits bound what is on its way.
//
// Latency  request at the port silicon.interface_stages after its creation; word() 5 cycles after the response.
// Source   sdp.md 2.8; facts in facts/sdp.h.
#pragma once
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "links/port_stages.h"
#include "traffic/memory.h"
#include "units/sdp/read/context_queue.h"
#include "units/sdp/read/read_layer.h"
#include "units/sdp/read/read_requests.h"
#include "units/sdp/value/values.h"

namespace dlasim::sdp {

class ReadFront {
public:
    ReadFront(const facts::sdp::Facts& silicon, ReadEngine engine, Values& values);
    /// Null: the engine is not there, or there is no such port.
    void connect(ReadLink* primary, ReadLink* secondary);

    /// Requests leave from the next cycle on.
    void start(const ReadLayer& layer);

    /// Words are on their way or waiting.
    bool expects() const { return open_ != 0; }
    /// Takes the responses of this cycle.
    void receive(Cycle at);

    /// Clocks the request side. `issued`: atoms of the request that entered the interface, 0 if none did. True if the next
    /// cycle may differ.
    bool sweep_requests(Cycle at, std::uint32_t& issued);

    /// Atoms of the word at the output of the latency FIFO; 0 if there is none.
    unsigned word() const { return fifo_.valid() ? words_.front() : 0; }
    /// Clocks the latency FIFO.
    bool sweep_words(Cycle at, bool pop);

    /// All words of a request have left, with its entry in the context queue.
    void context_done(Cycle at);
    /// The same of a request whose entry left the queue ahead of its words.
    void request_done() { --open_; }
    ContextQueue& contexts() { return contexts_; }

    /// In the cycle evaluated last the interface refused a request.
    bool blocked() const { return blocked_; }
    /// Words have come and were not taken.
    bool holds_words() const { return !words_.empty(); }
    /// Nothing is asked for, on its way or waiting: nothing will leave.
    bool idle() const { return open_ == 0 && !requests_.more() && words_.empty() && ports_[0].empty() && ports_[1].empty(); }

private:
    const facts::sdp::Facts& silicon_;
    ReadEngine engine_;
    Values& values_;
    std::array<ReadLink*, 2> links_{};  // by ram_type: CVIF, MCIF
    std::array<PortStages<ReadRequest>, 2> ports_;
    unsigned port_ = 0;  // of the layer
    ReadRequests requests_;
    ContextQueue contexts_;
    std::uint32_t open_ = 0;     // requests whose words have not all left
    std::uint32_t awaited_ = 0;  // atoms
    bool blocked_ = false, arrived_ = false;
    elements::RamFifo<facts::sdp::kResponseStages> fifo_;
    Ring<std::uint8_t> words_{64};  // atoms of the words in it
};

}  // namespace dlasim::sdp
