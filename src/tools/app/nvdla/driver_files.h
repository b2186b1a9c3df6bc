// What `dlasim export --form nvdla` writes: one file for NVIDIA's driver, or several with what the caller computes between them, and a
// manifest that says so.
//
//   layer, network, model ──► program ──► operations ──┬─► NAME.nvdla, or NAME-0.nvdla, NAME-1.nvdla ..
//   file of the compiler ────► its lists ──────────────┤
//                                                      └─► NAME.json: tensors, scales, layouts, the order
//
// Error  ConfigError naming the step and what no descriptor can say.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/files/json_text.h"
#include "config/model/layer.h"
#include "loadable/plan.h"
#include "loadable/write/file_writer.h"
#include "network/network_host.h"

namespace dlasim {

/// A tensor of a file: its input and what it must be, with --golden.
struct GoldenTensor {
    std::string file;  // below the folder
    std::string npy;
};

struct DriverFiles {
    std::vector<std::string> files;  // their bytes, in the order in which they run
    OrderedJson manifest;
    std::vector<GoldenTensor> golden;
    std::vector<std::optional<Tensor>> values;  // of the network's tensors, with `golden`
    std::size_t operations = 0;
};

/// `name`: of the files, without folder and extension.
DriverFiles driver_files(const Layer& layer, const Hardware& hardware, const std::string& name);
/// `source`: of a model, whose tensors do not come by seed. `golden`: also the tensors of its first image.
DriverFiles driver_files(NetworkPlan& plan, const std::string& name, const ImageSource* source, bool golden);

/// A file of the compiler as it is, but for its relocations and events.
DriverFiles driver_files(const loadable::LoadablePlan& plan, const std::string& name);

/// Plan options of a network for this target: tensors stay out of CVSRAM, which NVIDIA's runtime never allocates.
NetworkOptions driver_network_options();
/// The machine as its driver can use it: parts of a deconvolution are put together by SDP, because the driver derives a stride of
/// reshapes otherwise.
Hardware driver_machine(Hardware hardware);

/// The tensor as callers see it. ConfigError for what the file has no type or layout for.
loadable::TensorEntry driver_tensor(const std::string& name, Precision precision, const CubeSize& size, const PixelFormat* pixels,
                                    const Strides& strides, const Hardware& hardware, const std::string& where);
/// Of a tensor, below the folder of --golden.
std::string golden_file_name(std::string tensor);
/// "NAME.nvdla" of one file, else "NAME-I.nvdla".
std::string driver_file_name(const std::string& name, std::size_t i, std::size_t count);

}  // namespace dlasim
