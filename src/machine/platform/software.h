// The software side of a run: issues a register program on the bus, one entry after the other, and
// watches the interrupt pin. Semantics of every entry: interfaces.md 3.
#pragma once
#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>

#include "causes/wait_log.h"
#include "links/module.h"
#include "registers/tables.h"
#include "workload/run_result.h"

namespace dlasim {

class Software final : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<Software> socket{"socket"};
    sc_core::sc_in<bool> interrupt{"interrupt"};

    /// `status_address`: byte address of GLB.S_INTR_STATUS. With a source it plays what that says, not `program`.
    Software(const sc_core::sc_module_name& name, const Clock& clock, const Program& program, std::uint32_t status_address, HostSpeed speed,
             std::unique_ptr<ProgramSource> source = nullptr);

    std::function<void(Cycle t0)> on_mark;  // in cycle t0, except for a mark after an entry that writes status by itself
    std::function<void()> on_end;           // the last entry has completed
    std::function<void(const HostStep& step)> on_host;
    WaitLogs* logs = nullptr;  // records what it waits for; null: off
    bool enabled = true;       // else it does nothing
    bool keeps_accesses = false;
    std::vector<std::size_t> noted;  // entries, ascending: writes whose acceptance is kept

    bool finished() const { return finished_; }
    Cycle completed() const { return completed_; }  // cycle in which the last entry completed
    Cycle t0() const { return t0_; }
    const std::vector<Cycle>& interrupt_cycles() const { return interrupts_; }
    const std::vector<Cycle>& stamps() const { return stamps_; }                      // in the order of their cycles
    const std::vector<std::size_t>& stamp_numbers() const { return stamp_numbers_; }  // of these
    const std::vector<RegisterAccess>& accesses() const { return accesses_; }         // with keeps_accesses
    const std::vector<Cycle>& accepted() const { return accepted_; }                  // of those noted
    const std::vector<std::pair<std::string, std::uint32_t>>& reads() const { return reads_; }
    const std::vector<std::string>& failed_checks() const { return failed_checks_; }
    const std::string& failure() const { return failure_; }  // why the program was given up
    bool decides() const { return source_ != nullptr; }
    const Program& program() const { return source_ ? played_ : program_; }
    /// What the program waits for, for the diagnosis of a hang.
    std::string waiting_for() const;

private:
    void run();
    void run_program();
    void watch();
    bool has_next();
    void note(RegisterAccess::Kind kind, std::uint32_t address = 0, std::uint32_t value = 0);
    void perform(const ProgramEntry& entry);
    bool mark_follows() const;
    void wait_for_pin();
    void delay_handler();
    void works(Cause cause);
    Cause access_cause(const std::string& name, Cause otherwise) const;
    void polls(const std::string& name);
    void mark();
    std::uint32_t transfer(std::uint32_t address, std::optional<std::uint32_t> value);
    void next_cycle() { wait(clock_.period()); }

    const Clock& clock_;
    const Program& program_;
    std::unique_ptr<ProgramSource> source_;
    Program played_;  // of the source
    std::uint32_t status_address_;
    HostSpeed speed_;
    std::size_t position_ = 0;
    std::uint32_t seen_status_ = 0;  // bits WaitStatus has collected
    bool finished_ = false, marked_ = false;
    Cycle completed_ = 0, last_write_ = 0, t0_ = 0, woken_ = 0;
    std::uint32_t last_read_ = 0;
    std::vector<Cycle> interrupts_, stamps_, accepted_;
    std::vector<std::size_t> stamp_numbers_;
    std::vector<RegisterAccess> accesses_;
    std::vector<std::pair<std::string, std::uint32_t>> reads_;
    std::vector<std::string> failed_checks_;
    std::string failure_;
};

}  // namespace dlasim
