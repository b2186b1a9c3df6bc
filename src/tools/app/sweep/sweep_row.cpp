#include "app/sweep/sweep_row.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <sstream>

#include "app/status.h"
#include "base/files/input.h"
#include "sweep/neighbours.h"

namespace dlasim {
namespace {

constexpr KeyRow kPointColumn{"point", "integer", "", "number of the point, from 0 on: its folder is points/NUMBER"};
constexpr KeyRow kAxisColumn{"*", "any", "", "a column for each axis, in their order: the value of the point"};
constexpr KeyRow kReasonColumn{"reason", "text", "", "why there is no result, or what is wrong with it; otherwise empty"};
constexpr KeyRow kCommandColumn{"command", "text", "", "runs this point alone, from the folder in which the sweep was started"};

std::string command_of(const Sweep& sweep, std::size_t index)
{
    return fmt::format("dlasim {} {} --point {}", sweep.kind().command, shell_word(sweep.file), index);
}

bool was_killed(int status) { return status >= 128; }

/// The first line that the point printed on standard error, except warnings.
std::string said(const std::filesystem::path& messages)
{
    std::istringstream text(read_own_text(messages.string()));
    for (std::string line; std::getline(text, line);)
        if (!line.empty() && !line.starts_with("dlasim: warning: ")) return line.starts_with("dlasim: ") ? line.substr(8) : line;
    return "";
}

std::string reason_of(const EndedPoint& ended, const std::filesystem::path& folder)
{
    const int status = ended.status;
    if (status == kDone) return "";
    if (status == 128 + SIGXCPU)
        return fmt::format("was killed after {} s of CPU time (--limit), expected to complete earlier", ended.limit);
    if (status == kNoMemory) return "out of memory, expected more memory or fewer parallel runs (--jobs); --resume runs it again";
    std::string reason = was_killed(status) ? "" : said(folder / "messages.txt");
    if (!reason.empty()) return reason;
    if (status == kMismatch) return "output differs from the golden convolution";
    return was_killed(status) ? fmt::format("its process was killed from outside (status {})", status)
                              : fmt::format("ended with status {}", status);
}

}  // namespace

std::string shell_word(const std::string& text)
{
    constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=@%";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
    std::string quoted(1, '\'');
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted += '\'';
}

bool has_result(int status) { return status == kDone || status == kMismatch; }
bool runs_again(int status) { return was_killed(status) || status == kNoMemory; }

std::vector<PlacedKey> row_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, std::array{kPointColumn, kAxisColumn});
    for (const PlacedKey& key : figure_keys()) keys.push_back(key);
    place_keys(keys, std::array{kSlowerColumn, kCommandColumn, kReasonColumn});
    return keys;
}

std::string figures_text(const nlohmann::ordered_json& result)
{
    return figures_of(result).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

namespace {

KeptPoint row_with(const Sweep& sweep, std::size_t index, int status, const nlohmann::ordered_json& figures, const std::string& reason)
{
    OrderedJson row;
    row[std::string(kPointColumn.name)] = index;
    const std::vector<Json> values = point_values(sweep, sweep.points[index]);
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) row[sweep.axes[a].name] = values[a];
    row.update(figures);
    row[std::string(kSlowerColumn.name)] = nullptr;  // filled in when the tables are written: neighbours.h
    row[std::string(kCommandColumn.name)] = command_of(sweep, index);
    row[std::string(kReasonColumn.name)] = reason;
    return {index, status, std::move(row)};
}

}  // namespace

KeptPoint row_of(const Sweep& sweep, const EndedPoint& ended, const std::filesystem::path& folder)
{
    OrderedJson figures = has_result(ended.status) ? parse_ordered_json(ended.figures) : figures_of(OrderedJson::object());
    if (ended.status == kBadInput && ended.figures.starts_with('{')) figures.update(parse_ordered_json(ended.figures));
    return row_with(sweep, ended.index, ended.status, figures, reason_of(ended, folder));
}

KeptPoint row_without_run(const Sweep& sweep, std::size_t index, const nlohmann::ordered_json& area_mm2, const std::string& reason)
{
    OrderedJson figures = figures_of(OrderedJson::object());
    figures["area_mm2"] = area_mm2;
    return row_with(sweep, index, kBadInput, figures, reason);
}

}  // namespace dlasim
