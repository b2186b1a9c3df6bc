// Finds the cause of every cycle: the walk back from the last interrupt over what each event waited for last.
//
//   at (place, cycle)   it sets its own pace: the cycles back to where it began to are its own; go on before them
//                       it waits for another place: go on there, in that cycle or as long before as the way takes
//   at (burst, stage)   the latest of what this stage of the burst waited for: the stage before, the burst before it, a credit, ..
//
// Every cycle up to the interrupt is passed once, so the cycles of all causes add up. A loop of waits within a cycle is given to
// the wait itself.
//
// The run is looked at in windows, so that memory does not grow with it. At the end of each one the walks begin that later ones
// can come to: one at every place, one at every burst on its way, one at the interrupt. They end at the entries of the window
// before, and meet soon. What they have in common is summed up and forgotten.
//
//   window ... │ entries ◄── walks ── entries │ ◄── walks ── entries │        Past: a tree, its trunk already summed up
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "facts/causes.h"
#include "links/trail.h"
#include "traffic/port_trail.h"

namespace dlasim {

class CriticalPath {
public:
    Trails trails;
    std::array<PortTrail, 2> ports;  // primary, secondary

    CriticalPath();
    /// The pin shows an interrupt in cycle `at`: the run may end there. In order.
    void interrupt(Cycle at) { interrupts_.push_back(at); }
    /// In cycle `at` something ends that is reported on by itself.
    void cut(Cycle at) { cuts_.push_back(at); }
    /// The first cycle that must not run before look().
    Cycle next() const { return window_end_; }
    /// All cycles before next() have run, and what units put off has been done.
    void look();
    /// Of the cycles behind t0 up to `done`: the last interrupt, or where software was at its end. Once, at the end.
    Causes causes(Cycle t0, Cycle done, bool interrupt);

private:
    static constexpr Cycle kWindow = 1u << 14;

    using Number = BurstTrail::Number;
    enum class Stage : std::uint8_t { Entered, Chunked, Granted, Accepted, First };
    /// Where the walk stands: a place, or a stage of a burst.
    struct Spot {
        TrailPlace place = TrailPlace::Software;
        bool burst = false, write = false;
        std::uint8_t port = 0;
        Stage stage = Stage::First;
        Number number = 0;
    };
    struct Run {
        Cycle after = 0;  // it has the cycles behind this one, up to where the run before it begins
        ExactCause cause;
    };
    struct Mark {
        std::uint32_t walk = 0, runs = 0;
        Cycle at = 0;
    };
    /// Marks by key. Cleared in no time.
    class MarkTable {
    public:
        void clear()
        {
            if (++round_ == 0) slots_.assign(slots_.size(), {}), round_ = 1;
            size_ = 0;
        }
        /// Where its mark is, and whether it is a new one: `mark`.
        std::pair<const Mark*, bool> emplace(std::uint64_t key, const Mark& mark)
        {
            if (2 * size_ >= slots_.size()) grow();
            Slot& slot = find(key);
            if (slot.round == round_) return {&slot.mark, false};
            slot = {key, round_, mark};
            ++size_;
            return {&slot.mark, true};
        }

    private:
        struct Slot {
            std::uint64_t key = 0;
            std::uint32_t round = 0;
            Mark mark;
        };
        Slot& find(std::uint64_t key)
        {
            std::size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & (slots_.size() - 1);
            while (slots_[at].round == round_ && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
            return slots_[at];
        }
        void grow()
        {
            std::vector<Slot> old(slots_.size() * 2);
            old.swap(slots_);
            for (const Slot& slot : old)
                if (slot.round == round_) find(slot.key) = slot;
        }
        std::vector<Slot> slots_ = std::vector<Slot>(1024);
        std::size_t size_ = 0;
        std::uint32_t round_ = 1;
    };
    /// A walk through the window, back in time.
    struct Walk {
        Cycle start = 0;
        std::vector<Run> runs;
        std::optional<Mark> joins;  // there it meets another one
        std::uint32_t past = 0;     // else the entry it ends in
    };
    /// The cycles up to `time` that are not those of the parent; slices by their last cycle.
    struct Past {
        std::uint32_t parent = 0;
        Cycle time = 0;
        std::vector<CauseSlice> slices;
    };
    struct Entries {
        std::array<std::uint32_t, kTrailPlaces> places{};
        std::unordered_map<std::uint64_t, std::uint32_t> bursts;
        std::uint32_t interrupt = 0;
        Cycle interrupted = 0;
    };

    // ---- walks
    void begin_window();
    bool moves(TrailPlace place) const;
    std::uint32_t walk(Spot spot, Cycle at);
    void land();
    bool meets(std::uint64_t key);
    bool meets_at_burst();
    bool joins(const Mark& mark);
    void spend(Cause cause, Cycle down_to, unsigned client = ExactCause::kNoClient);
    void spend_waits(const DramCycles& waits, Cycle down_to, unsigned client);
    void go_to_sender(TrailPlace place);
    void go(TrailPlace place) { spot_ = {.place = place}; }
    void go(TrailPlace family, unsigned client) { go(of_client(family, client)); }
    void go(Stage stage, Number number);
    const Trail::Segment& segment() const;
    bool step_place();
    bool step_ask(unsigned client);
    void step_read(unsigned client);
    bool step_in_flight(unsigned client, Cycle answered);
    void step_turn(unsigned client, bool write);
    void step_answer(unsigned client);
    bool step_burst();
    /// The unit that reads or writes as this client.
    static TrailPlace unit_of(unsigned client);
    void step_first(const TrailBurst& burst);
    void step_accepted(const TrailBurst& burst);
    void step_granted(const TrailBurst& burst);
    void step_chunked(const TrailBurst& burst);
    void step_entered(const TrailBurst& burst);
    const BurstTrail& bursts(unsigned port, bool write) const { return write ? ports[port].writes : ports[port].reads; }
    const BurstTrail& bursts() const { return bursts(spot_.port, spot_.write); }
    static Cycle time_of(const TrailBurst& burst, Stage stage);
    static Stage stage_before(const TrailBurst& burst, Cycle before);
    static std::uint64_t key(unsigned port, bool write, Number number) { return number << 2 | port << 1 | unsigned{write}; }
    bool find(unsigned client, bool write, Stage stage, Cycle at, Spot& spot) const;
    std::optional<Number> before(Number number) const;
    template <class Time>
    Number first_in_window(Number first, Number last, const Time& time) const;
    bool step_stream(const TrailBurst& burst);
    bool streams(const TrailBurst& burst) const;

    // ---- pasts
    std::vector<std::uint32_t> keep_walks();
    void add_runs(Past& past, const Walk& walk, std::size_t from, std::size_t to);
    void spread(std::vector<CauseSlice>& slices, Cycle after, Cycle to, ExactCause cause) const;
    Cycle slice_end(Cycle at) const;
    void prune();

    Cycle floor_ = 0, window_end_ = kWindow;  // the cycles behind `floor_`
    std::vector<Cycle> cuts_, interrupts_;
    // of the window under way
    std::vector<Walk> walks_;
    MarkTable met_;  // at places
    /// The first walk that came to a burst, and to which stage of it.
    struct BurstMark {
        std::uint32_t round = 0;
        Stage stage = Stage::First;
        Mark mark;
    };
    std::array<std::array<std::vector<BurstMark>, 2>, 2> met_bursts_;  // by port, write; by number from the trail's first on
    std::uint32_t round_ = 0;
    std::array<Cycle, kClients> entered_before_{};  // the last request before the window; 0: none
    Spot spot_;
    Cycle at_ = 0;
    ExactCause last_cause_;
    unsigned hops_ = 0;                           // in cycle at_
    std::array<unsigned, kTrailPlaces> quiet_{};  // windows in a row without bursts
    // before it
    std::vector<Past> pasts_;  // [0]: the trunk
    Entries entries_;
};

}  // namespace dlasim
