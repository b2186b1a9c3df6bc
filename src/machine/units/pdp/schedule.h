// The fixed sequences of beats of the horizontal and the vertical stage: which of them take an input beat, which carry
// an output.
//
//   horizontal   for pass, for surface and line:  pixels x beats of an atom, then the flush of the right padding
//   vertical     for pass, for surface:  lines x output columns x beats, 3 void beats after a line of one column,
//                                        then the flush of the bottom padding
//
// A window leaves with the last real element it needs. Of those that end in the padding the first leaves with the last
// element of the line (or surface); the others are kept in their units and leave as bubbles that take no input, or, as
// long as the next line has no output of its own, together with its first elements.
//
// Source  pdp.md 4.4, 4.5.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "facts/pdp.h"
#include "units/pdp/layer.h"

namespace dlasim::pdp {

/// Beats of one kind.
struct BeatRun {
    std::uint64_t beats = 0;
    bool input = false;   // each takes an input beat
    bool output = false;  // each carries an output
};

/// An order of beats, a run of one kind after the other; Order::advance() opens the next run.
template <class Order>
class BeatRuns {
public:
    bool more() const { return run_.beats != 0; }
    bool takes_input() const { return run_.input; }  // pre: more()
    bool gives_output() const { return run_.output; }
    /// What is left of the beats of one kind.
    const BeatRun& run() const { return run_; }
    /// A number of them are through; pre: as many are left.
    void next(std::uint32_t beats = 1)
    {
        run_.beats -= beats;
        if (run_.beats == 0) static_cast<Order*>(this)->advance();
    }

protected:
    BeatRun run_;
};

/// Where outputs leave along one direction, and how the padding after the end is flushed.
struct Flush {
    std::vector<bool> outputs;  // [element of the line or surface]
    std::uint32_t between = 0;  // bubbles (of an element) in front of the next line or surface
    std::uint32_t carried = 0;  // first elements of the next one that carry an output of this one
    std::uint32_t at_end = 0;   // bubbles after the last one
};

class HorizontalSchedule : public BeatRuns<HorizontalSchedule> {
public:
    explicit HorizontalSchedule(const facts::pdp::Facts& silicon) : silicon_(silicon) {}
    void start(const LayerConfig& layer);

    /// The next beats that carry an output, the first in bit 0; they are through. pre: at most 31, and as many take an input.
    std::uint32_t pass(unsigned beats)
    {
        std::uint32_t outputs = 0;
        for (unsigned done = 0; done < beats;) {
            const auto part = static_cast<unsigned>(std::min<std::uint64_t>(beats - done, run_.beats));
            if (run_.output) outputs |= ((1u << part) - 1) << done;
            done += part;
            next(part);
        }
        return outputs;
    }

    /// Beats of the line that take an input, in a row.
    Cycle input_left() const { return run_.input ? run_.beats + Cycle{width_ - 1 - x_} * silicon_.beats : 0; }

private:
    friend BeatRuns;
    void advance();
    void open_pixel();

    const facts::pdp::Facts& silicon_;
    Passes passes_;
    std::uint32_t lines_ = 0;
    std::array<Flush, 3> flush_;  // of the first, of a middle and of the last pass
    std::uint32_t pass_ = 0, line_ = 0, x_ = 0, width_ = 0, carried_ = 0;
    const Flush* now_ = nullptr;
    bool bubbles_ = false;
};

class VerticalSchedule : public BeatRuns<VerticalSchedule> {
public:
    explicit VerticalSchedule(const facts::pdp::Facts& silicon) : silicon_(silicon) {}
    void start(const LayerConfig& layer);

private:
    friend BeatRuns;
    enum class Part { Line, Void, Flush };
    void advance();
    void open_line();
    std::uint64_t line_beats() const { return std::uint64_t{passes_.width(pass_)} * silicon_.beats; }

    const facts::pdp::Facts& silicon_;
    Passes passes_;  // of the output
    std::uint32_t height_ = 0, surfaces_ = 0;
    Flush flush_;
    /// Line units that the first window rows of a surface occupy. A top padding above 5 has no entry in the table of the
    /// silicon: the value of the layer before stays.
    std::uint32_t occupied_ = 0;
    std::uint32_t pass_ = 0, surface_ = 0, line_ = 0, carried_ = 0;
    Part part_ = Part::Line;
};

}  // namespace dlasim::pdp
