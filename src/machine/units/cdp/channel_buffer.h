// The channel buffer: eight pixel rows of shift registers, one beat wide. The window of a beat is complete
// when the beat of the same pixel `lag` passes later has been loaded; it is issued then.
//
//   beats ──► input stage ──► (1) shift stage ──► (2) window stage ──► output stage ──► square sum
//                                 PIPE                PIPE, hides what is no window
//
//   Wait    first lag passes of the layer: no windows
//   Normal  one window a beat
//   First   first lag passes of the next block, which push the old block's windows out
//   Second  the rest of the pass in which First ended
//   End     lag passes without beats push the last block out
//
// In First a narrower block makes passes as long as the old one's without taking beats, a wider one makes
// fewer windows than it takes beats.
//
// Source  cdp.md 4.3; models/cdp.py.
#pragma once
#include <cstdint>

#include "elements/occupancy.h"
#include "facts/cdp.h"
#include "units/cdp/layer.h"

namespace dlasim::cdp {

class ChannelBuffer {
public:
    explicit ChannelBuffer(const facts::cdp::Facts& silicon);

    /// The beats of the next layer. Nothing is in the buffer.
    void start(const Cube& cube);

    bool valid() const { return output_.valid(); }
    bool ready() const;
    void sweep(bool in, elements::Flow& flow);

private:
    enum class State : std::uint8_t { Wait, Normal, First, Second, End };
    /// What a stage knows of the beat in it.
    struct Mark {
        State state = State::Wait;
        bool wider = false;  // than the block before
        std::uint8_t pixel = 0, before = 0;
        bool window() const { return state != State::Wait && !(state == State::First && wider && pixel > before); }
    };
    bool input_valid() const { return silicon_.wide_buffer_input ? wide_.valid() : narrow_.valid(); }
    bool shift_moves() const { return !shift_full_ || window_moves(); }
    bool window_moves() const { return !window_full_ || output_.ready(); }
    std::uint8_t width_now(const Beat& beat) const;
    void decide(const Beat& beat, bool load, bool moves);

    const facts::cdp::Facts silicon_;
    BeatWalk walk_;
    bool fresh_ = true;  // the next beat at the input's output is another one than walk_.beat()
    elements::Pipe narrow_;
    elements::EitherSkid wide_;
    elements::EitherSkid output_;

    State state_ = State::Wait;
    bool hold_ = false;          // windows are issued without beats
    std::uint8_t before_ = 0;    // last pixel of the block before
    std::uint8_t current_ = 0;   // last pixel of this block, once its first beat was loaded
    std::uint8_t catching_ = 0;  // First, narrower: pixels of the pass
    std::uint8_t passes_ = 0;    // First, narrower: passes caught up
    std::uint8_t end_pixel_ = 0, end_pass_ = 0, end_last_ = 0;
    bool shift_full_ = false, window_full_ = false;  // (1), (2)
    Mark shift_, window_;
};

}  // namespace dlasim::cdp
