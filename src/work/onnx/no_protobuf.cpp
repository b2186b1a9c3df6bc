// In place of model.cpp in a build without ONNX.
#include "base/files/about/parts.h"
#include "onnx/model.h"

namespace dlasim {

OnnxModel onnx_from_bytes(const std::string&, const std::string& file) { refuse_missing_part(file, "DLASIM_ONNX"); }
OnnxModel read_onnx(const std::string& path) { refuse_missing_part(path, "DLASIM_ONNX"); }

}  // namespace dlasim
