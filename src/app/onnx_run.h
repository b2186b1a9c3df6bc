// An ONNX model through the machine: its network, the images that go in, and what is said of those that come out.
#pragma once
#include "app/net_command.h"
#include "app/simulate.h"
#include "config/sweep.h"
#include "onnx/images.h"
#include "onnx/quantise.h"
#include "report/network_result.h"

namespace dlasim {

class OnnxRun {
public:
    /// Reads the model, images, labels; chooses grids. Nothing has run.
    explicit OnnxRun(const NetOptions& options);

    const Network& network() const { return quantised_.network; }
    std::size_t images() const { return images_->count(); }
    /// Bytes of output.npy, at most.
    std::uint64_t output_bytes() const;
    ImageSource source(const NetworkPlan& plan);

    /// pre: all images have run
    ImagesResult result() const;
    std::string output_file() const;
    /// [images, channels, height, width] of tensors that exist, by name; with --tensors.
    std::vector<std::pair<std::string, std::string>> tensor_files() const;

private:
    void calibrate(const NetOptions& options);
    void look_at(std::size_t image, const NetworkPlan& plan, const std::vector<Tensor>& tensors);
    /// What a value of a tensor stands for.
    double number(std::size_t tensor, std::int16_t value) const;
    std::vector<float> behind(const Tensor& output) const;

    RealGraph graph_;
    RealGraph reference_;  // as the model has it: values without a grid of the model's are real numbers
    std::vector<std::int64_t> labels_;
    std::optional<Images> images_;
    QuantisedNetwork quantised_;
    bool keep_tensors_ = false;

    ImagesResult result_;
    std::size_t right_ = 0, reference_right_ = 0, agreeing_ = 0, seen_ = 0;
    std::vector<double> output_;
    std::vector<std::vector<std::int16_t>> kept_;  // by tensor
    std::vector<NetworkTensor> kept_shapes_;
};

}  // namespace dlasim
