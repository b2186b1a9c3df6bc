#include "report/replay_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "files/output_folder.h"
#include "files/printable.h"
#include "replay/events.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"
#include "report/causes_report.h"
#include "report/run_sections.h"

namespace dlasim {
namespace {

constexpr std::array kReplayKeys{
    Key<Replayed>{{"schema", "text", "", "dlasim.replay/2"}, [](const Replayed&) -> OrderedJson { return "dlasim.replay/2"; }},
    Key<Replayed>{{"name", "text", "", "of the program"}, [](const Replayed& r) -> OrderedJson { return r.what.recording.name; }},
    Key<Replayed>{{"hardware", "object", "", "the machine: below"}, [](const Replayed& r) { return hardware_json(r.what.hardware); }},
    Key<Replayed>{kMachineKey, [](const Replayed& r) -> OrderedJson { return machine_name(r.what.hardware); }},
    Key<Replayed>{kMeasuredKey, [](const Replayed& r) -> OrderedJson { return was_measured(r.what.hardware, r.what.recording.program); }},
    Key<Replayed>{{"memory", "object", "", "the memory behind DBB: below"}, [](const Replayed& r) { return memory_json(r.what.memory); }},
    Key<Replayed>{{"cycles", "integer", "cycles", "from t0 to the last interrupt"},
                  [](const Replayed& r) -> OrderedJson { return r.run.cycles; }},
    Key<Replayed>{kCausesKey, [](const Replayed& r) { return causes_json(r.run.causes.total()); }},
    Key<Replayed>{{"interrupt_cycles", "list", "cycles", "rising edges of the interrupt pin after t0"},
                  [](const Replayed& r) -> OrderedJson { return r.run.interrupt_cycles; }},
    Key<Replayed>{{"regions", "integer", "regions", "regions of memory that the program names"},
                  [](const Replayed& r) -> OrderedJson { return r.what.recording.outputs.size(); }},
    Key<Replayed>{{"mismatches", "integer", "regions", "regions and register checks that were not as expected"},
                  [](const Replayed& r) -> OrderedJson { return r.wrong(); }},
    Key<Replayed>{{"hazards", "object", "", "accesses out of order: [HAZARDS.md](HAZARDS.md)", "--hazards"},
                  [](const Replayed& r) { return hazards_json(r.run); }},
    Key<Replayed>{kWallSecondsKey, [](const Replayed& r) -> OrderedJson { return r.run.wall_seconds; }},
    Key<Replayed>{kCyclesPerSecondKey, [](const Replayed& r) -> OrderedJson { return cycles_per_second(r.run); }},
    Key<Replayed>{{"units", "object", "", "every unit by name: its cycles by phase, which add up to `cycles`, its clocks, its counters"},
                  [](const Replayed& r) { return units_json(r.run); }},
    Key<Replayed>{{"traffic/dbb", "object", "", "what crossed the primary port"},
                  [](const Replayed& r) { return port_json(r.run.dbb, r.what.hardware.memory.primary.width_bytes); }},
    Key<Replayed>{{"traffic/cvsram", "object", "", "what crossed the secondary port", "the machine has one"},
                  [](const Replayed& r) -> OrderedJson {
                      const Hardware& hw = r.what.hardware;
                      return hw.memory.has_secondary ? port_json(r.run.cvsram, hw.memory.secondary.width_bytes) : kAbsent;
                  }},
};

}  // namespace

std::vector<PlacedKey> replay_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kReplayKeys);
    place_run_keys(keys);
    place_silicon_keys(keys);
    place_keys(keys, std::array{kFilesKey});
    return keys;
}

nlohmann::ordered_json replay_json(const Replayed& replayed) { return written(kReplayKeys, replayed); }

std::vector<std::string> Replayed::differing_regions() const
{
    std::vector<std::string> differing;
    for (std::size_t i = 0; what.recording.compare_outputs && i < contents.size(); ++i) {
        const OutputRegion& region = what.recording.outputs[i];
        if (region.crc32 && crc32_of(contents[i]) != *region.crc32) {
            differing.push_back(fmt::format("{}: {} bytes at {:#x} have CRC {:#010x}, expected {:#010x}", region.source, region.bytes,
                                            region.place.address.byte(), crc32_of(contents[i]), *region.crc32));
        } else if (!region.content.empty() && region.content != contents[i]) {
            std::size_t at = 0;
            while (region.content[at] == contents[i][at]) ++at;
            differing.push_back(fmt::format("{}: byte {} at {:#x} is {:#04x}, expected {:#04x}", region.source, at,
                                            (region.place.address + at).byte(), contents[i][at], region.content[at]));
        }
    }
    return differing;
}

std::string replay_table(const Replayed& r)
{
    std::string text = fmt::format("{} on {}{}: {} cycles", printable(r.what.recording.name), machine_name(r.what.hardware),
                                   measured_text(r.what.hardware, r.what.recording.program), r.run.cycles);
    if (!r.run.interrupt_cycles.empty()) text += fmt::format(", interrupt in cycle {}", fmt::join(r.run.interrupt_cycles, ", "));
    if (r.what.recording.compare_outputs)
        text += fmt::format(", {} of {} regions right", r.contents.size() - r.differing.size(), r.contents.size());
    if (!r.run.failed_checks.empty()) text += fmt::format(", {} register checks failed", r.run.failed_checks.size());
    return text + "\n" + hazards_text(r.run) + causes_text(r.run.causes.total());
}

}  // namespace dlasim
