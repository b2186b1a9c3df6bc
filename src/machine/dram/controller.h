// The default controller: first-ready, first-come-first-served with bounded age.
//
//   push ──► reads (32) ───┐                        ┌─ 0 overdue: refresh, aged request, ACT2
//            forward ▲     ├──► one mode at a time ─┤  1 column command (row hit), oldest first
//   push ──► writes (32) ──┘    drain by watermarks │  2 ACT, oldest first
//                                                   │  3 PRE, oldest first
//                                                   │  4 rows for the other direction
//                                                   └─ 5 refresh in idle time, power-down
//
// Hits of an open row go before a row miss of the same bank up to `hit_cap` columns, or until the oldest request is for
// that bank and older than `read_age` or `write_age`; then its row is closed (config.h).
//
// The next command is planned once: the earliest cycle in which any candidate is allowed, and of
// those allowed then the best by the tiers above. The plan holds until it is carried out or a
// request arrives that could change it, so time between is skipped over; events without a command (a refresh falling due,
// a request growing old) end a plan early. Row hits are looked at by age, until one is found than which none can
// be earlier: of a stream the first or the second. Writes are answered when they are in the queue.
//
// A DramPolicy is asked where the configuration decides: the order of commands, hits of younger requests, auto-precharge, early refreshes.
//
// Source: dram.md 6, 7, 8.3. Not modelled: QoS classes, masked writes, pseudo-channels of HBM2.
// Error: every command stream passes the checker (checker.h); tests/laws/dram_laws_test.cpp.
#pragma once
#include "dram/channel.h"
#include "dram/queue.h"

namespace dlasim::dram {

class Controller : public Channel {
public:
    explicit Controller(const Config& config, const DramPolicy* policy = nullptr);

    bool can_accept(bool write) const override { return !(write ? writes_ : reads_).full(); }
    void push(const Request& request, Cycle at) override;
    void advance(Cycle to) override;
    Cycle horizon() const override;
    bool working() const override { return reads_.size() != 0 || write_mode_; }

protected:
    /// For a test that replans after every request.
    void forget_plan() { planned_ = false; }

private:
    struct Plan {
        Cycle at = kNever;
        Command command{};
        bool event = false;  // no command: only plan again
        std::uint32_t tier = 0, bank = 0;
        std::uint64_t order = 0;
        std::int8_t slot = RequestQueue::kNone;  // the request it serves
        bool write = false;                      // of the writes
    };
    struct RankPlan {
        Cycle due = kNever;      // next refresh
        std::uint32_t owed = 0;  // refreshes due and not done
        std::uint32_t next_bank = 0;
        Cycle last_activity = 0;
        Cycle write_clock_until = 0;
    };
    struct Lock {  // LPDDR5: the column command that must follow its CAS
        bool on = false;
        std::uint32_t bank = 0;
        std::int8_t slot = RequestQueue::kNone;
    };

    void plan();
    bool only_adds(std::uint32_t bank) const;
    bool overdue(std::uint32_t rank, bool idle) const;
    DramOrder order_of(Command command, Cycle at, const DramOrder& configured, const RequestQueue::Slot& request, bool write) const;
    DramBank described(std::uint32_t bank, std::int8_t slot) const;
    void count_refreshes();
    void update_mode();
    void set_write_mode(bool on)
    {
        write_mode_ = on;
        columns_in_mode_ = 0;
    }
    void plan_rank(std::uint32_t rank, std::uint64_t& banks, std::uint64_t pending, std::uint64_t busy);
    void plan_idle_rank(std::uint32_t rank);
    void plan_all_bank_refresh(std::uint32_t rank, bool overdue);
    void plan_bank_refresh(std::uint32_t rank, std::uint64_t& banks, std::uint64_t busy, bool overdue);
    void plan_precharge_rank(std::uint32_t rank, std::uint32_t tier);
    void plan_bank(std::uint32_t bank, std::uint64_t overdue_banks);
    void plan_columns(std::uint64_t banks, std::uint64_t overdue_banks);
    void plan_ahead(std::uint64_t banks);
    void plan_column(std::uint32_t bank, std::int8_t slot, std::uint32_t tier);
    Command column_command(std::uint32_t bank, std::int8_t slot) const;
    void consider(Command command, std::uint32_t bank, Cycle allowed, std::uint32_t tier, std::uint64_t order, std::int8_t slot)
    {
        consider(command, bank, allowed, tier, order, slot, write_mode_);
    }
    void consider(Command command, std::uint32_t bank, Cycle allowed, std::uint32_t tier, std::uint64_t order, std::int8_t slot,
                  bool write);
    void at_latest(Cycle event) { event_ = std::min(event_, event); }
    void carry_out(const Plan& plan);
    void serve(RequestQueue& queue, std::int8_t slot, Command command, std::uint32_t bank, Cycle at);
    RequestQueue& current() { return write_mode_ ? writes_ : reads_; }
    const RequestQueue& current() const { return write_mode_ ? writes_ : reads_; }
    std::uint64_t rank_mask(std::uint32_t rank) const { return rank_masks_[rank]; }
    std::pair<std::size_t, std::size_t> queued() const override { return {reads_.size(), writes_.size()}; }
    std::size_t bus_of(Command command) const { return config_.row_and_column_bus && (is_column(command) || command == Command::Cas); }

    RequestQueue reads_, writes_;
    std::array<std::vector<Completion>, 64> joined_;  // by read slot: later reads of the same burst, and when they came
    std::vector<RankPlan> ranks_;
    std::vector<std::uint64_t> rank_masks_;
    std::uint64_t activating_ = 0;  // banks between ACT and ACT2
    bool write_mode_ = false;
    std::uint32_t columns_in_mode_ = 0;  // column commands since the direction changed
    std::uint64_t arrivals_ = 0;
    Lock lock_;
    Cycle floor_ = 0;                  // nothing before this cycle is open any more
    std::array<Cycle, 2> bus_free_{};  // row or only command bus, column command bus
    // By direction: the first cycle of a column command; by both: the least distance of two of them. 0 where CAS may precede one.
    std::array<Cycle, 2> no_column_before_{};
    std::array<std::array<Cycle, 2>, 2> between_columns_{};
    bool closes_rows_;  // by column commands
    bool by_bank_;      // what is planned for a bank does not depend on which others have requests
    Plan plan_;
    Cycle event_ = kNever;
    bool planned_ = false;
    bool news_ = false;                       // a request has come since the channel was advanced: whoever waits for it is to look again
    Cycle act_to_refresh_ = 0;                // cycles by which an activation holds back a refresh of another bank
    std::vector<Cycle> no_activation_after_;  // by rank: it would hold back an overdue refresh
};

}  // namespace dlasim::dram
