#include "config/descriptor_keys.h"

namespace dlasim {
namespace {

using namespace keys;

/// A place is an address, or an object of both.
void place_place(std::vector<PlacedKey>& list, const std::string& of, bool again) { place_keys(list, kPlace, of + "/", again); }

void place_pool(std::vector<PlacedKey>& list, const std::string& at, bool again)
{
    place_keys(list, kPool, at, again);
    place_keys(list, kPoolKernel, at + "kernel/", again);
    place_keys(list, kExtent, at + "stride/", true);
    place_keys(list, kPad, at + "pad/", true);
}

void place_lut(std::vector<PlacedKey>& list, const std::string& at)
{
    place_keys(list, kLut, at);
    place_keys(list, kLe, at + "le/");
    place_keys(list, kLo, at + "lo/", true);
    for (const char* table : {"le/", "lo/"})
        for (const char* side : {"underflow/", "overflow/"})
            place_keys(list, kSlope, at + table + side, std::string(table) + side != "le/underflow/");
    place_keys(list, kPriority, at + "priority/");
}

void place_post(std::vector<PlacedKey>& list)
{
    place_keys(list, kPost, "post/");
    place_keys(list, kBias, "bias/");
    place_keys(list, kBias, "post/bias/", true);
    for (const bool again : {false, true}) {
        const std::string at = again ? "post/bn/" : "post/bs/";
        place_keys(list, kEngine, at, again);
        place_keys(list, kAlu, at + "alu/", again);
        place_keys(list, kMul, at + "mul/", again);
    }
    place_keys(list, kEwEngine, "post/ew/");
    place_keys(list, kEwAlu, "post/ew/alu/");
    place_keys(list, kEwMul, "post/ew/mul/", true);
    place_keys(list, kEwConversion, "post/ew/alu/conversion/");
    place_keys(list, kEwConversion, "post/ew/mul/conversion/", true);
    place_lut(list, "post/ew/lut/");
    place_keys(list, kOutput, "post/output/");
    place_pool(list, "post/pool/", true);
}

}  // namespace

std::vector<PlacedKey> layer_keys()
{
    std::vector<PlacedKey> list;
    place_keys(list, kLayer);
    place_keys(list, kInput, "input/");
    place_keys(list, kConversion, "input/conversion/");
    place_keys(list, kKernel, "kernel/");
    place_keys(list, kExtent, "stride/");
    place_keys(list, kExtent, "dilation/", true);
    place_keys(list, kPad, "pad/");
    place_post(list);
    place_keys(list, kData, "data/");
    place_keys(list, kWeights, "weights/");
    place_keys(list, kWinograd, "winograd/");
    place_keys(list, kImage, "image/");
    place_keys(list, kPlacement, "placement/");
    for (const InputKey& key : kPlacement) place_place(list, "placement/" + std::string(key.row.name), &key != kPlacement.data());
    place_keys(list, kPartition, "partition/");
    place_keys(list, kPlan, "plan/");
    place_pool(list, "pool/", false);
    return list;
}

}  // namespace dlasim
