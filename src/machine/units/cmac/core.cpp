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
class CmacCore final : public DirectCore<CmacCore> {
public:
    CmacCore(const Hardware& hardware, const CmacPorts& ports, MacHalf half)
        : hardware_(hardware),
          half_(half),
          ports_(ports),
          silicon_(facts::cmac::of(hardware)),
          from_csc_(half == MacHalf::A ? silicon_.from_csc_a : silicon_.from_csc_b),
          registers_(*find_unit(hardware, half == MacHalf::A ? "CMAC_A" : "CMAC_B"), ports.csb),
          block_(std::max(1u, hardware.kernel_group(Precision::Int8) / 2), hardware.mac.atomic_c),
          tiles_(hardware.winograd ? std::max(1u, hardware.kernel_group(Precision::Int8) / 2) : 1),
          fp16_(std::max(1u, silicon_.fp16_kernels)),
          atoms_by_cells_(hardware.mac.atomic_k / 2 + 1)
    {
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    void catch_up(Cycle end) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override { return running_ ? "stripes from CSC" : "idle, not enabled"; }
    std::uint64_t work() const override { return counted_.atoms; }
    void attach(ProbeSet& probes) override;

private:
    const char* name() const { return half_ == MacHalf::A ? "cmac_a" : "cmac_b"; }
    void start(Cycle at)
    {
        running_ = true;
        clocks_.on(at, &CmacCounters::op);
        phases_.enter(Phase::Starved, at);
    }
    void take_stripes(Cycle to);
    void change_layers(Cycle to);
    void take(const Stripe& stripe, Cycle at);
    std::size_t cells_at_work(std::uint32_t kernels, std::uint32_t group);
    void multiply(const Operands& operands, std::uint32_t atoms, std::uint32_t first_kernel, std::uint32_t kernels, Sums& sums);
    void multiply_tiles(const Operands& o, std::uint32_t atoms, const std::uint8_t* weights, std::uint32_t kernels, std::size_t slot);

    // ---- what never changes
    const Hardware& hardware_;
    const MacHalf half_;
    const CmacPorts ports_;
    const facts::cmac::Facts silicon_;
    const Cycle from_csc_;

    // ---- what a layer sets
    RegisterFile registers_;

    // ---- what moves
    numerics::MacBlock block_;
    numerics::TileBlock tiles_;
    numerics::Fp16Block fp16_;
    struct Buffers {
        std::array<std::vector<std::int32_t>, kBuffers> narrow;
        std::array<std::vector<std::int64_t>, kBuffers> wide;
        std::size_t next = 0;
    } buffers_;
    Cycle now_ = 0;
    bool running_ = false;  // between E and done
    Cycle done_at_ = kNever;

    // ---- what is counted
    BusyPlan phases_;
    GatedClocks<CmacCounters> clocks_;
    CmacCounters counted_;                       // without the cells
    std::vector<std::uint64_t> atoms_by_cells_;  // with that many cells of this half at work
    struct Last {
        std::uint32_t kernels = 0, group = 0;  // of the stripe before
        std::size_t cells = 0;
    } last_;
    Probe* output_probe_ = nullptr;
};

}  // namespace

[[gnu::flatten]] void CmacCore::advance(Cycle to)
{
    now_ = to;
    registers_.advance(to);
    take_stripes(to);
    change_layers(to);
    phases_.account_until(to);
}

/// Those of cycles up to `to`, each in its cycle.
void CmacCore::take_stripes(Cycle to)
{
    while (ports_.stripes.available(to)) {
        const Cycle at = ports_.stripes.next();
        change_layers(at);
        take(ports_.stripes.take(), at);
    }
}

void CmacCore::change_layers(Cycle to)
{
    for (;;) {
        if (running_ && done_at_ <= to) {
            registers_.finish(done_at_);
            clocks_.off(done_at_ + facts::cmac::kGateOff + 1);
            phases_.enter(Phase::Gated, done_at_ + 1);
            running_ = false;
            done_at_ = kNever;
        }
        if (running_ || registers_.start_cycle() > to) return;
        start(registers_.start_cycle());
    }
}

void CmacCore::take(const Stripe& s, Cycle at)
{
    const Cycle first = s.first_atom + from_csc_;
    // Atoms that arrive while the clock is off are lost.
    if (!running_ && registers_.start_cycle() > first) {
        ++counted_.lost_stripes;
        return;
    }
    if (!running_) start(registers_.start_cycle());
    const std::uint32_t group = hardware_.kernel_group(s.precision);
    const std::uint32_t cells = std::max(1u, group / 2);
    const std::uint32_t first_kernel = half_ == MacHalf::A ? 0 : cells;
    const std::uint32_t loaded = s.kernels.count(), end_kernel = half_ == MacHalf::A ? std::min(loaded, cells) : loaded;
    const std::uint32_t kernels = end_kernel > first_kernel ? end_kernel - first_kernel : 0;
    Sums sums{.first_atom = s.first_atom + silicon_.to_cacc,
              .atoms = s.atoms,
              .kernels = Kernels{kernels},
              .outputs = 1,
              .pitch = block_.pitch(),
              .channel_end = s.channel_end,
              .layer_end = s.layer_end};
    if (s.operands) multiply(*s.operands, s.atoms, first_kernel, kernels, sums);
    ports_.sums.put(at + 1, sums, s.operands || s.channel_end);
    if (output_probe_) output_probe_->run(first + silicon_.control, s.atoms);
    phases_.busy(first, first + s.atoms, s.layer_end ? Phase::Draining : Phase::Starved);
    ++counted_.stripes;
    counted_.atoms += s.atoms;
    counted_.products += std::uint64_t{s.atoms} * kernels * s.lanes;
    atoms_by_cells_[cells_at_work(kernels, group)] += s.atoms;
    if (s.layer_end) done_at_ = first + s.atoms - 1 + facts::cmac::kDone;
}

/// Cells of this half that hold kernels: the same from stripe to stripe, most of the time.
std::size_t CmacCore::cells_at_work(std::uint32_t kernels, std::uint32_t group)
{
    if (kernels != last_.kernels || group != last_.group) {
        last_.kernels = kernels;
        last_.group = group;
        last_.cells = std::min<std::size_t>(ceil_div(kernels, group / hardware_.mac.atomic_k), atoms_by_cells_.size() - 1);
    }
    return last_.cells;
}

void CmacCore::multiply(const Operands& o, std::uint32_t count, std::uint32_t first_kernel, std::uint32_t kernels, Sums& sums)
{
    const std::size_t slot = buffers_.next++ % kBuffers;
    const std::size_t size = std::size_t{count} * block_.pitch() * (o.winograd ? kOutputs : 1);
    const std::uint8_t* weights = o.weights + std::size_t{first_kernel} * o.weight_pitch;
    if (o.precision == Precision::Int8) {
        if (buffers_.narrow[slot].size() < size) buffers_.narrow[slot].resize(size);
        sums.narrow = buffers_.narrow[slot].data();
    } else {
        if (buffers_.wide[slot].size() < size) buffers_.wide[slot].resize(size);
        sums.wide = buffers_.wide[slot].data();
    }
    if (o.winograd) {
        sums.outputs = kOutputs;
        multiply_tiles(o, count, weights, kernels, slot);
    } else if (o.precision == Precision::Int8) {
        block_.load_int8(weights, o.weight_pitch, Kernels(kernels), o.lanes);
        block_.multiply_int8(o.atoms, count, buffers_.narrow[slot].data());
    } else if (o.precision == Precision::Int16) {
        block_.load_int16(weights, o.weight_pitch, Kernels(kernels), o.lanes);
        block_.multiply_int16(o.atoms, count, buffers_.wide[slot].data());
    } else {
        fp16_.load(weights, o.weight_pitch, Kernels(kernels), o.lanes);
        fp16_.multiply(o.atoms, count, buffers_.wide[slot].data(), block_.pitch());
    }
}

void CmacCore::multiply_tiles(const Operands& o, std::uint32_t count, const std::uint8_t* weights, std::uint32_t kernels, std::size_t slot)
{
    if (o.precision == Precision::Fp16) {
        fp16_.load(weights, o.weight_pitch, Kernels(kernels), kTileLanes);
        fp16_.multiply_tiles(o.atoms, count, buffers_.wide[slot].data(), block_.pitch());
        return;
    }
    tiles_.load(o.precision == Precision::Int8, weights, o.weight_pitch, Kernels(kernels));
    if (o.precision == Precision::Int8) tiles_.multiply_bytes(o.atoms, count, buffers_.narrow[slot].data());
    else tiles_.multiply_words(o.atoms, count, buffers_.wide[slot].data());
}

Cycle CmacCore::horizon() const
{
    Cycle next = std::min(registers_.horizon(), ports_.stripes.next());
    next = std::min(next, running_ ? done_at_ : registers_.start_cycle());
    return std::max(next, now_ + 1);
}

void CmacCore::catch_up(Cycle end)
{
    if (end != 0) take_stripes(end - 1);
}

UnitReport CmacCore::report(Cycle end)
{
    catch_up(end);
    CmacCounters totals = counted_;
    // A cell without a kernel is idle: its registers take no atom.
    std::uint64_t working = 0;
    totals.cell_atoms.resize(atoms_by_cells_.size() - 1);
    for (std::size_t cell = totals.cell_atoms.size(); cell-- > 0;) totals.cell_atoms[cell] = working += atoms_by_cells_[cell + 1];
    return {name(), phases_.log(end), totals, clocks_, end};
}

void CmacCore::attach(ProbeSet& probes)
{
    output_probe_ = probes.get(half_ == MacHalf::A ? "mac_a2accu" : "mac_b2accu");
    clocks_.attach(probes, name());
    phases_.record(probes.phases(name()));
    if (half_ == MacHalf::A) probes.also("clock_on_cmac_a", "clock_on_cmac_a_op*");
}

std::unique_ptr<Core> make_cmac(const Hardware& hardware, const CmacPorts& ports, MacHalf half)
{
    return std::make_unique<CmacCore>(hardware, ports, half);
}

}  // namespace dlasim
