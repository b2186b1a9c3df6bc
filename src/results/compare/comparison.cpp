#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/files/printable.h"

namespace dlasim {
namespace {

std::vector<FactChange> changes(const Facts& a, const Facts& b)
{
    std::vector<FactChange> list;
    auto left = a.begin(), right = b.begin();
    while (left != a.end() || right != b.end()) {
        const bool from_a = right == b.end() || (left != a.end() && left->first <= right->first);
        const bool from_b = left == a.end() || (right != b.end() && right->first <= left->first);
        FactChange change{from_a ? left->first : right->first, from_a ? left->second : Json(), from_b ? right->second : Json()};
        if (from_a) ++left;
        if (from_b) ++right;
        if (change.a != change.b) list.push_back(std::move(change));
    }
    return list;
}

/// Every name of either, in the order of A, then those of B alone.
std::vector<AmountChange> joined(const Amounts& a, const Amounts& b)
{
    std::vector<AmountChange> list;
    std::map<std::string, std::size_t> place;
    const auto entry = [&](const std::string& name) -> AmountChange& {
        const auto [at, added] = place.emplace(name, list.size());
        if (added) list.push_back({name});
        return list[at->second];
    };
    for (const Amount& amount : a) entry(amount.name).a += amount.value;
    for (const Amount& amount : b) entry(amount.name).b += amount.value;
    return list;
}

void largest_first(std::vector<AmountChange>& list)
{
    std::stable_sort(list.begin(), list.end(),
                     [](const AmountChange& x, const AmountChange& y) { return std::abs(x.change()) > std::abs(y.change()); });
}

void compare_steps(RunComparison& c)
{
    std::map<std::string, const RecordedStep*> of_a;
    for (const RecordedStep& step : c.a.steps) of_a[step.name] = &step;
    for (const RecordedStep& step : c.b.steps) {
        const auto found = of_a.find(step.name);
        if (found == of_a.end()) {
            c.only_b.push_back({step.name, 0, step.cycles});
            continue;
        }
        const RecordedStep& before = *found->second;
        of_a.erase(found);
        StepChange change{{step.name, before.cycles, step.cycles}, {}};
        if (!before.causes.empty() && !step.causes.empty()) {
            change.causes = joined(before.causes, step.causes);
            largest_first(change.causes);
        }
        c.steps.push_back(std::move(change));
    }
    for (const RecordedStep& step : c.a.steps)
        if (of_a.count(step.name) != 0) c.only_a.push_back({step.name, step.cycles, 0});
}

}  // namespace

std::string main_part(const std::vector<AmountChange>& parts, std::int64_t change)
{
    if (change == 0) return "";
    const auto gain = [&](const AmountChange& part) { return change < 0 ? -part.change() : part.change(); };
    const auto most = std::max_element(parts.begin(), parts.end(), [&](const auto& x, const auto& y) { return gain(x) < gain(y); });
    if (most == parts.end() || gain(*most) <= 0) return "";
    return fmt::format("{} {} ({}{})", 2 * gain(*most) >= std::abs(change) ? "mostly" : "above all", printable(most->name),
                       change < 0 ? "-" : "+", grouped(static_cast<std::uint64_t>(gain(*most))));
}

std::optional<double> RunComparison::percent() const
{
    if (a.cycles == 0) return std::nullopt;
    return 100.0 * static_cast<double>(change()) / static_cast<double>(a.cycles);
}

bool RunComparison::within(double tolerance) const
{
    return std::abs(static_cast<double>(change())) <= tolerance / 100 * static_cast<double>(a.cycles);
}

std::string RunComparison::verdict(const std::string& name_of_b) const
{
    const auto number = [](std::int64_t cycles) { return grouped(static_cast<std::uint64_t>(cycles)); };
    std::string text;
    if (change() == 0) text = fmt::format("A and {} take the same cycles: {}.", name_of_b, number(a.cycles));
    else {
        const std::string share = percent() ? fmt::format("{:.1f} % ", std::abs(*percent())) : "";
        const std::string most = main_part(parts, change());
        text = fmt::format("{} takes {}{} cycles: {} in place of {}{}{}.", name_of_b, share, change() < 0 ? "fewer" : "more",
                           number(b.cycles), number(a.cycles), most.empty() ? "" : ", ", most);
    }
    if (a.seconds > 0 && b.seconds > 0 &&
        hardware.end() != std::find_if(hardware.begin(), hardware.end(), [](const FactChange& fact) { return fact.path == "clock_mhz"; }))
        text += fmt::format(" Their clocks differ: {:.4g} ms in place of {:.4g} ms.", 1e3 * b.seconds, 1e3 * a.seconds);
    if (!same_work()) text += " They do different work, so the difference is not that of machine or plan.";
    return text;
}

RunComparison compare_runs(RecordedRun a, RecordedRun b)
{
    RunComparison c;
    c.a = std::move(a);
    c.b = std::move(b);
    c.work = changes(c.a.work, c.b.work);
    c.hardware = changes(c.a.hardware, c.b.hardware);
    c.memory = changes(c.a.memory, c.b.memory);
    c.plan = changes(c.a.plan, c.b.plan);
    c.by_cause = !c.a.causes.empty() && !c.b.causes.empty();
    if (c.by_cause) c.parts = joined(c.a.causes, c.b.causes);
    else if (!c.a.phases.empty() && !c.b.phases.empty()) c.parts = joined(c.a.phases, c.b.phases);
    largest_first(c.parts);
    compare_steps(c);
    c.traffic = joined(c.a.traffic, c.b.traffic);
    std::erase_if(c.traffic, [](const AmountChange& bytes) { return bytes.change() == 0; });
    largest_first(c.traffic);
    return c;
}

namespace {

struct Asked {
    const RunComparison& c;
    std::optional<double> tolerance;
    const RunComparison& runs() const { return c; }
};

constexpr std::array kRunKeys{
    Key<RecordedRun>{{"file", "text", "", "the result.json"}, value_of<&RecordedRun::file>},
    Key<RecordedRun>{{"name", "text", "", "of what ran"}, value_of<&RecordedRun::name>},
    Key<RecordedRun>{{"hardware", "text", "", "the preset it ran on, and what differs from it"}, value_of<&RecordedRun::machine>},
    Key<RecordedRun>{{"memory", "text", "", "the memory; empty if the result does not contain it"}, value_of<&RecordedRun::memory_name>},
    Key<RecordedRun>{{"verified", "flag or null", "", "its values were right; null: not compared"},
                     [](const RecordedRun& r) -> OrderedJson { return r.verified ? OrderedJson(*r.verified) : OrderedJson(); }},
};

constexpr std::array kFactKeys{
    Key<FactChange>{{"path", "text", "", "key, with dots"}, value_of<&FactChange::path>},
    Key<FactChange>{{"a", "any", "", "its value in A; null if there is none"}, value_of<&FactChange::a>},
    Key<FactChange>{{"b", "any", "", "its value in B; null if there is none"}, value_of<&FactChange::b>},
};

constexpr std::array kAmountKeys{
    Key<AmountChange>{{"name", "text", "", "of the cause, the phase, the step or the traffic"}, value_of<&AmountChange::name>},
    Key<AmountChange>{{"a", "integer", "", "of A: cycles, of traffic bytes"}, value_of<&AmountChange::a>},
    Key<AmountChange>{{"b", "integer", "", "of B"}, value_of<&AmountChange::b>},
    Key<AmountChange>{{"change", "integer", "", "from A to B"}, value_of<&AmountChange::change>},
};

OrderedJson steps_of(const RunComparison& c)
{
    OrderedJson list = OrderedJson::array();
    for (const StepChange& step : c.steps) {
        list.push_back(written(kAmountKeys, step.cycles));
        if (!step.causes.empty()) list.back()["causes"] = written_list(kAmountKeys, step.causes);
    }
    return list;
}

constexpr KeyRow kStepCauses{"causes", "list", "", "cycles of the step by cause, as above", "both results contain them"};
constexpr std::string_view kToleranceOption = "--tolerance";
constexpr std::array kComparisonKeys{
    Key<Asked>{{"schema", "text", "", "dlasim.comparison/1"}, [](const Asked&) -> OrderedJson { return "dlasim.comparison/1"; }},
    Key<Asked>{{"verdict", "text", "", "the first sentence of the table"}, [](const Asked& q) -> OrderedJson { return q.c.verdict(); }},
    Key<Asked>{{"a", "object", "", "the first run"}, [](const Asked& q) { return written(kRunKeys, q.c.a); }},
    Key<Asked>{{"b", "object", "", "the second run"}, [](const Asked& q) { return written(kRunKeys, q.c.b); }},
    Key<Asked>{{"same_work", "flag", "", "shapes, precision and images are the same"}, value_of<&Asked::runs, &RunComparison::same_work>},
    Key<Asked>{{"cycles/a", "integer", "cycles", "of A"}, value_of<&Asked::runs, &RunComparison::a, &RecordedRun::cycles>},
    Key<Asked>{{"cycles/b", "integer", "cycles", "of B"}, [](const Asked& q) -> OrderedJson { return q.c.b.cycles; }},
    Key<Asked>{{"cycles/change", "integer", "cycles", "from A to B"}, value_of<&Asked::runs, &RunComparison::change>},
    Key<Asked>{{"cycles/percent", "number or null", "%", "the same of the cycles of A; null where these are 0"},
               [](const Asked& q) -> OrderedJson { return q.c.percent() ? OrderedJson(*q.c.percent()) : OrderedJson(); }},
    Key<Asked>{{"tolerance", "number", "%", "of `--tolerance`", kToleranceOption},
               [](const Asked& q) -> OrderedJson { return q.tolerance ? OrderedJson(*q.tolerance) : kAbsent; }},
    Key<Asked>{{"within", "flag", "", "the cycles differ by no more, either way", kToleranceOption},
               [](const Asked& q) -> OrderedJson { return q.tolerance ? OrderedJson(q.c.within(*q.tolerance)) : kAbsent; }},
    Key<Asked>{{"causes", "list", "", "cycles by cause, largest change first", "both results contain them"},
               [](const Asked& q) { return q.c.by_cause ? written_list(kAmountKeys, q.c.parts) : kAbsent; }},
    Key<Asked>{{"phases", "list", "", "cycles of the array by phase", "a result contains no causes, and both contain these"},
               [](const Asked& q) { return q.c.by_cause || q.c.parts.empty() ? kAbsent : written_list(kAmountKeys, q.c.parts); }},
    Key<Asked>{{"steps", "list", "", "of both, in the order of B: shares of the cycles of a network, else from start to end"},
               [](const Asked& q) { return steps_of(q.c); }},
    Key<Asked>{{"only_a", "list", "", "steps of A alone"}, [](const Asked& q) { return written_list(kAmountKeys, q.c.only_a); }},
    Key<Asked>{{"only_b", "list", "", "steps of B alone"}, [](const Asked& q) { return written_list(kAmountKeys, q.c.only_b); }},
    Key<Asked>{{"work", "list", "", "what differs in shapes, precision and images"},
               [](const Asked& q) { return written_list(kFactKeys, q.c.work); }},
    Key<Asked>{{"hardware", "list", "", "what differs in the hardware"},
               [](const Asked& q) { return written_list(kFactKeys, q.c.hardware); }},
    Key<Asked>{{"memory", "list", "", "what differs in the memory"}, [](const Asked& q) { return written_list(kFactKeys, q.c.memory); }},
    Key<Asked>{{"plan", "list", "", "what differs in the program: tilings, modes, addresses, overlap"},
               [](const Asked& q) { return written_list(kFactKeys, q.c.plan); }},
    Key<Asked>{{"traffic", "list", "", "bytes that differ, by port and client, largest change first"},
               [](const Asked& q) { return written_list(kAmountKeys, q.c.traffic); }},
};

}  // namespace

OrderedJson comparison_json(const RunComparison& comparison, std::optional<double> tolerance)
{
    return written(kComparisonKeys, Asked{comparison, tolerance});
}

std::vector<PlacedKey> comparison_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kComparisonKeys, "", kRunKeys, "a/", kRunKeys, repeated("b/"), kAmountKeys, "causes/[]/");
    for (const char* list : {"phases", "steps", "only_a", "only_b", "traffic"})
        place_keys(keys, kAmountKeys, {std::string(list) + "/[]/", true});
    place_keys(keys, std::array{kStepCauses}, "steps/[]/", kAmountKeys, repeated("steps/[]/causes/[]/"), kFactKeys, "work/[]/");
    for (const char* list : {"hardware", "memory", "plan"}) place_keys(keys, kFactKeys, {std::string(list) + "/[]/", true});
    return keys;
}

}  // namespace dlasim
