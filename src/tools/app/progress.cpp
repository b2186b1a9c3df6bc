#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/files/printable.h"
#include "base/files/terminal.h"

namespace dlasim {

Progress::Progress(const std::string& name, const char* unit, std::uint64_t work, std::vector<std::string> steps, bool quiet)
    : name_(printable(name)),
      unit_(unit),
      work_(std::max<std::uint64_t>(work, 1)),
      steps_(std::move(steps)),
      on_(!quiet && ::isatty(STDERR_FILENO) != 0)
{
}

Progress::~Progress()
{
    if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(Cycle now, std::uint64_t done, std::size_t stamps)
{
    if (!on_) return;
    const Clock::time_point time = Clock::now();
    if (time < next_) return;
    next_ = time + std::chrono::milliseconds(250);
    shown_ = true;
    const double seconds = std::chrono::duration<double>(time - start_).count();
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(work_));
    const std::string end = part > 0.01 ? fmt::format("about {:.0f} s left", seconds / part - seconds) : "loading";
    std::string step;
    if (stamps != 0 && stamps <= steps_.size())
        step = fmt::format("  step {} of {} {}", stamps, steps_.size(), printable(steps_[stamps - 1]));
    const std::string line = fmt::format("{}{}  {:.0f} % of {}  {}  {:.2f} M cycles/s  cycle {}", name_, step, 100 * part, unit_, end,
                                         static_cast<double>(now) / seconds / 1e6, grouped(now));
    // A terminal that has gone away is no reason to stop. What does not fit would stay on the line above.
    std::fputs(("\r\x1b[K" + line.substr(0, std::max<std::size_t>(terminal_columns(STDERR_FILENO), 2) - 1)).c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace dlasim
