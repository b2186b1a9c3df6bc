// dlasim run, net, loadable and replay: anything that runs, through the machine. The four differ in the options that they show.
#pragma once
#include <string>

#include "app/run_options.h"

namespace dlasim {

/// Refuses options that mean nothing for this kind of work.
void refuse_options(const AnyWork& work, const PlanOptions& options);
/// The file that the options name, with the planners of the command line set in them.
Source read_program(PlanOptions& options);

/// What has been read, or a point of a sweep.
int run_source(const Source& source, RunOptions options);
/// What the options name.
int run_command(const RunOptions& options);

}  // namespace dlasim
