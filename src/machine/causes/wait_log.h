// What every unit waited for, or that it set its own pace: the causes of a run's cycles are found in these logs (critical_path.h).
//
//   unit ── note(from, works or waits for ..) ──► WaitLog of its wait point: the changes in order of time
//
// A wait point is a node of the backward analysis from the last interrupt. Its record of a cycle answers one question: why did
// this not happen earlier? A unit that takes what comes as it comes waits for whoever sends it, also in the cycles in which it
// takes something; it sets the pace itself when something waits in front of it. Notes are made where units change state, so a
// unit that sleeps pays nothing, and skipped cycles leave the same log as stepped ones.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cause.h"
#include "base/cycle.h"
#include "facts/client.h"

namespace dlasim {

/// Nodes of the backward analysis. The last ones are families with a node for every memory client, by AXI id.
enum class WaitPoint : std::uint8_t {
    Software,
    Pin,  // of the interrupt
    CdmaData,
    CdmaWeight,
    Csc,
    Cacc,
    Sdp,
    Pdp,
    Cdp,
    Bdma,
    Rubik,
    SdpDone,  // their interrupts
    PdpDone,
    CdpDone,
    BdmaDone,
    RubikDone,
    Ask,                            // read requests of a client: why not earlier
    Read = Ask + kClients,          // answers to them
    Turn = Read + kClients,         // the memory interface takes a read request
    Room = Turn + kClients,         // it takes what a write client sends
    Answer = Room + kWriteClients,  // the answer to a write
};
inline constexpr std::size_t kWaitPoints = static_cast<std::size_t>(WaitPoint::Answer) + kWriteClients;

/// Software, the pin and the units come first.
inline constexpr auto kSenders = static_cast<std::size_t>(WaitPoint::SdpDone);

/// The nodes of a unit and of its interrupt, by its name on the register bus or that of its memory client.
struct UnitPoints {
    std::string_view unit;
    WaitPoint works, done;
};
inline constexpr UnitPoints kUnitPoints[] = {{"CDMA_DAT", WaitPoint::CdmaData, WaitPoint::CdmaData},
                                             {"CDMA_WT", WaitPoint::CdmaWeight, WaitPoint::CdmaWeight},
                                             {"CSC", WaitPoint::Csc, WaitPoint::Csc},
                                             {"CACC", WaitPoint::Cacc, WaitPoint::Cacc},
                                             {"SDP", WaitPoint::Sdp, WaitPoint::SdpDone},
                                             {"PDP", WaitPoint::Pdp, WaitPoint::PdpDone},
                                             {"CDP", WaitPoint::Cdp, WaitPoint::CdpDone},
                                             {"BDMA", WaitPoint::Bdma, WaitPoint::BdmaDone},
                                             {"RBK", WaitPoint::Rubik, WaitPoint::RubikDone}};
/// Null: nothing waits for this unit.
constexpr const UnitPoints* find_points(std::string_view unit)
{
    for (const UnitPoints& points : kUnitPoints)
        if (points.unit == unit) return &points;
    return nullptr;
}

/// A place of a family.
constexpr WaitPoint of_client(WaitPoint family, unsigned client) { return static_cast<WaitPoint>(static_cast<unsigned>(family) + client); }

class WaitLog {
public:
    /// What a place says.
    struct Note {
        Cause cause = Cause::StartUp;
        WaitPoint next = WaitPoint::Software;  // the place itself: it sets the pace
        bool event = false;                    // of cycle `from` alone; what is later than that waits for nobody
        bool idle = false;                     // it has nothing to do; what it did last may still be on its way
        std::uint32_t lag = 0;                 // cycles from there to here: spent on `cause`

        bool same(const Note& other) const { return std::bit_cast<std::uint64_t>(*this) == std::bit_cast<std::uint64_t>(other); }
    };
    /// It holds from cycle `from` on, until the next one.
    struct Segment : Note {
        Cycle from = 0;
    };

    explicit WaitLog(WaitPoint place = WaitPoint::Software) : place_(place)
    {
        const bool interrupt = place == WaitPoint::Pin || (place >= WaitPoint::SdpDone && place < WaitPoint::Ask);
        segments_.push_back({{.next = interrupt ? place : WaitPoint::Software}, 0});
    }

    /// From cycle `from` on it sets its own pace.
    [[gnu::always_inline]] void works(Cycle from, Cause cause) { note(from, {cause, place_, false, false, 0}); }
    /// Its last record is that it does.
    bool works_on(Cause cause) const { return segments_.back().next == place_ && segments_.back().cause == cause; }
    /// It waits for another place: for what happened there `lag` cycles before. `cause`: what the lag is spent on.
    [[gnu::always_inline]] void waits(Cycle from, WaitPoint next, Cause cause, Cycle lag = 0)
    {
        note(from, {cause, next, false, false, static_cast<std::uint32_t>(lag)});
    }
    /// It has nothing to do until software writes a register, `lag` cycles before it begins.
    void idles(Cycle from, Cycle lag)
    {
        note(from, {Cause::Programming, WaitPoint::Software, false, true, static_cast<std::uint32_t>(lag)});
    }
    /// What happens in cycle `at` waited for what happened at another place `lag` cycles before.
    void event(Cycle at, WaitPoint next, Cause cause, Cycle lag)
    {
        change(at, {cause, next, true, false, static_cast<std::uint32_t>(lag)});
    }

    /// In order of time; the first one holds before its cycle, too.
    const std::vector<Segment>& segments() const { return segments_; }
    /// Forgets what no cycle from `from` on needs.
    void forget(Cycle from)
    {
        std::size_t keep = 0;
        while (keep + 1 < segments_.size() && segments_[keep + 1].from <= from) ++keep;
        segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(keep));
    }

private:
    /// Most notes say what is known.
    [[gnu::always_inline]] void note(Cycle from, Note now)
    {
        if (segments_.back().from >= from || !segments_.back().same(now)) change(from, now);
    }
    /// Most changes are later than all before, or of the cycle of the last one: they are appended.
    [[gnu::noinline]] void change(Cycle from, Note now)
    {
        Segment& last = segments_.back();
        if (last.from < from && segments_.size() != segments_.capacity()) {
            if (now.event || !last.same(now)) segments_.push_back({now, from});
        } else if (last.from == from && segments_.size() > 1 && (&last - 1)->from < from) {
            if (now.event || !(&last - 1)->same(now)) last = {now, from};
            else segments_.pop_back();
        } else {
            replace(from, now);
        }
    }
    /// Replaces the records of `from` and later.
    [[gnu::cold, gnu::noinline]] void replace(Cycle from, Note now)
    {
        while (segments_.size() > 1 && segments_.back().from >= from) segments_.pop_back();
        const Segment& last = segments_.back();
        if (last.same(now) && !now.event) return;
        if (last.from > from || (last.from == from && from != 0)) segments_.pop_back();
        segments_.push_back({now, from});
    }

    WaitPoint place_;
    std::vector<Segment> segments_;
};

/// One for every place.
class WaitLogs {
public:
    WaitLogs()
    {
        for (std::size_t i = 0; i < kWaitPoints; ++i) logs_[i] = WaitLog(static_cast<WaitPoint>(i));
    }
    WaitLog& operator[](WaitPoint place) { return logs_[static_cast<std::size_t>(place)]; }
    const WaitLog& operator[](WaitPoint place) const { return logs_[static_cast<std::size_t>(place)]; }

private:
    std::array<WaitLog, kWaitPoints> logs_;
};

}  // namespace dlasim
