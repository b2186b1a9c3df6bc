// Random networks that are legal: by seed, one layer to nine with branches, additions and concatenations, on any preset behind any
// memory. The same seed is the same network everywhere.
#pragma once
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "facts/presets.h"
#include "network/plan.h"

namespace dlasim {

struct RandomNetwork {
    Json json;
    Network network;
    Hardware hardware;
    MemorySpec memory;
};

class NetworkMaker {
public:
    explicit NetworkMaker(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed * 2654435761u + 321)) {}

    /// Tries until one fits its machine and is not long.
    RandomNetwork make()
    {
        for (;;) {
            RandomNetwork r;
            r.hardware = one_in(2) ? *find_preset("nv_full") : presets()[in(0, static_cast<std::uint32_t>(presets().size()) - 1)];
            r.memory = memory();
            r.json = network(r.hardware);
            try {
                r.network = network_from_json(r.json, "random.json");
                const NetworkPlan plan = plan_network(r.network, r.hardware, r.memory, {.values = false});
                const std::vector<Bound> bounds = network_bounds(plan);
                if (!bounds.empty() && largest(bounds) <= kMaxCycles) return r;
            } catch (const ConfigError&) {
            }
        }
    }

private:
    static constexpr std::uint64_t kMaxCycles = 12000;
    struct Made {
        std::string name;
        std::uint32_t width, height, channels;
        bool like(const Made& other) const { return width == other.width && height == other.height; }
    };

    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }
    bool one_in(std::uint32_t n) { return in(1, n) == 1; }
    std::uint32_t size(std::uint32_t high) { return in(1, one_in(3) ? high : std::max(1u, high / 4)); }
    template <class T>
    const T& one_of(const std::vector<T>& list)
    {
        return list[in(0, static_cast<std::uint32_t>(list.size()) - 1)];
    }

    MemorySpec memory()
    {
        if (one_in(5)) return parse_memory(one_in(2) ? "ddr4-2400" : "lpddr4-3200");
        MemorySpec spec;
        spec.read_latency = one_of(std::vector<std::uint32_t>{1, 16, 32, 64, 200});
        spec.beat_interval = in(1, 3);
        spec.write_latency = in(1, 40);
        return spec;
    }

    Json network(const Hardware& hardware)
    {
        made_ = {{"data", size(20), size(20), one_in(3) ? one_of(std::vector<std::uint32_t>{1, 3, 4}) : size(64)}};
        Json json{{"name", "random"}, {"input", shape(made_.front())}, {"layers", Json::array()}};
        if (hardware.full() && one_in(3)) json["precision"] = "fp16";
        if (one_in(4)) json["overlap"] = one_of(std::vector<std::string>{"all", "registers", "none"});
        if (one_in(4)) json["plan"] = {{"minimise", one_of(std::vector<std::string>{"cycles", "traffic"})}};
        const std::uint32_t count = one_in(3) ? 1 : in(2, 9);
        while (json["layers"].size() < count) {
            Json layer{{"name", "l" + std::to_string(json["layers"].size())}};
            if (add(layer)) json["layers"].push_back(layer);
        }
        return json;
    }
    static Json shape(const Made& of) { return {{"width", of.width}, {"height", of.height}, {"channels", of.channels}}; }

    /// Reads the last tensor mostly. False if it cannot be.
    bool add(Json& layer)
    {
        const Made from = one_in(3) ? one_of(made_) : made_.back();
        layer["inputs"] = {from.name};
        Made out = from;
        out.name = layer["name"];
        const std::uint32_t op = in(0, 19);
        if (op < 10) convolve(layer, from, out);
        else if (op < 12) pool(layer, from, out);
        else if (op < 15) join(layer, from, out, "add");
        else if (op < 16) join(layer, from, out, "concat");
        else if (op < 17) layer["op"] = "lrn", layer["lrn"] = {{"size", 3 + 2 * in(0, 3)}};
        else if (op < 18) layer["op"] = "softmax";
        else if (op < 19) upsample(layer, out);
        else connect(layer, from, out);
        if (!layer.contains("op") || std::max({out.width, out.height, out.channels}) > 200) return false;
        made_.push_back(out);
        return true;
    }

    void convolve(Json& layer, const Made& from, Made& out)
    {
        const bool deconvolution = one_in(6);
        const std::uint32_t kx = size(5), ky = size(5), sx = one_in(2) ? 1 : in(1, 3), sy = one_in(2) ? 1 : in(1, 3);
        const std::uint32_t dx = !deconvolution && one_in(4) ? in(1, 3) : 1, dy = !deconvolution && one_in(4) ? in(1, 3) : 1;
        const std::uint32_t px = in(0, kx - 1), py = in(0, ky - 1), span_x = (kx - 1) * dx + 1, span_y = (ky - 1) * dy + 1;
        out.channels = size(60);
        if (deconvolution) {
            if ((from.width - 1) * sx + kx <= 2 * px || (from.height - 1) * sy + ky <= 2 * py) return;
            out.width = (from.width - 1) * sx + kx - 2 * px;
            out.height = (from.height - 1) * sy + ky - 2 * py;
        } else {
            if (from.width + 2 * px < span_x || from.height + 2 * py < span_y) return;
            out.width = (from.width + 2 * px - span_x) / sx + 1;
            out.height = (from.height + 2 * py - span_y) / sy + 1;
            if (one_in(5)) layer["groups"] = out.channels = from.channels;
        }
        layer["op"] = deconvolution ? "deconv2d" : "conv2d";
        layer["kernel"] = {{"width", kx}, {"height", ky}, {"count", out.channels}};
        layer["stride"] = {{"x", sx}, {"y", sy}};
        if (!deconvolution) layer["dilation"] = {{"x", dx}, {"y", dy}};
        layer["pads"] = {py, px, py, px};
        layer["bias"] = one_in(2);
        activate(layer);
    }
    void connect(Json& layer, const Made& from, Made& out)
    {
        if (from.width > 32 || from.height > 32) return;
        out.width = out.height = 1;
        out.channels = size(60);
        layer["op"] = "fully_connected";
        layer["kernel"] = {{"count", out.channels}};
        layer["bias"] = one_in(2);
        activate(layer);
    }
    void activate(Json& layer)
    {
        if (!one_in(4)) layer["activation"] = one_of(std::vector<std::string>{"relu", "relu6", "leaky", "tanh", "tanh"});
    }

    void pool(Json& layer, const Made& from, Made& out)
    {
        const std::uint32_t kx = one_in(9) ? 9 : in(1, 3), ky = one_in(9) ? 9 : in(1, 3), sx = in(1, 3), sy = in(1, 3);
        if (kx > from.width || ky > from.height) return;
        out.width = (from.width - kx) / sx + 1;
        out.height = (from.height - ky) / sy + 1;
        layer["op"] = "pool";
        layer["pool"] = {
            {"function", one_of(std::vector<std::string>{"max", "min", "average"})}, {"kernel_shape", {ky, kx}}, {"strides", {sy, sx}}};
    }
    void join(Json& layer, const Made& from, Made& out, const std::string& op)
    {
        std::vector<Made> others;
        for (const Made& other : made_)
            if (other.like(from) && (op == "concat" || other.channels == from.channels)) others.push_back(other);
        const Made& other = one_of(others);
        layer["op"] = op;
        layer["inputs"] = {from.name, other.name};
        if (op == "concat") out.channels += other.channels;
        else activate(layer);
    }
    void upsample(Json& layer, Made& out)
    {
        const std::uint32_t x = in(1, 2), y = in(1, 2);
        layer["op"] = "upsample";
        layer["factor"] = {{"x", x}, {"y", y}};
        out.width *= x;
        out.height *= y;
    }

    std::mt19937 random_;
    std::vector<Made> made_;
};

}  // namespace dlasim
