// The host of a network: fills memory, computes what no unit does, looks at every tensor while it is there. Of a network with numbers,
// image by image.
#pragma once
#include "network/images.h"

namespace dlasim {

/// What goes through a network with numbers, image by image, and who looks at what came out.
struct ImageSource {
    std::function<std::vector<Tensor>(std::size_t image)> inputs;                     // in the order of the network's
    std::function<void(std::size_t image, const std::vector<Tensor>& tensors)> done;  // by tensor of the plan
};

class NetworkHost final : public Host {
public:
    /// `values`: without them nothing is written, computed or looked at; then `plan` has none. `keep_tensors`: their values too. `source`:
    /// of a network with numbers, else null. pre: both live longer. The images of the plan are let go.
    NetworkHost(NetworkPlan& plan, bool values, bool keep_tensors = false, const ImageSource* source = nullptr);

    void before(const HostMemory& memory) override;
    void at(std::size_t step, const HostMemory& memory) override;
    bool computes(std::size_t step) const override;
    void after(const RunResult& run, const HostMemory& memory) override;

    /// Of all images; none without values, or when the run did not finish.
    const std::vector<TensorFinding>& findings() const { return findings_; }
    /// Of the last image, by tensor, empty where it does not exist. pre: keep_tensors
    const std::vector<Tensor>& tensors() const { return watch_->tensors(); }
    /// The output of the last layer: of images together all, else of the last one. pre: values, a completed run
    const Tensor& output() const { return output_; }

private:
    void begin(const HostMemory& memory);
    void end();

    NetworkPlan& plan_;
    const bool values_, keep_tensors_;
    const ImageSource* source_;
    std::size_t image_ = 0;
    std::optional<TensorWatch> watch_;
    std::vector<TensorFinding> findings_;
    Tensor output_;
};

}  // namespace dlasim
