// What a machine must meet: "frames_per_s >= 60 && area_mm2 < 2".
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "files/json_text.h"

namespace dlasim {

/// A figure of the table and a number that it is compared with.
struct Requirement {
    enum class Is { Below, AtMost, Above, AtLeast };
    std::string column;
    Is is = Is::Below;
    double number = 0;

    std::string text() const;
    bool upper() const { return is == Is::Below || is == Is::AtMost; }
    bool met(double value) const;
    /// Share of the number by which a value meets it; below 0 where it does not.
    double margin(double value) const;
};

/// Comparisons with && between them; none of an empty text. `fps` is frames_per_s. ConfigError where a name is no figure.
std::vector<Requirement> read_requirements(const std::string& text, const std::string& where);
/// More of it is better.
bool more_is_better(const std::string& column);
/// The figure of the table that is named; ConfigError if there is none, or if it is no number.
std::string figure_named(const std::string& name, const std::string& where);
/// Of a row; none where it has no number there.
std::optional<double> figure_of(const nlohmann::ordered_json& row, const std::string& column);

}  // namespace dlasim
