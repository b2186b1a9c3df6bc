// Runs a point, whatever it is: a layer, a network, a model or a file of the compiler.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/files/json_text.h"
#include "config/sweep/sweep.h"
#include "lowering/memory/layer_contents.h"
#include "silicon/technology.h"

namespace dlasim {

/// How. Nothing is printed; files of a point can be made again, so none waits for the disk.
struct PointRun {
    std::string folder;
    bool timing_only = false, causes = true, page = false;
    const silicon::Technology* technology = nullptr;  // outlives the run
    std::function<void(const nlohmann::ordered_json&)> on_result;
    std::shared_ptr<const SharedLayer> shared = nullptr;
};

/// Exit status, as of the command that runs it alone.
int run_point(const SweepPoint& point, const PointRun& how);

}  // namespace dlasim
