// ONNX models made by hand, without a file.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "onnx/importer.h"
#include "onnx/model.h"
#include "onnx/simplify.h"

namespace dlasim {

class OnnxMaker {
public:
    /// One input "x" with these dimensions behind the batch.
    explicit OnnxMaker(std::vector<std::int64_t> image, OnnxType type = OnnxType::Float)
    {
        model_.file = "m.onnx";
        model_.name = "m";
        model_.opset = 13;
        input("x", std::move(image), type);
    }
    OnnxMaker& input(const std::string& name, std::vector<std::int64_t> image, OnnxType type = OnnxType::Float)
    {
        image.insert(image.begin(), -1);
        model_.inputs.push_back({name, type, true, std::move(image)});
        return *this;
    }
    OnnxMaker& node(const std::string& op, std::vector<std::string> inputs, const std::string& output)
    {
        model_.nodes.push_back({output, op, "", std::move(inputs), {output}, {}});
        return *this;
    }
    /// Of the last node.
    OnnxMaker& with(const std::string& name, std::vector<std::int64_t> values)
    {
        OnnxAttribute& to = model_.nodes.back().attributes[name];
        to.kind = OnnxAttribute::Kind::Wholes;
        to.wholes = std::move(values);
        return *this;
    }
    OnnxMaker& with(const std::string& name, std::int64_t value)
    {
        OnnxAttribute& to = model_.nodes.back().attributes[name];
        to.kind = OnnxAttribute::Kind::Whole;
        to.whole = value;
        return *this;
    }
    OnnxMaker& reals(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> values)
    {
        OnnxArray& array = model_.constants[name];
        array.shape = std::move(shape);
        array.reals = std::move(values);
        return *this;
    }
    OnnxMaker& wholes(const std::string& name, std::vector<std::int64_t> shape, std::vector<std::int32_t> values,
                      OnnxType type = OnnxType::Int64)
    {
        OnnxArray& array = model_.constants[name];
        array.type = type;
        array.shape = std::move(shape);
        array.wholes = std::move(values);
        return *this;
    }
    /// Scale and zero point, `name`.s and `name`.z, of int8.
    OnnxMaker& steps(const std::string& name, float scale, std::int32_t zero, OnnxType type = OnnxType::Int8)
    {
        return reals(name + ".s", {}, {scale}).wholes(name + ".z", {}, {zero}, type);
    }
    /// A tensor of integers and the numbers that they stand for.
    OnnxMaker& quantised(const std::string& from, const std::string& steps, const std::string& to)
    {
        node("QuantizeLinear", {from, steps + ".s", steps + ".z"}, to + ".q");
        return dequantised(to + ".q", steps, to);
    }
    OnnxMaker& dequantised(const std::string& from, const std::string& steps, const std::string& to)
    {
        return node("DequantizeLinear", {from, steps + ".s", steps + ".z"}, to);
    }
    OnnxModel model(const std::vector<std::string>& outputs) const
    {
        OnnxModel made = model_;
        for (const std::string& output : outputs) made.outputs.push_back({output, OnnxType::Float, false, {}});
        return made;
    }
    RealGraph graph(const std::vector<std::string>& outputs = {"y"}) const { return real_graph(model(outputs)); }
    RealGraph simple(const std::vector<std::string>& outputs = {"y"}) const
    {
        RealGraph made = graph(outputs);
        simplify(made);
        return made;
    }

private:
    OnnxModel model_;
};

inline std::vector<RealOp> operations(const RealGraph& graph)
{
    std::vector<RealOp> list;
    for (const RealNode& node : graph.nodes) list.push_back(node.op);
    return list;
}

}  // namespace dlasim
