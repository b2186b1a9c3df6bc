// dlasim replay: runs a recorded register program - a measured case or a public NVDLA trace - through the machine, and compares what the
// recording says of memory and registers. Exit statuses as of `run`.
#pragma once
#include "app/common_options.h"
#include "replay/recording.h"

namespace dlasim {

/// An empty `hardware` or `memory`: that of the recording; of a trace nv_small or nv_full, and ideal memory. An empty `out`: no
/// result.json.
struct ReplayOptions : CommonOptions {
    ReplayOptions() { hardware = memory = out = ""; }
    std::string program;  // case, trace file or trace folder
    bool describe = false;
};

/// Reads the recording of a file or folder; an empty `hardware` or `memory`: its own.
MeasuredCase read_recording(const std::string& program, const std::string& hardware, const std::string& memory);
int replay_command(const ReplayOptions& options);

}  // namespace dlasim
