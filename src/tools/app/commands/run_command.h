// dlasim run: one job through the machine. Exit statuses: interfaces.md 1.
#pragma once
#include <memory>
#include <string>

#include "app/common_options.h"
#include "base/files/json_text.h"
#include "config/descriptor.h"
#include "facts/memory_spec.h"
#include "lowering/memory/layer_contents.h"

namespace dlasim {

struct RunOptions : CommonOptions {
    std::string layer;  // the descriptor's path
    std::uint64_t seed = 0;
    bool has_seed = false, tensors = true;
};

/// Runs what has been read, and writes `out`/result.json and `out`/output.npy.
int run_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options,
            std::shared_ptr<const SharedLayer> shared = nullptr);
/// Says what would run, without running; writes plan.json where a folder is given.
int plan_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options);
/// A layer, as in its file.
int run_layer(const nlohmann::json& json, const RunOptions& options);
/// A layer, or what else the file is that runs on a machine.
int run_command(const RunOptions& options);

}  // namespace dlasim
