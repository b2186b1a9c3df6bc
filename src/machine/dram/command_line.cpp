#include "dram/command_line.h"

#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files/number.h"
#include "base/files/output.h"
#include "dram/check/checker.h"
#include "dram/check/golden.h"
#include "dram/check/stream.h"
#include "dram/read/reader.h"
#include "dram/report/log.h"
#include "dram/report/report.h"
#include "dram/report/run_report.h"

namespace dlasim::dram {
namespace {

/// Digits in a range, for an option.
CLI::Validator whole(std::uint64_t low, std::uint64_t high)
{
    return {[=](std::string& text) { return whole_number(text, low, high) ? "" : whole_number_problem(text, low, high); }, "NUMBER"};
}

std::map<std::string, std::string> options_of(const std::vector<std::string>& settings)
{
    std::map<std::string, std::string> options;
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == 0 || equals == std::string::npos) throw ConfigError("--set " + setting, "is not PATH=VALUE");
        options[setting.substr(0, equals)] = setting.substr(equals + 1);
    }
    return options;
}

void decode(const Config& config, const std::string& text, std::ostream& out)
{
    const std::optional<std::uint64_t> number = whole_number(text, 0, UINT64_MAX, true);
    if (!number) throw ConfigError("--decode " + text, "is not an address, expected digits or 0x and hexadecimal digits");
    const std::uint64_t address = *number;
    const bool inside = address >= config.base && (config.wrap || address - config.base < config.organisation.capacity_bytes());
    if (!inside) {
        fmt::print(out, "{:#x}: beyond the {} MiB from {:#x} on\n", address, config.organisation.capacity_bytes() >> 20, config.base);
        return;
    }
    const Location at = config.mapping.locate(address - config.base);
    fmt::print(out, "{:#x}: channel {} rank {} group {} bank {} row {} column {}\n", address, at.channel, at.rank, at.group, at.bank,
               at.row, at.column);
}

int run_pattern(const DramCommand& command, const Config& config, std::ostream& out)
{
    StreamRun run;
    run.cycles = command.cycles;
    run.interval = command.interval;
    run.one_at_a_time = command.pattern == "latency";
    const Pattern pattern = make_pattern(command.pattern, config, command.stride);
    std::optional<OutputFile> log_file, timeline_file, out_file;  // opened before the run: what cannot be written is refused now
    std::unique_ptr<CommandLog> log;
    std::unique_ptr<Timeline> timeline;
    std::unique_ptr<Checker> checker;
    if (!command.log.empty()) log = std::make_unique<CommandLog>(log_file.emplace(command.log).stream());
    if (!command.timeline.empty()) timeline = std::make_unique<Timeline>(timeline_file.emplace(command.timeline).stream(), config);
    if (!command.out.empty()) out_file.emplace(command.out);
    if (command.check) checker = std::make_unique<Checker>(config);
    if (log || timeline || checker)
        run.observer = [&](const Issued& issued) {
            if (log) log->see(issued);
            if (timeline) timeline->see(issued);
            if (checker) checker->see(issued);
        };
    const std::vector<Statistics> channels = run_stream(config, pattern, run);
    if (checker) checker->finish(command.cycles);
    if (timeline) timeline->finish();
    if (log_file) log_file->commit();
    if (timeline_file) timeline_file->commit();

    nlohmann::ordered_json json;
    if (command.json || !command.out.empty()) json = run_json({command.pattern, config, channels, checker.get()});
    constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
    if (out_file) out_file->commit(json.dump(2, ' ', false, kReplace) + "\n");
    if (command.json) out << json.dump(2, ' ', true, kReplace) << '\n';  // ASCII: no control reaches a terminal
    else out << statistics_text(config, channels);
    if (checker && !command.json) {
        fmt::print(out, "{:<22} {} commands, {} violations\n", "checked", checker->commands(), checker->count());
        for (const Violation& v : checker->violations()) fmt::print(out, "  {}\n", v.what);
    }
    return checker && checker->count() != 0 ? 1 : 0;
}

/// What would be ignored.
void refuse_idle_options(const DramCommand& command)
{
    const bool runs = !command.list && !command.figures && !command.describe && command.decode.empty();
    const std::pair<const char*, const std::string*> files[] = {
        {"--log", &command.log}, {"--timeline", &command.timeline}, {"--out", &command.out}};
    for (const auto& [option, file] : files)
        if (!runs && !file->empty()) throw ConfigError(option, "found " + *file + " where nothing runs, expected a pattern that runs");
    if (command.stride != 0 && command.pattern != "strided")
        throw ConfigError("--stride", "found with pattern " + command.pattern + ", expected --pattern strided");
}

}  // namespace

void add_options(CLI::App& app, DramCommand& command)
{
    app.add_option("--preset", command.preset, "preset or device file")->capture_default_str();
    app.add_option("--pattern", command.pattern, "sequential, sequential_write, random, random_write, mixed, strided, latency")
        ->capture_default_str();
    app.add_option("--cycles", command.cycles, "DRAM cycles to run")->capture_default_str()->check(whole(1, std::uint64_t{1} << 50));
    app.add_option("--stride", command.stride, "bytes between the requests of a strided pattern")->check(whole(1, std::uint64_t{1} << 50));
    app.add_option("--interval", command.interval, "least cycles between two requests")
        ->capture_default_str()
        ->check(whole(0, std::uint64_t{1} << 50));
    app.add_option("--set", command.settings, "PATH=VALUE overrides the device file, e.g. channels=2, timing.tRCD=18, mapping=bg_lsb");
    app.add_option("--decode", command.decode, "print the channel, bank, row and column of addresses, without running");
    app.add_option("--log", command.log, "write the command log");
    app.add_option("--timeline", command.timeline, "write a timeline with a track per bank");
    app.add_option("--out", command.out, "write configuration and statistics as JSON");
    app.add_flag("--check-dram", command.check, "check every command against the constraint table");
    app.add_flag("--json", command.json, "print JSON instead of text");
    app.add_flag("--list", command.list, "print the presets");
    app.add_flag("--describe", command.describe, "print the effective configuration and the address mapping");
    app.add_flag("--figures", command.figures, "print the table of published figures and ours (docs/DRAM.md)");
}

int run_command(const DramCommand& command, std::ostream& out)
{
    refuse_idle_options(command);
    if (command.list) {
        for (const std::string& name : preset_names()) out << preset_line(name) << '\n';
        for (const std::string& name : preset_names(true)) out << preset_line(name) << '\n';
        return 0;
    }
    if (command.figures) {
        out << golden_table();
        return 0;
    }
    const Config config = read_config(command.preset, options_of(command.settings));
    if (command.describe) {
        out << config_json(config).dump(2, ' ', true) << '\n';
        if (!command.json) out << config.mapping.describe();
        return 0;
    }
    if (!command.decode.empty()) {
        for (const std::string& address : command.decode) decode(config, address, out);
        return 0;
    }
    return run_pattern(command, config, out);
}

}  // namespace dlasim::dram
