#include "replay/recording.h"

namespace dlasim {

Workload workload_of(const MeasuredCase& recorded, const std::string& file)
{
    const Recording& recording = recorded.recording;
    Workload workload;
    workload.name = recording.name;
    workload.hardware = recorded.hardware;
    workload.memory = recorded.memory;
    workload.program = recording.program;
    workload.one_memory = recording.one_memory;
    workload.flushed = recording.flushed;
    for (const OutputRegion& region : recording.outputs) workload.ranges.push_back({file, region.place, region.bytes});
    for (const MemoryImage& image : recording.images) workload.ranges.push_back({file, image.place, image.bytes.size()});
    return workload;
}

}  // namespace dlasim
