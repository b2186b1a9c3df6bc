#include "replay/replay.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "facts/presets.h"
#include "files/console.h"
#include "files/output_folder.h"
#include "replay/events.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

/// The trace file of a folder: input.txn, or the one .cfg in it.
fs::path trace_file(const fs::path& program)
{
    std::error_code error;
    if (!fs::is_directory(program, error)) return program;
    if (fs::exists(program / "input.txn", error)) return program / "input.txn";
    std::vector<fs::path> found;
    for (auto entry = fs::directory_iterator(program, error); !error && entry != fs::directory_iterator(); entry.increment(error))
        if (entry->path().extension() == ".cfg") found.push_back(entry->path());
    if (error) throw ConfigError(program.string(), "cannot be read (" + error.message() + "), expected a folder with a trace");
    if (found.size() != 1)
        throw ConfigError(program.string(), fmt::format("holds {} .cfg files and no input.txn, expected one trace", found.size()));
    return found.front();
}

struct Job {
    Recording recording;
    Hardware hardware;
    MemorySpec memory;
};

Job read_job(const ReplayOptions& options)
{
    std::error_code error;
    if (!fs::exists(options.program, error))
        throw ConfigError(options.program.string(), error ? "cannot be opened (" + error.message() + ")" : "does not exist");
    const fs::path file = trace_file(options.program);
    Job job;
    if (file.extension() == ".json") {
        MeasuredCase measured = read_measured_case(file, options.hardware);
        job = {std::move(measured.recording), measured.hardware, measured.memory};
    } else if (file.extension() == ".txn") {
        job.hardware = options.hardware.value_or(*find_preset("nv_full"));
        job.recording = read_txn_trace(file, job.hardware);
    } else if (file.extension() == ".cfg") {
        job.hardware = options.hardware.value_or(*find_preset("nv_small"));
        job.recording = read_cfg_trace(file, job.hardware);
    } else {
        throw ConfigError(file.string(), "is neither a measured case (.json) nor a trace (.cfg, input.txn)");
    }
    if (options.memory) job.memory = *options.memory;
    return job;
}

/// What a recording says of memory after the run; returns the number of regions that differ.
int judge(const Recording& recording, const std::vector<std::vector<std::uint8_t>>& contents)
{
    int wrong = 0;
    for (std::size_t i = 0; i < contents.size(); ++i) {
        const OutputRegion& region = recording.outputs[i];
        if (region.crc32 && crc32_of(contents[i]) != *region.crc32) {
            say_error("{}: {} bytes at {:#x} have CRC {:#010x}, expected {:#010x}\n", region.source, region.bytes, region.address.byte(),
                      crc32_of(contents[i]), *region.crc32);
            ++wrong;
        } else if (!region.content.empty() && region.content != contents[i]) {
            std::size_t at = 0;
            while (region.content[at] == contents[i][at]) ++at;
            say_error("{}: byte {} at {:#x} is {:#04x}, expected {:#04x}\n", region.source, at, (region.address + at).byte(),
                      contents[i][at], region.content[at]);
            ++wrong;
        }
    }
    return wrong;
}

/// What a replay says of itself: what a program costs, without a layer to compare it with.
struct Replayed {
    const Job& job;
    const RunResult& run;
    int wrong;
};

using OrderedJson = nlohmann::ordered_json;

OrderedJson values_json(const CounterValues& values)
{
    OrderedJson json;
    for (const auto& [name, value] : values) json[name] = value;
    return json;
}

OrderedJson phases_json(const UnitReport& unit)
{
    OrderedJson json;
    for (std::size_t i = 0; i < kPhases; ++i) json[std::string(kPhaseNames[i])] = unit.phases.cycles(static_cast<Phase>(i));
    return json;
}

constexpr std::array kUnitKeys{
    Key<UnitReport>{{"phases", "object", "cycles", "cycles by phase: issuing, starved, blocked, draining, gated; their sum is `cycles`"},
                    phases_json},
    Key<UnitReport>{{"counters", "object", "", "what the unit counts", "the unit counts something"},
                    [](const UnitReport& u) -> OrderedJson { return u.counters.empty() ? kAbsent : values_json(u.counters); }},
    Key<UnitReport>{{"clock_on", "object", "cycles", "cycles in which a clock domain ran, by domain", "the unit gates its clock"},
                    [](const UnitReport& u) -> OrderedJson { return u.clock_on.empty() ? kAbsent : values_json(u.clock_on); }},
    Key<UnitReport>{kIdleRunsKey, idle_runs_json},
};

OrderedJson units_json(const Replayed& r)
{
    OrderedJson units;
    for (const UnitReport& unit : r.run.units) units[unit.name] = written(kUnitKeys, unit);
    return units;
}

constexpr std::array kReplayKeys{
    Key<Replayed>{{"schema", "text", "", "dlasim.replay/1"}, [](const Replayed&) -> OrderedJson { return "dlasim.replay/1"; }},
    Key<Replayed>{{"name", "text", "", "of the program"}, [](const Replayed& r) -> OrderedJson { return r.job.recording.name; }},
    Key<Replayed>{{"hardware", "text", "", "the preset it ran on"}, [](const Replayed& r) -> OrderedJson { return r.job.hardware.name; }},
    Key<Replayed>{{"cycles", "integer", "cycles", "from t0 to the last interrupt"},
                  [](const Replayed& r) -> OrderedJson { return r.run.cycles; }},
    Key<Replayed>{{"interrupt_cycles", "list", "cycles", "rising edges of the interrupt pin after t0"},
                  [](const Replayed& r) -> OrderedJson { return r.run.interrupt_cycles; }},
    Key<Replayed>{{"regions", "integer", "regions", "regions of memory that the program names"},
                  [](const Replayed& r) -> OrderedJson { return r.job.recording.outputs.size(); }},
    Key<Replayed>{{"mismatches", "integer", "regions", "regions and register checks that were not as expected"},
                  [](const Replayed& r) -> OrderedJson { return r.wrong; }},
    Key<Replayed>{{"hazards", "object", "", "accesses out of order: [HAZARDS.md](HAZARDS.md)", "--hazards"},
                  [](const Replayed& r) { return hazards_json(r.run); }},
    Key<Replayed>{kWallSecondsKey, [](const Replayed& r) -> OrderedJson { return r.run.wall_seconds; }},
    Key<Replayed>{kCyclesPerSecondKey, [](const Replayed& r) -> OrderedJson { return cycles_per_second(r.run); }},
    Key<Replayed>{{"units", "object", "", "every unit by name"}, units_json},
    Key<Replayed>{{"traffic/dbb", "object", "", "totals of the primary port, as in the events"},
                  [](const Replayed& r) -> OrderedJson { return port_totals_json(r.run.dbb); }},
    Key<Replayed>{
        {"traffic/cvsram", "object", "", "totals of the secondary port", "the machine has a secondary port"},
        [](const Replayed& r) -> OrderedJson { return r.job.hardware.memory.has_secondary ? port_totals_json(r.run.cvsram) : kAbsent; }},
};

}  // namespace

std::vector<PlacedKey> replay_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kReplayKeys);
    place_keys(keys, kUnitKeys, "units/*/");
    place_keys(keys, std::array{kFilesKey});
    for (PlacedKey key : hazard_keys()) {
        key.path = "hazards/" + key.path;
        keys.push_back(std::move(key));
    }
    return keys;
}

int replay_command(const ReplayOptions& options)
{
    const Job job = read_job(options);
    std::optional<OutputFile> events_file;  // opened before the run: what cannot be written is refused now
    std::optional<OutputFolder> folder;
    if (!options.events.empty()) events_file.emplace(options.events);
    if (!options.out.empty()) folder.emplace(options.out);
    const Recording& recording = job.recording;
    MachineOptions machine_options;
    machine_options.events = !options.events.empty();
    machine_options.stepping = options.stepping;
    machine_options.one_memory = recording.one_memory;
    machine_options.hazards = options.hazards;
    machine_options.cycle_limit = options.cycle_limit;
    Machine machine(job.hardware, job.memory, machine_options);
    for (const OutputRegion& region : recording.outputs)
        machine.require_memory(region.space, region.address, region.bytes, options.program.string());
    for (const MemoryImage& image : recording.images) {
        machine.require_memory(image.space, image.address, image.bytes.size(), options.program.string());
        machine.write_memory(image.space, image.address, image.bytes);
    }
    const RunResult result = machine.run(recording.program);

    std::vector<std::vector<std::uint8_t>> contents;
    for (const OutputRegion& region : recording.outputs)
        contents.push_back(machine.read_memory(region.space, region.address, region.bytes));
    if (result.hung) {
        say_error("{}: {}", printable(recording.name), result.diagnosis);
        return 3;
    }
    if (events_file) events_file->settle(json_file_text(events_json(result, recording, contents, job.hardware.memory.has_secondary), 1));

    const int wrong_regions = recording.compare_outputs ? judge(recording, contents) : 0;
    const int wrong = wrong_regions + static_cast<int>(result.failed_checks.size());
    for (const std::string& check : result.failed_checks) say_error("{}: {}\n", printable(recording.name), check);
    if (folder) folder->settle_result(written(kReplayKeys, Replayed{job, result, wrong}), 1);
    if (events_file) events_file->commit();
    if (folder) folder->appear();
    if (!options.quiet) {
        say("{} on {}: {} cycles", printable(recording.name), job.hardware.name, result.cycles);
        if (!result.interrupt_cycles.empty()) say(", interrupt in cycle {}", fmt::join(result.interrupt_cycles, ", "));
        if (recording.compare_outputs)
            say(", {} of {} regions right", contents.size() - static_cast<std::size_t>(wrong_regions), contents.size());
        if (!result.failed_checks.empty()) say(", {} register checks failed", result.failed_checks.size());
        say("\n{}", hazards_text(result));
    }
    if (options.times) say_cpu_seconds(result);
    return wrong == 0 && !hazardous(result) ? 0 : 1;
}

}  // namespace dlasim
