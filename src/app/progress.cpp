#include "app/progress.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace dlasim {

Progress::Progress(std::string name, Cycle expected, bool quiet)
    : name_(std::move(name)), expected_(std::max<Cycle>(expected, 1)), on_(!quiet && ::isatty(STDERR_FILENO) != 0)
{
}

Progress::~Progress()
{
    if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(Cycle now)
{
    if (!on_) return;
    const Clock::time_point time = Clock::now();
    if (time < next_) return;
    next_ = time + std::chrono::milliseconds(250);
    shown_ = true;
    const double seconds = std::chrono::duration<double>(time - start_).count(), speed = static_cast<double>(now) / seconds;
    const double part = static_cast<double>(now) / static_cast<double>(expected_);
    // The bound is a lower one: past it, the end cannot be told.
    const std::string end = part < 1 ? fmt::format("at least {:.0f} s left", static_cast<double>(expected_ - now) / speed) : "soon done";
    fmt::print(stderr, "\r\x1b[K{}  cycle {}  {:.0f} % of the lower bound  {:.2f} M cycles/s  {}", name_, now, 100 * part, speed / 1e6, end);
    std::fflush(stderr);
}

}  // namespace dlasim
