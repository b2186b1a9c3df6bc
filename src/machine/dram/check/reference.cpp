#include "dram/check/reference.h"

#include <algorithm>

namespace dlasim::dram {

ReferenceController::ReferenceController(const Config& config)
    : Channel(config), commands_(device_.banks.size()), last_queue_(static_cast<std::uint32_t>(device_.banks.size()) - 1)
{
    const std::uint32_t parts = config.refresh.policy == RefreshPolicy::AllBankStaggered ? config.organisation.ranks() : 1;
    if (config.refresh.policy != RefreshPolicy::None) refresh_interval_ = static_cast<Cycle>(config.refresh.interval) / parts;
}

bool ReferenceController::can_accept(bool write) const
{
    return write ? writes_.size() < config_.controller.write_queue : reads_.size() < config_.controller.read_queue;
}

void ReferenceController::push(const Request& request, Cycle at)
{
    const Cycle added = at + 1;
    const Entry entry{request.id, request.address, request.at, device_.flat(request.at), request.write, false, added};
    const bool write_pending = std::find(pending_writes_.begin(), pending_writes_.end(), request.address) != pending_writes_.end();
    count_queues(added, reads_.size(), writes_.size());
    nothing_until_ = 0;
    count_request(request);
    if (request.write) {
        completed_.push_back({request.id, added + 1, spent()});
        if (write_pending) {
            ++stats_.merged;
            return;
        }
        pending_writes_.push_back(request.address);
        writes_.push_back(entry);
        return;
    }
    if (write_pending) {
        ++stats_.forwarded;
        answer(request.id, added + 1, 1, at);
        return;
    }
    if (!working()) work_begins(added);
    const bool joins = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.address == request.address; });
    waiting_.push_back({request.id, request.address, added});
    if (joins) ++stats_.merged;
    else reads_.push_back(entry);
}

Cycle ReferenceController::horizon() const
{
    const Cycle refresh = refresh_interval_ == 0 ? kNever : (next_ + refresh_interval_ - 1) / refresh_interval_ * refresh_interval_;
    if (refresh_due_.empty() && queued_commands_ == 0 && reads_.empty() && writes_.empty())
        return refresh == 0 ? refresh_interval_ : refresh;
    return std::max(next_, std::min(nothing_until_, refresh));
}

void ReferenceController::advance(Cycle to)
{
    while (next_ <= to) {
        const Cycle at = std::max(next_, horizon());
        if (at > to) {
            next_ = to + 1;
            return;
        }
        next_ = at;
        cycle(at);
        next_ = at + 1;
    }
}

void ReferenceController::cycle(Cycle now)
{
    nothing_until_ = 0;
    if (refresh_interval_ != 0 && now > 0 && now % refresh_interval_ == 0) {
        if (config_.refresh.policy == RefreshPolicy::AllBankSimultaneous)
            for (std::uint32_t rank = 0; rank < config_.organisation.ranks(); ++rank) refresh_due_.push_back(rank);
        else {
            refresh_due_.push_back(next_rank_);
            next_rank_ = (next_rank_ + 1) % config_.organisation.ranks();
        }
    }
    bool quiet = true;
    if (refresh_due_.empty() || !refresh_step(now, quiet)) {
        if (const Choice first = choose(now); first.found) {
            quiet = false;
            execute(first, now);
            if (config_.row_and_column_bus)
                if (const Choice second = choose(now); second.found && is_column(first.command) != is_column(second.command))
                    execute(second, now);
        }
    }
    const std::size_t before = queued_commands_;
    move_one(now);
    // Where nothing moved and nothing was issued, the queues can only move after the next command.
    if (!quiet || queued_commands_ != before || !refresh_due_.empty()) nothing_until_ = 0;
}

bool ReferenceController::refresh_step(Cycle now, bool& quiet)
{
    const std::uint32_t rank = refresh_due_.front(), per_rank = config_.organisation.banks_per_rank();
    bool ready = true;
    for (std::uint32_t bank = rank * per_rank; bank < (rank + 1) * per_rank; ++bank) {
        if (device_.banks[bank].state == BankState::Closed) continue;
        ready = false;
        if (device_.allowed(Command::Pre, bank).cycle() <= now) {
            issue(Command::Pre, bank, location_of(bank), now);
            quiet = false;
            return true;
        }
    }
    if (!ready || device_.allowed_rank(Command::RefAll, rank).cycle() > now) return false;
    issue(Command::RefAll, rank * per_rank, location_of(rank * per_rank), now);
    refresh_due_.erase(refresh_due_.begin());
    quiet = false;
    return true;
}

ReferenceController::Choice ReferenceController::choose(Cycle now)
{
    Cycle soonest = kNever;
    const auto queues = static_cast<std::uint32_t>(commands_.size());
    std::uint32_t q = last_queue_;
    for (std::uint32_t visited = 0; visited < queues; ++visited) {
        q = q + 1 == queues ? 0 : q + 1;
        const std::vector<Entry>& queue = commands_[q];
        if (queue.empty()) continue;
        if (!refresh_due_.empty() && device_.rank_of(q) == refresh_due_.front()) continue;
        const Bank& bank = device_.banks[q];
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const Entry& entry = queue[i];
            Command command = Command::Act;
            if (bank.state == BankState::Open) {
                const bool closed_page = config_.controller.page_policy == PagePolicy::ClosedAuto;
                if (bank.row != entry.at.row) command = Command::Pre;
                else if (entry.write) command = closed_page ? Command::Wra : Command::Wr;
                else command = closed_page ? Command::Rda : Command::Rd;
            }
            if (command == Command::Pre) {
                if (i != 0) continue;
                const bool hits = std::any_of(queue.begin(), queue.end(), [&](const Entry& e) { return e.at.row == bank.row; });
                if (hits && bank.columns < 4) continue;
            } else if (is_write(command)) {
                const bool behind_read = std::any_of(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(i),
                                                     [&](const Entry& e) { return !e.write && e.at == entry.at; });
                if (behind_read) continue;
            }
            const Cycle allowed = device_.allowed(command, q).cycle();
            if (allowed <= now) {
                last_queue_ = q;
                return {command, q, i, true};
            }
            soonest = std::min(soonest, allowed);
        }
    }
    nothing_until_ = soonest;
    return {};
}

void ReferenceController::execute(const Choice& choice, Cycle now)
{
    std::vector<Entry>& queue = commands_[choice.bank];
    Entry& entry = queue[choice.index];
    if (!entry.classified) {
        entry.classified = true;
        ++(is_column(choice.command) ? stats_.hits : choice.command == Command::Act ? stats_.misses : stats_.conflicts);
    }
    issue(choice.command, choice.bank, choice.command == Command::Pre ? location_of(choice.bank) : entry.at, now, entry.id);
    if (!is_column(choice.command)) return;
    if (is_read(choice.command)) {
        const Cycle done = now + static_cast<Cycle>(config_.read_latency + config_.burst());
        std::erase_if(waiting_, [&](const Waiting& w) {
            if (w.address != entry.address) return false;
            answer(w.id, done, done - w.added, now);
            return true;
        });
    } else {
        std::erase(pending_writes_, entry.address);
    }
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(choice.index));
    --queued_commands_;
}

void ReferenceController::move_one(Cycle now)
{
    const std::size_t room = config_.controller.command_queue;
    if (drain_ == 0 && (writes_.size() >= config_.controller.write_queue || (writes_.size() > 8 && queued_commands_ == 0))) {
        drain_ = static_cast<std::uint32_t>(writes_.size());
        if (!working()) work_begins(now + 1);
    }
    std::vector<Entry>& source = drain_ > 0 ? writes_ : reads_;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const Entry& entry = source[i];
        if (commands_[entry.bank].size() >= room) continue;
        if (entry.write) {
            if (std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.address == entry.address; })) {
                drain_ = 0;
                return;
            }
            --drain_;
        }
        count_queues(now, reads_.size(), writes_.size());
        commands_[entry.bank].push_back(entry);
        ++queued_commands_;
        source.erase(source.begin() + static_cast<std::ptrdiff_t>(i));
        return;
    }
}

}  // namespace dlasim::dram
