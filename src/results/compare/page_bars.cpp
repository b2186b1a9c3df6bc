#include "compare/page_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/files/html_page.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

constexpr const char* kBarStyles = R"(
.stack { display: flex; height: 26px; background: var(--panel); border: 1px solid var(--line); }
.stack i { display: block; height: 100%; min-width: 0; overflow: hidden; font: 11px/24px system-ui, sans-serif; color: #10141c;
  white-space: nowrap; text-overflow: ellipsis; text-indent: 3px; box-shadow: inset -1px 0 0 rgba(255, 255, 255, .6); }
.run { display: grid; grid-template-columns: minmax(7rem, 22rem) 1fr 6.5rem; gap: 4px 12px; align-items: center; margin: 4px 0; }
.run > :first-child { overflow-wrap: anywhere; }
.run > :last-child { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
@media (max-width: 640px) { .run { grid-template-columns: 1fr auto; } .run .stack { grid-column: 1 / -1; grid-row: 2; } }
@media print { .run { break-inside: avoid; } }
)";
constexpr std::array kBarColours{"#7eb0f5", "#f5b971", "#8fd19e", "#e59a9a", "#c3a6e8",
                                 "#6fd0d0", "#e8d36b", "#b9c0cb", "#e8a6d0", "#a5c97a"};

}  // namespace

std::string bar_styles() { return kBarStyles; }

const char* bar_colour(std::size_t i) { return kBarColours[i % kBarColours.size()]; }

std::string cycles_text(std::int64_t cycles) { return (cycles < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::abs(cycles))); }

std::string segment(std::int64_t value, std::int64_t most, const char* colour, const std::string& name)
{
    const double share = 100.0 * static_cast<double>(value) / static_cast<double>(std::max<std::int64_t>(1, most));
    if (share <= 0) return "";
    const std::string said = html_text(printable(name));
    return fmt::format("<i style=\"width:{:.3f}%;background:{}\" title=\"{}: {}\">{}</i>", share, colour, said, cycles_text(value),
                       share > 8 ? said : "");
}

std::string measured_badge(const RecordedRun& run) { return run.measured ? measured_words(*run.measured).badge : ""; }

std::string bar(const std::string& label, const std::string& segments, const std::string& end)
{
    return fmt::format("<div class=\"run\"><span>{}</span><div class=\"stack\">{}</div><span>{}</span></div>\n", label, segments, end);
}

}  // namespace dlasim
