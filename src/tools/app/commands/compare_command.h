// dlasim compare: two runs side by side.
#pragma once
#include <optional>
#include <string>

namespace dlasim {

struct CompareOptions {
    std::string a, b;                 // folders of runs, or their result.json
    std::optional<double> tolerance;  // percent of the cycles of A that B may differ by
    bool json = false;
};

/// 0; with a tolerance 1 where the cycles differ by more. Throws ConfigError for what is no result, and for different work with a
/// tolerance.
int compare_command(const CompareOptions& options);

}  // namespace dlasim
