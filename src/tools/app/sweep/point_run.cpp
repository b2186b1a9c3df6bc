#include "app/sweep/point_run.h"

#include "app/commands/run_command.h"

namespace dlasim {

int run_point(const SweepPoint& point, const PointRun& how)
{
    RunOptions options;
    options.out = how.folder;
    options.quiet = options.report = true;
    options.values = !how.timing_only;
    options.causes = how.causes;
    options.page = how.page;
    options.output = false;
    options.shared = how.shared;
    options.sync = Sync::Later;
    options.on_result = how.on_result;
    options.silicon = std::shared_ptr<const silicon::Technology>(std::shared_ptr<void>(), how.technology);
    return run_source(point, std::move(options));
}

}  // namespace dlasim
