#include "app/outcome.h"

#include "files/console.h"
#include "files/printable.h"

namespace dlasim {

void say_outcome(const std::string& table, const OutputFolder& folder)
{
    say("{}\n  written      {}\n", table, printable((folder.path() / "result.json").string()));
}

}  // namespace dlasim
