#include "onnx/images.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/model/fp16.h"
#include "config/model/stream.h"

namespace dlasim {
namespace {

bool whole(OnnxType type) { return type == OnnxType::Int8 || type == OnnxType::Uint8; }

std::string array_shape_text(const std::vector<std::uint64_t>& shape)
{
    std::string text;
    for (const std::uint64_t size : shape) text += (text.empty() ? "(" : ", ") + std::to_string(size);
    return text.empty() ? "()" : text + ")";
}

}  // namespace

InputFiles::InputFiles(const std::vector<InputPort>& ports, const std::vector<std::string>& files, const std::string& option,
                       const Preprocessing& preprocessing)
    : option_(option)
{
    for (const std::string& file : files) {
        const std::size_t equals = std::min(file.find('='), file.size());
        const auto named = [&](const InputPort& port) { return equals < file.size() && port.name == file.substr(0, equals); };
        auto known = std::find_if(ports.begin(), ports.end(), named);
        std::string path = file;
        if (known != ports.end()) path = file.substr(equals + 1);
        else if (ports.size() != 1 && files.size() != ports.size())
            throw ConfigError(option,
                              "the model has " + std::to_string(ports.size()) + " inputs, expected " + option + " NAME=FILE for each");
        else known = std::find_if(ports.begin(), ports.end(), [&](const InputPort& port) { return !arrays_.contains(port.name); });
        if (known == ports.end() || arrays_.contains(known->name)) throw ConfigError(option, "found two files for one input, expected one");
        ImageArray read = read_images(path, option, *known, preprocessing);
        arrays_.emplace(known->name, Read{path, std::move(read.array), read.channels});
    }
}

std::map<std::string, std::uint32_t> InputFiles::pictures() const
{
    std::map<std::string, std::uint32_t> found;
    for (const auto& [name, read] : arrays_)
        if (read.channels) found[name] = *read.channels;
    return found;
}

GivenInputs InputFiles::given() const
{
    GivenInputs given;
    for (const auto& [name, read] : arrays_) given[name] = {{read.array.shape.begin(), read.array.shape.end()}, &read.array};
    return given;
}

std::vector<InputPort> open_inputs(const RealGraph& graph)
{
    std::vector<InputPort> ports;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        if (!graph.fixed[i].empty()) continue;
        const RealValue& value = graph.values[graph.inputs[i]];
        const bool first = !graph.batched && !value.dims.empty();  // dimension 0 belongs to the image
        ports.push_back({value.name, {value.dims.begin() + (first ? 1 : 0), value.dims.end()}});
    }
    return ports;
}

Images::Images(const RealGraph& graph, const std::vector<std::string>& files, const std::string& option, std::uint64_t seed)
    : Images(graph, InputFiles(open_inputs(graph), files, option), seed)
{
}

Images::Images(const RealGraph& graph, const InputFiles& files, std::uint64_t seed, std::size_t most)
    : graph_(graph), data_(graph.inputs.size())
{
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const std::string& name = graph.values[graph.inputs[i]].name;
        if (!graph.fixed[i].empty()) data_[i].assign(graph.fixed[i].begin(), graph.fixed[i].end());
        else if (const InputFiles::Read* found = files.find(name)) read(i, *found, files.option());
        else if (files.empty()) make(i, seed + i);
        else throw ConfigError(files.option(), "found no file for input \"" + name + "\", expected one for each input");
    }
    count_ = std::max<std::size_t>(count_, 1);
    if (most != 0) count_ = std::min(count_, most);
}

/// How many images an array holds; 0 if it has another shape.
std::size_t Images::images_of(const std::vector<std::uint64_t>& shape, const std::vector<std::int64_t>& dims) const
{
    const auto same = [&](std::size_t from) {
        return shape.size() >= from && shape.size() - from + (graph_.batched ? 0 : from) == dims.size() &&
               std::equal(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end(),
                          dims.begin() + static_cast<std::ptrdiff_t>(graph_.batched ? 0 : from),
                          [](std::uint64_t a, std::int64_t b) { return a == static_cast<std::uint64_t>(b); });
    };
    if (graph_.batched) return !shape.empty() && same(1) ? shape.front() : 0;
    if (same(0)) return 1;
    return !dims.empty() && dims.front() == 1 && !shape.empty() && same(1) ? shape.front() : 0;
}

void Images::read(std::size_t input, const InputFiles::Read& file, const std::string& option)
{
    const RealValue& value = graph_.values[graph_.inputs[input]];
    const OnnxType type = graph_.input_types[input];
    const NpyArray& array = file.array;
    const std::string where = option + ": " + file.path;
    const std::size_t count = images_of(array.shape, value.dims);
    if (count == 0 || count > kMaxImages) {
        if (graph_.batched && !array.shape.empty() && images_of(array.shape, value.dims) == array.shape.front())
            throw ConfigError(where,
                              "found " + std::to_string(array.shape.front()) + " images, expected 1 to " + std::to_string(kMaxImages));
        const std::string wanted = array_shape_text({value.dims.begin(), value.dims.end()});
        throw ConfigError(where, "found shape " + array_shape_text(array.shape) + ", expected " +
                                     (graph_.batched ? "images of " + wanted + " each, the shape of \"" + value.name + "\""
                                                     : wanted + ", the shape of \"" + value.name +
                                                           "\": the model mixes dimension 0 with others, it is no batch"));
    }
    if (count_ != 0 && count != count_)
        throw ConfigError(where,
                          "found " + std::to_string(count) + " images, expected " + std::to_string(count_) + " as the other inputs have");
    count_ = count;
    if (whole(type) && array.type != (type == OnnxType::Int8 ? "|i1" : "|u1"))
        throw ConfigError(where, "found dtype \"" + array.type + "\", expected " + (type == OnnxType::Int8 ? "\"|i1\"" : "\"|u1\""));
    for (const double x : array.values)
        if (!std::isfinite(x)) throw ConfigError(where, "found a number that is not finite, expected none");
    data_[input] = array.values;
}

void Images::make(std::size_t input, std::uint64_t seed)
{
    const std::size_t elements = graph_.values[graph_.inputs[input]].cube.elements();
    const OnnxType type = graph_.input_types[input];
    const Stream stream(seed, 1);
    for (std::size_t i = 0; i < elements; ++i) {
        const auto byte = static_cast<std::int8_t>(stream(i));
        data_[input].push_back(type == OnnxType::Int8    ? byte
                               : type == OnnxType::Uint8 ? byte + 128
                                                         : static_cast<double>(static_cast<float>(byte) / 128.0F));
    }
}

/// Where an image begins in the data of an input; constants are the same for all.
std::size_t Images::first(std::size_t input, std::size_t image) const
{
    return graph_.fixed[input].empty() ? image * graph_.values[graph_.inputs[input]].cube.elements() : 0;
}

std::vector<RealTensor> Images::reals(std::size_t image) const
{
    std::vector<RealTensor> tensors;
    for (std::size_t i = 0; i < data_.size(); ++i) {
        const RealValue& value = graph_.values[graph_.inputs[i]];
        const std::size_t elements = value.cube.elements();
        RealTensor tensor;
        if (whole(graph_.input_types[i])) {
            const std::vector<Tensor> all = integers(image);
            for (const std::int16_t q : all[i].values) tensor.push_back(static_cast<float>(value.quantisation->real(q)));
        } else {
            for (std::size_t e = 0; e < elements; ++e) tensor.push_back(static_cast<float>(data_[i][first(i, image) + e]));
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<Tensor> Images::integers(std::size_t image) const
{
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < data_.size(); ++i) {
        const RealValue& value = graph_.values[graph_.inputs[i]];
        const OnnxType type = graph_.input_types[i];
        Tensor tensor(1, value.cube.c, value.cube.h, value.cube.w);
        for (std::size_t e = 0; e < tensor.values.size(); ++e) {
            const double x = data_[i][first(i, image) + e];
            if (whole(type)) {
                tensor.values[e] = static_cast<std::int16_t>(x - (type == OnnxType::Uint8 ? 128 : 0));
                continue;
            }
            // QuantizeLinear divides floats.
            const Quantisation unscaled{1, value.quantisation->zero};
            const float steps = static_cast<float>(x) / static_cast<float>(value.quantisation->scale);
            tensor.values[e] = static_cast<std::int16_t>(unscaled.nearest(static_cast<double>(steps)));
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<Tensor> Images::fp16(std::size_t image) const
{
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < data_.size(); ++i) {
        const RealValue& value = graph_.values[graph_.inputs[i]];
        Tensor tensor(1, value.cube.c, value.cube.h, value.cube.w);
        for (std::size_t e = 0; e < tensor.values.size(); ++e)
            tensor.values[e] = static_cast<std::int16_t>(fp16_from_double(std::clamp(data_[i][first(i, image) + e], -kMaxFp16, kMaxFp16)));
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<std::int64_t> read_labels(const std::string& path, std::size_t images)
{
    const NpyArray array = read_npy_array(path, "--labels");
    const std::string where = "--labels: " + path;
    const bool one = array.shape.size() == 1 || (array.shape.size() == 2 && array.shape[1] == 1);
    if (!one || array.shape.front() != images)
        throw ConfigError(where,
                          "found shape " + array_shape_text(array.shape) + ", expected (" + std::to_string(images) + "), a label an image");
    if (array.type[1] == 'f') throw ConfigError(where, "found dtype \"" + array.type + "\", expected integers");
    std::vector<std::int64_t> labels;
    for (const double label : array.values) labels.push_back(static_cast<std::int64_t>(label));
    return labels;
}

}  // namespace dlasim
