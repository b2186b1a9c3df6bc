// Inputs and outputs: between the natural order of their elements and the surfaces in memory.
//
// Shapes  natural order [n][c][h][w]; an int8 or int16 as it is, an fp16 as its bit pattern.
// Source  loadable.md 9.
// Error   ConfigError naming the file or the tensor.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "loadable/container.h"

namespace dlasim::loadable {

/// What a file that is no .npy holds.
enum class InputForm { Auto, Bytes, Elements, Surface };
inline constexpr const char* kInputForms[] = {"auto", "bytes", "elements", "surface"};

/// Bytes of an element; ConfigError for types that no unit computes in.
unsigned element_bytes(const TensorEntry& tensor, const std::string& where);
const char* npy_type_of(const TensorEntry& tensor);

/// The memory of an input, `bytes` long, with the values of a file:
///   .npy       [n][c][h][w] or [c][h][w], of fewer channels if the tensor is of pixels: the others are 0
///   bytes      unsigned, [c][h][w] or [n][c][h][w], of fewer channels likewise; one image serves as all of a batch, image i rotated by i
///   elements   [n][c][h][w], little endian
///   surface    the memory itself
/// Auto takes the first that the length of the file allows.
std::vector<std::uint8_t> read_input(const TensorEntry& tensor, std::uint64_t bytes, const std::string& file, InputForm form);

/// The same with pseudo random values that are small: the generator of tests/data/README.md.
std::vector<std::uint8_t> seeded_input(const TensorEntry& tensor, std::uint64_t bytes, std::uint32_t seed, const std::string& where);

/// Elements in natural order, as bytes.
std::vector<std::uint8_t> unpacked(const TensorEntry& tensor, const std::vector<std::uint8_t>& memory, const std::string& where);

/// A NumPy file of them.
std::string npy_text(const TensorEntry& tensor, const std::vector<std::uint8_t>& elements);

/// Refuses a tensor with elements outside of its memory.
void check_tensor(const TensorEntry& tensor, std::uint64_t bytes, const std::string& where);

}  // namespace dlasim::loadable
