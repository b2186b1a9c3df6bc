// The topology of SCALE-Sim: a row a layer, a header that says which kind of rows.
//
//   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,      convolutions without padding
//   Layer, M, N, K,                                                                                          M x K times K x N
//
// A product of matrices is a convolution of 1 x 1: M places of K channels, N kernels. Names of rows stay; layers run one after the other.
//
// Source  the tables of both formats in SCALE-Sim's documentation, v2 and v3 (with its column of sparsity).
#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <sstream>

#include "config/description.h"
#include "config/descriptor_keys.h"
#include "files/number.h"
#include "files/printable.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxRows = 2048;

std::string trimmed(std::string text)
{
    const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
    text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
    return text;
}

/// The cells of a line; what stands behind the last comma is none if it is empty.
std::vector<std::string> cells_of(const std::string& line)
{
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(trimmed(cell));
    while (!cells.empty() && cells.back().empty()) cells.pop_back();
    return cells;
}

/// "IFMAP Height" and "ifmap height" are one.
std::string plain(const std::string& name)
{
    std::string text;
    for (const char c : name)
        if (c != ' ' && c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

enum class Column { Name, InputHeight, InputWidth, KernelHeight, KernelWidth, Channels, Kernels, Stride, Sparsity, M, N, K };
struct NamedColumn {
    const char* name;
    Column column;
};
constexpr std::array kConvolutionColumns{
    NamedColumn{"Layer name", Column::Name},          NamedColumn{"IFMAP Height", Column::InputHeight},
    NamedColumn{"IFMAP Width", Column::InputWidth},   NamedColumn{"Filter Height", Column::KernelHeight},
    NamedColumn{"Filter Width", Column::KernelWidth}, NamedColumn{"Channels", Column::Channels},
    NamedColumn{"Num Filter", Column::Kernels},       NamedColumn{"Strides", Column::Stride},
    NamedColumn{"Sparsity", Column::Sparsity},
};
constexpr std::array kProductColumns{NamedColumn{"Layer", Column::Name}, NamedColumn{"M", Column::M}, NamedColumn{"N", Column::N},
                                     NamedColumn{"K", Column::K}, NamedColumn{"Sparsity", Column::Sparsity}};

struct Row {
    std::string file;
    std::size_t line;
    std::vector<std::string> cells;
    const std::vector<NamedColumn>& columns;

    std::string where(std::size_t cell) const
    {
        return file + ":" + std::to_string(line) + (cell < columns.size() ? std::string(", ") + columns[cell].name : "");
    }
    std::optional<std::size_t> place(Column column) const
    {
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (columns[i].column == column) return i < cells.size() ? std::optional(i) : std::nullopt;
        return std::nullopt;
    }
    std::uint64_t number(Column column, std::uint64_t most) const
    {
        const std::size_t cell = *place(column);  // check() has seen it
        const auto value = whole_number(cells[cell], 1, most);
        if (!value) throw ConfigError(where(cell), whole_number_problem(cells[cell], 1, most));
        return *value;
    }
    /// Every needed cell is there, and none more.
    void check() const
    {
        std::size_t needed = columns.size();
        if (columns.back().column == Column::Sparsity) --needed;
        if (cells.size() < needed || cells.size() > columns.size())
            throw ConfigError(where(SIZE_MAX),
                              "found " + std::to_string(cells.size()) + " cells, expected " + std::to_string(needed) + " as in the header");
        const auto sparsity = place(Column::Sparsity);
        if (!sparsity || cells[*sparsity].empty()) return;
        const std::string& text = cells[*sparsity];
        const std::size_t colon = text.find(':');
        if (colon == std::string::npos || text.substr(0, colon) != text.substr(colon + 1))
            throw ConfigError(where(*sparsity), "found \"" + printable(text) + "\", expected 1:1: the array multiplies every weight");
    }
};

/// The columns that a header names.
std::vector<NamedColumn> columns_of(const std::vector<std::string>& header, const std::string& where)
{
    const bool product = header.size() > 1 && plain(header[1]) == "m";
    const std::vector<NamedColumn> known = product ? std::vector<NamedColumn>(kProductColumns.begin(), kProductColumns.end())
                                                   : std::vector<NamedColumn>(kConvolutionColumns.begin(), kConvolutionColumns.end());
    std::string expected;
    for (std::size_t i = 0; i + 1 < known.size(); ++i) expected += (i == 0 ? "" : ", ") + std::string(known[i].name);
    const bool enough = header.size() + 1 == known.size() || header.size() == known.size();
    for (std::size_t i = 0; enough && i < header.size(); ++i)
        if (i != 0 && plain(header[i]) != plain(known[i].name) && !(known[i].column == Column::Stride && plain(header[i]) == "stride"))
            throw ConfigError(where, "found a column \"" + printable(header[i]) + "\", expected the header of a topology: " + expected);
    if (!enough)
        throw ConfigError(where, "found " + std::to_string(header.size()) + " columns, expected the header of a topology: " + expected);
    return {known.begin(), known.begin() + static_cast<std::ptrdiff_t>(header.size())};
}

Json layer_of(const Row& row)
{
    constexpr std::uint64_t kMost = keys::kMaxSide;
    const std::string& name = row.cells.front();
    if (name.empty()) throw ConfigError(row.where(0), "is empty, expected a name");
    if (row.place(Column::M)) {
        const auto [width, height] = plane_of(row.number(Column::M, kMost * kMost), row.where(1));
        return {{"name", name},
                {"op", "conv2d"},
                {"input", {{"width", width}, {"height", height}, {"channels", row.number(Column::K, kMost)}}},
                {"kernel", {{"width", 1}, {"height", 1}, {"count", row.number(Column::N, kMost)}}}};
    }
    const std::uint64_t stride = row.number(Column::Stride, kMost);
    return {{"name", name},
            {"op", "conv2d"},
            {"input",
             {{"width", row.number(Column::InputWidth, kMost)},
              {"height", row.number(Column::InputHeight, kMost)},
              {"channels", row.number(Column::Channels, kMost)}}},
            {"kernel",
             {{"width", row.number(Column::KernelWidth, kMost)},
              {"height", row.number(Column::KernelHeight, kMost)},
              {"count", row.number(Column::Kernels, kMost)}}},
            {"stride", {{"x", stride}, {"y", stride}}}};
}

}  // namespace

Json scale_sim_network(const std::string& text, const std::string& file)
{
    Json layers = Json::array();
    std::vector<NamedColumn> columns;
    std::istringstream in(text);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        std::vector<std::string> cells = cells_of(line);
        if (cells.empty()) continue;
        if (columns.empty()) {
            columns = columns_of(cells, file + ":" + std::to_string(number));
            continue;
        }
        const Row row{file, number, std::move(cells), columns};
        row.check();
        if (layers.size() == kMaxRows)
            throw ConfigError(row.where(SIZE_MAX), "is one layer more than the " + std::to_string(kMaxRows) + " of a network");
        layers.push_back(layer_of(row));
    }
    if (layers.empty()) throw ConfigError(file, "has no layer, expected a header and a row a layer: a topology of SCALE-Sim");
    return {{"overlap", "none"}, {"layers", std::move(layers)}};
}

}  // namespace dlasim
