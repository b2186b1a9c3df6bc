#include <fmt/format.h>

#include <deque>

#include "loadable/graph.h"
#include "loadable/nvidia/check/checked_task.h"

namespace dlasim::loadable {
namespace {

constexpr std::size_t kNamed = 8;  // operations of a deadlock, in its message

const char* kind_name(const Operation& o) { return o.type() < kKinds ? o.name() : "operation of no type"; }
std::size_t position(int operation) { return static_cast<std::size_t>(operation); }

class GraphCheck {
public:
    explicit GraphCheck(CheckedTask& t) : t_(t), ops_(t.task.operations), count_(static_cast<int>(ops_.size())) {}

    bool run()
    {
        for (std::size_t i = 0; i < ops_.size(); ++i) look_at_links(i);
        if (!good_) return false;
        walk_types();
        count_events();
        if (!good_) return false;
        play();
        return good_;
    }

private:
    void bad(std::size_t i, std::string problem)
    {
        good_ = false;
        t_.refuse("graph", i, std::move(problem));
    }

    void look_at_links(std::size_t i)
    {
        const Operation& o = ops_[i];
        if (o.type() >= kKinds) return bad(i, fmt::format("has type {}, expected 0 to 5", o.type()));
        for (std::size_t kind = 0; kind < kKinds; ++kind) {
            const int to = o.consumers[kind].operation;
            if (to == -1) continue;
            if (to < 0 || to >= count_) bad(i, fmt::format("has {} consumer {}, expected one of {} or -1", kKindNames[kind], to, count_));
            else if (ops_[position(to)].type() != kind)
                bad(i, fmt::format("has {} consumer {}, which is a {}", kKindNames[kind], to, kind_name(ops_[position(to)])));
        }
        const int parent = o.fused_parent.operation;
        if (parent == -1) return;
        if (parent < 0 || parent >= count_) bad(i, fmt::format("has fused parent {}, expected one of {} or -1", parent, count_));
        else if (ops_[position(parent)].type() + 1 != o.type())
            bad(i, fmt::format("has fused parent {}, which is a {}", parent, kind_name(ops_[position(parent)])));
    }

    /// Every operation is on the line of its type exactly once.
    void walk_types()
    {
        std::vector<bool> reached(ops_.size());
        for (std::size_t kind = 0; kind < kKinds; ++kind) {
            for (int at = t_.task.heads[kind]; at != -1; at = ops_[position(at)].consumers[kind].operation) {
                if (reached[position(at)]) {
                    bad(position(at), "occurs twice in the order of its type");
                    break;
                }
                if (ops_[position(at)].type() != kind) {
                    bad(position(at), fmt::format("is the first {} of the network descriptor", kKindNames[kind]));
                    break;
                }
                reached[position(at)] = true;
            }
        }
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (!reached[i]) bad(i, "is never dequeued: it is neither the first of its type nor the consumer of its own type of another");
    }

    void look_at_event(std::size_t i, const Link& link, std::vector<unsigned>& incoming)
    {
        if (link.operation == -1) return;
        const bool fetched = link.event == Link::WeightsDone || link.event == Link::DataDone;
        const bool comes = link.event >= Link::Completed && link.event <= Link::Enabled;
        const unsigned event = link.event;
        if (comes || (fetched && ops_[i].kind == Kind::Conv)) ++incoming[position(link.operation)];
        else if (fetched)
            t_.doubt("graph", i,
                     fmt::format("sends event {1} to operation {0}, which only convolutions have: it never occurs", link.operation, event));
        else if (ops_[position(link.operation)].kind != ops_[i].kind)
            t_.doubt("graph", i, fmt::format("sends event {1} to operation {0}, which never occurs", link.operation, event));
    }

    void count_events()
    {
        std::vector<unsigned> incoming(ops_.size());
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            for (const Link& link : ops_[i].consumers) look_at_event(i, link, incoming);
            look_at_event(i, ops_[i].fused_parent, incoming);
        }
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (ops_[i].dependencies != incoming[i])
                bad(i, fmt::format("has dependency_count {}, expected {}, the number of its events: the driver waits for ever",
                                   ops_[i].dependencies, incoming[i]));
    }

    /// Whether it can end: it, what feeds it on the fly and what takes its output on the fly are enabled.
    bool may_end(const Driver& driver, std::size_t i) const
    {
        const auto started = [&](std::size_t other) { return done_[other] || driver.active(other); };
        if (!driver.active(i)) return false;
        if (!t_.consumers[i].empty() && !started(t_.consumers[i].back())) return false;
        const int parent = ops_[i].fused_parent.operation;
        return parent == -1 || started(position(parent));
    }

    /// The driver's schedule: a unit takes its register groups in the order in which they were filled.
    void play()
    {
        std::array<std::deque<std::size_t>, kKinds> groups;
        done_.assign(ops_.size(), false);
        std::vector<bool> fetched(ops_.size());
        const std::array<unsigned, kKinds> first{};
        Driver driver(t_.task, first,
                      {.place = [&](std::size_t i, unsigned) { groups[ops_[i].type()].push_back(i); },
                       .program = [](std::size_t, unsigned) {},
                       .enable = [](std::size_t, unsigned) {}});
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t kind = 0; kind < kKinds; ++kind) {
                if (groups[kind].empty() || !driver.active(groups[kind].front())) continue;
                const std::size_t i = groups[kind].front();
                if (ops_[i].kind == Kind::Conv && !fetched[i]) {
                    fetched[i] = moved = true;
                    driver.fetched(driver.group(i), Link::WeightsDone);
                    driver.fetched(driver.group(i), Link::DataDone);
                }
                if (!may_end(driver, i)) continue;
                groups[kind].pop_front();
                done_[i] = moved = true;
                driver.complete(static_cast<Kind>(kind), driver.group(i));
            }
        }
        tell_left();
    }

    void tell_left()
    {
        std::string left;
        std::size_t count = 0, first = 0;
        for (std::size_t i = ops_.size(); i-- > 0;) {
            if (done_[i]) continue;
            ++count;
            first = i;
        }
        for (std::size_t i = first, named = 0; i < ops_.size() && named < kNamed; ++i)
            if (!done_[i]) left += fmt::format("{}{}", named++ == 0 ? "" : ", ", i);
        if (count != 0)
            bad(first, fmt::format("never completes, nor do {} of {} operations ({}{}): they wait for each other", count, ops_.size(), left,
                                   count > kNamed ? " .." : ""));
    }

    CheckedTask& t_;
    const std::vector<Operation>& ops_;
    const int count_;
    std::vector<bool> done_;
    bool good_ = true;
};

}  // namespace

bool check_graph(CheckedTask& t) { return GraphCheck(t).run(); }

}  // namespace dlasim::loadable
