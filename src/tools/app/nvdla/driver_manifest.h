// The manifest beside the files of the driver: what a caller must know that the files do not say. docs/howto/BOARD.md
#pragma once
#include "app/commands/onnx_run.h"
#include "app/nvdla/driver_files.h"
#include "config/manifest_reader.h"
#include "onnx/pictures/preprocessing.h"

namespace dlasim {

/// A tensor that goes into a file or comes out of it.
struct ManifestTensor {
    loadable::TensorEntry tensor;
    std::uint64_t bytes = 0;
    std::vector<ChannelPiece> pieces;  // where its channels are; empty: one after the other
    std::uint32_t channels = 0;        // of the tensor, without unused places
    std::optional<Quantisation> quantisation{};
};

OrderedJson manifest_tensor(const ManifestTensor& tensor);
OrderedJson manifest_begin(const Hardware& hardware, const std::string& name);
/// A file and the tensors that it binds, in the order of their numbers.
OrderedJson manifest_file(const std::string& file, const std::vector<loadable::BoundTensor>& bound);
/// What the caller computes.
OrderedJson manifest_cpu(const NetworkPlan& plan, const Step& step);
/// What the caller computes of an output in real numbers, the last steps of a model. pre: it has some
void add_trailing(OrderedJson& manifest, const ModelOutput& output);
/// How pictures become numbers of an input.
OrderedJson manifest_preprocessing(const std::string& input, const Preprocessing& preprocessing, std::uint32_t channels);
/// Of one file, whose tensors have no scales here.
OrderedJson tensors_manifest(const Hardware& hardware, const std::string& name, const std::vector<loadable::BoundTensor>& bound);

}  // namespace dlasim
