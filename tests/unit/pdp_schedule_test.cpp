#include <gtest/gtest.h>

#include "facts/presets.h"
#include "units/pdp/schedule.h"

namespace dlasim::pdp {
namespace pdp_schedule_test {

LayerConfig window(std::uint32_t length, std::uint32_t kernel, std::uint32_t stride, std::uint32_t before)
{
    LayerConfig layer;
    layer.width = layer.height = length;
    layer.in = layer.out = {1, length, length, length};
    layer.surfaces = 2;
    layer.pool.kernel_width = layer.pool.kernel_height = kernel;
    layer.stride_x = layer.stride_y = stride;
    layer.pad_left = layer.pad_top = before;
    return layer;
}

/// Outputs of every line or surface, so many inputs long.
template <class Schedule>
std::vector<unsigned> outputs(Schedule schedule, unsigned inputs)
{
    std::vector<unsigned> counts;
    for (unsigned taken = 0; schedule.more(); schedule.next()) {
        if (taken % inputs == 0 && schedule.takes_input()) counts.push_back(0);
        taken += schedule.takes_input();
        counts.back() += schedule.gives_output();
    }
    return counts;
}

/// Programs without sense too: every line is like the first.
TEST(PdpSchedule, APaddingAsWideAsTheWindowIsCarriedNowhere)
{
    const facts::pdp::Facts silicon = facts::pdp::of(*find_preset("nv_small"));
    for (std::uint32_t kernel = 1; kernel <= 7; ++kernel)
        for (std::uint32_t stride = 1; stride <= 8; ++stride) {
            const LayerConfig layer = window(12, kernel, stride, kernel);
            HorizontalSchedule lines(silicon);
            lines.start(layer);
            const std::vector<unsigned> of_lines = outputs(lines, layer.width * silicon.beats);
            ASSERT_EQ(of_lines, std::vector<unsigned>(24, of_lines[0])) << kernel << " " << stride;
            VerticalSchedule surfaces(silicon);
            surfaces.start(layer);
            const std::vector<unsigned> of_surfaces = outputs(surfaces, layer.height * layer.width * silicon.beats);
            ASSERT_EQ(of_surfaces, std::vector<unsigned>(2, of_surfaces[0])) << kernel << " " << stride;
        }
}

}  // namespace pdp_schedule_test
}  // namespace dlasim::pdp
