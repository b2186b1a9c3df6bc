#include "loadable/nvidia/driver_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "registers/interrupts.h"

namespace dlasim::loadable {
namespace {

using reg::glb::kCdmaData;
using reg::glb::kCdmaWeights;

}  // namespace

DriverSource::DriverSource(std::shared_ptr<const DriverWork> work)
    : work_(std::move(work)), programmer_(work_->hardware, *work_->loadable, work_->memories, batch_, Programmer::Habit::Nvidia)
{
}

void DriverSource::next(std::uint32_t read, Program& program)
{
    batch_.clear();
    while (batch_.empty() && part_ < work_->parts.size()) {
        if (waits_) handle(read);
        else begin();
    }
    program.insert(program.end(), std::make_move_iterator(batch_.begin()), std::make_move_iterator(batch_.end()));
}

void DriverSource::begin()
{
    if (part().step) {
        batch_.push_back(HostStep{*part().step});
        ++part_;
        return;
    }
    const HardwareTask& task = part().task;
    programmer_.begin(task);
    prepared_.assign(task.operations.size(), {});
    chain_of_.assign(task.operations.size(), 0);
    for (std::size_t k = 0; k < part().chains.size(); ++k)
        for (const std::size_t i : part().chains[k]) chain_of_[i] = k;
    last_group_.fill(1);
    chains_done_ = 0;
    fetched_.clear();
    driver_.emplace(task, programmer_.next_groups(),
                    Driver::Calls{.place = [this](std::size_t i, unsigned) { programmer_.read_pointers(part().task.operations[i].kind); },
                                  .program = [this](std::size_t i, unsigned group) { prepared_[i] = programmer_.prepare(i, group); },
                                  .enable = [this](std::size_t i, unsigned) { enable(i); }});
    complete_empty();
    end_turn();
}

void DriverSource::enable(std::size_t operation)
{
    const Operation& o = part().task.operations[operation];
    if (!o.runs()) {
        empty_.emplace_back(o.kind, prepared_[operation].group);
        return;
    }
    programmer_.enable(prepared_[operation]);
    // t0 is the first convolution's, or the last enable before the first wait.
    if (!marked_ && mark_ != Mark::Convolution) {
        mark_ = o.kind == Kind::Conv ? Mark::Convolution : Mark::Other;
        mark_at_ = batch_.size();
    }
    batch_.push_back(Stamp{part().first_stamp + operation});
    enabled_.push_back({part().task.task, operation, part().first_chain + chain_of_[operation], prepared_[operation].group,
                        part().first_stamp + operation});
}

/// The handler has read `status`, writes it back and reads it again; then events are handled, by kind.
void DriverSource::handle(std::uint32_t status)
{
    waits_ = false;
    programmer_.clear_interrupts(status);
    for (std::size_t k = 0; k < kKinds; ++k) {
        const Kind kind = static_cast<Kind>(k);
        for (const unsigned group : {1 - last_group_[k], last_group_[k]}) {
            if (kind == Kind::Conv) {
                if (status & kCdmaWeights.bit(group)) driver_->fetched(group, Link::WeightsDone);
                if (status & kCdmaData.bit(group)) driver_->fetched(group, Link::DataDone);
                if (const auto i = running(kind, group); i && (status & (kCdmaWeights.bit(group) | kCdmaData.bit(group))))
                    fetched_.insert(*i);
            }
            if (status & Programmer::done_bit(kind, group)) complete(kind, group);
            complete_empty();
            if (stopped()) return end_turn();
        }
    }
    end_turn();
}

std::optional<std::size_t> DriverSource::running(Kind kind, unsigned group) const
{
    for (const std::size_t i : driver_->active())
        if (part().task.operations[i].kind == kind && driver_->group(i) == group) return i;
    return std::nullopt;
}

void DriverSource::complete(Kind kind, unsigned group)
{
    const auto operation = running(kind, group);
    if (!operation) return;
    last_group_[static_cast<std::size_t>(kind)] = group;
    const std::size_t chain = chain_of_[*operation];
    if (part().chains[chain].front() == *operation) {
        if (chain < part().judged.size()) batch_.push_back(HostStep{part().judged[chain]});
        ++chains_done_;
        if (stopped()) return;
    }
    driver_->complete(kind, group);
}

/// What has nothing to do has completed when it is enabled.
void DriverSource::complete_empty()
{
    while (!empty_.empty() && !stopped()) {
        const auto [kind, group] = empty_.back();
        empty_.pop_back();
        complete(kind, group);
    }
}

/// No more chains are wanted.
bool DriverSource::stopped() const { return part().most < part().chains.size() && chains_done_ >= part().most; }

/// After everything that can be done now: the next task, or the handler when the pin rises.
void DriverSource::end_turn()
{
    if (!marked_ && mark_ != Mark::None) {
        batch_.insert(batch_.begin() + static_cast<std::ptrdiff_t>(mark_at_), MarkT0{});
        marked_ = true;
    }
    if (driver_->completed() == part().task.operations.size() || stopped()) {
        driver_.reset();
        empty_.clear();
        ++part_;
        return;
    }
    waits_ = true;
    batch_.push_back(WaitPin{});
    programmer_.read_interrupts();
}

std::uint32_t DriverSource::likely_status() const
{
    if (!waits_) return 0;
    const HardwareTask& task = part().task;
    const std::vector<std::size_t> active = driver_->active();
    for (const std::size_t i : active)
        if (task.operations[i].kind == Kind::Conv && !fetched_.contains(i))
            return kCdmaWeights.bit(driver_->group(i)) | kCdmaData.bit(driver_->group(i));
    std::optional<std::size_t> first;
    for (const std::size_t i : active) {
        const Chain& chain = part().chains[chain_of_[i]];
        if (chain.front() == i && std::ranges::all_of(chain, [&](std::size_t member) { return driver_->active(member); }))
            first = std::min(chain_of_[i], first.value_or(chain_of_[i]));
    }
    if (!first)
        throw ConfigError(
            task.where,
            fmt::format("makes no progress in mode driver after {} of {} operations: NVIDIA's driver waits for an interrupt that "
                        "never occurs. Counts of dependencies and events must agree",
                        driver_->completed(), task.operations.size()));
    std::uint32_t status = 0;
    for (const std::size_t i : part().chains[*first]) status |= Programmer::done_bit(task.operations[i].kind, driver_->group(i));
    return status;
}

}  // namespace dlasim::loadable
