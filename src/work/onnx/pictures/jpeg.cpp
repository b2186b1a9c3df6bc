// libjpeg reports errors by longjmp: what it leaps over holds nothing that a destructor must free.
#include <cstdio>  // before jpeglib.h, which does not include what it needs
//
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>

#include "base/error.h"
#include "onnx/pictures/picture.h"

namespace dlasim {
namespace {

struct JpegReader {
    JpegReader()
    {
        jpeg.err = jpeg_std_error(&errors);
        jpeg.client_data = this;
    }
    ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    jpeg_decompress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf leave{};
    std::string problem{};
    Picture picture{};
};

JpegReader& jpeg_reader_of(j_common_ptr jpeg) { return *static_cast<JpegReader*>(jpeg->client_data); }

[[noreturn]] void leave_with(JpegReader& reader, const char* text)
{
    reader.problem = text;
    std::longjmp(reader.leave, 1);
}

[[noreturn]] void on_jpeg_error(j_common_ptr jpeg)
{
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    leave_with(jpeg_reader_of(jpeg), text);
}

/// Damaged data are an error, bytes between the segments are none.
void on_jpeg_message(j_common_ptr jpeg, int level)
{
    if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) on_jpeg_error(jpeg);
}

void on_progress(j_common_ptr jpeg)
{
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMaxJpegScans) leave_with(jpeg_reader_of(jpeg), "too many scans");
}

/// False after an error.
bool read_jpeg_header(JpegReader& reader, const std::string& bytes)
{
    reader.errors.error_exit = on_jpeg_error;
    reader.errors.emit_message = on_jpeg_message;
    reader.progress.progress_monitor = on_progress;
    if (setjmp(reader.leave) != 0) return false;
    jpeg_create_decompress(&reader.jpeg);
    reader.jpeg.progress = &reader.progress;
    jpeg_mem_src(&reader.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&reader.jpeg, TRUE);
    return true;
}

bool read_jpeg_rows(JpegReader& reader)
{
    if (setjmp(reader.leave) != 0) return false;
    jpeg_start_decompress(&reader.jpeg);
    while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
        JSAMPROW row =
            reader.picture.bytes.data() + std::size_t{reader.jpeg.output_scanline} * reader.picture.width * reader.picture.components;
        jpeg_read_scanlines(&reader.jpeg, &row, 1);
    }
    return true;
}

}  // namespace

Picture decode_jpeg(const std::string& bytes, const std::string& where)
{
    JpegReader reader;
    const auto expect = [&](bool good) {
        if (!good) throw ConfigError(where, "is not a valid JPEG file: libjpeg reports \"" + reader.problem + "\"");
    };
    expect(read_jpeg_header(reader, bytes));
    Picture& picture = reader.picture;
    picture.width = reader.jpeg.image_width;
    picture.height = reader.jpeg.image_height;
    picture.components = static_cast<std::uint32_t>(reader.jpeg.num_components);
    expect_picture_size(picture.width, picture.height, where);
    if (picture.components != 1 && picture.components != 3)
        throw ConfigError(where, "found " + std::to_string(picture.components) + " components, expected 1 (grey) or 3 (colours)");
    reader.jpeg.out_color_space = picture.components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    picture.bytes.resize(std::size_t{picture.width} * picture.height * picture.components);
    expect(read_jpeg_rows(reader));
    return std::move(picture);
}

}  // namespace dlasim
