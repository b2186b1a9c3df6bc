// PDP_RDMA: one read command a line, words from memory to atoms, atoms to beats.
//
//   commands ─┬─► interface stages ─► port           port ─► response stages ─► latency FIFO ─► reorder FIFOs ─► output
//             └─► queue ─► line counter (1)                                                      one a beat       stage
//
// The reorder FIFOs are written together, an atom or two at once, and read in turn, one a cycle. So one count describes
// all of them: the atoms in the FIFO that is read last. (1) restarts with every line; where lines follow each other
// without a gap it is loaded with the last beat of the line before.
//
// Shapes  beat: the atom's bytes / facts.beats.
// Source  pdp.md 1.5, 4.1, 4.2, 5.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/command_fifo.h"
#include "elements/pipe_row.h"
#include "facts/pdp.h"
#include "links/port_stages.h"
#include "traffic/memory.h"
#include "units/pdp/layer.h"
#include "units/pdp/values.h"

namespace dlasim::pdp {

class ReadDma {
public:
    ReadDma(const facts::pdp::Facts& silicon, Values& values);
    void connect(ReadLink& primary, ReadLink* secondary);

    /// Requests leave from the next cycle on.
    void start(const ReadLayer& layer, bool count_stall);
    bool running() const { return beats_left_ != 0; }

    /// Takes the responses of this cycle; true if there are any. May be called before earlier cycles are evaluated.
    bool receive(Cycle now);
    /// A word without a promised credit is in the latency FIFO: later ones decide nothing before it has left.
    bool words_wait() const { return words_.size() > scheduled_credits_; }
    std::uint32_t scheduled_credits() const { return scheduled_credits_; }
    /// The memory interface takes a request in this cycle.
    bool hands_over(Cycle now) const { return ports_[0].hands_over(now) || ports_[1].hands_over(now); }

    bool valid() const { return out_.valid(); }
    /// The beat at the output is the last of the layer; pre: valid().
    bool last() const { return beats_left_ == 1; }

    struct Answer {
        bool finished = false;       // the last beat of the layer was taken
        bool all_asked_for = false;  // the last request entered the interface
    };
    /// One cycle of everything. `flow.ready`: the output is taken.
    Answer sweep(Cycle now, elements::Flow& flow);

    /// The ready of the memory interfaces in this cycle, or none.
    void look(Cycle now)
    {
        for (auto& port : ports_) port.look(now);
    }
    void skip_look()
    {
        for (auto& port : ports_) port.skip_look();
    }

    /// The cycles in which, one after the other, a beat leaves, of atoms that are there, and the last one of line and layer in none.
    Cycle flows() const
    {
        if (!out_.flows() || line_left_ == 0 || atoms_[group_] == 0) return 0;
        return std::min({line_left_ - 1, beats_left_ - 1, atoms_in_turn() * silicon_.beats - beat_});
    }
    /// A number of them, the first in `from`, if quiet() allows them.
    void flow(Cycle from, Cycle cycles);

    /// The words that leave into the space of an atom each, one per atom from the one that is read now on, if a beat leaves in every
    /// cycle; those whose credit is not promised yet.
    struct Prediction {
        std::uint32_t words = 0;
        Cycle cycles = 0;  // to the end of the first of these atoms
    };
    Prediction prediction() const
    {
        const bool full = silicon_.word_atoms == 1 && atoms_[0] == silicon_.atom_fifo + 1 && words_wait() && out_.flows();
        if (!full) return {};
        return {static_cast<std::uint32_t>(words_.size() - scheduled_credits_), Cycle{scheduled_credits_ + 1} * silicon_.beats - beat_};
    }
    /// Beats of the line and of the layer that follow one another, without the last one.
    Cycle beats_in_a_row() const { return line_left_ == 0 ? 0 : std::min(line_left_, beats_left_) - 1; }
    /// It is so for `words` of them after cycle `now`: the credits of those that have come in time are put now, and nobody has to
    /// look when they leave.
    void schedule_credits(Cycle now, const Prediction& prediction, Cycle words);

    /// Cycles from `next` on, the one after that evaluated last, in which nothing leaves for the fabric or ends, if nothing arrives.
    Cycle quiet(Cycle next) const;
    /// A word has come by cycle `at` and was not taken.
    bool holds_words(Cycle at) const { return !words_.empty() && words_.front().from <= at; }
    bool blocked() const { return blocked_; }
    bool counting() const { return count_stall_; }
    std::uint64_t& stall() { return stall_; }
    std::uint64_t atoms_read() const { return atoms_read_; }

private:
    struct Line {
        std::uint32_t atoms = 0;
    };
    struct Word {
        Cycle from = 0;  // it can be at the output of the latency FIFO
        std::uint8_t atoms = 0;
    };
    ReadRequest request() const;
    void next_request();
    bool room() const;
    bool word_leaves(Cycle at) const { return !words_.empty() && words_.front().from <= at && room(); }
    void take_word(Cycle at);
    /// That follow one another from the one that is read now on.
    Cycle atoms_in_turn() const
    {
        if (silicon_.word_atoms == 1) return atoms_[0];
        const Cycle here = atoms_[group_], there = atoms_[group_ ^ 1];
        return here > there ? 2 * there + 1 : 2 * here;
    }
    bool sweep_beats(elements::Flow& flow);
    void end_atom()
    {
        --atoms_[group_];
        beat_ = 0;
        group_ = group_ + 1 == silicon_.word_atoms ? 0 : group_ + 1;
    }
    bool sweep_requests(Cycle now, bool line_taken, elements::Flow& flow);

    const facts::pdp::Facts& silicon_;
    Values& values_;
    std::array<ReadLink*, 2> links_{};  // secondary, primary
    std::array<PortStages<ReadRequest>, 2> ports_;
    ReadLink* link_ = nullptr;  // of the layer
    ReadLayer layer_;
    // requests
    std::uint64_t requests_left_ = 0;
    std::uint32_t pass_ = 0, surface_ = 0, line_ = 0;
    elements::CommandQueue<Line> lines_;
    bool count_stall_ = false, blocked_ = false, moving_ = false;
    std::uint64_t stall_ = 0, atoms_read_ = 0;
    // responses
    Ring<Word> words_{64};                 // in the latency FIFO, or on the way to it
    std::uint32_t scheduled_credits_ = 0;  // number of credits in flight
    // beats
    std::array<std::uint32_t, 2> atoms_{};  // in the reorder FIFOs of lower and upper atoms
    std::uint32_t beat_ = 0, group_ = 0;    // FIFO that is read next: of the atom, lower or upper
    std::uint64_t line_left_ = 0;           // beats of the line; 0: idle
    elements::EitherSkid out_;
    std::uint64_t beats_left_ = 0;  // of the layer, still to leave
};

}  // namespace dlasim::pdp
