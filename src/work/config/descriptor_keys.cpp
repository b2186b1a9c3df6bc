#include "config/descriptor_keys.h"

namespace dlasim {
namespace {

using namespace keys;

std::vector<PlacedKey> pool_keys()
{
    return placed(kPool, "", kPoolKernel, "kernel/", kExtent, repeated("stride/"), kPad, repeated("pad/"));
}

std::vector<PlacedKey> lut_keys()
{
    return placed(kLut, "", kLe, "le/", kLo, repeated("lo/"), kSlope, "le/underflow/", kSlope, repeated("le/overflow/"), kSlope,
                  repeated("lo/underflow/"), kSlope, repeated("lo/overflow/"), kPriority, "priority/");
}

std::vector<PlacedKey> engine_keys() { return placed(kEngine, "", kAlu, "alu/", kMul, "mul/"); }

std::vector<PlacedKey> post_keys()
{
    return placed(kPost, "", kBias, repeated("bias/"), engine_keys(), "bs/", engine_keys(), repeated("bn/"), kEwEngine, "ew/", kEwAlu,
                  "ew/alu/", kEwMul, repeated("ew/mul/"), kEwConversion, "ew/alu/conversion/", kEwConversion,
                  repeated("ew/mul/conversion/"), lut_keys(), "ew/lut/", kOutput, "output/", pool_keys(), repeated("pool/"));
}

/// A place is an address, or an object of both.
std::vector<PlacedKey> places_keys()
{
    std::vector<PlacedKey> keys = placed(kPlacement, "");
    for (const InputKey& key : kPlacement) place_keys(keys, kPlace, {std::string(key.row.name) + "/", &key != kPlacement.data()});
    return keys;
}

}  // namespace

std::vector<PlacedKey> layer_keys()
{
    return placed(kLayer, "", kInput, "input/", kConversion, "input/conversion/", kKernel, "kernel/", kExtent, "stride/", kExtent,
                  repeated("dilation/"), kPad, "pad/", kBias, "bias/", post_keys(), "post/", kData, "data/", kWeights, "weights/",
                  kWinograd, "winograd/", kImage, "image/", places_keys(), "placement/", kPartition, "partition/", kPlan, "plan/",
                  pool_keys(), "pool/");
}

}  // namespace dlasim
