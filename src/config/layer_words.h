// What a descriptor calls the operations and modes of a layer, in the order of Op and Mode.
#pragma once
#include <string>
#include <vector>

namespace dlasim {

inline const std::vector<std::string> kLayerOps{"conv2d", "fully_connected", "deconv2d", "sdp", "pool"};
inline const std::vector<std::string> kLayerModes{"auto", "direct", "image", "winograd"};

}  // namespace dlasim
