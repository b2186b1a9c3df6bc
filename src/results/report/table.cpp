#include <fmt/format.h>

#include "base/files/printable.h"
#include "config/machine/memory.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"
#include "report/causes_report.h"
#include "report/difference_report.h"
#include "report/nearest_program.h"
#include "report/result.h"
#include "report/run_sections.h"

namespace dlasim {
namespace {

std::string percent(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void add_port(std::string& text, const char* name, const PortTraffic& port, std::uint32_t beat_bytes)
{
    text += fmt::format("  {:<10} read {:>14} bytes   written {:>14} bytes", name, grouped(port.read_beats * beat_bytes),
                        grouped(port.write_bytes));
    std::string clients;
    for (const auto& [client, bytes] : port.read_bytes_by_client)
        clients += fmt::format("{}{} {}", clients.empty() ? "" : ", ", client, grouped(bytes));
    text += clients.empty() ? std::string("\n") : fmt::format("   (read: {})\n", clients);
}

/// The mismatches in words, `what` are compared.
std::string mismatch_text(const Comparison& comparison, const char* what)
{
    std::string text = fmt::format("NO: {} of {} {} differ", grouped(comparison.mismatches), grouped(comparison.compared), what);
    for (const std::string& example : comparison.examples) text += "\n               " + example;
    return text;
}

std::string verdict(const Result& r)
{
    if (!r.comparison()) return "not compared (--timing-only)";
    const ReportText& words = r.job.text;
    if (!r.comparison()->equal()) return mismatch_text(*r.comparison(), words.compared);
    if (r.job.compares) return fmt::format("yes, SDP's status equals the reference: {}", r.comparison()->finding);
    return fmt::format("yes, all {} {} {}", grouped(r.comparison()->compared), words.compared, words.equal);
}

/// Units by phase, traffic by port.
std::string run_table(const RunResult& run, const Hardware& hardware, std::uint64_t cycles)
{
    std::string text;
    text += fmt::format("  {:<10}", "unit");
    for (const std::string_view phase : kPhaseNames) text += fmt::format(" {:>10}", phase);
    text += '\n';
    for (const UnitReport& unit : run.units) {
        text += fmt::format("  {:<10}", unit.name);
        for (std::size_t p = 0; p < kPhases; ++p)
            text += fmt::format(" {:>10}", percent(unit.phases.cycles(static_cast<Phase>(p)), cycles));
        text += '\n';
    }
    text += '\n';
    add_port(text, "DBB", run.dbb, hardware.memory.primary.width_bytes);
    if (run.cvsram.ar != 0 || run.cvsram.aw != 0) add_port(text, "CVSRAM", run.cvsram, hardware.memory.secondary.width_bytes);
    if (!run.dbb_memory.text.empty()) text += "\n" + run.dbb_memory.text;
    return text;
}

std::string bounds_lines(const std::vector<Bound>& bounds)
{
    std::string text = "\n  lower bounds, cycles\n";
    for (const Bound& bound : bounds) text += fmt::format("  {:<12} {:>14}  {}\n", bound.name(), grouped(bound.cycles), bound.meaning());
    return text;
}

std::string bounds_table(const std::vector<Bound>& bounds, const RunResult& run, std::uint64_t cycles)
{
    std::string text = bounds_lines(bounds);
    const Bound& bind = binding(bounds);
    text += fmt::format("  binding      {:>14}  {} of the cycles\n", bind.name(), percent(bind.cycles, cycles));
    if (run.dbb_memory.bus_held != 0)
        text += fmt::format(
            "\n  estimate, measured: no bound\n  {:<12} {:>14}  {} of the cycles: the DRAM's busiest data bus carried data, or "
            "was blocked by timing rules (rows, turnarounds, refresh)\n",
            "dram_bus", grouped(run.dbb_memory.bus_held), percent(run.dbb_memory.bus_held, cycles));
    return text;
}

/// What passes the array, or how fast bytes move.
std::string work_lines(const Result& r)
{
    const std::optional<ArrayWork>& array = r.job.array;
    if (!array) {
        const double rate = r.cycles() == 0 ? 0.0 : static_cast<double>(r.job.work.amount) / static_cast<double>(r.cycles());
        return fmt::format("  cycles       {}, {:.2f} {} a cycle\n", grouped(r.cycles()), rate, r.job.work.unit);
    }
    std::string text = fmt::format("  cycles       {}\n", grouped(r.cycles()));
    if (array->macs == 0) return text;
    text += fmt::format("  MACs         {} of the direct convolution, {:.2f} % of what the array could multiply\n", grouped(array->macs),
                        100 * r.utilization());
    return text + fmt::format("  array        an operation in {:.2f} % of the cycles\n", 100 * r.occupancy());
}

/// What runs, and where.
std::string head_lines(const Job& job)
{
    std::string text = fmt::format("{}  {}\n", printable(job.name), job.text.subject);
    text += fmt::format("  on           {}{}, {}{}{}\n", machine_name(job.hardware), measured_text(job.hardware, job.program),
                        memory_text(job.memory), job.text.mode.empty() ? "" : ", ", job.text.mode);
    if (!job.text.cut.empty()) text += fmt::format("  tiling       {}\n", job.text.cut);
    return text;
}

}  // namespace

std::string summary_table(const Result& r)
{
    const Job& job = r.job;
    std::string text = head_lines(job);
    text += work_lines(r);
    for (const std::string& advice : job.text.advice) text += fmt::format("  advice       {}\n", advice);
    if (!job.text.memory.empty()) text += fmt::format("  output       {}\n", job.text.memory);
    text += fmt::format("  verified     {}\n", verdict(r));
    text += direct_line(r.direct());
    text += hazards_text(r.run);
    text += expected_line(r.expected());
    text += nearest_line(job.program, job.hardware);
    text += simulation_text(r.run) + '\n';
    text += run_table(r.run, job.hardware, r.cycles()) + bounds_table(job.bounds, r.run, r.cycles());
    return text + "\n" + causes_text(r.run.causes.total());
}

std::string outline_table(const Job& job)
{
    const OrderedJson& plan = job.text.plan;
    std::string text = head_lines(job);
    if (plan.contains("reason"))
        text += fmt::format("  mode         {}: {}\n", plan["mode"].get<std::string>(), plan["reason"].get<std::string>());
    if (plan.contains("data_banks") && job.array && job.array->operations != 0)
        text += fmt::format("  CBUF         {} of {} banks for data, {} for weights{}\n", plan["data_banks"].dump(),
                            job.hardware.cbuf.banks, plan["weight_banks"].dump(),
                            plan["passes"] == 1 ? "" : fmt::format(", in each of {} passes", plan["passes"].dump()));
    for (const std::string& advice : job.text.advice) text += fmt::format("  advice       {}\n", advice);
    if (!job.text.memory.empty()) text += fmt::format("  output       {}\n", job.text.memory);
    if (plan.contains("tensors")) {
        text += fmt::format("\n  {:<14} {:>14} {:>14} {:>8}\n", "tensor", "bytes", "moved", "times");
        for (const auto& [name, tensor] : plan["tensors"].items())
            text += fmt::format("  {:<14} {:>14} {:>14} {:>8}\n", name,
                                tensor.contains("bytes") ? grouped(tensor["bytes"].get<std::uint64_t>()) : "-",
                                grouped(tensor["moved"].get<std::uint64_t>()),
                                tensor.contains("times") ? fmt::format("{:.2f}", tensor["times"].get<double>()) : "-");
        const OrderedJson& traffic = plan["traffic"];
        text += fmt::format("  {:<14} {:>14} {:>14}          at least, by the {} bound: {}\n", "all", "",
                            grouped(traffic["moved"].get<std::uint64_t>()), traffic["binding"].get<std::string>(),
                            grouped(std::max(traffic["compulsory"].get<std::uint64_t>(), traffic["communication"].get<std::uint64_t>())));
    }
    const Bound& bind = binding(job.bounds);
    return text + bounds_lines(job.bounds) + fmt::format("  binding      {:>14}  at least {} cycles\n", bind.name(), grouped(bind.cycles));
}

}  // namespace dlasim
