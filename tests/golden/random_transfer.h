// Random copies, reshapes and LRN layers that are legal: by seed, all paths between the memories, strides, groups, paces.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "base/error.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "facts/presets.h"
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {

struct RandomTransfer {
    Transfer transfer;
    MemorySpec memory;
    const Hardware* hardware = nullptr;
};

class TransferMaker {
public:
    TransferMaker(std::uint64_t seed, std::string kind)
        : random_(static_cast<std::uint32_t>(seed * 2654435761u + 12345)), kind_(std::move(kind))
    {
    }

    /// Tries until the lowering takes one.
    RandomTransfer make()
    {
        for (;;) {
            RandomTransfer r;
            r.hardware = find_preset("nv_full");
            r.memory = memory();
            r.transfer.name = kind_;
            r.transfer.seed = random_();
            if (kind_ == "bdma") r.transfer.what = copy();
            else if (kind_ == "rubik") r.transfer.what = reshape();
            else r.transfer.what = lrn(*(r.hardware = machine()));
            try {
                if (plan_transfer(r.transfer, *r.hardware).bytes <= 1u << 20) return r;
            } catch (const ConfigError&) {
            }
        }
    }

private:
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }
    bool one_in(std::uint32_t n) { return in(1, n) == 1; }

    MemorySpec memory()
    {
        if (one_in(2)) return {};
        if (one_in(4)) return parse_memory(one_in(2) ? "ddr4-2400" : "lpddr4-3200");
        MemorySpec spec;
        constexpr std::uint32_t kLatency[] = {1, 16, 64, 100, 200};
        spec.read_latency = kLatency[in(0, 4)];
        spec.beat_interval = in(1, 4);
        spec.write_latency = in(1, 40);
        if (one_in(3)) spec.command_interval = in(1, 3);
        if (one_in(3)) spec.write_interval = in(1, 3);
        return spec;
    }

    // ---- bdma

    Copy copy()
    {
        Copy copy;
        const std::uint32_t blocks = one_in(8) ? in(15, 45) : in(1, 6);
        free_[0] = free_[1] = 0x90000000;
        for (std::uint32_t i = 0; i < blocks; ++i) copy.blocks.push_back(block(copy));
        return copy;
    }

    CopyBlock block(const Copy& before)
    {
        CopyBlock b;
        b.group = before.blocks.empty() || one_in(3) ? in(0, 1) : before.blocks.back().group;
        b.wait = one_in(4);
        b.line_bytes = 32 * (one_in(3) ? in(1, 3) : one_in(8) ? in(1, 600) : in(1, 40));
        b.lines = one_in(6) ? in(1, 60) : in(1, 5);
        b.surfaces = one_in(2) ? 1 : in(1, 4);
        b.source.place = {one_in(2), Address{0x80000000ull + 32ull * in(0, 2000)}};
        strides(b, b.source);
        if (one_in(4)) b.source.strides.line = 32 * in(0, 20);  // lines may overlap, or be the same
        b.destination.place.primary = one_in(2);
        strides(b, b.destination);
        std::uint64_t& free = free_[b.destination.place.primary];
        b.destination.place.address = Address{free += 32 * in(0, 40)};
        free += std::uint64_t{b.surfaces} * b.destination.strides.surface + std::uint64_t{b.lines} * b.destination.strides.line;
        if (b.wait && !before.blocks.empty()) meet(b, before.blocks[in(0, static_cast<std::uint32_t>(before.blocks.size()) - 1)]);
        return b;
    }

    /// Packed, apart, or the lines of all surfaces one after the other.
    void strides(const CopyBlock& b, BlockEnd& end)
    {
        const std::uint32_t gap = one_in(2) ? 0 : 32 * in(0, 9);
        if (one_in(4)) {
            end.strides.surface = b.line_bytes + gap;
            end.strides.line = b.surfaces * end.strides.surface;
        } else {
            end.strides.line = b.line_bytes + gap;
            end.strides.surface = b.lines * end.strides.line + (one_in(2) ? 0 : 32 * in(0, 50));
        }
    }

    /// Reads what an earlier block wrote, overwrites what it read or wrote.
    void meet(CopyBlock& b, const CopyBlock& earlier)
    {
        if (one_in(2)) b.source.place = earlier.destination.place;
        else b.destination.place = one_in(2) ? earlier.source.place : earlier.destination.place;
    }

    // ---- rubik

    Reshape reshape()
    {
        Reshape r;
        r.mode = static_cast<Reshape::Mode>(in(0, 2));
        r.precision = static_cast<Precision>(in(0, 2));
        r.width = in(1, one_in(2) ? 20 : 300);
        r.height = in(1, 6);
        r.channels = in(1, one_in(2) ? 20 : 150);
        if (r.mode == Reshape::Mode::Contract) {
            r.stride = one_in(3) ? Extent{in(1, 32), in(1, 4)} : Extent{in(1, 4), in(1, 4)};
            r.width = in(1, one_in(3) ? 100 : 20);
            r.channels = in(1, 70) * r.sub_cubes();
        }
        r.input = {one_in(2), Address{0x80000000ull + 32ull * in(0, 9)}};
        r.output = {one_in(2), Address{0xa0000000ull + 32ull * in(0, 9)}};
        return r;
    }

    // ---- lrn_int8, lrn_int16, lrn_fp16

    /// int8 runs on every machine, the rest on nv_full.
    const Hardware* machine()
    {
        if (kind_ != "lrn_int8") return find_preset("nv_full");
        static const Hardware widest = load_hardware("nv_large", {"mac.atomic_c=64", "mac.atomic_k=64"});  // of all atoms
        const std::uint32_t place = in(0, static_cast<std::uint32_t>(presets().size()));
        return place < presets().size() ? &presets()[place] : &widest;
    }
    double pick(std::initializer_list<double> of) { return of.begin()[in(0, static_cast<std::uint32_t>(of.size()) - 1)]; }

    Lrn lrn(const Hardware& hardware)
    {
        Lrn l;
        l.precision = kind_ == "lrn_int8" ? Precision::Int8 : kind_ == "lrn_int16" ? Precision::Int16 : Precision::Fp16;
        l.size = 3 + 2 * in(0, 3);
        l.alpha = pick({0, 1e-5, 1e-4, 0.01, 0.3, 5});
        l.beta = pick({0.5, 0.75, 1, 1.5});
        l.bias = pick({0.5, 1, 2, 5});
        if (l.precision != Precision::Fp16) {
            l.input_scale = pick({1.0 / 4096, 1.0 / 127, 0.05, 1, 1.2});
            l.output_scale = l.input_scale * std::pow(l.bias, -l.beta) * pick({0.3, 1, 1, 4});
        }
        l.width = one_in(2) ? in(1, 9) : in(1, 40);
        l.height = in(1, 8);
        l.channels = in(1, one_in(2) ? 20 : 150);
        const std::uint64_t step = std::max(32u, hardware.memory.atom_bytes);
        l.input = {one_in(2) || !hardware.memory.has_secondary, Address{0x80000000ull + step * in(0, 9)}};
        l.output = {one_in(2) || !hardware.memory.has_secondary, Address{0xa0000000ull + step * in(0, 9)}};
        if (one_in(5)) l.output = l.input;
        return l;
    }

    std::mt19937 random_;
    std::string kind_;
    std::uint64_t free_[2] = {};
};

}  // namespace dlasim
