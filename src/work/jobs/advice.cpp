#include "jobs/advice.h"

#include <fmt/format.h>

#include "base/error.h"
#include "jobs/bounds.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMaxComponents = 4;
constexpr std::uint64_t kWorthwhile = 2;  // times as fast

const PixelFormat* format_for(const Layer& layer)
{
    const bool one = layer.channels == 1;
    switch (layer.precision) {
        case Precision::Int8:
            return find_pixel_format(one ? "T_R8" : "T_A8B8G8R8");
        case Precision::Int16:
            return find_pixel_format(one ? "T_R16" : "T_A16B16G16R16");
        case Precision::Fp16:
            return find_pixel_format(one ? "T_R16_F" : "T_A16B16G16R16_F");
    }
    return nullptr;
}

}  // namespace

std::vector<std::string> advice_on(const LayerPlan& plan, const Layer& layer, const Hardware& hardware, const MemorySpec& memory)
{
    const bool features = !layer.image() && layer.mode == Mode::Auto && layer.op == Op::Convolution && layer.channels <= kMaxComponents &&
                          layer.groups == 1 && layer.batch == 1 && !layer.conversion.on && !layer.flush_nan;
    if (!features) return {};
    Layer pixels = layer;
    pixels.format = format_for(layer);
    pixels.channels = pixels.format->components;
    std::uint64_t there = 0;
    try {
        there = largest(lower_bounds(plan_that_fits(pixels, hardware), pixels, hardware, memory));
    } catch (const ConfigError&) {
        return {};  // this machine cannot take it as pixels
    }
    const std::uint64_t here = largest(lower_bounds(plan, layer, hardware, memory));
    if (here < kWorthwhile * there) return {};
    const std::string filled =
        layer.channels == pixels.channels ? "" : fmt::format(", {} components with weights 0 for missing channels", pixels.channels);
    return {
        fmt::format("{} {} of feature data {} {} of the array's {} lanes: at least {} cycles. As pixels (\"input\": {{\"format\": "
                    "\"{}\"}}{}) it would be at least {}",
                    layer.channels, layer.channels == 1 ? "channel" : "channels", layer.channels == 1 ? "fills" : "fill", layer.channels,
                    hardware.mac.atomic_c, here, pixels.format->name, filled, there)};
}

}  // namespace dlasim
