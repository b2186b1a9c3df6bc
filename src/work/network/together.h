// Several images of a network in one program. Each has tensors and steps of its own; weights are shared, and some steps compute all
// images at once:
//
//   conv1, pool1     conv1@2, pool1@2     fc6 of both     fc7 of both     softmax     softmax@2
//
// Such a step has images one below the other as the lines of one plane, which its windows never leave: dense layers, whose weights are then
// fetched once, and convolutions of no padding whose windows do not meet. Lines of the plane follow from one another in each surface:
//
//   surface 0: image 1 | image 2     surface 1: image 1 | image 2       who makes or reads one of them has strides of the whole
#pragma once
#include "network/layout.h"
#include "network/steps.h"

namespace dlasim {

/// A layer for several images; none if its windows would leave theirs.
std::optional<Layer> layer_of_images(Layer layer, std::size_t images);
/// The tensors of the next step may be those of several images. `before`: the steps before that compute all. The layer itself is judged by
/// layer_of_images().
bool may_compute_images(const Network& network, const Steps& steps, const std::vector<bool>& before);

/// Steps of one image to those of several. `at_once`: by step
Steps steps_of_images(const Steps& one, std::size_t images, const std::vector<bool>& at_once);

/// What has a tensor as one of several images, or as all of them; null if nothing has.
const JoinedTensor* images_of(const Steps& steps, std::size_t tensor);
/// The tensor of the first image, of those one below the other; a step of several images as it is for the first.
std::size_t of_first_image(const Steps& steps, std::size_t tensor);
Step for_first_image(const Steps& steps, Step step);
/// Atoms from a surface of an image to the next, if there are other images between; 0 if not.
std::uint32_t atoms_of_images(const Steps& steps, std::size_t tensor);

/// Images one below the other, of layouts and of values.
TensorLayout layout_below(TensorLayout image, std::size_t images, std::uint32_t rows);
TensorLayout layout_of_image(TensorLayout whole, std::size_t images, std::uint32_t rows);
Tensor below_each_other(const std::vector<const Tensor*>& images);
Tensor rows_of(const Tensor& whole, std::uint32_t first, std::uint32_t count);

}  // namespace dlasim
