#include "workload/operations.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include "registers/fields/bdma.h"
#include "registers/fields/cdp.h"
#include "registers/fields/pdp.h"
#include "registers/fields/rbk.h"
#include "registers/interrupts.h"
#include "registers/sdp_engines.h"
#include "workload/programmed.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kConvolution = (1u << static_cast<unsigned>(Launched::Cacc) << 1) - 1;

/// A unit that can be launched.
struct LaunchedUnit {
    Launched unit = Launched::Host;
    ProgrammedUnit programmed;

    const RegisterGroup& group() const { return programmed.group(); }
    bool written(std::uint32_t offset) const { return group().entry(offset).has_value(); }
};

struct Launch {
    std::size_t entry = 0;
    bool flying = false;      // takes what the unit before hands over
    bool hands_over = false;  // SDP to PDP
    bool silent = false;      // writes nothing
    bool reads = false;       // SDP: with SDP_RDMA
    bool primary = false;     // where it writes
};

/// An engine of SDP takes operands from memory. Registers of a group have reset values until they are written: bypassed.
bool takes_operands(const LaunchedUnit& unit, const reg::sdp::Engine& at)
{
    const RegisterGroup& sdp = unit.group();
    if (!unit.written(at.bypass.offset) || sdp.get(at.bypass)) return false;
    return (!sdp.get(at.alu_bypass) && sdp.get(at.alu_src)) || (!sdp.get(at.mul_bypass) && sdp.get(at.mul_src));
}

Launch launch_of(const LaunchedUnit& launched, std::size_t entry)
{
    const RegisterGroup& group = launched.group();
    Launch launch{.entry = entry};
    if (launched.unit == Launched::Sdp) {
        using namespace reg::sdp;
        launch.flying = group.get(D_FEATURE_MODE_CFG::FLYING_MODE);
        launch.hands_over = group.get(D_FEATURE_MODE_CFG::OUTPUT_DST);
        const bool compares =
            launched.written(D_DP_EW_CFG) && !group.get(kEw.bypass) && !group.get(kEw.alu_bypass) && group.get(kEw.algorithm) == kEqual;
        launch.silent = launch.hands_over || compares;
        launch.reads = !launch.flying ||
                       std::any_of(std::begin(kEngines), std::end(kEngines), [&](const Engine& e) { return takes_operands(launched, e); });
        launch.primary = group.get(D_DST_DMA_CFG::DST_RAM_TYPE);
    } else if (launched.unit == Launched::Pdp) {
        launch.flying = !group.get(reg::pdp::D_OPERATION_MODE_CFG::FLYING_MODE);
        launch.primary = group.get(reg::pdp::D_DST_RAM_CFG::DST_RAM_TYPE);
    } else if (launched.unit == Launched::Cdp) {
        launch.primary = group.get(reg::cdp::D_DST_DMA_CFG::DST_RAM_TYPE);
    } else if (launched.unit == Launched::Rubik) {
        launch.primary = group.get(reg::rbk::D_DAOUT_RAM_TYPE::DATAOUT_RAM_TYPE);
    }
    return launch;
}

using Launches = std::array<std::vector<Launch>, kLaunched>;

/// Numbers of those for which `belongs` holds.
template <class Belongs>
std::vector<std::size_t> chosen(const std::vector<Launch>& launches, Belongs belongs)
{
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < launches.size(); ++i)
        if (belongs(launches[i])) numbers.push_back(i);
    return numbers;
}

}  // namespace

struct Operations::Builder {
    Builder(const Hardware& hardware, std::span<const ProgramEntry> program, Operations& operations) : all(operations)
    {
        for (std::size_t unit = 0; unit + 1 < kLaunched; ++unit)
            if (const UnitRegisters* registers = find_unit(hardware, kLaunchedNames[unit]))
                units.push_back({static_cast<Launched>(unit), ProgrammedUnit(*registers)});
        for (std::size_t i = 0; i < program.size(); ++i) {
            if (const auto* write = std::get_if<RegisterWrite>(&program[i])) take(*write, i);
            else if (std::get_if<HostStep>(&program[i])) launches[index(Launched::Host)].push_back({.entry = i});
        }
        join();
        number();
    }

    void take(const RegisterWrite& write, std::size_t entry)
    {
        for (LaunchedUnit& unit : units) {
            const ProgrammedUnit::Effect effect = unit.programmed.take(write, entry);
            if (effect == ProgrammedUnit::Effect::None) continue;
            if (unit.unit == Launched::Bdma) count_atoms(unit.group(), write);
            if (effect != ProgrammedUnit::Effect::Launch) return;
            launches[index(unit.unit)].push_back(launch_of(unit, entry));
            if (unit.unit == Launched::Bdma) all.bdma_atoms_.push_back(atoms);
            return;
        }
    }

    void count_atoms(const RegisterGroup& bdma, const RegisterWrite& write)
    {
        using namespace reg::bdma;
        if (write.address % UnitRegisters::kWindow == CFG_OP && CFG_OP::EN.get(write.value))
            atoms += (std::uint64_t{bdma.get(CFG_LINE::SIZE)} + 1) * (std::uint64_t{bdma.get(CFG_LINE_REPEAT::NUMBER)} + 1) *
                     (std::uint64_t{bdma.get(CFG_SURF_REPEAT::NUMBER)} + 1);
    }

    /// The launch belongs to that operation, or is one by itself.
    void belong(Launched unit, std::size_t launch, const Number* operation)
    {
        std::vector<Number>& numbers = all.by_launch_[index(unit)];
        numbers.resize(launches[index(unit)].size(), kNobody);
        if (!operation) all.list_.push_back({});
        const Number number = operation ? *operation : static_cast<Number>(all.list_.size());
        numbers[launch] = number;
        LaunchedOperation& one = all.list_[number - 1];
        one.units |= 1u << index(unit);
        const std::size_t entry = launches[index(unit)][launch].entry;
        one.entry = std::max(one.entry, entry);
        one.launches.push_back({unit, launch, entry});
    }

    /// Those of `unit` one after the other to those of `others`; what is left is by itself.
    void follow(Launched unit, const std::vector<std::size_t>& mine, Launched other, const std::vector<std::size_t>& others)
    {
        for (std::size_t i = 0; i < mine.size(); ++i)
            belong(unit, mine[i], i < others.size() ? &all.by_launch_[index(other)][others[i]] : nullptr);
    }

    std::vector<std::size_t> every(Launched unit) const
    {
        std::vector<std::size_t> numbers(launches[index(unit)].size());
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
        return numbers;
    }

    void join()
    {
        const auto of = [&](Launched unit, auto belongs) { return chosen(launches[index(unit)], belongs); };
        Launched most = Launched::Cacc;  // a program that ends in the middle has started some of them
        for (const Launched unit : {Launched::Cdma, Launched::Csc, Launched::CmacA, Launched::CmacB})
            if (launches[index(unit)].size() > launches[index(most)].size()) most = unit;
        follow(most, every(most), most, {});
        for (const Launched unit : {Launched::Cdma, Launched::Csc, Launched::CmacA, Launched::CmacB, Launched::Cacc})
            if (unit != most) follow(unit, every(unit), most, every(most));
        follow(Launched::Sdp, of(Launched::Sdp, [](const Launch& l) { return l.flying; }), most, every(most));
        follow(Launched::Sdp, of(Launched::Sdp, [](const Launch& l) { return !l.flying; }), most, {});
        follow(Launched::SdpRdma, every(Launched::SdpRdma), Launched::Sdp, of(Launched::Sdp, [](const Launch& l) { return l.reads; }));
        follow(Launched::Pdp, of(Launched::Pdp, [](const Launch& l) { return l.flying; }), Launched::Sdp,
               of(Launched::Sdp, [](const Launch& l) { return l.hands_over; }));
        const std::vector<std::size_t> alone = of(Launched::Pdp, [](const Launch& l) { return !l.flying; });
        follow(Launched::Pdp, alone, Launched::Pdp, {});
        follow(Launched::PdpRdma, every(Launched::PdpRdma), Launched::Pdp, alone);
        follow(Launched::Cdp, every(Launched::Cdp), Launched::Cdp, {});
        follow(Launched::CdpRdma, every(Launched::CdpRdma), Launched::Cdp, every(Launched::Cdp));
        for (std::size_t i = index(Launched::Cdp) + 1; i < kLaunched; ++i)  // they are alone
            follow(static_cast<Launched>(i), every(static_cast<Launched>(i)), static_cast<Launched>(i), {});
    }

    void number()
    {
        std::vector<Number> order(all.list_.size()), place(all.list_.size() + 1, kNobody);
        std::iota(order.begin(), order.end(), Number{1});
        std::sort(order.begin(), order.end(), [&](Number a, Number b) { return all.list_[a - 1].entry < all.list_[b - 1].entry; });
        std::vector<LaunchedOperation> sorted;
        for (const Number old : order) {
            sorted.push_back(all.list_[old - 1]);
            place[old] = static_cast<Number>(sorted.size());
        }
        all.list_ = std::move(sorted);
        for (LaunchedOperation& operation : all.list_) std::ranges::sort(operation.launches, {}, &OperationLaunch::entry);
        for (std::vector<Number>& numbers : all.by_launch_)
            for (Number& number : numbers) number = place[number];
        for (std::size_t client = 0; client < kWriteClients; ++client) {
            const std::optional<Launched> writer = launched_called(kClientNames[client]);
            if (!writer) continue;  // a read engine
            const std::size_t unit = index(*writer);
            for (std::size_t i = 0; i < launches[unit].size(); ++i)
                if (const Launch& launch = launches[unit][i]; !launch.silent)
                    all.writers_[client][launch.primary].push_back(all.by_launch_[unit][i]);
        }
    }

    Operations& all;
    std::vector<LaunchedUnit> units;
    Launches launches;
    std::uint64_t atoms = 0;  // of BDMA so far
};

std::uint32_t interrupts_of(Launched unit, unsigned group)
{
    std::uint32_t bits = 0;
    for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts)
        if (interrupt->unit.starts_with(kLaunchedNames[static_cast<std::size_t>(unit)])) bits |= interrupt->bit(group);
    return bits;
}

std::optional<Launched> LaunchedOperation::ends() const
{
    for (std::size_t i = kLaunched; i-- > static_cast<std::size_t>(Launched::Cacc);)
        if (const auto unit = static_cast<Launched>(i); has(unit) && interrupts_of(unit, 0) != 0) return unit;
    return std::nullopt;
}

Operations::Operations(const Hardware& hardware, std::span<const ProgramEntry> program) { Builder(hardware, program, *this); }

std::string Operations::units(Number number) const
{
    const std::uint32_t units = (*this)[number].units;
    std::string text = units & kConvolution ? "convolution" : "";
    for (std::size_t unit = 0; unit < kLaunched; ++unit)
        if ((units & ~kConvolution) >> unit & 1) text.append(text.empty() ? "" : ", ").append(kLaunchedNames[unit]);
    return text;
}

Operations::Number Operations::of_bdma(std::uint64_t atom) const
{
    const auto launch = std::upper_bound(bdma_atoms_.begin(), bdma_atoms_.end(), atom);
    return of(Launched::Bdma, static_cast<std::size_t>(launch - bdma_atoms_.begin()));
}

}  // namespace dlasim
