#include "app/nvdla/driver_files.h"
#include "app/nvdla/driver_manifest.h"
#include "base/error.h"
#include "loadable/write/container_bytes.h"

namespace dlasim {
namespace {

std::vector<loadable::BoundTensor> bound_tensors(const loadable::LoadablePlan& plan)
{
    std::vector<loadable::BoundTensor> bound;
    for (const auto flag : {loadable::MemoryEntry::Input, loadable::MemoryEntry::Output})
        for (const std::size_t m : plan.loadable->bound(flag)) {
            const loadable::MemoryEntry& memory = plan.loadable->memories[m];
            bound.push_back(
                {flag == loadable::MemoryEntry::Output, plan.memories->base(m), memory.size, plan.loadable->tensors[memory.tensor]});
        }
    return bound;
}

}  // namespace

DriverFiles driver_files(const loadable::LoadablePlan& plan, const std::string& name)
{
    const loadable::Loadable& from = *plan.loadable;
    DriverFiles files;
    files.files.push_back(loadable::loadable_bytes(from));
    if (!loadable::parse_loadable(files.files.front(), from.file).same_content(from))
        throw ConfigError(from.file, "has lists that change when written and read again, expected those of NVIDIA's compiler");
    for (const loadable::HardwareTask& task : plan.tasks) files.operations += task.operations.size();
    const std::vector<loadable::BoundTensor> bound = bound_tensors(plan);
    files.manifest = tensors_manifest(plan.hardware, name, bound);
    return files;
}

}  // namespace dlasim
