#include "platform/software.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "links/guard.h"

namespace dlasim {
namespace {
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;
// A register that never takes the value is a hang, not a reason to run for ever.
constexpr std::uint64_t kPollLimit = 1u << 20;
// From a unit's state to the end of the read that saw it: csb.md 2.2, decode to the port.
constexpr Cycle kReadLatency = 10;
}  // namespace

Software::Software(const sc_core::sc_module_name& name, const Clock& clock, const Program& program, std::uint32_t status_address,
                   HostSpeed speed, std::unique_ptr<ProgramSource> source)
    : sc_module(name), clock_(clock), program_(program), source_(std::move(source)), status_address_(status_address), speed_(speed)
{
    SC_HAS_PROCESS(Software);
    SC_THREAD(run);
    SC_METHOD(watch);
    sensitive << interrupt;
    dont_initialize();
}

void Software::watch()
{
    const bool high = interrupt.read();
    if (high) interrupts_.push_back(clock_.now());
    note(high ? RegisterAccess::Kind::PinRises : RegisterAccess::Kind::PinFalls);
}

void Software::note(RegisterAccess::Kind kind, std::uint32_t address, std::uint32_t value)
{
    if (keeps_accesses) accesses_.push_back({kind, clock_.now(), address, value});
}

/// One access. Returns in the cycle in which it completes: write accepted, or read data at the port.
std::uint32_t Software::transfer(std::uint32_t address, std::optional<std::uint32_t> value)
{
    std::uint32_t data = value.value_or(0);
    tlm::tlm_generic_payload payload;
    payload.set_command(value ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    if (payload.is_response_error())
        throw MachineError(fmt::format("register access at {:#x}: {}", address, payload.get_response_string()));
    wait(delay);
    if (value) last_write_ = clock_.now();
    else last_read_ = data;
    note(value ? RegisterAccess::Kind::Write : RegisterAccess::Kind::Read, address, data);
    return data;
}

void Software::wait_for_pin()
{
    if (interrupt.read()) return works(Cause::Interrupt);
    if (logs) (*logs)[WaitPoint::Software].waits(clock_.now(), WaitPoint::Pin, Cause::Interrupt);
    while (!interrupt.read()) wait(interrupt.posedge_event());
    woken_ = clock_.now() + 1;  // in this cycle it still waits, whatever it offers in it
    if (logs) (*logs)[WaitPoint::Software].works(woken_, Cause::Interrupt);
}

/// From the pin to what handles it.
void Software::delay_handler()
{
    if (speed_.interrupt_latency != 0) wait(clock_.until(clock_.now() + speed_.interrupt_latency));
}

/// From this cycle on it is busy by itself.
void Software::works(Cause cause)
{
    if (logs) (*logs)[WaitPoint::Software].works(std::max(clock_.now(), woken_), cause);
}

/// It reads a register again and again: it waits for that unit, and the answer takes its time.
void Software::polls(const std::string& name)
{
    if (!logs) return;
    if (const UnitPoints* polled = find_points(std::string_view(name).substr(0, name.find('.'))))
        return (*logs)[WaitPoint::Software].waits(std::max(clock_.now(), woken_), polled->works, Cause::Polling, kReadLatency);
    works(Cause::Polling);
}

/// Software that decides reads for its interrupt handler or for what it writes next. Why a fixed program reads is unknown.
Cause Software::access_cause(const std::string& name, Cause otherwise) const
{
    if (!source_) return otherwise;
    return name.starts_with("GLB.") ? Cause::Interrupt : Cause::Programming;
}

void Software::perform(const ProgramEntry& entry)
{
    std::visit(Overloaded{
                   [&](const RegisterWrite& write) {
                       works(access_cause(write.name, Cause::Programming));
                       transfer(write.address, write.value);
                   },
                   [&](const RegisterRead& read) {
                       works(access_cause(read.name, Cause::Polling));
                       const std::uint32_t value = transfer(read.address, std::nullopt);
                       reads_.emplace_back(read.name, value);
                       if (read.check && (value & read.mask) != (read.expected & read.mask))
                           failed_checks_.push_back(fmt::format("{} reads {:#010x}, expected {:#010x} under mask {:#010x}", read.name,
                                                                value, read.expected, read.mask));
                   },
                   [&](const WaitPin&) {
                       wait_for_pin();
                       delay_handler();
                   },
                   [&](const MarkT0&) {},
                   [&](const Stamp& stamp) {
                       stamps_.push_back(last_write_);
                       stamp_numbers_.push_back(stamp.number);
                   },
                   [&](const HostStep& step) {
                       if (on_host) on_host(step);
                   },
                   [&](const WaitInterrupt&) {
                       wait_for_pin();
                       delay_handler();
                       transfer(status_address_, 0xffffffffu);
                       while (interrupt.read()) wait(interrupt.negedge_event());
                   },
                   [&](const PollRegister& poll) {
                       polls(poll.name);
                       for (std::uint64_t tries = 0;; ++tries) {
                           const std::uint32_t value = transfer(poll.address, std::nullopt);
                           if ((value & poll.mask) == (poll.expected & poll.mask)) break;
                           if (tries == kPollLimit)
                               throw MachineError(fmt::format("{} never reads {:#x} under mask {:#x}, but {:#x}", poll.name, poll.expected,
                                                              poll.mask, value));
                           if (!source_) next_cycle();
                       }
                   },
                   [&](const WaitStatus& status_wait) {
                       const auto missing = [&] { return status_wait.bits & ~seen_status_; };
                       while (missing() != 0) {
                           wait_for_pin();
                           const std::uint32_t status = transfer(status_address_, std::nullopt);
                           next_cycle();
                           transfer(status_address_, status);
                           seen_status_ |= status;
                           while (interrupt.read() && missing() != 0) {
                               next_cycle();
                               if (clock_.now() > last_write_ + 16) break;  // another source holds the pin
                           }
                       }
                       seen_status_ &= ~status_wait.bits;
                   },
               },
               entry);
}

void Software::run()
{
    if (!enabled) return;
    guard_kernel(
        [this] {
            run_program();
            finished_ = true;
        },
        [this](const char* what) { failure_ = what; });
    if (on_end) on_end();
}

/// The next entry that may write is after a mark.
bool Software::mark_follows() const
{
    for (std::size_t i = position_ + 1; i < program().size(); ++i) {
        if (std::holds_alternative<MarkT0>(program()[i])) return true;
        if (!std::holds_alternative<RegisterRead>(program()[i]) && !std::holds_alternative<PollRegister>(program()[i])) return false;
    }
    return false;
}

void Software::mark()
{
    marked_ = true;
    t0_ = last_write_;
    if (on_mark) on_mark(t0_);
}

/// There is another entry: of the program, or the source has one more.
bool Software::has_next()
{
    if (source_ && position_ == played_.size()) source_->next(last_read_, played_);
    return position_ < program().size();
}

void Software::run_program()
{
    bool started = false;
    Cycle next = 0;  // the first in which an entry may be offered
    for (; has_next(); ++position_) {
        if (std::holds_alternative<MarkT0>(program()[position_])) {
            if (!marked_) mark();
            marked_ = false;
            continue;
        }
        if (std::holds_alternative<Stamp>(program()[position_]) || std::holds_alternative<HostStep>(program()[position_])) {
            perform(program()[position_]);
            continue;
        }
        // The next entry is offered in the cycle after the last one completed, after a write when the host is ready for it.
        if (started && clock_.now() < next) wait(clock_.until(next));
        started = true;
        perform(program()[position_]);
        if (accepted_.size() < noted.size() && noted[accepted_.size()] == position_) accepted_.push_back(last_write_);
        if (std::holds_alternative<RegisterWrite>(program()[position_]) && mark_follows()) mark();
        // An interrupt wait completed in the cycle before the pin is low.
        completed_ = std::holds_alternative<WaitInterrupt>(program()[position_]) ? clock_.now() - 1 : clock_.now();
        // What follows a wait for the pin is offered in the cycle in which the pin is high; after a read, software that decides goes on
        // in the cycle of the answer.
        const bool write = std::holds_alternative<RegisterWrite>(program()[position_]);
        const bool at_once = std::holds_alternative<WaitPin>(program()[position_]) || (source_ && !write);
        next = completed_ + (at_once ? 0 : 1) + (write ? speed_.cycles_per_write : 0);
    }
}

std::string Software::waiting_for() const
{
    if (position_ >= program().size()) return "the program has ended";
    return std::visit(Overloaded{
                          [](const RegisterWrite& w) { return fmt::format("write of {} to {}", w.value, w.name); },
                          [](const RegisterRead& r) { return "read of " + r.name; },
                          [](const WaitPin&) { return std::string("the interrupt pin"); },
                          [](const MarkT0&) { return std::string("mark"); },
                          [](const Stamp&) { return std::string("stamp"); },
                          [](const HostStep& h) { return fmt::format("step {} of the CPU", h.number); },
                          [](const WaitInterrupt& w) { return "interrupt " + w.name; },
                          [](const PollRegister& p) { return fmt::format("{} to read {:#x}", p.name, p.expected); },
                          [](const WaitStatus& w) { return fmt::format("interrupt status bits {:#x}", w.bits); },
                      },
                      program()[position_]);
}

}  // namespace dlasim
