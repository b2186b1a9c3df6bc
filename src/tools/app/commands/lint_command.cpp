#include "app/commands/lint_command.h"

#include "app/commands/run_command.h"
#include "app/status.h"
#include "base/files/console.h"
#include "base/files/printable.h"
#include "lint/lint.h"
#include "replay/rule_report.h"

namespace dlasim {

int lint_command(LintOptions options)
{
    return with_planned(read_program(options), options, [&](const auto& planned) {
        const Workload& workload = planned->workload();
        const RuleReport report = lint::check(workload.hardware, workload.program);
        if (options.json) say("{}\n", rules_json(report).dump(1));
        else if (!options.quiet || report.found != 0)
            say("{} on {}\n{}", printable(planned->name()), printable(workload.hardware.name), rules_text(report));
        return report.found == 0 ? kDone : kMismatch;
    });
}

}  // namespace dlasim
