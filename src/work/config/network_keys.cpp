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
    std::vector<PlacedKey> list;
    place_keys(list, kNetwork);
    place_keys(list, kNetworkShape, "input/");
    place_keys(list, kNetworkPlan, "plan/");
    place_keys(list, kNetworkDecide, "decide/");
    place_keys(list, kOperation, "layers/[]/");
    place_keys(list, kLayerDecide, "layers/[]/decide/");
    place_keys(list, kNetworkShape, "layers/[]/input/", true);
    place_keys(list, kNetworkShape, "layers/[]/output/", true);
    place_keys(list, kKernel, "layers/[]/kernel/");
    place_keys(list, kExtent, "layers/[]/stride/");
    place_keys(list, kExtent, "layers/[]/dilation/", true);
    place_keys(list, kExtent, "layers/[]/factor/", true);
    place_keys(list, kPad, "layers/[]/pad/");
    place_keys(list, kPartition, "layers/[]/partition/");
    place_keys(list, kNetworkPost, "layers/[]/post/");
    place_keys(list, kNetworkPool, "layers/[]/pool/");
    place_keys(list, kNetworkPoolKernel, "layers/[]/pool/kernel/");
    place_keys(list, kExtent, "layers/[]/pool/stride/", true);
    place_keys(list, kPad, "layers/[]/pool/pad/", true);
    place_keys(list, kLrn, "layers/[]/lrn/");
    return list;
}

}  // namespace dlasim
