#include "onnx/pictures/picture.h"

#include "base/error.h"

namespace dlasim {

bool is_png(std::string_view bytes) { return bytes.starts_with(std::string_view("\x89PNG\r\n\x1a\n", 8)); }
bool is_jpeg(std::string_view bytes) { return bytes.starts_with(std::string_view("\xff\xd8\xff", 3)); }

void expect_picture_size(std::uint64_t width, std::uint64_t height, const std::string& where)
{
    if (width == 0 || height == 0 || width > kMaxPicturePixels || height > kMaxPicturePixels || width * height > kMaxPicturePixels)
        throw ConfigError(where, "found " + std::to_string(width) + " x " + std::to_string(height) + " pixels, expected 1 to " +
                                     std::to_string(kMaxPicturePixels) + " in all");
}

Picture decode_picture(const std::string& bytes, const std::string& where)
{
    return is_png(bytes) ? decode_png(bytes, where) : decode_jpeg(bytes, where);
}

}  // namespace dlasim
