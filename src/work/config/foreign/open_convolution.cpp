#include "config/foreign/open_convolution.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/files/config_errors.h"
#include "config/descriptor_keys.h"
#include "config/network_reader.h"
#include "config/warning.h"

namespace dlasim {
namespace {

using Axis = OpenConvolution::Axis;

constexpr std::uint64_t kMaxLayerSide = keys::kMaxSide, kMaxForeignSize = 1 << 26;
constexpr std::uint64_t kMaxKernelSide = keys::kKernel[0].high, kMaxLayerStride = keys::kMaxKernelStride,
                        kMaxLayerDilation = keys::kMaxDilation;

std::uint64_t tiles(std::uint64_t size, std::uint64_t most) { return (size + most - 1) / most; }

/// The other elements of the kernel are multiplied with other elements of the input: they are channels.
void connect(Axis& axis, std::uint64_t& channels)
{
    if (axis.extent() != axis.input) return;
    axis.stride = 1;  // there is one output position
    if (axis.kernel <= kMaxKernelSide || axis.dilation != 1) return;
    channels = std::min(channels * axis.kernel, kMaxForeignSize);  // far beyond what any window takes
    axis = {};
}

/// Each of `count` inputs in a row, or none if no stride of a kernel steps over them.
std::uint64_t most_in_window(const Axis& axis)
{
    if (axis.kernel != 1 || axis.stride != 1) return 1;
    return axis.input == 1 ? kMaxKernelSide : std::min(kMaxLayerStride, kMaxLayerSide / axis.input);
}

void widen(Axis& axis, std::uint64_t times)
{
    if (times == 1) return;
    axis = {.input = axis.input * times, .kernel = times, .stride = axis.input == 1 ? 1 : times, .dilation = 1};
}

/// Channels beyond a layer's, spread over a window: the fewest that fill it up, in the smallest window.
void spread_channels(OpenConvolution& c, const std::string& where)
{
    std::uint64_t best_x = 0, best_y = 0, best_fill = UINT64_MAX;
    for (std::uint64_t y = 1; y <= most_in_window(c.y); ++y)
        for (std::uint64_t x = 1; x <= most_in_window(c.x); ++x) {
            const std::uint64_t fill = tiles(c.channels, x * y) * x * y - c.channels;
            if (c.channels + fill > kMaxLayerSide * x * y || std::pair(fill, x * y) >= std::pair(best_fill, best_x * best_y)) continue;
            best_x = x, best_y = y, best_fill = fill;
        }
    if (best_x == 0) return;  // they stay beyond the range
    if (best_fill != 0)
        warn(where + ": " + std::to_string(c.channels) + " channels are computed as " + std::to_string(best_x * best_y) + " x " +
             std::to_string((c.channels + best_fill) / (best_x * best_y)) + ", " + std::to_string(best_fill) + " more");
    widen(c.x, best_x);
    widen(c.y, best_y);
    c.channels = (c.channels + best_fill) / (best_x * best_y);
}

/// Planes of that many positions, within the limits of a layer.
std::vector<std::pair<std::uint64_t, std::uint64_t>> planes_of(std::uint64_t places)
{
    for (std::uint64_t height = tiles(places, kMaxLayerSide); height <= kMaxLayerSide && height <= places; ++height)
        if (places % height == 0) return {{places / height, height}};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> planes;
    if (places / kMaxLayerSide <= kMaxLayerSide) planes.emplace_back(kMaxLayerSide, places / kMaxLayerSide);
    planes.emplace_back(places % kMaxLayerSide, 1);
    return planes;
}

/// The outputs of an axis, tile by tile: how much input each reads.
std::vector<std::uint64_t> tiles_of(const Axis& axis)
{
    const std::uint64_t most = (kMaxLayerSide - axis.extent()) / axis.stride + 1;
    std::vector<std::uint64_t> inputs;
    for (std::uint64_t done = 0, all = axis.outputs(); done < all; done += most) {
        const std::uint64_t some = std::min(most, all - done);
        inputs.push_back(axis.input <= kMaxLayerSide ? axis.input : (some - 1) * axis.stride + axis.extent());
    }
    return inputs;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> tiles_of_plane(const OpenConvolution& c)
{
    if (c.x.input <= kMaxLayerSide && c.y.input <= kMaxLayerSide) return {{c.x.input, c.y.input}};
    const auto point = [](const Axis& axis) { return axis.kernel == 1 && axis.stride == 1; };
    if (point(c.x) && point(c.y) && c.x.input * c.y.input <= kMaxLayerSide * kMaxLayerSide) return planes_of(c.x.input * c.y.input);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> planes;
    for (const std::uint64_t height : tiles_of(c.y))
        for (const std::uint64_t width : tiles_of(c.x)) planes.emplace_back(width, height);
    return planes;
}

class Checker {
public:
    Checker(const ForeignPlace& place, std::vector<ForeignProblem>& problems) : place_(place), problems_(problems) {}

    void range(Size size, std::uint64_t value, std::uint64_t high, const char* meaning)
    {
        if (value < 1 || value > high)
            add(size, "found " + std::to_string(value) + ", expected a whole number in 1.." + std::to_string(high) + " (" + meaning + ")");
    }
    /// Of the description, before anything is made of it.
    void kernel(Size size, const Axis& axis)
    {
        if (axis.extent() > axis.input)
            add(size, "found " + std::to_string(axis.kernel) + ", expected a kernel that is not larger than the input of " +
                          std::to_string(axis.input));
    }
    /// Of a layer.
    void layer(const OpenConvolution& c)
    {
        range(Size::KernelWidth, c.x.kernel, kMaxKernelSide, "kernel width");
        range(Size::KernelHeight, c.y.kernel, kMaxKernelSide, "kernel height");
        range(Size::StrideX, c.x.stride, kMaxLayerStride, keys::kStrideMeaning);
        if (c.x != c.y || place_.of(Size::StrideX) != place_.of(Size::StrideY))
            range(Size::StrideY, c.y.stride, kMaxLayerStride, keys::kStrideMeaning);
        range(Size::DilationX, c.x.dilation, kMaxLayerDilation, "dilation");
        range(Size::DilationY, c.y.dilation, kMaxLayerDilation, "dilation");
        range(Size::Channels, c.channels, kMaxLayerSide, "channels of such a kernel");
        if (c.groups != 1) range(Size::OutputChannels, c.kernels, kMaxLayerSide, "kernels of groups");
        range(Size::Batch, c.batch, 32, "batch");
    }
    void tensor(const char* what, std::uint64_t elements)
    {
        if (elements > kMaxTensorElements)
            problems_.push_back({place_.line, std::string("has an ") + what + " of " + std::to_string(elements) +
                                                  " elements, expected at most " + std::to_string(kMaxTensorElements)});
    }

private:
    void add(Size size, const std::string& text)
    {
        ForeignProblem problem{place_.of(size), text};
        if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(std::move(problem));
    }

    const ForeignPlace& place_;
    std::vector<ForeignProblem>& problems_;
};

Json layer_json_of(const OpenConvolution& c, const std::string& name, std::uint64_t kernels)
{
    Json json{{"name", name},
              {"op", "conv2d"},
              {"kernel", {{"width", c.x.kernel}, {"height", c.y.kernel}, {"count", kernels}}},
              {"stride", {{"x", c.x.stride}, {"y", c.y.stride}}}};
    if (c.x.dilation != 1 || c.y.dilation != 1) json["dilation"] = {{"x", c.x.dilation}, {"y", c.y.dilation}};
    if (c.groups != 1) json["groups"] = c.groups;
    return json;
}

}  // namespace

std::vector<Json> layers_of(OpenConvolution c, const std::string& name, const ForeignPlace& place, std::vector<ForeignProblem>& problems)
{
    const std::size_t before = problems.size();
    Checker checker(place, problems);
    checker.range(Size::Width, c.x.input, kMaxForeignSize, "input width");
    checker.range(Size::Height, c.y.input, kMaxForeignSize, "input height");
    checker.range(Size::Channels, c.channels, kMaxForeignSize, "channels");
    checker.range(Size::OutputChannels, c.kernels, kMaxForeignSize, "kernels");
    checker.kernel(Size::KernelWidth, c.x);
    checker.kernel(Size::KernelHeight, c.y);
    if (problems.size() != before) return {};
    if (c.groups == 1) {
        connect(c.x, c.channels);
        connect(c.y, c.channels);
    }
    const auto planes = tiles_of_plane(c);
    const std::uint64_t parts = c.groups == 1 ? tiles(c.kernels, kMaxLayerSide) : 1;
    if (planes.size() * parts > kMaxNetworkLayers) {
        problems.push_back({place.line, "takes " + std::to_string(planes.size() * parts) + " layers, expected at most " +
                                            std::to_string(kMaxNetworkLayers) + " in a network"});
        return {};
    }
    std::vector<Json> layers;
    for (const auto& [width, height] : planes) {
        OpenConvolution tile = c;
        tile.x.input = width;
        tile.y.input = height;
        if (c.channels > kMaxLayerSide && c.groups == 1) spread_channels(tile, place.of(Size::Channels));
        checker.layer(tile);
        checker.tensor("input", tile.x.input * tile.y.input * tile.channels * tile.batch);
        if (problems.size() != before) return {};
        checker.tensor("output", tile.x.outputs() * tile.y.outputs() * std::min(tile.kernels, kMaxLayerSide) * tile.batch);
        std::string input;
        for (std::uint64_t part = 0; part < parts; ++part) {
            const std::uint64_t each = tiles(c.kernels, parts), kernels = std::min(each, c.kernels - part * each);
            const bool alone = parts == 1 && planes.size() == 1;
            const std::string called = alone ? name : name + "." + std::to_string(layers.size() + 1);
            Json layer = layer_json_of(tile, called, kernels);
            if (input.empty()) layer["input"] = {{"width", tile.x.input}, {"height", tile.y.input}, {"channels", tile.channels}};
            else layer["inputs"] = Json::array({input});
            input = called + ".input";
            if (part != 0) input = layer["inputs"].front();
            if (tile.batch != 1) layer["input"]["batch"] = tile.batch;
            layers.push_back(std::move(layer));
        }
    }
    return problems.size() == before ? layers : std::vector<Json>{};
}

void throw_problems(const std::string& file, const std::vector<ForeignProblem>& problems)
{
    if (problems.empty()) return;
    if (problems.size() == 1) throw ConfigError(problems.front().place, problems.front().text);
    std::vector<std::string> all;
    all.reserve(problems.size());
    for (const ForeignProblem& problem : problems) all.push_back(problem.place + ": " + problem.text);
    throw ConfigErrors(file, all);
}

}  // namespace dlasim
