#include "app/outcome.h"

#include <ctime>

#include "files/console.h"
#include "files/printable.h"

namespace dlasim {

void say_outcome(const std::string& table, const OutputFolder& folder)
{
    say("{}\n  written      {}\n", table, printable((folder.path() / "result.json").string()));
}

void say_cpu_seconds(double simulation)
{
    say_error("CPU seconds: {:.6f} in all, {:.6f} in the simulation\n", static_cast<double>(std::clock()) / CLOCKS_PER_SEC, simulation);
}

}  // namespace dlasim
