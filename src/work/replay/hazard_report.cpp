#include "replay/hazard_report.h"

#include <fmt/format.h>

#include <array>

#include "base/files/console.h"
#include "base/files/printable.h"
#include "replay/rule_report.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr std::size_t kShown = 10;
constexpr std::array<const char*, 5> kKindNames{"read_before_written", "overwritten_before_read", "written_out_of_order", "reads_itself",
                                                "never_written"};

constexpr std::array kAccessKeys{
    Key<HazardAccess>{
        {"operation", "integer", "", "number of the operation, from 1, in the order in which the program starts them; 0: none"},
        value_of<&HazardAccess::operation>},
    Key<HazardAccess>{{"name", "text", "", "the step of the network that it belongs to", "networks"},
                      [](const HazardAccess& a) -> OrderedJson { return a.name.empty() ? kAbsent : OrderedJson(a.name); }},
    Key<HazardAccess>{{"units", "text", "", "its units: convolution, SDP, PDP, .."}, value_of<&HazardAccess::units>},
    Key<HazardAccess>{{"entry", "integer", "", "entry of the register program, from 0, that starts it"}, value_of<&HazardAccess::entry>},
    Key<HazardAccess>{{"client", "text", "", "who accessed: SDP, CDMA_DAT, CDMA_WT, .., host; CDMA or CSC of CBUF"},
                      value_of<&HazardAccess::client>},
    Key<HazardAccess>{{"cycle", "integer", "cycle", "when, relative to t0"}, value_of<&HazardAccess::cycle>},
};

OrderedJson kind_json(const Hazard& hazard) { return kKindNames[static_cast<std::size_t>(hazard.kind)]; }

constexpr std::array kHazardKeys{
    Key<Hazard>{{"kind", "text", "", "read_before_written, overwritten_before_read, written_out_of_order, reads_itself or never_written"},
                kind_json},
    Key<Hazard>{{"where", "text", "", "DBB, CVSRAM or CBUF"}, value_of<&Hazard::where>},
    Key<Hazard>{{"address", "integer", "byte", "the first that was found; of CBUF its entry"}, value_of<&Hazard::address>},
    Key<Hazard>{{"amount", "integer", "bytes", "of all such accesses of these two operations; of CBUF entries"}, value_of<&Hazard::amount>},
    Key<Hazard>{{"first", "object", "", "the access that was too early"},
                [](const Hazard& h) -> OrderedJson { return written(kAccessKeys, h.before); }},
    Key<Hazard>{{"second", "object", "", "the access that should have been earlier"},
                [](const Hazard& h) -> OrderedJson { return written(kAccessKeys, h.after); }},
};

OrderedJson list_json(const HazardReport& report) { return written_list(kHazardKeys, report.list); }

constexpr std::array kReportKeys{
    Key<HazardReport>{{"accesses", "integer", "accesses", "of memory atoms and CBUF entries, checked"}, value_of<&HazardReport::accesses>},
    Key<HazardReport>{{"found", "integer", "accesses", "of these out of order"}, value_of<&HazardReport::found>},
    Key<HazardReport>{{"list", "list", "", "by two operations and their clients: the first 1000"}, list_json},
    Key<HazardReport>{{"rules", "object", "", "programming rules that the program breaks, PROGRAMS.md"},
                      [](const HazardReport& r) -> OrderedJson { return rules_json(r.rules); }},
};

std::string name_of(const HazardAccess& access)
{
    if (access.operation == 0) return "no operation";
    const std::string name = access.name.empty() ? std::string() : fmt::format("{}: ", printable(access.name));
    return fmt::format("operation {} ({}{}; entry {})", access.operation, name, access.units, access.entry);
}

std::string line_of(const Hazard& h)
{
    const std::string place = h.where == "CBUF" ? fmt::format("CBUF entry {}", h.address) : fmt::format("{} {:#x}", h.where, h.address);
    const std::string first = name_of(h.before), second = name_of(h.after);
    const char *did = "", *before = "";
    switch (h.kind) {
        case HazardKind::ReadBeforeWritten:
            did = "read", before = "wrote there";
            break;
        case HazardKind::OverwrittenEarly:
            did = "wrote", before = "read the old content";
            break;
        case HazardKind::WrittenOutOfOrder:
            did = "wrote", before = "wrote there";
            break;
        case HazardKind::ReadsItself:
            did = "wrote", before = "read its own input there";
            break;
        case HazardKind::NeverWritten:
            return fmt::format("               {}: {} of {} read in cycle {}, never written; {} entries in all\n", place, h.before.client,
                               first, h.before.cycle, h.amount);
    }
    return fmt::format("               {}: {} of {} {} in cycle {}, {} of {} {} only in cycle {}; {} {}\n", place, h.before.client, first,
                       did, h.before.cycle, h.after.client, second, before, h.after.cycle, h.amount,
                       h.where == "CBUF" ? "entries in all" : "bytes in all");
}

}  // namespace

OrderedJson hazards_json(const RunResult& run) { return run.hazards ? written(kReportKeys, *run.hazards) : kAbsent; }

std::vector<PlacedKey> hazard_keys()
{
    return placed(kReportKeys, "", kHazardKeys, "list/[]/", kAccessKeys, "list/[]/first/", kAccessKeys, repeated("list/[]/second/"),
                  rule_keys(), "rules/");
}

std::string hazards_text(const RunResult& run)
{
    if (!run.hazards) return "";
    const HazardReport& report = *run.hazards;
    if (report.found == 0) return fmt::format("  hazards      none in {} accesses\n", report.accesses) + rules_text(report.rules);
    std::string text = fmt::format("  hazards      {} of {} accesses out of order\n", report.found, report.accesses);
    for (std::size_t i = 0; i < report.list.size() && i < kShown; ++i) text += line_of(report.list[i]);
    if (report.list.size() > kShown) text += fmt::format("               and {} more in result.json\n", report.list.size() - kShown);
    return text + rules_text(report.rules);
}

}  // namespace dlasim
