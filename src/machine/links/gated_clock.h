// The gated clocks of a unit, declared among its counters (base/counters.h): the cycles in which each domain ran, and the
// idle runs of the unit, in which none did.
//
//   on(at, domains ..)   off(at, domains ..)     ahead of time, too
//        │                                ┌───► UnitReport: cycles by domain, idle runs by length
//        └──► GatedClocks<SdpCounters> ───┴───► probes, if events are recorded: clock_on_sdp_bs
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/counters.h"
#include "base/cycle.h"
#include "links/probe_set.h"

namespace dlasim {

class GatedClock {
public:
    void on(Cycle at)
    {
        if (probe) probe->level(at, true);
        if (!running_ || at > off_) {
            if (running_) total_ += off_ - on_;
            on_ = at;
        }
        running_ = true;
        off_ = kNever;
    }
    void off(Cycle at)
    {
        if (!running_ || off_ != kNever) return;
        off_ = at;
        if (probe) probe->level(at, false);
    }
    Cycle cycles(Cycle end) const { return total_ + (running_ ? std::min(off_, end) - std::min(on_, end) : 0); }
    /// The last run ends before this cycle: kNever while it runs, 0 if it never ran.
    Cycle until() const { return running_ ? off_ : 0; }

    Probe* probe = nullptr;

private:
    bool running_ = false;
    Cycle on_ = 0, off_ = kNever, total_ = 0;
};

/// Idle runs that have ended, by the powers of two between which their lengths are.
class IdleRuns {
public:
    struct Class {
        std::uint64_t runs = 0;
        Cycle cycles = 0;  // of all these runs
        bool operator==(const Class&) const = default;
    };
    void add(Cycle length)
    {
        const std::size_t place = std::bit_width(length) - 1u;
        if (classes_.size() <= place) classes_.resize(place + 1);
        ++classes_[place].runs;
        classes_[place].cycles += length;
    }
    IdleRuns since(const IdleRuns& before) const
    {
        IdleRuns left = *this;
        for (std::size_t i = 0; i < before.classes_.size(); ++i) {
            left.classes_[i].runs -= before.classes_[i].runs;
            left.classes_[i].cycles -= before.classes_[i].cycles;
        }
        return left;
    }
    /// [i]: lengths from 2^i to 2^(i + 1) - 1.
    const std::vector<Class>& classes() const { return classes_; }
    bool operator==(const IdleRuns&) const = default;

private:
    std::vector<Class> classes_;
};

template <class Counters>
class GatedClocks {
public:
    /// `all`: domains whose counters are optional are there.
    explicit GatedClocks(bool all = true) : all_(all) {}

    template <class... Members>
    void on(Cycle at, Members Counters::*... domains)
    {
        Cycle until = 0;
        for (const GatedClock& clock : clocks_) until = std::max(until, clock.until());
        if (until != 0 && until < at) idle_.add(at - until);
        (clock(domains).on(at), ...);
    }
    /// All domains, if none is named.
    template <class... Members>
    void off(Cycle at, Members Counters::*... domains)
    {
        if constexpr (sizeof...(domains) != 0) (clock(domains).off(at), ...);
        else
            for (GatedClock& clock : clocks_) clock.off(at);
    }

    /// Fills in the cycles before `end`.
    void count(Counters& counters, Cycle end) const
    {
        for (std::size_t i = 0; i < clocks_.size(); ++i)
            std::visit(
                [&](auto place) {
                    using Value = std::remove_cvref_t<decltype(counters.*place)>;
                    if constexpr (!std::is_same_v<Value, std::vector<std::uint64_t>>)
                        if (all_ || std::is_same_v<Value, std::uint64_t>) counters.*place = clocks_[i].cycles(end);
                },
                rows_[i].place);
    }
    const IdleRuns& idle() const { return idle_; }
    void attach(ProbeSet& probes, const std::string& unit)
    {
        for (std::size_t i = 0; i < clocks_.size(); ++i)
            if (all_ || !std::holds_alternative<std::optional<std::uint64_t> Counters::*>(rows_[i].place))
                clocks_[i].probe = probes.get("clock_on_" + unit + "_" + std::string(rows_[i].row.name));
    }

private:
    static constexpr bool is_clock(const Counter<Counters>& counter) { return counter.row.kind == CounterKind::Clock; }
    static constexpr std::size_t kDomains = std::ranges::count_if(counters<Counters>, is_clock);
    static constexpr auto rows_ = [] {
        std::array<Counter<Counters>, kDomains> rows = {};
        std::ranges::copy_if(counters<Counters>, rows.begin(), is_clock);
        return rows;
    }();
    template <class Member>
    GatedClock& clock(Member Counters::*domain)
    {
        std::size_t i = 0;
        while (rows_[i].place != CounterPlace<Counters>(domain)) ++i;
        return clocks_[i];
    }

    bool all_;
    std::array<GatedClock, kDomains> clocks_;
    IdleRuns idle_;
};

}  // namespace dlasim
