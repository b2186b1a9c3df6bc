#include "app/commands/compare_command.h"

#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "compare/comparison.h"

namespace dlasim {

int compare_command(const CompareOptions& options)
{
    const RunComparison comparison = compare_runs(read_recorded_run(options.a), read_recorded_run(options.b));
    if (options.tolerance && !comparison.same_work()) {
        const FactChange& first = comparison.work.front();
        throw ConfigError(comparison.b.file, "found " + printable(first.path) + " " + json_excerpt(first.b) + ", expected " +
                                                 json_excerpt(first.a) + " as in " + printable(comparison.a.file) +
                                                 ": with --tolerance both do the same work");
    }
    if (options.json)
        say("{}\n", comparison_json(comparison, options.tolerance).dump(2, ' ', true));  // ASCII: say() shows controls as \\xNN
    else say("{}", comparison_text(comparison, options.tolerance));
    return !options.tolerance || comparison.within(*options.tolerance) ? kDone : kMismatch;
}

}  // namespace dlasim
