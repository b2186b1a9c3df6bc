#include "report/replay_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/files/output_folder.h"
#include "base/files/printable.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "replay/events.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"
#include "report/causes_report.h"
#include "report/run_report.h"

namespace dlasim {
namespace {

constexpr std::array kDifferenceKeys{
    Key<SignalDifference>{{"group", "text", "", "done, bus, probes, data"},
                          [](const SignalDifference& d) -> OrderedJson { return kEventGroupNames[static_cast<std::size_t>(d.group)]; }},
    Key<SignalDifference>{{"signal", "text", "", "interrupt, log or total of a port, probe, register reads, region"},
                          value_of<&SignalDifference::signal>},
    Key<SignalDifference>{{"cycle", "integer", "cycle", "of the first event that differs", "an event differs"},
                          [](const SignalDifference& d) -> OrderedJson { return d.cycle ? OrderedJson(*d.cycle) : kAbsent; }},
    Key<SignalDifference>{{"expected", "text", "", "the expected value"}, value_of<&SignalDifference::expected>},
    Key<SignalDifference>{{"found", "text", "", "the found value"}, value_of<&SignalDifference::found>},
    Key<SignalDifference>{{"equal_before", "integer", "events", "events of the signal before it, which were equal"},
                          value_of<&SignalDifference::equal_before>},
};

OrderedJson compared_json(const Replayed& r)
{
    OrderedJson json = OrderedJson::object();
    for (std::size_t i = 0; i < kEventGroups; ++i)
        if (r.comparison.compared[i]) json[kEventGroupNames[i]] = *r.comparison.compared[i];
    return json.empty() ? kAbsent : json;
}

OrderedJson differences_json(const Replayed& r)
{
    OrderedJson list = written_list(kDifferenceKeys, r.comparison.differences);
    return list.empty() ? kAbsent : list;
}

constexpr std::array kReplayKeys{
    Key<Replayed>{{"regions", "integer", "regions", "regions of memory that the program names"},
                  [](const Replayed& r) -> OrderedJson { return r.what.recording.outputs.size(); }},
    Key<Replayed>{{"mismatches", "integer", "", "signals, regions and register checks that were not as expected"},
                  value_of<&Replayed::wrong>},
    Key<Replayed>{{"compared", "object", "", "events, totals and values that were compared: done (interrupts), bus, probes, data",
                   "the program has expected events"},
                  compared_json},
    Key<Replayed>{{"differences", "list", "", "the first difference of each signal, the earliest first", "there is one"}, differences_json},
    Key<Replayed>{{"operations", "list", "", "that the program launches, in the order of their last launches: below"},
                  [](const Replayed& r) { return replayed_operations_json(r.ran()); }},
};

}  // namespace

std::vector<PlacedKey> replay_keys() { return placed(kReplayKeys, "", kDifferenceKeys, "differences/[]/", replayed_operation_keys(), ""); }

nlohmann::ordered_json replay_json(const Replayed& r)
{
    return report_json({"program", r.what.recording.name, r.what.hardware, r.what.memory, r.what.recording.program, r.run,
                        static_cast<std::int64_t>(r.run.cycles), r.run.causes.total()},
                       kReplayKeys, r);
}

CaseComparison Replayed::compared() const
{
    static const Expectation nothing;
    return compare_with(what.expected ? *what.expected : nothing, what.recording, run, contents, values && what.same_hardware,
                        what.expected && what.same_hardware && what.same_memory);
}

std::string Replayed::not_compared() const
{
    if (!what.expected) return "";
    if (!what.same_hardware) return "not compared with the case: it was measured on another machine";
    if (!what.same_memory) return "cycles not compared with the case: it was measured with another memory";
    return values ? "" : "values not compared with the case: they were not computed";
}

std::string Replayed::differences_text() const
{
    const std::vector<SignalDifference>& all = comparison.differences;
    if (all.empty()) return "";
    std::string text = all.front().text() + "\n";
    if (all.size() == 1) return text;
    constexpr std::size_t kNamed = 8;
    text += "also different: ";
    for (std::size_t i = 1; i < std::min(all.size(), kNamed + 1); ++i) text += (i == 1 ? "" : ", ") + printable(all[i].signal);
    return text + (all.size() > kNamed + 1 ? fmt::format(" and {} more", all.size() - kNamed - 1) : "") + "\n";
}

namespace {

/// What was compared, as the table says it.
std::string compared_text(const Replayed& r)
{
    const CaseComparison& c = r.comparison;
    if (!r.what.expected) {
        if (!c.compared[static_cast<std::size_t>(EventGroup::Data)]) return "";
        return fmt::format(", {} of {} regions right", r.contents.size() - c.differences.size(), r.contents.size());
    }
    if (!r.not_compared().empty()) return ", " + r.not_compared();
    std::size_t events = 0;
    for (const std::optional<std::size_t>& n : c.compared) events += n.value_or(0);
    if (c.differences.empty()) return fmt::format(", all {} events of the case equal", events);
    return fmt::format(", {} of the case", c.differences.size() == 1 ? "1 signal differs from that"
                                                                     : fmt::format("{} signals differ from those", c.differences.size()));
}

}  // namespace

std::string replay_table(const Replayed& r)
{
    std::string text = fmt::format("{} on {}{}: {} cycles", printable(r.what.recording.name), machine_name(r.what.hardware),
                                   measured_text(r.what.hardware, r.what.recording.program), r.run.cycles);
    if (!r.run.interrupt_cycles.empty()) text += fmt::format(", interrupt in cycle {}", fmt::join(r.run.interrupt_cycles, ", "));
    text += compared_text(r);
    if (!r.run.failed_checks.empty()) text += fmt::format(", {} register checks failed", r.run.failed_checks.size());
    return text + "\n" + operations_text(r.ran()) + hazards_text(r.run) + causes_text(r.run.causes.total());
}

}  // namespace dlasim
