#include "config/descriptor.h"

#include "config/layer/layer_reader.h"
#include "config/layer/transfer_reader.h"

namespace dlasim {

Descriptor descriptor_from_json(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder)
{
    if (is_transfer(json)) return transfer_from_json(json, file, pointer, folder);
    return layer_from_json(json, file, pointer, folder);
}

void set_seed(Descriptor& descriptor, std::uint64_t seed)
{
    if (Layer* layer = std::get_if<Layer>(&descriptor)) layer->data.seed = seed;
    if (Transfer* transfer = std::get_if<Transfer>(&descriptor)) transfer->seed = seed;
}

bool has_expected(const Descriptor& descriptor)
{
    if (const Layer* layer = std::get_if<Layer>(&descriptor)) return !layer->data.expected.empty();
    const TransferCube* cube = std::get<Transfer>(descriptor).cube();
    return cube && !cube->expected.empty();
}

void set_tolerance(Descriptor& descriptor, const Tolerance& tolerance)
{
    const auto set = [&](Tolerance& own) {
        if (!own.any()) own = tolerance;
    };
    if (Layer* layer = std::get_if<Layer>(&descriptor)) set(layer->data.tolerance);
    else if (TransferCube* cube = std::get<Transfer>(descriptor).cube()) set(cube->tolerance);
}

}  // namespace dlasim
