#include "units/csb/glb.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/csb.h"
#include "registers/fields/glb.h"
#include "registers/interrupts.h"
#include "units/csb/counters.h"

namespace dlasim {
namespace {
constexpr Cycle kPulseToPin = facts::csb::kPulseToStatus + facts::csb::kStatusToPin;
}

GlbCore::GlbCore(const Hardware& hardware, CsbLink& csb, std::vector<Pulse<std::uint32_t>*> sources)
    : registers_(*find_unit(hardware, "GLB"), csb), sources_(std::move(sources))
{
    registers_.read_status = [this](std::uint32_t offset, unsigned, Cycle) -> std::optional<std::uint32_t> {
        if (offset == reg::glb::S_INTR_STATUS) return status_;
        if (offset == reg::glb::S_INTR_SET) return 0;
        return std::nullopt;
    };
    registers_.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle) {
        if (offset == reg::glb::S_INTR_SET) set_ |= data;
        if (offset == reg::glb::S_INTR_STATUS) clear_ |= data;
    };
}

void GlbCore::advance(Cycle to)
{
    set_ = clear_ = 0;
    registers_.advance(to);
    // A pulse is registered once before it meets the write strobe: pulse in I, set in I + 1.
    for (Pulse<std::uint32_t>* source : sources_)
        while (source->next() != kNever && source->next() + 1 <= to) {
            done_.push_back({to + 1 + facts::csb::kStatusToPin, source->take()});
            set_ |= done_.back().bits;
            if (logs_) note_pin(done_.back().bits, done_.back().cycle);
        }
    const std::uint32_t writable = registers_.unit().find(reg::glb::S_INTR_STATUS)->write_mask;
    const std::uint32_t cleared = status_ & clear_ & ~registers_.get(reg::glb::S_INTR_MASK);
    if ((cleared & (cleared - 1)) != 0) cleared_together_ = cleared;
    status_ = ((status_ & ~clear_) | set_) & writable;
    update_pin(to + 1);
}

/// The pin shows these bits in cycle `at`.
void GlbCore::note_pin(std::uint32_t bits, Cycle at)
{
    const std::uint32_t unmasked = bits & ~registers_.get(reg::glb::S_INTR_MASK);
    for (const reg::glb::Interrupt* source : reg::glb::kInterrupts)
        if (unmasked & source->bits()) (*logs_)[WaitPoint::Pin].event(at, find_points(source->unit)->done, Cause::Interrupt, kPulseToPin);
}

void GlbCore::update_pin(Cycle status_changed)
{
    const std::uint32_t unmasked = ~registers_.get(reg::glb::S_INTR_MASK);
    const bool level = (status_ & unmasked) != 0;
    if (on_interrupt && level && (!level_ || (set_ & status_ & unmasked) != 0)) on_interrupt(status_changed + facts::csb::kStatusToPin);
    if (level == level_) return;
    level_ = level;
    pin.put(status_changed + facts::csb::kStatusToPin, level);
}

Cycle GlbCore::horizon() const
{
    Cycle next = registers_.horizon();
    for (const Pulse<std::uint32_t>* source : sources_)
        if (source->next() != kNever) next = std::min(next, source->next() + 1);
    return next;
}

UnitReport GlbCore::report(Cycle end)
{
    PhaseLog gated;
    gated.account_until(end);
    return {"GLB", gated, GlbCounters{.interrupt_pulses = done_.size()}};
}

std::string GlbCore::waiting_for() const
{
    std::string text = fmt::format("interrupt status {:#x}, mask {:#x}", status_, registers_.get(reg::glb::S_INTR_MASK));
    // Who waits for an edge each waits for ever.
    if (cleared_together_ != 0) text += fmt::format("; one write cleared {:#x} at once", cleared_together_);
    return text;
}

}  // namespace dlasim
