// Pictures of files: PNG and JPEG, decoded by libpng and libjpeg, as 8-bit grey or red, green, blue.
//
//   PNG    palettes and grey of less than 8 bits are expanded, of 16 bits the upper 8 count, transparency is dropped, gamma is not applied
//   JPEG   grey or YCbCr; the orientation of a camera is not applied
//
// What a file says of its size is checked before anything is allocated for it.
//
// Error  ConfigError naming the file: no picture, damaged, cut, larger than the limits.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlasim {

inline constexpr std::uint64_t kMaxPictureBytes = std::uint64_t{64} << 20;  // of a file
inline constexpr std::uint64_t kMaxPicturePixels = std::uint64_t{1} << 25;  // decoded, and of every step of resizing
inline constexpr int kMaxJpegScans = 64;  // of a progressive file: each costs as much as the whole picture

struct Picture {
    std::uint32_t width = 0, height = 0, components = 0;  // 1: grey; 3: red, green, blue
    std::vector<std::uint8_t> bytes{};                    // [height][width][components]
};

/// By the first bytes of a file.
bool is_png(std::string_view bytes);
bool is_jpeg(std::string_view bytes);
inline bool is_picture(std::string_view bytes) { return is_png(bytes) || is_jpeg(bytes); }

/// pre: is_picture(bytes). `where` names the file in messages.
Picture decode_picture(const std::string& bytes, const std::string& where);

/// Of one format each. pre: is_png(bytes), is_jpeg(bytes)
Picture decode_png(const std::string& bytes, const std::string& where);
Picture decode_jpeg(const std::string& bytes, const std::string& where);
/// Refuses what has no pixels or too many.
void expect_picture_size(std::uint64_t width, std::uint64_t height, const std::string& where);

}  // namespace dlasim
