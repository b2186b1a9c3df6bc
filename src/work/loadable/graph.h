// The order in which operations of a hardware task can run, and the dynamic scheduler of the public driver.
//
// A chain is a set of operations that run together: a convolution, its SDP, its PDP. Fused parents link them.
//
// Source  loadable.md 4.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "loadable/descriptors.h"

namespace dlasim::loadable {

/// Operations from the farthest downstream to the first: the order in which they are enabled.
using Chain = std::vector<std::size_t>;

/// All chains, in an order that dependencies and the order of each kind allow: of those that can run, the one with the lowest operation.
/// ConfigError if there is none, or one ends at a convolution.
std::vector<Chain> chains_of(const HardwareTask& task);

/// Two register groups for each kind, events between operations.
class Driver {
public:
    using Call = std::function<void(std::size_t operation, unsigned group)>;
    /// What it does with an operation, in this order: it gets a group, its registers are written, it is enabled.
    struct Calls {
        Call place, program, enable;
    };

    /// Starts at once: `calls` are called from the constructor and from what follows. `next_groups`: those that the hardware takes next, by
    /// kind.
    Driver(const HardwareTask& task, const std::array<unsigned, kKinds>& next_groups, Calls calls);

    /// The operation in that group has raised its interrupt.
    void complete(Kind kind, unsigned group);
    /// The convolution in that group has fetched its weights, or its data.
    void fetched(unsigned group, Link::Event event);

    std::size_t completed() const { return completed_; }
    bool active(std::size_t operation) const { return state_[operation] == State::Active; }
    unsigned group(std::size_t operation) const { return slot_[operation]; }
    /// What is in the register groups and enabled.
    std::vector<std::size_t> active() const;

private:
    enum class State : std::uint8_t { Waiting, Pending, Programmed, Active, Done };
    using Slot = std::optional<std::size_t>;

    bool ready(std::size_t operation) const;
    void submit(std::size_t operation);
    void start(std::size_t operation);
    void try_enable(std::size_t operation);
    void raise(std::size_t operation, Link::Event event);
    void dequeue(std::size_t kind);

    const HardwareTask& task_;
    Calls calls_;
    std::vector<unsigned> count_, slot_;
    std::vector<State> state_;
    std::array<std::array<Slot, 2>, kKinds> groups_{};
    std::array<std::size_t, kKinds> tail_{};
    std::array<unsigned, kKinds> next_group_;
    Slot programming_;
    std::size_t completed_ = 0;
};

}  // namespace dlasim::loadable
