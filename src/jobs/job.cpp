#include "jobs/job.h"

#include <utility>

#include "lowering/memory/layer_contents.h"
#include "lowering/plan.h"

namespace dlasim {

Job job_of(const Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory, std::shared_ptr<const SharedLayer> shared)
{
    if (const Transfer* transfer = std::get_if<Transfer>(&descriptor)) return transfer_job(*transfer, hardware, memory);
    const Layer& layer = std::get<Layer>(descriptor);
    if (shared) return layer_job(layer, hardware, memory, std::move(shared));
    plan_that_fits(layer, hardware);  // what cannot be placed is refused before its tensors take memory
    return layer_job(layer, hardware, memory, load_tensors(layer));
}

Job outline_of(const Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory)
{
    if (const Transfer* transfer = std::get_if<Transfer>(&descriptor)) return transfer_job(*transfer, hardware, memory);
    return layer_outline(std::get<Layer>(descriptor), hardware, memory);
}

}  // namespace dlasim
