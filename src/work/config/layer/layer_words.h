// What descriptors call operations, modes, precisions and functions, in the order of their enumerations.
#pragma once
#include <string>
#include <vector>

namespace dlasim {

inline const std::vector<std::string> kLayerOps{"conv2d", "fully_connected", "deconv2d", "sdp", "pool"};
inline const std::vector<std::string> kLayerModes{"auto", "direct", "image", "winograd"};
inline const std::vector<std::string> kPrecisions{"int8", "int16", "fp16"};
inline const std::vector<std::string> kActivations{"none", "relu", "relu6", "leaky", "tanh"};  // from tanh on of networks alone
inline const std::vector<std::string> kPoolFunctions{"max", "min", "average"};

}  // namespace dlasim
