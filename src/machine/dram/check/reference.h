// The reference controller: reproduces the command streams of DRAMsim3 on simple request streams,
// so that our device model can be compared with published figures (dram.md 8.1, 10).
//
//   reads  ──► read queue 32 ──┐  one move a cycle   ┌ bank queue 8 ┐
//                              ├────────────────────►├ ...          ┤── round robin ──► one command
//   writes ──► write buffer 32 ┘  (drain thresholds) └ bank queue 8 ┘                   a cycle
//
// Source: dram.md 8.1 (order of a cycle), 6 (refresh goes first), 7 (a row may be closed after four
// columns). Not modelled: self-refresh, per-rank queues, the unified queue. Error: scripts/figures/EXPERIMENTS.md.
#pragma once
#include "dram/channel.h"

namespace dlasim::dram {

class ReferenceController final : public Channel {
public:
    explicit ReferenceController(const Config& config);

    bool can_accept(bool write) const override;
    void push(const Request& request, Cycle at) override;
    void advance(Cycle to) override;
    Cycle horizon() const override;
    bool working() const override { return !reads_.empty() || queued_commands_ != 0; }

private:
    struct Entry {
        std::uint64_t id = 0, address = 0;
        Location at;
        std::uint32_t bank = 0;
        bool write = false, classified = false;
        Cycle added = 0;
    };
    struct Waiting {  // a read that will be answered when the column command of its address is issued
        std::uint64_t id, address;
        Cycle added;
    };
    struct Choice {
        Command command{};
        std::uint32_t bank = 0;
        std::size_t index = 0;
        bool found = false;
    };
    void cycle(Cycle now);
    bool refresh_step(Cycle now, bool& quiet);
    Choice choose(Cycle now);
    void execute(const Choice& choice, Cycle now);
    void move_one(Cycle now);
    std::pair<std::size_t, std::size_t> queued() const override { return {reads_.size(), writes_.size()}; }

    std::vector<Entry> reads_, writes_;          // oldest first
    std::vector<std::vector<Entry>> commands_;   // by bank
    std::vector<Waiting> waiting_;               // reads not yet issued
    std::vector<std::uint64_t> pending_writes_;  // addresses of writes not yet issued
    std::vector<std::uint32_t> refresh_due_;     // ranks, oldest first
    std::size_t queued_commands_ = 0;
    std::uint32_t last_queue_;
    std::uint32_t next_rank_ = 0, drain_ = 0;
    Cycle refresh_interval_ = 0;
    Cycle next_ = 0;           // first cycle not yet evaluated
    Cycle nothing_until_ = 0;  // no command can be ready before this cycle
};

}  // namespace dlasim::dram
