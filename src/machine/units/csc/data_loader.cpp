#include "units/csc/data_loader.h"

namespace dlasim::csc {

DataLoader::DataLoader(const Hardware& hw, Cbuf& cbuf, bool values)
    : ring_(hw, cbuf), direct_(hw, ring_, values), image_(hw, ring_, values), tiles_(hw, ring_, values)
{
}

void DataLoader::start_layer(const LayerConfig& layer)
{
    layer_ = &layer;
    ring_.start_layer(layer);
    if (layer.mode == ConvMode::Direct) direct_.start_layer(layer);
    else if (layer.mode == ConvMode::Image) image_.start_layer(layer);
    else tiles_.start_layer(layer);
}

void DataLoader::load(const Package& package, Cycle at, PackageAtoms& out)
{
    if (layer_->mode == ConvMode::Direct) direct_.load(package, at, out);
    else if (layer_->mode == ConvMode::Image) image_.load(package, at, out);
    else tiles_.load(package, at, out);
    ring_.end_package();
    if (package.block_end) ring_.end_block(package.channel_end);
}

}  // namespace dlasim::csc
