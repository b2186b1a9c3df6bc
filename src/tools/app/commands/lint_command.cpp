#include "app/commands/lint_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/commands/replay_command.h"
#include "app/status.h"
#include "base/files/console.h"
#include "base/files/printable.h"
#include "config/description.h"
#include "config/file_kind.h"
#include "lint/lint.h"
#include "replay/rule_report.h"

namespace dlasim {
namespace {

/// A register program that was recorded, or the folder of one.
bool is_recording(const std::string& file)
{
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path path(file);
    if (fs::is_directory(path, error) || path.extension() == ".txn" || path.extension() == ".cfg") return true;
    return path.extension() == ".json" && is_description(file) && kind_of(read_description(file)) == FileKind::Case;
}

int say_rules(const LintOptions& options, const std::string& name, const Hardware& hardware, const Program& program)
{
    const RuleReport report = lint::check(hardware, program);
    if (options.json) say("{}\n", rules_json(report).dump(1));
    else if (!options.what.quiet || report.found != 0) say("{} on {}\n{}", printable(name), printable(hardware.name), rules_text(report));
    return report.found == 0 ? kDone : kMismatch;
}

}  // namespace

int lint_command(const LintOptions& options)
{
    if (is_recording(options.what.loadable)) {
        const MeasuredCase recorded = read_recording(options.what.loadable, options.what.hardware, "");
        return say_rules(options, recorded.recording.name, recorded.hardware, recorded.recording.program);
    }
    LintOptions planned = options;
    if (planned.what.hardware.empty()) planned.what.hardware = LoadableOptions().hardware;
    int status = kDone;
    with_program(planned, [&](const PlannedProgram& program) {
        status = say_rules(options, program.name, program.workload.hardware, program.workload.program);
    });
    return status;
}

}  // namespace dlasim
