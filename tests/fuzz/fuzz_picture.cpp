// PNG and JPEG files, small ones of every kind; what is decoded is resized, cropped and turned into numbers.
#include <cstdio>  // before jpeglib.h, which does not include what it needs
//
#include <jpeglib.h>
#include <png.h>

#include <cstdlib>

#include "base/crc32.h"
#include "base/error.h"
#include "fuzz.h"
#include "onnx/pictures/preprocessing.h"

namespace dlasim {
namespace fuzz_picture {

using namespace fuzz;

constexpr unsigned kWidth = 13, kHeight = 9, kChunkHead = 8, kSum = 4;
constexpr std::size_t kFewPixels = 1 << 16;

std::vector<std::uint8_t> pixels(unsigned components)
{
    std::vector<std::uint8_t> bytes;
    for (unsigned i = 0; i < kWidth * kHeight * components; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 + i / 7));
    return bytes;
}

std::string png_file(unsigned format, unsigned components)
{
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = kWidth;
    image.height = kHeight;
    image.format = format;
    image.colormap_entries = (format & PNG_FORMAT_FLAG_COLORMAP) != 0 ? 256 : 0;
    std::vector<std::uint8_t> palette(3 * 256, 90), bytes = pixels(components);
    std::string file(1 << 16, '\0');
    png_alloc_size_t size = file.size();
    png_image_write_to_memory(&image, file.data(), &size, 0, bytes.data(), 0, palette.data());
    file.resize(size);
    return file;
}

std::string jpeg_file(int components, bool progressive)
{
    jpeg_compress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char* made = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &made, &size);
    jpeg.image_width = kWidth;
    jpeg.image_height = kHeight;
    jpeg.input_components = components;
    jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    if (progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    std::vector<std::uint8_t> bytes = pixels(static_cast<unsigned>(components));
    for (unsigned y = 0; y < kHeight; ++y) {
        JSAMPROW row = bytes.data() + std::size_t{y} * kWidth * static_cast<unsigned>(components);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    std::string file(reinterpret_cast<const char*>(made), size);
    jpeg_destroy_compress(&jpeg);
    std::free(made);
    return file;
}

std::size_t big_endian(const std::string& file, std::size_t at)
{
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(file[at + i]);
    return value;
}

/// Sums of the chunks as far as these can be followed: else nothing but sums would be refused.
void make_sums_right(std::string& file)
{
    for (std::size_t at = 8; at + kChunkHead + kSum <= file.size();) {
        const std::size_t size = big_endian(file, at), end = at + kChunkHead + size;
        if (size > file.size() || end + kSum > file.size()) return;
        const auto sum = crc32_of({reinterpret_cast<const std::uint8_t*>(file.data()) + at + 4, size + 4});
        for (unsigned i = 0; i < kSum; ++i) file[end + i] = static_cast<char>(sum >> (24 - 8 * i));
        at = end + kSum;
    }
}

std::vector<std::string> seeds()
{
    return {png_file(PNG_FORMAT_RGB, 3),
            png_file(PNG_FORMAT_GRAY, 1),
            png_file(PNG_FORMAT_RGBA, 4),
            png_file(PNG_FORMAT_RGB_COLORMAP, 1),
            jpeg_file(3, false),
            jpeg_file(1, false),
            jpeg_file(3, true)};
}

std::vector<std::string> words()
{
    using std::string_literals::operator""s;
    return {"IHDR", "IDAT", "PLTE", "tRNS", "IEND", "zTXt", "\xff\xda"s, "\xff\xc4"s, "\xff\xc2"s, "\xff\xd9"s, "\xff\xdd"s};
}

int input(const std::uint8_t* data, std::size_t size)
{
    std::string file(reinterpret_cast<const char*>(data), size);
    if (!is_picture(file)) return -1;
    if (is_png(file)) make_sums_right(file);
    return fuzz::taken_or_refused([&] {
        const Picture picture = decode_picture(file, "p");
        fuzz::expect(picture.bytes.size() == std::size_t{picture.width} * picture.height * picture.components, "a picture has its bytes");
        if (picture.bytes.size() > kFewPixels) return;
        const Preprocessing preprocessing = preprocessing_of({"resize=7", "crop=5", "mean=3"});
        std::vector<double> numbers;
        append_numbers(prepared(picture, preprocessing, 3, "p"), preprocessing, numbers);
        fuzz::expect(numbers.size() == 3 * 5 * 5, "an input has its numbers");
    });
}

const Target target("picture", seeds, words, input);

}  // namespace fuzz_picture
}  // namespace dlasim
