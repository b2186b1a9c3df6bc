// From the pixels of a picture to the numbers of an input, as `--preprocess` says; docs/ONNX.md has every rule, so that a notebook and a
// board do the same. dlasim_tensors.h does it in C.
//
//   picture ── colours ──► grey or three colours ── resize ──► ── crop ──► ── (byte - mean) / norm ──► [channels][height][width]
//
// Error  ConfigError naming the option or the file.
#pragma once
#include <optional>

#include "onnx/pictures/picture.h"

namespace dlasim {

struct Preprocessing {
    enum class Colours { Rgb, Bgr, Grey };

    struct Size {
        std::uint32_t width = 0, height = 0;
    };
    std::optional<Size> resize{}, crop{};  // resize to a height of 0: the shorter side becomes `width`
    std::optional<Colours> colours{};      // none: grey for an input of one channel, else rgb
    std::vector<double> mean{}, norm{};    // one, or one a channel; empty: 0 and 1

    bool plain_bytes() const { return mean.empty() && norm.empty(); }
    std::uint32_t channels() const { return colours == Colours::Grey ? 1 : 3; }
    Colours colours_of(std::uint32_t channels) const { return colours.value_or(channels == 1 ? Colours::Grey : Colours::Rgb); }
    double mean_of(std::size_t channel) const { return of_channel(mean, channel, 0); }
    double norm_of(std::size_t channel) const { return of_channel(norm, channel, 1); }

private:
    static double of_channel(const std::vector<double>& numbers, std::size_t channel, double none)
    {
        return numbers.empty() ? none : numbers[numbers.size() == 1 ? 0 : channel];
    }
};

/// Of texts KEY=VALUE: resize, crop, colours, mean, norm.
Preprocessing preprocessing_of(const std::vector<std::string>& texts);
std::string_view colours_name(Preprocessing::Colours colours);

/// The picture as the input has it: one component for `channels` 1, else three in red, green, blue.
Picture prepared(const Picture& picture, const Preprocessing& preprocessing, std::uint32_t channels, const std::string& where);
/// Appends its numbers, [channels][height][width]. pre: prepared
void append_numbers(const Picture& picture, const Preprocessing& preprocessing, std::vector<double>& numbers);

/// Bytes resized by triangles (bilinear, with every pixel of the picture in it where it shrinks), first rows, then columns, each rounded
/// to bytes: Pillow's Image.resize(size, BILINEAR), to the byte.
Picture resized(const Picture& picture, std::uint32_t width, std::uint32_t height);

}  // namespace dlasim
