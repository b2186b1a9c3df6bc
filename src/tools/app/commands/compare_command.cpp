#include "app/commands/compare_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/output.h"
#include "compare/comparison.h"

namespace dlasim {

namespace {

namespace fs = std::filesystem;

/// The run of the same name in the folder of earlier ones.
std::string in_baseline(const std::string& run, const fs::path& baseline)
{
    fs::path folder = fs::path(run).lexically_normal();
    if (folder.filename().empty() || folder.filename() == "result.json") folder = folder.parent_path();
    return (baseline / folder.filename()).string();
}

std::vector<RunComparison> comparisons_of(const CompareOptions& options)
{
    const std::size_t least = options.baseline.empty() ? 2 : 1;
    if (options.runs.size() < least)
        throw ConfigError("compare", fmt::format("found {} run{}, expected two or more, or --baseline", options.runs.size(),
                                                 options.runs.size() == 1 ? "" : "s"));
    std::vector<RunComparison> list;
    for (std::size_t i = least - 1; i < options.runs.size(); ++i) {
        const std::string before = options.baseline.empty() ? options.runs.front() : in_baseline(options.runs[i], options.baseline);
        list.push_back(compare_runs(read_recorded_run(before), read_recorded_run(options.runs[i])));
    }
    return list;
}

void expect_same_work(const RunComparison& comparison)
{
    if (comparison.same_work()) return;
    const FactChange& first = comparison.work.front();
    throw ConfigError(comparison.b.file, "found " + printable(first.path) + " " + json_excerpt(first.b) + ", expected " +
                                             json_excerpt(first.a) + " as in " + printable(comparison.a.file) +
                                             ": with --tolerance both do the same work");
}

}  // namespace

int compare_command(const CompareOptions& options)
{
    std::optional<OutputFile> page;
    if (!options.html.empty()) page.emplace(options.html);
    const std::vector<RunComparison> comparisons = comparisons_of(options);
    bool within = true;
    OrderedJson list = OrderedJson::array();
    for (const RunComparison& comparison : comparisons) {
        if (options.tolerance) expect_same_work(comparison);
        within &= !options.tolerance || comparison.within(*options.tolerance);
        if (options.json) list.push_back(comparison_json(comparison, options.tolerance));
        else say("{}{}", &comparison == &comparisons.front() ? "" : "\n", comparison_text(comparison, options.tolerance));
    }
    // ASCII: say() shows controls as \\xNN
    if (options.json) say("{}\n", (list.size() == 1 ? list.front() : list).dump(2, ' ', true));
    if (page) page->commit(comparison_page(comparisons));
    return within ? kDone : kMismatch;
}

}  // namespace dlasim
