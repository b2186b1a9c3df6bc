#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "files/printable.h"

namespace dlasim {

Progress::Progress(std::string name, const char* unit, std::uint64_t work, bool quiet)
    : name_(printable(name)), unit_(unit), work_(std::max<std::uint64_t>(work, 1)), on_(!quiet && ::isatty(STDERR_FILENO) != 0)
{
}

Progress::~Progress()
{
    if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(Cycle now, std::uint64_t done)
{
    if (!on_) return;
    const Clock::time_point time = Clock::now();
    if (time < next_) return;
    next_ = time + std::chrono::milliseconds(250);
    shown_ = true;
    const double seconds = std::chrono::duration<double>(time - start_).count();
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(work_));
    const std::string end = part > 0.01 ? fmt::format("about {:.0f} s left", seconds / part - seconds) : "loading";
    const std::string line = fmt::format("\r\x1b[K{}  cycle {}  {:.0f} % of {}  {:.2f} M cycles/s  {}", name_, now, 100 * part, unit_,
                                         static_cast<double>(now) / seconds / 1e6, end);
    std::fputs(line.c_str(), stderr);  // a terminal that has gone away is no reason to stop
    std::fflush(stderr);
}

}  // namespace dlasim
