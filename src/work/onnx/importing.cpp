#include "onnx/importing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "config/network_reader.h"
#include "onnx/importer.h"

namespace dlasim {
namespace {

constexpr const char* kNoOperator =
    "is not a supported operator: docs/ONNX.md lists them; expected a model of those, or only its part before this "
    "node "
    "(onnx.utils.extract_model)";

constexpr std::int64_t kMaxSide = 8192;

std::string shape_text(const std::vector<std::int64_t>& shape)
{
    std::string text = "[";
    for (const std::int64_t size : shape) text += (text.size() > 1 ? ", " : "") + (size < 0 ? std::string("?") : std::to_string(size));
    return text + "]";
}

}  // namespace

// ----------------------------------------------------------------------------------------- the model

void Importing::read()
{
    g_.file = model_.file;
    g_.name = model_.name;
    g_.batched = batched();
    for (const auto& [name, array] : model_.constants) symbols_[name].constant = RealConstant{array, {}, 0};
    read_inputs();
    for (const OnnxNode& node : model_.nodes) read_node(node);
    read_outputs();
    if (problems_.none()) drop_unread_inputs();
    if (problems_.none() && batched()) check_batch();
}

RealGraph Importing::take()
{
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) {  // integers without a scale represent themselves
        std::optional<Quantisation>& quantisation = g_.values[g_.inputs[i]].quantisation;
        if (!is_real(g_.input_types[i]) && !quantisation) quantisation = Quantisation{1, g_.input_types[i] == OnnxType::Uint8 ? -128 : 0};
    }
    return std::move(g_);
}

bool Importing::is_input(const std::string& name) const
{
    return std::any_of(model_.inputs.begin(), model_.inputs.end(), [&](const OnnxPort& port) { return port.name == name; });
}

bool Importing::gives(const std::string& name) const
{
    const auto known = given_.find(name);
    return known != given_.end() && known->second.elements != nullptr && is_input(name);
}

std::int64_t Importing::declared_batch() const
{
    for (const OnnxPort& port : model_.inputs)
        if (const std::vector<std::int64_t> shape = shape_of(port); !given_constants_.contains(port.name) && !shape.empty())
            return shape.front();
    return -1;
}

std::vector<std::int64_t> Importing::full(std::vector<std::int64_t> dims) const
{
    if (batched()) dims.insert(dims.begin(), 1);
    return dims;
}

std::vector<std::int64_t> Importing::of_image(std::vector<std::int64_t> shape) const
{
    if (!batched()) return shape;
    if (shape.empty() || shape.front() != 1)
        throw BatchRefused("mixes the batch with other dimensions, expected it to stay in front: images are independent of each other");
    shape.erase(shape.begin());
    return shape;
}

Symbol Importing::image(const Symbol& symbol) const
{
    Symbol seen = symbol;
    if (batched()) return seen;
    if (seen.dims.empty() || seen.dims.front() != 1)
        throw NeedsBatch("works on " + shape_text(seen.dims) +
                         ", expected a batch of 1 in front: the model mixes the batch with other dimensions");
    seen.dims.erase(seen.dims.begin());
    return seen;
}

std::vector<std::int64_t> Importing::of_front(std::vector<std::int64_t> dims) const
{
    if (!batched()) dims.insert(dims.begin(), 1);
    return dims;
}

/// As the model declares it, open sizes as they are given.
std::vector<std::int64_t> Importing::shape_of(const OnnxPort& port) const
{
    std::vector<std::int64_t> shape = port.shape;
    const auto known = given_.find(port.name);
    if (known == given_.end()) return shape;
    const std::vector<std::int64_t>& given = known->second.shape;
    if (!port.shaped) return given;
    if (given.size() != shape.size()) return shape;  // refused where the file is read
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] < 0) shape[i] = given[i];
    return shape;
}

void Importing::read_inputs()
{
    for (const OnnxPort& port : model_.inputs) {
        if (symbols_.contains(port.name)) problems_.add("input \"" + port.name + "\"", "exists twice, expected once");
        else if (!take_constant(port)) read_input(port);
    }
    if (model_.inputs.empty()) problems_.add("inputs", "found none, expected at least one tensor that is no constant");
}

/// An input whose elements are needed while the model is read.
bool Importing::take_constant(const OnnxPort& port)
{
    const bool whole = !is_real(port.type) && port.type != OnnxType::Int8 && port.type != OnnxType::Uint8;
    if (!given_constants_.contains(port.name) && !(whole && gives(port.name))) return false;
    const GivenInput& given = given_.at(port.name);
    OnnxArray array;
    array.type = port.type;
    array.shape = given.shape;
    const std::string where = "input \"" + port.name + "\"";
    bool fits = !port.shaped || port.shape.size() == given.shape.size();
    for (std::size_t i = 0; fits && port.shaped && i < port.shape.size(); ++i) fits = port.shape[i] < 0 || port.shape[i] == given.shape[i];
    if (!fits) problems_.add(where, "found a file of shape " + shape_text(given.shape) + ", expected " + shape_text(port.shape));
    for (const double value : given.elements->values) {
        if (is_real(port.type)) array.reals.push_back(static_cast<float>(value));
        else array.wholes.push_back(static_cast<std::int32_t>(std::clamp(value, -2147483648.0, 2147483647.0)));
    }
    symbols_[port.name].constant = RealConstant{std::move(array), {}, 0};
    return true;
}

void Importing::read_input(const OnnxPort& port)
{
    const std::string where = "input \"" + port.name + "\"";
    const auto refuse = [&](const std::string& why) {
        problems_.add(where, why);
        unknown_.insert(port.name);
    };
    Symbol symbol;
    symbol.value = g_.values.size();
    if (port.type == OnnxType::Int8 || port.type == OnnxType::Uint8) symbol.whole = port.type;
    if (!symbol.whole && !is_real(port.type))
        return refuse(std::string("found elements of type ") + facts_of(port.type).name +
                      ", expected floating point, int8 or uint8; --input " + port.name + "=FILE makes it a constant");
    const std::vector<std::int64_t> shape = shape_of(port);
    if (!port.shaped && shape.empty()) return refuse("has no dimensions, expected the batch and those of an image: --shape gives them");
    if (batched() && shape.empty()) {
        mixes_batch_ = true;
        return refuse("has no dimensions, expected the batch and those of an image");
    }
    symbol.dims = shape;
    if (batched()) symbol.dims.erase(symbol.dims.begin());
    else if (!shape.empty() && shape.front() < 0) symbol.dims.front() = 1;
    if (batching_ == Batching::Single && !port.shape.empty() && port.shape.front() < 0) symbol.dims.front() = 1;
    for (const std::int64_t size : symbol.dims)
        if (size < 1)
            return refuse("found shape " + shape_text(port.shaped ? port.shape : shape) +
                          ", expected numbers above 0 after the batch: --input or --shape gives sizes that the model does not define");
    CubeShape cube;
    try {
        cube = natural_cube(symbol.dims);
    } catch (const Refused& refused) {
        return refuse(refused.what());
    }
    g_.values.push_back({port.name, symbol.dims, cube, std::nullopt});
    g_.inputs.push_back(symbol.value);
    g_.input_types.push_back(port.type);
    g_.fixed.emplace_back();
    names_.insert(port.name);
    symbols_[port.name] = symbol;
}

/// All inputs have the same number of images.
void Importing::check_batch()
{
    std::int64_t batch = -1;
    for (const OnnxPort& port : model_.inputs) {
        if (!symbols_.contains(port.name) || symbols_.at(port.name).constant) continue;
        const std::int64_t own = port.shape.empty() ? -1 : port.shape.front();
        if (batch >= 0 && own >= 0 && own != batch) {
            mixes_batch_ = true;
            return problems_.add("input \"" + port.name + "\"",
                                 "found a batch of " + std::to_string(own) + ", expected the " + std::to_string(batch) + " of the others");
        }
        batch = std::max(batch, own);
    }
}

/// Where constants took the place of inputs, what is left may have no reader.
void Importing::drop_unread_inputs()
{
    if (g_.inputs.empty()) problems_.add("inputs", "found constants alone, expected at least one tensor that is no constant: nothing runs");
}

bool Importing::reads_unknown(const OnnxNode& node) const
{
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& name) { return unknown_.contains(name); });
}

void Importing::mark_unknown(const OnnxNode& node)
{
    for (const std::string& output : node.outputs) unknown_.insert(output);
}

void Importing::read_node(const OnnxNode& node)
{
    const Operator known = find_operator(node.domain, node.op);
    NodeView view(*this, node);
    try {
        for (const std::string& input : node.inputs)
            if (!input.empty() && !unknown_.contains(input) && !symbols_.contains(input))
                throw Refused("reads \"" + input + "\", which is neither an input nor the output of an earlier node");
        if (node.outputs.empty()) throw Refused("has no output, expected one");
        for (const std::string& output : node.outputs)
            if (symbols_.contains(output)) throw Refused("makes \"" + output + "\", which already exists");
        if (reads_unknown(node)) {
            if (!known && node.op != "Constant" && node.op != "Shape") throw Refused(kNoOperator);
            return mark_unknown(node);
        }
        if (node.domain.empty())
            if (std::optional<OnnxArray> array = folded(*this, view)) return set_constant(view, std::move(*array));
        if (!known) throw Refused(kNoOperator);
        known(*this, view);
        for (const std::string& name : view.unread())
            if (name != "consumed_inputs" || model_.opset > 5)
                throw Refused("attribute \"" + name + "\" is not known, expected none of that name");
    } catch (const Refused& refused) {
        mixes_batch_ |= dynamic_cast<const BatchRefused*>(&refused) != nullptr;
        needs_batch_ |= dynamic_cast<const NeedsBatch*>(&refused) != nullptr;
        problems_.add(node.label(), refused.what());
        mark_unknown(node);
    } catch (const ConfigError& error) {
        problems_.add(node.label(), error.what());
        mark_unknown(node);
    }
}

void Importing::read_outputs()
{
    const std::size_t count = model_.outputs.size();
    if (count == 0 || count > kMaxOnnxOutputs)
        return problems_.add("outputs", "found " + std::to_string(count) + ", expected 1 to " + std::to_string(kMaxOnnxOutputs));
    std::set<std::string> names;
    for (const OnnxPort& port : model_.outputs) {
        if (names.insert(port.name).second) read_output(port);
        else problems_.add("output \"" + port.name + "\"", "is listed twice, expected once");
    }
}

void Importing::read_output(const OnnxPort& port)
{
    if (unknown_.contains(port.name)) return;
    const std::string where = "output \"" + port.name + "\"";
    const auto known = symbols_.find(port.name);
    if (known == symbols_.end()) return problems_.add(where, "is the output of no node");
    const Symbol& symbol = known->second;
    if (symbol.constant) {
        const OnnxArray& array = symbol.constant->array;
        if (symbol.constant->of_batch) mixes_batch_ = true;
        if (symbol.constant->of_batch) return problems_.add(where, "is made of the batch, expected an image to be independent of it");
        if (array.clamped) return problems_.add(where, "is a constant with integers beyond 32 bits, expected smaller ones");
        g_.outputs.push_back({port.name, 0, array.type, array.shape, array});
        return;
    }
    const bool index = std::any_of(g_.nodes.begin(), g_.nodes.end(), [&](const RealNode& node) {
        return node.output == symbol.value && node.op == RealOp::Compute && node.compute.kind == Compute::Kind::ArgMax;
    });
    const OnnxType type = symbol.whole ? *symbol.whole : index ? OnnxType::Int64 : is_real(port.type) ? port.type : OnnxType::Float;
    g_.outputs.push_back({port.name, symbol.value, type, symbol.dims, std::nullopt});
}

RealNode& Importing::add(NodeView& view, RealOp op, std::vector<std::size_t> inputs, const std::vector<std::int64_t>& dims,
                         const CubeShape& cube)
{
    if (g_.nodes.size() >= kMaxNetworkLayers)
        throw Refused("is one node too many, expected at most " + std::to_string(kMaxNetworkLayers) + " that compute");
    std::string name = view.node().outputs.front();
    for (int n = 2; !names_.insert(name).second; ++n) name = view.node().outputs.front() + "." + std::to_string(n);
    g_.values.push_back({name, dims, cube, std::nullopt});
    RealNode node;
    node.op = op;
    node.label = view.node().label();
    node.inputs = std::move(inputs);
    node.output = g_.values.size() - 1;
    node.factor = {1};
    if (op == RealOp::Affine) node.bias = {0};
    g_.nodes.push_back(std::move(node));
    return g_.nodes.back();
}

RealNode& Importing::affine(NodeView& view, const Symbol& symbol, bool by_channel)
{
    const std::size_t input = by_channel ? natural(view, symbol) : symbol.value;
    RealNode& node = add(view, RealOp::Affine, {input}, symbol.dims, value(input).cube);
    set(view, {std::nullopt, node.output, symbol.dims, std::nullopt});
    return node;
}

void Importing::set(const NodeView& view, Symbol symbol, std::size_t output)
{
    if (output < view.node().outputs.size() && !view.node().outputs[output].empty())
        symbols_[view.node().outputs[output]] = std::move(symbol);
}

void Importing::set_image(const NodeView& view, Symbol symbol)
{
    symbol.dims = of_front(std::move(symbol.dims));
    set(view, std::move(symbol));
}

Symbol Importing::fixed_value(const std::string& constant, const std::vector<double>& elements, const std::vector<std::int64_t>& dims)
{
    charge(elements.size());
    std::string name = constant;
    for (int n = 2; !names_.insert(name).second; ++n) name = constant + "." + std::to_string(n);
    std::vector<float> numbers;
    numbers.reserve(elements.size());
    for (const double element : elements) {
        numbers.push_back(static_cast<float>(element));
        if (!std::isfinite(numbers.back())) throw Refused("found a constant that is no finite number");
    }
    const std::size_t value = g_.values.size();
    g_.values.push_back({name, dims, natural_cube(dims), std::nullopt});
    g_.inputs.push_back(value);
    g_.input_types.push_back(OnnxType::Float);
    g_.fixed.push_back(std::move(numbers));
    return {std::nullopt, value, dims, std::nullopt};
}

Symbol Importing::fixed_value(const std::string& name, const RealConstant& constant, const std::vector<std::int64_t>& dims)
{
    const std::vector<std::int64_t> shape = full(dims);
    if (constant.of_batch) throw BatchRefused("computes with the size of the batch, expected images to be independent of it");
    if (common_shape(shape, constant.array.shape) != shape)
        throw Refused("found a constant of shape " + shape_text(constant.array.shape) + ", expected one that repeats to " +
                      shape_text(shape));
    natural_cube(dims);
    std::vector<std::int64_t> own = constant.array.shape;
    own.insert(own.begin(), shape.size() - own.size(), 1);
    std::vector<std::vector<std::int64_t>> places = all_places(shape);
    for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] == 1) std::fill(places[i].begin(), places[i].end(), 0);
    std::vector<double> values;
    for (const std::int32_t place : selection(own, places)) values.push_back(constant.array.at(static_cast<std::size_t>(place)));
    return fixed_value(name, values, dims);
}

void Importing::charge(std::size_t elements)
{
    if ((charged_ += elements) > static_cast<std::uint64_t>(kMaxOnnxElements))
        throw Refused("brings constants and weights to " + std::to_string(charged_) + " elements, expected at most " +
                      std::to_string(kMaxOnnxElements));
}

/// Which elements are made of the batch: exact for the shapes that exporters write, else more than there are.
void Importing::note_batch(const NodeView& view, RealConstant& made) const
{
    const std::string& op = view.node().op;
    if (op == "Shape" && !view.is_constant(0)) {
        // A batch of 1 that the model names is what every image has.
        const auto start = view.node().attributes.find("start");
        const bool front = batched() && declared_batch() != 1 && (start == view.node().attributes.end() || start->second.whole <= 0);
        made.of_batch = made.front_batch = made.front_alone = front;
        return;
    }
    bool first = true;
    for (std::size_t i = 0; i < view.inputs(); ++i) {
        if (!view.has(i) || !view.is_constant(i)) continue;
        const RealConstant& from = *view.symbol(i).constant;
        made.of_batch |= from.of_batch;
        if (first) made.front_batch = from.front_batch;
        first = false;
    }
    const RealConstant* source = view.has(0) && view.is_constant(0) ? &*view.symbol(0).constant : nullptr;
    if (!made.of_batch || op == "Concat" || op == "Cast" || op == "Identity" || op == "Unsqueeze" || op == "Squeeze") return;
    if ((op == "Gather" || op == "Slice") && source && source->front_alone && view.is_constant(1) &&
        view.constant(1, "").array.size() > 0) {
        const OnnxArray& places = view.constant(1, "").array;
        const auto size = static_cast<double>(source->array.size());
        made.front_batch = places.at(0) == 0 || places.at(0) == -size;
        made.of_batch = made.front_batch;
        for (std::size_t i = 0; op == "Gather" && i < places.size(); ++i) made.of_batch |= places.at(i) == 0 || places.at(i) == -size;
        return;
    }
    made.front_batch = true;
}

void Importing::set_constant(const NodeView& view, OnnxArray array, std::size_t output)
{
    charge(array.size());
    Symbol symbol;
    symbol.constant = RealConstant{std::move(array), {}, 0};
    note_batch(view, *symbol.constant);
    set(view, std::move(symbol), output);
}

CubeShape Importing::natural_cube(const std::vector<std::int64_t>& dims) const
{
    // A batch of 1 before an image is no side of its cube.
    if (!batched() && !dims.empty() && dims.front() == 1) return cube_of({dims.begin() + 1, dims.end()});
    return cube_of(dims);
}

CubeShape Importing::cube_of(const std::vector<std::int64_t>& dims) const
{
    std::array<std::int64_t, 3> sides{1, 1, 1};
    const auto side = [&](std::size_t i) { return dims.size() == 2 && i == 1 ? 2 : std::min<std::size_t>(i, 2); };
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] < 1 || (elements *= dims[i]) > static_cast<std::int64_t>(kMaxTensorElements))
            throw Refused("found a tensor " + shape_text(dims) + " for an image, expected 1 to " + std::to_string(kMaxTensorElements) +
                          " elements");
        sides[side(i)] *= dims[i];
    }
    for (const std::int64_t size : sides)
        if (size > kMaxSide)
            throw Refused("found a tensor " + shape_text(dims) + " for an image, expected at most " + std::to_string(kMaxSide) +
                          " channels, rows and columns");
    return {static_cast<std::uint32_t>(sides[0]), static_cast<std::uint32_t>(sides[1]), static_cast<std::uint32_t>(sides[2])};
}

std::size_t Importing::natural(NodeView& view, const Symbol& symbol) { return as_cube(view, symbol, natural_cube(symbol.dims)); }

std::size_t Importing::as_cube(NodeView& view, const Symbol& symbol, const CubeShape& cube)
{
    if (g_.values[symbol.value].cube == cube) return symbol.value;
    const std::optional<Quantisation> quantisation = g_.values[symbol.value].quantisation;
    const std::size_t made = add(view, RealOp::Reshape, {symbol.value}, symbol.dims, cube).output;
    g_.values[made].quantisation = quantisation;
    g_.values[made].name += ".reshaped";
    return made;
}

Symbol Importing::moved(NodeView& view, const Symbol& symbol, const std::vector<std::int64_t>& dims, std::vector<std::int32_t> from,
                        double fill)
{
    Symbol made = symbol;
    made.dims = dims;
    bool same = from.size() == g_.values[symbol.value].cube.elements();
    for (std::size_t i = 0; same && i < from.size(); ++i) same = from[i] == static_cast<std::int32_t>(i);
    if (same) return made;
    charge(from.size());
    const std::optional<Quantisation> quantisation = g_.values[symbol.value].quantisation;
    RealNode& node = add(view, RealOp::Reshape, {symbol.value}, dims, natural_cube(dims));
    node.move = {std::move(from), fill};
    made.value = node.output;
    g_.values[made.value].quantisation = quantisation;
    return made;
}

Symbol Importing::exchanged(NodeView& view, const Symbol& symbol, const std::vector<std::int64_t>& dims,
                            const std::vector<std::size_t>& order)
{
    std::vector<std::int64_t> made;
    for (const std::size_t from : order) made.push_back(dims[from]);
    return moved(view, symbol, made, permutation(dims, order));
}

Symbol Importing::computed(NodeView& view, const Compute& compute, const std::vector<Symbol>& inputs, const std::vector<std::int64_t>& dims)
{
    std::vector<std::size_t> values;
    for (const Symbol& input : inputs) values.push_back(input.value);
    RealNode& node = add(view, RealOp::Compute, values, dims, natural_cube(dims));
    node.compute = compute;
    return {std::nullopt, node.output, dims, std::nullopt};
}

const Importing::Padded* Importing::padding_of(std::size_t value) const
{
    const auto known = padded_.find(value);
    return known == padded_.end() ? nullptr : &known->second;
}

bool Importing::only_read_by(const std::string& name, const std::set<std::string>& operators) const
{
    for (const OnnxPort& output : model_.outputs)
        if (output.name == name) return false;
    for (const OnnxNode& node : model_.nodes)
        if (std::find(node.inputs.begin(), node.inputs.end(), name) != node.inputs.end() && !operators.contains(node.op)) return false;
    return true;
}

}  // namespace dlasim
