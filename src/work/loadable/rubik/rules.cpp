#include <fmt/format.h>

#include "loadable/nvidia/check/checked_task.h"

namespace dlasim::loadable {

void check_operation(CheckedTask& t, std::size_t i, const RubikOperation& o)
{
    constexpr std::uint32_t kPlaneStep = 32;
    if (o.mode > kMerge) t.refuse("rubik", i, fmt::format("has mode {}, expected 0 to 2", o.mode));
    if (o.source.on_the_fly() || o.destination.on_the_fly()) t.refuse("rubik", i, "reads or writes on the fly, expected memory");
    if (o.mode == kMerge && (o.source.plane_stride == 0 || o.source.plane_stride % kPlaneStep != 0))
        t.refuse(
            "rubik", i,
            fmt::format("has a plane stride of {}, expected a multiple of {}: the driver refuses it", o.source.plane_stride, kPlaneStep));
}

}  // namespace dlasim::loadable
