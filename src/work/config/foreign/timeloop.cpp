// The problem of Timeloop: the dimensions of a loop nest, and how its tensors are projected from them.
//
//   problem:
//     shape: {dimensions: [C, K, R, S, N, P, Q], coefficients: [{name: Wstride, default: 1}, ..],
//             data_spaces: [{name: Inputs, projection: [ [[N]], [[C]], [[R, Wdilation], [P, Wstride]], .. ]}, ..]}
//     instance: {C: 3, K: 96, R: 11, S: 11, N: 1, P: 55, Q: 55, Wstride: 4}
//
// What a dimension is follows from the tensors that have it, so that its name is free:
//
//   weights, input         channels, or the window of the place it is added to       weights, output         kernels
//   input, output          places, or a batch beside places with windows             all three               groups
//
// The first pair of place and window is the width, the second the height. Timeloop knows no padding: the input has what the windows cover.
// `shape: cnn-layer` is the shape above. Without windows the problem is a product of matrices: a convolution of 1 x 1. Of the instance only
// what the shape names is read, as Timeloop does; densities are of sparse machines, and this one multiplies zeros too.
//
// Source  "Problem" of Timeloop's documentation, v3 and v4.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/files/number.h"
#include "base/files/printable.h"
#include "config/description.h"
#include "config/foreign/open_convolution.h"
#include "config/warning.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxSize = 1 << 26;
constexpr std::size_t kMaxDimensions = 16;

constexpr const char* kCnnLayer = R"(
dimensions: [R, S, P, Q, C, K, N]
coefficients: [{name: Wstride, default: 1}, {name: Hstride, default: 1}, {name: Wdilation, default: 1}, {name: Hdilation, default: 1}]
data_spaces:
- {name: Weights, projection: [[[C]], [[K]], [[R]], [[S]]]}
- {name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]}
- {name: Outputs, projection: [[[N]], [[K]], [[Q]], [[P]]], read_write: true}
)";

/// `[R, Wdilation]`: a dimension, and what it is multiplied by.
struct Term {
    std::string dimension, coefficient_name;
    std::uint64_t coefficient = 1;
};
using Axis = std::vector<Term>;

struct Space {
    std::string name;
    bool written = false;
    std::vector<Axis> axes;
    bool has(const std::string& dimension) const
    {
        return std::ranges::any_of(axes, [&](const Axis& axis) {
            return std::ranges::any_of(axis, [&](const Term& term) { return term.dimension == dimension; });
        });
    }
    bool has_windows() const
    {
        return std::ranges::any_of(axes, [](const Axis& axis) { return axis.size() > 1; });
    }
};

/// A place of the output and the window that is laid there, and what the problem calls its sizes.
struct Window {
    std::uint64_t places = 1, size = 1, stride = 1, dilation = 1;
    std::string place_name, size_name, stride_name, dilation_name;
    OpenConvolution::Axis axis() const
    {
        return {.input = (places - 1) * stride + (size - 1) * dilation + 1, .kernel = size, .stride = stride, .dilation = dilation};
    }
};

/// Timeloop expands templates of Jinja, and merges with `<<<`, before it reads YAML.
void refuse_template(const std::string& text, const std::string& file)
{
    std::size_t line = 1;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] == '\n') ++line;
        const bool jinja = text[i] == '{' && (text[i + 1] == '{' || text[i + 1] == '%' || text[i + 1] == '#');
        if (jinja || text.compare(i, 4, "<<<:") == 0)
            throw ConfigError(
                file + ":" + std::to_string(line),
                std::string("is a template") + (jinja ? " of Jinja" : ": \"<<<\" merges maps") +
                    ", which Timeloop's front end expands first; expected what it is expanded to: plain YAML with a \"problem\" "
                    "of shape and instance (without its includes and merges where it needs none of them)");
    }
}

/// What else Timeloop keeps in such files.
constexpr std::array kOtherRoots{
    "architecture", "mapper", "mapping", "constraints", "architecture_constraints", "components", "sparse_optimizations",
    "variables",    "arch",   "ERT",     "ART"};

class ProblemReader {
public:
    ProblemReader(const std::string& text, std::string file) : file_(std::move(file)), root_(YAML::Load(text)) {}

    Json read()
    {
        if (root_.IsMap() && !root_["problem"])
            for (const char* other : kOtherRoots)
                if (root_[other]) refuse(root_, std::string("has the \"") + other + "\" of Timeloop, expected its \"problem\"");
        const YAML::Node problem = member(root_, {"problem"}, "a problem of Timeloop");
        YAML::Node shape = member(problem, {"shape"}, "the shape of the problem");
        if (shape.IsScalar()) {
            if (shape.Scalar() != "cnn-layer" && shape.Scalar() != "cnn_layer")
                refuse(shape, "found \"" + printable(shape.Scalar()) + "\", expected cnn-layer, or a shape in full");
            shape = YAML::Load(kCnnLayer);
        }
        read_numbers(shape, member(problem, {"instance"}, "the sizes of the dimensions"));
        read_spaces(member(shape, {"data_spaces", "data-spaces"}, "the tensors of the problem"));
        return layer(problem);
    }

private:
    [[noreturn]] void refuse(const YAML::Node& node, const std::string& what) const { throw ConfigError(line_of(node), what); }

    YAML::Node member(const YAML::Node& node, std::initializer_list<const char*> names, const char* meaning) const
    {
        for (const char* name : names)
            if (const YAML::Node found = node.IsMap() ? node[name] : YAML::Node(YAML::NodeType::Undefined)) return found;
        refuse(node, std::string("has no \"") + *names.begin() + "\", expected " + meaning);
    }

    std::string word(const YAML::Node& node) const
    {
        if (!node.IsScalar() || node.Scalar().empty() || node.Scalar().size() > kMaxLetters) refuse(node, "found no name, expected one");
        return node.Scalar();
    }

    std::uint64_t number(const YAML::Node& node) const
    {
        const std::string text = node.IsScalar() ? node.Scalar() : "";
        const auto value = whole_number(text, 1, kMaxSize);
        if (!value) refuse(node, whole_number_problem(printable(text), 1, kMaxSize));
        return *value;
    }

    void read_numbers(const YAML::Node& shape, const YAML::Node& instance)
    {
        const YAML::Node dimensions = member(shape, {"dimensions"}, "a list of dimensions");
        if (!dimensions.IsSequence() || dimensions.size() == 0 || dimensions.size() > kMaxDimensions)
            refuse(dimensions, "expected a list of 1 to " + std::to_string(kMaxDimensions) + " dimensions");
        std::vector<std::string> known;
        for (const YAML::Node& dimension : dimensions) {
            if (!sizes_.emplace(word(dimension), 0).second) refuse(dimension, "there are two dimensions of this name");
            known.push_back(dimension.Scalar());
        }
        if (const YAML::Node coefficients = shape["coefficients"])
            for (const YAML::Node& coefficient : coefficients) {
                known.push_back(word(member(coefficient, {"name"}, "the name of the coefficient")));
                const YAML::Node fallback = coefficient["default"];
                coefficients_[known.back()] = fallback ? number(fallback) : 1;
            }
        if (!instance.IsMap()) refuse(instance, "expected a map of sizes");
        std::vector<YAML::Node> others;
        for (const auto& size : instance) {
            const std::string name = word(size.first);
            const auto dimension = sizes_.find(name);
            const auto coefficient = coefficients_.find(name);
            if (dimension != sizes_.end()) dimension->second = number(size.second);
            else if (coefficient != coefficients_.end()) coefficient->second = number(size.second);
            else others.push_back(size.first);
            lines_[name] = size.first.Mark().line + 1;
        }
        for (const auto& [name, size] : sizes_)
            if (size == 0)
                refuse(instance, "has no \"" + printable(name) + "\", expected a size for every dimension" + misspelt(name, others));
        pass_over(others, known);
    }

    /// Another key that may have been meant for this one.
    static std::string misspelt(const std::string& name, const std::vector<YAML::Node>& others)
    {
        for (const YAML::Node& other : others)
            if (!meant(other.Scalar(), {name}).empty()) return " (is \"" + printable(other.Scalar()) + "\" meant for it?)";
        return "";
    }

    /// Timeloop looks at what the shape names, and at densities where a machine is sparse.
    void pass_over(const std::vector<YAML::Node>& keys, const std::vector<std::string>& known) const
    {
        std::string unread;
        for (const YAML::Node& key : keys) {
            const std::string& name = key.Scalar();
            if (name.find("densit") != std::string::npos || name.find("Densit") != std::string::npos) {
                warn(line_of(key) + ": \"" + printable(name) +
                     "\" is for sparse machines: this one multiplies zeros too, and runs the problem as a dense one");
                continue;
            }
            const std::string near = name.size() > 2 ? meant(name, known) : "";
            unread += (unread.empty() ? "\"" : ", \"") + printable(name) + "\"" + (near.empty() ? "" : " (did you mean \"" + near + "\"?)");
        }
        if (!unread.empty())
            warn(line_of(keys.front()) + ": " + unread + " of the instance: no dimension and no coefficient of the shape, not read");
    }
    std::string line_of(const YAML::Node& node) const { return file_ + ":" + std::to_string(node.Mark().line + 1); }

    Axis read_axis(const YAML::Node& terms) const
    {
        if (!terms.IsSequence() || terms.size() == 0 || terms.size() > 2)
            refuse(terms, "expected one or two terms, for example [[R], [P]]");
        Axis axis;
        for (const YAML::Node& term : terms) {
            if (!term.IsSequence() || term.size() == 0 || term.size() > 2) refuse(term, "expected [DIMENSION] or [DIMENSION, COEFFICIENT]");
            Term read{word(term[0]), "", 1};
            if (!sizes_.contains(read.dimension)) refuse(term, "\"" + printable(read.dimension) + "\" is no dimension");
            if (term.size() == 2) {
                const auto coefficient = coefficients_.find(word(term[1]));
                if (coefficient == coefficients_.end()) refuse(term, "\"" + printable(term[1].Scalar()) + "\" is no coefficient");
                read.coefficient = coefficient->second;
                read.coefficient_name = coefficient->first;
            }
            axis.push_back(std::move(read));
        }
        return axis;
    }

    void read_spaces(const YAML::Node& spaces)
    {
        if (!spaces.IsSequence() || spaces.size() != 3) refuse(spaces, "expected three tensors: weights, inputs and outputs");
        std::vector<Space> read;
        for (const YAML::Node& node : spaces) {
            Space space{word(member(node, {"name"}, "the name of the tensor")), false, {}};
            for (const char* key : {"read_write", "read-write"})
                if (const YAML::Node written = node[key]) space.written = space.written || written.as<bool>();
            const YAML::Node projection = member(node, {"projection"}, "how the tensor is projected");
            if (!projection.IsSequence() || projection.size() > kMaxDimensions) refuse(projection, "expected a list of projections");
            for (const YAML::Node& terms : projection) space.axes.push_back(read_axis(terms));
            read.push_back(std::move(space));
        }
        std::stable_partition(read.begin(), read.end(), [](const Space& space) { return !space.written; });
        if (read[1].written || !read[2].written) refuse(spaces, "expected one tensor that is read_write: the outputs");
        if (is_weights(read[0], read[1])) std::swap(read[0], read[1]);
        input_ = read[0];
        weights_ = read[1];
        output_ = read[2];
    }

    /// Windows are slid over the input; without any the names decide, and otherwise the first is the input.
    static bool is_weights(const Space& space, const Space& other)
    {
        if (space.has_windows() || other.has_windows()) return !space.has_windows();
        std::string name = space.name;
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return name.find("weight") != std::string::npos || name.find("filter") != std::string::npos;
    }

    std::uint64_t size(const std::string& dimension) const { return sizes_.at(dimension); }

    Window window(const Axis& axis, const YAML::Node& problem) const
    {
        Window window;
        for (const Term& term : axis) {
            const bool place = output_.has(term.dimension) && !weights_.has(term.dimension);
            const bool inside = weights_.has(term.dimension) && !output_.has(term.dimension);
            if (!place && !inside)
                refuse(problem, "\"" + printable(term.dimension) + "\" is no output position and no window of a convolution");
            (place ? window.places : window.size) = size(term.dimension);
            (place ? window.stride : window.dilation) = term.coefficient;
            (place ? window.place_name : window.size_name) = term.dimension;
            (place ? window.stride_name : window.dilation_name) = term.coefficient_name;
        }
        const auto in_output = [&](const Term& term) { return output_.has(term.dimension); };
        if (axis.size() == 2 && in_output(axis[0]) == in_output(axis[1]))
            refuse(problem,
                   "expected an output position and a window in " + printable(axis[0].dimension) + " and " + printable(axis[1].dimension));
        return window;
    }

    void multiply(std::uint64_t& product, const std::string& dimension, const YAML::Node& problem) const
    {
        product *= size(dimension);
        if (product > kMaxSize) refuse(problem, "has more than 2^26 of what \"" + printable(dimension) + "\" counts");
    }

    Json layer(const YAML::Node& problem) const
    {
        std::vector<Window> windows;
        std::uint64_t channels = 1, kernels = 1, groups = 1, others = 1;
        std::string channel_names, kernel_names, other_names;
        for (const Axis& axis : input_.axes) {
            const std::string& first = axis.front().dimension;
            const bool read = weights_.has(first), made = output_.has(first);
            if (axis.size() > 1 || (made && !read && axis.front().coefficient != 1)) windows.push_back(window(axis, problem));
            else if (axis.front().coefficient != 1 || (!read && !made))
                refuse(problem, "\"" + printable(first) + "\" is no channel and no position of a convolution");
            else {
                multiply(read && made ? groups : read ? channels : others, first, problem);
                (read ? channel_names : other_names) += (read ? channel_names : other_names).empty() ? first : " x " + first;
            }
        }
        for (const auto& [name, size] : sizes_) {
            if (input_.has(name)) continue;
            if (!weights_.has(name) || !output_.has(name)) refuse(problem, "\"" + printable(name) + "\" is no dimension of a convolution");
            multiply(kernels, name, problem);
            kernel_names += kernel_names.empty() ? name : " x " + name;
        }
        if (windows.size() > 2) refuse(problem, "has " + std::to_string(windows.size()) + " windows, expected two at most");
        const bool product = windows.empty();
        if (product) {
            windows.resize(1);
            windows.front().places = others;
            windows.front().place_name = other_names;
        }
        windows.resize(2);
        const Window &x = windows[0], &y = windows[1];
        const auto name_of = [&](Size size) -> std::string {
            switch (size) {
                case Size::Width:
                    return x.place_name;
                case Size::Height:
                    return y.place_name;
                case Size::KernelWidth:
                    return x.size_name;
                case Size::KernelHeight:
                    return y.size_name;
                case Size::StrideX:
                    return x.stride_name;
                case Size::StrideY:
                    return y.stride_name;
                case Size::DilationX:
                    return x.dilation_name;
                case Size::DilationY:
                    return y.dilation_name;
                case Size::Channels:
                    return channel_names;
                case Size::OutputChannels:
                    return kernel_names;
                case Size::Batch:
                    return other_names;
            }
            return "";
        };
        const std::string line = place_of("", problem);
        return layers({.x = x.axis(),
                       .y = y.axis(),
                       .channels = channels * groups,
                       .kernels = kernels * groups,
                       .groups = groups,
                       .batch = product ? 1 : others},
                      {[&](Size size) { return place_of(name_of(size), problem); }, line});
    }

    /// A layer, or a network of its tiles.
    Json layers(const OpenConvolution& convolution, const ForeignPlace& place) const
    {
        std::vector<ForeignProblem> problems;
        std::vector<Json> all = layers_of(convolution, "tile", place, problems);
        throw_problems(file_, problems);
        if (all.size() == 1) {
            all.front().erase("name");
            return all.front();
        }
        if (convolution.batch != 1)
            throw ConfigError(place.of(Size::Batch), "found " + std::to_string(convolution.batch) + ", expected 1 if a layer needs tiles");
        for (Json& layer : all) layer["from"] = place.line;
        return {{"overlap", "none"}, {"layers", all}};
    }

    /// File, line and name of a size; the line of the problem where it is none of the instance.
    std::string place_of(const std::string& name, const YAML::Node& problem) const
    {
        const auto line = lines_.find(name.substr(0, name.find(' ')));
        return file_ + ":" + std::to_string(line == lines_.end() ? problem.Mark().line + 1 : line->second) +
               (name.empty() ? "" : ", " + printable(name));
    }

    std::string file_;
    YAML::Node root_;
    std::map<std::string, std::uint64_t> sizes_, coefficients_;
    std::map<std::string, int> lines_;  // of the sizes in the instance
    Space input_, weights_, output_;
};

}  // namespace

Json timeloop_layer(const std::string& text, const std::string& file)
{
    refuse_template(text, file);
    try {
        return ProblemReader(text, file).read();
    } catch (const YAML::Exception& error) {
        throw ConfigError(file + ":" + std::to_string(error.mark.line + 1), error.msg + ", expected YAML with a problem of Timeloop");
    }
}

}  // namespace dlasim
