// The topology of SCALE-Sim: a line that it does not read, and a row a layer. Cells are read by position, as its own reader does, so that
// the spelling of the header is free; its number of columns distinguishes the kinds of rows.
//
//   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,      convolutions without padding
//   Layer, M, N, K,                                                                                          M x K times K x N
//
// A product of matrices is a convolution of 1 x 1: M places of K channels, N kernels. A layer with DP in its name is depthwise: kernels of
// one channel, for each channel the number given. Only columns after these have a meaning by their name: sparsity, batch, a second stride.
//
// Source  the tables of both formats in SCALE-Sim's documentation, v2 and v3 (with its column of sparsity); its published topologies.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <sstream>

#include "base/files/number.h"
#include "base/files/printable.h"
#include "config/description.h"
#include "config/foreign/open_convolution.h"
#include "config/network_reader.h"
#include "config/warning.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxCell = 1 << 26;
constexpr std::size_t kConvolutionColumns = 8, kProductColumns = 4, kMaxRowName = 80;

/// Blanks of ASCII, and the no-break space that spreadsheets write.
std::string trimmed(std::string text)
{
    for (std::size_t at; (at = text.find("\xc2\xa0")) != std::string::npos;) text.replace(at, 2, " ");
    const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
    text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
    return text;
}

/// The cells of a line up to a remark ("#dw"), without empty ones at the end.
std::vector<std::string> cells_of(const std::string& line)
{
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) {
        cells.push_back(trimmed(cell));
        if (cells.size() > 1 && cells.back().starts_with("#")) cells.back().clear();
    }
    while (!cells.empty() && cells.back().empty()) cells.pop_back();
    return cells;
}

std::string lower(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

constexpr std::array kConvolutionNames{"Layer name",   "IFMAP Height", "IFMAP Width", "Filter Height",
                                       "Filter Width", "Channels",     "Num Filter",  "Strides"};
constexpr std::array kProductNames{"Layer", "M", "N", "K"};

/// What the header says that positions do not.
struct Columns {
    bool product = false;
    std::optional<std::size_t> sparsity, batch, second_stride;
    std::size_t named() const { return product ? kProductColumns : kConvolutionColumns; }
    std::string name(std::size_t cell) const
    {
        if (cell < named()) return product ? kProductNames[cell] : kConvolutionNames[cell];
        return cell == sparsity ? "Sparsity" : cell == batch ? "Batch Size" : cell == second_stride ? "Strides" : "";
    }
};

bool is_number(const std::string& cell) { return whole_number(cell).has_value(); }

/// Tables of SCALE-Sim that are no topologies.
void refuse_other_tables(const std::vector<std::string>& header, const std::string& where)
{
    const std::string first = lower(header.front());
    const bool layout =
        std::ranges::any_of(header, [](const std::string& cell) { return lower(cell).find("intraline") != std::string::npos; });
    if (layout) throw ConfigError(where, "is a layout of SCALE-Sim, expected a topology: the layout of CBUF is fixed");
    if (first.starts_with("layerid")) throw ConfigError(where, "is a report of SCALE-Sim, expected a topology");
}

Columns columns_of(const std::vector<std::string>& header, const std::string& where)
{
    refuse_other_tables(header, where);
    Columns columns;
    const std::size_t count = header.size();
    columns.product = count >= kProductColumns && count < kConvolutionColumns - 1;
    if (count < kProductColumns || (!columns.product && count < kConvolutionColumns))
        throw ConfigError(where, "found " + std::to_string(count) +
                                     " columns, expected the header of a topology: Layer name, IFMAP Height, IFMAP Width, Filter Height, "
                                     "Filter Width, Channels, Num Filter, Strides, or Layer, M, N, K");
    if (std::all_of(header.begin() + 1, header.end(), is_number))
        throw ConfigError(where, "is a row of numbers, expected a header in front of the layers: SCALE-Sim does not read the first line");
    std::string unread;
    for (std::size_t i = columns.named(); i < count; ++i) {
        const std::string name = lower(header[i]);
        if (name.find("spars") != std::string::npos) columns.sparsity = i;
        else if (name.find("batch") != std::string::npos) columns.batch = i;
        else if (name.find("stride") != std::string::npos) columns.second_stride = i;
        else if (!name.empty()) unread += (unread.empty() ? "\"" : ", \"") + printable(header[i]) + "\"";
    }
    if (!unread.empty()) warn(where + ": columns " + unread + " are not read");
    return columns;
}

class Topology {
public:
    explicit Topology(std::string file) : file_(std::move(file)) {}

    void line(std::size_t number, const std::vector<std::string>& cells)
    {
        line_ = file_ + ":" + std::to_string(number);
        if (cells.empty()) return;
        if (!columns_) columns_ = columns_of(cells, line_);
        else if (cells.size() > 1) row(cells);  // a name alone is a title between layers
    }

    Json layers()
    {
        throw_problems(file_, problems_);
        if (layers_.empty()) throw ConfigError(file_, "has no layer, expected a header and a row per layer: a topology of SCALE-Sim");
        return std::move(layers_);
    }

private:
    std::string where(std::size_t cell) const
    {
        const std::string name = columns_->name(cell);
        return line_ + (name.empty() ? "" : ", " + name);
    }
    void problem(const std::string& place, const std::string& text) { problems_.push_back({place, text}); }

    std::uint64_t number(const std::vector<std::string>& cells, std::size_t cell, std::uint64_t most = kMaxCell)
    {
        const auto value = whole_number(cells[cell], 1, most);
        if (!value) problem(where(cell), whole_number_problem(printable(cells[cell]), 1, most));
        return value.value_or(1);
    }

    void row(const std::vector<std::string>& cells)
    {
        const std::size_t before = problems_.size();
        if (cells.size() < columns_->named())
            return problem(line_, "found " + std::to_string(cells.size()) + " cells, expected " + std::to_string(columns_->named()));
        if (cells.front().empty() || cells.front().size() > kMaxRowName)
            problem(where(0),
                    "found a name of " + std::to_string(cells.front().size()) + " bytes, expected 1 to " + std::to_string(kMaxRowName));
        check_others(cells);
        const OpenConvolution convolution = columns_->product ? product(cells) : this->convolution(cells);
        if (problems_.size() != before) return;
        const ForeignPlace place{[this](Size size) { return where(cell_of(size)); }, line_};
        for (Json& layer : layers_of(convolution, free_name(cells.front()), place, problems_)) {
            if (layers_.size() == kMaxNetworkLayers)
                throw ConfigError(line_, "is one layer more than the " + std::to_string(kMaxNetworkLayers) + " of a network");
            layer["from"] = line_;
            layers_.push_back(std::move(layer));
        }
    }

    /// Cells after the known ones: nothing in them may change what is computed unless it is understood.
    void check_others(const std::vector<std::string>& cells)
    {
        const auto has = [&](const std::optional<std::size_t>& column) {
            return column && *column < cells.size() && !cells[*column].empty();
        };
        if (has(columns_->sparsity)) {
            const std::string& text = cells[*columns_->sparsity];
            const std::size_t colon = text.find(':');
            if (text != "1" && (colon == std::string::npos || text.substr(0, colon) != text.substr(colon + 1)))
                problem(where(*columns_->sparsity), "found \"" + printable(text) + "\", expected 1:1: the array multiplies every weight");
        }
        if (has(columns_->batch) && cells[*columns_->batch] != "1")
            problem(where(*columns_->batch), "found \"" + printable(cells[*columns_->batch]) + "\", expected 1: a network has no batch");
        if (cells.size() == columns_->named() + 1 && !columns_->product && columns_->name(columns_->named()).empty() &&
            is_number(cells.back()) && cells.back() != cells[kConvolutionColumns - 1])
            problem(line_, "found a ninth number, " + cells.back() +
                               ", expected a column for it in the header: Strides (the other way), Batch Size or Sparsity");
    }

    OpenConvolution product(const std::vector<std::string>& cells)
    {
        OpenConvolution c;
        c.x.input = number(cells, 1);
        c.kernels = number(cells, 2);
        c.channels = number(cells, 3);
        return c;
    }

    OpenConvolution convolution(const std::vector<std::string>& cells)
    {
        OpenConvolution c;
        c.y = {.input = number(cells, 1), .kernel = number(cells, 3), .stride = number(cells, 7)};
        c.x = {.input = number(cells, 2), .kernel = number(cells, 4), .stride = c.y.stride};
        if (const auto second = columns_->second_stride; second && *second < cells.size() && !cells[*second].empty())
            c.x.stride = number(cells, *second);
        c.channels = number(cells, 5);
        c.kernels = number(cells, 6);
        if (cells.front().find("DP") == std::string::npos) return c;
        c.groups = c.channels;
        c.kernels *= c.channels;
        return c;
    }

    std::size_t cell_of(Size size) const
    {
        if (columns_->product) return size == Size::OutputChannels ? 2 : size == Size::Channels ? 3 : 1;
        switch (size) {
            case Size::Height:
                return 1;
            case Size::Width:
                return 2;
            case Size::KernelHeight:
                return 3;
            case Size::KernelWidth:
                return 4;
            case Size::Channels:
                return 5;
            case Size::OutputChannels:
                return 6;
            case Size::StrideX:
                return columns_->second_stride.value_or(7);
            default:
                return 7;
        }
    }

    /// Topologies repeat names; networks do not.
    std::string free_name(const std::string& name)
    {
        std::string free = name;
        for (std::size_t i = 2; !names_.insert(free).second; ++i) free = name + "_" + std::to_string(i);
        return free;
    }

    std::string file_, line_;
    std::optional<Columns> columns_;
    std::set<std::string> names_;
    std::vector<ForeignProblem> problems_;
    Json layers_ = Json::array();
};

}  // namespace

Json scale_sim_network(const std::string& text, const std::string& file)
{
    Topology topology(file);
    std::istringstream in(text);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) topology.line(++number, cells_of(line));
    return {{"overlap", "none"}, {"layers", topology.layers()}};
}

}  // namespace dlasim
