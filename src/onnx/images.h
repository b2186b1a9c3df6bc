// The images that go through a graph, from NumPy files or by seed, as real numbers and as the integers of its inputs.
//
// Shapes  a file is [images, ...] behind the batch as the model declares its input
// Error   ConfigError naming option, file, found and expected
#pragma once
#include "config/npy.h"
#include "onnx/evaluate.h"

namespace dlasim {

inline constexpr std::size_t kMaxImages = 100000;

class Images {
public:
    /// `files`: FILE for the only input, or INPUT=FILE; `option` names them in messages. Without files one image by seed, of numbers in
    /// -1..1.
    Images(const RealGraph& graph, const std::vector<std::string>& files, const std::string& option, std::uint64_t seed);

    std::size_t count() const { return count_; }
    /// In the order of the graph's inputs.
    std::vector<RealTensor> reals(std::size_t image) const;
    /// As the grids of the graph have them. pre: its inputs have grids
    std::vector<Tensor> integers(std::size_t image) const;
    /// As fp16, ties to even.
    std::vector<Tensor> fp16(std::size_t image) const;

private:
    void read(std::size_t input, const std::string& file, const std::string& option);
    void make(std::size_t input, std::uint64_t seed);
    std::size_t first(std::size_t input, std::size_t image) const;

    const RealGraph& graph_;
    std::vector<std::vector<double>> data_;  // by input
    std::size_t count_ = 0;
};

/// A class for every image: integers [images] or [images, 1].
std::vector<std::int64_t> read_labels(const std::string& path, std::size_t images);

}  // namespace dlasim
