// Beside step 5: what memory holds before the program starts.
#pragma once
#include "lowering/memory/places.h"

namespace dlasim {

inline constexpr std::uint8_t kUnwritten = 0xa5;  // what output memory holds before the run

/// What bytes of memory are. The operands follow each other as the engines of SDP do.
enum class ImageOf { Input, Weights, WeightMask, GroupSizes, OperandsBs, OperandsBn, OperandsEw, Output };
/// The engine whose operands they are.
constexpr std::optional<std::size_t> engine_of(ImageOf image)
{
    if (image < ImageOf::OperandsBs || image > ImageOf::OperandsEw) return std::nullopt;
    return static_cast<std::size_t>(image) - static_cast<std::size_t>(ImageOf::OperandsBs);
}

/// Bytes that must be in memory before the program starts.
struct PlannedImage {
    ImageOf what = ImageOf::Input;
    Place place;
    Bytes bytes;
};

/// `kernels` are moved from.
std::vector<PlannedImage> images_of(const Layer& layer, const LayerTensors& tensors, const Shape& shape,
                                    const std::vector<PassParts>& passes, std::vector<std::vector<StoredKernels>>&& kernels,
                                    const Places& places, const Hardware& hardware);

}  // namespace dlasim
