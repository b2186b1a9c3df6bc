#include "report/timeline/waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

#include "base/files/printable.h"

namespace dlasim {
namespace {

/// The unit that a signal is shown with: the one that drives it.
std::string scope_of(const std::string& probe)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kScopes{{{"clock_on_cmac", "cmac"},
                                                                                     {"clock_on_cdma", "cdma"},
                                                                                     {"clock_on_csc", "csc"},
                                                                                     {"clock_on_cacc", "cacc"},
                                                                                     {"clock_on_sdp", "sdp"},
                                                                                     {"clock_on_pdp", "pdp"},
                                                                                     {"clock_on_cdp", "cdp"},
                                                                                     {"cacc", "cacc"},
                                                                                     {"cdma", "cdma"},
                                                                                     {"sc2", "csc"},
                                                                                     {"csc", "csc"},
                                                                                     {"mac", "cmac"},
                                                                                     {"sdp", "sdp"},
                                                                                     {"pdp", "pdp"},
                                                                                     {"cdp", "cdp"},
                                                                                     {"mcif", "mcif"}}};
    for (const auto& [start, scope] : kScopes)
        if (probe.starts_with(start)) return std::string(scope);
    return "other";
}

/// Letters that name a signal inside the file.
std::string identifier(std::size_t number)
{
    constexpr std::size_t kLetters = '~' - '!' + 1;
    std::string id;
    do id += static_cast<char>('!' + number % kLetters);
    while ((number /= kLetters) != 0);
    return id;
}

/// Names of signals have no blanks and no brackets.
std::string signal_name(std::string name)
{
    for (char& c : name)
        if (c == '*' || c == ' ' || c == '[' || c == ']') c = '_';
    return name;
}

std::map<std::string, std::vector<const ProbeEvents*>> scopes(const RunResult& run)
{
    std::map<std::string, std::vector<const ProbeEvents*>> scopes;
    for (const ProbeEvents& probe : run.probes) scopes[scope_of(probe.name)].push_back(&probe);
    return scopes;
}

struct Edge {
    std::int64_t at = 0;
    std::uint32_t signal = 0, value = 0;
};

constexpr std::uint32_t kPhaseValues[kPhases] = {1, 2, 3, 4, 0};  // gated is 0: the line is low

void add_edges(std::vector<Edge>& edges, const UnitPhases& unit, std::uint32_t signal)
{
    for (std::size_t i = 0; i < unit.runs.size(); ++i) {
        const PhaseRun& run = unit.runs[i];
        edges.push_back({run.start, signal, kPhaseValues[static_cast<std::size_t>(run.phase)]});
        const std::int64_t end = run.start + static_cast<std::int64_t>(run.cycles);
        if (i + 1 == unit.runs.size() || unit.runs[i + 1].start != end) edges.push_back({end, signal, 0});
    }
}

}  // namespace

std::string waves_text(const RunResult& run, const std::string& name, const TimelineSelection& shown)
{
    const std::int64_t begin = std::max<std::int64_t>(shown.from, 0);
    std::string text = fmt::format("$comment {}: 1 ns is a cycle of the core clock, 0 is t0 $end\n$timescale 1 ns $end\n", printable(name));
    std::vector<Edge> edges;
    std::vector<bool> wires;  // by signal: a wire, else phases
    const auto declare = [&](const std::string& signal, bool wire) {
        text += fmt::format("$var {} {} {} $end\n", wire ? "wire 1" : "reg 3", identifier(wires.size()), signal);
        wires.push_back(wire);
        return static_cast<std::uint32_t>(wires.size() - 1);
    };
    text += "$scope module phases $end\n";
    for (const UnitPhases& unit : run.phases) add_edges(edges, unit, declare(unit.unit, false));
    text += "$upscope $end\n";
    for (const auto& [scope, probes] : scopes(run)) {
        text += fmt::format("$scope module {} $end\n", scope);
        for (const ProbeEvents* probe : probes) {
            const std::uint32_t signal = declare(signal_name(probe->name), true);
            for (const auto& [start, length] : probe->runs) {
                edges.push_back({start, signal, 1});
                edges.push_back({start + static_cast<std::int64_t>(length), signal, 0});
            }
        }
        text += "$upscope $end\n";
    }
    text += "$scope module glb $end\n$var event 1 interrupt interrupt $end\n$upscope $end\n$enddefinitions $end\n";
    const auto interrupt = static_cast<std::uint32_t>(wires.size());
    for (const std::int64_t at : run.interrupt_cycles) edges.push_back({at, interrupt, 1});
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
    std::int64_t now = begin;
    auto out = std::back_inserter(text);
    std::vector<std::uint32_t> values(wires.size());
    auto next = edges.begin();
    if (begin > 0)  // of a window: what holds where it begins
        for (; next != edges.end() && next->at < begin; ++next)
            if (next->signal != interrupt) values[next->signal] = next->value;
    const auto put = [&](std::uint32_t signal, std::uint32_t value) {
        if (wires[signal]) fmt::format_to(out, "{}{}\n", value, identifier(signal));
        else fmt::format_to(out, "b{:b} {}\n", value, identifier(signal));
    };
    fmt::format_to(out, "#{}\n$dumpvars\n", begin);
    for (std::uint32_t signal = 0; signal < wires.size(); ++signal) put(signal, values[signal]);
    text += "$end\n";
    for (; next != edges.end() && next->at < shown.to; ++next) {
        const Edge& edge = *next;
        if (edge.at != now) fmt::format_to(out, "#{}\n", now = edge.at);
        if (edge.signal == interrupt) text += "1interrupt\n";
        else put(edge.signal, edge.value);
    }
    return text;
}

std::string waves_layout(const RunResult& run, const std::string& waves)
{
    std::string text = fmt::format("[dumpfile] \"{}\"\n[timestart] 0\n", waves);
    const auto group = [&](const std::string& title, const std::vector<std::string>& signals) {
        if (signals.empty()) return;
        text += fmt::format("@800200\n-{}\n@28\n", title);
        for (const std::string& signal : signals) text += signal + "\n";
        text += fmt::format("@1000200\n-{}\n", title);
    };
    std::vector<std::string> phases;
    for (const UnitPhases& unit : run.phases)
        if (!unit.runs.empty()) phases.push_back(fmt::format("phases.{}[2:0]", unit.unit));
    group("phases", phases);
    for (const auto& [scope, probes] : scopes(run)) {
        std::vector<std::string> signals;
        for (const ProbeEvents* probe : probes)
            if (probe->active != 0) signals.push_back(scope + "." + signal_name(probe->name));
        group(scope, signals);
    }
    group("interrupts", {"glb.interrupt"});
    return text;
}

}  // namespace dlasim
