// What a machine must meet: "frames_per_s >= 60 && area_mm2 * energy_uj < 2000", "load < 0.5 || system_mw < 100". Expressions are those of
// files/expression.h.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/json_text.h"

namespace dlasim {

/// A figure of the table, or an expression of figures, and a number that it is compared with. Of a condition that is no such comparison
/// the column is the condition, which is 1 where it holds, and the number is 1.
struct Requirement {
    enum class Is { Below, AtMost, Above, AtLeast };
    std::string column;
    Is is = Is::Below;
    double number = 0;
    bool condition = false;

    std::string text() const;
    std::string_view sign() const;
    bool upper() const { return is == Is::Below || is == Is::AtMost; }
    bool met(double value) const;
    /// Share of the number by which a value meets it; below 0 where it does not. Of a condition 1 or -1.
    double margin(double value) const;
};

/// What is known of a figure before it is: no less and no more than these.
struct FigureRange {
    static constexpr double kMost = 1e30;  // where nothing is known; figures are smaller
    double least = -kMost, most = kMost;
    bool exact() const { return least == most; }
};
/// No value in the range meets the requirement. Figures are rounded to six digits, so that what they say together may be off by as much.
bool cannot_meet(const Requirement& requirement, const FigureRange& range);

/// Figures of a machine that runs several workloads at their rates: load, system_mw and the others of shared_machine.h.
bool is_of_machine(const std::string& column);
/// Conditions with && between them, each by itself, so that it has a margin; none of an empty text. `fps` is frames_per_s. ConfigError
/// where a name is no figure. `workloads`: names of those whose figures, and the machine's own, may be required too, as resnet50.latency_ms
/// or load. Figures on both sides of a comparison are moved to the left.
std::vector<Requirement> read_requirements(const std::string& text, const std::string& where,
                                           const std::vector<std::string>& workloads = {});
/// The machine is shared by workloads at their rates: its power_mw, in expressions too, is system_mw. ConfigError where figures of the
/// machine and of each workload are mixed by it.
void use_system_power(Requirement& requirement, const std::string& where, const std::vector<std::string>& workloads);
/// More of it is better.
bool more_is_better(const std::string& column);
/// The figure of the table that is named, or an expression of figures with their own names. ConfigError if there is none of a name, if it
/// is no number, or if the expression cannot be read. `workloads` as for read_requirements().
std::string figure_named(const std::string& name, const std::string& where, const std::vector<std::string>& workloads = {});
/// Of a row; none where it has no number there. A figure that the row lacks is looked for with the prefix: "mean.".
std::optional<double> figure_of(const nlohmann::ordered_json& row, const std::string& column, const std::string& prefix = "");
/// Of an expression, from the ranges of its figures; wide where figures depend on each other, and unlimited where it is unknown.
FigureRange range_of(const std::string& column, const std::function<FigureRange(const std::string&)>& figure);
/// The figures in an expression, each time it is there; of a figure's name itself.
std::vector<std::string> figures_in(const std::string& column);

}  // namespace dlasim
