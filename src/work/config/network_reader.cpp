#include "config/network_reader.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <optional>
#include <span>
#include <unordered_map>

#include "config/layer/geometry_reader.h"
#include "config/layer/layer_reader.h"
#include "config/layer/layer_words.h"
#include "config/layer/partition_reader.h"
#include "config/layer/sdp_reader.h"
#include "config/layer/transfer_reader.h"
#include "config/network_keys.h"
#include "config/tolerance_reader.h"

namespace dlasim {
namespace {

const std::vector<std::string> kNetworkOps{"conv2d", "fully_connected", "deconv2d", "pool", "add", "lrn", "concat", "upsample", "softmax"};
const std::vector<std::string> kNumberedOps{"affine", "multiply", "function", "reshape", "compute"};
const std::vector<std::string> kNetworkPrecisions{"int8", "fp16"};
constexpr const char* kNetworkInput = "data";  // the network's input
constexpr Within kWindow{1, keys::kMaxNetworkWindow}, kPadding{0, keys::kMaxNetworkPad}, kFactor{1, keys::kMaxUpsample};
constexpr std::size_t kMaxInputs = 64, kMaxName = 100;

/// A layer as a descriptor of its own, with the shape of what it reads.
Json descriptor_of(const Json& json, NetworkOp op, const NetworkTensor& in, Precision precision)
{
    Json descriptor = Json::object();
    for (const char* key : {"op", "kernel", "kernel_shape", "stride", "strides", "dilation", "dilations", "pad", "pads", "groups", "group",
                            "lrn", "partition"})
        if (json.contains(key)) descriptor[key] = json[key];
    descriptor["op"] = kNetworkOps[static_cast<std::size_t>(op)];
    if (op != NetworkOp::Pool) descriptor["precision"] = precision_name(precision);
    descriptor["input"] = {{"width", in.width}, {"height", in.height}, {"channels", in.channels}};
    return descriptor;
}

// The names of a decision in the file and in the table of the planner are one.
static_assert(std::equal(keys::kLayerDecide.begin(), keys::kLayerDecide.end(), kDecisions.begin(),
                         [](const InputKey& key, const DecisionKey& of) { return key.row.name == std::string_view(of.name); }));

Decisions read_decisions(const JsonObject& parent, std::span<const InputKey> known)
{
    Decisions decided;
    if (!parent.has("decide")) return decided;
    const JsonObject object = parent.object("decide", known);
    for (std::size_t d = 0; d < kDecisions.size(); ++d) {
        const DecisionKey& key = kDecisions[d];
        if (!object.has(key.name)) continue;
        decided.values[d] = key.most == 1 ? std::uint32_t{object.flag(key.name, false)} : object.count(key.name);
        if (key.most != 1 && !std::has_single_bit(*decided.values[d]))
            throw ConfigError(object.where(key.name), "found " + std::to_string(*decided.values[d]) + ", expected 1, 2 or 4");
    }
    return decided;
}

void put_decisions(OrderedJson& json, const Decisions& decided)
{
    for (std::size_t d = 0; d < kDecisions.size(); ++d)
        if (const std::optional<std::uint32_t>& value = decided.values[d])
            json["decide"][kDecisions[d].name] = kDecisions[d].most == 1 ? OrderedJson(*value != 0) : OrderedJson(*value);
}

class NetworkReader {
public:
    NetworkReader(const Json& json, const std::string& file) : top_(json, file, "", std::span<const InputKey>(keys::kNetwork))
    {
        network_.file = file;
        network_.name = text(top_, "name", std::filesystem::path(file).stem().string());
        network_.source = top_.text("source", "");
        network_.note = top_.text("note", "");
        network_.expected = top_.input_file("expected", std::filesystem::path(file).parent_path().string());
        network_.expected_where = top_.where("expected");
        network_.tolerance = read_tolerance(top_);
        network_.precision = top_.word("precision", kNetworkPrecisions, 0) == 0 ? Precision::Int8 : Precision::Fp16;
        network_.overlap = read_overlap(top_, 4);
        network_.decided = read_decisions(top_, keys::kNetworkDecide);
        network_.minimise = read_minimise(top_, usual_minimise(network_.overlap));
        if (top_.has("input")) add_tensor(kNetworkInput, read_input(top_), std::nullopt, top_.where("input"));
    }

    Network read()
    {
        if (!top_.has("layers")) top_.missing("layers", "a list of layers");
        const Json& list = top_.raw("layers");
        if (!list.is_array() || list.empty() || list.size() > kMaxNetworkLayers)
            throw ConfigError(top_.where("layers"),
                              found(list) + ", expected a list of 1 to " + std::to_string(kMaxNetworkLayers) + " layers");
        for (std::size_t i = 0; i < list.size(); ++i) read_layer(list[i], top_.pointer("layers") + "/" + std::to_string(i));
        if (top_.has("macs")) check_macs();
        return std::move(network_);
    }

private:
    static std::string text(const JsonObject& object, const char* key, const std::string& fallback)
    {
        std::string value = object.text(key, fallback);
        if (value.empty() || value.size() > kMaxName)
            throw ConfigError(object.where(key),
                              "found a name of " + std::to_string(value.size()) + " characters, expected 1 to " + std::to_string(kMaxName));
        return value;
    }

    static NetworkTensor read_input(const JsonObject& object)
    {
        const JsonObject input = object.object("input", keys::kNetworkShape);
        NetworkTensor tensor;
        tensor.width = input.count("width");
        tensor.height = input.count("height");
        tensor.channels = input.count("channels");
        return tensor;
    }

    std::size_t add_tensor(const std::string& name, NetworkTensor tensor, std::optional<std::size_t> layer, const std::string& where)
    {
        if (tensor.elements() > kMaxTensorElements)
            throw ConfigError(where, "makes a tensor of " + std::to_string(tensor.elements()) + " elements, expected at most " +
                                         std::to_string(kMaxTensorElements));
        tensor.name = name;
        tensor.layer = layer;
        network_.tensors.push_back(tensor);
        if (!by_name_.emplace(name, network_.tensors.size() - 1).second)
            throw ConfigError(where, "there are two tensors \"" + name + "\", expected different names");
        return network_.tensors.size() - 1;
    }

    std::size_t find(const Json& name, const std::string& where) const
    {
        if (!name.is_string())
            throw ConfigError(where, found(name) + ", expected the name of an earlier layer, or \"" + kNetworkInput + "\"");
        const auto known = by_name_.find(name.get_ref<const std::string&>());
        if (known == by_name_.end())
            throw ConfigError(
                where, found(name) + ", expected the name of an earlier layer, or \"" + kNetworkInput + "\": a network has no cycles");
        return known->second;
    }

    std::vector<std::size_t> read_inputs(const JsonObject& object, NetworkLayer& layer)
    {
        object.not_both("inputs", "input");
        if (object.has("input")) {
            layer.own_input = true;
            return {add_tensor(layer.name + ".input", read_input(object), std::nullopt, object.where("input"))};
        }
        if (!object.has("inputs")) {
            if (network_.tensors.empty()) object.missing("input", "the shape of a tensor: the network has none to read");
            return {network_.layers.empty() ? 0 : network_.layers.back().output};
        }
        const Json& list = object.raw("inputs");
        if (!list.is_array() || list.empty() || list.size() > kMaxInputs)
            throw ConfigError(object.where("inputs"), found(list) + ", expected a list of 1 to " + std::to_string(kMaxInputs) + " names");
        std::vector<std::size_t> inputs;
        for (std::size_t i = 0; i < list.size(); ++i) inputs.push_back(find(list[i], object.where("inputs") + "/" + std::to_string(i)));
        return inputs;
    }

    const NetworkTensor& in(const NetworkLayer& layer, std::size_t i = 0) const { return network_.tensors[layer.inputs[i]]; }

    void read_layer(const Json& json, const std::string& pointer)
    {
        const std::string& file = top_.file();
        if (!json.is_object()) throw ConfigError(at(file, pointer), found(json) + ", expected an object {...}");
        NetworkLayer layer;
        layer.where = at(file, pointer);
        if (!json.contains("op")) throw ConfigError(at(file, pointer + "/op"), "is missing, expected an operation");
        const JsonObject any(json, file, pointer, known_keys(json));
        layer.op = static_cast<NetworkOp>(any.word("op", kNetworkOps, 0));
        const JsonObject object(json, file, pointer, keys_of(layer.op));
        if (!object.has("name")) object.missing("name", "a name for the output of the layer");
        layer.name = text(object, "name", "");
        layer.where = object.text("from", layer.where);
        layer.inputs = read_inputs(object, layer);
        layer.decided = read_decisions(object, keys::kLayerDecide);
        const bool several = layer.op == NetworkOp::Add || layer.op == NetworkOp::Concat;
        if (several ? layer.inputs.size() < 2 : layer.inputs.size() != 1)
            throw ConfigError(object.where("inputs"),
                              "found " + std::to_string(layer.inputs.size()) + " tensors, expected " + (several ? "two or more" : "one"));
        std::optional<JsonObject> post;
        if (object.has("post")) post.emplace(object.object("post", keys::kNetworkPost));
        layer.activation = static_cast<Activation>(holder_of("activation", object, post).word("activation", kActivations, 0));
        const bool bias = holder_of("bias", object, post).flag("bias", false);
        layer.normalised = object.flag("normalised", false);
        const NetworkTensor out = read_operation(layer, object, json, pointer);
        if (bias) layer.layer.post.add_bias();
        weights_ += layer.weights();
        if (weights_ > kMaxNetworkWeights)
            throw ConfigError(layer.where, "brings the weights to " + std::to_string(weights_) + " elements, expected at most " +
                                               std::to_string(kMaxNetworkWeights) + " in a network");
        check_output(object, out);
        layer.output = add_tensor(layer.name, out, network_.layers.size(), object.where("name"));
        network_.layers.push_back(std::move(layer));
    }

    /// Of all operations: an unknown operation is reported first.
    static std::vector<std::string> known_keys(const Json& json)
    {
        std::vector<std::string> keys;
        for (const auto& [key, value] : json.items()) keys.push_back(key);
        return keys;
    }

    NetworkTensor read_operation(NetworkLayer& layer, const JsonObject& object, const Json& json, const std::string& pointer)
    {
        NetworkTensor out = in(layer);
        out.layer.reset();
        if (layer.convolves()) {
            layer.layer = layer_from_json(descriptor_of(json, layer.op, in(layer), network_.precision), top_.file(), pointer, "");
            layer.layer.name = layer.name;
            out.width = layer.layer.out_width();
            out.height = layer.layer.out_height();
            out.channels = layer.layer.kernels;
        } else if (layer.op == NetworkOp::Pool) {
            layer.pool = read_window(object, in(layer));
            out.width = layer.pool.x.outputs(out.width, layer.pool.ceil);
            out.height = layer.pool.y.outputs(out.height, layer.pool.ceil);
        } else if (layer.op == NetworkOp::Lrn) {
            layer.lrn = *transfer_from_json(descriptor_of(json, layer.op, in(layer), network_.precision), top_.file(), pointer, "").lrn();
        } else if (layer.op == NetworkOp::Upsample) {
            if (!object.has("factor")) object.missing("factor", "an object {\"x\", \"y\"}");
            layer.factor = read_extent(object, "factor", "factors", kFactor, "times as many columns or rows");
            out.width *= layer.factor.x;
            out.height *= layer.factor.y;
        } else if (layer.op == NetworkOp::Add || layer.op == NetworkOp::Concat) {
            join(layer, object, out);
        }
        if (std::max({out.width, out.height, out.channels}) > keys::kMaxSide)
            throw ConfigError(layer.where, "makes " + shape(out) + ", expected at most 8192 each way");
        return out;
    }

    void join(const NetworkLayer& layer, const JsonObject& object, NetworkTensor& out) const
    {
        const bool concat = layer.op == NetworkOp::Concat;
        std::uint64_t channels = in(layer).channels;
        for (std::size_t i = 1; i < layer.inputs.size(); ++i) {
            const NetworkTensor& next = in(layer, i);
            if (next.width != out.width || next.height != out.height || (!concat && next.channels != out.channels))
                throw ConfigError(object.where("inputs") + "/" + std::to_string(i),
                                  "\"" + next.name + "\" is " + shape(next) + ", expected " + shape(out) +
                                      (concat ? " of any number of channels" : "") + " as \"" + in(layer).name + "\" is");
            channels += concat ? next.channels : 0;
        }
        out.channels = static_cast<std::uint32_t>(std::min<std::uint64_t>(channels, UINT32_MAX));
    }

    /// Windows of any size up to 64: what PDP cannot do runs on the host.
    Pool read_window(const JsonObject& parent, const NetworkTensor& in) const
    {
        if (!parent.has("pool")) parent.missing("pool", "an object {\"function\", \"kernel\"}");
        const JsonObject object = parent.object("pool", keys::kNetworkPool);
        Pool pool;
        pool.function = static_cast<PoolFunction>(object.word("function", kPoolFunctions, 0));
        object.not_both("kernel", "kernel_shape");
        if (object.has("kernel_shape")) {
            const auto yx = object.counts("kernel_shape", 2, kWindow, "kernel height and width");
            pool.y.kernel = yx[0];
            pool.x.kernel = yx[1];
        } else {
            if (!object.has("kernel")) object.missing("kernel", "an object {\"width\", \"height\"}");
            const JsonObject kernel = object.object("kernel", keys::kNetworkPoolKernel);
            pool.x.kernel = kernel.count("width");
            pool.y.kernel = kernel.count("height");
        }
        const Extent stride = read_extent(object, "stride", "strides", kWindow, "stride");
        pool.x.stride = stride.x;
        pool.y.stride = stride.y;
        const Sides pad = read_sides(object, kPadding, kPadding, [](const JsonObject& sides) {
            if (sides.has("value")) throw ConfigError(sides.where("value"), "expected no such key: padding counts as 0 or not at all");
        });
        pool.x.before = pad.left;
        pool.x.after = pad.right;
        pool.y.before = pad.top;
        pool.y.after = pad.bottom;
        pool.ceil = object.integer("ceil_mode", 0) == 1;
        const bool counts = object.integer("count_include_pad", 0) == 1;
        check_window(pool.x, in.width, object, "columns");
        check_window(pool.y, in.height, object, "rows");
        const bool pads =
            pool.x.before + pool.y.before != 0 || pool.x.pad_after(in.width, pool.ceil) > 0 || pool.y.pad_after(in.height, pool.ceil) > 0;
        if (pool.function == PoolFunction::Average && pads && !counts)
            throw ConfigError(object.where("count_include_pad"),
                              "an average over padding divides by the whole kernel, expected \"count_include_pad\": 1");
        return pool;
    }

    static void check_window(const PoolAxis& axis, std::uint32_t size, const JsonObject& object, const char* what)
    {
        if (axis.before >= axis.kernel || axis.after >= axis.kernel || axis.kernel > size + axis.before + axis.after)
            throw ConfigError(object.where("kernel"), "found " + std::to_string(axis.kernel) + " " + what + " over " +
                                                          std::to_string(size) + " with a padding of " + std::to_string(axis.before) +
                                                          " and " + std::to_string(axis.after) +
                                                          ", expected a kernel that fits and more than the padding");
    }

    void check_output(const JsonObject& object, const NetworkTensor& out) const
    {
        if (!object.has("output")) return;
        const JsonObject given = object.object("output", keys::kNetworkShape);
        const auto check = [&](const char* key, std::uint32_t made) {
            if (given.has(key) && given.integer(key) != made)
                throw ConfigError(given.where(key), found(given.raw(key)) + ", expected " + std::to_string(made) +
                                                        ": the output of the layer is " + shape(out));
        };
        check("width", out.width);
        check("height", out.height);
        check("channels", out.channels);
    }

    void check_macs() const
    {
        const auto macs = static_cast<std::uint64_t>(top_.integer("macs"));
        if (macs != network_.macs())
            throw ConfigError(top_.where("macs"), "found " + std::to_string(macs) + ", expected " + std::to_string(network_.macs()) +
                                                      ", the sum over the layers");
    }

    static std::string shape(const NetworkTensor& t)
    {
        return std::to_string(t.width) + " x " + std::to_string(t.height) + " x " + std::to_string(t.channels);
    }

    const JsonObject top_;
    Network network_;
    std::unordered_map<std::string, std::size_t> by_name_;
    std::uint64_t weights_ = 0;
};

OrderedJson shape_json(const NetworkTensor& tensor)
{
    return {{"width", tensor.width}, {"height", tensor.height}, {"channels", tensor.channels}};
}

OrderedJson window_json(const Pool& p)
{
    return {{"function", kPoolFunctions[static_cast<std::size_t>(p.function)]},
            {"kernel", {{"width", p.x.kernel}, {"height", p.y.kernel}}},
            {"stride", {{"x", p.x.stride}, {"y", p.y.stride}}},
            {"pad", {{"left", p.x.before}, {"right", p.x.after}, {"top", p.y.before}, {"bottom", p.y.after}}},
            {"ceil_mode", p.ceil ? 1 : 0},
            {"count_include_pad", p.function == PoolFunction::Average ? 1 : 0}};
}

void put_partition(OrderedJson& json, const NetworkLayer& l)
{
    if (l.convolves() && l.layer.partition.on()) json["partition"] = partition_json(l.layer.partition);
}

void put_operation(OrderedJson& json, const NetworkLayer& l)
{
    if (l.convolves()) {
        const Layer& c = l.layer;
        json["kernel"] = {{"width", c.kernel_width}, {"height", c.kernel_height}, {"count", c.kernels}};
        json["stride"] = {{"x", c.stride.x}, {"y", c.stride.y}};
        json["dilation"] = {{"x", c.dilation.x}, {"y", c.dilation.y}};
        json["pad"] = {{"left", c.pad.left}, {"right", c.pad.right}, {"top", c.pad.top}, {"bottom", c.pad.bottom}, {"value", c.pad.value}};
        json["groups"] = c.groups;
        json["bias"] = c.post.bias();
        json["normalised"] = l.normalised;
        put_partition(json, l);
    }
    if (l.convolves() || l.op == NetworkOp::Add) json["activation"] = activation_name(l.activation);
    if (l.op == NetworkOp::Pool) json["pool"] = window_json(l.pool);
    if (l.op == NetworkOp::Lrn) {
        json["lrn"] = {{"size", l.lrn.size}, {"alpha", l.lrn.alpha}, {"beta", l.lrn.beta}, {"bias", l.lrn.bias}};
        if (l.lrn.precision != Precision::Fp16) {
            json["lrn"]["input_scale"] = l.lrn.input_scale;
            json["lrn"]["output_scale"] = l.lrn.output_scale;
        }
    }
    if (l.op == NetworkOp::Upsample) json["factor"] = {{"x", l.factor.x}, {"y", l.factor.y}};
}

}  // namespace

const char* network_op_name(NetworkOp op)
{
    const auto place = static_cast<std::size_t>(op);
    return (place < kNetworkOps.size() ? kNetworkOps[place] : kNumberedOps[place - kNetworkOps.size()]).c_str();
}
const char* activation_name(Activation activation) { return kActivations[static_cast<std::size_t>(activation)].c_str(); }

Network network_from_json(const Json& json, const std::string& file) { return NetworkReader(json, file).read(); }

Network read_network(const std::string& path) { return network_from_json(read_json(path), path); }

void take_plan(Network& network, const std::string& file)
{
    const Json json = read_json(file);
    const auto keys_in = [](const Json& object) {
        std::vector<std::string> keys;
        for (const auto& [key, value] : object.items()) keys.push_back(key);
        return keys;
    };
    if (!json.is_object() || !json.contains("layers") || !json["layers"].is_array())
        throw ConfigError(at(file, "/layers"), "is no list, expected a plan.json");
    const JsonObject top(json, file, "", keys_in(json));
    network.decided = read_decisions(top, keys::kNetworkDecide);
    const Json& layers = top.raw("layers");
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::string pointer = "/layers/" + std::to_string(i);
        if (!layers[i].is_object()) throw ConfigError(at(file, pointer), found(layers[i]) + ", expected an object {...}");
        const JsonObject of(layers[i], file, pointer, keys_in(layers[i]));
        const std::string name = of.text("name", "");
        const auto named = std::ranges::find(network.layers, name, &NetworkLayer::name);
        if (named == network.layers.end())
            throw ConfigError(of.where("name"), "found \"" + name + "\", expected a layer of " + network.name);
        named->decided = read_decisions(of, keys::kLayerDecide);
        if (of.has("partition")) named->layer.partition = read_partition(of);
    }
}

OrderedJson plan_of(const Network& network)
{
    if (!network.numbered()) return network_json(network);
    OrderedJson json{{"name", network.name}};
    put_decisions(json, network.decided);
    json["layers"] = OrderedJson::array();
    for (const NetworkLayer& layer : network.layers) {
        OrderedJson one{{"name", layer.name}};
        put_partition(one, layer);
        put_decisions(one, layer.decided);
        json["layers"].push_back(std::move(one));
    }
    return json;
}

OrderedJson network_json(const Network& network)
{
    OrderedJson json{{"name", network.name}};
    if (!network.source.empty()) json["source"] = network.source;
    if (!network.expected.empty()) json["expected"] = network.expected;
    put_tolerance(json, network.tolerance);
    if (!network.note.empty()) json["note"] = network.note;
    json["macs"] = network.macs();
    if (network.is_fp16()) json["precision"] = precision_name(network.precision);
    if (!network.tensors.empty() && network.tensors.front().name == kNetworkInput && !network.tensors.front().layer)
        json["input"] = shape_json(network.tensors.front());
    if (network.minimise != usual_minimise(network.overlap)) json["plan"] = plan_json(network.minimise);
    if (network.overlap != Overlap::All) json["overlap"] = overlap_name(network.overlap);
    put_decisions(json, network.decided);
    json["layers"] = OrderedJson::array();
    for (const NetworkLayer& layer : network.layers) {
        OrderedJson one{{"name", layer.name}, {"op", network_op_name(layer.op)}};
        if (layer.own_input) one["input"] = shape_json(network.tensors[layer.inputs.front()]);
        else
            for (const std::size_t tensor : layer.inputs) one["inputs"].push_back(network.tensors[tensor].name);
        put_operation(one, layer);
        put_decisions(one, layer.decided);
        one["output"] = shape_json(network.tensors[layer.output]);
        json["layers"].push_back(std::move(one));
    }
    return json;
}

}  // namespace dlasim
