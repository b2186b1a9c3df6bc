#include "app/sweep/point_run.h"

#include "app/commands/loadable_command.h"
#include "app/commands/net_command.h"
#include "app/commands/run_command.h"

namespace dlasim {
namespace {

template <class Options>
Options options_of(const SweepPoint& point, const PointRun& how)
{
    Options options;
    options.host_ns = point.host_ns;
    options.out = how.folder;
    options.quiet = true;
    options.timing_only = how.timing_only;
    options.causes = how.causes;
    options.report = true;
    options.page = how.page;
    options.sync = Sync::Later;
    options.on_result = how.on_result;
    options.silicon = std::shared_ptr<const silicon::Technology>(std::shared_ptr<void>(), how.technology);
    return options;
}

}  // namespace

int run_point(const SweepPoint& point, const PointRun& how)
{
    if (const LoadableWork* file = std::get_if<LoadableWork>(&point.work)) {
        LoadableOptions run = options_of<LoadableOptions>(point, how);
        run.tensors = false;
        return run_loadable(plan_of(*file, point.hardware, point.memory), run);
    }
    if (const Descriptor* layer = std::get_if<Descriptor>(&point.work)) {
        RunOptions run = options_of<RunOptions>(point, how);
        run.tensors = false;
        return run_job(*layer, point.hardware, point.memory, run, how.shared);
    }
    NetOptions run = options_of<NetOptions>(point, how);
    run.output = false;
    if (const OnnxWork* model = std::get_if<OnnxWork>(&point.work))
        return run_model(point.hardware, point.memory, model_options(*model, run));
    return run_network(std::get<Network>(point.work), point.hardware, point.memory, run);
}

}  // namespace dlasim
