#include "loadable/nvidia/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "loadable/nvidia/check/checked_file.h"

namespace dlasim::loadable {
namespace {

struct Rule {
    std::string_view name, section;
};
constexpr std::array kRules{
    Rule{"container", "1"}, Rule{"identifier", "1"},   Rule{"version", "1"},    Rule{"root vectors", "1"},  Rule{"blob", "1"},
    Rule{"tensor", "1"},    Rule{"blob version", "1"}, Rule{"dep_graph", "1"},  Rule{"submit", "1"},        Rule{"task", "1"},
    Rule{"memory", "2"},    Rule{"address", "2"},      Rule{"bind", "2"},       Rule{"alignment", "2"},     Rule{"descriptor", "3"},
    Rule{"network", "3"},   Rule{"graph", "4"},        Rule{"fused", "4"},      Rule{"conv", "5.1"},        Rule{"sdp", "5.2"},
    Rule{"pdp", "5.3"},     Rule{"host", "6"},         Rule{"relocation", "7"}, Rule{"nvdla_runtime", "7"},
};

void check_tasks(CheckedFile& f)
{
    for (std::size_t i = 0; i < f.file.tasks.size(); ++i) {
        const RawTask& task = f.file.tasks[i];
        const bool names = std::ranges::all_of(task.addresses, [&](std::uint16_t a) {
            return a < f.file.addresses.size() && f.file.addresses[a].memory < f.file.memories.size();
        });
        if (!names) continue;  // found already
        if (task.interface == static_cast<std::uint32_t>(Interface::Dla)) check_hardware_task(f, i);
        if (task.interface == static_cast<std::uint32_t>(Interface::Emu)) check_host_task(f, i);
    }
}

}  // namespace

std::vector<Finding> check_for_driver(const std::string& bytes, const std::string& file, const Hardware& hardware)
{
    std::vector<Finding> found;
    try {
        const RawFile raw = read_raw(bytes, file);
        CheckedFile f(raw, hardware, found);
        check_container(f);
        if (raw.absent.empty()) check_tasks(f);
    } catch (const ConfigError&) {
        found.push_back({true, "container", "file", "is no whole FlatBuffer of a loadable"});
    } catch (const TooManyFindings&) {
        return found;
    }
    return found;
}

std::string_view section_of(std::string_view rule)
{
    const auto listed = std::ranges::find(kRules, rule, &Rule::name);
    return listed != kRules.end() ? listed->section : "5";  // of one operation
}

std::string findings_text(const std::vector<Finding>& findings, const std::string& file, const Hardware& hardware)
{
    std::string text;
    std::size_t refused = 0;
    for (const Finding& finding : findings) {
        if (finding.refused) ++refused;
        text += fmt::format("{} {} ({}) {}: {}\n", finding.refused ? 'E' : 'W', finding.rule, section_of(finding.rule), finding.place,
                            finding.problem);
    }
    if (findings.size() >= kMostFindings)
        text += fmt::format("the first {} findings; the rest of the file was not checked\n", kMostFindings);
    return text + fmt::format("{} on {}: {} E, which NVIDIA's software refuses, hangs on or misreads; {} W, which it ignores\n", file,
                              hardware.name, refused, findings.size() - refused);
}

}  // namespace dlasim::loadable
