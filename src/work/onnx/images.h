// The images that go through a graph, from NumPy files or by seed, as real numbers and as the integers of its inputs.
//
// Shapes  a file is [images, ...] after the batch as the model declares its input
// Error   ConfigError naming option, file, found and expected
#pragma once
#include "onnx/evaluate.h"
#include "onnx/importer.h"
#include "onnx/pictures/image_files.h"

namespace dlasim {

inline constexpr std::size_t kMaxImages = 100000;

/// The files of an option, by input of the model.
class InputFiles {
public:
    struct Read {
        std::string path{};
        NpyArray array{};
        std::optional<std::uint32_t> channels{};  // of the pictures among its images
    };

    /// `ports`: the inputs; `files`: FILE for the only input, or INPUT=FILE.
    InputFiles(const std::vector<InputPort>& ports, const std::vector<std::string>& files, const std::string& option,
               const Preprocessing& preprocessing = {});
    bool empty() const { return arrays_.empty(); }
    const Read* find(const std::string& name) const
    {
        const auto found = arrays_.find(name);
        return found == arrays_.end() ? nullptr : &found->second;
    }
    const std::string& option() const { return option_; }
    /// The inputs that get pictures, and their channels.
    std::map<std::string, std::uint32_t> pictures() const;
    /// pre: this lives as long
    GivenInputs given() const;

private:
    std::string option_;
    std::map<std::string, Read> arrays_;
};

class Images {
public:
    /// `most`: images, the first ones; 0: all of the files.
    Images(const RealGraph& graph, const InputFiles& files, std::uint64_t seed, std::size_t most = 0);
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
    std::size_t images_of(const std::vector<std::uint64_t>& shape, const std::vector<std::int64_t>& dims) const;
    void read(std::size_t input, const InputFiles::Read& file, const std::string& option);
    void make(std::size_t input, std::uint64_t seed);
    std::size_t first(std::size_t input, std::size_t image) const;

    const RealGraph& graph_;
    std::vector<std::vector<double>> data_;  // by input
    std::size_t count_ = 0;
};

/// The inputs of a graph that files can be given for.
std::vector<InputPort> open_inputs(const RealGraph& graph);

/// A class for every image: integers [images] or [images, 1].
std::vector<std::int64_t> read_labels(const std::string& path, std::size_t images);

}  // namespace dlasim
