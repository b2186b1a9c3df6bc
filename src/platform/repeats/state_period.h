// Two states of the machine, a period apart, word by word (base/state.h): how far every word has moved from one to the other, and what it
// will be a period later.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/state.h"

namespace dlasim {

class StatePeriod {
public:
    using Words = std::vector<State::Word>;
    /// What happens in it, beside what each part goes on with.
    enum class Within : std::uint8_t {
        Layer,   // no layer begins or ends: loops and the counts of a layer go on
        Program  // layers begin and end: loops are where they were, counts of a layer have come to the same
    };

    StatePeriod(Within within, std::uint64_t granule) : within_(within), granule_(granule) {}

    Words from, to;  // at its ends
    /// How far words have moved in a period of so many cycles behind `since`. False if one of them has in a way that does not go on.
    bool measure(Cycle since, Cycle period);
    /// The same, where the second state may be another one. False if it cannot be set.
    bool leads();
    const std::vector<std::uint64_t>& moves() const { return moves_; }
    /// A state from which on words move like that.
    void begin(const Words& words, const std::vector<std::uint64_t>& moves)
    {
        to = words;
        moves_ = moves;
    }
    /// How often the positions may move on.
    std::uint64_t times() const;
    /// What of the state in cycle `now`, a period behind `to`, is not as was to be expected; empty: nothing. It takes the place of `to`.
    std::string compare(const Words& later, Cycle now);

private:
    bool goes_on(const State::Word& a, const State::Word& b, Cycle since, Cycle period) const;
    bool expected(const State::Word& a, const State::Word& b, std::uint64_t moves, Cycle now) const;

    const Within within_;
    const std::uint64_t granule_;  // State::granule()
    std::vector<std::uint64_t> moves_;
};

}  // namespace dlasim
