#include "replay/simulation_time.h"

#include <fmt/format.h>

#include <ctime>

#include "base/files/console.h"
#include "base/files/printable.h"

namespace dlasim {

std::string simulation_text(const RunResult& run)
{
    if (run.wall_seconds == 0) return "";
    return fmt::format("  simulation   {:.2f} s, {} cycles/s\n", run.wall_seconds,
                       grouped(static_cast<std::uint64_t>(cycles_per_second(run))));
}

void say_cpu_seconds(const RunResult& run)
{
    say_error("CPU seconds: {:.6f} in all, {:.6f} in the simulation\n", static_cast<double>(std::clock()) / CLOCKS_PER_SEC,
              run.cpu_seconds);
}

}  // namespace dlasim
