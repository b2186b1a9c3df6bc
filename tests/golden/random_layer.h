// Random layers that are legal: by seed, spread over presets, precisions, strides, paddings,
// dilations, odd sizes and memories. The same seed is the same layer everywhere.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "base/error.h"
#include "config/machine/hardware.h"
#include "config/model/layer.h"
#include "config/model/tensors.h"
#include "facts/memory_spec.h"
#include "facts/presets.h"
#include "lowering/plan.h"
#include "random_pool.h"
#include "random_post.h"

namespace dlasim {

struct RandomLayer {
    Layer layer;
    Hardware hardware;
    MemorySpec memory;
};

class LayerMaker {
public:
    /// `kind`: direct, image, winograd, batch, compressed, groups, deconvolution, machines, wide (of the largest arrays), post, sdp,
    /// convert, cvsram, pool, pool_int16, pool_fp16 or pooled (behind a convolution); or of most of these, cut into parts: partial (by
    /// rows), reuse (mostly by kernels), strips (by columns and phases of the dilation), auto (because it does not fit).
    LayerMaker(std::uint64_t seed, std::string kind)
        : random_(static_cast<std::uint32_t>(seed * 2654435761u + 12345)), kind_(std::move(kind))
    {
        if (kind_ == "partial" || kind_ == "reuse" || kind_ == "strips" || kind_ == "auto") cut_ = kind_;
    }

    /// Tries until one fits its machine.
    RandomLayer make()
    {
        for (;;) {
            if (!cut_.empty()) kind_ = uncut_kind();
            RandomLayer r{{}, machine(), memory()};
            shape(r);
            if (!cut_.empty()) cut(r);
            if (!legal(r.layer)) continue;
            set_shift(r.layer);
            try {
                const LayerPlan plan = plan_that_fits(r.layer, r.hardware);
                if (plan.partitioned && plan.passes.size() > 64) continue;
                if (!cut_.empty() && (!plan.partitioned || plan.passes.size() < 2)) continue;
                if (cut_ == "auto" && fits_uncut(r)) continue;
                if (r.layer.compressed && r.layer.partition.on()) plan_layer(r.layer, r.hardware, load_tensors(r.layer));
                if (plan.macs <= 30'000'000) return r;
            } catch (const ConfigError&) {
            }
        }
    }

    /// One layer on that machine, of any kind, cut or not, whether it fits or not; false if its shape has no output.
    bool attempt(RandomLayer& r)
    {
        do kind_ = uncut_kind();
        while (!r.hardware.full() && (kind_ == "winograd" || kind_ == "batch" || kind_ == "compressed"));
        cut_ = one_in(3) ? (one_in(3) ? "auto" : one_in(2) ? "partial" : "reuse") : "";
        shape(r);
        if (!cut_.empty()) cut(r, false);
        // Small enough for thousands of them.
        for (; r.layer.macs() > 3'000'000 && r.layer.kernels > r.layer.groups;
             r.layer.kernels = r.layer.groups * (r.layer.kernels / r.layer.groups / 2))
            if (r.layer.op == Op::Sdp || r.layer.kernels / r.layer.groups < 2) break;
        if (!legal(r.layer) || r.layer.macs() > 6'000'000) return false;
        set_shift(r.layer);
        return true;
    }
    std::mt19937& random() { return random_; }

private:
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }
    bool one_in(std::uint32_t n) { return in(1, n) == 1; }
    /// Small numbers often, large ones sometimes.
    std::uint32_t size(std::uint32_t high) { return in(1, one_in(3) ? high : std::max(1u, high / 4)); }

    Hardware machine()
    {
        const auto all = presets();
        if (kind_ == "machines") return between_presets();
        if (kind_ == "wide") return widest();
        if (kind_ == "cvsram")
            return *find_preset(one_in(2) ? "nv_full" : one_in(3) ? "nv_large" : one_in(2) ? "nv_medium_1024_full" : "nv_small_256_full");
        if (kind_ == "pool_int16" || kind_ == "pool_fp16") return *find_preset("nv_full");
        if (kind_ == "winograd" || kind_ == "batch" || kind_ == "compressed") return *find_preset("nv_full");
        return one_in(3) ? *find_preset("nv_full") : all[in(0, static_cast<std::uint32_t>(all.size()) - 1)];
    }

    /// Any legal machine of the configurable generation, or an nv_full with another buffer or half of its lanes.
    Hardware between_presets()
    {
        const auto setting = [](const char* path, std::uint32_t value) { return std::string(path) + "=" + std::to_string(value); };
        if (one_in(5))
            return load_hardware("nv_full", {setting("mac.atomic_c", 32u << in(0, 1)), setting("cbuf.banks", in(4, 16)),
                                             setting("cbuf.bank_depth", 64u << in(0, 2))});
        const std::uint32_t k = 8u << in(0, 3), ratio = std::min(1u << in(0, 2), 128 / k);
        return scaled(k * ratio, k);
    }

    /// 64 MAC cells, or 128 channels a cycle: 64 x 64, 128 x 32, 128 x 64.
    Hardware widest()
    {
        if (one_in(3)) return scaled(128, 32);
        return scaled(one_in(4) ? 128 : 64, 64);
    }

    Hardware scaled(std::uint32_t c, std::uint32_t k)
    {
        const auto setting = [](const char* path, std::uint32_t value) { return std::string(path) + "=" + std::to_string(value); };
        return load_hardware("nv_large",
                             {setting("mac.atomic_c", c), setting("mac.atomic_k", k), setting("cbuf.banks", in(3, 32)),
                              setting("cbuf.bank_depth", 64u << in(0, 3)), setting("memory.primary.burst_beats", 1u << in(0, 2)),
                              setting("sdp.bs_throughput", 1u << in(0, 3)), setting("sdp.bn_throughput", 1u << in(0, 3)),
                              setting("sdp.ew_throughput", 1u << in(0, 2)), setting("memory.fifo_cover_cycles", in(16, 1024))});
    }

    MemorySpec memory()
    {
        MemorySpec spec;
        if (one_in(2)) return spec;
        constexpr std::uint32_t kLatency[] = {1, 16, 64, 100, 200};
        spec.read_latency = kLatency[in(0, 4)];
        spec.beat_interval = in(1, 4);
        spec.write_latency = in(1, 40);
        if (one_in(3)) spec.command_interval = in(1, 3);
        if (one_in(3)) spec.write_interval = in(1, 3);
        return spec;
    }

    void shape(RandomLayer& r)
    {
        Layer& l = r.layer;
        l.name = kind_;
        const bool wide = r.hardware.full();
        l.precision = wide ? static_cast<Precision>(in(0, 2)) : Precision::Int8;
        l.width = size(60);
        l.height = size(60);
        l.channels = size(520);
        l.kernels = size(200);
        l.kernel_width = size(7);
        l.kernel_height = size(7);
        l.stride = {one_in(2) ? 1 : in(1, 4), one_in(2) ? 1 : in(1, 4)};
        l.dilation = {one_in(3) ? in(1, 3) : 1, one_in(3) ? in(1, 3) : 1};
        if (one_in(2)) l.pad = {in(0, 4), in(0, 4), in(0, 4), in(0, 4), 0};
        if (one_in(2))
            l.pad.value = l.precision == Precision::Fp16 ? static_cast<std::int32_t>(0x3800 + in(0, 0x3ff))
                                                         : static_cast<std::int32_t>(in(0, 255)) - 128;
        if (one_in(2)) l.post.add_bias(l.precision != Precision::Fp16 && one_in(2) ? in(0, 8) : 0);
        l.post.bs().relu = one_in(2);
        l.data.seed = random_();
        l.output.precision = l.precision;
        if (wide && one_in(4)) l.output.precision = l.precision == Precision::Int16 ? Precision::Fp16 : Precision::Int16;
        if (one_in(6)) {  // a fully connected layer
            l.op = Op::FullyConnected;
            l.kernel_width = l.width = size(6);
            l.kernel_height = l.height = size(6);
            l.pad = {};
            l.stride = l.dilation = {1, 1};
        }
        special(l, r.hardware);
    }

    void special(Layer& l, const Hardware& hw)
    {
        if (kind_ == "winograd") {
            winograd(l);
        } else if (kind_ == "batch") {
            l.batch = in(2, one_in(2) ? 32 : 6);
            l.width = size(12);
            l.height = size(12);
            if (l.op == Op::FullyConnected) l.kernel_width = l.width = size(3), l.kernel_height = l.height = size(3);
            if (one_in(3)) random_post(l, hw, random_);
        } else if (kind_ == "compressed") {
            l.compressed = true;
            l.density = one_in(8) ? 0 : in(5, 100);
        } else if (kind_ == "groups") {
            l.op = Op::Convolution;
            l.groups = one_in(2) ? in(2, 24) : in(2, 4);
            l.channels = l.groups * in(1, 20);
            l.kernels = l.groups * (one_in(2) ? 1 : in(1, 12));
        } else if (kind_ == "deconvolution") {
            deconvolution(l);
        } else if (kind_ == "image") {
            image(l, hw);
        } else if (kind_ == "post") {
            if (one_in(6) && hw.winograd) l.mode = Mode::Winograd, winograd(l);
            else if (one_in(6)) l.op = Op::Deconvolution, deconvolution(l);
            random_post(l, hw, random_);
        } else if (kind_ == "sdp") {
            sdp(l, hw);
        } else if (kind_.starts_with("pool")) {
            pool(l);
        } else if (kind_ == "convert") {
            if (one_in(4) && hw.winograd) winograd(l);
            else if (one_in(4) && hw.batch) l.op = Op::Convolution, l.batch = in(2, 6), l.width = size(12), l.height = size(12);
            convert(l);
            if (l.mode == Mode::Winograd && l.conversion.on)
                l.width += l.pad.left + l.pad.right, l.height += l.pad.top + l.pad.bottom, l.pad = {};
        } else if (kind_ == "cvsram") {
            if (one_in(2)) random_post(l, hw, random_);
            if (hw.full() && one_in(4)) l.compressed = true, l.density = 40;
            Placement& p = l.placement;
            for (Place* place : {&p.input, &p.weights, &p.output, &p.operands[0], &p.operands[1], &p.operands[2]})
                place->primary = one_in(2);
        }
    }

    /// Pooling alone, or ("pooled") behind a convolution.
    void pool(Layer& l)
    {
        l.output.precision = l.precision;
        if (kind_ != "pooled") {
            l.op = Op::Pool;
            l.precision = l.output.precision = kind_ == "pool_int16"  ? Precision::Int16
                                               : kind_ == "pool_fp16" ? Precision::Fp16
                                                                      : Precision::Int8;
            l.width = one_in(6) ? in(40, 400) : in(1, 40);
            l.height = l.width > 40 ? in(1, 12) : in(1, 40);
            l.kernel_width = l.kernel_height = l.batch = l.groups = 1;
            l.stride = l.dilation = {1, 1};
            l.pad = {};
            l.post = {};
            l.kernels = l.channels = size(l.width > 40 ? 40 : 80);
        }
        if (legal(l)) l.pool = PoolMaker(random_).make(l.out_width(), l.out_height(), l.precision);
    }

    void winograd(Layer& l)
    {
        l.mode = Mode::Winograd;
        l.op = Op::Convolution;
        l.dilation = {1, 1};
        l.stride = one_in(3) ? Extent{in(1, 2), in(1, 2)} : Extent{1, 1};
        l.kernel_width = 3 * l.stride.x - (l.stride.x > 1 ? in(0, 2) : 0);
        l.kernel_height = 3 * l.stride.y - (l.stride.y > 1 ? in(0, 2) : 0);
        l.pad = {in(0, 2), in(0, 2), in(0, 2), in(0, 2), l.pad.value};
        l.width = (4 * in(1, 6) - 1) * l.stride.x + l.kernel_width - l.pad.left - l.pad.right;
        l.height = (4 * in(1, 6) - 1) * l.stride.y + l.kernel_height - l.pad.top - l.pad.bottom;
        l.winograd_truncate = in(0, 2);
    }

    void deconvolution(Layer& l)
    {
        l.op = Op::Deconvolution;
        l.width = size(20);
        l.height = size(20);
        l.dilation = {1, 1};
        l.stride = !one_in(5) ? Extent{in(1, 4), in(1, 4)} : Extent{1, 1};
        l.pad = {in(0, l.kernel_width - 1), in(0, l.kernel_width - 1), in(0, l.kernel_height - 1), in(0, l.kernel_height - 1), 0};
    }

    /// SDP alone, often with its EW.
    void sdp(Layer& l, const Hardware& hw)
    {
        l = {.name = l.name,
             .op = Op::Sdp,
             .width = size(40),
             .height = size(40),
             .channels = size(300),
             .precision = l.precision,
             .post = {},
             .output = {.precision = l.precision},
             .data = l.data};
        if (one_in(5)) l.width = l.height = 1;
        l.kernels = l.channels;
        if (l.precision == Precision::Int8 && hw.full() && one_in(4)) l.input_precision = Precision::Int16;
        if (hw.full() && !l.input_precision && one_in(4))
            l.output.precision = l.precision == Precision::Int16 ? Precision::Fp16 : Precision::Int16;
        random_post(l, hw, random_);
        // The inputs themselves span the output's range; operands widen it.
        if (l.precision != Precision::Fp16) l.output.shift = in(0, 6) + (l.input_precision ? 8 : 0);
    }

    /// Features converted on their way into the buffer; NaN among those of fp16 (the test puts them there).
    void convert(Layer& l)
    {
        if (l.precision == Precision::Fp16 && one_in(2)) {
            l.flush_nan = one_in(2);
            l.post.flush_nan = one_in(2);
            return;
        }
        if (l.precision == Precision::Fp16) l.input_precision = Precision::Int16;
        const auto signed_number = [&](std::uint32_t most) {
            return static_cast<std::int32_t>(in(0, 2 * most)) - static_cast<std::int32_t>(most);
        };
        l.conversion = {
            .on = true, .offset = signed_number(300), .scale = signed_number(300), .shift = in(0, 10), .per_component = false, .mean = {}};
    }

    void image(Layer& l, const Hardware& hw)
    {
        static const char* const kEight[] = {"T_R8",       "T_A8B8G8R8", "T_A8R8G8B8", "T_B8G8R8A8",       "T_R8G8B8A8",
                                             "T_X8B8G8R8", "T_A8Y8U8V8", "T_V8U8Y8A8", "T_Y8___U8V8_N444", "T_Y8___V8U8_N444"};
        static const char* const kSixteen[] = {"T_R16",          "T_A16B16G16R16",      "T_A16Y16U16V16",
                                               "T_V16U16Y16A16", "T_Y16___U16V16_N444", "T_Y16___V16U16_N444"};
        static const char* const kOther[] = {
            "T_A2B10G10R10", "T_A2R10G10B10", "T_B10G10R10A2", "T_R10G10B10A2",  "T_A2Y10U10V10",       "T_V10U10Y10A2",
            "T_R10",         "T_R12",         "T_R16_I",       "T_X16B16G16R16", "T_Y10___U10V10_N444", "T_Y12___V12U12_N444"};
        static const char* const kFloat[] = {"T_R16_F", "T_A16B16G16R16_F", "T_A16Y16U16V16_F"};
        l.op = Op::Convolution;
        l.dilation = {1, 1};
        l.mode = Mode::Image;
        l.stride = one_in(4) ? Extent{in(1, 8), in(1, 8)} : Extent{in(1, 4), in(1, 4)};
        l.format = find_pixel_format(l.precision == Precision::Int8    ? kEight[in(0, 9)]
                                     : l.precision == Precision::Int16 ? kSixteen[in(0, 5)]
                                                                       : kFloat[in(0, 2)]);
        const bool other = one_in(3);  // pixels of another width than the layer's numbers, or packed ones
        if (other) l.format = find_pixel_format(one_in(4) ? kEight[in(0, 9)] : one_in(3) ? kSixteen[in(0, 5)] : kOther[in(0, 11)]);
        l.channels = l.format->components;
        if (other || (one_in(3) && l.precision != Precision::Fp16)) {
            l.conversion.on = true;
            l.conversion.offset = static_cast<std::int32_t>(in(0, 100)) - 50;
            l.conversion.scale = static_cast<std::int32_t>(in(1, 300));
            l.conversion.shift = in(0, 9) + (l.format->eight_bit || l.precision != Precision::Int8 ? 0 : 5);
            l.signed_pixels = one_in(2);
            if (one_in(2)) {
                l.conversion.per_component = true;
                for (std::uint32_t c = 0; c < l.channels; ++c) l.conversion.mean[c] = static_cast<std::int32_t>(in(0, 200)) - 100;
            }
        }
        const std::uint32_t pixels = hw.memory.atom_bytes / l.format->plane_pixel_bytes;
        if (one_in(3) && pixels > 1) l.x_offset = in(0, pixels - 1);
    }

    std::string uncut_kind()
    {
        static const char* const kKinds[] = {"direct",     "direct", "direct",        "image", "image", "winograd", "batch",
                                             "compressed", "groups", "deconvolution", "post",  "post",  "convert",  "cvsram"};
        return kKinds[in(0, std::size(kKinds) - 1)];
    }

    void cut(RandomLayer& r, bool shrink = true)
    {
        Layer& l = r.layer;
        Partition& p = l.partition;
        if (kind_ == "direct" || kind_ == "image") {
            if (one_in(4)) l.pad = {l.pad.left, l.pad.right, in(0, 31), in(0, 31), l.pad.value};
            if (one_in(4)) l.stride.y = in(1, 8);
            if (one_in(6)) l.height = in(1, 4);
            if (one_in(8)) l.width = 1;
            l.op = Op::Convolution;
        }
        if (cut_ == "auto") {
            p.automatic = true;
            if (shrink && one_in(2)) r.hardware = load_hardware(r.hardware.name, {"cbuf.banks=" + std::to_string(in(3, 8))});
            if (l.op == Op::Convolution && kind_ != "batch") {
                l.height *= in(1, 4);
                l.width *= in(1, 4);
                if (kind_ != "winograd" && l.groups == 1) l.kernels = size(40);
            }
            return;
        }
        const std::uint32_t group = r.hardware.kernel_group(l.precision), tile = l.mode == Mode::Winograd ? 4 : 1;
        if (cut_ == "strips") {
            if (kind_ != "image" && kind_ != "winograd" && l.op == Op::Convolution) l.dilation.y = in(1, 9);
            if (one_in(2)) l.pad = {in(0, 9), in(0, 9), in(0, 31), in(0, 31), l.pad.value};
            p.phases = l.dilation.y > 1 && l.kernel_height > 1 && !one_in(3);
            if (!p.phases || one_in(2)) p.columns = in(1, 12) * (l.batch > 1 ? 2 : 1);
        }
        if (cut_ == "partial" || one_in(2)) p.rows = tile * in(1, one_in(2) ? 3 : 12);
        if (cut_ == "reuse" || one_in(4)) p.kernels = one_in(4) ? in(1, group) : group * in(1, 3);
        p.padded = p.kernels % group != 0;
        if (one_in(5)) p.data_banks = in(1, r.hardware.cbuf.banks - 1);
        if (one_in(5)) p.weight_banks = in(1, r.hardware.cbuf.banks / 2);
        p.reuse_data = !one_in(3);
        p.reuse_weights = one_in(2);
        if (cut_ == "reuse" && !p.reuse_weights) p.reuse_data = true;
    }

    static bool fits_uncut(const RandomLayer& r)
    {
        Layer uncut = r.layer;
        uncut.partition = {};
        try {
            return !plan_that_fits(uncut, r.hardware).partitioned;
        } catch (const ConfigError&) {
            return false;
        }
    }

    static bool legal(const Layer& l)
    {
        const auto positive = [](std::uint32_t v) { return v >= 1 && v <= 8192; };
        if (l.op == Op::Deconvolution)
            return (l.width - 1) * l.stride.x + l.kernel_width > l.pad.left + l.pad.right &&
                   (l.height - 1) * l.stride.y + l.kernel_height > l.pad.top + l.pad.bottom;
        return positive(l.width) && positive(l.height) && l.span_x() <= l.width + l.pad.left + l.pad.right &&
               l.span_y() <= l.height + l.pad.top + l.pad.bottom;
    }

    /// Brings the sums into the output's range, so that neither zeros nor saturation hide mistakes.
    void set_shift(Layer& l)
    {
        if (l.precision == Precision::Fp16 || !l.convolves()) return;
        const double terms = static_cast<double>(l.kernel_width) * l.kernel_height * l.kernel_channels();
        const double spread = (l.precision == Precision::Int8 ? 5461.0 : 1.4e6) * std::sqrt(terms),
                     room = l.output.precision == Precision::Int8 ? 48 : 12000;
        l.output.shift = static_cast<std::uint32_t>(std::max(0.0, std::round(std::log2(spread / room))));
        if (one_in(4)) {
            l.output.scale = static_cast<std::int32_t>(in(1, 200)) - 100;
            l.output.shift += 6;
            l.output.offset = static_cast<std::int32_t>(in(0, 1000)) - 500;
        }
    }

    std::mt19937 random_;
    std::string kind_, cut_;
};

}  // namespace dlasim
