#include "config/geometry_reader.h"

#include "config/descriptor_keys.h"
namespace dlasim {
namespace {
std::uint32_t whole(std::int64_t value) { return static_cast<std::uint32_t>(value); }
}  // namespace

Extent read_extent(const JsonObject& object, const char* key, const char* onnx, Within range, const char* meaning)
{
    object.not_both(key, onnx);
    if (object.has(onnx)) {
        const auto yx = object.integers(onnx, 2, range, meaning);
        return {whole(yx[1]), whole(yx[0])};
    }
    if (!object.has(key)) return {};
    const JsonObject extent = object.object(key, keys::kExtent);
    return {whole(extent.integer("x", range, meaning, 1)), whole(extent.integer("y", range, meaning, 1))};
}

Sides read_sides(const JsonObject& object, Within near, Within far, const std::function<void(const JsonObject& pad)>& value)
{
    object.not_both("pad", "pads");
    if (object.has("pads")) {
        const auto tlbr = object.integers("pads", 4, near, "top, left, bottom, right");
        return {.left = whole(tlbr[1]), .right = whole(tlbr[3]), .top = whole(tlbr[0]), .bottom = whole(tlbr[2])};
    }
    if (!object.has("pad")) return {};
    const JsonObject pad = object.object("pad", keys::kPad);
    Sides sides;
    sides.left = whole(pad.integer("left", near, "padding", 0));
    sides.right = whole(pad.integer("right", far, "padding", 0));
    sides.top = whole(pad.integer("top", near, "padding", 0));
    sides.bottom = whole(pad.integer("bottom", far, "padding", 0));
    value(pad);
    return sides;
}

}  // namespace dlasim
