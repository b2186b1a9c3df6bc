// A build without libpng and libjpeg.
#include "base/files/about/parts.h"
#include "onnx/pictures/picture.h"

namespace dlasim {

Picture decode_png(const std::string&, const std::string& where) { refuse_missing_part(where, "DLASIM_PICTURES"); }
Picture decode_jpeg(const std::string&, const std::string& where) { refuse_missing_part(where, "DLASIM_PICTURES"); }

}  // namespace dlasim
