#include "lowering/program/sequence.h"

#include <algorithm>
#include <utility>

#include "base/bits.h"
#include "base/expects.h"
#include "facts/cacc.h"
#include "lowering/memory/interleave.h"
#include "registers/fields/groups.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

/// Converters follow from the values of tensors: written always, so that a run without values takes the same cycles.
bool follows_from_values(const RegisterValue& write)
{
    return write.unit->name == "SDP" && (write.row->name.starts_with("D_CVT_") || write.row->name.starts_with("D_DP_"));
}

}  // namespace

Sequence::Operation Sequence::begin(std::uint32_t done, std::uint32_t raised)
{
    DLASIM_EXPECTS((done & interrupts_) != 0);
    list_.push_back({done, raised & interrupts_});
    return list_.size() - 1;
}

unsigned Sequence::take(Unit unit)
{
    const unsigned group = turn_[unit];
    turn_[unit] ^= 1;
    if (user_[unit][group]) wait_for(*user_[unit][group]);
    user_[unit][group] = list_.size();
    return group;
}

void Sequence::wait_for(Operation operation)
{
    Listed& waited = list_[operation];
    if (waited.waited) return;
    waited.waited = true;
    program_.add(WaitStatus{waited.raised});
}

void Sequence::wait_for_all()
{
    for (Operation operation = 0; operation < list_.size(); ++operation) wait_for(operation);
}

void Sequence::before_registers()
{
    if (overlap_ == Overlap::None) wait_for_all();
}

void Sequence::before_enable(const Operations& after)
{
    if (overlap_ == Overlap::Unprotected) return;
    const Operation last = list_.size() - 1;  // the one that begins
    if (overlap_ == Overlap::All)
        for (const Operation before : after) wait_for(before);
    else
        for (Operation before = 0; before < last; ++before) wait_for(before);
}

template <class Write>
void Sequence::start(Operation operation, const Write& registers, const Operations& after, const Ready& ready,
                     std::optional<Operation> array)
{
    const PassRegisters written = writes_ != Writes::None ? registers() : PassRegisters();
    program_.write(writes_ == Writes::Changed ? changed(written.writes) : written.writes);
    before_enable(after);
    if (ready) ready();
    enable(written.enables, array);
    if (operation == 0) program_.add(MarkT0{});
}

void Sequence::enable(const std::vector<RegisterValue>& enables, std::optional<Operation> array)
{
    if (!array || waited(*array)) return program_.write(enables);
    std::vector<RegisterValue> all = enables;
    const auto csc = std::stable_partition(all.begin(), all.end(), [](const RegisterValue& value) { return value.unit->name != "CSC"; });
    program_.write(std::vector<RegisterValue>(all.begin(), csc));
    wait_for(*array);
    program_.write(std::vector<RegisterValue>(csc, all.end()));
}

std::vector<RegisterValue> Sequence::changed(std::vector<RegisterValue> writes)
{
    const std::uint32_t pointer = reg::groups::S_POINTER.offset;
    std::erase_if(writes, [&](const RegisterValue& write) {
        const UnitRegisters& unit = *write.unit;
        const std::uint32_t offset = write.row->offset;
        if ((!unit.grouped(offset) && offset != pointer) || follows_from_values(write)) return false;
        const std::uint64_t group = unit.grouped(offset) ? registers_.at(unit.base + pointer) : 0;
        const auto [held, first] = registers_.try_emplace(group << 32 | (unit.base + offset), write.value);
        if (first) return false;
        return std::exchange(held->second, write.value) == write.value;
    });
    return writes;
}

std::optional<Sequence::Operation> Sequence::before_small(const PlannedPass& pass) const
{
    const std::uint64_t places = std::uint64_t{pass.geometry.out_width} * pass.geometry.out_height;
    const std::uint64_t results = places * ceil_div(pass.pass.kernels, hw_.kernel_group(pass.pass.precision));
    return facts::cacc::of(hw_).ends_may_meet(results) ? convolution_ : std::nullopt;
}

Sequence::Operation Sequence::add(const PlannedPass& pass, const Operations& after, const Ready& ready)
{
    before_registers();
    const Pass& p = pass.pass;
    UnitGroups groups;
    const bool sdp = p.mode != PassMode::Pool;
    if (p.convolves()) groups.array = take(kArray);
    if (sdp) groups.sdp = take(kSdp);
    if (sdp && sdp_reads(p)) groups.sdp_rdma = take(kSdpRdma);
    if (pass.pool) groups.pdp = take(kPdp);
    if (pass.pool && !sdp) groups.pdp_rdma = take(kPdpRdma);
    const std::uint32_t of_sdp = sdp ? reg::glb::kSdp.bit(groups.sdp) : 0, of_pdp = pass.pool ? reg::glb::kPdp.bit(groups.pdp) : 0;
    const Operation operation = begin(of_pdp != 0 ? of_pdp : of_sdp, of_sdp | of_pdp);
    const std::optional<Operation> array = p.convolves() ? before_small(pass) : std::nullopt;
    if (p.convolves()) convolution_ = operation;
    start(
        operation, [&] { return registers_of(pass, groups, hw_); }, after, ready, array);
    return operation;
}

Sequence::Operations Sequence::add(const std::vector<PlannedPass>& passes, const Operations& after)
{
    Operations operations;
    for (const PlannedPass& pass : passes) operations.push_back(add(pass, after));
    return operations;
}

Sequence::Operations Sequence::add(const ReshapePass& pass, const Operations& after)
{
    if (contraction_interrupt(hw_, 0) == 0) return add(interleaving_copies(pass, hw_), after);
    before_registers();
    const unsigned group = take(kContraction);
    const Operation operation = begin(contraction_interrupt(hw_, group), contraction_interrupt(hw_, group));
    start(operation, [&] { return reshape_writes(pass, group, hw_); }, after, {});
    return {operation};
}

Sequence::Operation Sequence::add(const LrnPass& pass, bool tables, const Operations& after, const Ready& ready)
{
    before_registers();
    if (tables) {
        for (const std::optional<Operation>& user : user_[kCdp])
            if (user) wait_for(*user);
        if (writes_ != Writes::None) write_lrn_tables(program_, pass.tables);
    }
    const unsigned group = take(kCdp);
    const Operation operation = begin(reg::glb::kCdp.bit(group), reg::glb::kCdp.bit(group));
    start(
        operation, [&] { return lrn_writes(pass, group, hw_); }, after, ready);
    return operation;
}

}  // namespace dlasim
