// Laws of CDMA under random programs, a memory of any speed and a CSC that releases when it likes:
// evaluating every cycle and skipping from event to event are the same, what was filled is what was
// asked for, and no program, however wrong, does harm.
#include <gtest/gtest.h>

#include <random>

#include "../unit/cdma_bench.h"
#include "base/bits.h"

namespace dlasim::test {
namespace cdma_skip_test {

/// A number that depends on its arguments only, so that both ways of evaluation see the same world.
std::uint32_t noise(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 0x1234567;
    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 29;
    return static_cast<std::uint32_t>(x);
}

struct World {
    std::uint32_t latency = 20, gap = 1, stall = 1, release_delay = 10, seed = 1;
};

/// A memory port: answers in order, after `latency`, at most one beat in `gap` cycles, request ready now and then.
class NoisyPort {
public:
    NoisyPort(ReadLink& link, const World& world, const Hardware& hw, std::uint32_t id)
        : link_(link), world_(world), atom_(hw.memory.atom_bytes), lanes_(hw.atoms_per_beat()), id_(id)
    {
    }
    std::uint64_t atoms = 0;

    void step(Cycle at)
    {
        if (link_.request.fires(at)) {
            const ReadRequest r = link_.request.item(at);
            atoms += r.atoms;
            for (std::uint32_t i = 0; i < r.atoms; i += lanes_) {
                Pending p;
                p.due = at + world_.latency;
                p.beat.atoms = std::min(lanes_, r.atoms - i);
                for (std::uint32_t b = 0; b < p.beat.atoms * atom_; ++b)
                    p.beat.data[b] = static_cast<std::uint8_t>(noise(r.address.byte() + i * atom_ + b, world_.seed));
                queue_.push_back(p);
            }
        }
        if (offered_ && link_.response.fires(at)) {
            queue_.pop_front();
            offered_ = false;
            next_ = at + world_.gap;
        }
        const bool ready = world_.stall <= 1 || noise(at, id_ * 77 + world_.seed) % world_.stall == 0;
        link_.request.set_ready(at + 1, ready);
        if (offered_) return;
        if (!queue_.empty() && queue_.front().due <= at + 1 && next_ <= at + 1) {
            link_.response.offer(at + 1, queue_.front().beat);
            offered_ = true;
        } else {
            link_.response.withdraw(at + 1);
        }
    }

private:
    struct Pending {
        Cycle due = 0;
        ReadBeat beat;
    };
    ReadLink& link_;
    const World world_;
    const std::uint32_t atom_, lanes_, id_;
    Ring<Pending> queue_{64};
    bool offered_ = false;
    Cycle next_ = 0;
};

struct Outcome {
    std::vector<std::pair<Cycle, std::uint32_t>> events;  // everything that left CDMA, in order
    std::vector<std::uint8_t> buffer;
    std::uint64_t entries = 0, slices = 0, kernels = 0, weight_entries = 0, data_atoms = 0, weight_atoms = 0;
    std::vector<std::pair<std::string, std::uint64_t>> counters;
    std::array<Cycle, kPhases> phases{};
    std::vector<std::pair<Cycle, Cycle>> clock;
    unsigned evaluations = 0;
    bool operator==(const Outcome& o) const
    {
        return events == o.events && buffer == o.buffer && counters == o.counters && phases == o.phases && clock == o.clock;
    }
};

using Writes = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Runs programs one after the other, each started when the one before has raised both interrupts or after `patience`.
Outcome run(const Hardware& hw, const std::vector<Writes>& programs, const World& world, bool skip, Cycle patience = 6000)
{
    CdmaBench bench(hw);
    Outcome out;
    NoisyPort ports[4] = {
        {bench.data, world, hw, 1}, {bench.weight, world, hw, 2}, {bench.data_cv, world, hw, 3}, {bench.weight_cv, world, hw, 4}};
    struct Flag : Sleeper {
        std::vector<Cycle> wakes;
        void wake_at(Cycle t) override { wakes.push_back(t); }
        bool due(Cycle t)
        {
            return std::erase_if(wakes, [&](Cycle w) { return w <= t; }) != 0;
        }
    } flag;
    bench.csb.request.reader = &flag;
    for (ReadLink* link : {&bench.data, &bench.weight, &bench.data_cv, &bench.weight_cv})
        link->request.connect(&flag, nullptr), link->response.consumer = &flag;
    bench.csc.data_released.reader = bench.csc.weight_released.reader = &flag;
    bench.csc.data_pending_request.reader = bench.csc.weight_pending_request.reader = &flag;

    std::size_t next_program = 0;
    Cycle start_at = 3, raise_at = kNever, drop_data = kNever, drop_weight = kNever, horizon = 0;
    unsigned interrupts = 0;
    const Cycle end = patience * programs.size() + 100;
    for (Cycle t = 0; t < end; ++t) {
        if (next_program < programs.size() && t == start_at) {
            bench.csb.request.put(t + 1, {reg::cdma::S_POINTER, static_cast<std::uint32_t>(next_program & 1), true});
            for (const auto& [offset, value] : programs[next_program]) bench.csb.request.put(t + 1, {offset, value, true});
            bench.csb.request.put(t + 2, {reg::cdma::D_OP_ENABLE, 1, true});
            ++next_program;
            raise_at = t + 6;
            start_at = t + patience;
            interrupts = 0;
        }
        // CSC asks for a new partition with every layer and withdraws some time after it was acknowledged.
        if (t == raise_at) {
            bench.csc.data_pending_request.set(t + 1, true);
            bench.csc.weight_pending_request.set(t + 1, true);
            drop_data = drop_weight = t + 40;
        }
        if (bench.csc.data_pending_ack.read(t) && drop_data > t + 5) drop_data = t + 5;
        if (bench.csc.weight_pending_ack.read(t) && drop_weight > t + 7) drop_weight = t + 7;
        if (t == drop_data) bench.csc.data_pending_request.set(t + 1, false), drop_data = kNever;
        if (t == drop_weight) bench.csc.weight_pending_request.set(t + 1, false), drop_weight = kNever;

        if (!skip || flag.due(t) || horizon <= t) {
            bench.core->advance(t);
            horizon = bench.core->horizon();
            ++out.evaluations;
        }
        for (NoisyPort& port : ports) port.step(t);
        while (bench.csc.data_filled.available(t)) {
            const DataUpdate u = bench.csc.data_filled.take();
            out.events.push_back({t, u.entries.count() * 16 + 1});
            out.entries += u.entries.count();
            out.slices += u.slices.count();
            bench.csc.data_released.put(t + world.release_delay, u);
        }
        while (bench.csc.weight_filled.available(t)) {
            const WeightUpdate u = bench.csc.weight_filled.take();
            out.events.push_back({t, u.entries.count() * 16 + 2});
            out.kernels += u.kernels.count();
            out.weight_entries += u.entries.count();
            bench.csc.weight_released.put(t + world.release_delay, u);
        }
        while (bench.interrupt.available(t)) {
            const std::uint32_t mask = bench.interrupt.take();
            out.events.push_back({t, mask * 16 + 3});
            for (std::uint32_t m = mask; m; m &= m - 1) ++interrupts;
            if (interrupts == 2) start_at = t + 30;
        }
        if (next_program == programs.size() && interrupts == 2 && t > start_at + 200) break;
        out.phases[0] = t + 1;
    }
    const Cycle stop = out.phases[0];
    for (std::uint32_t e = 0; e < bench.cbuf.entries(); ++e)
        out.buffer.insert(out.buffer.end(), bench.cbuf.entry(e), bench.cbuf.entry(e) + bench.cbuf.entry_bytes());
    const UnitReport report = bench.core->report(stop);
    out.counters = report.counters.all();
    for (const auto& [name, cycles] : report.clock_on) out.counters.push_back({name, cycles});
    for (std::size_t p = 0; p < kPhases; ++p) out.phases[p] = report.phases.cycles(static_cast<Phase>(p));
    for (const auto& [name, probe] : bench.probes.all())
        for (const Probe::Run& r : probe->runs(0, stop)) out.clock.push_back({r.start, r.length});
    out.data_atoms = ports[0].atoms + ports[2].atoms;
    out.weight_atoms = ports[1].atoms + ports[3].atoms;
    return out;
}

struct Dice {
    std::mt19937 engine;
    std::uint32_t operator()(std::uint32_t low, std::uint32_t high) { return low + engine() % (high - low + 1); }
};

/// A feature, image or Winograd layer that the rules of cdma.md 1.3 allow.
Writes legal_layer(const Hardware& hw, Dice& dice, unsigned kind)
{
    namespace r = reg::cdma;
    const std::uint32_t atom = hw.memory.atom_bytes, per_entry = hw.atoms_per_entry();
    const std::uint32_t precision = hw.full() ? dice(0, 2) : 0, element = precision ? 2 : 1;
    std::uint32_t w = dice(1, 20), h = dice(1, 9), c = dice(1, 6 * atom), format = 0, entries, lines_per_unit = 1,
                  misc = precision << 8 | precision << 12;
    const std::uint32_t data_banks = dice(1, 3), weight_banks = dice(1, 3);
    const std::uint32_t ring = data_banks * hw.cbuf.bank_depth;
    Writes p;
    if (kind == 1) {  // image
        static constexpr std::uint32_t kFormats[] = {0x00, 0x0c, 0x0d, 0x1c, 0x1d};
        static constexpr std::uint32_t kWide[] = {0x01, 0x06, 0x14, 0x1e, 0x21};
        const std::uint32_t code = hw.full() && precision ? kWide[dice(0, 4)] : kFormats[dice(0, 4)];
        const std::uint32_t components = code == 0 || code == 1 ? 1 : code >= 0x1c ? 3 : 4;
        const std::uint32_t pl = dice(0, 5), pr = dice(0, 5);
        w = dice(1, 70);
        c = components;
        entries = ceil_div((pl + w + pr) * components * element, hw.cbuf.entry_bytes);
        format = 1 | code << 8 | dice(0, 1) << 20;
        p.push_back({r::D_ZERO_PADDING, pl | pr << 8});
        p.push_back({r::D_LINE_STRIDE, round_up(w * 8 + atom, atom)});
        p.push_back({r::D_LINE_UV_STRIDE, round_up(w * 8 + atom, atom)});
    } else if (kind == 2) {  // Winograd
        const std::uint32_t sx = dice(1, 2), sy = dice(1, 2), wext = 4 * dice(1, 4), hext = 4 * dice(1, 3), pl = dice(0, 1);
        w = wext * sx - pl - dice(0, wext * sx - pl - 1 < 3 ? 0 : 3);
        h = hext * sy;
        c = dice(1, 3) * atom / element;
        entries = c * element / atom * sx * sy * wext / 4;
        misc |= 1;
        lines_per_unit = 4;
        p.push_back({r::D_DATAIN_SIZE_EXT_0, (wext - 1) | (hext - 1) << 16});
        p.push_back({r::D_CONV_STRIDE, (sx - 1) | (sy - 1) << 16});
        p.push_back({r::D_ZERO_PADDING, pl | (wext * sx - pl - w) << 8 | dice(0, 1) << 16});
        p.push_back({r::D_LINE_STRIDE, w * atom});
    } else {
        const std::uint32_t surfaces = ceil_div(c * element, atom), rest = surfaces % per_entry;
        entries = surfaces / per_entry * w + (rest == 3 ? w : ceil_div(rest * w, per_entry));
        p.push_back({r::D_LINE_STRIDE, w * atom});
        p.push_back({r::D_ZERO_PADDING, 0});
    }
    while (entries * lines_per_unit > ring / 2 && h > 1) h = 1, lines_per_unit = 1;
    if (entries * lines_per_unit > ring) return legal_layer(hw, dice, kind);
    const std::uint32_t grain = kind == 0 ? std::max(1u, std::min(dice(1, 4), ring / entries)) : 1;
    const std::uint32_t kernels = dice(1, 40), group = hw.kernel_group(precision ? Precision::Int16 : Precision::Int8);
    const std::uint32_t limit = weight_banks * hw.cbuf.bank_depth * hw.cbuf.entry_bytes / group;
    const std::uint32_t per_kernel = dice(1, std::min(limit, 300u));
    p.insert(p.end(), {
                          {r::D_MISC_CFG, misc},
                          {r::D_DATAIN_FORMAT, format},
                          {r::D_DATAIN_SIZE_0, (w - 1) | (h - 1) << 16},
                          {r::D_DATAIN_SIZE_1, c - 1},
                          {r::D_PIXEL_OFFSET, 0},
                          {r::D_DAIN_RAM_TYPE, hw.memory.has_secondary ? dice(0, 1) : 1},
                          {r::D_DAIN_ADDR_LOW_0, 0x10000 + dice(0, 16) * atom},
                          {r::D_DAIN_ADDR_LOW_1, 0x80000},
                          {r::D_SURF_STRIDE, h * w * atom},
                          {r::D_DAIN_MAP, 1},
                          {r::D_BATCH_NUMBER, 0},
                          {r::D_ENTRY_PER_SLICE, entries - 1},
                          {r::D_FETCH_GRAIN, grain - 1},
                          {r::D_WEIGHT_FORMAT, 0},
                          {r::D_WEIGHT_SIZE_0, per_kernel - 1},
                          {r::D_WEIGHT_SIZE_1, kernels - 1},
                          {r::D_WEIGHT_RAM_TYPE, hw.memory.has_secondary ? dice(0, 1) : 1},
                          {r::D_WEIGHT_ADDR_LOW, 0x200000 + dice(0, 9) * atom},
                          {r::D_WEIGHT_BYTES, round_up(per_kernel * kernels, hw.cbuf.entry_bytes)},
                          {r::D_CVT_CFG, dice(0, 1) | dice(0, 8) << 4},
                          {r::D_CVT_OFFSET, dice(0, 9)},
                          {r::D_CVT_SCALE, dice(1, 5)},
                          {r::D_ZERO_PADDING_VALUE, dice(0, 99)},
                          {r::D_MEAN_FORMAT, dice(0, 1)},
                          {r::D_BANK, (data_banks - 1) | (weight_banks - 1) << 16},
                          {r::D_PERF_ENABLE, 1},
                      });
    return p;
}

World random_world(Dice& dice)
{
    static constexpr std::uint32_t kGaps[] = {1, 1, 2, 5}, kLatencies[] = {8, 30, 120}, kStalls[] = {1, 1, 2, 4};
    return {kLatencies[dice(0, 2)], kGaps[dice(0, 3)], kStalls[dice(0, 3)], dice(1, 200), dice(1, 1000)};
}

class CdmaLaw : public testing::TestWithParam<std::string> {};

TEST_P(CdmaLaw, SkippingAndSteppingAreTheSameOnLegalLayers)
{
    const Hardware& hw = *find_preset(GetParam());
    Dice dice{std::mt19937(7)};
    for (unsigned i = 0; i < 60; ++i) {
        std::vector<Writes> programs;
        const unsigned layers = dice(1, 3);
        for (unsigned l = 0; l < layers; ++l) programs.push_back(legal_layer(hw, dice, hw.winograd ? dice(0, 2) : dice(0, 1)));
        const World world = random_world(dice);
        const Outcome step = run(hw, programs, world, false, 40000), skip = run(hw, programs, world, true, 40000);
        ASSERT_TRUE(step == skip) << "case " << i << ", events " << step.events.size() << " and " << skip.events.size();
        std::size_t interrupts = 0;
        for (const auto& [at, event] : step.events)
            if ((event & 15) == 3) interrupts += std::popcount(event >> 4);
        ASSERT_EQ(interrupts, 2 * layers) << "case " << i << " did not finish";
    }
}

TEST_P(CdmaLaw, WaitsAreSleptThrough)
{
    const Hardware& hw = *find_preset(GetParam());
    Dice dice{std::mt19937(17)};
    const Writes program = legal_layer(hw, dice, 0);
    const World slow{500, 1, 1, 300, 1};
    const Outcome step = run(hw, {program}, slow, false, 40000), skip = run(hw, {program}, slow, true, 40000);
    EXPECT_LT(skip.evaluations + 400, step.evaluations);  // a latency of 500 and nothing to do meanwhile
}

TEST_P(CdmaLaw, WhatIsAnnouncedIsWhatTheProgramAskedFor)
{
    const Hardware& hw = *find_preset(GetParam());
    Dice dice{std::mt19937(11)};
    for (unsigned i = 0; i < 40; ++i) {
        const Writes program = legal_layer(hw, dice, 0);
        std::map<std::uint32_t, std::uint32_t> r(program.begin(), program.end());
        const Outcome out = run(hw, {program}, random_world(dice), true, 40000);
        const std::uint32_t height = (r[reg::cdma::D_DATAIN_SIZE_0] >> 16) + 1, width = (r[reg::cdma::D_DATAIN_SIZE_0] & 0xffff) + 1;
        const std::uint32_t element = hw.full() && r[reg::cdma::D_MISC_CFG] >> 12 ? 2 : 1;
        EXPECT_EQ(out.slices, height);
        EXPECT_EQ(out.entries, std::uint64_t{height} * (r[reg::cdma::D_ENTRY_PER_SLICE] + 1));
        EXPECT_EQ(out.kernels, r[reg::cdma::D_WEIGHT_SIZE_1] + 1);
        EXPECT_EQ(out.weight_entries, r[reg::cdma::D_WEIGHT_BYTES] / hw.cbuf.entry_bytes);
        EXPECT_EQ(out.weight_atoms, r[reg::cdma::D_WEIGHT_BYTES] / hw.memory.atom_bytes);
        EXPECT_EQ(out.data_atoms,
                  std::uint64_t{width} * height * ceil_div((r[reg::cdma::D_DATAIN_SIZE_1] + 1) * element, hw.memory.atom_bytes));
    }
}

TEST_P(CdmaLaw, RegistersFullOfNoiseDoNoHarm)
{
    const Hardware& hw = *find_preset(GetParam());
    Dice dice{std::mt19937(13)};
    for (unsigned i = 0; i < 60; ++i) {
        std::vector<Writes> programs;
        for (unsigned l = 0; l < 3; ++l) {
            Writes p = legal_layer(hw, dice, hw.winograd ? dice(0, 2) : dice(0, 1));
            // A few registers, or all of them, hold anything.
            const unsigned wrong = i % 3 == 0 ? 60 : dice(1, 4);
            for (unsigned k = 0; k < wrong; ++k) {
                const std::uint32_t offset = 0x14 + 4 * dice(0, (0xc0 - 0x14) / 4);
                p.push_back({offset, dice.engine() & (dice(0, 1) ? 0xffffffffu : 0x000f000fu)});
            }
            programs.push_back(p);
        }
        const World world = random_world(dice);
        const Outcome step = run(hw, programs, world, false, 1500), skip = run(hw, programs, world, true, 1500);
        ASSERT_TRUE(step == skip) << "case " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Presets, CdmaLaw,
                         testing::Values("nv_full", "nv_large", "nv_medium_1024_full", "nv_medium_512", "nv_small_256", "nv_small"),
                         [](const auto& info) { return info.param; });

}  // namespace cdma_skip_test
}  // namespace dlasim::test
