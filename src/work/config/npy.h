// Reads NumPy's .npy files, versions 1, 2 and 3: C order, little endian, integers and floating point.
// Error  ConfigError: not a .npy file, truncated, wrong type, wrong order, wrong shape.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dlasim {

/// The values of the file as integers, fp16 as bit patterns. `types` are the dtypes that will do
/// ("|i1", "<i2", "<f2"), `shape` what the array must have, `where` says who names the file.
std::vector<std::int32_t> read_npy(const std::string& path, const std::vector<std::string>& types, const std::vector<std::uint64_t>& shape,
                                   const std::string& where);

/// An array of numbers, whatever their type: "<f2", "<f4", "<f8", integers of 1 to 8 bytes.
struct NpyArray {
    std::string type{};
    std::vector<std::uint64_t> shape{};
    std::vector<double> values{};
};
inline constexpr std::uint64_t kMaxNpyElements = std::uint64_t{1} << 27;
NpyArray read_npy_array(const std::string& path, const std::string& where);
/// "<f2", "<f4" or "<f8", or integers of 1 byte.
std::string npy_numbers(const std::string& type, const std::vector<std::uint64_t>& shape, const std::vector<double>& values);

/// Writes an array of that type: for outputs and tests.
std::string npy_bytes(const std::string& type, const std::vector<std::uint64_t>& shape, const std::vector<std::int32_t>& values);

}  // namespace dlasim
