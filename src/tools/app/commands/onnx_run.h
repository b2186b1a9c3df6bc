// An ONNX model on the machine: its network, its input images, and the report on its outputs.
#pragma once
#include "onnx/images.h"
#include "onnx/quantise.h"
#include "plan/planned.h"
#include "report/network/network_result.h"

namespace dlasim {

/// A file of a run.
struct OutputPlace {
    std::string file;  // below the folder
    std::uint64_t bytes = 0;
};

/// A last step of the model without a scale: the CPU computes it in real numbers.
struct TrailingStep {
    const RealNode& node;
    std::string input, output;  // tensors
    CubeShape shape{};          // of the output
};

/// An output of the model: a tensor of the network, and the steps from there on.
struct ModelOutput {
    std::size_t output = 0, tensor = 0;
    std::string name;
    std::vector<TrailingStep> steps{};
};

class OnnxRun {
public:
    /// Reads the model, images, labels; chooses grids. Nothing has run.
    OnnxRun(const OnnxWork& model, const PlanOptions& options);

    const Network& network() const { return quantised_.network; }
    std::size_t images() const { return images_->count(); }
    /// Scales of int8 follow from a generated image: right for cycles only.
    bool random_scales() const { return random_scales_; }
    /// Where each output of the model is written, below the folder: output.npy, then outputs/NAME.npy. And its bytes, at most.
    std::vector<OutputPlace> output_places() const;
    ImageSource source(const NetworkPlan& plan);
    /// What an image puts into the network, in the order of its inputs.
    std::vector<Tensor> inputs(std::size_t image) const { return network().is_fp16() ? images_->fp16(image) : images_->integers(image); }

    const Preprocessing& preprocessing() const { return preprocessing_; }
    /// Inputs that get pictures, with their channels.
    const std::map<std::string, std::uint32_t>& pictures() const { return pictures_; }

    /// Those that are no constants.
    std::vector<ModelOutput> outputs() const;
    /// NumPy file of the numbers of an output whose tensor the first image leaves.
    std::string real_file(const ModelOutput& output, const Tensor& tensor) const;

    /// pre: all images have run. `written`: there are files of outputs
    ImagesResult result(bool written) const;
    std::string output_file(std::size_t output) const;
    /// [images, channels, height, width] of tensors that exist, by name; with --tensors.
    std::vector<std::pair<std::string, std::string>> tensor_files() const;
    /// Tensors of the first image, by tensor of the plan; with --steps.
    const std::vector<Tensor>& first() const { return first_; }

private:
    void calibrate(const OnnxWork& work, std::uint64_t seed);
    void look_at(std::size_t image, const NetworkPlan& plan, const std::vector<Tensor>& tensors);
    /// The real number of a value of a tensor.
    double number(std::size_t tensor, std::int16_t value) const;
    /// What a step makes in real numbers of the tensors that it read, whatever the steps before it have lost.
    RealTensor alone(std::size_t tensor, std::size_t image, const NetworkPlan& plan, const std::vector<Tensor>& tensors) const;
    RealTensor numbers(std::size_t tensor, const Tensor& of) const;
    double weight_spread(std::size_t tensor) const;
    void add_loss(ImagesResult::TensorError& error, const RealTensor& model, const RealTensor& alone, const Tensor& found) const;
    std::optional<std::size_t> untouched(std::size_t tensor) const;
    std::vector<float> trailing(std::size_t output, const Tensor& tensor, std::size_t image) const;
    void look_at_output(std::size_t output, const Tensor& tensor, const RealTensor& reference, std::size_t image);

    OnnxModel model_;
    Preprocessing preprocessing_;
    InputFiles files_;
    std::map<std::string, std::uint32_t> pictures_;  // inputs that get some, and their channels
    RealGraph graph_;
    RealGraph reference_;  // as the model has it: values without a grid of the model's are real numbers
    std::vector<std::int64_t> labels_;
    std::optional<Images> images_;
    QuantisedNetwork quantised_;
    bool keep_tensors_ = false, keep_first_ = false, by_step_ = false, random_scales_ = false;
    std::vector<Tensor> first_;

    ImagesResult result_;
    std::size_t right_ = 0, reference_right_ = 0, seen_ = 0;
    std::vector<std::size_t> agreeing_;            // images, by output
    std::vector<std::vector<double>> output_;      // by output
    std::vector<std::vector<std::int16_t>> kept_;  // by tensor
};

/// PlanOptions::model_planner
std::unique_ptr<PlannedNetwork> plan_model(const OnnxWork& model, const Source& source, const PlanOptions& options);

}  // namespace dlasim
