// SG, the sequence generator: generates packages, queues them for the loaders and decides when their
// weights and data leave. The only part of CSC that can wait.
//
//   generator ─► package register ─► data FIFO ───► data pop    one every max(len, minimum) cycles
//      ▲ lines, kernels          └─► weight FIFO ─► weight pop  one package ahead
//
// Between two pops only the pop counter moves once the queues have settled: run() replays the cycles
// up to the present and jumps over those. While queues take the package for a freed place they do what they did the last time
// from the same state: refill() does it at once.
//
// Source  csc.md 1.5.2, 1.6; the FIFOs are exact to the flop.
#pragma once
#include <array>
#include <cstdint>

#include "base/cycle.h"
#include "links/wire.h"
#include "units/csc/package.h"

namespace dlasim::csc {

/// Who executes the packages.
class PackageSink {
public:
    virtual void pop_weights(const Package& package, unsigned slot, Cycle at) = 0;
    virtual void pop_data(const Package& package, unsigned slot, Cycle at) = 0;

protected:
    ~PackageSink() = default;
};

class Sequencer {
public:
    static constexpr unsigned kSlots = 8;  // packages between generation and data pop: at most six

    Sequencer(std::uint32_t minimum_issue, std::uint32_t credit) : minimum_issue_(minimum_issue), credit_(credit) {}

    // ---- availability, kept between layers
    std::int64_t slices = 0, kernels = 0;
    void add_credit(std::uint32_t amount) { credit_ += amount; }
    std::int64_t credit() const { return credit_; }

    /// First cycle in BUSY is `first`.
    void start(const LayerConfig& layer, Cycle first);
    /// Evaluates cycle `at`; at == clock().
    void step(Cycle at, PackageSink& sink);
    /// Cycles from clock() on in which nothing but a known refill happens; 0: none is known. pre: the last step popped
    Cycle refill_cycles() const
    {
        const bool known = head_ready() && pop_ >= refill_.cycles && queues() == refill_.begin && available();
        return known ? refill_.cycles : 0;
    }
    /// All these cycles. pre: refill_cycles() != 0
    void refill();
    /// Nothing happens in cycles before `to` but the pop counter counts. pre: quiet()
    void skip(Cycle to);

    Cycle clock() const { return clock_; }  // next cycle to evaluate
    /// Nothing but the pop counter moved in the last step.
    bool quiet() const { return quiet_; }
    /// A package left a queue in the last step.
    bool popped() const { return popped_; }
    bool finished() const { return finished_; }  // the last data package has left

    /// The first cycle in which a pop is possible if nothing arrives; kNever: only an arrival can help.
    Cycle next_pop() const;
    /// The first one that ends channels or a group, at the earliest: nobody waits for the others.
    Cycle next_end() const;
    /// The data head waits for nothing but credits.
    bool waits_for_credit() const { return head_ready() && !credit_suffices(head()); }
    bool waits_for_lines() const { return !generator_.done() && slices < layer_->input_rows(); }
    bool waits_for_kernels() const { return !generator_.done() && need_ + generator_.peek().kernels > kernels; }
    /// The weights of the data head are on their way into the array, or the package in front of it has not left.
    bool loads() const { return head_ready() && pop_ != 0; }
    std::uint32_t pop_left() const { return pop_; }
    /// No package is in the queues.
    bool empty() const { return generated_ == data_popped_; }
    /// Credits the data head still needs. pre: waits_for_credit()
    std::int64_t credits_missing() const { return credits_needed(head()) - credit_; }

private:
    struct Fifo {
        bool input = false, busy = false, full = false;
        unsigned words = 0;
        bool reserve() const { return input && !full; }
        bool valid() const { return words != 0 || reserve(); }
        bool step(bool push, bool pop);  // true if anything changed
        bool operator==(const Fifo&) const = default;
    };
    struct Queues {
        Fifo data, weights;
        bool package_valid = false;
        bool operator==(const Queues&) const = default;
    };
    /// From a pop until the queues are quiet, one package generated on the way: whatever else is available then.
    struct Refill {
        Queues begin, end;
        Cycle cycles = 0;  // 0: none was seen
    };
    Queues queues() const { return {data_, weights_, package_valid_}; }
    bool available() const { return !generator_.done() && slices >= layer_->input_rows() && need_ + generator_.peek().kernels <= kernels; }
    void generate();
    void learn(bool pops);
    const Package& head() const { return packages_[data_popped_ % kSlots]; }
    bool head_ready() const { return weights_popped_ > data_popped_; }
    bool credit_suffices(const Package& p) const { return !p.channel_end || credit_ >= credits_needed(p); }
    std::int64_t credits_needed(const Package& p) const { return std::int64_t{p.size} * layer_->credit_unit + layer_->credit_guard; }

    const std::uint32_t minimum_issue_;
    std::int64_t credit_;
    const LayerConfig* layer_ = nullptr;
    PackageGenerator generator_;
    std::array<Package, kSlots> packages_;
    std::uint64_t generated_ = 0, weights_popped_ = 0, data_popped_ = 0;
    bool package_valid_ = false;
    Fifo data_, weights_;
    std::uint32_t pop_ = 0;  // cycles until the next data pop is possible
    std::int64_t need_ = 0;  // kernels used but not deducted, with weight release skipped
    Cycle clock_ = 0;
    bool quiet_ = false, finished_ = true, popped_ = false;
    Refill refill_;  // the last one
    Queues begun_;   // the one under way
    Cycle begun_at_ = 0;
    std::uint64_t begun_generated_ = 0;
    bool follows_ = false;  // it is one so far
};

}  // namespace dlasim::csc
