#include "dram/controller.h"

#include <algorithm>
#include <bit>

namespace dlasim::dram {
namespace {

constexpr std::uint32_t kOverdue = 0, kColumn = 1, kActivate = 2, kPrecharge = 3, kAhead = 4, kIdle = 5;

/// The least that the constraints leave between a column command and another one, whatever their banks.
Cycle least_between(const Config& config, bool write, bool then_write)
{
    constexpr Command kColumns[2][2] = {{Command::Rd, Command::Rda}, {Command::Wr, Command::Wra}};
    Cycle least = config.write_clock.needed ? 0 : kNever;
    for (const Command from : kColumns[write]) {
        DeviceState device(config);
        device.apply(from, 0, 0);
        for (std::uint32_t bank = 0; bank < device.banks.size(); ++bank)
            for (const Command to : kColumns[then_write]) least = std::min(least, device.allowed(to, bank).cycle());
    }
    return least;
}

}  // namespace

Controller::Controller(const Config& config, const DramPolicy* policy)
    : Channel(config, policy),
      reads_(config.controller.read_queue, device_.banks.size()),
      writes_(config.controller.write_queue, device_.banks.size()),
      ranks_(config.organisation.ranks()),
      closes_rows_(policy || config.controller.auto_precharges()),
      by_bank_(config.refresh.policy != RefreshPolicy::PerBank && config.controller.page_policy != PagePolicy::Timeout)
{
    for (const bool write : {false, true})
        for (const bool then_write : {false, true}) between_columns_[write][then_write] = least_between(config, write, then_write);
    const std::uint32_t ranks = config.organisation.ranks(), per_rank = config.organisation.banks_per_rank();
    for (std::uint32_t r = 0; r < ranks; ++r) {
        rank_masks_.push_back((per_rank == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << per_rank) - 1) << (r * per_rank));
        const auto interval = static_cast<Cycle>(config.refresh.interval);
        if (config.refresh.policy == RefreshPolicy::None) continue;
        const bool together = config.refresh.policy == RefreshPolicy::AllBankSimultaneous;
        ranks_[r].due = together ? interval : interval * (r + 1) / ranks;
    }
    for (const Constraint& row : config.constraints)
        for (Command to : row.to)
            if (row.from[0] == Command::Act && to == Command::RefBank && row.scope == Scope::OtherBanks)
                act_to_refresh_ = static_cast<Cycle>(std::max<std::int64_t>(row.gap, 0));
    no_activation_after_.assign(ranks, kNever);
}

[[gnu::flatten]] void Controller::push(const Request& request, Cycle at)
{
    const std::uint32_t bank = device_.flat(request.at);
    // While writes are drained, a read may change the direction; while reads are served, none does.
    const bool planned = planned_ && !write_mode_ && !policy_ && std::min(plan_.at, event_) > at;
    const bool looked_at = planned && !news_ && writes_.size() == 0;
    planned_ = planned;
    news_ = !looked_at;
    floor_ = std::max(floor_, at + 1);
    count_queues(at, reads_.size(), writes_.size());

    RequestQueue::Slot slot;
    slot.id = request.id;
    slot.order = arrivals_++;
    slot.at = request.at;
    slot.arrived = at;
    slot.bank = static_cast<std::uint8_t>(bank);
    count_request(request);
    const bool written = writes_.size() != 0 && writes_.contains(request.at, bank);
    if (request.write) {
        completed_.push_back({request.id, at + 1, spent()});
        planned_ = false;
        if (written) ++stats_.merged;
        else writes_.push(slot, device_.banks[bank], reads_.size() != 0 && reads_.contains(request.at, bank));
        return;
    }
    if (written) {
        ++stats_.forwarded;
        answer(request.id, at + 1, 1, at);
        return;
    }
    if (const std::int8_t same = reads_.size() != 0 ? reads_.find(request.at, bank) : RequestQueue::kNone; same != RequestQueue::kNone) {
        ++stats_.merged;
        joined_[static_cast<std::size_t>(same)].push_back({request.id, at, {}});
        return;
    }
    if (!working()) work_begins(at + 1);
    const bool waits = (reads_.pending() >> bank & 1) != 0, adds = planned && !waits && only_adds(bank);
    const std::int8_t hit = reads_.hit_of(bank);
    reads_.push(slot, device_.banks[bank], false);
    if (waits && !closes_rows_ && reads_.hit_of(bank) == hit) return;  // what its bank is to do is what it was
    news_ = true;
    planned_ = adds;
    if (adds) plan_bank(bank, 0);
}

/// The plan is the best of what each bank may do. True if a read for a bank without one leaves what the others may.
bool Controller::only_adds(std::uint32_t bank) const
{
    if (plan_.tier == kAhead && plan_.bank == bank) return false;  // planned for a write, which it displaces
    const std::uint32_t rank = device_.rank_of(bank);
    const RankState state = rank_state(rank);
    return by_bank_ && !lock_.on && activating_ == 0 && (reads_.pending() & rank_mask(rank)) != 0 &&
           ranks_[rank].owed <= config_.refresh.postpone && (state == RankState::Active || state == RankState::Precharged);
}

Cycle Controller::horizon() const
{
    if (!planned_ || news_) return floor_;
    return std::min(plan_.at, event_);
}

[[gnu::flatten]] void Controller::advance(Cycle to)
{
    if (floor_ <= to) news_ = false;
    for (;;) {
        if (!planned_ && floor_ > to) return;  // what else comes in the cycle before it is planned with
        if (!planned_) plan();
        if (event_ <= plan_.at) {  // also when both are kNever
            if (event_ > to) return;
            floor_ = std::max(floor_, event_);
            planned_ = false;
            continue;
        }
        if (plan_.at > to) return;
        planned_ = false;
        floor_ = plan_.at;
        carry_out(plan_);
    }
}

void Controller::consider(Command command, std::uint32_t bank, Cycle allowed, std::uint32_t tier, std::uint64_t order, std::int8_t slot,
                          bool write)
{
    const Cycle at = std::max({allowed, floor_, bus_free_[bus_of(command)]});
    if (at > plan_.at) return;
    if (policy_ && slot != RequestQueue::kNone) {
        const DramOrder mine = order_of(command, at, {tier, order}, (write ? writes_ : reads_)[slot], write);
        tier = mine.tier;
        order = mine.arrival;
    }
    if (command == Command::Act && at + act_to_refresh_ > no_activation_after_[device_.rank_of(bank)]) return;
    if (at == plan_.at && (tier > plan_.tier || (tier == plan_.tier && order >= plan_.order))) return;
    plan_.at = at;
    plan_.command = command;
    plan_.tier = tier;
    plan_.bank = bank;
    plan_.order = order;
    plan_.slot = slot;
    plan_.write = write;
}

/// As the policy has it.
DramOrder Controller::order_of(Command command, Cycle at, const DramOrder& configured, const RequestQueue::Slot& request, bool write) const
{
    DramCandidate candidate;
    candidate.kind = command == Command::Act   ? DramCandidate::Kind::Activate
                     : command == Command::Pre ? DramCandidate::Kind::Precharge
                                               : DramCandidate::Kind::Column;
    candidate.write = write;
    candidate.at = request.at;
    candidate.arrival = request.order;
    candidate.age = at - request.arrived;
    return policy_->order(candidate, configured);
}

/// The bank to the policy, as far as requests other than that of the slot know it.
DramBank Controller::described(std::uint32_t bank, std::int8_t slot) const
{
    const RequestQueue& queue = current();
    DramBank known{location_of(bank), device_.banks[bank].columns, write_mode_, false, false};
    for (std::int8_t s = queue.oldest_of(bank); s != RequestQueue::kNone; s = queue[s].bank_newer) {
        if (s == slot) continue;
        known.others = true;
        known.hits = known.hits || queue[s].at.row == device_.banks[bank].row;
    }
    return known;
}

/// Refreshes of the rank go before requests.
bool Controller::overdue(std::uint32_t rank, bool idle) const
{
    const std::uint32_t owed = ranks_[rank].owed, postpone = config_.refresh.postpone;
    return owed > postpone || (policy_ && owed != 0 && policy_->refreshes_now({rank, owed, postpone, idle}));
}

void Controller::plan()
{
    planned_ = true;
    plan_ = Plan{};
    event_ = kNever;
    if (lock_.on) {
        const Command command = column_command(lock_.bank, lock_.slot);
        consider(command, lock_.bank, device_.allowed(command, lock_.bank).cycle(), kOverdue, 0, lock_.slot);
        return;
    }
    count_refreshes();
    update_mode();

    for (std::uint64_t left = activating_; left != 0; left &= left - 1) {
        const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
        consider(Command::Act2, bank, device_.allowed(Command::Act2, bank).cycle(), kOverdue, 0, RequestQueue::kNone);
    }
    const std::uint64_t busy = reads_.pending() | (write_mode_ ? writes_.pending() : 0);
    // Banks that have requests; plan_rank() takes away those it keeps for itself.
    const std::uint64_t wanted = current().pending() & ~activating_;
    std::uint64_t open = ~activating_;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) plan_rank(rank, open, wanted, busy);
    if (write_mode_ || writes_.size() >= config_.controller.write_high) plan_ahead(open & ~wanted);
    std::uint64_t banks = open & wanted;

    std::uint64_t overdue_banks = 0;
    if (const std::int8_t oldest = current().oldest(); oldest != RequestQueue::kNone) {
        const Cycle old = current()[oldest].arrived + (write_mode_ ? config_.controller.write_age : config_.controller.read_age) + 1;
        if (old <= floor_) overdue_banks = std::uint64_t{1} << current()[oldest].bank;
        else at_latest(old);
    }
    const std::uint64_t hits = policy_ ? 0 : banks & current().hits() & ~current().passing();
    for (banks &= ~hits; banks != 0; banks &= banks - 1) plan_bank(static_cast<std::uint32_t>(std::countr_zero(banks)), overdue_banks);
    plan_columns(hits, overdue_banks);
}

void Controller::count_refreshes()
{
    for (RankPlan& rank : ranks_) {
        while (rank.due <= floor_) {
            ++rank.owed;
            rank.due += static_cast<Cycle>(config_.refresh.interval);
        }
        at_latest(rank.due);
    }
}

void Controller::update_mode()
{
    const ControllerConfig& c = config_.controller;
    bool old = false;
    if (const std::int8_t oldest = writes_.oldest(); oldest != RequestQueue::kNone) {
        const Cycle at = writes_[oldest].arrived + c.write_age + 1;
        old = at <= floor_;
        if (!old) at_latest(at);
    }
    bool impatient = false;
    if (const std::int8_t oldest = reads_.oldest(); oldest != RequestQueue::kNone) {
        const Cycle at = reads_[oldest].arrived + c.read_age + 1;
        impatient = at <= floor_;
        if (!impatient) at_latest(at);
    }
    // Between the watermarks and the ends of the queues, rows that are open decide: hits are cheap.
    // Where both directions have grown old, they take turns.
    const bool turn_over = columns_in_mode_ >= c.write_high - c.write_low;
    if (write_mode_) {
        const bool low = writes_.size() <= c.write_low && (impatient || writes_.hits() == 0) && !old;
        if (writes_.pending() == 0 || (reads_.size() != 0 && (low || (impatient && turn_over)))) set_write_mode(false);
    } else if (writes_.pending() != 0) {
        const bool pressing = old || writes_.full() || (writes_.size() >= c.write_high && reads_.hits() == 0);
        if (reads_.size() == 0 ? old || writes_.size() >= std::max(c.write_low, 1u) : pressing && (!impatient || turn_over)) {
            if (reads_.size() == 0) work_begins(floor_);
            set_write_mode(true);
        }
    }
}

void Controller::plan_rank(std::uint32_t rank, std::uint64_t& banks, std::uint64_t pending, std::uint64_t busy)
{
    RankPlan& r = ranks_[rank];
    no_activation_after_[rank] = kNever;
    const std::uint64_t mask = rank_mask(rank);
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    const bool wanted = (pending & mask) != 0, idle = (busy & mask) == 0;
    switch (rank_state(rank)) {
        case RankState::SelfRefresh:
            if (wanted)
                consider(Command::SrefExit, first, device_.allowed_rank(Command::SrefExit, rank).cycle(), kColumn, 0, RequestQueue::kNone);
            banks &= ~mask;
            return;
        case RankState::ActivePowerDown:
        case RankState::PrechargedPowerDown: {
            bool leave = wanted || r.owed != 0;
            if (config_.controller.self_refresh_after != 0 && !leave) {
                const Cycle at = r.last_activity + config_.controller.self_refresh_after;
                leave = at <= floor_;
                if (!leave) at_latest(at);
            }
            if (leave)
                consider(Command::PdExit, first, device_.allowed_rank(Command::PdExit, rank).cycle(), kColumn, 0, RequestQueue::kNone);
            banks &= ~mask;
            return;
        }
        default:
            break;
    }
    if (r.owed != 0) {
        const bool late = overdue(rank, idle);
        if (config_.refresh.policy == RefreshPolicy::PerBank) {
            plan_bank_refresh(rank, banks, busy, late);
        } else if (late || idle) {
            plan_all_bank_refresh(rank, late);
            if (late) banks &= ~mask;
        }
    } else if (idle && (activating_ & mask) == 0) {
        plan_idle_rank(rank);
    }
    if (config_.controller.page_policy == PagePolicy::Timeout)
        for (std::uint64_t left = mask & ~busy & ~activating_; left != 0; left &= left - 1) {
            const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
            if (device_.banks[bank].state != BankState::Open) continue;
            const Cycle at = device_.banks[bank].last_use + config_.controller.page_limit;
            consider(Command::Pre, bank, std::max(at, device_.allowed(Command::Pre, bank).cycle()), kIdle, bank, RequestQueue::kNone);
        }
}

void Controller::plan_idle_rank(std::uint32_t rank)
{
    const RankPlan& r = ranks_[rank];
    const ControllerConfig& c = config_.controller;
    const auto first = static_cast<std::uint32_t>(std::countr_zero(rank_mask(rank)));
    if (c.self_refresh_after != 0) {
        const Cycle at = r.last_activity + c.self_refresh_after;
        if (at <= floor_) {
            if (!all_closed(rank)) plan_precharge_rank(rank, kIdle);
            else consider(Command::SrefEnter, first, device_.allowed_rank(Command::SrefEnter, rank).cycle(), kIdle, 0, RequestQueue::kNone);
            return;
        }
        at_latest(at);
    }
    if (c.power_down_after != 0) {
        const Cycle at = r.last_activity + c.power_down_after;
        consider(Command::PdEnter, first, std::max(at, device_.allowed_rank(Command::PdEnter, rank).cycle()), kIdle, rank,
                 RequestQueue::kNone);
    }
}

void Controller::plan_precharge_rank(std::uint32_t rank, std::uint32_t tier)
{
    const std::uint64_t mask = rank_mask(rank);
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    if (open_banks(rank) > 1) {
        consider(Command::PreAll, first, device_.allowed_rank(Command::PreAll, rank).cycle(), tier, 0, RequestQueue::kNone);
        return;
    }
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
        const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
        if (device_.banks[bank].state == BankState::Open)
            consider(Command::Pre, bank, device_.allowed(Command::Pre, bank).cycle(), tier, 0, RequestQueue::kNone);
    }
}

void Controller::plan_all_bank_refresh(std::uint32_t rank, bool overdue)
{
    if ((activating_ & rank_mask(rank)) != 0) return;
    const std::uint32_t tier = overdue ? kOverdue : kIdle;
    if (!all_closed(rank)) {
        plan_precharge_rank(rank, tier);
        return;
    }
    const auto first = static_cast<std::uint32_t>(std::countr_zero(rank_mask(rank)));
    consider(Command::RefAll, first, device_.allowed_rank(Command::RefAll, rank).cycle(), tier, 0, RequestQueue::kNone);
}

void Controller::plan_bank_refresh(std::uint32_t rank, std::uint64_t& banks, std::uint64_t busy, bool overdue)
{
    RankPlan& r = ranks_[rank];
    const auto first = static_cast<std::uint32_t>(std::countr_zero(rank_mask(rank)));
    const std::uint32_t bank = first + r.next_bank;
    const std::uint64_t bit = std::uint64_t{1} << bank;
    if ((activating_ & bit) != 0 || (!overdue && (busy & bit) != 0)) return;
    const std::uint32_t tier = overdue ? kOverdue : kIdle;
    const Command command = device_.banks[bank].state == BankState::Open ? Command::Pre : Command::RefBank;
    const Cycle allowed = device_.allowed(command, bank).cycle();
    consider(command, bank, allowed, tier, 0, RequestQueue::kNone);
    if (!overdue) return;
    banks &= ~bit;
    // One activation after the other would hold it back for ever.
    if (command == Command::RefBank) no_activation_after_[rank] = allowed;
}

void Controller::plan_bank(std::uint32_t bank, std::uint64_t overdue_banks)
{
    const RequestQueue& queue = current();
    const Bank& b = device_.banks[bank];
    const std::int8_t oldest = queue.oldest_of(bank);
    const std::uint64_t order = queue[oldest].order;
    const bool overdue = (overdue_banks >> bank & 1) != 0;
    if (b.state == BankState::Closed) {
        consider(Command::Act, bank, device_.allowed(Command::Act, bank).cycle(), overdue ? kOverdue : kActivate, order, oldest);
        return;
    }
    const std::int8_t hit = queue.hit_of(bank);
    const std::uint32_t cap = config_.controller.hit_cap;
    bool first = hit == oldest || (!overdue && (cap == 0 || b.columns < cap));  // the hit
    if (policy_ && hit != RequestQueue::kNone && hit != oldest) first = policy_->younger_hit_first(described(bank, hit), first);
    if (hit != RequestQueue::kNone && first) {
        plan_column(bank, hit, overdue ? kOverdue : kColumn);
        return;
    }
    consider(Command::Pre, bank, device_.allowed(Command::Pre, bank).cycle(), overdue ? kOverdue : kPrecharge, order, oldest);
}

/// Of banks whose oldest request hits the open row.
void Controller::plan_columns(std::uint64_t banks, std::uint64_t overdue_banks)
{
    const RequestQueue& queue = current();
    const Cycle least = std::max({floor_, bus_free_[bus_of(Command::Rd)], no_column_before_[write_mode_]});
    const bool by_order = queue.by_order();
    for (std::int8_t slot = queue.oldest(); banks != 0; slot = queue[slot].newer) {
        const std::uint32_t bank = queue[slot].bank;
        const std::uint64_t bit = std::uint64_t{1} << bank;
        if ((banks & bit) == 0) continue;
        banks &= ~bit;
        plan_column(bank, slot, (overdue_banks & bit) != 0 ? kOverdue : kColumn);
        const bool first = plan_.tier < kColumn || (plan_.tier == kColumn && plan_.order <= queue[slot].order);
        if (plan_.at < least || (by_order && plan_.at == least && first)) return;  // the others are younger, and no earlier
    }
}

/// Rows for the requests of the direction that is not served now, in banks that it leaves alone.
void Controller::plan_ahead(std::uint64_t banks)
{
    const RequestQueue& queue = write_mode_ ? reads_ : writes_;
    for (std::uint64_t left = queue.pending() & ~queue.hits() & banks; left != 0; left &= left - 1) {
        const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::int8_t oldest = queue.oldest_of(bank);
        const Command command = device_.banks[bank].state == BankState::Closed ? Command::Act : Command::Pre;
        consider(command, bank, device_.allowed(command, bank).cycle(), kAhead, queue[oldest].order, oldest, !write_mode_);
    }
}

void Controller::plan_column(std::uint32_t bank, std::int8_t slot, std::uint32_t tier)
{
    const Command command = column_command(bank, slot);
    const Cycle allowed = device_.allowed(command, bank).cycle();
    const std::uint64_t order = current()[slot].order;
    if (config_.write_clock.needed) {
        const std::uint32_t rank = device_.rank_of(bank);
        const Cycle at = std::max({allowed, floor_, bus_free_[bus_of(command)]});
        if (at > ranks_[rank].write_clock_until) {
            const Cycle cas = std::max(device_.allowed_rank(Command::Cas, rank).cycle(), allowed == 0 ? 0 : allowed - 1);
            consider(Command::Cas, bank, cas, tier, order, slot);
            return;
        }
    }
    consider(command, bank, allowed, tier, order, slot);
}

Command Controller::column_command(std::uint32_t bank, std::int8_t slot) const
{
    if (!closes_rows_) return write_mode_ ? Command::Wr : Command::Rd;
    bool close = false;
    const PagePolicy policy = config_.controller.page_policy;
    if (policy == PagePolicy::ClosedAuto) close = true;
    else if (policy == PagePolicy::ClosedCap) close = device_.banks[bank].columns + 1 >= config_.controller.page_limit;
    else if (policy == PagePolicy::OpenAdaptive || policy == PagePolicy::ClosedAdaptive) {
        const DramBank known = described(bank, slot);
        close = !known.hits && (known.others || policy == PagePolicy::ClosedAdaptive);
    }
    if (policy_) close = policy_->closes_row(described(bank, slot), close);
    if (write_mode_) return close ? Command::Wra : Command::Wr;
    return close ? Command::Rda : Command::Rd;
}

void Controller::carry_out(const Plan& plan)
{
    const Cycle at = plan.at;
    const std::uint32_t bank = plan.bank, rank = device_.rank_of(bank);
    RankPlan& r = ranks_[rank];
    const std::uint64_t bit = std::uint64_t{1} << bank;
    bus_free_[bus_of(plan.command)] = at + config_.command_cycles[index(plan.command)];
    if (plan.slot != RequestQueue::kNone) {
        r.last_activity = at;
        serve(plan.write ? writes_ : reads_, plan.slot, plan.command, bank, at);
        return;
    }
    issue(plan.command, bank, location_of(bank), at);
    switch (plan.command) {
        case Command::Act2:
            activating_ &= ~bit;
            break;
        case Command::Pre:
            reads_.closed(bank);
            writes_.closed(bank);
            break;
        case Command::PreAll:
            for (std::uint64_t left = rank_mask(rank); left != 0; left &= left - 1) {
                reads_.closed(static_cast<std::uint32_t>(std::countr_zero(left)));
                writes_.closed(static_cast<std::uint32_t>(std::countr_zero(left)));
            }
            break;
        case Command::RefAll:
            --r.owed;
            break;
        case Command::RefBank:
            --r.owed;
            r.next_bank = (r.next_bank + config_.organisation.banks) % config_.organisation.banks_per_rank();
            if (r.next_bank < config_.organisation.banks)  // all groups had their turn: the next bank of each
                r.next_bank = (r.next_bank + 1) % config_.organisation.banks;
            break;
        case Command::PdEnter:
            r.write_clock_until = 0;
            break;
        case Command::SrefEnter:
            r.due = kNever;
            r.write_clock_until = 0;
            break;
        case Command::SrefExit:
            r.due = at + static_cast<Cycle>(config_.refresh.interval);
            if (config_.refresh.policy == RefreshPolicy::None) r.due = kNever;
            else ++r.owed;  // the standard wants one refresh after self-refresh
            break;
        default:
            break;
    }
}

void Controller::serve(RequestQueue& queue, std::int8_t slot, Command command, std::uint32_t bank, Cycle at)
{
    RequestQueue::Slot& request = queue[slot];
    if (!request.classified && command != Command::Cas) {
        request.classified = true;
        ++(is_column(command) ? stats_.hits : command == Command::Act ? stats_.misses : stats_.conflicts);
    }
    const Location where = command == Command::Pre ? location_of(bank) : request.at;
    issue(command, bank, where, at, request.id);
    switch (command) {
        case Command::Act:
            if (config_.two_part_activation) activating_ |= std::uint64_t{1} << bank;
            reads_.opened(bank, request.at.row);
            writes_.opened(bank, request.at.row);
            return;
        case Command::Pre:
            reads_.closed(bank);
            writes_.closed(bank);
            return;
        case Command::Cas:
            lock_ = {true, bank, slot};
            return;
        default:
            break;
    }

    lock_.on = false;
    ++columns_in_mode_;
    for (const bool then_write : {false, true}) no_column_before_[then_write] = at + between_columns_[write_mode_][then_write];
    RankPlan& rank = ranks_[device_.rank_of(bank)];
    rank.write_clock_until = at + static_cast<Cycle>(write_mode_ ? config_.write_clock.after_write : config_.write_clock.after_read);
    if (!write_mode_) {
        const Cycle done = at + static_cast<Cycle>(config_.read_latency + config_.burst());
        answer(request.id, done, done - request.arrived, at);
        for (const Completion& join : joined_[static_cast<std::size_t>(slot)]) answer(join.id, done, done - join.at, at);
        joined_[static_cast<std::size_t>(slot)].clear();
    }
    count_queues(at, reads_.size(), writes_.size());
    queue.erase(slot);
    if (!write_mode_)
        for (std::uint64_t left = writes_.held(); left != 0; left &= left - 1) {
            const auto held = static_cast<std::int8_t>(std::countr_zero(left));
            const RequestQueue::Slot& write = writes_[held];
            if (write.at == where && !reads_.contains(where, bank)) writes_.release(held, device_.banks[bank]);
        }
    if (auto_precharges(command)) {
        reads_.closed(bank);
        writes_.closed(bank);
    }
}

}  // namespace dlasim::dram
