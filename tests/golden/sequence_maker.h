// A random sequence: 2 to 4 layers of each kind, for one machine. Convolutions with their operands and pooled on the fly, SDP
// and PDP from memory, LRN layers, on nv_full copies and reshapes too. Every tensor has memory of its own.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "config/machine/memory.h"
#include "facts/presets.h"
#include "jobs/bounds.h"
#include "lowering/program/layer_program.h"
#include "lowering/transfer/transfer_plan.h"
#include "random_layer.h"

namespace dlasim {

class SequenceMaker {
public:
    explicit SequenceMaker(std::uint64_t seed) : seed_(seed), random_(static_cast<std::uint32_t>(seed * 2654435761u + 7))
    {
        hardware_ = *find_preset("nv_full");
        if (one_in(3)) hardware_ = presets()[in(0, static_cast<std::uint32_t>(presets().size()) - 1)];
        memory_ = memory();
    }

    const Hardware& hardware() const { return hardware_; }
    const MemorySpec& memory_spec() const { return memory_; }
    std::mt19937& random() { return random_; }
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }
    bool one_in(std::uint32_t n) { return in(1, n) == 1; }

    /// 2 to 4 convolutions, as many layers of SDP alone and of PDP alone, shuffled.
    std::vector<Layer> layers()
    {
        std::vector<std::string> kinds;
        const bool full = hardware_.full();
        const std::vector<std::string> convolutions =
            full ? std::vector<std::string>{"direct", "post", "post", "image", "winograd", "batch", "pooled", "pooled"}
                 : std::vector<std::string>{"direct", "post", "post", "image", "pooled", "pooled"};
        const std::vector<std::string> pools =
            full ? std::vector<std::string>{"pool", "pool_int16", "pool_fp16"} : std::vector<std::string>{"pool"};
        for (std::uint32_t n = in(2, 4); n > 0; --n) kinds.push_back(one_of(convolutions));
        for (std::uint32_t n = in(2, 4); n > 0; --n) kinds.push_back("sdp");
        for (std::uint32_t n = in(2, 4); n > 0; --n) kinds.push_back(one_of(pools));
        std::shuffle(kinds.begin(), kinds.end(), random_);
        std::vector<Layer> layers;
        for (const std::string& kind : kinds) layers.push_back(layer(kind));
        return layers;
    }

    /// Of one function, since they share the tables.
    std::vector<Transfer> lrns()
    {
        Lrn lrn;
        lrn.size = 3 + 2 * in(0, 3);
        lrn.input_scale = lrn.output_scale = 1.2;
        if (hardware_.full() && one_in(2)) lrn.precision = Precision::Int16;
        std::vector<Transfer> all;
        for (std::uint32_t n = in(2, 4); n > 0; --n) {
            lrn.width = in(1, 24);
            lrn.height = in(1, 6);
            lrn.channels = in(1, 80);
            lrn.input = place();
            lrn.output = place();
            all.push_back(transfer("lrn", lrn));
        }
        return all;
    }

    /// Launches of one to three blocks, through both groups in turn.
    std::vector<Transfer> copies()
    {
        std::vector<Transfer> all;
        for (std::uint32_t n = hardware_.bdma ? in(2, 4) : 0; n > 0; --n) {
            Copy copy;
            for (std::uint32_t b = in(1, 3); b > 0; --b) {
                CopyBlock block;
                block.group = static_cast<unsigned>(all.size() % 2);
                block.line_bytes = 32 * in(1, 40);
                block.lines = in(1, 12);
                block.surfaces = in(1, 3);
                for (BlockEnd* end : {&block.source, &block.destination}) {
                    end->place = place();
                    end->strides.line = block.line_bytes + 32 * in(0, 4);
                    end->strides.surface = block.lines * end->strides.line + 32 * in(0, 9);
                }
                // The interrupt of a launch says nothing of the memory that its last block does not write.
                if (!copy.blocks.empty()) block.destination.place.primary = copy.blocks[0].destination.place.primary;
                copy.blocks.push_back(block);
            }
            all.push_back(transfer("bdma", copy));
        }
        return all;
    }

    std::vector<Transfer> reshapes()
    {
        std::vector<Transfer> all;
        for (std::uint32_t n = hardware_.rubik ? in(2, 4) : 0; n > 0; --n) {
            Reshape r;
            r.mode = static_cast<Reshape::Mode>(in(0, 2));
            r.precision = static_cast<Precision>(in(0, 2));
            r.width = in(1, 70);
            r.height = in(1, 5);
            r.channels = in(1, 70);
            if (r.mode == Reshape::Mode::Contract) {
                r.stride = {in(1, 4), in(1, 4)};
                r.width = in(1, 20);
                r.channels = in(1, 40) * r.sub_cubes();
            }
            r.input = place();
            r.output = place();
            all.push_back(transfer("rubik", r));
        }
        return all;
    }

private:
    static constexpr std::uint64_t kArea = 1u << 24;  // bytes for a tensor
    static constexpr std::uint64_t kMaxCycles = 6000;

    const std::string& one_of(const std::vector<std::string>& of) { return of[in(0, static_cast<std::uint32_t>(of.size()) - 1)]; }

    MemorySpec memory()
    {
        if (one_in(10)) return parse_memory(one_in(2) ? "ddr4-2400" : "lpddr4-3200");
        MemorySpec spec;
        constexpr std::uint32_t kLatency[] = {1, 16, 32, 64, 100, 200, 500};
        spec.read_latency = kLatency[in(0, 6)];
        spec.beat_interval = in(1, 4);
        spec.write_latency = in(1, 80);
        spec.command_interval = in(1, 4);
        spec.write_interval = in(1, 4);
        return spec;
    }

    /// Layers stand at multiples of 256 bytes, copies and cubes at any atom.
    Place place(std::uint64_t step = 32)
    {
        next_ += kArea;
        return {!hardware_.memory.has_secondary || !one_in(4), Address{next_ + step * in(0, 9)}};
    }

    Transfer transfer(const char* name, std::variant<Copy, Reshape, Lrn> what)
    {
        Transfer t;
        t.name = name;
        t.seed = random_();
        t.what = std::move(what);
        return t;
    }

    Layer layer(const std::string& kind)
    {
        for (;;) {
            RandomLayer r = LayerMaker(seed_ * 100003 + ++tries_, kind).make();
            if (r.hardware.name != hardware_.name) continue;
            if (kind == "pooled" && one_in(2)) random_post(r.layer, hardware_, random_);
            if (!fits(r.layer)) continue;
            Placement& at = r.layer.placement;
            for (Place* p : {&at.input, &at.weights, &at.output, &at.operands[0], &at.operands[1], &at.operands[2]}) *p = place(256);
            return r.layer;
        }
    }

    /// One pass that ends with its interrupt, and is not long.
    bool fits(const Layer& layer) const
    {
        if (layer.post.compares()) return false;
        try {
            const LayerPlan plan = plan_shape(layer, hardware_);
            if (plan.passes.size() != 1 || !std::holds_alternative<WaitInterrupt>(layer_program(layer, plan, hardware_).back()))
                return false;
            for (const TouchedRange& range : plan.ranges)
                if (range.bytes > kArea / 2) return false;
            return largest(lower_bounds(plan, layer, hardware_, memory_)) <= kMaxCycles;
        } catch (const ConfigError&) {
            return false;
        }
    }

    std::uint64_t seed_, tries_ = 0, next_ = 0x10000000;
    std::mt19937 random_;
    Hardware hardware_;
    MemorySpec memory_;
};

}  // namespace dlasim
