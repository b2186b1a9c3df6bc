#include "onnx/model.h"

namespace dlasim {

std::string OnnxNode::label() const
{
    const std::string& known = name.empty() && !outputs.empty() ? outputs.front() : name;
    return "node \"" + known + "\" (" + (domain.empty() ? "" : domain + ".") + op + ")";
}

}  // namespace dlasim
