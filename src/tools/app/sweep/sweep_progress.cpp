#include "app/sweep/sweep_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "app/status.h"
#include "app/sweep/sweep_row.h"
#include "base/files/console.h"

namespace dlasim {

void Tally::add(int status)
{
    ++ended;
    results += has_result(status);
    differ += status == kMismatch;
    refused += status == kBadInput;
    no_memory += status == kNoMemory;
    broke += status >= kMachineBroke && status != kNoMemory;
}

int Tally::status() const
{
    if (broke != 0) return kMachineBroke;
    if (differ != 0) return kMismatch;
    if (results == 0 || no_memory != 0) return kBadInput;
    return refused != 0 ? kPointsRefused : kDone;
}

std::string Tally::text(std::size_t points) const
{
    std::string text = fmt::format("{} point{}: {} with a result", points, points == 1 ? "" : "s", results);
    if (differ != 0) text += fmt::format(", {} of them with wrong values", differ);
    if (refused != 0) text += fmt::format(", {} rejected", refused);
    if (no_memory != 0) text += fmt::format(", {} without memory (--resume runs {} again)", no_memory, no_memory == 1 ? "it" : "them");
    if (broke != 0) text += fmt::format(", {} hung or killed", broke);
    return text;
}

SweepProgress::SweepProgress(std::size_t points, std::size_t before, bool quiet)
    : points_(points), before_(before), quiet_(quiet), terminal_(!quiet && ::isatty(STDERR_FILENO) != 0)
{
}

void SweepProgress::point(const KeptPoint& kept, std::size_t done)
{
    if (quiet_) return;
    wipe();
    const std::string what = kept.status == kDone ? fmt::format("{} cycles", grouped(kept.row["cycles"].get<std::uint64_t>()))
                                                  : printable(kept.row["reason"].get<std::string>());
    const std::string left = done < points_ ? "   " + left_text(done) : "";
    say("{:>4} of {}  point {:<4} {}{}\n", done, points_, kept.point, what, terminal_ ? "" : left);
    std::fflush(stdout);  // whoever follows a log sees it now
    if (!terminal_ || done == points_) return;
    say_error("{} of {} points,{}", done, points_, left);
    shown_ = true;
}

std::string SweepProgress::left_text(std::size_t done) const
{
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double left = seconds / static_cast<double>(done - before_) * static_cast<double>(points_ - done);
    const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(left);
    std::tm local = {};
    ::localtime_r(&end, &local);
    const std::string duration = left < 100 ? fmt::format("{:.0f} s", left) : fmt::format("{:.0f} min", left / 60);
    return fmt::format("about {} left, until {:02}:{:02}", duration, local.tm_hour, local.tm_min);
}

void SweepProgress::wipe()
{
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
}

}  // namespace dlasim
