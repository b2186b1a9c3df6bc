#include "replay/rule_report.h"

#include <fmt/format.h>

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr std::size_t kShownRules = 10;

constexpr std::array kBreachKeys{
    Key<RuleBreach>{{"rule", "text", "", "the rule of docs/PROGRAMS.md: alignment, register_width, enabled_group, ..."},
                    [](const RuleBreach& b) -> OrderedJson { return name_of(b.rule); }},
    Key<RuleBreach>{{"entry", "integer", "", "entry of the register program, from 0"}, value_of<&RuleBreach::entry>},
    Key<RuleBreach>{{"register", "text", "", "UNIT.REGISTER"}, value_of<&RuleBreach::name>},
    Key<RuleBreach>{{"value", "integer", "", "of the register"}, value_of<&RuleBreach::value>},
    Key<RuleBreach>{{"problem", "text", "", "the error, and the expected value"}, value_of<&RuleBreach::problem>},
    Key<RuleBreach>{{"operation", "integer", "", "number of the operation, from 1, as in the hazards", "rules of an operation"},
                    [](const RuleBreach& b) -> OrderedJson { return b.operation == 0 ? kAbsent : OrderedJson(b.operation); }},
    Key<RuleBreach>{{"more", "integer", "entries", "further entries that break the rule for the same reason", "where there are some"},
                    [](const RuleBreach& b) -> OrderedJson { return b.more == 0 ? kAbsent : OrderedJson(b.more); }},
};

OrderedJson breaches_json(const RuleReport& report) { return written_list(kBreachKeys, report.list); }

constexpr std::array kRuleReportKeys{
    Key<RuleReport>{{"entries", "integer", "entries", "of the register program"}, value_of<&RuleReport::entries>},
    Key<RuleReport>{{"operations", "integer", "operations", "that it launches"}, value_of<&RuleReport::operations>},
    Key<RuleReport>{{"broken", "integer", "", "programming rules that it breaks"}, value_of<&RuleReport::found>},
    Key<RuleReport>{{"list", "list", "", "by entry: the first 1000"}, breaches_json},
};

std::string breach_line(const RuleBreach& b)
{
    const std::string more = b.more == 0 ? "" : fmt::format("; {} more writes", b.more);
    return fmt::format("               entry {}: {} = {:#x}: {}{} ({})\n", b.entry, b.name, b.value, b.problem, more, name_of(b.rule));
}

}  // namespace

OrderedJson rules_json(const RuleReport& report) { return written(kRuleReportKeys, report); }

std::vector<PlacedKey> rule_keys() { return placed(kRuleReportKeys, "", kBreachKeys, "list/[]/"); }

std::string rules_text(const RuleReport& report)
{
    if (report.found == 0)
        return fmt::format("  rules        none broken in {} entries, {} operations\n", report.entries, report.operations);
    std::string text = fmt::format("  rules        {} broken\n", report.found);
    for (std::size_t i = 0; i < report.list.size() && i < kShownRules; ++i) text += breach_line(report.list[i]);
    if (report.found > kShownRules) text += fmt::format("               and {} more\n", report.found - kShownRules);
    return text;
}

}  // namespace dlasim
