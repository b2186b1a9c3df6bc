// Bars of cycles on pages of runs, in HTML alone: a row a run or a change, with coloured segments that name themselves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "compare/recorded_run.h"

namespace dlasim {

/// To be laid over those of all pages.
std::string bar_styles();
/// The same for the same number, ten of them.
const char* bar_colour(std::size_t i);
/// "-1,234".
std::string cycles_text(std::int64_t cycles);
/// A part of a bar whose whole width is `most`, with its name where there is space; empty for none or less.
std::string segment(std::int64_t value, std::int64_t most, const char* colour, const std::string& name);
/// Whether its machine was measured on the RTL; empty if the result does not say so.
std::string measured_badge(const RecordedRun& run);
/// A row: label and end are HTML.
std::string bar(const std::string& label, const std::string& segments, const std::string& end);

}  // namespace dlasim
