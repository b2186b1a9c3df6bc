#include <fmt/format.h>

#include "config/memory.h"
#include "files/printable.h"
#include "report/advice.h"
#include "report/result.h"

namespace dlasim {
namespace {

std::string percent(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string pool_text(const Layer& l)
{
    if (!l.pool) return "";
    const Pool& p = *l.pool;
    return fmt::format(" -> {} pooled {} x {}, window {} x {}, stride {} x {}", function_name(p.function), l.result_width(),
                       l.result_height(), p.x.kernel, p.y.kernel, p.x.stride, p.y.stride);
}

std::string layer_line(const Layer& l)
{
    if (l.op == Op::Pool)
        return fmt::format("{} x {} x {}{}, {}", l.width, l.height, l.channels, pool_text(l), precision_name(l.precision));
    if (l.op == Op::Sdp)
        return fmt::format("{} x {} x {}, {}{}", l.width, l.height, l.channels, precision_name(l.precision),
                           l.stored_precision() == l.precision ? "" : fmt::format(" from {}", precision_name(l.stored_precision())));
    return fmt::format("{} x {} x {}{} -> {} x {} x {}, kernel {} x {}, stride {} x {}{}, {}", l.width, l.height, l.channels,
                       l.batch > 1 ? fmt::format(", batch {}", l.batch) : "", l.out_width(), l.out_height(), l.kernels, l.kernel_width,
                       l.kernel_height, l.stride.x, l.stride.y, pool_text(l), precision_name(l.precision));
}

/// What the outputs were checked against.
std::string arithmetic(const LayerResult& r)
{
    if (r.layer.precision == Precision::Fp16) return "own fp16 arithmetic, rounded as documented";
    return r.plan.method.winograd ? "own integer arithmetic, Winograd transforms as matrices" : "own integer arithmetic";
}

std::string verdict(const LayerResult& r)
{
    if (!r.comparison) return "not compared (--timing-only)";
    if (r.layer.post.compares() && r.comparison->equal())
        return fmt::format("yes, SDP says what the reference does: {}", r.comparison->finding);
    if (r.comparison->equal())
        return fmt::format("yes, all {} outputs equal the golden {} ({})", grouped(r.comparison->compared),
                           r.layer.op == Op::Pool  ? "pooling"
                           : r.layer.op == Op::Sdp ? "SDP"
                                                   : "convolution",
                           arithmetic(r));
    return mismatch_text(*r.comparison, "outputs");
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

}  // namespace

std::string grouped(std::uint64_t number)
{
    std::string text = std::to_string(number);
    for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) text.insert(static_cast<std::size_t>(i), 1, ',');
    return text;
}

std::string mismatch_text(const Comparison& comparison, const char* what)
{
    std::string text = fmt::format("NO: {} of {} {} differ", grouped(comparison.mismatches), grouped(comparison.compared), what);
    for (const std::string& example : comparison.examples) text += "\n               " + example;
    return text;
}

std::string expected_line(const std::optional<Difference>& expected)
{
    if (!expected) return "";
    const std::string file = printable(expected->file);
    if (expected->equal()) return fmt::format("  expected     yes, all {} outputs equal {}\n", grouped(expected->compared), file);
    return fmt::format(
        "  expected     NO: {} of {} outputs differ from {}, the largest by {}\n"
        "               the first at batch {} channel {} row {} column {}: found {}, expected {}\n",
        grouped(expected->differing), grouped(expected->compared), file, expected->largest, expected->n, expected->c, expected->y,
        expected->x, expected->found, expected->expected);
}

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

std::string bounds_table(const std::vector<Bound>& bounds, const RunResult& run, std::uint64_t cycles)
{
    std::string text = "\n  lower bounds, cycles\n";
    for (const Bound& bound : bounds) text += fmt::format("  {:<12} {:>14}  {}\n", bound.name, grouped(bound.cycles), bound.meaning);
    const Bound& bind = binding(bounds);
    text += fmt::format("  binding      {:>14}  {} of the cycles\n", bind.name, percent(bind.cycles, cycles));
    if (run.dbb_memory.bus_held != 0)
        text += fmt::format(
            "\n  estimate, measured: no bound\n  {:<12} {:>14}  {} of the cycles: the DRAM's busiest data bus carried data, or "
            "its rules held it (rows, turnarounds, refresh)\n",
            "dram_bus", grouped(run.dbb_memory.bus_held), percent(run.dbb_memory.bus_held, cycles));
    return text;
}

std::string summary_table(const LayerResult& r)
{
    std::string text = fmt::format("{}  {}\n", printable(r.layer.name), layer_line(r.layer));
    text += fmt::format("  on           {}, {}, {} mode, {} MACs a cycle\n", r.hardware.name, memory_text(r.memory), r.plan.mode,
                        r.hardware.macs_per_cycle(r.layer.precision));
    text += fmt::format("  cycles       {}\n", grouped(r.cycles()));
    if (r.layer.macs() != 0) {
        text += fmt::format("  MACs         {} of the direct convolution, {:.2f} % of what the array could multiply\n",
                            grouped(r.layer.macs()), 100 * r.utilization());
        text += fmt::format("  array        an operation in {:.2f} % of the cycles\n", 100 * r.occupancy());
    }
    for (const std::string& advice : advice_on(r.plan, r.layer, r.hardware, r.memory)) text += fmt::format("  advice       {}\n", advice);
    if (const OutputLayout layout = output_layout(r.plan, r.layer); !layout.one_tensor)
        text += fmt::format("  output       padded, not one tensor: {} regions, {} bytes for {}\n", grouped(layout.regions),
                            grouped(layout.bytes), grouped(layout.tensor_bytes));
    text += fmt::format("  verified     {}\n", verdict(r));
    text += expected_line(r.expected);
    text +=
        fmt::format("  simulation   {:.2f} s, {} cycles/s\n\n", r.wall_seconds, grouped(static_cast<std::uint64_t>(r.cycles_per_second())));
    text += run_table(r.run, r.hardware, r.cycles());
    text += bounds_table(lower_bounds(r.plan, r.layer, r.hardware, r.memory), r.run, r.cycles());
    return text;
}

}  // namespace dlasim
