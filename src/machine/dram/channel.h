// A channel: the command and data bus of some ranks, with the controller in front of it. What both
// controllers share is here: applying a command to the devices, its log and its accounting.
//
//   push ──► queues ──► controller ──issue──► DeviceState     completed ──► whoever pushed
//
// Time is the channel's own cycle counter. push(request, c) hands a request over in cycle c: its
// first command can be issued in c + 1. advance(c) decides all cycles up to c; horizon() is the
// first cycle in which something would be decided if nothing more is pushed, so waiting is free.
#pragma once
#include <memory>

#include "base/cause.h"
#include "base/ring.h"
#include "dram/device.h"
#include "dram/statistics.h"

namespace dlasim::dram {

struct Request {
    std::uint64_t id = 0;
    Location at;
    bool write = false;
    std::uint64_t address = 0;  // the reference controller joins requests by address, not by place
    std::uint32_t bytes = 0;    // of the burst that the request wants; 0: all
};

/// The last data of a read are on the bus before `at`; a write is in the write queue.
struct Completion {
    std::uint64_t id = 0;
    Cycle at = 0;
    DramCycles spent{};  // of the channel, with its own command
};

class Channel {
public:
    /// `policy`: outlives the channel; null: all as configured.
    explicit Channel(const Config& config, const DramPolicy* policy = nullptr);
    virtual ~Channel() = default;

    virtual bool can_accept(bool write) const = 0;
    /// pre: advance(at) was done, can_accept(request.write).
    virtual void push(const Request& request, Cycle at) = 0;
    virtual void advance(Cycle to) = 0;
    virtual Cycle horizon() const = 0;
    /// True while a read or a write that is being drained waits for a command.
    virtual bool working() const = 0;

    /// Completions in the order they were decided, not of their cycles.
    Ring<Completion>& completed() { return completed_; }
    /// Everything up to, not including, cycle `end`. pre: advance(end - 1) was done.
    Statistics statistics(Cycle end) const;
    /// Cycles of the data bus up to the last burst that has its command, while there was work, by what they went to.
    const DramCycles& spent() const { return spent_; }
    void observe(CommandObserver observer) { observer_ = std::move(observer); }

protected:
    /// Issues a command; `at` names bank, row and column as far as it has them.
    void issue(Command command, std::uint32_t bank, const Location& at, Cycle cycle, std::uint64_t request = 0);
    /// The data bus has work from this cycle on.
    void work_begins(Cycle at) { work_since_ = at; }
    Location location_of(std::uint32_t bank) const;
    /// A read will be answered in cycle `done`.
    void answer(std::uint64_t id, Cycle done, Cycle latency, Cycle now)
    {
        completed_.push_back({id, done, spent_});
        for (; !answers_.empty() && answers_.front().at <= now; answers_.pop_front()) count_answer(stats_, answers_.front().id);
        answers_.push_back({latency, done, {}});
    }
    /// Time-weighted queue occupancy: call before a queue changes.
    void count_queues(Cycle at, std::size_t reads, std::size_t writes)
    {
        if (at <= queues_since_) return;
        stats_.read_queue_cycles[reads] += at - queues_since_;
        stats_.write_queue_cycles[writes] += at - queues_since_;
        queues_since_ = at;
    }
    RankState rank_state(std::uint32_t rank) const { return ranks_[rank].state; }
    bool all_closed(std::uint32_t rank) const { return ranks_[rank].open == 0; }
    std::uint32_t open_banks(std::uint32_t rank) const { return ranks_[rank].open; }
    virtual std::pair<std::size_t, std::size_t> queued() const = 0;
    void count_request(const Request& request)
    {
        const std::uint32_t bytes = request.bytes ? request.bytes : config_.organisation.request_bytes();
        ++(request.write ? stats_.writes : stats_.reads);
        (request.write ? stats_.bytes_written : stats_.bytes_read) += bytes;
    }

    const Config config_;
    const DramPolicy* const policy_;
    DeviceState device_;
    Statistics stats_;
    Ring<Completion> completed_{64};

private:
    struct Opening {  // when a bank was last opened and closed, and what delayed it
        Cycle act_at = 0, pre_at = 0;
        Stamp act_ready, pre_ready;
    };
    struct RankTrack {
        RankState state = RankState::Precharged;
        std::uint32_t open = 0;
        Cycle since = 0;
    };
    void enter(RankTrack& rank, RankState state, Cycle at);
    void account_column(Command command, std::uint32_t bank, const Location& at, Cycle cycle, Stamp ready);
    void account_gap(std::uint32_t bank, std::int64_t from, Cycle to, Stamp ready);
    static void count_answer(Statistics& stats, Cycle latency)
    {
        ++stats.reads_done;
        stats.read_latency.add(latency);
    }
    void lose(Stamp owner, std::int64_t cycles)
    {
        if (cycles <= 0) return;
        stats_.lost_to_row[owner.row()] += static_cast<Cycle>(cycles);
        spent_[cause_of_row_[owner.row()]] += static_cast<std::uint32_t>(cycles);
    }
    void lose(Lost owner, std::int64_t cycles)
    {
        if (cycles <= 0) return;
        stats_.lost[static_cast<std::size_t>(owner)] += static_cast<Cycle>(cycles);
        if (owner == Lost::Scheduling) spent_[dram_index(Cause::DramQueue)] += static_cast<std::uint32_t>(cycles);
    }

    CommandObserver observer_;
    Ring<Completion> answers_{64};  // on their way, with the latency in place of the id
    DramCycles spent_{};
    std::array<std::uint8_t, 256> cause_of_row_{};  // index of spent_, by row of the constraint table
    std::vector<Opening> openings_;
    std::vector<RankTrack> ranks_;
    Cycle work_since_ = 0, data_end_ = 0, queues_since_ = 0;
    bool any_column_ = false, last_write_ = false;
    std::uint32_t last_bank_ = 0;
};

/// The controller that the configuration asks for. pre: the reference controller has no policy.
std::unique_ptr<Channel> make_channel(const Config& config, const DramPolicy* policy = nullptr);

}  // namespace dlasim::dram
