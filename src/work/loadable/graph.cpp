#include "loadable/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace dlasim::loadable {
namespace {

std::size_t index(int value) { return static_cast<std::size_t>(value); }

/// Who completes before whom, and who may be next of its kind, counted down as chains run.
class Order {
public:
    explicit Order(const HardwareTask& task) : task_(task), ops_(task.operations), head_(ops_.size()), blocked_(ops_.size()) {}

    std::vector<Chain> run()
    {
        link_chains();
        count_waits();
        queue_kinds();
        std::vector<Chain> order;
        std::size_t ran = 0;
        while (ran < ops_.size()) {
            if (ready_.empty())
                throw ConfigError(
                    task_.where,
                    fmt::format("makes no progress after {} of {} operations: its dependencies wait for each other", ran, ops_.size()));
            const std::size_t head = head_[*ready_.begin()];
            ready_.erase(ready_.begin());
            order.push_back(downstream_first(head));
            ran += members_[head].size();
            complete(head);
        }
        return order;
    }

private:
    int parent(std::size_t i) const { return ops_[i].fused_parent.operation; }

    /// Every operation learns the end of its chain.
    void link_chains()
    {
        std::vector<int> child(ops_.size(), -1);
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            if (parent(i) < 0) continue;
            int& known = child[index(parent(i))];
            if (known >= 0)
                throw ConfigError(task_.where_is(i), fmt::format("is fused with operation {}, as is operation {}", parent(i), known));
            known = static_cast<int>(i);
        }
        std::vector<bool> seen(ops_.size());
        members_.resize(ops_.size());
        for (std::size_t end = 0; end < ops_.size(); ++end) {
            if (child[end] >= 0) continue;
            for (int i = static_cast<int>(end); i >= 0; i = parent(index(i))) {
                seen[index(i)] = true;
                head_[index(i)] = end;
                members_[end].push_back(index(i));
            }
        }
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (!seen[i]) throw ConfigError(task_.where_is(i), "is fused with itself through others");
    }

    /// Edges between chains: `blocked_` of a chain counts what must complete before.
    void count_waits()
    {
        followers_.resize(ops_.size());
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            const auto edge = [&](const Link& link) {
                const bool completes = link.event == Link::Completed || link.event == Link::WeightsDone || link.event == Link::DataDone;
                if (link.operation < 0 || !completes || head_[index(link.operation)] == head_[i]) return;
                followers_[head_[i]].push_back(head_[index(link.operation)]);
                ++blocked_[head_[index(link.operation)]];
            };
            for (const Link& link : ops_[i].consumers) edge(link);
            edge(ops_[i].fused_parent);
        }
    }

    /// Each operation is the next of its kind once.
    void queue_kinds()
    {
        for (std::size_t i = 0; i < ops_.size(); ++i) ++blocked_[head_[i]];
        std::vector<bool> seen(ops_.size());
        for (std::size_t kind = 0; kind < kKinds; ++kind)
            for (int i = task_.heads[kind]; i >= 0; i = ops_[index(i)].consumers[kind].operation) {
                if (seen[index(i)]) throw ConfigError(task_.where_is(index(i)), "follows itself");
                seen[index(i)] = true;
            }
        for (std::size_t kind = 0; kind < kKinds; ++kind)
            if (task_.heads[kind] >= 0) release(head_[index(task_.heads[kind])]);
    }

    void release(std::size_t head)
    {
        if (--blocked_[head] == 0) ready_.insert(*std::min_element(members_[head].begin(), members_[head].end()));
    }

    void complete(std::size_t head)
    {
        for (const std::size_t i : members_[head])
            if (const int next = ops_[i].consumers[ops_[i].type()].operation; next >= 0) release(head_[index(next)]);
        for (const std::size_t follower : followers_[head]) release(follower);
    }

    Chain downstream_first(std::size_t head) const { return members_[head]; }

    const HardwareTask& task_;
    const std::vector<Operation>& ops_;
    std::vector<std::size_t> head_;  // of each operation: the end of its chain
    std::vector<unsigned> blocked_;  // of each end
    std::vector<Chain> members_;     // of each end, itself first
    std::vector<std::vector<std::size_t>> followers_;
    std::set<std::size_t> ready_;  // lowest operations of chains that can run
};

}  // namespace

std::vector<Chain> chains_of(const HardwareTask& task)
{
    std::vector<Chain> chains = Order(task).run();
    for (const Chain& chain : chains)
        if (task.operations[chain.front()].kind == Kind::Conv)
            throw ConfigError(task.where_is(chain.front()), "ends at CONV, expected an SDP that takes its sums");
    return chains;
}

Driver::Driver(const HardwareTask& task, const std::array<unsigned, kKinds>& next_groups, Calls calls)
    : task_(task),
      calls_(std::move(calls)),
      slot_(task.operations.size()),
      state_(task.operations.size(), State::Waiting),
      next_group_(next_groups)
{
    for (const Operation& operation : task.operations) count_.push_back(operation.dependencies);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        if (task.heads[kind] < 0) continue;
        submit(index(task.heads[kind]));
        dequeue(kind);
    }
}

/// BDMA has one set of registers; the tables of SDP and CDP are shared by both groups.
bool Driver::ready(std::size_t i) const
{
    const Operation& o = task_.operations[i];
    const Slot& other = groups_[o.type()][1 - slot_[i]];
    if (o.kind == Kind::Bdma) return !other || state_[*other] == State::Active;
    if (o.table() < 0 || !other || state_[*other] == State::Pending) return true;
    const int used = task_.operations[*other].table();
    return used == o.table() || (used < 0 && state_[*other] != State::Active);
}

std::vector<std::size_t> Driver::active() const
{
    std::vector<std::size_t> found;
    for (const auto& groups : groups_)
        for (const Slot& slot : groups)
            if (slot && active(*slot)) found.push_back(*slot);
    return found;
}

void Driver::submit(std::size_t i)
{
    const std::size_t kind = task_.operations[i].type();
    auto& groups = groups_[kind];
    if (groups[0] && groups[1]) return;
    const unsigned group = !groups[0] && !groups[1] ? next_group_[kind] : groups[0] ? 1 : 0;
    groups[group] = i;
    slot_[i] = group;
    state_[i] = State::Pending;
    tail_[kind] = i;
    calls_.place(i, group);
    if (ready(i)) start(i);
}

void Driver::start(std::size_t i)
{
    programming_ = i;
    calls_.program(i, slot_[i]);
    state_[i] = State::Programmed;
    raise(i, Link::Programmed);
    programming_.reset();
    try_enable(i);
}

void Driver::try_enable(std::size_t i)
{
    if (count_[i] != 0 || state_[i] != State::Programmed || programming_ == i) return;
    state_[i] = State::Active;
    calls_.enable(i, slot_[i]);
    raise(i, Link::Enabled);
}

void Driver::raise(std::size_t i, Link::Event event)
{
    const Operation& o = task_.operations[i];
    const auto tell = [&](const Link& link) {
        if (link.operation < 0 || link.event != event) return;
        unsigned& count = count_[index(link.operation)];
        if (count == 0) throw ConfigError(task_.where_is(index(link.operation)), "has more completion events than dependencies");
        if (--count == 0) try_enable(index(link.operation));
    };
    for (const Link& link : o.consumers) tell(link);
    tell(o.fused_parent);
}

void Driver::dequeue(std::size_t kind)
{
    const int next = task_.operations[tail_[kind]].consumers[kind].operation;
    if (next >= 0 && state_[index(next)] == State::Waiting) submit(index(next));
}

void Driver::fetched(unsigned group, Link::Event event)
{
    const Slot& slot = groups_[static_cast<std::size_t>(Kind::Conv)][group];
    if (slot && state_[*slot] == State::Active) raise(*slot, event);
}

void Driver::complete(Kind of, unsigned group)
{
    const auto kind = static_cast<std::size_t>(of);
    Slot& slot = groups_[kind][group];
    if (!slot || state_[*slot] != State::Active)
        throw ConfigError(task_.where, fmt::format("completes a {} that is not active", kKindNames[kind]));
    const std::size_t i = *slot;
    slot.reset();
    state_[i] = State::Done;
    next_group_[kind] = 1 - group;
    ++completed_;
    raise(i, Link::Completed);
    const Slot& other = groups_[kind][1 - group];
    if (other && state_[*other] == State::Pending && ready(*other)) start(*other);
    dequeue(kind);
}

}  // namespace dlasim::loadable
