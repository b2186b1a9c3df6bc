#include "config/layer/geometry_reader.h"

#include "config/descriptor_keys.h"
namespace dlasim {

Extent read_extent(const JsonObject& object, const char* key, const char* onnx, Within range, const char* meaning)
{
    object.not_both(key, onnx);
    if (object.has(onnx)) {
        const auto yx = object.counts(onnx, 2, range, meaning);
        return {yx[1], yx[0]};
    }
    if (!object.has(key)) return {};
    const JsonObject extent = object.object(key, keys::kExtent);
    return {extent.count("x", range, meaning, 1), extent.count("y", range, meaning, 1)};
}

Sides read_sides(const JsonObject& object, Within near, Within far, const std::function<void(const JsonObject& pad)>& value)
{
    object.not_both("pad", "pads");
    if (object.has("pads")) {
        const auto tlbr = object.counts("pads", 4, near, "top, left, bottom, right");
        return {.left = tlbr[1], .right = tlbr[3], .top = tlbr[0], .bottom = tlbr[2]};
    }
    if (!object.has("pad")) return {};
    const JsonObject pad = object.object("pad", keys::kPad);
    Sides sides;
    sides.left = pad.count("left", near, "padding", 0);
    sides.right = pad.count("right", far, "padding", 0);
    sides.top = pad.count("top", near, "padding", 0);
    sides.bottom = pad.count("bottom", far, "padding", 0);
    value(pad);
    return sides;
}

}  // namespace dlasim
