#include "units/cmac/core.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/busy_plan.h"
#include "facts/cmac.h"
#include "links/direct_core.h"
#include "numerics/fp16_block.h"
#include "numerics/mac_block.h"
#include "numerics/tile_block.h"
#include "registers/register_file.h"
#include "units/cmac/counters.h"

namespace dlasim {
namespace {
constexpr std::uint32_t kTileLanes = numerics::kTileLanes, kOutputs = numerics::kTileOutputs;
constexpr std::size_t kBuffers = 4;  // sums under way to CACC: taken in the next cycle
struct CmacCore final : DirectCore<CmacCore> {
    CmacCore(const Hardware& hw, const CmacPorts& p, MacHalf h)
        : hardware(hw),
          half(h),
          ports(p),
          silicon(facts::cmac::of(hw)),
          from_csc(h == MacHalf::A ? silicon.from_csc_a : silicon.from_csc_b),
          registers(*find_unit(hw, h == MacHalf::A ? "CMAC_A" : "CMAC_B"), p.csb),
          atoms_by_cells(hw.mac.atomic_k / 2 + 1),
          block(std::max(1u, hw.kernel_group(Precision::Int8) / 2), hw.mac.atomic_c),
          tiles(hw.winograd ? std::max(1u, hw.kernel_group(Precision::Int8) / 2) : 1),
          fp16(std::max(1u, silicon.fp16_kernels))
    {
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    void catch_up(Cycle end) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override { return running ? "stripes from CSC" : "idle, not enabled"; }
    std::uint64_t work() const override { return counted.atoms; }
    void attach(ProbeSet& probes) override;
    const char* name() const { return half == MacHalf::A ? "cmac_a" : "cmac_b"; }
    void start(Cycle at)
    {
        running = true;
        clocks.on(at, &CmacCounters::op);
        phases.enter(Phase::Starved, at);
    }
    void take_stripes(Cycle to);
    void change_layers(Cycle to);
    void take(const Stripe& stripe, Cycle at);
    std::size_t cells_at_work(std::uint32_t kernels, std::uint32_t group);
    void multiply(const Operands& operands, std::uint32_t atoms, std::uint32_t first_kernel, std::uint32_t kernels, Sums& sums);
    void multiply_tiles(const Operands& o, std::uint32_t atoms, const std::uint8_t* weights, std::uint32_t kernels, std::size_t slot);

    const Hardware& hardware;
    const MacHalf half;
    const CmacPorts ports;
    const facts::cmac::Facts silicon;
    const Cycle from_csc;
    RegisterFile registers;

    Cycle now = 0;
    bool running = false;  // between E and done
    Cycle done_at = kNever;
    BusyPlan phases;
    GatedClocks<CmacCounters> clocks;
    CmacCounters counted;                            // without the cells
    std::vector<std::uint64_t> atoms_by_cells;       // with that many cells of this half at work
    std::uint32_t last_kernels = 0, last_group = 0;  // of the stripe before
    std::size_t last_cells = 0;

    numerics::MacBlock block;
    numerics::TileBlock tiles;
    numerics::Fp16Block fp16;
    std::array<std::vector<std::int32_t>, kBuffers> narrow;
    std::array<std::vector<std::int64_t>, kBuffers> wide;
    std::size_t next_buffer = 0;

    Probe* output_probe = nullptr;
};

}  // namespace

[[gnu::flatten]] void CmacCore::advance(Cycle to)
{
    now = to;
    registers.advance(to);
    take_stripes(to);
    change_layers(to);
    phases.account_until(to);
}

/// Those of cycles up to `to`, each in its cycle.
void CmacCore::take_stripes(Cycle to)
{
    while (ports.stripes.available(to)) {
        const Cycle at = ports.stripes.next();
        change_layers(at);
        take(ports.stripes.take(), at);
    }
}

void CmacCore::change_layers(Cycle to)
{
    for (;;) {
        if (running && done_at <= to) {
            registers.finish(done_at);
            clocks.off(done_at + facts::cmac::kGateOff + 1);
            phases.enter(Phase::Gated, done_at + 1);
            running = false;
            done_at = kNever;
        }
        if (running || registers.start_cycle() > to) return;
        start(registers.start_cycle());
    }
}

void CmacCore::take(const Stripe& s, Cycle at)
{
    const Cycle first = s.first_atom + from_csc;
    // Atoms that arrive while the clock is off are lost.
    if (!running && registers.start_cycle() > first) {
        ++counted.lost_stripes;
        return;
    }
    if (!running) start(registers.start_cycle());
    const std::uint32_t group = hardware.kernel_group(s.precision);
    const std::uint32_t cells = std::max(1u, group / 2);
    const std::uint32_t first_kernel = half == MacHalf::A ? 0 : cells;
    const std::uint32_t loaded = s.kernels.count(), end_kernel = half == MacHalf::A ? std::min(loaded, cells) : loaded;
    const std::uint32_t kernels = end_kernel > first_kernel ? end_kernel - first_kernel : 0;
    Sums sums{.first_atom = s.first_atom + silicon.to_cacc,
              .atoms = s.atoms,
              .kernels = Kernels{kernels},
              .outputs = 1,
              .pitch = block.pitch(),
              .channel_end = s.channel_end,
              .layer_end = s.layer_end};
    if (s.operands) multiply(*s.operands, s.atoms, first_kernel, kernels, sums);
    ports.sums.put(at + 1, sums, s.operands || s.channel_end);
    if (output_probe) output_probe->run(first + silicon.control, s.atoms);
    phases.busy(first, first + s.atoms, s.layer_end ? Phase::Draining : Phase::Starved);
    ++counted.stripes;
    counted.atoms += s.atoms;
    counted.products += std::uint64_t{s.atoms} * kernels * s.lanes;
    atoms_by_cells[cells_at_work(kernels, group)] += s.atoms;
    if (s.layer_end) done_at = first + s.atoms - 1 + facts::cmac::kDone;
}

/// Cells of this half that hold kernels: the same from stripe to stripe, most of the time.
std::size_t CmacCore::cells_at_work(std::uint32_t kernels, std::uint32_t group)
{
    if (kernels != last_kernels || group != last_group) {
        last_kernels = kernels;
        last_group = group;
        last_cells = std::min<std::size_t>(ceil_div(kernels, group / hardware.mac.atomic_k), atoms_by_cells.size() - 1);
    }
    return last_cells;
}

void CmacCore::multiply(const Operands& o, std::uint32_t count, std::uint32_t first_kernel, std::uint32_t kernels, Sums& sums)
{
    const std::size_t slot = next_buffer++ % kBuffers;
    const std::size_t size = std::size_t{count} * block.pitch() * (o.winograd ? kOutputs : 1);
    const std::uint8_t* weights = o.weights + std::size_t{first_kernel} * o.weight_pitch;
    if (o.precision == Precision::Int8) {
        if (narrow[slot].size() < size) narrow[slot].resize(size);
        sums.narrow = narrow[slot].data();
    } else {
        if (wide[slot].size() < size) wide[slot].resize(size);
        sums.wide = wide[slot].data();
    }
    if (o.winograd) {
        sums.outputs = kOutputs;
        multiply_tiles(o, count, weights, kernels, slot);
    } else if (o.precision == Precision::Int8) {
        block.load_int8(weights, o.weight_pitch, Kernels(kernels), o.lanes);
        block.multiply_int8(o.atoms, count, narrow[slot].data());
    } else if (o.precision == Precision::Int16) {
        block.load_int16(weights, o.weight_pitch, Kernels(kernels), o.lanes);
        block.multiply_int16(o.atoms, count, wide[slot].data());
    } else {
        fp16.load(weights, o.weight_pitch, Kernels(kernels), o.lanes);
        fp16.multiply(o.atoms, count, wide[slot].data(), block.pitch());
    }
}

void CmacCore::multiply_tiles(const Operands& o, std::uint32_t count, const std::uint8_t* weights, std::uint32_t kernels, std::size_t slot)
{
    if (o.precision == Precision::Fp16) {
        fp16.load(weights, o.weight_pitch, Kernels(kernels), kTileLanes);
        fp16.multiply_tiles(o.atoms, count, wide[slot].data(), block.pitch());
        return;
    }
    tiles.load(o.precision == Precision::Int8, weights, o.weight_pitch, Kernels(kernels));
    if (o.precision == Precision::Int8) tiles.multiply_bytes(o.atoms, count, narrow[slot].data());
    else tiles.multiply_words(o.atoms, count, wide[slot].data());
}

Cycle CmacCore::horizon() const
{
    Cycle next = std::min(registers.horizon(), ports.stripes.next());
    next = std::min(next, running ? done_at : registers.start_cycle());
    return std::max(next, now + 1);
}

void CmacCore::catch_up(Cycle end)
{
    if (end != 0) take_stripes(end - 1);
}

UnitReport CmacCore::report(Cycle end)
{
    catch_up(end);
    CmacCounters totals = counted;
    // A cell without a kernel is idle: its registers take no atom.
    std::uint64_t working = 0;
    totals.cell_atoms.resize(atoms_by_cells.size() - 1);
    for (std::size_t cell = totals.cell_atoms.size(); cell-- > 0;) totals.cell_atoms[cell] = working += atoms_by_cells[cell + 1];
    return {name(), phases.log(end), totals, clocks, end};
}

void CmacCore::attach(ProbeSet& probes)
{
    output_probe = probes.get(half == MacHalf::A ? "mac_a2accu" : "mac_b2accu");
    clocks.attach(probes, name());
    phases.record(probes.phases(name()));
    if (half == MacHalf::A) probes.also("clock_on_cmac_a", "clock_on_cmac_a_op*");
}

std::unique_ptr<Core> make_cmac(const Hardware& hardware, const CmacPorts& ports, MacHalf half)
{
    return std::make_unique<CmacCore>(hardware, ports, half);
}

}  // namespace dlasim
