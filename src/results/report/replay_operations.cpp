#include "report/replay_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files/columns.h"
#include "report/causes_report.h"
#include "report/nearest_program.h"
#include "report/timeline/power_profile.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxOperationLines = 100;

/// An operation and when it ran.
struct ReplayedOperation {
    const ReplayedOperations& all;
    std::size_t i;
    const loadable::ProgramOperation& operation = all.list[i];
    const OperationTimes& times = all.run.operations[i];

    std::int64_t cycles() const { return times.done - times.start; }
    std::uint64_t macs() const
    {
        return operation.chain.empty() || operation.chain.front().operation.kind != loadable::Kind::Conv
                   ? 0
                   : operation.chain.front().operation.conv.macs();
    }
    double utilization() const
    {
        const unsigned precision = std::min<unsigned>(operation.chain.front().operation.conv.precision, 2);
        return static_cast<double>(macs()) /
               (static_cast<double>(cycles()) * static_cast<double>(all.hardware.macs_per_cycle(static_cast<Precision>(precision))));
    }
    /// Of its first unit, or its last.
    const loadable::Cube* input() const { return operation.chain.empty() ? nullptr : operation.chain.front().operation.source(); }
    const loadable::Cube* output() const { return operation.chain.empty() ? nullptr : operation.chain.back().operation.destination(); }
};

/// "CONV SDP"; the units that the program launched where they are no operation.
std::string kinds_of(const loadable::ProgramOperation& operation)
{
    if (operation.chain.empty()) return operation.units;
    std::string text;
    for (const loadable::RecoveredOperation& part : operation.chain) text += (text.empty() ? "" : " ") + std::string(part.operation.name());
    return text;
}

OrderedJson launches_json(const loadable::ProgramOperation& operation)
{
    OrderedJson launches = OrderedJson::object();
    for (const OperationLaunch& launch : operation.launches) launches[kLaunchedNames[static_cast<std::size_t>(launch.unit)]] = launch.entry;
    return launches;
}

constexpr std::string_view kDescribed = "its registers describe one, not of BDMA", kEnded = "it ended",
                           kConvolves = "a convolution that ended", kRecovered = "its registers describe one";
constexpr std::array kReplayedOperationKeys{
    Key<ReplayedOperation>{{"name", "text", "", "its number, from 1 in the order of the last launches, and its units"},
                           [](const ReplayedOperation& o) -> OrderedJson { return operation_name(o.all.list, o.i); }},
    Key<ReplayedOperation>{{"units", "text", "", "that work for it: convolution, SDP, SDP_RDMA, ..."},
                           [](const ReplayedOperation& o) -> OrderedJson { return o.operation.units; }},
    Key<ReplayedOperation>{{"modes", "text", "", "its units with their modes, the producer first", kRecovered},
                           [](const ReplayedOperation& o) -> OrderedJson {
                               return o.operation.chain.empty() ? kAbsent : OrderedJson(modes_text(use_of(o.operation)));
                           }},
    Key<ReplayedOperation>{
        {"sizes", "text", "",
         "of each unit: columns, rows and channels of input and output; then kernel, strides and batch of a convolution, "
         "kernel and strides of a pooling, window of a normalisation, strides of a reshape; of a copy bytes, lines, "
         "surfaces, transfers",
         kRecovered},
        [](const ReplayedOperation& o) -> OrderedJson {
            return o.operation.chain.empty() ? kAbsent : OrderedJson(sizes_text(use_of(o.operation)));
        }},
    Key<ReplayedOperation>{{"launches", "object", "", "by unit the entry of the program that launches it"},
                           [](const ReplayedOperation& o) { return launches_json(o.operation); }},
    Key<ReplayedOperation>{{"input", "list", "", "columns, rows and channels of its input", kDescribed},
                           [](const ReplayedOperation& o) { return size_json(o.input()); }},
    Key<ReplayedOperation>{{"output", "list", "", "columns, rows and channels of its output", kDescribed},
                           [](const ReplayedOperation& o) { return size_json(o.output()); }},
    Key<ReplayedOperation>{{"start", "integer", "cycle", "its last op-enable was accepted"},
                           [](const ReplayedOperation& o) -> OrderedJson { return o.times.start; }},
    Key<ReplayedOperation>{{"done", "integer or null", "cycle", "its interrupt, masked or not; null: it did not end"},
                           [](const ReplayedOperation& o) -> OrderedJson { return o.times.ended() ? OrderedJson(o.times.done) : nullptr; }},
    Key<ReplayedOperation>{{"cycles", "integer", "cycles", "from start to done", kEnded},
                           [](const ReplayedOperation& o) -> OrderedJson { return o.times.ended() ? OrderedJson(o.cycles()) : kAbsent; }},
    Key<ReplayedOperation>{{"macs", "integer", "MACs", "multiplications, of a convolution"}, value_of<&ReplayedOperation::macs>},
    Key<ReplayedOperation>{{"utilization", "number", "", "multiplications over the capacity of the array in its cycles", kConvolves},
                           [](const ReplayedOperation& o) -> OrderedJson {
                               return o.macs() != 0 && o.times.ended() ? OrderedJson(o.utilization()) : kAbsent;
                           }},
    Key<ReplayedOperation>{{"causes", "object", "cycles", "the causes of its cycles: [CAUSES.md](CAUSES.md)", "without --no-causes"},
                           [](const ReplayedOperation& o) { return causes_json(causes_of(o.all.run, o.times)); }},
};

/// A line of the table.
std::vector<std::string> line_of(const ReplayedOperation& o)
{
    const std::vector<CauseCycles> causes = causes_of(o.all.run, o.times);
    const auto largest = std::ranges::max_element(causes, {}, &CauseCycles::cycles);
    return {std::to_string(o.i + 1),
            std::to_string(o.operation.launches.back().entry),
            kinds_of(o.operation),
            std::to_string(o.times.start),
            o.times.ended() ? std::to_string(o.times.done) : "never",
            o.times.ended() ? std::to_string(o.cycles()) : "",
            o.macs() != 0 && o.times.ended() ? fmt::format("{:.1f}%", 100 * o.utilization()) : "",
            largest == causes.end() ? "" : cause_text(largest->cause)};
}

}  // namespace

OrderedJson size_json(const loadable::Cube* cube)
{
    if (!cube) return kAbsent;
    return {cube->width, cube->height, cube->channels};
}

std::vector<CauseCycles> causes_of(const RunResult& run, const OperationTimes& times)
{
    if (!times.ended() || times.done <= 0) return {};
    return run.causes.between(static_cast<Cycle>(std::max<std::int64_t>(times.start, 0)), static_cast<Cycle>(times.done));
}

std::string operation_name(const std::vector<loadable::ProgramOperation>& list, std::size_t i)
{
    return fmt::format("{} {}", i + 1, kinds_of(list[i]));
}

OrderedJson replayed_operations_json(const ReplayedOperations& operations)
{
    return written_list(kReplayedOperationKeys, operations.list.size(), [&](std::size_t i) { return ReplayedOperation{operations, i}; });
}

std::vector<PlacedKey> replayed_operation_keys()
{
    return placed(kReplayedOperationKeys, "operations/[]/", step_energy_keys(), "operations/[]/");
}

std::string operations_text(const ReplayedOperations& operations)
{
    if (operations.list.empty()) return "";
    std::vector<std::vector<std::string>> lines{{"op", "entry", "units", "start", "done", "cycles", "MACs", "largest cause"}};
    for (std::size_t i = 0; i < operations.list.size() && i < kMaxOperationLines; ++i) lines.push_back(line_of({operations, i}));
    std::string text = table_text(lines, {2, 7});
    if (operations.list.size() > kMaxOperationLines)
        text += fmt::format("  and {} more operations: result.json (--out) has all\n", operations.list.size() - kMaxOperationLines);
    return text;
}

std::vector<Span> operation_spans(const ReplayedOperations& operations)
{
    std::vector<Span> spans;
    for (std::size_t i = 0; i < operations.list.size(); ++i)
        if (const OperationTimes& times = operations.run.operations[i]; times.ended() && times.done > 0)
            spans.push_back({operation_name(operations.list, i), std::max<std::int64_t>(times.start, 0), times.done});
    return spans;
}

}  // namespace dlasim
