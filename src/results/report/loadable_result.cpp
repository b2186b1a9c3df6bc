#include "report/loadable_result.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>

#include "base/files/columns.h"
#include "base/files/output_folder.h"
#include "base/files/printable.h"
#include "config/machine/hardware.h"
#include "config/machine/measured.h"
#include "config/machine/memory.h"
#include "replay/events.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"
#include "report/causes_report.h"
#include "report/nearest_program.h"
#include "report/replay_operations.h"
#include "report/run_report.h"
#include "report/timeline/power_profile.h"

namespace dlasim {
namespace {

using loadable::Cube;
using loadable::Operation;
using loadable::Scheduled;

/// An operation of the run.
struct OperationView {
    const LoadableResult& r;
    std::size_t i;
    const Scheduled& scheduled = r.plan.operations[i];
    const Operation& operation = r.plan.operation(scheduled);

    double utilization() const
    {
        return r.utilization(r.macs(i), r.times[i].done - r.times[i].start, static_cast<Precision>(operation.conv.precision % 3));
    }
    const Scheduled& place() const { return scheduled; }
};

constexpr std::string_view kJudged = "chains were compared with the golden operations";
constexpr std::string_view kCubes = "not of BDMA";
constexpr std::array kOperationKeys{
    Key<OperationView>{{"name", "text", "", "task, operation and kind, as the page has it"},
                       [](const OperationView& s) -> OrderedJson { return s.r.name(s.i); }},
    Key<OperationView>{{"task", "integer", "", "in the file"}, value_of<&OperationView::place, &Scheduled::task>},
    Key<OperationView>{{"operation", "integer", "", "in the task"}, value_of<&OperationView::place, &Scheduled::operation>},
    Key<OperationView>{{"kind", "text", "", "as the compiler names it: CONV, SDP .."},
                       [](const OperationView& s) -> OrderedJson { return s.operation.name(); }},
    Key<OperationView>{{"chain", "integer", "", "operations that run together have the same"},
                       value_of<&OperationView::place, &Scheduled::chain>},
    Key<OperationView>{{"group", "integer", "", "register group of its unit"}, value_of<&OperationView::place, &Scheduled::group>},
    Key<OperationView>{{"input", "list", "", "columns, rows and channels of its input", kCubes},
                       [](const OperationView& s) -> OrderedJson { return size_json(s.operation.source()); }},
    Key<OperationView>{{"output", "list", "", "columns, rows and channels of its output", kCubes},
                       [](const OperationView& s) -> OrderedJson { return size_json(s.operation.destination()); }},
    Key<OperationView>{{"start", "integer", "cycle", "its last op-enable was accepted"},
                       [](const OperationView& s) -> OrderedJson { return s.r.times[s.i].start; }},
    Key<OperationView>{{"done", "integer", "cycle", "its interrupt, masked or not"},
                       [](const OperationView& s) -> OrderedJson { return s.r.times[s.i].done; }},
    Key<OperationView>{{"cycles", "integer", "cycles", "from start to done"},
                       [](const OperationView& s) -> OrderedJson { return s.r.times[s.i].done - s.r.times[s.i].start; }},
    Key<OperationView>{{"causes", "object", "cycles", "the causes of these cycles: [CAUSES.md](CAUSES.md)", "without --no-causes"},
                       [](const OperationView& s) { return causes_json(causes_of(s.r.run, s.r.times[s.i])); }},
    Key<OperationView>{{"macs", "integer", "MACs", "multiplications, of CONV"},
                       [](const OperationView& s) -> OrderedJson { return s.r.macs(s.i); }},
    Key<OperationView>{{"utilization", "number", "", "multiplications over the capacity of the array from start to done"},
                       value_of<&OperationView::utilization>},
    Key<OperationView>{
        {"verified", "flag or null", "", "the output of its chain equals the golden operations; null: not compared", kJudged},
        [](const OperationView& s) -> OrderedJson {
            const loadable::Verdict* verdict = s.r.verdict(s.i);
            if (!verdict) return kAbsent;
            return verdict->unchecked.empty() ? OrderedJson(verdict->comparison.equal()) : OrderedJson(nullptr);
        }},
    Key<OperationView>{{"unverified", "text", "", "why its chain was not compared", "it was not"},
                       [](const OperationView& s) -> OrderedJson {
                           const loadable::Verdict* verdict = s.r.verdict(s.i);
                           return verdict && !verdict->unchecked.empty() ? OrderedJson(verdict->unchecked) : kAbsent;
                       }},
};

constexpr std::array kVerificationKeys{
    Key<Verification>{{"chains", "integer", "chains", "that completed"}, value_of<&Verification::chains>},
    Key<Verification>{{"unverified", "integer", "chains", "of these not compared"}, value_of<&Verification::unchecked>},
    Key<Verification>{{"compared", "integer", "values", "elements of tensors, bytes of BDMA"}, value_of<&Verification::compared>},
    Key<Verification>{{"mismatches", "integer", "values", "of these not equal"}, value_of<&Verification::mismatches>},
    Key<Verification>{{"mismatch_examples", "list", "", "the first of them in words", "there are mismatches"},
                      [](const Verification& v) -> OrderedJson { return v.examples.empty() ? kAbsent : OrderedJson(v.examples); }},
};

OrderedJson operations_json(const LoadableResult& r)
{
    return written_list(kOperationKeys, r.plan.operations.size(), [&](std::size_t i) { return OperationView{r, i}; });
}

OrderedJson regions_json(const std::vector<SeenRange>& ranges)
{
    OrderedJson list = OrderedJson::array();
    for (const SeenRange& seen : ranges) {
        OutputRegion region;
        region.place = seen.range.place;
        region.bytes = seen.range.bytes;
        list.push_back(region_json(region, seen.bytes));
    }
    return list;
}

constexpr std::array kWrittenKeys{
    Key<WrittenTensor>{{"name", "text", "", "of the tensor in the file"}, value_of<&WrittenTensor::name>},
    Key<WrittenTensor>{{"file", "text", "", "[n][c][h][w], a NumPy file"}, value_of<&WrittenTensor::file>},
    Key<WrittenTensor>{{"surface", "text", "", "the bytes of its memory, a file"}, value_of<&WrittenTensor::surface>},
    Key<WrittenTensor>{{"elements_crc32", "text", "", "CRC-32 of its elements in the order of the NumPy file, hexadecimal"},
                       [](const WrittenTensor& t) -> OrderedJson { return fmt::format("{:08x}", crc32_of(t.elements)); }},
};

OrderedJson tensors_json(const LoadableResult& r) { return written_list(kWrittenKeys, r.tensors); }

constexpr std::string_view kComputed = "values were computed", kSecondary = "the machine has a secondary port";
constexpr std::array kLoadableKeys{
    Key<LoadableResult>{{"loadable", "text", "", "the file"}, [](const LoadableResult& r) -> OrderedJson { return r.plan.loadable->file; }},
    Key<LoadableResult>{
        {"mode", "text", "", "serial, overlap or driver: LOADABLE.md"},
        [](const LoadableResult& r) -> OrderedJson { return loadable::kModeNames[static_cast<std::size_t>(r.plan.options.mode)]; }},
    Key<LoadableResult>{{"precision", "text", "", "of its operations: the widest, fp16 before int16 before int8"},
                        [](const LoadableResult& r) -> OrderedJson { return precision_name(r.precision()); }},
    Key<LoadableResult>{{"macs", "integer", "MACs", "multiplications of all operations"},
                        [](const LoadableResult& r) -> OrderedJson { return r.macs(); }},
    Key<LoadableResult>{{"utilization", "number", "", "multiplications over the capacity of the array in `cycles`"},
                        [](const LoadableResult& r) -> OrderedJson { return r.utilization(r.macs(), r.run.cycles, r.precision()); }},
    Key<LoadableResult>{{"verified", "flag or null", "", "every value compared is equal; null where none was", kJudged},
                        [](const LoadableResult& r) -> OrderedJson {
                            if (r.verdicts.empty()) return kAbsent;
                            const Verification v = r.verification();
                            return v.compared == 0 ? OrderedJson() : OrderedJson(v.mismatches == 0);
                        }},
    Key<LoadableResult>{
        {"mismatches", "integer", "values", "values compared that are not equal", kJudged},
        [](const LoadableResult& r) -> OrderedJson { return r.verdicts.empty() ? kAbsent : OrderedJson(r.verification().mismatches); }},
    Key<LoadableResult>{{"frames_per_s", "number", "1/s", "runs back to back; includes CPU fallback if `--host` is given"},
                        [](const LoadableResult& r) -> OrderedJson { return r.host().frames_per_s(r.latency_seconds()); }},
    Key<LoadableResult>{{"host", "object", "", "CPU fallback, which takes no cycles: below"},
                        [](const LoadableResult& r) { return host_json(r.host()); }},
    Key<LoadableResult>{{"operations", "list", "", "operations of the hardware, in the order in which they are enabled"}, operations_json},
    Key<LoadableResult>{{"host_tasks", "integer", "tasks", "of the CPU"},
                        [](const LoadableResult& r) -> OrderedJson { return r.plan.hosts.size(); }},
    Key<LoadableResult>{{"dbb", "object", "", "totals of the primary port, as in the events"},
                        [](const LoadableResult& r) -> OrderedJson { return port_totals_json(r.run.dbb); }},
    Key<LoadableResult>{{"cvsram", "object", "", "totals of the secondary port", kSecondary},
                        [](const LoadableResult& r) -> OrderedJson {
                            return r.plan.hardware.memory.has_secondary ? port_totals_json(r.run.cvsram) : kAbsent;
                        }},
    Key<LoadableResult>{{"output", "list", "", "memories written by the last hardware task, before CPU fallback", kComputed},
                        [](const LoadableResult& r) -> OrderedJson { return r.written.empty() ? kAbsent : regions_json(r.written); }},
    Key<LoadableResult>{{"final", "list", "", "memories of the outputs at the end", kComputed},
                        [](const LoadableResult& r) -> OrderedJson { return r.results.empty() ? kAbsent : regions_json(r.results); }},
    Key<LoadableResult>{{"tensors", "list", "", "outputs as files", kComputed},
                        [](const LoadableResult& r) -> OrderedJson { return r.tensors.empty() ? kAbsent : tensors_json(r); }},
    Key<LoadableResult>{
        {"verification", "object", "", "the comparison with the golden operations", kJudged},
        [](const LoadableResult& r) -> OrderedJson { return r.verdicts.empty() ? kAbsent : written(kVerificationKeys, r.verification()); }},
};

std::string verification_text(const LoadableResult& r)
{
    if (r.verdicts.empty()) return "";
    const Verification v = r.verification();
    if (v.mismatches != 0)
        return fmt::format("  values       {} of {} differ from the golden operations: {}\n", grouped(v.mismatches), grouped(v.compared),
                           v.examples.front());
    std::string text = v.compared == 0 ? "  values       not verified: none was compared\n"
                                       : fmt::format("  values       verified: {} equal to the golden operations, {} of {} chains\n",
                                                     grouped(v.compared), v.chains - v.unchecked, v.chains);
    std::map<std::string, std::size_t> reasons;
    for (const auto& verdict : r.verdicts)
        if (verdict && !verdict->unchecked.empty()) ++reasons[verdict->unchecked];
    for (const auto& [reason, chains] : reasons) text += fmt::format("               not compared: {} that {}\n", chains, reason);
    return text;
}

std::string file_name(const LoadableResult& r) { return std::filesystem::path(r.plan.loadable->file).filename().string(); }

std::string size_text(const Cube* cube) { return cube ? fmt::format("{} x {} x {}", cube->width, cube->height, cube->channels) : ""; }

}  // namespace

std::vector<OperationTimes> operation_times(const loadable::LoadablePlan& plan, const RunResult& run)
{
    std::map<std::uint32_t, std::vector<std::int64_t>> done;  // by bit
    for (const DoneEvent& event : run.done)
        for (std::uint32_t bits = event.bits; bits != 0; bits &= bits - 1) done[bits & ~(bits - 1)].push_back(event.cycle);
    std::map<std::uint32_t, std::size_t> seen;
    std::vector<OperationTimes> times;
    for (const Scheduled& of : plan.operations) {
        const std::uint32_t bit = loadable::Programmer::done_bit(plan.operation(of).kind, of.group);
        const std::size_t n = seen[bit]++;
        times.push_back({of.stamp < run.stamps.size() ? run.stamps[of.stamp] : 0, n < done[bit].size() ? done[bit][n] : 0});
    }
    return times;
}

double LoadableResult::latency_seconds() const { return static_cast<double>(run.cycles) / (plan.hardware.clock_mhz * 1e6); }

Precision LoadableResult::precision() const
{
    unsigned widest = 0;
    for (const Scheduled& scheduled : plan.operations) {
        const auto precision = [](const auto& o) { return unsigned{o.precision}; };
        widest =
            std::max(widest, visit(loadable::Cases{[](const loadable::BdmaOperation&) { return 0u; },
                                                   [](const loadable::SdpOperation& o) { return unsigned{o.source_precision}; }, precision},
                                   plan.operation(scheduled)));
    }
    return static_cast<Precision>(std::min(widest, 2u));
}

std::uint64_t LoadableResult::macs(std::size_t operation) const
{
    const Operation& o = plan.operation(plan.operations[operation]);
    return o.kind == loadable::Kind::Conv ? o.conv.macs() : 0;
}

std::uint64_t LoadableResult::macs() const
{
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < plan.operations.size(); ++i) all += macs(i);
    return all;
}

double LoadableResult::utilization(std::uint64_t macs, std::int64_t cycles, Precision precision) const
{
    return cycles > 0
               ? static_cast<double>(macs) / (static_cast<double>(cycles) * static_cast<double>(plan.hardware.macs_per_cycle(precision)))
               : 0;
}

const loadable::Verdict* LoadableResult::verdict(std::size_t operation) const
{
    const std::size_t chain = plan.operations[operation].chain;
    return chain < verdicts.size() && verdicts[chain] ? &*verdicts[chain] : nullptr;
}

std::string LoadableResult::name(std::size_t operation) const
{
    const Scheduled& scheduled = plan.operations[operation];
    return fmt::format("{}.{} {}", scheduled.task, scheduled.operation, plan.operation(scheduled).name());
}

HostWork LoadableResult::host() const
{
    HostWork host{.ns_per_element = host_ns};
    for (const loadable::HostTask& task : plan.hosts)
        for (const loadable::HostOperation& operation : task.operations) {
            const loadable::HostBuffer& made = operation.destination;
            host.add(std::uint64_t{made.width} * made.height * made.channels);
        }
    return host;
}

Verification LoadableResult::verification() const
{
    constexpr std::size_t kExamples = 8;
    Verification v;
    for (std::size_t k = 0; k < verdicts.size(); ++k) {
        if (!verdicts[k]) continue;
        const Comparison& comparison = verdicts[k]->comparison;
        ++v.chains;
        v.unchecked += verdicts[k]->unchecked.empty() ? 0 : 1;
        v.compared += comparison.compared;
        v.mismatches += comparison.mismatches;
        for (const std::string& example : comparison.examples)
            if (v.examples.size() < kExamples) v.examples.push_back(fmt::format("operation {}: {}", plan.chains[k].front(), example));
    }
    return v;
}

OrderedJson loadable_result_json(const LoadableResult& r)
{
    const loadable::LoadablePlan& plan = r.plan;
    return report_json({"loadable", file_name(r), plan.hardware, plan.memory, plan.program, r.run, static_cast<std::int64_t>(r.run.cycles),
                        r.run.causes.total()},
                       kLoadableKeys, r);
}

std::vector<PlacedKey> loadable_result_keys()
{
    return placed(kLoadableKeys, "", kOperationKeys, "operations/[]/", kWrittenKeys, "tensors/[]/", host_keys(), "", kVerificationKeys,
                  "verification/", port_total_keys(), "dbb/", port_total_keys(), "cvsram/", region_keys(), "output/[]/", region_keys(),
                  "final/[]/", step_energy_keys(), "operations/[]/");
}

std::string loadable_table(const LoadableResult& r)
{
    std::string text = fmt::format("{}\n  on           {}{}, {}\n", printable(file_name(r)), machine_name(r.plan.hardware),
                                   measured_text(r.plan.hardware, r.plan.program), memory_text(r.plan.memory));
    text += fmt::format("  cycles       {}   {:.3f} ms at {} MHz, {:.2f} frames/s{}\n", grouped(r.run.cycles), 1e3 * r.latency_seconds(),
                        r.plan.hardware.clock_mhz, r.host().frames_per_s(r.latency_seconds()), r.host().text());
    text += fmt::format("  program      {} operations in {} chains, mode {}{}\n", r.plan.operations.size(), r.plan.chains.size(),
                        loadable::kModeNames[static_cast<std::size_t>(r.plan.options.mode)],
                        r.plan.hosts.empty() ? "" : fmt::format(", {} tasks of CPU fallback", r.plan.hosts.size()));
    text += nearest_line(r.plan.program, r.plan.hardware) + simulation_text(r.run) + '\n';
    std::vector<std::vector<std::string>> lines{{"op", "unit", "input -> output", "start", "done", "cycles", "MACs"}};
    for (std::size_t i = 0; i < r.plan.operations.size(); ++i) {
        const OperationView s{r, i};
        const OperationTimes& times = r.times[i];
        const std::string sizes = fmt::format("{} -> {}", size_text(s.operation.source()), size_text(s.operation.destination()));
        lines.push_back({std::to_string(s.scheduled.operation), std::string(s.operation.name()), sizes, std::to_string(times.start),
                         std::to_string(times.done), std::to_string(times.done - times.start),
                         r.macs(i) != 0 ? fmt::format("{:.1f} %", 100 * s.utilization()) : ""});
    }
    text += table_text(lines, {1});
    const std::uint32_t beat = r.plan.hardware.memory.primary.width_bytes;
    text += fmt::format("\n  DBB          read {} bytes, written {} bytes\n", grouped(r.run.dbb.read_beats * beat),
                        grouped(r.run.dbb.write_bytes));
    text += verification_text(r);
    text += hazards_text(r.run);
    for (const WrittenTensor& tensor : r.tensors) text += fmt::format("  output       {}\n", printable(tensor.file));
    text += causes_text(r.run.causes.total());
    return text;
}

}  // namespace dlasim
