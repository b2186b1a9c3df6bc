#include "jobs/job.h"

#include <utility>

#include "lowering/memory/layer_contents.h"

namespace dlasim {

Job job_of(const Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory, bool values,
           std::shared_ptr<const SharedLayer> shared)
{
    if (const Transfer* transfer = std::get_if<Transfer>(&descriptor)) return transfer_job(*transfer, hardware, memory);
    const Layer& layer = std::get<Layer>(descriptor);
    if (!values && !layer.compressed && !layer.data.in_files()) return layer_outline(layer, hardware, memory);
    return layer_job(layer, hardware, memory, std::move(shared));
}

Job outline_of(const Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory)
{
    if (const Transfer* transfer = std::get_if<Transfer>(&descriptor)) return transfer_job(*transfer, hardware, memory);
    return layer_outline(std::get<Layer>(descriptor), hardware, memory);
}

}  // namespace dlasim
