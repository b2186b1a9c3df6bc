#include <array>

#include "onnx/model.h"

namespace dlasim {
namespace {

constexpr std::array<const char*, 10> kTypeNames{"float", "float16", "double", "int8",  "uint8",
                                                 "int16", "uint16",  "int32",  "int64", "bool"};

}  // namespace

const char* onnx_type_name(OnnxType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::string OnnxNode::label() const
{
    const std::string& known = name.empty() && !outputs.empty() ? outputs.front() : name;
    return "node \"" + known + "\" (" + (domain.empty() ? "" : domain + ".") + op + ")";
}

}  // namespace dlasim
