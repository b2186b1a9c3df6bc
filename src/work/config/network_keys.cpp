#include "config/network_keys.h"

namespace dlasim {

using namespace keys;

std::vector<std::string> keys_of(NetworkOp op)
{
    std::vector<std::string> names;
    for (const OperationKey& key : kOperation)
        if ((key.operations & bit_of(op)) != 0) names.emplace_back(key.row.name);
    return names;
}

std::vector<PlacedKey> network_keys()
{
    return placed(kNetwork, "", kNetworkShape, "input/", kNetworkPlan, "plan/", kNetworkDecide, "decide/", kOperation, "layers/[]/",
                  kLayerDecide, "layers/[]/decide/", kNetworkShape, repeated("layers/[]/input/"), kNetworkShape,
                  repeated("layers/[]/output/"), kKernel, "layers/[]/kernel/", kExtent, "layers/[]/stride/", kExtent,
                  repeated("layers/[]/dilation/"), kExtent, repeated("layers/[]/factor/"), kPad, "layers/[]/pad/", kPartition,
                  "layers/[]/partition/", kNetworkPost, "layers/[]/post/", kNetworkPool, "layers/[]/pool/", kNetworkPoolKernel,
                  "layers/[]/pool/kernel/", kExtent, repeated("layers/[]/pool/stride/"), kPad, repeated("layers/[]/pool/pad/"), kLrn,
                  "layers/[]/lrn/");
}

}  // namespace dlasim
