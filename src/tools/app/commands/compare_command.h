// dlasim compare: runs side by side, each with the first one or with the one of its name in a folder of earlier ones.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace dlasim {

struct CompareOptions {
    std::vector<std::string> runs;    // folders of runs, or their result.json
    std::string baseline;             // folder with a folder of each run's name: what each is compared with, instead of the first
    std::string html;                 // the page
    std::optional<double> tolerance;  // percent of the cycles of A that others may differ by
    bool json = false;
};

/// 0; with a tolerance 1 where the cycles differ by more. Throws ConfigError for what is no result, and for different work with a
/// tolerance.
int compare_command(const CompareOptions& options);

}  // namespace dlasim
