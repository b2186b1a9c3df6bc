// Stages in a row and side by side: how the elements of occupancy.h are put together.
//
//   Row, Chain   in ──► a ──► b ──► c ──► out            swept from the last to the first
//
//                     ┌──► a ──┐
//   Beside       in ──┤        ├──► out                  both are filled and emptied together
//                     └──► b ──┘
//
// Every part has valid(), ready(out) and sweep(in, flow); `out` is the ready of the next stage.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "elements/occupancy.h"

namespace dlasim::elements {

/// The ready of a part, whether or not it depends on the next part.
template <class Part>
bool ready_of(const Part& part, bool out)
{
    if constexpr (requires { part.ready(out); }) return part.ready(out);
    else return part.ready();
}

/// N times PIPE: stages after the last gap stall, the others move.
template <unsigned N>
struct PipeRow {
    static_assert(N > 0 && N < 32);
    static constexpr std::uint32_t kAll = (1u << N) - 1;
    std::uint32_t full = 0;  // bit N - 1 is the output
    bool valid() const { return full >> (N - 1) & 1; }
    bool ready(bool out) const { return out || full != kAll; }
    void sweep(bool in, Flow& flow)
    {
        std::uint32_t moving = kAll;
        if (!flow.ready) {
            const std::uint32_t gaps = ~full & kAll;
            if (gaps == 0) return;
            moving = (2u << (std::bit_width(gaps) - 1)) - 1;
        }
        const std::uint32_t now = (full & ~moving) | (((full << 1) | unsigned{in}) & moving);
        flow.changed |= now != full;
        flow.ready = true;
        full = now;
    }
};

/// N times SKID-PIPE. While none holds two beats and nothing holds back the output, the row is a shift.
template <unsigned N>
struct SkidRow {
    static_assert(N > 0 && N < 32);
    std::uint32_t full = 0, second = 0;  // bit i: stage i holds a beat, and another one; bit N - 1 is the output
    bool valid(unsigned stage = N - 1) const { return full >> stage & 1; }
    bool ready() const { return (second & 1) == 0; }
    /// Cycles until the foremost beat can be at the output; kNoBeat if there is none.
    unsigned distance() const { return full != 0 ? N - static_cast<unsigned>(std::bit_width(full)) : kNoBeat; }
    void sweep(bool in, Flow& flow)
    {
        if (second != 0 || !(flow.ready || full >> (N - 1) == 0)) return sweep_from(0, in, flow);
        const std::uint32_t now = (full << 1 | std::uint32_t{in}) & ((1u << N) - 1);
        flow.changed |= now != full;
        flow.ready = true;
        full = now;
    }
    /// The row from that stage on: without those before it.
    void sweep_from(unsigned first, bool in, Flow& flow)
    {
        for (unsigned i = N; i-- > first;) {
            const std::uint32_t bit = 1u << i;
            Skid stage{static_cast<std::uint8_t>((full >> i & 1) + (second >> i & 1))};
            stage.sweep(i == first ? in : valid(i - 1), flow);
            full = stage.valid() ? full | bit : full & ~bit;
            second = stage.ready() ? second & ~bit : second | bit;
        }
    }
};

/// N stages of one kind.
template <class Stage, std::size_t N>
struct Row {
    std::array<Stage, N> stages{};
    bool valid() const { return stages[N - 1].valid(); }
    bool ready(bool out) const
    {
        for (std::size_t i = N; i > 0; --i) out = ready_of(stages[i - 1], out);
        return out;
    }
    void sweep(bool in, Flow& flow)
    {
        for (std::size_t i = N - 1; i > 0; --i) stages[i].sweep(stages[i - 1].valid(), flow);
        stages[0].sweep(in, flow);
    }
};

/// Stages of different kinds.
template <class... Parts>
struct Chain {
    static constexpr std::size_t kLast = sizeof...(Parts) - 1;
    std::tuple<Parts...> parts{};
    bool valid() const { return std::get<kLast>(parts).valid(); }
    bool ready(bool out) const { return ready_from<kLast>(out); }
    void sweep(bool in, Flow& flow) { sweep_from<kLast>(in, flow); }

private:
    template <std::size_t i>
    bool ready_from(bool out) const
    {
        const bool ready = ready_of(std::get<i>(parts), out);
        if constexpr (i == 0) return ready;
        else return ready_from<i - 1>(ready);
    }
    template <std::size_t i>
    void sweep_from(bool in, Flow& flow)
    {
        if constexpr (i == 0) {
            std::get<0>(parts).sweep(in, flow);
        } else {
            std::get<i>(parts).sweep(std::get<i - 1>(parts).valid(), flow);
            sweep_from<i - 1>(in, flow);
        }
    }
};

/// A fork and its join: an arithmetic pipeline and the stages that carry beside it what it does not need.
template <class A, class B>
struct Beside {
    A a{};
    B b{};
    bool valid() const { return a.valid() && b.valid(); }
    bool ready(bool out) const { return ready_of(a, out && b.valid()) && ready_of(b, out && a.valid()); }
    void sweep(bool in, Flow& flow)
    {
        const bool a_valid = a.valid(), b_valid = b.valid();
        Flow a_flow{flow.ready && b_valid}, b_flow{flow.ready && a_valid};
        const bool a_ready = ready_of(a, a_flow.ready), b_ready = ready_of(b, b_flow.ready);
        a.sweep(in && b_ready, a_flow);
        b.sweep(in && a_ready, b_flow);
        flow.changed |= a_flow.changed || b_flow.changed;
        flow.ready = a_ready && b_ready;
    }
};

/// One of two parts, chosen while both are empty.
template <class First, class Second>
struct Either {
    bool second = false;
    First a{};
    Second b{};
    bool valid() const { return second ? b.valid() : a.valid(); }
    bool ready(bool out) const { return second ? ready_of(b, out) : ready_of(a, out); }
    void sweep(bool in, Flow& flow)
    {
        if (second) b.sweep(in, flow);
        else a.sweep(in, flow);
    }
};

}  // namespace dlasim::elements
