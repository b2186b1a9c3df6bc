#include "units/cacc/end_tags.h"

namespace dlasim::cacc {

bool EndTags::pop(Cycle at, std::uint32_t position)
{
    while (!sets_.empty() && sets_.front().at < at) {
        step(&sets_.front().position, false, sets_.front().at);
        sets_.pop_front();
    }
    const bool clear = tags_[0].valid && tags_[0].position == position;
    told_ = told_ || (clear && tags_[0].ghost);
    if (!sets_.empty() && sets_.front().at == at) {
        step(&sets_.front().position, clear, at);
        sets_.pop_front();
    } else if (clear) {
        step(nullptr, true, at);
    }
    return clear;
}

/// The next state, as the silicon has it. `set`: the position of a new end, or none.
void EndTags::step(const std::uint32_t* set, bool clear, Cycle at)
{
    const auto [first, second] = tags_;
    auto& [next, following] = tags_;
    if (set && !first.valid) next = {true, false, *set};
    else if ((set && clear) || (clear && second.valid)) next = second.valid ? second : Tag{true, false, *set};
    if (set && first.valid && !clear) following = {true, false, *set};

    next.valid = second.valid || set ? true : clear ? false : first.valid;
    const bool moves_up = first.valid && set;
    if (clears_first_) following.valid = clear ? false : moves_up || second.valid;
    else following.valid = moves_up || (!clear && second.valid);
    if (following.valid && set && clear) {
        following.ghost = true;
        met_at_ = at;
    }
}

}  // namespace dlasim::cacc
