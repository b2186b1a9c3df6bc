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

Images::Images(const RealGraph& graph, const std::vector<std::string>& files, const std::string& option, std::uint64_t seed)
    : graph_(graph), data_(graph.inputs.size())
{
    std::vector<bool> there;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        there.push_back(!graph.fixed[i].empty());
        data_[i].assign(graph.fixed[i].begin(), graph.fixed[i].end());
    }
    const auto wanted = static_cast<std::size_t>(std::count(there.begin(), there.end(), false));
    for (const std::string& file : files) {
        std::size_t input = 0;
        std::string path = file;
        const std::size_t equals = std::min(file.find('='), file.size());
        const auto named = [&](std::size_t v) { return graph.values[v].name == file.substr(0, equals); };
        const auto known = std::find_if(graph.inputs.begin(), graph.inputs.end(), named);
        if (known != graph.inputs.end() && equals < file.size()) {
            input = static_cast<std::size_t>(known - graph.inputs.begin());
            path = file.substr(equals + 1);
        } else if (wanted != 1 && files.size() != wanted) {
            throw ConfigError(option, "the model has " + std::to_string(wanted) + " inputs, expected " + option + " NAME=FILE for each");
        } else {
            input = static_cast<std::size_t>(std::find(there.begin(), there.end(), false) - there.begin());
        }
        if (input >= there.size() || there[input]) throw ConfigError(option, "found two files for one input, expected one");
        there[input] = true;
        read(input, path, option);
    }
    if (files.empty()) {
        count_ = 1;
        for (std::size_t i = 0; i < data_.size(); ++i)
            if (!there[i]) make(i, seed + i);
        return;
    }
    for (std::size_t i = 0; i < there.size(); ++i)
        if (!there[i])
            throw ConfigError(option,
                              "found no file for input \"" + graph.values[graph.inputs[i]].name + "\", expected one for each input");
}

void Images::read(std::size_t input, const std::string& file, const std::string& option)
{
    const RealValue& value = graph_.values[graph_.inputs[input]];
    const OnnxType type = graph_.input_types[input];
    NpyArray array = read_npy_array(file, option);
    const std::string where = option + ": " + file;
    std::vector<std::uint64_t> expected{array.shape.empty() ? 0 : array.shape.front()};
    for (const std::int64_t size : value.dims) expected.push_back(static_cast<std::uint64_t>(size));
    if (array.shape.empty() || array.shape != expected)
        throw ConfigError(where, "found shape " + array_shape_text(array.shape) + ", expected images of " +
                                     array_shape_text({expected.begin() + 1, expected.end()}) + " each, the shape of \"" + value.name +
                                     "\"");
    const std::size_t count = expected.front();
    if (count == 0 || count > kMaxImages)
        throw ConfigError(where, "found " + std::to_string(count) + " images, expected 1 to " + std::to_string(kMaxImages));
    if (count_ != 0 && count != count_)
        throw ConfigError(where,
                          "found " + std::to_string(count) + " images, expected " + std::to_string(count_) + " as the other inputs have");
    count_ = count;
    if (whole(type) && array.type != (type == OnnxType::Int8 ? "|i1" : "|u1"))
        throw ConfigError(where, "found dtype \"" + array.type + "\", expected " + (type == OnnxType::Int8 ? "\"|i1\"" : "\"|u1\""));
    for (const double x : array.values)
        if (!std::isfinite(x)) throw ConfigError(where, "found a number that is not finite, expected none");
    data_[input] = std::move(array.values);
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
