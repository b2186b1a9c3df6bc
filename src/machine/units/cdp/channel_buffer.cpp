#include "units/cdp/channel_buffer.h"

namespace dlasim::cdp {

ChannelBuffer::ChannelBuffer(const facts::cdp::Facts& silicon) : silicon_(silicon)
{
    wide_.stalls = output_.stalls = silicon.stalling_stages;
}

void ChannelBuffer::start(const Cube& cube)
{
    walk_.start(cube, silicon_.chunks);
    fresh_ = true;
}

bool ChannelBuffer::ready() const
{
    if (silicon_.wide_buffer_input) return wide_.ready();
    return narrow_.ready(shift_moves() && !hold_);
}

void ChannelBuffer::sweep(bool in, elements::Flow& flow)
{
    const bool arrived = input_valid();
    if (arrived && fresh_) {
        walk_.step();
        fresh_ = false;
    }
    const bool out_ready = output_.ready(), window_moves_now = window_moves(), moves = shift_moves();
    const bool takes = moves && !hold_, offered = arrived || hold_;
    output_.sweep(window_full_ && window_.window(), flow);

    // Input stage.
    elements::Flow input{takes};
    if (silicon_.wide_buffer_input) wide_.sweep(in, input);
    else narrow_.sweep(in, input);
    if (arrived && takes) fresh_ = true;

    // (2), (1): both see the state before this cycle's decision.
    const bool shift_was = shift_full_, window_was = window_full_;
    if (window_moves_now && shift_full_) window_ = shift_;
    window_full_ = shift_full_ || (window_full_ && !out_ready);
    shift_full_ = offered || (shift_full_ && !window_moves_now);
    decide(walk_.beat(), offered && takes, moves);

    flow.changed |= input.changed || (offered && moves) || shift_was != shift_full_ || window_was != window_full_;
    flow.ready = input.ready;
}

/// The last pixel of this block, as far as it is known.
std::uint8_t ChannelBuffer::width_now(const Beat& beat) const
{
    if (state_ != State::First || beat.pixel != 0) return current_;
    return silicon_.wide_buffer_input || beat.chunk == 0 ? static_cast<std::uint8_t>(beat.pixels - 1) : 0;
}

/// `load`: the beat is taken. `moves`: the shift stage takes something, a beat or none.
void ChannelBuffer::decide(const Beat& beat, bool load, bool moves)
{
    const bool hold = hold_;
    const auto last = static_cast<std::uint8_t>((beat.pixels - 1) & 15);
    const std::uint8_t width = width_now(beat);
    const bool narrower = state_ == State::First && width < before_, wider = state_ == State::First && width > before_;
    const bool last_pass = silicon_.wide_buffer_input || passes_ + 1u == silicon_.lag, lagged = beat.chunk + 1u == silicon_.lag;
    const bool block_ends = beat.last_pixel() && beat.chunk + 1u == silicon_.chunks && beat.last_surface && load;
    const bool cube_ends = state_ == State::Normal && block_ends && beat.last_block && beat.last_line;
    const bool caught_up = narrower && hold && catching_ == before_ && moves;
    const bool drained =
        state_ == State::End && end_pixel_ == end_last_ && moves && (silicon_.wide_buffer_input || end_pass_ + 1u == silicon_.lag);

    State next = state_;
    switch (state_) {
        case State::Wait:
            if (beat.last_pixel() && lagged && load) next = State::Normal;
            break;
        case State::Normal:
            if (block_ends) next = cube_ends ? State::End : State::First;
            break;
        case State::First:
            if ((lagged && beat.pixel == last && !narrower && load) || (caught_up && last_pass)) next = State::Second;
            break;
        case State::Second:
            if (beat.last_pixel() && load) next = State::Normal;
            break;
        case State::End:
            if (drained) next = State::Wait;
            break;
    }

    // What the shift stage takes along.
    if ((load || hold) && moves) {
        shift_.state = state_;
        shift_.wider = wider;
        shift_.before = before_;
    }
    if (state_ == State::End && moves) shift_.pixel = end_pixel_;
    else if (load) shift_.pixel = beat.pixel;

    // Passes that are made without beats.
    if (narrower) {
        if (beat.pixel == last && load) {
            hold_ = true;
            catching_ = (last + 1) & 15;
        } else {
            if (catching_ == before_ && moves) hold_ = false;
            if (hold && moves) catching_ = (catching_ + 1) & 15;
        }
        if (caught_up) passes_ = last_pass ? 0 : static_cast<std::uint8_t>(passes_ + 1);
    } else {
        catching_ = 0;
        if (cube_ends) hold_ = true;
        else if (drained) hold_ = false;
    }
    if (state_ == State::Normal && block_ends) before_ = last;
    if (state_ == State::First && beat.pixel == 0 && load) current_ = last;
    if (cube_ends) end_last_ = last;
    if (state_ != State::End) {
        end_pixel_ = end_pass_ = 0;
    } else if (moves) {
        if (end_pixel_ == end_last_) {
            end_pixel_ = 0;
            ++end_pass_;
        } else {
            ++end_pixel_;
        }
    }
    state_ = next;
}

}  // namespace dlasim::cdp
