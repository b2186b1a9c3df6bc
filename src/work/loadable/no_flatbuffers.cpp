// In place of what reads and writes FlatBuffers in a build without files of NVIDIA's compiler.
#include "base/files/about/parts.h"
#include "loadable/container.h"
#include "loadable/nvidia/check/raw_file.h"
#include "loadable/write/container_bytes.h"

namespace dlasim::loadable {

Loadable parse_loadable(std::string, const std::string& file) { refuse_missing_part(file, "DLASIM_LOADABLE"); }
Loadable read_loadable(const std::string& path) { refuse_missing_part(path, "DLASIM_LOADABLE"); }
RawFile read_raw(const std::string&, const std::string& file) { refuse_missing_part(file, "DLASIM_LOADABLE"); }
std::string loadable_bytes(const Loadable& loadable) { refuse_missing_part(loadable.file, "DLASIM_LOADABLE"); }

}  // namespace dlasim::loadable
