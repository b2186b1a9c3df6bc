// libpng reports errors by longjmp: what it leaps over holds nothing that a destructor must free.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "base/error.h"
#include "onnx/pictures/picture.h"

namespace dlasim {
namespace {

constexpr png_alloc_size_t kMaxChunk = 1 << 20;  // bytes of any chunk but the pixels
constexpr std::uint32_t kMaxPngSide = 1 << 25;
constexpr unsigned kByteDepth = 8, kWordDepth = 16;

struct PngReader {
    explicit PngReader(const std::string& file) : bytes(file) {}
    ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;

    const std::string& bytes;
    std::size_t at = 0;
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::string problem{};
    Picture picture{};
    std::vector<png_bytep> rows{};
};

PngReader& reader_of(png_structp png) { return *static_cast<PngReader*>(png_get_error_ptr(png)); }

[[noreturn]] void on_png_error(png_structp png, png_const_charp text)
{
    reader_of(png).problem = text;
    png_longjmp(png, 1);
}

void on_png_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep to, std::size_t count)
{
    PngReader& reader = reader_of(png);
    if (count > reader.bytes.size() - reader.at) png_error(png, "the file ends too early");
    std::memcpy(to, reader.bytes.data() + reader.at, count);
    reader.at += count;
}

/// False after an error.
bool read_png_header(PngReader& reader)
{
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    png_set_user_limits(reader.png, kMaxPngSide, kMaxPngSide);
    png_set_chunk_malloc_max(reader.png, kMaxChunk);
    png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);  // texts, profiles, gamma: nothing reads them
    png_set_read_fn(reader.png, &reader, read_png_bytes);
    png_read_info(reader.png, reader.info);
    return true;
}

/// What the rows will hold. False after an error.
bool choose_png_format(PngReader& reader)
{
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    const unsigned type = png_get_color_type(reader.png, reader.info), depth = png_get_bit_depth(reader.png, reader.info);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
    if (type == PNG_COLOR_TYPE_GRAY && depth < kByteDepth) png_set_expand_gray_1_2_4_to_8(reader.png);
    if (depth == kWordDepth) png_set_strip_16(reader.png);
    png_set_strip_alpha(reader.png);
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    return true;
}

bool read_png_rows(PngReader& reader)
{
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    png_read_image(reader.png, reader.rows.data());
    return true;
}

}  // namespace

Picture decode_png(const std::string& bytes, const std::string& where)
{
    PngReader reader(bytes);
    const auto expect = [&](bool good) {
        if (!good) throw ConfigError(where, "is not a valid PNG file: libpng reports \"" + reader.problem + "\"");
    };
    reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_png_error, on_png_warning);
    if (!reader.png) throw std::bad_alloc();
    reader.info = png_create_info_struct(reader.png);
    if (!reader.info) throw std::bad_alloc();
    expect(read_png_header(reader));
    Picture& picture = reader.picture;
    picture.width = png_get_image_width(reader.png, reader.info);
    picture.height = png_get_image_height(reader.png, reader.info);
    expect_picture_size(picture.width, picture.height, where);
    expect(choose_png_format(reader));
    picture.components = png_get_channels(reader.png, reader.info);
    const std::size_t row = std::size_t{picture.width} * picture.components;
    if ((picture.components != 1 && picture.components != 3) || png_get_rowbytes(reader.png, reader.info) != row)
        throw ConfigError(where, "found " + std::to_string(picture.components) + " components, expected 1 or 3");
    picture.bytes.resize(row * picture.height);
    for (std::uint32_t y = 0; y < picture.height; ++y) reader.rows.push_back(picture.bytes.data() + y * row);
    expect(read_png_rows(reader));
    return std::move(picture);
}

}  // namespace dlasim
