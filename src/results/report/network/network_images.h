// The report on the images that went through an ONNX model: result.json and the table on the terminal.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "config/onnx_work.h"
#include "network/plan.h"

namespace dlasim {

struct ImagesResult {
    /// Against the graph in real numbers, of all images.
    struct Error {
        double signal = 0, noise = 0, largest = 0;  // sums of squares; the largest difference
        /// `real`: of the graph.
        void add(double real, double found);
        double ratio() const;  // dB; signal over noise
    };
    /// What a step loses by itself: against real numbers made of the tensors that it read. And how its tensor uses its steps.
    struct StepLoss {
        Error own{};
        double product = 0, real = 0, found = 0;  // of its numbers and the model's; their squares
        std::uint64_t elements = 0, saturated = 0;
        double largest = 0;        // of the real numbers
        double weight_spread = 0;  // of its worst kernel: the largest weight over the root of the mean square of the others

        void add(double model, double alone, double found, const std::optional<Quantisation>& quantisation);
        double cosine() const;
        double saturation() const { return elements == 0 ? 0 : static_cast<double>(saturated) / static_cast<double>(elements); }
    };
    struct TensorError {
        std::size_t tensor = 0;
        Error error{};
        std::optional<StepLoss> loss{};  // with --accuracy-by-step
    };
    struct Output {
        std::string name{}, file{};         // file: below the folder; empty if none was written
        std::vector<std::int64_t> dims{};   // of one image
        std::optional<double> agreement{};  // images with the same largest element
        Error error{};
    };
    std::size_t count = 0;
    std::optional<double> accuracy{}, reference_accuracy{};  // with labels: of the machine, of the real numbers
    std::size_t judged = 0;                                  // the output that both are of
    bool values = false;                                     // there are errors and agreements
    std::vector<TensorError> errors{};
    std::vector<Output> outputs{};
    OnnxWork model{};                     // what ran, to run again
    std::vector<std::string> trailing{};  // nodes that ran on the host in real numbers

    /// The tensor of the step that loses most by itself; null without losses.
    const TensorError* worst() const;
};

OrderedJson tensor_errors_json(const NetworkPlan& plan, const ImagesResult& images);
OrderedJson image_outputs_json(const ImagesResult& images);
std::vector<PlacedKey> network_images_keys();
/// `cycles`: of all images.
std::string images_text(const ImagesResult& images, std::uint64_t cycles);
/// The step that loses most, why, and what helps; kAbsent without --accuracy-by-step.
OrderedJson worst_step_json(const NetworkPlan& plan, const ImagesResult& images);
/// A table.
std::string tensor_errors_text(const NetworkPlan& plan, const ImagesResult& images);

}  // namespace dlasim
