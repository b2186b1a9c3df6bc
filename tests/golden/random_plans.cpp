// Layers of every kind over the whole range that the reader takes, through planning only, on every preset and on machines between them:
//
//   description ──► reader ──► planning, registers of every pass ──► a plan, or a refusal of a rule
//
// A register that cannot hold its value is no rule, and no exception but ConfigError leaves a plan. What the programs do to each other
// is looked at too: no convolution may end in CACC where the one before does (lint/layer_ends.h).
//
//   random_laws plans FIRST COUNT [SECONDS]      SECONDS: a plan that takes longer is told
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "config/layer/layer_reader.h"
#include "config/layer/transfer_reader.h"
#include "config/machine/hardware.h"
#include "facts/presets.h"
#include "lint/layer_ends.h"
#include "lowering/plan.h"
#include "lowering/program/layer_program.h"
#include "lowering/transfer/transfer_plan.h"
#include "random_laws.h"

namespace dlasim {
namespace random_plans_law {

class Maker {
public:
    explicit Maker(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed * 2654435761u + 99)) {}

    Hardware machine()
    {
        const auto all = presets();
        if (!one_in(6)) return all[in(0, static_cast<std::uint32_t>(all.size()) - 1)];
        const std::uint32_t k = 8u << in(0, 2), c = std::min(64u, k << in(0, 2));
        const auto setting = [](const char* path, std::uint32_t value) { return std::string(path) + "=" + std::to_string(value); };
        return load_hardware("nv_large", {setting("mac.atomic_c", c), setting("mac.atomic_k", k), setting("cbuf.banks", in(3, 32)),
                                          setting("cbuf.bank_depth", 64u << in(0, 3))});
    }

    /// A layer, or a transfer; most of them such that the reader takes them.
    std::string description(const Hardware& hardware, bool& transfer)
    {
        full_ = hardware.full();
        static constexpr std::array kNames{"int8", "int16", "fp16"};
        precision_ = kNames[one_in(2) || (!full_ && !one_in(20)) ? 0 : in(0, 2)];
        left_ = top_ = right_ = bottom_ = 0;
        if (one_in(2)) left_ = in(0, 31), right_ = in(0, 63), top_ = in(0, 31), bottom_ = in(0, 63);
        width_ = size(8192);
        height_ = size(one_in(3) ? 8192 : 256);
        if (one_in(2)) std::swap(width_, height_);
        transfer = one_in(full_ ? 6 : 20);
        if (transfer) return one_in(2) && full_ ? rubik() : lrn();
        switch (in(0, 9)) {
            case 0:
                return fmt::format(R"({{"op": "pool", "input": {}, "pool": {}{}}})", cube(""), pool(), precision());
            case 1:
                return fmt::format(R"({{"op": "sdp", "input": {}{}{}}})", cube(""), precision(), post());
            case 2:
                return fmt::format(R"({{"op": "deconv2d", "input": {}, "kernel": {}, "stride": {}{}{}{}}})", cube(""), kernel(8192),
                                   extent(8), one_in(3) ? pad() : "", precision(), post());
            case 3:
            case 4:
            case 5:
                return image();
            default:
                return features();
        }
    }

private:
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }
    bool one_in(std::uint32_t n) { return in(1, n) == 1; }
    /// As often in every octave, and often at an edge.
    std::uint32_t size(std::uint32_t high)
    {
        static constexpr std::array<std::uint32_t, 12> kEdges{1, 2, 8, 31, 32, 255, 256, 4095, 4096, 4097, 8191, 8192};
        if (one_in(3)) return std::min(high, kEdges[in(0, kEdges.size() - 1)]);
        return std::max(1u, static_cast<std::uint32_t>(std::exp2(std::log2(static_cast<double>(high)) * in(0, 1000) / 1000.0)));
    }
    std::string extent(std::uint32_t high) { return fmt::format(R"({{"x": {}, "y": {}}})", size(high), size(high)); }
    std::string cube(const std::string& more)
    {
        return fmt::format(R"({{"width": {}, "height": {}, "channels": {}{}}})", width_, height_, size(8192), more);
    }
    /// Mostly no larger than the padded input.
    std::string kernel(std::uint32_t most)
    {
        const auto side = [&](std::uint32_t input) { return size(std::min(one_in(2) ? 3u : 32u, one_in(20) ? 32u : input)); };
        return fmt::format(R"({{"width": {}, "height": {}, "count": {}}})", side(width_ + left_ + right_), side(height_ + top_ + bottom_),
                           size(most));
    }
    std::string pad()
    {
        if (left_ + right_ + top_ + bottom_ == 0) return "";
        return fmt::format(R"(, "pad": {{"left": {}, "right": {}, "top": {}, "bottom": {}, "value": {}}})", left_, right_, top_, bottom_,
                           in(0, 2));
    }
    std::string precision() const { return fmt::format(R"(, "precision": "{}")", precision_); }
    bool fp16() const { return precision_ == "fp16"; }
    std::string post()
    {
        const std::string output = fp16() ? "" : R"("output": {"shift": 3})";
        switch (in(0, 5)) {
            case 0:
                return R"(, "bias": true)";
            case 1:
                return fmt::format(R"(, "post": {{"bs": {{"alu": {{"op": "sum", "per": "element"}}}}{}{}}})", fp16() ? "" : ", ", output);
            case 2:
                return full_ && !fp16() ? R"(, "post": {"output": {"precision": "int16"}})" : "";
            default:
                return fmt::format(R"(, "post": {{{}}})", output);
        }
    }
    std::string partition()
    {
        switch (in(0, 7)) {
            case 0:
                return R"(, "partition": "auto")";
            case 1:
                return fmt::format(R"(, "partition": {{"rows": {}, "reuse_data": true}})", size(4096));
            case 2:
                return fmt::format(R"(, "partition": {{"kernels": {}, "columns": {}}})", 32 * in(1, 64), size(512));
            default:
                return "";
        }
    }
    std::string features()
    {
        const bool dilated = one_in(4);
        const std::string dilation = dilated ? extent(32) : R"({"x": 1, "y": 1})",
                          batch = one_in(full_ ? 4 : 50) ? fmt::format(R"(, "batch": {})", in(1, 32)) : "";
        if (one_in(8)) {
            const std::uint32_t groups = size(64);
            const std::uint32_t channels = groups * size(8192 / groups), kernels = groups * size(8192 / groups);
            return fmt::format(
                R"({{"input": {{"width": {}, "height": {}, "channels": {}}}, "kernel": {{"width": {}, "height": {}, "count": {}}}, "groups": {}, "stride": {}{}{}{}}})",
                width_, height_, channels, size(std::min(3u, width_)), size(std::min(3u, height_)), kernels, groups, extent(8), pad(),
                precision(), post());
        }
        return fmt::format(R"({{"input": {}, "kernel": {}, "stride": {}, "dilation": {}{}{}{}{}}})", cube(batch), kernel(8192), extent(8),
                           dilation, pad(), precision(), post(), partition());
    }
    std::string pool()
    {
        static constexpr std::array kFunctions{"max", "min", "average"};
        return fmt::format(R"({{"function": "{}", "kernel": {{"width": {}, "height": {}}}, "stride": {}}})", kFunctions[in(0, 2)],
                           in(1, std::min(8u, width_)), in(1, std::min(8u, height_)), extent(8));
    }
    std::string image()
    {
        static constexpr std::array kFormats{"T_R8", "T_A8B8G8R8", "T_Y8___U8V8_N444", "T_R16", "T_A16B16G16R16", "T_A2R10G10B10"};
        const std::size_t format = full_ || one_in(20) ? in(0, kFormats.size() - 1) : in(0, 2);
        std::string more = one_in(3) ? fmt::format(R"(, "x_offset": {})", in(0, one_in(2) ? 1 : 7)) : "";
        if (one_in(2) || format > 2) more += R"(, "conversion": {"offset": 3, "scale": 2, "shift": 1})";
        return fmt::format(R"({{"input": {{"width": {}, "height": {}, "format": "{}"{}}}, "kernel": {}, "stride": {}{}{}{}}})", width_,
                           height_, kFormats[format], more, kernel(8192), extent(8), pad(), precision(), partition());
    }
    std::string rubik()
    {
        const std::uint32_t phases = 4 * size(2048);
        switch (in(0, 2)) {
            case 0:
                return fmt::format(R"({{"op": "rubik", "rubik": {{"mode": "split"}}, "input": {}{}}})", cube(""), precision());
            case 1:
                return fmt::format(R"({{"op": "rubik", "rubik": {{"mode": "merge"}}, "input": {}{}}})", cube(""), precision());
            default:
                return fmt::format(
                    R"({{"op": "rubik", "rubik": {{"mode": "contract", "stride": {{"x": 2, "y": 2}}}}, "input": {{"width": {}, "height": {}, "channels": {}}}{}}})",
                    width_, height_, phases, precision());
        }
    }
    std::string lrn()
    {
        return fmt::format(R"({{"op": "lrn", "lrn": {{"size": {}, "alpha": 0.0001, "beta": 0.75, "bias": 1}}, "input": {}}})",
                           3 + 2 * in(0, 3), cube(""));
    }

    bool full_ = false;
    std::string precision_;
    std::uint32_t width_ = 1, height_ = 1, left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
    std::mt19937 random_;
};

/// "planned", "refused: ..", or what is wrong, in capitals.
std::string outcome(const std::string& text, bool transfer, const Hardware& hw)
{
    try {
        const Json json = parse_json(text, "l.json");
        if (transfer) {
            plan_transfer(transfer_from_json(json, "l.json", "", ""), hw);
            return "planned";
        }
        const Layer layer = layer_from_json(json, "l.json", "", "");
        const LayerPlan plan = plan_shape(layer, hw);
        const Program program = layer_program(layer, plan, hw);
        if (!lint::early_layers(hw, program).empty()) return "ENDS MAY MEET";
        return "planned";
    } catch (const ConfigError& error) {
        const std::string said = error.what();
        for (const char* word : {"(mask ", "in bits from", ".D_", ".S_"})
            if (said.find(word) != std::string::npos) return "REGISTER: " + said;
        return "refused: " + said;
    } catch (const std::exception& error) {
        return std::string("EXCEPTION: ") + error.what();
    }
}

}  // namespace random_plans_law

int random_plans(int argc, char** argv)
{
    using namespace random_plans_law;
    const std::uint64_t first = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
    const double limit = argc > 3 ? std::atof(argv[3]) : 1e9;
    std::uint64_t planned = 0, refused = 0, wrong = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        Maker maker(seed);
        const Hardware hardware = maker.machine();
        bool transfer = false;
        const std::string text = maker.description(hardware, transfer);
        const auto start = std::chrono::steady_clock::now();
        const std::string said = outcome(text, transfer, hardware);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        planned += said == "planned";
        refused += said.starts_with("refused: ");
        if (std::getenv("DLASIM_VERBOSE")) fmt::print("{} {} {}\n  {}\n", seed, hardware.name, text, said);
        if (seconds > limit) fmt::print("SLOW {} {} {:.1f} s {}\n  {}\n", seed, hardware.name, seconds, text, said);
        if (said == "planned" || said.starts_with("refused: ")) continue;
        ++wrong;
        fmt::print("{} {} {}\n  {}\n", seed, hardware.name, text, said);
    }
    fmt::print("{} planned, {} refused, {} wrong\n", planned, refused, wrong);
    return wrong == 0 && planned != 0 ? 0 : 1;
}

}  // namespace dlasim
