// What NVIDIA's kernel driver does with the registers, while it runs: the same accesses in the same cycles as its firmware 0.12.5 makes, on
// a processor that takes no time.
//
//   task ──► all kinds: two operations programmed ahead, enabled when what they depend on allows ─┐
//   ┌────────────────────────────────────────────────────────────────────────────────────────────┘
//   └─► wait for the pin ─► mask, status ─► status written back, mask, status ─► what has come, by kind and group: ends free groups,
//       ▲                                                                          which are programmed, and enable others
//       └──────────────────────────────────────────────────────────────────────────────────────────────┘ until all have completed
//
// The handler runs between two such turns, never within one: interrupts that come in the meantime wait. Every interrupt reaches the pin,
// of a convolution four.
//
// Source  loadable.md 4 to 6; accesses of the firmware.
#pragma once
#include <memory>
#include <set>

#include "loadable/graph.h"
#include "loadable/schedule.h"

namespace dlasim::loadable {

/// What a driver is asked to run, one after the other.
struct DriverWork {
    struct Part {
        std::optional<std::size_t> step;  // a HostStep of that number; else a task
        HardwareTask task;
        std::vector<Chain> chains;
        std::size_t first_chain = 0;      // over all tasks
        std::size_t first_stamp = 0;      // of its operation 0
        std::vector<std::size_t> judged;  // by chain: its HostStep
        std::size_t most = 0;             // limit of chains, after which the run ends
    };

    std::shared_ptr<const Loadable> loadable;
    Hardware hardware;
    MemoryPlan memories;
    std::vector<Part> parts = {};
};

class DriverSource final : public ProgramSource {
public:
    explicit DriverSource(std::shared_ptr<const DriverWork> work);

    void next(std::uint32_t read, Program& program) override;

    /// In the order in which they were enabled so far.
    const std::vector<Scheduled>& enabled() const { return enabled_; }
    /// The interrupts that come next if chains end in their order: what a plan can know. ConfigError if none does.
    std::uint32_t likely_status() const;

private:
    using Part = DriverWork::Part;
    enum class Mark : std::uint8_t { None, Other, Convolution };

    const Part& part() const { return work_->parts[part_]; }
    void begin();
    void enable(std::size_t operation);
    void handle(std::uint32_t status);
    std::optional<std::size_t> running(Kind kind, unsigned group) const;
    void complete(Kind kind, unsigned group);
    void complete_empty();
    bool stopped() const;
    void end_turn();

    std::shared_ptr<const DriverWork> work_;
    Program batch_;  // of this turn
    Programmer programmer_;
    std::size_t part_ = 0;
    bool waits_ = false;  // for what the status reads
    bool marked_ = false;
    Mark mark_ = Mark::None;  // where t0 is, in the batch
    std::size_t mark_at_ = 0;
    std::vector<Scheduled> enabled_;
    // Of this task.
    std::optional<Driver> driver_;
    std::vector<Prepared> prepared_;
    std::vector<std::size_t> chain_of_;
    std::array<unsigned, kKinds> last_group_{};  // that completed
    std::size_t chains_done_ = 0;
    std::vector<std::pair<Kind, unsigned>> empty_;  // BDMA without transfers
    std::set<std::size_t> fetched_;                 // convolutions whose events have been handled
};

}  // namespace dlasim::loadable
