// DRAM device files with their constraint tables: {"device": {...}, "standard": {...}}. What is taken runs for 400 cycles.
#include "base/files/json_text.h"
#include "dram/check/stream.h"
#include "dram/read/reader.h"
#include "dram/report/report.h"
#include "dram/report/run_report.h"
#include "fuzz.h"

namespace dlasim {
namespace fuzz_dram {

using namespace fuzz;

std::vector<std::string> seeds()
{
    std::vector<std::string> all;
    for (const bool reference : {false, true})
        for (const std::string& name : dram::preset_names(reference)) {
            const std::string device = dram::preset_text(name);
            const auto standard = parse_json(device, name)["standard"].get<std::string>();
            all.push_back("{\"device\": " + device + ", \"standard\": " + repository_file("configs/dram/standards/" + standard + ".json") +
                          "}");
        }
    return all;
}

std::vector<std::string> words()
{
    return {"tRCD", "tRAS",  "BL", "RL", "max(1,2)", "min(tRCD, 3)", "(((",      "1-99",      "4*4*4",          "ACT",
            "RD",   "REFab", "B",  "R",  "open",     "none",         "per_bank", "reference", "bank_interleave"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "d.json");
        if (!json.is_object() || !json.contains("device") || !json.contains("standard")) throw ConfigError("d.json", "expected two files");
        const dram::Config config = dram::parse_config("d.json", json["device"].dump(), "s.json", json["standard"].dump());
        dram::StreamRun run;
        run.cycles = 400;
        const auto statistics = dram::run_stream(config, dram::make_pattern("mixed", config), run);
        for (const dram::Statistics& channel : statistics)
            fuzz::expect(channel.busy <= channel.bus_cycles, "the data bus is busy at most always");
        fuzz::expect(!dram::statistics_text(config, statistics).empty() && !dram::config_json(config).empty(), "there is a report");
    });
}

const Target target("dram", seeds, words, input);

}  // namespace fuzz_dram
}  // namespace dlasim
