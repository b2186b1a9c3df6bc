#include <filesystem>

#include "app/commands/kinds_of_runs.h"
#include "app/execution.h"
#include "app/file_names.h"
#include "app/status.h"
#include "base/files/console.h"
#include "base/files/output_folder.h"
#include "report/difference_report.h"
#include "report/result.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kNpyHeader = 128;  // bytes, more than any shape needs

/// On stderr, so that it is in the log of whoever runs many.
void say_differences(const std::string& name, const Result& result)
{
    const Comparison* golden = result.comparison();
    if (golden && !golden->equal())
        say_error("{}: {} of {} values differ from the golden ones; the first: {}\n", printable(name), golden->mismatches, golden->compared,
                  printable(golden->examples.empty() ? "" : golden->examples.front()));
    if (const Difference* expected = result.expected(); expected && !expected->equal())
        say_error("{}: {}{}\n", printable(name), printable(difference_text(*expected)),
                  golden && golden->equal() ? "; dlasim's own reference agrees with the machine" : "");
}

}  // namespace

int run(PlannedLayer& planned, const RunOptions& options)
{
    const Job& job = planned.job;
    const JobHost& host = planned.runs;
    RunFiles files(options);
    OutputFile* tensor = nullptr;
    if (job.tensor && options.output && options.values) tensor = &files.folder->file(kTensorFile, kNpyHeader + job.tensor->bytes);
    return execute(job, planned.runs, options, files, [&](const RunResult& run) -> CommandReport {
        const Result result{job, run, host.findings() ? &*host.findings() : nullptr, tensor ? kTensorFile : ""};
        say_differences(job.name, result);
        if (files.diff) {
            const Tensor& output = *host.findings()->output;
            files.diff->finish(difference_file(*result.expected(), {output.n, output.c, output.h, output.w}));
        }
        if (tensor) tensor->finish(npy_file(*host.findings()->output, job.tensor->precision));
        // Every run of every probe: what accounts for a layer's cycles must see all of them.
        return {.result = result_json(result), .table = summary_table(result), .right = result.right(), .runs = SIZE_MAX};
    });
}

int show(const PlannedLayer& planned, const RunOptions& options)
{
    const Job& job = planned.job;
    if (!options.quiet) say("{}", outline_table(job));
    if (!options.has_out) return kDone;
    const std::filesystem::path file = std::filesystem::path(options.out) / "plan.json";
    make_folder(options.out);
    OutputFile(file).commit(json_file_text(outline_json(job), 2));
    if (!options.quiet) say("  written      {}\n", printable(file.string()));
    return kDone;
}

}  // namespace dlasim
